/* analysis.c: the summary of TT-NN's guide, from the files of results_export/. */
#include "sweep/analysis.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/jsondump.h"
#include "base/mem.h"
#include "base/vec.h"

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

struct counts {
	size_t total, passed, skipped, expected; /* expected: xfail */
	double seconds;
	TT_VEC(double) pcc;
};

static void count(struct counts *c, const struct tt_json *records)
{
	struct tt_json_iter it = tt_json_iter(records);

	while (tt_json_next(&it)) {
		double spent = seconds_of(text_of(it.value, "test_end_ts")) -
			       seconds_of(text_of(it.value, "test_start_ts"));
		double value, *room;

		c->total++;
		c->passed += is_true(it.value, "success");
		c->skipped += is_true(it.value, "skipped");
		c->expected += strcmp(text_of(it.value, "status"), "xfail") == 0;
		c->seconds += spent > 0 ? spent : 0;
		if (is_number(&value, text_of(it.value, "message")) &&
		    (room = TT_VEC_PUSH(&c->pcc)))
			*room = value;
	}
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

static void write_totals(struct tt_str *out, const struct counts *c)
{
	size_t failed = c->total - c->passed - c->skipped - c->expected;

	tt_str_addf(out, "📊 Overall Test Statistics:\n   • Total Tests: %zu\n", c->total);
	tt_str_addf(out, "   • ✅ Passed: %zu (%.1f%%)\n   • ❌ Failed: %zu\n", c->passed,
		    c->total ? 100.0 * (double)c->passed / (double)c->total : 0.0, failed);
	if (c->expected)
		tt_str_addf(out, "   • 🟡 Failed, as expected: %zu\n", c->expected);
	if (c->skipped)
		tt_str_addf(out, "   • ⏭️  Skipped: %zu\n", c->skipped);
	tt_str_addf(out, "   • ⏱️  Avg Duration: %.2fs per test\n\n",
		    c->total ? c->seconds / (double)c->total : 0.0);
}

static void write_pcc(struct tt_str *out, const struct counts *c)
{
	double least = 0, most = 0, sum = 0;

	if (!c->pcc.count)
		return;
	least = most = c->pcc.data[0];
	for (size_t i = 0; i < c->pcc.count; i++) {
		least = c->pcc.data[i] < least ? c->pcc.data[i] : least;
		most = c->pcc.data[i] > most ? c->pcc.data[i] : most;
		sum += c->pcc.data[i];
	}
	tt_str_addf(out, "🚀 Performance Metrics:\n   • Min PCC: %.6f\n   • Max PCC: %.6f\n", least,
		    most);
	tt_str_addf(out, "   • Avg PCC: %.6f\n\n", sum / (double)c->pcc.count);
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

static bool has_failed(const struct tt_json *record)
{
	return !is_true(record, "success") && !is_true(record, "skipped") &&
	       strcmp(text_of(record, "status"), "xfail") != 0;
}

static void write_failures(struct tt_str *out, const struct tt_json *records)
{
	struct tt_json_iter it = tt_json_iter(records);
	size_t failed = 0;

	while (tt_json_next(&it)) {
		const char *why = text_of(it.value, "error_message");

		if (!has_failed(it.value) || ++failed > FAILURES)
			continue;
		if (failed == 1)
			tt_str_adds(out, "❌ Failures:\n");
		tt_str_addf(out, "   • %s, %s: %s\n      %.*s\n",
			    text_of(it.value, "full_test_name"),
			    text_of(it.value, "test_case_name"), text_of(it.value, "status"),
			    (int)strcspn(why, "\n"), why);
		write_params(out, it.value);
	}
	if (failed > FAILURES)
		tt_str_addf(out, "   … and %zu more\n", failed - FAILURES);
	if (!failed)
		tt_str_adds(out, "🎉 No failures detected!\n");
}

void tt_analysis_write(struct tt_str *out, const struct tt_json *records, const struct tt_json *run)
{
	struct counts counts = {0};

	count(&counts, records);
	tt_str_adds(out, "🔍 SWEEP TEST RESULTS ANALYSIS\n"
			 "============================================================\n");
	write_run(out, run);
	write_totals(out, &counts);
	write_pcc(out, &counts);
	write_failures(out, records);
	TT_VEC_DEINIT(&counts.pcc);
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
		tt_analysis_write(out, list, about ? tt_json_root(about) : NULL);
	tt_json_free(about);
	tt_json_free(doc);
	return status == TTNN_OK ? tt_str_status(out) : status;
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
