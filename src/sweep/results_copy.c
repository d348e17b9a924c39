#include "sweep/results_copy.h"

#include <stdio.h>
#include <string.h>

#include "sweep/results_parts.h"

/* Columns and their kinds: text, integer, real. The first of results is the run's id, which is another there. */
static const char run_columns[] =
	"name, initiated_by, host, card_type, run_type, run_contents, git_author, git_branch_name, "
	"git_sha, github_pipeline_id, build, plan, run_start_ts, run_end_ts, status";
static const char run_kinds[] = "ttttttttttttttt";
static const char row_columns[] =
	"run_id, vector, position, module, suite, operation, model, status, how, message, exception, "
	"pcc, bound, error, e2e_ms, start_ts, end_ts, metrics, params, notes, cached";
static const char row_kinds[] = "ititttttttt" /* to exception */
				"rrrrttttti";

static void pass(struct tt_db_stmt *to, struct tt_db_stmt *from, int column, char kind)
{
	if (!tt_db_text(from, column))
		tt_db_bind_null(to, column);
	else if (kind == 'i')
		tt_db_bind_int(to, column, tt_db_int(from, column));
	else if (kind == 'r')
		tt_db_bind_real(to, column, tt_db_real(from, column));
	else
		tt_db_bind_text(to, column, tt_db_text(from, column), tt_db_length(from, column));
}

static tt_status make_insert(struct tt_db_stmt **out, struct tt_db *db, const char *table,
			     const char *columns, const char *end)
{
	struct tt_str sql = {0};
	tt_status status;

	tt_str_addf(&sql, "insert into %s (%s) values (?", table, columns);
	for (const char *c = columns; *c; c++)
		tt_str_adds(&sql, *c == ',' ? ", ?" : "");
	tt_str_addf(&sql, ") on conflict %s", end);
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_prepare(out, db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	return status;
}

static tt_status count_rows(int64_t *out, struct tt_db *db, int64_t run)
{
	char sql[100];

	snprintf(sql, sizeof(sql), "select count(*) from results where run_id = %lld",
		 (long long)run);
	return tt_results_number(out, db, sql);
}

static tt_status copy_rows(struct tt_db *to, struct tt_db *from, const int64_t runs[2])
{
	struct tt_db_stmt *select = NULL, *insert = NULL;
	struct tt_str sql = {0};
	bool row = true;
	tt_status status;

	tt_str_addf(&sql, "select %s from results where run_id = %lld order by id", row_columns,
		    (long long)runs[1]);
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_prepare(&select, from, tt_str_text(&sql));
	tt_str_deinit(&sql);
	if (status == TTNN_OK)
		status = make_insert(&insert, to, "results", row_columns, "do nothing");
	while (status == TTNN_OK && row) {
		status = tt_db_next(&row, select);
		if (status != TTNN_OK || !row)
			break;
		tt_db_bind_int(insert, 0, runs[0]);
		for (int i = 1; row_kinds[i]; i++)
			pass(insert, select, i, row_kinds[i]);
		status = tt_db_run(insert);
	}
	tt_db_stmt_free(select);
	tt_db_stmt_free(insert);
	return status;
}

/* The run of the same name: made if there is none; one that was copied before its end gets that. */
static tt_status copy_run(int64_t *id, struct tt_db *to, struct tt_db_stmt *run)
{
	struct tt_db_stmt *insert, *find = NULL;
	bool row = false;
	tt_status status;

	TT_TRY(make_insert(&insert, to, "runs", run_columns,
			   "(name) do update set status = excluded.status, run_end_ts = "
			   "excluded.run_end_ts where runs.status = 'running'"));
	for (int i = 0; run_kinds[i]; i++)
		pass(insert, run, i, run_kinds[i]);
	status = tt_db_run(insert);
	if (status == TTNN_OK)
		status = tt_db_prepare(&find, to, "select id from runs where name = ?");
	if (status == TTNN_OK) {
		tt_db_bind_text(find, 0, tt_db_text(run, 0), tt_db_length(run, 0));
		status = tt_db_next(&row, find);
	}
	if (status == TTNN_OK && !row)
		status = tt_fail(TTNN_FORMAT, "the run of that name cannot be found again");
	if (status == TTNN_OK)
		*id = tt_db_int(find, 0);
	tt_db_stmt_free(find);
	tt_db_stmt_free(insert);
	return status;
}

static tt_status copy_all(struct tt_results_copied *out, struct tt_db *to, struct tt_db *from,
			  struct tt_db_stmt *run)
{
	int64_t ids[2], before = 0, after = 0;
	bool row = true;

	for (;;) {
		TT_TRY(tt_db_next(&row, run));
		if (!row)
			return TTNN_OK;
		ids[1] = tt_db_int(run, (int)strlen(run_kinds));
		TT_TRY(copy_run(&ids[0], to, run));
		TT_TRY(count_rows(&before, to, ids[0]));
		TT_TRY(copy_rows(to, from, ids));
		TT_TRY(count_rows(&after, to, ids[0]));
		out->runs++;
		out->rows += (uint64_t)(after - before);
	}
}

tt_status tt_results_copy(struct tt_results_copied *out, const char *to, const char *from,
			  const char *run)
{
	struct tt_db *source = NULL, *target = NULL;
	struct tt_db_stmt *select = NULL;
	struct tt_str sql = {0};
	tt_status status;

	*out = (struct tt_results_copied){0};
	tt_str_addf(&sql, "select %s, id from runs %s order by id", run_columns,
		    run ? "where name = ?" : "");
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_results_db_open(&source, from);
	if (status == TTNN_OK)
		status = tt_results_db_make(&target, to);
	if (status == TTNN_OK)
		status = tt_db_prepare(&select, source, tt_str_text(&sql));
	if (status == TTNN_OK && run)
		tt_db_bind_text(select, 0, run, strlen(run));
	if (status == TTNN_OK)
		status = tt_db_begin(target);
	if (status == TTNN_OK) {
		status = copy_all(out, target, source, select);
		if (status == TTNN_OK)
			status = tt_db_commit(target);
		if (status != TTNN_OK)
			tt_db_rollback(target);
	}
	if (status == TTNN_OK && run && !out->runs)
		status = tt_fail(TTNN_NOTFOUND, "%s: there is no run '%.60s'", from, run);
	tt_str_deinit(&sql);
	tt_db_stmt_free(select);
	tt_db_discard(source);
	tt_db_discard(target);
	return status;
}
