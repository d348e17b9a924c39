/* sweep_join.h: for `ttnn sweep run`: takes part in a run that was submitted, with nothing but its name and its database. */
#ifndef TT_CLI_SWEEP_JOIN_H
#define TT_CLI_SWEEP_JOIN_H

#include "sweep/jobs.h"

/*
 * Sets the options of the plan (sweep.h) as they were submitted, with the master file out of the database. A run that was not
 * submitted leaves `out` all zero and the options as they are.
 */
tt_status sweep_join(struct tt_job *out, const char *database, const char *run);

/* The plan was made, or given up: the master file is not needed any more. */
void sweep_join_loaded(void);

/* Frees what the options were set to. */
void sweep_join_end(struct tt_job *job);

#endif
