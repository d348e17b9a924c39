/*
 * fn.h: the names of element-wise functions, with upstream's numbers. A vocabulary, no code: the
 * operation rows, the backends and the goldens each give these names their meaning.
 *
 * To add a function: a line here, its kernel in backend/cpu, its operation's row; of two or three arguments also its
 * golden in golden/golden_fn.c.
 */
#ifndef TT_TENSOR_FN_H
#define TT_TENSOR_FN_H

#include <stdint.h>

/*
 * y = f(x), with up to three parameters. X(NAME, number, y in terms of x and the parameters p and q): the last is the
 * truth, which golden/golden_fn.c computes in float64, where its functions are; NAN: of more than one element.
 */
#define TT_UNARY_LIST(X)                                                                           \
	X(EXP, 0, exp(x))                                                                          \
	X(RECIP, 1, 1 / x)                                                                         \
	X(GELU, 2, gelu(x))                                                                        \
	X(GELU_TANH, 3, gelu_tanh(x))                                                              \
	X(RELU, 4, x > 0 ? x : 0)                                                                  \
	X(SQRT, 5, sqrt(x))                                                                        \
	X(SIGMOID, 6, sigmoid(x))                                                                  \
	X(LOG, 7, log(x))                                                                          \
	X(LOG1P, 8, log1p(x))                                                                      \
	X(TANH, 9, tanh(x))                                                                        \
	X(LOG2, 10, log2(x))                                                                       \
	X(LOG10, 11, log10(x))                                                                     \
	X(SIN, 12, sin(x))                                                                         \
	X(COS, 13, cos(x))                                                                         \
	X(COSH, 14, cosh(x))                                                                       \
	X(SINH, 15, sinh(x))                                                                       \
	X(ABS, 16, fabs(x))                                                                        \
	X(ABS_INT32, 17, fabs(x))                                                                  \
	X(SIGN, 18, sign(x))                                                                       \
	X(SQUARE, 19, x *x)                                                                        \
	X(EQZ, 20, x == 0)                                                                         \
	X(NEZ, 21, x != 0)                                                                         \
	X(GTZ, 22, x > 0)                                                                          \
	X(LTZ, 23, x < 0)                                                                          \
	X(GEZ, 24, x >= 0)                                                                         \
	X(LEZ, 25, x <= 0)                                                                         \
	X(RELU_MAX, 26, clamp(x > p ? p : x, 0, INFINITY))                                         \
	X(RELU_MIN, 27, x > p ? x : p)                                                             \
	X(POWER, 28, power(x, p))                                                                  \
	X(POWER_ITERATIVE, 29, pow(x, p))                                                          \
	X(LEAKY_RELU, 30, x < 0 ? x * p : x)                                                       \
	X(ELU, 31, x > 0 ? x : p * expm1(x))                                                       \
	X(EXP2, 32, exp2(x))                                                                       \
	X(HEAVISIDE, 33, x < 0 ? 0 : x == 0 ? p : 1)                                               \
	X(EXPM1, 34, expm1(x))                                                                     \
	X(SIGNBIT, 35, signbit(x) != 0)                                                            \
	X(ASIN, 36, asin(x))                                                                       \
	X(ACOS, 37, acos(x))                                                                       \
	X(ACOSH, 38, acosh(x))                                                                     \
	X(RSQRT, 39, 1 / sqrt(x))                                                                  \
	X(RELU6, 40, clamp(x, 0, 6))                                                               \
	X(ATAN, 41, atan(x))                                                                       \
	X(ASINH, 42, asinh(x))                                                                     \
	X(ATANH, 43, atanh(x))                                                                     \
	X(ERF, 44, erf(x))                                                                         \
	X(ERFC, 45, erfc(x))                                                                       \
	X(ISINF, 46, isinf(x) != 0)                                                                \
	X(ISPOSINF, 47, isinf(x) && x > 0)                                                         \
	X(ISNEGINF, 48, isinf(x) && x < 0)                                                         \
	X(ISNAN, 49, isnan(x) != 0)                                                                \
	X(LOGICAL_NOT_UNARY, 50, x == 0)                                                           \
	X(ISFINITE, 51, isfinite(x) != 0)                                                          \
	X(ERFINV, 52, erfinv(x))                                                                   \
	X(I0, 53, bessel_i(x, 0))                                                                  \
	X(I1, 54, bessel_i(clamp(x, -88.5, 88.5), 1))                                              \
	X(TAN, 55, tan(x))                                                                         \
	X(RSUB, 56, p - x)                                                                         \
	X(RDIV, 57, rounded(p / x, q))                                                             \
	X(SILU, 58, x *sigmoid(x))                                                                 \
	X(SOFTPLUS, 59, softplus(x, p, q))                                                         \
	X(IDENTITY, 60, x)                                                                         \
	X(NEG, 61, -x)                                                                             \
	X(ADD_UNARY_SFPU, 62, x + p)                                                               \
	X(SUB_UNARY_SFPU, 63, x - p)                                                               \
	X(MUL_UNARY_SFPU, 64, x *p)                                                                \
	X(DIV_UNARY_SFPU, 65, x / p)                                                               \
	X(UNARY_NE, 66, x != p)                                                                    \
	X(UNARY_EQ, 67, x == p)                                                                    \
	X(UNARY_GT, 68, x > p)                                                                     \
	X(UNARY_LT, 69, x < p)                                                                     \
	X(UNARY_GE, 70, x >= p)                                                                    \
	X(UNARY_LE, 71, x <= p)                                                                    \
	X(TILED_PROD, 72, NAN)                                                                     \
	X(TYPECAST, 73, x)                                                                         \
	X(BITCAST, 74, x)                                                                          \
	X(BITWISE_XOR, 75, (double)(whole(x) ^ whole(p)))                                          \
	X(BITWISE_NOT, 76, (double)~whole(x))                                                      \
	X(BITWISE_AND, 77, (double)(whole(x) & whole(p)))                                          \
	X(BITWISE_OR, 78, (double)(whole(x) | whole(p)))                                           \
	X(RIGHT_SHIFT, 79, shift_right(x, p))                                                      \
	X(FLOOR, 80, floor(x))                                                                     \
	X(CEIL, 81, ceil(x))                                                                       \
	X(TRUNC, 82, trunc(x))                                                                     \
	X(FRAC, 83, x - trunc(x))                                                                  \
	X(ROUND, 84, round_at(x, p))                                                               \
	X(LEFT_SHIFT, 85, shift_left(x, p))                                                        \
	X(REMAINDER, 86, remainder_floor(x, p))                                                    \
	X(FMOD, 87, fmod(x, p))                                                                    \
	X(DROPOUT, 88, NAN)                                                                        \
	X(FILL, 89, p)                                                                             \
	X(PRELU_SFPU, 90, x < 0 ? x * p : x)                                                       \
	X(ZERO_POINT, 91, NAN)                                                                     \
	X(ALT_COMPLEX_ROTATE90, 92, NAN)                                                           \
	X(MISH, 93, x *tanh(softplus(x, 1, 40)))                                                   \
	X(HARDMISH, 94, x *clamp(x * 0.5 + 1, 0, 1))                                               \
	X(MAXIMUM, 95, x > p ? x : p)                                                              \
	X(MINIMUM, 96, x < p ? x : p)                                                              \
	X(TANHSHRINK, 97, x - tanh(x))                                                             \
	X(THRESHOLD, 98, x > p ? x : q)                                                            \
	X(SOFTSHRINK, 99, x > p ? x - p : x < -p ? x + p : 0)                                      \
	X(HARDSHRINK, 100, x > p || x < -p ? x : 0)                                                \
	X(HARDTANH, 101, clamp(x, p, q))                                                           \
	X(HARDSIGMOID, 102, clamp(x / 6 + 0.5, 0, 1))                                              \
	X(HARDSWISH, 103, x *clamp(x / 6 + 0.5, 0, 1))                                             \
	X(WHERE_TSS, 104, x != 0 ? p : q)                                                          \
	X(MAC_TSS, 105, x *p + q)                                                                  \
	X(SOFTSIGN, 106, x / (1 + fabs(x)))                                                        \
	X(CELU, 107, x > 0 ? x : p * expm1(x / p))                                                 \
	X(CLAMP_TSS, 108, clamp(x, p, q))                                                          \
	X(SELU, 109, selu(x, p, q))                                                                \
	X(RPOW, 110, pow(p, x))                                                                    \
	X(CBRT, 111, cbrt(x))                                                                      \
	X(LOGSIGMOID, 112, -softplus(-x, 1, 700))                                                  \
	X(LOGIT, 113, logit(x, p))                                                                 \
	X(XIELU, 114, xielu(x, p, q))                                                              \
	X(LGAMMA, 115, lgamma(x))                                                                  \
	X(DIGAMMA, 116, polygamma(0, x))                                                           \
	X(POLYGAMMA, 117, polygamma((int)p, x))                                                    \
	X(SOFTCAP, 118, p *tanh(x / p))

