/*
 * page.c: a summary as one page of HTML that needs nothing else: charts as SVG (distribution of the correlation, of durations,
 * vectors by operation with failures first), and the tables.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "sweep/summary.h"

#define BINS 16
#define CHART_WIDTH 520
#define CHART_HEIGHT 220
#define BAR_ROW 20

static const char style[] =
	"<style>\n"
	":root{--ink:#1c2430;--soft:#5b6675;--line:#d9dee5;--paper:#fff;--good:#2a8f5b;"
	"--stand:#3b76c4;--moved:#c98a1b;--bad:#c53b3b;--none:#9aa3af}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa6b5;--line:#38414d;"
	"--paper:#161b22}}\n"
	"body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
	"margin:2rem auto;max-width:1120px;padding:0 1rem}\n"
	"h1{font-size:1.5rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}\n"
	".sub{color:var(--soft)}.cards{display:flex;gap:12px;flex-wrap:wrap;margin:1.2rem 0}\n"
	".card{border:1px solid var(--line);border-radius:8px;padding:.6rem 1rem;min-width:6.5rem}\n"
	".card b{display:block;font-size:1.5rem;font-variant-numeric:tabular-nums}\n"
	".charts{display:flex;gap:24px;flex-wrap:wrap}svg{max-width:100%;height:auto}\n"
	"svg text{fill:var(--soft);font:11px system-ui,sans-serif}svg .name{fill:var(--ink)}\n"
	".axis{stroke:var(--line)}.scroll{overflow-x:auto}\n"
	"table{border-collapse:collapse;width:100%}th,td{padding:.25rem .6rem;"
	"border-bottom:1px solid var(--line);text-align:right;font-variant-numeric:tabular-nums}\n"
	"th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}"
	"td.why{text-align:left;overflow-wrap:anywhere}th{color:var(--soft);font-weight:500}\n"
	".bad{color:var(--bad);font-weight:600}\n"
	"</style>\n";

static void add_text(struct tt_str *out, const char *text)
{
	for (; text && *text; text++) {
		if (*text == '<')
			tt_str_adds(out, "&lt;");
		else if (*text == '>')
			tt_str_adds(out, "&gt;");
		else if (*text == '&')
			tt_str_adds(out, "&amp;");
		else if (*text == '"')
			tt_str_adds(out, "&quot;");
		else
			tt_str_addc(out, *text);
	}
}

/* ---- histograms ------------------------------------------------------------------------------------------------- */

struct bins {
	uint64_t good[BINS], bad[BINS];
	char labels[BINS + 1][16]; /* of the edges; "" is not shown */
	const char *title, *under;
};

static void draw_bin(struct tt_str *out, const struct bins *bins, unsigned i, double scale)
{
	double width = (CHART_WIDTH - 60) / (double)BINS, x = 46 + i * width,
	       base = CHART_HEIGHT - 40;
	double good = (double)bins->good[i] * scale, bad = (double)bins->bad[i] * scale;
	uint64_t both = bins->good[i] + bins->bad[i];

	if (bins->good[i])
		tt_str_addf(out,
			    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
			    "fill=\"var(--good)\"><title>%" PRIu64 " passed</title></rect>\n",
			    x + 1, base - good, width - 2, good, bins->good[i]);
	if (bins->bad[i])
		tt_str_addf(out,
			    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
			    "fill=\"var(--bad)\"><title>%" PRIu64 " failed</title></rect>\n",
			    x + 1, base - good - bad, width - 2, bad, bins->bad[i]);
	if (both)
		tt_str_addf(out,
			    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%" PRIu64
			    "</text>\n",
			    x + width / 2, base - good - bad - 4, both);
}

static void draw_histogram(struct tt_str *out, const struct bins *bins)
{
	double width = (CHART_WIDTH - 60) / (double)BINS;
	uint64_t most = 1;

	for (unsigned i = 0; i < BINS; i++)
		if (bins->good[i] + bins->bad[i] > most)
			most = bins->good[i] + bins->bad[i];
	tt_str_addf(out,
		    "<figure style=\"margin:0\"><h2>%s</h2><svg viewBox=\"0 0 %d %d\" width=\"%d\" "
		    "height=\"%d\" role=\"img\" aria-label=\"%s\">\n",
		    bins->title, CHART_WIDTH, CHART_HEIGHT, CHART_WIDTH, CHART_HEIGHT, bins->title);
	for (unsigned i = 0; i < BINS; i++)
		draw_bin(out, bins, i, (CHART_HEIGHT - 64) / (double)most);
	tt_str_addf(out, "<line class=\"axis\" x1=\"46\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n",
		    CHART_WIDTH - 14, CHART_HEIGHT - 40, CHART_HEIGHT - 40);
	for (unsigned i = 0; i <= BINS; i++)
		if (bins->labels[i][0])
			tt_str_addf(out,
				    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
				    46 + i * width, CHART_HEIGHT - 24, bins->labels[i]);
	tt_str_addf(out,
		    "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n</svg></figure>\n",
		    CHART_WIDTH / 2 + 16, CHART_HEIGHT - 6, bins->under);
}

