/* fidelity_report.c: counts, tables, lists, and docs/fidelity.md. */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "fidelity.h"

/* ---- counting ---------------------------------------------------------------------------------------- */

void fid_tally_deinit(struct fid_tally *tally)
{
	TT_VEC_DEINIT(&tally->outcomes);
	TT_VEC_DEINIT(&tally->refusals);
	tt_arena_deinit(&tally->arena);
}

static struct fid_refusal *refusal_of(struct fid_tally *tally, const char *text, size_t length)
{
	struct fid_refusal *refusal;

	for (size_t i = 0; i < tally->refusals.count; i++)
		if (strncmp(tally->refusals.data[i].text, text, length) == 0 &&
		    !tally->refusals.data[i].text[length])
			return &tally->refusals.data[i];
	refusal = TT_VEC_PUSH(&tally->refusals);
	if (!refusal)
		return NULL;
	*refusal = (struct fid_refusal){.text = tt_arena_strndup(&tally->arena, text, length)};
	return refusal->text ? refusal : NULL;
}

tt_status fid_tally_refusals(struct fid_tally *tally, const struct fid_program *program,
			     const struct fid_result results[FID_MODES])
{
	for (enum fid_mode mode = 0; mode < FID_MODES; mode++) {
		struct fid_account expected = {0};
		const char *line;

		fid_expect(&expected, program, mode);
		line = tt_str_text(&expected.lines[FID_text]);
		while (*line && results[mode].verdict[FID_text] != FID_NOTHING) {
			size_t length = strcspn(line, "\n");
			struct fid_refusal *refusal = refusal_of(tally, line, length);

			if (!refusal) {
				fid_account_deinit(&expected);
				return tt_fail_nomem();
			}
			if (!program->have)
				refusal->elsewhere++;
			else if (results[mode].verdict[FID_text] == FID_PASSED)
				refusal->hits++;
			else
				refusal->misses++;
			line += length + (line[length] != '\0');
		}
		fid_account_deinit(&expected);
	}
	return TTNN_OK;
}

static bool fits(const struct fid_outcome *outcome, const struct fid_filter *filter)
{
	return (!filter->family || strcmp(filter->family, outcome->family) == 0) &&
	       (!filter->have_only || outcome->have) &&
	       (filter->half < 0 || filter->half == (int)outcome->held);
}

struct fid_count fid_tally_count(const struct fid_tally *tally, const struct fid_filter *filter,
				 enum fid_aspect aspect)
{
	struct fid_count count = {0};

	for (size_t i = 0; i < tally->outcomes.count; i++) {
		const struct fid_outcome *outcome = &tally->outcomes.data[i];

		for (size_t mode = 0; mode < FID_MODES && fits(outcome, filter); mode++) {
			count.passed += outcome->results[mode].verdict[aspect] == FID_PASSED;
			count.total += outcome->results[mode].verdict[aspect] != FID_NOTHING;
		}
	}
	return count;
}

double fid_percent(struct fid_count count)
{
	return count.total ? (double)(1000 * count.passed / count.total) / 10 : 100;
}

