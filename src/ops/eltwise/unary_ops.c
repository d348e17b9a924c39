/*
 * unary_ops.c: y = f(x), one line an operation. All of them run the program of unary.c; what differs
 * is the chain of functions, their parameters and the signature.
 */
#include <string.h>

#include "golden/golden.h"
#include "ops/eltwise/eltwise.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

/* How an operation's arguments become a chain. */
struct row {
	enum tt_unary_fn fn;
	const char *param[3]; /* arguments that are parameters, in order */
	double fixed;         /* the parameter of a row without such arguments */
	bool has_fixed;
	/* (optional) instead of all that; refuses what upstream refuses */
	tt_status (*steps)(struct tt_unary_step *out, size_t *count, const struct tt_call *call);
};

/* A function of the row, its fixed parameter, and those of the call. */
static tt_status steps_of(struct tt_unary_step *out, size_t *count, const struct tt_call *call)
{
	const struct row *row = call->entry->op->row;

	if (row->steps)
		return row->steps(out, count, call);
	*count = 1;
	*out = (struct tt_unary_step){.fn = row->fn};
	if (row->has_fixed)
		out->params[out->count++] = row->fixed;
	for (size_t i = 0; i < 3 && row->param[i]; i++)
		out->params[out->count++] = tt_call_real(call, row->param[i], 0);
	return TTNN_OK;
}

/* abs of int32 is a function of its own. */
static tt_status unary_expand(struct tt_call *call)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	struct tt_unary_args args = {.input = tt_call_tensor(call, "input_tensor"),
				     .output = tt_call_tensor(call, "output_tensor"),
				     .steps = steps,
				     .memory = tt_call_memory(call, "memory_config"),
				     .grid = tt_call_core_set(call, "sub_core_grids")};
	enum ttnn_dtype dtype = tt_call_dtype(call, "dtype", args.input->spec.dtype);
	struct tt_tensor *out;

	TT_REQUIRE(!args.output || !tt_value_given(tt_call_arg(call, "dtype")) ||
			   args.output->spec.dtype == dtype,
		   "output_dtype == optional_output_tensor.value().dtype()",
		   "If both output dtype and output tensor provided dtype should match");
	args.dtype = &dtype;
	TT_TRY(steps_of(steps, &args.step_count, call));
	if (steps[0].fn == TT_UNARY_ABS && args.input->spec.dtype == TTNN_INT32)
		steps[0].fn = TT_UNARY_ABS_INT32;
	return tt_call_give(call, tt_unary_launch(&out, call, &args), &out);
}

/* The result is the argument itself. */
static tt_status expand_in_place(struct tt_call *call)
{
	struct tt_unary_step step = {.fn = ((const struct row *)call->entry->op->row)->fn};
	struct tt_tensor *input = tt_call_tensor(call, "input_tensor"), *out;
	struct tt_unary_args args = {
		.input = input, .output = input, .steps = &step, .step_count = 1};

	return tt_call_give(call, tt_unary_launch(&out, call, &args), &out);
}

/* The chain in float64. */
static tt_status unary_golden(struct tt_golden *golden)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	size_t count;

	TT_GOLDEN_NEED(out);
	TT_TRY(steps_of(steps, &count, &golden->call));
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = tt_golden_chain(steps, count, in->dtype, *tt_at(in, i));
	return TTNN_OK;
}

/* The parts of pairs along the last dimension: (-im, re). */
static tt_status golden_turn(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i + 1 < in->count; i += 2) {
		*tt_at(out, i) = -*tt_at(in, i + 1);
		*tt_at(out, i + 1) = *tt_at(in, i);
	}
	return TTNN_OK;
}

/* The bits of a number as a type holds it. A bfloat16 is the upper half of a float32. */
static uint32_t bits_of(enum ttnn_dtype dtype, double value)
{
	float real = (float)value;
	uint32_t bits;

	if (tt_dtype_is_integer(dtype))
		return (uint32_t)(int64_t)value;
	memcpy(&bits, &real, sizeof(bits));
	return dtype == TTNN_BFLOAT16 ? bits >> 16 : bits;
}

/* Bits as a number of the dtype. */
static double from_bits(enum ttnn_dtype dtype, uint32_t bits)
{
	float real;

	if (dtype == TTNN_INT32)
		return (int32_t)bits;
	if (tt_dtype_is_integer(dtype))
		return bits;
	bits <<= dtype == TTNN_BFLOAT16 ? 16 : 0;
	memcpy(&real, &bits, sizeof(real));
	return real;
}

