/* memory configs and shard specs: equality, JSON in all its forms, what is worked out from cores */
#include "test.h"

#include "values.h"

#include "tensor/memory.h"
#include "tensor/read.h"
#include "tensor/shape.h"
#include "tensor/sharding.h"
#include "tensor/spec.h"
#include "tensor/text.h"

static struct ttnn_memory_config height_sharded(uint32_t height, uint32_t width, uint32_t cores)
{
	struct ttnn_shard_spec shard = {.height = height, .width = width};
	struct ttnn_memory_config config = {0};

	CHECK_OK(tt_core_set_grid(&shard.grid, cores, 1));
	CHECK_OK(ttnn_memory_config_sharded(&config, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard));
	return config;
}

/* ---- comparing -------------------------------------------------------------------------------------- */

static void check_equal(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b,
			bool equal)
{
	CHECK_INT(ttnn_memory_config_equal(a, b), equal);
	CHECK_INT(ttnn_memory_config_equal(b, a), equal);
	if (equal)
		CHECK(tt_memory_config_hash(3, a) == tt_memory_config_hash(3, b));
	else
		CHECK(tt_memory_config_hash(3, a) != tt_memory_config_hash(3, b));
}

TEST(configs_compare_by_what_they_were_created_with)
{
	struct ttnn_memory_config a = height_sharded(32, 64, 2), b = height_sharded(32, 64, 2);
	struct ttnn_memory_config taller = height_sharded(64, 64, 2),
				  wider = height_sharded(32, 64, 3);
	struct ttnn_memory_config nd = {0}, transposed = a, interleaved = {.buffer = TTNN_L1},
				  mixed;
	struct ttnn_nd_shard_spec shard = {.shape = TT_SHAPE(32, 64)};
	struct ttnn_spec_args args = {.shape = TT_SHAPE(64, 64), .layout = TTNN_TILE, .memory = a};
	struct ttnn_tensor_spec spec;

	check_equal(&a, &b, true);
	check_equal(&a, &taller, false);
	check_equal(&a, &wider, false);
	transposed.shard.orientation = TTNN_ORIENT_COL_MAJOR;
	check_equal(&a, &transposed, false);
	check_equal(&a, &interleaved, false);
	check_equal(&interleaved, &(struct ttnn_memory_config){0}, false);

	/* what a tensor spec derives does not count */
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK(spec.memory.has_nd_shard && !a.has_nd_shard);
	check_equal(&a, &spec.memory, true);

	/* an ND spec of the same placement becomes a height sharded one, of another origin */
	shard.grid = a.shard.grid;
	CHECK_OK(ttnn_memory_config_nd(&nd, TTNN_L1, &shard));
	CHECK(nd.layout == TTNN_ND_SHARDED && nd.created_with_nd_shard);
	check_equal(&nd, &a, false);
	args.memory = nd;
	mixed = spec.memory;
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK(spec.memory.layout == TTNN_HEIGHT_SHARDED && spec.memory.has_shard);
	check_equal(&spec.memory, &mixed, true); /* both carry both specs, and these are equal */
	CHECK(!ttnn_memory_config_equal(&spec.memory, &a));
	shard.shape = TT_SHAPE(64, 64);
	CHECK_OK(ttnn_memory_config_nd(&mixed, TTNN_L1, &shard));
	check_equal(&nd, &mixed, false);

	tt_memory_config_strip(&spec.memory);
	check_equal(&nd, &spec.memory, true);
}

