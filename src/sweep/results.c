/* results.c: runs and their rows in the database (docs/formats/vectors.md draws its tables). */
#include "sweep/results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "sweep/results_parts.h"

#define WAIT_MS 60000     /* for other writers */
#define ROWS_AT_ONCE 256  /* that wait in memory at most ... */
#define ROWS_NS 500000000 /* ... and so long */

/* ---- statuses ------------------------------------------------------------------------------------------ */

static const char *const status_texts[TT_SWEEP_STATUSES] = {
	[TT_SWEEP_PASS] = "pass",
	[TT_SWEEP_FAIL_ASSERT_EXCEPTION] = "fail_assert_exception",
	[TT_SWEEP_FAIL_CRASH_HANG] = "fail_crash_hang",
	[TT_SWEEP_NOT_RUN] = "skipped",
	[TT_SWEEP_FAIL_L1_OUT_OF_MEM] = "fail_l1_out_of_mem",
	[TT_SWEEP_FAIL_WATCHER] = "fail_watcher",
	[TT_SWEEP_FAIL_UNSUPPORTED_DEVICE_PERF] = "fail_unsupported_device_perf",
	[TT_SWEEP_XFAIL] = "xfail",
	[TT_SWEEP_XPASS] = "xpass",
};

static const char *const how_texts[TT_SWEEP_HOWS] = {
	[TT_SWEEP_PLAIN] = "plain",
	[TT_SWEEP_STAND_IN] = "stand-in",
	[TT_SWEEP_MOVED] = "moved",
	[TT_SWEEP_UNJUDGED] = "unjudged",
};

const char *tt_sweep_status_text(enum tt_sweep_status status)
{
	return status < TT_SWEEP_STATUSES ? status_texts[status] : "error";
}

bool tt_sweep_status_find(enum tt_sweep_status *out, const char *text)
{
	for (unsigned i = 0; i < TT_SWEEP_STATUSES; i++)
		if (strcmp(status_texts[i], text) == 0) {
			*out = (enum tt_sweep_status)i;
			return true;
		}
	return false;
}

enum tt_sweep_status tt_sweep_status_of(const char *exception)
{
	if (strstr(exception, "Out of Memory: Not enough space to allocate"))
		return TT_SWEEP_FAIL_L1_OUT_OF_MEM;
	return strstr(exception, "Watcher") ? TT_SWEEP_FAIL_WATCHER
					    : TT_SWEEP_FAIL_ASSERT_EXCEPTION;
}

enum tt_sweep_status tt_sweep_status_in(enum tt_sweep_status status, const char *suite)
{
	if (strncasecmp(suite, "xfail", 5) != 0)
		return status;
	switch (status) {
	case TT_SWEEP_PASS:
		return TT_SWEEP_XPASS;
	case TT_SWEEP_FAIL_ASSERT_EXCEPTION:
	case TT_SWEEP_FAIL_L1_OUT_OF_MEM:
	case TT_SWEEP_FAIL_WATCHER:
	case TT_SWEEP_FAIL_UNSUPPORTED_DEVICE_PERF:
		return TT_SWEEP_XFAIL;
	default:
		return status;
	}
}

const char *tt_sweep_how_text(enum tt_sweep_how how)
{
	return how < TT_SWEEP_HOWS ? how_texts[how] : how_texts[TT_SWEEP_PLAIN];
}

bool tt_sweep_how_find(enum tt_sweep_how *out, const char *text)
{
	for (unsigned i = 0; i < TT_SWEEP_HOWS; i++)
		if (strcmp(how_texts[i], text) == 0) {
			*out = (enum tt_sweep_how)i;
			return true;
		}
	return false;
}

/* ---- the database ------------------------------------------------------------------------------------------ */

