/*
 * graph.h: the nodes of a report, one after another, and any of them again.
 *
 * Nodes refer to others by their position, also to later ones: a function's outputs come after its
 * end. So reading runs ahead as far as such a reference reaches, and of every node read so far a few
 * words are kept. What is ahead and near stays parsed until its turn; anything else is read again
 * where it lies.
 */
#ifndef TT_REPORT_GRAPH_H
#define TT_REPORT_GRAPH_H

#include "base/vec.h"
#include "report/source.h"

/* The kinds of nodes that matter here, by their names in files. */
#define TT_REPORT_NODES_LIST(X)                                                                    \
	X(OTHER, "")                                                                               \
	X(START, "function_start")                                                                 \
	X(END, "function_end")                                                                     \
	X(TENSOR, "tensor")                                                                        \
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
	size_t start;
	uint32_t length;
	uint8_t kind;   /* enum tt_report_node_kind */
	bool has_value; /* a tensor has an id that counts; an allocation an address */
	bool bad_value; /* it is there and no number */
	int64_t value;  /* that id or address */
};

/* As far ahead parsed nodes are kept. */
#define TT_REPORT_AHEAD 64

struct tt_report_graph {
	struct tt_report_source *source;
	TT_VEC(struct tt_report_entry) entries; /* all that was read so far */
	bool complete;                          /* that is the whole graph */
	unsigned depth;                         /* of the nodes in their file */
	size_t next;                            /* the node to hand out next */
	size_t ahead;                           /* one behind the last that is kept parsed */
	/* The current node is kept in the ring too, or in `current`; others have parsers of their own. */
	struct tt_json_parser ring[TT_REPORT_AHEAD], current, scanned, again;
	const struct tt_json *parsed[TT_REPORT_AHEAD];
};

/* Begins with the nodes of a source, which must have that part as an array. */
tt_status tt_report_graph_init(struct tt_report_graph *graph, struct tt_report_source *source);
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

/* TTNN_FORMAT with the place of a node before the text. */
tt_status tt_report_graph_fail(struct tt_report_graph *graph, size_t position, const char *what);

#endif
