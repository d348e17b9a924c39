/*
 * sharding.h: shard specs worked out from a tensor and a set of cores: what users call when they do
 * not want to give the shard's shape themselves.
 */
#ifndef TT_TENSOR_SHARDING_H
#define TT_TENSOR_SHARDING_H

#include "base/status.h"

/* How tt_memory_config_create_sharded() cuts. Exactly one of grid and cores is given. */
struct tt_sharded_args {
	struct ttnn_shape shape;
	uint32_t grid_width, grid_height; /* a rectangle at the origin, or 0 × 0 */
	const ttnn_core_set *cores;       /* or any cores: then shard_is_shape must be set */
	enum ttnn_memory_layout layout;   /* HEIGHT, WIDTH or BLOCK */
	enum ttnn_orientation orientation;
	bool shard_is_shape; /* height and width of the shape are those of a shard */
};

/* ttnn.create_sharded_memory_config: an L1 config that spreads a tensor evenly over the cores. */
tt_status tt_memory_config_create_sharded(struct ttnn_memory_config *out,
					  const struct tt_sharded_args *args);

/* ---- the builder methods of TensorSpec ------------------------------------------------------ */

/* What the last extents of a shard are rounded up to. */
enum tt_shard_alignment {
	TT_SHARD_ALIGN_NONE,
	TT_SHARD_ALIGN_REQUIRED,    /* whole tiles */
	TT_SHARD_ALIGN_RECOMMENDED, /* and rows of whole 64-byte units */
};

/* The same tensor, sharded; everything else but a custom alignment is kept. */
tt_status tt_spec_shard(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *spec,
			const struct ttnn_nd_shard_spec *shard, enum tt_shard_alignment alignment);

/* Where the functions below put the shards. */
struct tt_shard_target {
	const ttnn_core_set *grid;
	enum ttnn_orientation orientation;
};

/* height_sharded, width_sharded, block_sharded: one shard per core, as even as can be. */
tt_status tt_spec_shard_2d(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *spec,
			   enum ttnn_memory_layout layout, const struct tt_shard_target *target);

/*
 * sharded_across_dims (except == false): shards as thin as possible in these dimensions and whole in
 * the others; sharded_across_dims_except: the other way round. Negative dims count from the end.
 */
struct tt_shard_dims {
	const int64_t *dims;
	size_t count;
	bool except;
};
tt_status tt_spec_shard_dims(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *spec,
			     const struct tt_shard_dims *dims,
			     const struct tt_shard_target *target);

#endif
