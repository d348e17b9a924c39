/*
 * convert_kernels.h: what convert.isa.c exports once for every instruction set, for convert.c.
 *
 * Conversions meet in a hub: every type can be read as and written from float32 and float64, and
 * integers also as 32 bits. So a type brings its own functions and knows of no other type. A
 * conversion from or to float32 is one kernel; any other goes through a piece of hub that stays in
 * the first-level cache.
 */
#ifndef TT_TENSOR_CONVERT_KERNELS_H
#define TT_TENSOR_CONVERT_KERNELS_H

#include <ttnn.h>

/* Groups of 16 floats, and the floats from the start of one to the next. */
struct tt_convert_rows {
	size_t count, stride;
};

/* The functions of one data type; those that make no sense for it are NULL. */
struct tt_convert_ops {
	void (*load_f32)(float *dst, const void *src, size_t count);
	void (*store_f32)(void *dst, const float *src, size_t count);
	void (*load_f64)(double *dst, const void *src, size_t count);
	void (*store_f64)(void *dst, const double *src, size_t count);

	/* integers: extended to 32 bits; the low bits of 32 */
	void (*load_i32)(uint32_t *dst, const void *src, size_t count);
	void (*store_i32)(void *dst, const uint32_t *src, size_t count);

	/* block floats: an exponent byte and the packed mantissas per group, both without gaps */
	void (*encode)(uint8_t *exponents, uint8_t *mantissas, const float *src,
		       const struct tt_convert_rows *rows);
	void (*decode)(float *dst, const uint8_t *exponents, const uint8_t *mantissas,
		       const struct tt_convert_rows *rows);
};

struct tt_convert_kernels {
	struct tt_convert_ops of[TTNN_DTYPE_COUNT];
};

extern const struct tt_convert_kernels tt_convert_plain;
#if defined(__x86_64__)
extern const struct tt_convert_kernels tt_convert_avx2, tt_convert_avx512;
#endif

#endif
