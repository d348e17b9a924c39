/*
 * traces.h: stack traces of operations, and the source files that they name. A file is stored only
 * if it lies below a folder that belongs to the user or the program: a report must not make others
 * readable.
 */
#ifndef TT_REPORT_TRACES_H
#define TT_REPORT_TRACES_H

#include "base/map.h"
#include "base/str.h"
#include "report/schema.h"

struct tt_report_traces {
	struct tt_report_db *db;
	struct tt_map paths; /* as traces name them -> id in source_files, 0: not stored */
	struct tt_map roots; /* folders that may be read from */
	uint64_t rows;
};

/* The file and line of the innermost Python frame; NULL when the text has none. *file is borrowed. */
const char *tt_report_trace_frame(size_t *length, int64_t *line, const char *text);

/* The first path in a trace, "File "P", line N, in" or "P:N"; NULL when it has none. Borrowed. */
const char *tt_report_trace_path(size_t *length, const char *text, size_t size);

/* Writes the trace of an operation. */
tt_status tt_report_traces_add(struct tt_report_traces *traces, int64_t operation, int64_t rank,
			       const struct tt_str *text);

void tt_report_traces_deinit(struct tt_report_traces *traces);

#endif
