/*
 * complex.c: operations on complex tensors. One is a list of two tensors, real and imaginary part; a
 * complex result is both, in this order.
 */
#include <math.h>

#include "golden/golden.h"
#include "ops/gives.h"
#include "ops/recipe.h"

struct number {
	double re, im;
};

struct row {
	/* with the parts as re and im, those of the gradient as gr and gi, of a second operand br, bi */
	const char *text;
	/*
	 * The value at z; for gradients g is what comes in (its imaginary part 0 if it is real). Of two
	 * operands: the gradients for z and for w.
	 */
	struct number (*value[2])(struct number z, struct number w, struct number g, double alpha);
};

/* ---- arguments -------------------------------------------------------------------------------- */

/* The parts of an argument: of a list of two, or a tensor and nothing. */
static tt_status parts(struct ttnn_value *out, const struct tt_call *call, const char *name)
{
	const struct ttnn_value *value = tt_call_arg(call, name);

	out[0] = *value;
	out[1] = ttnn_v_none();
	if (value->kind != TTNN_VALUE_LIST)
		return TTNN_OK;
	TT_NEED(value->count == 2, "%s: a complex tensor has two parts, not %u",
		call->entry->op->name, value->count);
	out[0] = value->items[0];
	out[1] = value->items[1];
	return TTNN_OK;
}

/*
 * Recipes name real and imaginary parts: re, im, and gr, gi of the gradient, br, bi of the second
 * operand; and where the result is to be: to.
 */
static tt_status complex_expand(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	bool gradient = tt_value_given(tt_call_arg(call, "grad_tensor"));
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value z[2], w[2], g[2] = {ttnn_v_none(), ttnn_v_none()}, to;
	struct tt_recipe recipe = {.text = row->text, .memory = memory, .name_count = 7};

	TT_TRY(parts(z, call, row->value[1] ? "input_tensor_a" : "input_tensor"));
	TT_TRY(parts(w, call, "input_tensor_b"));
	if (gradient)
		TT_TRY(parts(g, call, "grad_tensor"));
	if (!memory && z[0].kind == TTNN_VALUE_TENSOR)
		memory = &z[0].tensor->spec.memory;
	to = memory ? ttnn_v_memory(memory) : ttnn_v_none();
	recipe.names = (const struct tt_recipe_name[]){{"re", z[0]}, {"im", z[1]}, {"gr", g[0]},
						       {"gi", g[1]}, {"br", w[0]}, {"bi", w[1]},
						       {"to", to}};
	return tt_recipe_run(call, &recipe);
}

static tt_status expand_pair(struct tt_call *call)
{
	tt_call_return(call, ttnn_tensor_ref(tt_call_tensor(call, "real")));
	tt_call_return(call, ttnn_tensor_ref(tt_call_tensor(call, "imag")));
	return TTNN_OK;
}

/* ---- golden --------------------------------------------------------------------------------------- */

/* Parts that are no tensors stay NULL. */
static tt_status read_parts(const struct tt_array *out[2], struct tt_golden *golden,
			    const char *name)
{
	struct ttnn_value values[2];

	TT_TRY(parts(values, &golden->call, name));
	for (int i = 0; i < 2; i++) {
		out[i] = NULL;
		if (values[i].kind != TTNN_VALUE_TENSOR)
			continue;
		out[i] = tt_golden_read(golden, values[i].tensor);
		TT_GOLDEN_NEED(out[i]);
	}
	return TTNN_OK;
}

/* Element i of parts that may be missing. */
static struct number at(const struct tt_array *const parts[2], uint64_t i)
{
	return (struct number){parts[0] ? *tt_at(parts[0], i) : 0,
			       parts[1] ? *tt_at(parts[1], i) : 0};
}

