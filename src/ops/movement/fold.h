/* fold.h: between fold.c, which decides how an image is folded, and folding by transposes. */
#ifndef TT_OPS_MOVEMENT_FOLD_H
#define TT_OPS_MOVEMENT_FOLD_H

#include "ops/op.h"

struct tt_fold {
	struct tt_tensor *in;
	uint32_t down, across;
	const uint32_t *pads;           /* top, bottom, left, right, front, back */
	const struct ttnn_shape *shape; /* (optional) of the result */
	const ttnn_core_set *cores;     /* of shards on the way */
	const struct ttnn_memory_config
		*memory; /* (optional) of the result, where shards are folded */
};

/* An image [n, c, h, w] becomes [n, h / down, w / across, c * down * across]; the call returns it. */
tt_status tt_fold_by_transposing(struct tt_call *call, const struct tt_fold *fold);
tt_status tt_fold_shards_by_transposing(struct tt_call *call, const struct tt_fold *fold);

#endif
