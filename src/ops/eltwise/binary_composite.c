/*
 * binary_composite.c: operations on two operands that upstream builds from others, or for which it
 * chooses between programs: divisions, powers, prelu, bias_gelu, polyval, outer.
 */
#include <math.h>

#include "golden/golden.h"
#include "ops/eltwise/binary_ops.h"
#include "ops/eltwise/eltwise.h"
#include "ops/eltwise/pow_int.h"
#include "ops/recipe.h"
#include "ops/usual.h"

/* ---- what they share -------------------------------------------------------------------------------- */

static struct ttnn_value memory_or_none(const struct tt_call *call)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");

	return memory ? ttnn_v_memory(memory) : ttnn_v_none();
}

/* One function of one operand on the call's memory config, output and cores; the result is new. */
static tt_status run_unary(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *input,
			   const struct tt_unary_step *step)
{
	const struct tt_unary_args args = {.input = input,
					   .output = tt_call_tensor(call, "output_tensor"),
					   .steps = step,
					   .step_count = 1,
					   .memory = tt_call_memory(call, "memory_config"),
					   .grid = tt_call_core_set(call, "sub_core_grids")};

	return tt_unary_launch(out, call, &args);
}

/* ---- div -------------------------------------------------------------------------------------------------- */

/* int32 by int32 is float32, or whole if it is rounded. */
static tt_status divide_integers(struct tt_call *call, struct tt_binary_front *front,
				 enum tt_rounding rounding)
{
	struct tt_tensor *out;

	TT_REQUIRE(!front->args.fast, "!fast_and_approximate_mode",
		   "Integer Division does not support fast_and_approximate_mode=true true");
	if (rounding != TT_ROUND_NOT)
		front->args.fn =
			rounding == TT_ROUND_FLOOR ? TT_BINARY_DIV_FLOOR : TT_BINARY_DIV_TRUNC;
	else if (front->args.dtype && *front->args.dtype != TTNN_FLOAT32)
		return tt_fail_cond(
			TTNN_INVALID,
			"(!output_dtype.has_value() || output_dtype == DataType::FLOAT32)",
			"Incorrect output_dtype value for Integer Division(rounding_mode=None) ; "
			"valid input values are None or ttnn.float32");
	return tt_call_give(call, tt_binary_run(&out, call, front), &out);
}

/* The quotient, from the operation of its own; an integer result is made after the rounding. */
static tt_status quotient(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_binary_front *front, bool cast)
{
	const struct tt_binary_args *args = &front->args;
	const struct ttnn_value *given = call->args->values;
	struct ttnn_value a = ttnn_v_tensor(args->a);
	const struct ttnn_arg passed[] = {
		{NULL, args->scalar_first ? given[0] : a},
		{NULL, args->scalar_first ? a : given[1]},
		{"fast_and_approximate_mode",
		 ttnn_v_bool(args->fast && args->a->spec.dtype != TTNN_BFLOAT16)},
		{"dtype", cast ? ttnn_v_none() : *tt_call_arg(call, "dtype")},
		{"memory_config", memory_or_none(call)},
		{"output_tensor", cast ? ttnn_v_none() : *tt_call_arg(call, "output_tensor")},
		{"activations", *tt_call_arg(call, "activations")},
		{"input_tensor_a_activations", *tt_call_arg(call, "input_tensor_a_activations")},
		{"input_tensor_b_activations", *tt_call_arg(call, "input_tensor_b_activations")},
		{"sub_core_grids", *tt_call_arg(call, "sub_core_grids")},
	};

	return tt_call_owned(
		call,
		tt_call_op(out, call, "ttnn.divide", passed, sizeof(passed) / sizeof(passed[0])),
		out);
}

