/*
 * golden_ssm.c: goldens of what state space models (Mamba) do with their states: repeated
 * products, sums over a channel's 32 states, and the recurrence h = a × h + bx.
 */
#include "golden/golden_reduction.h"

#define LATENT 32
#define CHANNELS 5120

/* Rows that pad the input to tiles are rows of the result; those of zeros here, of what is there in truth. */
static struct tt_array *result_of(struct tt_golden *golden, const struct tt_array *in,
				  uint32_t width)
{
	struct ttnn_shape shape = in->shape;
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", in->dtype);

	shape.dim[3] = width;
	shape.dim[2] = (shape.dim[2] + 31) / 32 * 32;
	return tt_golden_out(golden, &shape, dtype);
}

static double at(const struct tt_array *array, uint64_t row, uint64_t column)
{
	bool inside = row < array->shape.dim[2] && column < array->shape.dim[3];

	return inside ? *tt_at(array, row * array->shape.dim[3] + column) : 0;
}

tt_status tt_golden_spread_product(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in4(golden, "a"), *b = tt_golden_in4(golden, "b");
	const uint64_t width = (uint64_t)LATENT * CHANNELS;
	struct tt_array *out = a && b ? result_of(golden, a, (uint32_t)width) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row = i / width, column = i % width;

		*tt_at(out, i) = at(a, row, a->shape.dim[3] <= LATENT ? column % LATENT : column) *
				 at(b, row, b->shape.dim[3] <= CHANNELS ? column / LATENT : column);
	}
	return TTNN_OK;
}

tt_status tt_golden_neighbour_sum(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input");
	struct tt_array *out =
		in ? result_of(golden, in, (in->shape.dim[3] + LATENT - 1) / LATENT) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t width = out->shape.dim[3];

		*tt_at(out, i) = 0;
		for (uint64_t k = 0; k < LATENT; k++)
			*tt_at(out, i) += at(in, i / width, i % width * LATENT + k);
	}
	return TTNN_OK;
}

tt_status tt_golden_prefix_scan(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in4(golden, "a"), *bx = tt_golden_in4(golden, "bx"),
			      *state = tt_golden_in4(golden, "h_prev");
	struct tt_array *out;
	uint64_t width;

	TT_GOLDEN_NEED(a && bx && state);
	out = tt_golden_out(golden, &a->shape, tt_call_dtype(&golden->call, "dtype", a->dtype));
	TT_GOLDEN_NEED(out);
	width = a->shape.dim[3];
	for (uint64_t column = 0; column < width; column++) {
		double before = *tt_at(state, column);

		for (uint64_t i = column, row = 0; i < out->count; i += width, row++)
			before = *tt_at(out, i) = *tt_at(a, i) * before + at(bx, row, column);
	}
	return TTNN_OK;
}