static const char schema[] =
	"create table if not exists schema_version (version integer not null);"
	"create table if not exists runs ("
	" id integer primary key, name text not null unique, initiated_by text, host text,"
	" card_type text, run_type text not null, run_contents text, git_author text,"
	" git_branch_name text, git_sha text, github_pipeline_id text, build text, plan text,"
	" run_start_ts text not null, run_end_ts text, status text not null);"
	"create table if not exists results ("
	" id integer primary key, run_id integer not null references runs (id) on delete cascade,"
	" vector text not null, position integer not null, module text not null,"
	" suite text not null, operation text, model text, status text not null,"
	" how text not null, message text, exception text, pcc real, bound real, error real,"
	" e2e_ms real, start_ts text not null, end_ts text not null, metrics text, params text,"
	" notes text, cached integer not null, unique (run_id, vector));"
	"create table if not exists passed ("
	" key text primary key, how text not null, pcc real, bound real, error real,"
	" e2e_ms real, notes text, passed_ts text not null) without rowid;"
	"insert into schema_version select 1 where not exists (select 1 from schema_version);";

tt_status tt_results_number(int64_t *out, struct tt_db *db, const char *sql)
{
	struct tt_db_stmt *stmt;
	bool row = false;
	tt_status status;

	TT_TRY(tt_db_prepare(&stmt, db, sql));
	status = tt_db_next(&row, stmt);
	if (status == TTNN_OK && row)
		*out = tt_db_int(stmt, 0);
	tt_db_stmt_free(stmt);
	return status == TTNN_OK && !row ? tt_fail(TTNN_NOTFOUND, "no such row") : status;
}

static tt_status check_version(struct tt_db *db, const char *path)
{
	int64_t version = 0;
	tt_status status = tt_results_number(&version, db, "select version from schema_version");

	if (status == TTNN_NOTFOUND || (status == TTNN_OK && version != TT_RESULTS_VERSION))
		return tt_fail(TTNN_FORMAT, "%s: results of schema_version %d, not %d", path,
			       (int)version, TT_RESULTS_VERSION);
	return status;
}

tt_status tt_results_db_open(struct tt_db **out, const char *path)
{
	tt_status status;
	int64_t tables;

	/* Who reads waits for writers too; but does not make a file. */
	if (access(path, F_OK) != 0)
		return tt_fail(TTNN_NOTFOUND, "%s: cannot open: %s", path, strerror(errno));
	TT_TRY(tt_db_share(out, path, WAIT_MS));
	status = tt_results_number(&tables, *out,
				   "select count(*) from sqlite_master where type = 'table' and "
				   "name in ('schema_version', 'runs', 'results')");
	if (status == TTNN_OK && tables != 3)
		status = tt_fail(TTNN_FORMAT, "%s: no database of results", path);
	if (status == TTNN_OK)
		status = check_version(*out, path);
	if (status != TTNN_OK) {
		tt_db_discard(*out);
		*out = NULL;
	}
	return status;
}

static tt_status make_tables(struct tt_db *db, const char *path)
{
	tt_status status;

	/* Two that begin at the same time make them once. */
	TT_TRY(tt_db_begin(db));
	status = tt_db_exec(db, schema);
	if (status == TTNN_OK)
		status = check_version(db, path);
	if (status == TTNN_OK)
		return tt_db_commit(db);
	tt_db_rollback(db);
	return status;
}

/* ---- runs --------------------------------------------------------------------------------------------------- */

static const char *or_else(const char *text, const char *other)
{
	return text && *text ? text : other;
}

static void bind(struct tt_db_stmt *stmt, int at, const char *text)
{
	tt_db_bind_text(stmt, at, text, text ? strlen(text) : 0);
}

/* A name that no other run has: of the time, the process and the machine. */
static tt_status name_run(struct tt_results *results)
{
	char seed[256], digest[TT_DIGEST_TEXT];

	snprintf(seed, sizeof(seed), "%lld %llu %ld %.100s", (long long)results->begin_ns,
		 (unsigned long long)tt_clock_ns(), (long)getpid(), results->host);
	TT_TRY(tt_digest_text(digest, TT_SHA256, seed, strlen(seed)));
	snprintf(results->name, sizeof(results->name), "%.12s", digest);
	return TTNN_OK;
}

