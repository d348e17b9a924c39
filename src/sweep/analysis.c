/* analysis.c: the summary of TT-NN's guide, from the files of results_export/. */
#include "sweep/analysis.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/jsondump.h"
#include "sweep/summary.h"

#define FAILURES 5 /* that are told one by one */

static const char *text_of(const struct tt_json *object, const char *key)
{
	const char *text = tt_json_string(tt_json_get(object, key), NULL);

	return text ? text : "";
}

static bool is_true(const struct tt_json *object, const char *key)
{
	bool value;

	return tt_json_bool(&value, tt_json_get(object, key)) && value;
}

/* ---- numbers ----------------------------------------------------------------------------------------------- */

/* Seconds of "2026-11-15T02:31:16.169248Z" within its month, which no vector outlasts. */
static double seconds_of(const char *stamp)
{
	unsigned day, hour, minute;
	double second;
	char *end;

	if (strlen(stamp) < 19)
		return 0;
	day = (unsigned)strtoul(stamp + 8, &end, 10);
	hour = (unsigned)strtoul(stamp + 11, &end, 10);
	minute = (unsigned)strtoul(stamp + 14, &end, 10);
	second = strtod(stamp + 17, &end);
	return ((day * 24.0 + hour) * 60 + minute) * 60 + second;
}

/* Whether a message is nothing but a decimal number: a PCC. */
static bool is_number(double *out, const char *text)
{
	char *end;

	if (!*text || strspn(text, "+-.0123456789e") != strlen(text))
		return false;
	*out = strtod(text, &end);
	return !*end;
}

/* The records as rows, as far as totals need them. */
static tt_status read_rows(struct tt_summary *out, const struct tt_json *records)
{
	struct tt_json_iter it = tt_json_iter(records);

	while (tt_json_next(&it)) {
		struct tt_summary_row *row = TT_VEC_PUSH(&out->rows);
		double spent = seconds_of(text_of(it.value, "test_end_ts")) -
			       seconds_of(text_of(it.value, "test_start_ts"));

		if (!row)
			return tt_fail_nomem();
		*row = (struct tt_summary_row){.pcc = NAN, .seconds = spent > 0 ? spent : 0};
		if (!tt_sweep_status_find(&row->status, text_of(it.value, "status")))
			row->status = is_true(it.value, "success") ? TT_SWEEP_PASS
								   : TT_SWEEP_FAIL_ASSERT_EXCEPTION;
		if (!is_number(&row->pcc, text_of(it.value, "message")))
			row->pcc = NAN;
		out->all.total++;
		out->all.hows[TT_SWEEP_PLAIN] += row->status == TT_SWEEP_PASS;
		out->all.failed += tt_summary_failed(row->status);
		out->all.skipped += row->status == TT_SWEEP_NOT_RUN;
		out->all.expected += row->status == TT_SWEEP_XFAIL;
	}
	return TTNN_OK;
}

/* ---- what is printed ------------------------------------------------------------------------------------------ */

static void write_run(struct tt_str *out, const struct tt_json *run)
{
	if (!run)
		return;
	tt_str_addf(out, "📋 Run Information:\n   • Run: %s\n   • Host: %s, %s\n",
		    text_of(run, "run_contents"), text_of(run, "host"), text_of(run, "card_type"));
	tt_str_addf(out, "   • Started: %s\n   • Ended: %s\n\n", text_of(run, "run_start_ts"),
		    text_of(run, "run_end_ts"));
}

/* Parameters that tell what was tested. */
static void write_params(struct tt_str *out, const struct tt_json *record)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(record, "op_params_set"));
	static const char *const words[] = {"shape", "dtype", "memory", "layout"};

	while (tt_json_next(&it)) {
		const char *name = text_of(it.value, "param_name");
		const struct tt_json *json = tt_json_get(it.value, "param_value_json");
		bool told = false;

		for (size_t i = 0; i < TT_COUNT(words); i++)
			told = told || strstr(name, words[i]);
		if (!told || strstr(name, ".type") || strstr(name, "created_with"))
			continue;
		tt_str_addf(out, "      %s: ", name);
		if (tt_json_kind(json) == TT_JSON_ARRAY || tt_json_kind(json) == TT_JSON_OBJECT)
			tt_json_dump(out, json);
		else
			tt_str_adds(out, text_of(it.value, "param_value_text"));
		tt_str_addc(out, '\n');
	}
}

