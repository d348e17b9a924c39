#include "db/db.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/mem.h"
#include "db/stmt.h"

/* A long statement asks after so many steps, some milliseconds, whether it is to go on. */
#define PROGRESS 20000

static tt_status fail(const struct tt_db *db, int code)
{
	if (code == SQLITE_NOMEM)
		return tt_fail_nomem();
	if (code == SQLITE_INTERRUPT)
		return tt_deadline_fail("the database");
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

static tt_status open_file(struct tt_db **out, const char *path, int flags, int wait_ms)
{
	struct tt_db *db = tt_calloc(1, sizeof(*db));
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	tt_status status;
	int code;

	pthread_once(&once, configure);
	if (!db)
		return tt_fail_nomem();
	db->path = tt_strdup(path);
	if (!db->path) {
		tt_free(db);
		return tt_fail_nomem();
	}
	code = sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (code == SQLITE_OK) {
		sqlite3_busy_timeout(db->handle, wait_ms);
		*out = db;
		return TTNN_OK;
	}
	status = fail(db, code);
	tt_db_discard(db);
	return status;
}

tt_status tt_db_create(struct tt_db **out, const char *path, unsigned page_size)
{
	/* The file is nobody else's, so SQLite need not look whether it changed. */
	static const char setup[] = "pragma page_size = %u; pragma journal_mode = off;"
				    "pragma synchronous = off; pragma locking_mode = exclusive;"
				    "pragma cache_size = -4096; pragma temp_store = file; begin;";
	char sql[sizeof(setup) + 16];
	struct tt_db *db;
	tt_status status;

	TT_TRY(open_file(&db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0));
	snprintf(sql, sizeof(sql), setup, page_size);
	status = tt_db_exec(db, sql);
	if (status == TTNN_OK)
		status = tt_db_load_new(&db->load);
	if (status != TTNN_OK) {
		tt_db_discard(db);
		return status;
	}
	db->loading = true;
	*out = db;
	return TTNN_OK;
}

tt_status tt_db_open(struct tt_db **out, const char *path)
{
	if (access(path, F_OK) != 0)
		return tt_fail(TTNN_NOTFOUND, "%s: cannot open: %s", path, strerror(errno));
	return open_file(out, path, SQLITE_OPEN_READONLY, 0);
}

tt_status tt_db_share(struct tt_db **out, const char *path, int wait_ms)
{
	return open_file(out, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, wait_ms);
}

tt_status tt_db_begin(struct tt_db *db)
{
	/* At once as a writer: one that reads first would be refused when others write meanwhile. */
	return tt_db_exec(db, "begin immediate");
}

tt_status tt_db_commit(struct tt_db *db)
{
	return tt_db_exec(db, "commit");
}

void tt_db_rollback(struct tt_db *db)
{
	/* It may be rolled back already; the message of what went wrong stays. */
	if (!sqlite3_get_autocommit(db->handle))
		sqlite3_exec(db->handle, "rollback", NULL, NULL, NULL);
}

void tt_db_give_up(struct tt_db *db)
{
	if (!db || !db->load)
		return;
	db->given_up = true;
	tt_db_load_drop(db->load);
}

void tt_db_discard(struct tt_db *db)
{
	if (!db)
		return;
	tt_db_load_free(db->load);
	sqlite3_close(db->handle);
	tt_free(db->path);
	tt_free(db);
}

tt_status tt_db_close(struct tt_db *db)
{
	tt_status status = TTNN_OK;

	if (db && db->loading)
		status = tt_db_exec(db, "commit");
	tt_db_discard(db);
	return status;
}

/* Asked by SQLite while a statement runs: true ends it. */
static int is_stopped(void *context)
{
	(void)context;
	return tt_deadline_stop();
}

tt_status tt_db_exec(struct tt_db *db, const char *sql)
{
	int code;

	if (db->load)
		TT_TRY(tt_db_load_drain(db->load));
	sqlite3_progress_handler(db->handle, PROGRESS, is_stopped, NULL);
	code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
	sqlite3_progress_handler(db->handle, 0, NULL, NULL);
	return code == SQLITE_OK ? TTNN_OK : fail(db, code);
}

tt_status tt_db_flush(struct tt_db *db)
{
	return db->load ? tt_db_load_drain(db->load) : TTNN_OK;
}

/* ---- statements ----------------------------------------------------------------------------- */

tt_status tt_db_prepare(struct tt_db_stmt **out, struct tt_db *db, const char *sql)
{
	struct tt_db_stmt *stmt = tt_calloc(1, sizeof(*stmt));
	tt_status status = TTNN_OK;
	int code;

	if (!stmt)
		return tt_fail_nomem();
	stmt->db = db;
	if (db->load)
		status = tt_db_load_drain(db->load);
	if (status == TTNN_OK) {
		code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
					  &stmt->handle, NULL);
		if (code != SQLITE_OK)
			status = fail(db, code);
	}
	stmt->count = sqlite3_bind_parameter_count(stmt->handle);
	if (status == TTNN_OK && stmt->count > TT_DB_PARAMETERS)
		status = tt_fail(TTNN_INTERNAL, "a statement with %d parameters", stmt->count);
	if (status == TTNN_OK)
		*out = stmt;
	else
		tt_db_stmt_free(stmt);
	return status;
}

