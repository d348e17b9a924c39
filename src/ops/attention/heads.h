/*
 * heads.h: between heads.c, heads_decode.c, heads_split.c, heads_groups.c and their goldens: rows of all heads side by side, and
 * heads as a dimension of their own.
 */
#ifndef TT_OPS_ATTENTION_HEADS_H
#define TT_OPS_ATTENTION_HEADS_H

#include "golden/golden_attention.h"
#include "ops/op.h"

/* Upstream's words for a dimension that a shape has not. */
tt_status tt_heads_need_rank(const struct ttnn_shape *shape, uint32_t index);

/* Heads of fused rows in blocks, by groups (heads_groups.c); the memory config is the call's. */
struct tt_heads_groups {
	struct tt_tensor *in;
	int64_t heads, kv_heads;
	bool transpose;
	struct tt_tensor *given[3]; /* (optional) */
};
tt_status tt_heads_groups(struct tt_tensor *out[3], struct tt_call *call,
			  const struct tt_heads_groups *args);

#endif
