#include "device/blocktree.h"

#include <string.h>

#include "base/mem.h"

/* Measured: fewer make more levels, more make longer scans. */
#define FAN 24
#define HALF (FAN / 2)
#define LEVELS TT_BLOCKTREE_LEVELS

struct tt_blocktree_node {
	uint32_t count;
	uint32_t start[FAN]; /* first unit of the block, or of the first block below */
	uint32_t room[FAN];  /* units of a free block, 0 of a taken one, or the largest below */
	uint32_t link[FAN];  /* in a leaf the tag, else the child; link[0] chains spare nodes */
};

/* ---- nodes --------------------------------------------------------------------------------- */

/* Nodes that a tree of so many blocks can need: half full ones on every level, and the root. */
static uint64_t nodes_for(uint64_t blocks)
{
	return blocks / (HALF - 1) + LEVELS;
}

tt_status tt_blocktree_reserve(struct tt_blocktree *tree, uint64_t blocks)
{
	uint64_t want = nodes_for(blocks);
	struct tt_blocktree_node *moved;

	if (want <= tree->node_room)
		return TTNN_OK;
	want += want / 2;
	if (want > UINT32_MAX || want > SIZE_MAX / sizeof(*moved))
		return tt_fail_nomem();
	moved = tt_realloc(tree->nodes, (size_t)want * sizeof(*moved));
	if (!moved)
		return tt_fail_nomem();
	tree->nodes = moved;
	tree->node_room = (uint32_t)want;
	return TTNN_OK;
}

static uint32_t node_new(struct tt_blocktree *tree)
{
	uint32_t index = tree->spare ? tree->spare - 1 : tree->node_count++;

	if (tree->spare)
		tree->spare = tree->nodes[index].link[0];
	tree->nodes[index].count = 0;
	return index;
}

static void node_release(struct tt_blocktree *tree, uint32_t index)
{
	tree->nodes[index].link[0] = tree->spare;
	tree->spare = index + 1;
}

static uint32_t node_largest(const struct tt_blocktree_node *node)
{
	uint32_t largest = 0;

	for (uint32_t i = 0; i < node->count; i++)
		largest = node->room[i] > largest ? node->room[i] : largest;
	return largest;
}

/* Both may be in the same node and overlap. */
static void entries_move(struct tt_blocktree_node *to, uint32_t to_at,
			 const struct tt_blocktree_node *from, uint32_t from_at, uint32_t count)
{
	size_t bytes = count * sizeof(uint32_t);

	memmove(to->start + to_at, from->start + from_at, bytes);
	memmove(to->room + to_at, from->room + from_at, bytes);
	memmove(to->link + to_at, from->link + from_at, bytes);
}

static void entry_insert(struct tt_blocktree_node *node, uint32_t at, uint32_t start, uint32_t room,
			 uint32_t link)
{
	entries_move(node, at + 1, node, at, node->count - at);
	node->start[at] = start;
	node->room[at] = room;
	node->link[at] = link;
	node->count++;
}

static void entry_remove(struct tt_blocktree_node *node, uint32_t at)
{
	node->count--;
	entries_move(node, at, node, at + 1, node->count - at);
}

/* ---- trees --------------------------------------------------------------------------------- */

void tt_blocktree_start(struct tt_blocktree *tree, uint32_t units)
{
	tree->root = node_new(tree);
	entry_insert(&tree->nodes[tree->root], 0, 0, units, 0);
	tree->blocks = 1;
}

void tt_blocktree_deinit(struct tt_blocktree *tree)
{
	tt_free(tree->nodes);
	*tree = (struct tt_blocktree){0};
}

