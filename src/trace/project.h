/*
 * project.h: events → graph. The one way in which graphs come about: captures in memory and traces
 * in files are both read by source.h and handed over here, event by event.
 *
 *	struct tt_project project;
 *	tt_project_init(&project, &options);
 *	while (... seen ...)
 *		tt_project_event(&project, &seen->event, seen->time_ns, seen->thread);
 *	status = tt_project_finish(&graph, &project, end_ns);
 *	tt_project_deinit(&project);
 *
 * Every thread has functions of its own: what they do hangs below their own starts, and all of them
 * below the start of the capture. A failure sticks: later events are dropped, finish tells.
 */
#ifndef TT_TRACE_PROJECT_H
#define TT_TRACE_PROJECT_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "trace/course.h"
#include "trace/dialect.h"

struct tt_project_options {
	enum ttnn_dialect dialect;
	enum ttnn_run_mode mode;   /* of this capture */
	enum ttnn_run_mode actual; /* of the outermost one, which decides what happens */
	bool call_arguments;       /* functions without any tell those of the operation they call */
};

/* A device that was told of. */
struct tt_project_device {
	uint32_t id;
	const uint32_t *chips;
	uint32_t chip_count;
	bool managed;               /* its sub-device manager is written */
	bool used;                  /* memory was allocated, freed or used by a program */
	struct ttnn_device_row row; /* as reports show it */
	const char *arch, *profile;
};

/* One thread's functions. */
struct tt_project_scope {
	enum tt_scope_kind kind;
	bool written;
	const char *name;
	uint64_t begin;
};
struct tt_project_open {
	uint32_t node;
	uint64_t begin;
};
struct tt_project_thread {
	uint32_t number;
	TT_VEC(struct tt_project_scope) scopes; /* as told */
	TT_VEC(struct tt_project_open) open;    /* as written: without those left open in the end */
	int64_t last_end;                       /* node, or -1 */
	const char **stack;                     /* for the next function */
	uint32_t stack_count;
	bool stack_python; /* so far it is Python's */
	bool told_memory;  /* of the program that is launched next, row by row */
};

struct tt_project {
	struct tt_project_options options;
	const struct tt_dialect *dialect;
	struct tt_graph graph;
	TT_VEC(struct tt_project_thread) threads;
	TT_VEC(struct tt_project_device) devices;
	struct tt_map buffers, tensors;       /* id → node */
	struct tt_course_maker course;        /* of the graph's */
	TT_VEC(struct tt_event_buffer) there; /* buffers from before the capture */
	struct tt_str text;
	tt_status status;
	char message[256];
};

/* Begins a graph. On failure finish tells. */
void tt_project_init(struct tt_project *p, const struct tt_project_options *options);

/* One event; times are since the capture began. */
void tt_project_event(struct tt_project *p, const struct tt_event *event, uint64_t time_ns,
		      uint32_t thread);

/* Hands the graph over, with its capture_end; it is the caller's. */
tt_status tt_project_finish(struct tt_graph *out, struct tt_project *p, uint64_t end_ns);

/* The same without an end, for a look at a capture that goes on. */
tt_status tt_project_take(struct tt_graph *out, struct tt_project *p);

void tt_project_deinit(struct tt_project *p);

#endif
