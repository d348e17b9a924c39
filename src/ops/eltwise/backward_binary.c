/*
 * backward_binary.c: gradients of operations on two and three operands: the recipes by which
 * upstream computes them, and the partial derivatives. Where a caller may choose which gradients are
 * wanted and where they go, each has its own recipe.
 */
#include <math.h>
#include <string.h>

#include "ops/eltwise/backward.h"
#include "ops/eltwise/backward_program.h"
#include "ops/eltwise/eltwise.h"
#include "ops/op_enums.h"

struct row {
	const char *text;    /* all gradients at once; or */
	const char *each[2]; /* into `out`, gradient by gradient */
	const char *scalar;  /* (optional) when the second operand is a number */
	bool like_gradient;  /* new outputs are like the gradient, not like the operands */
	bool memory_of_a;    /* results lie as the first operand, if nothing is said */
	/* with respect to the first and second operand; p is alpha */
	double (*slope[2])(double a, double b, double p);
};

/* ---- all at once ----------------------------------------------------------------------------------- */

/* A number as second operand has a recipe of its own. */
static tt_status backward_binary_expand(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	bool number = call->args->values[2].kind != TTNN_VALUE_TENSOR;
	struct tt_backward backward = {.text = number && row->scalar ? row->scalar : row->text};

	if (row->memory_of_a)
		backward.fallback = &call->args->values[1].tensor->spec.memory;
	return tt_backward_run(call, &backward);
}

/* Block floats are refused before anything runs. */
static tt_status refuse_blocks(struct tt_call *call)
{
	for (size_t i = 0; i < 3; i++)
		TT_REQUIRE(!tt_dtype_is_block(call->args->values[i].tensor->spec.dtype),
			   "!(tt::tt_metal::is_block_float(input_a.dtype()) || "
			   "tt::tt_metal::is_block_float(grad_tensor.dtype()) || "
			   "tt::tt_metal::is_block_float(other.dtype()))",
			   "BFLOAT8_B/BFLOAT4_B dtypes are not supported !!");
	return backward_binary_expand(call);
}

/* A number as weight: 1 - weight is computed in float32. */
static tt_status expand_lerp(struct tt_call *call)
{
	struct tt_backward backward = {
		.text = "y = multiply(g, rest); z = multiply(g, scalar); return y, z"};
	float weight = (float)tt_call_real(call, "scalar", 0);

	if (tt_call_tensor(call, "input_tensor_c"))
		return backward_binary_expand(call);
	tt_backward_name(&backward, "rest", ttnn_v_real((double)(1.0f - weight)));
	return tt_backward_run(call, &backward);
}

/* The gradient of the sum; both operands get the same one. */
static tt_status expand_bias_gelu(struct tt_call *call)
{
	const struct ttnn_value *values = call->args->values;
	const struct ttnn_value *approximate = tt_call_arg(call, "approximate");
	struct ttnn_value variant = *tt_call_arg(call, "variant");
	const struct ttnn_arg sum_args[] = {{NULL, values[1]}, {NULL, values[2]}};
	struct ttnn_arg args[] = {{NULL, values[0]},
				  {NULL, {0}},
				  {"variant", variant},
				  {"memory_config", *tt_call_arg(call, "memory_config")}};
	struct tt_tensor *sum, *out;

	if (approximate->kind == TTNN_VALUE_STRING) {
		bool tanh_form = strcmp(approximate->text, "tanh") == 0;

		TT_REQUIRE(tanh_form || strcmp(approximate->text, "none") == 0,
			   "approximate == \"none\" || approximate == \"tanh\"",
			   "Incorrect approximation type (expected 'none', 'tanh')");
		args[2].value = tt_value_enum(&tt_enum_gelu_variant,
					      tanh_form ? TT_GELU_TANH : TT_GELU_ACCURATE);
	}
	TT_TRY(tt_call_op(&sum, call, "ttnn.add", sum_args, 2));
	args[1].value = ttnn_v_tensor(tt_call_own(call, sum));
	TT_TRY(tt_call_op(&out, call, "ttnn.gelu_bw", args, 4));
	tt_call_return(call, out);
	if (values[2].kind == TTNN_VALUE_TENSOR)
		tt_call_return(call, ttnn_tensor_ref(out));
	return TTNN_OK;
}

