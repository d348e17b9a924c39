/*
 * unary_composite.c: operations on one operand that upstream builds from others: clamp, gated linear
 * units, triangles, multigammaln.
 */
#include <math.h>

#include "base/mem.h"
#include "golden/golden.h"
#include "ops/eltwise/binary_ops.h"
#include "ops/eltwise/eltwise.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "ops/recipe.h"

/* ---- clamp --------------------------------------------------------------------------------------- */

/* clip takes no output, clamp does. */
static tt_status clamp_tensors(struct tt_call *call)
{
	bool low = tt_call_tensor(call, "min"), high = tt_call_tensor(call, "max");
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	const struct tt_recipe_name output = {"out", given ? ttnn_v_tensor(given) : ttnn_v_none()};
	const char *text = "m = minimum(min, max); "
			   "return maximum(minimum(input_tensor, max), m, output_tensor=out)";

	if (!high)
		text = "return where(ge(input_tensor, min), input_tensor, min, output_tensor=out)";
	else if (!low)
		text = "return where(le(input_tensor, max), input_tensor, max, output_tensor=out)";
	return tt_recipe_compose(call, text, &output, 1);
}

/* Missing bounds are infinite, or the ends of int32. */
static tt_status expand_clamp(struct tt_call *call)
{
	const struct ttnn_value *min = tt_call_arg(call, "min"), *max = tt_call_arg(call, "max");
	struct tt_tensor *input = tt_call_tensor(call, "input_tensor"), *out;
	bool real = min->kind == TTNN_VALUE_REAL || max->kind == TTNN_VALUE_REAL;
	double limit = input->spec.dtype == TTNN_INT32 ? 2147483647.0 : (double)INFINITY;
	struct tt_unary_step step = {.fn = TT_UNARY_CLAMP_TSS, .count = 2};
	struct tt_unary_args args = {.output = tt_call_tensor(call, "output_tensor"),
				     .steps = &step,
				     .step_count = 1,
				     .memory = tt_call_memory(call, "memory_config")};

	TT_REQUIRE(tt_value_given(min) || tt_value_given(max),
		   "(max.has_value() || min.has_value())",
		   "Only one of 'min' or 'max' can be None. Please provide one value");
	if (min->kind == TTNN_VALUE_TENSOR || max->kind == TTNN_VALUE_TENSOR)
		return clamp_tensors(call);
	step.params[0] = tt_call_real(call, "min", isinf(limit) ? -limit : -limit - 1);
	step.params[1] = tt_call_real(call, "max", limit);
	if (input->spec.dtype == TTNN_INT32 && real)
		TT_TRY(tt_binary_cast(&input, call, TTNN_FLOAT32));
	args.input = input;
	return tt_call_give(call, tt_unary_launch(&out, call, &args), &out);
}

/* int32 between real bounds is float32. */
static tt_status golden_clamp(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor"), *bounds[2] = {NULL, NULL};
	static const char *const names[] = {"min", "max"};
	double numbers[2] = {-INFINITY, INFINITY};
	bool real = false;
	struct tt_array *out;

	for (int i = 0; i < 2; i++) {
		const struct ttnn_value *value = tt_call_arg(&golden->call, names[i]);

		if (value->kind == TTNN_VALUE_TENSOR)
			bounds[i] = tt_golden_in(golden, names[i]);
		tt_value_number(&numbers[i], value);
		real |= value->kind == TTNN_VALUE_REAL;
	}
	out = in ? tt_golden_out(golden, &in->shape,
				 in->dtype == TTNN_INT32 && real ? TTNN_FLOAT32 : in->dtype)
		 : NULL;
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		double low = bounds[0] ? *tt_at(bounds[0], i) : numbers[0];
		double high = bounds[1] ? *tt_at(bounds[1], i) : numbers[1];

		*tt_at(out, i) = *tt_at(in, i) < low ? low : *tt_at(in, i);
		*tt_at(out, i) = *tt_at(out, i) > high ? high : *tt_at(out, i);
	}
	return TTNN_OK;
}