TEST(bad_configs_are_refused)
{
	struct ttnn_memory_config config = {.buffer = TTNN_TRACE};
	struct ttnn_nd_shard_spec nd = {.shape = TT_SHAPE(1)};
	struct ttnn_shard_spec shard = {.height = 1, .width = 1};
	char *text = NULL;

	CHECK_FAILS(ttnn_memory_config_sharded(&config, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard),
		    TTNN_INVALID, "needs a grid");
	CHECK_FAILS(ttnn_memory_config_nd(&config, TTNN_L1, &nd), TTNN_INVALID, "needs a grid");
	CHECK_OK(tt_core_set_grid(&shard.grid, 1, 1));
	nd.grid = shard.grid;
	shard.orientation = (enum ttnn_orientation)2;
	CHECK_FAILS(ttnn_memory_config_sharded(&config, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard),
		    TTNN_INVALID, "orientation");
	nd.strategy = (enum ttnn_shard_strategy)3;
	CHECK_FAILS(ttnn_memory_config_nd(&config, TTNN_L1, &nd), TTNN_INVALID, "strategy");
	nd.strategy = TTNN_GRID_2D;
	nd.shape.rank = 99;
	CHECK_FAILS(ttnn_memory_config_nd(&config, TTNN_L1, &nd), TTNN_INVALID, "99 dimensions");
	CHECK_INT(config.buffer, TTNN_TRACE);
	config.has_nd_shard = true;
	config.nd_shard = nd;
	CHECK_FAILS(ttnn_memory_config_text(&text, &config, TTNN_DIALECT_SEED), TTNN_INVALID,
		    "99 dimensions");
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

#define HS "TensorMemoryLayout::HEIGHT_SHARDED"

/* One placement in every form that is known from files. */
static const char *const forms[] = {
	"{'buffer_type':1,'created_with_nd_shard_spec':false,'memory_layout':2,'shard_spec':"
	"{'grid':[{'end':{'x':7,'y':6},'start':{'x':0,'y':0}}],'orientation':0,'shape':[224,32]}}",
	"{'buffer_type':'L1','created_with_nd_shard_spec':false,'memory_layout':'HEIGHT_SHARDED',"
	"'shard_spec':{'grid':[{'end':{'x':7,'y':6},'start':{'x':0,'y':0}}],'orientation':0,"
	"'shape':[224,32]}}",
	"{'memory_layout':'" HS "','buffer_type':'BufferType::L1','shard_spec':{'grid':"
	"[{'x':0,'y':0},{'x':7,'y':6}],'shape':'[224, 32]','orientation':"
	"'ShardOrientation::ROW_MAJOR'},'nd_shard_spec':'std::nullopt',"
	"'created_with_nd_shard_spec':0}",
	"{'memory_layout':'HEIGHT_SHARDED','buffer_type':'L1','shard_spec':{'grid':"
	"[[{'x':0,'y':0},{'x':7,'y':6}]],'shape':'{224, 32}','orientation':"
	"'ShardOrientation::ROW_MAJOR'}}",
	"{'buffer_type':'BufferType.L1','hash':21263512283346,'interleaved':false,'is_sharded':true,"
	"'memory_layout':'TensorMemoryLayout.HEIGHT_SHARDED','shard_spec':{'grid':[{'end':"
	"{'x':7,'y':6},'start':{'x':0,'y':0}}],'orientation':'ROW_MAJOR','shape':[224,32]}}",
	"{'memory_layout':'TensorMemoryLayout.HEIGHT_SHARDED','buffer_type':'BufferType.L1',"
	"'shard_spec':'ShardSpec{grid=[{\\\"start\\\":{\\\"x\\\":0,\\\"y\\\":0},\\\"end\\\":"
	"{\\\"x\\\":7,\\\"y\\\":6}], shape=[224, 32], orientation=ShardOrientation::ROW_MAJOR}',"
	"'is_sharded':true,'interleaved':false}",
	"'MemoryConfig(memory_layout=" HS ",buffer_type=BufferType::L1,shard_spec=ShardSpec{"
	"grid=[{\\\"start\\\":{\\\"x\\\":0,\\\"y\\\":0},\\\"end\\\":{\\\"x\\\":7,\\\"y\\\":6}], "
	"shape=[224, 32], orientation=ShardOrientation::ROW_MAJOR},nd_shard_spec=std::nullopt,"
	"created_with_nd_shard_spec=0)'",
	"'MemoryConfig(memory_layout=" HS ",buffer_type=BufferType::L1,shard_spec=ShardSpec("
	"grid={[(x=0,y=0) - (x=7,y=6)]},shape={224, 32},orientation=ShardOrientation::ROW_MAJOR),"
	"something_new={1, {2}})'",
};

/* Parses JSON written with single quotes. */
static struct tt_json_doc *parse(const char *quoted)
{
	struct tt_json_doc *doc = NULL;
	char text[1024];
	size_t length = strlen(quoted);

	for (size_t i = 0; i <= length && i < sizeof(text); i++)
		text[i] = quoted[i] == '\'' ? '"' : quoted[i];
	CHECK_OK(tt_json_parse(&doc, text, length, "test"));
	return doc;
}

static tt_status read_config(struct ttnn_memory_config *out, const char *quoted)
{
	struct tt_json_doc *doc = parse(quoted);
	tt_status status = tt_json_read_memory_config(out, tt_json_root(doc));

	tt_json_free(doc);
	return status;
}

TEST(json_of_every_form)
{
	struct ttnn_shard_spec shard = {.height = 224, .width = 32};
	struct ttnn_memory_config want = {0}, got = {0};

	CHECK_OK(tt_core_set_grid(&shard.grid, 8, 7));
	CHECK_OK(ttnn_memory_config_sharded(&want, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		got = (struct ttnn_memory_config){0};
		CHECK_OK(read_config(&got, forms[i]));
		if (!ttnn_memory_config_equal(&got, &want))
			TEST_FAIL("read something else from %s", forms[i]);
	}
	CHECK_OK(read_config(&got,
			     "{'memory_layout':'TensorMemoryLayout.INTERLEAVED','buffer_type':"
			     "'BufferType.DRAM','shard_spec':'None','hash':701279491252118104}"));
	CHECK(ttnn_memory_config_equal(&got, &(struct ttnn_memory_config){0}));
	CHECK_OK(read_config(&got, "{'memory_layout':3,'buffer_type':0,'shard_spec':null}"));
	CHECK(got.layout == TTNN_WIDTH_SHARDED && !got.has_shard);
}

static const struct {
	const char *json, *message;
} bad_json[] = {
	{"17", "expected a memory config, not"},
	{"{'memory_layout':'SIDEWAYS'}", "expected a member of TensorMemoryLayout, not SIDEWAYS"},
	{"{'memory_layout':1}", "expected a member of TensorMemoryLayout"},
	{"{'buffer_type':-1}", "expected a member of BufferType"},
	{"{'buffer_type':[]}", "expected a member of BufferType"},
	{"{'shard_spec':7}", "expected a shard spec"},
	{"{'shard_spec':{}}", "expected a core range set"},
	{"{'shard_spec':{'grid':[7],'shape':[1,2]}}", "expected a range of cores"},
	{"{'shard_spec':{'grid':[{'start':{'x':0}}],'shape':[1,2]}}", "expected a range of cores"},
	{"{'shard_spec':{'grid':[],'shape':[1]}}", "two dimensions"},
	{"{'shard_spec':{'grid':[],'shape':[1,-2]}}", "expected an extent"},
	{"{'shard_spec':{'grid':[],'shape':[1,4294967296]}}", "expected an extent"},
	{"{'shard_spec':{'grid':[],'shape':{}}}", "expected a shape"},
	{"{'shard_spec':{'grid':[],'shape':'[1, x]'}}", "expected a shape, not \"[1, x]\""},
	{"{'shard_spec':{'grid':'{[0-0 - 7]}','shape':[1,2]}}", "expected a core range set"},
	{"{'shard_spec':{'grid':'{[0-0 - 7-z]}','shape':[1,2]}}", "expected a core range set"},
	{"{'shard_spec':{'grid':[],'shape':[1,2],'orientation':2}}", "ShardOrientation"},
	{"{'shard_spec':'ShardSpec'}", "expected a shard spec"},
	{"{'shard_spec':'ShardSpec{grid=[], shape=[1]}'}", "expected a shard spec"},
	{"{'nd_shard_spec':{'grid':[]}}", "expected a shape"},
	{"{'nd_shard_spec':[]}", "expected an ND shard spec"},
	{"{'nd_shard_spec':'{}'}", "expected an ND shard spec"},
	{"'MemoryConfig()'", "expected a memory config, not \"MemoryConfig()\""},
	{"'MemoryConfig(memory_layout=TensorMemoryLayout::X)'", "expected TensorMemoryLayout"},
	{"''", "expected a memory config"},
};

TEST(bad_json_is_refused)
{
	struct ttnn_memory_config config = {.buffer = TTNN_TRACE};

	for (size_t i = 0; i < sizeof(bad_json) / sizeof(bad_json[0]); i++)
		CHECK_FAILS(read_config(&config, bad_json[i].json), TTNN_FORMAT,
			    bad_json[i].message);
	CHECK_FAILS(read_config(&config, "{'shard_spec':{'grid':[[{'x':0,'y':0},{'x':3,'y':3}],"
					 "[{'x':3,'y':3},{'x':4,'y':4}]],'shape':[1,2]}}"),
		    TTNN_INVALID, "overlap");
	CHECK_INT(config.buffer, TTNN_TRACE);
}

TEST(bad_texts_are_refused)
{
	static const char *const bad_shapes[] = {
		"",
		"1, 2",
		"Shape",
		"Shape(",
		"Shape([1, 2]",
		"[1, 2",
		"[1, 2] x",
		"[-1]",
		"Shape([4294967296])",
		"[1,,x]",
		"no shape([1])",
		"[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
	};
	struct ttnn_shape shape = TT_SHAPE(9);
	struct ttnn_spec_args args;

	for (size_t i = 0; i < sizeof(bad_shapes) / sizeof(bad_shapes[0]); i++)
		if (tt_read_shape(&shape, tt_span(bad_shapes[i])) != TTNN_FORMAT)
			TEST_FAIL("\"%s\" was read as a shape", bad_shapes[i]);
	CHECK(ttnn_shape_equal(&shape, &TT_SHAPE(9)));
	CHECK_OK(tt_read_shape(&shape, tt_span(" (1, 2) ")));
	CHECK(ttnn_shape_equal(&shape, &TT_SHAPE(1, 2)));
	CHECK_OK(tt_read_shape(&shape, tt_span("Shape([])")));
	CHECK_INT(shape.rank, 0);
	CHECK_INT(tt_read_tensor_spec(&args, tt_span("TensorSpec()")), TTNN_FORMAT);
	CHECK_INT(tt_read_tensor_spec(&args,
				      tt_span("TensorSpec(logical_shape=Shape([1]),tensor_layout="
					      "TensorLayout(dtype=DataType::FLOAT17))")),
		  TTNN_FORMAT);
}

/* The default dialect writes what it can read again, ND shards too; the other loses their shape. */
TEST(json_round_trip)
{
	struct ttnn_nd_shard_spec nd = {.shape = TT_SHAPE(1, 2, 32),
					.strategy = TTNN_CONTIGUOUS_1D};
	struct ttnn_memory_config config = {0}, back = {0};
	struct tt_json_doc *doc = NULL;
	struct tt_str text = {0};
	struct tt_jsonw w;

	CHECK_OK(tt_core_set_grid(&nd.grid, 3, 2));
	CHECK_OK(ttnn_memory_config_nd(&config, TTNN_DRAM, &nd));
	for (int dialect = TTNN_DIALECT_SEED; dialect <= TTNN_DIALECT_TT_METAL; dialect++) {
		tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.indent = 2});
		tt_json_write_memory_config(&w, &config, (enum ttnn_dialect)dialect);
		CHECK_OK(tt_jsonw_finish(&w));
		CHECK_OK(tt_json_parse(&doc, tt_str_text(&text), text.length, "test"));
		if (dialect == TTNN_DIALECT_SEED) {
			CHECK_OK(tt_json_read_memory_config(&back, tt_json_root(doc)));
			CHECK(ttnn_memory_config_equal(&back, &config));
		} else {
			CHECK_FAILS(tt_json_read_memory_config(&back, tt_json_root(doc)),
				    TTNN_FORMAT,
				    "expected a shape, not \"ttsl::json::to_json_t: Unsupported");
		}
		tt_json_free(doc);
		tt_str_clear(&text);
	}
	tt_str_deinit(&text);
}

