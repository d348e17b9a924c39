/* results_tables.c: the tables of the database of results (docs/formats/vectors.md draws them). */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sweep/jobs.h"
#include "sweep/results_parts.h"
#include "sweep/views.h"

static const char schema[] =
	"create table if not exists schema_version (version {int} not null);"
	"create table if not exists runs ("
	" id {id}, name text not null unique, initiated_by text, host text,"
	" card_type text, run_type text not null, run_contents text, git_author text,"
	" git_branch_name text, git_sha text, github_pipeline_id text, build text, plan text,"
	" run_start_ts text not null, run_end_ts text, status text not null);"
	"create table if not exists results ("
	" id {id}, run_id {int} not null references runs (id) on delete cascade,"
	" vector text not null, position {int} not null, module text not null,"
	" suite text not null, operation text, model text, status text not null,"
	" how text not null, message text, exception text, pcc {real}, bound {real}, error {real},"
	" e2e_ms {real}, start_ts text not null, end_ts text not null, metrics text, params text,"
	" notes text, cached {int} not null, unique (run_id, vector));"
	"create table if not exists passed ("
	" key text primary key, how text not null, pcc {real}, bound {real}, error {real},"
	" e2e_ms {real}, notes text, passed_ts text not null) {keyed};"
	/* Vectors of runs that several work on: who has which, until when by the clock of the database. */
	"create table if not exists claims ("
	" run_id {int} not null references runs (id) on delete cascade, vector text not null,"
	" position {int} not null, shard {int} not null, state text not null, host text,"
	" runner text, lease_until {int}, attempts {int} not null, primary key (run_id, vector));"
	"create index if not exists claims_open on claims (run_id, state, shard, position);"
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
	if (!tt_db_is_url(path) && access(path, F_OK) != 0)
		return tt_fail(TTNN_NOTFOUND, "%s: cannot open: %s", path, strerror(errno));
	TT_TRY(tt_db_share(out, path, TT_RESULTS_WAIT_MS));
	status = tt_results_number(&tables, *out,
				   "select count(*) from {tables} where name in "
				   "('schema_version', 'runs', 'results')");
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

/* Whether everything is there: then nobody waits, and nobody needs the right to make some. */
static tt_status are_made(bool *out, struct tt_db *db)
{
	int64_t tables, views = 0;

	TT_TRY(tt_results_number(&tables, db,
				 "select count(*) from {tables} where name in ('schema_version', "
				 "'runs', 'results', 'passed', 'claims', 'jobs', 'sources', "
				 "'views_version')"));
	if (tables == 8)
		TT_TRY(tt_results_number(&views, db,
					 "select coalesce(max(version), 0) from views_version"));
	*out = views >= TT_VIEWS_VERSION;
	return TTNN_OK;
}

tt_status tt_results_make_tables(struct tt_db *db, const char *path)
{
	bool made;
	tt_status status;

	TT_TRY(are_made(&made, db));
	if (made)
		return check_version(db, path);
	/* Two that begin at the same time make them once. */
	TT_TRY(tt_db_begin(db));
	status = tt_db_exec(db, "{one_at_a_time}");
	if (status == TTNN_OK)
		status = tt_db_exec(db, schema);
	if (status == TTNN_OK)
		status = tt_db_exec(db, tt_jobs_schema);
	if (status == TTNN_OK)
		status = tt_results_make_views(db);
	if (status == TTNN_OK)
		status = check_version(db, path);
	if (status == TTNN_OK)
		return tt_db_commit(db);
	tt_db_rollback(db);
	return status;
}

tt_status tt_results_db_make(struct tt_db **out, const char *path)
{
	tt_status status;

	TT_TRY(tt_db_share(out, path, TT_RESULTS_WAIT_MS));
	status = tt_results_make_tables(*out, path);
	if (status != TTNN_OK) {
		tt_db_discard(*out);
		*out = NULL;
	}
	return status;
}
