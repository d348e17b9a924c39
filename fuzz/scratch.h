/*
 * scratch.h: files of a fuzz target: in a directory of this process alone, under TMPDIR, which is
 * removed at its end.
 */
#ifndef FUZZ_SCRATCH_H
#define FUZZ_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"

#define SCRATCH_FILES 2

static char scratch_directory[3072], scratch_paths[SCRATCH_FILES][4096];

static void scratch_remove(void)
{
	for (int i = 0; i < SCRATCH_FILES; i++)
		if (scratch_paths[i][0])
			unlink(scratch_paths[i]);
	rmdir(scratch_directory);
}

/* The path of scratch file i. */
static const char *scratch(int i)
{
	if (!scratch_directory[0]) {
		snprintf(scratch_directory, sizeof(scratch_directory), "%s/ttnn-fuzz.XXXXXX",
			 tt_fd_temp_directory());
		if (!mkdtemp(scratch_directory))
			abort();
		atexit(scratch_remove);
	}
	snprintf(scratch_paths[i], sizeof(scratch_paths[i]), "%s/%d", scratch_directory, i);
	return scratch_paths[i];
}

#endif
