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
 *
 * What is made of the events is a choice (enum tt_project_how): a whole graph, or parts of it on the way, in memory
 * for what is alive alone: stream.h and calls.h are such.
 */
#ifndef TT_TRACE_PROJECT_H
#define TT_TRACE_PROJECT_H

#include "base/paged.h"
#include "base/str.h"
#include "base/vec.h"
#include "trace/argmemo.h"
#include "trace/course.h"
#include "trace/devices.h"
#include "trace/dialect.h"
#include "trace/pattern.h"

/* Nodes that commands read at once, for what needs them all: about a gigabyte. */
#define TT_PROJECT_MOST 4000000

enum tt_project_how {
	TT_PROJECT_GRAPH, /* all is kept: tt_project_finish() gives the graph */
	TT_PROJECT_NODES, /* nodes are described, edges told; tt_project_drop() forgets the nodes so far */
	TT_PROJECT_EDGES, /* nodes are counted and edges told */
	TT_PROJECT_CALLS, /* functions alone are told of */
};

struct tt_project_call;

/* Who is told of what happens, as far as it is not NULL. */
struct tt_project_sink {
	/* A function has begun; it ends, after so many nanoseconds. `calls` are all open ones, that the last. */
	void (*begin)(void *context, const struct tt_project_call *calls, size_t count);
	void (*end)(void *context, const struct tt_project_call *calls, size_t count,
		    uint64_t duration);
	/* Of TT_PROJECT_EDGES and TT_PROJECT_NODES: an edge. */
	void (*edge)(void *context, uint32_t from, uint32_t to);
	/* Of TT_PROJECT_EDGES: a node that the capture made; the program of the function `node`. */
	void (*made)(void *context, uint32_t node);
	void (*program)(void *context, uint32_t node, const struct tt_event_program *program);
	/* Of TT_PROJECT_NODES: the program that function `node` will have, or NULL. */
	const struct tt_event_program *(*future)(void *context, uint32_t node);
};

struct tt_project_options {
	enum ttnn_dialect dialect;
	enum ttnn_run_mode mode;   /* of this capture */
	enum ttnn_run_mode actual; /* of the outermost one, which decides what happens */
	bool stacks;               /* of functions, in any dialect */
	bool call_arguments; /* of a whole graph: functions without any tell those of the operation they call */
	enum tt_project_how how;
	uint32_t most;     /* nodes of a whole graph that there may be; 0: any number */
	const char *label; /* of a stream and of calls: a progress bar of that name; NULL: none */
	unsigned rounds;   /* how often the nodes will be gone through; 0: once */
	uint64_t end_ns;   /* of a stream: when the capture ended; 0: with the last event */
	bool course;       /* follow what becomes of memory; a whole graph always does */
	/* Of a stream: edges are read behind the nodes: tt_stream_trace_apart(). Its bar is that of the first reading. */
	bool apart;
	bool several; /* of TT_PROJECT_NODES: nodes are of several threads, as one said before that counted them */
	bool plain; /* nodes have those params alone that people read: names, numbers of tensors, shapes */
	const struct tt_project_sink *sink; /* (optional) */
	void *context;                      /* the sink's */
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
};
/* A function that is open, as written. */
struct tt_project_call {
	uint32_t node;
	int32_t level;
	uint64_t begin;
	uint64_t inner_ns;    /* that the calls inside took */
	const char *name;     /* the source's, or the dialect's */
	const char *own_name; /* the source's, if that is the dialect's; or NULL */
	bool operation;       /* that a user calls, not a step of one */
	char **stack;         /* where it was called from */
	uint32_t stack_count;
	uint32_t stack_lines; /* of these Python's, which come first */
};
struct tt_project_thread {
	TT_VEC(struct tt_project_scope) scopes; /* as told */
	TT_VEC(struct tt_project_call) open;    /* as written: without those left open in the end */
	int64_t last_end;                       /* node, or -1 */
	TT_VEC(char *) stack;                   /* for the next function */
	size_t stack_lines;                     /* of these Python's, which come first */
	uint32_t number;                        /* of the thread, + 1; 0: nobody's */
	bool seen;                              /* a node is of it */
	uint64_t system_id;                     /* the kernel's number, if that is known */
	const char *name;                       /* likewise, or NULL */
	bool told_memory;     /* of the program that is launched next, row by row */
	uint32_t chip;        /* that the first of those rows is of */
	uint32_t launched_on; /* the device whose program memory was free last */
};