/* ---- one by one -------------------------------------------------------------------------------------- */

/* Which gradients the caller wants; all when nothing is said. */
static void wanted(bool *out, const struct tt_call *call)
{
	const struct ttnn_value *list = tt_call_arg(call, "are_required_outputs");

	for (uint32_t i = 0; i < 2; i++) {
		out[i] = true;
		if (list->kind == TTNN_VALUE_LIST && i < list->count)
			out[i] = list->items[i].boolean;
	}
}

static struct tt_tensor *given_output(const struct tt_call *call, int which)
{
	static const char *const names[2][2] = {{"input_grad", "input_a_grad"},
						{"other_grad", "input_b_grad"}};
	struct tt_tensor *tensor = tt_call_tensor(call, names[which][0]);

	return tensor ? tensor : tt_call_tensor(call, names[which][1]);
}

static tt_status check_wanted(const bool *want)
{
	if (want[0] || want[1])
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "required_outputs[0] || required_outputs[1]",
			    "At least one gradient is expected to be calculated.");
}

static tt_status bad_rounding(void)
{
	return tt_fail_cond(TTNN_INVALID,
			    "(rounding_mode == std::nullopt || rounding_mode == \"trunc\" || "
			    "rounding_mode == \"floor\")",
			    "Incorrect rounding mode (expected None, 'trunc', or 'floor')");
}

/* Without recipes the rounding mode is refused, once the outputs exist. */
static tt_status run_each(struct tt_call *call, const char *const texts[2])
{
	const struct row *row = call->entry->op->row;
	struct tt_tensor *outputs[2] = {NULL, NULL};
	bool want[2];

	wanted(want, call);
	TT_TRY(check_wanted(want));
	for (int i = 0; i < 2; i++)
		if (want[i])
			TT_TRY(tt_backward_output(
				&outputs[i], call, given_output(call, i),
				call->args->values[row->like_gradient ? 0 : 1 + i].tensor));
	if (!texts[0])
		return bad_rounding();
	for (int i = 0; i < 2; i++) {
		struct tt_backward backward = {.text = texts[i]};

		if (want[i]) {
			tt_backward_name(&backward, "out", ttnn_v_tensor(outputs[i]));
			TT_TRY(tt_backward_run(call, &backward));
		} else {
			tt_call_return(call, NULL);
		}
	}
	return TTNN_OK;
}

/* Into a tensor the caller may give, by the row's recipe for a number. */
static tt_status run_scalar(struct tt_call *call, const char *text)
{
	struct tt_backward backward = {.text = text};
	float scalar = (float)tt_call_real(call, "scalar", 0);
	struct tt_tensor *out;

	TT_TRY(tt_backward_output(&out, call, given_output(call, 0), call->args->values[1].tensor));
	tt_backward_name(&backward, "out", ttnn_v_tensor(out));
	tt_backward_name(&backward, "n", ttnn_v_real((double)(1.0f / scalar)));
	return tt_backward_run(call, &backward);
}

static tt_status expand_each(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;

	if (call->args->values[2].kind != TTNN_VALUE_TENSOR)
		return run_scalar(call, row->scalar);
	return run_each(call, row->each);
}

static tt_status expand_assign(struct tt_call *call)
{
	if (call->args->values[2].kind == TTNN_VALUE_TENSOR && call->args->sig->count > 4)
		return expand_each(call);
	if (!tt_call_tensor(call, "input_a_grad"))
		return tt_backward_run(call, &(struct tt_backward){.text = "return g"});
	return tt_backward_run(call,
			       &(struct tt_backward){.text = "return assign~(g, input_a_grad)"});
}

