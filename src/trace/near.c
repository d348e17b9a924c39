#include "trace/near.h"

#include <string.h>

#include "base/mem.h"

static struct tt_near_block *block_at(const struct tt_near *near, size_t number)
{
	return &near->blocks[number & (near->room - 1)];
}

/* Twice the room: each block gets its place by its number. */
static bool grow(struct tt_near *near)
{
	size_t room = near->room ? 2 * near->room : 4;
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
	block = block_at(near, number);
	if (block->told.count == block->told.room && !TT_VEC_RESERVE(&block->told, 1))
		return false;
	block->told.data[block->told.count++] = (struct tt_near_edge){from, to};
	return true;
}

bool tt_near_take(struct tt_near_block *out, struct tt_near *near)
{
	struct tt_near_block other = *out;

	if (!near->room && !grow(near))
		return false;
	*out = *block_at(near, near->first);
	other.told.count = 0;
	*block_at(near, near->first++) = other;
	return true;
}

bool tt_near_sort(struct tt_near_block *block)
{
	uint32_t sum = 0, *ends = block->ends;

	block->targets.count = 0;
	if (!TT_VEC_RESERVE(&block->targets, block->told.count + 1))
		return false;
	memset(ends, 0, sizeof(block->ends));
	for (size_t i = 0; i < block->told.count; i++)
		ends[block->told.data[i].from % TT_NEAR_BLOCK]++;
	for (size_t i = 0; i < TT_NEAR_BLOCK; i++) {
		uint32_t more = ends[i];

		ends[i] = sum;
		sum += more;
	}
	/* Now there is where those of a node begin; it moves on to where they end. */
	for (size_t i = 0; i < block->told.count; i++)
		block->targets.data[ends[block->told.data[i].from % TT_NEAR_BLOCK]++] =
			block->told.data[i].to;
	return true;
}

void tt_near_clear(struct tt_near *near)
{
	for (size_t i = 0; i < near->room; i++)
		near->blocks[i].told.count = 0;
	near->first = 0;
}

void tt_near_block_deinit(struct tt_near_block *block)
{
	TT_VEC_DEINIT(&block->told);
	TT_VEC_DEINIT(&block->targets);
}

void tt_near_deinit(struct tt_near *near)
{
	for (size_t i = 0; i < near->room; i++)
		tt_near_block_deinit(&near->blocks[i]);
	tt_free(near->blocks);
	*near = (struct tt_near){0};
}
