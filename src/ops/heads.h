/*
 * heads.h: between heads.c, heads_decode.c, heads_split.c and their goldens: rows of all heads side by side, and
 * heads as a dimension of their own.
 */
#ifndef TT_OPS_HEADS_H
#define TT_OPS_HEADS_H

#include "ops/golden.h"
#include "ops/op.h"

/* Upstream's words for a dimension that a shape has not. */
tt_status tt_heads_need_rank(const struct ttnn_shape *shape, uint32_t index);

/* How many blocks of columns a fused tensor has, each with queries, keys and values of its own heads. */
uint32_t tt_heads_groups(const struct ttnn_tensor_spec *in);

tt_status tt_golden_create_heads(struct tt_golden *golden);
tt_status tt_golden_split_heads(struct tt_golden *golden);
tt_status tt_golden_fixed_heads(struct tt_golden *golden);
tt_status tt_golden_concat_heads(struct tt_golden *golden);
tt_status tt_golden_create_heads_decode(struct tt_golden *golden);
tt_status tt_golden_concat_heads_decode(struct tt_golden *golden);

/* The models with a form of their own: the row of such an operation. */
struct tt_fixed_heads {
	const char *device_op, *schema, *factory;
	uint32_t heads, kv_heads, width; /* heads 0: as many as there is room for, in all three */
};

#endif
