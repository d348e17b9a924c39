/* ttnn show --profile: where the time went, and what may help. */
#include "cli/show_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

/* Columns of the terminal: COLUMNS, else its own; 0: as many as one likes. */
static int terminal_columns(void)
{
	const char *said = getenv("COLUMNS");
	struct winsize size;
	long columns = said ? strtol(said, NULL, 10) : 0;

	if (columns > 0 && columns < 10000)
		return (int)columns;
	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
										     : 0;
}

/*
 * What fits of a table that takes `whole` columns, of which names have `name`: bars go first, then the columns that can be
 * missed, one by one, then names are cut.
 */
#define LEAST_NAME 14
#define FAIR_NAME 30
struct room {
	int name;
	bool bars;
	bool first, second; /* columns that can be missed */
};

static struct room room_of(int name, int whole, int bars, const int missed[2])
{
	int columns = terminal_columns(), lacking = columns ? whole - columns : 0;
	struct room room = {name, lacking <= 0, true, true};
	bool *there[] = {&room.first, &room.second};

	if (lacking > 0)
		lacking -= bars;
	for (int i = 0; i < 2; i++)
		if (name - lacking < FAIR_NAME) {
			*there[i] = false;
			lacking -= missed[i];
		}
	if (lacking > 0)
		room.name = name - lacking > LEAST_NAME ? name - lacking : LEAST_NAME;
	return room;
}

/* A name that takes so many columns, cut where it is longer. */
static void print_name(const char *text, int columns)
{
	char shown[CLI_SHOWN];
	int length = 0;
	const char *at = cli_shown(shown, text), *cut = at;

	for (const char *c = at; *c; c++) {
		length += ((unsigned char)*c & 0xc0) != 0x80;
		if (length < columns)
			cut = c + 1;
	}
	if (length > columns)
		printf("%.*s…", (int)(cut - at), at);
	else
		printf("%s%*s", at, columns - length, "");
}

