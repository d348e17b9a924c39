/*
 * backward.c: gradients of functions of one operand, one line each: the recipe by which upstream
 * computes it and the derivative as its textbook has it. Gradients by programs of their own and those
 * that need a decision first have a function.
 */
#include "ops/eltwise/backward.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/eltwise/backward_program.h"
#include "ops/eltwise/eltwise.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

/* ---- what tables share --------------------------------------------------------------------------- */

void tt_backward_name(struct tt_backward *backward, const char *name, struct ttnn_value value)
{
	if (backward->more_count < TT_BACKWARD_NAMES - 4)
		backward->more[backward->more_count++] = (struct tt_recipe_name){name, value};
}

/* Recipes name the operands g (gradient), a or x, b and c, whatever the signature calls them. */
tt_status tt_backward_run(struct tt_call *call, const struct tt_backward *backward)
{
	static const char *const names[] = {"g", "a", "b", "c"};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_recipe_name bound[TT_BACKWARD_NAMES + 1];
	struct tt_recipe recipe = {.text = backward->text,
				   .memory = memory ? memory : backward->fallback,
				   .names = bound};

	for (size_t i = 0; i < 4 && i < call->args->sig->count; i++) {
		const struct ttnn_value *value = &call->args->values[i];

		bound[recipe.name_count++] = (struct tt_recipe_name){names[i], *value};
		if (i == 1)
			bound[recipe.name_count++] = (struct tt_recipe_name){"x", *value};
	}
	for (size_t i = 0; i < backward->more_count; i++)
		bound[recipe.name_count++] = backward->more[i];
	return tt_recipe_run(call, &recipe);
}

/* A given tensor, or one made as upstream makes it: empty_like. */
tt_status tt_backward_output(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *given,
			     struct tt_tensor *like)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(like)},
					{"memory_config", *tt_call_arg(call, "memory_config")}};

	if (given) {
		*out = given;
		return TTNN_OK;
	}
	return tt_call_owned(call, tt_call_op(out, call, "ttnn.empty_like", args, 2), out);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

struct row {
	const char *text;
	double (*slope)(double x, double p, double q); /* of the function, at x */
	const char *param[2];                          /* arguments that are p and q */
	bool like_gradient; /* a new output is like the gradient, not like the operand */
	bool complement;    /* the number of expand_with_number() is 1 - p, else 1 / p */
	enum tt_unary_backward program; /* of expand_by_program() */
	bool lazy; /* makes no output when one is given; upstream mostly makes one and drops it */
};

static tt_status backward_expand(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;

	return tt_backward_run(call, &(struct tt_backward){.text = row->text});
}

/* The same, written into a tensor that the caller may give. */
static tt_status expand_into(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	struct tt_backward backward = {.text = row->text};
	const struct ttnn_value *like = &call->args->values[row->like_gradient ? 0 : 1];
	struct tt_tensor *given = tt_call_tensor(call, "input_grad"), *out;

	if (given && !row->lazy) {
		TT_TRY(tt_backward_output(&out, call, NULL, like->tensor));
		tt_call_drop(call, out);
	}
	TT_TRY(tt_backward_output(&out, call, given, like->tensor));
	tt_backward_name(&backward, "out", ttnn_v_tensor(out));
	return tt_backward_run(call, &backward);
}

double tt_backward_golden(const struct tt_golden *golden, double grad, double slope)
{
	if (tt_call_arg(&golden->call, "rounding_mode")->kind == TTNN_VALUE_STRING)
		slope = 0;
	return grad * (fabs(slope) > (double)FLT_MAX ? copysign(INFINITY, slope) : slope);
}

/* The gradient times the derivative, element by element. */
static tt_status backward_golden(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	const struct tt_array *grad = tt_golden_in(golden, golden->call.args->sig->args[0].name);
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	double params[2] = {0, 0};

	TT_GOLDEN_NEED(out && grad);
	for (int i = 0; i < 2 && row->param[i]; i++)
		params[i] = tt_call_real(&golden->call, row->param[i], 0);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = tt_backward_golden(
			golden, *tt_at(grad, i), row->slope(*tt_at(in, i), params[0], params[1]));
	return TTNN_OK;
}

/* ---- gradients that need a decision first -------------------------------------------------------------- */

