/* fold.h: between fold.c, which decides how an image is folded, its program, and folding by transposes. */
#ifndef TT_OPS_CONV_FOLD_H
#define TT_OPS_CONV_FOLD_H

#include "ops/op.h"

/* ---- fold_program.c ---- */

extern const struct tt_prog tt_fold_program; /* attributes: stride_h, stride_w, collapse_output */

/* Whether each core folds what it has: rows in height shards in L1. */
static inline bool tt_fold_is_fast(const struct tt_tensor *in)
{
	const struct ttnn_memory_config *memory = &in->spec.memory;

	return memory->has_shard && memory->layout == TTNN_HEIGHT_SHARDED &&
	       memory->buffer == TTNN_L1 && in->spec.layout == TTNN_ROW_MAJOR;
}

/* Whether the program takes tiles as they are: interleaved ones whose rows fit into L1. */
bool tt_fold_takes_tiles(const struct tt_tensor *in, uint32_t h);

/* Shards of the layout of `like` for a matrix of rows and columns, on as many cores as are needed. */
tt_status tt_fold_shards(struct ttnn_memory_config *out, const struct tt_tensor *in,
			 const struct ttnn_memory_config *like, const uint32_t matrix[2]);

/* The shards of `in` when `patch` rows of it become one. */
tt_status tt_fold_rescaled(struct ttnn_memory_config *out, const struct ttnn_memory_config *in,
			   enum ttnn_buffer_type buffer, uint64_t patch);

/* ---- fold_transpose.c ---- */

struct tt_fold {
	struct tt_tensor *in;
	uint32_t down, across;
	const uint32_t *pads;           /* top, bottom, left, right, front, back */
	const struct ttnn_shape *shape; /* (optional) of the result */
	const ttnn_core_set *cores;     /* of shards on the way */
	const struct ttnn_memory_config
		*memory; /* (optional) of the result, where shards are folded */
};

/* *at becomes `next`, as an assignment does it: what it was is freed, unless it is the caller's. */
void tt_fold_assign(struct tt_tensor **at, struct tt_call *call, struct tt_tensor *next);

/* An image [n, c, h, w] becomes [n, h / down, w / across, c * down * across]; the call returns it. */
tt_status tt_fold_by_transposing(struct tt_call *call, const struct tt_fold *fold);
tt_status tt_fold_shards_by_transposing(struct tt_call *call, const struct tt_fold *fold);

#endif
