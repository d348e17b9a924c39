/*
 * fn_int.isa.c: the element-wise functions over whole numbers, in 64 bits. Sums and products wrap;
 * nothing traps: division by zero gives 0.
 */
#include "backend/cpu/fn_kernel.h"

#include <string.h>

#include "backend/cpu/math.h"

/* Wrapping, where signed arithmetic would be undefined. */
#define ADD(a, b) ((uint64_t)(a) + (uint64_t)(b))
#define SUB(a, b) ((uint64_t)(a) - (uint64_t)(b))
#define MUL(a, b) ((uint64_t)(a) * (uint64_t)(b))
#define MAGNITUDE(a) ((a) < 0 ? (int64_t)SUB(0, a) : (a))

/* The one quotient that does not fit wraps as well. */
static inline int64_t quotient(int64_t a, int64_t b)
{
	return b == 0 ? 0 : b == -1 ? (int64_t)SUB(0, a) : a / b;
}

static inline int64_t rest(int64_t a, int64_t b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}

/* Towards minus infinity: the rest has the sign of the divisor. */
static inline int64_t rest_floor(int64_t a, int64_t b)
{
	int64_t r = rest(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline int64_t quotient_floor(int64_t a, int64_t b)
{
	int64_t r = rest(a, b);

	return quotient(a, b) - (r != 0 && (r < 0) != (b < 0));
}

static inline int64_t power(int64_t base, int64_t exponent)
{
	uint64_t result = 1, factor = (uint64_t)base;

	for (; exponent > 0; exponent >>= 1, factor *= factor)
		if (exponent & 1)
			result *= factor;
	return (int64_t)result;
}

static inline int64_t gcd(int64_t x, int64_t y)
{
	x = MAGNITUDE(x);
	y = MAGNITUDE(y);
	while (y) {
		int64_t r = rest(x, y);

		x = y;
		y = r;
	}
	return x;
}

/* Shifts are those of 32-bit registers. */
static inline int64_t shift_left(int64_t x, int64_t by)
{
	return by < 0 || by > 31 ? 0 : (int64_t)((uint64_t)x << by);
}

/* Beyond the register its sign is left. */
static inline int64_t shift_right(int64_t x, int64_t by)
{
	return by < 0 ? 0 : x >> (by > 31 ? 63 : by);
}

static inline int64_t clamp(int64_t x, int64_t low, int64_t high)
{
	return x < low ? low : x > high ? high : x;
}

/* ---- unary ----------------------------------------------------------------------------------- */

/* X(NAME, expression): of v, with the parameters p, q (whole) and params (float64). */
#define UNARY_ROWS(X)                                                                              \
	X(RELU, v > 0 ? v : 0)                                                                     \
	X(ABS, MAGNITUDE(v))                                                                       \
	X(ABS_INT32, MAGNITUDE(v))                                                                 \
	X(SIGN, (v > 0) - (v < 0))                                                                 \
	X(SQUARE, MUL(v, v))                                                                       \
	X(EQZ, v == 0)                                                                             \
	X(LOGICAL_NOT_UNARY, v == 0)                                                               \
	X(NEZ, v != 0)                                                                             \
	X(GTZ, v > 0)                                                                              \
	X(LTZ, v < 0)                                                                              \
	X(SIGNBIT, v < 0)                                                                          \
	X(GEZ, v >= 0)                                                                             \
	X(LEZ, v <= 0)                                                                             \
	X(RELU_MAX, clamp(v < p ? v : p, 0, INT64_MAX))                                            \
	X(RELU6, clamp(v, 0, 6))                                                                   \
	X(RELU_MIN, v > p ? v : p)                                                                 \
	X(MAXIMUM, v > p ? v : p)                                                                  \
	X(MINIMUM, v < p ? v : p)                                                                  \
	X(POWER, power(v, p))                                                                      \
	X(POWER_ITERATIVE, power(v, p))                                                            \
	X(LEAKY_RELU, v < 0 ? tt_whole((double)v * params[0]) : v)                                 \
	X(PRELU_SFPU, v < 0 ? tt_whole((double)v * params[0]) : v)                                 \
	X(RSUB, SUB(p, v))                                                                         \
	X(NEG, SUB(0, v))                                                                          \
	X(ADD_UNARY_SFPU, ADD(v, p))                                                               \
	X(SUB_UNARY_SFPU, SUB(v, p))                                                               \
	X(MUL_UNARY_SFPU, MUL(v, p))                                                               \
	X(DIV_UNARY_SFPU, quotient(v, p))                                                          \
	X(UNARY_NE, (double)v != params[0])                                                        \
	X(UNARY_EQ, (double)v == params[0])                                                        \
	X(UNARY_GT, (double)v > params[0])                                                         \
	X(UNARY_LT, (double)v < params[0])                                                         \
	X(UNARY_GE, (double)v >= params[0])                                                        \
	X(UNARY_LE, (double)v <= params[0])                                                        \
	X(BITWISE_XOR, v ^ p)                                                                      \
	X(BITWISE_NOT, ~v)                                                                         \
	X(BITWISE_AND, v &p)                                                                       \
	X(BITWISE_OR, v | p)                                                                       \
	X(RIGHT_SHIFT, shift_right(v, p))                                                          \
	X(LEFT_SHIFT, shift_left(v, p))                                                            \
	X(REMAINDER, rest_floor(v, p))                                                             \
	X(FMOD, rest(v, p))                                                                        \
	X(FILL, ((void)v, p))                                                                      \
	X(FLOOR, v)                                                                                \
	X(CEIL, v)                                                                                 \
	X(TRUNC, v)                                                                                \
	X(ROUND, v)                                                                                \
	X(THRESHOLD, v > p ? v : q)                                                                \
	X(HARDTANH, clamp(v, p, q))                                                                \
	X(CLAMP_TSS, clamp(v, p, q))                                                               \
	X(WHERE_TSS, v != 0 ? p : q)                                                               \
	X(MAC_TSS, ADD(MUL(v, p), q))

#define UNARY(name, expression)                                                                    \
	static void unary_##name(int64_t *out, const int64_t *x, size_t count,                     \
				 const double *params)                                             \
	{                                                                                          \
		int64_t p = tt_whole(params[0]), q = tt_whole(params[1]);                          \
                                                                                                   \
		(void)p, (void)q;                                                                  \
		TT_LOOP                                                                            \
		for (size_t i = 0; i < count; i++) {                                               \
			int64_t v = x[i];                                                          \
                                                                                                   \
			out[i] = (int64_t)(expression);                                            \
		}                                                                                  \
	}
UNARY_ROWS(UNARY)

/* ---- binary ---------------------------------------------------------------------------------- */

#define BINARY_ROWS(X)                                                                             \
	X(ADD, ADD(l, r))                                                                          \
	X(SUB, SUB(l, r))                                                                          \
	X(MUL, MUL(l, r))                                                                          \
	X(GT, l > r)                                                                               \
	X(LT, l < r)                                                                               \
	X(LE, l <= r)                                                                              \
	X(GE, l >= r)                                                                              \
	X(EQ, l == r)                                                                              \
	X(NE, l != r)                                                                              \
	X(SQUARED_DIFFERENCE, MUL(SUB(l, r), SUB(l, r)))                                           \
	X(LOGICAL_AND, (l != 0) & (r != 0))                                                        \
	X(LOGICAL_OR, (l != 0) | (r != 0))                                                         \
	X(LOGICAL_XOR, (l != 0) != (r != 0))                                                       \
	X(DIV, quotient(l, r))                                                                     \
	X(DIV_TRUNC, quotient(l, r))                                                               \
	X(DIV_FLOOR, quotient_floor(l, r))                                                         \
	X(REMAINDER, rest_floor(l, r))                                                             \
	X(FMOD, rest(l, r))                                                                        \
	X(RSUB, SUB(r, l))                                                                         \
	X(POWER, power(l, r))                                                                      \
	X(BITWISE_XOR, l ^ r)                                                                      \
	X(BITWISE_AND, l &r)                                                                       \
	X(BITWISE_OR, l | r)                                                                       \
	X(LEFT_SHIFT, shift_left(l, r))                                                            \
	X(RIGHT_SHIFT, shift_right(l, r))                                                          \
	X(LOGICAL_RIGHT_SHIFT, shift_right((int64_t)(uint32_t)l, r))                               \
	X(MAXIMUM, l > r ? l : r)                                                                  \
	X(MINIMUM, l < r ? l : r)                                                                  \
	X(GCD, gcd(l, r))                                                                          \
	X(LCM, MUL(quotient(MAGNITUDE(l), gcd(l, r)), MAGNITUDE(r)))                               \
	X(ADDALPHA, ADD(l, MUL(p, r)))                                                             \
	X(SUBALPHA, SUB(l, MUL(p, r)))                                                             \
	X(WHERE_TST, l != 0 ? p : r)                                                               \
	X(WHERE_TTS, l != 0 ? r : p)

#define BINARY(name, expression)                                                                   \
	static void binary_##name(int64_t *out, const int64_t *a, const int64_t *b, size_t count,  \
				  const double *params)                                            \
	{                                                                                          \
		int64_t p = tt_whole(params[0]);                                                   \
                                                                                                   \
		(void)p;                                                                           \
		TT_LOOP                                                                            \
		for (size_t i = 0; i < count; i++) {                                               \
			int64_t l = a[i], r = b[i];                                                \
                                                                                                   \
			out[i] = (int64_t)(expression);                                            \
		}                                                                                  \
	}
