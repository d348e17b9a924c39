/*
 * strided.h: copying elements along nested loops, between rows and tiles: the engine of move.c.
 *
 * A place is a sum of what each dimension adds. For most dimensions that is index × stride; inside
 * of tiles an index is cut into tile, face and rest, each with its own stride. So tiles of any shape
 * are copied to and from where they lie.
 */
#ifndef TT_BACKEND_CPU_STRIDED_H
#define TT_BACKEND_CPU_STRIDED_H

#include "backend/cpu/cpu_backend.h"

/* What an index of one dimension adds to the place, in elements. */
struct tt_axis {
	uint32_t tile_shift,
		face_shift;            /* index >> tile_shift: tile; the rest >> face_shift: face */
	uint64_t tile_mask, face_mask; /* both 0 for a plain stride */
	uint64_t tile, face, unit;     /* strides of the three parts */
};

static inline uint64_t tt_axis_place(const struct tt_axis *axis, uint64_t index)
{
	return (index >> axis->tile_shift) * axis->tile +
	       ((index & axis->tile_mask) >> axis->face_shift) * axis->face +
	       (index & axis->face_mask) * axis->unit;
}

/* One side of a copy: an axis for each dimension, and where the loops begin. */
struct tt_strided_side {
	uint8_t *data;
	uint32_t rank;
	struct tt_axis axis[TTNN_MAX_RANK];
	int64_t start[TTNN_MAX_RANK];
};

/* The axes of an area with single elements; start is all 0. */
struct tt_strided_side tt_strided_of(const struct tt_area *area);

/* Loops over elements of this many bytes, which may be whole tiles. */
struct tt_strided {
	struct tt_strided_side out, in;
	size_t bytes;
	const struct tt_move_loop *loops; /* all inside of both sides; none writes a place twice */
	uint32_t loop_count;
};

/* Copies, on several threads. The sides do not overlap. */
tt_status tt_strided_copy(const struct tt_strided *copy);

#endif
