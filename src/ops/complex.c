/*
 * complex.c: operations on complex tensors. One is a list of two tensors, real and imaginary part; a
 * complex result is both, in this order.
 */
#include <math.h>

#include "ops/golden.h"
#include "ops/recipe.h"

struct number {
	double re, im;
};

struct row {
	const char *text; /* with the parts as re and im, those of the gradient as gr and gi */
	/* the value at z; for gradients g is what comes in (its imaginary part 0 if it is real) */
	struct number (*value)(struct number z, struct number g);
	bool is_complex; /* the result */
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
	if (value->count != 2)
		return tt_fail(TTNN_INVALID, "%s: a complex tensor has two parts, not %u",
			       call->entry->op->name, value->count);
	out[0] = value->items[0];
	out[1] = value->items[1];
	return TTNN_OK;
}

static tt_status expand(struct tt_call *call)
{
	const struct row *row = call->entry->op->row;
	bool gradient = tt_value_given(tt_call_arg(call, "grad_tensor"));
	struct ttnn_value z[2], g[2] = {ttnn_v_none(), ttnn_v_none()};
	struct tt_recipe recipe = {.text = row->text,
				   .memory = tt_call_memory(call, "memory_config"),
				   .name_count = 4};

	TT_TRY(parts(z, call, "input_tensor"));
	if (gradient)
		TT_TRY(parts(g, call, "grad_tensor"));
	recipe.names = (const struct tt_recipe_name[]){
		{"re", z[0]}, {"im", z[1]}, {"gr", g[0]}, {"gi", g[1]}};
	return tt_recipe_run(call, &recipe);
}

static tt_status expand_pair(struct tt_call *call)
{
	tt_call_return(call, ttnn_tensor_ref(tt_call_tensor(call, "real")));
	tt_call_return(call, ttnn_tensor_ref(tt_call_tensor(call, "imag")));
	return TTNN_OK;
}

/* ---- golden --------------------------------------------------------------------------------------- */

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
		if (!out[i])
			return tt_fail_prefix(TTNN_INVALID, "golden");
	}
	return TTNN_OK;
}

static tt_status golden(struct tt_golden *golden)
{
	const struct row *row = golden->op->row;
	const struct tt_array *z[2], *g[2] = {NULL, NULL};
	struct tt_array *out[2] = {NULL, NULL};

	TT_TRY(read_parts(z, golden, "input_tensor"));
	if (!z[0] || !z[1])
		return tt_fail(TTNN_INVALID, "golden: a complex tensor has two parts");
	if (tt_value_given(tt_call_arg(&golden->call, "grad_tensor")))
		TT_TRY(read_parts(g, golden, "grad_tensor"));
	for (int i = 0; i < (row->is_complex ? 2 : 1); i++) {
		out[i] = tt_golden_out(golden, &z[0]->shape, z[0]->dtype);
		if (!out[i])
			return tt_fail_prefix(TTNN_INVALID, "golden");
	}
	for (uint64_t i = 0; i < z[0]->count; i++) {
		struct number value = row->value(
			(struct number){z[0]->data[i], z[1]->data[i]},
			(struct number){g[0] ? g[0]->data[i] : 0, g[1] ? g[1]->data[i] : 0});

		out[0]->data[i] = value.re;
		if (out[1])
			out[1]->data[i] = value.im;
	}
	return TTNN_OK;
}

static tt_status golden_pair(struct tt_golden *golden)
{
	for (int k = 0; k < 2; k++) {
		const struct tt_array *in = tt_golden_in(golden, k ? "imag" : "real");
		struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

		if (!out)
			return tt_fail_prefix(TTNN_INVALID, "golden");
		for (uint64_t i = 0; i < in->count; i++)
			out->data[i] = in->data[i];
	}
	return TTNN_OK;
}

/* ---- functions ---------------------------------------------------------------------------------------- */

