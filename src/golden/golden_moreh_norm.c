/* golden_moreh_norm.c: normalisation for training and its gradients, by the textbook. */
#include "golden/golden_moreh.h"

#include <math.h>

/* What is normalised together: elements of a row; and which gain each of them has. */
struct rows {
	uint64_t cols;  /* of a row */
	uint64_t plane; /* so many elements have one gain ... */
	uint64_t gains; /* ... of so many */
};

static uint64_t gain_of(const struct rows *rows, uint64_t i)
{
	return i / rows->plane % rows->gains;
}

/* ---- forward ------------------------------------------------------------------------------------- */

/* Whether a result is wanted: a tensor is given for it, or the list says so. */
static bool wants(struct tt_golden *golden, const char *name, size_t place)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, "are_required_outputs");

	return tt_call_tensor(&golden->call, name) ||
	       (list->kind == TTNN_VALUE_LIST && place < list->count && list->items[place].boolean);
}

static tt_status statistic(struct tt_array **out, struct tt_golden *golden, const char *name,
			   const struct ttnn_shape *usual)
{
	const struct tt_array *given = tt_golden_in(golden, name);

	*out = NULL;
	if (!wants(golden, name, name[0] == 'm' ? 1 : 2))
		return TTNN_OK;
	*out = tt_golden_out(golden, given ? &given->shape : usual, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(*out);
	return TTNN_OK;
}

tt_status tt_golden_moreh_group_norm(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *gamma = tt_golden_in(golden, "gamma");
	const struct tt_array *beta = tt_golden_in(golden, "beta");
	uint64_t groups = (uint64_t)tt_call_int(&golden->call, "num_groups", 1);
	double eps = tt_call_real(&golden->call, "eps", 1e-5);
	struct tt_array *out, *means, *rstds;
	struct ttnn_shape shape;
	struct rows rows;

	TT_GOLDEN_NEED(in && in->shape.rank == 4 && groups && in->count);
	out = tt_golden_out(golden, &in->shape, in->dtype);
	TT_GOLDEN_NEED(out);
	shape = (struct ttnn_shape){4, {1, 1, in->shape.dim[0], (uint32_t)groups}};
	TT_TRY(statistic(&means, golden, "mean", &shape));
	TT_TRY(statistic(&rstds, golden, "rstd", &shape));
	rows = (struct rows){tt_divisor(in->count / in->shape.dim[0] / groups),
			     (uint64_t)in->shape.dim[2] * in->shape.dim[3], in->shape.dim[1]};
	TT_GOLDEN_NEED(rows.cols);
	for (uint64_t row = 0; row < in->count; row += rows.cols) {
		double mean = 0, square = 0;

		for (uint64_t i = row; i < row + rows.cols; i++)
			mean += *tt_at(in, i) / (double)rows.cols;
		for (uint64_t i = row; i < row + rows.cols; i++)
			square += pow(*tt_at(in, i) - mean, 2) / (double)rows.cols;
		for (uint64_t i = row; i < row + rows.cols; i++)
			*tt_at(out, i) = (*tt_at(in, i) - mean) / sqrt(square + eps) *
						 (gamma ? *tt_at(gamma, gain_of(&rows, i)) : 1) +
					 (beta ? *tt_at(beta, gain_of(&rows, i)) : 0);
		if (means)
			*tt_at(means, row / rows.cols) = mean;
		if (rstds)
			*tt_at(rstds, row / rows.cols) = 1 / sqrt(square + eps);
	}
	return TTNN_OK;
}

/* ---- backward ------------------------------------------------------------------------------------ */

struct gradients {
	const struct tt_array *grad, *in, *mean, *rstd, *gamma;
	struct rows rows;
};

static tt_status read_gradients(struct gradients *out, struct tt_golden *golden)
{
	*out = (struct gradients){
		tt_golden_in(golden, "output_grad"), tt_golden_in(golden, "input"),
		tt_golden_in(golden, "mean"),        tt_golden_in(golden, "rstd"),
		tt_golden_in(golden, "gamma"),       {1, 1, 1}};
	TT_GOLDEN_NEED(out->grad && out->in && out->mean && out->rstd && out->in->count);
	return TTNN_OK;
}

/* The value of element i after normalisation, before gamma. */
static double normal(const struct gradients *all, uint64_t i)
{
	uint64_t row = i / all->rows.cols;

	return (*tt_at(all->in, i) - *tt_at(all->mean, row)) * *tt_at(all->rstd, row);
}

static double slope(const struct gradients *all, uint64_t i)
{
	return *tt_at(all->grad, i) * (all->gamma ? *tt_at(all->gamma, gain_of(&all->rows, i)) : 1);
}

/* Element i moves itself, and with the mean and the deviation all of its row. */
static tt_status input_gradient(struct tt_golden *golden, const struct gradients *all)
{
	struct tt_array *out = tt_golden_out(golden, &all->in->shape, all->in->dtype);
	double n = (double)all->rows.cols;

	TT_GOLDEN_NEED(out);
	for (uint64_t row = 0; row < out->count; row += tt_divisor(all->rows.cols)) {
		double sum = 0, along = 0;

		for (uint64_t i = row; i < row + all->rows.cols; i++) {
			sum += slope(all, i);
			along += slope(all, i) * normal(all, i);
		}
		for (uint64_t i = row; i < row + all->rows.cols; i++)
			*tt_at(out, i) = *tt_at(all->rstd, row / all->rows.cols) *
					 (slope(all, i) - sum / n - normal(all, i) * along / n);
	}
	return TTNN_OK;
}

/* Sums over all elements that have the same gain. */
static tt_status gain_gradient(struct tt_golden *golden, const struct gradients *all,
			       const struct ttnn_shape *shape, bool gamma)
{
	struct tt_array *out = tt_golden_out(golden, shape, all->in->dtype);

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < all->grad->count; i++)
		*tt_at(out, gain_of(&all->rows, i)) +=
			*tt_at(all->grad, i) * (gamma ? normal(all, i) : 1);
	return TTNN_OK;
}

