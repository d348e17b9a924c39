/* summary_text.c: summaries as text, Markdown and JSON; two of them compared. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "sweep/summary.h"

#define LONGEST_LINE 600 /* bytes of a failure that are shown */
#define MOST_FAILURES 5  /* that are listed one by one */

void tt_summary_line(struct tt_str *out, const char *text)
{
	size_t length, shown;

	text += strspn(text, " \n"); /* some messages of upstream begin with an empty line */
	length = shown = strcspn(text, "\n");
	if (length > LONGEST_LINE)
		for (shown = LONGEST_LINE; ((unsigned char)text[shown] & 0xc0) == 0x80;)
			shown--;
	for (size_t i = 0; i < shown; i++)
		tt_str_addc(out, (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i]);
	tt_str_adds(out, shown < length ? "…" : "");
}

static uint64_t passed(const struct tt_summary_group *group)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < TT_SWEEP_HOWS; i++)
		count += group->hows[i];
	return count;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* Totals as the guides print them. */
static void add_totals(struct tt_str *out, const struct tt_summary *summary)
{
	const struct tt_summary_group *all = &summary->all;
	double seconds = 0,
	       percent = all->total ? 100.0 * (double)passed(all) / (double)all->total : 0;

	for (size_t i = 0; i < summary->rows.count; i++)
		seconds += summary->rows.data[i].seconds;
	tt_str_adds(out, "🔍 SWEEP TEST RESULTS ANALYSIS\n"
			 "============================================================\n"
			 "📊 Overall Test Statistics:\n");
	tt_str_addf(out, "   • Total Tests: %" PRIu64 "\n", all->total);
	tt_str_addf(out, "   • ✅ Passed: %" PRIu64 " (%.1f%%)\n", passed(all), percent);
	tt_str_addf(out, "   • ❌ Failed: %" PRIu64 "\n", all->failed);
	if (all->skipped)
		tt_str_addf(out, "   • ⏭️  Not run: %" PRIu64 "\n", all->skipped);
	if (all->expected)
		tt_str_addf(out, "   • Failed as expected: %" PRIu64 "\n", all->expected);
	tt_str_addf(out, "   • ⏱️  Avg Duration: %.2fs per test\n\n",
		    all->total ? seconds / (double)all->total : 0.0);
}

static void add_performance(struct tt_str *out, const struct tt_summary *summary)
{
	double least = INFINITY, most = -INFINITY, sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < summary->rows.count; i++) {
		double pcc = summary->rows.data[i].pcc;

		if (isnan(pcc) || summary->rows.data[i].status == TT_SWEEP_NOT_RUN)
			continue;
		least = fmin(least, pcc);
		most = fmax(most, pcc);
		sum += pcc;
		count++;
	}
	if (count)
		tt_str_addf(out,
			    "🚀 Performance Metrics:\n   • Min PCC: %.6f\n   • Max PCC: %.6f\n"
			    "   • Avg PCC: %.6f\n\n",
			    least, most, sum / (double)count);
	if (!summary->all.failed)
		tt_str_adds(out, "🎉 No failures detected!\n");
}

void tt_summary_totals(struct tt_str *out, const struct tt_summary *summary)
{
	add_totals(out, summary);
	add_performance(out, summary);
}

static void add_table(struct tt_str *out, const char *title, const tt_summary_groups *groups)
{
	tt_str_addf(out, "\n%-58s %7s %7s %7s %9s %6s %7s %9s %9s\n", title, "vectors", "failed",
		    "plain", "stand-in", "moved", "not run", "least PCC", "seconds");
	for (size_t i = 0; i < groups->count; i++) {
		const struct tt_summary_group *group = &groups->data[i];
		char pcc[32] = "-";

		if (!isnan(group->least_pcc))
			snprintf(pcc, sizeof(pcc), "%.6f", group->least_pcc);
		tt_str_addf(out,
			    "%-58.58s %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %9" PRIu64 " %6" PRIu64
			    " %7" PRIu64 " %9s %9.2f\n",
			    group->name, group->total, group->failed,
			    group->hows[TT_SWEEP_PLAIN] + group->hows[TT_SWEEP_UNJUDGED],
			    group->hows[TT_SWEEP_STAND_IN], group->hows[TT_SWEEP_MOVED],
			    group->skipped, pcc, 1e-3 * group->ms);
	}
}

/* The operation and the number of its configuration, if it has one. */
static void add_place(struct tt_str *out, const struct tt_summary_row *row)
{
	tt_summary_line(out, row->operation ? row->operation : row->module);
	if (row->configuration >= 0)
		tt_str_addf(out, "/%lld", row->configuration);
}

