/* dtype.c: the table of data types and the questions that need nothing else. */
#include "tensor/dtype.h"

#include <string.h>
#include <strings.h>

#include "base/status.h"

static const struct tt_dtype dtypes[TTNN_DTYPE_COUNT] = {
#define TTNN_X(NAME, name, code, class, bytes, mantissa, layouts, file)                            \
	[code] = {#name, #NAME, TT_DTYPE_##class, bytes, mantissa, TT_DTYPE_##layouts, file},
	TTNN_DTYPE_LIST(TTNN_X)
#undef TTNN_X
};

static const char all_names[] =
#define TTNN_X(NAME, name, code, class, bytes, mantissa, layouts, file) " " #name
	TTNN_DTYPE_LIST(TTNN_X);
#undef TTNN_X

/* What may stand before a name, longest first where one begins another. */
static const char *const prefixes[] = {"ttnn.DataType.", "DataType::", "DataType.", "ttnn."};

const struct tt_dtype *tt_dtype_find(enum ttnn_dtype dtype)
{
	/* One comparison for both ends, whatever sign the enum has. */
	if ((unsigned)dtype >= TTNN_DTYPE_COUNT)
		return NULL;
	return &dtypes[dtype];
}

bool tt_dtype_is_block(enum ttnn_dtype dtype)
{
	const struct tt_dtype *row = tt_dtype_find(dtype);

	return row && row->kind == TT_DTYPE_BLOCK;
}

bool tt_dtype_is_integer(enum ttnn_dtype dtype)
{
	const struct tt_dtype *row = tt_dtype_find(dtype);

	return row && (row->kind == TT_DTYPE_UNSIGNED || row->kind == TT_DTYPE_SIGNED);
}

bool tt_dtype_of_file(enum ttnn_dtype *out, unsigned code)
{
	for (int i = 0; i < TTNN_DTYPE_COUNT; i++)
		if (dtypes[i].file >= 0 && (unsigned)dtypes[i].file == code) {
			*out = (enum ttnn_dtype)i;
			return true;
		}
	return false;
}

const char *tt_dtype_names(void)
{
	return all_names;
}

uint32_t tt_dtype_bytes(enum ttnn_dtype dtype)
{
	const struct tt_dtype *row = tt_dtype_find(dtype);

	return row ? row->bytes : 0;
}

size_t tt_dtype_exponent_bytes(enum ttnn_dtype dtype, const struct ttnn_tile *tile)
{
	size_t groups = (size_t)tile->height * tile->width / TT_DTYPE_GROUP;

	/* Sixteen bytes, so that the mantissas behind them start at a word of the device. */
	return tt_dtype_is_block(dtype) ? (groups + 15) / 16 * 16 : 0;
}

size_t tt_dtype_tile_bytes(enum ttnn_dtype dtype, const struct ttnn_tile *tile)
{
	const struct tt_dtype *row = tt_dtype_find(dtype);
	size_t elements = (size_t)tile->height * tile->width;

	if (!row)
		return 0;
	if (row->kind != TT_DTYPE_BLOCK)
		return elements * row->bytes;
	return elements * (row->mantissa + 1) / 8 + tt_dtype_exponent_bytes(dtype, tile);
}

const char *ttnn_dtype_name(enum ttnn_dtype dtype, enum ttnn_dialect dialect)
{
	const struct tt_dtype *row = tt_dtype_find(dtype);

	if (!row)
		return "INVALID";
	return dialect == TTNN_DIALECT_SEED ? row->name : row->upper;
}

enum ttnn_status ttnn_dtype_find(enum ttnn_dtype *out, const char *name)
{
	const char *bare = name;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);

		if (strncasecmp(name, prefixes[i], length) == 0) {
			bare = name + length;
			break;
		}
	}
	for (int i = 0; i < TTNN_DTYPE_COUNT; i++) {
		if (strcasecmp(bare, dtypes[i].name) == 0) {
			*out = (enum ttnn_dtype)i;
			return TTNN_OK;
		}
	}
	return tt_fail(TTNN_NOTFOUND, "there is no data type \"%s\"; there are%s", name, all_names);
}
