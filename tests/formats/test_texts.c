/*
 * Values of the tensor layer print as the released library prints them: every row of texts.json,
 * whose expressions are evaluated here, and the forms that only the other dialect has.
 */
#include "test.h"

#include "values.h"

#include "tensor/read.h"
#include "tensor/shape.h"
#include "tensor/sharding.h"
#include "tensor/text.h"

enum kind {
	OTHER, /* a value of another layer */
	LIST,  /* Shape, MeshShape, MeshCoordinate and plain lists */
	ENUM,
	CORE,
	GRID,
	RANGE,
	CORES,
	TILE_VALUE,
	SHARD,
	ND_SHARD,
	MEMORY,
};

struct value {
	enum kind kind;
	const char *name; /* of a list */
	struct ttnn_shape list;
	const struct tt_enum *type;
	int64_t member;
	struct ttnn_core core; /* also a grid's extents */
	struct ttnn_core_range range;
	const ttnn_core_set *cores;
	struct ttnn_tile tile;
	struct ttnn_shard_spec shard;
	struct ttnn_nd_shard_spec nd_shard;
	struct ttnn_memory_config memory;
};

static struct value evaluate(const struct tt_json *expression);

/* ---- attributes: ttnn.bfloat16, ttnn.BufferType.L1, ttnn.L1_MEMORY_CONFIG ---------------------------- */

static struct value enum_value(const struct tt_enum *type, const char *name)
{
	struct value value = {.kind = ENUM, .type = type};

	CHECK(tt_enum_parse(&value.member, type, name, strlen(name)));
	return value;
}

static const struct {
	const char *name;
	enum ttnn_memory_layout layout;
	enum ttnn_buffer_type buffer;
} configs[] = {
	{"DRAM_MEMORY_CONFIG", TTNN_INTERLEAVED, TTNN_DRAM},
	{"L1_MEMORY_CONFIG", TTNN_INTERLEAVED, TTNN_L1},
	{"L1_HEIGHT_SHARDED_MEMORY_CONFIG", TTNN_HEIGHT_SHARDED, TTNN_L1},
	{"L1_WIDTH_SHARDED_MEMORY_CONFIG", TTNN_WIDTH_SHARDED, TTNN_L1},
	{"L1_BLOCK_SHARDED_MEMORY_CONFIG", TTNN_BLOCK_SHARDED, TTNN_L1},
};

static const struct tt_enum *const enums[] = {
	&tt_enum_dtype,         &tt_enum_layout,        &tt_enum_buffer_type,
	&tt_enum_memory_layout, &tt_enum_orientation,   &tt_enum_shard_strategy,
	&tt_enum_storage_type,  &tt_enum_math_fidelity,
};

static struct value attribute(const char *name)
{
	struct value value = {.kind = MEMORY};
	const char *dot = strchr(name, '.');
	enum ttnn_dtype dtype;

	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
		if (strcmp(name, configs[i].name) == 0) {
			CHECK_OK(ttnn_memory_config_sharded(&value.memory, configs[i].layout,
							    configs[i].buffer, NULL));
			return value;
		}
	if (strcmp(name, "TILE_LAYOUT") == 0)
		return enum_value(&tt_enum_layout, "TILE");
	if (strcmp(name, "ROW_MAJOR_LAYOUT") == 0)
		return enum_value(&tt_enum_layout, "ROW_MAJOR");
	if (!dot && ttnn_dtype_find(&dtype, name) == TTNN_OK)
		return (struct value){.kind = ENUM, .type = &tt_enum_dtype, .member = dtype};
	for (size_t i = 0; dot && i < sizeof(enums) / sizeof(enums[0]); i++)
		if (strlen(enums[i]->name) == (size_t)(dot - name) &&
		    strncmp(enums[i]->name, name, (size_t)(dot - name)) == 0)
			return enum_value(enums[i], dot + 1);
	return (struct value){.kind = OTHER};
}

/* ---- constructors ---------------------------------------------------------------------------------- */

static struct value argument(const struct tt_json *call, size_t index, const char *keyword)
{
	const struct tt_json *args = tt_json_get(call, "args");

