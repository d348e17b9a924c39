/* ttnn show --profile: where the time went, and what may help. */
#include "cli/show_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/inputs.h"
#include "cli/window.h"
#include "profile/perf_sum.h"

static tt_status open_file(struct tt_perf_file *file, struct tt_source_window *window,
			   const char *path)
{
	bool part;

	*file = (struct tt_perf_file){.path = path};
	TT_TRY(cli_window_make(window, &part));
	if (part && !tt_is_trace(path))
		return tt_fail(TTNN_INVALID, "%s: not a trace, and there are no parts of others",
			       path);
	if (part)
		file->window = window;
	return tt_perf_file_open(file);
}

/* ---- tables ----------------------------------------------------------------------------------------------- */

#define BAR 20

/* A share as a bar, in eighths of a character. */
static const char *bar(char text[BAR * 3 + 1], double share)
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	int eighths = (int)lround(fmin(fmax(share, 0), 1) * BAR * 8);
	size_t at = 0;

	for (int i = 0; i < eighths / 8; i++, at += 3)
		memcpy(text + at, "█", 3);
	memcpy(text + at, parts[eighths % 8], strlen(parts[eighths % 8]) + 1);
	return text;
}

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* The limit that most of them have. */
static const char *usual_limit(const struct tt_perf_group *group)
{
	size_t most = 0;

	for (size_t i = 1; i < TT_COUNT(group->limits); i++)
		if (group->limits[i] > group->limits[most])
			most = i;
	return tt_perf_limit_name((enum tt_perf_limit)most);
}

/* Rows of a table that people read. */
#define ROWS 20

static void print_groups(const struct tt_perf_sum *sum, double device_us)
{
	char text[BAR * 3 + 1], name[CLI_SHOWN];
	double rest = 0;
	uint64_t rest_count = 0;

	printf("%-44s %7s %12s %10s %10s %6s %-8s %6s\n", "operation", "count", "device us",
	       "mean us", "gaps us", "cores", "limit", "%");
	for (size_t i = 0; i < sum->count; i++) {
		const struct tt_perf_group *group = sum->groups[i];

		if (i >= ROWS) {
			rest += group->us;
			rest_count += group->count;
			continue;
		}
		printf("%-44s %7" PRIu64 " %12.1f %10.1f %10.1f %6u %-8s %6.1f %s\n",
		       cli_shown(name, group->op_code), group->count, group->us, group->mean,
		       group->gap_us, group->cores, usual_limit(group),
		       100 * share_of(group->us, device_us),
		       bar(text, share_of(group->us, device_us)));
	}
	if (rest_count)
		printf("%-44s %7" PRIu64 " %12.1f\n", "others", rest_count, rest);
}

static void print_categories(const struct tt_perf_sum *sum, double device_us)
{
	char text[BAR * 3 + 1];

	printf("\n%-44s %7s %12s %54s\n", "category", "count", "device us", "%");
	for (int i = 0; i < TT_PERF_CATEGORIES; i++)
		if (sum->category_ops[i])
			printf("%-44s %7" PRIu64 " %12.1f %47s %6.1f %s\n",
			       tt_perf_category_name((enum tt_perf_category)i),
			       sum->category_ops[i], sum->category_us[i], "",
			       100 * share_of(sum->category_us[i], device_us),
			       bar(text, share_of(sum->category_us[i], device_us)));
}

static void print_number(const char *format, struct tt_perf_number number, int width)
{
	if (number.known)
		printf(format, number.value);
	else
		printf("%*s", width, "");
}

