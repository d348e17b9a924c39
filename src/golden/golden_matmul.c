#include "golden/golden_matmul.h"

#include <string.h>

#include "ops/activation.h"

/* An operand as matrices: a row for a on the left, a column for b on the right. */
struct side {
	const struct tt_array *array;
	uint64_t batch, rows, cols;
	bool turned;
};

static struct side side_of(const struct tt_array *array, bool left, bool turned)
{
	const struct ttnn_shape *shape = &array->shape;
	struct side side = {.array = array, .batch = 1, .turned = turned && shape->rank > 1};

	if (shape->rank == 1) {
		side.rows = left ? 1 : shape->dim[0];
		side.cols = left ? shape->dim[0] : 1;
		return side;
	}
	side.rows = shape->dim[shape->rank - 2];
	side.cols = shape->dim[shape->rank - 1];
	for (uint32_t i = 0; i + 2 < shape->rank; i++)
		side.batch *= shape->dim[i];
	return side;
}

static uint64_t height(const struct side *side)
{
	return side->turned ? side->cols : side->rows;
}

static uint64_t width(const struct side *side)
{
	return side->turned ? side->rows : side->cols;
}

static double at(const struct side *side, uint64_t batch, uint64_t row, uint64_t col)
{
	uint64_t r = side->turned ? col : row, c = side->turned ? row : col;

	return side->array->data[(batch * side->rows + r) * side->cols + c];
}

/* The outer extents of the result; a vector leaves its own extent out. */
static struct ttnn_shape result_shape(const struct side *a, const struct side *b)
{
	const struct ttnn_shape *sa = &a->array->shape, *sb = &b->array->shape;
	uint32_t outer_a = sa->rank > 2 ? sa->rank - 2 : 0;
	uint32_t outer_b = sb->rank > 2 ? sb->rank - 2 : 0;
	uint32_t outer = outer_a > outer_b ? outer_a : outer_b;
	struct ttnn_shape out = {.rank = outer};

	for (uint32_t i = 0; i < outer; i++) {
		uint32_t x = i + outer_a >= outer ? sa->dim[i + outer_a - outer] : 1;
		uint32_t y = i + outer_b >= outer ? sb->dim[i + outer_b - outer] : 1;

		out.dim[i] = x > y ? x : y;
	}
	if (sa->rank > 1)
		out.dim[out.rank++] = (uint32_t)height(a);
	if (sb->rank > 1)
		out.dim[out.rank++] = (uint32_t)width(b);
	return out;
}

/* Which matrix of an operand belongs to matrix `batch` of the result: numpy's broadcasting. */
static uint64_t matrix_of(const struct ttnn_shape *operand, const struct ttnn_shape *out,
			  uint32_t outer, uint64_t batch)
{
	uint32_t own = operand->rank > 2 ? operand->rank - 2 : 0;
	uint64_t index = 0, step = 1;

	for (uint32_t back = 1; back <= outer; back++) {
		uint64_t coordinate = batch % out->dim[outer - back];

		batch /= out->dim[outer - back];
		if (back > own)
			continue;
		if (operand->dim[own - back] != 1)
			index += coordinate * step;
		step *= operand->dim[own - back];
	}
	return index;
}

static tt_status multiply(struct tt_array **out, struct tt_golden *golden, const struct side *a,
			  const struct side *b)
{
	struct ttnn_shape shape = result_shape(a, b);
	uint32_t inner = (a->array->shape.rank > 1) + (uint32_t)(b->array->shape.rank > 1);
	uint32_t outer = shape.rank - inner;
	uint64_t rows = height(a), cols = width(b), depth = width(a), batches = 1;

	*out = tt_golden_temp(golden, &shape);
	if (!*out)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < outer; i++)
		batches *= shape.dim[i];
	for (uint64_t n = 0; n < batches * rows * cols; n++) {
		uint64_t batch = n / (rows * cols), r = n / cols % rows, c = n % cols;
		uint64_t in_a = matrix_of(&a->array->shape, &shape, outer, batch);
		uint64_t in_b = matrix_of(&b->array->shape, &shape, outer, batch);
		double sum = 0;

		for (uint64_t k = 0; k < depth; k++)
			sum += at(a, in_a, r, k) * at(b, in_b, k, c);
		(*out)->data[n] = sum;
	}
	return TTNN_OK;
}

static enum ttnn_dtype result_dtype(const struct tt_golden *golden, const struct tt_array *a)
{
	struct tt_tensor *given = tt_call_tensor(&golden->call, "optional_output_tensor");

	return given ? given->spec.dtype : tt_call_dtype(&golden->call, "dtype", a->dtype);
}

/* An activation applied to every value; none is fine. */
static tt_status activate(struct tt_array *array, struct tt_golden *golden,
			  const struct ttnn_value *activation)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	struct ttnn_value value, chain;
	size_t count;

	TT_TRY(tt_activation_of(&value, golden->arena, activation));
	if (!tt_value_given(&value))
		return TTNN_OK;
	chain = ttnn_v_list(&value, 1);
	TT_TRY(tt_unary_steps(steps, &count, &chain));
	for (uint64_t i = 0; i < array->count; i++)
		array->data[i] = tt_golden_chain(steps, count, array->dtype, array->data[i]);
	return TTNN_OK;
}

