/* untilize.h: what both ways from tiles to rows share. */
#ifndef TT_OPS_MOVEMENT_UNTILIZE_H
#define TT_OPS_MOVEMENT_UNTILIZE_H

#include "ops/op.h"

/* The dtype of the rows: block floats of 8 bits have none of their own. */
enum ttnn_dtype tt_untilized_dtype(enum ttnn_dtype dtype);

/* Whether a whole row of tiles fits into L1 beside what is there and the output to come. */
bool tt_untilize_has_space(struct tt_tensor *in, const struct ttnn_shape *shape,
			   const struct ttnn_memory_config *memory);

/* ND shards in tiles: how many are side by side, and rows of tiles of all shards of the fullest core. */
struct tt_nd_blocks {
	uint64_t across, down;
};
struct tt_nd_blocks tt_nd_blocks_of(const struct tt_tensor *tensor);

/* A buffer of tiles and one of rows, as many tiles in both; their names are those of the factory. */
tt_status tt_untilize_pair(struct tt_plan *plan, const struct tt_launch *launch,
			   const ttnn_core_set *cores, uint64_t tiles, const char *const names[2]);

/* The same for ND shards: twice as deep where a core has more than one row of tiles. */
tt_status tt_untilize_nd_pair(struct tt_plan *plan, const struct tt_launch *launch,
			      const char *const pair[2]);

/* ttnn::untilize_with_unpadding() up to and including the element `end`, in its own scope. */
struct tt_unpad_args {
	struct tt_tensor *in;
	const struct ttnn_shape *end;
	const struct ttnn_memory_config *memory; /* (optional) */
	const ttnn_core_set *cores;              /* (optional) */
	bool multicore;
};
tt_status tt_call_unpad(struct tt_tensor **out, struct tt_call *call,
			const struct tt_unpad_args *args);

/* Buffers of the factories that work in blocks of tiles, over these cores in this order. */
tt_status tt_untilize_blocks(struct tt_plan *plan, const struct tt_launch *launch,
			     const ttnn_core_set *cores, enum ttnn_orientation order);

#endif
