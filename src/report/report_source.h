/*
 * report_source.h: where the importer reads a report from. It sees a report as parts, each a value to be
 * read whole or walked element by element, and never needs all of a part in memory.
 *
 * JSON files are sources (tt_report_source_json), and so are traces, whose graph is a stream of nodes and whose other
 * parts are structs; another is a new set of these functions.
 */
#ifndef TT_REPORT_REPORT_SOURCE_H
#define TT_REPORT_REPORT_SOURCE_H

#include <ttnn.h>

#include "base/json.h"
#include "trace/graph_read.h"

/* Where an element lies, to read it later. */
struct tt_report_place {
	size_t start, length;
	unsigned depth, file; /* containers around it; which of the source's files */
};

/* The elements of a part, and where one lies: commas are between. */
struct tt_report_elements {
	size_t count;
	unsigned depth; /* containers around them */
	size_t limit;   /* larger ones are refused by fetch() */
};
struct tt_report_element {
	size_t start, length;
};

struct tt_graph_report;
struct tt_source;
struct tt_stream;

struct tt_report_source {
	/*
	 * (optional) Of a trace: the nodes of the graph, where they come from, and what is told besides: its own. There
	 * are no elements then, no part is read or walked, and of the functions kind(), read() and free() are there.
	 */
	struct tt_stream *stream;
	struct tt_source *trace;
	const struct tt_graph_report *told;
	/* TT_JSON_ABSENT when the report lacks the part. */
	enum tt_json_kind (*kind)(struct tt_report_source *source, enum tt_graph_part part);
	/* The whole part, NULL when absent. Lives until the next use of the parser. */
	tt_status (*read)(const struct tt_json **out, struct tt_report_source *source,
			  enum tt_graph_part part, struct tt_json_parser *parser);
	/* Goes to the elements of a part that is an array or an object; one part at a time. */
	tt_status (*walk)(struct tt_report_source *source, enum tt_graph_part part);
	/* The next element: false at the end of what was entered last, and after errors. */
	bool (*next)(struct tt_report_source *source);
	/* Of the present element: its key (NULL in arrays), its place; going into it. */
	const char *(*key)(struct tt_report_source *source);
	enum tt_json_kind (*element_kind)(struct tt_report_source *source);
	struct tt_report_place (*place)(struct tt_report_source *source);
	void (*enter)(struct tt_report_source *source);
	/* Reads an element, now or later. */
	tt_status (*fetch)(const struct tt_json **out, struct tt_report_source *source,
			   struct tt_json_parser *parser, const struct tt_report_place *place);
	/* The elements of the graph, none of other parts; where one of them lies, which any thread may ask. */
	struct tt_report_elements (*elements)(struct tt_report_source *source,
					      enum tt_graph_part part);
	tt_status (*element)(struct tt_report_element *out, struct tt_report_source *source,
			     size_t at);
	/* Copies bytes of the file that a part is in. Any thread may call this one. */
	tt_status (*copy)(char *out, struct tt_report_source *source, enum tt_graph_part part,
			  size_t start, size_t length);
	/* The first error of walking. */
	tt_status (*status)(struct tt_report_source *source);
	/* "file:line:column: what" for an element. */
	tt_status (*fail)(struct tt_report_source *source, const struct tt_report_place *place,
			  const char *what);
	void (*free)(struct tt_report_source *source);
};

struct tt_report_json_options {
	size_t value_limit; /* larger elements are refused */
	bool strict;        /* a part that is there twice: the last counts, as in Python */
};

/*
 * A report file with its side files (python_io, comparison records). *out is NULL when the file is
 * JSON, but no object. Free with its own free().
 */
tt_status tt_report_source_json(struct tt_report_source **out, const char *path,
				const struct tt_report_json_options *options);

struct tt_report_trace_options {
	enum ttnn_dialect dialect; /* of the graph */
	bool pages;                /* also where device memory lay */
	bool skip_empty;           /* *out is NULL when nothing was called */
};

/* A .ttrace file. */
tt_status tt_report_source_trace(struct tt_report_source **out, const char *path,
				 const struct tt_report_trace_options *options);

#endif
