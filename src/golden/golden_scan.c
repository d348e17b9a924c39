/*
 * golden_scan.c: goldens of running sums and products, and of the moving average, each element
 * from the beginning: no result depends on another, so nothing that is wrong spreads.
 */
#include "golden/golden_reduction.h"

static tt_status scan(struct tt_golden *golden, const char *input, bool product, bool reverse)
{
	const struct tt_array *in = tt_golden_in(golden, input);
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", in ? in->dtype : 0);
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, dtype) : NULL;
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	uint64_t step = 1, extent;

	TT_GOLDEN_NEED(out);
	if (!in->shape.rank) {
		*tt_at(out, 0) = *tt_at(in, 0);
		return TTNN_OK;
	}
	dim = tt_place_of(dim, in->shape.rank);
	extent = in->shape.dim[dim];
	for (uint32_t d = (uint32_t)dim + 1; d < in->shape.rank; d++)
		step *= in->shape.dim[d];
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t at = i / step % extent, first = i - at * step;
		uint64_t from = reverse ? at : 0, to = reverse ? extent - 1 : at;
		double value = product;

		for (uint64_t k = from; k <= to; k++) {
			double x = *tt_at(in, first + k * step);

			value = tt_golden_fit(dtype, product ? value * x : value + x);
		}
		*tt_at(out, i) = value;
	}
	return TTNN_OK;
}

tt_status tt_golden_cumsum(struct tt_golden *golden)
{
	return scan(golden, "input", false, tt_call_bool(&golden->call, "reverse_order", false));
}

tt_status tt_golden_cumprod(struct tt_golden *golden)
{
	return scan(golden, "input_tensor", true,
		    tt_call_bool(&golden->call, "reverse_order", false));
}

/* Pixel by pixel, from the three sums before it. */
tt_status tt_golden_integral_image(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	uint64_t channels, row;

	TT_GOLDEN_NEED(out);
	channels = in->shape.dim[3];
	row = channels * in->shape.dim[2];
	for (uint64_t i = 0; i < in->count; i++) {
		bool above = i / row % in->shape.dim[1], before = i / channels % in->shape.dim[2];
		double sum = *tt_at(in, i);

		if (above)
			sum += *tt_at(out, i - row);
		if (before)
			sum += *tt_at(out, i - channels);
		if (above && before)
			sum -= *tt_at(out, i - row - channels);
		*tt_at(out, i) = sum;
	}
	return TTNN_OK;
}

/* y[i] = alpha × y[i - 1] + (1 - alpha) × x[i], from 0 on in every row. */
tt_status tt_golden_ema(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	double alpha = tt_call_real(&golden->call, "alpha", 0);
	uint64_t length = in && in->shape.rank ? in->shape.dim[tt_from_end(&in->shape, 1)] : 1;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		double before = i % length ? *tt_at(out, i - 1) : 0;

		*tt_at(out, i) = alpha * before + (1 - alpha) * *tt_at(in, i);
	}
	return TTNN_OK;
}

tt_status tt_golden_cumsum_backward(struct tt_golden *golden)
{
	return scan(golden, "output_grad", false, true);
}