/* A bad rounding mode is refused for numbers; for tensors no gradient is computed. */
static tt_status expand_div(struct tt_call *call)
{
	static const char *const zeros[] = {"_ = zeros_like(g, optional_tensor=out); return out",
					    "_ = zeros_like(g, optional_tensor=out); return out"};
	static const char *const none[] = {NULL, NULL};
	bool number = call->args->values[2].kind != TTNN_VALUE_TENSOR;
	enum tt_rounding rounding;

	if (!tt_rounding_find(&rounding, tt_call_arg(call, "rounding_mode")))
		return number ? bad_rounding() : run_each(call, none);
	if (rounding != TT_ROUND_NOT)
		return number ? run_scalar(call, zeros[0]) : run_each(call, zeros);
	if (number && tt_call_real(call, "scalar", 0) == 0)
		return run_scalar(call, "_ = where(eqz(g), nan, multiply(sign(g), inf), "
					"output_tensor=out); return out");
	return expand_each(call);
}

/* A gradient summed over what its operand was repeated along. */
static tt_status sum_to_operand(struct tt_tensor **grad, struct tt_call *call,
				const struct ttnn_shape *shape)
{
	const struct ttnn_shape *from = &(*grad)->spec.shape;
	struct ttnn_value axes[TTNN_MAX_RANK];
	struct ttnn_value memory = *tt_call_arg(call, "memory_config");
	size_t count = 0;

	for (uint32_t i = 0; i < from->rank; i++) {
		uint32_t missing = from->rank - shape->rank;

		if ((i < missing || shape->dim[i - missing] == 1) && from->dim[i] != 1)
			axes[count++] = ttnn_v_int(i);
	}
	if (count) {
		const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*grad)},
						{NULL, ttnn_v_list(axes, count)},
						{"keepdim", ttnn_v_bool(true)},
						{"memory_config", memory}};

		struct tt_tensor *whole = *grad;

		TT_TRY(tt_call_op(grad, call, "ttnn.sum", args, 4));
		tt_call_overwrite(call, whole);
		tt_call_own(call, *grad);
	}
	if ((*grad)->spec.shape.rank != shape->rank) {
		const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*grad)},
						{NULL, ttnn_v_shape(shape)},
						{"memory_config", memory}};

		TT_TRY(tt_call_op(grad, call, "ttnn.reshape", args, 3));
		tt_call_own(call, *grad);
	}
	return TTNN_OK;
}

/* The product of the gradient and the other operand, as an operation of its own. */
static tt_status product(struct tt_tensor **out, struct tt_call *call, int which)
{
	const struct ttnn_value *values = call->args->values;
	struct tt_tensor *given = given_output(call, which);
	const struct ttnn_shape *shape = &values[1 + which].tensor->spec.shape;
	bool repeated = !ttnn_shape_equal(shape, &values[0].tensor->spec.shape);
	const struct ttnn_arg args[] = {
		{NULL, values[0]},
		{NULL, values[2 - which]},
		{"memory_config", *tt_call_arg(call, "memory_config")},
		{"output_tensor", given && !repeated ? ttnn_v_tensor(given) : ttnn_v_none()}};

	TT_TRY(tt_call_op(out, call, "ttnn.multiply", args, 4));
	tt_call_own(call, *out);
	return sum_to_operand(out, call, shape);
}

static bool any_sharded(const struct tt_mul_backward_args *args)
{
	return tt_memory_config_is_sharded(&args->grad->spec.memory) ||
	       tt_memory_config_is_sharded(&args->a->spec.memory) ||
	       tt_memory_config_is_sharded(&args->b->spec.memory) ||
	       (args->memory && tt_memory_config_is_sharded(args->memory));
}