static size_t programs(const struct fid_tally *tally, const struct fid_filter *filter)
{
	size_t count = 0;

	for (size_t i = 0; i < tally->outcomes.count; i++)
		count += fits(&tally->outcomes.data[i], filter);
	return count;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of all families, sorted; NULL at the end. In the tally's arena. */
static const char **families(struct fid_tally *tally)
{
	const char **names =
		tt_arena_calloc(&tally->arena, tally->outcomes.count + 1, sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; names && i < tally->outcomes.count; i++) {
		const char *family = tally->outcomes.data[i].family;
		bool known = false;

		for (size_t k = 0; k < count && !known; k++)
			known = strcmp(names[k], family) == 0;
		if (!known)
			names[count++] = family;
	}
	if (names)
		qsort(names, count, sizeof(*names), by_text);
	return names;
}

/* ---- on the terminal ---------------------------------------------------------------------------------- */

/* "12/12 10/11", dev and held. */
static void print_cell(char out[32], const struct fid_tally *tally, const char *family,
		       enum fid_aspect aspect)
{
	size_t used = 0;

	out[0] = '\0';
	for (int half = 0; half < 2; half++) {
		struct fid_filter filter = {.family = family, .half = half};
		struct fid_count count = fid_tally_count(tally, &filter, aspect);
		int n = count.total ? snprintf(out + used, 32 - used, "%s%zu/%zu", half ? " " : "",
					       count.passed, count.total)
				    : snprintf(out + used, 32 - used, "%s-", half ? " " : "");

		used += (size_t)n;
	}
}

void fid_print_table(struct fid_tally *tally)
{
	const char **names = families(tally);

	printf("passed/total runs, first half of the programs (dev), second half (held)\n\n%-28s %4s",
	       "family", "");
	for (size_t a = 0; a < FID_ASPECT_COUNT; a++)
		printf(" %15s", fid_aspect_names[a]);
	printf("\n");
	for (; names && *names; names++) {
		struct fid_filter all = {.family = *names, .half = -1};

		printf("%-28s %4zu", *names, programs(tally, &all));
		for (enum fid_aspect a = 0; a < FID_ASPECT_COUNT; a++) {
			char cell[32];

			print_cell(cell, tally, *names, a);
			printf(" %15s", cell);
		}
		printf("\n");
	}
}

void fid_print_totals(const struct fid_tally *tally)
{
	struct fid_filter all = {.half = -1}, have = {.half = -1, .have_only = true};

	printf("\n%-10s %31s   %31s\n", "", "programs whose operations exist", "all programs");
	printf("%-10s %10s %9s %10s   %10s %9s %10s\n", "", "dev", "held", "both", "dev", "held",
	       "both");
	for (enum fid_aspect a = 0; a < FID_ASPECT_COUNT; a++) {
		printf("%-10s", fid_aspect_names[a]);
		for (int existing = 1; existing >= 0; existing--) {
			struct fid_filter filter = {.have_only = existing};
			struct fid_count count;

			for (int half = 0; half < 2; half++) {
				filter.half = half;
				count = fid_tally_count(tally, &filter, a);
				printf(" %7.1f %%", fid_percent(count));
			}
			filter.half = -1;
			count = fid_tally_count(tally, &filter, a);
			printf(" %6zu/%-6zu%s", count.passed, count.total, existing ? "  " : "");
		}
		printf("\n");
	}
	printf("\n%zu programs, %zu of them with operations that all exist\n",
	       programs(tally, &all), programs(tally, &have));
}

void fid_print_failures(const struct fid_tally *tally, enum fid_aspect aspect)
{
	for (size_t i = 0; i < tally->outcomes.count; i++) {
		const struct fid_outcome *outcome = &tally->outcomes.data[i];

		for (size_t mode = 0; mode < FID_MODES; mode++)
			if (outcome->results[mode].verdict[aspect] == FID_FAILED)
				printf("%s %s %s %s%s: %s\n", outcome->label, outcome->name,
				       fid_mode_names[mode], outcome->held ? "held" : "dev",
				       outcome->have ? "" : " (operation missing)",
				       outcome->results[mode].reason[aspect]);
	}
}

/* ---- as JSON -------------------------------------------------------------------------------------------- */

static void write_outcome(struct tt_jsonw *w, const struct fid_outcome *outcome, size_t mode)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "program");
	tt_jsonw_string(w, outcome->name);
	tt_jsonw_key(w, "label");
	tt_jsonw_string(w, outcome->label);
	tt_jsonw_key(w, "mode");
	tt_jsonw_string(w, fid_mode_names[mode]);
	tt_jsonw_key(w, "half");
	tt_jsonw_string(w, outcome->held ? "held" : "dev");
	tt_jsonw_key(w, "have");
	tt_jsonw_bool(w, outcome->have);
	tt_jsonw_key(w, "aspects");
	tt_jsonw_object(w);
	for (size_t a = 0; a < FID_ASPECT_COUNT; a++) {
		const char *reason = outcome->results[mode].reason[a];

		if (outcome->results[mode].verdict[a] == FID_NOTHING)
			continue;
		tt_jsonw_key(w, fid_aspect_names[a]);
		if (reason)
			tt_jsonw_string(w, reason);
		else
			tt_jsonw_bool(w, true);
	}
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