	return evaluate(index < tt_json_count(args)
				? tt_json_at(args, index)
				: tt_json_get(tt_json_get(call, "kwargs"), keyword));
}

static uint32_t number(const struct tt_json *value)
{
	uint64_t out = 0;

	CHECK(tt_json_uint(&out, value));
	return (uint32_t)out;
}

static uint32_t number_argument(const struct tt_json *call, size_t index, const char *keyword)
{
	const struct tt_json *args = tt_json_get(call, "args");

	return number(index < tt_json_count(args)
			      ? tt_json_at(args, index)
			      : tt_json_get(tt_json_get(call, "kwargs"), keyword));
}

static void make_shape(struct value *value, const struct tt_json *call)
{
	*value = argument(call, 0, "shape");
}

/* MeshShape(2, 4): the arguments are the list. */
static void make_list(struct value *value, const struct tt_json *call)
{
	value->kind = LIST;
	CHECK_OK(tt_json_read_shape(&value->list, tt_json_get(call, "args")));
}

static void make_core(struct value *value, const struct tt_json *call)
{
	value->kind = CORE;
	value->core =
		(struct ttnn_core){number_argument(call, 0, "x"), number_argument(call, 1, "y")};
}

static void make_grid(struct value *value, const struct tt_json *call)
{
	value->kind = GRID;
	value->core =
		(struct ttnn_core){number_argument(call, 1, "x"), number_argument(call, 0, "y")};
}

static void make_range(struct value *value, const struct tt_json *call)
{
	value->kind = RANGE;
	value->range.start = argument(call, 0, "start").core;
	value->range.end = argument(call, 1, "end").core;
}

static void make_cores(struct value *value, const struct tt_json *call)
{
	struct tt_json_iter it = tt_json_iter(tt_json_at(tt_json_get(call, "args"), 0));
	struct ttnn_core_range ranges[8];
	size_t count = 0;

	value->kind = CORES;
	while (tt_json_next(&it) && count < 8)
		ranges[count++] = evaluate(it.value).range;
	CHECK_OK(ttnn_core_set_make(&value->cores, ranges, count));
}

static void make_tile(struct value *value, const struct tt_json *call)
{
	struct ttnn_shape shape = argument(call, 0, "tile_shape").list;

	value->kind = TILE_VALUE;
	value->tile = (struct ttnn_tile){shape.dim[0], shape.dim[1], false};
}

static void make_shard(struct value *value, const struct tt_json *call)
{
	struct ttnn_shape shape = argument(call, 1, "shard_shape").list;

	value->kind = SHARD;
	value->shard = (struct ttnn_shard_spec){
		argument(call, 0, "grid").cores, shape.dim[0], shape.dim[1],
		(enum ttnn_orientation)argument(call, 2, "shard_orientation").member};
}

static void make_nd_shard(struct value *value, const struct tt_json *call)
{
	value->kind = ND_SHARD;
	value->nd_shard = (struct ttnn_nd_shard_spec){
		.shape = argument(call, 0, "shard_shape").list,
		.grid = argument(call, 1, "grid").cores,
		.orientation = (enum ttnn_orientation)argument(call, 2, "orientation").member};
}

static void make_memory(struct value *value, const struct tt_json *call)
{
	struct value first = argument(call, 0, "memory_layout");
	struct value second = argument(call, 1, "buffer_type");
	struct value third = argument(call, 2, "shard_spec");

	value->kind = MEMORY;
	if (second.kind == ND_SHARD)
		CHECK_OK(ttnn_memory_config_nd(&value->memory, (enum ttnn_buffer_type)first.member,
					       &second.nd_shard));
	else
		CHECK_OK(ttnn_memory_config_sharded(
			&value->memory, (enum ttnn_memory_layout)first.member,
			(enum ttnn_buffer_type)second.member, &third.shard));
}

