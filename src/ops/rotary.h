/* rotary.h: between rotary.c, rotary_llama.c and their goldens. */
#ifndef TT_OPS_ROTARY_H
#define TT_OPS_ROTARY_H

#include "ops/golden.h"
#include "ops/op.h"

/* Row-wise cores for the tile rows of the first input. */
tt_status tt_rotary_cores(const ttnn_core_set **out, const struct tt_launch *launch);

tt_status tt_golden_rotary(struct tt_golden *golden);
tt_status tt_golden_rotate_half(struct tt_golden *golden);
tt_status tt_golden_rotary_llama(struct tt_golden *golden);
tt_status tt_golden_rotary_fused(struct tt_golden *golden);

#endif