/* ---- worked out from cores, against recorded answers ----------------------------------------------------- */

static tt_status create(struct ttnn_memory_config *out, const struct tt_json *row)
{
	const char *strategy = tt_json_string(tt_json_get(row, "strategy"), NULL);
	const struct tt_json *grid = tt_json_get(row, "grid");
	struct tt_sharded_args args = {
		.orientation =
			(enum ttnn_orientation)row_enum(row, "orientation", &tt_enum_orientation),
		.layout = strategy[0] == 'H'   ? TTNN_HEIGHT_SHARDED
			  : strategy[0] == 'W' ? TTNN_WIDTH_SHARDED
					       : TTNN_BLOCK_SHARDED,
	};
	uint64_t width = 0, height = 0;

	CHECK_OK(tt_json_read_shape(&args.shape, tt_json_get(row, "shape")));
	CHECK(tt_json_bool(&args.shard_is_shape, tt_json_get(row, "whole")));
	if (grid) {
		CHECK(tt_json_uint(&width, tt_json_at(grid, 0)));
		CHECK(tt_json_uint(&height, tt_json_at(grid, 1)));
		args.grid_width = (uint32_t)width;
		args.grid_height = (uint32_t)height;
	} else {
		args.cores = row_cores(tt_json_get(row, "cores"));
	}
	return tt_memory_config_create_sharded(out, &args);
}

