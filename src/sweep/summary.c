/* summary.c: rows of a run, read and grouped. */
#include "sweep/summary.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "sweep/results_parts.h"

bool tt_summary_failed(enum tt_sweep_status status)
{
	return status != TT_SWEEP_PASS && status != TT_SWEEP_NOT_RUN && status != TT_SWEEP_XFAIL;
}

/* ---- groups ------------------------------------------------------------------------------------------------ */

static void add_to(struct tt_summary_group *group, const struct tt_summary_row *row)
{
	bool passed = row->status == TT_SWEEP_PASS;

	group->total++;
	group->failed += tt_summary_failed(row->status);
	group->skipped += row->status == TT_SWEEP_NOT_RUN;
	group->expected += row->status == TT_SWEEP_XFAIL;
	group->hows[row->how] += passed;
	group->ms += isnan(row->ms) ? 0 : row->ms;
	if (!isnan(row->pcc) && row->status != TT_SWEEP_NOT_RUN)
		group->least_pcc =
			isnan(group->least_pcc) ? row->pcc : fmin(group->least_pcc, row->pcc);
}

/* Who groups: what rows have in common is a text. */
struct grouping {
	struct tt_summary *summary;
	tt_summary_groups *groups;
	struct tt_map names;
};

static const char *place_of(struct tt_summary *summary, const struct tt_summary_row *row)
{
	const char *name = row->operation ? row->operation : row->module;

	return row->configuration < 0
		       ? name
		       : tt_arena_printf(&summary->arena, "%s/%lld", name, row->configuration);
}

static tt_status put(struct grouping *g, const char *name, const struct tt_summary_row *row)
{
	struct tt_map_entry *entry;
	bool added;

	entry = tt_map_add(&g->names, name, strlen(name), &added);
	if (!entry)
		return tt_fail_nomem();
	if (added) {
		struct tt_summary_group *group = TT_VEC_PUSH(g->groups);

		if (!group)
			return tt_fail_nomem();
		*group =
			(struct tt_summary_group){.name = tt_arena_strdup(&g->summary->arena, name),
						  .first = place_of(g->summary, row),
						  .least_pcc = NAN};
		entry->number = g->groups->count - 1;
		if (!group->name || !group->first)
			return tt_fail_nomem();
	}
	add_to(&g->groups->data[entry->number], row);
	return TTNN_OK;
}

