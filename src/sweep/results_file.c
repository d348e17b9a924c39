/* results_file.c: the files of a run in results_export/ (docs/formats/vectors.md), made of its rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "sweep/results_parts.h"

#define NAME_MAX_BYTES 200 /* of a parameter, with its dots */

void tt_results_time(char out[TT_RESULTS_TIME], int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32] = "1970-01-01T00:00:00";
	struct tm parts;

	if (gmtime_r(&seconds, &parts))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(out, TT_RESULTS_TIME, "%.19s.%06uZ", text,
		 (unsigned)(ns % 1000000000 / 1000) % 1000000u);
}

/* ---- op_params_set ---------------------------------------------------------------------------------------- */

static void write_param(struct tt_jsonw *w, const char *name, const struct tt_json *value)
{
	enum tt_json_kind kind = tt_json_kind(value);
	bool truth = false;
	double number = 0;

	if (tt_json_bool(&truth, value))
		number = truth;
	else
		tt_json_real(&number, value);
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "param_name", name);
	tt_jsonw_key(w, "param_value_numeric");
	if (kind == TT_JSON_BOOL || kind == TT_JSON_INT || kind == TT_JSON_REAL)
		tt_jsonw_real(w, number);
	else
		tt_jsonw_null(w);
	tt_jsonw_key(w, "param_value_text");
	if (kind == TT_JSON_STRING)
		tt_jsonw_value(w, value);
	else
		tt_jsonw_string(w, kind == TT_JSON_NULL ? "None" : NULL);
	tt_jsonw_key(w, "param_value_json");
	if (kind == TT_JSON_ARRAY)
		tt_jsonw_value(w, value);
	else
		tt_jsonw_null(w);
	tt_jsonw_end(w);
}

/* Objects are flattened: their members have names with dots. */
static void write_params(struct tt_jsonw *w, struct tt_str *name, const struct tt_json *object)
{
	struct tt_json_iter it = tt_json_iter(object);
	size_t length = name->length;

	while (tt_json_next(&it)) {
		if (length)
			tt_str_addc(name, '.');
		tt_str_add(name, it.key, it.key_length);
		if (tt_json_kind(it.value) == TT_JSON_OBJECT && name->length < NAME_MAX_BYTES)
			write_params(w, name, it.value);
		else
			write_param(w, tt_str_text(name), it.value);
		if (!name->failed) {
			name->length = length;
			name->data[length] = '\0';
		}
	}
}

static void write_params_set(struct tt_jsonw *w, const char *params, size_t length)
{
	struct tt_json_doc *doc = NULL;
	struct tt_str name = {0};

	tt_jsonw_key(w, "op_params_set");
	tt_jsonw_array(w);
	if (params && tt_json_parse(&doc, params, length, "params") == TTNN_OK)
		write_params(w, &name, tt_json_root(doc));
	tt_jsonw_end(w);
	tt_str_deinit(&name);
	tt_json_free(doc);
}

/* ---- records ------------------------------------------------------------------------------------------------ */

/* Columns of the query for records. */
enum {
	MODULE,
	SUITE,
	VECTOR,
	MODEL,
	STATUS,
	MESSAGE,
	EXCEPTION,
	START,
	END,
	METRICS,
	PARAMS,
	GIT_SHA,
};

static const char records_sql[] =
	"select module, suite, vector, model, r.status, message, exception, start_ts, end_ts, "
	"metrics, params, git_sha from results r join runs on runs.id = run_id where run_id = ? ";

static void write_truth(struct tt_jsonw *w, const char *key, bool truth)
{
	tt_jsonw_key(w, key);
	tt_jsonw_bool(w, truth);
}

static void write_nulls(struct tt_jsonw *w, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tt_jsonw_key_string(w, keys[i], NULL);
}

static void write_outcome(struct tt_jsonw *w, struct tt_db_stmt *row)
{
	const char *exception = tt_db_text(row, EXCEPTION), *status = tt_db_text(row, STATUS);
	const char *error = exception ? exception : "None";
	char digest[TT_DIGEST_TEXT] = "";

	if (tt_digest_text(digest, TT_SHA256, error, strlen(error)) != TTNN_OK)
		digest[0] = '\0';
	write_truth(w, "success", strcmp(status, "pass") == 0);
	write_truth(w, "skipped", strcmp(status, "skipped") == 0);
	tt_jsonw_key_string(w, "error_message", error);
	tt_jsonw_key_string(w, "error_hash", digest);
}

