/*
 * memory.h: device memory over the course of a graph: how much is taken after each node, and by what
 * at the highest point. For people (ttnn show); the queries of upstream are in query.h.
 */
#ifndef TT_TRACE_MEMORY_H
#define TT_TRACE_MEMORY_H

#include "base/vec.h"
#include "trace/graph.h"

/* Bytes after a node. Buffers count as a whole, program memory as that of one core. */
struct tt_memory_point {
	uint64_t l1, dram, program;
};

/* A buffer that was there at the peak. */
struct tt_memory_holder {
	uint32_t buffer; /* node */
	uint64_t size;
	const char *shape; /* of a tensor in it, or "" */
	const char *
		maker; /* the innermost operation that allocated it, or "" when it was there before */
};

struct tt_memory {
	struct tt_memory_point *points;           /* one per node */
	size_t peak_l1, peak_dram;                /* nodes */
	TT_VEC(struct tt_memory_holder) l1, dram; /* at their peaks, largest first */
};

/* *out is the caller's. Buffers that were there before count from where they are first mentioned. */
tt_status tt_memory_of(struct tt_memory *out, const struct tt_graph *graph);
void tt_memory_deinit(struct tt_memory *memory);

/* Whether a function is an operation that a user calls, not a step of one. */
bool tt_graph_is_operation(const struct tt_graph_node *node);

#endif
