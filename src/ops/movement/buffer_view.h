/* buffer_view.h: other shapes over the same buffer. */
#ifndef TT_OPS_MOVEMENT_BUFFER_VIEW_H
#define TT_OPS_MOVEMENT_BUFFER_VIEW_H

#include "ops/op.h"

/*
 * The bytes of a tensor under another shape with this padding, in a scope "Tensor::reshape". What the
 * elements then are is the caller's concern; only the size is checked, and that shards allow it.
 */
tt_status tt_call_view(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		       const struct ttnn_shape *shape, const struct ttnn_shape *padded);

/* The same under a shape alone, padded as its layout wants it: recorded with the shape twice. */
tt_status tt_call_view_to(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct ttnn_shape *shape);

/* The same with the padding that the layout demands; the tensor itself when nothing changes. */
tt_status tt_call_perform_view(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			       const struct ttnn_shape *shape, const struct ttnn_shape *padded);

/* The shape with its last two extents rounded up to tiles of 32 × 32; at least two dimensions. */
struct ttnn_shape tt_shape_in_tiles(const struct ttnn_shape *shape);

#endif