/* The activation inside of a program config. */
static const struct ttnn_value *fused(const struct tt_golden *golden)
{
	static const struct ttnn_value none = {.kind = TTNN_VALUE_NONE};
	const struct ttnn_value *config = tt_call_arg(&golden->call, "program_config");

	if (config->kind != TTNN_VALUE_OBJECT)
		return &none;
	for (size_t i = 0; i < config->schema->count; i++)
		if (strcmp(config->schema->fields[i].name, "fused_activation") == 0)
			return &config->items[i];
	return &none;
}

static tt_status operand(struct side *out, struct tt_golden *golden, const char *name, bool left,
			 const char *turned)
{
	const struct tt_array *array = tt_golden_in(golden, name);

	if (!array)
		return tt_fail(TTNN_INVALID, "%s is missing", name);
	*out = side_of(array, left, tt_call_bool(&golden->call, turned, false));
	return TTNN_OK;
}

tt_status tt_golden_matmul(struct tt_golden *golden)
{
	const struct tt_array *bias = tt_golden_in(golden, "bias");
	struct tt_tensor *given = tt_call_tensor(&golden->call, "optional_output_tensor");
	struct ttnn_shape shape;
	struct tt_array *product, *out;
	struct side a, b;
	uint64_t coordinate[TTNN_MAX_RANK];

	TT_TRY(operand(&a, golden, "input_tensor_a", true, "transpose_a"));
	TT_TRY(operand(&b, golden, "input_tensor_b", false, "transpose_b"));
	TT_TRY(multiply(&product, golden, &a, &b));
	shape = product->shape;
	if (bias && !tt_broadcast_shape(&shape, &product->shape, &bias->shape))
		return tt_fail(TTNN_INVALID, "bias and product do not fit");
	out = tt_golden_out(golden, given ? &given->spec.shape : &shape,
			    result_dtype(golden, a.array));
	if (!out)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < out->count; i++) {
		struct tt_array whole = {.shape = shape};

		tt_array_coordinate(coordinate, &whole, i);
		out->data[i] = tt_array_broadcast(product, &shape, coordinate);
		if (bias)
			out->data[i] += tt_array_broadcast(bias, &shape, coordinate);
	}
	TT_TRY(activate(out, golden, fused(golden)));
	return activate(out, golden, tt_call_arg(&golden->call, "activation"));
}

tt_status tt_golden_addmm(struct tt_golden *golden)
{
	const struct tt_array *input = tt_golden_in(golden, "input_tensor");
	double alpha = tt_call_real(&golden->call, "alpha", 1);
	double beta = tt_call_real(&golden->call, "beta", 1);
	struct tt_array *product, *out;
	struct side a, b;

	TT_TRY(operand(&a, golden, "mat1_tensor", true, "transpose_a"));
	TT_TRY(operand(&b, golden, "mat2_tensor", false, "transpose_b"));
	TT_TRY(multiply(&product, golden, &a, &b));
	out = tt_golden_out(golden, &product->shape, result_dtype(golden, a.array));
	if (!out || !input)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < out->count; i++)
		out->data[i] = alpha * product->data[i] + (beta == 0 ? 0 : beta * input->data[i]);
	return TTNN_OK;
}

/* The product of two operands and a bias, of which each has its own name here. */
struct names {
	const char *a, *b, *bias, *turn_a, *turn_b;
};

static tt_status biased(struct tt_array **out, struct tt_golden *golden, const struct names *names)
{
	const struct tt_array *bias = names->bias ? tt_golden_in(golden, names->bias) : NULL;
	uint64_t coordinate[TTNN_MAX_RANK];
	struct tt_array *product;
	struct side a, b;

	TT_TRY(operand(&a, golden, names->a, true, names->turn_a));
	TT_TRY(operand(&b, golden, names->b, false, names->turn_b));
	TT_TRY(multiply(&product, golden, &a, &b));
	*out = tt_golden_out(golden, &product->shape,
			     tt_call_dtype(&golden->call, "dtype", a.array->dtype));
	if (!*out)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < product->count; i++) {
		tt_array_coordinate(coordinate, product, i);
		(*out)->data[i] =
			product->data[i] +
			(bias ? tt_array_broadcast(bias, &product->shape, coordinate) : 0);
	}
	return TTNN_OK;
}

tt_status tt_golden_minimal_matmul(struct tt_golden *golden)
{
	static const struct names names = {"input_tensor", "weight_tensor", "bias_tensor", "", ""};
	struct tt_array *out;

	TT_TRY(biased(&out, golden, &names));
	return activate(out, golden, tt_call_arg(&golden->call, "fused_activation"));
}

tt_status tt_golden_moreh_matmul(struct tt_golden *golden)
{
	static const struct names names = {"input", "other", "bias", "transpose_input",
					   "transpose_other"};
	struct tt_array *out;

	return biased(&out, golden, &names);
}

tt_status tt_golden_moreh_dot(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in(golden, "input_tensor_a");
	const struct tt_array *b = tt_golden_in(golden, "input_tensor_b");
	struct ttnn_shape shape;
	struct tt_array *out;

	if (!a || !b)
		return tt_fail(TTNN_INVALID, "an operand is missing");
	shape = a->shape;
	shape.dim[shape.rank - 1] = 1;
	out = tt_golden_out(golden, &shape, a->dtype);
	if (!out)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < a->count; i++)
		out->data[0] += a->data[i] * b->data[i];
	return TTNN_OK;
}
