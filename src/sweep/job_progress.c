/* job_progress.c: how far a run is, out of its rows. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "sweep/jobs.h"
#include "sweep/results_parts.h"
#include "sweep/summary.h"

#define RATE_NS (60 * (int64_t)1000000000) /* "of late" */
#define FAILURES "5"
#define FAILED "status not in ('pass', 'skipped', 'xfail')"

static void copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text ? text : "");
}

static tt_status read_run(int64_t *id, struct tt_job_progress *out, struct tt_db *db,
			  const char *run)
{
	bool last = !run || strcmp(run, "last") == 0, row = false;
	struct tt_db_stmt *find;
	tt_status status;

	TT_TRY(tt_db_prepare(
		&find, db,
		last ? "select r.id, r.name, r.status, r.run_start_ts, j.engine, j.job, j.shards, j.vectors "
		       "from runs r left join jobs j on j.run = r.name order by r.id desc limit 1"
		     : "select r.id, r.name, r.status, r.run_start_ts, j.engine, j.job, j.shards, j.vectors "
		       "from runs r left join jobs j on j.run = r.name where r.name = ?"));
	if (!last)
		tt_db_bind_text(find, 0, run, strlen(run));
	status = tt_db_next(&row, find);
	if (status == TTNN_OK && !row)
		status = last ? tt_fail(TTNN_NOTFOUND, "there is no run in the database")
			      : tt_fail(TTNN_NOTFOUND, "there is no run '%.60s'", run);
	if (status == TTNN_OK) {
		uint64_t shards;

		*id = tt_db_int(find, 0);
		copy(out->run, sizeof(out->run), tt_db_text(find, 1));
		copy(out->status, sizeof(out->status), tt_db_text(find, 2));
		copy(out->start, sizeof(out->start), tt_db_text(find, 3));
		copy(out->engine, sizeof(out->engine), tt_db_text(find, 4));
		copy(out->job, sizeof(out->job), tt_db_text(find, 5));
		out->submitted = *out->engine;
		shards = out->submitted ? (uint64_t)tt_db_int(find, 6) : 0;
		out->vectors = out->submitted ? (uint64_t)tt_db_int(find, 7) : 0;
		for (uint64_t i = 0; status == TTNN_OK && i < shards; i++) {
			struct tt_job_progress_shard *shard = TT_VEC_PUSH(&out->shards);

			if (shard)
				*shard = (struct tt_job_progress_shard){
					.vectors = (out->vectors + shards - 1 - i) / shards};
			else
				status = tt_fail_nomem();
		}
	}
	tt_db_stmt_free(find);
	return status;
}

static tt_status read_totals(struct tt_job_progress *out, struct tt_db *db, int64_t run)
{
	char sql[400], since[TT_RESULTS_TIME];
	struct tt_db_stmt *find;
	bool row = false;
	tt_status status;

	tt_results_time(since, tt_clock_wall_ns() - RATE_NS);
	snprintf(sql, sizeof(sql),
		 "select count(*), sum(case when status = 'pass' then 1 else 0 end),"
		 " sum(case when " FAILED " then 1 else 0 end),"
		 " sum(case when status = 'skipped' then 1 else 0 end), max(end_ts),"
		 " sum(case when end_ts > '%s' then 1 else 0 end)"
		 " from results where run_id = %" PRId64,
		 since, run);
	TT_TRY(tt_db_prepare(&find, db, sql));
	status = tt_db_next(&row, find);
	if (status == TTNN_OK && row && (out->rows = (uint64_t)tt_db_int(find, 0))) {
		out->passed = (uint64_t)tt_db_int(find, 1);
		out->failed = (uint64_t)tt_db_int(find, 2);
		out->skipped = (uint64_t)tt_db_int(find, 3);
		copy(out->last, sizeof(out->last), tt_db_text(find, 4));
		out->rate = (double)tt_db_int(find, 5);
	}
	tt_db_stmt_free(find);
	return status;
}