static void print_slowest(const struct tt_perf_sum *sum)
{
	if (!sum->slow_count)
		return;
	printf("\nThe slowest: line of the report, time and gap in us, shares of the peaks in %%\n");
	printf("%7s %-52s %10s %10s %6s %6s %6s %-5s %s\n", "line", "operation", "device us",
	       "gap us", "cores", "DRAM %", "FLOP %", "bound", "limit");
	for (size_t i = 0; i < sum->slow_count; i++) {
		const struct tt_perf_slow *slow = &sum->slow[i];
		char text[CLI_SHOWN], name[CLI_SHOWN + 96];

		snprintf(name, sizeof(name), "%s%s%s", cli_shown(text, slow->op_code),
			 *slow->size ? " " : "", slow->size);
		printf("%7" PRIu64 " %-52s ", slow->line, name);
		print_number("%10.1f ", slow->us, 11);
		print_number("%10.1f ", slow->gap, 11);
		printf("%6u ", slow->cores);
		print_number("%6.1f ", slow->dram_percent, 7);
		print_number("%6.1f ", slow->flops_percent, 7);
		printf("%-5s %s\n", slow->bound, tt_perf_limit_name(slow->limit));
		if (*slow->advice)
			printf("%7s - %s\n", "", slow->advice);
	}
}

static const char *plural(uint64_t number, const char *one, const char *many)
{
	return number == 1 ? one : many;
}

static void print_totals(const struct tt_perf_file *file, const struct tt_perf_sum *sum)
{
	printf("%" PRIu64 " %s, %" PRIu64
	       " %s; %.1f us on the device, %.1f us between them, %.1f us "
	       "on the host (%s, %u cores)\n\n",
	       file->operations, plural(file->operations, "operation", "operations"),
	       file->signposts, plural(file->signposts, "signpost", "signposts"), file->device_us,
	       file->gap_us, sum->host_us, file->chip->name, file->cores);
}

static void print_notes(const struct tt_perf_file *file, const struct tt_perf_sum *sum)
{
	if (sum->long_gaps)
		printf("\n%" PRIu64 " %s longer than 6.5 us, %.1f us together (%.1f %% of all): "
		       "the device waits for the host.\nCapture a trace of the operations and run that "
		       "again.\n",
		       sum->long_gaps, plural(sum->long_gaps, "gap is", "gaps are"),
		       sum->long_gap_us, 100 * share_of(sum->long_gap_us, file->total_us));
	if (file->invalid)
		printf("\n%" PRIu64
		       " %s no time on the device, or one that makes no sense; %s in no sum.\n",
		       file->invalid, plural(file->invalid, "operation has", "operations have"),
		       plural(file->invalid, "it is", "they are"));
	if (file->ragged)
		printf("\n%" PRIu64 " %s more or fewer cells than the first.\n", file->ragged,
		       plural(file->ragged, "line has", "lines have"));
}

tt_status cli_profile_print(const char *path)
{
	struct tt_source_window window;
	struct tt_perf_sum sum = {0};
	struct tt_perf_file file;
	tt_status status;

	TT_TRY(open_file(&file, &window, path));
	status = tt_perf_sum_file(&sum, &file);
	if (status == TTNN_OK) {
		print_totals(&file, &sum);
		print_groups(&sum, file.device_us);
		print_categories(&sum, file.device_us);
		print_slowest(&sum);
		print_notes(&file, &sum);
	}
	tt_perf_sum_deinit(&sum);
	return status;
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static void put_number(struct tt_jsonw *w, const char *key, struct tt_perf_number number)
{
	tt_jsonw_key(w, key);
	if (number.known)
		tt_jsonw_real(w, number.value);
	else
		tt_jsonw_null(w);
}

static void put_real(struct tt_jsonw *w, const char *key, double number)
{
	put_number(w, key, (struct tt_perf_number){true, number});
}

static void put_count(struct tt_jsonw *w, const char *key, uint64_t number)
{
	tt_jsonw_key(w, key);
	tt_jsonw_uint(w, number);
}

static void json_group(struct tt_jsonw *w, const struct tt_perf_group *group)
{
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "op_code", group->op_code);
	tt_jsonw_key_string(w, "category", tt_perf_category_name(group->category));
	put_count(w, "count", group->count);
	put_real(w, "device_us", group->us);
	put_real(w, "mean_us", group->mean);
	put_real(w, "longest_us", group->longest_us);
	put_real(w, "gap_us", group->gap_us);
	put_count(w, "cores", group->cores);
	tt_jsonw_key_string(w, "limit", usual_limit(group));
	tt_jsonw_end(w);
}

