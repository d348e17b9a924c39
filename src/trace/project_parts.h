/*
 * project_parts.h: what project.c and project_memory.c share: nodes and edges as they are added, and the events of
 * memory and programs.
 */
#ifndef TT_TRACE_PROJECT_PARTS_H
#define TT_TRACE_PROJECT_PARTS_H

#include "trace/nodeparams.h"

/* Whether nodes have content, and whether there are nodes at all. */
static inline bool tt_project_describes(const struct tt_project *p)
{
	return p->options.how <= TT_PROJECT_NODES;
}

/* Whether what becomes of memory is followed. */
static inline bool tt_project_follows(const struct tt_project *p)
{
	return p->options.how == TT_PROJECT_GRAPH || p->options.course;
}

static inline bool tt_project_counts(const struct tt_project *p)
{
	return p->options.how != TT_PROJECT_CALLS;
}

static inline uint32_t tt_project_top(const struct tt_project_thread *t)
{
	return t->open.count ? t->open.data[t->open.count - 1].node : 0;
}

/* The node after which something happens that has none of its own. */
static inline uint32_t tt_project_last_node(const struct tt_project *p)
{
	return p->count ? p->count - 1 : 0;
}

/* Leads from one node to another. */
void tt_project_connect(struct tt_project *p, uint32_t from, uint32_t to);

/* The same to a node that was not there before a function, or an allocation, gave it. */
void tt_project_give(struct tt_project *p, uint32_t from, uint32_t to);

/* A new node inside the innermost function; node 0, and a failure, when memory is exhausted. */
uint32_t tt_project_add(struct tt_project *p, const struct tt_project_thread *t,
			enum tt_graph_type type);

/* A new node that hangs on the innermost function. */
uint32_t tt_project_hang(struct tt_project *p, const struct tt_project_thread *t,
			 enum tt_graph_type type);

/* The node of a buffer, made if there is none. */
uint32_t tt_project_buffer_node(struct tt_project *p, const struct tt_project_thread *t,
				uint64_t id, const struct tt_node_buffer *buffer);

/* After what follows from an event for the course. */
void tt_project_follow(struct tt_project *p, tt_status status);

/* ---- project_memory.c: events -------------------------------------------------------------------- */

void tt_project_on_buffer(struct tt_project *p, struct tt_project_thread *t,
			  const struct tt_event_buffer *told, enum tt_graph_type type);
void tt_project_on_there(struct tt_project *p, const struct tt_event_buffer *told);
void tt_project_on_memory(struct tt_project *p, struct tt_project_thread *t,
			  const struct tt_event_program_memory *told);
void tt_project_on_program(struct tt_project *p, struct tt_project_thread *t,
			   const struct tt_event_program *told);
void tt_project_on_release(struct tt_project *p, struct tt_project_thread *t, uint32_t told);
void tt_project_on_launch(struct tt_project *p, struct tt_project_thread *t,
			  const struct tt_event_program_launch *told);
void tt_project_on_device(struct tt_project *p, const struct tt_event_device *told);

#endif
