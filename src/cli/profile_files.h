/*
 * profile_files.h: where the files of a profile go.
 *
 *	results/perf/NAME.csv             the report; an absolute name is taken as it is
 *	results/perf/NAME.tracy           the timeline; in a workspace it goes where tt-metal puts it
 *	results/perf/NAME/                what viewers take as a performance report, and what it is made of
 *	results/perf/NAME/traces/         the recordings, one of each process
 *	results/perf/NAME/traces-XXXXXX/  the same while the command runs
 *
 * The folder is locked (flock) as long as a profile of its name runs: a second one is refused before its command starts.
 */
#ifndef TT_CLI_PROFILE_FILES_H
#define TT_CLI_PROFILE_FILES_H

#include "base/vec.h"
#include "profile/ops_report.h"

struct cli_profile_files {
	char *report, *folder, *timeline;
	char *traces; /* absolute, for the command's environment */
	int lock;     /* the folder, open; -1: none */
	TT_VEC(struct tt_ops_input) inputs;
	uint64_t events;
	uint32_t threads;
};

/* Makes and locks the folders. All that can be judged before the command runs is. Free it also after a failure. */
tt_status cli_profile_files_make(struct cli_profile_files *files, const char *output);

/* Lists what was recorded; what cannot be read is said and left out. */
tt_status cli_profile_files_list(struct cli_profile_files *files);

/* Gives the recordings their last name, in the place of those that were there; the paths of the inputs are changed, too. */
tt_status cli_profile_files_settle(struct cli_profile_files *files);

/* Removes the folders if nothing is in them. */
void cli_profile_files_remove(const struct cli_profile_files *files);

void cli_profile_files_deinit(struct cli_profile_files *files);

#endif
