/*
 * fn.h: the names of element-wise functions, with upstream's numbers. A vocabulary, no code: the
 * operation rows, the backends and the goldens each give these names their meaning.
 *
 * To add a function: a line here, its golden in golden/golden_fn.c, its kernel in backend/cpu.
 */
#ifndef TT_TENSOR_FN_H
#define TT_TENSOR_FN_H

#include <stdint.h>

/* y = f(x), with up to three parameters. X(NAME, number) */
#define TT_UNARY_LIST(X)                                                                           \
	X(EXP, 0)                                                                                  \
	X(RECIP, 1)                                                                                \
	X(GELU, 2)                                                                                 \
	X(GELU_TANH, 3)                                                                            \
	X(RELU, 4)                                                                                 \
	X(SQRT, 5)                                                                                 \
	X(SIGMOID, 6)                                                                              \
	X(LOG, 7)                                                                                  \
	X(LOG1P, 8)                                                                                \
	X(TANH, 9)                                                                                 \
	X(LOG2, 10)                                                                                \
	X(LOG10, 11)                                                                               \
	X(SIN, 12)                                                                                 \
	X(COS, 13)                                                                                 \
	X(COSH, 14)                                                                                \
	X(SINH, 15)                                                                                \
	X(ABS, 16)                                                                                 \
	X(ABS_INT32, 17)                                                                           \
	X(SIGN, 18)                                                                                \
	X(SQUARE, 19)                                                                              \
	X(EQZ, 20)                                                                                 \
	X(NEZ, 21)                                                                                 \
	X(GTZ, 22)                                                                                 \
	X(LTZ, 23)                                                                                 \
	X(GEZ, 24)                                                                                 \
	X(LEZ, 25)                                                                                 \
	X(RELU_MAX, 26)                                                                            \
	X(RELU_MIN, 27)                                                                            \
	X(POWER, 28)                                                                               \
	X(POWER_ITERATIVE, 29)                                                                     \
	X(LEAKY_RELU, 30)                                                                          \
	X(ELU, 31)                                                                                 \
	X(EXP2, 32)                                                                                \
	X(HEAVISIDE, 33)                                                                           \
	X(EXPM1, 34)                                                                               \
	X(SIGNBIT, 35)                                                                             \
	X(ASIN, 36)                                                                                \
	X(ACOS, 37)                                                                                \
	X(ACOSH, 38)                                                                               \
	X(RSQRT, 39)                                                                               \
	X(RELU6, 40)                                                                               \
	X(ATAN, 41)                                                                                \
	X(ASINH, 42)                                                                               \
	X(ATANH, 43)                                                                               \
	X(ERF, 44)                                                                                 \
	X(ERFC, 45)                                                                                \
	X(ISINF, 46)                                                                               \
	X(ISPOSINF, 47)                                                                            \
	X(ISNEGINF, 48)                                                                            \
	X(ISNAN, 49)                                                                               \
	X(LOGICAL_NOT_UNARY, 50)                                                                   \
	X(ISFINITE, 51)                                                                            \
	X(ERFINV, 52)                                                                              \
	X(I0, 53)                                                                                  \
	X(I1, 54)                                                                                  \
	X(TAN, 55)                                                                                 \
	X(RSUB, 56)                                                                                \
	X(RDIV, 57)                                                                                \
	X(SILU, 58)                                                                                \
	X(SOFTPLUS, 59)                                                                            \
	X(IDENTITY, 60)                                                                            \
	X(NEG, 61)                                                                                 \
	X(ADD_UNARY_SFPU, 62)                                                                      \
	X(SUB_UNARY_SFPU, 63)                                                                      \
	X(MUL_UNARY_SFPU, 64)                                                                      \
	X(DIV_UNARY_SFPU, 65)                                                                      \
	X(UNARY_NE, 66)                                                                            \
	X(UNARY_EQ, 67)                                                                            \
	X(UNARY_GT, 68)                                                                            \
	X(UNARY_LT, 69)                                                                            \
	X(UNARY_GE, 70)                                                                            \
	X(UNARY_LE, 71)                                                                            \
	X(TILED_PROD, 72)                                                                          \
	X(TYPECAST, 73)                                                                            \
	X(BITCAST, 74)                                                                             \
	X(BITWISE_XOR, 75)                                                                         \
	X(BITWISE_NOT, 76)                                                                         \
	X(BITWISE_AND, 77)                                                                         \
	X(BITWISE_OR, 78)                                                                          \
	X(RIGHT_SHIFT, 79)                                                                         \
	X(FLOOR, 80)                                                                               \
	X(CEIL, 81)                                                                                \
	X(TRUNC, 82)                                                                               \
	X(FRAC, 83)                                                                                \
	X(ROUND, 84)                                                                               \
	X(LEFT_SHIFT, 85)                                                                          \
	X(REMAINDER, 86)                                                                           \
	X(FMOD, 87)                                                                                \
	X(DROPOUT, 88)                                                                             \
	X(FILL, 89)                                                                                \
	X(PRELU_SFPU, 90)                                                                          \
	X(ZERO_POINT, 91)                                                                          \
	X(ALT_COMPLEX_ROTATE90, 92)                                                                \
	X(MISH, 93)                                                                                \
	X(HARDMISH, 94)                                                                            \
	X(MAXIMUM, 95)                                                                             \
	X(MINIMUM, 96)                                                                             \
	X(TANHSHRINK, 97)                                                                          \
	X(THRESHOLD, 98)                                                                           \
	X(SOFTSHRINK, 99)                                                                          \
	X(HARDSHRINK, 100)                                                                         \
	X(HARDTANH, 101)                                                                           \
	X(HARDSIGMOID, 102)                                                                        \
	X(HARDSWISH, 103)                                                                          \
	X(WHERE_TSS, 104)                                                                          \
	X(MAC_TSS, 105)                                                                            \
	X(SOFTSIGN, 106)                                                                           \
	X(CELU, 107)                                                                               \
	X(CLAMP_TSS, 108)                                                                          \
	X(SELU, 109)                                                                               \
	X(RPOW, 110)                                                                               \
	X(CBRT, 111)                                                                               \
	X(LOGSIGMOID, 112)                                                                         \
	X(LOGIT, 113)                                                                              \
	X(XIELU, 114)                                                                              \
	X(LGAMMA, 115)                                                                             \
	X(DIGAMMA, 116)                                                                            \
	X(POLYGAMMA, 117)                                                                          \
	X(SOFTCAP, 118)

/* Derivatives that programs multiply by: of this library alone, with numbers behind upstream's. */
#define TT_SLOPE_LIST(X)                                                                           \
	X(TANH_SLOPE, 119)                                                                         \
	X(SIGMOID_SLOPE, 120)                                                                      \
	X(GELU_SLOPE, 121)                                                                         \
	X(GELU_TANH_SLOPE, 122)

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
#define TT_X(name, number) TT_UNARY_##name = number,
	TT_UNARY_LIST(TT_X) TT_SLOPE_LIST(TT_X)
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
