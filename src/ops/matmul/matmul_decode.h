/*
 * matmul_decode.h: between matmul_decode.c, the program of products with weights in blocks, and matmul_decode_check.c, what it
 * refuses.
 */
#ifndef TT_OPS_MATMUL_MATMUL_DECODE_H
#define TT_OPS_MATMUL_MATMUL_DECODE_H

#include "ops/op.h"

enum { TT_DECODE_A, TT_DECODE_B }; /* inputs */

/* Attributes. */
enum {
	TT_DECODE_ROWS,
	TT_DECODE_COLS,
	TT_DECODE_INNER,
	TT_DECODE_MEMORY,
	TT_DECODE_DTYPE,
	TT_DECODE_PARTIAL,
	TT_DECODE_BATCH,
	TT_DECODE_B_BLOCKS,
	TT_DECODE_N_BLOCKS,
	TT_DECODE_ATTRS
};

/* An attribute that is a number. */
static inline uint32_t tt_decode_number(const struct tt_launch *launch, int attr)
{
	return (uint32_t)launch->attrs[attr].integer;
}

/* The shards of an input that has some. */
static inline const struct ttnn_shard_spec *tt_decode_shard(const struct tt_launch *launch,
							    int input)
{
	return &launch->inputs[input]->spec.memory.shard;
}

/* Whether b has the matrices of more than one batch. */
static inline bool tt_decode_is_batched(const struct tt_launch *launch)
{
	return launch->inputs[TT_DECODE_A]->spec.shape.rank == 4 &&
	       launch->attrs[TT_DECODE_BATCH].integer > 1;
}

/* Tiles of a along its rows. */
static inline uint32_t tt_decode_row_tiles(const struct tt_launch *launch)
{
	return (uint32_t)tt_div_up(tt_decode_number(launch, TT_DECODE_ROWS),
				   launch->inputs[TT_DECODE_A]->spec.tile.height);
}

/* For tt_prog.validate. */
tt_status tt_decode_validate(struct tt_launch *launch);

/* Refuses tiles that its factories do not take. */
tt_status tt_decode_check_tiles(const struct tt_launch *launch);

#endif
