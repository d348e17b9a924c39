/*
 * ids.h: what is known of each tensor id while a graph is walked: mostly small numbers one after another, so
 * they are kept in groups of neighbours (spool.h), and memory does not grow with them as they would.
 */
#ifndef TT_REPORT_IDS_H
#define TT_REPORT_IDS_H

#include "report/intmap.h"
#include "report/spool.h"

/* Whether the size of a tensor's buffer at its first use is known. */
enum tt_report_size {
	TT_SIZE_UNUSED, /* there was no such use */
	TT_SIZE_NONE,   /* no buffer was there */
	TT_SIZE_KNOWN,
	TT_SIZE_LATER, /* the tensor's place was not known then */
};

struct tt_report_id {
	int64_t device, address; /* of its row, if `placed` */
	int64_t size[2];         /* by first use: as an input, as an output */
	int64_t seq[2];          /* of that operation, for TT_SIZE_LATER */
	uint64_t changes;        /* of the buffers, when that of an output was to be known later */
	uint8_t state[2];        /* enum tt_report_size */
	bool as_number, as_text; /* how nodes wrote it */
	bool has_row : 1, placed : 1, used : 1, kept : 1;
	bool written : 1; /* its row is in the database */
};

struct tt_report_ids {
	struct tt_intmap groups; /* id / neighbours -> number of its group + 1 */
	struct tt_spool spool;
};

/* Starts with none; the directory is borrowed. */
void tt_report_ids_init(struct tt_report_ids *ids, const char *directory);

/* What is known of an id, to be changed until the next call; all zero of a new one. */
tt_status tt_report_ids_at(struct tt_report_id **out, struct tt_report_ids *ids, int64_t id);

void tt_report_ids_clear(struct tt_report_ids *ids);
void tt_report_ids_deinit(struct tt_report_ids *ids);

#endif
