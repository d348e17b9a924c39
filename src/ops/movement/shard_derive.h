/* shard_derive.h: shard specs for outputs whose shape is not the input's, as upstream derives them. */
#ifndef TT_OPS_MOVEMENT_SHARD_DERIVE_H
#define TT_OPS_MOVEMENT_SHARD_DERIVE_H

#include "ops/op.h"

/* The shard scaled as the shape is; false when that is not even. Both shapes have one rank. */
bool tt_shard_scale(struct ttnn_shard_spec *out, const struct ttnn_shard_spec *shard,
		    const struct ttnn_shape *from, const struct ttnn_shape *to);

/* What a new sharding starts from. */
struct tt_shard_request {
	const struct tt_device *device;
	const struct ttnn_shape *padded; /* of the output */
	enum ttnn_memory_layout layout;
	enum ttnn_orientation orientation;
	bool tiled;
};

/* Shards over as many cores of the grid as are needed. `who` is for refusals: "Transpose". */
tt_status tt_shard_make(struct ttnn_shard_spec *out, const struct tt_shard_request *request,
			const char *who);

/*
 * Completes a sharded config that leaves its shards open: the input's, scaled as its shape `from` is to `to`, if they
 * are cut alike and stay whole tiles, or new ones. Refusals are Transpose's, as upstream's are.
 */
tt_status tt_shards_derive(struct ttnn_memory_config *memory, const struct tt_launch *launch,
			   const struct ttnn_shape *from, const struct ttnn_shape *to);

/*
 * The shard of rows with pages that L1 can hold side by side, on fewer cores if need be. False when
 * there is none: then, unless strict, rows of whole tiles are taken.
 */
tt_status tt_shard_align_rows(bool *found, struct ttnn_shard_spec *shard,
			      const struct tt_shard_request *request, uint64_t element,
			      bool strict);

/*
 * The ND shard that cuts another shape of the same rank into as many parts as the old one; `tile`
 * (optional) is what the last two extents are multiples of.
 */
struct ttnn_nd_shard_spec tt_nd_shard_fit(const struct ttnn_nd_shard_spec *shard,
					  const struct ttnn_shape *from,
					  const struct ttnn_shape *to,
					  const struct ttnn_tile *tile);

#endif