static tt_status begin_run(struct tt_results *results, const struct tt_results_options *options)
{
	struct tt_db_stmt *insert;
	char start[TT_RESULTS_TIME];
	tt_status status;

	TT_TRY(name_run(results));
	TT_TRY(tt_db_prepare(&insert, results->db,
			     "insert into runs (name, initiated_by, host, card_type, run_type, "
			     "run_contents, git_author, git_branch_name, git_sha, "
			     "github_pipeline_id, build, plan, run_start_ts, status) values "
			     "(?, ?, ?, ?, 'sweeps', ?, ?, ?, ?, ?, ?, ?, ?, 'running')"));
	tt_results_time(start, results->begin_ns);
	bind(insert, 0, results->name);
	bind(insert, 1, or_else(options->initiated_by, or_else(getenv("USER"), "Unknown")));
	bind(insert, 2, results->host);
	bind(insert, 3, or_else(options->card_type, "n/a"));
	bind(insert, 4, or_else(options->contents, "all_sweeps"));
	bind(insert, 5, or_else(options->git_author, "Unknown"));
	bind(insert, 6, or_else(options->git_branch, "Unknown"));
	bind(insert, 7, or_else(options->git_sha, "Couldn't get git hash!"));
	bind(insert, 8, options->pipeline);
	bind(insert, 9, options->build);
	bind(insert, 10, options->plan);
	bind(insert, 11, start);
	status = tt_db_run(insert);
	tt_db_stmt_free(insert);
	results->run = tt_db_last_row(results->db);
	return status;
}

static tt_status take_run(struct tt_results *results, const struct tt_results_options *options)
{
	bool last = strcmp(options->run, "last") == 0, row = false;
	struct tt_db_stmt *find;
	tt_status status;

	TT_TRY(tt_db_prepare(&find, results->db,
			     last ? "select id, name, plan from runs where status = 'running' "
				    "order by id desc limit 1"
				  : "select id, name, plan from runs where name = ?"));
	if (!last)
		bind(find, 0, options->run);
	status = tt_db_next(&row, find);
	if (status == TTNN_OK && !row)
		status = last ? tt_fail(TTNN_NOTFOUND, "%s: no run is unfinished", results->path)
			      : tt_fail(TTNN_NOTFOUND, "%s: there is no run '%.60s'", results->path,
					options->run);
	if (status == TTNN_OK) {
		const char *plan = tt_db_text(find, 2);

		results->run = tt_db_int(find, 0);
		snprintf(results->name, sizeof(results->name), "%s", tt_db_text(find, 1));
		if (options->plan && (!plan || strcmp(plan, options->plan) != 0))
			status = tt_fail(TTNN_INVALID,
					 "run %s is one of other vectors: it can be gone on with "
					 "those alone",
					 results->name);
	}
	tt_db_stmt_free(find);
	return status;
}

