/*
 * bulk.h: fills one empty table of integers in a SQLite file that nobody has open, without SQLite: a row
 * costs a hundredth of a microsecond or two instead of most of one. For tables of millions of rows that
 * come last.
 *
 *	TT_TRY(tt_db_bulk_open(&bulk, "out/db.sqlite.tmp", &(struct tt_db_bulk_table){
 *		.table = "buffer_chunks", .width = 12, .index = "idx_operation", .column = 0}));
 *	if (bulk) ... TT_TRY(tt_db_bulk_add(bulk, row)); ... TT_TRY(tt_db_bulk_close(bulk));
 *
 * As with tt_db_create(), what a crash leaves is no database.
 */
#ifndef TT_DB_BULK_H
#define TT_DB_BULK_H

#include <stdint.h>

#include "base/status.h"

/* Tables have at most so many columns. */
#define TT_DB_BULK_WIDTH 32

struct tt_db_bulk_table {
	const char *table;
	int width;         /* columns, all integers; rowids are 1, 2, ... */
	const char *index; /* (optional) the only index, on one column: this */
	int column;
};

struct tt_db_bulk;

/* *out is NULL where the file is not plain enough, or the table not empty: then SQLite has to do it. */
tt_status tt_db_bulk_open(struct tt_db_bulk **out, const char *path,
			  const struct tt_db_bulk_table *table);

/* Appends a row of as many values as there are columns. */
tt_status tt_db_bulk_add(struct tt_db_bulk *bulk, const int64_t *row);

/* Completes the file and frees `bulk` either way. NULL is fine. */
tt_status tt_db_bulk_close(struct tt_db_bulk *bulk);

/* Frees; the file is no database then. NULL is fine. */
void tt_db_bulk_discard(struct tt_db_bulk *bulk);

#endif