/* The form of gelu: an enumeration since 0.81, a word before. */
static tt_status gelu_form(enum tt_unary_backward *out, const struct tt_call *call)
{
	const struct ttnn_value *variant = tt_call_arg(call, "variant");
	const struct ttnn_value *word = tt_call_arg(call, "approximate");
	bool tanh_form = variant->kind == TTNN_VALUE_ENUM && variant->integer == TT_GELU_TANH;

	TT_REQUIRE(variant->kind != TTNN_VALUE_ENUM || variant->integer != TT_GELU_FAST,
		   "variant != operations::unary::GeluVariant::FAST_LUT",
		   "GELU_BW does not support GeluVariant::FAST_LUT because no matching backward "
		   "kernel is available.");
	if (word->kind == TTNN_VALUE_STRING) {
		tanh_form = strcmp(word->text, "tanh") == 0;
		TT_REQUIRE(tanh_form || strcmp(word->text, "none") == 0,
			   "(approximate == \"none\" || approximate == \"tanh\")",
			   "Incorrect approximate mode (expected 'none', 'tanh')");
	}
	*out = tanh_form ? TT_GELU_TANH_BW : TT_GELU_BW;
	return TTNN_OK;
}

/* tanh, sigmoid and gelu have programs; gelu's given output decides its memory. */
static tt_status expand_by_program(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	struct tt_unary_backward_args args = {
		.fn = row->program,
		.grad = call->args->values[0].tensor,
		.input = call->args->values[1].tensor,
		.output = tt_call_tensor(call, "input_grad"),
		.memory = tt_call_memory(call, "memory_config"),
	};
	struct tt_tensor *out;

	if (args.fn == TT_GELU_BW) {
		TT_TRY(gelu_form(&args.fn, call));
		if (args.output)
			args.memory = &args.output->spec.memory;
	}
	return tt_call_give(call, tt_unary_backward_launch(&out, call, &args), &out);
}

/* The older form takes no mixture of types. */
static tt_status expand_experimental(struct tt_call *call)
{
	enum ttnn_dtype grad = tt_call_tensor(call, "grad_output_tensor")->spec.dtype;
	enum ttnn_dtype in = tt_call_tensor(call, "input_tensor")->spec.dtype;

	TT_REQUIRE(grad == in, "grad_output.dtype() == input_tensor.dtype()",
		   "GELU_BW operation requires grad_output and input data types to match. "
		   "grad_output data type: %d, input data type: %d",
		   (int)grad, (int)in);
	return expand_by_program(call);
}

/* With both bounds the results go to the input's memory. */
static tt_status expand_clamp(struct tt_call *call)
{
	bool low = tt_value_given(tt_call_arg(call, "min"));
	bool high = tt_value_given(tt_call_arg(call, "max"));
	struct tt_backward backward = {.text = "l = ge(x, min); h = le(x, max); "
					       "r = logical_and(l, h); r = where(r, g, 0.0); "
					       "return r"};

	TT_REQUIRE(low || high, "(max.has_value() || min.has_value())",
		   "Only one of 'min' or 'max' can be None. Please provide one value");
	if (low && high)
		backward.fallback = &call->args->values[1].tensor->spec.memory;
	else
		backward.text = low ? "return where(ge(x, min), g, 0.0)"
				    : "return where(le(x, max), g, 0.0)";
	return tt_backward_run(call, &backward);
}

/* The gradient where the input is within its bounds. */
static tt_status golden_clamp(struct tt_golden *golden)
{
	const struct tt_array *grad = tt_golden_in(golden, "grad_tensor"), *bounds[2] = {NULL};
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	double numbers[2] = {-INFINITY, INFINITY};

	for (int i = 0; i < 2; i++) {
		const struct ttnn_value *value = tt_call_arg(&golden->call, i ? "max" : "min");

		tt_value_number(&numbers[i], value);
		if (value->kind == TTNN_VALUE_TENSOR)
			bounds[i] = tt_golden_in(golden, i ? "max" : "min");
	}
	TT_GOLDEN_NEED(out && grad);
	for (uint64_t i = 0; i < in->count; i++) {
		double low = bounds[0] ? *tt_at(bounds[0], i) : numbers[0];
		double high = bounds[1] ? *tt_at(bounds[1], i) : numbers[1];

		*tt_at(out, i) =
			*tt_at(in, i) >= low && *tt_at(in, i) <= high ? *tt_at(grad, i) : 0;
	}
	return TTNN_OK;
}

