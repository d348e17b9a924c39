/*
 * merge.h: the recordings of a run's processes as one sequence of rows: in the order of time, with numbers that are
 * different in the whole run and the latency between operations. Writers are told of each row.
 */
#ifndef TT_PROFILE_MERGE_H
#define TT_PROFILE_MERGE_H

#include "profile/ops_report.h"
#include "profile/walk.h"

/* Who is told. */
struct tt_ops_sink {
	/* (optional) Before the first row. */
	tt_status (*begin)(void *context, const struct tt_ops_survey *survey);
	tt_status (*row)(void *context, const struct tt_ops_row *row);
};

/* A writer: what it does, and what it does it with. */
struct tt_ops_writer {
	const struct tt_ops_sink *sink;
	void *context;
};

/* Reads all inputs and tells the writers, one after the other, of each row. */
tt_status tt_ops_merge(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
		       size_t count, const struct tt_ops_options *options,
		       const struct tt_ops_writer *writers);

#endif
