/*
 * reduce_combine.h: what experts made of their tokens being sent back, which moe_compute does as its last part: the attributes, which
 * it tells among its own, and what both refuse.
 */
#ifndef TT_OPS_COLLECTIVE_REDUCE_COMBINE_H
#define TT_OPS_COLLECTIVE_REDUCE_COMBINE_H

#include "ops/op.h"

#define TT_REDUCE_COMBINE_ATTRS(X)                                                                 \
	X(WIDTH, "hidden_size")                                                                    \
	X(BATCH, "batch_size")                                                                     \
	X(SEQUENCE, "seq_size")                                                                    \
	X(CHOICES, "select_experts_k")                                                             \
	X(LINKS, "num_links")                                                                      \
	X(AXIS, "axis")                                                                            \
	X(TOPOLOGY, "topology")                                                                    \
	X(TOKEN_CORES, "num_token_parallel_cores")                                                 \
	X(DATA_CORES, "num_data_parallel_cores")                                                   \
	X(WORKERS, "worker_cores", .text = TT_TEXT_EACH, .fixed = "<xy_pair>")                     \
	X(MUX, "mux_core_range_set", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>")            \
	X(MEMORY, "output_memory_config")                                                          \
	X(SIGNAL, "optional_cross_device_semaphore", .text = TT_TEXT_FIXED,                        \
	  .fixed = "<GlobalSemaphore>", .unkeyed = true)                                           \
	X(LOCAL, "local_combine")

#define TT_COMBINE_CLIENT_BYTES 3280 /* what a chip tells its fabric, for each of three headers */
#define TT_COMBINE_COUNT_WORDS                                                                     \
	3 /* of each expert behind its tokens' number: where they begin, how many, where they are found */

/* A token is cut into so many pieces of so many bytes, each on a core. */
struct tt_combine_cut {
	uint64_t piece, pieces;
};

/* No piece is larger than a packet, of numbers of two bytes (`even`) a power of two. Refuses a token that needs more cores. */
tt_status tt_combine_cut_find(struct tt_combine_cut *out, uint64_t bytes, uint64_t cores,
			      bool even);

/*
 * Cores that pass on what workers send: one for each link and neighbour, with memory that nobody allocates. `params` are the
 * attributes. Refuses where there are too few or where they work themselves.
 */
tt_status tt_combine_check_mux(struct tt_plan *plan, const struct tt_launch *launch,
			       const struct ttnn_value *params, const ttnn_core_set *workers);

#endif