/* A quotient, rounded by a second program; whole results by a typecast behind it. */
static tt_status divide_rounded(struct tt_call *call, struct tt_binary_front *front,
				enum tt_rounding rounding)
{
	struct tt_tensor *output = front->args.output, *out;
	const enum ttnn_dtype *asked = output ? &output->spec.dtype : front->args.dtype;
	bool cast = asked && tt_dtype_is_integer(*asked);
	const struct tt_unary_step step = {.fn = rounding == TT_ROUND_FLOOR ? TT_UNARY_FLOOR
									    : TT_UNARY_TRUNC};
	struct tt_unary_args args = {.output = cast ? NULL : output,
				     .steps = &step,
				     .step_count = 1,
				     .memory = front->args.memory,
				     .grid = front->args.grid};

	TT_REQUIRE(
		!front->args.dtype || !output || *front->args.dtype == output->spec.dtype,
		"!output_dtype.has_value() || !output_tensor.has_value() || *output_dtype == "
		"output_tensor->dtype()",
		"If both output dtype and output tensor are provided, their dtypes should match");
	TT_TRY(quotient(&args.input, call, front, cast));
	TT_TRY(tt_unary_launch(&out, call, &args));
	if (cast) {
		const struct ttnn_arg passed[] = {
			{NULL, ttnn_v_tensor(out)},
			{NULL, ttnn_v_dtype(*asked)},
			{"memory_config", memory_or_none(call)},
			{"output_tensor", *tt_call_arg(call, "output_tensor")},
			{"sub_core_grids", *tt_call_arg(call, "sub_core_grids")}};

		tt_call_own(call, out);
		TT_TRY(tt_call_op(&out, call, "ttnn.typecast", passed, 5));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

/* Whole operands, rounding, or plain. */
static tt_status expand_div(struct tt_call *call)
{
	struct tt_binary_front front = {0};
	enum tt_rounding rounding = TT_ROUND_NOT;
	bool known = tt_rounding_find(&rounding, tt_call_arg(call, "rounding_mode"));
	struct tt_tensor *out;

	TT_TRY(tt_binary_read(&front, call, TT_BINARY_DIV));
	if (front.args.a->spec.dtype == TTNN_INT32 &&
	    (front.args.b ? front.args.b->spec.dtype == TTNN_INT32 : !front.real_scalar))
		return divide_integers(call, &front, known ? rounding : TT_ROUND_NOT);
	TT_REQUIRE(known, "(rounding_mode == \"trunc\" || rounding_mode == \"floor\")",
		   "Incorrect rounding mode (expected None, 'trunc', or 'floor')");
	if (rounding != TT_ROUND_NOT) {
		if (front.args.a->spec.dtype == TTNN_INT32 && !front.args.b)
			TT_TRY(tt_binary_cast(&front.args.a, call, TTNN_FLOAT32));
		return divide_rounded(call, &front, rounding);
	}
	return tt_call_give(call, tt_binary_run(&out, call, &front), &out);
}

/* ---- div_no_nan, floor_div ----------------------------------------------------------------------------------- */

/* 0 wherever the divisor is. */
static tt_status expand_div_no_nan(struct tt_call *call)
{
	double value = tt_call_real(call, "value", 0);
	const struct tt_recipe_name factor = {"factor", ttnn_v_real(1.0f / (float)value)};

	if (tt_call_tensor(call, "input_tensor_b"))
		return tt_recipe_compose(call,
					 "d = divide(input_tensor_a, input_tensor_b); "
					 "return where(eqz(input_tensor_b), 0.0, d)",
					 NULL, 0);
	if (value == 0)
		return tt_recipe_compose(call, "return zeros_like(input_tensor_a)", NULL, 0);
	return tt_recipe_compose(call, "return multiply(input_tensor_a, factor)", &factor, 1);
}

/* By a number it is a product with the reciprocal, as upstream computes it. */
static tt_status expand_floor_div(struct tt_call *call)
{
	double value = tt_call_real(call, "value", 0);
	const struct tt_recipe_name names[] = {{"factor", ttnn_v_real(1.0f / (float)value)},
					       {"inf", ttnn_v_real(INFINITY)},
					       {"nan", ttnn_v_real(NAN)}};

	if (tt_call_tensor(call, "input_tensor_b"))
		return tt_recipe_compose(
			call,
			"t = div(input_tensor_a, input_tensor_b); "
			"r = div(input_tensor_a, input_tensor_b, rounding_mode='floor'); "
			"return where(isinf(t), t, r)",
			NULL, 0);
	if (value == 0)
		return tt_recipe_compose(call,
					 "return where(eqz(input_tensor_a), nan, "
					 "multiply(sign(input_tensor_a), inf))",
					 names, 3);
	return tt_recipe_compose(call, "t = multiply(input_tensor_a, factor); return floor(t)",
				 names, 3);
}

/* ---- pow -------------------------------------------------------------------------------------------------------- */

static bool is_integer_base(enum ttnn_dtype dtype)
{
	return dtype == TTNN_INT32 || dtype == TTNN_UINT32 || dtype == TTNN_UINT16;
}

/* Whole bases have no tensor exponents. */
static tt_status pow_tensors(struct tt_call *call, struct tt_tensor *base)
{
	struct tt_binary_front front = {0};
	struct tt_tensor *out;

	TT_REQUIRE(!is_integer_base(base->spec.dtype), "!is_integer_pow_base(input.dtype())",
		   "Input tensor A dtype DataType::%s is not supported for binary operation "
		   "POWER: tensor exponents are not supported for integer inputs, use a scalar "
		   "integer exponent",
		   tt_dtype_text(base->spec.dtype));
	TT_TRY(tt_binary_read(&front, call, TT_BINARY_POWER));
	front.args.a = base;
	front.args.b = tt_call_tensor(call, "exponent");
	front.args.scalar_first = false;
	return tt_call_give(call, tt_binary_run(&out, call, &front), &out);
}

/* A copy, as upstream makes it for the exponent 1. */
static tt_status pow_copy(struct tt_call *call, struct tt_tensor *base)
{
	struct tt_tensor *output = tt_call_tensor(call, "output_tensor"), *out;
	const struct ttnn_arg into[] = {{NULL, ttnn_v_tensor(base)}, {NULL, ttnn_v_tensor(output)}};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_arg fresh[] = {
		{NULL, ttnn_v_tensor(base)},
		{"memory_config", ttnn_v_memory(memory ? memory : &base->spec.memory)}};

	return tt_call_give(call, tt_call_op(&out, call, "ttnn.assign", output ? into : fresh, 2),
			    &out);
}

/* Exponents 0 and 1 need no power; whole bases have a program of their own. */
static tt_status pow_integer(struct tt_call *call, struct tt_tensor *base, int64_t exponent)
{
	struct tt_unary_step step = {.fn = exponent == 2 || exponent == 3 ? TT_UNARY_POWER_ITERATIVE
									  : TT_UNARY_POWER,
				     .count = 1,
				     .params = {(double)exponent}};
	const struct tt_pow_int_args args = {
		.input = base,
		.output = tt_call_tensor(call, "output_tensor"),
		.exponent = (uint32_t)exponent,
		.memory = tt_call_memory(call, "memory_config"),
	};
	struct tt_tensor *out;

	TT_REQUIRE(!is_integer_base(base->spec.dtype) || exponent >= 0, "exponent >= 0",
		   "pow: integers to negative integer powers are not allowed, got %lld",
		   (long long)exponent);
	if (exponent == 0)
		return tt_recipe_compose(
			call, "return full_like(input_tensor, 1.0, optional_tensor=output_tensor)",
			NULL, 0);
	if (exponent == 1)
		return pow_copy(call, base);
	if (is_integer_base(base->spec.dtype))
		TT_TRY(tt_pow_int_launch(&out, call, &args));
	else
		TT_TRY(run_unary(&out, call, base, &step));
	tt_call_return(call, out);
	return TTNN_OK;
}

/*
 * A number as base becomes a tensor of it. Exponents are float32: whole ones below 2^31 take the
 * integer way.
 */
static tt_status expand_pow(struct tt_call *call)
{
	struct tt_tensor *base = tt_call_tensor(call, "input_tensor"), *out;
	float exponent = (float)tt_call_real(call, "exponent", 0);
	const struct tt_unary_step step = {.fn = TT_UNARY_POWER, .count = 1, .params = {exponent}};

	if (!base) {
		const struct ttnn_arg args[] = {{NULL, *tt_call_arg(call, "exponent")},
						{NULL, *tt_call_arg(call, "input_tensor")}};

		TT_TRY(tt_call_op(&base, call, "ttnn.full_like", args, 2));
		tt_call_own(call, base);
	}
	if (tt_call_tensor(call, "exponent"))
		return pow_tensors(call, base);
	if (fabsf(exponent) < 0x1p31f && floorf(exponent) == exponent)
		return pow_integer(call, base, (int64_t)exponent);
	TT_REQUIRE(!is_integer_base(base->spec.dtype), "!is_integer_pow_base(input_a.dtype())",
		   "pow: DataType::%s input requires an integral exponent, got %.8g",
		   tt_dtype_text(base->spec.dtype), (double)exponent);
	return tt_call_give(call, run_unary(&out, call, base, &step), &out);
}

/* ---- prelu, bias_gelu ---------------------------------------------------------------------------------------------- */

/* A weight for each channel is reshaped to broadcast. */
static tt_status expand_prelu(struct tt_call *call)
{
	struct tt_tensor *input = tt_call_tensor(call, "input_tensor_a"), *out;
	struct tt_tensor *weight = tt_call_tensor(call, "weight");
	const struct ttnn_value *value = tt_call_arg(call, "weight");
	struct tt_unary_step step = {.fn = TT_UNARY_PRELU_SFPU, .count = 1};
	const struct ttnn_shape *shape = &input->spec.shape;
	struct ttnn_shape spread = {.rank = shape->rank};
	const struct tt_recipe_name name = {"shape", ttnn_v_shape(&spread)};
	uint64_t count;

	if (!weight) {
		tt_value_number(&step.params[0], value->kind == TTNN_VALUE_LIST && value->count
							 ? value->items
							 : value);
		return tt_call_give(call, run_unary(&out, call, input, &step), &out);
	}
	TT_NEED(shape->rank >= 2, "ShapeBase[] index out of range. 1 not in [-4, %u)", shape->rank);
	TT_TRY(ttnn_shape_volume(&count, &weight->spec.shape));
	TT_REQUIRE(count == shape->dim[1], "s_a[1] == volume",
		   "Mismatch of parameter numbers and input channel size. Found parameter numbers "
		   "= %llu and channel size = %u.",
		   (unsigned long long)count, shape->dim[1]);
	for (uint32_t i = 0; i < shape->rank; i++)
		spread.dim[i] = i == 1 ? shape->dim[1] : 1;
	return tt_recipe_compose(call,
				 shape->rank > 2
					 ? "b = reshape~(weight, shape); "
					   "return where(ltz(input_tensor_a), "
					   "multiply~(input_tensor_a, b), input_tensor_a)"
					 : "return where(ltz(input_tensor_a), "
					   "multiply~(input_tensor_a, weight), input_tensor_a)",
				 &name, 1);
}

/* Two tensors are one program; a number is add and gelu. */
static tt_status expand_bias_gelu(struct tt_call *call)
{
	struct tt_binary_front front = {0};
	struct tt_tensor *out;

	TT_TRY(tt_binary_read(&front, call, TT_BINARY_BIAS_GELU));
	if (front.args.b) {
		front.args.variant = true;
		return tt_call_give(call, tt_binary_run(&out, call, &front), &out);
	}
	if (front.args.dtype && *front.args.dtype != front.args.a->spec.dtype)
		TT_TRY(tt_binary_cast(&front.args.a, call, *front.args.dtype));
	return tt_recipe_compose(call,
				 "return gelu(add(x, input_tensor_b, output_tensor=output_tensor, "
				 "sub_core_grids=sub_core_grids), "
				 "fast_and_approximate_mode=fast_and_approximate_mode, "
				 "output_tensor=output_tensor, sub_core_grids=sub_core_grids)",
				 &(struct tt_recipe_name){"x", ttnn_v_tensor(front.args.a)}, 1);
}

/* ---- polyval, outer --------------------------------------------------------------------------------------------------- */

/* One step of Horner's rule; what was there before goes, as an assignment over it does. */
static tt_status horner(struct tt_tensor **result, struct tt_call *call, const char *op,
			const struct ttnn_value *left, const struct ttnn_value *right)
{
	const struct ttnn_arg args[] = {
		{NULL, *left}, {NULL, *right}, {"memory_config", memory_or_none(call)}};
	struct tt_tensor *next;

	TT_TRY(tt_call_op(&next, call, op, args, 3));
	if (*result)
		tt_call_overwrite(call, *result);
	*result = tt_call_own(call, next);
	return TTNN_OK;
}

/* Horner's rule, two operations a coefficient. */
static tt_status expand_polyval(struct tt_call *call)
{
	const struct ttnn_value *x = tt_call_arg(call, "input_tensor_a");
	const struct ttnn_value *list = tt_call_arg(call, "coeffs");
	struct tt_tensor *result = NULL, *out;
	const struct ttnn_arg filled[] = {{NULL, *x}, {NULL, list->count ? list->items[0] : *list}};

	TT_REQUIRE(list->count != 0, "!coeffs.empty()",
		   "polyval requires at least one coefficient");
	if (list->count == 1) {
		return tt_call_give(call, tt_call_op(&out, call, "ttnn.full_like", filled, 2),
				    &out);
	}
	TT_TRY(horner(&result, call, "ttnn.multiply", x, &list->items[0]));
	for (uint32_t i = 1; i + 1 < list->count; i++) {
		struct ttnn_value sum = ttnn_v_tensor(result);

		TT_TRY(horner(&result, call, "ttnn.add", &sum, &list->items[i]));
		sum = ttnn_v_tensor(result);
		TT_TRY(horner(&result, call, "ttnn.multiply", x, &sum));
	}
	return tt_recipe_compose(call, "return add(sum, last)",
				 (struct tt_recipe_name[]){{"sum", ttnn_v_tensor(result)},
							   {"last", list->items[list->count - 1]}},
				 2);
}

static bool outer_takes(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B || dtype == TTNN_FLOAT32 ||
	       dtype == TTNN_INT32 || dtype == TTNN_UINT32;
}

static uint64_t batch_of(const struct ttnn_shape *shape)
{
	uint64_t count = 1;

	for (uint32_t i = 0; i + 1 < shape->rank; i++)
		count *= shape->dim[i];
	return count;
}

/* Shards that are not whole rows are gathered first. */
static tt_status gathered(struct tt_tensor **tensor, struct tt_call *call)
{
	enum ttnn_memory_layout layout = (*tensor)->spec.memory.layout;
	const struct ttnn_memory_config plain = {.buffer = (*tensor)->spec.memory.buffer};
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*tensor)},
					{NULL, ttnn_v_memory(&plain)}};

	if (layout == TTNN_INTERLEAVED || layout == TTNN_HEIGHT_SHARDED)
		return TTNN_OK;
	return tt_call_owned(call, tt_call_op(tensor, call, "ttnn.to_memory_config", args, 2),
			     tensor);
}

