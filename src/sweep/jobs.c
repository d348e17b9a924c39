/* jobs.c: the rows of submitted runs. */
#include "sweep/jobs.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "sweep/results_parts.h"

const char tt_jobs_schema[] =
	"create table if not exists sources (digest text primary key, content text not null);"
	"create table if not exists jobs ("
	" run text primary key, engine text not null, job text, shards bigint not null,"
	" vectors bigint not null, master text not null, request text not null,"
	" submitted_ts text not null);";

static void bind(struct tt_db_stmt *stmt, int at, const char *text)
{
	tt_db_bind_text(stmt, at, text, text ? strlen(text) : 0);
}

static void copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text ? text : "");
}

/* ---- submitting -------------------------------------------------------------------------------------------------- */

static tt_status write_request(struct tt_str *out, const struct tt_job_request *request)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	tt_jsonw_strings(&w, "op", request->ops, request->op_count);
	tt_jsonw_key_string(&w, "suite", request->suite);
	tt_jsonw_key_string(&w, "vector", request->vector);
	tt_jsonw_key_string(&w, "mutate", request->mutate);
	tt_jsonw_key_int(&w, "seed", request->seed);
	tt_jsonw_key_int(&w, "every", request->every);
	tt_jsonw_key(&w, "all_cases");
	tt_jsonw_bool(&w, request->all_cases);
	tt_jsonw_end(&w);
	TT_TRY(tt_jsonw_finish(&w));
	return tt_str_status(out);
}

/* The file as text, which a store is not. */
static tt_status read_master(char **out, size_t *size, const char *path)
{
	size_t at = 0;

	if (strstr(path, "://"))
		return tt_fail(
			TTNN_INVALID,
			"--master: a file is needed; `ttnn configs export` makes one of a store");
	TT_TRY(tt_file_read(out, size, path));
	while (at < *size && strchr(" \t\r\n", (*out)[at]))
		at++;
	if (at < *size && ((*out)[at] == '{' || (*out)[at] == '[') && !memchr(*out, 0, *size))
		return TTNN_OK;
	tt_free(*out);
	*out = NULL;
	return tt_fail(TTNN_INVALID,
		       "%s: no master file; `ttnn configs export` makes one of a store", path);
}

static tt_status save_source(struct tt_db *db, const char *digest, const char *content, size_t size)
{
	struct tt_db_stmt *insert;
	tt_status status;

	TT_TRY(tt_db_prepare(
		&insert, db,
		"insert into sources (digest, content) values (?, ?) on conflict do nothing"));
	bind(insert, 0, digest);
	tt_db_bind_text(insert, 1, content, size);
	status = tt_db_run(insert);
	tt_db_stmt_free(insert);
	return status;
}

static tt_status save_job(struct tt_db *db, const struct tt_job *job, const char *digest,
			  const char *request)
{
	char now[TT_RESULTS_TIME];
	struct tt_db_stmt *insert;
	tt_status status;

	TT_TRY(tt_db_prepare(
		&insert, db,
		"insert into jobs (run, engine, job, shards, vectors, master, request, "
		"submitted_ts) values (?, ?, ?, ?, ?, ?, ?, ?)"));
	tt_results_time(now, tt_clock_wall_ns());
	bind(insert, 0, job->run);
	bind(insert, 1, job->engine);
	bind(insert, 2, job->job);
	tt_db_bind_int(insert, 3, (int64_t)job->shards);
	tt_db_bind_int(insert, 4, (int64_t)job->vectors);
	bind(insert, 5, digest);
	bind(insert, 6, request);
	bind(insert, 7, now);
	status = tt_db_run(insert);
	tt_db_stmt_free(insert);
	return status;
}

tt_status tt_job_save(struct tt_results *results, const struct tt_job *job,
		      const struct tt_job_request *request, const char *master)
{
	char digest[TT_DIGEST_TEXT], *content = NULL;
	struct tt_str text = {0};
	size_t size = 0;
	tt_status status = read_master(&content, &size, master);

	if (status == TTNN_OK)
		status = tt_digest_text(digest, TT_SHA256, content, size);
	if (status == TTNN_OK)
		status = write_request(&text, request);
	if (status == TTNN_OK)
		status = tt_db_begin(results->db);
	if (status == TTNN_OK) {
		status = save_source(results->db, digest, content, size);
		if (status == TTNN_OK)
			status = save_job(results->db, job, digest, tt_str_text(&text));
		if (status == TTNN_OK)
			status = tt_db_commit(results->db);
		if (status != TTNN_OK)
			tt_db_rollback(results->db);
	}
	tt_free(content);
	tt_str_deinit(&text);
	return status;
}

