/* configuration objects: made by name, and shown as the released library shows them */
#include "test.h"

#include <stdlib.h>

#include "base/json.h"
#include "event/value_text.h"
#include "ops/objects.h"
#include "ops/op_enums.h"

#define TEXTS "tests/data/values/texts.json"
#define ARGS 20

static struct tt_arena arena;

static struct ttnn_value value_of(const struct tt_json *json)
{
	const char *attr = tt_json_string(tt_json_get(json, "attr"), NULL);
	const struct tt_enum *const enums[] = {&tt_enum_unary, &tt_enum_math_fidelity};
	struct ttnn_value *items;
	size_t count = tt_json_count(json), n = 0;
	struct tt_json_iter it = tt_json_iter(json);
	int64_t integer;
	double real;
	bool flag;

	for (size_t i = 0; attr && i < 2; i++)
		if (tt_enum_parse(&integer, enums[i], attr, strlen(attr)))
			return tt_value_enum(enums[i], integer);
	if (tt_json_bool(&flag, json))
		return ttnn_v_bool(flag);
	if (tt_json_int(&integer, json))
		return ttnn_v_int(integer);
	if (tt_json_real(&real, json))
		return ttnn_v_real(real);
	if (tt_json_kind(json) != TT_JSON_ARRAY)
		return ttnn_v_none();
	items = tt_arena_calloc(&arena, count + 1, sizeof(*items));
	while (items && tt_json_next(&it))
		items[n++] = value_of(it.value);
	return ttnn_v_list(items, n);
}

static size_t arguments(struct ttnn_arg *args, const struct tt_json *call)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(call, "args"));
	size_t count = 0;

	while (tt_json_next(&it) && count < ARGS)
		args[count++] = (struct ttnn_arg){NULL, value_of(it.value)};
	it = tt_json_iter(tt_json_get(call, "kwargs"));
	while (tt_json_next(&it) && count < ARGS)
		args[count++] = (struct ttnn_arg){it.key, value_of(it.value)};
	return count;
}

static void check_row(const struct tt_json *row, const char *name)
{
	const char *repr = tt_json_string(tt_json_get(row, "repr"), NULL);
	const char *json = tt_json_string(tt_json_get(row, "to_json"), NULL);
	struct tt_str text = {0}, document = {0};
	struct ttnn_value value = ttnn_v_none();
	struct ttnn_arg args[ARGS];
	struct tt_jsonw w;

	CHECK_OK(tt_object_make(&value, &arena, name, args,
				arguments(args, tt_json_get(row, "value"))));
	tt_value_text(&text, &value);
	/* upstream has no text for some: it shows where they lie */
	if (repr[0] != '<')
		CHECK_STR(tt_str_text(&text), repr);
	if (json) {
		tt_jsonw_init_str(&w, &document, (struct tt_jsonw_style){.compact = true});
		tt_value_json(&w, &value, TTNN_DIALECT_TT_METAL);
		CHECK_OK(tt_jsonw_finish(&w));
		CHECK_STR(tt_str_text(&document), json);
	}
	tt_str_deinit(&text);
	tt_str_deinit(&document);
}

TEST(recorded_texts_of_objects)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t compared = 0;

	CHECK_OK(tt_json_load(&doc, TEXTS));
	it = tt_json_iter(tt_json_root(doc));
	while (tt_json_next(&it)) {
		const struct tt_json *made = tt_json_get(tt_json_get(it.value, "value"), "new");
		const char *name = tt_json_string(made, NULL);

		if (!name || !tt_object_known(name))
			continue;
		check_row(it.value, name);
		compared++;
	}
	printf("%zu recorded objects compared\n", compared);
	CHECK_INT(compared, 12);
	tt_json_free(doc);
	tt_arena_deinit(&arena);
}