/* The same bits read as another dtype. */
static tt_status golden_bitcast(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", TTNN_UINT32);
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = from_bits(dtype, bits_of(in->dtype, *tt_at(in, i)));
	return TTNN_OK;
}

/* ---- chains that are more than a function and its parameters ------------------------------------- */

/* Three forms; fast_and_approximate_mode means the fast one. */
static tt_status steps_gelu(struct tt_unary_step *out, size_t *count, const struct tt_call *call)
{
	const struct ttnn_value *variant = tt_call_arg(call, "variant");
	bool fast = variant->kind == TTNN_VALUE_ENUM
			    ? variant->integer == TT_GELU_FAST
			    : tt_call_bool(call, "fast_and_approximate_mode", false);

	*count = 1;
	*out = (struct tt_unary_step){.fn = TT_UNARY_GELU, .count = 1, .params = {fast}};
	if (variant->kind == TTNN_VALUE_ENUM && variant->integer == TT_GELU_TANH)
		*out = (struct tt_unary_step){.fn = TT_UNARY_GELU_TANH};
	return TTNN_OK;
}

/* 1 / (exp(-x) + 1), step by step, with the fast exponential. */
static void sigmoid_in_steps(struct tt_unary_step *out, size_t *count)
{
	static const struct tt_unary_step steps[] = {
		{.fn = TT_UNARY_NEG},
		{.fn = TT_UNARY_EXP, .count = 1, .params = {1}},
		{.fn = TT_UNARY_ADD_UNARY_SFPU, .count = 1, .params = {1}},
		{.fn = TT_UNARY_RECIP},
	};

	memcpy(out, steps, sizeof(steps));
	*count = sizeof(steps) / sizeof(steps[0]);
}

/* The form with a fast exponential is a chain of functions. */
static tt_status steps_sigmoid(struct tt_unary_step *out, size_t *count, const struct tt_call *call)
{
	int64_t mode = tt_call_arg(call, "mode")->integer;

	*count = 1;
	*out = (struct tt_unary_step){
		.fn = TT_UNARY_SIGMOID,
		.count = 2,
		.params = {tt_call_real(call, "vector_mode", 4), mode == TT_SIGMOID_FAST}};
	if (mode == TT_SIGMOID_FAST_EXP)
		sigmoid_in_steps(out, count);
	return TTNN_OK;
}

static tt_status steps_sigmoid_accurate(struct tt_unary_step *out, size_t *count,
					const struct tt_call *call)
{
	*count = 1;
	*out = (struct tt_unary_step){.fn = TT_UNARY_SIGMOID, .count = 2, .params = {4, 0}};
	if (tt_call_bool(call, "fast_and_approximate_mode", false))
		sigmoid_in_steps(out, count);
	return TTNN_OK;
}

static tt_status steps_logit(struct tt_unary_step *out, size_t *count, const struct tt_call *call)
{
	*count = 1;
	*out = (struct tt_unary_step){
		.fn = TT_UNARY_LOGIT, .count = 1, .params = {tt_call_real(call, "eps", -1)}};
	return TTNN_OK;
}

static tt_status steps_celu(struct tt_unary_step *out, size_t *count, const struct tt_call *call)
{
	double alpha = tt_call_real(call, "alpha", 1);

	*count = 1;
	*out = (struct tt_unary_step){
		.fn = TT_UNARY_CELU, .count = 2, .params = {alpha, 1 / alpha}};
	return TTNN_OK;
}

/* The rounding is a parameter of the function. */
static tt_status steps_rdiv(struct tt_unary_step *out, size_t *count, const struct tt_call *call)
{
	const struct ttnn_value *mode = tt_call_arg(call, "rounding_mode");
	enum tt_rounding rounding;

	TT_REQUIRE(tt_rounding_find(&rounding, mode),
		   "(rounding_mode == std::nullopt || rounding_mode == \"trunc\" || rounding_mode "
		   "== \"floor\")",
		   "Incorrect rounding mode (expected None, 'trunc', or 'floor')");
	*count = 1;
	*out = (struct tt_unary_step){.fn = TT_UNARY_RDIV,
				      .count = 2,
				      .params = {tt_call_real(call, "value", 0), rounding}};
	return TTNN_OK;
}

