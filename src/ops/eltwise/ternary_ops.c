/*
 * ternary_ops.c: operations on three operands, one line each. Where the program of ternary.c does
 * not take the operands, upstream falls back on operations with two: these are recipes.
 */
#include <math.h>

#include "golden/golden.h"
#include "ops/eltwise/binary_ops.h"
#include "ops/eltwise/eltwise.h"
#include "ops/eltwise/ternary.h"
#include "ops/recipe.h"
#include "ops/usual.h"

/* ---- what the operations have in common ------------------------------------------------------------- */

struct row {
	enum tt_ternary_fn fn;
	bool memory_of_first; /* the result lies as the first operand, if nothing is said */
};

/* The operands are the first three arguments, whatever they are called. */
static void read_call(struct tt_ternary_args *out, const struct tt_call *call)
{
	const struct ttnn_value *values = call->args->values;
	const struct row *row = call->entry->op->row;
	struct tt_tensor **operands[] = {&out->a, &out->b, &out->c};

	*out = (struct tt_ternary_args){.fn = row->fn};
	for (int i = 0; i < 3; i++) {
		if (values[i].kind == TTNN_VALUE_TENSOR) {
			*operands[i] = values[i].tensor;
			continue;
		}
		tt_value_number(&out->scalar, &values[i]);
		out->has_scalar = true;
	}
	out->output = tt_call_tensor(call, "output_tensor");
	out->memory = tt_call_memory(call, "memory_config");
	out->grid = tt_call_core_set(call, "sub_core_grids");
	out->dtype = out->a->spec.dtype;
	if (!out->memory && row->memory_of_first)
		out->memory = &out->a->spec.memory;
}

static bool repeats_in_tiles(enum tt_ternary_broadcast broadcast)
{
	return broadcast == TT_TERNARY_ROW || broadcast == TT_TERNARY_COL ||
	       broadcast == TT_TERNARY_SCALAR || broadcast == TT_TERNARY_SCALAR_A ||
	       broadcast == TT_TERNARY_SCALAR_B || broadcast == TT_TERNARY_ROW_COL;
}

/* Whether every (or any) tensor among the operands has a type for which `is` holds. */
static bool all_of(const struct tt_ternary_args *args, bool (*is)(enum ttnn_dtype))
{
	return is(args->a->spec.dtype) && (!args->b || is(args->b->spec.dtype)) &&
	       (!args->c || is(args->c->spec.dtype));
}

static bool any_of(const struct tt_ternary_args *args, bool (*is)(enum ttnn_dtype))
{
	return is(args->a->spec.dtype) || (args->b && is(args->b->spec.dtype)) ||
	       (args->c && is(args->c->spec.dtype));
}

static bool is_int32(enum ttnn_dtype dtype)
{
	return dtype == TTNN_INT32;
}

static bool is_uint32(enum ttnn_dtype dtype)
{
	return dtype == TTNN_UINT32;
}

/* Operands that only the composite takes. */
static bool beyond_program(const struct tt_ternary_args *args)
{
	enum tt_ternary_broadcast broadcast = tt_ternary_broadcast(args);

	return broadcast == TT_TERNARY_INVALID ||
	       (any_of(args, tt_dtype_is_block) && repeats_in_tiles(broadcast));
}

static tt_status ternary_launch(struct tt_call *call, const struct tt_ternary_args *args)
{
	struct tt_tensor *out;

	return tt_call_give(call, tt_ternary_launch(&out, call, args), &out);
}

static tt_status compose(struct tt_call *call, const char *text)
{
	const struct tt_recipe recipe = {.text = text,
					 .memory = tt_call_memory(call, "memory_config")};

	return tt_recipe_run(call, &recipe);
}

static const char *dtype_name(const struct tt_tensor *tensor)
{
	return ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_TT_METAL);
}

/* ---- lerp, mac, addcmul, addcdiv ------------------------------------------------------------------------ */

/* uint32 is refused with a text for tensors and one for numbers. */
static tt_status expand_lerp(struct tt_call *call)
{
	struct tt_ternary_args args;

	read_call(&args, call);
	TT_REQUIRE(!any_of(&args, is_uint32) || !args.c, "!has_uint32",
		   "lerp does not support UINT32 inputs. Got input=DataType::%s, "
		   "end=DataType::%s, weight=DataType::%s",
		   dtype_name(args.a), dtype_name(args.b), dtype_name(args.c));
	TT_REQUIRE(!any_of(&args, is_uint32), "!has_uint32",
		   "lerp does not support UINT32 inputs. Got input=DataType::%s, end=DataType::%s",
		   dtype_name(args.a), dtype_name(args.b));
	if (!all_of(&args, is_int32) && !beyond_program(&args))
		return ternary_launch(call, &args);
	return compose(call, args.c ? "t = multiply(subtract(end, input), weight); "
				      "return add(input, t)"
				    : "t = subtract(end, input); s = multiply(t, weight); "
				      "return add(input, s)");
}

