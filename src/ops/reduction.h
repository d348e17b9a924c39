/* reduction.h: what operations over dimensions share: which ones, and what shape is left. */
#ifndef TT_OPS_REDUCTION_H
#define TT_OPS_REDUCTION_H

#include "ops/op.h"

/* Dimensions in ascending order, none twice. */
struct tt_reduction_dims {
	uint32_t dim[TTNN_MAX_RANK];
	uint32_t count;
};

/* Those that an argument names; all of them when it was not given or names none. */
tt_status tt_reduction_dims(struct tt_reduction_dims *out, const struct tt_call *call,
			    const char *name, uint32_t rank);

/* The shape with these dimensions left out, or with an extent of 1. */
struct ttnn_shape tt_reduction_shape(const struct ttnn_shape *in,
				     const struct tt_reduction_dims *dims, bool keep);

/* Rows as tiles, with this value in the padding. */
tt_status tt_reduction_tilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			      double padding);

#endif
