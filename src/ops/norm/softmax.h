/* softmax.h: between softmax.c, the program, and softmax_ops.c, the operations. */
#ifndef TT_OPS_NORM_SOFTMAX_H
#define TT_OPS_NORM_SOFTMAX_H

#include "ops/norm/norm.h"

enum tt_softmax_type {
	TT_SOFTMAX_PLAIN,
	TT_SOFTMAX_SCALE_MASK,
	TT_SOFTMAX_IN_PLACE,
	TT_SOFTMAX_SCALE_MASK_IN_PLACE,
	TT_SOFTMAX_CAUSAL_HW_IN_PLACE,
};

/* The objects that say how shards are worked on, or that nothing is said. */
enum tt_softmax_sharded_field {
	TT_SOFTMAX_GRID,
	TT_SOFTMAX_SUBBLOCK_W,
	TT_SOFTMAX_BLOCK_H,
	TT_SOFTMAX_BLOCK_W,
	TT_SOFTMAX_SHARDED_FIELDS
};

struct tt_softmax_args {
	enum tt_softmax_type type;
	struct tt_tensor *in, *mask; /* mask: (optional) */
	uint32_t dim;
	const double *scale; /* (optional) */
	const struct ttnn_memory_config *memory;
	const struct ttnn_value *config; /* (optional) one of the objects above */
	struct ttnn_value compute;
	bool causal, stable;
};

/* Launches SoftmaxDeviceOperation. */
tt_status tt_softmax_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_softmax_args *args);

#endif
