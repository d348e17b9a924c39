/* attention_ring.h: between the files of attention on rings of chips. */
#ifndef TT_OPS_ATTENTION_ATTENTION_RING_H
#define TT_OPS_ATTENTION_ATTENTION_RING_H

#include "backend/backend.h"
#include "ops/attention/attention.h"
#include "ops/cost.h"

#define TT_RING_ATTRS(X)                                                                           \
	X(TT_RING_STRATEGY, "joint_strategy")                                                      \
	X(TT_RING_SCALE, "scale")                                                                  \
	X(TT_RING_CAUSAL, "is_causal")                                                             \
	X(TT_RING_BALANCED, "is_balanced")                                                         \
	X(TT_RING_CROSS, "is_cross")                                                               \
	X(TT_RING_ROWS, "logical_n")                                                               \
	X(TT_RING_JOINT_ROWS, "logical_l")                                                         \
	X(TT_RING_SIZE, "ring_size")                                                               \
	X(TT_RING_COMPUTE, "compute_kernel_config")                                                \
	X(TT_RING_CONFIG, "program_config")                                                        \
	X(TT_RING_OFFSET, "ccl_core_grid_offset")                                                  \
	X(TT_RING_SLOT, "kv_cache_batch_idx", .unkeyed = true)                                     \
	X(TT_RING_BEFORE, "kv_actual_isl", .unkeyed = true)                                        \
	X(TT_RING_LATENT, "latent_v_head_dim")                                                     \
	X(TT_RING_WINDOW, "sliding_window_size")                                                   \
	X(TT_RING_LAYERS, "kv_cache_num_layers")                                                   \
	X(TT_RING_LAYER, "kv_cache_layer_idx")                                                     \
	X(TT_RING_DIM, "dim")                                                                      \
	X(TT_RING_SEMAPHORES, "multi_device_global_semaphore")                                     \
	X(TT_RING_LINKS, "num_links")                                                              \
	X(TT_RING_AXIS, "cluster_axis")                                                            \
	X(TT_RING_COLUMNS, "use_column_major_ccl")
enum { TT_RING_ATTRS(TT_ATTR_ID) TT_RING_ATTR_COUNT };

/* Tiles that hold the edges of a window. */
#define TT_RING_EDGES 4

enum {
	TT_RING_Q,
	TT_RING_K,
	TT_RING_V,
	TT_RING_JOINT_Q,
	TT_RING_JOINT_K,
	TT_RING_JOINT_V,
	TT_RING_GATHERED_K,
	TT_RING_GATHERED_V,
	TT_RING_SINK,
	TT_RING_GATHERED_JOINT_K,
	TT_RING_GATHERED_JOINT_V,
	TT_RING_INPUTS
};

/* The spec of an input, or NULL; one of its dimensions, or 0. */
const struct ttnn_tensor_spec *tt_ring_spec(const struct tt_launch *launch, int input);
uint32_t tt_ring_dim(const struct tt_launch *launch, int input, int dim);

/* An attribute that is true; one that is a number, else 0; one that is there. */
bool tt_ring_flag(const struct tt_launch *launch, int attr);
uint64_t tt_ring_number(const struct tt_launch *launch, int attr);
bool tt_ring_given(const struct tt_launch *launch, int attr);

/* The batch of the cache that is meant. */
uint64_t tt_ring_slot(const struct tt_launch *launch);

/* Rows of a chunk; columns of values: their own, or the first ones of the keys. */
uint64_t tt_ring_chunk(const struct tt_launch *launch, int field);
uint32_t tt_ring_width(const struct tt_launch *launch);

/* The rows before a chip's own that a window reaches, in whole chunks of keys. */
uint64_t tt_ring_halo(const struct tt_launch *launch);

/* A chip has fewer queries than keys: the last part of a sequence, or another one's. */
bool tt_ring_chunked(const struct tt_launch *launch);

tt_status tt_ring_check(struct tt_launch *launch);
tt_status tt_ring_check_kinds(const struct tt_launch *launch);
tt_status tt_ring_check_window(const struct tt_launch *launch);

/* Rows that follow each other: from `at` on in the queries, `to` in the result, `place` in the sequence. */
struct tt_ring_part {
	uint64_t at, to, rows, place;
};

/* The job for the queries of a part. */
tt_status tt_ring_attend(struct tt_tensor *out, struct tt_tensor *q,
			 const struct tt_ring_part *part, struct tt_attention_job job);

/* Specs of the outputs; what it costs; the height and width of the largest block of tiles that the matrix engine holds. */
tt_status tt_ring_infer(struct tt_launch *launch);
void tt_ring_cost(struct tt_cost *cost, const struct tt_launch *launch);
void tt_ring_block(uint64_t out[2], const uint64_t size[2], uint64_t most, const uint64_t limit[2]);

/* The kernel, which runs once for all chips. */
tt_status tt_ring_run(struct tt_launch *launch);

#endif
