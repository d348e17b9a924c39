/* results_copy.h: runs of one database of results in another, files and servers alike. Called by `ttnn sweep results --to`. */
#ifndef TT_SWEEP_RESULTS_COPY_H
#define TT_SWEEP_RESULTS_COPY_H

#include <stdint.h>

#include "base/status.h"

struct tt_results_copied {
	uint64_t runs, rows; /* rows that were not there before */
};

/*
 * Copies a run, or all when it is NULL, with its rows; the other database is made if it is absent. What is there already
 * stays, so that doing it again changes nothing.
 */
tt_status tt_results_copy(struct tt_results_copied *out, const char *to, const char *from,
			  const char *run);

#endif
