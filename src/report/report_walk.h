/*
 * report_walk.h: an import in progress, and the walk over the nodes of a graph that finds its operations.
 */
#ifndef TT_REPORT_REPORT_WALK_H
#define TT_REPORT_REPORT_WALK_H

#include "base/progress.h"
#include "report/pages.h"
#include "report/picture.h"
#include "report/records.h"
#include "report/report.h"
#include "report/tensors.h"
#include "report/traces.h"

/* A function that is open. */
struct tt_report_frame {
	int64_t counter;
	size_t position;     /* of its node */
	size_t inputs;       /* first of its references in `references` */
	uint32_t name;       /* entry of texts + 1 */
	uint32_t record;     /* of Python; 0: none */
	uint32_t error_type; /* entries + 1 of an error met inside; 0: none */
	uint32_t error_message;
	bool nested;    /* not an operation by itself */
	bool brought;   /* ttnn.from_torch before anything was computed, or what it does */
	bool has_trace; /* the node has a stack trace of C++ */
};

struct tt_report_output {
	int64_t id;
	size_t position;
};

/* A node that tells where a program ran. */
struct tt_report_placed {
	size_t position, text; /* of its params in `placed_texts`, zero-terminated */
	bool manager;
};

struct tt_report_import {
	const struct tt_report_options *options;
	const char *path; /* of the file */
	struct tt_report_source *source;
	int64_t rank, base;
	struct tt_report_db db;
	struct tt_report_devices devices;
	struct tt_report_graph graph;
	struct tt_report_records records;
	struct tt_report_buffers buffers;
	struct tt_report_pages pages;
	struct tt_report_tensors tensors;
	struct tt_report_captured captured;
	struct tt_report_traces traces;
	struct tt_report_counts counts;
	struct tt_report_picture picture; /* of the file, if pictures are wanted */
	const char *drawn;                /* the folder where pictures wait for the database */
	struct tt_progress progress;
	bool crowded; /* a file had so many operations that the next one's ids are theirs too */
	size_t size, told; /* bytes of the file, and of those told to the progress bar */
	unsigned untold;   /* nodes since */
	uint64_t begun_ns; /* when reading began; 0: nodes are walked */
	unsigned warnings; /* of this file */

	/* The walk. Depths are signed: an end without a start makes them negative. */
	int64_t number;         /* of the next operation, from 1 */
	int64_t visible, depth; /* open operations; open functions of any kind */
	bool computed;          /* an operation other than ttnn.from_torch was seen */
	TT_VEC(struct tt_report_frame) stack;
	TT_VEC(int64_t) references;
	/* Of the operation: its nodes, those about where programs ran, what is lifted from inside. */
	bool writing;         /* nodes go into `captured` as they come */
	TT_VEC(size_t) nodes; /* only while they are not captured */
	TT_VEC(struct tt_report_placed) placed;
	struct tt_str placed_texts;
	struct tt_json_parser placing;
	TT_VEC(int64_t) inputs;
	TT_VEC(struct tt_report_output) outputs;
	struct tt_idset inner_outputs, inner_inputs, own_inputs;
	bool aborted;                      /* a function inside was left by an exception */
	uint32_t abort_name, abort_reason; /* entries of texts + 1 */
	struct tt_map failed;              /* names of operations with errors */
	struct tt_json_parser record;      /* the record being used */
	struct tt_str scratch;
};

/* Walks the graph of import->source, from the first node to the rows of tensors. */
tt_status tt_report_walk(struct tt_report_import *import);

/* What upstream refuses: an error with the place of the node if strict, a warning if not. */
tt_status tt_report_complain(struct tt_report_import *import, size_t position, const char *what);

void tt_report_walk_reset(struct tt_report_import *import);
void tt_report_walk_deinit(struct tt_report_import *import);

/* ---- operation.c: the rows of one operation -------------------------------------------------- */

/* Its end: `end` is the node function_end; `frame` NULL when no function was open. */
tt_status tt_report_operation_end(struct tt_report_import *import, struct tt_report_frame *frame,
				  const struct tt_report_node *end);

/* It never ended. */
tt_status tt_report_operation_lost(struct tt_report_import *import, struct tt_report_frame *frame);

/* A buffer was freed outside of any function: an operation by itself. */
tt_status tt_report_operation_free(struct tt_report_import *import, const struct tt_json *node,
				   bool owned, int64_t owner);

/* A row of `errors`; texts as entries of texts + 1, `trace` may be NULL. */
struct tt_report_error {
	int64_t operation;
	const char *name, *type, *message, *trace;
};
tt_status tt_report_error(struct tt_report_import *import, const struct tt_report_error *error);

/* The counter of a node, 0 when it has none. */
int64_t tt_report_counter(const struct tt_json *node);

#endif
