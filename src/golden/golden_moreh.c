/*
 * golden_moreh.c: gradients by the chain rule, element by element of the result that was: each adds its part to the gradients of all that
 * went into it.
 */
#include "golden/golden_moreh.h"

#include <math.h>

#include "ops/dims.h"

/* A gradient is computed where a tensor was given for it; NULL otherwise. Fails for want of memory alone. */
static tt_status gradient(struct tt_array **out, struct tt_golden *golden, const char *name,
			  size_t place)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, "are_required_outputs");
	const struct tt_array *given = tt_golden_in(golden, name);

	*out = NULL;
	if (!given || (list->kind == TTNN_VALUE_LIST &&
		       (place >= list->count || !list->items[place].boolean)))
		return TTNN_OK;
	*out = tt_golden_out(golden, &given->shape, given->dtype);
	TT_GOLDEN_NEED(*out);
	return TTNN_OK;
}

/* ---- products ------------------------------------------------------------------------------------ */

/* A matrix among others: those in front are broadcast. */
struct side {
	const struct tt_array *array;
	bool turned;
};

/* The element (row, col) of the matrix that belongs to a place of the result. */
static double *element(const struct side *side, const uint64_t *at, uint32_t rank, uint64_t row,
		       uint64_t col)
{
	const struct ttnn_shape *shape = &side->array->shape;
	uint64_t index = 0;

	for (uint32_t d = 0; d < shape->rank; d++) {
		uint32_t behind = shape->rank - d;
		uint64_t coordinate;

		if (behind == 1)
			coordinate = side->turned ? row : col;
		else if (behind == 2)
			coordinate = side->turned ? col : row;
		else
			coordinate = shape->dim[d] == 1 || behind > rank ? 0 : at[rank - behind];
		index = index * shape->dim[d] + coordinate;
	}
	return tt_at(side->array, index);
}

static uint32_t depth_of(const struct side *a)
{
	return tt_shape_last(&a->array->shape, a->turned ? 2 : 1);
}

/* out = a · b, of the broadcast of both. */
static tt_status product(struct tt_golden *golden, const struct side *a, const struct side *b,
			 const struct tt_array *bias)
{
	const struct ttnn_shape *x = &a->array->shape, *y = &b->array->shape;
	struct ttnn_shape shape = {.rank = x->rank > y->rank ? x->rank : y->rank};
	uint64_t at[TTNN_MAX_RANK];
	struct tt_array *out;

	TT_GOLDEN_NEED(x->rank >= 2 && y->rank >= 2);
	for (uint32_t back = 3; back <= shape.rank; back++) {
		uint32_t p = tt_shape_last(x, back), q = tt_shape_last(y, back);

		shape.dim[shape.rank - back] = p > q ? p : q;
	}
	shape.dim[tt_from_end(&shape, 2)] = tt_shape_last(x, 2);
	shape.dim[tt_from_end(&shape, 1)] = tt_shape_last(y, b->turned ? 2 : 1);
	out = tt_golden_out(golden, &shape, a->array->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row, col;

		tt_array_coordinate(at, out, i);
		row = at[shape.rank - 2];
		col = at[shape.rank - 1];
		for (uint32_t k = 0; k < depth_of(a); k++)
			*tt_at(out, i) += *element(a, at, shape.rank, row, k) *
					  *element(b, at, shape.rank, k, col);
		if (bias)
			*tt_at(out, i) += *tt_at(bias, bias->count == 1 ? 0 : col);
	}
	return TTNN_OK;
}

tt_status tt_golden_moreh_bmm(struct tt_golden *golden)
{
	struct side a = {tt_golden_in(golden, "input"), false};
	struct side b = {tt_golden_in(golden, "mat2"), false};

	TT_GOLDEN_NEED(a.array && b.array);
	return product(golden, &a, &b, NULL);
}

tt_status tt_golden_moreh_linear(struct tt_golden *golden)
{
	struct side a = {tt_golden_in(golden, "input"), false};
	struct side b = {tt_golden_in(golden, "weight"), true};

	TT_GOLDEN_NEED(a.array && b.array);
	return product(golden, &a, &b, tt_golden_in(golden, "bias"));
}