tt_status tt_blocktree_copy(struct tt_blocktree *to, const struct tt_blocktree *from)
{
	uint64_t room = nodes_for((uint64_t)from->blocks + 2);
	struct tt_blocktree_node *nodes = to->nodes;

	room = room < from->node_count ? from->node_count : room;
	if (from->blocks && room > to->node_room) {
		/* Not realloc: the old content need not be kept. */
		nodes = tt_alloc((size_t)room * sizeof(*nodes));
		if (!nodes)
			return tt_fail_nomem();
		tt_free(to->nodes);
		to->nodes = nodes;
		to->node_room = (uint32_t)room;
	}
	if (from->blocks)
		memcpy(nodes, from->nodes, from->node_count * sizeof(*nodes));
	to->node_count = from->node_count;
	to->spare = from->spare;
	to->root = from->root;
	to->leaf_level = from->leaf_level;
	to->blocks = from->blocks;
	return TTNN_OK;
}

uint32_t tt_blocktree_largest(const struct tt_blocktree *tree)
{
	return tree->blocks ? node_largest(&tree->nodes[tree->root]) : 0;
}

/* ---- finding ------------------------------------------------------------------------------- */

/* The first, or last, entry with room for `units`; UINT32_MAX when there is none. */
static uint32_t entry_with_room(const struct tt_blocktree_node *node, uint32_t units, bool last)
{
	if (last) {
		for (uint32_t i = node->count; i-- > 0;)
			if (node->room[i] >= units)
				return i;
	} else {
		for (uint32_t i = 0; i < node->count; i++)
			if (node->room[i] >= units)
				return i;
	}
	return UINT32_MAX;
}

bool tt_blocktree_find_room(struct tt_blocktree_path *path, const struct tt_blocktree *tree,
			    uint32_t units, bool highest)
{
	uint32_t index = tree->root;

	for (uint32_t level = 0; level <= tree->leaf_level; level++) {
		uint32_t at = entry_with_room(&tree->nodes[index], units, highest);

		if (at == UINT32_MAX)
			return false;
		path->node[level] = index;
		path->at[level] = at;
		index = tree->nodes[index].link[at];
	}
	return true;
}

void tt_blocktree_find_unit(struct tt_blocktree_path *path, const struct tt_blocktree *tree,
			    uint32_t unit)
{
	uint32_t index = tree->root;

	for (uint32_t level = 0; level <= tree->leaf_level; level++) {
		const struct tt_blocktree_node *node = &tree->nodes[index];
		uint32_t low = 0;

		for (uint32_t count = node->count; count > 1;) {
			uint32_t half = count / 2;

			low += node->start[low + half] <= unit ? half : 0;
			count -= half;
		}
		path->node[level] = index;
		path->at[level] = low;
		index = node->link[low];
	}
}

bool tt_blocktree_step(struct tt_blocktree_path *path, const struct tt_blocktree *tree,
		       bool forward)
{
	uint32_t level = tree->leaf_level;

	while (path->at[level] == (forward ? tree->nodes[path->node[level]].count - 1 : 0))
		if (level-- == 0)
			return false;
	path->at[level] += forward ? 1 : UINT32_MAX;
	for (; level < tree->leaf_level; level++) {
		uint32_t child = tree->nodes[path->node[level]].link[path->at[level]];

		path->node[level + 1] = child;
		path->at[level + 1] = forward ? 0 : tree->nodes[child].count - 1;
	}
	return true;
}

static struct tt_blocktree_node *leaf_of(const struct tt_blocktree *tree,
					 const struct tt_blocktree_path *path)
{
	return &tree->nodes[path->node[tree->leaf_level]];
}

struct tt_blocktree_entry tt_blocktree_at(const struct tt_blocktree *tree,
					  const struct tt_blocktree_path *path)
{
	const struct tt_blocktree_node *leaf = leaf_of(tree, path);
	uint32_t at = path->at[tree->leaf_level];

	return (struct tt_blocktree_entry){leaf->start[at], leaf->room[at], leaf->link[at]};
}

/* ---- changing ------------------------------------------------------------------------------ */

/*
 * Tells the parents of the node at `level` that its first block may have changed and that an entry
 * with `old` room now has `now`. Room is looked for in all entries only when the largest shrank.
 */