/* Equal shapes in interleaved tiles have a program for both gradients at once. */
static tt_status expand_mul(struct tt_call *call)
{
	const struct ttnn_value *values = call->args->values;
	struct tt_tensor *out[2] = {NULL, NULL};
	struct tt_mul_backward_args args = {.grad = values[0].tensor,
					    .memory = tt_call_memory(call, "memory_config")};
	bool want[2];

	if (values[2].kind != TTNN_VALUE_TENSOR)
		return expand_each(call);
	wanted(want, call);
	args.a = values[1].tensor;
	args.b = values[2].tensor;
	if (want[0] && want[1] && args.grad->spec.layout == TTNN_TILE && !any_sharded(&args) &&
	    ttnn_shape_equal(&args.a->spec.shape, &args.b->spec.shape) &&
	    ttnn_shape_equal(&args.a->spec.shape, &args.grad->spec.shape)) {
		args.outputs[0] = given_output(call, 0);
		args.outputs[1] = given_output(call, 1);
		TT_TRY(tt_mul_backward_launch(out, call, &args));
		tt_call_return(call, out[0]);
		tt_call_return(call, out[1]);
		return TTNN_OK;
	}
	for (int i = 0; i < 2; i++) {
		if (want[i])
			TT_TRY(product(&out[i], call, i));
		tt_call_return(call, want[i] ? ttnn_tensor_ref(out[i]) : NULL);
	}
	return TTNN_OK;
}

/* The gradient goes to whichever side was taken. */
static tt_status expand_where(struct tt_call *call)
{
	static const char *const texts[2][2] = {
		{"return where(a, g, 0.0)", "return where(a, g, 0.0, output_tensor=out)"},
		{"return where(a, 0.0, g)", "return where(a, 0.0, g, output_tensor=out)"},
	};
	bool want[2];

	wanted(want, call);
	for (int i = 0; i < 2; i++) {
		struct tt_tensor *given = given_output(call, i);
		struct tt_backward backward = {.text = texts[i][given ? 1 : 0]};

		if (!want[i]) {
			tt_call_return(call, NULL);
			continue;
		}
		if (given)
			tt_backward_name(&backward, "out", ttnn_v_tensor(given));
		TT_TRY(tt_backward_run(call, &backward));
	}
	return TTNN_OK;
}

/* The parts of the gradient that lie where the operands were. */
static tt_status expand_concat(struct tt_call *call)
{
	const struct ttnn_value *values = call->args->values;
	const struct ttnn_shape *whole = &values[0].tensor->spec.shape;
	const struct ttnn_shape *a = &values[1].tensor->spec.shape;
	int64_t dim = tt_call_int(call, "dim", 0);
	struct ttnn_value lists[2][3][4];
	struct tt_tensor *outputs[2] = {NULL, NULL}, *out;
	bool want[2];

	wanted(want, call);
	TT_TRY(check_wanted(want));
	TT_NEED(whole->rank == 4 && a->rank == 4 && dim >= -4 && dim <= 3,
		"concat_bw takes tensors of rank 4 and dim -4 to 3");
	dim += dim < 0 ? 4 : 0;
	for (uint32_t i = 0; i < 4; i++) {
		lists[0][0][i] = ttnn_v_int(0);
		lists[0][1][i] = ttnn_v_int(a->dim[i]);
		lists[1][0][i] = ttnn_v_int(i == dim ? a->dim[i] : 0);
		lists[1][1][i] = ttnn_v_int(whole->dim[i]);
		lists[0][2][i] = lists[1][2][i] = ttnn_v_int(1);
	}
	for (int i = 0; i < 2; i++)
		if (want[i])
			TT_TRY(tt_backward_output(&outputs[i], call, given_output(call, i),
						  values[1 + i].tensor));
	for (int i = 0; i < 2; i++) {
		const struct ttnn_arg args[] = {{NULL, values[0]},
						{NULL, ttnn_v_list(lists[i][0], 4)},
						{NULL, ttnn_v_list(lists[i][1], 4)},
						{NULL, ttnn_v_list(lists[i][2], 4)},
						{"output_tensor", ttnn_v_tensor(outputs[i])}};

		if (want[i]) {
			TT_TRY(tt_call_op(&out, call, "ttnn.slice", args, 5));
			ttnn_tensor_unref(out);
		}
		tt_call_return(call, want[i] ? ttnn_tensor_ref(outputs[i]) : NULL);
	}
	return TTNN_OK;
}

/* ---- golden -------------------------------------------------------------------------------------------- */

