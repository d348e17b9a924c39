/*
 * paged.h: a number for each of very many ids, in a few megabytes: for ids that are counted up, of which the
 * young ones and a few of the others are asked for. Pages that nobody asked for in a while go to a file without a
 * name (under TMPDIR), and come back when they are.
 *
 * All zero is a valid empty one: every id has 0.
 */
#ifndef TT_BASE_PAGED_H
#define TT_BASE_PAGED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

struct tt_paged_page;
struct tt_paged_place;

struct tt_paged {
	struct tt_paged_page *pages; /* those in memory */
	size_t page_count, page_room, hand;
	struct tt_paged_place *places; /* by page number: a hash table */
	size_t place_count, place_room;
	int file; /* descriptor + 1; 0: none yet */
	uint64_t file_pages;
	struct tt_paged_page *last; /* asked for last */
};

/* Where the number of an id is, to read or to write it; valid until the next call. */
tt_status tt_paged_at(uint32_t **out, struct tt_paged *paged, uint64_t id);

void tt_paged_deinit(struct tt_paged *paged);

#endif
