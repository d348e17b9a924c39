/*
 * fn_kernel.isa.c: the element-wise functions in float32.
 *
 * Each is one expression, in a loop that the compiler vectorises where math.h gives it a function
 * without calls; the rarer functions call libm element by element.
 */
#include "backend/cpu/fn_kernel.h"

#include "backend/cpu/math.h"
#include "tensor/bf16.h"

/* ---- what is too long for an expression ----------------------------------------------------- */

static float erfinv_one(float y)
{
	double a = 0.147, l, t, x;

	if (!(y > -1 && y < 1))
		return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
	l = log1p(-(double)y * y);
	t = 2 / (3.14159265358979 * a) + l / 2;
	x = copysign(sqrt(sqrt(t * t - l / a) - t), y);
	for (int i = 0; i < 3; i++)
		x -= (erf(x) - y) / (1.1283791670955126 * exp(-x * x));
	return (float)x;
}

/* Modified Bessel functions of order 0 and 1, by their power series. */
static float bessel_one(float x, int order)
{
	double half = x / 2.0, term = order ? half : 1, sum = term;

	for (int k = 1; k < 500 && fabs(term) > 1e-12 * fabs(sum); k++) {
		term *= half * half / ((double)k * (k + order));
		sum += term;
	}
	return (float)sum;
}

/* psi and its derivatives: upwards by recurrence, then the asymptotic series. */
static float polygamma_one(int n, float value)
{
	static const double even[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66};
	double x = value, sum = 0, factorial = 1, sign = n % 2 ? 1 : -1, series;

	if (x != x)
		return value;
	if (n == 0 && x <= 0)
		return x == floor(x) ? NAN
				     : (float)(polygamma_one(0, (float)(1 - x)) -
					       3.14159265358979 / tan(3.14159265358979 * x));
	for (int k = 2; k <= n; k++)
		factorial *= k;
	/* Far below zero the recurrence would take for ever, and the result is noise. */
	if (x < -1e6)
		return NAN;
	for (int left = (int)ceil(12 - x); left > 0; left--, x += 1)
		sum += n ? sign * factorial / pow(x, n + 1) : -1 / x;
	series = n ? factorial / n / pow(x, n) + factorial / 2 / pow(x, n + 1) : log(x) - 0.5 / x;
	for (int k = 1; k <= 5; k++)
		series +=
			n ? even[k - 1] * tgamma(2 * k + n) / tgamma(2 * k + 1) / pow(x, 2 * k + n)
			  : -even[k - 1] / (2 * k * pow(x, 2 * k));
	return (float)(sum + (n ? sign * series : series));
}

