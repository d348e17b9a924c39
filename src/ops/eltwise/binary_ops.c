/*
 * binary_ops.c: operations on two operands, one line each. Most run the program of binary.c at once;
 * what upstream does before that (types that do not go together, row-major operands, scalars) is
 * here too.
 */
#include <math.h>

#include "ops/eltwise/binary_ops.h"
#include "ops/eltwise/eltwise.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

/* ---- before the program --------------------------------------------------------------------------- */

static bool is_float(enum ttnn_dtype dtype)
{
	return !tt_dtype_is_integer(dtype);
}

static bool is_comparison(enum tt_binary_fn fn)
{
	return fn == TT_BINARY_EQ || fn == TT_BINARY_NE || fn == TT_BINARY_LT ||
	       fn == TT_BINARY_LE || fn == TT_BINARY_GT || fn == TT_BINARY_GE;
}

tt_status tt_binary_cast(struct tt_tensor **tensor, struct tt_call *call, enum ttnn_dtype dtype)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*tensor)},
					{NULL, ttnn_v_dtype(dtype)}};

	return tt_call_owned(call, tt_call_op(tensor, call, "ttnn.typecast", args, 2), tensor);
}

static tt_status to_layout(struct tt_tensor **tensor, struct tt_call *call, enum ttnn_layout layout)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*tensor)},
					{NULL, ttnn_v_layout(layout)}};

	return tt_call_op(tensor, call, "ttnn.to_layout", args, 2);
}

/* Types that are brought together: an integer to the float beside it, uint8 to uint16. */
static tt_status cast_operands(struct tt_binary_front *front, struct tt_call *call)
{
	struct tt_binary_args *args = &front->args;
	enum ttnn_dtype a = args->a->spec.dtype, b = args->b ? args->b->spec.dtype : a;

	if (is_comparison(args->fn) && !front->in_place) {
		if (a == TTNN_UINT8)
			TT_TRY(tt_binary_cast(&args->a, call, TTNN_UINT16));
		if (args->b && b == TTNN_UINT8)
			TT_TRY(tt_binary_cast(&args->b, call, TTNN_UINT16));
	}
	if (args->fn != TT_BINARY_MUL && args->fn != TT_BINARY_DIV)
		return TTNN_OK;
	if (!args->b && tt_dtype_is_wide_integer(a) && front->real_scalar)
		return tt_binary_cast(&args->a, call, TTNN_FLOAT32);
	if (args->b && tt_dtype_is_wide_integer(a) && is_float(b))
		return tt_binary_cast(&args->a, call, tt_dtype_is_block(b) ? TTNN_BFLOAT16 : b);
	if (args->b && tt_dtype_is_wide_integer(b) && is_float(a))
		return tt_binary_cast(&args->b, call, tt_dtype_is_block(a) ? TTNN_BFLOAT16 : a);
	return TTNN_OK;
}

/* An integer tensor and a number that is none. */
static tt_status check_scalar(const struct tt_binary_front *front)
{
	const struct tt_binary_args *args = &front->args;
	enum ttnn_dtype dtype = args->a->spec.dtype;
	double low = dtype == TTNN_INT32 ? -0x1p31 : 0,
	       high = dtype == TTNN_INT32 ? 0x1p31 : 0x1p32;
	float value = (float)args->scalar;

	if (args->b || !front->real_scalar || !tt_dtype_is_wide_integer(dtype) ||
	    args->fn == TT_BINARY_MUL || args->fn == TT_BINARY_DIV)
		return TTNN_OK;
	if (isfinite(value) && truncf(value) == value && value >= low && value < high)
		return TTNN_OK;
	return tt_fail_cond(
		TTNN_INVALID,
		"operations::binary::utils::scalar_fits_integer_dtype(scalar_value, a_dtype)",
		"Binary operation BinaryOpType::%s with a DataType::%s tensor cannot "
		"represent the scalar %.8g: only a finite integer within the range of "
		"DataType::%s survives being packed as one, and this value would be "
		"changed silently. Typecast the input to a floating-point dtype first.",
		tt_enum_name(&tt_enum_binary, (int64_t)args->fn),
		ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL), value,
		ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL));
}

