/*
 * near.h: edges between nodes that are near one another, as most are, in the order in which they are told: for who reads
 * those of a block of nodes when all of them are there, so that only far ones have to be sorted aside (base/spill.h).
 *
 * An edge is near if it is told before the second block behind that of its node is begun. So those of a block are
 * complete when the third block behind it is. A block that was taken is another thread's, if it likes.
 */
#ifndef TT_TRACE_NEAR_H
#define TT_TRACE_NEAR_H

#include <stdint.h>

#include "base/vec.h"

/* Nodes of a block. */
#define TT_NEAR_BLOCK 512

struct tt_near_edge {
	uint32_t from, to;
};

/* The near edges of a block. All zero is one that has none. */
struct tt_near_block {
	TT_VEC(struct tt_near_edge) told;
	/* By their nodes, in the order in which they were told: where those of each end. */
	TT_VEC(uint32_t) targets;
	uint32_t ends[TT_NEAR_BLOCK];
};

/* Blocks that are not taken yet. All zero is a valid empty one. */
struct tt_near {
	struct tt_near_block *blocks; /* a ring */
	size_t room, first;           /* blocks that it has room for; the number of the first */
};

/* Whether an edge from this node is near when there are so many nodes, of which it is one. */
static inline bool tt_near_is(uint32_t from, uint32_t nodes)
{
	return (nodes - 1) / TT_NEAR_BLOCK - from / TT_NEAR_BLOCK <= 1;
}

/* Tells a near edge, of a block that was not taken; false when memory is exhausted. */
bool tt_near_add(struct tt_near *near, uint32_t from, uint32_t to);

/* Takes the first block that was not taken, in exchange for another, which is emptied. False when memory is exhausted. */
bool tt_near_take(struct tt_near_block *out, struct tt_near *near);

/* Sorts a block by its nodes; false when memory is exhausted. */
bool tt_near_sort(struct tt_near_block *block);

/* The edges of the n-th node of a sorted block. */
static inline const uint32_t *tt_near_of(size_t *count, const struct tt_near_block *block, size_t n)
{
	uint32_t from = n ? block->ends[n - 1] : 0;

	*count = block->ends[n] - from;
	return *count ? &block->targets.data[from] : NULL;
}

/* Forgets all; begins anew. */
void tt_near_clear(struct tt_near *near);

void tt_near_block_deinit(struct tt_near_block *block);
void tt_near_deinit(struct tt_near *near);

#endif