tt_status tt_golden_moreh_layer_norm_backward(struct tt_golden *golden)
{
	int64_t dims = tt_call_int(&golden->call, "normalized_dims", 1);
	static const char *const gains[] = {"gamma_grad", "beta_grad"};
	struct gradients all;

	TT_TRY(read_gradients(&all, golden));
	TT_GOLDEN_NEED(dims >= 1 && dims <= all.in->shape.rank);
	for (uint32_t back = 1; back <= dims; back++)
		all.rows.cols *= tt_shape_last(&all.in->shape, back);
	all.rows.gains = all.rows.cols;
	if (tt_call_tensor(&golden->call, "input_grad"))
		TT_TRY(input_gradient(golden, &all));
	for (size_t i = 0; i < 2; i++)
		if (tt_call_tensor(&golden->call, gains[i]))
			TT_TRY(gain_gradient(golden, &all, &tt_golden_in(golden, gains[i])->shape,
					     i == 0));
	return TTNN_OK;
}

tt_status tt_golden_moreh_group_norm_backward(struct tt_golden *golden)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, "are_required_outputs");
	uint64_t groups = (uint64_t)tt_call_int(&golden->call, "num_groups", 1);
	struct ttnn_shape shape = {4, {1, 1, 1, 0}};
	struct gradients all;

	TT_TRY(read_gradients(&all, golden));
	TT_GOLDEN_NEED(all.in->shape.rank == 4 && groups && list->kind == TTNN_VALUE_LIST &&
		       list->count >= 3);
	shape.dim[3] = all.in->shape.dim[1];
	all.rows = (struct rows){tt_divisor(all.in->count / all.in->shape.dim[0] / groups),
				 (uint64_t)all.in->shape.dim[2] * all.in->shape.dim[3],
				 all.in->shape.dim[1]};
	if (list->items[0].boolean)
		TT_TRY(input_gradient(golden, &all));
	for (size_t i = 1; i <= 2; i++)
		if (list->items[i].boolean)
			TT_TRY(gain_gradient(golden, &all, &shape, i == 1));
	return TTNN_OK;
}