/* Whole numbers and float32 are multiplied by broadcasting, others by matmul. */
static tt_status expand_outer(struct tt_call *call)
{
	struct tt_tensor *a = tt_call_tensor(call, "input_tensor_a");
	struct tt_tensor *b = tt_call_tensor(call, "input_tensor_b");
	enum ttnn_dtype dtype = a->spec.dtype;
	bool product = dtype == TTNN_FLOAT32 || tt_dtype_is_integer(dtype) ||
		       batch_of(&a->spec.shape) != 1 || batch_of(&b->spec.shape) != 1;
	struct tt_recipe_name names[] = {
		{"a", {0}}, {"b", {0}}, {"tile", ttnn_v_layout(TTNN_TILE)}};

	TT_REQUIRE(outer_takes(dtype) && outer_takes(b->spec.dtype),
		   "is_supported(input_a.dtype()) && is_supported(input_b.dtype())",
		   "ttnn.outer: unsupported dtype (got DataType::%s and DataType::%s); supported "
		   "dtypes are BFLOAT16, BFLOAT8_B, FLOAT32, INT32, UINT32",
		   tt_dtype_text(dtype), tt_dtype_text(b->spec.dtype));
	TT_REQUIRE(dtype == b->spec.dtype, "input_a.dtype() == input_b.dtype()",
		   "ttnn.outer: inputs must have the same dtype, but got DataType::%s and "
		   "DataType::%s",
		   tt_dtype_text(dtype), tt_dtype_text(b->spec.dtype));
	if (!a->spec.shape.rank || !b->spec.shape.rank)
		return tt_fail_shapes(
			TTNN_INVALID,
			"input_a.logical_shape().rank() >= 1 && input_b.logical_shape().rank() >= 1",
			"ttnn.outer: inputs must be at least 1D, but got shapes %s and %s",
			&a->spec.shape, &b->spec.shape);
	TT_TRY(gathered(&a, call));
	TT_TRY(gathered(&b, call));
	names[0].value = ttnn_v_tensor(a);
	names[1].value = ttnn_v_tensor(b);
	if (product)
		return tt_recipe_compose(call,
					 "x = unsqueeze~(a, -1); y = unsqueeze~(b, -2); "
					 "return multiply(x, y)",
					 names, 3);
	return tt_recipe_compose(
		call,
		a->spec.layout == TTNN_TILE && b->spec.layout == TTNN_TILE
			? "x = unsqueeze~(a, -1); y = unsqueeze~(b, -2); "
			  "return matmul(x, y)"
			: "x = unsqueeze~(a, -1); y = unsqueeze~(b, -2); "
			  "return matmul(to_layout~(x, tile), to_layout~(y, tile))",
		names, 3);
}

