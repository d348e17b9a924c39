/*
 * buffers.h: which buffers live during each operation. A list per operation, but lists of
 * neighbours hardly differ: they are kept as spans, "this buffer from operation 12 to 57".
 *
 * Lists come from two places: the buffers that nodes allocate and free, and lists that the report
 * gives for an operation. Each is a track; an operation is on one of them. A track is cut into
 * blocks, so that a reader looks at a few spans only; within a block `position` is the order of the
 * list. What lives on in the next block has a span in each, so blocks are the longer the more that is: spans
 * are in proportion to operations and buffers. Operations are counted by `seq`, over all files of an import.
 */
#ifndef TT_REPORT_BUFFERS_H
#define TT_REPORT_BUFFERS_H

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "report/idset.h"
#include "report/intmap.h"
#include "report/report_source.h"
#include "report/schema.h"

struct tt_report_buffer {
	int64_t device, address, size, type, layout;
};

/* A layout that ttnn-visualizer has no name for, at which its page of buffers ends: stored as none. */
#define TT_REPORT_NO_LAYOUT (-1)

/* The number of a kind of memory by its name: "L1"; false when it is none. */
bool tt_report_buffer_type(int64_t *out, const struct tt_json *name);

struct tt_report_span {
	int64_t block, position, first, last;
	struct tt_report_buffer buffer;
};

/* What is no position of a node. */
#define TT_REPORT_NO_NODE SIZE_MAX

/* A buffer in a list that goes on. */
struct tt_report_open {
	struct tt_report_buffer buffer;
	int64_t position, first;
	size_t node; /* position of its node, or TT_REPORT_NO_NODE */
};

struct tt_report_track {
	int64_t block, block_start;          /* 0: none is begun; the seq of its first operation */
	int64_t position;                    /* of the last one appended */
	TT_VEC(struct tt_report_span) spans; /* of this block, ended */
};

/* A place for a buffer that lives. Places refer to others by number + 1; 0 is none. */
struct tt_report_alive {
	struct tt_report_open open;
	uint32_t before, after;  /* in the order in which they came; of free places the next one */
	uint32_t older, younger; /* of the same address */
	uint32_t node_older;     /* of the same node */
	bool fresh;              /* no operation saw it yet */
};

/* The buffers that live, in their order: they end in any, so each is found by its address and its node. */
struct tt_report_live {
	struct tt_report_track track;
	TT_VEC(struct tt_report_alive) places;
	uint32_t first, last, free;
	size_t count;
	struct tt_intmap by_address, by_node; /* the youngest there */
};

/* The list that was given last. */
struct tt_report_given {
	struct tt_report_track track;
	TT_VEC(struct tt_report_open) open;
};

/* A list that the report gives: for the operation that starts at a node of this counter. */
struct tt_report_list {
	int64_t counter;
	size_t first, count; /* in `listed` */
	int64_t operation;   /* 0: none had that counter */
	int64_t end;         /* counter of its function_end */
};

struct tt_report_buffers {
	struct tt_report_db *db;
	bool strict;               /* layouts as upstream writes them */
	int64_t rank, seq, blocks; /* of the whole import */
	uint64_t rows;             /* of the view, or stored */
	uint64_t changes;          /* of what lives: equal ones, equal lists */
	struct tt_report_live live;
	struct tt_report_given given;
	struct tt_map known;     /* given buffers, each once */
	TT_VEC(uint32_t) listed; /* entries of `known` */
	TT_VEC(struct tt_report_list) lists;
	struct tt_map by_counter; /* counter as a number -> index of lists */
	struct tt_idset devices;  /* all that buffers named, in Python's order */
};

/* Reads the report's own lists; `map` turns device ids (NULL: as they are). */
tt_status tt_report_buffers_read(struct tt_report_buffers *buffers, struct tt_report_source *source,
				 int64_t (*map)(void *context, int64_t device), void *context);

/* The same by hand: begins the list of an operation, by the counter of its start; adds a buffer to it. */
tt_status tt_report_buffers_list(struct tt_report_buffers *buffers, int64_t counter);
tt_status tt_report_buffers_listed(struct tt_report_buffers *buffers,
				   const struct tt_report_buffer *buffer);

/* A buffer comes to life; `node` is the position of the node that stands for it, or none. */
tt_status tt_report_buffers_add(struct tt_report_buffers *buffers,
				const struct tt_report_buffer *buffer, size_t node);

/* All of an address end, on any device and in any memory. */
tt_status tt_report_buffers_remove(struct tt_report_buffers *buffers, int64_t address);

/* The buffer that a node stands for ends; false in *lived, and nothing in *address, if none lives. */
tt_status tt_report_buffers_remove_node(struct tt_report_buffers *buffers, bool *lived,
					int64_t *address, size_t node);

/* The next operation sees what lives, or the list given for this counter if there is one. */
tt_status tt_report_buffers_operation(struct tt_report_buffers *buffers, int64_t operation,
				      struct tt_report_list *given);

/* The given list, or NULL. */
struct tt_report_list *tt_report_buffers_given(struct tt_report_buffers *buffers, int64_t counter);

/* No operation follows: all spans end and are written. */
tt_status tt_report_buffers_finish(struct tt_report_buffers *buffers);

/*
 * The least size of the buffers with this device and address during the last operation (DRAM and L1 have the
 * same addresses); false if there is none. `given` as that operation's.
 */
bool tt_report_buffers_find(int64_t *size, const struct tt_report_buffers *buffers,
			    const struct tt_report_buffer *at, bool given);

/* Forgets a file, keeps the counts of the import. */
void tt_report_buffers_reset(struct tt_report_buffers *buffers);
void tt_report_buffers_deinit(struct tt_report_buffers *buffers);

#endif
