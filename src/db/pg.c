/*
 * pg.c: the driver of PostgreSQL.
 *
 * Values go as texts, results come as texts and are kept whole until the last row was taken, so that walks may be nested.
 * Statements of a transaction are sent one behind the other without waiting for answers (libpq's pipeline): some hundred
 * rows cost one way to the server and back. What a server does not take in a text, zero bytes and what is no UTF-8, becomes
 * the replacement character.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "db/libpq.h"
#include "db/stmt.h"

#define QUEUED 128           /* statements without an answer at most */
#define COPY_BYTES (1 << 16) /* of a copy at a time */
#define POLL_MS 100
#define GRACE_MS                                                                                   \
	2000 /* a statement of one who is stopped has so long still: the last rows of a run */

struct tt_pg {
	const struct tt_libpq *q;
	PGconn *conn;
	pid_t owner; /* who connected: a child of its has a copy, which it must not speak with */
	unsigned session; /* statements are prepared in one, and again in the next */
	unsigned names;
	bool inside;    /* a transaction */
	bool pipelined; /* answers of `queued` statements are due */
	bool quiet;     /* a message stays as it is */
	unsigned queued;
	struct tt_str text; /* values that had to be mended; rows of a copy */
};

/* ---- failures ----------------------------------------------------------------------------------- */

/* Whether a server that refuses a connection may take it later. */
static bool may_return(const struct tt_pg *pg, const char *message)
{
	static const char *const passing[] = {"starting up", "shutting down", "recovery",
					      "too many", "remaining connection slots"};

	if (pg->q->PQconnectionNeedsPassword(pg->conn))
		return false;
	if (!strstr(message, "FATAL"))
		return true;
	for (size_t i = 0; i < TT_COUNT(passing); i++)
		if (strstr(message, passing[i]))
			return true;
	return false;
}