/* Recipes with a number that is worked out here, under the name n. */
static tt_status expand_with_number(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	struct tt_backward backward = {.text = row->text};
	float parameter = (float)tt_call_real(call, row->param[0], 0);

	tt_backward_name(&backward, "n",
			 ttnn_v_real(row->complement ? 1.0 - (double)parameter
						     : (double)(1.0f / parameter)));
	return tt_backward_run(call, &backward);
}

/* The derivative of order n is polygamma of order n + 1; the pole's sign follows the order. */
static tt_status expand_polygamma(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	struct tt_backward backward = {.text = row->text};
	int64_t order = tt_call_int(call, "n", 0);
	double pole = order % 2 == 0 && order >= 2 && order <= 10 ? INFINITY : -INFINITY;

	tt_backward_name(&backward, "next", ttnn_v_int(order + 1));
	tt_backward_name(&backward, "pole", ttnn_v_real(pole));
	return tt_backward_run(call, &backward);
}

/* Upstream computes in float32, and with pow of |n - 1| and a reciprocal below 1. */
static tt_status expand_pow(struct tt_call *call)
{
	float exponent = (float)tt_call_real(call, "exponent", 0);
	struct tt_tensor *input = call->args->values[1].tensor, *out;
	struct tt_backward backward = {
		.text = exponent < 1
				? "p = pow(x, n); p = reciprocal(p); r = multiply(p, exponent);"
				  " drop p; f = multiply(r, g); drop r; "
				  "_ = where(lez~(x), inf, f, output_tensor=out); return out"
				: "p = pow(x, n); r = multiply(p, exponent); drop p; "
				  "f = multiply(r, g); drop r; "
				  "_ = where(lez~(x), inf, f, output_tensor=out); return out"};

	TT_REQUIRE(exponent >= 0, "exponent >= 0.0",
		   "negative exponents are not supported; use recip(pow(input,abs(exponent)))");
	TT_TRY(tt_backward_output(&out, call, tt_call_tensor(call, "input_grad"), input));
	tt_backward_name(&backward, "out", ttnn_v_tensor(out));
	tt_backward_name(&backward, "n", ttnn_v_real((double)fabsf(exponent - 1)));
	if (exponent < 1.1920929e-06f)
		backward.text = "_ = zeros_like(x, optional_tensor=out); return out";
	return tt_backward_run(call, &backward);
}

/* An exponent of 0 gives zeros. */
static tt_status expand_rpow(struct tt_call *call)
{
	float exponent = (float)tt_call_real(call, "exponent", 0);
	struct tt_backward backward = {
		.text = exponent != 0 ? "y = zeros_like(x); "
					"y = multiply(g, multiply(pow(x, n), exponent)); "
					"y = where(ltz(x), nan, y); return y"
				      : "return zeros_like(x)"};

	tt_backward_name(&backward, "n", ttnn_v_real((double)(exponent - 1)));
	return tt_backward_run(call, &backward);
}

#define POLES "y = where(logical_and(eqz(x), "
/* Rounded quotients have none either; at 0 the sign of both sides decides. */
static tt_status expand_rdiv(struct tt_call *call)
{
	double scalar = tt_call_real(call, "scalar", 0);
	enum tt_rounding rounding;
	struct tt_backward backward = {
		.text = "r = reciprocal(x); y = where(nez~(x), multiply(neg(g), "
			"multiply(multiply(r, scalar), r)), nan); drop r; " POLES
			"ltz(g)), pole, y); " POLES "gtz(g)), -pole, y); return y"};

	TT_REQUIRE(tt_rounding_find(&rounding, tt_call_arg(call, "rounding_mode")),
		   "(rounding_mode == std::nullopt || rounding_mode == \"trunc\" || rounding_mode "
		   "== \"floor\")",
		   "Incorrect rounding mode (expected None, 'trunc', or 'floor')");
	if (rounding != TT_ROUND_NOT)
		backward.text = "return zeros_like(g)";
	else if (scalar == 0)
		backward.text = "r = reciprocal(x); y = where(nez~(x), multiply(neg(g), "
				"multiply(multiply(r, scalar), r)), nan); drop r; return y";
	tt_backward_name(&backward, "pole",
			 ttnn_v_real(scalar > 0 ? (double)INFINITY : (double)-INFINITY));
	return tt_backward_run(call, &backward);
}

