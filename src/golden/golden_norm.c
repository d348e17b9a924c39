/*
 * golden_norm.c: goldens of normalisations over rows: layer_norm and rms_norm, whole and in two
 * halves.
 *
 * The halves exchange sums: one tile of 32 columns for each sum, of which the first column
 * counts. rms_norm has the sum of squares alone, layer_norm two tiles; which comes first depends
 * on whether sums or averages are exchanged (has_averages()).
 */
#include "golden/golden_norm.h"

#include <math.h>

#include "ops/objects.h"

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
		*tt_at(sum, i) = *tt_at(in, i) + *tt_at(residual, i);
	if (sum)
		sum->dtype = in->dtype;
	return sum;
}

/* The number of an element for each column, when it was given. */
static double at(const struct tt_array *array, uint64_t index, double fallback)
{
	return array && index < array->count ? *tt_at(array, index) : fallback;
}

struct affine {
	const struct tt_array *weight, *bias;
	uint64_t part, stride; /* (optional) so many elements, each so far from the last ones */
};

static struct affine affine_of(struct tt_golden *golden)
{
	return (struct affine){tt_golden_in(golden, "weight"), tt_golden_in(golden, "bias"), 0, 0};
}

static double applied(const struct affine *affine, uint64_t index, double x)
{
	if (affine->part)
		index = index / affine->part * affine->stride + index % affine->part;
	return x * at(affine->weight, index, 1) + at(affine->bias, index, 0);
}

/* Two passes: the variance is that of differences to the mean, which loses nothing. */
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

/* rms_norm is the same without a mean: E[x²] = variance + mean². */
tt_status tt_golden_norm(struct tt_golden *golden)
{
	const struct tt_array *in = input_of(golden);
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	double epsilon = tt_call_real(&golden->call, "epsilon", 1e-12);
	struct affine affine = affine_of(golden);
	uint64_t width;

	TT_GOLDEN_NEED(out);
	width = tt_shape_last(&in->shape, 1);
	for (uint64_t i = 0; i < in->count; i += tt_divisor(width)) {
		double mean, variance;

		mean_and_variance(&mean, &variance, tt_array_span(in, i, width), width);
		if (is_rms(golden)) {
			variance += mean * mean;
			mean = 0;
		}
		for (uint64_t j = 0; j < width; j++)
			*tt_at(out, i + j) = applied(
				&affine, j, (*tt_at(in, i + j) - mean) / sqrt(variance + epsilon));
	}
	return tt_golden_activate(out, golden, tt_call_arg(&golden->call, "activation"));
}

/* Of shards there are averages, the mean first; else sums, that of squares first. */
static bool has_averages(const struct tt_golden *golden)
{
	return tt_memory_config_is_sharded(&tt_golden_tensor(golden, "input_tensor")->spec.memory);
}

/* Whether the halves exchange mean and variance of each device's part (Welford's method). */
static bool has_parts(const struct tt_golden *golden)
{
	return !has_averages(golden) &&
	       tt_norm_config_welford(tt_call_arg(&golden->call, "program_config"));
}

/* The first half: sums of a device's part of each row. */
tt_status tt_golden_norm_sums(struct tt_golden *golden)
{
	uint64_t squares = has_averages(golden) && !is_rms(golden) ? TT_TILE : 0;
	const struct tt_array *in = input_of(golden);
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t width;

	TT_GOLDEN_NEED(in);
	shape = in->shape;
	width = tt_shape_last(&shape, 1);
	if (!shape.rank || !width)
		return tt_fail(TTNN_INVALID, "%s: there are no rows", golden->op->name);
	shape.dim[tt_from_end(&shape, 1)] = is_rms(golden) ? TT_TILE : 2 * TT_TILE;
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", TTNN_BFLOAT16));
	TT_GOLDEN_NEED(out);
	for (uint64_t row = 0; row < in->count / width; row++) {
		double *sums = tt_array_span(out, row * tt_shape_last(&shape, 1),
					     tt_shape_last(&shape, 1));

		if (has_parts(golden)) {
			mean_and_variance(&sums[0], &sums[TT_TILE],
					  tt_array_span(in, row * width, width), width);
			continue;
		}
		for (uint64_t j = 0; j < width; j++) {
			double x = *tt_at(in, row * width + j);
			double share = has_averages(golden) ? 1.0 / (double)width : 1;

			sums[squares] += x * x * share;
			if (!is_rms(golden))
				sums[TT_TILE - squares] += x * share;
		}
	}
	return TTNN_OK;
}

/* Of parts of one size: the mean of means, the mean of variances and of squared distances from it. */
static void joined(double *mean, double *variance, const double *parts, uint64_t count)
{
	*mean = *variance = 0;
	for (uint64_t i = 0; i < count; i++)
		*mean += parts[i * 2 * TT_TILE] / (double)count;
	for (uint64_t i = 0; i < count; i++) {
		double off = parts[i * 2 * TT_TILE] - *mean;

		*variance += (parts[i * 2 * TT_TILE + TT_TILE] + off * off) / (double)count;
	}
}