/* From a correlation of 0 on the left to an exact one on the right: half a decade of what is missing for each bin. */
static void draw_correlations(struct tt_str *out, const struct tt_summary *summary)
{
	static const char *const labels[] = {"≥ 1",  "0.1",  "0.01", "1e-3", "1e-4",
					     "1e-5", "1e-6", "1e-7", "0"};
	struct bins bins = {.title = "Correlation with the golden",
			    .under = "1 − PCC, half a decade for each bin; the last is exact"};

	for (unsigned i = 0; i <= BINS; i += 2)
		snprintf(bins.labels[i], sizeof(bins.labels[i]), "%s", labels[i / 2]);
	for (size_t i = 0; i < summary->rows.count; i++) {
		const struct tt_summary_row *row = &summary->rows.data[i];
		double away = 1 - row->pcc, place;
		unsigned bin;

		if (isnan(row->pcc) || row->status == TT_SWEEP_NOT_RUN)
			continue;
		place = away <= 1e-8 ? BINS - 1 : floor(-2 * log10(away));
		bin = (unsigned)fmin(fmax(place, 0), BINS - 1);
		if (tt_summary_failed(row->status))
			bins.bad[bin]++;
		else
			bins.good[bin]++;
	}
	draw_histogram(out, &bins);
}

/* From 0.01 ms to 1,000 s, half a decade for each bin. */
static void draw_durations(struct tt_str *out, const struct tt_summary *summary)
{
	static const char *const labels[] = {"0.01 ms", "0.1 ms", "1 ms",  "10 ms", "0.1 s",
					     "1 s",     "10 s",   "100 s", ""};
	struct bins bins = {
		.title = "Durations",
		.under = "inputs, golden, call and its trace; half a decade for each bin"};

	for (unsigned i = 0; i <= BINS; i += 2)
		snprintf(bins.labels[i], sizeof(bins.labels[i]), "%s", labels[i / 2]);
	for (size_t i = 0; i < summary->rows.count; i++) {
		const struct tt_summary_row *row = &summary->rows.data[i];
		double ms = isnan(row->ms) ? 1e3 * row->seconds : row->ms, place;
		unsigned bin;

		if (row->status == TT_SWEEP_NOT_RUN)
			continue;
		place = ms > 0 ? floor(2 * (log10(ms) + 2)) : 0;
		bin = (unsigned)fmin(fmax(place, 0), BINS - 1);
		if (tt_summary_failed(row->status))
			bins.bad[bin]++;
		else
			bins.good[bin]++;
	}
	draw_histogram(out, &bins);
}

/* ---- bars ---------------------------------------------------------------------------------------------------------- */

/* The parts of a bar. */
static const struct {
	const char *name, *color;
} parts[] = {{"failed", "--bad"},
	     {"plain", "--good"},
	     {"stand-in", "--stand"},
	     {"moved", "--moved"},
	     {"not run", "--none"}};

static uint64_t part_of(const struct tt_summary_group *group, size_t part)
{
	switch (part) {
	case 0:
		return group->failed;
	case 1:
		return group->hows[TT_SWEEP_PLAIN] + group->hows[TT_SWEEP_UNJUDGED] +
		       group->expected;
	case 2:
		return group->hows[TT_SWEEP_STAND_IN];
	case 3:
		return group->hows[TT_SWEEP_MOVED];
	default:
		return group->skipped;
	}
}

static void draw_bar(struct tt_str *out, const struct tt_summary_group *group, size_t row,
		     double scale)
{
	double x = 400, y = 24 + (double)row * BAR_ROW;

	tt_str_addf(out, "<text class=\"name\" x=\"392\" y=\"%.1f\" text-anchor=\"end\">", y + 13);
	add_text(out, group->name);
	tt_str_adds(out, "</text>\n");
	for (size_t i = 0; i < TT_COUNT(parts); i++) {
		uint64_t count = part_of(group, i);
		double width = (double)count * scale;

		if (!count)
			continue;
		tt_str_addf(out,
			    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" "
			    "fill=\"var(%s)\"><title>%" PRIu64 " %s</title></rect>\n",
			    x, y + 2, fmax(width, 1.5), parts[i].color, count, parts[i].name);
		x += fmax(width, 1.5);
	}
	tt_str_addf(out, "<text x=\"%.1f\" y=\"%.1f\">%" PRIu64, x + 6, y + 13, group->total);
	if (group->failed)
		tt_str_addf(out, ", %" PRIu64 " failed", group->failed);
	tt_str_adds(out, "</text>\n");
}

