/*
 * dtype.h: the data types as rows of one table.
 *
 * The rows come from TTNN_DTYPE_LIST in ttnn.h; everything that depends on a data type asks here
 * (sizes, tiles, names) or in convert.h (numbers). All functions are pure: any thread may call.
 */
#ifndef TT_TENSOR_DTYPE_H
#define TT_TENSOR_DTYPE_H

#include <ttnn.h>

enum tt_dtype_class {
	TT_DTYPE_FLOAT,
	TT_DTYPE_UNSIGNED,
	TT_DTYPE_SIGNED,
	TT_DTYPE_BLOCK, /* elements share exponents: exists in whole tiles only */
};

/* What a data type can be stored as. */
enum tt_dtype_layouts { TT_DTYPE_ANY, TT_DTYPE_TILES, TT_DTYPE_ROWS };

/* Elements that share one exponent: one row of a face. */
#define TT_DTYPE_GROUP 16

struct tt_dtype {
	const char *name;  /* "bfloat16" */
	const char *upper; /* "BFLOAT16" */
	enum tt_dtype_class kind;
	uint32_t bytes;    /* of an element; 1 for block floats, as upstream reports */
	uint32_t mantissa; /* stored bits beside the sign, block floats only */
	enum tt_dtype_layouts layouts;
	int file; /* the code in .tensorbin files; -1: none */
};

/* The row of a data type; NULL for a number that is none. Valid for ever. */
const struct tt_dtype *tt_dtype_find(enum ttnn_dtype dtype);

/* "BFLOAT16": as messages of tt-metal spell it. */
static inline const char *tt_dtype_text(enum ttnn_dtype dtype)
{
	return ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL);
}

/* False also for a number that is no data type. */
bool tt_dtype_is_block(enum ttnn_dtype dtype);

/* Whether values are whole numbers. False also for a number that is no data type. */
bool tt_dtype_is_integer(enum ttnn_dtype dtype);

/* The data type with this code in .tensorbin files, into *out; false when there is none. */
bool tt_dtype_of_file(enum ttnn_dtype *out, unsigned code);

/* The names of all data types, each behind a space: for messages. */
const char *tt_dtype_names(void);

/* Bytes of one element (1 for block floats); 0 for a number that is no data type. */
uint32_t tt_dtype_bytes(enum ttnn_dtype dtype);

/* Bytes of the exponents in a tile of a block float, with their padding; 0 for other types. */
size_t tt_dtype_exponent_bytes(enum ttnn_dtype dtype, const struct ttnn_tile *tile);

/* Bytes of a whole tile, exponents included. The tile must be a legal one. */
size_t tt_dtype_tile_bytes(enum ttnn_dtype dtype, const struct ttnn_tile *tile);

#endif