TEST(recorded_sharded_configs)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t made = 0, refused = 0;

	CHECK_OK(tt_json_load(&doc, VALUES_DATA "sharded.json.gz"));
	it = tt_json_iter(tt_json_get(tt_json_root(doc), "created"));
	while (tt_json_next(&it)) {
		const struct tt_json *refusal = tt_json_get(it.value, "refused");
		struct ttnn_memory_config config = {0}, want = {0};
		tt_status status = create(&config, it.value);

		if (refusal) {
			refused++;
			CHECK_INT(status, TTNN_INVALID);
			check_refusal(refusal);
			continue;
		}
		made++;
		CHECK_OK(status);
		CHECK_OK(tt_json_read_memory_config(&want, tt_json_get(it.value, "json")));
		CHECK(ttnn_memory_config_equal(&config, &want));
	}
	printf("%zu recorded sharded configs made, %zu refused\n", made, refused);
	CHECK(made > 100 && refused > 50);
	tt_json_free(doc);
}

static tt_status build(struct ttnn_tensor_spec *out, const struct tt_json *row)
{
	const char *method = tt_json_string(tt_json_get(row, "method"), NULL);
	struct tt_shard_target target = {
		row_cores(tt_json_get(row, "grid")),
		(enum ttnn_orientation)row_enum(row, "orientation", &tt_enum_orientation)};
	struct tt_json_iter it = tt_json_iter(tt_json_get(row, "dims"));
	struct tt_shard_dims dims = {.except = strcmp(method, "sharded_across_dims") != 0};
	const char *alignment = tt_json_string(tt_json_get(row, "alignment"), NULL);
	struct ttnn_nd_shard_spec nd = {.grid = target.grid, .orientation = target.orientation};
	struct ttnn_spec_args args = row_spec(row);
	struct ttnn_tensor_spec spec;
	int64_t list[TTNN_MAX_RANK];

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	if (strcmp(method, "height_sharded") == 0)
		return tt_spec_shard_2d(out, &spec, TTNN_HEIGHT_SHARDED, &target);
	if (strcmp(method, "width_sharded") == 0)
		return tt_spec_shard_2d(out, &spec, TTNN_WIDTH_SHARDED, &target);
	if (strcmp(method, "block_sharded") == 0)
		return tt_spec_shard_2d(out, &spec, TTNN_BLOCK_SHARDED, &target);
	if (strcmp(method, "sharded") == 0) {
		CHECK_OK(tt_json_read_shape(&nd.shape, tt_json_get(row, "shard")));
		nd.strategy = (enum ttnn_shard_strategy)row_enum(row, "strategy",
								 &tt_enum_shard_strategy);
		return tt_spec_shard(out, &spec, &nd,
				     alignment[0] == 'N'   ? TT_SHARD_ALIGN_NONE
				     : alignment[2] == 'Q' ? TT_SHARD_ALIGN_REQUIRED
							   : TT_SHARD_ALIGN_RECOMMENDED);
	}
	for (dims.dims = list; tt_json_next(&it); dims.count++)
		CHECK(tt_json_int(&list[dims.count], it.value));
	return tt_spec_shard_dims(out, &spec, &dims, &target);
}

