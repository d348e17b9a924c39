#include "device/freelist.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

/* ---- regions ------------------------------------------------------------------------------- */

tt_status tt_freelist_init(struct tt_freelist *list, uint64_t base, uint64_t size, uint64_t granule)
{
	*list = (struct tt_freelist){.base = base, .granule = granule};
	if (!granule || size % granule != 0)
		return tt_fail(TTNN_INVALID,
			       "a memory region of %" PRIu64
			       " bytes is no multiple of its granule, %" PRIu64,
			       size, granule);
	if (size / granule > UINT32_MAX || base > UINT64_MAX - size)
		return tt_fail(TTNN_INVALID,
			       "a memory region of %" PRIu64 " bytes at %" PRIu64 " is too large",
			       size, base);
	if (!size)
		return TTNN_OK;
	TT_TRY(tt_blocktree_reserve(&list->tree, 1));
	list->units = (uint32_t)(size / granule);
	tt_blocktree_start(&list->tree, list->units);
	return TTNN_OK;
}

void tt_freelist_deinit(struct tt_freelist *list)
{
	tt_blocktree_deinit(&list->tree);
	TT_VEC_DEINIT(&list->undo);
	*list = (struct tt_freelist){0};
}

tt_status tt_freelist_copy(struct tt_freelist *to, const struct tt_freelist *from)
{
	TT_TRY(tt_blocktree_copy(&to->tree, &from->tree));
	to->base = from->base;
	to->granule = from->granule;
	to->units = from->units;
	to->taken_units = from->taken_units;
	to->taken_blocks = from->taken_blocks;
	to->undo.count = 0;
	to->marks = 0;
	return TTNN_OK;
}

/* ---- taking and releasing ------------------------------------------------------------------ */

/* What a request takes; false when it is more than the whole region. */
static bool whole_units(uint32_t *units, const struct tt_freelist *list, uint64_t size)
{
	uint64_t count;

	if (!list->units)
		return false;
	count = size / list->granule + (size % list->granule != 0);
	*units = count ? (uint32_t)count : 1;
	return count <= list->units;
}

/* The unit that starts at this address; false when none does. */
static bool unit_at(uint32_t *unit, const struct tt_freelist *list, uint64_t address)
{
	uint64_t offset = address - list->base;

	if (!list->units || address < list->base || offset % list->granule != 0 ||
	    offset / list->granule >= list->units)
		return false;
	*unit = (uint32_t)(offset / list->granule);
	return true;
}

static uint64_t address_of(const struct tt_freelist *list, uint32_t unit)
{
	return list->base + unit * list->granule;
}

/* Units of the block at path: up to where the next one starts. */
static uint32_t units_of(const struct tt_freelist *list, const struct tt_blocktree_path *path)
{
	struct tt_blocktree_path next = *path;
	uint32_t start = tt_blocktree_at(&list->tree, path).start;

	if (!tt_blocktree_step(&next, &list->tree, true))
		return list->units - start;
	return tt_blocktree_at(&list->tree, &next).start - start;
}

/*
 * Before a block is taken: nodes for it, and room to remember it and, later, the release of all
 * that is taken then. So releasing and rolling back need no memory.
 */
static tt_status reserve(struct tt_freelist *list)
{
	TT_TRY(tt_blocktree_reserve(&list->tree, (uint64_t)list->tree.blocks + 2));
	if (list->marks && !TT_VEC_RESERVE(&list->undo, (size_t)list->taken_blocks + 2))
		return tt_fail_nomem();
	return TTNN_OK;
}

static void take(struct tt_freelist *list, struct tt_blocktree_path *path,
		 const struct tt_freelist_undo *step)
{
	uint32_t offset = step->start - tt_blocktree_at(&list->tree, path).start;

	tt_blocktree_take(&list->tree, path, offset, step->units, step->tag);
	list->taken_units += step->units;
	list->taken_blocks++;
}

static void release(struct tt_freelist *list, const struct tt_blocktree_path *path, uint32_t units)
{
	tt_blocktree_free(&list->tree, path, units);
	list->taken_units -= units;
	list->taken_blocks--;
}

static void remember(struct tt_freelist *list, const struct tt_freelist_undo *step)
{
	if (list->marks)
		list->undo.data[list->undo.count++] = *step;
}

tt_status tt_freelist_take(uint64_t *address, struct tt_freelist *list, uint64_t size, bool top,
			   uint32_t tag)
{
	struct tt_freelist_undo step = {.tag = tag};
	struct tt_blocktree_path path;
	struct tt_blocktree_entry found;

	if (!whole_units(&step.units, list, size) ||
	    !tt_blocktree_find_room(&path, &list->tree, step.units, top))
		return TTNN_DEVICE_OOM;
	TT_TRY(reserve(list));
	found = tt_blocktree_at(&list->tree, &path);
	step.start = found.start + (top ? found.room - step.units : 0);
	take(list, &path, &step);
	remember(list, &step);
	*address = address_of(list, step.start);
	return TTNN_OK;
}

