/*
 * softmax_lines.h: program memory of softmax along any dimension, as two programs have it: a line of
 * tiles stays in L1 as a whole, or is read piece by piece.
 */
#ifndef TT_OPS_NORM_SOFTMAX_LINES_H
#define TT_OPS_NORM_SOFTMAX_LINES_H

#include "ops/op.h"

/* The ways to do it. */
enum tt_lines {
	TT_LINES_OUTER,
	TT_LINES_H_LARGE,
	TT_LINES_H_SMALL,
	TT_LINES_W_LARGE,
	TT_LINES_W_SMALL
};

struct tt_lines_request {
	uint32_t dim;
	enum ttnn_dtype value;   /* of masks and factors */
	enum ttnn_dtype sum;     /* of what is computed */
	enum ttnn_dtype between; /* of what is computed, for the question whether lines fit */
};

/* Chooses and fills launch->work for the memory functions below. */
tt_status tt_lines_plan(enum tt_lines *out, struct tt_launch *launch,
			const struct tt_lines_request *request);

/* Along width or height, and along a dimension before them; for struct tt_factory. */
tt_status tt_lines_memory(struct tt_plan *plan, const struct tt_launch *launch);
tt_status tt_outer_memory(struct tt_plan *plan, const struct tt_launch *launch);

#endif