/* The sign of the divisor, as Python's %. */
static inline float remainder_floor(float a, float b)
{
	float r = fmodf(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Nothing to a negative power is no number. */
static inline float power(float x, float exponent)
{
	return x == 0 && exponent < 0 ? NAN : powf(x, exponent);
}

/* By multiplying again and again; the exponent is small and no fraction. */
static inline float power_whole(float x, float exponent)
{
	float out = x;

	if (!(exponent >= 1 && exponent <= 8 && exponent == floorf(exponent)))
		return power(x, exponent);
	for (float n = 1; n < exponent; n++)
		out *= x;
	return out;
}

/* What is too small for a normal number is 0. */
static inline float flush(float x)
{
	return fabsf(x) < 1.17549435e-38f ? 0 : x;
}

static inline float xielu(float x, float up, float down)
{
	float below = (tt_expm1(x < -1e-6f ? x : -1e-6f) - x) * down + 0.5f * x;

	return x > 0 ? up * x * x + 0.5f * x : below;
}

/* ---- unary ---------------------------------------------------------------------------------- */

/*
 * X(NAME, expression): of v, with the parameters p, q (float32) and params (float64).
 * To add a function: its name in tensor/fn.h, a line here, and one in fn_int.isa.c if it takes
 * whole numbers.
 */
#define UNARY_ROWS(X)                                                                              \
	X(EXP, tt_exp(v))                                                                          \
	X(RECIP, 1.0f / v)                                                                         \
	X(GELU, tt_gelu(v))                                                                        \
	X(GELU_TANH, tt_gelu_tanh(v))                                                              \
	X(TANH_SLOPE, tt_tanh_slope(v))                                                            \
	X(SIGMOID_SLOPE, tt_sigmoid_slope(v))                                                      \
	X(GELU_SLOPE, tt_gelu_slope(v))                                                            \
	X(GELU_TANH_SLOPE, tt_gelu_tanh_slope(v))                                                  \
	X(RELU, v > 0 ? v : 0)                                                                     \
	X(SQRT, sqrtf(v))                                                                          \
	X(SIGMOID, tt_sigmoid(v))                                                                  \
	X(LOG, tt_log(v))                                                                          \
	X(LOG1P, tt_log1p(v))                                                                      \
	X(TANH, tt_tanh(v))                                                                        \
	X(LOG2, tt_log2(v))                                                                        \
	X(LOG10, tt_log10(v))                                                                      \
	X(COSH, coshf(v))                                                                          \
	X(SINH, sinhf(v))                                                                          \
	X(ABS, fabsf(v))                                                                           \
	X(ABS_INT32, fabsf(v))                                                                     \
	X(SIGN, v > 0 ? 1.0f : v < 0 ? -1.0f : v)                                                  \
	X(SQUARE, v *v)                                                                            \
	X(EQZ, v == 0)                                                                             \
	X(LOGICAL_NOT_UNARY, v == 0)                                                               \
	X(NEZ, v != 0)                                                                             \
	X(GTZ, v > 0)                                                                              \
	X(LTZ, v < 0)                                                                              \
	X(GEZ, v >= 0)                                                                             \
	X(LEZ, v <= 0)                                                                             \
	X(RELU_MAX, tt_clamp(v > p ? p : v, 0, INFINITY))                                          \
	X(RELU_MIN, v > p ? v : p)                                                                 \
	X(MAXIMUM, v > p ? v : p)                                                                  \
	X(MINIMUM, v < p ? v : p)                                                                  \
	X(POWER, power(v, p))                                                                      \
	X(POWER_ITERATIVE, power_whole(v, p))                                                      \
	X(LEAKY_RELU, v < 0 ? v * p : v)                                                           \
	X(PRELU_SFPU, v < 0 ? v * p : v)                                                           \
	X(ELU, v > 0 ? v : p * tt_expm1(v))                                                        \
	X(EXP2, flush(tt_exp2(v)))                                                                 \
	X(HEAVISIDE, v < 0 ? 0 : v == 0 ? p : 1.0f)                                                \
	X(EXPM1, tt_expm1(v))                                                                      \
	X(SIGNBIT, tt_as_bits(v) >> 31)                                                            \
	X(ASIN, asinf(v))                                                                          \
	X(ACOS, acosf(v))                                                                          \
	X(ACOSH, acoshf(v))                                                                        \
	X(RSQRT, 1.0f / sqrtf(v))                                                                  \
	X(RELU6, tt_clamp(v, 0, 6.0f))                                                             \
	X(ATAN, atanf(v))                                                                          \
	X(ASINH, asinhf(v))                                                                        \
	X(ATANH, atanhf(v))                                                                        \
	X(ERF, tt_erf(v))                                                                          \
	X(ERFC, tt_erfc(v))                                                                        \
	X(ISINF, (tt_as_bits(v) & 0x7fffffffu) == 0x7f800000u)                                     \
	X(ISPOSINF, tt_as_bits(v) == 0x7f800000u)                                                  \
	X(ISNEGINF, tt_as_bits(v) == 0xff800000u)                                                  \
	X(ISNAN, v != v)                                                                           \
	X(ISFINITE, (tt_as_bits(v) & 0x7f800000u) != 0x7f800000u)                                  \
	X(ERFINV, erfinv_one(v))                                                                   \
	X(I0, bessel_one(v, 0))                                                                    \
	X(I1, bessel_one(tt_clamp(v, -88.5f, 88.5f), 1))                                           \
	X(TAN, tanf(v))                                                                            \
	X(RSUB, p - v)                                                                             \
	X(RDIV, p / v)                                                                             \
	X(SILU, v *tt_sigmoid(v))                                                                  \
	X(SOFTPLUS, tt_softplus(v, p, q))                                                          \
	X(NEG, -v)                                                                                 \
	X(ADD_UNARY_SFPU, v + p)                                                                   \
	X(SUB_UNARY_SFPU, v - p)                                                                   \
	X(MUL_UNARY_SFPU, v *p)                                                                    \
	X(DIV_UNARY_SFPU, v / p)                                                                   \
	X(UNARY_NE, v != p)                                                                        \
	X(UNARY_EQ, v == p)                                                                        \
	X(UNARY_GT, v > p)                                                                         \
	X(UNARY_LT, v < p)                                                                         \
	X(UNARY_GE, v >= p)                                                                        \
	X(UNARY_LE, v <= p)                                                                        \
	X(FLOOR, floorf(v))                                                                        \
	X(CEIL, ceilf(v))                                                                          \
	X(TRUNC, truncf(v))                                                                        \
	X(FRAC, v - truncf(v))                                                                     \
	X(REMAINDER, remainder_floor(v, p))                                                        \
	X(FMOD, fmodf(v, p))                                                                       \
	X(FILL, ((void)v, p))                                                                      \
	X(MISH, v *tt_tanh(tt_softplus(v, 1.0f, 20.0f)))                                           \
	X(HARDMISH, v *tt_clamp(v * 0.5f + 1.0f, 0, 1.0f))                                         \
	X(TANHSHRINK, tt_tanhshrink(v))                                                            \
	X(THRESHOLD, v > p ? v : q)                                                                \
	X(SOFTSHRINK, v > p ? v - p : v < -p ? v + p : 0)                                          \
	X(HARDSHRINK, v > p || v < -p ? v : 0)                                                     \
	X(HARDTANH, tt_clamp(v, p, q))                                                             \
	X(CLAMP_TSS, tt_clamp(v, p, q))                                                            \
	X(HARDSIGMOID, tt_clamp(v / 6.0f + 0.5f, 0, 1.0f))                                         \
	X(HARDSWISH, v *tt_clamp(v / 6.0f + 0.5f, 0, 1.0f))                                        \
	X(WHERE_TSS, v != 0 ? p : q)                                                               \
	X(MAC_TSS, v *p + q)                                                                       \
	X(SOFTSIGN, v / (1.0f + fabsf(v)))                                                         \
	X(CELU, v > 0 ? v : p * tt_expm1(v / p))                                                   \
	X(SELU, p *(v > 0 ? v : q * tt_expm1(v)))                                                  \
	X(RPOW, powf(p, v))                                                                        \
	X(CBRT, cbrtf(v))                                                                          \
	X(LOGSIGMOID, (v < 0 ? v : 0) - tt_log1p(tt_exp(-fabsf(v))))                               \
	X(LOGIT, (v = p > 0 ? tt_clamp(v, p, 1.0f - p) : v, tt_log(v / (1.0f - v))))               \
	X(XIELU, xielu(v, p, q))                                                                   \
	X(LGAMMA, lgammaf(v))                                                                      \
	X(DIGAMMA, polygamma_one(0, v))                                                            \
	X(POLYGAMMA, polygamma_one((int)params[0], v))                                             \
	X(SOFTCAP, p *tt_tanh(v / p))

#define UNARY(name, expression)                                                                    \
	static void unary_##name(float *out, const float *x, size_t count, const double *params)   \
	{                                                                                          \
		float p = (float)params[0], q = (float)params[1];                                  \
                                                                                                   \
		(void)p, (void)q;                                                                  \
		TT_LOOP                                                                            \
		for (size_t i = 0; i < count; i++) {                                               \
			float v = x[i];                                                            \
                                                                                                   \
			out[i] = (float)(expression);                                              \
		}                                                                                  \
	}
UNARY_ROWS(UNARY)

/* Large angles, which are rare, are left to libm. */
static void sin_or_cos(float *out, const float *x, size_t count, int quarter)
{
	size_t large = 0;

	for (size_t i = 0; i < count; i++)
		large += !(fabsf(x[i]) < TT_ANGLE_MOST);
	if (!large) {
		TT_LOOP
		for (size_t i = 0; i < count; i++)
			out[i] = tt_sin_quarter(x[i], quarter);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		float v = x[i];

		out[i] = fabsf(v) < TT_ANGLE_MOST ? tt_sin_quarter(v, quarter)
			 : quarter                ? cosf(v)
						  : sinf(v);
	}
}

static void unary_SIN(float *out, const float *x, size_t count, const double *params)
{
	(void)params;
	sin_or_cos(out, x, count, 0);
}

static void unary_COS(float *out, const float *x, size_t count, const double *params)
{
	(void)params;
	sin_or_cos(out, x, count, 1);
}

/* At params[0] decimals, half to even. */
static void unary_ROUND(float *out, const float *x, size_t count, const double *params)
{
	double scale = pow(10, (double)(int)params[0]);

	for (size_t i = 0; i < count; i++)
		out[i] = (float)(nearbyint(x[i] * scale) / scale);
}

/* ---- binary ---------------------------------------------------------------------------------- */

/* X(NAME, expression): of l and r, with the parameters p (float32) and params (float64). */
#define SHORT_ROWS(X)                                                                              \
	X(ADD, l + r)                                                                              \
	X(SUB, l - r)                                                                              \
	X(MUL, l *r)                                                                               \
	X(GT, l > r)                                                                               \
	X(LT, l < r)                                                                               \
	X(LE, l <= r)                                                                              \
	X(GE, l >= r)                                                                              \
	X(EQ, l == r)                                                                              \
	X(NE, l != r)                                                                              \
	X(SQUARED_DIFFERENCE, (l - r) * (l - r))

#define BINARY_ROWS(X)                                                                             \
	SHORT_ROWS(X)                                                                              \
	X(BIAS_GELU, tt_gelu(l + r))                                                               \
	X(LOGADDEXP,                                                                               \
	  l == r ? l + 0.693147181f : (l > r ? l : r) + tt_log1p(tt_exp(-fabsf(l - r))))           \
	X(LOGICAL_AND, (l != 0) & (r != 0))                                                        \
	X(LOGICAL_OR, (l != 0) | (r != 0))                                                         \
	X(LOGICAL_XOR, (l != 0) != (r != 0))                                                       \
	X(LDEXP, l *tt_exp2(r))                                                                    \
	X(LOGADDEXP2,                                                                              \
	  l == r ? l + 1.0f : (l > r ? l : r) + tt_log2(1.0f + tt_exp2(-fabsf(l - r))))            \
	X(DIV, l / r)                                                                              \
	X(DIV_FLOOR, floorf(l / r))                                                                \
	X(DIV_TRUNC, truncf(l / r))                                                                \
	X(REMAINDER, remainder_floor(l, r))                                                        \
	X(FMOD, fmodf(l, r))                                                                       \
	X(RSUB, r - l)                                                                             \
	X(POWER, power(l, r))                                                                      \
	X(QUANT, rintf(l / r + p))                                                                 \
	X(REQUANT, rintf(l *r + p))                                                                \
	X(DEQUANT, (l - p) * r)                                                                    \
	X(MAXIMUM, l > r ? l : r)                                                                  \
	X(MINIMUM, l < r ? l : r)                                                                  \
	X(ADDALPHA, l + p * r)                                                                     \
	X(SUBALPHA, l - p * r)                                                                     \
	X(XLOGY, l == 0 && r == r ? 0 : l * tt_log(r))                                             \
	X(HYPOT, hypotf(l, r))                                                                     \
	X(ATAN2, atan2f(l, r))                                                                     \
	X(NEXTAFTER, nextafterf(l, r))                                                             \
	X(WHERE_TST, l != 0 ? p : r)                                                               \
	X(WHERE_TTS, l != 0 ? r : p)                                                               \
	X(ISCLOSE, (l != l && r != r && params[2] != 0) || l == r ||                               \
			   (fabsf(l - r) < INFINITY &&                                             \
			    (double)fabsf(l - r) <= params[1] + params[0] * (double)fabsf(r)))

#define BINARY(name, expression)                                                                   \
	static void binary_##name(float *out, const float *a, const float *b, size_t count,        \
				  const double *params)                                            \
	{                                                                                          \
		float p = (float)params[0];                                                        \
                                                                                                   \
		(void)p;                                                                           \
		TT_LOOP                                                                            \
		for (size_t i = 0; i < count; i++) {                                               \
			float l = a[i], r = b[i];                                                  \
                                                                                                   \
			out[i] = (float)(expression);                                              \
		}                                                                                  \
	}
BINARY_ROWS(BINARY)

#define BINARY_BF16(name, expression)                                                              \
	static void bf16_##name(uint16_t *out, const uint16_t *a, const uint16_t *b, size_t count, \
				const double *params)                                              \
	{                                                                                          \
		(void)params;                                                                      \
		TT_LOOP                                                                            \
		for (size_t i = 0; i < count; i++) {                                               \
			float l = tt_bf16_load(a[i]), r = tt_bf16_load(b[i]);                      \
                                                                                                   \
			out[i] = tt_bf16_store((float)(expression));                               \
		}                                                                                  \
	}