static void draw_operations(struct tt_str *out, const struct tt_summary *summary)
{
	const tt_summary_groups *groups = &summary->operations;
	double height = 32 + (double)groups->count * BAR_ROW;
	uint64_t most = 1;

	for (size_t i = 0; i < groups->count; i++)
		most = groups->data[i].total > most ? groups->data[i].total : most;
	tt_str_addf(out,
		    "<h2>Vectors by operation, failures first</h2><svg viewBox=\"0 0 1080 %.0f\" "
		    "width=\"1080\" height=\"%.0f\" role=\"img\" aria-label=\"Vectors by "
		    "operation\">\n",
		    height, height);
	for (size_t i = 0; i < TT_COUNT(parts); i++)
		tt_str_addf(out,
			    "<rect x=\"%zu\" y=\"2\" width=\"12\" height=\"12\" fill=\"var(%s)\"/>"
			    "<text x=\"%zu\" y=\"12\">%s</text>\n",
			    400 + i * 90, parts[i].color, 416 + i * 90, parts[i].name);
	for (size_t i = 0; i < groups->count; i++)
		draw_bar(out, &groups->data[i], i, 560 / (double)most);
	tt_str_adds(out, "</svg>\n");
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

static void add_groups(struct tt_str *out, const char *title, const tt_summary_groups *groups)
{
	tt_str_addf(out,
		    "<h2>By %s</h2><div class=\"scroll\"><table><tr><th>%s<th>vectors<th>failed<th>"
		    "plain<th>stand-in<th>moved<th>not run<th>least PCC<th>seconds</tr>\n",
		    title, title);
	for (size_t i = 0; i < groups->count; i++) {
		const struct tt_summary_group *group = &groups->data[i];

		tt_str_adds(out, "<tr><td>");
		add_text(out, group->name);
		tt_str_addf(out, "<td>%" PRIu64 "<td%s>%" PRIu64, group->total,
			    group->failed ? " class=\"bad\"" : "", group->failed);
		for (size_t part = 1; part < TT_COUNT(parts); part++)
			tt_str_addf(out, "<td>%" PRIu64, part_of(group, part));
		if (isnan(group->least_pcc))
			tt_str_adds(out, "<td>–");
		else
			tt_str_addf(out, "<td>%.6f", group->least_pcc);
		tt_str_addf(out, "<td>%.2f</tr>\n", 1e-3 * group->ms);
	}
	tt_str_adds(out, "</table></div>\n");
}

static void add_reasons(struct tt_str *out, const char *title, const tt_summary_groups *groups)
{
	if (!groups->count)
		return;
	tt_str_addf(out,
		    "<h2>%s</h2><div class=\"scroll\"><table><tr><th>first vector<th>count<th "
		    "style=\"text-align:left\">what</tr>\n",
		    title);
	for (size_t i = 0; i < groups->count; i++) {
		tt_str_adds(out, "<tr><td>");
		add_text(out, groups->data[i].first);
		tt_str_addf(out, "<td>%" PRIu64 "<td class=\"why\">", groups->data[i].total);
		add_text(out, groups->data[i].name);
		tt_str_adds(out, "</tr>\n");
	}
	tt_str_adds(out, "</table></div>\n");
}

static void add_card(struct tt_str *out, const char *name, uint64_t count, const char *color)
{
	tt_str_addf(out, "<div class=\"card\"><b style=\"color:var(%s)\">%" PRIu64 "</b>%s</div>\n",
		    color, count, name);
}

static void add_head(struct tt_str *out, const struct tt_summary *summary)
{
	const struct tt_summary_group *all = &summary->all;

	tt_str_adds(out, "<h1>Sweep results</h1><div class=\"sub\">run ");
	add_text(out, summary->run);
	tt_str_addf(out, " of %.10s %.8s UTC on ", summary->start, summary->start + 11);
	add_text(out, summary->host);
	tt_str_adds(out, summary->contents && *summary->contents ? ": " : "");
	add_text(out, summary->contents);
	tt_str_adds(out, "</div>\n<div class=\"cards\">\n");
	add_card(out, "vectors", all->total, "--ink");
	for (size_t i = 0; i < TT_COUNT(parts); i++)
		add_card(out, parts[i].name, part_of(all, i), parts[i].color);
	tt_str_adds(out, "</div>\n");
}

void tt_summary_page(struct tt_str *out, const struct tt_summary *summary)
{
	tt_str_adds(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width\">\n"
			 "<title>Sweep results</title>\n");
	tt_str_adds(out, style);
	tt_str_adds(out, "</head><body>\n");
	add_head(out, summary);
	add_reasons(out, "Failures by reason", &summary->reasons);
	tt_str_adds(out, "<div class=\"charts\">\n");
	draw_correlations(out, summary);
	draw_durations(out, summary);
	tt_str_adds(out, "</div>\n");
	draw_operations(out, summary);
	add_groups(out, "operation", &summary->operations);
	add_groups(out, "model", &summary->models);
	add_reasons(out, "Stand-ins, and what was moved", &summary->notes);
	tt_str_adds(out, "</body></html>\n");
}
