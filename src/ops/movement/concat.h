/* concat.h: between concat.c, which decides how tensors are joined, and the program. */
#ifndef TT_OPS_MOVEMENT_CONCAT_H
#define TT_OPS_MOVEMENT_CONCAT_H

#include "ops/op.h"

struct tt_concat_args {
	struct tt_tensor *const *in;
	size_t count;
	uint32_t dim, groups;
	const struct ttnn_memory_config *memory;
	const ttnn_core_set *cores; /* (optional) */
};

/* As many tensors as one program takes. */
#define TT_CONCAT_MAX 47

tt_status tt_concat_launch(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_concat_args *args);

/* Whether shards are joined where they are: all in L1. */
bool tt_concat_in_place(const struct tt_concat_args *args);

/*
 * Whether tiles that are not full along the last dimension can be joined in one program; `pending`
 * when the output is not allocated yet.
 */
bool tt_concat_unaligned_can(const struct tt_concat_args *args, bool pending);

#endif
