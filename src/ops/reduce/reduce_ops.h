/* reduce_ops.h: what operations over dimensions share: which ones, and what shape is left. */
#ifndef TT_OPS_REDUCE_REDUCE_OPS_H
#define TT_OPS_REDUCE_REDUCE_OPS_H

#include "ops/dims.h"
#include "ops/op.h"

/* Rows as tiles, with this value in the padding. */
tt_status tt_reduction_tilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			      double padding);

#endif