/* Upstream rounds up a dimension that a shard of rank 1 does not have; ours is refused instead. */
static bool is_flat_tile_shard(const struct tt_json *row)
{
	const char *alignment = tt_json_string(tt_json_get(row, "alignment"), NULL);

	return row_enum(row, "layout", &tt_enum_layout) == TTNN_TILE && alignment &&
	       alignment[0] == 'R' && tt_json_count(tt_json_get(row, "shard")) < 2;
}

TEST(recorded_builder_methods)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t built = 0, refused = 0, crashed = 0;

	CHECK_OK(tt_json_load(&doc, VALUES_DATA "sharded.json.gz"));
	it = tt_json_iter(tt_json_get(tt_json_root(doc), "built"));
	for (size_t i = 0; tt_json_next(&it); i++) {
		const struct tt_json *refusal = tt_json_get(it.value, "refused");
		struct ttnn_tensor_spec spec;
		struct tt_str text = {0};
		tt_status status = build(&spec, it.value);

		if (tt_json_get(it.value, "crash")) {
			crashed++; /* anything but that */
		} else if (is_flat_tile_shard(it.value)) {
			CHECK_INT(status, TTNN_INVALID);
		} else if (refusal) {
			refused++;
			CHECK_INT(status, TTNN_INVALID);
			check_refusal(refusal);
		} else if (status != TTNN_OK) {
			TEST_FAIL("row %zu of built: %s", i, ttnn_error());
		} else {
			built++;
			tt_text_memory_config(&text, &spec.memory, TTNN_DIALECT_TT_METAL);
			CHECK_STR(tt_str_text(&text),
				  tt_json_string(tt_json_get(it.value, "text"), NULL));
			tt_str_deinit(&text);
		}
	}
	printf("%zu recorded builder calls, %zu refused, %zu that upstream does not survive\n",
	       built, refused, crashed);
	CHECK(built > 180 && refused > 8);
	tt_json_free(doc);
}

