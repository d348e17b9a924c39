/*
 * golden_fn.c: the element-wise functions in float64, each as its textbook defines it.
 *
 * Functions over integers get whole numbers and give whole numbers; who calls wraps the result to
 * the width of the dtype.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "golden/golden.h"

static double sigmoid(double x)
{
	return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double softplus(double x, double beta, double threshold)
{
	return x * beta > threshold ? x : log1p(exp(x * beta)) / beta;
}

static double gelu(double x)
{
	return 0.5 * x * (1 + erf(x / sqrt(2.0)));
}

static double gelu_tanh(double x)
{
	return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

static double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

static double sign(double x)
{
	return x > 0 ? 1 : x < 0 ? -1 : x;
}

/* Half to even, at `decimals` digits. */
static double round_at(double x, double decimals)
{
	double scale = pow(10, decimals);

	return nearbyint(x * scale) / scale;
}

/* Inverse of erf: Newton steps from a rational start. */
static double erfinv(double y)
{
	double a = 0.147, pi = acos(-1.0), l, t, x;

	if (y <= -1 || y >= 1)
		return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
	l = log1p(-y * y);
	t = 2 / (pi * a) + l / 2;
	x = copysign(sqrt(sqrt(t * t - l / a) - t), y);
	for (int i = 0; i < 4; i++)
		x -= (erf(x) - y) / (2 / sqrt(pi) * exp(-x * x));
	return x;
}

/* Bessel functions of the first kind with imaginary argument, by their power series. */
static double bessel_i(double x, int order)
{
	double half = x / 2, term = order ? half : 1, sum = term;

	for (int k = 1; k < 1000; k++) {
		term *= half * half / ((double)k * (k + order));
		sum += term;
		if (fabs(term) <= 1e-18 * fabs(sum))
			break;
	}
	return sum;
}

#define FAR 4096.0

/* Polygamma of order n: psi for 0; recurrence up to x >= 20, then the asymptotic series. */
static double polygamma(int n, double x)
{
	static const double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
					   5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
	double shift = 0, result, factorial = 1;

	if (n == 0 && x <= 0)
		return x == floor(x) ? NAN : polygamma(0, 1 - x) - acos(-1.0) / tan(acos(-1.0) * x);
	if (n < 0)
		return NAN;
	for (int k = 2; k <= n && isfinite(factorial); k++)
		factorial *= k;
	if (n > 0 && x < 0 && x == floor(x))
		return pow(-1, n + 1) * INFINITY;
	if (n > 0 && x < -FAR) { /* far terms of the sum are as good as an integral */
		double steps = floor(-x) - FAR, from = x - 0.5, to = from + steps;

		shift = pow(-1, n + 1) * factorial * (pow(from, -n) - pow(to, -n)) / n;
		x += steps;
	}
	while (x < 20) {
		shift += n == 0 ? -1 / x : pow(-1, n + 1) * factorial / pow(x, n + 1);
		x += 1;
	}
	if (n == 0) {
		result = log(x) - 1 / (2 * x);
		for (int k = 1; k <= 8; k++)
			result -= bernoulli[k - 1] / (2 * k * pow(x, 2 * k));
		return result + shift;
	}
	result = factorial / n / pow(x, n) + factorial / (2 * pow(x, n + 1));
	for (int k = 1; k <= 8; k++)
		result += bernoulli[k - 1] * exp(lgamma(2 * k + n) - lgamma(2 * k + 1)) /
			  pow(x, 2 * k + n);
	return pow(-1, n + 1) * result + shift;
}

