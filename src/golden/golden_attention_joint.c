#include <math.h>

#include "golden/golden_attention.h"

/* Keys or values of both sequences, row by row. */
struct both {
	const struct tt_array *first, *second;
};

static uint64_t rows_of(const struct both *both)
{
	return (uint64_t)both->first->shape.dim[2] + both->second->shape.dim[2];
}

/* Element c of row j of a head, the second sequence behind the first. */
static double element(const struct both *both, uint64_t head, uint64_t j, uint64_t c)
{
	uint64_t split = both->first->shape.dim[2];
	const struct tt_array *part = j < split ? both->first : both->second;

	return *tt_at(
		part,
		(head * part->shape.dim[2] + (j < split ? j : j - split)) * part->shape.dim[3] + c);
}

/* A row of the result from weights that are not yet divided by their sum. */
static void attend(double *out, const double *weights, const struct both *v, uint64_t head)
{
	uint64_t width = v->first->shape.dim[3];
	double total = 0;

	for (uint64_t j = 0; j < rows_of(v); j++)
		total += weights[j];
	for (uint64_t c = 0; c < width; c++) {
		for (uint64_t j = 0; j < rows_of(v); j++)
			out[c] += weights[j] * element(v, head, j, c);
		out[c] /= total;
	}
}

static tt_status attend_all(struct tt_golden *golden, const struct tt_array *q,
			    const struct both *k, const struct both *v)
{
	struct tt_array *out = tt_golden_out(golden, &q->shape, q->dtype), *weights;
	uint64_t rows = q->shape.dim[2], width = q->shape.dim[3], columns = rows_of(k);
	double scale = tt_call_real(&golden->call, "scale", 1 / sqrt((double)width));
	const struct ttnn_shape line = TT_SHAPE((uint32_t)columns);

	weights = tt_golden_temp(golden, &line);
	TT_GOLDEN_NEED(out && weights);
	for (uint64_t i = 0; width && i < q->count / width; i++) {
		double best = -INFINITY;

		for (uint64_t j = 0; j < columns; j++) {
			double sum = 0;

			for (uint64_t c = 0; c < width; c++)
				sum += *tt_at(q, i * width + c) *
				       element(k, i / tt_divisor(rows), j, c);
			weights->data[j] = sum * scale;
			best = fmax(best, sum * scale);
		}
		for (uint64_t j = 0; j < columns; j++)
			weights->data[j] = exp(weights->data[j] - best);
		attend(tt_array_span(out, i * width, width), weights->data, v,
		       i / tt_divisor(rows));
	}
	return TTNN_OK;
}

tt_status tt_golden_attention_joint(struct tt_golden *golden)
{
	const struct tt_array *const q[] = {tt_golden_in4(golden, "input_tensor_q"),
					    tt_golden_in4(golden, "joint_tensor_q")};
	const struct both k = {tt_golden_in4(golden, "input_tensor_k"),
			       tt_golden_in4(golden, "joint_tensor_k")};
	const struct both v = {tt_golden_in4(golden, "input_tensor_v"),
			       tt_golden_in4(golden, "joint_tensor_v")};
	const struct tt_array *const all[] = {q[0], q[1], k.first, k.second, v.first, v.second};

	for (size_t i = 0; i < TT_COUNT(all); i++) {
		TT_GOLDEN_NEED(all[i]);
		if (all[i]->shape.dim[0] != q[0]->shape.dim[0] ||
		    all[i]->shape.dim[1] != q[0]->shape.dim[1] ||
		    all[i]->shape.dim[3] != q[0]->shape.dim[3])
			return tt_fail(TTNN_INVALID,
				       "%s: the shapes of its inputs do not fit together",
				       golden->op->name);
	}
	if (rows_of(&k) != rows_of(&v))
		return tt_fail(TTNN_INVALID, "%s: there are %llu keys and %llu values",
			       golden->op->name, (unsigned long long)rows_of(&k),
			       (unsigned long long)rows_of(&v));
	for (size_t i = 0; i < TT_COUNT(q); i++)
		TT_TRY(attend_all(golden, q[i], &k, &v));
	return TTNN_OK;
}
