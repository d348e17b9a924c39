#include <math.h>

#include "golden/golden_norm.h"

/* ---- mean and variance ----------------------------------------------------------------------------- */

/* A tile each, in its first column; columns that no device has are zeros. */
tt_status tt_golden_welford_stats(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", TTNN_BFLOAT16);
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t width;

	TT_GOLDEN_NEED(in);
	shape = in->shape;
	width = shape.dim[3];
	shape.dim[3] = 2 * TT_TILE;
	out = tt_golden_out(golden, &shape, dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t row = 0; width && row < in->count / width; row++) {
		const double *x = in->data + row * width;
		double mean = 0, var = 0;

		for (uint64_t i = 0; i < width; i++)
			mean += x[i] / (double)width;
		for (uint64_t i = 0; i < width; i++)
			var += (x[i] - mean) * (x[i] - mean) / (double)width;
		*tt_at(out, row * 2 * TT_TILE) = mean;
		*tt_at(out, row * 2 * TT_TILE + TT_TILE) = var;
	}
	return TTNN_OK;
}

/* Weight i of a row of `batch`: the first row of its tiles, or the i-th of all. */
static double weight_at(const struct tt_array *weights, uint64_t batch, uint64_t i, uint64_t width)
{
	uint64_t rows = tt_shape_last(&weights->shape, 2), batches = 1;

	if (tt_shape_last(&weights->shape, 1) != width)
		return *tt_at(weights, i);
	if (weights->shape.rank > 2)
		batches = tt_shape_last(&weights->shape, 3);
	return *tt_at(weights, (batches > 1 ? batch % batches : 0) * rows * width + i);
}

tt_status tt_golden_welford_apply(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	const struct tt_array *stats = tt_golden_in4(golden, "stats");
	const struct tt_array *gamma = tt_golden_in(golden, "weight");
	const struct tt_array *beta = tt_golden_in(golden, "bias");
	double epsilon = tt_call_real(&golden->call, "epsilon", 1e-5);
	uint64_t width, wide, parts;
	struct tt_array *out;

	TT_GOLDEN_NEED(in && stats);
	out = tt_golden_out(golden, &in->shape, tt_call_dtype(&golden->call, "dtype", in->dtype));
	TT_GOLDEN_NEED(out);
	width = in->shape.dim[3];
	wide = stats->shape.dim[3];
	parts = wide / (2 * TT_TILE);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t row = i / tt_divisor(width), batch = row / tt_divisor(in->shape.dim[2]);
		double mean = 0, squares = 0, value;

		for (uint64_t p = 0; p < parts; p++)
			mean += *tt_at(stats, row * wide + p * 2 * TT_TILE) / (double)parts;
		for (uint64_t p = 0; p < parts; p++) {
			double own = *tt_at(stats, row * wide + p * 2 * TT_TILE) - mean;
			double var = *tt_at(stats, row * wide + p * 2 * TT_TILE + TT_TILE);

			squares += (var + own * own) / (double)parts;
		}
		value = (in->data[i] - mean) / sqrt(squares + epsilon);
		if (gamma)
			value *= weight_at(gamma, batch, i % width, width);
		if (beta)
			value += weight_at(beta, batch, i % width, width);
		out->data[i] = value;
	}
	return TTNN_OK;
}

/* ---- squares, and heads that are rotated ------------------------------------------------------------ */

tt_status tt_golden_squares(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", TTNN_BFLOAT16);
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t width;

	TT_GOLDEN_NEED(in && in->shape.rank);
	shape = in->shape;
	width = tt_shape_last(&shape, 1);
	shape.dim[tt_from_end(&shape, 1)] = TT_TILE;
	out = tt_golden_out(golden, &shape, dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i / width * TT_TILE) += in->data[i] * in->data[i];
	return TTNN_OK;
}

/* What rms_norm makes of element `column` of a row. */
struct rms_row {
	const struct tt_array *in, *weight;
	uint64_t row;
	double factor;
};

static double normal(const struct rms_row *r, uint64_t column)
{
	double value = *tt_at(r->in, r->row * r->in->shape.dim[3] + column) * r->factor;

	return r->weight ? value * *tt_at(r->weight, column) : value;
}

/* Element `c` of a head that begins at `first`, turned within its 32 columns by the matrix. */
static double turned(const struct rms_row *r, const struct tt_array *matrix, uint64_t first,
		     uint64_t c)
{
	uint64_t block = first + c / TT_TILE * TT_TILE;
	double sum = 0;

	for (uint64_t k = 0; k < TT_TILE; k++)
		sum += normal(r, block + k) * *tt_at(matrix, k * TT_TILE + c % TT_TILE);
	return sum;
}

tt_status tt_golden_rms_heads(struct tt_golden *golden)
{
	struct rms_row r = {.in = tt_golden_in4(golden, "input_tensor"),
			    .weight = tt_golden_in(golden, "weight")};
	const struct tt_array *stats = tt_golden_in4(golden, "stats");
	const struct tt_array *matrix = tt_golden_in(golden, "transformation_mat");
	const struct tt_array *cos = tt_golden_in(golden, "rope_cos");
	const struct tt_array *sin = tt_golden_in(golden, "rope_sin");
	uint64_t heads = (uint64_t)tt_call_int(&golden->call, "num_heads_per_device", 1);
	double epsilon = tt_call_real(&golden->call, "epsilon", 1e-5);
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(r.in && stats);
	if (!heads || r.in->shape.dim[3] % heads || (matrix && (!cos || !sin)))
		return tt_fail(TTNN_INVALID, "%s: its inputs do not fit together",
			       golden->op->name);
	shape = r.in->shape;
	shape.dim[1] = (uint32_t)heads;
	shape.dim[3] /= (uint32_t)heads;
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", r.in->dtype));
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t c = i % shape.dim[3], head = i / shape.dim[3] / shape.dim[2];
		uint64_t wide = stats->shape.dim[3], parts = wide / TT_TILE;
		uint64_t first = head * shape.dim[3], angle;
		double squares = 0;

		r.row = i / shape.dim[3] % shape.dim[2];
		angle = r.row * shape.dim[3] + c;
		for (uint64_t p = 0; p < parts; p++)
			squares += *tt_at(stats, r.row * wide + p * TT_TILE);
		r.factor = 1 / sqrt(squares / (double)(parts * r.in->shape.dim[3]) + epsilon);
		*tt_at(out, i) = normal(&r, first + c);
		if (matrix)
			*tt_at(out, i) = *tt_at(out, i) * *tt_at(cos, angle) +
					 turned(&r, matrix, first, c) * *tt_at(sin, angle);
	}
	return TTNN_OK;
}
