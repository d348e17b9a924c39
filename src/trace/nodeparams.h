/*
 * nodeparams.h: the params of the nodes that project.c makes, each kind in one function, in
 * alphabetical order as they are written. What a dialect lacks or spells otherwise is in dialect.c and
 * tensor/text.c.
 */
#ifndef TT_TRACE_NODEPARAMS_H
#define TT_TRACE_NODEPARAMS_H

#include "trace/project.h"

/* A buffer as nodes tell of it. */
struct tt_node_buffer {
	uint64_t size;
	enum ttnn_buffer_type type;
	enum ttnn_memory_layout layout;
	uint32_t device_id;
};

/* A function that begins. */
struct tt_node_function {
	const char *name;      /* the source's, or the dialect's: one pointer is one name */
	const char *operation; /* (optional) its own name, where all of its kind are called alike */
	size_t inputs;
	const struct tt_event_program *program; /* (optional) that it will launch */
};

/*
 * All fill in the params of node `node`, which has all else but its inputs; failures stick in the projection. Where the
 * reader knows its pattern, they fill in its numbers alone.
 */
void tt_node_function_start(struct tt_project *p, uint32_t node,
			    const struct tt_node_function *function);
/* `reason` may be NULL. */
void tt_node_function_end(struct tt_project *p, uint32_t node, const struct tt_project_call *call,
			  const char *reason, bool aborted);
/* The start of the capture, with the buffers that were there. */
void tt_node_capture_start(struct tt_project *p);
void tt_node_capture_end(struct tt_project *p, uint32_t node);
/* Puts what is known of its program to a function_start. */
void tt_node_program(struct tt_project *p, uint32_t node, const struct tt_event_program *program);
void tt_node_tensor(struct tt_project *p, uint32_t node, const struct tt_event_tensor *tensor);
void tt_node_buffer(struct tt_project *p, uint32_t node, const struct tt_node_buffer *buffer);
void tt_node_event(struct tt_project *p, uint32_t node, const struct tt_event_buffer *buffer);
void tt_node_memory(struct tt_project *p, uint32_t node,
		    const struct tt_event_program_memory *memory);
void tt_node_release(struct tt_project *p, uint32_t node, uint32_t device_id);
void tt_node_manager(struct tt_project *p, uint32_t node,
		     const struct tt_event_program_launch *launch);
void tt_node_launch(struct tt_project *p, uint32_t node,
		    const struct tt_event_program_launch *launch);
void tt_node_error(struct tt_project *p, uint32_t node, const struct tt_event_error *error,
		   const char *operation);

/* Keeps the first failure. */
void tt_project_fail(struct tt_project *p, tt_status status);

#endif
