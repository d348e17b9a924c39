/*
 * near.h: edges between nodes that are near one another, as most are, in the order in which they are told: for who reads
 * those of a block of nodes when all of them are there, so that only far ones have to be sorted aside (base/spill.h).
 *
 * An edge is near if it is told before the second block behind that of its node is begun. So those of a block are
 * complete when the third block behind it is.
 */
#ifndef TT_TRACE_NEAR_H
#define TT_TRACE_NEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nodes of a block. */
#define TT_NEAR_BLOCK 512

struct tt_near_block;

/* All zero is a valid empty one. */
struct tt_near {
	struct tt_near_block *blocks; /* a ring */
	size_t room, first,
		count; /* blocks that it has room for; the number of the first; how many */
};

/* Whether an edge from this node is near when there are so many nodes, of which it is one. */
static inline bool tt_near_is(uint32_t from, uint32_t nodes)
{
	return (nodes - 1) / TT_NEAR_BLOCK - from / TT_NEAR_BLOCK <= 1;
}

/* Tells a near edge; false when memory is exhausted. */
bool tt_near_add(struct tt_near *near, uint32_t from, uint32_t to);

/*
 * The near edges of a node, until the next call; false when memory is exhausted. Nodes are asked for in ascending order,
 * once their blocks are complete.
 */
bool tt_near_of(const uint32_t **out, size_t *count, struct tt_near *near, uint32_t node);

/* Forgets all; begins anew. */
void tt_near_clear(struct tt_near *near);
void tt_near_deinit(struct tt_near *near);

#endif
