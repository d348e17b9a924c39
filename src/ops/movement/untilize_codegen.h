/* untilize_codegen.h: between untilize.c and the program it prefers. */
#ifndef TT_OPS_MOVEMENT_UNTILIZE_CODEGEN_H
#define TT_OPS_MOVEMENT_UNTILIZE_CODEGEN_H

#include "ops/op.h"

/* Whether the program serves, and its buffers fit into L1 now, beside the output to come. */
bool tt_untilize_codegen_can(const struct tt_tensor *in, const struct ttnn_memory_config *memory);

tt_status tt_untilize_codegen_launch(struct tt_tensor **out, struct tt_call *call,
				     struct tt_tensor *in, const struct ttnn_memory_config *memory);

#endif