/* ---- golden ------------------------------------------------------------------------------------------------------------- */

struct row {
	double (*value)(const struct tt_call *call, double a, double b);
	enum tt_binary_fn fn; /* for the type of the result */
};

static double value_div(const struct tt_call *call, double a, double b)
{
	enum tt_rounding rounding = TT_ROUND_NOT;

	tt_rounding_find(&rounding, tt_call_arg(call, "rounding_mode"));
	return rounding == TT_ROUND_TRUNC   ? trunc(a / b)
	       : rounding == TT_ROUND_FLOOR ? floor(a / b)
					    : a / b;
}

static double value_div_no_nan(const struct tt_call *call, double a, double b)
{
	(void)call;
	return b == 0 ? 0 : a / b;
}

static double value_floor_div(const struct tt_call *call, double a, double b)
{
	(void)call;
	return floor(a / b);
}

static double value_bias_gelu(const struct tt_call *call, double a, double b)
{
	(void)call;
	return 0.5 * (a + b) * (1 + erf((a + b) / sqrt(2)));
}

static double value_pow(const struct tt_call *call, double a, double b)
{
	(void)call;
	return a == 0 && b < 0 ? NAN : pow(a, b); /* as the chip */
}

/* What the operation gives, by upstream's rules. */
static enum ttnn_dtype result_dtype(const struct tt_call *call, enum tt_binary_fn fn)
{
	const struct ttnn_value *values = call->args->values;
	enum tt_rounding rounding = TT_ROUND_NOT;
	bool real = values[0].kind == TTNN_VALUE_REAL || values[1].kind == TTNN_VALUE_REAL;
	bool whole = !real;

