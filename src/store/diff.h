/*
 * diff.h: what two master files do not have in common. Their layouts may differ: then values are compared in the words
 * of the layout of 2026, which has the fewest.
 */
#ifndef TT_STORE_DIFF_H
#define TT_STORE_DIFF_H

#include "store/master.h"

/* A configuration that only one of the two has. */
struct tt_diff_row {
	size_t side; /* 0 or 1 */
	size_t op, number;
};

struct tt_diff {
	struct tt_diff_row *data;
	size_t count, room;
	size_t common; /* configurations that both have */
};

/* Fills `out`, in the order of the files: first what only the first has. Free with tt_diff_deinit(). */
tt_status tt_diff(struct tt_diff *out, struct tt_master *first, struct tt_master *second);
void tt_diff_deinit(struct tt_diff *diff);

#endif
