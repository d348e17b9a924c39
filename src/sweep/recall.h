/*
 * recall.h: a call of a trace as a call again: its operation, its arguments, tensors like those that it was given.
 */
#ifndef TT_SWEEP_RECALL_H
#define TT_SWEEP_RECALL_H

#include "sweep/inputs.h"
#include "trace/source.h"

/* A call of a trace. Everything in it lives in its arena, but for sets of cores: the source must outlive it. */
struct tt_recall {
	struct tt_arena arena;
	const char *op; /* "ttnn.add" */
	struct ttnn_arg args[TT_ARGS_MAX];
	size_t count;
	uint64_t number;
	char profile[64];    /* the machine it ran on, or "" */
	uint32_t rows, cols; /* of the mesh; 0: one chip */
};

/*
 * Reads the first operation of outermost call `number` of a trace. TTNN_NOTFOUND: there is no such call, or it called
 * no operation; TTNN_FORMAT: the trace is too old to tell names. To be freed when it succeeds.
 */
tt_status tt_recall_read(struct tt_recall *out, struct tt_source *source, uint64_t number);
void tt_recall_free(struct tt_recall *recall);

/* The lowest and the highest number of a call: recordings may begin in the middle. Both 0 when there is none. */
tt_status tt_recall_span(uint64_t *first, uint64_t *last, struct tt_source *source);

/* To run it again; the recall must outlive it. */
struct tt_call_source tt_call_of_recall(const struct tt_recall *recall);

#endif
