#include "event/value.h"

#include <math.h>
#include <string.h>

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
