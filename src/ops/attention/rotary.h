/* rotary.h: between rotary.c, rotary_llama.c and their goldens. */
#ifndef TT_OPS_ATTENTION_ROTARY_H
#define TT_OPS_ATTENTION_ROTARY_H

#include "golden/golden_attention.h"
#include "ops/op.h"

/* Row-wise cores for the tile rows of the first input. */
tt_status tt_rotary_cores(const ttnn_core_set **out, const struct tt_launch *launch);

#endif
