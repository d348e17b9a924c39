/*
 * golden_ordering.c: goldens of sort and topk. Equal values stay in the order in which they
 * stood; a chip may have them in another, so tests compare values and look up indices.
 */
#include "golden/golden_reduction.h"

/* Puts values along a dimension in order, the first `most` of them. */
static tt_status order(struct tt_golden *golden, uint64_t most, bool descending)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	/* What the caller calls the places, or NULL: their numbers. */
	const struct tt_array *called = tt_golden_in(golden, "indices_tensor");
	int64_t given = tt_call_int(&golden->call, "dim", -1);
	struct tt_array *values, *places;
	struct ttnn_shape shape;
	uint64_t step = 1, extent, row, to;
	uint32_t dim;

	TT_GOLDEN_NEED(in);
	given += given < 0 ? in->shape.rank : 0;
	TT_NEED(given >= 0 && given < in->shape.rank, "a tensor of %u dimensions has no other",
		in->shape.rank);
	dim = (uint32_t)given;
	shape = in->shape;
	extent = shape.dim[dim];
	if (most < extent)
		shape.dim[dim] = (uint32_t)most;
	for (uint32_t d = dim + 1; d < shape.rank; d++)
		step *= shape.dim[d];
	values = tt_golden_out(golden, &shape, in->dtype);
	places = values ? tt_golden_out(golden, &shape, TTNN_UINT32) : NULL;
	TT_GOLDEN_NEED(places);
	step = step ? step : 1;
	row = step * extent;
	if (!row)
		row = 1;
	/* The place of each value in its row is the number of those before it. */
	for (uint64_t i = 0; i < in->count; i++) {
		/* row is not 0: NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
		uint64_t at = i % row / step, first = i - at * step, above = i / row, before = 0;
		double x = *tt_at(in, i);

		for (uint64_t k = 0; k < extent && before < shape.dim[dim]; k++) {
			double y = *tt_at(in, first + k * step);

			before += (descending ? y > x : y < x) || (y == x && k < at);
		}
		if (before >= shape.dim[dim])
			continue;
		to = (above * shape.dim[dim] + before) * step + first % step;
		*tt_at(values, to) = x;
		*tt_at(places, to) = called ? *tt_at(called, i) : (double)at;
	}
	return TTNN_OK;
}

tt_status tt_golden_sort(struct tt_golden *golden)
{
	return order(golden, UINT64_MAX, tt_call_bool(&golden->call, "descending", false));
}

tt_status tt_golden_topk(struct tt_golden *golden)
{
	return order(golden, (uint64_t)tt_call_int(&golden->call, "k", 32),
		     tt_call_bool(&golden->call, "largest", true));
}
