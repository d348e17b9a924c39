/* sqlite.c: the driver of SQLite files. */
#include <pthread.h>
#include <string.h>

#include "base/deadline.h"
#include "base/mem.h"
#include "db/stmt.h"

/* A long statement asks after so many steps, some milliseconds, whether it is to go on. */
#define PROGRESS 20000

static tt_status fail(struct tt_db *db, int code)
{
	if (code == SQLITE_NOMEM)
		return tt_fail_nomem();
	if (code == SQLITE_INTERRUPT)
		return tt_deadline_fail("the database");
	db->away = code == SQLITE_BUSY || code == SQLITE_LOCKED;
	return tt_fail(code == SQLITE_CONSTRAINT ? TTNN_INVALID : TTNN_IO, "%s: %s", db->path,
		       code == SQLITE_ERROR || code == SQLITE_CONSTRAINT
			       ? sqlite3_errmsg(db->handle)
			       : sqlite3_errstr(code));
}

/* Statistics of memory cost a lock with every block. Once the library is in use it is too late. */
static void configure(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

tt_status tt_db_sqlite_open(struct tt_db *db, int flags, int wait_ms)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int code;

	pthread_once(&once, configure);
	code = sqlite3_open_v2(db->path, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (code != SQLITE_OK)
		return fail(db, code);
	sqlite3_busy_timeout(db->handle, wait_ms);
	return TTNN_OK;
}

static void close_file(struct tt_db *db)
{
	sqlite3_close(db->handle);
}

/* Asked by SQLite while a statement runs: true ends it. */
static int is_stopped(void *context)
{
	(void)context;
	return tt_deadline_stop();
}

static tt_status exec(struct tt_db *db, const char *sql)
{
	int code;

	sqlite3_progress_handler(db->handle, PROGRESS, is_stopped, NULL);
	code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
	sqlite3_progress_handler(db->handle, 0, NULL, NULL);
	return code == SQLITE_OK ? TTNN_OK : fail(db, code);
}

static tt_status begin(struct tt_db *db)
{
	/* At once as a writer: one that reads first would be refused when others write meanwhile. */
	return exec(db, "begin immediate");
}

static tt_status commit(struct tt_db *db)
{
	return exec(db, "commit");
}

static void rollback(struct tt_db *db)
{
	/* It may be rolled back already; the message of what went wrong stays. */
	if (!sqlite3_get_autocommit(db->handle))
		sqlite3_exec(db->handle, "rollback", NULL, NULL, NULL);
}

static tt_status reconnect(struct tt_db *db)
{
	rollback(db);
	db->away = false;
	return TTNN_OK;
}

/* ---- statements ----------------------------------------------------------------------------- */

static tt_status prepare(struct tt_db_stmt *stmt, const char *sql)
{
	int code = sqlite3_prepare_v3(stmt->db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
				      &stmt->handle, NULL);

	if (code != SQLITE_OK)
		return fail(stmt->db, code);
	stmt->count = sqlite3_bind_parameter_count(stmt->handle);
	return TTNN_OK;
}

static void release(struct tt_db_stmt *stmt)
{
	sqlite3_finalize(stmt->handle);
}

static int bind(sqlite3_stmt *handle, int at, const struct tt_db_value *value)
{
	switch (value->kind) {
	case TT_DB_INT:
		return sqlite3_bind_int64(handle, at, value->whole);
	case TT_DB_REAL:
		return sqlite3_bind_double(handle, at, value->real);
	case TT_DB_TEXT:
		return sqlite3_bind_text64(handle, at, value->text, value->length, SQLITE_STATIC,
					   SQLITE_UTF8);
	default:
		return sqlite3_bind_null(handle, at);
	}
}

/* *row tells whether there is one. At the end, and after failures, the statement is ready again. */
static tt_status step(bool *row, struct tt_db_stmt *stmt)
{
	int code = sqlite3_step(stmt->handle);
	tt_status status = TTNN_OK;

	*row = code == SQLITE_ROW;
	if (code == SQLITE_ROW)
		return TTNN_OK;
	if (code != SQLITE_DONE)
		status = fail(stmt->db, code);
	sqlite3_reset(stmt->handle);
	return status;
}

static tt_status bind_all(struct tt_db_stmt *stmt, const struct tt_db_value *values)
{
	for (int i = 0; i < stmt->count; i++) {
		int code = bind(stmt->handle, i + 1, &values[i]);

		if (code != SQLITE_OK)
			return fail(stmt->db, code);
	}
	return TTNN_OK;
}

static tt_status write_row(struct tt_db_stmt *stmt, const struct tt_db_value *values)
{
	bool row;

	TT_TRY(bind_all(stmt, values));
	do
		TT_TRY(step(&row, stmt));
	while (row);
	return TTNN_OK;
}

static tt_status next(bool *row, struct tt_db_stmt *stmt)
{
	if (!sqlite3_stmt_busy(stmt->handle))
		TT_TRY(bind_all(stmt, stmt->values));
	return step(row, stmt);
}

static const char *text(struct tt_db_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt->handle, column);
}

static size_t length(struct tt_db_stmt *stmt, int column)
{
	return (size_t)sqlite3_column_bytes(stmt->handle, column);
}

static int64_t whole(struct tt_db_stmt *stmt, int column)
{
	return sqlite3_column_int64(stmt->handle, column);
}

static double real(struct tt_db_stmt *stmt, int column)
{
	return sqlite3_column_double(stmt->handle, column);
}

static void reset(struct tt_db_stmt *stmt)
{
	sqlite3_reset(stmt->handle);
}

/* Inserts of one transaction are as good as a copy: there is nobody to be asked for each. */
static tt_status copy_begin(struct tt_db_stmt *stmt, const char *sql)
{
	return prepare(stmt, sql);
}

static tt_status copy_end(struct tt_db_stmt *stmt)
{
	(void)stmt;
	return TTNN_OK;
}

static void forget(struct tt_db *db)
{
	(void)db;
}

const struct tt_db_driver tt_db_sqlite = {
	.dialect = TT_DB_SQLITE,
	.exec = exec,
	.begin = begin,
	.commit = commit,
	.rollback = rollback,
	.close = close_file,
	.reconnect = reconnect,
	.forget = forget,
	.prepare = prepare,
	.release = release,
	.write = write_row,
	.next = next,
	.text = text,
	.length = length,
	.whole = whole,
	.real = real,
	.reset = reset,
	.copy_begin = copy_begin,
	.copy_end = copy_end,
};