static tt_status read_shards(struct tt_job_progress *out, struct tt_db *db, int64_t run)
{
	struct tt_db_stmt *find;
	bool row = true;
	char sql[300];
	tt_status status;

	if (!out->shards.count)
		return TTNN_OK;
	snprintf(sql, sizeof(sql),
		 "select position %% %zu, count(*), sum(case when " FAILED
		 " then 1 else 0 end) from results where "
		 "run_id = %" PRId64 " group by 1",
		 out->shards.count, run);
	TT_TRY(tt_db_prepare(&find, db, sql));
	while ((status = tt_db_next(&row, find)) == TTNN_OK && row) {
		uint64_t at = (uint64_t)tt_db_int(find, 0);

		if (at < out->shards.count) {
			out->shards.data[at].rows = (uint64_t)tt_db_int(find, 1);
			out->shards.data[at].failed = (uint64_t)tt_db_int(find, 2);
		}
	}
	tt_db_stmt_free(find);
	return status;
}

static tt_status read_failures(struct tt_job_progress *out, struct tt_db *db, int64_t run)
{
	struct tt_db_stmt *find;
	bool row = true;
	char sql[300];
	tt_status status;

	if (!out->failed)
		return TTNN_OK;
	snprintf(
		sql, sizeof(sql),
		"select coalesce(operation, module), status, coalesce(exception, message) from results where "
		"run_id = %" PRId64 " and " FAILED " order by end_ts desc, vector limit " FAILURES,
		run);
	TT_TRY(tt_db_prepare(&find, db, sql));
	while ((status = tt_db_next(&row, find)) == TTNN_OK && row) {
		tt_summary_line(&out->failures, tt_db_text(find, 0));
		tt_str_addf(&out->failures, " %s: ", tt_db_text(find, 1));
		tt_summary_line(&out->failures, tt_db_text(find, 2));
		tt_str_addc(&out->failures, '\n');
	}
	tt_db_stmt_free(find);
	return status == TTNN_OK ? tt_str_status(&out->failures) : status;
}

/* Two digits of a time. */
static int two(const char *digits)
{
	return 10 * (digits[0] - '0') + digits[1] - '0';
}

static int second_of_day(const char *time)
{
	return 3600 * two(time + 11) + 60 * two(time + 14) + two(time + 17);
}

/* Rows of the last minute, or since the run began if that is less; the clocks are those of whoever wrote the rows. */
static void judge(struct tt_job_progress *out)
{
	char minute_ago[TT_RESULTS_TIME], now[TT_RESULTS_TIME];
	int64_t ns = tt_clock_wall_ns();
	double seconds = 60;

	tt_results_time(now, ns);
	tt_results_time(minute_ago, ns - RATE_NS);
	if (strlen(out->start) > 19 && strcmp(out->start, minute_ago) > 0) {
		seconds = second_of_day(now) - second_of_day(out->start);
		seconds += seconds < 0 ? 86400 : 0;
		seconds = seconds < 1 ? 1 : seconds;
	}
	out->rate /= seconds;
	out->left = NAN;
	if (tt_job_progress_ended(out))
		out->left = 0;
	else if (out->vectors && out->rate > 0)
		out->left = (double)(out->vectors - out->rows) / out->rate;
}

tt_status tt_job_progress_read(struct tt_job_progress *out, const char *database, const char *run)
{
	struct tt_db *db;
	int64_t id = 0;
	tt_status status;

	*out = (struct tt_job_progress){0};
	TT_TRY(tt_results_db_open(&db, database));
	status = read_run(&id, out, db, run);
	if (status == TTNN_OK)
		status = read_totals(out, db, id);
	if (status == TTNN_OK)
		status = read_shards(out, db, id);
	if (status == TTNN_OK)
		status = read_failures(out, db, id);
	tt_db_discard(db);
	if (status == TTNN_OK)
		judge(out);
	else
		tt_job_progress_deinit(out);
	return status;
}

void tt_job_progress_deinit(struct tt_job_progress *progress)
{
	TT_VEC_DEINIT(&progress->shards);
	tt_str_deinit(&progress->failures);
}

bool tt_job_progress_ended(const struct tt_job_progress *progress)
{
	return strcmp(progress->status, "running") != 0 ||
	       (progress->submitted && progress->rows >= progress->vectors);
}

/* ---- as text ------------------------------------------------------------------------------------------------------ */

