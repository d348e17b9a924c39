/*
 * configs_run.h: running what `ttnn configs trace` is given, with recording on, in a folder of its own.
 */
#ifndef TT_CLI_CONFIGS_RUN_H
#define TT_CLI_CONFIGS_RUN_H

#include "base/status.h"

struct configs_run {
	const char *python;
	const char *place; /* where the folder of its traces is made */
	bool stays;        /* its traces are not removed */
	int code;          /* the exit code, or 128 and a signal */
	char *directory;   /* holds the traces of all its processes */
	char *root;        /* the working directory */
	char *file;
	const char *source; /* the file that was run, below root if it is */
};

/* Runs it to its end. The exit code is no failure of ours. */
tt_status configs_run(struct configs_run *run, size_t count, char **operands);

/* Removes the traces, or keeps them as KEEP-PROGRAM-PID.ttrace, and frees. */
void configs_run_clean(struct configs_run *run, const char *keep);

#endif