static tt_status prepare(struct tt_results *results)
{
	TT_TRY(tt_db_prepare(&results->has, results->db,
			     "select 1 from results where run_id = ? and vector = ?"));
	TT_TRY(tt_db_prepare(
		&results->find, results->db,
		"select how, pcc, bound, error, e2e_ms, notes from passed where key = ?"));
	TT_TRY(tt_db_prepare(
		&results->insert, results->db,
		"insert or ignore into results (run_id, vector, position, module, suite, operation,"
		" model, status, how, message, exception, pcc, bound, error, e2e_ms, start_ts,"
		" end_ts, metrics, params, notes, cached) values "
		"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
	return tt_db_prepare(&results->remember, results->db,
			     "insert or replace into passed values (?, ?, ?, ?, ?, ?, ?, ?)");
}

static tt_status open_all(struct tt_results *results, const struct tt_results_options *options)
{
	char *directory = NULL;
	tt_status status;

	if (options->database && strchr(options->database, '/')) {
		directory = tt_strdup(options->database);
		if (!directory)
			return tt_fail_nomem();
		*strrchr(directory, '/') = '\0';
	}
	status = tt_file_make_dirs(directory && *directory ? directory
				   : options->database     ? "."
							   : results->directory);
	tt_free(directory);
	TT_TRY(status);
	TT_TRY(tt_db_share(&results->db, results->path, WAIT_MS));
	TT_TRY(make_tables(results->db, results->path));
	TT_TRY(options->run ? take_run(results, options) : begin_run(results, options));
	return prepare(results);
}

static void results_free(struct tt_results *results)
{
	tt_db_stmt_free(results->has);
	tt_db_stmt_free(results->find);
	tt_db_stmt_free(results->insert);
	tt_db_stmt_free(results->remember);
	tt_db_discard(results->db);
	TT_VEC_DEINIT(&results->waiting);
	tt_arena_deinit(&results->arena);
	tt_free(results->directory);
	tt_free(results->path);
	tt_free(results);
}

tt_status tt_results_open(struct tt_results **out, const struct tt_results_options *options)
{
	const char *directory = or_else(options->directory, "results_export");
	struct tt_results *results = tt_calloc(1, sizeof(*results));
	struct tt_str path = {0};
	tt_status status = TTNN_OK;

	*out = NULL;
	if (!results)
		return tt_fail_nomem();
	results->begin_ns = tt_clock_wall_ns();
	results->no_files = options->no_files;
	if (options->host)
		snprintf(results->host, sizeof(results->host), "%s", options->host);
	else if (gethostname(results->host, sizeof(results->host) - 1) != 0 || !*results->host)
		snprintf(results->host, sizeof(results->host), "localhost");
	results->directory = tt_strdup(directory);
	if (options->database)
		tt_str_adds(&path, options->database);
	else
		tt_str_addf(&path, "%s/results.sqlite", directory);
	status = tt_str_take(&results->path, &path);
	if (status == TTNN_OK && !results->directory)
		status = tt_fail_nomem();
	if (status == TTNN_OK)
		status = open_all(results, options);
	if (status == TTNN_OK)
		*out = results;
	else
		results_free(results);
	return status;
}

const char *tt_results_run(const struct tt_results *results)
{
	return results->name;
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

tt_status tt_results_has(bool *out, struct tt_results *results, const char *vector)
{
	bool row = false;
	tt_status status;

	tt_db_bind_int(results->has, 0, results->run);
	bind(results->has, 1, vector);
	status = tt_db_next(&row, results->has);
	if (row)
		tt_db_reset(results->has);
	*out = row;
	return status;
}

tt_status tt_results_count(uint64_t *out, struct tt_results *results)
{
	struct tt_db_stmt *count;
	bool row = false;
	tt_status status;

	*out = 0;
	TT_TRY(tt_results_tick(results, true));
	TT_TRY(tt_db_prepare(&count, results->db, "select count(*) from results where run_id = ?"));
	tt_db_bind_int(count, 0, results->run);
	status = tt_db_next(&row, count);
	if (status == TTNN_OK && row)
		*out = (uint64_t)tt_db_int(count, 0);
	tt_db_stmt_free(count);
	return status;
}

double tt_results_real(struct tt_db_stmt *row, int column)
{
	return tt_db_text(row, column) ? tt_db_real(row, column) : NAN;
}

tt_status tt_results_passed(bool *found, struct tt_sweep_passed *out, struct tt_results *results,
			    const char *key)
{
	bool row = false;
	tt_status status;

	*out = (struct tt_sweep_passed){0};
	bind(results->find, 0, key);
	status = tt_db_next(&row, results->find);
	*found = status == TTNN_OK && row &&
		 tt_sweep_how_find(&out->how, tt_db_text(results->find, 0));
	if (*found) {
		const char *notes = tt_db_text(results->find, 5);

		out->pcc = tt_results_real(results->find, 1);
		out->bound = tt_results_real(results->find, 2);
		out->error = tt_results_real(results->find, 3);
		out->e2e_ms = tt_db_real(results->find, 4);
		snprintf(out->notes, sizeof(out->notes), "%s", notes ? notes : "");
	}
	if (row)
		tt_db_reset(results->find);
	return status;
}

/* A copy in the arena; NULL stays NULL. Exhausted memory is told by *failed. */
static const char *keep(struct tt_results *results, const char *text, bool *failed)
{
	char *copy = text ? tt_arena_strdup(&results->arena, text) : NULL;

	*failed |= text && !copy;
	return copy;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tt_sweep_metric *)a)->name,
		      ((const struct tt_sweep_metric *)b)->name);
}

