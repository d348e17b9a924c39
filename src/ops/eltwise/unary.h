/* unary.h: the program of all unary operations, for the operations that launch it. */
#ifndef TT_OPS_ELTWISE_UNARY_H
#define TT_OPS_ELTWISE_UNARY_H

#include "ops/activation.h"
#include "ops/op.h"
#include "tensor/fn.h"

/* Launches the unary program on a chain; `output` (optional) is written into. */
struct tt_unary_args {
	struct tt_tensor *input, *output;
	const struct tt_unary_step *steps;
	size_t step_count;
	const enum ttnn_dtype *dtype;            /* (optional) else the input's */
	const struct ttnn_memory_config *memory; /* (optional) else the input's */
	const ttnn_core_set *grid;               /* (optional) */
	bool real_parameter;                     /* the caller gave a real number */
};
tt_status tt_unary_launch(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_unary_args *args);

#endif
