/* golden_window.h: goldens of windows over images: pools, convolutions, other sizes. */
#ifndef TT_GOLDEN_GOLDEN_WINDOW_H
#define TT_GOLDEN_GOLDEN_WINDOW_H

#include "golden/golden.h"

tt_status tt_golden_max_pool(struct tt_golden *golden);
tt_status tt_golden_avg_pool(struct tt_golden *golden);
tt_status tt_golden_deformable(struct tt_golden *golden);
tt_status tt_golden_fold(struct tt_golden *golden);
tt_status tt_golden_upsample(struct tt_golden *golden);
tt_status tt_golden_adaptive_avg(struct tt_golden *golden);
tt_status tt_golden_adaptive_max(struct tt_golden *golden);
tt_status tt_golden_global_avg(struct tt_golden *golden);
tt_status tt_golden_conv2d(struct tt_golden *golden);
tt_status tt_golden_conv1d(struct tt_golden *golden);
tt_status tt_golden_conv_transpose2d(struct tt_golden *golden);
tt_status tt_golden_conv3d(struct tt_golden *golden);
tt_status tt_golden_conv3d_weights(struct tt_golden *golden);

#endif