/* Words in lines of the terminal's width; those after the first begin at `indent`. */
static void print_wrapped(const char *text, int at, int indent)
{
	int columns = terminal_columns();

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (columns && at > indent && at + 1 + length > columns) {
			printf("\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", length, text);
		at += length;
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

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

static void print_bar(const char *text, const struct room *room)
{
	if (room->bars)
		printf(" %s", text);
	putchar('\n');
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

static const int GROUP_MISSED[] = {11, 11}, SLOW_MISSED[] = {7, 11};

static struct room group_room(void)
{
	return room_of(44, 131, BAR + 1, GROUP_MISSED);
}

static void print_if(bool there, const char *format, double number)
{
	if (there)
		printf(format, number);
}

static void print_groups(const struct tt_perf_sum *sum, double device_us)
{
	const struct room room = group_room();
	char text[BAR * 3 + 1];
	double rest = 0;
	uint64_t rest_count = 0;

	printf("%-*s %7s %12s%s%s %6s %-8s %6s\n", room.name, "operation", "count", "device us",
	       room.first ? "    mean us" : "", room.second ? "    gaps us" : "", "cores", "limit",
	       "%");
	for (size_t i = 0; i < sum->count; i++) {
		const struct tt_perf_group *group = sum->groups[i];

		if (i >= ROWS) {
			rest += group->us;
			rest_count += group->count;
			continue;
		}
		print_name(group->op_code, room.name);
		printf(" %7" PRIu64 " %12.1f", group->count, group->us);
		print_if(room.first, " %10.1f", group->mean);
		print_if(room.second, " %10.1f", group->gap_us);
		printf(" %6u %-8s %6.1f", group->cores, usual_limit(group),
		       100 * share_of(group->us, device_us));
		print_bar(bar(text, share_of(group->us, device_us)), &room);
	}
	if (rest_count)
		printf("%-*s %7" PRIu64 " %12.1f\n", room.name, "others", rest_count, rest);
}

static void print_categories(const struct tt_perf_sum *sum, double device_us)
{
	const struct room room = group_room();
	const int width =
		44 - (room.first ? 0 : GROUP_MISSED[0]) - (room.second ? 0 : GROUP_MISSED[1]);
	char text[BAR * 3 + 1];

	printf("\n%-*s %7s %12s %*s\n", room.name, "category", "count", "device us", width, "%");
	for (int i = 0; i < TT_PERF_CATEGORIES; i++)
		if (sum->category_ops[i]) {
			printf("%-*s %7" PRIu64 " %12.1f %*.1f", room.name,
			       tt_perf_category_name((enum tt_perf_category)i),
			       sum->category_ops[i], sum->category_us[i], width,
			       100 * share_of(sum->category_us[i], device_us));
			print_bar(bar(text, share_of(sum->category_us[i], device_us)), &room);
		}
}

static void print_number(const char *format, struct tt_perf_number number, int width)
{
	if (number.known)
		printf(format, number.value);
	else
		printf("%*s", width, "");
}

static void print_slowest(const struct tt_perf_sum *sum, bool trace)
{
	const struct room room = room_of(52, 118, 0, SLOW_MISSED);

	if (!sum->slow_count)
		return;
	printf("\nThe slowest:");
	print_wrapped(trace ? "number of the call (`--first N --count 1` of `ttnn show`, `ttnn "
			      "export` is it), time and gap in us, shares of the peaks in %"
			    : "line of the report, time and gap in us, shares of the peaks in %",
		      12, 0);
	printf("%7s %-*s %10s%s%s %6s %6s %-5s %s\n", trace ? "call" : "line", room.name,
	       "operation", "device us", room.second ? "     gap us" : "",
	       room.first ? "  cores" : "", "DRAM %", "FLOP %", "bound", "limit");
	for (size_t i = 0; i < sum->slow_count; i++) {
		const struct tt_perf_slow *slow = &sum->slow[i];
		char text[CLI_SHOWN], name[CLI_SHOWN + 96];

		snprintf(name, sizeof(name), "%s%s%s", cli_shown(text, slow->op_code),
			 *slow->size ? " " : "", slow->size);
		printf("%7" PRIu64 " ", trace ? slow->outer : slow->line);
		print_name(name, room.name);
		putchar(' ');
		print_number("%10.1f ", slow->us, 11);
		if (room.second)
			print_number("%10.1f ", slow->gap, 11);
		print_if(room.first, "%6.0f ", slow->cores);
		print_number("%6.1f ", slow->dram_percent, 7);
		print_number("%6.1f ", slow->flops_percent, 7);
		printf("%-5s %s\n", slow->bound, tt_perf_limit_name(slow->limit));
		if (*slow->advice) {
			printf("%7s - ", "");
			print_wrapped(slow->advice, 10, 10);
		}
	}
}

static const char *plural(uint64_t number, const char *one, const char *many)
{
	return number == 1 ? one : many;
}

static void print_totals(const struct tt_perf_file *file, const struct tt_perf_sum *sum)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%" PRIu64 " %s, %" PRIu64
		 " %s; %.1f us on the device, %.1f us between them, %.1f us "
		 "on the host (%s, %u cores)",
		 file->operations, plural(file->operations, "operation", "operations"),
		 file->signposts, plural(file->signposts, "signpost", "signposts"), file->device_us,
		 file->gap_us, sum->host_us, file->chip->name, file->cores);
	print_wrapped(text, 0, 0);
	if (tt_perf_stands_in(file))
		print_wrapped("Times on the device are those of the processor that computed in its "
			      "place: compare them with each other, not with a card's.",
			      0, 0);
	putchar('\n');
}

static void print_notes(const struct tt_perf_file *file, const struct tt_perf_sum *sum)
{
	char text[256];

	if (sum->long_gaps) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " %s longer than 6.5 us, %.1f us together (%.1f %% of all): "
			 "the device waits for the host.",
			 sum->long_gaps, plural(sum->long_gaps, "gap is", "gaps are"),
			 sum->long_gap_us, 100 * share_of(sum->long_gap_us, file->total_us));
		putchar('\n');
		print_wrapped(text, 0, 0);
		puts("Capture a trace of the operations and run that again.");
	}
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
		print_slowest(&sum, file.trace);
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
	if (op->outer)
		put_count(w, "call", op->outer);
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
	tt_jsonw_key(w, "stands_in");
	tt_jsonw_bool(w, tt_perf_stands_in(file));
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
