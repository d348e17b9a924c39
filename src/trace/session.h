/*
 * session.h: graph captures as users begin and end them (ttnn_graph_* in ttnn.h), and traces as graphs.
 */
#ifndef TT_TRACE_SESSION_H
#define TT_TRACE_SESSION_H

#include "trace/stream.h"

/* All that a source tells, as a graph with an end. Rewinds it first. */
tt_status tt_graph_from_source(struct tt_graph *out, struct tt_source *source,
			       const struct tt_project_options *options);

/* Whether a file is a .ttrace: its name says so, or how it begins. */
bool tt_is_trace(const char *path);

/* A file that was opened, of whatever kind: what comes through a pipe is read once, and then looked at. */
struct tt_input {
	struct tt_source *source; /* of a .ttrace; NULL: it is JSON */
	const char *path;         /* borrowed */
	char *data;               /* what came through a pipe, or NULL */
	size_t size;
};

/* Opens a .ttrace, graph JSON or report JSON; what is wrong with JSON is found when it is read. */
tt_status tt_input_open(struct tt_input *out, const char *path);
/* The same with a part of a trace (NULL: all of it); refuses one that is no trace if a part is wanted. */
tt_status tt_input_open_part(struct tt_input *out, const char *path,
			     const struct tt_source_window *window);
void tt_input_close(struct tt_input *input);

/* Its nodes one by one; the options are for traces, but `course`. */
tt_status tt_input_stream(struct tt_stream **out, struct tt_input *input,
			  const struct tt_project_options *options);

/* All of them at once, if there are no more than the options allow; *out is the caller's. */
tt_status tt_input_graph(struct tt_graph *out, struct tt_input *input,
			 const struct tt_project_options *options);

/* The graph of a file; `dialect` is for traces. */
tt_status tt_graph_open(struct tt_graph *out, const char *path, enum ttnn_dialect dialect);

/*
 * Writes the report of a trace, as it is made: no graph is kept. `pages`: also where device
 * memory lay, as TTNN_GRAPH_PAGES asks for.
 */
tt_status tt_graph_report_from_source(struct tt_jsonw *w, struct tt_source *source,
				      const struct tt_project_options *options, bool pages);

/*
 * What such a report tells besides the nodes of a stream, which are to be read next. The caller's to deinit, after
 * failures too.
 */
struct tt_graph_report;
tt_status tt_graph_report_around(struct tt_graph_report *out, struct tt_source *source,
				 struct tt_stream *stream, bool pages);

/* The report of nodes alone: without devices, and without a time at which it was made. */
tt_status tt_graph_report_from_nodes(struct tt_jsonw *w, struct tt_stream *stream);

/* The dialect of the environment: TTNN_DIALECT. */
enum ttnn_dialect tt_dialect_default(void);

#endif
