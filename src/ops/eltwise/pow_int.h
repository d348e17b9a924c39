/* pow_int.h: the program that raises integers to a power. */
#ifndef TT_OPS_ELTWISE_POW_INT_H
#define TT_OPS_ELTWISE_POW_INT_H

#include "ops/op.h"

struct tt_pow_int_args {
	struct tt_tensor *input;
	struct tt_tensor *output; /* (optional) */
	uint32_t exponent;
	const struct ttnn_memory_config *memory; /* (optional) else the input's */
};
tt_status tt_pow_int_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_pow_int_args *args);

#endif
