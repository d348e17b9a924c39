/* indexer_score.h: between the files of indexer_score: how much keys matter to queries, on one chip or on a ring. */
#ifndef TT_OPS_ATTENTION_INDEXER_SCORE_H
#define TT_OPS_ATTENTION_INDEXER_SCORE_H

#include "ops/attention/attention.h"
#include "ops/usual.h"

#define TT_SCORE_ATTRS(X)                                                                          \
	X(TT_SCORE_START, "chunk_start_idx", .unkeyed = true)                                      \
	X(TT_SCORE_RATIO, "key_compression_ratio")                                                 \
	X(TT_SCORE_AXES, "seq_shard_axes")                                                         \
	X(TT_SCORE_RELU, "apply_relu")                                                             \
	X(TT_SCORE_GROUPS, "num_groups")                                                           \
	X(TT_SCORE_BLOCK, "block_size")                                                            \
	X(TT_SCORE_GATE, "synthesize_gate")                                                        \
	X(TT_SCORE_SCALE, "gate_scale")                                                            \
	X(TT_SCORE_CONFIG, "program_config")                                                       \
	X(TT_SCORE_COMPUTE, "compute_kernel_config")                                               \
	X(TT_SCORE_SLOT, "cache_batch_idx")                                                        \
	X(TT_SCORE_LAYERS, "index_cache_num_layers")                                               \
	X(TT_SCORE_LAYER, "index_cache_layer_idx")                                                 \
	X(TT_SCORE_LENGTH, "kv_len")                                                               \
	X(TT_SCORE_CYCLIC, "block_cyclic")                                                         \
	X(TT_SCORE_RING, "fused_ring")                                                             \
	X(TT_SCORE_STRIPES, "cache_tp")
enum { TT_SCORE_ATTRS(TT_ATTR_ID) tt_score_schema_count };
extern const struct tt_schema tt_score_schema;

/* Those of a ring have more: what a chip has of the keys, and numbers that are on the device. */
enum {
	TT_SCORE_Q,
	TT_SCORE_K,
	TT_SCORE_WEIGHTS,
	TT_SCORE_LOCAL,
	TT_SCORE_START_THERE,
	TT_SCORE_END_THERE,
	TT_SCORE_SLOT_THERE,
	TT_SCORE_RING_INPUTS
};

/* How rows of a cache are spread: so many queries of a chunk on each chip; fields of TT_SCORE_CYCLIC. */
enum { TT_SCORE_CHIPS, TT_SCORE_CHUNK };

/* Sizes in tiles, and heads that a core has at once and in a sum. */
struct tt_score_work {
	uint64_t rows, keys, width; /* of queries and keys */
	uint64_t q, k, heads, at_once, groups, sum;
	uint64_t block; /* 0: keys one by one */
};
void tt_score_work_of(struct tt_score_work *w, const struct tt_launch *launch);

/* The output; what is checked with and without a ring; its attributes from a call, with a layout and a ring or None. */
tt_status tt_score_infer(struct tt_launch *launch);
tt_status tt_score_validate(struct tt_launch *launch);
struct tt_score_request {
	struct tt_tensor *q, *k;
	struct ttnn_value axes, cyclic, ring;
	int64_t start, stripes;
	bool gated; /* weights are learnt */
};
tt_status tt_score_bind(struct ttnn_value attrs[tt_score_schema_count], struct tt_call *call,
			const struct tt_score_request *request);

/* The buffers of the cores that compute, which are on so many columns at most and read so many numbers of the device. */
tt_status tt_score_rows(struct tt_plan *plan, const struct tt_launch *launch, uint64_t columns,
			uint64_t numbers);

/* What the cache key has of attributes and inputs. */
void tt_score_key(struct tt_key *key, const struct tt_launch *launch);

/* What a ring asks for besides (indexer_ring.c). */
tt_status tt_score_check_ring(const struct tt_launch *launch);

/* The kernel of one chip (indexer_rows.c); that of a ring, which runs once for all. */
tt_status tt_score_kernel(struct tt_launch *launch);
tt_status tt_score_ring_kernel(struct tt_launch *launch);

#endif