static void write_metrics(struct tt_jsonw *w, const char *metrics)
{
	struct tt_json_doc *doc = NULL;

	tt_jsonw_key(w, "metrics");
	if (metrics && tt_json_parse(&doc, metrics, strlen(metrics), "metrics") == TTNN_OK)
		tt_jsonw_value(w, tt_json_root(doc));
	else
		tt_jsonw_null(w);
	tt_json_free(doc);
}

static void write_record(struct tt_jsonw *w, struct tt_db_stmt *row)
{
	static const char *const empty[] = {"inputs", "outputs", "op_params"};
	const char *module = tt_db_text(row, MODULE), *model = tt_db_text(row, MODEL);
	const char *dot = strrchr(module, '.');

	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "github_job_id", NULL);
	tt_jsonw_key_string(w, "full_test_name", module);
	tt_jsonw_key_string(w, "test_start_ts", tt_db_text(row, START));
	tt_jsonw_key_string(w, "test_end_ts", tt_db_text(row, END));
	tt_jsonw_key_string(w, "test_case_name", tt_db_text(row, SUITE));
	tt_jsonw_key_string(w, "filepath", module);
	write_outcome(w, row);
	tt_jsonw_key_string(w, "config", NULL);
	tt_jsonw_key_string(w, "frontend", "ttnn.op");
	tt_jsonw_key_string(w, "model_name", model ? model : "n/a");
	tt_jsonw_key(w, "op_kind");
	tt_jsonw_stringn(w, module, strcspn(module, "."));
	tt_jsonw_key_string(w, "op_name", dot ? dot + 1 : module);
	tt_jsonw_key_string(w, "framework_op_name", "sweep");
	write_nulls(w, empty, TT_COUNT(empty));
	tt_jsonw_key_string(w, "git_sha", tt_db_text(row, GIT_SHA));
	tt_jsonw_key_string(w, "status", tt_db_text(row, STATUS));
	tt_jsonw_key_string(w, "card_type", "n/a");
	tt_jsonw_key_string(w, "backend", "n/a");
	tt_jsonw_key_string(w, "data_source", "ttnn op test");
	tt_jsonw_key_string(w, "input_hash", tt_db_text(row, VECTOR));
	tt_jsonw_key_string(w, "message", tt_db_text(row, MESSAGE));
	tt_jsonw_key_string(w, "exception", tt_db_text(row, EXCEPTION));
	write_metrics(w, tt_db_text(row, METRICS));
	write_params_set(w, tt_db_text(row, PARAMS), tt_db_length(row, PARAMS));
	tt_jsonw_end(w);
}

/* Records of a run, or of one suite of it when there is a module: a list. */
static tt_status write_records(struct tt_jsonw *w, struct tt_results *results, const char *module,
			       const char *suite)
{
	struct tt_str sql = {0};
	struct tt_db_stmt *row = NULL;
	tt_status status;
	bool more = true;

	tt_str_adds(&sql, records_sql);
	tt_str_adds(&sql, module ? "and module = ? and suite = ? " : "");
	tt_str_adds(&sql, "order by position, r.id");
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_prepare(&row, results->db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	TT_TRY(status);
	tt_db_bind_int(row, 0, results->run);
	if (module) {
		tt_db_bind_text(row, 1, module, strlen(module));
		tt_db_bind_text(row, 2, suite, strlen(suite));
	}
	tt_jsonw_array(w);
	while (status == TTNN_OK && more) {
		status = tt_db_next(&more, row);
		if (status == TTNN_OK && more)
			write_record(w, row);
	}
	tt_jsonw_end(w);
	tt_db_stmt_free(row);
	return status;
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* "20261115_023116" of "2026-11-15T02:31:16.169248Z", some seconds later. */
static void file_time(char out[32], const char *text, unsigned later)
{
	struct tm parts = {0};
	time_t seconds;

	if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &parts))
		parts = (struct tm){.tm_mday = 1, .tm_year = 70};
	seconds = timegm(&parts) + (time_t)later;
	gmtime_r(&seconds, &parts);
	strftime(out, 32, "%Y%m%d_%H%M%S", &parts);
}

/*
 * The name of a file: WHO_DIGEST_TIME.json. Upstream's suites that begin in one second overwrite each other; here the time of
 * the later one is that of the next second that is free.
 */