/* Each complex value is two results. */
static tt_status complex_golden(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	const struct tt_array *z[2], *w[2], *g[2] = {NULL, NULL};
	double alpha = tt_call_real(&golden->call, "alpha", 1);
	bool is_complex = tt_gives_pairs(golden->op->gives);
	int values = row->value[1] ? 2 : 1, parts_of_one = is_complex ? 2 : 1;

	TT_TRY(read_parts(z, golden, row->value[1] ? "input_tensor_a" : "input_tensor"));
	TT_TRY(read_parts(w, golden, "input_tensor_b"));
	TT_NEED(z[0] && z[1], "golden: a complex tensor has two parts");
	if (tt_value_given(tt_call_arg(&golden->call, "grad_tensor")))
		TT_TRY(read_parts(g, golden, "grad_tensor"));
	for (int k = 0; k < values * parts_of_one; k++)
		TT_GOLDEN_NEED(tt_golden_out(golden, &z[0]->shape, z[0]->dtype));
	for (uint64_t i = 0; i < z[0]->count; i++)
		for (int k = 0; k < values; k++) {
			struct number value = row->value[k](at(z, i), at(w, i), at(g, i), alpha);

			*tt_at(&golden->out[k * parts_of_one], i) = value.re;
			if (is_complex)
				*tt_at(&golden->out[k * 2 + 1], i) = value.im;
		}
	return TTNN_OK;
}

/* Both parts, as they are. */
static tt_status golden_pair(struct tt_golden *golden)
{
	for (int k = 0; k < 2; k++) {
		const struct tt_array *in = tt_golden_in(golden, k ? "imag" : "real");
		struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; i < in->count; i++)
			*tt_at(out, i) = *tt_at(in, i);
	}
	return TTNN_OK;
}

/* (x + iy) / (a + ib)², its parts. */
static double quotient_re(double x, double y, double a, double b)
{
	double re = a * a - b * b, im = 2 * a * b;

	return (x * re + y * im) / (re * re + im * im);
}

static double quotient_im(double x, double y, double a, double b)
{
	double re = a * a - b * b, im = 2 * a * b;

	return (y * re - x * im) / (re * re + im * im);
}

/* ---- functions ---------------------------------------------------------------------------------------- */

#define LENGTH2(x, y) ((x) * (x) + (y) * (y))

/* A part of a direction; that of 0 is 0. */
static double over_length(double part, double x, double y)
{
	return x == 0 && y == 0 ? 0 : part / hypot(x, y);
}

/*
 * X(name, real result, imaginary result): of x + iy and a + ib, with the gradient u + iv. Names that
 * end in _2 are gradients for the second operand.
 */
#define FUNCTIONS(X)                                                                               \
	X(abs, hypot(x, y), 0)                                                                     \
	X(abs_bw, u *over_length(x, x, y), u *over_length(y, x, y))                                \
	X(add_bw, u, v)                                                                            \
	X(add_bw_2, u *alpha, v *alpha)                                                            \
	X(sub_bw, u, v)                                                                            \
	X(sub_bw_2, -u *alpha, -v *alpha)                                                          \
	X(mul_bw, u *a + v * b, v * a - u * b)                                                     \
	X(mul_bw_2, u *x + v * y, v * x - u * y)                                                   \
	X(div_bw, (u * a - v * b) / LENGTH2(a, b), (v * a + u * b) / LENGTH2(a, b))                \
	X(div_bw_2, -(u * quotient_re(x, y, a, b) + v * quotient_im(x, y, a, b)),                  \
	  -(v * quotient_re(x, y, a, b) - u * quotient_im(x, y, a, b)))                            \
	X(reciprocal, x / LENGTH2(x, y), -y / LENGTH2(x, y))                                       \
	X(reciprocal_bw, -(u * (x * x - y * y) - v * 2 * x * y) / (LENGTH2(x, y) * LENGTH2(x, y)), \
	  -(v * (x * x - y * y) + u * 2 * x * y) / (LENGTH2(x, y) * LENGTH2(x, y)))                \
	X(angle, atan2(y, x), 0)                                                                   \
	X(angle_bw, -u *y / (x * x + y * y), u * x / (x * x + y * y))                              \
	X(conj, x, -y)                                                                             \
	X(conj_bw, u, -v)                                                                          \
	X(imag, y, 0)                                                                              \
	X(imag_bw, 0, u)                                                                           \
	X(is_imag, x == 0, 0)                                                                      \
	X(is_real, y == 0, 0)                                                                      \
	X(polar, x *cos(y), x *sin(y))                                                             \
	X(polar_bw, x == 0 ? 0 : (u * cos(y) + v * sin(y)) * x / fabs(x),                          \
	  x * (v * cos(y) - u * sin(y)))                                                           \
	X(real, x, 0)                                                                              \
	X(real_bw, u, 0)