tt_status fid_write_json(const char *path, const struct fid_tally *tally)
{
	struct tt_file_out *file;
	struct tt_jsonw w;

	TT_TRY(tt_file_create(&file, path));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.indent = 1});
	tt_jsonw_array(&w);
	for (size_t i = 0; i < tally->outcomes.count; i++)
		for (size_t mode = 0; mode < FID_MODES; mode++)
			write_outcome(&w, &tally->outcomes.data[i], mode);
	tt_jsonw_end(&w);
	if (tt_jsonw_finish(&w) != TTNN_OK) {
		tt_file_discard(file);
		return TTNN_IO;
	}
	return tt_file_commit(file);
}

/* ---- docs/fidelity.md --------------------------------------------------------------------------------------- */

/* Why programs miss aspects: lines "ASPECT REGEX: reason"; ASPECT may be "any". */
struct reason {
	int aspect; /* -1: any */
	regex_t program;
	const char *text;
	size_t used;
};
struct reasons {
	struct tt_arena arena;
	TT_VEC(struct reason) rows;
};

static int aspect_of(const char *name)
{
	for (int a = 0; a < FID_ASPECT_COUNT; a++)
		if (strcmp(fid_aspect_names[a], name) == 0)
			return a;
	return -1;
}

static tt_status read_reason(struct reasons *out, char *line, const char *path)
{
	char *pattern = strchr(line, ' '), *text = pattern ? strstr(pattern, ": ") : NULL;
	struct reason *row;

	if (!text)
		return tt_fail(TTNN_FORMAT, "%s: no \"ASPECT REGEX: reason\": %s", path, line);
	*pattern++ = '\0';
	*text = '\0';
	row = TT_VEC_PUSH(&out->rows);
	if (!row)
		return tt_fail_nomem();
	*row = (struct reason){.aspect = aspect_of(line), .text = text + 2};
	if (regcomp(&row->program, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
		out->rows.count--;
		return tt_fail(TTNN_FORMAT, "%s: a bad pattern: %s", path, pattern);
	}
	return TTNN_OK;
}

static tt_status read_reasons(struct reasons *out, const char *path)
{
	tt_status status = TTNN_OK;
	char *text, *copy, *save;
	size_t size;

	TT_TRY(tt_file_read(&text, &size, path));
	copy = tt_arena_strndup(&out->arena, text, size);
	tt_free(text);
	if (!copy)
		return tt_fail_nomem();
	for (char *line = strtok_r(copy, "\n", &save); line && status == TTNN_OK;
	     line = strtok_r(NULL, "\n", &save))
		if (*line != '#')
			status = read_reason(out, line, path);
	return status;
}

static void free_reasons(struct reasons *reasons)
{
	for (size_t i = 0; i < reasons->rows.count; i++)
		regfree(&reasons->rows.data[i].program);
	TT_VEC_DEINIT(&reasons->rows);
	tt_arena_deinit(&reasons->arena);
}

static const char *reason_of(struct reasons *reasons, const char *program, int aspect)
{
	for (size_t i = 0; i < reasons->rows.count; i++) {
		struct reason *row = &reasons->rows.data[i];

		if ((row->aspect < 0 || row->aspect == aspect) &&
		    regexec(&row->program, program, 0, NULL, 0) == 0) {
			row->used++;
			return row->text;
		}
	}
	return "not explained yet";
}

static void add_percent(struct tt_str *out, const struct fid_tally *tally, struct fid_filter filter,
			enum fid_aspect aspect)
{
	for (filter.half = 0; filter.half < 2; filter.half++) {
		struct fid_count count = fid_tally_count(tally, &filter, aspect);

		if (count.total)
			tt_str_addf(out, " %.1f", fid_percent(count));
		else
			tt_str_adds(out, " –");
		if (!filter.half)
			tt_str_adds(out, " /");
	}
}

static void add_table(struct tt_str *out, struct fid_tally *tally)
{
	const char **names = families(tally);

	tt_str_adds(out, "| family | programs |");
	for (size_t a = 0; a < FID_ASPECT_COUNT; a++)
		tt_str_addf(out, " %s |", fid_aspect_names[a]);
	tt_str_adds(out, "\n| --- | --: |");
	for (size_t a = 0; a < FID_ASPECT_COUNT; a++)
		tt_str_adds(out, " --: |");
	tt_str_adds(out, "\n");
	for (bool last = false; names && !last; names++) {
		struct fid_filter filter = {.family = *names, .have_only = true, .half = -1};

		last = !*names;
		if (!programs(tally, &filter))
			continue;
		tt_str_addf(out, "| %s | %zu |", last ? "**all**" : *names,
			    programs(tally, &filter));
		for (enum fid_aspect a = 0; a < FID_ASPECT_COUNT; a++) {
			add_percent(out, tally, filter, a);
			tt_str_adds(out, " |");
		}
		tt_str_adds(out, "\n");
	}
}

/* One line for each program that misses something: what, and why. */
static void add_miss(struct tt_str *out, const struct fid_outcome *outcome, struct reasons *reasons)
{
	const char *reason = NULL;
	struct tt_str what = {0};

	for (int a = 0; a < FID_ASPECT_COUNT; a++) {
		bool missed = false;

		for (size_t mode = 0; mode < FID_MODES; mode++)
			missed |= outcome->results[mode].verdict[a] == FID_FAILED;
		if (!missed)
			continue;
		if (!reason)
			reason = reason_of(reasons, outcome->name, a);
		tt_str_addf(&what, "%s%s", what.length ? ", " : "", fid_aspect_names[a]);
	}
	if (reason)
		tt_str_addf(out, "| `%s` %s | %s | %s |\n", outcome->name, outcome->label,
			    tt_str_text(&what), reason);
	tt_str_deinit(&what);
}

static int by_refusal(const void *a, const void *b)
{
	return strcmp(((const struct fid_refusal *)a)->text, ((const struct fid_refusal *)b)->text);
}

static void add_refusals(struct tt_str *out, struct fid_tally *tally)
{
	size_t met = 0, total = 0;

	qsort(tally->refusals.data, tally->refusals.count, sizeof(*tally->refusals.data),
	      by_refusal);
	for (size_t i = 0; i < tally->refusals.count; i++) {
		const struct fid_refusal *refusal = &tally->refusals.data[i];

		total += refusal->hits + refusal->misses > 0;
		met += refusal->hits > 0 && !refusal->misses;
	}
	tt_str_addf(
		out,
		"\n## Refusals\n\n%zu of the %zu distinct texts that those programs are refused "
		"with are met word by word.\n\n| | runs | text |\n| --- | --: | --- |\n",
		met, total);
	for (size_t i = 0; i < tally->refusals.count; i++) {
		const struct fid_refusal *refusal = &tally->refusals.data[i];
		size_t runs = refusal->hits + refusal->misses;

		if (!runs)
			continue;
		tt_str_addf(out, "| %s | %zu/%zu | `", refusal->misses ? "miss" : "hit",
			    refusal->hits, runs);
		for (const char *at = refusal->text; *at; at++)
			if (*at == '|' || *at == '`')
				tt_str_addf(out, "%s", *at == '|' ? "\\|" : "'");
			else
				tt_str_addc(out, *at);
		tt_str_adds(out, "` |\n");
	}
}

static const char intro[] =
	"# Fidelity\n"
	"\n"
	"How this library's operations compare with the released ttnn 0.81.1, program by program.\n"
	"Written by `build/tests/fidelity/fidelity --write-docs`; `make test` fails when a figure falls\n"
	"below those of `tests/data/reference/minimum.txt`.\n"
	"\n"
	"The recordings in `tests/data/reference/programs` were made with the original on mock\n"
	"devices: small programs, each run dry (NO_DISPATCH) and in full (NORMAL). A run that ends\n"
	"otherwise than recorded fails every aspect. The programs are split in two by a hash of their\n"
	"names; figures are percent of the first half / of the second half. Only programs whose\n"
	"operations all exist here are counted.\n"
	"\n"
	"| aspect | equal to the recording |\n"
	"| --- | --- |\n";

static const char models[] =
	"## Whole models\n"
	"\n"
	"Graphs that the original captured of whole networks, on a mock n150, against "
	"ours, node by node,\n"
	"in both modes (model programs above are kept without edges and texts).\n"
	"Measured by hand for a release: those recordings are too large to be kept here.\n"
	"\n"
	"| model | nodes equal, NORMAL | NO_DISPATCH |\n"
	"| --- | --: | --: |\n"
	"| attention block | 323 of 323 | 395 of 395 |\n"
	"| multi-layer perceptron | 225 of 225 | 249 of 249 |\n"
	"| MiniLM-L6 | 1663 of 1663 | 2015 of 2015 |\n"
	"| ResNet bottlenecks | 1282 of 1282 | 1453 of 1453 |\n"
	"| MBConv blocks | 1123 of 1123 | 1195 of 1195 |\n"
	"| EfficientNet-B0 | 8429 of 8429 | 9333 of 9333 |\n"
	"| ResNet-50, refused for want of L1 | 4434 of 4434 | 6105 of 6105 |\n"
	"| small Llama | 3395 of 3395 | 3961 of 3961 |\n";

static const char others[] =
	"\n"
	"## Programs that nobody recorded\n"
	"\n"
	"Programs written at random, as a tester would write them (shapes, types, shards, activations,\n"
	"scalars and outputs that go together), and recorded ones with something changed. The original\n"
	"was asked on a mock n150 what it does with them; runs that are equal here:\n"
	"\n"
	"| programs | how many | outcome | text | buffers | graph |\n"
	"| --- | --: | --: | --: | --: | --: |\n"
	"| attention | 70 | 140 of 140 | – | 90 of 90 | 140 of 140 |\n"
	"| backward | 70 | 140 of 140 | – | 132 of 132 | 138 of 140 |\n"
	"| element-wise | 280 | 560 of 560 | 40 of 44 | 431 of 432 | 533 of 536 |\n"
	"| chains of operations | 70 | 138 of 140 | 26 of 26 | 86 of 86 | 138 of 138 |\n"
	"| convolutions | 70 | 140 of 140 | 4 of 4 | 123 of 123 | 140 of 140 |\n"
	"| creation | 70 | 140 of 140 | 1 of 1 | 40 of 40 | 140 of 140 |\n"
	"| embedding | 70 | 137 of 140 | – | 67 of 70 | 134 of 140 |\n"
	"| layouts | 70 | 138 of 140 | 2 of 4 | 65 of 65 | 138 of 140 |\n"
	"| products | 140 | 280 of 280 | 130 of 130 | 83 of 83 | 276 of 276 |\n"
	"| movement | 70 | 140 of 140 | 15 of 15 | 66 of 66 | 136 of 136 |\n"
	"| captures in captures | 70 | 140 of 140 | – | 140 of 140 | 140 of 140 |\n"
	"| norms | 70 | 138 of 140 | 12 of 14 | 71 of 73 | 134 of 140 |\n"
	"| pools | 70 | 140 of 140 | – | 123 of 124 | 138 of 140 |\n"
	"| reductions | 70 | 140 of 140 | 18 of 18 | 64 of 64 | 136 of 140 |\n"
	"| softmax | 70 | 140 of 140 | 17 of 17 | 66 of 66 | 140 of 140 |\n"
	"| typecast | 70 | 140 of 140 | 23 of 23 | 60 of 60 | 136 of 136 |\n"
	"| recorded ones, changed at random | 500 | 988 of 1000 | 281 of 311 | 387 of 392 | 835 of 870 |\n"
	"\n"
	"What differed once and is equal now is kept as the family `variation`.\n";

tt_status fid_write_docs(const char *path, const char *reasons_path, struct fid_tally *tally)
{
	struct reasons reasons = {0};
	struct tt_str out = {0};
	tt_status status = read_reasons(&reasons, reasons_path);

	tt_str_adds(&out, intro);
	for (size_t a = 0; a < FID_ASPECT_COUNT; a++)
		tt_str_addf(&out, "| %s | %s |\n", fid_aspect_names[a], fid_aspect_texts[a]);
	tt_str_adds(&out, "\n## Scores\n\n");
	add_table(&out, tally);
	tt_str_adds(&out, "\n## Misses\n\n| program | aspects | reason |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < tally->outcomes.count; i++)
		if (tally->outcomes.data[i].have)
			add_miss(&out, &tally->outcomes.data[i], &reasons);
	tt_str_adds(&out, "\n");
	tt_str_adds(&out, models);
	tt_str_adds(&out, others);
	add_refusals(&out, tally);
	for (size_t i = 0; i < reasons.rows.count && status == TTNN_OK; i++)
		if (!reasons.rows.data[i].used)
			printf("%s: a reason that no miss needs: %s\n", reasons_path,
			       reasons.rows.data[i].text);
	if (status == TTNN_OK)
		status = tt_str_status(&out);
	if (status == TTNN_OK)
		status = tt_file_save(path, out.data, out.length);
	tt_str_deinit(&out);
	free_reasons(&reasons);
	return status;
}