	for (int i = 0; i < 2; i++)
		if (values[i].kind == TTNN_VALUE_TENSOR)
			whole &= values[i].tensor->spec.dtype == TTNN_INT32;
	tt_rounding_find(&rounding, tt_call_arg(call, "rounding_mode"));
	if (fn == TT_BINARY_DIV && whole && rounding != TT_ROUND_NOT &&
	    !tt_call_tensor(call, "output_tensor"))
		return tt_call_dtype(call, "dtype", TTNN_INT32);
	return tt_binary_result_dtype(call, fn);
}

/* Element by element, broadcast. */
static tt_status binary_composite_golden(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	uint64_t at[TTNN_MAX_RANK];
	struct tt_golden_pair pair;
	struct tt_array *out;

	TT_TRY(tt_binary_golden_pair(&pair, golden));
	out = tt_golden_out(golden, &pair.shape, result_dtype(&golden->call, row->fn));
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		double a, b;

		tt_array_coordinate(at, out, i);
		a = pair.a ? tt_array_broadcast(pair.a, &pair.shape, at) : pair.number;
		b = pair.b ? tt_array_broadcast(pair.b, &pair.shape, at) : pair.number;
		*tt_at(out, i) = tt_golden_fit(out->dtype, row->value(&golden->call, a, b));
	}
	return TTNN_OK;
}