static void write_metrics(struct tt_str *out, const struct tt_sweep_result *result)
{
	struct tt_sweep_metric sorted[32];
	size_t count = result->metric_count < 32 ? result->metric_count : 32;
	struct tt_jsonw w;

	if (!count)
		return;
	memcpy(sorted, result->metrics, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_name);
	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_jsonw_array(&w);
	for (size_t i = 0; i < count; i++) {
		tt_jsonw_object(&w);
		tt_jsonw_key_string(&w, "metric_name", sorted[i].name);
		tt_jsonw_key(&w, "metric_value");
		tt_jsonw_real(&w, sorted[i].value);
		tt_jsonw_end(&w);
	}
	tt_jsonw_end(&w);
	if (tt_jsonw_finish(&w) != TTNN_OK)
		out->failed = true;
}

static double metric(const struct tt_sweep_result *result, const char *name)
{
	for (size_t i = 0; i < result->metric_count; i++)
		if (strcmp(result->metrics[i].name, name) == 0)
			return result->metrics[i].value;
	return NAN;
}

static tt_status check(const struct tt_sweep_result *result)
{
	struct tt_json_doc *doc = NULL;
	tt_status status = TTNN_OK;

	if (!result->module || !result->suite || !result->vector)
		return tt_fail(TTNN_INVALID, "a result needs a module, a suite and a vector");
	if (result->status >= TT_SWEEP_STATUSES || result->how >= TT_SWEEP_HOWS)
		return tt_fail(TTNN_INVALID, "a result of an unknown status");
	if (!result->params)
		return TTNN_OK;
	TT_TRY(tt_json_parse(&doc, result->params, result->params_length, "params"));
	if (tt_json_kind(tt_json_root(doc)) != TT_JSON_OBJECT)
		status = tt_fail(TTNN_INVALID, "the parameters of a result are no object");
	tt_json_free(doc);
	return status;
}

tt_status tt_results_add(struct tt_results *results, const struct tt_sweep_result *result)
{
	struct tt_results_row *row;
	struct tt_str metrics = {0};
	bool failed = false;

	TT_TRY(check(result));
	row = TT_VEC_PUSH(&results->waiting);
	if (!row)
		return tt_fail_nomem();
	if (results->waiting.count == 1)
		results->waiting_ns = tt_clock_ns();
	write_metrics(&metrics, result);
	row->e2e_ms = metric(result, "e2e_perf_ms");
	row->metrics = result->metric_count ? keep(results, tt_str_text(&metrics), &failed) : NULL;
	failed |= metrics.failed;
	tt_str_deinit(&metrics);
	row->result = *result;
	row->result.module = keep(results, result->module, &failed);
	row->result.suite = keep(results, result->suite, &failed);
	row->result.vector = keep(results, result->vector, &failed);
	row->result.message = keep(results, result->message, &failed);
	row->result.exception = keep(results, result->exception, &failed);
	row->result.operation = keep(results, result->operation, &failed);
	row->result.model = keep(results, result->model, &failed);
	row->result.notes = keep(results, result->notes, &failed);
	row->result.key = keep(results, result->key, &failed);
	if (result->params)
		row->result.params =
			tt_arena_strndup(&results->arena, result->params, result->params_length);
	if (failed || (result->params && !row->result.params)) {
		results->waiting.count--;
		return tt_fail_nomem();
	}
	return tt_results_tick(results, results->waiting.count >= ROWS_AT_ONCE);
}

static void bind_number(struct tt_db_stmt *stmt, int at, double number)
{
	if (isnan(number))
		tt_db_bind_null(stmt, at);
	else
		tt_db_bind_real(stmt, at, number);
}