/* What both gradients are made of, and where they go: NULL where one is not wanted. */
struct products {
	const struct tt_array *grad;
	struct side a, b;
	struct tt_array *a_grad, *b_grad;
};

/* Each element of the gradient adds to those of the row and the column that it was made of. */
static tt_status products_backward(const struct products *all)
{
	uint32_t rank = all->grad->shape.rank;
	struct side into_a = {all->a_grad, all->a.turned}, into_b = {all->b_grad, all->b.turned};
	uint64_t at[TTNN_MAX_RANK];

	TT_GOLDEN_NEED(rank >= 2);
	for (uint64_t i = 0; i < all->grad->count; i++) {
		double grad = *tt_at(all->grad, i);
		uint64_t row, col;

		tt_array_coordinate(at, all->grad, i);
		row = at[rank - 2];
		col = at[rank - 1];
		for (uint32_t k = 0; k < depth_of(&all->a); k++) {
			if (all->a_grad)
				*element(&into_a, at, rank, row, k) +=
					grad * *element(&all->b, at, rank, k, col);
			if (all->b_grad)
				*element(&into_b, at, rank, k, col) +=
					grad * *element(&all->a, at, rank, row, k);
		}
	}
	return TTNN_OK;
}

/* The same for operations that call their tensors so. */
static tt_status products_of(struct tt_golden *golden, const char *const *names, bool turned)
{
	struct products all = {tt_golden_in(golden, "output_grad"),
			       {tt_golden_in(golden, names[0]), false},
			       {tt_golden_in(golden, names[1]), turned},
			       NULL,
			       NULL};

	TT_GOLDEN_NEED(all.grad && all.a.array && all.b.array);
	TT_TRY(gradient(&all.a_grad, golden, names[2], 0));
	TT_TRY(gradient(&all.b_grad, golden, names[3], 1));
	return products_backward(&all);
}

tt_status tt_golden_moreh_bmm_backward(struct tt_golden *golden)
{
	static const char *const names[] = {"input", "mat2", "input_grad", "mat2_grad"};

	return products_of(golden, names, false);
}

/* Two rows of four dimensions are vectors, whose gradients are the other one times a number. */
tt_status tt_golden_moreh_dot_backward(struct tt_golden *golden)
{
	static const char *const names[] = {"input", "other", "input_grad", "other_grad"};

	return products_of(golden, names, true);
}

tt_status tt_golden_moreh_matmul_backward(struct tt_golden *golden)
{
	static const char *const names[] = {"input_a", "input_b", "input_a_grad", "input_b_grad"};

	return products_of(golden, names, false);
}

tt_status tt_golden_moreh_linear_backward(struct tt_golden *golden)
{
	static const char *const names[] = {"input", "weight", "input_grad", "weight_grad"};
	const struct tt_array *grad = tt_golden_in(golden, "output_grad");
	struct tt_array *bias;

	TT_GOLDEN_NEED(grad);
	TT_TRY(products_of(golden, names, true));
	TT_TRY(gradient(&bias, golden, "bias_grad", 2));
	for (uint64_t i = 0; bias && i < grad->count; i++)
		*tt_at(bias, bias->count == 1 ? 0 : i % tt_shape_last(&grad->shape, 1)) +=
			*tt_at(grad, i);
	return TTNN_OK;
}

/* ---- sums over dimensions ------------------------------------------------------------------------- */

/* Which element of a result each of a tensor goes into. */
struct into {
	struct ttnn_shape kept; /* the result with its dimensions */
	uint64_t each;          /* how many elements make one */
};

static tt_status into_of(struct into *out, struct tt_golden *golden, const struct ttnn_shape *shape)
{
	struct tt_reduction_dims dims;
	uint64_t all, results;

	TT_TRY(tt_reduction_dims(&dims, &golden->call, "dim", shape->rank));
	out->kept = tt_reduction_shape(shape, &dims, true);
	TT_TRY(ttnn_shape_volume(&all, shape));
	TT_TRY(ttnn_shape_volume(&results, &out->kept));
	out->each = results ? all / results : 1;
	return TTNN_OK;
}

