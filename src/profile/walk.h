/*
 * walk.h: a recording as rows of a performance report (ops_row.h), one after the other in the order of time: what
 * all writers of profiles read. Memory is for what is alive: operations that are under way, rows that wait for an
 * earlier one of another thread, the programs that were seen lately, and captured traces until they are released.
 */
#ifndef TT_PROFILE_WALK_H
#define TT_PROFILE_WALK_H

#include "profile/ops_row.h"
#include "trace/source.h"

/* A recording's place in its run. */
struct tt_ops_place {
	uint32_t process;          /* from 0 */
	uint64_t first_launch;     /* launches of the processes before it */
	uint64_t offset_ns;        /* when it began, since the run began */
	enum ttnn_dialect dialect; /* of attributes */
};

struct tt_ops_walk;

/* Reads a source from its start; it stays the caller's and must outlive the walk. */
tt_status tt_ops_walk_new(struct tt_ops_walk **out, struct tt_source *source,
			  const struct tt_ops_place *place);

/* The next row, valid until the next call, to be completed by the caller; NULL behind the last. */
tt_status tt_ops_walk_next(struct tt_ops_row **out, struct tt_ops_walk *walk);

/* NULL is fine. */
void tt_ops_walk_free(struct tt_ops_walk *walk);

/* The name of a device's architecture as reports have it. */
const char *tt_ops_arch(const struct ttnn_device_info *info);

/* What must be known before the first row is written: found by looking through the source once. */
struct tt_ops_survey {
	uint32_t inputs, outputs; /* of the operation that has the most */
	uint64_t launches;        /* the highest number of one */
	uint64_t operations;
	uint32_t cores; /* of one chip: the most that one has */
	uint32_t clock_mhz;
	char arch[64]; /* of the first device; "" when there is none */
};

/* Adds what a source has to *out, up to so many operations; 0: all. */
tt_status tt_ops_survey(struct tt_ops_survey *out, struct tt_source *source, uint64_t limit);

#endif
