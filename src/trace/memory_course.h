/*
 * memory_course.h: device memory over the course of a graph: how much is taken after each node, and by what
 * at the highest point. For people (ttnn show); the queries of upstream are in query.h.
 */
#ifndef TT_TRACE_MEMORY_COURSE_H
#define TT_TRACE_MEMORY_COURSE_H

#include "base/map.h"
#include "trace/stream.h"

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

/* Bytes of the fullest core. */
static inline uint64_t tt_memory_core(const struct tt_memory_point *point)
{
	return point->core_buffers + point->core_program;
}

/* ---- node by node ----------------------------------------------------------------------------------- */

/* A node, and what is so after it and after what happened before the next one was written. */
struct tt_memory_moment {
	uint32_t number;
	uint8_t type;          /* of the node */
	const char *type_name; /* likewise; of other graphs' kinds "other" */
	bool is_operation;     /* it begins or ends one */
	const char *operation; /* the innermost that is under way, or "" */
	struct tt_memory_point point;
};

/* Tells of all nodes of a stream that has a course; restarts it first. */
tt_status tt_memory_each(struct tt_stream *stream,
			 void (*tell)(void *context, const struct tt_memory_moment *moment),
			 void *context);

/* ---- the peaks -------------------------------------------------------------------------------------- */

/* What has a peak. */
enum tt_memory_view { TT_MEMORY_CORE, TT_MEMORY_L1, TT_MEMORY_DRAM, TT_MEMORY_VIEWS };
uint64_t tt_memory_value(const struct tt_memory_point *point, enum tt_memory_view view);

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
	uint32_t node;
	struct tt_memory_point point;            /* after it */
	const char *operation;                   /* that was under way, or "" */
	TT_VEC(struct tt_memory_holder) holders; /* largest first; of `core` those of its device */
};

#define TT_MEMORY_BARS 64

struct tt_memory {
	struct tt_memory_peak peaks[TT_MEMORY_VIEWS];
	uint64_t bars[TT_MEMORY_VIEWS]
		     [TT_MEMORY_BARS]; /* the highest of each stretch of the graph */
	uint64_t bank;                 /* bytes of L1 that a core has; 0: not known */
	size_t shareless; /* buffers in L1 of which nobody knows what they take of a bank: they count 0 */
	struct tt_map texts; /* names and shapes */
};

/* *out is the caller's. Buffers that were there before count from the start. */
tt_status tt_memory_of(struct tt_memory *out, struct tt_stream *stream);
void tt_memory_deinit(struct tt_memory *memory);

#endif
