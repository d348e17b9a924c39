/*
 * alloc.h: the memory of a chip as its allocator sees it: four regions, DRAM, TRACE, L1 and
 * L1_SMALL. Buffers (device/buffer.h) take from it, program memory asks it for the lowest address
 * in use, and reports read its state.
 *
 *	DRAM      [dram base, bank size - trace)  from the bottom
 *	TRACE     [bank size - trace, bank size)  from the bottom
 *	L1        [l1 base, l1 size - l1 small)   from the top
 *	L1_SMALL  [l1 size - l1 small, l1 size)   from the top
 *
 * All banks of a kind are used in step: a buffer has the same address in each of them, so one list
 * stands for all. The allocator knows addresses only, never data: the shadow allocator of a dry run
 * is a copy of a real one, or the real one between begin and rollback.
 *
 * Every function locks the allocator it works on; any thread may call any of them.
 */
#ifndef TT_DEVICE_ALLOC_H
#define TT_DEVICE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/status.h"
#include "device/freelist.h"

struct tt_allocator_config {
	uint32_t dram_banks, l1_banks;
	uint32_t dram_align; /* also the granule of all regions */
	uint32_t l1_align;
	uint64_t dram_base, dram_bank_size;
	uint64_t l1_base, l1_size;
	uint64_t l1_small_size;     /* as asked for at open; rounded up to the granule */
	uint64_t trace_region_size; /* as asked for at open: of all banks together */
};

/* All zero is a valid allocator without memory. */
struct tt_allocator {
	struct tt_lock lock;
	struct tt_allocator_config config;
	struct tt_freelist region[TTNN_TRACE + 1]; /* by buffer type; that of the host is empty */
};

enum tt_allocator_end {
	TT_ALLOCATOR_OWN_END, /* as the region does by itself */
	TT_ALLOCATOR_BOTTOM,
	TT_ALLOCATOR_TOP,
};

struct tt_allocator_request {
	enum ttnn_buffer_type type;
	enum tt_allocator_end from;
	uint64_t bank_bytes;  /* wanted in each bank */
	uint64_t total_bytes; /* of all banks together, for the message */
	uint32_t banks;       /* that hold a part of it, for the message */
	uint32_t tag; /* the caller's name for the block, given back by queries; any, also twice */
	uint64_t lowest; /* an address below this one is refused; 0 allows all */
};

/* What begin() gives and rollback() takes. */
struct tt_allocator_mark {
	size_t at[TTNN_TRACE + 1];
};

/* An allocator with nothing taken; refuses regions that do not fit their bank. */
tt_status tt_allocator_init(struct tt_allocator *allocator,
			    const struct tt_allocator_config *config);

/* Frees everything and leaves an allocator without memory. */
void tt_allocator_deinit(struct tt_allocator *allocator);

/*
 * Makes to, a valid allocator that no one else uses, equal from, without its open marks. On failure
 * to is valid, but between the two states.
 */
tt_status tt_allocator_copy(struct tt_allocator *to, struct tt_allocator *from);

/* Takes memory; TTNN_DEVICE_OOM with upstream's words when there is not enough. */
tt_status tt_allocator_take(uint64_t *address, struct tt_allocator *allocator,
			    const struct tt_allocator_request *request);

/* Takes memory at a known address, to restore a state; refused when it is not free. */
tt_status tt_allocator_take_at(struct tt_allocator *allocator, enum ttnn_buffer_type type,
			       uint64_t address, uint64_t bank_bytes, uint32_t tag);

/* Gives memory back; false, and nothing done, when no block starts there. */
bool tt_allocator_release(struct tt_allocator *allocator, enum ttnn_buffer_type type,
			  uint64_t address);

/* The lowest address in use of a kind of memory; false when nothing is. */
bool tt_allocator_lowest(uint64_t *address, struct tt_allocator *allocator,
			 enum ttnn_buffer_type type);

/* Per bank. */
struct tt_freelist_stats tt_allocator_stats(struct tt_allocator *allocator,
					    enum ttnn_buffer_type type);

/* How much of the free memory is outside of the largest free block: 0 to 1. */
double tt_allocator_fragmentation(const struct tt_freelist_stats *stats);

/* All blocks in the order of their addresses, free and taken. Free *out with tt_free(). */
tt_status tt_allocator_blocks(struct tt_freelist_block **out, size_t *count,
			      struct tt_allocator *allocator, enum ttnn_buffer_type type);

/* Who holds the memory: the largest taken blocks, largest first; returns how many. */
size_t tt_allocator_holders(struct tt_freelist_block *out, size_t max,
			    struct tt_allocator *allocator, enum ttnn_buffer_type type);

/*
 * What-if: everything taken and released after begin is undone by rollback, which cannot fail, or
 * kept by commit. Marks nest: the newest ends first. The steps in between are not atomic: other
 * threads' would be undone with them, so a shared allocator is copied instead.
 */
tt_status tt_allocator_begin(struct tt_allocator_mark *mark, struct tt_allocator *allocator);
void tt_allocator_rollback(struct tt_allocator *allocator, const struct tt_allocator_mark *mark);
void tt_allocator_commit(struct tt_allocator *allocator);

#endif