static void refresh(struct tt_blocktree *tree, const struct tt_blocktree_path *path, uint32_t level,
		    uint32_t old, uint32_t now)
{
	for (; level > 0; level--) {
		const struct tt_blocktree_node *node = &tree->nodes[path->node[level]];
		struct tt_blocktree_node *parent = &tree->nodes[path->node[level - 1]];
		uint32_t at = path->at[level - 1], known = parent->room[at];

		if (now < known)
			now = old < known ? known : node_largest(node);
		if (parent->start[at] == node->start[0] && known == now)
			return;
		parent->start[at] = node->start[0];
		parent->room[at] = now;
		old = known;
	}
}

static void set_entry(struct tt_blocktree *tree, const struct tt_blocktree_path *path,
		      uint32_t room, uint32_t tag)
{
	struct tt_blocktree_node *leaf = leaf_of(tree, path);
	uint32_t at = path->at[tree->leaf_level], old = leaf->room[at];

	leaf->room[at] = room;
	leaf->link[at] = tag;
	refresh(tree, path, tree->leaf_level, old, room);
}

/* A new root above the old one; the path gets a level more. */
static void grow(struct tt_blocktree *tree, struct tt_blocktree_path *path)
{
	const struct tt_blocktree_node *old = &tree->nodes[tree->root];
	uint32_t root = node_new(tree);

	entry_insert(&tree->nodes[root], 0, old->start[0], node_largest(old), tree->root);
	memmove(path->node + 1, path->node, (LEVELS - 1) * sizeof(path->node[0]));
	memmove(path->at + 1, path->at, (LEVELS - 1) * sizeof(path->at[0]));
	path->node[0] = root;
	path->at[0] = 0;
	tree->root = root;
	tree->leaf_level++;
}

/* Halves the full node at a level > 0 whose parent has room; the path stays on its entry. */
static void split(struct tt_blocktree *tree, struct tt_blocktree_path *path, uint32_t level)
{
	uint32_t right_index = node_new(tree);
	struct tt_blocktree_node *left = &tree->nodes[path->node[level]];
	struct tt_blocktree_node *right = &tree->nodes[right_index];
	struct tt_blocktree_node *parent = &tree->nodes[path->node[level - 1]];
	uint32_t at = path->at[level - 1];

	entries_move(right, 0, left, HALF, FAN - HALF);
	left->count = HALF;
	right->count = FAN - HALF;
	parent->room[at] = node_largest(left);
	entry_insert(parent, at + 1, right->start[0], node_largest(right), right_index);
	if (path->at[level] >= HALF) {
		path->node[level] = right_index;
		path->at[level] -= HALF;
		path->at[level - 1]++;
	}
}

/* Adds a block behind the one at path and moves path to it. */
static void insert_behind(struct tt_blocktree *tree, struct tt_blocktree_path *path, uint32_t start,
			  uint32_t room, uint32_t tag)
{
	if (leaf_of(tree, path)->count == FAN) {
		if (tree->nodes[tree->root].count == FAN)
			grow(tree, path);
		for (uint32_t level = 1; level <= tree->leaf_level; level++)
			if (tree->nodes[path->node[level]].count == FAN)
				split(tree, path, level);
	}
	path->at[tree->leaf_level]++;
	entry_insert(leaf_of(tree, path), path->at[tree->leaf_level], start, room, tag);
	tree->blocks++;
	refresh(tree, path, tree->leaf_level, 0, room);
}

/* Gives a node below half at a level > 0 entries of its neighbour, or joins the two. */
static void rebalance(struct tt_blocktree *tree, const struct tt_blocktree_path *path,
		      uint32_t level)
{
	struct tt_blocktree_node *parent = &tree->nodes[path->node[level - 1]];
	uint32_t at = path->at[level - 1] ? path->at[level - 1] - 1 : 0;
	struct tt_blocktree_node *left = &tree->nodes[parent->link[at]];
	struct tt_blocktree_node *right = &tree->nodes[parent->link[at + 1]];
	uint32_t total = left->count + right->count;
	uint32_t want = total <= FAN ? total : total / 2;

	if (want >= left->count) {
		uint32_t moved = want - left->count;

		entries_move(left, left->count, right, 0, moved);
		entries_move(right, 0, right, moved, right->count - moved);
	} else {
		uint32_t moved = left->count - want;

		entries_move(right, moved, right, 0, right->count);
		entries_move(right, 0, left, want, moved);
	}
	left->count = want;
	right->count = total - want;
	parent->start[at] = left->start[0];
	parent->room[at] = node_largest(left);
	if (right->count) {
		parent->start[at + 1] = right->start[0];
		parent->room[at + 1] = node_largest(right);
	} else {
		node_release(tree, parent->link[at + 1]);
		entry_remove(parent, at + 1);
	}
}

