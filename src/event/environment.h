/*
 * environment.h: tracing that the environment asks for.
 *
 *	TTNN_TRACE=DIR          every process writes DIR/PROGRAM-PID.ttrace
 *	TTNN_TRACE_OPTIONS=...  words with commas between them: the rows of environment.c
 */
#ifndef TT_EVENT_ENVIRONMENT_H
#define TT_EVENT_ENVIRONMENT_H

#include "base/status.h"

/* Begins a trace if the environment says so; it ends with the process. Complains on stderr. */
void tt_trace_from_environment(void);

/* Sets options from such a list of words; texts are cut out of it in place. *number is set to a signal. */
struct ttnn_trace_options;
tt_status tt_trace_parse_options(struct ttnn_trace_options *out, int *number, char *words);

#endif
