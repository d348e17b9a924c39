/*
 * norm.h: the room of operations that bring values to a scale.
 *
 *	layer_norm              layer_norm, rms_norm and their program; layer_norm_memory what it keeps in L1
 *	layer_norm_distributed  the halves before and after an all-gather; layer_norm_parts what they compute
 *	norm_welford, norm_heads  those of diffusion models
 *	batch_norm
 *	moreh_layer_norm, moreh_group_norm, moreh_softmax with their gradients, which norm_gradient computes
 *	group_norm              with group_norm_setup, what its callers prepare
 *	softmax                 the program; softmax_ops its operations; softmax_lines its memory along any dimension
 *
 * All of this header is for other rooms.
 */
#ifndef TT_OPS_NORM_NORM_H
#define TT_OPS_NORM_NORM_H

#include "ops/op.h"

/* ---- for the tables of objects and enumerations --------------------------------------------------- */

extern const struct tt_enum tt_enum_norm_type, tt_enum_norm_distributed, tt_enum_norm_stage;
extern const struct tt_schema tt_schema_softmax_default, tt_schema_softmax_sharded;

/* ---- softmax along any dimension (softmax_lines.c) ----------------------------------------------- */

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
	bool large;              /* piece by piece even if they do */
};

/* Chooses and fills launch->work for the memory functions below. */
tt_status tt_lines_plan(enum tt_lines *out, struct tt_launch *launch,
			const struct tt_lines_request *request);

/* Along width or height, and along a dimension before them; for struct tt_factory. */
tt_status tt_lines_memory(struct tt_plan *plan, const struct tt_launch *launch);
tt_status tt_outer_memory(struct tt_plan *plan, const struct tt_launch *launch);

#endif
