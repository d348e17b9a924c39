/* results.c: runs: how they begin, or are gone on with, and how they end. */
#include "sweep/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "sweep/results_parts.h"
#include "sweep/results_spool.h"

#define PATIENCE_S 600        /* for a database that is away */
#define START_NS 60000000000u /* a server that is away at the beginning */
#define SKEW_NS 2000000000    /* a clock that is wrong by less is right */

/* ---- runs --------------------------------------------------------------------------------------------------- */

static const char *or_else(const char *text, const char *other)
{
	return text && *text ? text : other;
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

/* Begins a run of this name. One that there is already is none of ours: *made tells. */
static tt_status begin_run(bool *made, struct tt_results *results,
			   const struct tt_results_options *options)
{
	struct tt_db_stmt *insert;
	tt_status status;

	TT_TRY(tt_db_prepare(&insert, results->db,
			     "insert into runs (name, initiated_by, host, card_type, run_type, "
			     "run_contents, git_author, git_branch_name, git_sha, "
			     "github_pipeline_id, build, plan, run_start_ts, status) values "
			     "(?, ?, ?, ?, 'sweeps', ?, ?, ?, ?, ?, ?, ?, {now_text}, 'running') "
			     "on conflict (name) do nothing returning id"));
	tt_results_bind(insert, 0, results->name);
	tt_results_bind(insert, 1,
			or_else(options->initiated_by, or_else(getenv("USER"), "Unknown")));
	tt_results_bind(insert, 2, results->host);
	tt_results_bind(insert, 3, or_else(options->card_type, "n/a"));
	tt_results_bind(insert, 4, or_else(options->contents, "all_sweeps"));
	tt_results_bind(insert, 5, or_else(options->git_author, "Unknown"));
	tt_results_bind(insert, 6, or_else(options->git_branch, "Unknown"));
	tt_results_bind(insert, 7, or_else(options->git_sha, "Couldn't get git hash!"));
	tt_results_bind(insert, 8, options->pipeline);
	tt_results_bind(insert, 9, options->build);
	tt_results_bind(insert, 10, options->plan);
	status = tt_db_next(made, insert);
	if (*made)
		results->run = tt_db_int(insert, 0);
	tt_db_stmt_free(insert);
	return status;
}

static tt_status take_run(struct tt_results *results, const char *name,
			  const struct tt_results_options *options)
{
	bool last = strcmp(name, "last") == 0, row = false;
	struct tt_db_stmt *find;
	tt_status status;

	TT_TRY(tt_db_prepare(&find, results->db,
			     last ? "select id, name, plan from runs where status = 'running' "
				    "order by id desc limit 1"
				  : "select id, name, plan from runs where name = ?"));
	if (!last)
		tt_results_bind(find, 0, name);
	status = tt_db_next(&row, find);
	if (status == TTNN_OK && !row)
		status = last ? tt_fail(TTNN_NOTFOUND, "%s: no run is unfinished", results->path)
			      : tt_fail(TTNN_NOTFOUND, "%s: there is no run '%.60s'", results->path,
					name);
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

/* Begins a run, goes on with one, or joins it: whoever comes first begins it. */
static tt_status find_run(struct tt_results *results, const struct tt_results_options *options)
{
	bool made = false;

	if (options->run)
		return take_run(results, options->run, options);
	if (options->join)
		snprintf(results->name, sizeof(results->name), "%s", options->join);
	else
		TT_TRY(name_run(results));
	TT_TRY(begin_run(&made, results, options));
	return made ? TTNN_OK : take_run(results, results->name, options);
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
		"insert into results (run_id, vector, position, module, suite, operation,"
		" model, status, how, message, exception, pcc, bound, error, e2e_ms, start_ts,"
		" end_ts, metrics, params, notes, cached) values "
		"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		" on conflict do nothing"));
	TT_TRY(tt_db_prepare(&results->state, results->db, "select status from runs where id = ?"));
	TT_TRY(tt_db_prepare(&results->done, results->db,
			     "update claims set state = 'done', lease_until = null where "
			     "run_id = ? and vector = ? and state <> 'done'"));
	return tt_db_prepare(&results->remember, results->db,
			     "insert into passed (key, how, pcc, bound, error, e2e_ms, notes,"
			     " passed_ts) values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do"
			     " update set how = excluded.how, pcc = excluded.pcc,"
			     " bound = excluded.bound, error = excluded.error,"
			     " e2e_ms = excluded.e2e_ms, notes = excluded.notes,"
			     " passed_ts = excluded.passed_ts");
}

/* Times of rows are the database's: machines whose clocks differ are in one run. */
static tt_status compare_clocks(struct tt_results *results)
{
	int64_t now = 0;

	TT_TRY(tt_results_number(&now, results->db, "select {now}"));
	results->skew_ns = now * 1000000 - tt_clock_wall_ns();
	if (results->skew_ns < SKEW_NS && results->skew_ns > -SKEW_NS)
		results->skew_ns = 0;
	return TTNN_OK;
}

static tt_status begin_spooling(struct tt_results *results)
{
	results->spool = tt_calloc(1, sizeof(*results->spool));
	if (!results->spool)
		return tt_fail_nomem();
	results->spool->fd = -1;
	TT_TRY(compare_clocks(results));
	return tt_spool_deliver_old(results);
}

static tt_status name_runner(struct tt_results *results)
{
	char seed[400], digest[TT_DIGEST_TEXT];

	snprintf(seed, sizeof(seed), "%lld %llu %ld %.200s", (long long)results->begin_ns,
		 (unsigned long long)tt_clock_ns(), (long)getpid(), results->host);
	TT_TRY(tt_digest_text(digest, TT_SHA256, seed, strlen(seed)));
	snprintf(results->runner, sizeof(results->runner), "%ld-%.16s", (long)getpid(), digest);
	return tt_digest_text(results->database_digest, TT_SHA256, results->path,
			      strlen(results->path));
}

/* A server that is just being started again is waited for; not for long, its name may be wrong. */
static tt_status wait_for_database(struct tt_results *results)
{
	uint64_t begin = tt_clock_ns(), most = results->patience_ns;
	tt_status status = tt_db_share(&results->db, results->path, TT_RESULTS_WAIT_MS);
	bool told = false;

	most = most < START_NS ? most : START_NS;
	while (status == TTNN_IO && tt_db_is_url(results->path) && !tt_deadline_stop() &&
	       tt_clock_ns() - begin < most) {
		if (!told)
			tt_log(TT_LOG_WARN, "waiting for the database, up to %llu s: %s",
			       (unsigned long long)(most / 1000000000), ttnn_error());
		told = true;
		usleep(500000);
		status = tt_db_share(&results->db, results->path, TT_RESULTS_WAIT_MS);
	}
	return status;
}

static tt_status open_all(struct tt_results *results, const struct tt_results_options *options)
{
	char *directory = NULL;
	tt_status status;

	if (options->database && !tt_db_is_url(options->database) &&
	    strchr(options->database, '/')) {
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
	TT_TRY(wait_for_database(results));
	TT_TRY(tt_results_make_tables(results->db, results->path));
	TT_TRY(find_run(results, options));
	TT_TRY(prepare(results));
	return tt_db_is_url(results->path) ? begin_spooling(results) : TTNN_OK;
}

static void results_free(struct tt_results *results)
{
	tt_db_stmt_free(results->has);
	tt_db_stmt_free(results->find);
	tt_db_stmt_free(results->insert);
	tt_db_stmt_free(results->remember);
	tt_db_stmt_free(results->state);
	tt_db_stmt_free(results->done);
	tt_claims_free(results);
	tt_db_discard(results->db);
	if (results->spool)
		tt_spool_close(results->spool);
	tt_free(results->spool);
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
	results->patience_ns =
		(uint64_t)(options->patience_s ? options->patience_s : PATIENCE_S) * 1000000000;
	if (status == TTNN_OK)
		status = name_runner(results);
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

/* ---- its end --------------------------------------------------------------------------------------------- */

/* *ended: it was this process that ended it. Who works on a run with others may come second. */
static tt_status end_run(bool *ended, struct tt_results *results, enum tt_sweep_run_status how)
{
	static const char *const texts[] = {"passed", "fail", "exception"};
	struct tt_db_stmt *update;
	tt_status status;

	TT_TRY(tt_db_prepare(&update, results->db,
			     "update runs set status = ?, run_end_ts = {now_text} where id = ? "
			     "and (status = 'running' or ? = 0) returning id"));
	tt_results_bind(update, 0, texts[how]);
	tt_db_bind_int(update, 1, results->run);
	tt_db_bind_int(update, 2, results->claims != NULL);
	status = tt_db_next(ended, update);
	tt_db_stmt_free(update);
	return status;
}

tt_status tt_results_finish(struct tt_results_files *out, struct tt_results *results,
			    enum tt_sweep_run_status status)
{
	struct tt_results_files files = {0};
	bool ended = false;
	tt_status done;

	out = out ? out : &files;
	*out = (struct tt_results_files){0};
	/* The database may go away even now. */
	do {
		done = tt_results_settle(results);
		if (done == TTNN_OK)
			done = tt_results_bear(results, end_run(&ended, results, status));
	} while (done == TTNN_OK && results->away);
	if (done == TTNN_OK && ended && !results->no_files)
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
