/*
 * golden_matmul.c: products of matrices, as three nested loops over float64.
 *
 * Operands are seen as matrices with all outer dimensions broadcast against each other (struct
 * side, matrix_of()); transposing is reading the other way round. Sums are in float64 and in
 * order, which no backend does: their bounds say how far apart that may be.
 */
#include <math.h>

#include "golden/golden_matmul.h"

#include <string.h>

/* An operand as matrices: a row for a on the left, a column for b on the right. */
struct side {
	const struct tt_array *array;
	uint64_t batch, rows, cols;
	bool left, transposed;
};

/*
 * An operand as matrices: a row for a on the left, a column for b on the right, as torch.matmul
 * treats vectors.
 */
static struct side side_of(const struct tt_array *array, bool left, bool transposed)
{
	const struct ttnn_shape *shape = &array->shape;
	struct side side = {.array = array,
			    .batch = 1,
			    .left = left,
			    .transposed = transposed && shape->rank > 1};

	if (shape->rank == 1) {
		side.rows = left ? 1 : shape->dim[0];
		side.cols = left ? shape->dim[0] : 1;
		return side;
	}
	side.rows = shape->dim[tt_from_end(shape, 2)];
	side.cols = shape->dim[tt_from_end(shape, 1)];
	for (uint32_t i = 0; i + 2 < shape->rank; i++)
		side.batch *= shape->dim[i];
	return side;
}

static uint64_t height(const struct side *side)
{
	return side->transposed ? side->cols : side->rows;
}

static uint64_t width(const struct side *side)
{
	return side->transposed ? side->rows : side->cols;
}

static double at(const struct side *side, uint64_t batch, uint64_t row, uint64_t col)
{
	uint64_t r = side->transposed ? col : row, c = side->transposed ? row : col;

	return *tt_at(side->array, (batch * side->rows + r) * side->cols + c);
}

/* So many elements of a row of the left one, or of a column of the right one, *step apart. */
static const double *line(uint64_t *step, const struct side *side, uint64_t batch, uint64_t place,
			  uint64_t depth)
{
	bool along = side->left != side->transposed;

	*step = along ? 1 : side->cols;
	return depth ? tt_array_span(side->array,
				     batch * side->rows * side->cols +
					     (along ? place * side->cols : place),
				     (depth - 1) * *step + 1)
		     : NULL;
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

/* Into a temporary: bias, activation and scale come after it, in float64 too. */
static tt_status multiply(struct tt_array **out, struct tt_golden *golden, const struct side *a,
			  const struct side *b)
{
	struct ttnn_shape shape = result_shape(a, b);
	uint32_t inner = (a->array->shape.rank > 1) + (uint32_t)(b->array->shape.rank > 1);
	uint32_t outer = shape.rank - inner;
	uint64_t rows = height(a), cols = width(b), depth = width(a), batches = 1;

	*out = tt_golden_temp(golden, &shape);
	TT_NEED_MEMORY(*out);
	for (uint32_t i = 0; i < outer; i++)
		batches *= shape.dim[i];
	for (uint64_t n = 0; n < batches * rows * cols; n++) {
		uint64_t batch = n / (rows * cols), r = n / cols % rows, c = n % cols;
		uint64_t in_a = matrix_of(&a->array->shape, &shape, outer, batch);
		uint64_t in_b = matrix_of(&b->array->shape, &shape, outer, batch);
		uint64_t step_a, step_b;
		const double *x = line(&step_a, a, in_a, r, depth);
		const double *y = line(&step_b, b, in_b, c, depth);
		double sum = 0;

		for (uint64_t k = 0; k < depth; k++)
			sum += x[k * step_a] * y[k * step_b];
		*tt_at(*out, n) = sum;
	}
	return TTNN_OK;
}

static enum ttnn_dtype result_dtype(const struct tt_golden *golden, const struct tt_array *a)
{
	struct tt_tensor *given = tt_call_tensor(&golden->call, "optional_output_tensor");

	return given ? given->spec.dtype : tt_call_dtype(&golden->call, "dtype", a->dtype);
}

const struct ttnn_value *tt_golden_config_activation(const struct tt_golden *golden)
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
			 const char *transposed)
{
	const struct tt_array *array = tt_golden_in(golden, name);

	if (!array)
		return tt_fail(TTNN_INVALID, "%s is missing", name);
	if (array->shape.rank == 0)
		return tt_fail(TTNN_INVALID, "%s: %s is a scalar, not a matrix", golden->op->name,
			       name);
	*out = side_of(array, left, tt_call_bool(&golden->call, transposed, false));
	return TTNN_OK;
}

