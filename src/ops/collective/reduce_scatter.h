/* reduce_scatter.h: between the operation reduce_scatter (reduce_scatter.c), which chooses how sums are scattered, and the ways to do it. */
#ifndef TT_OPS_COLLECTIVE_REDUCE_SCATTER_H
#define TT_OPS_COLLECTIVE_REDUCE_SCATTER_H

#include "ops/collective/collective.h"

/* As the call says it, but for what was worked out already. */
struct tt_scatter_args {
	struct tt_tensor *in, *given; /* given: the output, or NULL */
	uint32_t dim;
	const struct ttnn_memory_config *memory; /* of the result */
	struct ttnn_value topology, links;
	bool padded; /* what is on the way is where it usually is, whatever the call says */
};

/* Along a line or a ring, from neighbour to neighbour (reduce_scatter.c). */
tt_status tt_scatter_along(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_scatter_args *args);

/* Each part straight to whose it is, in a ring (direct.c); and whether that can be. */
tt_status tt_scatter_direct(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_scatter_args *args);
bool tt_scatter_direct_can(const struct tt_scatter_args *args, uint32_t size);

/* Parts that are no whole tiles are padded, each for itself (composite.c). */
tt_status tt_scatter_padded(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_scatter_args *args);

#endif