/* The sign of the divisor, as Python's %. */
static double remainder_floor(double a, double b)
{
	double r = fmod(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* As the chip: nothing to a negative power is no number. */
static double power(double x, double exponent)
{
	return x == 0 && exponent < 0 ? NAN : pow(x, exponent);
}

static double selu(double x, double scale, double alpha)
{
	return scale * (x > 0 ? x : alpha * expm1(x));
}

static double logit(double x, double eps)
{
	x = eps > 0 ? clamp(x, eps, 1 - eps) : x;
	return log(x / (1 - x));
}

static double xielu(double x, double alpha_p, double alpha_n)
{
	double beta = 0.5;

	return x > 0 ? alpha_p * x * x + beta * x
		     : (expm1(fmin(x, -1e-6)) - x) * alpha_n + beta * x;
}

static int64_t whole(double x)
{
	return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static double shift_left(double x, double by)
{
	return by < 0 || by > 31 ? 0 : (double)(int32_t)((uint32_t)whole(x) << (unsigned)by);
}

static double shift_right(double x, double by)
{
	if (by > 31) /* beyond the register its sign is left */
		return x < 0 ? -1 : 0;
	return by < 0 ? 0 : (double)(whole(x) >> (unsigned)by);
}

static double shift_right_logical(double x, double by)
{
	return by < 0 || by > 31 ? 0 : (double)((uint32_t)whole(x) >> (unsigned)by);
}

static uint64_t size_of(double x)
{
	int64_t number = whole(x);

	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

static double gcd(double a, double b)
{
	uint64_t x = size_of(a), y = size_of(b);

	while (y) {
		uint64_t rest = x % y;

		x = y;
		y = rest;
	}
	return (double)x;
}

static double rounded(double x, double rounding)
{
	return rounding == TT_ROUND_TRUNC ? trunc(x) : rounding == TT_ROUND_FLOOR ? floor(x) : x;
}

/* One function a line of the list, in its terms. */
#define X(name, number, y)                                                                         \
	static double unary_##name(double x, double p, double q)                                   \
	{                                                                                          \
		(void)x, (void)p, (void)q;                                                         \
		return (y);                                                                        \
	}
TT_UNARY_LIST(X)
#undef X

/* The list of fn.h, called by number: name, number in recordings, and the formula as C. */
double tt_golden_unary(const struct tt_unary_step *step, double x)
{
	static double (*const functions[])(double, double, double) = {
#define X(name, number, y) [TT_UNARY_##name] = unary_##name,
		TT_UNARY_LIST(X)
#undef X
	};
	size_t fn = (size_t)step->fn;

	if (fn >= sizeof(functions) / sizeof(functions[0]))
		return NAN; /* not a function of one element */
	return functions[fn](x, step->params[0], step->params[1]);
}

/* Whole numbers wrap to the range of their type, as the chip's do; everything else stays. */
double tt_golden_fit(enum ttnn_dtype dtype, double value)
{
	const struct tt_dtype *row = tt_dtype_find(dtype);
	double range = ldexp(1, (int)row->bytes * 8), rest;

	if (!tt_dtype_is_integer(dtype) || !isfinite(value))
		return value;
	rest = fmod(trunc(value), range);
	if (rest < 0)
		rest += range;
	return row->kind == TT_DTYPE_SIGNED && rest >= range / 2 ? rest - range : rest;
}

double tt_golden_chain(const struct tt_unary_step *steps, size_t count, enum ttnn_dtype dtype,
		       double x)
{
	for (size_t i = 0; i < count; i++)
		x = tt_golden_fit(dtype, tt_golden_unary(&steps[i], x));
	return x;
}

/* The same in terms of a and b and the parameters. */
#define BINARY(X)                                                                                  \
	X(ADD, a + b)                                                                              \
	X(SUB, a - b)                                                                              \
	X(MUL, a *b)                                                                               \
	X(GT, a > b)                                                                               \
	X(LT, a < b)                                                                               \
	X(LE, a <= b)                                                                              \
	X(GE, a >= b)                                                                              \
	X(EQ, a == b)                                                                              \
	X(NE, a != b)                                                                              \
	X(SQUARED_DIFFERENCE, (a - b) * (a - b))                                                   \
	X(BIAS_GELU, gelu(a + b))                                                                  \
	X(LOGADDEXP, fmax(a, b) + log1p(exp(-fabs(a - b))))                                        \
	X(LOGICAL_AND, a != 0 && b != 0)                                                           \
	X(LOGICAL_OR, a != 0 || b != 0)                                                            \
	X(LOGICAL_XOR, (a != 0) != (b != 0))                                                       \
	X(LDEXP, a *exp2(b))                                                                       \
	X(LOGADDEXP2, fmax(a, b) + log2(1 + exp2(-fabs(a - b))))                                   \
	X(DIV, a / b)                                                                              \
	X(DIV_FLOOR, floor(a / b))                                                                 \
	X(DIV_TRUNC, trunc(a / b))                                                                 \
	X(REMAINDER, remainder_floor(a, b))                                                        \
	X(FMOD, fmod(a, b))                                                                        \
	X(RSUB, b - a)                                                                             \
	X(POWER, power(a, b))                                                                      \
	X(BITWISE_XOR, (double)(whole(a) ^ whole(b)))                                              \
	X(BITWISE_AND, (double)(whole(a) & whole(b)))                                              \
	X(BITWISE_OR, (double)(whole(a) | whole(b)))                                               \
	X(LEFT_SHIFT, shift_left(a, b))                                                            \
	X(RIGHT_SHIFT, shift_right(a, b))                                                          \
	X(LOGICAL_RIGHT_SHIFT, shift_right_logical(a, b))                                          \
	X(QUANT, nearbyint(a / b + params[0]))                                                     \
	X(REQUANT, nearbyint(a *b + params[0]))                                                    \
	X(DEQUANT, (a - params[0]) * b)                                                            \
	X(MAXIMUM, a > b ? a : b)                                                                  \
	X(MINIMUM, a < b ? a : b)                                                                  \
	X(GCD, gcd(a, b))                                                                          \
	X(LCM, a == 0 || b == 0 ? 0 : fabs(a * b) / gcd(a, b))                                     \
	X(ADDALPHA, a + params[0] * b)                                                             \
	X(SUBALPHA, a - params[0] * b)                                                             \
	X(XLOGY, a == 0 && !isnan(b) ? 0 : a * log(b))                                             \
	X(HYPOT, hypot(a, b))                                                                      \
	X(ATAN2, atan2(a, b))                                                                      \
	X(NEXTAFTER, nextafterf((float)a, (float)b))                                               \
	X(WHERE_TST, a != 0 ? params[0] : b)                                                       \
	X(WHERE_TTS, a != 0 ? b : params[0])                                                       \
	X(ISCLOSE,                                                                                 \
	  (isnan(a) && isnan(b) && params[2] != 0) || a == b ||                                    \
		  (isfinite(a) && isfinite(b) && fabs(a - b) <= params[1] + params[0] * fabs(b)))

#define X(name, y)                                                                                 \
	static double binary_##name(double a, double b, const double *params)                      \
	{                                                                                          \
		(void)params;                                                                      \
		return (y);                                                                        \
	}
BINARY(X)
#undef X

double tt_golden_binary(enum tt_binary_fn fn, const double *params, double a, double b)
{
	static double (*const functions[])(double, double, const double *) = {
#define X(name, y) [TT_BINARY_##name] = binary_##name,
		BINARY(X)
#undef X
	};

	if ((size_t)fn >= sizeof(functions) / sizeof(functions[0]) || !functions[fn])
		return NAN;
	return functions[fn](a, b, params);
}

double tt_golden_ternary(enum tt_ternary_fn fn, const double *params, double a, double b, double c)
{
	switch (fn) {
	case TT_TERNARY_WHERE:
		return a != 0 ? b : c;
	case TT_TERNARY_LERP:
		return a + c * (b - a);
	case TT_TERNARY_ADDCMUL:
		return a + params[0] * b * c;
	case TT_TERNARY_ADDCDIV:
		return a + params[0] * b / c;
	case TT_TERNARY_MAC:
		return a * b + c;
	case TT_TERNARY_SNAKE_BETA:
		return a + sin(b * a) * sin(b * a) / c;
	}
	return NAN;
}