/* Runs a statement of two texts on a database of its own. */
static tt_status update(const char *database, const char *sql, const char *first,
			const char *second)
{
	struct tt_db_stmt *stmt;
	struct tt_db *db;
	tt_status status;

	TT_TRY(tt_results_db_open(&db, database));
	status = tt_db_prepare(&stmt, db, sql);
	if (status == TTNN_OK) {
		bind(stmt, 0, first);
		bind(stmt, 1, second);
		status = tt_db_run(stmt);
		tt_db_stmt_free(stmt);
	}
	tt_db_discard(db);
	return status;
}

tt_status tt_job_started(const char *database, const char *run, const char *job)
{
	return update(database, "update jobs set job = ? where run = ?", job, run);
}

/* ---- joining ------------------------------------------------------------------------------------------------------ */

tt_status tt_job_find(struct tt_job *out, const char *database, const char *run)
{
	struct tt_db_stmt *find = NULL;
	bool row = false;
	struct tt_db *db;
	tt_status status;

	*out = (struct tt_job){0};
	TT_TRY(tt_results_db_open(&db, database));
	status = tt_db_prepare(
		&find, db,
		"select engine, job, shards, vectors, request, status from jobs left join runs on "
		"name = run where run = ?");
	if (status == TTNN_OK) {
		bind(find, 0, run);
		status = tt_db_next(&row, find);
	}
	if (status == TTNN_OK && !row)
		status = tt_fail(TTNN_NOTFOUND, "%s: no run '%.60s' was submitted", database, run);
	if (status == TTNN_OK) {
		copy(out->run, sizeof(out->run), run);
		copy(out->engine, sizeof(out->engine), tt_db_text(find, 0));
		copy(out->job, sizeof(out->job), tt_db_text(find, 1));
		out->shards = (uint64_t)tt_db_int(find, 2);
		out->vectors = (uint64_t)tt_db_int(find, 3);
		copy(out->status, sizeof(out->status), tt_db_text(find, 5));
		out->request = tt_strdup(tt_db_text(find, 4));
		status = out->request ? TTNN_OK : tt_fail_nomem();
	}
	tt_db_stmt_free(find);
	tt_db_discard(db);
	return status;
}

void tt_job_deinit(struct tt_job *job)
{
	tt_free(job->request);
	*job = (struct tt_job){0};
}

tt_status tt_job_master(const struct tt_job *job, const char *database, const char *path)
{
	char digest[TT_DIGEST_TEXT];
	struct tt_db_stmt *find = NULL;
	bool row = false;
	struct tt_db *db;
	tt_status status;

	TT_TRY(tt_results_db_open(&db, database));
	status = tt_db_prepare(
		&find, db,
		"select s.content, s.digest from jobs j join sources s on s.digest = j.master "
		"where j.run = ?");
	if (status == TTNN_OK) {
		bind(find, 0, job->run);
		status = tt_db_next(&row, find);
	}
	if (status == TTNN_OK && !row)
		status = tt_fail(TTNN_NOTFOUND, "%s: the master file of run %s is not there",
				 database, job->run);
	if (status == TTNN_OK)
		status = tt_digest_text(digest, TT_SHA256, tt_db_text(find, 0),
					tt_db_length(find, 0));
	if (status == TTNN_OK && strcmp(digest, tt_db_text(find, 1)) != 0)
		status = tt_fail(TTNN_FORMAT,
				 "%s: the master file of run %s is not what was submitted",
				 database, job->run);
	if (status == TTNN_OK)
		status = tt_file_save(path, tt_db_text(find, 0), tt_db_length(find, 0));
	tt_db_stmt_free(find);
	tt_db_discard(db);
	return status;
}

/* ---- cancelling --------------------------------------------------------------------------------------------------- */

tt_status tt_job_cancel(const char *database, const char *run)
{
	struct tt_job_progress progress;
	char now[TT_RESULTS_TIME];
	tt_status status;

	TT_TRY(tt_job_progress_read(&progress, database, run));
	status = strcmp(progress.status, "running") == 0
			 ? TTNN_OK
			 : tt_fail(TTNN_INVALID, "run %s has ended: it is '%s'", progress.run,
				   progress.status);
	tt_results_time(now, tt_clock_wall_ns());
	if (status == TTNN_OK)
		status = update(
			database,
			"update runs set status = 'cancelled', run_end_ts = ? where name = ? and "
			"status = 'running'",
			now, progress.run);
	tt_job_progress_deinit(&progress);
	return status;
}