/* ---- gated linear units ------------------------------------------------------------------------------ */

/* One half of the last dimension times a function of the other. */
struct gate {
	const char *text;
	struct tt_unary_step step;
};

#define HALVES                                                                                     \
	"a = slice(input_tensor, zero, middle, step); b = slice(input_tensor, half, end, step); "
#define AND_DROP "; drop a; drop b; return y"

/* Both halves of the last of four dimensions, with their padding: upstream takes no other. */
static tt_status expand_glu(struct tt_call *call)
{
	const struct gate *gate = call->entry->op->row;
	const struct ttnn_shape *shape = &tt_call_tensor(call, "input_tensor")->spec.padded;
	int64_t dim = tt_call_int(call, "dim", -1);
	struct ttnn_value lists[5][4], values[5];
	static const char *const names[] = {"zero", "middle", "half", "end", "step"};
	struct tt_recipe_name bound[6];

	TT_REQUIRE(dim == -1 || dim == 3, "dim == 3",
		   "glu-family ops only support the last dimension, got dim=%lld", (long long)dim);
	TT_NEED(shape->rank >= 4, "ShapeBase[] index out of range. 3 not in [-4, %u)",
		shape->rank < 2 ? 2 : shape->rank);
	TT_REQUIRE(shape->dim[3] / 2 % TT_TILE == 0,
		   "((inshape[3] / 2) % tt::constants::TILE_WIDTH == 0)",
		   "Split tensor dimension should be in full tile");
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t half = i == 3 ? shape->dim[3] / 2 : 0;

		lists[0][i] = ttnn_v_int(0);
		lists[1][i] = ttnn_v_int(i == 3 ? half : shape->dim[i]);
		lists[2][i] = ttnn_v_int(half);
		lists[3][i] = ttnn_v_int(shape->dim[i]);
		lists[4][i] = ttnn_v_int(1);
	}
	for (size_t i = 0; i < 5; i++) {
		values[i] = ttnn_v_list(lists[i], 4);
		bound[i] = (struct tt_recipe_name){names[i], values[i]};
	}
	return tt_recipe_compose(call, gate->text, bound, 5);
}

/* An element of a tensor whose padding is zeros. */
static double padded_at(const struct tt_array *in, const struct ttnn_shape *padded, uint64_t index)
{
	uint64_t at[TTNN_MAX_RANK] = {0};

	for (uint32_t d = padded->rank; d-- > 0; index /= padded->dim[d]) {
		at[d] = index % padded->dim[d];
		if (at[d] >= in->shape.dim[d])
			return 0;
	}
	return *tt_at(in, tt_array_index(in, at));
}

/* The first half times a function of the second, where tiles have their padding. */
static tt_status golden_glu(struct tt_golden *golden)
{
	const struct gate *gate = golden->op->row;
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape shape, padded;
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	padded = shape = tt_golden_tensor(golden, "input_tensor")->spec.padded;
	TT_GOLDEN_NEED(shape.rank == in->shape.rank);
	TT_NEED(shape.rank && shape.dim[shape.rank - 1] % 2 == 0,
		"%s: the last dimension has no two halves", golden->op->name);
	shape.dim[shape.rank - 1] /= 2;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t width = shape.dim[shape.rank - 1], row = i / width, column = i % width;
		uint64_t first = row * 2 * width + column;

		*tt_at(out, i) =
			padded_at(in, &padded, first) *
			tt_golden_unary(&gate->step, padded_at(in, &padded, first + width));
	}
	return TTNN_OK;
}

/* ---- triangles ------------------------------------------------------------------------------------------ */

static bool keeps(bool upper, uint64_t index, const struct ttnn_shape *shape, int64_t diagonal)
{
	int64_t column = (int64_t)(index % tt_shape_last(shape, 1));
	int64_t row = (int64_t)(index / tt_shape_last(shape, 1) % tt_shape_last(shape, 2));

	return upper ? column - row >= diagonal : column - row <= diagonal;
}

