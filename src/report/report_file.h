/*
 * report_file.h: one report file of an import, from its head to its chunks.
 */
#ifndef TT_REPORT_REPORT_FILE_H
#define TT_REPORT_REPORT_FILE_H

#include "report/git.h"
#include "report/report_walk.h"

/* Files beside the database: they get their names when it has its own. */
struct tt_report_sides {
	TT_VEC(struct tt_file_out *) files;
	struct tt_map paths; /* of these */
};

struct tt_report_file_args {
	struct tt_report_import *import;
	struct tt_report_sides *sides;
	const struct tt_report_git *git;
	struct tt_map *ranks;    /* rank as a number -> files of it so far */
	struct tt_map *compared; /* comparisons that have a row: {table, tensor, rank} */
	struct tt_map *devices;  /* that were met so far: {rank, id} */
	bool in_folder;          /* others may be no reports at all */
};

tt_status tt_report_file(const struct tt_report_file_args *args, const char *path);

#endif
