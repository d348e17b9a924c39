/* results_rows.c: rows of results: those that wait in memory, and their way to the database. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "sweep/results_parts.h"

#define ROWS_AT_ONCE 256 /* that wait in memory at most */

tt_status tt_results_has(bool *out, struct tt_results *results, const char *vector)
{
	bool row = false;
	tt_status status;

	tt_db_bind_int(results->has, 0, results->run);
	tt_results_bind(results->has, 1, vector);
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
	tt_results_bind(results->find, 0, key);
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
	row->result.begin_ns += results->skew_ns;
	row->result.end_ns += results->skew_ns;
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

static tt_status insert_row(struct tt_results *results, int64_t run,
			    const struct tt_results_row *row)
{
	const struct tt_sweep_result *result = &row->result;
	struct tt_db_stmt *insert = results->insert;
	char begin[TT_RESULTS_TIME], end[TT_RESULTS_TIME];

	tt_results_time(begin, result->begin_ns);
	tt_results_time(end, result->end_ns);
	tt_db_bind_int(insert, 0, run);
	tt_results_bind(insert, 1, result->vector);
	tt_db_bind_int(insert, 2, (int64_t)result->position);
	tt_results_bind(insert, 3, result->module);
	tt_results_bind(insert, 4, result->suite);
	tt_results_bind(insert, 5, result->operation);
	tt_results_bind(insert, 6, result->model);
	tt_results_bind(insert, 7, tt_sweep_status_text(result->status));
	tt_results_bind(insert, 8, tt_sweep_how_text(result->how));
	tt_results_bind(insert, 9, result->message);
	tt_results_bind(insert, 10, result->exception);
	bind_number(insert, 11, result->pcc);
	bind_number(insert, 12, result->bound);
	bind_number(insert, 13, result->error);
	bind_number(insert, 14, row->e2e_ms);
	tt_results_bind(insert, 15, begin);
	tt_results_bind(insert, 16, end);
	tt_results_bind(insert, 17, row->metrics);
	tt_db_bind_text(insert, 18, result->params, result->params ? result->params_length : 0);
	tt_results_bind(insert, 19, result->notes);
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
	tt_results_bind(insert, 0, result->key);
	tt_results_bind(insert, 1, tt_sweep_how_text(result->how));
	bind_number(insert, 2, result->pcc);
	bind_number(insert, 3, result->bound);
	bind_number(insert, 4, result->error);
	bind_number(insert, 5, row->e2e_ms);
	tt_results_bind(insert, 6, result->notes);
	tt_results_bind(insert, 7, end);
	return tt_db_run(insert);
}

tt_status tt_results_insert(struct tt_results *results, int64_t run,
			    const struct tt_results_row *row)
{
	TT_TRY(insert_row(results, run, row));
	if (results->claims || results->spool) {
		tt_db_bind_int(results->done, 0, run);
		tt_results_bind(results->done, 1, row->result.vector);
		TT_TRY(tt_db_run(results->done));
	}
	return remember(results, row);
}

tt_status tt_results_write_waiting(struct tt_results *results)
{
	tt_status status;

	if (!results->waiting.count)
		return TTNN_OK;
	TT_TRY(tt_db_begin(results->db));
	status = TTNN_OK;
	for (size_t i = 0; status == TTNN_OK && i < results->waiting.count; i++)
		status = tt_results_insert(results, results->run, &results->waiting.data[i]);
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