/* Two numbers are a unary program; whole numbers and odd shapes are recipes. */
static tt_status expand_mac(struct tt_call *call)
{
	struct tt_ternary_args args;
	struct tt_unary_step step = {.fn = TT_UNARY_MAC_TSS, .count = 2};
	struct tt_unary_args unary = {.steps = &step, .step_count = 1};
	struct tt_tensor *out;

	read_call(&args, call);
	if (!args.b && !args.c) {
		if (tt_dtype_is_integer(args.a->spec.dtype))
			return compose(call,
				       "return add(multiply(input_tensor_a, value1), value2)");
		step.params[0] = tt_call_real(call, "value1", 0);
		step.params[1] = tt_call_real(call, "value2", 0);
		unary.input = args.a;
		unary.memory = tt_call_memory(call, "memory_config");
		return tt_call_give(call, tt_unary_launch(&out, call, &unary), &out);
	}
	if (!any_of(&args, tt_dtype_is_integer) && !beyond_program(&args))
		return ternary_launch(call, &args);
	if (!args.c)
		return compose(call, "return add(multiply(input_tensor_a, input_tensor_b), value)");
	if (!args.b)
		return compose(call, "return add(multiply(input_tensor_a, value), input_tensor_c)");
	return compose(call,
		       "return add(multiply(input_tensor_a, input_tensor_b), input_tensor_c)");
}

/* All three of one dtype. */
static tt_status expand_addcmul(struct tt_call *call)
{
	static const enum ttnn_dtype allowed[] = {TTNN_BFLOAT16, TTNN_BFLOAT8_B, TTNN_FLOAT32,
						  TTNN_INT32, TTNN_UINT32};
	struct tt_ternary_args args;
	bool known = false;

	read_call(&args, call);
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		known |= args.a->spec.dtype == allowed[i];
	TT_REQUIRE(known, "is_supported_dtype",
		   "Addcmul supports only BFLOAT16, BFLOAT8_B, FLOAT32, INT32, and UINT32 dtypes. "
		   "Got DataType::%s",
		   dtype_name(args.a));
	TT_REQUIRE(args.b->spec.dtype == args.a->spec.dtype &&
			   args.c->spec.dtype == args.a->spec.dtype,
		   "input_b.dtype() == input_a.dtype() && input_c.dtype() == input_a.dtype()",
		   "Addcmul TTT requires all input tensors to have the same dtype. Got "
		   "input_a=DataType::%s, input_b=DataType::%s, input_c=DataType::%s",
		   dtype_name(args.a), dtype_name(args.b), dtype_name(args.c));
	args.scalar = tt_call_real(call, "value", 1);
	args.has_scalar = true;
	if (!beyond_program(&args))
		return ternary_launch(call, &args);
	TT_TRY(tt_ternary_check(&args));
	return compose(call, "t = multiply(multiply(input_b, value), input_c); "
			     "return add(input_a, t)");
}

/* The recipe puts division by zero right by itself. */
static tt_status expand_addcdiv(struct tt_call *call)
{
	const struct tt_recipe_name names[] = {{"nan", ttnn_v_real(NAN)},
					       {"inf", ttnn_v_real(INFINITY)}};
	const struct tt_recipe recipe = {
		.text = "t = multiply(input_b, value); d = divide(t, input_c); "
			"r = add(input_a, d); s = sign(input_b); "
			"w = where(eqz(input_b), nan, s); i = multiply(w, inf); "
			"z = eqz(input_c); y = where(z, i, r); drop r; return y",
		.memory = tt_call_memory(call, "memory_config"),
		.names = names,
		.name_count = 2};
	struct tt_ternary_args args;

	read_call(&args, call);
	TT_REQUIRE(!all_of(&args, is_int32), "!is_input_int32",
		   "Addcdiv TTT does not support INT32 inputs.");
	args.scalar = tt_call_real(call, "value", 1);
	args.has_scalar = true;
	TT_TRY(tt_ternary_check(&args));
	if (!any_of(&args, tt_dtype_is_block) && tt_ternary_broadcast(&args) != TT_TERNARY_INVALID)
		return ternary_launch(call, &args);
	return tt_recipe_run(call, &recipe);
}

static tt_status expand_plain(struct tt_call *call)
{
	struct tt_ternary_args args;

	read_call(&args, call);
	return ternary_launch(call, &args);
}

/* ---- where ------------------------------------------------------------------------------------------------ */