static tt_status insert_row(struct tt_results *results, const struct tt_results_row *row)
{
	const struct tt_sweep_result *result = &row->result;
	struct tt_db_stmt *insert = results->insert;
	char begin[TT_RESULTS_TIME], end[TT_RESULTS_TIME];

	tt_results_time(begin, result->begin_ns);
	tt_results_time(end, result->end_ns);
	tt_db_bind_int(insert, 0, results->run);
	bind(insert, 1, result->vector);
	tt_db_bind_int(insert, 2, (int64_t)result->position);
	bind(insert, 3, result->module);
	bind(insert, 4, result->suite);
	bind(insert, 5, result->operation);
	bind(insert, 6, result->model);
	bind(insert, 7, tt_sweep_status_text(result->status));
	bind(insert, 8, tt_sweep_how_text(result->how));
	bind(insert, 9, result->message);
	bind(insert, 10, result->exception);
	bind_number(insert, 11, result->pcc);
	bind_number(insert, 12, result->bound);
	bind_number(insert, 13, result->error);
	bind_number(insert, 14, row->e2e_ms);
	bind(insert, 15, begin);
	bind(insert, 16, end);
	bind(insert, 17, row->metrics);
	tt_db_bind_text(insert, 18, result->params, result->params ? result->params_length : 0);
	bind(insert, 19, result->notes);
	tt_db_bind_int(insert, 20, result->cached);
	return tt_db_run(insert);
}

static tt_status remember(struct tt_results *results, const struct tt_results_row *row)
{
	const struct tt_sweep_result *result = &row->result;
	struct tt_db_stmt *insert = results->remember;
	char end[TT_RESULTS_TIME];

	if (!result->key || result->cached || result->status != TT_SWEEP_PASS)
		return TTNN_OK;
	tt_results_time(end, result->end_ns);
	bind(insert, 0, result->key);
	bind(insert, 1, tt_sweep_how_text(result->how));
	bind_number(insert, 2, result->pcc);
	bind_number(insert, 3, result->bound);
	bind_number(insert, 4, result->error);
	bind_number(insert, 5, row->e2e_ms);
	bind(insert, 6, result->notes);
	bind(insert, 7, end);
	return tt_db_run(insert);
}

tt_status tt_results_tick(struct tt_results *results, bool now)
{
	tt_status status;

	if (!results->waiting.count ||
	    (!now && tt_clock_ns() - results->waiting_ns < (uint64_t)ROWS_NS))
		return TTNN_OK;
	TT_TRY(tt_db_begin(results->db));
	status = TTNN_OK;
	for (size_t i = 0; status == TTNN_OK && i < results->waiting.count; i++) {
		status = insert_row(results, &results->waiting.data[i]);
		if (status == TTNN_OK)
			status = remember(results, &results->waiting.data[i]);
	}
	if (status == TTNN_OK)
		status = tt_db_commit(results->db);
	if (status != TTNN_OK) {
		tt_db_rollback(results->db);
		return status;
	}
	results->waiting.count = 0;
	tt_arena_reset(&results->arena);
	return TTNN_OK;
}

/* ---- its end --------------------------------------------------------------------------------------------- */

static tt_status end_run(struct tt_results *results, enum tt_sweep_run_status how)
{
	static const char *const texts[] = {"passed", "fail", "exception"};
	char now[TT_RESULTS_TIME];
	struct tt_db_stmt *update;
	tt_status status;

	TT_TRY(tt_db_prepare(&update, results->db,
			     "update runs set status = ?, run_end_ts = ? where id = ?"));
	tt_results_time(now, tt_clock_wall_ns());
	bind(update, 0, texts[how]);
	bind(update, 1, now);
	tt_db_bind_int(update, 2, results->run);
	status = tt_db_run(update);
	tt_db_stmt_free(update);
	return status;
}

tt_status tt_results_finish(struct tt_results_files *out, struct tt_results *results,
			    enum tt_sweep_run_status status)
{
	struct tt_results_files files;
	tt_status done = tt_results_tick(results, true);

	out = out ? out : &files;
	*out = (struct tt_results_files){0};
	if (done == TTNN_OK)
		done = end_run(results, status);
	if (done == TTNN_OK && !results->no_files)
		done = tt_results_write_files(out, results);
	results_free(results);
	return done;
}

tt_status tt_results_leave(struct tt_results *results)
{
	tt_status status = TTNN_OK;

	if (results) {
		status = tt_results_tick(results, true);
		results_free(results);
	}
	return status;
}
