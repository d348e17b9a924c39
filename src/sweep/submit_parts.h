/* submit_parts.h: between submit.c and submit_k8s.c. */
#ifndef TT_SWEEP_SUBMIT_PARTS_H
#define TT_SWEEP_SUBMIT_PARTS_H

#include "sweep/submit.h"

/* Appends a word as a shell reads it. TTNN_INVALID when it has a line break. */
tt_status tt_submit_quote(struct tt_str *out, const char *word);

/* Appends the command of a task; `shard` is what the shell knows its number by, counted from 1. */
tt_status tt_submit_command(struct tt_str *out, const struct tt_submit *submit, const char *shard);

#endif
