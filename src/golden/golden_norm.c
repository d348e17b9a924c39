#include "golden/golden_norm.h"

#include <math.h>

#include "tensor/shape.h"
#include "tensor/tile.h"

static bool is_rms(const struct tt_golden *golden)
{
	return *(const bool *)golden->op->row;
}

/* The input, with the residual added where there is one; NULL on failure. */
static const struct tt_array *input_of(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *residual = tt_golden_in(golden, "residual_input_tensor");
	struct tt_array *sum;

	if (!in || !residual)
		return in;
	sum = tt_golden_temp(golden, &in->shape);
	for (uint64_t i = 0; sum && i < in->count; i++)
		sum->data[i] = in->data[i] + residual->data[i];
	if (sum)
		sum->dtype = in->dtype;
	return sum;
}

/* The number of an element for each column, when it was given. */
static double at(const struct tt_array *array, uint64_t index, double fallback)
{
	return array && index < array->count ? array->data[index] : fallback;
}

struct affine {
	const struct tt_array *weight, *bias;
};

static struct affine affine_of(struct tt_golden *golden)
{
	return (struct affine){tt_golden_in(golden, "weight"), tt_golden_in(golden, "bias")};
}

static double applied(const struct affine *affine, uint64_t index, double x)
{
	return x * at(affine->weight, index, 1) + at(affine->bias, index, 0);
}

static void mean_and_variance(double *mean, double *variance, const double *row, uint64_t width)
{
	double sum = 0, squares = 0;

	for (uint64_t j = 0; j < width; j++)
		sum += row[j];
	*mean = sum / (double)width;
	for (uint64_t j = 0; j < width; j++)
		squares += (row[j] - *mean) * (row[j] - *mean);
	*variance = squares / (double)width;
}

tt_status tt_golden_norm(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	double epsilon = tt_call_real(&golden->call, "epsilon", 1e-12);
	struct affine affine = affine_of(golden);
	uint64_t width;

	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	width = tt_shape_last(&in->shape, 1);
	for (uint64_t i = 0; i < in->count; i += width) {
		double mean, variance;

		mean_and_variance(&mean, &variance, &in->data[i], width);
		if (is_rms(golden)) {
			variance += mean * mean;
			mean = 0;
		}
		for (uint64_t j = 0; j < width; j++)
			out->data[i + j] = applied(
				&affine, j, (in->data[i + j] - mean) / sqrt(variance + epsilon));
	}
	return TTNN_OK;
}

tt_status tt_golden_norm_sums(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t width;

	if (!in)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	shape = in->shape;
	width = tt_shape_last(&shape, 1);
	shape.dim[shape.rank - 1] = is_rms(golden) ? TT_TILE : 2 * TT_TILE;
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", TTNN_BFLOAT16));
	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t row = 0; row < in->count / width; row++) {
		double *sums = &out->data[row * shape.dim[shape.rank - 1]];

		for (uint64_t j = 0; j < width; j++) {
			double x = in->data[row * width + j];

			sums[0] += x * x;
			if (!is_rms(golden))
				sums[TT_TILE] += x;
		}
	}
	return TTNN_OK;
}

tt_status tt_golden_norm_apply(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *stats = tt_golden_in(golden, "stats");
	double epsilon = tt_call_real(&golden->call, "epsilon", 1e-12);
	struct affine affine = affine_of(golden);
	uint64_t step = is_rms(golden) ? TT_TILE : 2 * TT_TILE, width, across;
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape,
						  tt_call_dtype(&golden->call, "dtype", in->dtype))
				  : NULL;

	if (!out || !stats)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	width = tt_shape_last(&in->shape, 1);
	across = tt_shape_last(&stats->shape, 1);
	for (uint64_t row = 0; row < in->count / width; row++) {
		const double *sums = &stats->data[row * across];
		uint64_t count = width * (across / step);
		double mean = 0, variance = 0;

		for (uint64_t j = 0; j < across; j += step) {
			variance += sums[j];
			mean += is_rms(golden) ? 0 : sums[j + TT_TILE];
		}
		mean /= (double)count;
		variance = variance / (double)count - mean * mean;
		for (uint64_t j = 0; j < width; j++)
			out->data[row * width + j] = applied(&affine, j,
							     (in->data[row * width + j] - mean) /
								     sqrt(variance + epsilon));
	}
	return TTNN_OK;
}

/* [batch, 1, pixels, channels]: each group of channels of each batch by itself. */
tt_status tt_golden_group_norm(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape,
						  tt_call_dtype(&golden->call, "dtype", in->dtype))
				  : NULL;
	uint64_t groups = (uint64_t)tt_call_int(&golden->call, "num_groups", 1);
	double epsilon = tt_call_real(&golden->call, "epsilon", 1e-12);
	struct affine affine = affine_of(golden);
	uint64_t channels, pixels, in_group;

	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	channels = tt_shape_last(&in->shape, 1);
	pixels = in->count / in->shape.dim[0] / channels;
	in_group = channels / groups;
	for (uint64_t part = 0; part < in->shape.dim[0] * groups; part++) {
		const uint64_t start = part / groups * pixels * channels + part % groups * in_group;
		double count = (double)(pixels * in_group), mean = 0, variance = 0;

		for (uint64_t i = 0; i < pixels * in_group; i++)
			mean += in->data[start + i / in_group * channels + i % in_group] / count;
		for (uint64_t i = 0; i < pixels * in_group; i++) {
			double x = in->data[start + i / in_group * channels + i % in_group] - mean;

			variance += x * x / count;
		}
		for (uint64_t i = 0; i < pixels * in_group; i++) {
			uint64_t place = start + i / in_group * channels + i % in_group;

			out->data[place] =
				applied(&affine, place % channels,
					(in->data[place] - mean) / sqrt(variance + epsilon));
		}
	}
	return TTNN_OK;
}

/* [batch, channels, ...]: with the given mean and variance, or in training with its own. */
tt_status tt_golden_batch_norm(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *means = tt_golden_in(golden, "running_mean");
	const struct tt_array *variances = tt_golden_in(golden, "running_var");
	bool training = tt_call_bool(&golden->call, "training", false);
	double eps = tt_call_real(&golden->call, "eps", 1e-5);
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	struct affine affine = affine_of(golden);
	uint64_t channels, inner;

	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	channels = in->shape.dim[1];
	inner = in->count / in->shape.dim[0] / channels;
	for (uint64_t c = 0; c < channels; c++) {
		double mean = at(means, c, 0), variance = at(variances, c, 1), count = 0;

		if (training) {
			mean = variance = 0;
			for (uint64_t i = 0; i < in->count; i++)
				if (i / inner % channels == c) {
					mean += in->data[i];
					variance += in->data[i] * in->data[i];
					count++;
				}
			mean /= count;
			variance = variance / count - mean * mean;
		}
		for (uint64_t i = 0; i < in->count; i++)
			if (i / inner % channels == c)
				out->data[i] = applied(&affine, c,
						       (in->data[i] - mean) / sqrt(variance + eps));
	}
	return TTNN_OK;
}
