/* golden_collective.h: what the first chip of a mesh gets of others, the slow and obvious way. */
#ifndef TT_GOLDEN_GOLDEN_COLLECTIVE_H
#define TT_GOLDEN_GOLDEN_COLLECTIVE_H

#include "golden/golden.h"

tt_status tt_golden_all_broadcast(struct tt_golden *golden);
tt_status tt_golden_broadcast(struct tt_golden *golden);
tt_status tt_golden_point_to_point(struct tt_golden *golden);
tt_status tt_golden_partition(struct tt_golden *golden);
tt_status tt_golden_all_to_all_dispatch(struct tt_golden *golden);
tt_status tt_golden_dispatch_metadata(struct tt_golden *golden);
tt_status tt_golden_reduce_combine(struct tt_golden *golden);
tt_status tt_golden_all_to_all_combine(struct tt_golden *golden);
tt_status tt_golden_reduce_to_root(struct tt_golden *golden);
tt_status tt_golden_expert_token_remap(struct tt_golden *golden);

/* Of parts that are put behind each other, added up, or cut another way; the arguments are those of ttnn.experimental's. */
tt_status tt_golden_all_gather(struct tt_golden *golden);
tt_status tt_golden_all_gather_reversed(struct tt_golden *golden);
tt_status tt_golden_reduce_scatter(struct tt_golden *golden);
tt_status tt_golden_moe_reduce_scatter(struct tt_golden *golden);
tt_status tt_golden_all_reduce(struct tt_golden *golden);
tt_status tt_golden_all_to_all(struct tt_golden *golden);
tt_status tt_golden_slice_reshard(struct tt_golden *golden);
tt_status tt_golden_neighbor_pad(struct tt_golden *golden);
tt_status tt_golden_neighbor_halo(struct tt_golden *golden);
tt_status tt_golden_halo_scatter(struct tt_golden *golden);

/* The first part of a sum, also of one that ends in padding; the heads in the first rows of a sum. */
struct tt_golden_shards {
	const struct tt_array *sum;
	const struct ttnn_memory_config *memory; /* of what was added up */
	uint32_t chips;
	enum ttnn_dtype dtype;
};
tt_status tt_golden_first_part(struct tt_golden *golden, const struct tt_golden_shards *of);
tt_status tt_golden_shards_added(struct tt_golden *golden, const char *name);
tt_status tt_golden_llama_reduce_scatter(struct tt_golden *golden);
tt_status tt_golden_llama_heads(struct tt_golden *golden);

/* Parts of the others of the first of several tensors, and of the rest: its own stays out. */
tt_status tt_golden_ring_gather(struct tt_golden *golden);

/* Parts of all in a given tensor: of one batch, or as much as is in use, and else what was there. */
tt_status tt_golden_high_bw_gather(struct tt_golden *golden);

#endif
