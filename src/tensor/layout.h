/*
 * layout.h: moving elements between the ways a tensor can lie in host memory.
 *
 * An area says where the elements of a shape lie: in rows, or in tiles. Both are a matrix: all
 * dimensions but the last fold into its rows, and alignment leaves padding between them. A tile
 * holds its faces one after the other, left to right, then down; a face holds its rows. In a
 * transposed tile faces go down first, and a face holds its columns.
 *
 *	8 × 4 matrix, tiles of 4 × 4, faces of 2 × 2 (real ones are 16 wide):
 *	rows    0 1 2 3 | 4 5 6 7 | ...
 *	tiles   0 1 4 5   2 3 6 7   8 9 12 13   10 11 14 15 | next tile ...
 *
 * tt_layout_copy() converts, tilizes, untilizes and pads in one pass over memory, in blocks that
 * stay in the cache, on several threads when there is much to do.
 */
#ifndef TT_TENSOR_LAYOUT_H
#define TT_TENSOR_LAYOUT_H

#include "base/status.h"

struct tt_area {
	void *data;
	struct ttnn_shape shape; /* logical */
	enum ttnn_dtype dtype;
	struct ttnn_tile tile;        /* height 0: rows */
	uint64_t rows, cols;          /* of the matrix, padding included */
	uint64_t step[TTNN_MAX_RANK]; /* matrix rows from one index of a dimension to the next */
};

/* The area of a tensor with this spec at `data`; const data is only read. */
struct tt_area tt_area_of(const void *data, const struct ttnn_tensor_spec *spec);
/* The same in place. Steps beyond the rank are not written: every call of an operation passes here. */
void tt_area_set(struct tt_area *out, const void *data, const struct ttnn_tensor_spec *spec);

/* The same elements as plain rows without padding. `dtype` is no block float. */
struct tt_area tt_area_rows(const void *data, const struct ttnn_shape *shape,
			    enum ttnn_dtype dtype);

/*
 * The part that begins at the indices `start` and has this shape: an area for tt_layout_copy() without padding. It must lie
 * inside of the area, padding included. A part of tiles begins where a tile does; to be written it has
 * whole matrices, and `rows` as many as those.
 */
struct tt_area tt_area_part(const struct tt_area *area, const uint32_t *start,
			    const struct ttnn_shape *shape);

/* Whether element number n lies at the same place in both, for all n: their shapes may differ. */
bool tt_area_same_places(const struct tt_area *a, const struct tt_area *b);

/* One element, wherever it lies, as a number. Slow for block floats, which decode a tile for it. */
tt_status tt_area_get(double *out, const struct tt_area *area, const uint32_t *index);

/*
 * Writes the elements of `src` to `dst`, which has the same shape, and *pad_value to all of dst's
 * padding; NULL leaves the padding of rows as it is. The areas do not overlap.
 */
tt_status tt_layout_copy(const struct tt_area *dst, const struct tt_area *src,
			 const double *pad_value);

/* One element of that type; integers take the low bits, so -1 pads uint8 with 255. */
tt_status tt_layout_pad_element(uint8_t out[4], enum ttnn_dtype dtype, double value);

#endif
