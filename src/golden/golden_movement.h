/*
 * golden_movement.h: what operations that move values give, the slow and obvious way. Families name
 * these functions in their rows.
 */
#ifndef TT_GOLDEN_GOLDEN_MOVEMENT_H
#define TT_GOLDEN_GOLDEN_MOVEMENT_H

#include "golden/golden.h"

tt_status tt_golden_same(struct tt_golden *golden); /* the values of the first tensor argument */
tt_status tt_golden_host_pad(struct tt_golden *golden);
tt_status tt_golden_unpad(struct tt_golden *golden);
tt_status tt_golden_reshape(struct tt_golden *golden);
tt_status tt_golden_hwc(struct tt_golden *golden);
tt_status tt_golden_chw(struct tt_golden *golden);
tt_status tt_golden_raw_view(struct tt_golden *golden);
tt_status tt_golden_reshape_on_device(struct tt_golden *golden);
tt_status tt_golden_bcast(struct tt_golden *golden);
tt_status tt_golden_squeeze(struct tt_golden *golden);
tt_status tt_golden_unsqueeze(struct tt_golden *golden);
tt_status tt_golden_unsqueeze_4d(struct tt_golden *golden);
tt_status tt_golden_permute(struct tt_golden *golden);
tt_status tt_golden_transpose(struct tt_golden *golden);
tt_status tt_golden_concat(struct tt_golden *golden);
tt_status tt_golden_stack(struct tt_golden *golden);
tt_status tt_golden_split(struct tt_golden *golden);
tt_status tt_golden_chunk(struct tt_golden *golden);
tt_status tt_golden_slice(struct tt_golden *golden);
tt_status tt_golden_getitem(struct tt_golden *golden);
tt_status tt_golden_pad(struct tt_golden *golden);
tt_status tt_golden_fill_rm(struct tt_golden *golden);
tt_status tt_golden_repeat(struct tt_golden *golden);
tt_status tt_golden_repeat_interleave(struct tt_golden *golden);
tt_status tt_golden_expand(struct tt_golden *golden);
tt_status tt_golden_roll(struct tt_golden *golden);
tt_status tt_golden_nonzero(struct tt_golden *golden);
tt_status tt_golden_indexed_fill(struct tt_golden *golden);
tt_status tt_golden_index_fill(struct tt_golden *golden);
tt_status tt_golden_slice_write(struct tt_golden *golden);
tt_status tt_golden_shard_slice(struct tt_golden *golden);
tt_status tt_golden_unshard_slice(struct tt_golden *golden);
tt_status tt_golden_tosa_gather(struct tt_golden *golden);
tt_status tt_golden_tosa_scatter(struct tt_golden *golden);
tt_status tt_golden_narrow(struct tt_golden *golden);
tt_status tt_golden_gather(struct tt_golden *golden);
tt_status tt_golden_scatter(struct tt_golden *golden);

#endif
