/* copy.h: what other operations need of plain copies. */
#ifndef TT_OPS_MOVEMENT_COPY_H
#define TT_OPS_MOVEMENT_COPY_H

#include "ops/movement/shard_ops.h"

/* Launches CopyDeviceOperation: any layout and memory to any other. */
tt_status tt_copy_launch(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_shard_want *want);

#endif