static void make_sharded(struct value *value, const struct tt_json *call)
{
	const struct tt_json *strategy = tt_json_get(tt_json_get(call, "kwargs"), "strategy");
	const char *name = tt_json_string(tt_json_get(strategy, "attr"), NULL);
	struct value grid = argument(call, 1, "core_grid");
	struct tt_sharded_args args = {
		.shape = argument(call, 0, "shape").list,
		.grid_width = grid.core.x,
		.grid_height = grid.core.y,
		.layout = strstr(name, "HEIGHT")  ? TTNN_HEIGHT_SHARDED
			  : strstr(name, "WIDTH") ? TTNN_WIDTH_SHARDED
						  : TTNN_BLOCK_SHARDED,
	};

	value->kind = MEMORY;
	CHECK_OK(tt_memory_config_create_sharded(&value->memory, &args));
}

static const struct {
	const char *name;
	void (*make)(struct value *value, const struct tt_json *call);
} constructors[] = {
	{"Shape", make_shape},         {"MeshShape", make_list},
	{"MeshCoordinate", make_list}, {"CoreCoord", make_core},
	{"CoreGrid", make_grid},       {"CoreRange", make_range},
	{"CoreRangeSet", make_cores},  {"Tile", make_tile},
	{"ShardSpec", make_shard},     {"NdShardSpec", make_nd_shard},
	{"MemoryConfig", make_memory}, {"create_sharded_memory_config", make_sharded},
};

static struct value evaluate(const struct tt_json *expression)
{
	const char *attr = tt_json_string(tt_json_get(expression, "attr"), NULL);
	const char *made = tt_json_string(tt_json_get(expression, "new"), NULL);
	struct value value = {.kind = OTHER};

	if (attr)
		return attribute(attr);
	for (size_t i = 0; made && i < sizeof(constructors) / sizeof(constructors[0]); i++)
		if (strcmp(made, constructors[i].name) == 0) {
			constructors[i].make(&value, expression);
			value.name = made;
		}
	if (tt_json_get(expression, "tuple"))
		expression = tt_json_get(expression, "tuple");
	if (tt_json_kind(expression) == TT_JSON_ARRAY) {
		value.kind = LIST;
		CHECK_OK(tt_json_read_shape(&value.list, expression));
	}
	return value;
}

/* ---- printing --------------------------------------------------------------------------------------- */

static void print_value(struct tt_str *str, const struct value *value, enum ttnn_dialect dialect)
{
	switch (value->kind) {
	case OTHER:
		break;
	case LIST:
		tt_text_list(str, value->name, &value->list);
		break;
	case ENUM:
		tt_text_enum(str, value->type, value->member, ".");
		break;
	case CORE:
		tt_text_core(str, value->core, dialect);
		break;
	case GRID:
		tt_text_core_grid(str, value->core.x, value->core.y);
		break;
	case RANGE:
		tt_text_core_range(str, &value->range, dialect);
		break;
	case CORES:
		tt_text_core_set(str, value->cores, dialect);
		break;
	case TILE_VALUE:
		tt_text_tile_repr(str, &value->tile);
		break;
	case SHARD:
		tt_text_shard_spec(str, &value->shard);
		break;
	case ND_SHARD:
		tt_text_nd_shard_spec(str, &value->nd_shard);
		break;
	case MEMORY:
		tt_text_memory_config(str, &value->memory, dialect);
		break;
	}
}

static void print_json(struct tt_str *str, const struct value *value, enum ttnn_dialect dialect)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, str, (struct tt_jsonw_style){.compact = true});
	switch (value->kind) {
	case CORE:
		tt_json_write_core(&w, value->core);
		break;
	case RANGE:
		tt_json_write_core_range(&w, &value->range);
		break;
	case CORES:
		tt_json_write_core_set(&w, value->cores);
		break;
	case SHARD:
		tt_json_write_shard_spec(&w, &value->shard);
		break;
	case MEMORY:
		tt_json_write_memory_config(&w, &value->memory, dialect);
		break;
	default:
		TEST_FAIL("no JSON is known for this kind of value");
	}
	CHECK_OK(tt_jsonw_finish(&w));
}

