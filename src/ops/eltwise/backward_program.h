/* backward_program.h: the programs that upstream has for some gradients. */
#ifndef TT_OPS_ELTWISE_BACKWARD_PROGRAM_H
#define TT_OPS_ELTWISE_BACKWARD_PROGRAM_H

#include "ops/op.h"

/* The gradient of one function of one operand: upstream's numbers. */
enum tt_unary_backward { TT_TANH_BW, TT_SIGMOID_BW, TT_GELU_BW, TT_GELU_TANH_BW };

struct tt_unary_backward_args {
	enum tt_unary_backward fn;
	struct tt_tensor *grad, *input;
	struct tt_tensor *output;                /* (optional) */
	const struct ttnn_memory_config *memory; /* (optional) else the input's */
};
tt_status tt_unary_backward_launch(struct tt_tensor **out, struct tt_call *call,
				   const struct tt_unary_backward_args *args);

/* Both gradients of a product. */
struct tt_mul_backward_args {
	struct tt_tensor *grad, *a, *b;
	struct tt_tensor *outputs[2];            /* (optional) each */
	const struct ttnn_memory_config *memory; /* (optional) else that of a */
};
tt_status tt_mul_backward_launch(struct tt_tensor *out[2], struct tt_call *call,
				 const struct tt_mul_backward_args *args);

#endif
