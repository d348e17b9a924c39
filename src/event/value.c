#include "event/value.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct tt_enum_row dtype_rows[] = {
#define TTNN_X(NAME, name, code, class, bytes, mantissa) {code, #NAME},
	TTNN_DTYPE_LIST(TTNN_X)
#undef TTNN_X
};
static const struct tt_enum_row layout_rows[] = {
	{TTNN_ROW_MAJOR, "ROW_MAJOR"},
	{TTNN_TILE, "TILE"},
};
static const struct tt_enum_row buffer_type_rows[] = {
	{TTNN_DRAM, "DRAM"},
	{TTNN_L1, "L1"},
	{TTNN_SYSTEM_MEMORY, "SYSTEM_MEMORY"},
	{TTNN_L1_SMALL, "L1_SMALL"},
	{TTNN_TRACE, "TRACE"},
};
static const struct tt_enum_row memory_layout_rows[] = {
	{TTNN_INTERLEAVED, "INTERLEAVED"},     {TTNN_HEIGHT_SHARDED, "HEIGHT_SHARDED"},
	{TTNN_WIDTH_SHARDED, "WIDTH_SHARDED"}, {TTNN_BLOCK_SHARDED, "BLOCK_SHARDED"},
	{TTNN_ND_SHARDED, "ND_SHARDED"},
};
static const struct tt_enum_row orientation_rows[] = {
	{TTNN_ORIENT_ROW_MAJOR, "ROW_MAJOR"},
	{TTNN_ORIENT_COL_MAJOR, "COL_MAJOR"},
};
static const struct tt_enum_row shard_strategy_rows[] = {
	{TTNN_ROUND_ROBIN_1D, "ROUND_ROBIN_1D"},
	{TTNN_GRID_2D, "GRID_2D"},
	{TTNN_CONTIGUOUS_1D, "CONTIGUOUS_1D"},
};

const struct tt_enum tt_enum_dtype = {"DataType", dtype_rows, COUNT(dtype_rows)};
const struct tt_enum tt_enum_layout = {"Layout", layout_rows, COUNT(layout_rows)};
const struct tt_enum tt_enum_buffer_type = {"BufferType", buffer_type_rows,
					    COUNT(buffer_type_rows)};
const struct tt_enum tt_enum_memory_layout = {"TensorMemoryLayout", memory_layout_rows,
					      COUNT(memory_layout_rows)};
const struct tt_enum tt_enum_orientation = {"ShardOrientation", orientation_rows,
					    COUNT(orientation_rows)};
const struct tt_enum tt_enum_shard_strategy = {"ShardDistributionStrategy", shard_strategy_rows,
					       COUNT(shard_strategy_rows)};

static const char *const kind_names[TTNN_VALUE_KINDS] = {
	[TTNN_VALUE_ABSENT] = "nothing",
	[TTNN_VALUE_NONE] = "None",
	[TTNN_VALUE_BOOL] = "a boolean",
	[TTNN_VALUE_INT] = "an integer",
	[TTNN_VALUE_REAL] = "a number",
	[TTNN_VALUE_STRING] = "a string",
	[TTNN_VALUE_ENUM] = "an enumeration member",
	[TTNN_VALUE_SHAPE] = "a shape",
	[TTNN_VALUE_MEMORY] = "a memory config",
	[TTNN_VALUE_CORE] = "a core",
	[TTNN_VALUE_CORE_SET] = "a core range set",
	[TTNN_VALUE_TILE] = "a tile",
	[TTNN_VALUE_SHARD] = "a shard spec",
	[TTNN_VALUE_ND_SHARD] = "an ND shard spec",
	[TTNN_VALUE_TENSOR] = "a tensor",
	[TTNN_VALUE_DEVICE] = "a device",
	[TTNN_VALUE_LIST] = "a list",
	[TTNN_VALUE_OBJECT] = "an object",
	[TTNN_VALUE_OPAQUE] = "an object",
};

const char *tt_value_kind_name(const struct ttnn_value *value)
{
	return value->kind < TTNN_VALUE_KINDS ? kind_names[value->kind] : "?";
}

struct ttnn_value tt_value_string(const char *text)
{
	if (!text)
		return tt_value_none();
	return (struct ttnn_value){
		.kind = TTNN_VALUE_STRING, .count = (uint32_t)strlen(text), .text = text};
}

struct ttnn_value tt_value_tensor(struct tt_tensor *tensor)
{
	if (!tensor)
		return tt_value_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_TENSOR, .tensor = tensor};
}

struct ttnn_value tt_value_shape(const struct ttnn_shape *shape)
{
	if (!shape)
		return tt_value_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_SHAPE, .shape = shape};
}

struct ttnn_value tt_value_memory(const struct ttnn_memory_config *memory)
{
	if (!memory)
		return tt_value_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_MEMORY, .memory = memory};
}

struct ttnn_value tt_value_core_set(const ttnn_core_set *set)
{
	if (!set)
		return tt_value_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_CORE_SET, .core_set = set};
}

struct ttnn_value tt_value_dtype(enum ttnn_dtype dtype)
{
	return tt_value_enum(&tt_enum_dtype, (int64_t)dtype);
}

struct ttnn_value tt_value_layout(enum ttnn_layout layout)
{
	return tt_value_enum(&tt_enum_layout, (int64_t)layout);
}

bool tt_value_number(double *out, const struct ttnn_value *value)
{
	switch (value->kind) {
	case TTNN_VALUE_BOOL:
		*out = value->boolean;
		return true;
	case TTNN_VALUE_INT:
	case TTNN_VALUE_ENUM:
		*out = (double)value->integer;
		return true;
	case TTNN_VALUE_REAL:
		*out = value->real;
		return true;
	default:
		return false;
	}
}

bool tt_value_integer(int64_t *out, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_REAL) {
		if (!(fabs(value->real) < 0x1p63) || value->real != floor(value->real))
			return false;
		*out = (int64_t)value->real;
		return true;
	}
	if (value->kind == TTNN_VALUE_BOOL)
		*out = value->boolean;
	else if (value->kind == TTNN_VALUE_INT || value->kind == TTNN_VALUE_ENUM)
		*out = value->integer;
	else
		return false;
	return true;
}

const char *tt_enum_name(const struct tt_enum *type, int64_t value)
{
	for (size_t i = 0; i < type->count; i++)
		if (type->rows[i].value == value)
			return type->rows[i].name;
	return NULL;
}

bool tt_enum_find(int64_t *out, const struct tt_enum *type, const char *name)
{
	for (size_t i = 0; i < type->count; i++)
		if (strcmp(type->rows[i].name, name) == 0) {
			*out = type->rows[i].value;
			return true;
		}
	return false;
}
