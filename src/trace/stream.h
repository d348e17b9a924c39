/*
 * stream.h: the nodes of a graph one after another, in order, each complete, in memory that does not
 * grow with their number: what is kept is what is alive (open functions, buffers and tensors).
 *
 *	struct tt_stream *stream;
 *	const struct tt_graph_node *node;
 *	uint32_t to;
 *
 *	TT_TRY(tt_stream_open(&stream, source, &options));
 *	while ((status = tt_stream_next(&node, stream)) == TTNN_OK && node)
 *		while (tt_stream_edge(&to, stream))
 *			... node is connected to the node of number `to` ...
 *	tt_stream_close(stream);
 *
 * A node of a graph leads to nodes that come later, some of them at the very end, so a trace is read twice:
 * first for the edges, which are sorted aside (on disk when there are many), then for the nodes. What is known
 * at the end alone (devices, times) is known after the first time, and told by tt_stream_facts().
 *
 * Nodes are as in graph.h but for two things. Their connections are asked for one by one: a node may have
 * millions. And in dialects whose params are all texts those that are numbers come as numbers, of kind
 * TT_GRAPH_DIGITS.
 */
#ifndef TT_TRACE_STREAM_H
#define TT_TRACE_STREAM_H

#include "trace/near.h"
#include "trace/project.h"
#include "trace/source.h"

struct tt_stream;

/* What is known of the whole. */
struct tt_stream_facts {
	uint64_t nodes;
	uint64_t duration_ns; /* to the last event, or end_ns */
	enum ttnn_dialect dialect;
	const struct tt_project_device *devices; /* all that were told of, used or not */
	size_t device_count;
	const uint32_t *chips; /* those that nodes of circular buffers name, each once */
	size_t chip_count;
	uint64_t bank; /* bytes of L1 that a core has; 0: not known */
	size_t shareless; /* buffers in L1 of which nobody knows what they take of a bank; with `course` */
};

/*
 * Begins with the nodes of a source, with a capture_end behind them. Of the options dialect, modes, end_ns,
 * `plain`, `course` and `apart` count. The source stays the caller's and is rewound; who reads it meanwhile restarts the
 * stream then.
 */
tt_status tt_stream_open(struct tt_stream **out, struct tt_source *source,
			 const struct tt_project_options *options);

/* The same of a graph in memory, which is borrowed; what becomes of memory is known if that is asked for. */
tt_status tt_stream_of_graph(struct tt_stream **out, const struct tt_graph *graph, bool course);

/*
 * The same of JSON: a graph, or a report that has one; gzip or plain. Path and text are borrowed; with a text it is
 * that, and the path its name.
 */
struct tt_stream_text {
	const char *data;
	size_t size;
};
tt_status tt_stream_of_json(struct tt_stream **out, const char *path,
			    const struct tt_stream_text *text, bool course);

/*
 * The next node, *out NULL behind the last. It lives, with all texts that it points to, until the next call. Its
 * connections are those of tt_stream_edge().
 */
tt_status tt_stream_next(const struct tt_graph_node **out, struct tt_stream *stream);

/* The next connection of that node, in their order; false behind the last. */
bool tt_stream_edge(uint32_t *to, struct tt_stream *stream);

/* Whether the capture made that node: a tensor that a function gave, a buffer that was allocated, or neither. Once. */
bool tt_stream_made(struct tt_stream *stream);

/* Begins again, with the first node. */
tt_status tt_stream_restart(struct tt_stream *stream);

/* Borrowed from the stream. */
const struct tt_stream_facts *tt_stream_facts(const struct tt_stream *stream);

/*
 * What became of memory, with `course`, to be taken as it comes: the next step that happened before node `before` is written, and the
 * buffer it is about (trace/course.h), both until the next call. At the start the buffers that were there before
 * are in the course.
 */
bool tt_stream_step(struct tt_course_step *out, struct tt_stream *stream, uint32_t before);
const struct tt_course *tt_stream_course(const struct tt_stream *stream);

/* The shape of a tensor in a buffer of the course, "" when none is known. */
tt_status tt_stream_shape(struct tt_str *out, struct tt_stream *stream,
			  const struct tt_course_buffer *buffer);

/*
 * Of a stream of a trace opened with `apart`: its nodes are read now, and behind them their edges, near ones by blocks
 * (trace/near.h), from the first one on, each when the third one behind it was given or there is no further node.
 */
void tt_stream_trace_apart(struct tt_stream *stream);

/*
 * Of a stream of a trace, before its nodes are read: a projection that gets all their events too, a whole graph beside
 * the stream, on the thread that reads. It is borrowed until the last node; who reads again meanwhile spoils it.
 */
void tt_stream_trace_also(struct tt_stream *stream, struct tt_project *also);

/* Forgets the patterns of nodes (pattern.h), which such streams have; false: nodes that have some are still to come. */
bool tt_stream_trace_forget(struct tt_stream *stream);
tt_status tt_stream_trace_near(struct tt_near_block *out, struct tt_stream *stream);

/*
 * Of such a stream: the next of the other edges of a node, which come behind those; nodes are asked for in ascending order.
 * And whether all could be read. Another thread may do that. The start of all, which leads everywhere, has no edges.
 */
bool tt_stream_trace_far(uint32_t *to, struct tt_stream *stream, uint32_t node);
tt_status tt_stream_trace_status(const struct tt_stream *stream);

/* The node that was given last, with the edges that were not asked for yet, as JSON. */
void tt_stream_write_node(struct tt_jsonw *w, struct tt_stream *stream,
			  const struct tt_graph_node *node);

/* All nodes that are left, as the list that tt_graph_write() writes. */
tt_status tt_stream_write(struct tt_jsonw *w, struct tt_stream *stream);

/* NULL is fine. */
void tt_stream_close(struct tt_stream *stream);

/* ---- for those who make streams --------------------------------------------------------------------- */

struct tt_stream_kind {
	/* Fills in stream->node, or says where it is. */
	tt_status (*next)(struct tt_stream *stream, bool *there);
	bool (*edge)(uint32_t *to, struct tt_stream *stream);
	bool (*made)(struct tt_stream *stream);
	tt_status (*restart)(struct tt_stream *stream);
	tt_status (*shape)(struct tt_str *out, struct tt_stream *stream,
			   const struct tt_course_buffer *buffer);
	void (*close)(struct tt_stream *stream);
};

/* The beginning of every stream. */
struct tt_stream {
	const struct tt_stream_kind *kind;
	struct tt_stream_facts facts;
	const struct tt_graph_node *at; /* the node that was given last */
	struct tt_graph_node node;      /* room for it */
	uint32_t handed;                /* how many were */
	const struct tt_graph *keys;    /* has the names of keys */
	struct tt_course_maker *course; /* NULL: nobody asked */
};

#endif