/* The operand of this position: an array, or a number. */
static const struct tt_array *operand(double *number, struct tt_golden *golden, size_t index)
{
	const struct tt_sig *sig = golden->call.args->sig;

	*number = 0;
	if (golden->call.args->values[index].kind == TTNN_VALUE_TENSOR)
		return tt_golden_in(golden, sig->args[index].name);
	tt_value_number(number, &golden->call.args->values[index]);
	return NULL;
}

/* Each wanted gradient by its partial derivative. */
static tt_status golden_pair(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	double number, alpha = tt_call_real(&golden->call, "alpha", 1), unused;
	const struct tt_array *grad = operand(&unused, golden, 0);
	const struct tt_array *a = operand(&unused, golden, 1), *b = operand(&number, golden, 2);
	bool want[2];

	wanted(want, &golden->call);
	TT_GOLDEN_NEED(grad && a);
	for (int k = 0; k < (b ? 2 : 1); k++) {
		struct tt_array *out = want[k] ? tt_golden_out(golden, &a->shape, a->dtype) : NULL;

		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; i < a->count; i++)
			*tt_at(out, i) = tt_backward_golden(
				golden, *tt_at(grad, i),
				row->slope[k](*tt_at(a, i), b ? *tt_at(b, i) : number, alpha));
	}
	return TTNN_OK;
}

static double addcmul_slope(int which, double a, double b, double c, double p)
{
	return which == 0 ? 1 + 0 * a : which == 1 ? p * c : p * b;
}

static double addcdiv_slope(int which, double a, double b, double c, double p)
{
	return which == 0 ? 1 + 0 * a : which == 1 ? p / c : -p * b / (c * c);
}

static double lerp_slope(int which, double a, double b, double c, double p)
{
	(void)p;
	return which == 0 ? 1 - c : which == 1 ? c : b - a;
}

static double where_slope(int which, double a, double b, double c, double p)
{
	return ((a != 0) == (which == 0)) + 0 * b * c * p;
}

struct row3 {
	struct row row; /* first: expand() reads it */
	double (*slope)(int which, double a, double b, double c, double p);
	int results; /* with three tensors */
};

/* The same for three operands; a number has no gradient. */
static tt_status golden_three(struct tt_golden *golden)
{
	const struct row3 *row = golden->op->row;
	double c_number, alpha = tt_call_real(&golden->call, "alpha", 1), unused;
	const struct tt_array *grad = operand(&unused, golden, 0);
	const struct tt_array *a = operand(&unused, golden, 1), *b = operand(&unused, golden, 2);
	const struct tt_array *c = operand(&c_number, golden, 3);

	TT_GOLDEN_NEED(grad && a && b);
	for (int k = 0; k < (c ? row->results : 2); k++) {
		/* a condition of whole numbers does not say what gradients are */
		enum ttnn_dtype dtype = tt_dtype_is_integer(a->dtype) ? grad->dtype : a->dtype;
		struct tt_array *out = tt_golden_out(golden, &a->shape, dtype);

		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; i < a->count; i++)
			*tt_at(out, i) =
				*tt_at(grad, i) * row->slope(k, *tt_at(a, i), *tt_at(b, i),
							     c ? *tt_at(c, i) : c_number, alpha);
	}
	return TTNN_OK;
}

/* Each tensor gets its part of the gradient. */
static tt_status golden_concat(struct tt_golden *golden)
{
	const struct tt_array *grad = tt_golden_in(golden, "grad_tensor");
	const struct tt_array *in[] = {tt_golden_in(golden, "input_tensor_a"),
				       tt_golden_in(golden, "input_tensor_b")};
	int64_t dim = tt_call_int(&golden->call, "dim", 0);

	TT_GOLDEN_NEED(grad && in[0] && in[1]);
	dim += dim < 0 ? grad->shape.rank : 0;
	for (int k = 0; k < 2; k++) {
		struct tt_array *out = tt_golden_out(golden, &in[k]->shape, grad->dtype);
		uint64_t at[TTNN_MAX_RANK];

		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; i < out->count; i++) {
			tt_array_coordinate(at, out, i);
			at[dim] += k ? in[0]->shape.dim[dim] : 0;
			*tt_at(out, i) = *tt_at(grad, tt_array_index(grad, at));
		}
	}
	return TTNN_OK;
}