/* The slope of the channel below 0. */
static tt_status golden_prelu(struct tt_golden *golden)
{
	const struct ttnn_value *value = tt_call_arg(&golden->call, "weight");
	const struct tt_array *in = tt_golden_in(golden, "input_tensor_a"), *weight = NULL;
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	uint64_t at[TTNN_MAX_RANK];
	double slope = 0;

	if (value->kind == TTNN_VALUE_TENSOR)
		weight = tt_golden_in(golden, "weight");
	else
		tt_value_number(&slope, value->kind == TTNN_VALUE_LIST && value->count
						? value->items
						: value);
	TT_GOLDEN_NEED(out && (value->kind != TTNN_VALUE_TENSOR || weight));
	for (uint64_t i = 0; i < in->count; i++) {
		tt_array_coordinate(at, in, i);
		if (weight)
			slope = *tt_at(weight, in->shape.rank > 1 ? at[1] % weight->count : 0);
		*tt_at(out, i) = tt_golden_fit(in->dtype, *tt_at(in, i) < 0 ? *tt_at(in, i) * slope
									    : *tt_at(in, i));
	}
	return TTNN_OK;
}

/* The sum of powers. */
static tt_status golden_polyval(struct tt_golden *golden)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, "coeffs");
	const struct tt_array *in = tt_golden_in(golden, "input_tensor_a");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		for (uint32_t k = 0; k < list->count; k++) {
			double factor = 0;

			tt_value_number(&factor, &list->items[k]);
			*tt_at(out, i) += factor * pow(*tt_at(in, i), list->count - 1 - k);
		}
	return TTNN_OK;
}