/* What is known of a name, which is the source's: one pointer is one name. */
struct tt_project_name {
	const char *name;
	bool operation; /* that a user calls, at any level */
	bool unwritten; /* by the dialect */
};
#define TT_PROJECT_NAMES 64

/* The text of a set of cores. */
struct tt_project_cores {
	const ttnn_core_set *cores;
	struct tt_str text;
};
#define TT_PROJECT_CORES 16

/* Params of a node at most; numbers of one that has a pattern. */
#define TT_PROJECT_PARAMS 16
#define TT_PROJECT_NUMBERS 64

struct tt_project {
	struct tt_project_options options;
	const struct tt_dialect *dialect;
	uint64_t lacks
		[TT_GRAPH_OTHER]; /* keys that the dialect's nodes of each kind have not, as bits */
	struct tt_graph graph;    /* or the nodes that were not dropped yet */
	uint32_t count;           /* nodes so far */
	uint32_t thread;          /* of the first node that is of any, + 1 */
	bool several;             /* there are nodes of others */
	struct tt_arena kept;     /* what is known of devices */
	TT_VEC(struct tt_project_thread) threads; /* by number */
	TT_VEC(struct tt_project_device) devices;
	struct tt_paged buffers, tensors;               /* id → node + 1 */
	struct tt_chip_list chips;                      /* that nodes of circular buffers name */
	struct tt_course_maker course;                  /* of the graph's */
	TT_VEC(struct tt_event_buffer) there;           /* buffers from before the capture */
	struct tt_project_name names[TT_PROJECT_NAMES]; /* by their address: those asked for last */
	struct tt_str text;
	struct tt_argtext_style style;                   /* of texts */
	struct tt_project_cores cores[TT_PROJECT_CORES]; /* by their address */
	struct tt_graph_param params[TT_PROJECT_PARAMS]; /* of the node that is being described */
	int64_t numbers[TT_PROJECT_NUMBERS];             /* likewise */
	struct tt_argmemo arguments; /* texts of arguments, of nodes that go on their way at once */
	struct tt_patterns patterns; /* of such nodes, too */
	tt_status status;
	char message[256];
};

/* A node that was not dropped yet. */
static inline struct tt_graph_node *tt_project_node(struct tt_project *p, uint32_t number)
{
	return &p->graph.nodes[number - (p->count - p->graph.count)];
}

/* The number of the node that stands for a buffer, + 1; 0: none does. */
uint32_t tt_project_buffer(struct tt_project *p, uint64_t buffer_id);

/* Begins a graph. On failure finish tells. */
void tt_project_init(struct tt_project *p, const struct tt_project_options *options);

/* One event; times are since the capture began. */
void tt_project_event(struct tt_project *p, const struct tt_event *event, uint64_t time_ns,
		      uint32_t thread);

/* Forgets the nodes so far; their numbers are not used again. Patterns go with them, if there are many. */
void tt_project_drop(struct tt_project *p);

/* The last node: capture_end. For those who do not take a graph. */
void tt_project_end(struct tt_project *p, uint64_t end_ns);

/* The first node once more, as it is known at the end. */
void tt_project_first(struct tt_project *p);

/* The first failure. */
tt_status tt_project_status(const struct tt_project *p);

/* Hands the graph over, with its capture_end; it is the caller's. */
tt_status tt_project_finish(struct tt_graph *out, struct tt_project *p, uint64_t end_ns);

/* The same without an end, for a look at a capture that goes on. */
tt_status tt_project_take(struct tt_graph *out, struct tt_project *p);

void tt_project_deinit(struct tt_project *p);

#endif
