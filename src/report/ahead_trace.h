/*
 * ahead_trace.h: the nodes of a trace as forms and numbers (forms.h), made by a thread before their turn.
 *
 * They come in batches, in order. The thread stays a few ahead; memory is used again when batches are given
 * back. Short traces have no thread.
 */
#ifndef TT_REPORT_AHEAD_TRACE_H
#define TT_REPORT_AHEAD_TRACE_H

#include "report/forms.h"

#define TT_REPORT_NODES_MAX TT_NEAR_BLOCK

/* A node: its form, and the numbers of its own, which are its batch's. */
struct tt_report_told {
	struct tt_report_form *form;
	int64_t counter;
	struct tt_report_entry entry; /* what is kept of it */
	const int64_t *values, *inputs, *connections;
	uint32_t value_count, input_count, connection_count;
	struct tt_spool
		*many; /* (optional) the connections, if there are too many; the node's own */
};

/* Batches are full but the last. */
struct tt_report_told_batch {
	struct tt_report_told nodes[TT_REPORT_NODES_MAX];
	size_t count;
	TT_VEC(int64_t) numbers; /* of each node the values and inputs */
	TT_VEC(int64_t) links;   /* of each the connections */
	struct tt_near_block near;
	bool has_many; /* some node has */
	struct tt_report_told_batch *next;
};

struct tt_report_ahead_trace;

/* Begins with the nodes of a stream, which nobody else may use meanwhile. The directory is borrowed. */
tt_status tt_report_ahead_trace_new(struct tt_report_ahead_trace **out, struct tt_stream *stream,
				    struct tt_report_devices *devices, const char *directory);

/* The batch after those taken so far, NULL behind the last. */
tt_status tt_report_ahead_trace_take(struct tt_report_told_batch **out,
				     struct tt_report_ahead_trace *ahead);

/* Gives a batch back, in the order in which they were taken. */
void tt_report_ahead_trace_release(struct tt_report_ahead_trace *ahead,
				   struct tt_report_told_batch *batch);

/*
 * Nobody refers to forms of nodes that were given back but of tensors: others may go, if there are many. To be
 * called now and then.
 */
void tt_report_ahead_trace_tidy(struct tt_report_ahead_trace *ahead);

/* Ends the thread; frees the forms. NULL is fine. */
void tt_report_ahead_trace_free(struct tt_report_ahead_trace *ahead);

#endif
