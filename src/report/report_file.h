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

/* Files of a folder that the database is made without. */
struct tt_report_left {
	char *name, *reason; /* without the folder's path */
};
struct tt_report_lefts {
	TT_VEC(struct tt_report_left) files;
};

/* Adds one and warns with these words, in which the path may be first; not again of the same file. */
tt_status tt_report_leave(struct tt_report_lefts *lefts, const char *path, const char *words,
			  bool broken);
void tt_report_lefts_deinit(struct tt_report_lefts *lefts);

/* Names them in the database, as JSON: a row of its metadata, if there are any. */
tt_status tt_report_lefts_write(struct tt_report_import *import,
				const struct tt_report_lefts *lefts);

struct tt_report_file_args {
	struct tt_report_import *import;
	struct tt_report_sides *sides;
	const struct tt_report_git *git;
	struct tt_map *ranks;    /* rank as a number -> files of it so far */
	struct tt_map *compared; /* comparisons that have a row: {table, tensor, rank} */
	struct tt_map *devices;  /* that were met so far: {rank, id} */
	bool in_folder;          /* others may be no reports at all */
	struct tt_report_lefts *lefts;
};

/* *own: a failure is this file's, others may do. */
tt_status tt_report_file(bool *own, const struct tt_report_file_args *args, const char *path);

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