TEST(absurd_cuts_are_refused)
{
	struct tt_sharded_args args = {.shape = TT_SHAPE(UINT32_MAX, UINT32_MAX, 2, 4),
				       .grid_width = 1,
				       .grid_height = 1,
				       .layout = TTNN_WIDTH_SHARDED};
	struct ttnn_memory_config config;

	CHECK_FAILS(tt_memory_config_create_sharded(&config, &args), TTNN_INVALID, "64 bits");
	args.shape = TT_SHAPE(UINT32_MAX, 2, 4);
	CHECK_FAILS(tt_memory_config_create_sharded(&config, &args), TTNN_INVALID, "absurd");
	args.shape = TT_SHAPE(4);
	CHECK_FAILS(tt_memory_config_create_sharded(&config, &args), TTNN_INVALID, "input shape");
	args.shape = TT_SHAPE(4, 4);
	args.grid_width = 0;
	CHECK_FAILS(tt_memory_config_create_sharded(&config, &args), TTNN_INVALID, "empty");
	args.layout = TTNN_INTERLEAVED;
	CHECK_FAILS(tt_memory_config_create_sharded(&config, &args), TTNN_INVALID, "strategy");
}

SCENARIO(json_without_memory)
{
	struct tt_json_doc *doc = NULL;
	struct ttnn_memory_config config;
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;
	static const char json[] =
		"{\"memory_layout\":2,\"buffer_type\":1,\"shard_spec\":{\"grid\":"
		"[{\"start\":{\"x\":0,\"y\":0},\"end\":{\"x\":1,\"y\":1}},"
		"{\"start\":{\"x\":2,\"y\":0},\"end\":{\"x\":2,\"y\":1}}],\"shape\":\"[32, 32]\"}}";

	TT_TRY(tt_json_parse(&doc, json, sizeof(json) - 1, "test"));
	status = tt_json_read_memory_config(&config, tt_json_root(doc));
	tt_json_free(doc);
	TT_TRY(status);
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	tt_json_write_memory_config(&w, &config, TTNN_DIALECT_SEED);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	tt_str_deinit(&text);
	return status;
}
