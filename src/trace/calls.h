/*
 * calls.h: the functions of a trace or graph as they begin and end, for tables and flame graphs: without nodes,
 * so that traces of any length are read quickly.
 */
#ifndef TT_TRACE_CALLS_H
#define TT_TRACE_CALLS_H

#include "base/map.h"
#include "trace/session.h"

/* Tells the sink's begin() and end() of all functions, as the dialect has them. */
tt_status tt_calls_each(struct tt_input *input, enum ttnn_dialect dialect,
			const struct tt_project_sink *sink, void *context);

/* ---- how long each operation took ------------------------------------------------------------------- */

struct tt_calls_row {
	const char *name;
	uint64_t calls, total_ns, longest_ns;
};
struct tt_calls_table {
	TT_VEC(struct tt_calls_row) rows; /* by time, the longest first */
	struct tt_map names;              /* → place in rows */
	const char *last_name;            /* that was added to last, and its row */
	size_t last;
	tt_status status;
};
tt_status tt_calls_sum(struct tt_calls_table *out, struct tt_input *input,
		       enum ttnn_dialect dialect);
void tt_calls_table_deinit(struct tt_calls_table *table);

/* ---- folded stacks ---------------------------------------------------------------------------------- */

/*
 * Appends "ttnn::add;ttnn::prim::binary 1234\n" for each different stack of calls: the nanoseconds that its last
 * function took by itself. `root` stands below all stacks; NULL: nothing does.
 */
tt_status tt_calls_fold(struct tt_str *out, struct tt_input *input, enum ttnn_dialect dialect,
			const char *root);

#endif