/* Derivatives that programs multiply by: of this library alone, with the numbers behind upstream's last. */
#define TT_SLOPE_LIST(X) X(TANH_SLOPE) X(SIGMOID_SLOPE) X(GELU_SLOPE) X(GELU_TANH_SLOPE)

/* y = f(a, b), with up to three parameters. */
#define TT_BINARY_LIST(X)                                                                          \
	X(ADD, 0)                                                                                  \
	X(SUB, 1)                                                                                  \
	X(MUL, 2)                                                                                  \
	X(GT, 3)                                                                                   \
	X(LT, 4)                                                                                   \
	X(LE, 5)                                                                                   \
	X(GE, 6)                                                                                   \
	X(EQ, 7)                                                                                   \
	X(NE, 8)                                                                                   \
	X(SQUARED_DIFFERENCE, 9)                                                                   \
	X(BIAS_GELU, 10)                                                                           \
	X(LOGADDEXP, 11)                                                                           \
	X(LOGICAL_AND, 12)                                                                         \
	X(LOGICAL_OR, 13)                                                                          \
	X(LOGICAL_XOR, 14)                                                                         \
	X(LDEXP, 15)                                                                               \
	X(LOGADDEXP2, 16)                                                                          \
	X(DIV, 17)                                                                                 \
	X(DIV_FLOOR, 18)                                                                           \
	X(DIV_TRUNC, 19)                                                                           \
	X(REMAINDER, 20)                                                                           \
	X(FMOD, 21)                                                                                \
	X(RSUB, 22)                                                                                \
	X(POWER, 23)                                                                               \
	X(BITWISE_XOR, 24)                                                                         \
	X(BITWISE_AND, 25)                                                                         \
	X(BITWISE_OR, 26)                                                                          \
	X(LEFT_SHIFT, 27)                                                                          \
	X(RIGHT_SHIFT, 28)                                                                         \
	X(LOGICAL_RIGHT_SHIFT, 29)                                                                 \
	X(QUANT, 30)                                                                               \
	X(REQUANT, 31)                                                                             \
	X(DEQUANT, 32)                                                                             \
	X(MAXIMUM, 33)                                                                             \
	X(MINIMUM, 34)                                                                             \
	X(GCD, 35)                                                                                 \
	X(LCM, 36)                                                                                 \
	X(ADDALPHA, 37)                                                                            \
	X(SUBALPHA, 38)                                                                            \
	X(XLOGY, 39)                                                                               \
	X(HYPOT, 40)                                                                               \
	X(ATAN2, 41)                                                                               \
	X(NEXTAFTER, 42)                                                                           \
	X(WHERE_TST, 43)                                                                           \
	X(WHERE_TTS, 44)                                                                           \
	X(ISCLOSE, 45)                                                                             \
	X(SITU_GLU, 46)