/* ---- gradients of two operands: recipe, partial derivatives by a and by b --------------------------------- */

#define LN2 0.69314718055994530942
#define ONTO ", output_tensor=out); return out"
#define ASSIGN "_ = assign~(g, out); return out"
#define LOG_SUM(exp2_)                                                                             \
	"e = add(" exp2_(                                                                          \
		"subtract(b, a)") ", 1); y = multiply(g, reciprocal(e)); "                         \
				  "e = add(" exp2_(                                                \
					  "subtract(a, b)") ", 1); z = multiply(g, reciprocal(e)); return y, z"
#define EXP(of) "exp(" of ")"
#define EXP2(of) "rpow(" of ", 2.0)"
#define EXTREME                                                                                    \
	"h = multiply(g, 0.5); d = subtract(b, a); p = gtz(d); e = eqz(d); n = ltz(d); "           \
	"t = where(e, h, 0.0); y = where(n, g, t); z = where(p, g, t); "
#define FAST_LOG "log(b, fast_and_approximate_mode=True)"

/* X(name, by a, by b) */
#define PARTIALS(X)                                                                                \
	X(add, 1, 1)                                                                               \
	X(addalpha, 1, p)                                                                          \
	X(atan2, b / (a * a + b * b), -a / (a * a + b * b))                                        \
	X(bias_gelu, gelu_slope(a + b), gelu_slope(a + b))                                         \
	X(div, 1 / b, -a / (b * b))                                                                \
	X(fmod, 1, -trunc(a / b))                                                                  \
	X(hypot, a / hypot(a, b), b / hypot(a, b))                                                 \
	X(ldexp, exp2(b), a *LN2 *exp2(b))                                                         \
	X(logaddexp, 1 / (1 + exp(b - a)), 1 / (1 + exp(a - b)))                                   \
	X(logaddexp2, 1 / (1 + exp2(b - a)), 1 / (1 + exp2(a - b)))                                \
	X(max, (a > b ? 1 : a == b ? 0.5 : 0), a < b ? 1 : a == b ? 0.5 : 0)                       \
	X(min, (a < b ? 1 : a == b ? 0.5 : 0), a > b ? 1 : a == b ? 0.5 : 0)                       \
	X(mul, b, a)                                                                               \
	X(remainder, 1, -floor(a / b))                                                             \
	X(rsub, -1, 1)                                                                             \
	X(squared_difference, 2 * (a - b), -2 * (a - b))                                           \
	X(sub, 1, -1)                                                                              \
	X(subalpha, 1, -p)                                                                         \
	X(xlogy, log(b), a / b)

static double gelu_slope(double x)
{
	return 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-x * x / 2) / sqrt(2 * acos(-1.0));
}

#define SLOPES(name, by_a, by_b)                                                                   \
	static double name##_by_a(double a, double b, double p)                                    \
	{                                                                                          \
		return (by_a) + 0 * a * b * p;                                                     \
	}                                                                                          \
	static double name##_by_b(double a, double b, double p)                                    \
	{                                                                                          \
		return (by_b) + 0 * a * b * p;                                                     \
	}
PARTIALS(SLOPES)

/* ---- rows ---------------------------------------------------------------------------------------------------- */

#define MC "memory_config: MemoryConfig? = None"
#define PAIR "grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, "
#define OTHER "grad_tensor: Tensor, input_tensor: Tensor, other_tensor: Tensor, "
#define SCALAR "grad_tensor: Tensor, input_tensor_a: Tensor, scalar: float, "
#define WANTED "are_required_outputs: bools = [True, True], "
#define GRADS MC ", input_grad: Tensor? = None, other_grad: Tensor? = None"
#define AB_GRADS MC ", input_a_grad: Tensor? = None, input_b_grad: Tensor? = None"
#define INTO MC ", input_grad: Tensor? = None"
#define OP(name_, expand_, golden_, row_, ...)                                                     \
	{                                                                                          \
		.name = "ttnn." name_ "_bw", .doc = "The gradients of " name_ ".",                 \
		.sigs = {__VA_ARGS__}, .expand = expand_, .golden = golden_, .row = row_,          \
		.gives = "[Tensor]"                                                                \
	}