/* One line; what tt-perf-report calls them is in docs/ttnn-show.md. */
struct row_context {
	struct tt_jsonw *w;
	const struct tt_perf_file *file;
	struct tt_str advice;
};

static tt_status json_row(void *context, const struct tt_perf_op *op)
{
	struct row_context *row = context;
	struct tt_jsonw *w = row->w;
	struct tt_perf_number share = {false, 0};

	share.known = tt_perf_share(&share.value, row->file, op);
	tt_jsonw_object(w);
	put_count(w, "id", op->line);
	put_number(w, "total_percent", share);
	tt_jsonw_key_string(w, "bound", op->bound);
	tt_jsonw_key_string(w, "limit", tt_perf_limit_name(op->limit));
	tt_jsonw_key_string(w, "op_code", op->op_code);
	tt_jsonw_key_string(w, "size", op->size);
	tt_jsonw_key(w, "signpost");
	tt_jsonw_bool(w, op->signpost);
	put_number(w, "device", (struct tt_perf_number){op->device >= 0, (double)op->device});
	put_number(w, "device_us", op->us);
	put_number(w, "gap_us", op->gap);
	put_number(w, "cores", (struct tt_perf_number){op->cores, op->cores});
	put_count(w, "available_cores", op->available);
	put_number(w, "dram_gb_s", op->gb_s);
	put_number(w, "dram_percent", op->dram_percent);
	put_number(w, "tflops", op->tflops);
	put_number(w, "flops_percent", op->flops_percent);
	tt_jsonw_key_string(w, "math_fidelity", op->fidelity);
	tt_jsonw_key_string(w, "category", op->signpost ? "" : tt_perf_category_name(op->category));
	tt_jsonw_key_string(w, "global_call_count", op->call);
	tt_str_clear(&row->advice);
	tt_perf_advice(&row->advice, op, " • ");
	tt_jsonw_key_string(w, "advice", tt_str_text(&row->advice));
	tt_jsonw_end(w);
	return tt_str_status(&row->advice);
}

static tt_status json_all(struct tt_jsonw *w, struct tt_perf_file *file,
			  const struct tt_perf_sum *sum)
{
	struct row_context row = {.w = w, .file = file};
	tt_status status;

	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "architecture", file->chip->name);
	put_count(w, "cores", file->cores);
	put_count(w, "operations", file->operations);
	put_count(w, "signposts", file->signposts);
	put_real(w, "device_us", file->device_us);
	put_real(w, "gap_us", file->gap_us);
	put_real(w, "host_us", sum->host_us);
	put_count(w, "invalid", file->invalid);
	tt_jsonw_key(w, "by_operation");
	tt_jsonw_array(w);
	for (size_t i = 0; i < sum->count; i++)
		json_group(w, sum->groups[i]);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "by_category");
	tt_jsonw_object(w);
	for (int i = 0; i < TT_PERF_CATEGORIES; i++)
		if (sum->category_ops[i])
			put_real(w, tt_perf_category_name((enum tt_perf_category)i),
				 sum->category_us[i]);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "rows");
	tt_jsonw_array(w);
	status = tt_perf_file_each(file, json_row, &row);
	tt_str_deinit(&row.advice);
	TT_TRY(status);
	tt_jsonw_end(w);
	tt_jsonw_end(w);
	return TTNN_OK;
}

tt_status cli_profile_json(struct tt_jsonw *w, const char *path)
{
	struct tt_source_window window;
	struct tt_perf_sum sum = {0};
	struct tt_perf_file file;
	tt_status status;

	TT_TRY(open_file(&file, &window, path));
	status = tt_perf_sum_file(&sum, &file);
	if (status == TTNN_OK)
		status = json_all(w, &file, &sum);
	tt_perf_sum_deinit(&sum);
	return status;
}
