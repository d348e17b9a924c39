/*
 * golden_shard_partial.c: slices of rows. Rows are counted over all dimensions but the last, with those that fill the
 * last tile of each batch; a slice is one of `num_slices` equal runs of them.
 */
#include "golden/golden_movement.h"

#define TILE 32

static uint64_t up(uint64_t n)
{
	return (n + TILE - 1) / TILE * TILE;
}

/* How many rows there are, and which of them row `row` of the array (its width taken away) is. */
static uint64_t count_rows(const struct tt_array *array)
{
	uint64_t height = array->shape.dim[tt_from_end(&array->shape, 2)];
	uint64_t width = array->shape.dim[tt_from_end(&array->shape, 1)];

	return height && width ? array->count / (height * width) * up(height) : 0;
}

static uint64_t row_of(const struct tt_array *array, uint64_t row)
{
	uint64_t height = array->shape.dim[tt_from_end(&array->shape, 2)];

	return row / height * up(height) + row % height;
}

tt_status tt_golden_shard_slice(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	int64_t slices = tt_call_int(&golden->call, "num_slices", 0);
	int64_t index = tt_call_int(&golden->call, "slice_index", 0);
	struct ttnn_shape shape = {.rank = 4, .dim = {1, 1}};
	struct tt_array *out;
	uint64_t width;

	TT_GOLDEN_NEED(in);
	if (slices < 1 || in->count == 0)
		return tt_fail(TTNN_INVALID, "golden: no slices");
	width = in->shape.dim[3];
	shape.dim[2] = (uint32_t)(count_rows(in) / (uint64_t)slices);
	shape.dim[3] = (uint32_t)up(width);
	out = tt_golden_out(golden, &shape,
			    tt_call_dtype(&golden->call, "output_dtype", in->dtype));
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t row = row_of(in, i / width), first = (uint64_t)index * shape.dim[2];

		if (row >= first && row < first + shape.dim[2])
			*tt_at(out, (row - first) * shape.dim[3] + i % width) = *tt_at(in, i);
	}
	return TTNN_OK;
}

tt_status tt_golden_unshard_slice(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *old = tt_golden_in(golden, "cache_tensor");
	struct tt_array *out = in && old ? tt_golden_out(golden, &old->shape, old->dtype) : NULL;
	int64_t slices = tt_call_int(&golden->call, "num_slices", 0);
	int64_t index = tt_call_int(&golden->call, "slice_index", 0);
	uint64_t width, first, rows;

	TT_GOLDEN_NEED(out);
	if (slices < 1 || in->shape.rank < 2 || old->shape.rank < 2 || !in->count || !old->count)
		return tt_fail(TTNN_INVALID, "golden: no slices");
	width = old->shape.dim[tt_from_end(&old->shape, 1)];
	rows = in->count / in->shape.dim[tt_from_end(&in->shape, 1)];
	first = count_rows(old) / (uint64_t)slices * (uint64_t)index;
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row = row_of(old, i / width), column = i % width;

		*tt_at(out, i) = *tt_at(old, i);
		for (uint64_t r = 0; r < rows; r++)
			if (row == first + row_of(in, r) &&
			    column < in->shape.dim[tt_from_end(&in->shape, 1)])
				*tt_at(out, i) = *tt_at(
					in, r * in->shape.dim[tt_from_end(&in->shape, 1)] + column);
	}
	return TTNN_OK;
}
