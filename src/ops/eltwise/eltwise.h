/*
 * eltwise.h: what the element-wise families share: the shape of a result, where it lies when the
 * caller left that open, and when shards are worked on where they are.
 */
#ifndef TT_OPS_ELTWISE_ELTWISE_H
#define TT_OPS_ELTWISE_ELTWISE_H

#include "device/device.h"
#include "ops/op.h"

/*
 * The shape of a result over two shapes. Upstream's reckoning, which checks nothing: where neither
 * extent is 1, the first one counts.
 */
void tt_eltwise_shape(struct ttnn_shape *out, const struct ttnn_shape *a,
		      const struct ttnn_shape *b);

/* Whether shards of the tensor reach beyond it; also for shards that no legacy spec describes. */
bool tt_eltwise_uneven(const struct ttnn_tensor_spec *spec);

/* The shard spec of a tensor scaled to another padded shape, no edge below a tile's. */
tt_status tt_eltwise_rescale(struct ttnn_shard_spec *out, const struct ttnn_tensor_spec *from,
			     const struct ttnn_shape *padded);

/* The memory config of a sharded tensor for a result of this shape. */
tt_status tt_eltwise_memory_like(struct ttnn_memory_config *out,
				 const struct ttnn_tensor_spec *like,
				 const struct ttnn_shape *shape);

/*
 * Gives a sharded config without a shard spec one that spreads a tensor of this unsharded spec over
 * as many cores as it fills. Rows of width shards are cut at multiples of `width_step` elements
 * where that divides the width; 1 cuts anywhere.
 */
tt_status tt_eltwise_spread(struct ttnn_memory_config *memory, const struct tt_device *device,
			    const struct ttnn_tensor_spec *spec, uint32_t width_step);

/* The padded shape that a tensor laid out like `like` has for this shape. */
tt_status tt_eltwise_padded(struct ttnn_shape *out, const struct ttnn_tensor_spec *like,
			    const struct ttnn_shape *shape);

/* Mixes into a key how a sharded tensor is cut: the shards in pages and the cores that take part. */
void tt_eltwise_key_shards(struct tt_key *key, const struct ttnn_tensor_spec *spec);

/*
 * The shape in pages of a sharded tensor, adjacent dimensions merged where that moves no page.
 * False when it cannot be told.
 */
bool tt_eltwise_pages(struct ttnn_shape *out, const struct ttnn_tensor_spec *spec);

#endif
