/*
 * scratch.h: tensors that a kernel needs on the side. They are the kernel's own: who makes one never gives it up, it
 * goes when the kernel that runs in this thread ends (launch.c), in success and failure. For tests and goldens: none.
 */
#ifndef TT_OPS_SCRATCH_H
#define TT_OPS_SCRATCH_H

#include "tensor/tensor.h"

/* A host tensor of zeros. Only within a kernel; a loop over many of them keeps all. */
tt_status tt_scratch(struct tt_tensor **out, const struct ttnn_shape *shape, enum ttnn_dtype dtype,
		     enum ttnn_layout layout);

/* The same in rows of float32, for sums and the like; with another last extent than `like` has. */
tt_status tt_scratch_f32(struct tt_tensor **out, const struct ttnn_shape *shape);
tt_status tt_scratch_width(struct tt_tensor **out, const struct ttnn_shape *like, uint32_t width);

/* A tensor that the kernel got from elsewhere, to be given up with them; at once when memory is exhausted. */
tt_status tt_scratch_keep(struct tt_tensor *tensor);

/* Gives up what this thread's kernel made. For launch.c. */
void tt_scratch_end(void);

#endif