static void add_failures(struct tt_str *out, const struct tt_summary *summary)
{
	size_t shown = 0;

	if (!summary->all.failed)
		return;
	tt_str_adds(out, "\n   count  reason, and the first vector with it\n");
	for (size_t i = 0; i < summary->reasons.count; i++)
		tt_str_addf(out, "%8" PRIu64 "  %.150s (%s)\n", summary->reasons.data[i].total,
			    summary->reasons.data[i].name, summary->reasons.data[i].first);
	tt_str_adds(out, "\n");
	for (size_t i = 0; i < summary->rows.count && shown < MOST_FAILURES; i++) {
		const struct tt_summary_row *row = &summary->rows.data[i];

		if (!tt_summary_failed(row->status))
			continue;
		shown++;
		tt_str_addf(out, "❌ %s ", tt_sweep_status_text(row->status));
		add_place(out, row);
		tt_str_addf(out, " %s\n   ", row->vector);
		tt_summary_line(out, row->exception ? row->exception : "none");
		tt_str_addc(out, '\n');
	}
}

void tt_summary_text(struct tt_str *out, const struct tt_summary *summary)
{
	if (summary->all.failed)
		tt_str_addf(out, "%s: %" PRIu64 " of %" PRIu64 " failed\n\n",
			    summary->operations.data[0].name, summary->operations.data[0].failed,
			    summary->operations.data[0].total);
	tt_summary_totals(out, summary);
	add_table(out, "operation", &summary->operations);
	if (summary->models.count > 1)
		add_table(out, "model", &summary->models);
	add_failures(out, summary);
	tt_str_addf(out, "\nrun %s of %.19s, %s\n", summary->run, summary->start, summary->status);
}

/* ---- Markdown -------------------------------------------------------------------------------------------------- */

static void add_cell(struct tt_str *out, const char *text)
{
	for (; *text && *text != '\n'; text++) {
		if (*text == '|')
			tt_str_addc(out, '\\');
		tt_str_addc(out, *text);
	}
}

static void add_markdown_table(struct tt_str *out, const char *title,
			       const tt_summary_groups *groups)
{
	tt_str_addf(out,
		    "\n| %s | vectors | plain | stand-in | moved | failed | least PCC |\n"
		    "| --- | --: | --: | --: | --: | --: | --: |\n",
		    title);
	for (size_t i = 0; i < groups->count; i++) {
		const struct tt_summary_group *group = &groups->data[i];

		tt_str_adds(out, "| ");
		add_cell(out, group->name);
		tt_str_addf(
			out, " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64,
			group->total, group->hows[TT_SWEEP_PLAIN] + group->hows[TT_SWEEP_UNJUDGED],
			group->hows[TT_SWEEP_STAND_IN], group->hows[TT_SWEEP_MOVED], group->failed);
		if (isnan(group->least_pcc))
			tt_str_adds(out, " | – |\n");
		else
			tt_str_addf(out, " | %.5f |\n", group->least_pcc);
	}
}

void tt_summary_markdown(struct tt_str *out, const struct tt_summary *summary)
{
	const struct tt_summary_group *all = &summary->all;

	tt_str_addf(out,
		    "%" PRIu64 " vectors: %" PRIu64 " passed (%" PRIu64 " plain, %" PRIu64
		    " with stand-ins, %" PRIu64 " moved to DRAM, %" PRIu64
		    " without a golden), %" PRIu64 " failed, %" PRIu64 " not run.\n",
		    all->total, passed(all), all->hows[TT_SWEEP_PLAIN],
		    all->hows[TT_SWEEP_STAND_IN], all->hows[TT_SWEEP_MOVED],
		    all->hows[TT_SWEEP_UNJUDGED], all->failed, all->skipped);
	add_markdown_table(out, "operation", &summary->operations);
	if (summary->models.count > 1)
		add_markdown_table(out, "model", &summary->models);
	if (summary->notes.count) {
		tt_str_adds(out,
			    "\n| configurations | operation: what stood in, or why it was moved "
			    "| first |\n| --: | --- | --- |\n");
		for (size_t i = 0; i < summary->notes.count; i++) {
			tt_str_addf(out, "| %" PRIu64 " | ", summary->notes.data[i].total);
			add_cell(out, summary->notes.data[i].name);
			tt_str_addf(out, " | %s |\n", summary->notes.data[i].first);
		}
	}
	if (summary->reasons.count) {
		tt_str_adds(out, "\n| failures | reason | first |\n| --: | --- | --- |\n");
		for (size_t i = 0; i < summary->reasons.count; i++) {
			tt_str_addf(out, "| %" PRIu64 " | ", summary->reasons.data[i].total);
			add_cell(out, summary->reasons.data[i].name);
			tt_str_addf(out, " | %s |\n", summary->reasons.data[i].first);
		}
	}
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void key_real(struct tt_jsonw *w, const char *key, double value)
{
	tt_jsonw_key(w, key);
	if (isnan(value))
		tt_jsonw_null(w);
	else
		tt_jsonw_real(w, value);
}

static void write_group(struct tt_jsonw *w, const struct tt_summary_group *group)
{
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "name", group->name);
	tt_jsonw_key_int(w, "total", (int64_t)group->total);
	tt_jsonw_key_int(w, "passed", (int64_t)passed(group));
	for (unsigned i = 0; i < TT_SWEEP_HOWS; i++)
		tt_jsonw_key_int(w, tt_sweep_how_text((enum tt_sweep_how)i),
				 (int64_t)group->hows[i]);
	tt_jsonw_key_int(w, "failed", (int64_t)group->failed);
	tt_jsonw_key_int(w, "not_run", (int64_t)group->skipped);
	tt_jsonw_key_int(w, "xfail", (int64_t)group->expected);
	key_real(w, "least_pcc", group->least_pcc);
	tt_jsonw_key(w, "ms");
	tt_jsonw_real(w, group->ms);
	if (group->first)
		tt_jsonw_key_string(w, "first", group->first);
	tt_jsonw_end(w);
}

