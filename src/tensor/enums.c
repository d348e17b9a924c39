#include "tensor/enums.h"

#include <string.h>
#include <strings.h>
#include <ttnn.h>

static const struct tt_enum_row dtype_rows[] = {
#define TTNN_X(NAME, name, code, class, bytes, mantissa, layouts, file) {code, #NAME},
	TTNN_DTYPE_LIST(TTNN_X)
#undef TTNN_X
};
static const struct tt_enum_row layout_rows[] = {
	{TTNN_ROW_MAJOR, "ROW_MAJOR"},
	{TTNN_TILE, "TILE"},
};
static const struct tt_enum_row buffer_type_rows[] = {
	{TTNN_DRAM, "DRAM"},         {TTNN_L1, "L1"},       {TTNN_SYSTEM_MEMORY, "SYSTEM_MEMORY"},
	{TTNN_L1_SMALL, "L1_SMALL"}, {TTNN_TRACE, "TRACE"},
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
static const struct tt_enum_row storage_type_rows[] = {{0, "HOST"}, {1, "DEVICE"}};
static const struct tt_enum_row math_fidelity_rows[] = {
	{0, "LoFi"}, {2, "HiFi2"}, {3, "HiFi3"}, {4, "HiFi4"}, {255, "Invalid"},
};

#define ENUM(variable, name)                                                                       \
	const struct tt_enum tt_enum_##variable = {                                                \
		name, variable##_rows, sizeof(variable##_rows) / sizeof(variable##_rows[0])}
ENUM(dtype, "DataType");
ENUM(layout, "Layout");
ENUM(buffer_type, "BufferType");
ENUM(memory_layout, "TensorMemoryLayout");
ENUM(orientation, "ShardOrientation");
ENUM(shard_strategy, "ShardDistributionStrategy");
ENUM(storage_type, "StorageType");
ENUM(math_fidelity, "MathFidelity");

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

/* Skips `prefix` if the text starts with it, in any case. */
static void skip(const char **text, size_t *length, const char *prefix)
{
	size_t size = strlen(prefix);

	if (*length > size && strncasecmp(*text, prefix, size) == 0) {
		*text += size;
		*length -= size;
	}
}

bool tt_enum_parse(int64_t *out, const struct tt_enum *type, const char *text, size_t length)
{
	skip(&text, &length, "ttnn.");
	skip(&text, &length, type->name);
	skip(&text, &length, "::");
	skip(&text, &length, ".");
	for (size_t i = 0; i < type->count; i++) {
		const char *name = type->rows[i].name;

		if (strlen(name) == length && strncasecmp(name, text, length) == 0) {
			*out = type->rows[i].value;
			return true;
		}
	}
	return false;
}