static uint64_t place_in(const struct into *into, const struct tt_array *whole, uint64_t i)
{
	struct tt_array kept = {.shape = into->kept};
	uint64_t at[TTNN_MAX_RANK];

	tt_array_coordinate(at, whole, i);
	for (uint32_t d = 0; d < into->kept.rank; d++)
		if (into->kept.dim[d] == 1)
			at[d] = 0;
	return tt_array_index(&kept, at);
}

/* Of a sum (each counts as one) or a mean. */
static tt_status spread(struct tt_golden *golden, const struct ttnn_shape *shape, bool mean)
{
	const struct tt_array *grad = tt_golden_in(golden, "output_grad");
	struct tt_array *out;
	struct into into;

	TT_GOLDEN_NEED(grad);
	TT_TRY(into_of(&into, golden, shape));
	out = tt_golden_out(golden, shape, grad->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) =
			*tt_at(grad, place_in(&into, out, i)) / (mean ? (double)into.each : 1);
	return TTNN_OK;
}

tt_status tt_golden_moreh_sum_backward(struct tt_golden *golden)
{
	const struct tt_array *like = tt_golden_in(golden, "input");

	like = like ? like : tt_golden_in(golden, "input_grad");
	TT_GOLDEN_NEED(like);
	return spread(golden, &like->shape, false);
}

tt_status tt_golden_moreh_mean_backward(struct tt_golden *golden)
{
	const struct tt_array *given = tt_golden_in(golden, "input_grad");
	struct ttnn_shape shape;
	int64_t dims[TTNN_MAX_RANK];
	size_t rank;

	if (given)
		return spread(golden, &given->shape, true);
	TT_TRY(tt_call_ints(dims, &rank, TTNN_MAX_RANK, &golden->call, "input_grad_shape"));
	TT_TRY(ttnn_shape_make(&shape, dims, rank));
	return spread(golden, &shape, true);
}

/* x |x|^(p - 2) dy / y^(p - 1) */
tt_status tt_golden_moreh_norm_backward(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *norm = tt_golden_in(golden, "output");
	const struct tt_array *grad = tt_golden_in(golden, "output_grad");
	double p = tt_call_real(&golden->call, "p", 2);
	struct tt_array *out;
	struct into into;

	TT_GOLDEN_NEED(in && norm && grad);
	TT_TRY(into_of(&into, golden, &in->shape));
	out = tt_golden_out(golden, &in->shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t place = place_in(&into, in, i);
		double x = *tt_at(in, i), y = *tt_at(norm, place);

		if (x != 0 && p != 0 && y != 0)
			*tt_at(out, i) = copysign(pow(fabs(x) / y, p - 1), x) * *tt_at(grad, place);
	}
	return TTNN_OK;
}

/* ---- softmax ------------------------------------------------------------------------------------- */

/*
 * By the whole matrix of derivatives of a line: of output j by input i, y_j ((i = j) - y_i); of its logarithm (i = j) -
 * exp(y_i); of softmin the negative of the first.
 */
tt_status tt_golden_moreh_softmax_backward(struct tt_golden *golden)
{
	const struct tt_array *y = tt_golden_in(golden, "output_tensor");
	const struct tt_array *grad = tt_golden_in(golden, "output_grad_tensor");
	int64_t kind = tt_call_arg(&golden->call, "op")->integer;
	uint64_t dim = (uint64_t)tt_call_int(&golden->call, "dim", 0), step = 1, line;
	struct tt_array *out;

	TT_GOLDEN_NEED(y && grad && dim < y->shape.rank);
	out = tt_golden_out(golden, &y->shape, y->dtype);
	TT_GOLDEN_NEED(out);
	line = y->shape.dim[dim];
	for (uint32_t d = (uint32_t)dim + 1; d < y->shape.rank; d++)
		step *= y->shape.dim[d];
	for (uint64_t i = 0; i < y->count; i++) {
		uint64_t first = i - i / step % line * step;

		for (uint64_t j = first; j < first + line * step; j += step) {
			double same = i == j, slope;

			slope = kind == 2 ? same - exp(*tt_at(y, i))
					  : *tt_at(y, j) * (same - *tt_at(y, i));
			*tt_at(out, i) += (kind == 1 ? -slope : slope) * *tt_at(grad, j);
		}
	}
	return TTNN_OK;
}