BINARY_ROWS(BINARY)

/* ---- ternary --------------------------------------------------------------------------------- */

#define TERNARY_ROWS(X)                                                                            \
	X(WHERE, u != 0 ? v : w)                                                                   \
	X(LERP, ADD(u, MUL(w, SUB(v, u))))                                                         \
	X(ADDCMUL, ADD(u, MUL(MUL(p, v), w)))                                                      \
	X(ADDCDIV, ADD(u, quotient((int64_t)MUL(p, v), w)))                                        \
	X(MAC, ADD(MUL(u, v), w))

#define TERNARY(name, expression)                                                                  \
	static void ternary_##name(int64_t *out, const int64_t *const in[3], size_t count,         \
				   const double *params)                                           \
	{                                                                                          \
		const int64_t *a = in[0], *b = in[1], *c = in[2];                                  \
		int64_t p = tt_whole(params[0]);                                                   \
                                                                                                   \
		(void)p;                                                                           \
		TT_LOOP                                                                            \
		for (size_t i = 0; i < count; i++) {                                               \
			int64_t u = a[i], v = b[i], w = c[i];                                      \
                                                                                                   \
			out[i] = (int64_t)(expression);                                            \
		}                                                                                  \
	}
TERNARY_ROWS(TERNARY)

/* ---- in and out ------------------------------------------------------------------------------- */