/*
 * matmul and linear. The shape of a given output counts where it has more dimensions. The
 * activation may be in the program config or an argument of its own.
 */
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
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < out->count; i++) {
		struct tt_array whole = {.shape = shape};

		tt_array_coordinate(coordinate, &whole, i);
		*tt_at(out, i) = tt_array_broadcast(product, &shape, coordinate);
		if (bias)
			*tt_at(out, i) += tt_array_broadcast(bias, &shape, coordinate);
	}
	TT_TRY(tt_golden_activate(out, golden, tt_golden_config_activation(golden)));
	return tt_golden_activate(out, golden, tt_call_arg(&golden->call, "activation"));
}

/* As torch.addmm: beta of 0 ignores the input, NaN and all. */
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
		*tt_at(out, i) =
			alpha * *tt_at(product, i) + (beta == 0 ? 0 : beta * *tt_at(input, i));
	return TTNN_OK;
}

/* The product of two operands and a bias, of which each has its own name here. */
struct names {
	const char *a, *b, *bias, *turn_a, *turn_b;
};

/* Products whose arguments have other names: minimal_matmul and its kin. */
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
	TT_NEED_MEMORY(*out);
	for (uint64_t i = 0; i < product->count; i++) {
		tt_array_coordinate(coordinate, product, i);
		*tt_at(*out, i) =
			*tt_at(product, i) +
			(bias ? tt_array_broadcast(bias, &product->shape, coordinate) : 0);
	}
	return TTNN_OK;
}

/* The product of a list of two, row by row: the second begins at the next whole tile of the matrix. */
static tt_status joined(struct tt_array **out, struct tt_golden *golden)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, "input_tensor");
	const struct tt_array *b = tt_golden_in(golden, "weight_tensor");
	const struct tt_array *bias = tt_golden_in(golden, "bias_tensor"), *parts[2];
	uint64_t n, k;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(b && list->count == 2);
	for (int i = 0; i < 2; i++) {
		parts[i] = tt_golden_read(golden, list->items[i].tensor);
		TT_GOLDEN_NEED(parts[i] && parts[i]->shape.rank);
	}
	shape = parts[0]->shape;
	n = tt_shape_last(&b->shape, 1);
	k = tt_shape_last(&b->shape, 2);
	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)n;
	*out = tt_golden_out(golden, &shape,
			     tt_call_dtype(&golden->call, "dtype", parts[0]->dtype));
	TT_NEED_MEMORY(*out);
	for (uint64_t i = 0; i < (*out)->count; i++) {
		double sum = bias ? *tt_at(bias, i % n) : 0;
		uint64_t begin = 0;

		for (int part = 0; part < 2; part++) {
			uint64_t width = tt_shape_last(&parts[part]->shape, 1);

			for (uint64_t j = 0; j < width && begin + j < k; j++)
				sum += *tt_at(parts[part], i / n * width + j) *
				       *tt_at(b, (begin + j) * n + i % n);
			begin += (width + TT_TILE - 1) / TT_TILE * TT_TILE;
		}
		*tt_at(*out, i) = sum;
	}
	return TTNN_OK;
}

/* Pairs of tiles, a gate and what goes through it: silu(gate) × value, half as wide. */
static tt_status swiglu(struct tt_golden *golden)
{
	struct tt_array whole = golden->out[0];
	struct ttnn_shape shape = whole.shape;
	uint64_t width = tt_shape_last(&shape, 1) / 2;
	struct tt_array *out;

	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)width;
	golden->out_count = 0;
	out = tt_golden_out(golden, &shape, whole.dtype);
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; width && i < out->count; i++) {
		uint64_t column = i % width, at = column / TT_TILE * 2 * TT_TILE + column % TT_TILE;
		double gate = *tt_at(&whole, i / width * 2 * width + at);

		*tt_at(out, i) = gate / (1 + exp(-gate)) *
				 *tt_at(&whole, i / width * 2 * width + at + TT_TILE);
	}
	return TTNN_OK;
}

tt_status tt_golden_minimal_matmul(struct tt_golden *golden)
{
	static const struct names names = {"input_tensor", "weight_tensor", "bias_tensor", "", ""};
	struct tt_array *out;

	if (tt_call_arg(&golden->call, "input_tensor")->kind == TTNN_VALUE_LIST)
		TT_TRY(joined(&out, golden));
	else
		TT_TRY(biased(&out, golden, &names));
	if (tt_call_bool(&golden->call, "fuse_swiglu", false))
		return swiglu(golden);
	return tt_golden_activate(out, golden, tt_call_arg(&golden->call, "fused_activation"));
}

