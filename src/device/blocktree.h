/*
 * blocktree.h: a region cut into blocks, free and taken ones, in the order of their addresses and
 * without gaps. The region's free list (device/freelist.h) is its only user.
 *
 * A B+ tree ordered by the first unit of each block, in which every entry also knows the largest
 * free block below it: the lowest and the highest free block of a size are found in O(log blocks).
 * Nodes lie in one array and refer to each other by index, so a copy is one memcpy. Nodes for the
 * worst case are reserved before a block is added (tt_blocktree_reserve), so no change of the tree
 * can fail half-way, and freeing never needs memory.
 */
#ifndef TT_DEVICE_BLOCKTREE_H
#define TT_DEVICE_BLOCKTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Every node but the root is at least half full: 2^32 blocks are never more levels than this. */
#define TT_BLOCKTREE_LEVELS 10

struct tt_blocktree_node;

/* All zero is an empty tree. */
struct tt_blocktree {
	struct tt_blocktree_node *nodes;
	uint32_t node_count, node_room;
	uint32_t spare; /* 1 + the first of the released nodes, which are linked; 0 for none */
	uint32_t root, leaf_level;
	uint32_t blocks;
};

/* The way from the root to one block. Valid until the tree changes. */
struct tt_blocktree_path {
	uint32_t node[TT_BLOCKTREE_LEVELS], at[TT_BLOCKTREE_LEVELS];
};

struct tt_blocktree_entry {
	uint32_t start;
	uint32_t room; /* units when free, 0 when taken */
	uint32_t tag;
};

/* Nodes enough for so many blocks. */
tt_status tt_blocktree_reserve(struct tt_blocktree *tree, uint64_t blocks);

/* One free block; the tree is empty, and nodes for a block are reserved. */
void tt_blocktree_start(struct tt_blocktree *tree, uint32_t units);

void tt_blocktree_deinit(struct tt_blocktree *tree);

/* Makes to equal from and able to grow by two blocks; to's memory is used again. */
tt_status tt_blocktree_copy(struct tt_blocktree *to, const struct tt_blocktree *from);

/* The largest free block, in units. */
uint32_t tt_blocktree_largest(const struct tt_blocktree *tree);

/* The lowest, or highest, free block of at least `units`; false when there is none. */
bool tt_blocktree_find_room(struct tt_blocktree_path *path, const struct tt_blocktree *tree,
			    uint32_t units, bool highest);

/* The block that holds this unit, which must lie in the region. */
void tt_blocktree_find_unit(struct tt_blocktree_path *path, const struct tt_blocktree *tree,
			    uint32_t unit);

/* To the neighbour in the order of addresses; false at the end of the region. */
bool tt_blocktree_step(struct tt_blocktree_path *path, const struct tt_blocktree *tree,
		       bool forward);

struct tt_blocktree_entry tt_blocktree_at(const struct tt_blocktree *tree,
					  const struct tt_blocktree_path *path);

/*
 * Takes `units` of the free block at path, `offset` units behind its start. Nodes for two blocks
 * more are reserved. path is no longer valid.
 */
void tt_blocktree_take(struct tt_blocktree *tree, struct tt_blocktree_path *path, uint32_t offset,
		       uint32_t units, uint32_t tag);

/* Frees the taken block at path, of `units`, and merges it with free neighbours; path as above. */
void tt_blocktree_free(struct tt_blocktree *tree, const struct tt_blocktree_path *path,
		       uint32_t units);

#endif
