/*
 * graph.h: the nodes of a report, one after another, and any of them again.
 *
 * Nodes refer to others by their position, also to later ones: a function's outputs come after its
 * end. They are parsed ahead by threads, batch by batch (ahead.h), and of every node seen so far a few
 * words are kept. What is in a batch that is still held is at hand; anything else is read again where
 * it lies.
 */
#ifndef TT_REPORT_GRAPH_H
#define TT_REPORT_GRAPH_H

#include "base/vec.h"
#include "report/ahead.h"
#include "report/draft.h"

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

/* What is kept of a node. */
struct tt_report_entry {
	int64_t value;  /* that id or address */
	uint8_t kind;   /* enum tt_report_node_kind */
	bool has_value; /* a tensor has an id that counts; an allocation an address */
	bool bad_value; /* it is there and no number */
};

/* What the threads make of a batch. */
struct tt_report_nodes {
	const struct tt_json *parsed[TT_REPORT_BATCH_MAX];
	struct tt_report_entry entries[TT_REPORT_BATCH_MAX];
	struct tt_report_draft drafts[TT_REPORT_BATCH_MAX];
	struct tt_report_drafts texts; /* of the drafts */
};

struct tt_report_graph_options {
	struct tt_report_devices *devices; /* for drafts */
	bool drafting;                     /* most nodes will be asked for theirs */
};

struct tt_report_graph {
	struct tt_report_source *source;
	struct tt_report_graph_options options;
	struct tt_report_elements elements;     /* where the nodes lie */
	TT_VEC(struct tt_report_entry) entries; /* of the nodes seen so far */
	size_t next;                            /* the node to hand out next */
	struct tt_report_ahead *ahead;
	size_t held, walked,
		taken; /* batches: the oldest held, that of the next node, one behind all */
	struct tt_report_batch *batches[TT_REPORT_BATCHES]; /* those held, by slot */
	struct tt_report_nodes *nodes;                      /* by slot */
	struct tt_json_parser current, scanned, again;
	struct tt_report_drafts own; /* the one draft that was made here */
	struct tt_report_draft draft;
};

/*
 * Begins with the nodes of a source, which must have that part as an array. After a failure too it
 * has to be deinitialized.
 */
tt_status tt_report_graph_init(struct tt_report_graph *graph, struct tt_report_source *source,
			       const struct tt_report_graph_options *options);
void tt_report_graph_deinit(struct tt_report_graph *graph);

/*
 * The next node and its position, NULL at the end. It lives until the next call. Elements that are
 * no objects are errors.
 */
tt_status tt_report_graph_next(const struct tt_json **node, size_t *position,
			       struct tt_report_graph *graph);

/*
 * The entry at a position that another node names, by the rules of Python's lists: negative ones
 * count from the end. NULL: there is none. *position may be NULL.
 */
tt_status tt_report_graph_at(const struct tt_report_entry **out, size_t *position,
			     struct tt_report_graph *graph, int64_t reference);

/* A node again; it lives until the next call of this. */
tt_status tt_report_graph_again(const struct tt_json **node, struct tt_report_graph *graph,
				size_t position);

/* The draft of a node and the texts it is in; they live until the next call of this or of next(). */
tt_status tt_report_graph_draft(const struct tt_report_draft **draft,
				const struct tt_report_drafts **texts,
				struct tt_report_graph *graph, size_t position);

/* Where in the file the next node lies: for a progress bar. */
size_t tt_report_graph_tell(const struct tt_report_graph *graph);

/* TTNN_FORMAT with the place of a node before the text. */
tt_status tt_report_graph_fail(struct tt_report_graph *graph, size_t position, const char *what);

#endif
