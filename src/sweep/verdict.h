/*
 * verdict.h: whether a result is right: compared with the golden's arrays, on every chip that holds one.
 */
#ifndef TT_SWEEP_VERDICT_H
#define TT_SWEEP_VERDICT_H

#include "golden/golden.h"

struct tt_verdict {
	double terms;    /* elements of the inputs: what sums are made of */
	double pcc;      /* the least of all that was compared; 1 to begin with */
	double error;    /* the largest difference */
	size_t compared; /* results, on each chip */
	bool first;      /* only the first chip's results are compared */
	bool strange;    /* it has a NaN or an infinity where the golden has a number */
};

/* Takes a result into account. TTNN_INVALID when its shape is not the golden's. */
tt_status tt_verdict_add(struct tt_verdict *verdict, ttnn_tensor *got, const struct tt_array *want);

#endif
