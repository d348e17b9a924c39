/*
 * freelist.h: one region of device memory: who holds which part of it, and where the next request
 * goes. The allocator of a chip (device/alloc.h) has one for each kind of memory.
 *
 * Requests are placed by address-ordered first fit: from the bottom at the start of the lowest
 * free block that is large enough, from the top at the end of the highest one. Freed blocks merge
 * with their free neighbours at once, so the state depends only on which blocks are taken, not on
 * how they came to be; that is why undoing needs no snapshots.
 *
 * Taking, releasing and the queries of one block are O(log blocks). Addresses are counted in
 * granules of the region, in 32 bits. Not for use by two threads at a time.
 */
#ifndef TT_DEVICE_FREELIST_H
#define TT_DEVICE_FREELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"
#include "device/blocktree.h"

/* One step that was done: units from start on were taken, or freed. */
struct tt_freelist_undo {
	uint32_t start, units, tag;
	bool freed;
};

/* All zero is a valid region of no bytes. */
struct tt_freelist {
	uint64_t base;    /* address of the first byte */
	uint64_t granule; /* blocks start and end at multiples of it, counted from base */
	uint32_t units;   /* size of the region in granules */
	uint32_t taken_units, taken_blocks;
	struct tt_blocktree tree;

	TT_VEC(struct tt_freelist_undo) undo; /* newest last; kept between begin and its end */
	uint32_t marks;                       /* that are open */
};

struct tt_freelist_block {
	uint64_t address, size;
	bool taken;
	uint32_t tag; /* the holder's, when taken */
};

struct tt_freelist_stats {
	uint64_t total, taken, free, largest_free; /* bytes; total = taken + free */
	uint32_t taken_blocks, free_blocks;
};

/*
 * An empty region of `size` bytes at `base`; size must be a multiple of granule. list is
 * overwritten; give it back with tt_freelist_deinit(), also after a failure.
 */
tt_status tt_freelist_init(struct tt_freelist *list, uint64_t base, uint64_t size,
			   uint64_t granule);

/* Frees everything and leaves a region of no bytes. */
void tt_freelist_deinit(struct tt_freelist *list);

/*
 * Makes to equal from, without the open marks of either. to is a valid list; its memory is used
 * again. Unchanged on failure.
 */
tt_status tt_freelist_copy(struct tt_freelist *to, const struct tt_freelist *from);

/*
 * Takes `size` bytes, rounded up to whole granules and at least one, from the bottom or the top.
 * TTNN_DEVICE_OOM, without a message, when no free block is large enough: the caller knows for
 * what the memory was wanted.
 */
tt_status tt_freelist_take(uint64_t *address, struct tt_freelist *list, uint64_t size, bool top,
			   uint32_t tag);

/* The same at a given address; TTNN_DEVICE_OOM, without a message, when not free there. */
tt_status tt_freelist_take_at(struct tt_freelist *list, uint64_t address, uint64_t size,
			      uint32_t tag);

/* Frees the block that starts at address; false, and nothing done, if none is taken there. */
bool tt_freelist_release(struct tt_freelist *list, uint64_t address);

/* The lowest address that is taken; false when the whole region is free. */
bool tt_freelist_lowest(uint64_t *address, const struct tt_freelist *list);

struct tt_freelist_stats tt_freelist_stats(const struct tt_freelist *list);

/*
 * The block that holds address; false when outside of the region. Walk all blocks, free and
 * taken, by starting at list->base and going on at block.address + block.size.
 */
bool tt_freelist_block(struct tt_freelist_block *out, const struct tt_freelist *list,
		       uint64_t address);

/* The largest taken blocks, largest first (equal ones by address); returns how many, at most max. */
size_t tt_freelist_holders(struct tt_freelist_block *out, size_t max,
			   const struct tt_freelist *list);

/*
 * Undo: from begin on, steps are remembered; *mark is where to go back to. Each begin is ended by
 * one rollback (undoes all since its mark, cannot fail) or one commit (keeps it), inner marks
 * before outer ones.
 */
tt_status tt_freelist_begin(size_t *mark, struct tt_freelist *list);
void tt_freelist_rollback(struct tt_freelist *list, size_t mark);
void tt_freelist_commit(struct tt_freelist *list);

#endif
