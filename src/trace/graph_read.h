/*
 * graph_read.h: nodes of graphs from JSON, one by one: for graph_read.c, which keeps them all, and stream_json.c,
 * which keeps none.
 */
#ifndef TT_TRACE_GRAPH_READ_H
#define TT_TRACE_GRAPH_READ_H

#include "trace/graph.h"

/* All zero but graph and name is one to begin with. */
struct tt_graph_reader {
	struct tt_graph *graph; /* where nodes are put */
	const char *name;       /* of the file */
	size_t most;            /* nodes that there may be; 0: any number */
	size_t before;          /* nodes that were taken out of the graph again */
	bool typed;             /* params with integers or null were seen: not dialect `seed` */
	bool levelled;          /* a node said its level */
	int32_t depth;          /* of the functions that are open, while none did */
};

/* Adds a node to the graph. Whether the nodes it is connected with exist is not looked at. */
tt_status tt_graph_read_node(struct tt_graph_reader *r, const struct tt_json *json);

/* Old graphs have no levels: they follow from the order. For each node, in order. */
void tt_graph_read_level(struct tt_graph_reader *r, struct tt_graph_node *node);

/* Bytes of L1 that a core has for buffers and programs, by the devices of a report; all are alike. */
uint64_t tt_graph_read_bank(const struct tt_json *devices);

#endif
