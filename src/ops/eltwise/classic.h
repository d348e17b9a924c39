/*
 * classic.h: what an older release does otherwise (generation `classic`): operands of two are made
 * equal by repeating the smaller, by a program that takes tile after tile.
 */
#ifndef TT_OPS_ELTWISE_CLASSIC_H
#define TT_OPS_ELTWISE_CLASSIC_H

#include "device/generation.h"
#include "ops/op.h"

/* Repeats the operand with fewer batches; a new tensor in place of one is the call's. */
tt_status tt_classic_level(struct tt_tensor **a, struct tt_tensor **b, struct tt_call *call);

/* Repeats along one dimension. */
struct tt_classic_repeat_args {
	struct tt_tensor *input;
	uint32_t dim, times;
	const struct ttnn_memory_config *memory; /* (optional) else the input's */
};
tt_status tt_classic_repeat(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_classic_repeat_args *args);

#endif
