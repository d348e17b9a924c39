/*
 * session.h: graph captures as users begin and end them (ttnn_graph_* in ttnn.h), and traces as graphs.
 */
#ifndef TT_TRACE_SESSION_H
#define TT_TRACE_SESSION_H

#include "trace/project.h"
#include "trace/source.h"

/* All that a source tells, as a graph with an end. Rewinds it first. */
tt_status tt_graph_from_source(struct tt_graph *out, struct tt_source *source,
			       const struct tt_project_options *options);

/* Whether a file is a .ttrace: its name says so, or how it begins. */
bool tt_is_trace(const char *path);

/* A graph from any file: .ttrace, graph JSON, report JSON. `dialect` is for traces. */
tt_status tt_graph_open(struct tt_graph *out, const char *path, enum ttnn_dialect dialect);

/* The same, with all that can be chosen about the graph of a trace. */
tt_status tt_graph_open_as(struct tt_graph *out, const char *path,
			   const struct tt_project_options *options);

/*
 * Writes the report of a trace, as it is made: nothing but the graph is kept. `pages`: also where device
 * memory lay, as TTNN_GRAPH_PAGES asks for.
 */
tt_status tt_report_from_source(struct tt_jsonw *w, struct tt_source *source,
				const struct tt_project_options *options, bool pages);

/* The report of a graph alone: without devices, and without a time at which it was made. */
void tt_report_from_graph(struct tt_jsonw *w, const struct tt_graph *graph);

/* The dialect of the environment: TTNN_DIALECT. */
enum ttnn_dialect tt_dialect_default(void);

#endif