tt_status tt_freelist_take_at(struct tt_freelist *list, uint64_t address, uint64_t size,
			      uint32_t tag)
{
	struct tt_freelist_undo step = {.tag = tag};
	struct tt_blocktree_path path;
	struct tt_blocktree_entry found;

	if (!whole_units(&step.units, list, size) || !unit_at(&step.start, list, address))
		return TTNN_DEVICE_OOM;
	tt_blocktree_find_unit(&path, &list->tree, step.start);
	found = tt_blocktree_at(&list->tree, &path);
	if ((uint64_t)found.start + found.room < (uint64_t)step.start + step.units)
		return TTNN_DEVICE_OOM;
	TT_TRY(reserve(list));
	take(list, &path, &step);
	remember(list, &step);
	return TTNN_OK;
}

bool tt_freelist_release(struct tt_freelist *list, uint64_t address)
{
	struct tt_freelist_undo step = {.freed = true};
	struct tt_blocktree_path path;
	struct tt_blocktree_entry found;

	if (!unit_at(&step.start, list, address))
		return false;
	tt_blocktree_find_unit(&path, &list->tree, step.start);
	found = tt_blocktree_at(&list->tree, &path);
	if (found.start != step.start || found.room != 0)
		return false;
	step.tag = found.tag;
	step.units = units_of(list, &path);
	release(list, &path, step.units);
	remember(list, &step);
	return true;
}

/* ---- asking -------------------------------------------------------------------------------- */

bool tt_freelist_lowest(uint64_t *address, const struct tt_freelist *list)
{
	struct tt_blocktree_path path;

	if (!list->taken_blocks)
		return false;
	/* If the first block is free the second is taken, or they would be one. */
	tt_blocktree_find_unit(&path, &list->tree, 0);
	*address = address_of(list, tt_blocktree_at(&list->tree, &path).room);
	return true;
}

struct tt_freelist_stats tt_freelist_stats(const struct tt_freelist *list)
{
	return (struct tt_freelist_stats){
		.total = list->units * list->granule,
		.taken = list->taken_units * list->granule,
		.free = (list->units - list->taken_units) * list->granule,
		.largest_free = tt_blocktree_largest(&list->tree) * list->granule,
		.taken_blocks = list->taken_blocks,
		.free_blocks = list->tree.blocks - list->taken_blocks,
	};
}

bool tt_freelist_block(struct tt_freelist_block *out, const struct tt_freelist *list,
		       uint64_t address)
{
	struct tt_blocktree_path path;
	struct tt_blocktree_entry found;

	if (!list->units || address < list->base ||
	    (address - list->base) / list->granule >= list->units)
		return false;
	tt_blocktree_find_unit(&path, &list->tree,
			       (uint32_t)((address - list->base) / list->granule));
	found = tt_blocktree_at(&list->tree, &path);
	*out = (struct tt_freelist_block){
		.address = address_of(list, found.start),
		.size = units_of(list, &path) * list->granule,
		.taken = found.room == 0,
		.tag = found.tag,
	};
	return true;
}

size_t tt_freelist_holders(struct tt_freelist_block *out, size_t max,
			   const struct tt_freelist *list)
{
	struct tt_freelist_block block;
	uint64_t address = list->base;
	size_t count = 0;

	for (; tt_freelist_block(&block, list, address); address = block.address + block.size) {
		size_t at = count;

		if (!block.taken)
			continue;
		while (at > 0 && out[at - 1].size < block.size)
			at--;
		if (at == max)
			continue;
		count += count < max;
		memmove(out + at + 1, out + at, (count - 1 - at) * sizeof(*out));
		out[at] = block;
	}
	return count;
}

/* ---- undo ---------------------------------------------------------------------------------- */

tt_status tt_freelist_begin(size_t *mark, struct tt_freelist *list)
{
	if (!TT_VEC_RESERVE(&list->undo, (size_t)list->taken_blocks + 2))
		return tt_fail_nomem();
	list->marks++;
	*mark = list->undo.count;
	return TTNN_OK;
}

void tt_freelist_rollback(struct tt_freelist *list, size_t mark)
{
	while (list->undo.count > mark) {
		const struct tt_freelist_undo *step = &list->undo.data[--list->undo.count];
		struct tt_blocktree_path path;

		tt_blocktree_find_unit(&path, &list->tree, step->start);
		if (step->freed)
			take(list, &path, step);
		else
			release(list, &path, step->units);
	}
	list->marks--;
}

void tt_freelist_commit(struct tt_freelist *list)
{
	if (--list->marks == 0)
		list->undo.count = 0;
}