static tt_status expand_fill(struct tt_call *call)
{
	return tt_backward_run(
		call, &(struct tt_backward){
			      .text = tt_call_tensor(call, "input_grad")
					      ? "return zeros_like(g, optional_tensor=input_grad)"
					      : "return zeros_like(g)"});
}

/* ---- derivatives -------------------------------------------------------------------------------------------- */

#define PI 3.14159265358979323846
#define LN2 0.69314718055994530942
#define LN10 2.30258509299404568402

static double psi(double order, double x)
{
	const struct tt_unary_step digamma = {.fn = TT_UNARY_DIGAMMA};
	const struct tt_unary_step higher = {
		.fn = TT_UNARY_POLYGAMMA, .count = 1, .params = {order}};

	return tt_golden_unary(order != 0 ? &higher : &digamma, x);
}

static double forward(enum tt_unary_fn fn, double x)
{
	return tt_golden_unary(&(struct tt_unary_step){.fn = fn}, x);
}

static double gelu_slope(double x)
{
	return 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-x * x / 2) / sqrt(2 * PI);
}

#define STEP(call) "_ = " call "; "
#define ONTO ", output_tensor=out)"
#define LOGARITHM(factor)                                                                          \
	"t = where(ltz(g), -inf, inf); y = multiply(g, reciprocal(multiply(x, " factor "))); "     \
	"y = where(logical_and(eqz(x), eqz(g)), nan, where(eqz(x), t, y)); return y"
#define LIMITED(function)                                                                          \
	"y = multiply(g, " function "); "                                                          \
	"y = where(ge(y, 3.4e38), inf, where(le(y, -3.4e38), -inf, y)); return y"
#define CHAIN(functions) "return multiply(g, unary_chain(x, [" functions "]))"
#define SIGNED_INF "multiply(sign(g), inf)"

/*
 * P(name, recipe, derivative)                   no parameters
 * W(name, signature, p, q, recipe, derivative)  keyword parameters, of which two may be p and q
 * I(name, recipe, derivative)                   written into input_grad
 */
