/* gather.h: between gather.c, which brings tensors into shape, and the programs. */
#ifndef TT_OPS_MOVEMENT_GATHER_H
#define TT_OPS_MOVEMENT_GATHER_H

#include "ops/op.h"

/* Four dimensions, along the last one. */
struct tt_gather_args {
	struct tt_tensor *in, *index, *out; /* out: given, or NULL */
	uint32_t dim;                       /* the one that was asked for; only recorded */
	const struct ttnn_memory_config *memory;
	const ttnn_core_set *cores; /* (optional) */
	bool sparse;                /* the gradient is to be sparse, which is refused */
};

/* Whether the faster program serves these tensors along a dimension. */
bool tt_gather_is_fast(const struct tt_gather_args *args);

tt_status tt_gather_launch(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_gather_args *args, bool fast);

#endif