static int by_failures(const void *a, const void *b)
{
	const struct tt_summary_group *x = a, *y = b;

	if (x->failed != y->failed)
		return x->failed < y->failed ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int by_count(const void *a, const void *b)
{
	const struct tt_summary_group *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The first line of a failure, each number in it as '#': failures of one kind have one text. */
static const char *reason_of(struct tt_summary *summary, const char *exception)
{
	size_t length = strcspn(exception += strspn(exception, " \n"), "\n");
	char *out = tt_arena_alloc(&summary->arena, length + 1), *to = out;

	for (size_t i = 0; out && i < length; i++) {
		bool digit = isdigit((unsigned char)exception[i]) != 0;

		if (!digit)
			*to++ = exception[i];
		else if (to == out || to[-1] != '#')
			*to++ = '#';
		/* 0.913 is one number */
		if (digit && exception[i + 1] == '.' && isdigit((unsigned char)exception[i + 2]))
			i++;
	}
	if (out)
		*to = '\0';
	return out;
}

/* The name that a row has in a grouping; NULL: none. */
static const char *operation_of(struct tt_summary *summary, const struct tt_summary_row *row)
{
	(void)summary;
	return row->operation ? row->operation : row->module;
}

static const char *model_of(struct tt_summary *summary, const struct tt_summary_row *row)
{
	(void)summary;
	return row->model ? row->model : "n/a";
}

static const char *failure_of(struct tt_summary *summary, const struct tt_summary_row *row)
{
	if (!tt_summary_failed(row->status))
		return NULL;
	return row->exception ? reason_of(summary, row->exception) : "it passed unexpectedly";
}

static tt_status group(tt_summary_groups *out, struct tt_summary *summary,
		       const char *(*name_of)(struct tt_summary *, const struct tt_summary_row *),
		       int (*order)(const void *, const void *))
{
	struct grouping g = {.summary = summary, .groups = out};
	tt_status status = TTNN_OK;

	for (size_t i = 0; status == TTNN_OK && i < summary->rows.count; i++) {
		const char *name = name_of(summary, &summary->rows.data[i]);

		if (name)
			status = put(&g, name, &summary->rows.data[i]);
	}
	tt_map_deinit(&g.names);
	if (out->count)
		qsort(out->data, out->count, sizeof(*out->data), order);
	return status;
}

/* Each note is one of its own: "a; b" are two. */
static tt_status group_notes(struct tt_summary *summary)
{
	struct grouping g = {.summary = summary, .groups = &summary->notes};
	tt_status status = TTNN_OK;

	for (size_t i = 0; status == TTNN_OK && i < summary->rows.count; i++) {
		const struct tt_summary_row *row = &summary->rows.data[i];
		const char *at = row->notes;

		while (status == TTNN_OK && at && *at) {
			const char *end = strstr(at, "; ");
			size_t length = end ? (size_t)(end - at) : strlen(at);
			const char *name =
				tt_arena_printf(&summary->arena, "%s: %.*s",
						operation_of(summary, row), (int)length, at);

			status = name ? put(&g, name, row) : tt_fail_nomem();
			at = end ? end + 2 : NULL;
		}
	}
	tt_map_deinit(&g.names);
	return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static const char *copy(struct tt_summary *summary, struct tt_db_stmt *row, int column,
			bool *failed)
{
	const char *text = tt_db_text(row, column);
	char *kept = text ? tt_arena_strdup(&summary->arena, text) : NULL;

	*failed |= text && !kept;
	return kept;
}

/* The seconds of "2026-11-15T02:31:16.169248Z". */
static double seconds_of(const char *text)
{
	struct tm parts = {0};
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) : NULL;

	return rest ? (double)timegm(&parts) + strtod(rest, NULL) : 0;
}

/* The number of the configuration, out of parameters; -1: there is none. */
static long long configuration_of(struct tt_db_stmt *row, int column)
{
	const char *params = tt_db_text(row, column);
	struct tt_json_doc *doc = NULL;
	int64_t number = -1;

	/* Rows may be those of others: what is no JSON has no configuration. */
	if (!params || !strstr(params, "\"configuration\"") ||
	    tt_json_parse(&doc, params, tt_db_length(row, column), "params") != TTNN_OK)
		return -1;
	if (!tt_json_int(&number, tt_json_get(tt_json_root(doc), "configuration")))
		number = -1;
	tt_json_free(doc);
	return number;
}

static tt_status take_row(struct tt_summary *summary, struct tt_db_stmt *from)
{
	struct tt_summary_row *row = TT_VEC_PUSH(&summary->rows);
	const char *how = tt_db_text(from, 5), *status = tt_db_text(from, 4);
	bool failed = false;

	if (!row)
		return tt_fail_nomem();
	*row = (struct tt_summary_row){
		.vector = copy(summary, from, 0, &failed),
		.module = copy(summary, from, 1, &failed),
		.operation = copy(summary, from, 2, &failed),
		.model = copy(summary, from, 3, &failed),
		.message = copy(summary, from, 6, &failed),
		.exception = copy(summary, from, 7, &failed),
		.pcc = tt_results_real(from, 8),
		.ms = tt_results_real(from, 9),
		.notes = copy(summary, from, 10, &failed),
		.cached = tt_db_int(from, 11) != 0,
		.seconds = seconds_of(tt_db_text(from, 13)) - seconds_of(tt_db_text(from, 12)),
		.configuration = configuration_of(from, 14),
	};
	if (failed)
		return tt_fail_nomem();
	if (!row->module || !row->vector || !status ||
	    !tt_sweep_status_find(&row->status, status) || !how ||
	    !tt_sweep_how_find(&row->how, how))
		return tt_fail(TTNN_FORMAT, "a row of the results has an unknown status");
	/* Python's modules tell the correlation as their message. */
	if (isnan(row->pcc) && row->message && row->status == TT_SWEEP_PASS) {
		char *end;
		double pcc = strtod(row->message, &end);

		row->pcc = !*end && end != row->message && isfinite(pcc) ? pcc : NAN;
	}
	return TTNN_OK;
}

static tt_status read_rows(struct tt_summary *summary, struct tt_db *db, int64_t run)
{
	struct tt_db_stmt *rows;
	tt_status status;
	bool more = true;

	TT_TRY(tt_db_prepare(
		&rows, db,
		"select vector, module, operation, model, status, how, message, exception, pcc,"
		" e2e_ms, notes, cached, start_ts, end_ts,"
		" params from results where run_id = ?"
		" order by position, id"));
	tt_db_bind_int(rows, 0, run);
	status = TTNN_OK;
	while (status == TTNN_OK && more) {
		status = tt_db_next(&more, rows);
		if (status == TTNN_OK && more)
			status = take_row(summary, rows);
	}
	tt_db_stmt_free(rows);
	return status;
}

static tt_status find_run(int64_t *out, struct tt_summary *summary, struct tt_db *db,
			  const char *database, const char *name)
{
	bool last = !name || strcmp(name, "last") == 0, row = false, failed = false;
	struct tt_db_stmt *find;
	struct tt_str sql = {0};
	tt_status status;

	tt_str_addf(&sql,
		    "select id, name, status, run_contents, host, run_start_ts, run_end_ts, "
		    "git_sha from runs %s",
		    last ? "order by id desc limit 1" : "where name = ?");
	status = tt_db_prepare(&find, db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	TT_TRY(status);
	if (!last)
		tt_db_bind_text(find, 0, name, strlen(name));
	status = tt_db_next(&row, find);
	if (status == TTNN_OK && !row)
		status = tt_fail(TTNN_NOTFOUND, "%s: there is no run%s%.60s", database,
				 last ? "" : " ", last ? "" : name);
	if (status == TTNN_OK) {
		char **texts[] = {&summary->run,    &summary->status, &summary->contents,
				  &summary->host,   &summary->start,  &summary->end,
				  &summary->git_sha};

		*out = tt_db_int(find, 0);
		for (int i = 0; i < (int)TT_COUNT(texts); i++)
			*texts[i] = (char *)copy(summary, find, i + 1, &failed);
		status = failed ? tt_fail_nomem() : TTNN_OK;
	}
	tt_db_stmt_free(find);
	return status;
}

static tt_status group_all(struct tt_summary *summary)
{
	summary->all = (struct tt_summary_group){.name = "all", .least_pcc = NAN};
	for (size_t i = 0; i < summary->rows.count; i++)
		add_to(&summary->all, &summary->rows.data[i]);
	TT_TRY(group(&summary->operations, summary, operation_of, by_failures));
	TT_TRY(group(&summary->models, summary, model_of, by_failures));
	TT_TRY(group(&summary->reasons, summary, failure_of, by_count));
	return group_notes(summary);
}

tt_status tt_summary_read(struct tt_summary *out, const char *database, const char *run)
{
	struct tt_db *db;
	int64_t id = 0;
	tt_status status;

	*out = (struct tt_summary){0};
	TT_TRY(tt_results_db_open(&db, database));
	status = find_run(&id, out, db, database, run);
	if (status == TTNN_OK)
		status = read_rows(out, db, id);
	tt_db_discard(db);
	if (status == TTNN_OK)
		status = group_all(out);
	if (status != TTNN_OK)
		tt_summary_free(out);
	return status;
}

void tt_summary_free(struct tt_summary *summary)
{
	TT_VEC_DEINIT(&summary->rows);
	TT_VEC_DEINIT(&summary->operations);
	TT_VEC_DEINIT(&summary->models);
	TT_VEC_DEINIT(&summary->reasons);
	TT_VEC_DEINIT(&summary->notes);
	tt_arena_deinit(&summary->arena);
	*summary = (struct tt_summary){0};
}

tt_status tt_summary_runs(struct tt_str *out, const char *database)
{
	struct tt_db_stmt *runs;
	struct tt_db *db;
	tt_status status;
	bool more = true;

	TT_TRY(tt_results_db_open(&db, database));
	status = tt_db_prepare(&runs, db,
			       "select name, run_start_ts, runs.status, count(results.id), "
			       "run_contents from runs left join results on run_id = runs.id "
			       "group by runs.id order by runs.id desc");
	while (status == TTNN_OK && more) {
		status = tt_db_next(&more, runs);
		if (status == TTNN_OK && more)
			tt_str_addf(out, "%s  %.19s  %-9s %8lld vectors  %s\n", tt_db_text(runs, 0),
				    tt_db_text(runs, 1), tt_db_text(runs, 2),
				    (long long)tt_db_int(runs, 3), tt_db_text(runs, 4));
	}
	if (status == TTNN_OK || more)
		tt_db_stmt_free(runs);
	tt_db_discard(db);
	return status;
}
