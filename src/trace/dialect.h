/*
 * dialect.h: how graphs differ between dialects: one row for each, and nothing else in the
 * projection (project.c) asks which dialect it writes.
 *
 * `seed` is what the seed documents show: functions as C++ names them, one node for a tensor, params
 * that are all texts, errors as nodes. `tt-metal` is what the released 0.81.1 writes.
 */
#ifndef TT_TRACE_DIALECT_H
#define TT_TRACE_DIALECT_H

#include "event/event.h"
#include "trace/graph.h"

#define TT_SCOPE_KINDS (TT_SCOPE_HOST + 1)

/* What becomes of a scope. */
struct tt_scope_style {
	bool written;
	const char *name; /* (optional) all are called that */
	bool takes;       /* its input tensors become nodes */
	bool guarded;     /* a failure still ends it, as aborted; else it stays open */
	bool plain_end;   /* its end tells no outputs, and ends whatever is the innermost */
};

struct tt_dialect {
	struct tt_scope_style scopes[TT_SCOPE_KINDS];
	const char *unwritten;     /* (optional) a host step that is not written all the same */
	const char *const *tuples; /* (optional) functions whose ends tell no outputs; NULL ends */
	bool fresh_tensors;        /* a node for each mention of a tensor */
	bool typed;                /* numbers are numbers; no params are null */
	bool one_memory;           /* all program memory is circular buffers, in every mode */
	bool programs;             /* how a program was built, where it ran */
	bool errors;               /* nodes for errors */
	bool stacks;               /* stack_trace */
	bool duration_params;      /* durations among the params too */
	bool device_pointers;      /* a device in arguments is an address, not its id */
	bool renumbers;            /* results get new tensor ids on their way out */
	bool all_threads;          /* a capture hears every thread */
	bool threads;              /* nodes of several threads say of which they are */
	bool view_addresses;       /* a view says where it lies, as what owns its buffer does */
};

const struct tt_dialect *tt_dialect(enum ttnn_dialect dialect);

/* Whether nodes of this kind have this param. */
bool tt_dialect_has(enum ttnn_dialect dialect, enum tt_graph_type type, enum tt_graph_key key);

/* The keys that it has not, as bits. */
uint64_t tt_dialect_lacks(enum ttnn_dialect dialect, enum tt_graph_type type);

#endif
