/*
 * strips.h: the rows of tensors, some at a time, as plain float32: for jobs that look at whole rows.
 *
 * A strip is some consecutive rows of the logical shape (all dimensions but the last number them).
 * In tiles it begins where a tile does. Several areas whose rows are numbered alike are walked
 * together, each with its own width, type and layout.
 */
#ifndef TT_BACKEND_CPU_STRIPS_H
#define TT_BACKEND_CPU_STRIPS_H

#include "backend/cpu/cpu_backend.h"
#include "base/deadline.h"

#define TT_STRIPS_AREAS 3

struct tt_strips {
	struct tt_area area[TT_STRIPS_AREAS];
	uint32_t areas;
	uint32_t outer; /* dimensions that number the planes */
	uint64_t extent[TTNN_MAX_RANK], step[TT_STRIPS_AREAS][TTNN_MAX_RANK];
	uint64_t height; /* rows of a plane */
	uint64_t tall;   /* of a full strip */
	uint64_t per_plane, count;
};

/* One strip. */
struct tt_strip {
	uint64_t first; /* number of its first row */
	uint32_t rows;
	struct tt_area part[TT_STRIPS_AREAS]; /* its rows in each area: rows × width */
};

/*
 * Strips of about `elements` elements of the first area. The others (NULL ends them) have the same
 * extents but the last. No extent is 0.
 */
void tt_strips_init(struct tt_strips *out, const struct tt_area *const areas[TT_STRIPS_AREAS],
		    uint64_t elements);

/* Whether work on rows of this width is to be left out (deadline.h); cheap, for the next one of them. */
static inline bool tt_strips_stop(uint64_t width)
{
	return width >= 4096 && tt_deadline_stop();
}

/* Strip number `index` of strips->count. */
void tt_strip_get(struct tt_strip *out, const struct tt_strips *strips, uint64_t index);

/* Rows of the whole matrix from `row` on, as an area of rows × width; in tiles from a tile's on. */
struct tt_area tt_part_rows(const struct tt_area *area, uint64_t row, uint32_t rows);

/* Some columns of a part; in tiles they begin where a tile does. For reading only. */
struct tt_area tt_part_columns(const struct tt_area *part, uint64_t from, uint64_t count);

/* A part as dense rows of `dtype`: where it lies if it is so, else copied to `room`. */
const void *tt_part_load(void *room, const struct tt_area *part, enum ttnn_dtype dtype);

/* Stores dense rows of `dtype` to a part; in tiles the padding becomes 0. */
void tt_part_store(const struct tt_area *part, const void *rows, enum ttnn_dtype dtype);

/* ---- along any dimension --------------------------------------------------------------------- */

/* Dense rows of `dtype`, which is no block float, with dimension `dim` moved to the end. */
tt_status tt_turn_in(struct tt_scratch *out, const struct tt_area *in, uint32_t dim,
		     enum ttnn_dtype dtype);

/* The shape with dimension `dim` moved to the end. */
struct ttnn_shape tt_transposed(const struct ttnn_shape *shape, uint32_t dim);

/* The way back: `rows` are dense, and of the turned shape. */
tt_status tt_turn_out(const struct tt_area *out, const struct tt_area *rows, uint32_t dim);

#endif