static void add_time(struct tt_str *out, double seconds)
{
	uint64_t whole = (uint64_t)(seconds + 0.5);

	if (whole >= 3600)
		tt_str_addf(out, "%" PRIu64 " h %" PRIu64 " min", whole / 3600, whole / 60 % 60);
	else if (whole >= 60)
		tt_str_addf(out, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
	else
		tt_str_addf(out, "%" PRIu64 " s", whole);
}

void tt_job_progress_text(struct tt_str *out, const struct tt_job_progress *progress)
{
	size_t done = 0;

	tt_str_addf(out, "run %s: %s, begun %.19s", progress->run,
		    tt_job_progress_ended(progress) && strcmp(progress->status, "running") == 0
			    ? "complete"
			    : progress->status,
		    progress->start);
	if (progress->submitted)
		tt_str_addf(out, ", %s job %s", progress->engine,
			    *progress->job ? progress->job : "not submitted yet");
	tt_str_addf(out, "\n%" PRIu64, progress->rows);
	if (progress->submitted)
		tt_str_addf(out, " of %" PRIu64, progress->vectors);
	tt_str_addf(out, " vectors: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " not run",
		    progress->passed, progress->failed, progress->skipped);
	if (!tt_job_progress_ended(progress)) {
		tt_str_addf(out, "; %.1f a second", progress->rate);
		if (!isnan(progress->left)) {
			tt_str_adds(out, ", ");
			add_time(out, progress->left);
			tt_str_adds(out, " left");
		}
	}
	tt_str_addc(out, '\n');
	for (size_t i = 0; i < progress->shards.count; i++)
		done += progress->shards.data[i].rows >= progress->shards.data[i].vectors;
	if (progress->shards.count)
		tt_str_addf(out, "%zu of %zu shards complete\n", done, progress->shards.count);
	/* Of very many only those that are behind say something. */
	for (size_t i = 0, lines = 0; i < progress->shards.count && lines < 32; i++) {
		const struct tt_job_progress_shard *shard = &progress->shards.data[i];

		if (progress->shards.count > 32 && shard->rows >= shard->vectors)
			continue;
		tt_str_addf(
			out, "  shard %zu/%zu  %6" PRIu64 " of %6" PRIu64 ", %" PRIu64 " failed\n",
			i + 1, progress->shards.count, shard->rows, shard->vectors, shard->failed);
		lines++;
	}
	if (progress->failures.length)
		tt_str_addf(out, "latest failures:\n%s", tt_str_text(&progress->failures));
}

static void number_or_null(struct tt_jsonw *w, const char *key, double number)
{
	tt_jsonw_key(w, key);
	if (isnan(number))
		tt_jsonw_null(w);
	else
		tt_jsonw_real(w, number);
}

tt_status tt_job_progress_json(struct tt_str *out, const struct tt_job_progress *progress)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_object(&w);
	tt_jsonw_key_string(&w, "run", progress->run);
	tt_jsonw_key_string(&w, "status", progress->status);
	tt_jsonw_key(&w, "ended");
	tt_jsonw_bool(&w, tt_job_progress_ended(progress));
	tt_jsonw_key_string(&w, "engine", progress->submitted ? progress->engine : NULL);
	tt_jsonw_key_string(&w, "job", *progress->job ? progress->job : NULL);
	tt_jsonw_key_string(&w, "run_start_ts", progress->start);
	tt_jsonw_key_string(&w, "last_row_ts", *progress->last ? progress->last : NULL);
	tt_jsonw_key(&w, "vectors");
	if (progress->submitted)
		tt_jsonw_uint(&w, progress->vectors);
	else
		tt_jsonw_null(&w);
	tt_jsonw_key_int(&w, "rows", (int64_t)progress->rows);
	tt_jsonw_key_int(&w, "passed", (int64_t)progress->passed);
	tt_jsonw_key_int(&w, "failed", (int64_t)progress->failed);
	tt_jsonw_key_int(&w, "not_run", (int64_t)progress->skipped);
	number_or_null(&w, "rows_per_second", progress->rate);
	number_or_null(&w, "seconds_left", progress->left);
	tt_jsonw_key(&w, "shards");
	tt_jsonw_array(&w);
	for (size_t i = 0; i < progress->shards.count; i++) {
		tt_jsonw_object(&w);
		tt_jsonw_key_int(&w, "shard", (int64_t)i + 1);
		tt_jsonw_key_int(&w, "vectors", (int64_t)progress->shards.data[i].vectors);
		tt_jsonw_key_int(&w, "rows", (int64_t)progress->shards.data[i].rows);
		tt_jsonw_key_int(&w, "failed", (int64_t)progress->shards.data[i].failed);
		tt_jsonw_end(&w);
	}
	tt_jsonw_end(&w);
	tt_jsonw_end(&w);
	TT_TRY(tt_jsonw_finish(&w));
	tt_str_addc(out, '\n');
	return tt_str_status(out);
}
