/*
 * golden_reduction.h: what operations over dimensions give, the slow and obvious way. Families name
 * these functions in their rows.
 */
#ifndef TT_GOLDEN_GOLDEN_REDUCTION_H
#define TT_GOLDEN_GOLDEN_REDUCTION_H

#include "golden/golden.h"

tt_status tt_golden_sum(struct tt_golden *golden);
tt_status tt_golden_mean(struct tt_golden *golden);
tt_status tt_golden_max(struct tt_golden *golden);
tt_status tt_golden_min(struct tt_golden *golden);
tt_status tt_golden_std(struct tt_golden *golden);
tt_status tt_golden_var(struct tt_golden *golden);
tt_status tt_golden_prod(struct tt_golden *golden);
tt_status tt_golden_argmax(struct tt_golden *golden);

tt_status tt_golden_cumsum(struct tt_golden *golden);
tt_status tt_golden_integral_image(struct tt_golden *golden);
tt_status tt_golden_ema(struct tt_golden *golden);
tt_status tt_golden_cumprod(struct tt_golden *golden);

tt_status tt_golden_spread_product(struct tt_golden *golden);
tt_status tt_golden_neighbour_sum(struct tt_golden *golden);
tt_status tt_golden_prefix_scan(struct tt_golden *golden);

tt_status tt_golden_sort(struct tt_golden *golden);
tt_status tt_golden_topk(struct tt_golden *golden);
tt_status tt_golden_sampling(struct tt_golden *golden);
tt_status tt_golden_moe(struct tt_golden *golden);

tt_status tt_golden_softmax(struct tt_golden *golden);
tt_status tt_golden_scale_mask_softmax(struct tt_golden *golden);
tt_status tt_golden_scale_causal_softmax(struct tt_golden *golden);
tt_status tt_golden_attention_softmax(struct tt_golden *golden);

tt_status tt_golden_moreh_softmax(struct tt_golden *golden);
tt_status tt_golden_cumsum_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_sum(struct tt_golden *golden);
tt_status tt_golden_moreh_mean(struct tt_golden *golden);
tt_status tt_golden_moreh_norm(struct tt_golden *golden);
tt_status tt_golden_moreh_abs_pow(struct tt_golden *golden);
tt_status tt_golden_reduce_outer(struct tt_golden *golden);

#endif