/* y = f(a, b, c), with one parameter. */
#define TT_TERNARY_LIST(X)                                                                         \
	X(WHERE, 0)                                                                                \
	X(LERP, 1)                                                                                 \
	X(ADDCMUL, 2)                                                                              \
	X(ADDCDIV, 3)                                                                              \
	X(MAC, 4)                                                                                  \
	X(SNAKE_BETA, 5)

enum tt_unary_fn {
#define TT_X(name, number, y) TT_UNARY_##name = number,
	TT_UNARY_LIST(TT_X)
#undef TT_X
#define TT_X(name) TT_UNARY_##name,
		TT_SLOPE_LIST(TT_X)
#undef TT_X
};
enum tt_binary_fn {
#define TT_X(name, number) TT_BINARY_##name = number,
	TT_BINARY_LIST(TT_X)
#undef TT_X
};
enum tt_ternary_fn {
#define TT_X(name, number) TT_TERNARY_##name = number,
	TT_TERNARY_LIST(TT_X)
#undef TT_X
};

/* What is done with a quotient. */
enum tt_rounding { TT_ROUND_NOT, TT_ROUND_TRUNC, TT_ROUND_FLOOR };

/* One unary function with its parameters, as a step of a chain. */
struct tt_unary_step {
	enum tt_unary_fn fn;
	uint32_t count;
	double params[3];
};

#endif
