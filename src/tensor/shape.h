/*
 * shape.h: extents and the arithmetic on them. Everything that sizes something goes through the
 * checked helpers here, so that an absurd shape becomes an error and never a small number.
 */
#ifndef TT_TENSOR_SHAPE_H
#define TT_TENSOR_SHAPE_H

#include "base/status.h"
#include "base/str.h"

/* A shape literal: TT_SHAPE(1, 3, 32, 32). Not for rank 0, which is (struct ttnn_shape){0}. */
#define TT_SHAPE(...)                                                                              \
	((struct ttnn_shape){sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), {__VA_ARGS__}})

/* *out = value rounded up to a multiple (0 counts as 1); false when that exceeds 64 bits. */
static inline bool tt_round_up(uint64_t *out, uint64_t value, uint64_t multiple)
{
	uint64_t rest;

	if (multiple & (multiple - 1))
		rest = value % multiple;
	else /* a power of two, or 0 */
		rest = multiple ? value & (multiple - 1) : 0;
	return !__builtin_add_overflow(value, rest ? multiple - rest : 0, out);
}

/* value / by, rounded up; `by` is not 0. */
static inline uint64_t tt_div_up(uint64_t value, uint64_t by)
{
	return value / by + (value % by != 0);
}

/* The same of numbers that fit. */
static inline uint32_t tt_div_up32(uint32_t value, uint32_t by)
{
	return (uint32_t)tt_div_up(value, by);
}

static inline uint64_t tt_lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The elements of a shape; 0 when there are too many to count. */
static inline uint64_t tt_shape_count(const struct ttnn_shape *shape)
{
	uint64_t count;

	return ttnn_shape_volume(&count, shape) == TTNN_OK ? count : 0;
}

/* The rank, or as many extents as there are in a shape that was filled in wrongly. */
static inline uint32_t tt_shape_rank(const struct ttnn_shape *shape)
{
	return shape->rank < TTNN_MAX_RANK ? shape->rank : TTNN_MAX_RANK;
}

/* The extent `back` places from the end (1 is the last dimension); 1 beyond the outermost. */
static inline uint32_t tt_shape_last(const struct ttnn_shape *shape, uint32_t back)
{
	return back <= shape->rank ? shape->dim[shape->rank - back] : 1;
}

/* Refuses a rank beyond TTNN_MAX_RANK: what every public function asks of a shape given to it. */
tt_status tt_shape_check(const struct ttnn_shape *shape);

/* The product of all extents but the last: how many rows the shape has. Refuses an overflow. */
tt_status tt_shape_rows(uint64_t *out, const struct ttnn_shape *shape);

/* Hash of rank and extents, mixed into `seed`. */
uint64_t tt_shape_hash(uint64_t seed, const struct ttnn_shape *shape);

/* Appends the extents as "[1, 3, 32, 32]"; those of a wrong rank end at TTNN_MAX_RANK. */
void tt_shape_list(struct tt_str *str, const struct ttnn_shape *shape);

#endif