/* Columns of the product, one chunk after the other. */
tt_status tt_golden_minimal_matmul_split(struct tt_golden *golden)
{
	uint64_t chunks = (uint64_t)tt_call_int(&golden->call, "chunks", 3), width;
	struct tt_array whole;

	TT_TRY(tt_golden_minimal_matmul(golden));
	whole = golden->out[0];
	golden->out_count = 0;
	width = whole.shape.dim[tt_from_end(&whole.shape, 1)];
	tt_divisor(chunks);
	for (uint64_t chunk = 0; chunk < chunks; chunk++) {
		struct ttnn_shape shape = whole.shape;
		struct tt_array *out;

		shape.dim[tt_from_end(&shape, 1)] = (uint32_t)(width / chunks);
		out = tt_golden_out(golden, &shape, whole.dtype);
		TT_NEED_MEMORY(out);
		for (uint64_t i = 0; i < out->count; i++)
			*tt_at(out, i) = *tt_at(&whole, i / (width / chunks) * width +
								chunk * (width / chunks) +
								i % (width / chunks));
	}
	return TTNN_OK;
}

/* added + scalar × (a · b + bias) × gate, the last of these broadcast. */
tt_status tt_golden_gated_matmul(struct tt_golden *golden)
{
	static const struct names names = {"matmul_input_tensor", "matmul_weight_tensor",
					   "bias_tensor", "", ""};
	const struct tt_array *added = tt_golden_in(golden, "addcmul_input_tensor1");
	const struct tt_array *gate = tt_golden_in(golden, "addcmul_input_tensor2");
	double scalar = tt_call_real(&golden->call, "scalar", 1);
	uint64_t coordinate[TTNN_MAX_RANK];
	struct tt_array *out;

	TT_TRY(biased(&out, golden, &names));
	if (!added || !gate)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < out->count; i++) {
		tt_array_coordinate(coordinate, out, i);
		*tt_at(out, i) =
			tt_array_broadcast(added, &out->shape, coordinate) +
			scalar * *tt_at(out, i) * tt_array_broadcast(gate, &out->shape, coordinate);
	}
	return TTNN_OK;
}

tt_status tt_golden_moreh_matmul(struct tt_golden *golden)
{
	static const struct names names = {"input", "other", "bias", "transpose_input",
					   "transpose_other"};
	struct tt_array *out;

	return biased(&out, golden, &names);
}

/* One number for two vectors. The result has a tile of them upstream; the others are padding. */
tt_status tt_golden_moreh_dot(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in(golden, "input_tensor_a");
	const struct tt_array *b = tt_golden_in(golden, "input_tensor_b");
	struct ttnn_shape shape;
	struct tt_array *out;

	if (!a || !b)
		return tt_fail(TTNN_INVALID, "an operand is missing");
	shape = a->shape;
	TT_NEED(shape.rank, "vectors have a dimension");
	shape.dim[tt_from_end(&shape, 1)] = 1;
	out = tt_golden_out(golden, &shape, a->dtype);
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < a->count; i++)
		*tt_at(out, 0) += *tt_at(a, i) * *tt_at(b, i);
	return TTNN_OK;
}

/* Which matrices make which of the result. */
struct pair {
	uint64_t a, b, out;
};

/* A matrix of the result: rows of a, columns of b, plus the first row of a bias's matrix. */
static void multiply_pair(struct tt_array *out, const struct side *a, const struct side *b,
			  const struct side *bias, const struct pair *pair)
{
	uint64_t depth = a->cols < b->rows ? a->cols : b->rows;

	for (uint64_t r = 0; r < a->rows; r++)
		for (uint64_t c = 0; c < b->cols; c++) {
			double sum = bias && c < bias->cols ? at(bias, pair->b, 0, c) : 0;

			for (uint64_t k = 0; k < depth; k++)
				sum += at(a, pair->a, r, k) * at(b, pair->b, k, c);
			*tt_at(out, (pair->out * a->rows + r) * b->cols + c) = sum;
		}
}

