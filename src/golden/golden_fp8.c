/* golden_fp8.c: see golden_fp8.h. */
#include "golden/golden_fp8.h"

#include <math.h>
#include <string.h>

#define BLOCK 128

/* The nearest number of e4m3; ties go to the even one. */
static double nearest_e4m3(double x)
{
	double size = fabs(x), step;
	int exponent;

	if (size == 0 || isnan(x))
		return x;
	if (isinf(x))
		return copysign(448, x);
	frexp(size, &exponent);
	step = ldexp(1, (exponent - 1 < -6 ? -6 : exponent - 1) - 3);
	size = nearbyint(size / step) * step;
	return copysign(size > 448 ? 448 : size, x);
}

/* The smallest power of two that is no less. */
static double power_from(double x)
{
	int exponent;

	if (!isfinite(x))
		return x;
	return ldexp(1, frexp(x, &exponent) == 0.5 ? exponent - 1 : exponent);
}

tt_status tt_golden_cast_to_fp8(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *codes, *scales;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(in && in->shape.rank);
	shape = in->shape;
	codes = tt_golden_out(golden, &shape, TTNN_FP8_E4M3);
	shape.dim[tt_from_end(&shape, 1)] /= BLOCK;
	scales = tt_golden_out(golden, &shape, TTNN_FLOAT32);
	TT_GOLDEN_NEED(codes && scales);
	for (uint64_t i = 0; i < in->count; i++) {
		double most = 1e-4, scale, power;

		for (uint64_t k = i / BLOCK * BLOCK; k < (i / BLOCK + 1) * BLOCK; k++)
			if (fabs(*tt_at(in, k)) > most)
				most = fabs(*tt_at(in, k));
		scale = most / 448;
		power = power_from(scale);
		if (tt_call_bool(&golden->call, "round_scale_to_power_of_two", false))
			scale = power;
		*tt_at(scales, i / BLOCK) = scale;
		*tt_at(codes, i) = nearest_e4m3(*tt_at(in, i) / (double)(float)scale);
	}
	return TTNN_OK;
}

/* Whether a row is a token of the chip's experts. */
static bool is_token(struct tt_golden *golden, uint64_t row)
{
	const struct tt_array *starts = tt_golden_in(golden, "expert_region_offsets");
	const struct tt_array *counts = tt_golden_in(golden, "expert_token_counts");
	const struct tt_array *table = tt_golden_in(golden, "global_expert_idx_table");
	int64_t experts = tt_call_int(&golden->call, "experts_per_chip", 0);

	if (!tt_call_bool(&golden->call, "token_count_aware", false))
		return true;
	for (int64_t e = 0; starts && counts && table && e < experts; e++) {
		uint64_t own = (uint64_t)*tt_at(table, (uint64_t)e);
		double start = *tt_at(starts, own);

		if ((double)row >= start && (double)row < start + *tt_at(counts, own))
			return true;
	}
	return false;
}

tt_status tt_golden_cast_back(struct tt_golden *golden)
{
	const struct tt_array *codes = tt_golden_in(golden, "input_e4m3");
	const struct tt_array *metadata = tt_golden_in(golden, "metadata");
	const struct tt_array *scales = metadata ? metadata : tt_golden_in(golden, "input_scale");
	struct tt_array *out;
	uint64_t width, own;

	TT_GOLDEN_NEED(codes && scales && codes->shape.rank);
	out = tt_golden_out(golden, &codes->shape,
			    tt_call_dtype(&golden->call, "output_dtype", TTNN_BFLOAT16));
	TT_GOLDEN_NEED(out);
	width = tt_shape_last(&codes->shape, 1);
	own = tt_shape_last(&scales->shape, 1);
	for (uint64_t i = 0; i < codes->count; i++) {
		uint64_t row = i / width, block = i % width / BLOCK;
		double scale = *tt_at(scales, row * own + own - width / BLOCK + block);
		int32_t bits = (int32_t)scale;
		float number;

		memcpy(&number, &bits, sizeof(number));
		if (is_token(golden, row))
			*tt_at(out, i) = *tt_at(codes, i) * (metadata ? (double)number : scale);
	}
	return TTNN_OK;
}

/* What a byte is as e4m3. */
static double e4m3(uint8_t byte)
{
	int exponent = byte >> 3 & 15, mantissa = byte & 7;
	double size = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);

	return byte & 0x80 ? -size : size;
}

/* A byte of a number's bits as float32; those of bfloat16 are the last two. */
static double byte_of(const struct tt_array *array, uint64_t place, uint64_t byte)
{
	float number = (float)*tt_at(array, place);
	uint8_t bytes[4];

	memcpy(bytes, &number, sizeof(bytes));
	return e4m3(bytes[byte]);
}

tt_status tt_golden_pack_fp8(struct tt_golden *golden)
{
	const struct tt_array *latent = tt_golden_in(golden, "latent");
	const struct tt_array *scales = tt_golden_in(golden, "scales");
	const struct tt_array *rope = tt_golden_in(golden, "rope");
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(latent && scales && rope && latent->shape.rank);
	shape = latent->shape;
	shape.dim[tt_from_end(&shape, 1)] = 656;
	out = tt_golden_out(golden, &shape, TTNN_FP8_E4M3);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row = i / 656, c = i % 656;

		if (c < 512)
			*tt_at(out, i) = *tt_at(latent, row * 512 + c);
		else if (c < 528)
			*tt_at(out, i) = byte_of(scales, row * 4 + (c - 512) / 4, c % 4);
		else
			*tt_at(out, i) = byte_of(rope, row * 64 + (c - 528) / 2, 2 + c % 2);
	}
	return TTNN_OK;
}
