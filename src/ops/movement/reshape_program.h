/* reshape_program.h: between reshape.c and the program it launches when a view does not do. */
#ifndef TT_OPS_MOVEMENT_RESHAPE_PROGRAM_H
#define TT_OPS_MOVEMENT_RESHAPE_PROGRAM_H

#include "ops/op.h"

struct tt_reshape_view_args {
	const struct ttnn_shape *shape, *padded;
	const struct ttnn_memory_config *memory;
	const ttnn_core_set *cores; /* (optional) */
	bool recreate;
};

/* Rows of two dimensions, or tiles of three. */
tt_status tt_reshape_view_launch(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
				 const struct tt_reshape_view_args *args);

#endif