/* Depths may differ within the last tile: what is behind them counts as zeros. */
static tt_status check_sparse(const struct tt_golden *golden, const struct side *a,
			      const struct side *b, const struct tt_array *ids)
{
	uint32_t rank_a = a->array->shape.rank, rank_b = b->array->shape.rank;

	if (rank_a < 2 || rank_b < 2 || (ids && rank_b < 3))
		return tt_fail(TTNN_INVALID, "%s: operands have %u and %u dimensions, too few",
			       golden->op->name, rank_a, rank_b);
	if (tt_div_up(a->cols, TT_TILE) != tt_div_up(b->rows, TT_TILE))
		return tt_fail(TTNN_INVALID, "%s: a row of a has %llu values, a column of b %llu",
			       golden->op->name, (unsigned long long)a->cols,
			       (unsigned long long)b->rows);
	if (b->batch == 0 || (ids && ids->count == 0))
		return tt_fail(TTNN_INVALID, "%s: there is no matrix of b to multiply by",
			       golden->op->name);
	for (uint64_t i = 0; ids && i < ids->count; i++)
		if (!(*tt_at(ids, i) >= 0 && *tt_at(ids, i) < (double)b->batch))
			return tt_fail(TTNN_INVALID, "%s: index %g is none of the %llu matrices",
				       golden->op->name, *tt_at(ids, i),
				       (unsigned long long)b->batch);
	return TTNN_OK;
}

/* Outer extents of a unless it goes with b; those of b unless it goes with a. */
static tt_status sparse_shape(struct ttnn_shape *out, const struct side *a, const struct side *b,
			      bool with_b, bool with_a)
{
	uint32_t outer_a = with_b ? 0 : a->array->shape.rank - 2;
	uint32_t outer_b = with_a ? 0 : b->array->shape.rank - 2;

	if (outer_a + outer_b + 2 > TTNN_MAX_RANK)
		return tt_fail(TTNN_INVALID, "a result of %u dimensions, at most %d are possible",
			       outer_a + outer_b + 2, TTNN_MAX_RANK);
	out->rank = 0;
	for (uint32_t i = 0; i < outer_a; i++)
		out->dim[out->rank++] = a->array->shape.dim[i];
	for (uint32_t i = 0; i < outer_b; i++)
		out->dim[out->rank++] = b->array->shape.dim[i];
	out->dim[out->rank++] = (uint32_t)a->rows;
	out->dim[out->rank++] = (uint32_t)b->cols;
	return TTNN_OK;
}

/* Product i of the result is that of the i-th pair, if it is marked; of an index: of the pairs it names. */
static struct pair sparse_pair(const struct side *b, const struct tt_array *ids, bool a_sparse,
			       uint64_t i)
{
	uint64_t each = ids ? ids->count : b->batch;

	if (each == 0) /* refused before */
		return (struct pair){i, i, i};
	return (struct pair){a_sparse ? i : i / each,
			     ids ? (uint64_t)*tt_at(ids, i % each) : i % each, i};
}

/*
 * Only pairs that are marked, or named by ids, are multiplied; the others' places stay zeros. A
 * given output of another shape has the results one behind the other instead.
 */
tt_status tt_golden_sparse_matmul(struct tt_golden *golden)
{
	struct tt_tensor *given = tt_call_tensor(&golden->call, "optional_output_tensor");
	const struct tt_array *marks = tt_golden_in(golden, "sparsity");
	const struct tt_array *bias = tt_golden_in(golden, "bias");
	const struct tt_array *ids = tt_golden_in(golden, "indices");
	bool a_sparse = tt_call_bool(&golden->call, "is_input_a_sparse", false);
	bool b_sparse = tt_call_bool(&golden->call, "is_input_b_sparse", true), packed;
	struct ttnn_shape shape;
	struct tt_array *out;
	struct side a, b, added = {0};
	uint64_t area, done = 0;

	TT_TRY(operand(&a, golden, "input_tensor_a", true, ""));
	TT_TRY(operand(&b, golden, "input_tensor_b", false, ""));
	TT_TRY(check_sparse(golden, &a, &b, ids));
	if (bias)
		TT_TRY(operand(&added, golden, "bias", true, ""));
	TT_TRY(sparse_shape(&shape, &a, &b, a_sparse && b_sparse, a_sparse && !b_sparse));
	if (ids && shape.rank > 2)
		shape.dim[shape.rank - 3] = (uint32_t)ids->count;
	packed = given && !ttnn_shape_equal(&shape, &given->spec.shape);
	out = tt_golden_out(golden, given ? &given->spec.shape : &shape,
			    result_dtype(golden, a.array));
	if (!out || !marks)
		return tt_fail_nomem();
	area = a.rows * b.cols;
	for (uint64_t i = 0; area && i < (ids ? out->count / area : marks->count); i++) {
		struct pair pair;

		if (!ids && *tt_at(marks, i) == 0)
			continue;
		pair = sparse_pair(&b, ids, a_sparse, i);
		if (packed)
			pair.out = done;
		multiply_pair(out, &a, &b, bias ? &added : NULL, &pair);
		done++;
	}
	return TTNN_OK;
}
