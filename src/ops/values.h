/*
 * values.h: the numbers of tensors at once, for kernels that go through them in an order of their own and whose tensors
 * are small. What computes much on many has a job of the backend (backend/backend.h).
 */
#ifndef TT_OPS_VALUES_H
#define TT_OPS_VALUES_H

#include "ops/op.h"

/* The elements of an input in row-major order, in the launch's arena, and how many there are. */
tt_status tt_values_of(double **out, uint64_t *count, const struct tt_launch *launch, size_t input);

/* Elements in row-major order, of this type, into a tensor of a device, whatever type and layout it has. */
tt_status tt_values_write(struct tt_tensor *out, const void *data, enum ttnn_dtype dtype);

#endif