static bool row_major(const struct tt_tensor *tensor)
{
	return tensor->spec.layout == TTNN_ROW_MAJOR;
}

/* A given output decides the dtype; rows cannot be written to it. */
static tt_status check_outputs(const struct tt_binary_front *front)
{
	const struct tt_binary_args *args = &front->args;
	const struct tt_tensor *output = args->output;

	if (!args->a)
		return tt_fail(TTNN_INTERNAL, "a binary operation without a tensor");
	TT_REQUIRE(
		!output || !args->dtype || *args->dtype == output->spec.dtype,
		"*dtype == out_dtype",
		"If both output dtype and output tensor are provided, their dtypes should match");
	TT_REQUIRE(!output || !row_major(args->a) || (args->b && !row_major(args->b)),
		   "!(output_preallocated && input_a_rm && input_b_rm)",
		   "Optional output tensor with Row Major input is not supported right now for "
		   "Elementwise operations");
	TT_REQUIRE(args->fn != TT_BINARY_DIV || args->a->spec.dtype != TTNN_INT32 ||
			   (args->b && args->b->spec.dtype != TTNN_INT32) ||
			   (!args->dtype && !output) ||
			   (args->dtype ? *args->dtype : output->spec.dtype) == TTNN_FLOAT32,
		   "temp_dtype == DataType::FLOAT32",
		   "For integer division, supported output dtype is FLOAT32");
	return TTNN_OK;
}

/* Rows go as they are when all operands are rows and none is sharded; else they become tiles. */
static tt_status tile_operands(bool *back, struct tt_binary_front *front, struct tt_call *call)
{
	struct tt_binary_args *args = &front->args;
	struct tt_tensor **operands[] = {&args->a, &args->b};
	bool any_sharded = false, all = true;

	*back = false;
	for (int i = 0; i < 2; i++) {
		if (!*operands[i])
			continue;
		any_sharded |= tt_memory_config_is_sharded(&(*operands[i])->spec.memory);
		all &= row_major(*operands[i]);
	}
	if (all && !any_sharded)
		return TTNN_OK;
	for (int i = 0; i < 2; i++) {
		if (!*operands[i] || !row_major(*operands[i]))
			continue;
		TT_TRY(to_layout(operands[i], call, TTNN_TILE));
		tt_call_own(call, *operands[i]);
	}
	*back = all;
	return TTNN_OK;
}

/* All that upstream's operation does around its program. */
tt_status tt_binary_run(struct tt_tensor **out, struct tt_call *call, struct tt_binary_front *front)
{
	struct tt_binary_args args;
	enum ttnn_dtype dtype;
	bool back;

	TT_TRY(check_outputs(front));
	TT_TRY(check_scalar(front));
	TT_TRY(cast_operands(front, call));
	TT_TRY(tile_operands(&back, front, call));
	args = front->args;
	if (args.b && tt_is_classic(call->device))
		TT_TRY(tt_classic_level(&args.a, &args.b, call));
	dtype = args.output ? args.output->spec.dtype : args.a->spec.dtype;
	if (!args.dtype && !front->no_dtype)
		args.dtype = &dtype;
	TT_TRY(tt_binary_launch(out, call, &args));
	if (!back)
		return TTNN_OK;
	tt_call_own(call, *out);
	return to_layout(out, call, TTNN_ROW_MAJOR);
}

/* ---- reading calls ------------------------------------------------------------------------------------ */