/* Upstream's range of orders. */
static tt_status steps_polygamma(struct tt_unary_step *out, size_t *count,
				 const struct tt_call *call)
{
	int64_t order = tt_call_int(call, "k", 0);

	TT_REQUIRE(order >= 1 && order <= 11, "k >= 1 && k <= 11",
		   "polygamma order must be in range [1, 11], got %lld", (long long)order);
	*count = 1;
	*out = (struct tt_unary_step){
		.fn = TT_UNARY_POLYGAMMA, .count = 1, .params = {(double)order}};
	return TTNN_OK;
}

static tt_status steps_chain(struct tt_unary_step *out, size_t *count, const struct tt_call *call)
{
	TT_TRY(tt_unary_steps(out, count, tt_call_arg(call, "ops_chain")));
	TT_REQUIRE(*count != 0, "!ops_chain.empty()", "Op chain cannot be empty");
	return TTNN_OK;
}

/* ---- the rows ---------------------------------------------------------------------------------------- */

#define TAIL                                                                                       \
	"memory_config: MemoryConfig? = None, output_tensor: Tensor? = None, "                     \
	"sub_core_grids: CoreRangeSet? = None"
#define PLAIN "input_tensor: Tensor, *, " TAIL
#define FAST "input_tensor: Tensor, *, fast_and_approximate_mode: bool = False, " TAIL
#define WITH(params) "input_tensor: Tensor, " params ", *, " TAIL
#define WITH_KW(params) "input_tensor: Tensor, *, " params ", " TAIL
#define ROW(...) (&(const struct row){__VA_ARGS__})
#define PARAM(...) .param = {__VA_ARGS__}
#define WITH_GOLDEN(name_, doc_, row_, golden_, ...)                                               \
	{.name = "ttnn." name_,                                                                    \
                                                                                                   \
	 .doc = doc_,                                                                              \
	 .sigs = {__VA_ARGS__},                                                                    \
	 .expand = unary_expand,                                                                   \
	 .golden = golden_,                                                                        \
	 .row = row_},
