/*
 * pages.h: pages of buffers, collapsed into chunks: one for each core (and bank) that a buffer has
 * pages on. Reports list pages per allocation of an address; equal lists are kept once.
 */
#ifndef TT_REPORT_PAGES_H
#define TT_REPORT_PAGES_H

#include "report/buffers.h"

/* What a chunk is known by, and what it covers. */
struct tt_report_chunk {
	struct {
		int64_t device, address, bank, core_x, core_y, type;
	} key;
	int64_t start, end, page_size, pages;
};

/* The pages of an address from the allocation with this counter on. */
struct tt_report_snapshot {
	int64_t address, counter;
	uint32_t number; /* in the order of the report */
	uint32_t chunks; /* entry of lists */
};

struct tt_report_pages {
	struct tt_report_db *db;
	int64_t (*map)(void *context, int64_t device); /* of device ids */
	void *context;
	int64_t rank;
	uint64_t rows;                               /* chunks written */
	TT_VEC(struct tt_report_snapshot) snapshots; /* by address, then counter */
	struct tt_map lists; /* arrays of chunks -> whether of one address */
	/* chunks being made */
	struct tt_map found;
	TT_VEC(struct tt_report_chunk) chunks;
	TT_VEC(const struct tt_map_entry *) used; /* lists of the operation being written */
};

/* Whether the report has pages per address and lists of buffers: then those are used. */
tt_status tt_report_pages_read(struct tt_report_pages *pages, struct tt_report_source *source);

/* Writes the chunks of all operations that have a list of buffers, in the order of the lists. */
tt_status tt_report_pages_write(struct tt_report_pages *pages,
				const struct tt_report_buffers *buffers);

/* The older form: one list of pages, all for this operation. */
tt_status tt_report_pages_flat(struct tt_report_pages *pages, struct tt_report_source *source,
			       int64_t operation);

/*
 * For who has pages otherwise: begin, add each (a chunk of one page but for its end), then make a snapshot of them or
 * write them for an operation.
 */
void tt_report_pages_begin(struct tt_report_pages *pages);
tt_status tt_report_pages_add(struct tt_report_pages *pages, struct tt_report_chunk *chunk);
tt_status tt_report_pages_snapshot(struct tt_report_pages *pages, int64_t address, int64_t counter);
tt_status tt_report_pages_end(struct tt_report_pages *pages, int64_t operation);

void tt_report_pages_reset(struct tt_report_pages *pages);
void tt_report_pages_deinit(struct tt_report_pages *pages);

#endif