/* X(DTYPE, type) */
#define INTEGER_ROWS(X)                                                                            \
	X(UINT8, uint8_t)                                                                          \
	X(INT8, int8_t)                                                                            \
	X(UINT16, uint16_t)                                                                        \
	X(INT32, int32_t)                                                                          \
	X(UINT32, uint32_t)

#define IN_OUT(name, type)                                                                         \
	static void load_##name(int64_t *restrict out, const void *restrict in, size_t count)      \
	{                                                                                          \
		const type *from = in;                                                             \
                                                                                                   \
		for (size_t i = 0; i < count; i++)                                                 \
			out[i] = (int64_t)from[i];                                                 \
	}                                                                                          \
	static void store_##name(void *restrict out, const int64_t *restrict in, size_t count)     \
	{                                                                                          \
		type *to = out;                                                                    \
                                                                                                   \
		for (size_t i = 0; i < count; i++)                                                 \
			to[i] = (type)in[i];                                                       \
	}
INTEGER_ROWS(IN_OUT)

/*
 * Floats to elements as the chip casts them: cut (to uint16 rounded, halves away from zero) and held
 * inside of the type, which infinities and NaN leave on the side of their sign; bytes keep the low
 * bits of what fits into 32.
 */
#define BELOW_HALF 0x1.fffffep-2f /* added and cut: halves go up, what is below them does not */
#define HELD(x, most) (signbit(x) ? 0.0f : (x) < (most) ? (x) : (most))
#define CASTS(X)                                                                                   \
	X(UINT8, uint8_t, fabsf(x) < 0x1p31f ? (uint8_t)(int32_t)x : 0)                            \
	X(UINT16, uint16_t, (int32_t)(HELD(x, 65535.0f) + BELOW_HALF))                             \
	X(INT32, int32_t, fabsf(x) < 0x1p31f ? (int32_t)x : signbit(x) ? INT32_MIN : INT32_MAX)    \
	X(UINT32, uint32_t,                                                                        \
	  HELD(x, 0x1p32f) < 0x1p32f ? (uint32_t)(int64_t)HELD(x, 0x1p32f) : UINT32_MAX)

#define CAST(name, type, expression)                                                               \
	static void cast_##name(void *restrict out, const float *restrict in, size_t count)        \
	{                                                                                          \
		type *to = out;                                                                    \
                                                                                                   \
		for (size_t i = 0; i < count; i++) {                                               \
			float x = in[i];                                                           \
                                                                                                   \
			to[i] = (type)(expression);                                                \
		}                                                                                  \
	}
CASTS(CAST)

static void from_float(int64_t *restrict out, const float *restrict in, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = tt_whole(in[i]);
}

static void to_float(float *restrict out, const int64_t *restrict in, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (float)in[i];
}

/* ---- the table --------------------------------------------------------------------------------- */

#define TABLE_(isa) tt_int_fns_##isa
#define TABLE(isa) TABLE_(isa)
#define UNARY_ROW(name, expression) [TT_UNARY_##name] = unary_##name,
#define BINARY_ROW(name, expression) [TT_BINARY_##name] = binary_##name,
#define TERNARY_ROW(name, expression) [TT_TERNARY_##name] = ternary_##name,
#define LOAD_ROW(name, type) [TTNN_##name] = load_##name,
#define STORE_ROW(name, type) [TTNN_##name] = store_##name,
#define CAST_ROW(name, type, expression) [TTNN_##name] = cast_##name,

extern const struct tt_int_fns TABLE(TT_ISA);
const struct tt_int_fns TABLE(TT_ISA) = {
	.unary = {UNARY_ROWS(UNARY_ROW)},
	.binary = {BINARY_ROWS(BINARY_ROW)},
	.ternary = {TERNARY_ROWS(TERNARY_ROW)},
	.load = {INTEGER_ROWS(LOAD_ROW)},
	.store = {INTEGER_ROWS(STORE_ROW)},
	.cast = {CASTS(CAST_ROW)},
	.from_float = from_float,
	.to_float = to_float,
};
