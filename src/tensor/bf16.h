/*
 * bf16.h: a bfloat16 and the float32 it stands for, in loops that compilers vectorise. For kernels and
 * conversions; which types there are is told by dtype.h.
 */
#ifndef TT_TENSOR_BF16_H
#define TT_TENSOR_BF16_H

#include <stdint.h>
#include <string.h>

static inline float tt_bf16_load(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* To the nearest, halves to even; every NaN is the same one. */
static inline uint16_t tt_bf16_store(float value)
{
	uint32_t bits, rounded;

	memcpy(&bits, &value, sizeof(bits));
	rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

#endif