#define GRADIENTS(P, W, I)                                                                          \
	P(abs, "return multiply(g, sign(x))", x > 0 ? 1 : x < 0 ? -1 : 0)                           \
	P(acos,                                                                                     \
	  "n = neg(x); r = rsqrt(add(multiply(n, x), 1.0)); r = neg(r); y = multiply(g, r); "       \
	  "t = multiply(sign(g), -inf); "                                                           \
	  "y = where(logical_or(lt(x, -1.0), gt(x, 1.0)), nan, y); "                                \
	  "y = where(eq(x, -1.0), t, where(eq(x, 1.0), t, y)); return y",                           \
	  -1 / sqrt(1 - x * x))                                                                     \
	P(acosh,                                                                                    \
	  "q = square(x); r = rsqrt(subtract(q, 1.0)); y = multiply(g, r); "                        \
	  "c = multiply(signbit(g), -1.0); "                                                        \
	  "y = where(logical_or(lt(q, 1.0), logical_and(eq(x, 1.0), eqz(g))), nan, "                \
	  "where(logical_and(le(x, 1.0), ge(x, -1.0)), multiply(add(c, eqz(c)), inf), y)); "        \
	  "return y",                                                                               \
	  1 / sqrt(x * x - 1))                                                                      \
	P(asin,                                                                                     \
	  "y = multiply(g, unary_chain(x, [SQUARE, NEG, ADD_UNARY_SFPU(1.0), RSQRT])); "            \
	  "l = add(x, -1); h = add(x, 1); "                                                         \
	  "return where(ltz(h), nan, where(gtz(l), nan, where(eqz(h), " SIGNED_INF ", "             \
	  "where(eqz(l), " SIGNED_INF ", y))))",                                                    \
	  1 / sqrt(1 - x * x))                                                                      \
	P(asinh, CHAIN("SQUARE, ADD_UNARY_SFPU(1.0), RSQRT"), 1 / sqrt(1 + x * x))                  \
	P(atan, CHAIN("SQUARE, ADD_UNARY_SFPU(1.0), RECIP"), 1 / (1 + x * x))                       \
	P(atanh,                                                                                    \
	  "y = multiply(g, unary_chain(x, [SQUARE, SUB_UNARY_SFPU(1.0), NEG, RECIP])); "            \
	  "s = logical_or(eq(x, 1), eq(x, -1)); y = where(logical_and~(s, eqz(g)), nan, y); "       \
	  "y = where(logical_and~(s, nez(g)), inf, y); "                                            \
	  "y = where(logical_and~(eq(y, inf), ltz(g)), -inf, y); return y",                         \
	  1 / (1 - x * x))                                                                          \
	P(ceil, "return zeros_like(g)", 0 * x)                                                      \
	P(cos, "return multiply(g, neg(sin(x)))", -sin(x))                                          \
	P(cosh, LIMITED("sinh(x)"), sinh(x))                                                        \
	P(deg2rad, "return multiply(g, 0.017453292519943295)", PI / 180 + 0 * x)                    \
	P(digamma,                                                                                  \
	  "y = multiply(g, polygamma(x, 1)); " POLES "eqz(g)), nan, y); " POLES                     \
	  "ltz(g)), -inf, y); " POLES "gtz(g)), inf, y); return y",                                 \
	  psi(1, x))                                                                                \
	P(erf,                                                                                      \
	  "return multiply(multiply(x, g, input_tensor_a_activations=[SQUARE, NEG, EXP(0.0)]), "    \
	  "1.1283791670955126)",                                                                    \
	  2 / sqrt(PI) * exp(-x * x))                                                               \
	P(erfc, "return multiply(multiply(exp(neg(square(x))), g), -1.1283791670955126)",           \
	  -2 / sqrt(PI) * exp(-x * x))                                                              \
	P(erfinv,                                                                                   \
	  "y = multiply(multiply(x, g, input_tensor_a_activations=[ERFINV, SQUARE, EXP(0.0)]), "    \
	  "0.886226925452758); t = multiply(g, inf, input_tensor_a_activations=[SIGN]); "           \
	  "y = where(logical_or(x, x, input_tensor_a_activations=[UNARY_LT(-1.0)], "                \
	  "input_tensor_b_activations=[UNARY_GT(1.0)]), nan, y); "                                  \
	  "y = where(eq(x, 1.0, input_tensor_a_activations=[ABS, UNARY_EQ(1.0)]), t, y); return y", \
	  sqrt(PI) / 2 * exp(pow(forward(TT_UNARY_ERFINV, x), 2)))                                  \
	I(exp, "e = exp(x); _ = multiply(g, e" ONTO "; return out", exp(x))                         \
	P(exp2, "e = exp2(x); e = multiply(e, 0.6931471805599453); return multiply(g, e)",          \
	  LN2 *exp2(x))                                                                             \
	P(expm1, "e = exp(x); return multiply(g, e)", exp(x))                                       \
	P(fill_zero, "return zeros_like(g)", 0 * x)                                                 \
	P(floor, "return zeros_like(g)", 0 * x)                                                     \
	P(frac, "return g", 1 + 0 * x)                                                              \
	W(hardshrink, "lambd: float = 0.5", "lambd", NULL,                                          \
	  "h = hardshrink(x, lambd=lambd); return where(eqz(h), 0.0, g)", fabs(x) > p)              \
	P(hardsigmoid,                                                                              \
	  "return where(logical_or(le(x, -3.0), ge(x, 3.0)), 0.0, multiply~(g, 0.16666667))",       \
	  fabs(x) < 3 ? 1.0 / 6 : 0)                                                                \
	P(hardswish,                                                                                \
	  "return where(lt(x, -3.0), 0.0, where~(le(x, 3.0), "                                      \
	  "multiply(g, add(multiply(x, 0.3333), 0.5)), g))",                                        \
	  x<-3 ? 0 : x> 3 ? 1 : x / 3 + 0.5)                                                        \
	W(hardtanh, "min: float = -1.0, max: float = 1.0", "min", "max",                            \
	  "return where(le(x, min), 0.0, where~(ge(x, max), 0.0, g))", x > p && x < q)              \
	P(i0, "i = i1(x); return multiply(g, i)", forward(TT_UNARY_I1, x))                          \
	W(leaky_relu, "negative_slope: float = 0.009999999776482582", "negative_slope", NULL,       \
	  "return where(gtz(x), g, multiply(g, negative_slope))", x > 0 ? 1 : p)                    \
	P(lgamma, "return multiply(g, digamma(x))", psi(0, x))                                      \
	P(log,                                                                                      \
	  "y = multiply(g, reciprocal(x)); "                                                        \
	  "return where(eqz(x), where(eqz(g), nan, " SIGNED_INF "), y)",                            \
	  1 / x)                                                                                    \
	P(log10, LOGARITHM("2.302585092994046"), 1 / (x * LN10))                                    \
	P(log1p,                                                                                    \
	  "t = where(ltz(g), -inf, inf); p = add(x, 1.0); y = multiply(g, reciprocal(p)); "         \
	  "y = where(eq(x, -1.0), t, y); y = where(logical_and~(eqz(p), eqz(g)), nan, y); "         \
	  "return y",                                                                               \
	  1 / (1 + x))                                                                              \
	P(log2, LOGARITHM("0.6931471805599453"), 1 / (x * LN2))                                     \
	P(log_sigmoid,                                                                              \
	  "m = where(ltz(x), 1.0, 0.0); s = where(ltz(x), 1.0, -1.0); t = abs(x); "                 \
	  "z = exp(neg(t)); q = multiply(z, reciprocal(add(z, 1.0))); r = multiply(s, q); "         \
	  "d = subtract(m, r); return multiply(g, d)",                                              \
	  1 / (1 + exp(x)))                                                                         \
	P(logit,                                                                                    \
	  "y = multiply(g, reciprocal~(multiply(x, rsub(x, 1.0)))); "                               \
	  "s = logical_and(ge(x, 0.0), le(x, 1.0)); y = where~(s, y, nan); "                        \
	  "y = where(logical_or(eq(x, 0.0), eq(x, 1.0)), " SIGNED_INF ", y); return y",             \
	  x >= 0 && x <= 1 ? 1 / (x * (1 - x)) : (double)NAN)                                       \
	P(multigammaln,                                                                             \
	  "d = multiply(g, digamma(x)); e = multiply(g, digamma(add(x, -0.5))); y = add(d, e); "    \
	  "d = multiply(g, digamma(add(x, -1.0))); y = add(y, d); "                                 \
	  "d = multiply(g, digamma(add(x, -1.5))); y = add(y, d); return y",                        \
	  psi(0, x) + psi(0, x - 0.5) + psi(0, x - 1) + psi(0, x - 1.5))                            \
	I(neg, "_ = neg(g" ONTO "; return out", -1 + 0 * x)                                         \
	P(rad2deg, "return multiply(g, 57.29577951308232)", 180 / PI + 0 * x)                       \
	P(reciprocal,                                                                               \
	  "return where(eqz(x), where(eqz(g), nan, "                                                \
	  "multiply(g, -inf, input_tensor_a_activations=[SIGN])), multiply(g, x, "                  \
	  "input_tensor_a_activations=[NEG], input_tensor_b_activations=[SQUARE, RECIP]))",         \
	  -1 / (x * x))                                                                             \
	P(relu, "return where(gtz(x), g, 0.0)", x > 0)                                              \
	P(relu6, "return where(logical_and(gtz(x), lt(x, 6.0)), g, 0.0)", x > 0 && x < 6)           \
	P(round, "return zeros_like(g)", 0 * x)                                                     \
	P(selu,                                                                                     \
	  "l = multiply(g, 1.0507); "                                                               \
	  "return where(gtz(x), l, multiply(multiply(l, 1.67326), exp(x)))",                        \
	  1.0507 * (x > 0 ? 1 : 1.67326 * exp(x)))                                                  \
	P(sign, "return zeros_like(g)", 0 * x)                                                      \
	I(silu,                                                                                     \
	  "s = sigmoid(x); m = multiply(g, s); "                                                    \
	  "d = add(multiply(rsub(s, 1.0), x), 1.0); _ = multiply(m, d" ONTO "; return out",         \
	  (1 + x - x / (1 + exp(-x))) / (1 + exp(-x)))                                              \
	P(sin, "return multiply(g, cos(x))", cos(x))                                                \
	P(sinh, LIMITED("cosh(x)"), cosh(x))                                                        \
	W(softplus, "beta: float = 1.0, threshold: float = 20.0", "beta", "threshold",              \
	  "m = multiply(x, beta); t = multiply(g, sigmoid(m)); "                                    \
	  "y = where(gt(m, threshold), g, t); drop m; drop t; return y",                            \
	  p *x > q ? 1 : 1 / (1 + exp(-p * x)))                                                     \
	W(softshrink, "lambd: float = 0.5", "lambd", NULL,                                          \
	  "return where(logical_or(lt(x, -lambd), gt(x, lambd)), g, 0.0)", fabs(x) > p)             \
	P(softsign, CHAIN("ABS, ADD_UNARY_SFPU(1.0), SQUARE, RECIP"), pow(1 + fabs(x), -2))         \
	I(sqrt,                                                                                     \
	  STEP("sqrt(x" ONTO) STEP("multiply(g, reciprocal(multiply(out, 2.0))" ONTO)               \
		  STEP("where(lez(x), nan, out" ONTO) STEP(                                         \
			  "where(logical_and(eqz(x), ltz(g)), -inf, out" ONTO)                      \
			  STEP("where(logical_and(eqz(x), gtz(g)), inf, out" ONTO) "return out",    \
	  0.5 / sqrt(x))                                                                            \
	P(square, "return multiply(multiply(g, 2.0), x)", 2 * x)                                    \
	P(tan, "t = tan(x); return multiply(g, add(square(t), 1.0))", 1 + tan(x) * tan(x))          \
	P(tanhshrink, "t = square(tanh(x)); return multiply(g, t)", tanh(x) * tanh(x))              \
	P(trunc, "return zeros_like(g)", 0 * x)                                                     \
	W(elu, "alpha: float = 1.0", "alpha", NULL,                                                 \
	  "return where(gtz(x), g, multiply(g, multiply(exp(x), alpha)))", x > 0 ? 1 : p * exp(x))