/* The second half: sums of all devices side by side, added up here. */
tt_status tt_golden_norm_apply(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *stats = tt_golden_in(golden, "stats");
	double epsilon = tt_call_real(&golden->call, "epsilon", 1e-12);
	struct affine affine = affine_of(golden);
	uint64_t step = is_rms(golden) ? TT_TILE : 2 * TT_TILE, width, across;
	uint64_t squares = has_averages(golden) && !is_rms(golden) ? TT_TILE : 0;
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape,
						  tt_call_dtype(&golden->call, "dtype", in->dtype))
				  : NULL;

	TT_GOLDEN_NEED(out && stats);
	width = tt_shape_last(&in->shape, 1);
	across = tt_shape_last(&stats->shape, 1);
	if (!width || !across || across % step || stats->count / across != in->count / width)
		return tt_fail(TTNN_INVALID, "%s: the sums are not those of such rows",
			       golden->op->name);
	for (uint64_t row = 0; row < in->count / width; row++) {
		const double *sums = tt_array_span(stats, row * across, across);
		uint64_t count = (has_averages(golden) ? 1 : width) * (across / step);
		double mean = 0, variance = 0;

		for (uint64_t j = 0; j < across; j += step) {
			variance += sums[j + squares];
			mean += is_rms(golden) ? 0 : sums[j + TT_TILE - squares];
		}
		mean /= (double)count;
		variance = variance / (double)count - mean * mean;
		if (has_parts(golden))
			joined(&mean, &variance, sums, across / step);
		for (uint64_t j = 0; j < width; j++)
			*tt_at(out, row * width + j) = applied(
				&affine, j,
				(*tt_at(in, row * width + j) - mean) / sqrt(variance + epsilon));
	}
	return TTNN_OK;
}

/* Columns of cores have their channels each; weights for them begin in tiles of their own. */
static void split_among_cores(struct affine *affine, const struct tt_golden *golden)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(&golden->call, "memory_config");

	if (in->spec.memory.has_shard)
		memory = &in->spec.memory;
	if (!memory || !memory->has_shard)
		return;
	affine->part = memory->shard.width;
	affine->stride = (affine->part + TT_TILE - 1) / TT_TILE * TT_TILE;
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

	split_among_cores(&affine, golden);
	TT_GOLDEN_NEED(out);
	channels = tt_shape_last(&in->shape, 1);
	if (!in->count || !in->shape.rank || channels % groups)
		return tt_fail(TTNN_INVALID, "%s: the shapes of its inputs do not fit together",
			       golden->op->name);
	pixels = in->count / in->shape.dim[0] / channels;
	in_group = channels / groups;
	for (uint64_t part = 0; part < in->shape.dim[0] * groups; part++) {
		const uint64_t start = part / groups * pixels * channels + part % groups * in_group;
		double count = (double)(pixels * in_group), mean = 0, variance = 0;

		for (uint64_t i = 0; i < pixels * in_group; i++)
			mean += *tt_at(in, start + i / in_group * channels + i % in_group) / count;
		for (uint64_t i = 0; i < pixels * in_group; i++) {
			double x =
				*tt_at(in, start + i / in_group * channels + i % in_group) - mean;

			variance += x * x / count;
		}
		for (uint64_t i = 0; i < pixels * in_group; i++) {
			uint64_t place = start + i / in_group * channels + i % in_group;

			*tt_at(out, place) =
				applied(&affine, place % channels,
					(*tt_at(in, place) - mean) / sqrt(variance + epsilon));
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

	TT_GOLDEN_NEED(out);
	if (!in->count || in->shape.rank < 2)
		return tt_fail(TTNN_INVALID, "%s: the shapes of its inputs do not fit together",
			       golden->op->name);
	channels = in->shape.dim[1];
	inner = in->count / in->shape.dim[0] / channels;
	for (uint64_t c = 0; c < channels; c++) {
		double mean = at(means, c, 0), variance = at(variances, c, 1), count = 0;

		if (training) {
			mean = variance = 0;
			for (uint64_t i = 0; i < in->count; i++)
				if (i / inner % channels == c) {
					mean += *tt_at(in, i);
					variance += *tt_at(in, i) * *tt_at(in, i);
					count++;
				}
			mean /= count;
			variance = variance / count - mean * mean;
		}
		for (uint64_t i = 0; i < in->count; i++)
			if (i / inner % channels == c)
				*tt_at(out, i) = applied(
					&affine, c, (*tt_at(in, i) - mean) / sqrt(variance + eps));
	}
	return TTNN_OK;
}