static void write_groups(struct tt_jsonw *w, const char *key, const tt_summary_groups *groups)
{
	tt_jsonw_key(w, key);
	tt_jsonw_array(w);
	for (size_t i = 0; i < groups->count; i++)
		write_group(w, &groups->data[i]);
	tt_jsonw_end(w);
}

tt_status tt_summary_json(struct tt_str *out, const struct tt_summary *summary)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_object(&w);
	tt_jsonw_key_string(&w, "run", summary->run);
	tt_jsonw_key_string(&w, "status", summary->status);
	tt_jsonw_key_string(&w, "run_contents", summary->contents);
	tt_jsonw_key_string(&w, "run_start_ts", summary->start);
	tt_jsonw_key_string(&w, "run_end_ts", summary->end);
	tt_jsonw_key(&w, "all");
	write_group(&w, &summary->all);
	write_groups(&w, "operations", &summary->operations);
	write_groups(&w, "models", &summary->models);
	write_groups(&w, "reasons", &summary->reasons);
	write_groups(&w, "notes", &summary->notes);
	tt_jsonw_end(&w);
	TT_TRY(tt_jsonw_finish(&w));
	tt_str_addc(out, '\n');
	return tt_str_status(out);
}

/* ---- two runs -------------------------------------------------------------------------------------------------- */

/* The better, the smaller: plain passes, then those with stand-ins and moved ones; what was not run; failures. */
static int badness(const struct tt_summary_row *row)
{
	if (row->status == TT_SWEEP_PASS)
		return row->how == TT_SWEEP_UNJUDGED ? 0 : (int)row->how;
	return tt_summary_failed(row->status) ? 20 : 10;
}

static void add_state(struct tt_str *out, const struct tt_summary_row *row)
{
	tt_str_adds(out, tt_sweep_status_text(row->status));
	if (row->status == TT_SWEEP_PASS && row->how != TT_SWEEP_PLAIN)
		tt_str_addf(out, " (%s)", tt_sweep_how_text(row->how));
}

static void add_change(struct tt_str *out, const char *word, const struct tt_summary_row *was,
		       const struct tt_summary_row *is)
{
	tt_str_addf(out, "%-7s ", word);
	add_place(out, is);
	tt_str_addf(out, " %.12s: ", is->vector);
	add_state(out, was);
	tt_str_adds(out, " → ");
	add_state(out, is);
	if (is->exception) {
		tt_str_adds(out, ": ");
		tt_summary_line(out, is->exception);
	}
	tt_str_addc(out, '\n');
}

void tt_summary_compare(struct tt_summary_change *counts, struct tt_str *out,
			const struct tt_summary *before, const struct tt_summary *after)
{
	struct tt_map rows = {0};
	uint64_t met = 0;

	*counts = (struct tt_summary_change){0};
	for (size_t i = 0; i < before->rows.count; i++) {
		const char *name = before->rows.data[i].vector;
		struct tt_map_entry *entry = tt_map_add(&rows, name, strlen(name), NULL);

		if (entry)
			entry->number = i;
		else
			out->failed = true;
	}
	for (size_t i = 0; i < after->rows.count; i++) {
		const struct tt_summary_row *is = &after->rows.data[i], *was;
		const struct tt_map_entry *entry = tt_map_finds(&rows, is->vector);

		if (!entry) {
			counts->added++;
			continue;
		}
		met++;
		was = &before->rows.data[entry->number];
		if (badness(is) > badness(was)) {
			counts->worse++;
			add_change(out, "worse", was, is);
		} else if (badness(is) < badness(was)) {
			counts->better++;
			add_change(out, "better", was, is);
		} else {
			counts->same++;
		}
	}
	counts->gone = before->rows.count - met;
	tt_map_deinit(&rows);
	tt_str_addf(out,
		    "%s → %s: %" PRIu64 " worse, %" PRIu64 " better, %" PRIu64
		    " as before, %" PRIu64 " new, %" PRIu64 " gone\n",
		    before->run, after->run, counts->worse, counts->better, counts->same,
		    counts->added, counts->gone);
}