#define SLOPE(name, derivative)                                                                    \
	static double slope_##name(double x, double p, double q)                                   \
	{                                                                                          \
		(void)p;                                                                           \
		(void)q;                                                                           \
		return derivative;                                                                 \
	}
#define P_SLOPE(name, recipe, derivative) SLOPE(name, derivative)
#define W_SLOPE(name, signature, p, q, recipe, derivative) SLOPE(name, derivative)
GRADIENTS(P_SLOPE, W_SLOPE, P_SLOPE)

SLOPE(celu, x > 0 ? 1 : exp(x / p))
SLOPE(div_no_nan, p == 0 ? 0 * x : 1 / p)
SLOPE(fill, 0 * x)
SLOPE(gelu, gelu_slope(x))
SLOPE(logiteps, x >= p && x <= 1 - p ? 1 / (x * (1 - x)) : 0)
SLOPE(polygamma, psi(trunc(p) + 1, x))
SLOPE(pow, p *pow(x, p - 1))
SLOPE(rdiv, -p / (x * x))
SLOPE(rpow, p *pow(x, p - 1))
SLOPE(rsqrt, -0.5 * pow(x, -1.5))
SLOPE(sigmoid, exp(-x) / pow(1 + exp(-x), 2))
SLOPE(tanh, pow(cosh(x), -2))
SLOPE(threshold, x > p)