SHORT_ROWS(BINARY_BF16)

/* ---- ternary --------------------------------------------------------------------------------- */

#define TERNARY_ROWS(X)                                                                            \
	X(WHERE, u != 0 ? v : w)                                                                   \
	X(LERP, u + w * (v - u))                                                                   \
	X(ADDCMUL, u + p * v * w)                                                                  \
	X(ADDCDIV, u + p * v / w)                                                                  \
	X(MAC, u *v + w)                                                                           \
	X(SNAKE_BETA, u + sinf(u * v) * sinf(u * v) / w)

#define TERNARY(name, expression)                                                                  \
	static void ternary_##name(float *out, const float *const in[3], size_t count,             \
				   const double *params)                                           \
	{                                                                                          \
		const float *a = in[0], *b = in[1], *c = in[2];                                    \
		float p = (float)params[0];                                                        \
                                                                                                   \
		(void)p;                                                                           \
		TT_LOOP                                                                            \
		for (size_t i = 0; i < count; i++) {                                               \
			float u = a[i], v = b[i], w = c[i];                                        \
                                                                                                   \
			out[i] = (float)(expression);                                              \
		}                                                                                  \
	}
TERNARY_ROWS(TERNARY)

/* ---- the table ------------------------------------------------------------------------------- */

#define TABLE_(isa) tt_float_fns_##isa
#define TABLE(isa) TABLE_(isa)
#define UNARY_ROW(name, expression) [TT_UNARY_##name] = unary_##name,
#define BINARY_ROW(name, expression) [TT_BINARY_##name] = binary_##name,
#define BF16_ROW(name, expression) [TT_BINARY_##name] = bf16_##name,
#define TERNARY_ROW(name, expression) [TT_TERNARY_##name] = ternary_##name,

extern const struct tt_float_fns TABLE(TT_ISA);
const struct tt_float_fns TABLE(TT_ISA) = {
	.unary = {UNARY_ROWS(UNARY_ROW)[TT_UNARY_SIN] = unary_SIN, [TT_UNARY_COS] = unary_COS,
		  [TT_UNARY_ROUND] = unary_ROUND},
	.binary = {BINARY_ROWS(BINARY_ROW)},
	.ternary = {TERNARY_ROWS(TERNARY_ROW)},
	.binary_bf16 = {SHORT_ROWS(BF16_ROW)},
};
