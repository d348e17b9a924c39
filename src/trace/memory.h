/*
 * memory.h: device memory over the course of a graph: how much is taken after each node, and by what
 * at the highest point. For people (ttnn show); the queries of upstream are in query.h.
 */
#ifndef TT_TRACE_MEMORY_H
#define TT_TRACE_MEMORY_H

#include "base/vec.h"
#include "trace/graph.h"

/*
 * Bytes after a node. Buffers as a whole: of a chip, the chips of a mesh being alike, added up over all
 * devices. Of the fullest core of all: what buffers take of its bank, and what the program takes that was
 * launched last, if it was on that device.
 */
struct tt_memory_point {
	uint64_t l1, dram;
	uint64_t program; /* that takes the most of a core: the last one */
	uint64_t core_buffers, core_program;
};

/* Who is at the peak. */
struct tt_memory_holder {
	uint32_t buffer;    /* node; UINT32_MAX: the graph does not speak of it */
	uint64_t size;      /* of the whole buffer */
	uint64_t bank_size; /* in the fullest bank; 0: not known */
	const char *shape;  /* of a tensor in it, or "" */
	/* The innermost operation that allocated it, or "" when it was there before. */
	const char *maker;
};

struct tt_memory_peak {
	size_t node;
	const char *operation;                   /* that was under way, or "" */
	TT_VEC(struct tt_memory_holder) holders; /* largest first; of `core` those of its device */
};

struct tt_memory {
	struct tt_memory_point *points; /* one per node */
	struct tt_memory_peak core, l1, dram;
	uint64_t bank; /* bytes of L1 that a core has; 0: not known */
	size_t shareless; /* buffers in L1 of which nobody knows what they take of a bank: they count 0 */
};

/* *out is the caller's. Buffers that were there before count from the start. */
tt_status tt_memory_of(struct tt_memory *out, const struct tt_graph *graph);
void tt_memory_deinit(struct tt_memory *memory);

/* Bytes of the fullest core. */
static inline uint64_t tt_memory_core(const struct tt_memory_point *point)
{
	return point->core_buffers + point->core_program;
}

#endif