static void write_failures(struct tt_str *out, const struct tt_json *records,
			   const struct tt_summary *summary)
{
	struct tt_json_iter it = tt_json_iter(records);
	size_t failed = 0, number = 0;

	for (; number < summary->rows.count && tt_json_next(&it); number++) {
		const char *why = text_of(it.value, "error_message");

		if (!tt_summary_failed(summary->rows.data[number].status) || ++failed > FAILURES)
			continue;
		if (failed == 1)
			tt_str_adds(out, "❌ Failures:\n");
		tt_str_addf(out, "   • %s, %s: %s\n      ", text_of(it.value, "full_test_name"),
			    text_of(it.value, "test_case_name"), text_of(it.value, "status"));
		tt_summary_line(out, why);
		tt_str_addc(out, '\n');
		write_params(out, it.value);
	}
	if (failed > FAILURES)
		tt_str_addf(out, "   … and %zu more\n", failed - FAILURES);
}

tt_status tt_analysis_write(struct tt_str *out, const struct tt_json *records,
			    const struct tt_json *run)
{
	struct tt_summary summary = {0};
	tt_status status = read_rows(&summary, records);

	if (status == TTNN_OK) {
		write_run(out, run);
		tt_summary_totals(out, &summary);
		write_failures(out, records, &summary);
		status = tt_str_status(out);
	}
	tt_summary_free(&summary);
	return status;
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

/* The newest oprun_*.json of a directory. */
static tt_status newest(struct tt_str *out, const char *directory)
{
	struct timespec best = {0};
	struct dirent *entry;
	DIR *dir = opendir(directory);

	while (dir && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);
		struct stat found;
		char path[4096];

		if (strncmp(entry->d_name, "oprun_", 6) != 0 || length < 11 ||
		    strcmp(entry->d_name + length - 5, ".json") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (stat(path, &found) != 0 || found.st_mtim.tv_sec < best.tv_sec ||
		    (found.st_mtim.tv_sec == best.tv_sec && found.st_mtim.tv_nsec < best.tv_nsec))
			continue;
		best = found.st_mtim;
		tt_str_clear(out);
		tt_str_adds(out, path);
	}
	if (dir)
		closedir(dir);
	if (!out->length)
		return tt_fail(TTNN_NOTFOUND, "%s: there are no results of a run", directory);
	return tt_str_status(out);
}

static tt_status read_files(struct tt_str *out, const char *records, const char *run)
{
	struct tt_json_doc *doc, *about = NULL;
	const struct tt_json *root, *list;
	tt_status status = TTNN_OK;

	TT_TRY(tt_json_load(&doc, records));
	root = tt_json_root(doc);
	list = tt_json_kind(root) == TT_JSON_ARRAY ? root : tt_json_get(root, "tests");
	if (tt_json_kind(list) != TT_JSON_ARRAY)
		status = tt_fail(TTNN_FORMAT, "%s: these are no results of sweeps", records);
	if (status == TTNN_OK && run)
		status = tt_json_load(&about, run);
	if (status == TTNN_OK)
		status = tt_analysis_write(out, list, about ? tt_json_root(about) : NULL);
	tt_json_free(about);
	tt_json_free(doc);
	return status;
}

tt_status tt_analysis_read(struct tt_str *out, const char *directory, const char *records,
			   const char *run)
{
	struct tt_str path = {0};
	tt_status status = TTNN_OK;

	if (!records && run)
		records = run;
	if (!records)
		status = newest(&path, directory);
	if (status == TTNN_OK)
		status = read_files(out, records ? records : tt_str_text(&path), run);
	tt_str_deinit(&path);
	return status;
}
