/*
 * test_backend_fn.c: the element-wise functions: how far they are from float64, what they make of the
 * numbers at the ends, and that every instruction set gives the same.
 */
#include "test.h"

#include "backend/cpu/fn_kernel.h"
#include "each_isa.h"

#define COUNT 4096

static const double none[3];

/* ---- how exact ---------------------------------------------------------------------------------- */

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static double gelu(double x)
{
	return 0.5 * x * erfc(-x / sqrt(2.0));
}

static double gelu_tanh(double x)
{
	return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

static double silu(double x)
{
	return x * sigmoid(x);
}

static double log_sigmoid(double x)
{
	return -log1p(exp(-x));
}

static double mish(double x)
{
	return x * tanh(log1p(exp(x)));
}

static double elu(double x)
{
	return x > 0 ? x : 1.5 * expm1(x);
}

static double selu(double x)
{
	return 1.5 * (x > 0 ? x : 0.5 * expm1(x));
}

static double celu(double x)
{
	return x > 0 ? x : 1.5 * expm1(x / 1.5);
}

static double softplus(double x)
{
	return log1p(exp(1.5 * x)) / 1.5;
}

static double recip(double x)
{
	return 1 / x;
}

static double rsqrt(double x)
{
	return 1 / sqrt(x);
}

static double square_third(double x)
{
	return pow(x, 1.5);
}

static double softcap(double x)
{
	return 1.5 * tanh(x / 1.5);
}

static double logit(double x)
{
	return log(x / (1 - x));
}

/* psi(x) by its definition as a limit, sped up: good to 1e-10 here. */
static double digamma(double x)
{
	double sum = 0;

	for (; x < 1000; x++)
		sum -= 1 / x;
	return sum + log(x) - 1 / (2 * x) - 1 / (12 * x * x);
}

/* The integral over angles that defines I0. */
static double bessel_0(double x)
{
	double sum = 0;

	for (int i = 0; i < 200; i++)
		sum += exp(x * cos(acos(-1.0) * (i + 0.5) / 200));
	return sum / 200;
}

static double bessel_1(double x)
{
	double sum = 0;

	for (int i = 0; i < 200; i++) {
		double angle = acos(-1.0) * (i + 0.5) / 200;

		sum += exp(x * cos(angle)) * cos(angle);
	}
	return sum / 200;
}

/* Parameters are 1.5 and 0.5 throughout; `error` is relative, `flat` the one allowed near zero. */
static const struct {
	enum tt_unary_fn fn;
	double (*exact)(double);
	double low, high, error, flat;
} exact[] = {
	{TT_UNARY_EXP, exp, -87, 88, 1.3e-7, 0},
	{TT_UNARY_EXP2, exp2, -125, 127, 1.3e-7, 0},
	{TT_UNARY_EXPM1, expm1, -20, 80, 3e-7, 0},
	{TT_UNARY_LOG, log, 1e-37, 1e38, 1.3e-7, 0},
	{TT_UNARY_LOG, log, 0.5, 2, 1.3e-7, 0},
	{TT_UNARY_LOG2, log2, 0.01, 100, 2e-7, 0},
	{TT_UNARY_LOG10, log10, 0.01, 100, 3e-7, 0},
	{TT_UNARY_LOG1P, log1p, -0.99, 50, 3e-7, 0},
	{TT_UNARY_SIGMOID, sigmoid, -80, 80, 3e-7, 0},
	{TT_UNARY_TANH, tanh, -10, 10, 3e-7, 0},
	{TT_UNARY_ERF, erf, -5, 5, 3e-7, 0},
	{TT_UNARY_ERFC, erfc, -5, 8, 1e-5, 0},
	{TT_UNARY_GELU, gelu, -10, 10, 2e-5, 0},
	{TT_UNARY_GELU_TANH, gelu_tanh, -3, 10, 1e-5, 1e-7},
	{TT_UNARY_SILU, silu, -80, 80, 4e-7, 0},
	{TT_UNARY_SIN, sin, -1e5, 1e5, 1e-7, 0},
	{TT_UNARY_COS, cos, -1e7, 1e7, 1e-7, 0},
	{TT_UNARY_TAN, tan, -100, 100, 3e-7, 0},
	{TT_UNARY_LOGSIGMOID, log_sigmoid, -50, 50, 4e-7, 0},
	{TT_UNARY_MISH, mish, -20, 20, 1e-6, 0},
	{TT_UNARY_ELU, elu, -10, 10, 4e-7, 0},
	{TT_UNARY_SELU, selu, -10, 10, 4e-7, 0},
	{TT_UNARY_CELU, celu, -10, 10, 5e-7, 0},
	{TT_UNARY_SOFTPLUS, softplus, -20, 0.3, 3e-6, 0},
	{TT_UNARY_RECIP, recip, -10, 10, 1e-7, 0},
	{TT_UNARY_SQRT, sqrt, 0, 1e10, 1e-7, 0},
	{TT_UNARY_RSQRT, rsqrt, 1e-10, 1e10, 2e-7, 0},
	{TT_UNARY_POWER, square_third, 0, 100, 2e-7, 0},
	{TT_UNARY_SOFTCAP, softcap, -10, 10, 4e-7, 0},
	{TT_UNARY_LOGIT, logit, 0.01, 0.99, 3e-6, 1e-7},
	{TT_UNARY_COSH, cosh, -10, 10, 3e-7, 0},
	{TT_UNARY_SINH, sinh, -10, 10, 3e-7, 0},
	{TT_UNARY_ASIN, asin, -1, 1, 3e-7, 0},
	{TT_UNARY_ACOS, acos, -1, 1, 3e-7, 1e-7},
	{TT_UNARY_ATAN, atan, -10, 10, 3e-7, 0},
	{TT_UNARY_ASINH, asinh, -10, 10, 3e-7, 0},
	{TT_UNARY_ACOSH, acosh, 1, 10, 3e-7, 0},
	{TT_UNARY_ATANH, atanh, -0.99, 0.99, 3e-7, 0},
	{TT_UNARY_CBRT, cbrt, -100, 100, 3e-7, 0},
	{TT_UNARY_LGAMMA, lgamma, 0.1, 20, 1e-6, 1e-6},
	{TT_UNARY_DIGAMMA, digamma, 0.1, 20, 1e-6, 1e-6},
	{TT_UNARY_I0, bessel_0, -10, 10, 3e-7, 0},
	{TT_UNARY_I1, bessel_1, -10, 10, 3e-7, 1e-7},
};

TEST(functions_are_close_to_float64)
{
	const double params[3] = {1.5, 0.5, 0};
	static float x[COUNT], y[COUNT];

	for (size_t k = 0; k < sizeof(exact) / sizeof(exact[0]); k++) {
		bool logit_row = exact[k].fn == TT_UNARY_LOGIT;

		/* The softplus row stays below its threshold of 0.5. */
		for (int i = 0; i < COUNT; i++)
			x[i] = (float)(exact[k].low +
				       (exact[k].high - exact[k].low) * i / (COUNT - 1));
		tt_float_fns_get()->unary[exact[k].fn](y, x, COUNT, logit_row ? none : params);
		for (int i = 0; i < COUNT; i++) {
			double want = exact[k].exact(x[i]);
			double most = exact[k].error * fabs(want) + exact[k].flat;

			if (!(fabs(y[i] - want) <= most) && y[i] != want)
				TEST_FAIL("function %d of %.9g is %.9g, not %.9g", (int)exact[k].fn,
					  x[i], y[i], want);
			if (test_failures > 20)
				return;
		}
	}
}

/* The inverse is checked by the function itself. */
TEST(erfinv_is_the_inverse)
{
	static float x[COUNT], y[COUNT];

	for (int i = 0; i < COUNT; i++)
		x[i] = (float)(-0.999 + 1.998 * i / (COUNT - 1));
	tt_float_fns_get()->unary[TT_UNARY_ERFINV](y, x, COUNT, none);
	for (int i = 0; i < COUNT; i++)
		CHECK(fabs(erf(y[i]) - x[i]) <= 3e-7);
}

/* The second derivative of psi at 1 is -2 zeta(3), the first at 1/2 pi^2/2. */
TEST(polygamma_at_known_points)
{
	float x[] = {1, 0.5f}, y[2];

	tt_float_fns_get()->unary[TT_UNARY_POLYGAMMA](y, x, 2, (const double[]){2, 0, 0});
	CHECK(fabs(y[0] + 2.4041138063) < 1e-5);
	tt_float_fns_get()->unary[TT_UNARY_POLYGAMMA](y, x, 2, (const double[]){1, 0, 0});
	CHECK(fabs(y[1] - 4.9348022005) < 1e-5);
}

/* ---- simple functions ---------------------------------------------------------------------------- */

static void check_all(enum tt_unary_fn fn, const double *params, const float *want)
{
	static const float x[] = {-2.5f, -1, -0.0f, 0.5f, 1.5f, 7};
	float y[6];

	tt_float_fns_get()->unary[fn](y, x, 6, params);
	for (int i = 0; i < 6; i++)
		if (!(fabsf(y[i] - want[i]) <= 2e-7f * fabsf(want[i])) && y[i] != want[i])
			TEST_FAIL("function %d of %g is %g, not %g", (int)fn, x[i], y[i], want[i]);
}

#define ROW(fn, p, q, ...)                                                                         \
	check_all(TT_UNARY_##fn, (const double[]){p, q, 0}, (const float[]){__VA_ARGS__})

TEST(simple_functions_by_hand)
{
	ROW(RELU, 0, 0, 0, 0, 0, 0.5f, 1.5f, 7);
	ROW(ABS, 0, 0, 2.5f, 1, 0, 0.5f, 1.5f, 7);
	ROW(SIGN, 0, 0, -1, -1, 0, 1, 1, 1);
	ROW(SQUARE, 0, 0, 6.25f, 1, 0, 0.25f, 2.25f, 49);
	ROW(EQZ, 0, 0, 0, 0, 1, 0, 0, 0);
	ROW(LOGICAL_NOT_UNARY, 0, 0, 0, 0, 1, 0, 0, 0);
	ROW(NEZ, 0, 0, 1, 1, 0, 1, 1, 1);
	ROW(GTZ, 0, 0, 0, 0, 0, 1, 1, 1);
	ROW(LTZ, 0, 0, 1, 1, 0, 0, 0, 0);
	ROW(GEZ, 0, 0, 0, 0, 1, 1, 1, 1);
	ROW(LEZ, 0, 0, 1, 1, 1, 0, 0, 0);
	ROW(RELU_MAX, 2, 0, 0, 0, 0, 0.5f, 1.5f, 2);
	ROW(RELU_MIN, 1, 0, 1, 1, 1, 1, 1.5f, 7);
	ROW(MAXIMUM, 1, 0, 1, 1, 1, 1, 1.5f, 7);
	ROW(MINIMUM, 1, 0, -2.5f, -1, 0, 0.5f, 1, 1);
	ROW(LEAKY_RELU, 0.5, 0, -1.25f, -0.5f, 0, 0.5f, 1.5f, 7);
	ROW(PRELU_SFPU, 0.5, 0, -1.25f, -0.5f, 0, 0.5f, 1.5f, 7);
	ROW(HEAVISIDE, 3, 0, 0, 0, 3, 1, 1, 1);
	ROW(SIGNBIT, 0, 0, 1, 1, 1, 0, 0, 0);
	ROW(RELU6, 0, 0, 0, 0, 0, 0.5f, 1.5f, 6);
	ROW(RSUB, 1, 0, 3.5f, 2, 1, 0.5f, -0.5f, -6);
	ROW(RDIV, 7, 0, -2.8f, -7, -INFINITY, 14, 7 / 1.5f, 1);
	ROW(NEG, 0, 0, 2.5f, 1, 0, -0.5f, -1.5f, -7);
	ROW(ADD_UNARY_SFPU, 1, 0, -1.5f, 0, 1, 1.5f, 2.5f, 8);
	ROW(SUB_UNARY_SFPU, 1, 0, -3.5f, -2, -1, -0.5f, 0.5f, 6);
	ROW(MUL_UNARY_SFPU, 2, 0, -5, -2, 0, 1, 3, 14);
	ROW(DIV_UNARY_SFPU, 2, 0, -1.25f, -0.5f, 0, 0.25f, 0.75f, 3.5f);
	ROW(UNARY_NE, 7, 0, 1, 1, 1, 1, 1, 0);
	ROW(UNARY_EQ, 7, 0, 0, 0, 0, 0, 0, 1);
	ROW(UNARY_GT, 0.5, 0, 0, 0, 0, 0, 1, 1);
	ROW(UNARY_LT, 0.5, 0, 1, 1, 1, 0, 0, 0);
	ROW(UNARY_GE, 0.5, 0, 0, 0, 0, 1, 1, 1);
	ROW(UNARY_LE, 0.5, 0, 1, 1, 1, 1, 0, 0);
	ROW(FLOOR, 0, 0, -3, -1, 0, 0, 1, 7);
	ROW(CEIL, 0, 0, -2, -1, 0, 1, 2, 7);
	ROW(TRUNC, 0, 0, -2, -1, 0, 0, 1, 7);
	ROW(FRAC, 0, 0, -0.5f, 0, 0, 0.5f, 0.5f, 0);
	ROW(ROUND, 0, 0, -2, -1, 0, 0, 2, 7);
	ROW(REMAINDER, 2, 0, 1.5f, 1, 0, 0.5f, 1.5f, 1);
	ROW(FMOD, 2, 0, -0.5f, -1, 0, 0.5f, 1.5f, 1);
	ROW(FILL, 4, 0, 4, 4, 4, 4, 4, 4);
	ROW(HARDMISH, 0, 0, 0, -0.5f, 0, 0.5f, 1.5f, 7);
	ROW(THRESHOLD, 1, 9, 9, 9, 9, 9, 1.5f, 7);
	ROW(SOFTSHRINK, 1, 0, -1.5f, 0, 0, 0, 0.5f, 6);
	ROW(HARDSHRINK, 1, 0, -2.5f, 0, 0, 0, 1.5f, 7);
	ROW(HARDTANH, -1, 1, -1, -1, 0, 0.5f, 1, 1);
	ROW(CLAMP_TSS, -1, 1, -1, -1, 0, 0.5f, 1, 1);
	ROW(HARDSIGMOID, 0, 0, 0.5f - 2.5f / 6, 0.5f - 1.0f / 6, 0.5f, 0.5f + 0.5f / 6, 0.75f, 1);
	ROW(WHERE_TSS, 3, 4, 3, 3, 4, 3, 3, 3);
	ROW(MAC_TSS, 2, 1, -4, -1, 1, 2, 4, 15);
	ROW(SOFTSIGN, 0, 0, -2.5f / 3.5f, -0.5f, 0, 1 / 3.0f, 0.6f, 0.875f);
	ROW(RPOW, 4, 0, 0.03125f, 0.25f, 1, 2, 8, 16384);
	ROW(TANHSHRINK, 0, 0, -2.5f - tanhf(-2.5f), -1 - tanhf(-1), 0, 0.5f - tanhf(0.5f),
	    1.5f - tanhf(1.5f), 7 - tanhf(7));
}

/* ---- the ends ------------------------------------------------------------------------------------ */

TEST(ends_of_the_numbers)
{
	const float in[] = {INFINITY, -INFINITY, NAN, 0, 200, -200};
	static const struct {
		enum tt_unary_fn fn;
		float want[6];
	} rows[] = {
		{TT_UNARY_EXP, {INFINITY, 0, NAN, 1, INFINITY, 0}},
		{TT_UNARY_EXP2, {INFINITY, 0, NAN, 1, INFINITY, 0}},
		{TT_UNARY_EXPM1, {INFINITY, -1, NAN, 0, INFINITY, -1}},
		{TT_UNARY_LOG, {INFINITY, NAN, NAN, -INFINITY, 5.29831737f, NAN}},
		{TT_UNARY_LOG2, {INFINITY, NAN, NAN, -INFINITY, 7.64385619f, NAN}},
		{TT_UNARY_LOG10, {INFINITY, NAN, NAN, -INFINITY, 2.30103f, NAN}},
		{TT_UNARY_LOG1P, {INFINITY, NAN, NAN, 0, 5.30330491f, NAN}},
		{TT_UNARY_SIGMOID, {1, 0, NAN, 0.5f, 1, 0}},
		{TT_UNARY_TANH, {1, -1, NAN, 0, 1, -1}},
		{TT_UNARY_ERF, {1, -1, NAN, 0, 1, -1}},
		{TT_UNARY_ERFC, {0, 2, NAN, 1, 0, 2}},
		{TT_UNARY_SQRT, {INFINITY, NAN, NAN, 0, 14.1421356f, NAN}},
		{TT_UNARY_RECIP, {0, 0, NAN, INFINITY, 0.005f, -0.005f}},
		{TT_UNARY_SIN, {NAN, NAN, NAN, 0, -0.873297297f, 0.873297297f}},
		{TT_UNARY_ISINF, {1, 1, 0, 0, 0, 0}},
		{TT_UNARY_ISPOSINF, {1, 0, 0, 0, 0, 0}},
		{TT_UNARY_ISNEGINF, {0, 1, 0, 0, 0, 0}},
		{TT_UNARY_ISNAN, {0, 0, 1, 0, 0, 0}},
		{TT_UNARY_ISFINITE, {0, 0, 0, 1, 1, 1}},
		{TT_UNARY_RELU, {INFINITY, 0, 0, 0, 200, 0}},
		{TT_UNARY_GELU, {INFINITY, NAN, NAN, 0, 200, 0}},
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		float y[6];

		tt_float_fns_get()->unary[rows[k].fn](y, in, 6, none);
		for (int i = 0; i < 6; i++)
			if (!(fabsf(y[i] - rows[k].want[i]) <= 5e-7f * fabsf(y[i]) ||
			      y[i] == rows[k].want[i] || (isnan(y[i]) && isnan(rows[k].want[i]))))
				TEST_FAIL("function %d of %g is %.9g, not %.9g", (int)rows[k].fn,
					  in[i], y[i], rows[k].want[i]);
	}
}

/* ---- functions of two and three -------------------------------------------------------------------- */

static void check_binary(enum tt_binary_fn fn, const double *params, const float *want)
{
	static const float a[] = {-3.5f, -1, 0, 2, 5, 7}, b[] = {2, -1, 4, 0.5f, -3, 7};
	float y[6];

	tt_float_fns_get()->binary[fn](y, a, b, 6, params);
	for (int i = 0; i < 6; i++)
		if (!(fabsf(y[i] - want[i]) <= 3e-7f * fabsf(want[i])) && y[i] != want[i] &&
		    !(isnan(y[i]) && isnan(want[i])))
			TEST_FAIL("function %d of %g and %g is %.9g, not %.9g", (int)fn, a[i], b[i],
				  y[i], want[i]);
}

#define PAIR(fn, p, ...)                                                                           \
	check_binary(TT_BINARY_##fn, (const double[]){p, 0.1, 1}, (const float[]){__VA_ARGS__})

TEST(functions_of_two_by_hand)
{
	PAIR(ADD, 0, -1.5f, -2, 4, 2.5f, 2, 14);
	PAIR(SUB, 0, -5.5f, 0, -4, 1.5f, 8, 0);
	PAIR(MUL, 0, -7, 1, 0, 1, -15, 49);
	PAIR(GT, 0, 0, 0, 0, 1, 1, 0);
	PAIR(LT, 0, 1, 0, 1, 0, 0, 0);
	PAIR(LE, 0, 1, 1, 1, 0, 0, 1);
	PAIR(GE, 0, 0, 1, 0, 1, 1, 1);
	PAIR(EQ, 0, 0, 1, 0, 0, 0, 1);
	PAIR(NE, 0, 1, 0, 1, 1, 1, 0);
	PAIR(SQUARED_DIFFERENCE, 0, 30.25f, 0, 16, 2.25f, 64, 0);
	PAIR(LOGADDEXP, 0, 2.00407840f, -0.306852819f, 4.01814993f, 2.20141328f, 5.00033541f,
	     7.69314718f);
	PAIR(LOGICAL_AND, 0, 1, 1, 0, 1, 1, 1);
	PAIR(LOGICAL_OR, 0, 1, 1, 1, 1, 1, 1);
	PAIR(LOGICAL_XOR, 0, 0, 0, 1, 0, 0, 0);
	PAIR(LDEXP, 0, -14, -0.5f, 0, 2.82842712f, 0.625f, 896);
	PAIR(LOGADDEXP2, 0, 2.03153221f, 0, 4.08746284f, 2.43675190f, 5.00562455f, 8);
	PAIR(DIV, 0, -1.75f, 1, 0, 4, -5 / 3.0f, 1);
	PAIR(DIV_FLOOR, 0, -2, 1, 0, 4, -2, 1);
	PAIR(DIV_TRUNC, 0, -1, 1, 0, 4, -1, 1);
	PAIR(REMAINDER, 0, 0.5f, 0, 0, 0, -1, 0);
	PAIR(FMOD, 0, -1.5f, 0, 0, 0, 2, 0);
	PAIR(RSUB, 0, 5.5f, 0, 4, -1.5f, -8, 0);
	PAIR(POWER, 0, 12.25f, -1, 0, 1.41421356f, 0.008f, 823543);
	PAIR(QUANT, 3, 1, 4, 3, 7, 1, 4);
	PAIR(REQUANT, 3, -4, 4, 3, 4, -12, 52);
	PAIR(DEQUANT, 3, -13, 4, -12, -0.5f, -6, 28);
	PAIR(MAXIMUM, 0, 2, -1, 4, 2, 5, 7);
	PAIR(MINIMUM, 0, -3.5f, -1, 0, 0.5f, -3, 7);
	PAIR(ADDALPHA, 2, 0.5f, -3, 8, 3, -1, 21);
	PAIR(SUBALPHA, 2, -7.5f, 1, -8, 1, 11, -7);
	PAIR(XLOGY, 0, -2.42601513f, NAN, 0, -1.38629436f, NAN, 13.6213710f);
	PAIR(HYPOT, 0, 4.03112887f, 1.41421356f, 4, 2.06155281f, 5.83095189f, 9.89949494f);
	PAIR(ATAN2, 0, -1.05165021f, -2.35619449f, 0, 1.32581766f, 2.11121583f, 0.785398163f);
	PAIR(NEXTAFTER, 0, nextafterf(-3.5f, 2), -1, nextafterf(0, 4), nextafterf(2, 0.5f),
	     nextafterf(5, -3), 7);
	PAIR(WHERE_TST, 9, 9, 9, 4, 9, 9, 9);
	PAIR(WHERE_TTS, 9, 2, -1, 9, 0.5f, -3, 7);
	PAIR(ISCLOSE, 0.5, 0, 1, 0, 0, 0, 1);
}

TEST(functions_of_three_by_hand)
{
	static const float a[] = {2, 0, -1}, b[] = {3, 5, 0.5f}, c[] = {4, -2, 8};
	static const float want[][3] = {
		{3, -2, 0.5f}, {6, -10, 11}, {26, -20, 7}, {3.5f, -5, -0.875f}, {10, -2, 7.5f}};
	const float *const in[] = {a, b, c};

	for (int fn = 0; fn < 5; fn++) {
		float y[3];

		tt_float_fns_get()->ternary[fn](y, in, 3, (const double[]){2, 0, 0});
		for (int i = 0; i < 3; i++)
			if (y[i] != want[fn][i])
				TEST_FAIL("function %d, element %d is %g, not %g", fn, i, y[i],
					  want[fn][i]);
	}
}

/* ---- whole numbers --------------------------------------------------------------------------------- */

static void check_whole(enum tt_unary_fn fn, const double *params, const int64_t *want)
{
	static const int64_t x[] = {-7, -1, 0, 2, 9, INT64_MIN};
	int64_t y[6];

	tt_int_fns_get()->unary[fn](y, x, 6, params);
	for (int i = 0; i < 6; i++)
		if (y[i] != want[i])
			TEST_FAIL("function %d of %" PRId64 " is %" PRId64 ", not %" PRId64,
				  (int)fn, x[i], y[i], want[i]);
}

#undef ROW
#define ROW(fn, p, q, ...)                                                                         \
	check_whole(TT_UNARY_##fn, (const double[]){p, q, 0}, (const int64_t[]){__VA_ARGS__})
#define LEAST INT64_MIN

TEST(whole_numbers_by_hand)
{
	ROW(RELU, 0, 0, 0, 0, 0, 2, 9, 0);
	ROW(ABS, 0, 0, 7, 1, 0, 2, 9, LEAST);
	ROW(SIGN, 0, 0, -1, -1, 0, 1, 1, -1);
	ROW(SQUARE, 0, 0, 49, 1, 0, 4, 81, 0);
	ROW(EQZ, 0, 0, 0, 0, 1, 0, 0, 0);
	ROW(SIGNBIT, 0, 0, 1, 1, 0, 0, 0, 1);
	ROW(RELU6, 0, 0, 0, 0, 0, 2, 6, 0);
	ROW(POWER, 3, 0, -343, -1, 0, 8, 729, 0);
	ROW(LEAKY_RELU, 0.5, 0, -3, 0, 0, 2, 9, LEAST / 2);
	ROW(RSUB, 1, 0, 8, 2, 1, -1, -8, LEAST + 1);
	ROW(NEG, 0, 0, 7, 1, 0, -2, -9, LEAST);
	ROW(ADD_UNARY_SFPU, -1, 0, -8, -2, -1, 1, 8, INT64_MAX);
	ROW(MUL_UNARY_SFPU, 3, 0, -21, -3, 0, 6, 27, LEAST);
	ROW(DIV_UNARY_SFPU, -1, 0, 7, 1, 0, -2, -9, LEAST);
	ROW(UNARY_GT, 1.5, 0, 0, 0, 0, 1, 1, 0);
	ROW(BITWISE_XOR, 5, 0, -4, -6, 5, 7, 12, LEAST + 5);
	ROW(BITWISE_NOT, 0, 0, 6, 0, -1, -3, -10, INT64_MAX);
	ROW(BITWISE_AND, 5, 0, 1, 5, 0, 0, 1, 0);
	ROW(BITWISE_OR, 5, 0, -3, -1, 5, 7, 13, LEAST + 5);
	ROW(RIGHT_SHIFT, 1, 0, -4, -1, 0, 1, 4, LEAST / 2);
	ROW(LEFT_SHIFT, 1, 0, -14, -2, 0, 4, 18, 0);
	ROW(LEFT_SHIFT, 32, 0, 0, 0, 0, 0, 0, 0);
	ROW(REMAINDER, 4, 0, 1, 3, 0, 2, 1, 0);
	ROW(REMAINDER, 0, 0, 0, 0, 0, 0, 0, 0);
	ROW(FMOD, 4, 0, -3, -1, 0, 2, 1, 0);
	ROW(CLAMP_TSS, -2, 3, -2, -1, 0, 2, 3, -2);
	ROW(WHERE_TSS, 3, 4, 3, 3, 4, 3, 3, 3);
	ROW(MAC_TSS, 2, 1, -13, -1, 1, 5, 19, 1);
	ROW(FILL, NAN, 0, 0, 0, 0, 0, 0, 0);
	ROW(MAXIMUM, 1e300, 0, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX);
}

TEST(whole_numbers_of_two_by_hand)
{
	static const int64_t a[] = {7, -7, 12, LEAST, 5}, b[] = {2, 2, -18, -1, 0};
	static const struct {
		enum tt_binary_fn fn;
		int64_t want[5];
	} rows[] = {
		{TT_BINARY_DIV, {3, -3, 0, LEAST, 0}},
		{TT_BINARY_DIV_FLOOR, {3, -4, -1, LEAST, 0}},
		{TT_BINARY_REMAINDER, {1, 1, -6, 0, 0}},
		{TT_BINARY_FMOD, {1, -1, 12, 0, 0}},
		{TT_BINARY_GCD, {1, 1, 6, 1, 5}},
		{TT_BINARY_LCM, {14, 14, 36, LEAST, 0}},
		{TT_BINARY_SQUARED_DIFFERENCE, {25, 81, 900, 1, 25}},
		{TT_BINARY_LEFT_SHIFT, {28, -28, 0, 0, 5}},
		{TT_BINARY_LOGICAL_RIGHT_SHIFT, {1, 0x3ffffffe, 0, 0, 5}},
		{TT_BINARY_POWER, {49, 49, 1, 1, 1}},
		{TT_BINARY_MUL, {14, -14, -216, LEAST, 0}},
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		int64_t y[5];

		tt_int_fns_get()->binary[rows[k].fn](y, a, b, 5, none);
		for (int i = 0; i < 5; i++)
			if (y[i] != rows[k].want[i])
				TEST_FAIL("function %d of %" PRId64 " and %" PRId64 " is %" PRId64,
					  (int)rows[k].fn, a[i], b[i], y[i]);
	}
}

/* ---- instruction sets ------------------------------------------------------------------------------- */

static float strange(uint64_t *state)
{
	static const float ends[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, 3e38f, 1, -1};
	uint32_t bits = (uint32_t)test_random(state);
	float any;

	memcpy(&any, &bits, sizeof(any));
	switch (bits % 4) {
	case 0:
		return ends[bits / 4 % 9];
	case 1: /* any bits, but what takes polygamma long */
		return fabsf(any) < 1e5f ? any : (float)(bits % 1000);
	default:
		return (float)((double)bits / 4e8 - 5);
	}
}

static bool same(float a, float b)
{
	return a == b || (a != a && b != b);
}

/* The bfloat16 next to a float, halves to even: by distances, in float64. */
static uint16_t nearest_bf16(float value)
{
	uint32_t bits, cut;
	float low, high;
	double up, below, above;

	if (isnan(value))
		return 0x7fc0;
	memcpy(&bits, &value, sizeof(bits));
	cut = bits & 0xffff0000u;
	memcpy(&low, &cut, sizeof(low));
	if (low == value)
		return (uint16_t)(cut >> 16);
	cut += 0x10000; /* away from zero; behind the last finite one is infinity, as far as 2^128 */
	memcpy(&high, &cut, sizeof(high));
	up = isinf(high) ? copysign(0x1p128, (double)value) : (double)high;
	below = fabs((double)value - (double)low);
	above = fabs(up - (double)value);

	if (below < above || (below == above && cut >> 16 & 1))
		return (uint16_t)((bits & 0xffff0000u) >> 16);
	return (uint16_t)(cut >> 16);
}

/* Without lanes in between the same comes out: every bfloat16 beside many others. */
TEST(bfloat16_at_once)
{
	static uint16_t a[65536], b[65536], got[65536];
	static float left[65536], right[65536], out[65536];
	const struct tt_float_fns *fns = tt_float_fns_get();
	size_t functions = 0;

	for (uint32_t i = 0; i < 65536; i++) {
		uint32_t l = i << 16, r = (i * 40503u + 12345u) << 16;

		a[i] = (uint16_t)(l >> 16);
		b[i] = (uint16_t)(r >> 16);
		memcpy(&left[i], &l, sizeof(l));
		memcpy(&right[i], &r, sizeof(r));
	}
	for (size_t f = 0; f < TT_BINARY_FNS; f++) {
		size_t wrong = 0;

		if (!fns->binary_bf16[f])
			continue;
		functions++;
		fns->binary[f](out, left, right, 65536, none);
		EACH_ISA(isa)
		{
			memset(got, 0, sizeof(got));
			tt_float_fns_get()->binary_bf16[f](got, a, b, 65536, none);
			for (size_t i = 0; i < 65536; i++)
				wrong += got[i] != nearest_bf16(out[i]);
		}
		CHECK_INT(wrong, 0);
	}
	CHECK_INT(functions, 10);
}

TEST(instruction_sets_agree)
{
	const double params[3] = {1.25, 0.5, 0};
	static float x[1003], b[1003], c[1003], first[1003], y[1003];
	const float *const in[] = {x, b, c};
	uint64_t state = 5;

	for (int i = 0; i < 1003; i++) {
		x[i] = strange(&state);
		b[i] = strange(&state);
		c[i] = strange(&state);
	}
	for (int fn = 0; fn < TT_UNARY_FNS + TT_BINARY_FNS + TT_TERNARY_FNS; fn++) {
		int two = fn - TT_UNARY_FNS, three = two - TT_BINARY_FNS, start = 1;

		EACH_ISA(isa)
		{
			const struct tt_float_fns *fns = tt_float_fns_get();

			memset(y, 0, sizeof(y));
			if (three >= 0 && fns->ternary[three])
				fns->ternary[three](y, in, 1003, params);
			else if (three < 0 && two >= 0 && fns->binary[two])
				fns->binary[two](y, x, b, 1003, params);
			else if (two < 0 && fns->unary[fn])
				fns->unary[fn](y, x, 1003, params);
			if (start)
				memcpy(first, y, sizeof(y));
			for (int i = 0; i < 1003 && !start; i++)
				if (!same(y[i], first[i]))
					TEST_FAIL("function %d of %g is %.9g with %s, and %.9g", fn,
						  x[i], y[i], tt_cpu_isa_name((enum tt_isa)isa),
						  first[i]);
			start = 0;
		}
	}
}
