/* pad.h: between pad.c, which decides how a tensor is padded, and the program. */
#ifndef TT_OPS_MOVEMENT_PAD_H
#define TT_OPS_MOVEMENT_PAD_H

#include "ops/op.h"

struct tt_pad_args {
	struct tt_tensor *in; /* of rank 4 */
	const struct ttnn_shape *shape, *start;
	const struct ttnn_memory_config *memory;
	double value;
	bool multicore;
	const ttnn_core_set *cores; /* (optional) */
};
tt_status tt_pad_launch(struct tt_tensor **out, struct tt_call *call,
			const struct tt_pad_args *args);

/* The scope "Tensor::unpad": the elements from start to before end of a host tensor. */
tt_status tt_host_unpad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			const struct ttnn_shape *start, const struct ttnn_shape *end);

#endif
