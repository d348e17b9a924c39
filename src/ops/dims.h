/* dims.h: dimensions as arguments name them: from the end, several, all. For operations and their goldens. */
#ifndef TT_OPS_DIMS_H
#define TT_OPS_DIMS_H

#include "ops/op.h"

/* A dimension of a shape from one that may count from the end; refused as upstream does. */
tt_status tt_normal_dim(uint32_t *out, int64_t dim, uint32_t rank);

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

#endif
