/*
 * fill.h: fills empty tables of a SQLite file without SQLite: a row with its indexes costs some hundredths of a
 * microsecond instead of one or two. For tables of millions of rows.
 *
 *	TT_TRY(tt_db_fill_new(&fill, "out", 4096));
 *	TT_TRY(tt_db_fill_stmt(&insert, db, fill, &table));   while the database is open
 *	tt_db_bind_int(insert, 0, 7); ... TT_TRY(tt_db_run(insert));
 *	TT_TRY(tt_db_close(db));
 *	TT_TRY(tt_db_fill_finish(fill, "out/db.sqlite.tmp"));
 *	tt_db_fill_free(fill);
 *
 * Rows are nowhere to be read before the end. Nothing looks whether they break a constraint: the caller has to know.
 * As with tt_db_create(), what a crash leaves is no database.
 *
 * Why pages by hand: `ttnn import --views` of a trace of 100,000 ttnn.add takes 1.0 s of processor time with them,
 * 1.5 s with prepared statements in one transaction; the files are alike (64 and 65 MB). An import into a file that
 * is there already takes the statements.
 */
#ifndef TT_DB_FILL_H
#define TT_DB_FILL_H

#include "db/db.h"

/* An index of integers. */
struct tt_db_fill_index {
	const char *name; /* of a UNIQUE constraint: "sqlite_autoindex_TABLE_1" */
	int count;
	int columns[9];
	bool some; /* only rows whose column `where` is `is` */
	int where;
	int64_t is;
};

/*
 * A table, with all its indexes. Rows come with the values of all columns; rowids are 1, 2, ..., unless the first
 * column is the primary key and grows.
 */
struct tt_db_fill_table {
	const char *name;
	int width;
	bool numbered; /* the first column is an INTEGER PRIMARY KEY */
	bool keyed; /* WITHOUT ROWID: integers, the first of them are the primary key; in any order */
	int index_count;
	struct tt_db_fill_index indexes[2];
};

struct tt_db_fill;

/* For files with pages of so many bytes. What waits is in files without names in the directory, which is borrowed. */
tt_status tt_db_fill_new(struct tt_db_fill **out, const char *directory, unsigned page_size);

/* A statement that adds a row. *table is borrowed. Free with tt_db_stmt_free(), before the database. */
tt_status tt_db_fill_stmt(struct tt_db_stmt **out, struct tt_db *db, struct tt_db_fill *fill,
			  const struct tt_db_fill_table *table);

/* Puts the tables into the file, which nobody has open: they must be there, empty, with these indexes and no others. */
tt_status tt_db_fill_finish(struct tt_db_fill *fill, const char *path);

/* NULL is fine. */
void tt_db_fill_free(struct tt_db_fill *fill);

#endif
