/*
 * course.h: what becomes of device memory in the course of a graph: buffers come and go, programs take
 * L1 while they are the last. Made from events (project.c), so that it is true whatever the dialect writes;
 * of graphs in JSON from their nodes, as far as these tell. memory_course.h adds it up.
 *
 * Everything is by chip: the chips of a mesh hold the same.
 */
#ifndef TT_TRACE_COURSE_H
#define TT_TRACE_COURSE_H

#include "base/paged.h"
#include "base/vec.h"
#include "event/event.h"
#include "trace/graph.h"

#define TT_COURSE_NONE UINT32_MAX

struct tt_course_buffer {
	uint64_t id;
	uint64_t size;
	uint64_t bank_size; /* bytes in the fullest bank; 0: not known */
	uint32_t device_id;
	uint32_t node; /* that stands for it; TT_COURSE_NONE: none does */
	bool l1;
	bool there;              /* before the graph begins */
	uint32_t before;         /* of a passing course: its place among those that were, + 1 */
	bool shaped;             /* a tensor in it was told */
	struct ttnn_shape shape; /* of the first one */
};

enum tt_course_kind {
	TT_COURSE_TAKE,    /* buffer `which` is there */
	TT_COURSE_GIVE,    /* and is not any more */
	TT_COURSE_PROGRAM, /* the program on device `which` takes `bytes` of its fullest core */
};

struct tt_course_step {
	uint32_t node; /* after which it is so */
	enum tt_course_kind kind;
	uint32_t which;
	uint64_t bytes;
};

/* All zero is a course in which nothing happens. */
struct tt_course {
	TT_VEC(struct tt_course_buffer) buffers;
	TT_VEC(struct tt_course_step) steps; /* in order of nodes */
	uint64_t bank;                       /* bytes of L1 that a core has; 0: not known */
};
void tt_course_deinit(struct tt_course *course);

/* Cores that program memory is told apart for; what lies beyond counts as the last of a row. */
#define TT_COURSE_GRID 32

/* A course in the making. All zero but course and device_id is one to begin with. */
struct tt_course_maker {
	struct tt_course *course;
	struct tt_paged ids; /* of buffers → place in the course + 1 */
	/* The last program that told of its memory row by row. */
	uint64_t cores[TT_COURSE_GRID * TT_COURSE_GRID];
	uint32_t device_id, chip_id; /* it ran on; TT_COURSE_NONE: not known */
	bool any;                    /* of its rows */
	bool again;                  /* ids come back: what was given is taken once more */
	bool passing; /* steps are taken as they come (tt_course_step) and forgotten */
	size_t taken; /* of them */
	TT_VEC(uint32_t)
	leaving, empty; /* places of buffers that are gone: to be used again, and free */
	TT_VEC(struct tt_course_buffer)
	theres;           /* of a passing one: the buffers that were there before */
	size_t shareless; /* buffers in L1 of which nobody knows what they take of a bank */
};
void tt_course_maker_deinit(struct tt_course_maker *maker);

/* ---- what happens, each after node `node`; TTNN_NOMEM is all that can fail ------------------------- */

/* A buffer: one that was there before, comes, or goes. Nothing happens the second time. */
tt_status tt_course_there(struct tt_course_maker *maker, const struct tt_event_buffer *buffer);
tt_status tt_course_take(struct tt_course_maker *maker, const struct tt_event_buffer *buffer,
			 uint32_t node);
tt_status tt_course_give(struct tt_course_maker *maker, const struct tt_event_buffer *buffer,
			 uint32_t node);

/* Which node stands for a buffer. */
tt_status tt_course_name(struct tt_course_maker *maker, uint64_t buffer_id, uint32_t node);

/* A tensor lies in a buffer. */
tt_status tt_course_fill(struct tt_course_maker *maker, uint64_t buffer_id,
			 const struct ttnn_tensor_spec *spec);

/* Whether a buffer was told of. */
tt_status tt_course_knows(bool *out, struct tt_course_maker *maker, uint64_t buffer_id);

/* Program memory is free again; a row of it is taken; a program tells of all of its rows. */
tt_status tt_course_release(struct tt_course_maker *maker, uint32_t device_id, uint32_t node);
tt_status tt_course_row(struct tt_course_maker *maker, const struct tt_event_program_memory *row,
			uint32_t node);
/* The same of ranges of cores instead of a set. */
tt_status tt_course_ranges(struct tt_course_maker *maker, const struct tt_event_program_memory *row,
			   const struct ttnn_core_range *ranges, size_t count, uint32_t node);
tt_status tt_course_program(struct tt_course_maker *maker, const struct tt_event_program *program,
			    uint32_t node);

/* A buffer of `theres` as an event would tell of it, for a course that begins again. */
struct tt_event_buffer tt_course_told(const struct tt_course_buffer *buffer);

/* Whether nobody knows what a buffer in L1 takes of a bank. */
bool tt_course_is_shareless(const struct tt_course_buffer *buffer);

/* The next step that was made before node `before`; false when there is none. Of a passing course it is gone then. */
bool tt_course_step(struct tt_course_step *out, struct tt_course_maker *maker, uint32_t before);

/* ---- of nodes, where nobody told of events (course_read.c) ------------------------------------------- */

/*
 * Bytes of a tensor in the fullest bank of L1, when nobody told: without the padding of pages; `banks` are those of its
 * device, 0 if that is not known.
 */
uint64_t tt_course_bank_size(const struct ttnn_tensor_spec *spec, uint64_t banks);

/* The course that the nodes of a graph tell of; *out is the caller's. */
tt_status tt_course_read(struct tt_course *out, const struct tt_graph *graph);

/*
 * The same step by step, of a maker with `again` set: the buffers that the first of so many nodes lists; a buffer as
 * its node tells of it (it was there if no node allocates it); then each node, which is about the buffer of node
 * `of`, or of none: -1.
 */
tt_status tt_course_read_start(struct tt_course_maker *maker, const struct tt_graph_node *node,
			       uint64_t nodes);
struct tt_event_buffer tt_course_read_buffer(const struct tt_graph_node *node, uint32_t number);
tt_status tt_course_read_node(struct tt_course_maker *maker, const struct tt_graph_node *node,
			      uint32_t number, int64_t of);

#endif
