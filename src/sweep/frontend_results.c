/* frontend_results.c: <ttnn_sweep.h>: results for other languages, in JSON. */
#include <math.h>
#include <string.h>
#include <ttnn_sweep.h>

#include "base/json.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"
#include "sweep/analysis.h"
#include "sweep/results.h"

#define METRICS 64

static const char *member_text(const struct tt_json *object, const char *key)
{
	return tt_json_string(tt_json_get(object, key), NULL);
}

const char *ttnn_sweep_status(const char *exception, bool hung, const char *suite)
{
	enum tt_sweep_status status = TT_SWEEP_PASS;

	if (hung)
		status = TT_SWEEP_FAIL_CRASH_HANG;
	else if (exception)
		status = tt_sweep_status_of(exception);
	return tt_sweep_status_text(tt_sweep_status_in(status, suite));
}

enum ttnn_status ttnn_sweep_open(ttnn_sweep **out, const char *json, size_t length)
{
	const struct tt_json *root;
	struct tt_json_doc *doc;
	tt_status status;

	TT_TRY(tt_json_parse(&doc, json, length, "the options"));
	root = tt_json_root(doc);
	status = tt_results_open(out, &(struct tt_results_options){
					      .directory = member_text(root, "directory"),
					      .database = member_text(root, "database"),
					      .contents = member_text(root, "contents"),
					      .card_type = member_text(root, "card_type"),
					      .run = member_text(root, "run"),
				      });
	tt_json_free(doc);
	return status;
}

const char *ttnn_sweep_name(const ttnn_sweep *sweep)
{
	return tt_results_run(sweep);
}

enum ttnn_status ttnn_sweep_has(bool *out, ttnn_sweep *sweep, const char *vector)
{
	tt_status status;

	do {
		TT_TRY(tt_results_settle(sweep)); /* rows that wait are none yet */
		status = tt_results_bear(sweep, tt_results_has(out, sweep, vector));
	} while (status == TTNN_OK && tt_results_away(sweep));
	return status;
}

static double member_real(const struct tt_json *object, const char *key)
{
	double value;

	return tt_json_real(&value, tt_json_get(object, key)) ? value : NAN;
}

static int64_t member_int(const struct tt_json *object, const char *key)
{
	int64_t value;

	return tt_json_int(&value, tt_json_get(object, key)) ? value : 0;
}

static enum tt_sweep_how how_of(const char *text)
{
	for (int how = 0; text && how < TT_SWEEP_HOWS; how++)
		if (strcmp(tt_sweep_how_text((enum tt_sweep_how)how), text) == 0)
			return (enum tt_sweep_how)how;
	return TT_SWEEP_PLAIN;
}

static size_t read_metrics(struct tt_sweep_metric *out, const struct tt_json *metrics)
{
	struct tt_json_iter it = tt_json_iter(metrics);
	size_t count = 0;

	while (count < METRICS && tt_json_next(&it))
		if (tt_json_real(&out[count].value, it.value))
			out[count++].name = it.key;
	return count;
}

static void read_result(struct tt_sweep_result *out, const struct tt_json *given)
{
	*out = (struct tt_sweep_result){
		.module = member_text(given, "module"),
		.suite = member_text(given, "suite"),
		.vector = member_text(given, "vector"),
		.position = (uint64_t)member_int(given, "position"),
		.message = member_text(given, "message"),
		.exception = member_text(given, "exception"),
		.begin_ns = member_int(given, "begin_ns"),
		.end_ns = member_int(given, "end_ns"),
		.model = member_text(given, "model"),
		.operation = member_text(given, "operation"),
		.how = how_of(member_text(given, "how")),
		.pcc = member_real(given, "pcc"),
		.bound = member_real(given, "bound"),
		.error = member_real(given, "error"),
		.notes = member_text(given, "notes"),
	};
}

static tt_status add_result(ttnn_sweep *sweep, const struct tt_json *given)
{
	struct tt_sweep_metric metrics[METRICS];
	struct tt_sweep_result result;
	const char *status_text = member_text(given, "status");
	struct tt_str params = {0};
	struct tt_jsonw w;
	tt_status status;

	read_result(&result, given);
	if (!result.module || !result.suite || !result.vector || !status_text ||
	    !tt_sweep_status_find(&result.status, status_text))
		return tt_fail(TTNN_INVALID,
			       "a result has a module, a suite, a vector and a status");
	result.metrics = metrics;
	result.metric_count = read_metrics(metrics, tt_json_get(given, "metrics"));
	if (tt_json_kind(tt_json_get(given, "params")) == TT_JSON_OBJECT) {
		tt_jsonw_init_str(&w, &params, (struct tt_jsonw_style){.utf8 = true});
		tt_jsonw_value(&w, tt_json_get(given, "params"));
		TT_TRY(tt_jsonw_finish(&w));
		result.params = tt_str_text(&params);
		result.params_length = params.length;
	}
	status = tt_str_status(&params);
	if (status == TTNN_OK)
		status = tt_results_add(sweep, &result);
	tt_str_deinit(&params);
	return status;
}

enum ttnn_status ttnn_sweep_add(ttnn_sweep *sweep, const char *json, size_t length)
{
	struct tt_json_doc *doc;
	tt_status status;

	TT_TRY(tt_json_parse(&doc, json, length, "the result"));
	status = add_result(sweep, tt_json_root(doc));
	tt_json_free(doc);
	return status;
}

enum ttnn_status ttnn_sweep_finish(char **path, ttnn_sweep *sweep, const char *status)
{
	enum tt_sweep_run_status how = strcmp(status, "passed") == 0 ? TT_SWEEP_RUN_PASSED
				       : strcmp(status, "fail") == 0 ? TT_SWEEP_RUN_FAIL
								     : TT_SWEEP_RUN_EXCEPTION;
	struct tt_results_files *files = tt_calloc(1, sizeof(*files));
	struct tt_str text = {0};
	tt_status ended = tt_results_finish(files, sweep, how);

	if (ended == TTNN_OK) {
		tt_str_adds(&text, files ? files->oprun : "");
		ended = tt_str_take(path, &text);
	}
	tt_free(files);
	return ended;
}

enum ttnn_status ttnn_sweep_leave(ttnn_sweep *sweep)
{
	return tt_results_leave(sweep);
}

enum ttnn_status ttnn_sweep_analysis(char **out, const char *directory, const char *records,
				     const char *run)
{
	struct tt_str text = {0};
	tt_status status = tt_analysis_read(&text, directory, records, run);

	if (status == TTNN_OK)
		return tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}