/* What was printed is read again and is the same value. */
static void check_reading(const struct value *value, const char *text)
{
	struct ttnn_memory_config memory;
	const ttnn_core_set *cores = NULL;
	struct ttnn_shard_spec shard;
	struct ttnn_shape shape;

	if (value->kind == LIST) {
		CHECK_OK(tt_read_shape(&shape, tt_span(text)));
		CHECK(ttnn_shape_equal(&shape, &value->list));
	} else if (value->kind == CORES) {
		CHECK_OK(tt_read_core_set(&cores, tt_span(text)));
		CHECK(cores == value->cores);
	} else if (value->kind == SHARD) {
		CHECK_OK(tt_read_shard_spec(&shard, tt_span(text)));
		CHECK(shard.grid == value->shard.grid && shard.height == value->shard.height &&
		      shard.width == value->shard.width &&
		      shard.orientation == value->shard.orientation);
	} else if (value->kind == MEMORY) {
		CHECK_OK(tt_read_memory_config(&memory, tt_span(text)));
		CHECK(ttnn_memory_config_equal(&memory, &value->memory));
		CHECK(memory.created_with_nd_shard == value->memory.created_with_nd_shard);
	}
}

TEST(recorded_texts)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t compared = 0, others = 0, documents = 0;

	CHECK_OK(tt_json_load(&doc, VALUES_DATA "texts.json"));
	it = tt_json_iter(tt_json_root(doc));
	while (tt_json_next(&it)) {
		struct value value = evaluate(tt_json_get(it.value, "value"));
		const char *json = tt_json_string(tt_json_get(it.value, "to_json"), NULL);
		struct tt_str text = {0}, document = {0}, seed = {0};

		if (value.kind == OTHER) {
			others++;
			continue;
		}
		compared++;
		print_value(&text, &value, TTNN_DIALECT_TT_METAL);
		CHECK_STR(tt_str_text(&text), tt_json_string(tt_json_get(it.value, "repr"), NULL));
		CHECK_STR(tt_str_text(&text), tt_json_string(tt_json_get(it.value, "str"), NULL));
		check_reading(&value, tt_str_text(&text));
		print_value(&seed, &value, TTNN_DIALECT_SEED);
		check_reading(&value, tt_str_text(&seed));
		if (json) {
			documents++;
			print_json(&document, &value, TTNN_DIALECT_TT_METAL);
			CHECK_STR(tt_str_text(&document), json);
		}
		tt_str_deinit(&text);
		tt_str_deinit(&document);
		tt_str_deinit(&seed);
	}
	printf("%zu recorded texts and %zu JSON documents compared, %zu of other layers\n",
	       compared, documents, others);
	CHECK_INT(compared, 50);
	CHECK_INT(others, 13);
	tt_json_free(doc);
}

/* ---- the other dialect, and what has no recorded row -------------------------------------------------- */

static void check_text(struct tt_str *text, const char *want)
{
	CHECK_STR(tt_str_text(text), want);
	tt_str_clear(text);
}

TEST(seed_dialect)
{
	struct ttnn_core_range ranges[] = {{{0, 0}, {0, 7}}, {{1, 0}, {1, 3}}};
	struct ttnn_memory_config memory = {.buffer = TTNN_L1};
	const ttnn_core_set *cores = NULL;
	struct tt_str text = {0};

	CHECK_OK(ttnn_core_set_make(&cores, ranges, 2));
	tt_text_core_set(&text, cores, TTNN_DIALECT_SEED);
	check_text(&text, "{[(x=0,y=0) - (x=0,y=7)], [(x=1,y=0) - (x=1,y=3)]}");
	CHECK_OK(ttnn_core_set_make(&cores, NULL, 0));
	tt_text_core_set(&text, cores, TTNN_DIALECT_SEED);
	check_text(&text, "{}");
	tt_text_shape(&text, &TT_SHAPE(4, 3, 32, 32), TTNN_DIALECT_SEED);
	check_text(&text, "ttnn.Shape([4, 3, 32, 32])");
	tt_text_memory_config(&text, &memory, TTNN_DIALECT_SEED);
	check_text(&text, "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,"
			  "buffer_type=BufferType::L1,shard_spec=std::nullopt,"
			  "nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0)");
	tt_text_member(&text, &tt_enum_dtype, TTNN_BFLOAT8_B, TTNN_DIALECT_SEED);
	check_text(&text, "bfloat8_b");
	tt_text_member(&text, &tt_enum_layout, TTNN_TILE, TTNN_DIALECT_SEED);
	check_text(&text, "TILE");
	CHECK_STR(tt_text_style(TTNN_DIALECT_SEED)->yes, "true");
	CHECK_STR(tt_text_style(TTNN_DIALECT_TT_METAL)->no, "0");
	tt_str_deinit(&text);
}

