/* golden_ffn.c: see golden_ffn.h. */
#include "golden/golden_ffn.h"

#include <math.h>

/* Row by row and column by column: the sum of products. */
static struct tt_array *product(struct tt_golden *golden, const struct tt_array *a,
				const struct tt_array *b)
{
	struct ttnn_shape shape = a->shape;
	uint64_t depth = tt_shape_last(&a->shape, 1), width = tt_shape_last(&b->shape, 1);
	struct tt_array *out;

	shape.dim[shape.rank - 1] = (uint32_t)width;
	out = tt_golden_temp(golden, &shape);
	for (uint64_t i = 0; out && i < out->count; i++)
		for (uint64_t k = 0; k < depth; k++)
			*tt_at(out, i) +=
				*tt_at(a, i / width * depth + k) * *tt_at(b, k * width + i % width);
	return out;
}

tt_status tt_golden_routed_ffn(struct tt_golden *golden)
{
	const struct tt_array *x = tt_golden_in(golden, "x");
	const struct tt_array *down = tt_golden_in(golden, "down_proj"), *result;
	const struct tt_array *weights[2] = {tt_golden_in(golden, "gate_proj"),
					     tt_golden_in(golden, "up_proj")};
	struct tt_array *gate, *up, *out;

	TT_GOLDEN_NEED(x && down && weights[0] && weights[1] && x->shape.rank);
	gate = product(golden, x, weights[0]);
	up = product(golden, x, weights[1]);
	TT_GOLDEN_NEED(gate && up);
	for (uint64_t i = 0; i < gate->count; i++) {
		double g = *tt_at(gate, i);

		*tt_at(gate, i) = g / (1 + exp(-g)) * *tt_at(up, i);
	}
	result = product(golden, gate, down);
	out = result ? tt_golden_out(golden, &result->shape, x->dtype) : NULL;
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(result, i);
	return TTNN_OK;
}