#define OP(name, doc, row, ...) WITH_GOLDEN(name, doc, row, unary_golden, __VA_ARGS__)
/* One function without parameters; with a number that is always the same; fast or accurate. */
#define FN(name, fn_, doc) OP(name, doc, ROW(.fn = TT_UNARY_##fn_), PLAIN)
#define FIXED(name, fn_, number, doc)                                                              \
	OP(name, doc, ROW(.fn = TT_UNARY_##fn_, .fixed = number, .has_fixed = true), PLAIN)
#define FN_FAST(name, fn_, doc)                                                                    \
	OP(name, doc, ROW(.fn = TT_UNARY_##fn_, PARAM("fast_and_approximate_mode")), FAST)
#define FN_PARAM(name, fn_, signature, doc, ...)                                                   \
	OP(name, doc, ROW(.fn = TT_UNARY_##fn_, PARAM(__VA_ARGS__)), signature)
#define CHAIN(name, steps_, doc, ...) OP(name, doc, ROW(.steps = steps_), __VA_ARGS__)

/* clang-format off */
static const struct tt_op ops[] = {
	FN("abs", ABS, "The absolute value.")
	FN("acos", ACOS, "The angle whose cosine is x.")
	FN("acosh", ACOSH, "The inverse hyperbolic cosine.")
	WITH_GOLDEN("alt_complex_rotate90",
		    "Pairs (re, im) along the last dimension turned by 90 degrees: (-im, re).",
		    ROW(.fn = TT_UNARY_ALT_COMPLEX_ROTATE90), golden_turn, PLAIN)
	FN("asin", ASIN, "The angle whose sine is x.")
	FN("asinh", ASINH, "The inverse hyperbolic sine.")
	FN("atan", ATAN, "The angle whose tangent is x.")
	FN("atanh", ATANH, "The inverse hyperbolic tangent.")
	WITH_GOLDEN("bitcast", "The same bits as another type of the same size.",
		    ROW(.fn = TT_UNARY_BITCAST), golden_bitcast, WITH("dtype: DataType"))
	FN("bitwise_not", BITWISE_NOT, "All bits of an integer inverted.")
	FN("cbrt", CBRT, "The cube root.")
	FN("ceil", CEIL, "The smallest whole number not below x.")
	CHAIN("celu", steps_celu, "x, or alpha (exp(x / alpha) - 1) where x is negative.",
	      WITH_KW("alpha: float = 1.0"))
	FN("cos", COS, "The cosine.")
	FN("cosh", COSH, "The hyperbolic cosine.")
	FIXED("deg2rad", MUL_UNARY_SFPU, 0.017453292519943295, "Degrees as radians.")
	FN("digamma", DIGAMMA, "The logarithmic derivative of the gamma function.")
	FN_PARAM("elu", ELU, WITH_KW("alpha: float = 1.0"),
		 "x, or alpha (exp(x) - 1) where x is negative.", "alpha")
	FN("eqz", EQZ, "1 where x is 0, else 0.")
	FN_FAST("erf", ERF, "The error function.")
	FN("erfc", ERFC, "1 less the error function.")
	FN("erfinv", ERFINV, "The inverse of the error function.")
	FN_FAST("exp", EXP, "e to the power of x.")
	FN("exp2", EXP2, "2 to the power of x.")
	FN("expm1", EXPM1, "exp(x) - 1, exact near 0.")
	FN_PARAM("fill", FILL, WITH("fill_value: int | float"), "The same number everywhere.",
		 "fill_value")
	FN("floor", FLOOR, "The largest whole number not above x.")
	FN("frac", FRAC, "What is behind the decimal point.")
	CHAIN("gelu", steps_gelu, "x times the normal distribution's probability of less than x.",
	      WITH_KW("variant: GeluVariant = Accurate"), FAST)
	FN("gez", GEZ, "1 where x is not negative, else 0.")
	FN("gtz", GTZ, "1 where x is positive, else 0.")
	FN("hardmish", HARDMISH, "x clamp(0.5 x + 1, 0, 1).")
	FN_PARAM("hardshrink", HARDSHRINK, WITH_KW("lambd: float = 0.5"),
		 "x where it is beyond lambd of 0, else 0.", "lambd")
	FN("hardsigmoid", HARDSIGMOID, "clamp(x / 6 + 1/2, 0, 1).")
	FN("hardswish", HARDSWISH, "x clamp(x / 6 + 1/2, 0, 1).")
	FN_PARAM("hardtanh", HARDTANH, WITH_KW("min_val: float = -1.0, max_val: float = 1.0"),
		 "x held between min_val and max_val.", "min_val", "max_val")
	FN_PARAM("heaviside", HEAVISIDE, WITH("value: float"),
		 "0 where x is negative, 1 where it is positive, else the value.", "value")
	FN("i0", I0, "The modified Bessel function of order 0.")
	FN("i1", I1, "The modified Bessel function of order 1.")
	FN("identity", IDENTITY, "x.")
	FN("isfinite", ISFINITE, "1 where x is neither infinite nor NaN, else 0.")
	FN("isinf", ISINF, "1 where x is infinite, else 0.")
	FN("isnan", ISNAN, "1 where x is NaN, else 0.")
	FN("isneginf", ISNEGINF, "1 where x is minus infinity, else 0.")
	FN("isposinf", ISPOSINF, "1 where x is plus infinity, else 0.")
	FN_PARAM("leaky_relu", LEAKY_RELU, WITH("negative_slope: float"),
		 "x, or slope times x where x is negative.", "negative_slope")
	FN("lez", LEZ, "1 where x is not positive, else 0.")
	FN("lgamma", LGAMMA, "The logarithm of the gamma function's absolute value.")
	FN_FAST("log", LOG, "The natural logarithm.")
	FN_FAST("log10", LOG10, "The logarithm to base 10.")
	FN_FAST("log1p", LOG1P, "log(1 + x), exact near 0.")
	FN_FAST("log2", LOG2, "The logarithm to base 2.")
	FN("log_sigmoid", LOGSIGMOID, "The logarithm of the sigmoid.")
	FN("logical_not", LOGICAL_NOT_UNARY, "1 where x is 0, else 0.")
	{.name = "ttnn.logical_not_",
	 .doc = "logical_not() written over its argument.",
	 .sigs = {"input_tensor: Tensor, *, memory_config: MemoryConfig? = None"},
	 .expand = expand_in_place, .golden = unary_golden,
	 .row = ROW(.fn = TT_UNARY_LOGICAL_NOT_UNARY)},
	CHAIN("logit", steps_logit, "log(x / (1 - x)), x first held between eps and 1 - eps.",
	      WITH_KW("eps: float? = None"))
	FN("ltz", LTZ, "1 where x is negative, else 0.")
	FN_FAST("mish", MISH, "x tanh(log(1 + exp(x))).")
	FN("neg", NEG, "-x.")
	FN("nez", NEZ, "1 where x is not 0, else 0.")
	CHAIN("polygamma", steps_polygamma, "The k-th derivative of the digamma function.",
	      "input_tensor: Tensor, k: int, *, memory_config: MemoryConfig? = None")
	FIXED("rad2deg", MUL_UNARY_SFPU, 57.29577951308232, "Radians as degrees.")
	CHAIN("rdiv", steps_rdiv, "The value divided by x, rounded down, towards 0 or not at all.",
	      "input_tensor: Tensor, value: float, *, rounding_mode: str? = None, " TAIL)
	FN("reciprocal", RECIP, "1 / x.")
	FN("relu", RELU, "The larger of x and 0.")
	FN("relu6", RELU6, "x held between 0 and 6.")
	FN_PARAM("relu_max", RELU_MAX, WITH("upper_limit: int | float"),
		 "x held between 0 and the limit.", "upper_limit")
	FN_PARAM("relu_min", RELU_MIN, WITH("lower_limit: int | float"),
		 "The larger of x and the limit.", "lower_limit")
	FN_PARAM("round", ROUND, WITH_KW("decimals: int? = 0"),
		 "x rounded to that many decimals, halves to even.", "decimals")
	FN_PARAM("rpow", RPOW, WITH("exponent: float"), "The number to the power of x.", "exponent")
	FN_FAST("rsqrt", RSQRT, "1 divided by the square root.")
	FN_PARAM("selu", SELU,
		 WITH_KW("scale: float = 1.0506999492645264, alpha: float = 1.673259973526001"),
		 "scale times x, or scale alpha (exp(x) - 1) where x is negative.", "scale", "alpha")
	CHAIN("sigmoid", steps_sigmoid, "1 / (1 + exp(-x)).",
	      WITH_KW("vector_mode: int = 4, mode: SigmoidMode = Accurate"))
	CHAIN("sigmoid_accurate", steps_sigmoid_accurate, "1 / (1 + exp(-x)).",
	      WITH("fast_and_approximate_mode: bool = False"))
	FN("sign", SIGN, "-1, 0 or 1 as x is negative, 0 or positive.")
	FN("signbit", SIGNBIT, "1 where the sign bit is set, else 0.")
	FN("silu", SILU, "x times its sigmoid.")
	FN("sin", SIN, "The sine.")
	FN("sinh", SINH, "The hyperbolic sine.")
	FN_PARAM("softcap", SOFTCAP, WITH("beta: float"), "beta tanh(x / beta).", "beta")
	FN_PARAM("softplus", SOFTPLUS, WITH_KW("beta: float = 1.0, threshold: float = 20.0"),
		 "log(1 + exp(beta x)) / beta, or x above the threshold.", "beta", "threshold")
	FN_PARAM("softshrink", SOFTSHRINK, WITH_KW("lambd: float = 0.5"),
		 "x moved towards 0 by lambd, or 0 within that.", "lambd")
	FN("softsign", SOFTSIGN, "x / (1 + |x|).")
	FN_FAST("sqrt", SQRT, "The square root.")
	FN("square", SQUARE, "x times x.")
	FN("swish", SILU, "x times its sigmoid.")
	FN("tan", TAN, "The tangent.")
	OP("tanh", "The hyperbolic tangent.",
	   ROW(.fn = TT_UNARY_TANH, PARAM("fast_and_approximate_mode")),
	   "input_tensor: Tensor, *, memory_config: MemoryConfig? = None, output_tensor: Tensor? = None, "
	   "fast_and_approximate_mode: bool = False, sub_core_grids: CoreRangeSet? = None")
	FN("tanhshrink", TANHSHRINK, "x - tanh(x).")
	FN_PARAM("threshold", THRESHOLD, WITH("threshold: float, value: float"),
		 "x above the threshold, else the value.", "threshold", "value")
	FN("trunc", TRUNC, "x without what is behind the decimal point.")
	CHAIN("unary_chain", steps_chain, "Several functions, one after the other, in one program.",
	      WITH("ops_chain: Unarys"))
	FN_PARAM("xielu", XIELU,
		 WITH_KW("alpha_p: float = 0.800000011920929, alpha_n: float = 0.800000011920929"),
		 "alpha_p x² + x / 2 where x is positive, else alpha_n (exp(x) - 1 - x) + x / 2.",
		 "alpha_p", "alpha_n")
};
/* clang-format on */

const struct tt_op_family tt_family_unary = {"unary", ops, TT_COUNT(ops)};