TEST(members_and_tiles)
{
	struct ttnn_memory_config memory = {.per_core_allocation = true,
					    .range_lockstep_allocation = true};
	struct tt_str text = {0};

	tt_text_member(&text, &tt_enum_dtype, TTNN_BFLOAT8_B, TTNN_DIALECT_TT_METAL);
	check_text(&text, "DataType::BFLOAT8_B");
	tt_text_member(&text, &tt_enum_buffer_type, TTNN_L1_SMALL, TTNN_DIALECT_TT_METAL);
	check_text(&text, "BufferType::L1_SMALL");
	tt_text_member(&text, &tt_enum_layout, 7, TTNN_DIALECT_TT_METAL);
	check_text(&text, "Layout::Invalid");
	tt_text_tile(&text, &(struct ttnn_tile){8, 32, false});
	check_text(&text, "Tile(tile_shape={8, 32},face_shape={8, 16},num_faces=2)");
	tt_text_memory_config(&text, &memory, TTNN_DIALECT_TT_METAL);
	CHECK(strstr(tt_str_text(&text), "per_core_allocation=1,range_lockstep_allocation=1)"));
	tt_str_deinit(&text);
}

/* The texts users get, in either dialect; a scenario, as each of them allocates. */
SCENARIO(texts_for_users)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(2, 3)};
	struct ttnn_tensor_spec spec;
	const ttnn_core_set *cores = NULL;
	char *text[4] = {0};
	tt_status status;

	TT_TRY(tt_core_set_grid(&cores, 2, 1));
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	status = ttnn_shape_text(&text[0], &spec.shape, TTNN_DIALECT_SEED);
	if (status == TTNN_OK)
		status = ttnn_core_set_text(&text[1], cores, TTNN_DIALECT_TT_METAL);
	if (status == TTNN_OK)
		status = ttnn_memory_config_text(&text[2], &spec.memory, TTNN_DIALECT_TT_METAL);
	if (status == TTNN_OK)
		status = ttnn_tensor_spec_text(&text[3], &spec, TTNN_DIALECT_TT_METAL);
	if (status == TTNN_OK) {
		CHECK_STR(text[0], "ttnn.Shape([2, 3])");
		CHECK_STR(text[1], "{[0-0 - 1-0]}");
		CHECK(strstr(text[3], text[2]) && strstr(text[3], "RowMajorPageConfig()"));
	}
	for (size_t i = 0; i < 4; i++)
		ttnn_free(text[i]);
	return status;
}

SCENARIO(texts_without_memory)
{
	struct ttnn_nd_shard_spec shard = {.shape = TT_SHAPE(1, 2, 32, 32)};
	struct ttnn_spec_args args = {.shape = TT_SHAPE(4, 4, 64, 64), .layout = TTNN_TILE}, read;
	struct ttnn_tensor_spec spec;
	struct tt_str text = {0};
	tt_status status;

	TT_TRY(tt_core_set_grid(&shard.grid, 8, 8));
	TT_TRY(ttnn_memory_config_nd(&args.memory, TTNN_L1, &shard));
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	tt_text_tensor_spec(&text, &spec, TTNN_DIALECT_TT_METAL);
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_read_tensor_spec(&read, tt_span(tt_str_text(&text)));
	if (status == TTNN_OK)
		CHECK(ttnn_shape_equal(&read.shape, &args.shape) &&
		      ttnn_memory_config_equal(&read.memory, &args.memory));
	tt_str_deinit(&text);
	return status;
}
