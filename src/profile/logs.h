/*
 * logs.h: the files that upstream's post-processing derives a performance report from, beside ours: the log of the
 * devices, the zones and the messages of the host, and in the later layout the report of the devices.
 *
 * docs/formats/perf_csv.md says what is in them.
 */
#ifndef TT_PROFILE_LOGS_H
#define TT_PROFILE_LOGS_H

#include "profile/merge.h"

struct tt_ops_logs;

/* Creates the files in a folder that is there; nothing is under their names before the end. */
tt_status tt_ops_logs_new(struct tt_ops_logs **out, const char *folder, enum ttnn_dialect dialect);

/* A writer (merge.h) with a struct tt_ops_logs as its context. */
extern const struct tt_ops_sink tt_ops_logs_sink;

/* Completes the files, or with a failure that came before removes them; frees. Tells the first failure. */
tt_status tt_ops_logs_end(struct tt_ops_logs *logs, tt_status status);

#endif