/* ---- rows -------------------------------------------------------------------------------------------------------- */

#define MC "memory_config: MemoryConfig? = None"
#define GRADIENT "grad_tensor: Tensor, input_tensor: Tensor, "
#define INTO MC ", input_grad: Tensor? = None"
#define OP(name_, expand_, golden_, row_, ...)                                                     \
	{                                                                                          \
		.name = "ttnn." name_ "_bw", .doc = "The gradient of " name_ ".",                  \
		.sigs = {__VA_ARGS__}, .expand = expand_, .golden = golden_, .row = row_,          \
		.gives = "[Tensor]"                                                                \
	}
#define ROW(name_, text_, ...)                                                                     \
	(&(const struct row){.text = text_, .slope = slope_##name_, __VA_ARGS__})
#define PARAM(...) .param = {__VA_ARGS__}
#define P_ROW(name_, recipe, derivative)                                                           \
	OP(#name_, backward_expand, backward_golden, ROW(name_, recipe, ), GRADIENT "*, " MC),
#define W_ROW(name_, signature, p, q, recipe, derivative)                                          \
	OP(#name_, backward_expand, backward_golden, ROW(name_, recipe, PARAM(p, q)),              \
	   GRADIENT "*, " signature ", " MC),
#define I_ROW(name_, recipe, derivative)                                                           \
	OP(#name_, expand_into, backward_golden, ROW(name_, recipe, ), GRADIENT "*, " INTO),
#define BOUNDS(type) GRADIENT "min: " type "? = None, max: " type "? = None, *, " MC

/* clang-format off */
static const struct tt_op ops[] = {
	GRADIENTS(P_ROW, W_ROW, I_ROW)
	OP("celu", expand_with_number,  backward_golden,
	   ROW(celu, "d = multiply(x, n); e = exp(d); return where(gt(x, 0.0), g, multiply(g, e))",
	       PARAM("alpha")), GRADIENT "*, alpha: float = 1.0, " MC),
	OP("clamp", expand_clamp, golden_clamp, NULL, BOUNDS("float"), BOUNDS("Tensor")),
	OP("clip", expand_clamp, golden_clamp, NULL, BOUNDS("float"), BOUNDS("Tensor")),
	OP("div_no_nan", expand_with_number, backward_golden,
	   ROW(div_no_nan, "v = full_like(x, scalar); "
	       "return where(eq(v, 0), 0.0, multiply(g, n))", PARAM("scalar")),
	   GRADIENT "scalar: float, *, " MC),
	OP("fill", expand_fill, backward_golden, ROW(fill, NULL, ), GRADIENT "*, " INTO),
	OP("gelu", expand_by_program, backward_golden, ROW(gelu, NULL, .program = TT_GELU_BW),
	   GRADIENT "*, variant: GeluVariant = Accurate, " INTO,
	   GRADIENT "*, approximate: str, " INTO),
	{.name = "ttnn.experimental.gelu_bw", .doc = "The gradient of gelu.",
	 .sigs = {"grad_output_tensor: Tensor, input_tensor: Tensor, *, approximate: str = none, " INTO},
	 .expand = expand_experimental, .golden = backward_golden, .row = ROW(gelu, NULL, .program = TT_GELU_BW)},
	OP("logiteps", expand_with_number, backward_golden,
	   ROW(logiteps, "y = multiply(g, reciprocal~(multiply(x, rsub(x, 1.0)))); "
	       "e = full_like(x, eps); o = logical_or(lt(x, eps), gt(x, n)); "
	       "y = where(eq(o, 1.0), where(ltz(e), nan, 0.0), "
	       "where(logical_or(eq(x, 0.0), eq(x, 1.0)), " SIGNED_INF ", y)); return y",
	       PARAM("eps"), .complement = true), GRADIENT "*, eps: float = 0.0, " MC),
	OP("polygamma", expand_polygamma, backward_golden,
	   ROW(polygamma, "y = multiply(g, polygamma(x, next)); "
	       "y = where(logical_and(le(x, 0.0), eqz(g)), nan, y); "
	       POLES "gtz(g)), pole, y); " POLES "ltz(g)), -pole, y); return y", PARAM("n")),
	   GRADIENT "n: int, *, " MC),
	OP("pow", expand_pow, backward_golden, ROW(pow, NULL, PARAM("exponent")),
	   GRADIENT "exponent: float, *, " INTO),
	OP("rdiv", expand_rdiv, backward_golden, ROW(rdiv, NULL, PARAM("scalar")),
	   GRADIENT "scalar: float, *, rounding_mode: str? = None, " MC),
	OP("rpow", expand_rpow, backward_golden, ROW(rpow, NULL, PARAM("exponent")),
	   GRADIENT "exponent: float, *, " MC),
	OP("rsqrt", expand_into, backward_golden,
	   ROW(rsqrt, STEP("rsqrt(x" ONTO) STEP("pow(out, 3" ONTO)
	       STEP("multiply(multiply(g, out), -0.5" ONTO) STEP("where(ltz(x), nan, out" ONTO)
	       STEP("where(logical_and(eqz(x), eqz(g)), nan, out" ONTO) "return out",
	       .like_gradient = true, .lazy = true), GRADIENT "*, " INTO),
	OP("sigmoid", expand_by_program, backward_golden, ROW(sigmoid, NULL, .program = TT_SIGMOID_BW), GRADIENT "*, " MC),
	OP("tanh", expand_by_program, backward_golden, ROW(tanh, NULL, .program = TT_TANH_BW), GRADIENT "*, " INTO),
	OP("threshold", backward_expand, backward_golden,
	   ROW(threshold, "return where(gtz(add(x, -min)), g, 0.0)", PARAM("min")),
	   GRADIENT "min: float, max: float, *, " MC),
};
/* clang-format on */

const struct tt_op_family tt_family_backward = {"backward", ops, TT_COUNT(ops)};