#define VALUE(name, re_, im_)                                                                      \
	static struct number value_##name(struct number z, struct number w, struct number g,       \
					  double alpha)                                            \
	{                                                                                          \
		double x = z.re, y = z.im, u = g.re, v = g.im, a = w.re, b = w.im;                 \
                                                                                                   \
		(void)x;                                                                           \
		(void)y;                                                                           \
		(void)u;                                                                           \
		(void)v;                                                                           \
		(void)a;                                                                           \
		(void)b;                                                                           \
		(void)alpha;                                                                       \
		return (struct number){re_, im_};                                                  \
	}
// cppcheck-suppress ignoredReturnValue
FUNCTIONS(VALUE)

/* ---- rows ------------------------------------------------------------------------------------------------ */

#define MC "memory_config: MemoryConfig? = None"
#define OP(name_, doc_, text_, gives_, ...)                                                        \
	{                                                                                          \
		.name = "ttnn." #name_, .doc = doc_, .sigs = {__VA_ARGS__},                        \
		.expand = complex_expand, .golden = complex_golden, .gives = gives_,               \
		.row = &(const struct row)                                                         \
		{                                                                                  \
			text_,                                                                     \
			{                                                                          \
				value_##name_, NULL                                                \
			}                                                                          \
		}                                                                                  \
	}
/* What other tables have for real tensors. */
#define MORE(name_, text_, gives_, sig_, second_)                                                  \
	{                                                                                          \
		.name = "ttnn." #name_, .overload = true, .expand = complex_expand,                \
		.doc = "The same of complex tensors.", .sigs = {sig_}, .golden = complex_golden,   \
		.gives = gives_, .row = &(const struct row)                                        \
		{                                                                                  \
			text_,                                                                     \
			{                                                                          \
				value_##name_, second_                                             \
			}                                                                          \
		}                                                                                  \
	}
#define Z "input_tensor: ComplexTensor, *, " MC
#define REAL_GRAD "grad_tensor: Tensor, input_tensor: ComplexTensor, *, " MC
#define COMPLEX_GRAD "grad_tensor: ComplexTensor, input_tensor: ComplexTensor, *, " MC

#define Z_NEEDS_MEMORY "input_tensor: ComplexTensor, *, memory_config: MemoryConfig"
#define GRAD_NEEDS_MEMORY(type)                                                                    \
	"grad_tensor: " type ", input_tensor: ComplexTensor, *, memory_config: MemoryConfig"
#define TWO                                                                                        \
	"grad_tensor: ComplexTensor, input_tensor_a: ComplexTensor, input_tensor_b: ComplexTensor, "
/* s + it = 1 / (re + i im); upstream makes two tensors more than it needs. */
#define RECIPROCAL                                                                                 \
	"plus = add(re, im); minus = subtract(re, im); d = add(square(re), square(im)); "          \
	"r = reciprocal(d); t = multiply(neg(im), r); s = multiply(re, r); "

