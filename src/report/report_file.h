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

/* ---- report_file.c and report_told.c --------------------------------------------------------- */

/* The columns of a device between its id and its rank. */
#define TT_REPORT_DEVICE_COLUMNS 17
extern const char *const tt_report_device_columns[TT_REPORT_DEVICE_COLUMNS];

tt_status tt_report_metadata_row(struct tt_report_import *import, const char *key,
				 const char *value, size_t length);

/* Of a trace: its devices, and their rows; the buffers of each operation; those rows of metadata; chunks of pages. */
tt_status tt_report_told_devices(struct tt_report_import *import);
tt_status tt_report_told_buffers(struct tt_report_import *import);
tt_status tt_report_told_metadata(struct tt_report_import *import);
tt_status tt_report_told_pages(struct tt_report_import *import);

#endif
