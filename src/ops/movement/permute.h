/* permute.h: between permute.c and transpose.c, which call each other. */
#ifndef TT_OPS_MOVEMENT_PERMUTE_H
#define TT_OPS_MOVEMENT_PERMUTE_H

#include "ops/movement/movement.h"

/* With dimensions of extent 1 in front until there are four; and the way back. */
tt_status tt_call_to_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in);
tt_status tt_call_from_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  uint32_t rank);

/* The input's config with shards still to be derived, as permutations inherit it. */
tt_status tt_permute_inherits(struct ttnn_memory_config *out, const struct tt_tensor *in);

/* Rows in block or width shards that are not whole tiles are moved to interleaved L1 first. */
bool tt_permute_needs_detour(const struct tt_tensor *in);

/* The config that a detour must ask for, where shards were left to be derived. */
tt_status tt_permute_resolve(struct ttnn_memory_config *out, const struct tt_permute_args *args,
			     const struct ttnn_shape *padded, bool tiled);

#endif