/* clang-format off */
static const struct tt_op ops[] = {
	MORE(abs, "return hypot(re, im)", NULL, Z_NEEDS_MEMORY, NULL),
	MORE(abs_bw,
	     "r = hypot(re, im); "
	     "y = where(eqz(r), 0.0, multiply(gr, multiply(re, reciprocal(r)))); "
	     "z = where(eqz(r), 0.0, multiply(gr, multiply(im, reciprocal(r)))); return y, z", "[Complex]",
	     GRAD_NEEDS_MEMORY("Tensor"), NULL),
	MORE(add_bw,
	     "y = multiply(gr, alpha); z = multiply(gi, alpha); return gr, gi, y, z", "[Complex]",
	     TWO "alpha: float, *, " MC, value_add_bw_2),
	MORE(sub_bw,
	     "y = unary_chain(gr, [NEG, MUL_UNARY_SFPU(alpha)]); "
	     "z = unary_chain(gi, [NEG, MUL_UNARY_SFPU(alpha)]); return gr, gi, y, z", "[Complex]",
	     TWO "alpha: float, *, " MC, value_sub_bw_2),
	MORE(mul_bw,
	     "n = neg(bi); y = subtract(multiply(gr, br), multiply(gi, n)); "
	     "z = add(multiply(gr, n), multiply(gi, br)); "
	     "m = neg(im); p = subtract(multiply(gr, re), multiply(gi, m)); "
	     "q = add(multiply(gr, m), multiply(gi, re)); return y, z, p, q", "[Complex]",
	     TWO "*, " MC, value_mul_bw_2),
	MORE(div_bw,
	     "c = logical_and(eqz(br), eqz(bi)); r = reciprocal(add(square(br), square(bi))); "
	     "s = multiply(br, r); t = multiply(bi, r); "
	     "y = where(c, nan, subtract(multiply(gr, s), multiply(gi, t))); "
	     "z = where(c, nan, add(multiply(gr, t), multiply(gi, s))); "
	     "n = neg(t); k = subtract(multiply(re, s), multiply(im, n)); "
	     "l = add(multiply(re, n), multiply(im, s)); "
	     "p = subtract(multiply(k, s), multiply(l, n)); "
	     "q = neg(add(multiply(k, n), multiply(l, s))); u = neg(gr); v = neg(gi); "
	     "d = where(c, nan, subtract(multiply(u, p), multiply(v, q))); "
	     "e = where(c, nan, add(multiply(u, q), multiply(v, p))); return y, z, d, e", "[Complex]",
	     TWO "*, " MC, value_div_bw_2),
	MORE(reciprocal, RECIPROCAL "return s, t", "Complex", Z_NEEDS_MEMORY, NULL),
	MORE(reciprocal_bw,
	     "c = logical_and(eqz(re), eqz(im)); u = neg(gr); v = neg(gi); " RECIPROCAL
	     "p = subtract(multiply(s, s), multiply(t, t)); "
	     "w = add(multiply(s, t), multiply(t, s)); q = neg(w); "
	     "y = subtract(multiply(u, p), multiply(v, q)); "
	     "z = add(multiply(u, q), multiply(v, p)); "
	     "y = where(c, nan, y); z = where(c, nan, z); return y, z", "[Complex]",
	     GRAD_NEEDS_MEMORY("ComplexTensor"), NULL),
	OP(angle, "The angle of a complex number.", "return atan2(im, re)", NULL, Z),
	OP(angle_bw, "The gradient of angle.",
	   "c = logical_and(eqz(re), eqz(im)); r = reciprocal(add(square(re), square(im))); "
	   "y = where(c, 0.0, multiply(gr, multiply(neg(im), r))); "
	   "z = where(c, 0.0, multiply(gr, multiply(re, r))); return y, z", "[Complex]", REAL_GRAD),
	{.name = "ttnn.complex_tensor", .gives = "Complex",
	 .doc = "A complex tensor of its real and imaginary part.",
	 .sigs = {"real: Tensor, imag: Tensor"}, .expand = expand_pair, .golden = golden_pair},
	OP(conj, "The conjugate of a complex number.", "return re, neg(im)", "Complex", Z),
	OP(conj_bw, "The gradient of conj.", "return gr, neg(gi)", "[Complex]", COMPLEX_GRAD),
	OP(imag, "The imaginary part.", "return to_memory_config~(im, to)", NULL, Z),
	OP(imag_bw, "The gradient of imag.", "z = zeros_like(re); return z, gr", "[Complex]", REAL_GRAD),
	OP(is_imag, "1 where the real part is 0, else 0.", "return eqz(re)", NULL, Z),
	OP(is_real, "1 where the imaginary part is 0, else 0.", "return eqz(im)", NULL, Z),
	OP(polar, "The complex number of a length (real) and an angle (imaginary).",
	   "y = multiply(re, cos(im)); z = multiply(re, sin(im)); return y, z", "Complex", Z),
	OP(polar_bw, "The gradient of polar.",
	   "p = multiply(re, cos(im)); q = multiply(re, sin(im)); "
	   "a = sqrt(add(square(p), square(q))); c = eqz(a); r = reciprocal(a); "
	   "y = add(multiply(gr, where(c, 0.0, multiply(p, r))), "
	   "multiply(gi, where(c, 0.0, multiply(q, r)))); "
	   "z = subtract(multiply(gi, p), multiply(gr, q)); return y, z", "[Complex]", COMPLEX_GRAD),
	OP(real, "The real part.", "return to_memory_config~(re, to)", NULL, Z),
	OP(real_bw, "The gradient of real.", "z = zeros_like(re); return gr, z", "[Complex]", REAL_GRAD),
};
/* clang-format on */

const struct tt_op_family tt_family_complex = {"complex", ops, TT_COUNT(ops)};
