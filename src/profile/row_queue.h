/*
 * row_queue.h: rows of performance reports that wait for earlier ones of other threads; the earliest comes first, of
 * equal ones that which was added first.
 */
#ifndef TT_PROFILE_ROW_QUEUE_H
#define TT_PROFILE_ROW_QUEUE_H

#include "profile/ops_row.h"

/* All zero is an empty one. */
struct tt_ops_queue {
	struct tt_ops_waiting {
		struct tt_ops_row row;
		uint64_t sequence; /* which of those with the same time came first */
	} * data;                  /* the earliest is the first */
	size_t count, room;
	uint64_t sequence;
};

/* Takes the row over, also when memory is exhausted. */
tt_status tt_ops_queue_add(struct tt_ops_queue *queue, struct tt_ops_row *row);

/* Takes the first out, of which there is one; it is the caller's. */
void tt_ops_queue_take(struct tt_ops_row *out, struct tt_ops_queue *queue);

/* Frees all rows. */
void tt_ops_queue_deinit(struct tt_ops_queue *queue);

#endif
