/*
 * math.h: functions of one float32 without branches or calls, so that loops over them become vector
 * code. For .isa.c files: compiled with contraction off, every instruction set gives the same bits.
 *
 * The polynomials are least-error fits made for this file, but for those of exp, log and tanh, which
 * are the classical ones. Errors are given in units in the last place (ulp).
 */
#ifndef TT_BACKEND_CPU_MATH_H
#define TT_BACKEND_CPU_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The loop after this one touches memory that is either the same element by element, or apart. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* loops with calls stay loops */
#define TT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TT_LOOP _Pragma("GCC ivdep")
#endif

static inline float tt_as_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline uint32_t tt_as_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* As the processor's instructions: NaN gives b. */
static inline float tt_min(float a, float b)
{
	return a < b ? a : b;
}

static inline float tt_max(float a, float b)
{
	return a > b ? a : b;
}

/* To the nearest whole number, ties to even, for |x| < 2^22: where no instruction does it. */
static inline float tt_near(float x)
{
	return x + 12582912.0f - 12582912.0f;
}

/* p × 2^n in two steps, so that results down to denormals come out right. |n| <= 252 */
static inline float tt_scale(float p, int32_t n)
{
	int32_t half = n / 2;

	return p * tt_as_float((uint32_t)(half + 127) << 23) *
	       tt_as_float((uint32_t)(n - half + 127) << 23);
}

/* e^r for |r| <= ln2/2 */
static inline float tt_exp_core(float r)
{
	float p = 1.9875691500e-4f;

	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	return p * r * r + r + 1.0f;
}

/* 1 ulp */
static inline float tt_exp(float x)
{
	float clamped = tt_min(tt_max(x, -104.0f), 89.0f);
	float n = tt_near(clamped * 1.44269504f);
	float r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
	float p = tt_scale(tt_exp_core(r), (int32_t)n);

	return x != x ? x : p; /* too large overflows by itself */
}

/* 1 ulp */
static inline float tt_exp2(float x)
{
	float clamped = tt_min(tt_max(x, -151.0f), 129.0f);
	float n = tt_near(clamped);
	float p = tt_scale(tt_exp_core((clamped - n) * 0.693147181f), (int32_t)n);

	return x != x ? x : p;
}

/* e^x - 1, by way of float64; half an ulp */
static inline float tt_expm1(float x)
{
	double clamped = tt_min(tt_max(x, -104.0f), 89.0f);
	double n = clamped * 1.4426950408889634 + 6755399441055744.0 - 6755399441055744.0;
	double r = clamped - n * 0.69314718055994531, p = 2.48015873e-5, scale;
	uint64_t bits = (uint64_t)(uint32_t)((int32_t)n + 1023) << 52;

	memcpy(&scale, &bits, sizeof(scale));
	p = p * r + 1.98412698e-4;
	p = p * r + 1.3888888889e-3;
	p = p * r + 8.3333333333e-3;
	p = p * r + 4.16666666667e-2;
	p = p * r + 1.66666666667e-1;
	p = p * r + 0.5;
	p = p * r * r + r;
	return x == 0 || x != x ? x : (float)(scale * p + (scale - 1.0));
}

/* x = m × 2^e with m in [sqrt(1/2), sqrt(2)): returns ln(m) - (m - 1) and both parts. */
static inline float tt_log_core(float *part, float *exponent, float x)
{
	float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;
	uint32_t bits = tt_as_bits(scaled);
	float e = (float)(int32_t)(bits >> 23) - (x < 1.17549435e-38f ? 149.0f : 126.0f);
	float m = tt_as_float((bits & 0x007fffffu) | 0x3f000000u);
	float small = m < 0.707106781f ? 1.0f : 0.0f;
	float r = m - 1.0f + small * m, z = r * r, p = 7.0376836292e-2f;

	p = p * r - 1.1514610310e-1f;
	p = p * r + 1.1676998740e-1f;
	p = p * r - 1.2420140846e-1f;
	p = p * r + 1.4249322787e-1f;
	p = p * r - 1.6668057665e-1f;
	p = p * r + 2.0000714765e-1f;
	p = p * r - 2.4999993993e-1f;
	p = p * r + 3.3333331174e-1f;
	*part = r;
	*exponent = e - small;
	return p * r * z - 0.5f * z;
}

/* What every logarithm is outside of the positive numbers. */
static inline float tt_log_ends(float x, float log)
{
	return x > 0 ? (x > 3.4028234e38f ? x : log) : x == 0 ? -INFINITY : NAN;
}

/* 1 ulp */
static inline float tt_log(float x)
{
	float r, e, rest = tt_log_core(&r, &e, x);

	return tt_log_ends(x, r + (rest + e * -2.12194440e-4f) + e * 0.693359375f);
}

/* 2 ulp; exact for powers of two */
static inline float tt_log2(float x)
{
	float r, e, rest = tt_log_core(&r, &e, x);

	return tt_log_ends(x, (rest * 0.44269504f + r * 0.44269504f + rest + r) + e);
}

/* 2 ulp */
static inline float tt_log10(float x)
{
	float r, e, rest = tt_log_core(&r, &e, x);
	float log = (r + rest) * 4.3429448e-1f + e * 2.4874566e-4f;

	return tt_log_ends(x, log + e * 3.0078125e-1f);
}

/* ln(1 + x); 3 ulp. What 1 + x loses is put right by the quotient. */
static inline float tt_log1p(float x)
{
	float u = 1.0f + x;
	float log = tt_log(u) * (x / (u - 1.0f));

	return u == 1.0f ? x : x > 1e9f || !(u > 0) ? tt_log(u) : log;
}

