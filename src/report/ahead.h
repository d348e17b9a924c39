/*
 * ahead.h: the elements of a part of a report, parsed by threads before their turn.
 *
 * Elements come in batches, each one text: they lie one behind another in the file, with commas
 * between, so a bracket before and one behind make a document of them. Threads fill the batches of a
 * ring in any order, the caller takes them in theirs, and reuses memory by releasing the oldest. Small
 * parts are parsed by the caller alone.
 */
#ifndef TT_REPORT_AHEAD_H
#define TT_REPORT_AHEAD_H

#include "report/report_source.h"

/* Batches of the ring, and the most elements in one. */
#define TT_REPORT_BATCHES 16
#define TT_REPORT_BATCH_MAX 256

struct tt_report_batch {
	size_t number, slot;        /* since the beginning; in the ring */
	size_t first, count;        /* its elements */
	tt_status status;           /* TTNN_NOMEM, that of prepare(), or where they lie is lost */
	bool parsed;                /* false: one is no JSON, or too large; read them one by one */
	const struct tt_json *root; /* the elements, as an array */
	struct tt_json_parser parser;
	struct tt_report_element elements[TT_REPORT_BATCH_MAX]; /* where they lie */
};

/* What else is to be done with a parsed batch, on a thread. */
struct tt_report_ahead_task {
	tt_status (*prepare)(void *context, struct tt_report_batch *batch);
	void *context;
};

struct tt_report_ahead;

/* Begins with a part whose elements the source has noted. Free before the source. */
tt_status tt_report_ahead_new(struct tt_report_ahead **out, struct tt_report_source *source,
			      enum tt_graph_part part, const struct tt_report_ahead_task *task);

/*
 * The batch after those taken so far; NULL behind the last. At most TT_REPORT_BATCHES may be taken and
 * not released. Its status has to be looked at.
 */
struct tt_report_batch *tt_report_ahead_take(struct tt_report_ahead *ahead);

/* Gives back the oldest of the batches taken. */
void tt_report_ahead_release(struct tt_report_ahead *ahead);

/* Ends the threads. NULL is fine. */
void tt_report_ahead_free(struct tt_report_ahead *ahead);

#endif
