/* golden_norm.h: the goldens of normalisation, for the rows of the families that normalise. */
#ifndef TT_GOLDEN_GOLDEN_NORM_H
#define TT_GOLDEN_GOLDEN_NORM_H

#include "golden/golden.h"

/* layer_norm and rms_norm; the row says which. */
tt_status tt_golden_norm(struct tt_golden *golden);

/* Their halves before and after the gathering of sums. */
tt_status tt_golden_norm_sums(struct tt_golden *golden);
tt_status tt_golden_norm_apply(struct tt_golden *golden);

/* The same by means and variances, and with heads and rotation behind it. */
tt_status tt_golden_welford_stats(struct tt_golden *golden);
tt_status tt_golden_welford_apply(struct tt_golden *golden);
tt_status tt_golden_squares(struct tt_golden *golden);
tt_status tt_golden_rms_heads(struct tt_golden *golden);

tt_status tt_golden_group_norm(struct tt_golden *golden);
tt_status tt_golden_batch_norm(struct tt_golden *golden);

#endif