/* X(name, real result, imaginary result): of x + iy, with the gradient u + iv. */
#define FUNCTIONS(X)                                                                               \
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
	static struct number value_##name(struct number z, struct number g)                        \
	{                                                                                          \
		double x = z.re, y = z.im, u = g.re, v = g.im;                                     \
                                                                                                   \
		(void)x;                                                                           \
		(void)y;                                                                           \
		(void)u;                                                                           \
		(void)v;                                                                           \
		return (struct number){re_, im_};                                                  \
	}
// cppcheck-suppress ignoredReturnValue
FUNCTIONS(VALUE)

/* ---- rows ------------------------------------------------------------------------------------------------ */

#define MC "memory_config: MemoryConfig? = None"
#define OP(name_, doc_, text_, complex_, ...)                                                      \
	{                                                                                          \
		.name = "ttnn." #name_, .family = "complex", .doc = doc_, .sigs = {__VA_ARGS__},   \
		.expand = expand, .golden = golden, .pcc = 0.999, .many = complex_,                \
		.row = &(const struct row)                                                         \
		{                                                                                  \
			text_, value_##name_, complex_                                             \
		}                                                                                  \
	}
#define Z "input_tensor: ComplexTensor, *, " MC
#define REAL_GRAD "grad_tensor: Tensor, input_tensor: ComplexTensor, *, " MC
#define COMPLEX_GRAD "grad_tensor: ComplexTensor, input_tensor: ComplexTensor, *, " MC

/* clang-format off */
static const struct tt_op ops[] = {
	OP(angle, "The angle of a complex number.", "return atan2(im, re)", false, Z),
	OP(angle_bw, "The gradient of angle.",
	   "c = logical_and(eqz(re), eqz(im)); r = reciprocal(add(square(re), square(im))); "
	   "y = where(c, 0.0, multiply(gr, multiply(neg(im), r))); "
	   "z = where(c, 0.0, multiply(gr, multiply(re, r))); return y, z", true, REAL_GRAD),
	{.name = "ttnn.complex_tensor", .family = "complex", .many = true,
	 .doc = "A complex tensor of its real and imaginary part.",
	 .sigs = {"real: Tensor, imag: Tensor"}, .expand = expand_pair, .golden = golden_pair,
	 .pcc = 0.999},
	OP(conj, "The conjugate of a complex number.", "return re, neg(im)", true, Z),
	OP(conj_bw, "The gradient of conj.", "return gr, neg(gi)", true, COMPLEX_GRAD),
	OP(imag, "The imaginary part.", "return im", false, Z),
	OP(imag_bw, "The gradient of imag.", "z = zeros_like(re); return z, gr", true, REAL_GRAD),
	OP(is_imag, "1 where the real part is 0, else 0.", "return eqz(re)", false, Z),
	OP(is_real, "1 where the imaginary part is 0, else 0.", "return eqz(im)", false, Z),
	OP(polar, "The complex number of a length (real) and an angle (imaginary).",
	   "y = multiply(re, cos(im)); z = multiply(re, sin(im)); return y, z", true, Z),
	OP(polar_bw, "The gradient of polar.",
	   "p = multiply(re, cos(im)); q = multiply(re, sin(im)); "
	   "a = sqrt(add(square(p), square(q))); c = eqz(a); r = reciprocal(a); "
	   "y = add(multiply(gr, where(c, 0.0, multiply(p, r))), "
	   "multiply(gi, where(c, 0.0, multiply(q, r)))); "
	   "z = subtract(multiply(gi, p), multiply(gr, q)); return y, z", true, COMPLEX_GRAD),
	OP(real, "The real part.", "return re", false, Z),
	OP(real_bw, "The gradient of real.", "z = zeros_like(re); return gr, z", true, REAL_GRAD),
};
/* clang-format on */

const struct tt_op_family tt_family_complex = {"complex", ops, sizeof(ops) / sizeof(ops[0])};
