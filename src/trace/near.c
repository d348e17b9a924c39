#include "trace/near.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

struct edge {
	uint32_t from, to;
};

struct tt_near_block {
	TT_VEC(struct edge) told;
	bool sorted;
	/* By their nodes, in the order in which they were told: where those of each end. */
	TT_VEC(uint32_t) targets;
	uint32_t ends[TT_NEAR_BLOCK + 1];
};

static struct tt_near_block *block_at(const struct tt_near *near, size_t number)
{
	return &near->blocks[number & (near->room - 1)];
}

static void clear_block(struct tt_near_block *block)
{
	block->told.count = 0;
	block->sorted = false;
}

/* Twice the room: each block gets its place by its number. */
static bool grow(struct tt_near *near)
{
	size_t room = near->room ? 2 * near->room : 8;
	struct tt_near_block *blocks = tt_calloc(room, sizeof(*blocks));

	if (!blocks)
		return false;
	for (size_t i = near->first; i < near->first + near->room; i++)
		blocks[i & (room - 1)] = *block_at(near, i);
	tt_free(near->blocks);
	near->blocks = blocks;
	near->room = room;
	return true;
}

bool tt_near_add(struct tt_near *near, uint32_t from, uint32_t to)
{
	size_t number = from / TT_NEAR_BLOCK;
	struct tt_near_block *block;

	while (number >= near->first + near->room)
		if (!grow(near))
			return false;
	if (number >= near->first + near->count)
		near->count = number - near->first + 1;
	block = block_at(near, number);
	if (block->told.count == block->told.room && !TT_VEC_RESERVE(&block->told, 1))
		return false;
	block->told.data[block->told.count++] = (struct edge){from, to};
	return true;
}

static bool sort(struct tt_near_block *block)
{
	uint32_t sum = 0, *ends = block->ends;

	block->targets.count = 0;
	if (!TT_VEC_RESERVE(&block->targets, block->told.count + 1))
		return false;
	memset(ends, 0, sizeof(block->ends));
	for (size_t i = 0; i < block->told.count; i++)
		ends[block->told.data[i].from % TT_NEAR_BLOCK + 1]++;
	for (size_t i = 0; i <= TT_NEAR_BLOCK; i++) {
		sum += ends[i];
		ends[i] = sum;
	}
	/* What is at a node's place now is where it begins: it ends where it comes to lie. */
	for (size_t i = 0; i < block->told.count; i++)
		block->targets.data[ends[block->told.data[i].from % TT_NEAR_BLOCK]++] =
			block->told.data[i].to;
	block->sorted = true;
	return true;
}

bool tt_near_of(const uint32_t **out, size_t *count, struct tt_near *near, uint32_t node)
{
	size_t number = node / TT_NEAR_BLOCK, at = node % TT_NEAR_BLOCK, from;
	struct tt_near_block *block;

	*out = NULL;
	*count = 0;
	for (; near->first < number; near->first++)
		if (near->count) {
			clear_block(block_at(near, near->first));
			near->count--;
		}
	if (!near->count)
		return true;
	block = block_at(near, number);
	if (!block->sorted && !sort(block))
		return false;
	from = at ? block->ends[at - 1] : 0;
	*count = block->ends[at] - from;
	*out = block->targets.data + from;
	return true;
}

void tt_near_clear(struct tt_near *near)
{
	for (size_t i = 0; i < near->room; i++)
		clear_block(&near->blocks[i]);
	near->first = near->count = 0;
}

void tt_near_deinit(struct tt_near *near)
{
	for (size_t i = 0; i < near->room; i++) {
		TT_VEC_DEINIT(&near->blocks[i].told);
		TT_VEC_DEINIT(&near->blocks[i].targets);
	}
	tt_free(near->blocks);
	*near = (struct tt_near){0};
}