/* Each of a times each of b. */
static tt_status golden_outer(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in(golden, "input_tensor_a");
	const struct tt_array *b = tt_golden_in(golden, "input_tensor_b");
	struct tt_array *out, left, right;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(a && b);
	TT_NEED(a->shape.rank && b->shape.rank && a->shape.rank < TTNN_MAX_RANK &&
			b->shape.rank < TTNN_MAX_RANK,
		"golden: an outer product is one of vectors");
	left = *a;
	right = *b;
	left.shape.dim[left.shape.rank++] = 1;
	right.shape.dim[right.shape.rank] = right.shape.dim[right.shape.rank - 1];
	right.shape.dim[right.shape.rank++ - 1] = 1;
	TT_NEED(tt_broadcast_shape(&shape, &left.shape, &right.shape),
		"golden: the shapes do not go together");
	out = tt_golden_out(golden, &shape, a->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t at[TTNN_MAX_RANK];

		tt_array_coordinate(at, out, i);
		*tt_at(out, i) = tt_golden_fit(a->dtype,
					       tt_array_broadcast(&left, &out->shape, at) *
						       tt_array_broadcast(&right, &out->shape, at));
	}
	return TTNN_OK;
}

/* ---- the rows -------------------------------------------------------------------------------------------------------------- */

