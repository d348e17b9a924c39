/*
 * exchange.h: numbers of single chips, for programs of this room whose kernels work out values one by one: tokens to experts
 * (exchange.c), choices of experts (remap.c), states of an attention (root.c).
 */
#ifndef TT_OPS_COLLECTIVE_EXCHANGE_H
#define TT_OPS_COLLECTIVE_EXCHANGE_H

#include "ops/collective/collective.h"

/* The numbers of one chip's part of an input, in the launch's arena. */
tt_status tt_chip_read(double **out, const struct tt_launch *launch, size_t input, uint32_t chip);

/* The same for an output, through a tensor on the host. */
tt_status tt_chip_write(const struct tt_launch *launch, size_t output, uint32_t chip,
			const float *values);

/* Numbers of another type than float32. */
tt_status tt_chip_write_as(const struct tt_launch *launch, size_t output, uint32_t chip,
			   const void *values, enum ttnn_dtype dtype);

/* Zeros for a chip's part of an output; NULL without memory. */
float *tt_chip_zeros(const struct tt_launch *launch, size_t output);

static inline uint32_t tt_chip_count(const struct tt_launch *launch)
{
	return launch->device->rows * launch->device->cols;
}

#endif
