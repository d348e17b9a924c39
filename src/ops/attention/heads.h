/*
 * heads.h: between heads.c, heads_decode.c, heads_shards.c, heads_split.c, heads_groups.c and their goldens: rows of all heads side by side, and
 * heads as a dimension of their own.
 */
#ifndef TT_OPS_ATTENTION_HEADS_H
#define TT_OPS_ATTENTION_HEADS_H

#include "golden/golden_attention.h"
#include "ops/op.h"

/* Refuses what is not in tiles of floating point. `condition` is what upstream says of the layout. */
tt_status tt_heads_check_tiles(const struct ttnn_tensor_spec *in, const char *condition);

/* Heads of fused rows in blocks, by groups (heads_groups.c); the memory config is the call's. */
struct tt_heads_groups {
	struct tt_tensor *in;
	int64_t heads, kv_heads;
	bool transpose;
	struct tt_tensor *given[3]; /* (optional) */
};
tt_status tt_heads_groups(struct tt_tensor *out[3], struct tt_call *call,
			  const struct tt_heads_groups *args);

/* Fused rows in shards (heads_shards.c): what they are beside what is wanted of them. */
struct tt_heads_shards {
	const struct ttnn_tensor_spec *in, *kv; /* kv: (optional) */
	const struct ttnn_memory_config *wanted;
	struct ttnn_core grid; /* of the device */
	uint32_t heads, kv_heads, width;
	bool transpose, tied;
};
tt_status tt_heads_shards_check(const struct tt_heads_shards *shards);
tt_status tt_heads_shards_memory(struct tt_plan *plan, const struct tt_launch *launch);

/* Where so many heads go: as wanted, or where that is in shards, a core for each. */
tt_status tt_heads_shard_memory(struct ttnn_memory_config *out, const struct tt_launch *launch,
				const struct ttnn_memory_config *wanted, uint32_t heads,
				uint32_t width);

#endif
