/*
 * report_graph.h: the nodes of a report, one after another, and any of them again.
 *
 * Nodes refer to others by their position, also to later ones: a function's outputs come after its
 * end. They are parsed ahead by threads, batch by batch (ahead.h), and of every node seen so far a few
 * words are kept. What is in a batch that is still held is at hand; anything else is read again where
 * it lies.
 *
 * Nodes of a trace (graph_trace.c) come from trace/stream.h instead, and only what may be asked for is kept of
 * them. To the walk they look the same.
 */
#ifndef TT_REPORT_REPORT_GRAPH_H
#define TT_REPORT_REPORT_GRAPH_H

#include "base/vec.h"
#include "report/ahead.h"
#include "report/captured.h"
#include "report/spool.h"

/* The kinds of nodes that matter here, by their names in files. */
#define TT_REPORT_NODES_LIST(X)                                                                    \
	X(OTHER, "")                                                                               \
	X(START, "function_start")                                                                 \
	X(END, "function_end")                                                                     \
	X(TENSOR, "tensor")                                                                        \
	X(BUFFER, "buffer")                                                                        \
	X(ALLOCATE, "buffer_allocate")                                                             \
	X(DEALLOCATE, "buffer_deallocate")                                                         \
	X(ERROR, "error")                                                                          \
	X(MANAGER, "sub_device_manager")                                                           \
	X(EXECUTION, "program_execution")                                                          \
	X(CAPTURE_START, "capture_start")                                                          \
	X(CAPTURE_END, "capture_end")

enum tt_report_node_kind {
#define X(name, text) TT_NODE_##name,
	TT_REPORT_NODES_LIST(X)
#undef X
};

/* What is kept of every node. */
struct tt_report_entry {
	int64_t value;  /* that id or address */
	uint32_t saved; /* of a trace: what is kept besides, + 1; 0: nothing */
	uint8_t kind;   /* enum tt_report_node_kind */
	bool has_value; /* a tensor has an id that counts; an allocation an address */
	bool bad_value; /* it is there and no number */
	bool there;     /* false: there is no such node */
};

struct tt_report_form; /* forms.h */

/* How it is kept: most have no value. */
struct tt_report_brief {
	uint8_t kind;
	uint8_t detail
		[4]; /* place in the details + 1; 0: all is said. Bytes: there are many of these */
};

/* A node as it is walked. */
struct tt_report_node {
	const struct tt_json *json; /* all but what it refers to; NULL behind the last node */
	/* (optional) Its numbers are not in `json` yet (tt_report_graph_settle()) but here, by its form. */
	struct tt_report_form *form;
	const int64_t *values;
	int64_t counter; /* of one with a form */
	size_t position;
	enum tt_report_node_kind kind;
	const int64_t *connections, *inputs; /* those of functions and of memory */
	size_t connection_count, input_count;
};

/* What the threads make of a batch. */
struct tt_report_nodes {
	const struct tt_json *parsed[TT_REPORT_BATCH_MAX];
	struct tt_report_entry entries[TT_REPORT_BATCH_MAX];
	struct tt_report_draft drafts[TT_REPORT_BATCH_MAX];
	struct tt_report_drafts texts; /* of the drafts */
};

struct tt_report_graph_options {
	struct tt_report_devices *devices;   /* for drafts */
	struct tt_report_captured *captured; /* that nodes are added to */
	const char *directory;               /* of temporary files; borrowed, as all of these */
	const char *path;                    /* for messages */
	bool drafting;                       /* most nodes will be asked for theirs */
};

struct tt_report_graph_trace; /* graph_trace.c */

struct tt_report_graph {
	struct tt_report_source *source;
	struct tt_report_graph_options options;
	struct tt_report_graph_trace *trace; /* (optional) the nodes come from a trace */
	struct tt_report_elements elements;  /* where the nodes lie */
	struct tt_spool entries;             /* of the nodes seen so far: struct tt_report_brief */
	struct tt_spool details; /* of those that have a value: struct tt_report_entry */
	size_t next;             /* the node to hand out next */
	struct tt_report_ahead *ahead;
	size_t held, walked,
		taken; /* batches: the oldest held, that of the next node, one behind all */
	struct tt_report_batch *batches[TT_REPORT_BATCHES]; /* those held, by slot */
	struct tt_report_nodes *nodes;                      /* by slot */
	struct tt_json_parser current, scanned, again;
	struct tt_report_drafts own; /* the one draft that was made here */
	struct tt_report_draft draft;
	TT_VEC(int64_t) connections, inputs; /* of the node handed out last */
};