/* What has no recorded row; the texts are the released library's. */
TEST(objects_inside_of_objects)
{
	struct ttnn_core_range range = {{0, 0}, {3, 3}};
	const ttnn_core_set *cores = NULL;
	struct ttnn_value gelu, config;
	struct tt_str text = {0}, document = {0};
	struct tt_jsonw w;

	CHECK_OK(ttnn_core_set_make(&cores, &range, 1));
	CHECK_OK(tt_object_make(&gelu, &arena, "UnaryWithParam",
				(struct ttnn_arg[]){{NULL, tt_value_enum(&tt_enum_unary, 2)},
						    {NULL, ttnn_v_real(1)}},
				2));
	CHECK_OK(tt_object_make(&config, &arena, "MatmulMultiCoreReuseMultiCast1DProgramConfig",
				(struct ttnn_arg[]){{"compute_with_storage_grid_size",
						     {.kind = TTNN_VALUE_CORE, .core = {8, 8}}},
						    {"in0_block_w", ttnn_v_int(2)},
						    {"out_subblock_h", ttnn_v_int(1)},
						    {"out_subblock_w", ttnn_v_int(2)},
						    {"per_core_M", ttnn_v_int(4)},
						    {"per_core_N", ttnn_v_int(4)},
						    {"fuse_batch", ttnn_v_bool(true)},
						    {"fused_activation", gelu},
						    {"mcast_in0", ttnn_v_bool(true)},
						    {"hop_cores", ttnn_v_core_set(cores)}},
				10));
	tt_value_text(&text, &config);
	CHECK_STR(tt_str_text(&text),
		  "MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=8-8,"
		  "in0_block_w=2,out_subblock_h=1,out_subblock_w=2,out_block_h=4,out_block_w=4,"
		  "per_core_M=4,per_core_N=4,fuse_batch=1,fused_activation=UnaryWithParam("
		  "op_type=UnaryOpType::GELU, params=[1]),mcast_in0=1,gather_in0=0,"
		  "hop_cores={[0-0 - 3-3]},num_global_cb_receivers=1,untilize_out=0,"
		  "allowed_worker_cores=std::nullopt,stream_in1=0)");
	tt_jsonw_init_str(&w, &document, (struct tt_jsonw_style){.compact = true});
	tt_value_json(&w, &config, TTNN_DIALECT_TT_METAL);
	CHECK_OK(tt_jsonw_finish(&w));
	CHECK_STR(
		tt_str_text(&document),
		"{\"allowed_worker_cores\":null,\"compute_with_storage_grid_size\":{\"x\":8,"
		"\"y\":8},\"fuse_batch\":true,\"fused_activation\":{\"op_type\":2,\"param\":[1.0]},"
		"\"gather_in0\":false,\"hop_cores\":[{\"end\":{\"x\":3,\"y\":3},\"start\":{\"x\":0,"
		"\"y\":0}}],\"in0_block_w\":2,\"mcast_in0\":true,\"num_global_cb_receivers\":1,"
		"\"out_block_h\":4,\"out_block_w\":4,\"out_subblock_h\":1,\"out_subblock_w\":2,"
		"\"per_core_M\":4,\"per_core_N\":4,\"stream_in1\":false,\"untilize_out\":false}");
	tt_str_deinit(&text);
	tt_str_deinit(&document);
	tt_arena_deinit(&arena);
}

/* Making and showing an object gives back what it took. */
SCENARIO(objects_give_all_memory_back)
{
	struct tt_arena own = {0};
	struct tt_str text = {0};
	struct ttnn_value value;
	tt_status status = tt_object_make(&value, &own,
					  "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig",
					  (struct ttnn_arg[]){{"in0_block_w", ttnn_v_int(4)},
							      {"per_core_M", ttnn_v_int(1)},
							      {"per_core_N", ttnn_v_int(6)}},
					  3);

	if (status == TTNN_OK) {
		tt_value_text(&text, &value);
		status = tt_str_status(&text);
	}
	tt_str_deinit(&text);
	tt_arena_deinit(&own);
	return status;
}