/* States of SQL whose cause is not the statement: connections, shutdowns, deadlocks, exhaustion. */
static bool is_passing(const char *state)
{
	static const char *const begins[] = {"08", "57P", "53", "40", "55P03"};

	for (size_t i = 0; i < TT_COUNT(begins); i++)
		if (strncmp(state, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* The message of a server or the library on one line, without what may be a password. */
static tt_status say(const struct tt_db *db, tt_status status, const char *message)
{
	char text[400];
	size_t length;

	if (db->pg->quiet)
		return status;
	snprintf(text, sizeof(text), "%s", *message ? message : "the connection is lost");
	length = strlen(text);
	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		text[--length] = '\0';
	for (char *c = text; *c; c++)
		*c = *c == '\n' || *c == '\t' ? ' ' : *c;
	tt_db_redact(text);
	return tt_fail(status, "%s: %s", db->path, text);
}

/* What a connection or (not NULL) a result says. */
static tt_status fail(struct tt_db *db, const PGresult *result)
{
	const struct tt_libpq *q = db->pg->q;
	const char *state = result ? q->PQresultErrorField(result, TT_PQ_SQLSTATE) : NULL;

	db->away = !db->pg->conn || q->PQstatus(db->pg->conn) != TT_PQ_CONNECTION_OK ||
		   (state && is_passing(state));
	if (state && strncmp(state, "23", 2) == 0)
		return say(db, TTNN_INVALID, q->PQresultErrorMessage(result));
	return say(db, TTNN_IO,
		   result         ? q->PQresultErrorMessage(result)
		   : db->pg->conn ? q->PQerrorMessage(db->pg->conn)
				  : "");
}

/* ---- connections -------------------------------------------------------------------------------- */

static void ignore_notice(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static void drop(struct tt_pg *pg)
{
	/* Ending the session is the parent's: a child only lets go of the socket, and leaks the rest. */
	if (pg->conn && pg->owner != getpid())
		close(pg->q->PQsocket(pg->conn));
	else if (pg->conn)
		pg->q->PQfinish(pg->conn);
	pg->conn = NULL;
	pg->inside = pg->pipelined = false;
	pg->queued = 0;
}

/* Why there is no connection; whether it may come yet. */
static tt_status fail_connection(struct tt_db *db)
{
	struct tt_pg *pg = db->pg;
	const char *message = pg->q->PQerrorMessage(pg->conn);
	bool passing = may_return(pg, message);
	tt_status status = say(db, passing ? TTNN_IO : TTNN_INVALID, message);

	if (pg->q->PQconnectionNeedsPassword(pg->conn))
		status = tt_fail(TTNN_INVALID,
				 "%s: it wants a password: put it into PGPASSWORD, or into the "
				 "file ~/.pgpass or that of PGPASSFILE, which only you may read",
				 db->path);
	db->away = passing;
	drop(pg);
	return status;
}

static tt_status connect_to(struct tt_db *db)
{
	/* The URL may say otherwise: what comes later counts. */
	const char *keys[] = {"tcp_user_timeout",
			      "keepalives_idle",
			      "connect_timeout",
			      "dbname",
			      "client_encoding",
			      "fallback_application_name",
			      NULL};
	const char *timeout = getenv("PGCONNECT_TIMEOUT");
	const char *values[] = {"60000", "30", timeout ? timeout : "10", db->path, "UTF8",
				"ttnn",  NULL};
	struct tt_pg *pg = db->pg;

	drop(pg);
	pg->owner = getpid();
	pg->conn = pg->q->PQconnectdbParams(keys, values, 1);
	if (!pg->conn)
		return tt_fail_nomem();
	if (pg->q->PQstatus(pg->conn) != TT_PQ_CONNECTION_OK)
		return fail_connection(db);
	pg->q->PQsetNoticeProcessor(pg->conn, ignore_notice, NULL);
	pg->session++;
	db->away = false;
	return TTNN_OK;
}

tt_status tt_db_pg_open(struct tt_db *db)
{
	db->pg = tt_calloc(1, sizeof(*db->pg));
	if (!db->pg)
		return tt_fail_nomem();
	TT_TRY(tt_libpq_get(&db->pg->q));
	return connect_to(db);
}

static void close_server(struct tt_db *db)
{
	if (!db->pg)
		return;
	drop(db->pg);
	tt_str_deinit(&db->pg->text);
	tt_free(db->pg);
}

static void forget(struct tt_db *db)
{
	drop(db->pg);
	db->away = true;
}

/* ---- answers ------------------------------------------------------------------------------------ */

/* Waits for an answer. Who is stopped gives the connection up, for its answer would come later. */
static tt_status wait_for(struct tt_db *db)
{
	struct tt_pg *pg = db->pg;
	int waited = 0;

	while (pg->q->PQisBusy(pg->conn)) {
		struct pollfd fd = {.fd = pg->q->PQsocket(pg->conn), .events = POLLIN};
		int ready = poll(&fd, 1, POLL_MS);

		if (ready < 0 && errno != EINTR)
			return fail(db, NULL);
		waited += ready > 0 ? 0 : POLL_MS;
		if (ready > 0 && !pg->q->PQconsumeInput(pg->conn))
			return fail(db, NULL);
		if (waited > GRACE_MS && tt_deadline_stop()) {
			drop(pg);
			db->away = true;
			return tt_deadline_fail("the database");
		}
	}
	return TTNN_OK;
}

/* The next result; NULL when a statement has no more. */
static tt_status get_result(PGresult **out, struct tt_db *db)
{
	*out = NULL;
	TT_TRY(wait_for(db));
	*out = db->pg->q->PQgetResult(db->pg->conn);
	return TTNN_OK;
}

static bool is_good(int code)
{
	return code == TT_PQ_COMMAND_OK || code == TT_PQ_TUPLES_OK || code == TT_PQ_COPY_IN ||
	       code == TT_PQ_PIPELINE_SYNC || code == TT_PQ_PIPELINE_ABORTED;
}

/* Takes all results of a statement: the last goes to *kept, if that is wanted. */
static tt_status finish(PGresult **kept, struct tt_db *db)
{
	const struct tt_libpq *q = db->pg->q;
	tt_status status = TTNN_OK;
	PGresult *result;

	for (;;) {
		tt_status got = get_result(&result, db);

		if (got != TTNN_OK)
			return got;
		if (!result)
			return status;
		if (status == TTNN_OK && !is_good(q->PQresultStatus(result)))
			status = fail(db, result);
		if (q->PQresultStatus(result) == TT_PQ_COPY_IN || (kept && status == TTNN_OK)) {
			if (!kept) {
				q->PQclear(result);
				return status;
			}
			if (*kept)
				q->PQclear(*kept);
			*kept = result;
		} else {
			q->PQclear(result);
		}
	}
}

/* Takes the answers of all statements that were sent; the first failure counts. */
static tt_status settle(struct tt_db *db)
{
	struct tt_pg *pg = db->pg;
	tt_status status = TTNN_OK, got = TTNN_OK;
	bool synced = false;
	PGresult *result;

	if (!pg->conn || pg->owner != getpid())
		return fail(db, NULL);
	if (!pg->pipelined)
		return TTNN_OK;
	pg->pipelined = false;
	pg->queued = 0;
	if (!pg->q->PQpipelineSync(pg->conn))
		return fail(db, NULL);
	while (!synced && got == TTNN_OK) {
		got = get_result(&result, db);
		if (got != TTNN_OK)
			return status != TTNN_OK ? status : got;
		if (!result && pg->q->PQstatus(pg->conn) != TT_PQ_CONNECTION_OK)
			return status != TTNN_OK ? status : fail(db, NULL);
		if (!result)
			continue;
		synced = pg->q->PQresultStatus(result) == TT_PQ_PIPELINE_SYNC;
		if (status == TTNN_OK && !is_good(pg->q->PQresultStatus(result)))
			status = fail(db, result);
		pg->q->PQclear(result);
	}
	pg->q->PQexitPipelineMode(pg->conn);
	return status;
}

static tt_status exec(struct tt_db *db, const char *sql)
{
	TT_TRY(settle(db));
	if (!db->pg->q->PQsendQuery(db->pg->conn, sql))
		return fail(db, NULL);
	return finish(NULL, db);
}

/* Sends a statement of a transaction without waiting for its answer. */
static tt_status begin_sending(struct tt_db *db)
{
	struct tt_pg *pg = db->pg;

	if (pg->pipelined)
		return TTNN_OK;
	if (!pg->q->PQenterPipelineMode(pg->conn))
		return fail(db, NULL);
	pg->pipelined = true;
	return TTNN_OK;
}

static tt_status send_word(struct tt_db *db, const char *sql)
{
	TT_TRY(begin_sending(db));
	if (!db->pg->q->PQsendQueryParams(db->pg->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
		return fail(db, NULL);
	db->pg->queued++;
	return TTNN_OK;
}

static tt_status begin(struct tt_db *db)
{
	TT_TRY(settle(db));
	TT_TRY(send_word(db, "begin"));
	db->pg->inside = true;
	return TTNN_OK;
}

static tt_status commit(struct tt_db *db)
{
	if (!db->pg->conn)
		return fail(db, NULL);
	TT_TRY(send_word(db, "commit"));
	TT_TRY(settle(db));
	db->pg->inside = false;
	return TTNN_OK;
}

static void rollback(struct tt_db *db)
{
	bool away = db->away;

	db->pg->quiet = true;
	if (db->pg->conn && db->pg->inside) {
		(void)settle(db);
		if (db->pg->conn)
			(void)exec(db, "rollback");
	}
	db->pg->inside = false;
	db->pg->quiet = false;
	db->away = away; /* of what went wrong before */
}

static tt_status reconnect(struct tt_db *db)
{
	if (db->pg->conn && db->pg->q->PQstatus(db->pg->conn) == TT_PQ_CONNECTION_OK) {
		rollback(db);
		if (db->pg->conn && db->pg->q->PQstatus(db->pg->conn) == TT_PQ_CONNECTION_OK) {
			db->away = false;
			return TTNN_OK;
		}
	}
	return connect_to(db);
}

/* ---- statements --------------------------------------------------------------------------------- */

/* "?" as "$1", but for those in quotes. */
static tt_status number_parameters(struct tt_str *out, int *count, const char *sql)
{
	bool quoted = false;

	*count = 0;
	for (; *sql; sql++) {
		quoted ^= *sql == '\'';
		if (*sql == '?' && !quoted)
			tt_str_addf(out, "$%d", ++*count);
		else
			tt_str_addc(out, *sql);
	}
	return tt_str_status(out);
}

static void name_of(char out[24], const struct tt_db_stmt *stmt)
{
	snprintf(out, 24, "ttnn_%u", stmt->name);
}

/* A statement is prepared once in each session. */
static tt_status make_ready(struct tt_db_stmt *stmt)
{
	struct tt_db *db = stmt->db;
	struct tt_pg *pg = db->pg;
	char name[24];

	if (!pg->conn)
		return fail(db, NULL);
	if (stmt->session == pg->session)
		return TTNN_OK;
	TT_TRY(settle(db));
	name_of(name, stmt);
	if (!pg->q->PQsendPrepare(pg->conn, name, stmt->sql, 0, NULL))
		return fail(db, NULL);
	TT_TRY(finish(NULL, db));
	stmt->session = pg->session;
	return TTNN_OK;
}

static tt_status prepare(struct tt_db_stmt *stmt, const char *sql)
{
	struct tt_str text = {0};
	tt_status status = number_parameters(&text, &stmt->count, sql);

	if (status == TTNN_OK)
		status = tt_str_take(&stmt->sql, &text);
	tt_str_deinit(&text);
	TT_TRY(status);
	stmt->name = ++stmt->db->pg->names;
	return make_ready(stmt);
}

static void reset(struct tt_db_stmt *stmt)
{
	if (stmt->result)
		stmt->db->pg->q->PQclear(stmt->result);
	stmt->result = NULL;
}

static void release(struct tt_db_stmt *stmt)
{
	struct tt_pg *pg = stmt->db->pg;

	reset(stmt);
	if (pg->owner != getpid()) {
		tt_free(stmt->sql);
		return;
	}
	if (stmt->copying && pg->conn) {
		pg->quiet = true;
		pg->q->PQputCopyEnd(pg->conn, "given up");
		(void)finish(NULL, stmt->db);
		pg->quiet = false;
	}
	if (stmt->session && stmt->session == pg->session && pg->conn && !pg->inside) {
		char sql[48];

		pg->quiet = true;
		snprintf(sql, sizeof(sql), "deallocate ttnn_%u", stmt->name);
		(void)exec(stmt->db, sql);
		pg->quiet = false;
	}
	tt_free(stmt->sql);
}

/* Whether a server takes a text as it is. */
static bool is_clean(const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		uint32_t code = (unsigned char)text[i];
		size_t size = code < 0x80 ? 1 : tt_utf8_get(&code, text + i, length - i);

		if (!code || (code == TT_UTF8_BAD &&
			      (size != 3 || memcmp(text + i, "\xef\xbf\xbd", 3) != 0)))
			return false;
		i += size;
	}
	return true;
}

static void add_clean(struct tt_str *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		char bytes[4];
		uint32_t code;

		i += tt_utf8_get(&code, text + i, length - i);
		tt_str_add(out, bytes, tt_utf8_put(bytes, code ? code : TT_UTF8_BAD));
	}
}

/* A number that is none has the server's name. */
static void write_real(char out[40], double value)
{
	if (isnan(value))
		snprintf(out, 40, "NaN");
	else if (isinf(value))
		snprintf(out, 40, value < 0 ? "-Infinity" : "Infinity");
	else
		snprintf(out, 40, "%.17g", value);
}

/* The parameters of a statement as libpq wants them. */
struct parameters {
	const char *texts[TT_DB_PARAMETERS];
	int lengths[TT_DB_PARAMETERS], formats[TT_DB_PARAMETERS];
	char numbers[TT_DB_PARAMETERS][40];
};

static tt_status fill_parameters(struct parameters *out, struct tt_db_stmt *stmt,
				 const struct tt_db_value *values)
{
	size_t mended[TT_DB_PARAMETERS];
	struct tt_str *text = &stmt->db->pg->text;

	tt_str_clear(text);
	for (int i = 0; i < stmt->count; i++) {
		const struct tt_db_value *value = &values[i];

		out->texts[i] = value->kind == TT_DB_NULL ? NULL : out->numbers[i];
		out->formats[i] = value->kind == TT_DB_TEXT; /* its bytes, without an end */
		out->lengths[i] = 0;
		mended[i] = SIZE_MAX;
		if (value->kind == TT_DB_INT)
			snprintf(out->numbers[i], 40, "%lld", (long long)value->whole);
		else if (value->kind == TT_DB_REAL)
			write_real(out->numbers[i], value->real);
		if (value->kind != TT_DB_TEXT)
			continue;
		if (value->length > INT_MAX / 4)
			return tt_fail(TTNN_INVALID, "%s: a text of %zu bytes is too long",
				       stmt->db->path, value->length);
		out->texts[i] = value->text;
		out->lengths[i] = (int)value->length;
		if (is_clean(value->text, value->length))
			continue;
		mended[i] = text->length;
		add_clean(text, value->text, value->length);
		out->lengths[i] = (int)(text->length - mended[i]);
	}
	for (int i = 0; i < stmt->count; i++)
		if (mended[i] != SIZE_MAX)
			out->texts[i] = tt_str_text(text) + mended[i];
	return tt_str_status(text);
}

static tt_status send_values(struct tt_db_stmt *stmt, const struct tt_db_value *values)
{
	struct tt_pg *pg = stmt->db->pg;
	struct parameters parameters;
	char name[24];

	TT_TRY(fill_parameters(&parameters, stmt, values));
	name_of(name, stmt);
	return pg->q->PQsendQueryPrepared(pg->conn, name, stmt->count, parameters.texts,
					  parameters.lengths, parameters.formats, 0)
		       ? TTNN_OK
		       : fail(stmt->db, NULL);
}

/* A row of a copy: fields between tabs, with escapes. */
static tt_status copy_row(struct tt_db_stmt *stmt, const struct tt_db_value *values)
{
	static const char special[] = "\\\t\n\r", names[] = "\\tnr";
	struct tt_pg *pg = stmt->db->pg;
	struct tt_str *text = &pg->text, clean = {0};
	char number[40];

	for (int i = 0; i < stmt->count; i++) {
		if (i)
			tt_str_addc(text, '\t');
		if (values[i].kind == TT_DB_NULL)
			tt_str_adds(text, "\\N");
		else if (values[i].kind == TT_DB_INT)
			tt_str_addi(text, values[i].whole);
		else if (values[i].kind == TT_DB_REAL)
			write_real(number, values[i].real), tt_str_adds(text, number);
		if (values[i].kind != TT_DB_TEXT)
			continue;
		tt_str_clear(&clean);
		add_clean(&clean, values[i].text, values[i].length);
		for (size_t j = 0; j < clean.length; j++) {
			const char *found = clean.data[j] ? strchr(special, clean.data[j]) : NULL;

			if (found)
				tt_str_addc(text, '\\');
			tt_str_addc(text, found ? names[found - special] : clean.data[j]);
		}
	}
	tt_str_addc(text, '\n');
	text->failed |= clean.failed;
	tt_str_deinit(&clean);
	TT_TRY(tt_str_status(text));
	if (text->length < COPY_BYTES)
		return TTNN_OK;
	if (text->length > INT_MAX ||
	    pg->q->PQputCopyData(pg->conn, text->data, (int)text->length) != 1)
		return fail(stmt->db, NULL);
	tt_str_clear(text);
	return TTNN_OK;
}

static tt_status write_row(struct tt_db_stmt *stmt, const struct tt_db_value *values)
{
	struct tt_db *db = stmt->db;

	if (stmt->copying)
		return copy_row(stmt, values);
	TT_TRY(make_ready(stmt));
	if (!db->pg->inside) {
		TT_TRY(settle(db));
		TT_TRY(send_values(stmt, values));
		return finish(NULL, db);
	}
	TT_TRY(begin_sending(db));
	TT_TRY(send_values(stmt, values));
	return ++db->pg->queued < QUEUED ? TTNN_OK : settle(db);
}

static tt_status copy_begin(struct tt_db_stmt *stmt, const char *sql)
{
	TT_TRY(exec(stmt->db, sql));
	tt_str_clear(&stmt->db->pg->text);
	stmt->copying = true;
	return TTNN_OK;
}

static tt_status copy_end(struct tt_db_stmt *stmt)
{
	struct tt_pg *pg = stmt->db->pg;
	struct tt_str *text = &pg->text;

	if (!pg->conn)
		return fail(stmt->db, NULL);
	stmt->copying = false;
	if ((text->length && pg->q->PQputCopyData(pg->conn, text->data, (int)text->length) != 1) ||
	    pg->q->PQputCopyEnd(pg->conn, NULL) != 1)
		return fail(stmt->db, NULL);
	tt_str_clear(text);
	return finish(NULL, stmt->db);
}

static tt_status next(bool *row, struct tt_db_stmt *stmt)
{
	struct tt_db *db = stmt->db;
	PGresult *result = NULL;
	tt_status status;

	*row = false;
	if (!stmt->result) {
		TT_TRY(make_ready(stmt));
		TT_TRY(settle(db));
		TT_TRY(send_values(stmt, stmt->values));
		status = finish(&result, db);
		if (status != TTNN_OK || !result) {
			if (result)
				db->pg->q->PQclear(result);
			return status;
		}
		stmt->result = result;
		stmt->row = -1;
	}
	*row = ++stmt->row < db->pg->q->PQntuples(stmt->result);
	if (!*row)
		reset(stmt);
	return TTNN_OK;
}

static const char *text(struct tt_db_stmt *stmt, int column)
{
	const struct tt_libpq *q = stmt->db->pg->q;

	return !stmt->result || q->PQgetisnull(stmt->result, stmt->row, column)
		       ? NULL
		       : q->PQgetvalue(stmt->result, stmt->row, column);
}

static size_t length(struct tt_db_stmt *stmt, int column)
{
	return stmt->result ? (size_t)stmt->db->pg->q->PQgetlength(stmt->result, stmt->row, column)
			    : 0;
}

static int64_t whole(struct tt_db_stmt *stmt, int column)
{
	const char *value = text(stmt, column);

	return value ? strtoll(value, NULL, 10) : 0;
}

static double real(struct tt_db_stmt *stmt, int column)
{
	const char *value = text(stmt, column);

	return value ? strtod(value, NULL) : 0;
}

const struct tt_db_driver tt_db_pg = {
	.dialect = TT_DB_POSTGRESQL,
	.exec = exec,
	.begin = begin,
	.commit = commit,
	.rollback = rollback,
	.close = close_server,
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