static void remove_block(struct tt_blocktree *tree, const struct tt_blocktree_path *path)
{
	uint32_t level = tree->leaf_level;

	entry_remove(leaf_of(tree, path), path->at[level]);
	tree->blocks--;
	for (; level > 0 && tree->nodes[path->node[level]].count < HALF; level--)
		rebalance(tree, path, level);
	refresh(tree, path, level, UINT32_MAX, 0);
	if (tree->leaf_level && tree->nodes[tree->root].count == 1) {
		uint32_t old = tree->root;

		tree->root = tree->nodes[old].link[0];
		tree->leaf_level--;
		node_release(tree, old);
	}
}

/* ---- taking and freeing -------------------------------------------------------------------- */

void tt_blocktree_take(struct tt_blocktree *tree, struct tt_blocktree_path *path, uint32_t offset,
		       uint32_t units, uint32_t tag)
{
	struct tt_blocktree_entry block = tt_blocktree_at(tree, path);
	uint32_t start = block.start + offset;
	uint32_t behind = block.room - offset - units;

	if (offset) {
		set_entry(tree, path, offset, 0);
		insert_behind(tree, path, start, 0, tag);
	} else {
		set_entry(tree, path, 0, tag);
	}
	if (behind)
		insert_behind(tree, path, start + units, behind, 0);
}

/* The common case: both neighbours are in the same leaf, and it stays half full. */
static bool free_in_leaf(struct tt_blocktree *tree, const struct tt_blocktree_path *path)
{
	struct tt_blocktree_node *leaf = leaf_of(tree, path);
	uint32_t at = path->at[tree->leaf_level], merged = 0;

	if (at == 0 || at + 1 >= leaf->count || leaf->count < HALF + 2)
		return false;
	leaf->room[at] = leaf->start[at + 1] - leaf->start[at];
	leaf->link[at] = 0;
	if (leaf->room[at + 1]) {
		leaf->room[at] += leaf->room[at + 1];
		merged++;
	}
	if (leaf->room[at - 1]) {
		leaf->room[at - 1] += leaf->room[at];
		merged++;
		at--;
	}
	leaf->count -= merged;
	entries_move(leaf, at + 1, leaf, at + 1 + merged, leaf->count - at - 1);
	tree->blocks -= merged;
	refresh(tree, path, tree->leaf_level, 0, leaf->room[at]);
	return true;
}

void tt_blocktree_free(struct tt_blocktree *tree, const struct tt_blocktree_path *path,
		       uint32_t units)
{
	uint32_t start = tt_blocktree_at(tree, path).start, first = start, behind = 0;
	struct tt_blocktree_path near = *path;

	if (free_in_leaf(tree, path))
		return;
	if (tt_blocktree_step(&near, tree, true))
		behind = tt_blocktree_at(tree, &near).room;
	near = *path;
	if (tt_blocktree_step(&near, tree, false) && tt_blocktree_at(tree, &near).room)
		first = tt_blocktree_at(tree, &near).start;
	/* Each removal may move blocks between nodes, so the next one is looked up again. */
	if (behind) {
		tt_blocktree_find_unit(&near, tree, start + units);
		remove_block(tree, &near);
	}
	if (first != start) {
		tt_blocktree_find_unit(&near, tree, start);
		remove_block(tree, &near);
	}
	tt_blocktree_find_unit(&near, tree, first);
	set_entry(tree, &near, start + units + behind - first, 0);
}
