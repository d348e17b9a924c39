/*
 * fn_kernel.h: the element-wise functions over arrays, one table per instruction set. The same source makes
 * all of them, so they give the same bits.
 *
 * Every function may write over an input that begins at the same address; else outputs and inputs
 * do not overlap. A NULL entry is no function of the elements alone.
 */
#ifndef TT_BACKEND_CPU_FN_KERNEL_H
#define TT_BACKEND_CPU_FN_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <ttnn.h>

#include "tensor/fn.h"

enum tt_fn_counts {
#define TT_X(...) +1
	TT_UNARY_FNS = 0 TT_UNARY_LIST(TT_X) TT_SLOPE_LIST(TT_X),
	TT_BINARY_FNS = 0 TT_BINARY_LIST(TT_X),
	TT_TERNARY_FNS = 0 TT_TERNARY_LIST(TT_X),
#undef TT_X
};

/* out[i] = f(x[i]) and so on, with the function's parameters (three of them, unused ones 0). */
struct tt_float_fns {
	void (*unary[TT_UNARY_FNS])(float *out, const float *x, size_t count, const double *params);
	void (*binary[TT_BINARY_FNS])(float *out, const float *a, const float *b, size_t count,
				      const double *params);
	void (*ternary[TT_TERNARY_FNS])(float *out, const float *const in[3], size_t count,
					const double *params);
	/* (optional) From bfloat16 to bfloat16 at once, for functions that are quicker than that way. */
	void (*binary_bf16[TT_BINARY_FNS])(uint16_t *out, const uint16_t *a, const uint16_t *b,
					   size_t count, const double *params);
};

/* The same for whole numbers, in 64 bits. */
struct tt_int_fns {
	void (*unary[TT_UNARY_FNS])(int64_t *out, const int64_t *x, size_t count,
				    const double *params);
	void (*binary[TT_BINARY_FNS])(int64_t *out, const int64_t *a, const int64_t *b,
				      size_t count, const double *params);
	void (*ternary[TT_TERNARY_FNS])(int64_t *out, const int64_t *const in[3], size_t count,
					const double *params);
	/* Between elements of a dtype and 64 bits; storing takes the low bits. NULL: no integers. */
	void (*load[TTNN_DTYPE_COUNT])(int64_t *out, const void *in, size_t count);
	void (*store[TTNN_DTYPE_COUNT])(void *out, const int64_t *in, size_t count);
	/* (optional) Floats to elements of a dtype as the chip casts them. */
	void (*cast[TTNN_DTYPE_COUNT])(void *out, const float *in, size_t count);
	/* Floats cut to whole numbers, and rounded from them. */
	void (*from_float)(int64_t *out, const float *in, size_t count);
	void (*to_float)(float *out, const int64_t *in, size_t count);
};

/* The tables for the instruction set in use (base/cpu.h). */
const struct tt_float_fns *tt_float_fns_get(void);
const struct tt_int_fns *tt_int_fns_get(void);

/* A parameter or scalar as a whole number: cut, and held inside of 64 bits; NaN is 0. */
static inline int64_t tt_whole(double x)
{
	return x >= 0x1p63 ? INT64_MAX : x > -0x1p63 ? (int64_t)x : x != x ? 0 : INT64_MIN;
}

#endif