/* Two numbers: a function of one operand, which knows no integers. */
static tt_status where_numbers(struct tt_call *call, struct tt_ternary_args *args)
{
	struct tt_unary_step step = {.fn = TT_UNARY_WHERE_TSS, .count = 2};
	struct tt_unary_args unary = {.steps = &step,
				      .step_count = 1,
				      .output = args->output,
				      .memory = args->memory,
				      .grid = args->grid};
	struct tt_tensor *out;

	step.params[0] = tt_call_real(call, "true_value", 0);
	step.params[1] = tt_call_real(call, "false_value", 0);
	if (args->a->spec.dtype == TTNN_INT32 || args->a->spec.dtype == TTNN_UINT32)
		TT_TRY(tt_binary_cast(&args->a, call, TTNN_FLOAT32));
	unary.input = args->a;
	return tt_call_give(call, tt_unary_launch(&out, call, &unary), &out);
}

/* Whether a float32 number is one of the dtype. */
static bool fits(double value, enum ttnn_dtype dtype)
{
	float number = (float)value;
	float low = dtype == TTNN_INT32 ? -0x1p31f : 0,
	      high = dtype == TTNN_INT32 ? 0x1p31f : 0x1p32f;

	if (dtype != TTNN_INT32 && dtype != TTNN_UINT32)
		return true;
	return isfinite(number) && truncf(number) == number && number >= low && number < high;
}

/* A number and a tensor: the program with two operands. */
static tt_status where_number(struct tt_call *call, struct tt_ternary_args *args)
{
	struct tt_tensor *value = args->b ? args->b : args->c, *out;
	struct ttnn_memory_config memory;
	struct ttnn_shape shape;
	struct tt_binary_args binary = {.fn = args->b ? TT_BINARY_WHERE_TTS : TT_BINARY_WHERE_TST,
					.b = value,
					.scalar = args->scalar,
					.output = args->output,
					.memory = args->memory,
					.grid = args->grid};

	TT_REQUIRE(fits(args->scalar, value->spec.dtype),
		   "ttnn::operations::binary::utils::scalar_fits_integer_dtype(scalar, "
		   "tensor_dtype)",
		   "ttnn.where with a DataType::%s tensor cannot represent the scalar %.8g: only "
		   "a finite integer within the range of DataType::%s survives being packed as "
		   "one, and this value would be changed silently. Typecast the tensor to a "
		   "floating-point dtype first.",
		   dtype_name(value), (double)(float)args->scalar, dtype_name(value));
	if (tt_dtype_is_integer(args->a->spec.dtype) && !tt_dtype_is_integer(value->spec.dtype))
		TT_TRY(tt_binary_cast(&args->a, call, value->spec.dtype));
	if (!binary.memory) {
		memory = value->spec.memory;
		tt_eltwise_shape(&shape, &value->spec.shape, &args->a->spec.shape);
		if (tt_memory_config_is_sharded(&memory))
			TT_TRY(tt_eltwise_memory_like(&memory, &value->spec, &shape));
		binary.memory = &memory;
	}
	binary.a = args->a;
	return tt_call_give(call, tt_binary_launch(&out, call, &binary), &out);
}

/* All three shapes are in the text. */
static tt_status refuse_where(const struct tt_ternary_args *args)
{
	const struct tt_tensor *const tensors[] = {args->a, args->b, args->c};
	struct tt_str texts[3] = {{0}};
	tt_status status;

	for (int i = 0; i < 3; i++) {
		tt_str_adds(&texts[i], "Shape(");
		tt_shape_list(&texts[i], &tensors[i]->spec.shape);
		tt_str_addc(&texts[i], ')');
	}
	status = tt_fail_cond(TTNN_INVALID, "!is_invalid_bcast(broadcast_type)",
			      "ttnn.where: shapes %s, %s and %s do not broadcast in a pattern the "
			      "ternary kernel supports",
			      tt_str_text(&texts[0]), tt_str_text(&texts[1]),
			      tt_str_text(&texts[2]));
	for (int i = 0; i < 3; i++)
		tt_str_deinit(&texts[i]);
	return status;
}

/* A whole predicate of float operands is cast to their dtype. */
static tt_status expand_where(struct tt_call *call)
{
	struct tt_ternary_args args;

	read_call(&args, call);
	if (!args.b && !args.c)
		return where_numbers(call, &args);
	if (!args.b || !args.c)
		return where_number(call, &args);
	if (tt_ternary_broadcast(&args) == TT_TERNARY_INVALID)
		return refuse_where(&args);
	if (tt_dtype_is_integer(args.a->spec.dtype) && !tt_dtype_is_integer(args.b->spec.dtype) &&
	    !tt_dtype_is_integer(args.c->spec.dtype))
		TT_TRY(tt_binary_cast(&args.a, call, args.b->spec.dtype));
	args.dtype = args.b->spec.dtype;
	return ternary_launch(call, &args);
}

/* ---- golden ------------------------------------------------------------------------------------------------ */