void tt_db_stmt_free(struct tt_db_stmt *stmt)
{
	if (!stmt)
		return;
	/* Rows on their way need it. A failure is kept for tt_db_close(). */
	if (stmt->db->load && stmt->db->given_up)
		tt_db_load_drop(stmt->db->load);
	else if (stmt->db->load)
		(void)tt_db_load_drain(stmt->db->load);
	sqlite3_finalize(stmt->handle);
	tt_free(stmt);
}

/* Where a parameter is kept; one that there is not has a place that nobody reads. */
static struct tt_db_value *place(struct tt_db_stmt *stmt, int at)
{
	if (at >= 0 && at < stmt->count)
		return &stmt->values[at];
	stmt->beyond = true;
	stmt->wrong = at;
	return &stmt->nowhere;
}

static tt_status check_parameters(struct tt_db_stmt *stmt)
{
	if (!stmt->beyond)
		return TTNN_OK;
	stmt->beyond = false; /* it is told once */
	return tt_fail(TTNN_INTERNAL, "%s: parameter %d of a statement with %d", stmt->db->path,
		       stmt->wrong, stmt->count);
}

void tt_db_bind_null(struct tt_db_stmt *stmt, int at)
{
	place(stmt, at)->kind = TT_DB_NULL;
}

void tt_db_bind_int(struct tt_db_stmt *stmt, int at, int64_t value)
{
	struct tt_db_value *to = place(stmt, at);

	to->kind = TT_DB_INT;
	to->whole = value;
}

void tt_db_bind_real(struct tt_db_stmt *stmt, int at, double value)
{
	struct tt_db_value *to = place(stmt, at);

	to->kind = TT_DB_REAL;
	to->real = value;
}

void tt_db_bind_text(struct tt_db_stmt *stmt, int at, const char *text, size_t length)
{
	struct tt_db_value *to = place(stmt, at);

	to->kind = text ? TT_DB_TEXT : TT_DB_NULL;
	to->length = length;
	to->text = text;
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

tt_status tt_db_write(struct tt_db_stmt *stmt, const struct tt_db_value *values)
{
	bool row;

	if (stmt->fill)
		return tt_db_fill_add(stmt->fill, values);
	TT_TRY(bind_all(stmt, values));
	do
		TT_TRY(step(&row, stmt));
	while (row);
	return TTNN_OK;
}

tt_status tt_db_run(struct tt_db_stmt *stmt)
{
	TT_TRY(check_parameters(stmt));
	return stmt->db->load ? tt_db_load_add(stmt->db->load, stmt)
			      : tt_db_write(stmt, stmt->values);
}

tt_status tt_db_next(bool *row, struct tt_db_stmt *stmt)
{
	TT_TRY(check_parameters(stmt));
	if (stmt->db->load)
		TT_TRY(tt_db_load_drain(stmt->db->load));
	if (!sqlite3_stmt_busy(stmt->handle))
		TT_TRY(bind_all(stmt, stmt->values));
	return step(row, stmt);
}

const char *tt_db_text(struct tt_db_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt->handle, column);
}

size_t tt_db_length(struct tt_db_stmt *stmt, int column)
{
	return (size_t)sqlite3_column_bytes(stmt->handle, column);
}

int64_t tt_db_int(struct tt_db_stmt *stmt, int column)
{
	return sqlite3_column_int64(stmt->handle, column);
}

double tt_db_real(struct tt_db_stmt *stmt, int column)
{
	return sqlite3_column_double(stmt->handle, column);
}

int64_t tt_db_last_row(struct tt_db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

void tt_db_reset(struct tt_db_stmt *stmt)
{
	sqlite3_reset(stmt->handle);
}