#define ROW(name, ...) (&(const struct row){.slope = {name##_by_a, name##_by_b}, __VA_ARGS__})
#define ROW3(slope_, results_, ...)                                                                \
	(&(const struct row3){.row = {__VA_ARGS__}, .slope = slope_, .results = results_})
/* One recipe gives both gradients. */
#define BOTH(name, text_)                                                                          \
	OP(#name, backward_binary_expand, golden_pair, ROW(name, .text = text_), PAIR "*, " MC)
#define BOTH_IN_A(name, text_)                                                                     \
	OP(#name, backward_binary_expand, golden_pair,                                             \
	   ROW(name, .text = text_, .memory_of_a = true), PAIR "*, " MC)
#define THREE                                                                                      \
	"grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, "                    \
	"input_tensor_c: Tensor, "
#define BIAS(extra)                                                                                \
	PAIR "*, " extra ", " MC,                                                                  \
		"grad_tensor: Tensor, input_tensor: Tensor, bias: float, *, " extra ", " MC

/* clang-format off */
static const struct tt_op ops[] = {
	OP("add", expand_each, golden_pair,
	   ROW(add, .each = {ASSIGN, "_ = multiply(g, 1.0" ONTO}, .scalar = ASSIGN),
	   SCALAR "*, " INTO, OTHER "*, " WANTED GRADS),
	OP("addalpha", expand_each, golden_pair,
	   ROW(addalpha, .each = {ASSIGN, "_ = multiply(g, alpha" ONTO}),
	   PAIR "alpha: float = 1.0, *, " WANTED AB_GRADS),
	OP("addcdiv", backward_binary_expand, golden_three,
	   ROW3(addcdiv_slope, 3, .memory_of_a = true,
		.text = "r = reciprocal(c); y = multiply~(multiply(g, alpha), r); "
			"u = where(eqz(c), where(eqz(g), nan, inf), y); "
			"t = multiply(multiply(neg(g), alpha), b); z = multiply(multiply(t, r), r); "
			"drop r; v = where(eqz(c), where(eqz(g), nan, -inf), z); return g, u, v"),
	   THREE "alpha: float, *, " MC),
	OP("addcmul", backward_binary_expand, golden_three,
	   ROW3(addcmul_slope, 3, .memory_of_a = true,
		.text = "y = multiply(multiply(g, c), alpha); "
			"z = multiply(multiply(g, b), alpha); return g, y, z"),
	   THREE "alpha: float, *, " MC),
	OP("assign", expand_assign, golden_pair,
	   ROW(add, .each = {ASSIGN, ASSIGN}),
	   "grad_tensor: Tensor, input_tensor: Tensor, *, " MC ", input_a_grad: Tensor? = None",
	   PAIR "*, " WANTED AB_GRADS),
	BOTH(atan2, "r = multiply(g, unary_chain(hypot(a, b), [SQUARE, RECIP])); "
	     "y = multiply(b, r); c = logical_and(eqz(a), eqz(b)); y = where(c, nan, y); "
	     "z = multiply(neg~(a), r); z = where(c, nan, z); drop r; drop c; return y, z"),
	OP("bias_gelu", expand_bias_gelu, golden_pair, ROW(bias_gelu, .text = NULL),
	   BIAS("variant: GeluVariant = Accurate"), BIAS("approximate: str")),
	OP("concat", expand_concat, golden_concat, NULL, PAIR "dim: int = 0, *, " WANTED AB_GRADS),
	OP("div", expand_div, golden_pair,
	   ROW(div, .each = {"_ = multiply(g, reciprocal(b)" ONTO,
			     "r = reciprocal(b); _ = multiply(neg(g), multiply(multiply(a, r), r)"
			     ONTO},
	       .scalar = "_ = multiply(g, n" ONTO),
	   SCALAR "rounding_mode: str? = None, *, " INTO,
	   OTHER "*, rounding_mode: str? = None, " WANTED GRADS),
	OP("fmod", backward_binary_expand, golden_pair,
	   ROW(fmod, .scalar = "return g",
	       .text = "t = div(a, b, rounding_mode='trunc'); z = multiply(neg~(g), t); return g, z"),
	   PAIR "*, " MC, SCALAR "*, " MC),
	BOTH_IN_A(hypot, "r = reciprocal(hypot(a, b)); y = multiply(g, multiply(a, r)); "
		  "z = multiply(g, multiply(b, r)); return y, z"),
	BOTH_IN_A(ldexp, "y = multiply(g, rpow(b, 2.0)); "
		  "z = multiply(a, multiply(y, 0.6931471805599453)); return y, z"),
	OP("lerp", expand_lerp, golden_three,
	   ROW3(lerp_slope, 3,
		.text = "y = multiply(g, rsub(c, 1.0)); z = multiply(g, c); "
			"w = multiply(g, subtract(b, a)); return y, z, w"),
	   THREE "*, " MC, PAIR "scalar: float, *, " MC),
	OP("logaddexp", refuse_blocks, golden_pair, ROW(logaddexp, .text = LOG_SUM(EXP)),
	   PAIR "*, " MC),
	OP("logaddexp2", refuse_blocks, golden_pair,
	   ROW(logaddexp2, .text = LOG_SUM(EXP2), .memory_of_a = true), PAIR "*, " MC),
	BOTH(max, EXTREME "return y, z"),
	BOTH(min, EXTREME "return z, y"),
	OP("mul", expand_mul, golden_pair, ROW(mul, .scalar = "_ = multiply(g, scalar" ONTO),
	   SCALAR "*, " INTO, OTHER "*, " WANTED GRADS),
	OP("remainder", backward_binary_expand, golden_pair,
	   ROW(remainder, .scalar = "return g",
	       .text = "t = div(a, b, rounding_mode='floor'); z = multiply(neg~(g), t); return g, z"),
	   PAIR "*, " MC, SCALAR "*, " MC),
	OP("rsub", expand_each, golden_pair,
	   ROW(rsub, .each = {"_ = neg(g" ONTO, ASSIGN}, .like_gradient = true),
	   PAIR "*, " WANTED GRADS),
	BOTH(squared_difference, "d = subtract~(a, b); y = multiply(multiply(g, d), 2); "
	     "z = multiply(y, -1); return y, z"),
	OP("sub", expand_each, golden_pair,
	   ROW(sub, .scalar = ASSIGN,
	       .each = {ASSIGN, "_ = neg(g, output_tensor=out); _ = multiply(out, 1.0" ONTO}),
	   SCALAR "*, " INTO, OTHER "*, " WANTED GRADS),
	OP("subalpha", expand_each, golden_pair,
	   ROW(subalpha, .each = {ASSIGN,
				  "_ = neg(g, output_tensor=out); _ = multiply(out, alpha" ONTO}),
	   PAIR "alpha: float = 1.0, *, " WANTED GRADS),
	OP("where", expand_where, golden_three, ROW3(where_slope, 2, .text = NULL),
	   THREE "*, " MC ", " WANTED "input_a_grad: Tensor? = None, input_b_grad: Tensor? = None"),
	BOTH(xlogy, "l = " FAST_LOG "; l = where(logical_and(logical_or(eqz(a), eqz(g)), "
	     "le(b, 0.0)), 0.0, where(ltz(b), nan, l)); l = multiply(g, l); "
	     "d = multiply(a, b, input_tensor_b_activations=[RECIP]); z = multiply(g, d); "
	     "return l, z"),
};
/* clang-format on */

const struct tt_op_family tt_family_backward_binary = {"backward", ops, TT_COUNT(ops)};