static tt_status name_file(char out[TT_RESULTS_PATH], const char *directory, const char *who,
			   const char *digest, const char *start)
{
	char time[32];

	for (unsigned later = 0; later < 100000; later++) {
		file_time(time, start, later);
		if (snprintf(out, TT_RESULTS_PATH, "%s/%s_%.12s_%s.json", directory, who, digest,
			     time) >= TT_RESULTS_PATH)
			return tt_fail(TTNN_INVALID, "the name of a file of results is too long");
		if (access(out, F_OK) != 0)
			return TTNN_OK;
	}
	return tt_fail(TTNN_IO, "%s: no name is free for a file of results", directory);
}

static tt_status commit(struct tt_file_out *file, struct tt_jsonw *w, tt_status status)
{
	tt_status written = tt_jsonw_finish(w);

	if (status == TTNN_OK)
		status = written;
	if (status == TTNN_OK)
		return tt_file_commit(file);
	tt_file_discard(file);
	return status;
}

static tt_status write_suite(struct tt_results *results, const char *module, const char *suite,
			     const char *start)
{
	char path[TT_RESULTS_PATH], digest[TT_DIGEST_TEXT], kind[128];
	struct tt_file_out *file;
	struct tt_jsonw w;

	TT_TRY(tt_digest_text(digest, TT_SHA256, module, strlen(module)));
	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(module, "./"), module);
	TT_TRY(name_file(path, results->directory, kind, digest, start));
	TT_TRY(tt_file_create(&file, path));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.indent = 2});
	return commit(file, &w, write_records(&w, results, module, suite));
}

/* Columns of a run that are members of its file, in order. */
static const char *const run_members[] = {"initiated_by",    "host",         "card_type",
					  "run_type",        "run_contents", "git_author",
					  "git_branch_name", "git_sha",      "github_pipeline_id",
					  "run_start_ts",    "run_end_ts",   "status"};

static tt_status write_run_file(struct tt_results_files *out, struct tt_results *results,
				struct tt_db_stmt *run)
{
	const char *contents = tt_db_text(run, 4);
	char who[64], digest[TT_DIGEST_TEXT];
	struct tt_file_out *file;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(tt_digest_text(digest, TT_SHA256, contents, strlen(contents)));
	snprintf(who, sizeof(who), "oprun_%.32s", tt_db_text(run, 1));
	for (char *c = who; *c; c++)
		*c = *c == '/' ? '_' : *c;
	TT_TRY(name_file(out->oprun, results->directory, who, digest, tt_db_text(run, 9)));
	TT_TRY(tt_file_create(&file, out->oprun));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_object(&w);
	for (int i = 0; i < (int)TT_COUNT(run_members); i++)
		tt_jsonw_key_string(&w, run_members[i], tt_db_text(run, i));
	tt_jsonw_key(&w, "tests");
	status = write_records(&w, results, NULL, NULL);
	tt_jsonw_end(&w);
	return commit(file, &w, status);
}

static tt_status write_run(struct tt_results_files *out, struct tt_results *results)
{
	struct tt_str sql = {0};
	struct tt_db_stmt *run = NULL;
	bool row = false;
	tt_status status;

	tt_str_adds(&sql, "select ");
	for (size_t i = 0; i < TT_COUNT(run_members); i++)
		tt_str_addf(&sql, "%s%s", i ? ", " : "", run_members[i]);
	tt_str_adds(&sql, " from runs where id = ?");
	status = tt_str_status(&sql);
	if (status == TTNN_OK)
		status = tt_db_prepare(&run, results->db, tt_str_text(&sql));
	tt_str_deinit(&sql);
	TT_TRY(status);
	tt_db_bind_int(run, 0, results->run);
	status = tt_db_next(&row, run);
	if (status == TTNN_OK && row)
		status = write_run_file(out, results, run);
	tt_db_stmt_free(run);
	return status;
}

tt_status tt_results_write_files(struct tt_results_files *out, struct tt_results *results)
{
	struct tt_db_stmt *suites;
	tt_status status;
	bool row = true;

	TT_TRY(tt_file_make_dirs(results->directory));
	TT_TRY(tt_db_prepare(&suites, results->db,
			     "select module, suite, min(start_ts) from results where run_id = ? "
			     "group by module, suite order by min(position), min(id)"));
	tt_db_bind_int(suites, 0, results->run);
	status = tt_db_next(&row, suites);
	while (status == TTNN_OK && row) {
		status = write_suite(results, tt_db_text(suites, 0), tt_db_text(suites, 1),
				     tt_db_text(suites, 2));
		out->suites++;
		if (status == TTNN_OK)
			status = tt_db_next(&row, suites);
	}
	tt_db_stmt_free(suites);
	return status == TTNN_OK ? write_run(out, results) : status;
}