/*
 * Begins with the nodes of a source, which must have that part as an array. After a failure too it
 * has to be deinitialized.
 */
tt_status tt_report_graph_init(struct tt_report_graph *graph, struct tt_report_source *source,
			       const struct tt_report_graph_options *options);
void tt_report_graph_deinit(struct tt_report_graph *graph);

/* The next node. It lives until the next call. Elements that are no objects are errors. */
tt_status tt_report_graph_next(struct tt_report_node *out, struct tt_report_graph *graph);

/* Puts the numbers of the node handed out last into its JSON, where somebody reads them. */
tt_status tt_report_graph_settle(struct tt_report_graph *graph);

/*
 * The entry at a position that another node names, by the rules of Python's lists: negative ones
 * count from the end. *position may be NULL. Of a trace those ahead are known which its nodes name as outputs.
 */
tt_status tt_report_graph_at(struct tt_report_entry *out, size_t *position,
			     struct tt_report_graph *graph, int64_t reference);

/* A node again; it lives until the next call of this. Of a trace: that which is held. */
tt_status tt_report_graph_again(const struct tt_json **node, struct tt_report_graph *graph,
				size_t position);

/* The node walked is the start of an operation, and will be asked for again. */
void tt_report_graph_hold(struct tt_report_graph *graph);

/*
 * A number that is kept with the arguments of the node that is held, 0 at first: nodes that share it have the same
 * ones. NULL when nothing is known of others.
 */
int64_t *tt_report_graph_note(struct tt_report_graph *graph, size_t position);

/* Adds a node to the captured ones: the one walked, one that is an output, of JSON any. */
tt_status tt_report_graph_keep(struct tt_report_graph *graph, size_t position);

/* No node is captured now. */
void tt_report_graph_tidy(struct tt_report_graph *graph);

/* How much of `whole` lies before the next node: for a progress bar. */
size_t tt_report_graph_emit(const struct tt_report_graph *graph, size_t whole);

/* TTNN_FORMAT with the place of a node before the text. */
tt_status tt_report_graph_fail(struct tt_report_graph *graph, size_t position, const char *what);

/* ---- report_graph.c and graph_trace.c ----------------------------------------------------------------- */

/* The kind of a node by its name; what is kept of a node. */
enum tt_report_node_kind tt_report_node_kind(const char *name);
struct tt_report_entry tt_report_node_entry(const struct tt_json *node);

/* Adds what is kept of the next node. Of a tensor's: what is kept besides. */
tt_status tt_report_graph_add_entry(struct tt_report_graph *graph,
				    const struct tt_report_entry *entry);
tt_status tt_report_graph_set_saved(struct tt_report_graph *graph, uint64_t position,
				    uint32_t saved);

tt_status tt_report_trace_init(struct tt_report_graph *graph);
void tt_report_trace_deinit(struct tt_report_graph *graph);
tt_status tt_report_trace_settle(struct tt_report_graph *graph);
tt_status tt_report_trace_next(struct tt_report_node *out, struct tt_report_graph *graph);

/* Sees more nodes, up to this one if it is an output. */
tt_status tt_report_trace_see(struct tt_report_graph *graph, uint64_t position);
tt_status tt_report_trace_again(const struct tt_json **node, struct tt_report_graph *graph,
				size_t position);
void tt_report_trace_hold(struct tt_report_graph *graph);
int64_t *tt_report_trace_note(struct tt_report_graph *graph, size_t position);
tt_status tt_report_trace_keep(struct tt_report_graph *graph, size_t position);
void tt_report_trace_tidy(struct tt_report_graph *graph);
uint64_t tt_report_trace_count(const struct tt_report_graph *graph);

#endif