#define MC "memory_config: MemoryConfig? = None"
#define OUT MC ", output_tensor: Tensor? = None"
#define SUB "sub_core_grids: CoreRangeSet? = None, sub_device_id: SubDeviceId? = None"
#define ACTIVATIONS                                                                                \
	"activations: Unarys = [], input_tensor_a_activations: Unarys = [], "                      \
	"input_tensor_b_activations: Unarys = []"
#define TYPED "dtype: DataType? = None, " OUT ", " ACTIVATIONS
#define FAST "*, fast_and_approximate_mode: bool = False, "
#define DIV FAST "rounding_mode: str? = None, " TYPED ", " SUB
#define TENSORS "input_tensor_a: Tensor, input_tensor_b: Tensor, "
#define OP(name_, doc_, expand_, golden_, row_, ...)                                               \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {__VA_ARGS__}, .expand = expand_,      \
		.golden = golden_, .row = row_                                                     \
	}
#define ROW(value_, fn_) (&(const struct row){.value = value_, .fn = TT_BINARY_##fn_})
#define DIVISIONS                                                                                  \
	TENSORS DIV, "input_tensor_a: Tensor, value: int | float, " DIV,                           \
		"input_tensor_a: int | float, input_tensor_b: Tensor, " DIV

/* clang-format off */
static const struct tt_op ops[] = {
	OP("bias_gelu", "gelu(a + b).", expand_bias_gelu, binary_composite_golden, ROW(value_bias_gelu, BIAS_GELU),
	   "input_tensor_a: Tensor, input_tensor_b: int | float, " FAST TYPED ", " SUB,
	   TENSORS FAST TYPED ", " SUB),
	OP("div", "a / b, rounded down, towards 0 or not at all.", expand_div, binary_composite_golden,
	   ROW(value_div, DIV), DIVISIONS),
	OP("div_no_nan", "a / b, and 0 where b is 0.", expand_div_no_nan, binary_composite_golden,
	   ROW(value_div_no_nan, DIV),
	   TENSORS "*, " MC, "input_tensor_a: Tensor, value: int | float, *, " MC),
	{.name = "ttnn.divide", .doc = "a / b.", .frontend = "ttnn.div",
	 .sigs = {"input_tensor_a: Tensor, input_tensor_b: int | float, " FAST TYPED ", " SUB,
		  TENSORS FAST TYPED ", " SUB,
		  "input_tensor_a: int | float, input_tensor_b: Tensor, " FAST TYPED ", " SUB,
		  DIVISIONS},
	 .expand = expand_div, .golden = binary_composite_golden, .row = ROW(value_div, DIV)},
	OP("floor_div", "a / b rounded down.", expand_floor_div, binary_composite_golden, ROW(value_floor_div, DIV),
	   TENSORS "*, " MC, "input_tensor_a: Tensor, value: int | float, *, " MC),
	OP("outer", "Every element of a times every element of b.", expand_outer, golden_outer, NULL,
	   TENSORS "*, " MC),
	OP("polyval", "The polynomial with these coefficients, highest power first.", expand_polyval,
	   golden_polyval, NULL, "input_tensor_a: Tensor, coeffs: floats, *, " MC),
	OP("pow", "a to the power of b.", expand_pow, binary_composite_golden, ROW(value_pow, POWER),
	   "input_tensor: Tensor, exponent: int, *, " OUT,
	   "input_tensor: Tensor, exponent: float, *, " OUT,
	   "input_tensor: Tensor, exponent: Tensor, *, " TYPED,
	   "input_tensor: float, exponent: Tensor, *, " TYPED),
	OP("prelu", "x, or the weight of its channel times x where x is negative.", expand_prelu,
	   golden_prelu, NULL, "input_tensor_a: Tensor, weight: Tensor, *, " MC,
	   "input_tensor_a: Tensor, weight: int | float, *, " MC,
	   "input_tensor_a: Tensor, weight: floats, *, " MC),
};
/* clang-format on */

const struct tt_op_family tt_family_binary_composite = {"binary", ops, TT_COUNT(ops)};