/* Ones and zeros on the host, in rows padded as the input is. */
static tt_status make_mask(struct tt_tensor **out, const struct tt_tensor *like, bool upper,
			   int64_t diagonal)
{
	const struct ttnn_tensor_spec *spec = &like->spec;
	bool wide = spec->dtype == TTNN_INT32 || spec->dtype == TTNN_UINT32;
	struct ttnn_spec_args args = {.shape = spec->shape,
				      .dtype = wide ? spec->dtype : TTNN_BFLOAT16,
				      .layout = TTNN_ROW_MAJOR};
	struct ttnn_tensor_spec rows;
	tt_status status;
	uint64_t count;
	float *data;

	if (!ttnn_shape_equal(&spec->shape, &spec->padded) && spec->padded.rank >= 2) {
		args.alignment.rank = 2;
		args.alignment.dim[0] = tt_shape_last(&spec->padded, 2);
		args.alignment.dim[1] = tt_shape_last(&spec->padded, 1);
	}
	TT_TRY(ttnn_tensor_spec_make(&rows, &args));
	TT_TRY(ttnn_shape_volume(&count, &spec->shape));
	data = tt_calloc(count + 1, sizeof(*data));
	TT_NEED_MEMORY(data);
	for (uint64_t i = 0; i < count; i++)
		data[i] = keeps(upper, i, &spec->shape, diagonal);
	status = ttnn_tensor_from_data(out, data, TTNN_FLOAT32, &rows, 0);
	tt_free(data);
	return status;
}

/* The mask is laid out on the host; what is not whole tiles is refused there. */
static tt_status tile_mask(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *mask)
{
	const struct ttnn_value args[] = {ttnn_v_tensor(mask), ttnn_v_layout(TTNN_TILE)};
	const struct ttnn_tensor_spec *spec = &mask->spec;
	uint64_t high = spec->padded.rank > 1 ? tt_shape_last(&spec->padded, 2) : 1;
	uint64_t cols = tt_align_to(spec->cols, TT_TILE);
	uint64_t rows = high ? spec->rows / high * tt_align_to(high, TT_TILE) : 0;
	tt_status status;

	tt_host_begin(call, "Tensor::to_layout", args, 2);
	if (rows != spec->rows || cols != spec->cols)
		status = tt_fail_cond(
			TTNN_INVALID,
			"output_spec.physical_shape() == tensor.tensor_spec().physical_shape()",
			"to_layout: Converting layout to Layout::TILE implicitly changed physical "
			"shape from (%llu, %llu) to (%llu, %llu) due to alignment constraints. "
			"This is currently unsupported. Please pad the tensor explicitly before "
			"conversion.",
			(unsigned long long)spec->rows, (unsigned long long)spec->cols,
			(unsigned long long)rows, (unsigned long long)cols);
	else
		status = ttnn_tensor_to_layout(out, mask, TTNN_TILE, 0);
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

/* A mask of ones made on the host, moved and multiplied. */
static tt_status expand_triangle(struct tt_call *call)
{
	const bool *upper = call->entry->op->row;
	struct tt_tensor *input = tt_call_tensor(call, "input_tensor"), *mask, *tiles, *placed;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");

	TT_TRY(make_mask(&mask, input, *upper, tt_call_int(call, "diagonal", 0)));
	tt_call_own(call, mask);
	TT_TRY(tile_mask(&tiles, call, mask));
	tt_call_own(call, tiles);
	placed = tiles;
	if (tt_tensor_device(input)) {
		TT_TRY(tt_host_to_device(&placed, call, tiles, call->device,
					 memory ? memory : &input->spec.memory));
		tt_call_own(call, placed);
	}
	return tt_recipe_compose(call, "return multiply(input_tensor, mask)",
				 &(struct tt_recipe_name){"mask", ttnn_v_tensor(placed)}, 1);
}

/* What is on the right side of the diagonal stays. */
static tt_status golden_triangle(struct tt_golden *golden)
{
	const bool *upper = golden->op->row;
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	int64_t diagonal = tt_call_int(&golden->call, "diagonal", 0);

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = keeps(*upper, i, &in->shape, diagonal) ? *tt_at(in, i) : 0;
	return TTNN_OK;
}

/* ---- multigammaln ------------------------------------------------------------------------------------------ */

/* Four lgammas: order 4 is the only one. */
static tt_status expand_multigammaln(struct tt_call *call)
{
	return tt_recipe_compose(call,
				 "r = lgamma(input_tensor); "
				 "r = add(r, lgamma(subtract(input_tensor, 0.5))); "
				 "r = add(r, lgamma(subtract(input_tensor, 1.0))); "
				 "r = add(r, lgamma(subtract(input_tensor, 1.5))); "
				 "r = add(r, 3.434189657547); return r",
				 NULL, 0);
}

/* By its definition. */
static tt_status golden_multigammaln(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		*tt_at(out, i) = 3 * log(acos(-1.0));
		for (int k = 0; k < 4; k++)
			*tt_at(out, i) += lgamma(*tt_at(in, i) - k * 0.5);
	}
	return TTNN_OK;
}

