/*
 * db.h: a thin door to databases: SQLite files and PostgreSQL. Nobody else sees their libraries.
 *
 *	TT_TRY(tt_db_create(&db, "out/db.sqlite.tmp", 4096));
 *	TT_TRY(tt_db_exec(db, "create table devices (device_id int)"));
 *	TT_TRY(tt_db_prepare(&insert, db, "insert into devices values (?)"));
 *	tt_db_bind_int(insert, 0, 7);
 *	TT_TRY(tt_db_run(insert));
 *	tt_db_stmt_free(insert);
 *	TT_TRY(tt_db_close(db));
 *
 * A path is that of a SQLite file; postgresql://USER@HOST/DATABASE is a database of a PostgreSQL server, by whose
 * library (libpq), loaded at run time, it is reached. Both understand the SQL of callers: what differs between them is
 * written as words in braces, which are the rows of sql_dialect.c. Times that are compared with each other are the
 * database's ({now}, in milliseconds since 1970), never those of who asks.
 *
 * Messages name the database and its reason. A database and its statements belong to one thread at a
 * time. While a file is filled (tt_db_create()) rows are written by a thread of its own, behind the
 * caller: a failure may be told by a later call, by tt_db_close() at the latest.
 * SQLite's own memory does not come from base/mem.h: other users of the same library in the process
 * (Python's sqlite3 module) have a say in that.
 */
#ifndef TT_DB_H
#define TT_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct tt_db;
struct tt_db_stmt;

/* Whether it names a PostgreSQL database: "postgresql://..." or "postgres://...". */
bool tt_db_is_url(const char *path);

/*
 * TTNN_INVALID when it is a URL with a password in it: arguments are read by everybody, and are written to logs. It comes
 * from the environment (PGPASSWORD) or libpq's files. Opening checks it too. Any path is fine.
 */
tt_status tt_db_check_url(const char *path);

/* Overwrites what may be a password in a text of others with stars. */
void tt_db_redact(char *text);

/*
 * Opens a file for one long load: created if absent (with pages of that many bytes), one
 * transaction, nothing synced, no journal. What a crash leaves is no database: so this is for files
 * under a temporary name.
 */
tt_status tt_db_create(struct tt_db **out, const char *path, unsigned page_size);

/*
 * Opens a database to read from. TTNN_NOTFOUND when there is no such file; of a server, TTNN_INVALID when it refuses, and
 * TTNN_IO when it is away.
 */
tt_status tt_db_open(struct tt_db **out, const char *path);

/*
 * Opens a database that others may read and write meanwhile; a file is made if it is absent. Who finds it locked waits up
 * to so many milliseconds. What is written outside of a transaction is one by itself.
 */
tt_status tt_db_share(struct tt_db **out, const char *path, int wait_ms);

/*
 * A transaction of such a file: others see all of it or nothing, whatever happens to this process. Beginning it waits for
 * other writers. tt_db_rollback() is also right after a failed commit.
 */
tt_status tt_db_begin(struct tt_db *db);
tt_status tt_db_commit(struct tt_db *db);
void tt_db_rollback(struct tt_db *db);

/*
 * Whether the last failure was that of a database that is away: its server or the way to it is gone, or somebody has
 * locked the file for too long. Whatever is done again after tt_db_reconnect() has a chance then.
 */
bool tt_db_away(const struct tt_db *db);

/* Looks for it again, at once: statements are as good as before, the transaction is gone. A failure leaves it away. */
tt_status tt_db_reconnect(struct tt_db *db);

/* In a child of fork(): it must not use the database, and does not keep the connection open. NULL is fine. */
void tt_db_forget(struct tt_db *db);

/* Ends the transaction of tt_db_create() and closes; frees `db` either way. NULL is fine. */
tt_status tt_db_close(struct tt_db *db);

/*
 * Nothing of the transaction is to be kept: rows that are not written yet are dropped, so that freeing
 * statements costs nothing. tt_db_discard() must follow. NULL is fine.
 */
void tt_db_give_up(struct tt_db *db);

/* Closes without keeping anything of the transaction. NULL is fine. */
void tt_db_discard(struct tt_db *db);

/* One or more statements without results. Who waits may give it up (base/deadline.h): TTNN_CANCELLED. */
tt_status tt_db_exec(struct tt_db *db, const char *sql);

/* Waits until all rows are written. */
tt_status tt_db_flush(struct tt_db *db);

/* A statement to run often. Free with tt_db_stmt_free(), before the database. */
tt_status tt_db_prepare(struct tt_db_stmt **out, struct tt_db *db, const char *sql);

/*
 * Its rows are written first, unless the database was given up; what fails then is told by tt_db_close().
 * NULL is fine.
 */
void tt_db_stmt_free(struct tt_db_stmt *stmt);

/*
 * Parameters count from 0; one that the statement does not have is told by tt_db_run() or tt_db_next().
 * Texts are borrowed until then; NULL is NULL.
 */
void tt_db_bind_null(struct tt_db_stmt *stmt, int at);
void tt_db_bind_int(struct tt_db_stmt *stmt, int at, int64_t value);
void tt_db_bind_real(struct tt_db_stmt *stmt, int at, double value);
void tt_db_bind_text(struct tt_db_stmt *stmt, int at, const char *text, size_t length);

/*
 * Runs to the end and makes ready for the next values. In a transaction of a server it may be on its way still: a failure is
 * told by a later call then, by tt_db_commit() at the latest.
 */
tt_status tt_db_run(struct tt_db_stmt *stmt);

/* The next row: *row tells whether there is one; the statement is ready again when not. */
tt_status tt_db_next(bool *row, struct tt_db_stmt *stmt);

/* A column of the present row: borrowed until the next step; NULL for NULL. */
const char *tt_db_text(struct tt_db_stmt *stmt, int column);
size_t tt_db_length(struct tt_db_stmt *stmt, int column); /* of the text, in bytes */
int64_t tt_db_int(struct tt_db_stmt *stmt, int column);
double tt_db_real(struct tt_db_stmt *stmt, int column);

/*
 * A statement that adds rows of these columns ("a, b, c") of a table by tt_db_run(), as fast as can be; in a transaction,
 * where nothing else may be asked before tt_db_copy_end(), which frees it and tells what failed.
 */
tt_status tt_db_copy(struct tt_db_stmt **out, struct tt_db *db, const char *table,
		     const char *columns);
tt_status tt_db_copy_end(struct tt_db_stmt *stmt);

/* Ends a walk of tt_db_next() before its last row: the statement is ready again. */
void tt_db_reset(struct tt_db_stmt *stmt);

#endif