/* The function and how the row differs from the usual. */
struct row {
	enum tt_binary_fn fn;
	bool in_place;                /* the result is written over the first operand */
	bool fast_default;            /* fast unless the caller says otherwise */
	bool variant;                 /* the fast flag chooses a variant of the function */
	const char *alpha;            /* the second operand is first multiplied by this argument */
	enum tt_unary_fn with_scalar; /* what a scalar runs instead (run_with_scalar) */
};

static const enum ttnn_dtype *dtype_arg(enum ttnn_dtype *storage, const struct tt_call *call)
{
	const struct ttnn_value *value = tt_call_arg(call, "dtype");

	if (value->kind != TTNN_VALUE_ENUM)
		return NULL;
	*storage = (enum ttnn_dtype)value->integer;
	return storage;
}

/* Tensors and scalars are the first two arguments, whatever they are called. */
static void read_operands(struct tt_binary_front *out, const struct tt_call *call)
{
	const struct ttnn_value *values = call->args->values;
	const struct ttnn_value *scalar = NULL;

	out->args.a = values[0].kind == TTNN_VALUE_TENSOR ? values[0].tensor : NULL;
	out->args.b = values[1].kind == TTNN_VALUE_TENSOR ? values[1].tensor : NULL;
	if (!out->args.a) {
		scalar = &values[0];
		out->args.a = out->args.b;
		out->args.b = NULL;
		out->args.scalar_first = true;
	} else if (!out->args.b) {
		scalar = &values[1];
	}
	if (!scalar)
		return;
	tt_value_number(&out->args.scalar, scalar);
	out->real_scalar = scalar->kind == TTNN_VALUE_REAL;
}

/* The arguments that most rows share. */
static void read_options(struct tt_binary_front *out, const struct tt_call *call,
			 const struct row *row)
{
	struct tt_binary_args *args = &out->args;
	bool fast = tt_call_bool(call, "fast_and_approximate_mode", row->fast_default);

	args->fn = row->fn;
	args->output = row->in_place ? args->a : tt_call_tensor(call, "output_tensor");
	args->dtype = dtype_arg(&out->dtype, call);
	args->memory = tt_call_memory(call, "memory_config");
	args->grid = tt_call_core_set(call, "sub_core_grids");
	if (tt_value_given(tt_call_arg(call, "sub_device_id")))
		args->sub_device = tt_call_arg(call, "sub_device_id");
	args->pre_a = tt_call_arg(call, "input_tensor_a_activations");
	args->pre_b = tt_call_arg(call, "input_tensor_b_activations");
	args->post = tt_call_arg(call, "activations");
	args->fast = fast && !row->fast_default;
	args->accurate = !fast && row->fast_default;
	args->variant = row->variant;
	out->in_place = row->in_place;
}

/* For operations that are not rows of this table. */
tt_status tt_binary_read(struct tt_binary_front *out, const struct tt_call *call,
			 enum tt_binary_fn fn)
{
	const struct row row = {.fn = fn};

	read_operands(out, call);
	if (!out->args.a)
		return tt_fail(TTNN_TYPE, "%s: neither operand is a tensor", call->entry->op->name);
	read_options(out, call, &row);
	return TTNN_OK;
}

static tt_status binary_expand(struct tt_call *call)
{
	struct tt_binary_front front = {0};
	struct tt_tensor *out;

	read_operands(&front, call);
	read_options(&front, call, call->entry->op->row);
	return tt_call_give(call, tt_binary_run(&out, call, &front), &out);
}

