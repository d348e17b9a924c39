/*
 * same.h: which nodes of a graph speak of the same tensor. Dialect `tt-metal` has a node each time one is mentioned:
 * a tensor is then known by its buffer (on the way its number may change), else by its tensor_id, else by
 * its node. Called by what follows tensors from call to call: pictures and tt_query_flow().
 */
#ifndef TT_TRACE_SAME_H
#define TT_TRACE_SAME_H

#include "trace/graph.h"

struct tt_same {
	const struct tt_graph *graph;
	uint32_t *buffer_of; /* of each node: number of its buffer's node + 1 */
	struct tt_map known;
};

/* Looks at all buffers and tensors of a graph, which is borrowed. Deinit also after a failure. */
tt_status tt_same_init(struct tt_same *same, const struct tt_graph *graph);

/* The entry of a tensor node, one for all nodes that are the same; its number is the caller's, 0 at first. NULL: no
 * memory. Borrowed until the next call. */
struct tt_map_entry *tt_same_find(struct tt_same *same, uint32_t tensor);

/* The same of all tensors in the memory that a buffer's node is about. */
struct tt_map_entry *tt_same_buffer(struct tt_same *same, uint32_t buffer);

/*
 * Under which entry a tensor was given that has no buffer of its own (a view, a host tensor) and a number that no
 * call gave: on its way through Python a result gets the next number, once for every call that passes it on. So it
 * is the last tensor before that number, if that has no buffer either. NULL: none.
 */
struct tt_map_entry *tt_same_renamed(const struct tt_same *same, uint32_t tensor);

void tt_same_deinit(struct tt_same *same);

#endif
