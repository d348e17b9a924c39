/*
 * results_spool.h: results that the database has not got yet, in a file beside the files of results: a line of JSON for each. What is
 * in it was synced, and survives the end of the process, however it ends; the next one that opens the same database
 * delivers it. Rows are unique, so what is delivered again changes nothing. Called by results.c and results_away.c.
 *
 *	DIRECTORY/spool/RUN-HOST-PID-N.jsonl      locked by who writes it
 */
#ifndef TT_SWEEP_RESULTS_SPOOL_H
#define TT_SWEEP_RESULTS_SPOOL_H

#include "sweep/results_parts.h"

struct tt_spool {
	int fd; /* -1: none */
	uint64_t rows;
	char path[TT_RESULTS_PATH];
};

/* Appends rows and syncs them. The file is made with the first. */
tt_status tt_spool_add(struct tt_spool *spool, const struct tt_results *results,
		       const struct tt_results_row *rows, size_t count);

/* Hands all rows of a file to the database; *rows tells how many. The file is gone afterwards. */
tt_status tt_spool_deliver(uint64_t *rows, struct tt_spool *spool, struct tt_results *results);

/* Delivers the files of those who have ended, of the same database; a message tells of each. */
tt_status tt_spool_deliver_old(struct tt_results *results);

/* Leaves the file as it is. */
void tt_spool_close(struct tt_spool *spool);

#endif
