#include "db/db.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "db/sql_dialect.h"
#include "db/stmt.h"

/* ---- databases ------------------------------------------------------------------------------ */

static tt_status open_any(struct tt_db **out, const char *path, int flags, int wait_ms)
{
	struct tt_db *db;
	tt_status status;

	TT_TRY(tt_db_check_url(path));
	db = tt_calloc(1, sizeof(*db));
	if (!db)
		return tt_fail_nomem();
	db->driver = tt_db_is_url(path) ? &tt_db_pg : &tt_db_sqlite;
	db->path = tt_strdup(path);
	if (!db->path)
		status = tt_fail_nomem();
	else if (tt_db_is_url(path))
		status = tt_db_pg_open(db);
	else
		status = tt_db_sqlite_open(db, flags, wait_ms);
	if (status == TTNN_OK)
		*out = db;
	else
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

	TT_TRY(open_any(&db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0));
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
	if (!tt_db_is_url(path) && access(path, F_OK) != 0)
		return tt_fail(TTNN_NOTFOUND, "%s: cannot open: %s", path, strerror(errno));
	return open_any(out, path, SQLITE_OPEN_READONLY, 0);
}

tt_status tt_db_share(struct tt_db **out, const char *path, int wait_ms)
{
	return open_any(out, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, wait_ms);
}

tt_status tt_db_begin(struct tt_db *db)
{
	return db->driver->begin(db);
}

tt_status tt_db_commit(struct tt_db *db)
{
	return db->driver->commit(db);
}

void tt_db_rollback(struct tt_db *db)
{
	db->driver->rollback(db);
}

bool tt_db_away(const struct tt_db *db)
{
	return db->away;
}

tt_status tt_db_reconnect(struct tt_db *db)
{
	return db->driver->reconnect(db);
}

void tt_db_forget(struct tt_db *db)
{
	if (db)
		db->driver->forget(db);
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
	db->driver->close(db);
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

/* Calls with SQL in the words of the database. */
static tt_status with_sql(struct tt_db *db, const char *sql, void *of,
			  tt_status (*call)(void *of, const char *sql))
{
	struct tt_str text = {0};
	tt_status status;

	if (!tt_dialect_differs(sql))
		return call(of, sql);
	status = tt_dialect_expand(&text, sql, db->driver->dialect);
	if (status == TTNN_OK)
		status = call(of, tt_str_text(&text));
	tt_str_deinit(&text);
	return status;
}

static tt_status exec(void *of, const char *sql)
{
	struct tt_db *db = of;

	return *sql ? db->driver->exec(db, sql) : TTNN_OK;
}

tt_status tt_db_exec(struct tt_db *db, const char *sql)
{
	if (db->load)
		TT_TRY(tt_db_load_drain(db->load));
	return with_sql(db, sql, db, exec);
}

tt_status tt_db_flush(struct tt_db *db)
{
	return db->load ? tt_db_load_drain(db->load) : TTNN_OK;
}

/* ---- statements ----------------------------------------------------------------------------- */

static tt_status prepare(void *of, const char *sql)
{
	struct tt_db_stmt *stmt = of;

	return stmt->db->driver->prepare(stmt, sql);
}

tt_status tt_db_prepare(struct tt_db_stmt **out, struct tt_db *db, const char *sql)
{
	struct tt_db_stmt *stmt = tt_calloc(1, sizeof(*stmt));
	tt_status status = TTNN_OK;

	if (!stmt)
		return tt_fail_nomem();
	stmt->db = db;
	if (db->load)
		status = tt_db_load_drain(db->load);
	if (status == TTNN_OK)
		status = with_sql(db, sql, stmt, prepare);
	if (status == TTNN_OK && stmt->count > TT_DB_PARAMETERS)
		status = tt_fail(TTNN_INTERNAL, "a statement with %d parameters", stmt->count);
	if (status == TTNN_OK)
		*out = stmt;
	else
		tt_db_stmt_free(stmt);
	return status;
}

tt_status tt_db_copy(struct tt_db_stmt **out, struct tt_db *db, const char *table,
		     const char *columns)
{
	struct tt_db_stmt *stmt = tt_calloc(1, sizeof(*stmt));
	struct tt_str sql = {0};
	tt_status status;

	if (!stmt)
		return tt_fail_nomem();
	stmt->db = db;
	stmt->count = 1;
	for (const char *c = columns; *c; c++)
		stmt->count += *c == ',';
	if (db->driver->dialect == TT_DB_POSTGRESQL) {
		tt_str_addf(&sql, "copy %s (%s) from stdin", table, columns);
	} else {
		tt_str_addf(&sql, "insert into %s (%s) values (?", table, columns);
		for (int i = 1; i < stmt->count; i++)
			tt_str_adds(&sql, ", ?");
		tt_str_addc(&sql, ')');
	}
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = db->driver->copy_begin(stmt, tt_str_text(&sql));
	tt_str_deinit(&sql);
	if (status == TTNN_OK)
		*out = stmt;
	else
		tt_db_stmt_free(stmt);
	return status;
}

tt_status tt_db_copy_end(struct tt_db_stmt *stmt)
{
	tt_status status = stmt->db->driver->copy_end(stmt);

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
	stmt->db->driver->release(stmt);
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

tt_status tt_db_write(struct tt_db_stmt *stmt, const struct tt_db_value *values)
{
	if (stmt->fill)
		return tt_db_fill_add(stmt->fill, values);
	return stmt->db->driver->write(stmt, values);
}

tt_status tt_db_run(struct tt_db_stmt *stmt)
{
	TT_TRY(check_parameters(stmt));
	return stmt->db->load ? tt_db_load_add(stmt->db->load, stmt)
			      : tt_db_write(stmt, stmt->values);
}

tt_status tt_db_next(bool *row, struct tt_db_stmt *stmt)
{
	*row = false;
	TT_TRY(check_parameters(stmt));
	if (stmt->db->load)
		TT_TRY(tt_db_load_drain(stmt->db->load));
	return stmt->db->driver->next(row, stmt);
}

const char *tt_db_text(struct tt_db_stmt *stmt, int column)
{
	return stmt->db->driver->text(stmt, column);
}

size_t tt_db_length(struct tt_db_stmt *stmt, int column)
{
	return stmt->db->driver->length(stmt, column);
}

int64_t tt_db_int(struct tt_db_stmt *stmt, int column)
{
	return stmt->db->driver->whole(stmt, column);
}

double tt_db_real(struct tt_db_stmt *stmt, int column)
{
	return stmt->db->driver->real(stmt, column);
}

void tt_db_reset(struct tt_db_stmt *stmt)
{
	stmt->db->driver->reset(stmt);
}
