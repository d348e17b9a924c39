/* golden_deformable.c: deformable attention of one level, value by value. */
#include <math.h>

#include "golden/golden_window.h"

/* How much of the pixel at `index` a place sees, of so many pixels: a tent of width 1 on both sides. */
static double sees(double place, uint32_t extent, bool corners, uint64_t index)
{
	double at = corners ? (place + 1) / 2 * (extent - 1.0) : ((place + 1) * extent - 1) / 2;
	double far = fabs(at - (double)index);

	return far < 1 ? 1 - far : 0;
}

tt_status tt_golden_deformable(struct tt_golden *golden)
{
	const struct tt_array *value = tt_golden_in4(golden, "value");
	const struct tt_array *grid = value ? tt_golden_in4(golden, "grid") : NULL;
	const struct tt_array *weights = grid ? tt_golden_in(golden, "attn") : NULL;
	bool corners = tt_call_bool(&golden->call, "align_corners", false);
	struct ttnn_shape shape = {.rank = 3};
	struct tt_array *out;
	uint64_t pixels, points;

	TT_GOLDEN_NEED(weights);
	if (weights->shape.rank != 3)
		return tt_fail(TTNN_INVALID, "golden: weights have three dimensions");
	shape.dim[0] = value->shape.dim[0];
	shape.dim[1] = weights->shape.dim[1];
	shape.dim[2] = value->shape.dim[3];
	out = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(out);
	pixels = (uint64_t)value->shape.dim[1] * value->shape.dim[2];
	points = weights->shape.dim[2];
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t query = i / shape.dim[2], image = query / shape.dim[1];
		double sum = 0;

		for (uint64_t p = query * points; p < (query + 1) * points; p++) {
			for (uint64_t at = 0; at < pixels; at++) {
				double seen = sees(*tt_at(grid, 2 * p), value->shape.dim[2],
						   corners, at % value->shape.dim[2]) *
					      sees(*tt_at(grid, 2 * p + 1), value->shape.dim[1],
						   corners, at / value->shape.dim[2]);

				if (seen > 0)
					sum += *tt_at(weights, p) * seen *
					       *tt_at(value, (image * pixels + at) * shape.dim[2] +
								     i % shape.dim[2]);
			}
		}
		*tt_at(out, i) = sum;
	}
	return TTNN_OK;
}
