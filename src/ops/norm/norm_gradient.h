/*
 * norm_gradient.h: what normalisation for training and its gradients compute, of rows that are normalised each by itself: for
 * moreh_layer_norm.c, moreh_layer_norm_backward.c and moreh_group_norm.c. All tensors made here are scratch.
 */
#ifndef TT_OPS_NORM_NORM_GRADIENT_H
#define TT_OPS_NORM_NORM_GRADIENT_H

#include "ops/op.h"

/* Mean of every row, or 1 / sqrt(variance + epsilon), in the shape of `out`. `rows` is a matrix. */
tt_status tt_norm_mean(struct tt_tensor *out, struct tt_tensor *rows);
tt_status tt_norm_rstd(struct tt_tensor *out, struct tt_tensor *rows, double epsilon);

/* What gradients are made of, as matrices with a row for each that was normalised. */
struct tt_norm_rows {
	struct tt_tensor *y,
		*dy; /* normalised values, before gamma; the gradient of what came of them */
	struct tt_tensor *rstd; /* a column */
	uint64_t rows, cols;
};

/* The tensors as they were given; means and deviations must have an element for each row. */
struct tt_norm_given {
	struct tt_tensor *dy, *x, *mean, *rstd;
};
tt_status tt_norm_rows(struct tt_norm_rows *out, const struct tt_norm_given *given, uint64_t rows,
		       uint64_t cols);

/* The gradient of what was normalised, into `out`; `dy` is the gradient of y, of the shape of the matrices. */
tt_status tt_norm_gradient(struct tt_tensor *out, const struct tt_norm_rows *rows,
			   struct tt_tensor *dy);

/* Tiles that the programs of such gradients keep in L1: an array of rows for struct tt_plan. */
struct tt_norm_buffers {
	uint64_t inner; /* tiles of a row */
	uint64_t tile, sum;
	bool gamma, masks;
};
tt_status tt_norm_gradient_memory(struct tt_plan *plan, const struct tt_launch *launch,
				  const ttnn_core_set *cores,
				  const struct tt_norm_buffers *buffers);

/* The same of the programs for the gradients of gamma and beta. */
struct tt_norm_gain_buffers {
	uint64_t tile, sum;
	bool mask_h, mask_w, gamma, beta;
};
tt_status tt_norm_gain_memory(struct tt_plan *plan, const ttnn_core_set *cores,
			      const struct tt_norm_gain_buffers *buffers);

#endif