/* ---- the rows ------------------------------------------------------------------------------------------------ */

#define MC "memory_config: MemoryConfig? = None"
#define BOUNDS(type) "input_tensor: Tensor, min: " type "? = None, max: " type "? = None, *, "
#define OP(name_, doc_, expand_, golden_, row_, ...)                                               \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {__VA_ARGS__}, .expand = expand_,      \
		.golden = golden_, .row = row_                                                     \
	}
#define GATED(name_, doc_, function, fn_, more)                                                    \
	OP(name_, doc_, expand_glu, golden_glu,                                                    \
	   (&(const struct gate){HALVES "y = multiply(a, " function ")" AND_DROP,                  \
				 {.fn = TT_UNARY_##fn_}}),                                         \
	   "input_tensor: Tensor, dim: int = -1, *, " MC more)

static const bool lower_part = false, upper_part = true;

/* clang-format off */
static const struct tt_op ops[] = {
	OP("clamp", "x held between min and max.", expand_clamp, golden_clamp, NULL,
	   BOUNDS("Tensor") MC ", output_tensor: Tensor? = None",
	   BOUNDS("float | int") MC ", output_tensor: Tensor? = None"),
	OP("clip", "x held between min and max.", expand_clamp, golden_clamp, NULL,
	   BOUNDS("Tensor") MC, BOUNDS("float") MC),
	GATED("geglu", "The first half times gelu of the second.", "gelu(b, variant=variant)", GELU,
	      ", variant: GeluVariant = Accurate"),
	GATED("glu", "The first half times sigmoid of the second.", "sigmoid(b)", SIGMOID, ""),
	OP("multigammaln", "The logarithm of the multivariate gamma function of 4 dimensions.",
	   expand_multigammaln, golden_multigammaln, NULL, "input_tensor: Tensor, *, " MC),
	GATED("reglu", "The first half times relu of the second.", "relu(b)", RELU, ""),
	GATED("swiglu", "The first half times silu of the second.", "silu(b)", SILU, ""),
	OP("tril", "The part on and below a diagonal, zeros elsewhere.", expand_triangle,
	   golden_triangle, &lower_part, "input_tensor: Tensor, *, diagonal: int = 0, " MC),
	OP("triu", "The part on and above a diagonal, zeros elsewhere.", expand_triangle,
	   golden_triangle, &upper_part, "input_tensor: Tensor, *, diagonal: int = 0, " MC),
};
/* clang-format on */

const struct tt_op_family tt_family_unary_composite = {"unary", ops, TT_COUNT(ops)};
