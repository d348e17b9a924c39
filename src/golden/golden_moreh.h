/*
 * golden_moreh.h: what the operations for training give, the slow and obvious way. Families name these functions in their rows.
 */
#ifndef TT_GOLDEN_GOLDEN_MOREH_H
#define TT_GOLDEN_GOLDEN_MOREH_H

#include "golden/golden.h"

/* golden_moreh.c: gradients of products, sums, softmax */
tt_status tt_golden_moreh_bmm(struct tt_golden *golden);
tt_status tt_golden_moreh_linear(struct tt_golden *golden);
tt_status tt_golden_moreh_bmm_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_linear_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_matmul_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_dot_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_sum_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_mean_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_norm_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_softmax_backward(struct tt_golden *golden);

/* golden_moreh_norm.c: normalisation */
tt_status tt_golden_moreh_layer_norm_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_group_norm(struct tt_golden *golden);
tt_status tt_golden_moreh_group_norm_backward(struct tt_golden *golden);

/* golden_moreh_step.c: losses, steps of training, parts of tensors */
tt_status tt_golden_moreh_nll_loss(struct tt_golden *golden);
tt_status tt_golden_moreh_nll_loss_backward(struct tt_golden *golden);
tt_status tt_golden_moreh_sgd(struct tt_golden *golden);
tt_status tt_golden_moreh_adam(struct tt_golden *golden);
tt_status tt_golden_moreh_adamw(struct tt_golden *golden);
tt_status tt_golden_moreh_clip_grad_norm(struct tt_golden *golden);
tt_status tt_golden_moreh_arange(struct tt_golden *golden);
tt_status tt_golden_moreh_fold(struct tt_golden *golden);
tt_status tt_golden_moreh_getitem(struct tt_golden *golden);
tt_status tt_golden_example(struct tt_golden *golden);

#endif