/* 2 ulp */
static inline float tt_sigmoid(float x)
{
	float t = tt_exp(x < 0 ? x : -x);
	float big = 1.0f / (1.0f + t);

	return x < 0 ? t * big : big;
}

/* tanh(x) - x for |x| < 0.625: an odd polynomial. */
static inline float tt_tanh_less(float x)
{
	float z = x * x, p = -5.70498872745e-3f;

	p = p * z + 2.06390887954e-2f;
	p = p * z - 5.37397155531e-2f;
	p = p * z + 1.33314422036e-1f;
	p = p * z - 3.33332819422e-1f;
	return p * z * x;
}

/* Near zero 1 - 2/(e^2x + 1) would lose digits. 3 ulp */
static inline float tt_tanh(float x)
{
	float a = fabsf(x), t = 1.0f - 2.0f / (tt_exp(2.0f * a) + 1.0f);

	return copysignf(a < 0.625f ? tt_tanh_less(x) + x : t, x);
}

static inline float tt_tanhshrink(float x)
{
	return fabsf(x) < 0.625f ? -tt_tanh_less(x) : x - tt_tanh(x);
}

/*
 * 1 - erf(x) for x >= 0: e^(-x²) times a polynomial in 1 / (1 + 0.4 x). Relative error 2e-7 × (1 + x²).
 * What would be denormal, and slow, is 0.
 */
static inline float tt_erfc_tail(float x)
{
	float t = 1.0f / (1.0f + 0.4f * x), p = 4.161289236e-2f, z = tt_min(x, 9.1f);

	p = p * t - 1.420818249e-1f;
	p = p * t + 8.765735216e-2f;
	p = p * t + 8.373262521e-2f;
	p = p * t + 8.270341300e-2f;
	p = p * t + 1.921276783e-1f;
	p = p * t + 2.022139540e-1f;
	p = p * t + 2.263970179e-1f;
	p = p * t + 2.256369554e-1f;
	p = p * t * tt_exp(-z * z);
	return x > 9.1f ? 0 : x != x ? x : p;
}

/* 3 ulp */
static inline float tt_erf(float x)
{
	float a = fabsf(x), z = x * x, p = 7.853857688e-5f;
	float tail = copysignf(1.0f - tt_erfc_tail(a), x);

	p = p * z - 8.010192515e-4f;
	p = p * z + 5.188327559e-3f;
	p = p * z - 2.685381187e-2f;
	p = p * z + 1.128358515e-1f;
	p = p * z - 3.761262582e-1f;
	p = p * z + 1.128379166f;
	return a < 1.0f ? p * x : tail;
}

static inline float tt_erfc(float x)
{
	float tail = tt_erfc_tail(fabsf(x));

	return x < 0 ? 2.0f - tail : tail;
}

/* x × (1 + erf(x / sqrt(2))) / 2, without the cancellation of negative x. */
static inline float tt_gelu(float x)
{
	float half = 0.5f * tt_erfc_tail(fabsf(x) * 0.707106781f);

	return x * (x < 0 ? half : 1.0f - half);
}

static inline float tt_gelu_tanh(float x)
{
	return x * tt_sigmoid(1.595769122f * (x + 0.044715f * x * x * x));
}

/* The derivatives of tanh, sigmoid and gelu, from parts that lose nothing in their tails. */
static inline float tt_sigmoid_slope(float x)
{
	float tail = tt_sigmoid(-fabsf(x));

	return tail * (1.0f - tail);
}

static inline float tt_tanh_slope(float x)
{
	return 4.0f * tt_sigmoid_slope(2.0f * x);
}

static inline float tt_gelu_slope(float x)
{
	float half = 0.5f * tt_erfc_tail(fabsf(x) * 0.707106781f);

	return (x < 0 ? half : 1.0f - half) + x * 0.398942280f * tt_exp(-0.5f * x * x);
}

static inline float tt_gelu_tanh_slope(float x)
{
	float inner = 1.595769122f * (x + 0.044715f * x * x * x);

	return tt_sigmoid(inner) +
	       x * tt_sigmoid_slope(inner) * 1.595769122f * (1.0f + 0.134145f * x * x);
}

static inline float tt_softplus(float x, float beta, float threshold)
{
	float y = x * beta;

	return y > threshold ? x : tt_log1p(tt_exp(y)) / beta;
}

/* The angles that tt_sin_quarter() reduces exactly. */
#define TT_ANGLE_MOST 1048576.0f

/* sin (quarter 0) or cos (1) of |x| < TT_ANGLE_MOST, by way of float64; half an ulp */
static inline float tt_sin_quarter(float x, int quarter)
{
	double n = (double)x * 0.63661977236758134 + 6755399441055744.0 - 6755399441055744.0;
	double r = ((double)x - n * 1.5707963267341256) - n * 6.0771005065061922e-11, z = r * r;
	double s = 2.717054585e-6, c = -2.716699237e-7, y;
	int32_t q = (int32_t)n + quarter;

	s = s * z - 1.983916766e-4;
	s = s * z + 8.333328654e-3;
	s = s * z - 1.666666663e-1;
	c = c * z + 2.479883029e-5;
	c = c * z - 1.388887987e-3;
	c = c * z + 4.166666653e-2;
	c = c * z - 0.5;
	y = q & 1 ? c * z + 1.0 : s * z * r + r;
	return (float)(q & 2 ? -y : y);
}

static inline float tt_clamp(float x, float low, float high)
{
	return x < low ? low : x > high ? high : x;
}

#endif
