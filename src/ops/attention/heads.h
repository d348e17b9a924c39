/*
 * heads.h: between heads.c, heads_decode.c, heads_split.c and their goldens: rows of all heads side by side, and
 * heads as a dimension of their own.
 */
#ifndef TT_OPS_ATTENTION_HEADS_H
#define TT_OPS_ATTENTION_HEADS_H

#include "golden/golden_attention.h"
#include "ops/op.h"

/* Upstream's words for a dimension that a shape has not. */
tt_status tt_heads_need_rank(const struct ttnn_shape *shape, uint32_t index);

#endif