/* A function of one operand stands for the scalar form; another type is made afterwards. */
static tt_status run_with_scalar(struct tt_call *call, const struct tt_binary_front *front)
{
	const struct row *row = call->entry->op->row;
	const struct tt_unary_step step = {
		.fn = row->with_scalar, .count = 1, .params = {front->args.scalar}};
	const struct tt_unary_args args = {.input = front->args.a,
					   .output = front->args.output,
					   .steps = &step,
					   .step_count = 1,
					   .memory = front->args.memory,
					   .grid = front->args.grid,
					   .real_parameter = front->real_scalar};
	struct tt_tensor *out;

	TT_TRY(tt_unary_launch(&out, call, &args));
	if (front->args.dtype && *front->args.dtype != out->spec.dtype) {
		const struct ttnn_arg passed[] = {{NULL, ttnn_v_tensor(out)},
						  {NULL, ttnn_v_dtype(*front->args.dtype)}};

		tt_call_own(call, out);
		TT_TRY(tt_call_op(&out, call, "ttnn.typecast", passed, 2));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

/* A number on the right is a unary program. */
static tt_status expand_or_unary(struct tt_call *call)
{
	struct tt_binary_front front = {0};

	read_operands(&front, call);
	if (front.args.b || front.args.scalar_first)
		return binary_expand(call);
	read_options(&front, call, call->entry->op->row);
	return run_with_scalar(call, &front);
}

/* remainder, fmod: int32 by an int is the program with two operands, by a float in float32. */
static tt_status expand_modulo(struct tt_call *call)
{
	struct tt_binary_front front = {0};

	read_operands(&front, call);
	if (front.args.b || (front.args.a->spec.dtype == TTNN_INT32 && !front.real_scalar))
		return binary_expand(call);
	read_options(&front, call, call->entry->op->row);
	if (front.args.a->spec.dtype == TTNN_INT32)
		TT_TRY(tt_binary_cast(&front.args.a, call, TTNN_FLOAT32));
	return run_with_scalar(call, &front);
}

/* a + alpha b, a - alpha b: the factor is an activation of the second operand. */
static tt_status expand_alpha(struct tt_call *call)
{
	struct ttnn_value number = ttnn_v_real(tt_call_real(call, "alpha", 1));
	struct ttnn_value fields[] = {tt_value_enum(&tt_enum_unary, TT_UNARY_MUL_UNARY_SFPU),
				      ttnn_v_list(&number, 1)};
	struct ttnn_value factor = tt_value_object(&tt_schema_unary, fields);
	struct ttnn_value pre_b = ttnn_v_list(&factor, 1);
	struct tt_binary_front front = {0};
	struct tt_tensor *out;

	read_operands(&front, call);
	read_options(&front, call, call->entry->op->row);
	front.args.pre_b = &pre_b;
	return tt_call_give(call, tt_binary_run(&out, call, &front), &out);
}

/* int32 is compared as float32; the result's dtype is the program's choice. */
static tt_status expand_isclose(struct tt_call *call)
{
	struct tt_binary_front front = {.no_dtype = true};
	struct tt_tensor *out;

	read_operands(&front, call);
	read_options(&front, call, call->entry->op->row);
	front.args.params[0] = tt_call_real(call, "rtol", 0);
	front.args.params[1] = tt_call_real(call, "atol", 0);
	front.args.params[2] = tt_call_bool(call, "equal_nan", false);
	for (int i = 0; i < 2; i++) {
		struct tt_tensor **operand = i ? &front.args.b : &front.args.a;

		if ((*operand)->spec.dtype == TTNN_INT32)
			TT_TRY(tt_binary_cast(operand, call, TTNN_FLOAT32));
	}
	return tt_call_give(call, tt_binary_run(&out, call, &front), &out);
}

/* ---- golden ------------------------------------------------------------------------------------------------ */

struct chain {
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	size_t count;
};

/* Upstream's promotions, for goldens. */
enum ttnn_dtype tt_binary_result_dtype(const struct tt_call *call, enum tt_binary_fn fn)
{
	const struct ttnn_value *a = &call->args->values[0], *b = &call->args->values[1];
	struct tt_tensor *output = tt_call_tensor(call, "output_tensor");
	bool both = a->kind == TTNN_VALUE_TENSOR && b->kind == TTNN_VALUE_TENSOR;
	bool real = !both && (a->kind == TTNN_VALUE_REAL || b->kind == TTNN_VALUE_REAL);
	bool quotient = fn == TT_BINARY_MUL || fn == TT_BINARY_DIV;
	enum ttnn_dtype left = TTNN_FLOAT32, right;

	if (a->kind == TTNN_VALUE_TENSOR)
		left = a->tensor->spec.dtype;
	else if (b->kind == TTNN_VALUE_TENSOR)
		left = b->tensor->spec.dtype;
	right = both ? b->tensor->spec.dtype : left;
	if (output)
		return output->spec.dtype;
	if (fn == TT_BINARY_DIV && left == TTNN_INT32 && right == TTNN_INT32)
		return TTNN_FLOAT32;
	if (quotient && tt_dtype_is_wide_integer(left) && real)
		left = TTNN_FLOAT32;
	if (quotient && tt_dtype_is_wide_integer(left) && is_float(right))
		left = tt_dtype_is_block(right) ? TTNN_BFLOAT16 : right;
	if (is_comparison(fn) && left == TTNN_UINT8)
		left = TTNN_UINT16;
	return tt_call_dtype(call, "dtype", left);
}

/* Both operands as arrays, or one of them as a number. */
tt_status tt_binary_golden_pair(struct tt_golden_pair *out, struct tt_golden *golden)
{
	const struct ttnn_value *values = golden->call.args->values;
	const struct tt_array *arrays[2] = {NULL, NULL};

	for (int i = 0; i < 2; i++) {
		if (values[i].kind != TTNN_VALUE_TENSOR) {
			tt_value_number(&out->number, &values[i]);
			continue;
		}
		arrays[i] = tt_golden_read(golden, values[i].tensor);
		TT_GOLDEN_NEED(arrays[i]);
	}
	out->a = arrays[0];
	out->b = arrays[1];
	TT_NEED(out->a || out->b, "golden: no operand is a tensor");
	if (!out->a || !out->b)
		out->shape = (out->a ? out->a : out->b)->shape;
	else if (!tt_broadcast_shape(&out->shape, &out->a->shape, &out->b->shape))
		return tt_fail(TTNN_INVALID, "golden: the shapes do not go together");
	return TTNN_OK;
}

/* Activations before and behind, each result fitted to its dtype. */
static tt_status binary_golden(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	struct tt_call *call = &golden->call;
	struct chain pre_a, pre_b, post;
	double params[3] = {tt_call_real(call, "rtol", 0), tt_call_real(call, "atol", 0),
			    tt_call_bool(call, "equal_nan", false)};
	uint64_t at[TTNN_MAX_RANK];
	struct tt_golden_pair pair;
	enum ttnn_dtype dtype, inner;
	struct tt_array *out;

	TT_TRY(tt_binary_golden_pair(&pair, golden));
	TT_TRY(tt_unary_steps(pre_a.steps, &pre_a.count,
			      tt_call_arg(call, "input_tensor_a_activations")));
	TT_TRY(tt_unary_steps(pre_b.steps, &pre_b.count,
			      tt_call_arg(call, "input_tensor_b_activations")));
	TT_TRY(tt_unary_steps(post.steps, &post.count, tt_call_arg(call, "activations")));
	dtype = row->in_place && pair.a ? pair.a->dtype : tt_binary_result_dtype(call, row->fn);
	inner = dtype;
	out = tt_golden_out(golden, &pair.shape, dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		double a, b;

		tt_array_coordinate(at, out, i);
		a = pair.a ? tt_array_broadcast(pair.a, &pair.shape, at) : pair.number;
		b = pair.b ? tt_array_broadcast(pair.b, &pair.shape, at) : pair.number;
		a = tt_golden_chain(pre_a.steps, pre_a.count, inner, a);
		b = tt_golden_chain(pre_b.steps, pre_b.count, inner, b);
		if (row->alpha)
			b *= tt_call_real(call, row->alpha, 1);
		a = tt_golden_fit(dtype, tt_golden_binary(row->fn, params, a, b));
		*tt_at(out, i) = tt_golden_chain(post.steps, post.count, dtype, a);
	}
	return TTNN_OK;
}

/* ---- the rows --------------------------------------------------------------------------------------------- */

#define ACTIVATIONS                                                                                \
	"activations: Unarys = [], input_tensor_a_activations: Unarys = [], "                      \
	"input_tensor_b_activations: Unarys = []"
#define SUB "sub_core_grids: CoreRangeSet? = None, sub_device_id: SubDeviceId? = None"
#define MC "memory_config: MemoryConfig? = None"
#define OUT MC ", output_tensor: Tensor? = None"
#define TYPED "dtype: DataType? = None, " OUT ", " ACTIVATIONS
#define FAST(value) "fast_and_approximate_mode: bool = " value ", "
#define TENSORS "input_tensor_a: Tensor, input_tensor_b: Tensor, *, "
#define NUMBER(name) "input_tensor_a: Tensor, " name ": int | float, *, "
#define NUMBER_FIRST "input_tensor_a: int | float, input_tensor_b: Tensor, *, "

/* The usual: a scalar or a tensor on the right. */
#define USUAL NUMBER("input_tensor_b") TYPED ", " SUB, TENSORS TYPED ", " SUB
#define EITHER(fast)                                                                               \
	NUMBER("input_tensor_b")                                                                   \
	FAST(fast)                                                                                 \
	TYPED ", " SUB, TENSORS FAST(fast) TYPED ", " SUB, NUMBER_FIRST FAST(fast) TYPED ", " SUB
#define TWO(fast)                                                                                  \
	NUMBER("input_tensor_b") FAST(fast) TYPED ", " SUB, TENSORS FAST(fast) TYPED ", " SUB
#define SHORT NUMBER("input_b") TYPED, TENSORS TYPED
#define BITS                                                                                       \
	"input_tensor_a: Tensor, input_b: int, *, " OUT ", " ACTIVATIONS ", " SUB,                 \
		TENSORS OUT ", " ACTIVATIONS ", " SUB
#define TENSORS_TYPED TENSORS TYPED
#define TENSORS_PLAIN TENSORS MC
#define IN_PLACE                                                                                   \
	"input_a: Tensor, input_b: int | float, *, " ACTIVATIONS ", " SUB,                         \
		"input_a: Tensor, input_b: Tensor, *, " ACTIVATIONS ", " SUB
#define IN_PLACE_FAST(a, b, fast)                                                                  \
	a ": Tensor, " b ": int | float, *, " ACTIVATIONS                                          \
	  ", fast_and_approximate_mode: bool? = " fast ", " SUB,                                   \
		a ": Tensor, " b ": Tensor, *, " ACTIVATIONS                                       \
		  ", fast_and_approximate_mode: bool? = " fast ", " SUB

#define ROW(...) (&(const struct row){__VA_ARGS__})
#define OP(name_, doc_, expand_, row_, ...)                                                        \
	{.name = "ttnn." name_,                                                                    \
                                                                                                   \
	 .doc = doc_,                                                                              \
	 .sigs = {__VA_ARGS__},                                                                    \
	 .expand = expand_,                                                                        \
	 .golden = binary_golden,                                                                  \
	 .row = row_},
#define FN(name, fn_, doc, ...)                                                                    \
	OP(name, doc, binary_expand, ROW(.fn = TT_BINARY_##fn_), __VA_ARGS__)
#define FN_(name, fn_, doc, ...)                                                                   \
	OP(name, doc, binary_expand, ROW(.fn = TT_BINARY_##fn_, .in_place = true), __VA_ARGS__)
#define FN_FAST(name, fn_, doc, ...)                                                               \
	OP(name, doc, binary_expand, ROW(.fn = TT_BINARY_##fn_, .fast_default = true), __VA_ARGS__)
#define FN_UNARY(name, fn_, unary_, doc, ...)                                                      \
	OP(name, doc, expand_or_unary,                                                             \
	   ROW(.fn = TT_BINARY_##fn_, .with_scalar = TT_UNARY_##unary_), __VA_ARGS__)

/* clang-format off */
static const struct tt_op ops[] = {
	FN_FAST("add", ADD, "a + b.", EITHER("True"))
	OP("add_", "a + b written over a.", binary_expand,
	   ROW(.fn = TT_BINARY_ADD, .in_place = true, .fast_default = true),
	   IN_PLACE_FAST("input_tensor_a", "input_tensor_b", "True"))
	OP("addalpha", "a + alpha b.", expand_alpha, ROW(.fn = TT_BINARY_ADD, .alpha = "alpha"),
	   "input_tensor_a: Tensor, input_tensor_b: Tensor, alpha: float, *, " OUT)
	FN("atan2", ATAN2, "The angle of the point (b, a).", TENSORS_PLAIN)
	OP("bias_gelu_", "gelu(a + b) written over a.", binary_expand,
	   ROW(.fn = TT_BINARY_BIAS_GELU, .in_place = true, .variant = true), IN_PLACE)
	FN_UNARY("bitwise_and", BITWISE_AND, BITWISE_AND, "The bits set in both.", BITS)
	FN_UNARY("bitwise_left_shift", LEFT_SHIFT, LEFT_SHIFT, "a shifted left by b bits.", BITS)
	FN_UNARY("bitwise_or", BITWISE_OR, BITWISE_OR, "The bits set in one of them.", BITS)
	FN_UNARY("bitwise_right_shift", RIGHT_SHIFT, RIGHT_SHIFT,
		 "a shifted right by b bits, the sign kept.", BITS)
	FN_UNARY("bitwise_xor", BITWISE_XOR, BITWISE_XOR, "The bits set in just one of them.", BITS)
	FN_("divide_", DIV, "a / b written over a.", IN_PLACE_FAST("input_a", "input_b", "False"))
	FN("eq", EQ, "1 where a = b, else 0.", USUAL)
	FN_("eq_", EQ, "1 where a = b, else 0, written over a.", IN_PLACE)
	OP("fmod", "The rest of a / b with the sign of a.", expand_modulo,
	   ROW(.fn = TT_BINARY_FMOD, .with_scalar = TT_UNARY_FMOD),
	   NUMBER("scalar") MC ", " SUB, TENSORS MC ", " SUB)
	FN("gcd", GCD, "The greatest common divisor.", TENSORS_TYPED)
	FN("ge", GE, "1 where a >= b, else 0.", USUAL)
	FN_("ge_", GE, "1 where a >= b, else 0, written over a.", IN_PLACE)
	FN("gt", GT, "1 where a > b, else 0.", USUAL)
	FN_("gt_", GT, "1 where a > b, else 0, written over a.", IN_PLACE)
	FN("hypot", HYPOT, "The square root of a² + b².", TENSORS_PLAIN)
	OP("isclose", "1 where |a - b| <= atol + rtol |b|, else 0.", expand_isclose,
	   ROW(.fn = TT_BINARY_ISCLOSE),
	   TENSORS "rtol: float = 9.999999747378752e-06, atol: float = 9.99999993922529e-09, "
		   "equal_nan: bool = False, " MC)
	FN("lcm", LCM, "The least common multiple.", TENSORS_TYPED)
	FN("ldexp", LDEXP, "a times 2 to the power of b.", USUAL)
	FN_("ldexp_", LDEXP, "a times 2 to the power of b, written over a.", IN_PLACE)
	FN("le", LE, "1 where a <= b, else 0.", USUAL)
	FN_("le_", LE, "1 where a <= b, else 0, written over a.", IN_PLACE)
	FN("logaddexp", LOGADDEXP, "log(exp(a) + exp(b)).", USUAL)
	FN("logaddexp2", LOGADDEXP2, "log2(2^a + 2^b).", USUAL)
	FN_("logaddexp2_", LOGADDEXP2, "log2(2^a + 2^b) written over a.", IN_PLACE)
	FN_("logaddexp_", LOGADDEXP, "log(exp(a) + exp(b)) written over a.", IN_PLACE)
	FN("logical_and", LOGICAL_AND, "1 where neither is 0, else 0.", USUAL)
	FN_("logical_and_", LOGICAL_AND, "1 where neither is 0, else 0, written over a.", IN_PLACE)
	FN_UNARY("logical_left_shift", LEFT_SHIFT, LEFT_SHIFT, "a shifted left by b bits.", BITS)
	FN("logical_or", LOGICAL_OR, "1 where one of them is not 0, else 0.", USUAL)
	FN_("logical_or_", LOGICAL_OR, "1 where one of them is not 0, else 0, written over a.",
	    IN_PLACE)
	FN("logical_right_shift", LOGICAL_RIGHT_SHIFT, "a shifted right by b bits, zeros from the left.",
	   USUAL)
	FN("logical_xor", LOGICAL_XOR, "1 where just one of them is not 0, else 0.", USUAL)
	FN_("logical_xor_", LOGICAL_XOR, "1 where just one of them is not 0, else 0, written over a.",
	    IN_PLACE)
	FN("lt", LT, "1 where a < b, else 0.", USUAL)
	FN_("lt_", LT, "1 where a < b, else 0, written over a.", IN_PLACE)
	FN_UNARY("maximum", MAXIMUM, MAXIMUM, "The larger one.", SHORT)
	FN_UNARY("minimum", MINIMUM, MINIMUM, "The smaller one.", SHORT)
	FN("multiply", MUL, "a times b.", EITHER("False"))
	FN_("multiply_", MUL, "a times b written over a.", IN_PLACE_FAST("input_a", "input_b", "False"))
	FN("ne", NE, "1 where a is not b, else 0.", USUAL)
	FN_("ne_", NE, "1 where a is not b, else 0, written over a.", IN_PLACE)
	FN("nextafter", NEXTAFTER, "The number next to a in the direction of b.", TENSORS_PLAIN)
	OP("remainder", "The rest of a / b with the sign of b.", expand_modulo,
	   ROW(.fn = TT_BINARY_REMAINDER, .with_scalar = TT_UNARY_REMAINDER), USUAL)
	OP("rsub", "b - a.", binary_expand, ROW(.fn = TT_BINARY_RSUB, .fast_default = true),
	   NUMBER("input_b") TYPED ", fast_and_approximate_mode: bool? = True",
	   TENSORS TYPED ", fast_and_approximate_mode: bool? = True")
	OP("rsub_", "b - a written over a.", binary_expand,
	   ROW(.fn = TT_BINARY_RSUB, .in_place = true, .fast_default = true),
	   IN_PLACE_FAST("input_a", "input_b", "True"))
	FN("squared_difference", SQUARED_DIFFERENCE, "(a - b)².", USUAL)
	FN_("squared_difference_", SQUARED_DIFFERENCE, "(a - b)² written over a.", IN_PLACE)
	OP("subalpha", "a - alpha b.", expand_alpha, ROW(.fn = TT_BINARY_SUB, .alpha = "alpha"),
	   "input_tensor_a: Tensor, input_tensor_b: Tensor, alpha: float, *, " OUT)
	FN_FAST("subtract", SUB, "a - b.", EITHER("True"))
	OP("subtract_", "a - b written over a.", binary_expand,
	   ROW(.fn = TT_BINARY_SUB, .in_place = true, .fast_default = true),
	   IN_PLACE_FAST("input_tensor_a", "input_tensor_b", "True"))
	FN("xlogy", XLOGY, "a log(b), and 0 where a is 0.", USUAL)
};
/* clang-format on */

const struct tt_op_family tt_family_binary = {"binary", ops, TT_COUNT(ops)};
