/*
 * test_element.c: every configuration of the real file of November 2025, read as typed arguments of today, is written
 * again as it was there.
 */
#include "store/element.h"

#include "base/arena.h"
#include "base/map.h"
#include "store/repair.h"
#include "sweep/traced.h"
#include "tensor/tensor.h"
#include "test.h"

static ttnn_device *device;
static const char real_file[] = "tests/data/master/master_2025-11.json.gz";

/* A tensor without storage: who describes it takes the spec alone. */
struct made {
	struct tt_tensor tensor;
	struct tt_event_tensor seen;
};

static tt_status make_tensor(ttnn_tensor **out, void *context,
			     const struct tt_traced_tensor *wanted)
{
	struct made *made = tt_arena_calloc(context, 1, sizeof(*made));

	if (!made)
		return tt_fail_nomem();
	made->tensor.spec = wanted->spec;
	made->seen.spec = &made->tensor.spec;
	made->seen.on_device = !wanted->on_host;
	*out = &made->tensor;
	return TTNN_OK;
}

/* Tensors as a trace has them: described. */
static struct ttnn_value described(struct tt_arena *arena, const struct ttnn_value *value)
{
	struct ttnn_value *items, out = *value;

	if (value->kind == TTNN_VALUE_TENSOR)
		return (struct ttnn_value){.kind = TTNN_VALUE_SEEN_TENSOR,
					   .seen = &((struct made *)value->tensor)->seen};
	if (value->kind != TTNN_VALUE_LIST || !value->count)
		return out;
	items = tt_arena_calloc(arena, value->count, sizeof(*items));
	for (uint32_t i = 0; items && i < value->count; i++)
		items[i] = described(arena, &value->items[i]);
	out.items = items;
	return out;
}

/* The configuration again, from its typed arguments; "" when it cannot be bound. */
static void write_again(struct tt_str *out, struct tt_arena *arena,
			const struct tt_traced_config *config)
{
	struct tt_traced_maker maker = {.tensor = make_tensor, .context = arena, .device = device};
	const struct tt_op_entry *entry = tt_op_find(config->op);
	struct tt_event_scope_begin scope = {.kind = TT_SCOPE_OPERATION};
	struct ttnn_value values[TT_ARGS_MAX];
	struct tt_traced_call call;
	struct tt_args args;
	struct tt_jsonw w;

	CHECK_OK(tt_traced_bind(&call, arena, config, &maker));
	CHECK_OK(tt_sig_resolve(&args, &entry->overloads, call.args, call.count));
	for (size_t i = 0; i < args.sig->count; i++)
		values[i] = described(arena, &args.values[i]);
	scope.schema = &args.sig->schema;
	scope.args = values;
	scope.arg_count = args.sig->count;
	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_element_args(&w, config->op, &scope);
	CHECK_OK(tt_jsonw_finish(&w));
}

static void canonical(struct tt_str *out, const struct tt_json *args)
{
	struct tt_str repaired = {0};
	struct tt_repair repair = {0};
	struct tt_json_doc *doc;
	size_t lost;

	CHECK_OK(tt_repair_args(&repaired, &lost, &repair, args));
	CHECK_OK(tt_json_parse(&doc, repaired.data, repaired.length, "repaired"));
	tt_repair_canonical(out, tt_json_root(doc));
	tt_json_free(doc);
	tt_repair_deinit(&repair);
	tt_str_deinit(&repaired);
}

/*
 * Where they differ: what the file lost (its tracer could not print devices, configurations of convolutions, activations,
 * semaphores); and calls inside of C++, which had fewer arguments than the function.
 */
static const struct {
	const char *op;
	size_t count;
	const char *why;
} differences[] = {
	{"ttnn.conv2d", 46, "device and configurations were lost"},
	{"ttnn.linear", 118, "activations were lost"},
	{"ttnn.matmul", 3, "activations were lost"},
	{"ttnn.multiply", 23, "activations were lost"},
	{"ttnn.experimental.all_gather_async", 27, "semaphores and topology were lost"},
	{"ttnn.reshape", 169, "calls inside of C++"},
	{"ttnn.untilize", 10, "calls inside of C++"},
	{"ttnn.pad", 1, "alignments"},
	{"ttnn.transpose", 1, "None for a number"},
};
#define DIFFERENCES (sizeof(differences) / sizeof(differences[0]))

static bool is_written_again(const struct tt_traced_config *config)
{
	struct tt_str was = {0}, again = {0}, now = {0};
	struct tt_arena arena = {0};
	struct tt_json_doc *doc;
	bool same;

	canonical(&was, config->args);
	write_again(&again, &arena, config);
	CHECK_OK(tt_json_parse(&doc, tt_str_text(&again), again.length, "again"));
	tt_repair_canonical(&now, tt_json_root(doc));
	same = strcmp(tt_str_text(&was), tt_str_text(&now)) == 0;
	if (!same && getenv("SHOW"))
		printf("%s %zu\n- %s\n+ %s\n", config->op, config->number, tt_str_text(&was),
		       tt_str_text(&now));
	tt_json_free(doc);
	tt_str_deinit(&was);
	tt_str_deinit(&again);
	tt_str_deinit(&now);
	tt_arena_deinit(&arena);
	return same;
}

TEST(real_configurations_are_written_as_they_were)
{
	size_t differ[DIFFERENCES + 1] = {0}, same = 0;
	struct tt_traced traced;

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	CHECK_OK(tt_traced_load(&traced, real_file));
	for (size_t i = 0; i < traced.count; i++) {
		size_t row = 0;

		while (row < DIFFERENCES && strcmp(differences[row].op, traced.configs[i].op) != 0)
			row++;
		if (is_written_again(&traced.configs[i]))
			same++;
		else
			differ[row]++;
	}
	for (size_t i = 0; i < DIFFERENCES; i++)
		if (differ[i] != differences[i].count)
			TEST_FAIL("%s: %zu differ, not %zu: %s", differences[i].op, differ[i],
				  differences[i].count, differences[i].why);
	CHECK_INT(differ[DIFFERENCES], 0);
	CHECK_INT(same, 681);
	tt_traced_free(&traced);
	ttnn_device_unref(device);
}
