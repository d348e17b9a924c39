/*
 * left.h: what a process left behind that did not end its trace: chunks it was recording, in the file
 * beside (event/live.h). trace/trace_file.c reads them as it reads the trace; tt_trace_complete() puts them
 * into it for good.
 */
#ifndef TT_TRACE_LEFT_H
#define TT_TRACE_LEFT_H

#include "base/map.h"
#include "trace/trace_file.h"

/* The chunks of a file beside a trace, before it is known whether they are wanted. All zero is none. */
struct tt_left {
	uint32_t checksum; /* of the head of the trace it is beside */
	TT_VEC(struct tt_chunk *) chunks;
};

/* Reads the file beside the trace of this path, or the bytes of one. One that makes no sense has none. */
tt_status tt_left_open(struct tt_left *left, const char *path);
tt_status tt_left_bytes(struct tt_left *left, const struct tt_trace_bytes *bytes);
void tt_left_deinit(struct tt_left *left);

/*
 * Adds to a trace, whose chunks are known and which is the one it is beside, those that it does not have.
 * To be opened before the trace: chunks go from here to there.
 */
tt_status tt_left_merge(struct tt_trace_file *file, struct tt_terms *terms, struct tt_left *left);

/*
 * Reads all records of a chunk: events, operations, counts and last_ns of the head are set, and raw_size
 * is where the first that makes no sense begins. `names` and `lost` (optional) are added to: how often
 * scopes of a kind (as a byte, plus 1) and name began; records that are told to be lost.
 */
struct tt_measure {
	struct tt_map *names;
	uint64_t *lost;
};
tt_status tt_left_measure(struct tt_chunk_head *head, struct tt_terms *terms,
			  const unsigned char *raw, const struct tt_measure *more);

enum tt_completion {
	TT_COMPLETE_ALREADY,
	TT_COMPLETE_NOW,
	TT_COMPLETE_RUNNING, /* its process runs, or nobody can tell: nothing was touched */
};

/*
 * Completes the trace of a process that has ended: with what it left in the file beside, which is
 * removed, and an index. Stopped at any moment it can be done again.
 */
tt_status tt_trace_complete(enum tt_completion *out, const char *path);

/*
 * The same for all traces of a directory that have a file beside them or were changed since then, in
 * nanoseconds since 1970. Returns how many belong to processes that run.
 */
int tt_traces_complete(const char *directory, int64_t since);

#endif
