/*
 * shard.h: shard specs against the tensor they cut, and the two kinds of shard spec in terms of each
 * other. Steps of ttnn_tensor_spec_make(), which calls them in upstream's order.
 */
#ifndef TT_TENSOR_SHARD_H
#define TT_TENSOR_SHARD_H

#include "base/status.h"

/* Refuses shards of a TILE tensor that are not whole tiles. */
tt_status tt_shard_check_tiles(const struct ttnn_tensor_spec *spec);

/* Refuses legacy shards that do not fit the physical shape or the cores. Needs rows and cols. */
tt_status tt_shard_check(const struct ttnn_tensor_spec *spec);

/*
 * Fills in the other kind of shard spec: every legacy spec has an ND one; an ND spec has a legacy
 * one when a legacy layout places its shards the same way. Needs the padded shape, rows and cols.
 */
tt_status tt_shard_derive(struct ttnn_tensor_spec *spec);

#endif