/* As the operation gives it. */
static enum ttnn_dtype golden_dtype(const struct tt_golden *golden,
				    const struct tt_array *const *arrays)
{
	const struct row *row = golden->op->row;
	struct tt_tensor *output = tt_call_tensor(&golden->call, "output_tensor");

	if (output)
		return output->spec.dtype;
	if (row->fn == TT_TERNARY_WHERE && (arrays[1] || arrays[2]))
		return (arrays[1] ? arrays[1] : arrays[2])->dtype;
	if (row->fn == TT_TERNARY_WHERE && tt_dtype_is_integer(arrays[0]->dtype))
		return TTNN_FLOAT32;
	return arrays[0]->dtype;
}

/* Operands broadcast, or numbers. */
static tt_status ternary_golden(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	const struct ttnn_value *values = golden->call.args->values;
	const struct tt_array *arrays[3] = {0};
	double numbers[3] = {0}, factor = tt_call_real(&golden->call, "value", 1);
	struct ttnn_shape shape = {0};
	uint64_t at[TTNN_MAX_RANK];
	struct tt_array *out;

	for (int i = 0; i < 3; i++) {
		if (values[i].kind != TTNN_VALUE_TENSOR) {
			tt_value_number(&numbers[i], &values[i]);
			continue;
		}
		arrays[i] = tt_golden_read(golden, values[i].tensor);
		TT_GOLDEN_NEED(arrays[i]);
		TT_NEED(tt_broadcast_shape(&shape, &shape, &arrays[i]->shape),
			"golden: the shapes do not go together");
	}
	TT_NEED(arrays[0], "golden: the first operand is no tensor");
	out = tt_golden_out(golden, &shape, golden_dtype(golden, arrays));
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		double x[3];

		tt_array_coordinate(at, out, i);
		for (int k = 0; k < 3; k++)
			x[k] = arrays[k] ? tt_array_broadcast(arrays[k], &shape, at) : numbers[k];
		*tt_at(out, i) = tt_golden_fit(
			out->dtype, tt_golden_ternary(row->fn, &factor, x[0], x[1], x[2]));
	}
	return TTNN_OK;
}

/* ---- the rows --------------------------------------------------------------------------------------------- */

#define MC "memory_config: MemoryConfig? = None"
#define OUT MC ", output_tensor: Tensor? = None"
#define TAIL OUT ", sub_core_grids: CoreRangeSet? = None"
#define TENSOR_OR_NUMBER "float | int | Tensor"
#define OP(name_, fn_, first_, expand_, doc_, ...)                                                 \
	{.name = "ttnn." name_,                                                                    \
                                                                                                   \
	 .doc = doc_,                                                                              \
	 .sigs = {__VA_ARGS__},                                                                    \
	 .expand = expand_,                                                                        \
	 .golden = ternary_golden,                                                                 \
	 .row = &(const struct row){.fn = TT_TERNARY_##fn_, .memory_of_first = first_}},

/* clang-format off */
static const struct tt_op ops[] = {
	OP("addcdiv", ADDCDIV, false, expand_addcdiv, "a + value b / c.",
	   "input_a: Tensor, input_b: Tensor, input_c: Tensor, *, value: float = 1.0, " OUT)
	OP("addcmul", ADDCMUL, false, expand_addcmul, "a + value b c.",
	   "input_a: Tensor, input_b: Tensor, input_c: Tensor, *, value: float | int = 1.0, " OUT)
	OP("lerp", LERP, true, expand_lerp, "input + weight (end - input).",
	   "input: Tensor, end: Tensor, weight: Tensor, *, " OUT,
	   "input: Tensor, end: Tensor, weight: float, *, " OUT)
	OP("mac", MAC, true, expand_mac, "a b + c.",
	   "input_tensor_a: Tensor, input_tensor_b: Tensor, input_tensor_c: Tensor, *, " TAIL,
	   "input_tensor_a: Tensor, input_tensor_b: Tensor, value: float, *, " MC,
	   "input_tensor_a: Tensor, value: float, input_tensor_c: Tensor, *, " MC,
	   "input_tensor_a: Tensor, value1: float, value2: float, *, " MC)
	OP("snake_beta", SNAKE_BETA, true, expand_plain, "x + sin(alpha x)² / beta.",
	   "input_tensor: Tensor, alpha: Tensor, beta: Tensor, *, " OUT)
	OP("where", WHERE, false, expand_where,
	   "The true value where the predicate is not 0, else the false value.",
	   "predicate: Tensor, true_value: " TENSOR_OR_NUMBER ", false_value: " TENSOR_OR_NUMBER
	   ", *, " TAIL,
	   "predicate: Tensor, true_value: int, false_value: int, *, " TAIL,
	   "predicate: Tensor, true_value: int, false_value: int, *, " TAIL)
};
/* clang-format on */

const struct tt_op_family tt_family_ternary = {"ternary", ops, TT_COUNT(ops)};
