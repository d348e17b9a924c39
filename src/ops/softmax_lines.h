/*
 * softmax_lines.h: program memory of softmax along any dimension, as two programs have it: a line of
 * tiles stays in L1 as a whole, or is read piece by piece.
 */
#ifndef TT_OPS_SOFTMAX_LINES_H
#define TT_OPS_SOFTMAX_LINES_H

#include "ops/op.h"

/* The ways to do it. */
enum tt_lines {
	TT_LINES_OUTER,
	TT_LINES_H_LARGE,
	TT_LINES_H_SMALL,
	TT_LINES_W_LARGE,
	TT_LINES_W_SMALL
};

struct tt_lines_wish {
	uint32_t dim;
	enum ttnn_dtype value;   /* of masks and factors */
	enum ttnn_dtype sum;     /* of what is computed */
	enum ttnn_dtype between; /* of what is computed, for the question whether lines fit */
};

/* Chooses and fills launch->work for the rows below. */
tt_status tt_lines_plan(enum tt_lines *out, struct tt_launch *launch,
			const struct tt_lines_wish *wish);

#define TT_LINE_ROWS 10
#define TT_OUTER_ROWS 7
extern const struct tt_mem_row tt_line_rows[TT_LINE_ROWS], tt_outer_rows[TT_OUTER_ROWS];

#endif
