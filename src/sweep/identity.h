/*
 * identity.h: whether a call that runs again is the one that was recorded: it is traced while it runs, and what a fresh reader
 * finds in that trace is compared with the recording, argument by argument. The objects that made the call are not asked.
 *
 *	TT_TRY(tt_identity_begin(&identity));
 *	status = ttnn_call(...);
 *	status = tt_identity_end(&found, &identity, op, recorded);
 *
 * Arguments are compared as the texts of master files, where the recording has them whole; else by what they mean.
 */
#ifndef TT_SWEEP_IDENTITY_H
#define TT_SWEEP_IDENTITY_H

#include "event/capture.h"
#include "sweep/traced.h"

/* A trace of one call. All zero is none. */
struct tt_identity {
	struct tt_capture *capture;
};

struct tt_identity_found {
	bool same;
	size_t texts;   /* arguments that have the recorded text */
	size_t meant;   /* those that have another, and mean the same */
	size_t unknown; /* those that the recording lost */
	char why[300];  /* of a difference */
};

/* From now on this thread's calls are traced, in memory. */
tt_status tt_identity_begin(struct tt_identity *identity);

/* No more. The last that was begun must end first; all zero is fine. */
void tt_identity_drop(struct tt_identity *identity);

/* Reads the trace, compares the first operation of it, and drops it. A difference is no failure. */
tt_status tt_identity_end(struct tt_identity_found *out, struct tt_identity *identity,
			  const char *op, const struct tt_traced_call *recorded);

#endif
