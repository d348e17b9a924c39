/*
 * folder.h: which files of a folder are reports or traces: one rule for `ttnn import` and for the commands that
 * show and export them.
 */
#ifndef TT_REPORT_FOLDER_H
#define TT_REPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Paths, each allocated. All zero is an empty list. */
struct tt_report_names {
	char **data;
	size_t count, room;
};

/*
 * Fills an empty list: the path itself if it is a file; of a folder its captures (graph_capture_<n>_of_<m>.json) if
 * there are any, else every trace and every JSON file but those that lie beside reports, in the order of their
 * names. `strict`: as upstream, without traces, and a path that is not there is an empty folder. Free the list also
 * after a failure.
 */
tt_status tt_report_names_list(struct tt_report_names *out, bool *in_folder, const char *path,
			       bool strict);

void tt_report_names_deinit(struct tt_report_names *names);

#endif
