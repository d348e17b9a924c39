/* ttnn show: a trace or a graph, for people: operations, memory, the peak, calls, levels. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/show_profile.h"
#include "cli/window.h"
#include "event/encode.h"
#include "trace/calls.h"
#include "trace/memory_course.h"
#include "trace/query.h"

static bool tree, memory_rows, peak, info, profile, as_json;
static int64_t levels;
static int dialect = -1;

static const struct tt_opt options[] = {
	{"tree", 0, TT_OPT_FLAG, &tree, NULL, "every call and what it did, indented"},
	{"memory", 0, TT_OPT_FLAG, &memory_rows, NULL, "memory after each event"},
	{"peak", 0, TT_OPT_FLAG, &peak, NULL, "the highest point, what held memory then, a chart"},
	{"levels", 0, TT_OPT_POSITIVE, &levels, "N", "the levelized graph down to this level"},
	{"profile", 0, TT_OPT_FLAG, &profile, NULL,
	 "times on the device, what limits them, what may help; also of a profiler's CSV"},
	{"info", 0, TT_OPT_FLAG, &info, NULL, "what the file is, without reading it all"},
	{"dialect", 0, TT_OPT_CHOICE, &dialect, "seed|tt-metal", "how a trace becomes a graph"},
	CLI_WINDOW_OPTIONS,
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"},
	{0},
};

static struct tt_jsonw out;

/* Answers about several files are parts of one document. */
static bool in_document;

/* JSON goes out as it is made, however long it is. */
static void begin_json(void)
{
	if (in_document)
		return;
	tt_jsonw_init(&out, cli_write_stdout, NULL,
		      (struct tt_jsonw_style){.indent = 2, .utf8 = true});
}

static tt_status end_json(void)
{
	if (in_document)
		return TTNN_OK;
	TT_TRY(tt_jsonw_finish(&out));
	printf("\n");
	return TTNN_OK;
}

static void json_number(const char *key, uint64_t number)
{
	tt_jsonw_key(&out, key);
	tt_jsonw_uint(&out, number);
}

/* "12.3 MB", in powers of 1,024. */
static const char *bytes_text(char buffer[32], uint64_t bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
	double number = (double)bytes;
	size_t unit = 0;

	for (; number >= 1024 && unit < 4; unit++)
		number /= 1024;
	snprintf(buffer, 32, unit ? "%.1f %s" : "%.0f %s", number, units[unit]);
	return buffer;
}

/* ---- tables: columns for people and, of the same rows, keys in JSON ------------------------------------------- */

struct column {
	const char *title;
	const char *key; /* NULL: not in JSON */
	int width;       /* below 0: text begins at the left */
	enum {
		TEXT,
		NUMBER,
		NANOSECONDS
	} form;    /* char *, uint64_t; time is shown in microseconds */
	size_t at; /* in the row */
};

static void table_begin(const struct column *columns, size_t count)
{
	if (as_json) {
		begin_json();
		tt_jsonw_array(&out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		printf("%s%*s", i ? " " : "", columns[i].width, columns[i].title);
	printf("\n");
}

static void print_cell(const struct column *column, const void *cell)
{
	if (column->form == TEXT)
		printf("%*s", column->width, *(const char *const *)cell);
	else if (column->form == NUMBER)
		printf("%*llu", column->width, (unsigned long long)*(const uint64_t *)cell);
	else
		printf("%*.1f", column->width, (double)*(const uint64_t *)cell / 1e3);
}

static void table_row(const struct column *columns, size_t count, const void *row)
{
	if (as_json)
		tt_jsonw_object(&out);
	for (size_t i = 0; i < count; i++) {
		const void *cell = (const char *)row + columns[i].at;

		if (!as_json) {
			printf("%s", i ? " " : "");
			print_cell(&columns[i], cell);
		} else if (columns[i].key && columns[i].form == TEXT) {
			tt_jsonw_key_string(&out, columns[i].key, *(const char *const *)cell);
		} else if (columns[i].key) {
			json_number(columns[i].key, *(const uint64_t *)cell);
		}
	}
	if (as_json)
		tt_jsonw_end(&out);
	else
		printf("\n");
}

static tt_status table_end(void)
{
	if (!as_json)
		return TTNN_OK;
	tt_jsonw_end(&out);
	return end_json();
}

/* ---- operations ----------------------------------------------------------------------------------------- */

static tt_status show_operations(struct tt_input *input)
{
	struct column columns[] = {
		{"operation", "name", -44, TEXT, offsetof(struct tt_calls_row, name)},
		{"calls", "calls", 8, NUMBER, offsetof(struct tt_calls_row, calls)},
		{"total us", "total_ns", 12, NANOSECONDS, offsetof(struct tt_calls_row, total_ns)},
		{"longest us", "longest_ns", 12, NANOSECONDS,
		 offsetof(struct tt_calls_row, longest_ns)},
	};
	struct tt_calls_table table;

	TT_TRY(tt_calls_sum(&table, input, cli_dialect(dialect)));
	for (size_t i = 0; i < table.rows.count; i++) {
		size_t length = strlen(table.rows.data[i].name);

		if (length < 100 && (int)length > -columns[0].width)
			columns[0].width = -(int)length;
	}
	table_begin(columns, TT_COUNT(columns));
	for (size_t i = 0; i < table.rows.count; i++)
		table_row(columns, TT_COUNT(columns), &table.rows.data[i]);
	tt_calls_table_deinit(&table);
	return table_end();
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

struct memory_row {
	uint64_t number;
	const char *operation, *event;
	uint64_t program, buffers, core;
};

static const struct column memory_columns[] = {
	{"", NULL, -5, NUMBER, offsetof(struct memory_row, number)},
	{"current_op", "current_op", 24, TEXT, offsetof(struct memory_row, operation)},
	{"event", "event", 32, TEXT, offsetof(struct memory_row, event)},
	{"total_cb", "total_cb", 10, NUMBER, offsetof(struct memory_row, program)},
	{"total_buffer", "total_buffer", 13, NUMBER, offsetof(struct memory_row, buffers)},
	{"core_l1", "core_l1", 10, NUMBER, offsetof(struct memory_row, core)},
};

/* The word of an event in the memory table, or NULL. */
static const char *event_word(const struct tt_memory_moment *moment)
{
	if (moment->type == TT_GRAPH_FUNCTION_START)
		return moment->is_operation ? "begin_op" : NULL;
	if (moment->type == TT_GRAPH_FUNCTION_END)
		return moment->is_operation ? "end_op" : NULL;
	if (moment->type >= TT_GRAPH_BUFFER_ALLOCATE &&
	    moment->type <= TT_GRAPH_SCRATCHPAD_ALLOCATE)
		return moment->type_name;
	return NULL;
}

static void tell_memory(void *context, const struct tt_memory_moment *moment)
{
	const struct tt_memory_point *point = &moment->point;
	struct memory_row row = {.operation = moment->operation,
				 .event = event_word(moment),
				 .program = point->program,
				 .buffers = point->l1 + point->dram,
				 .core = tt_memory_core(point)};
	uint64_t *number = context;

	if (!row.event)
		return;
	row.number = (*number)++;
	table_row(memory_columns, TT_COUNT(memory_columns), &row);
}

static tt_status show_memory(struct tt_stream *stream)
{
	uint64_t number = 0;

	table_begin(memory_columns, TT_COUNT(memory_columns));
	TT_TRY(tt_memory_each(stream, tell_memory, &number));
	return table_end();
}

/* ---- the peak ------------------------------------------------------------------------------------------------ */

/* What is shown of memory: for people, in JSON. */
static const struct {
	const char *name, *key;
} places[TT_MEMORY_VIEWS] = {
	[TT_MEMORY_CORE] = {"core", "core"},
	[TT_MEMORY_L1] = {"L1", "l1"},
	[TT_MEMORY_DRAM] = {"DRAM", "dram"},
};

static uint64_t highest_of(const struct tt_memory *memory, int view)
{
	return tt_memory_value(&memory->peaks[view].point, (enum tt_memory_view)view);
}

/* The highest value in each stretch of the graph, as bars. */
static void print_chart(int view, const struct tt_memory *memory)
{
	static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	uint64_t highest = highest_of(memory, view);
	char text[32];

	printf("%-5s |", places[view].name);
	for (size_t x = 0; x < TT_MEMORY_BARS; x++)
		printf("%s", bars[highest ? (size_t)ceil(8 * (double)memory->bars[view][x] /
							 (double)highest)
					  : 0]);
	printf("| %s\n", bytes_text(text, highest));
}

/* "1 core: 100.0 KB of 1.3 MB (7 %), 12.0 KB of it the program's, in ttnn::add" */
static void print_core(const struct tt_memory *memory, const struct tt_memory_point *point)
{
	char text[32];

	if (memory->bank)
		printf(" of %s (%.0f %%)", bytes_text(text, memory->bank),
		       100 * (double)tt_memory_core(point) / (double)memory->bank);
	printf(": buffers %s,", bytes_text(text, point->core_buffers));
	printf(" program %s", bytes_text(text, point->core_program));
	if (*memory->peaks[TT_MEMORY_CORE].operation)
		printf(", in %s", memory->peaks[TT_MEMORY_CORE].operation);
}

static void print_peak(int view, const struct tt_memory *memory)
{
	const struct tt_memory_peak *top = &memory->peaks[view];
	const struct tt_memory_point *point = &top->point;
	char text[32];

	printf("\n%s peak: %s", view == TT_MEMORY_CORE ? "Core" : places[view].name,
	       bytes_text(text, highest_of(memory, view)));
	if (view == TT_MEMORY_CORE)
		print_core(memory, point);
	printf("\n");
	for (size_t i = 0; i < top->holders.count && i < 10; i++) {
		const struct tt_memory_holder *holder = &top->holders.data[i];

		printf("  %10s  %-34s %s\n",
		       bytes_text(text, view == TT_MEMORY_CORE ? holder->bank_size : holder->size),
		       holder->shape, *holder->maker ? holder->maker : "(there before)");
	}
	if (top->holders.count > 10)
		printf("  and %zu more\n", top->holders.count - 10);
}

static void json_peak(int view, const struct tt_memory *memory)
{
	const struct tt_memory_peak *top = &memory->peaks[view];
	const struct tt_memory_point *point = &top->point;

	tt_jsonw_key(&out, places[view].key);
	tt_jsonw_object(&out);
	json_number("node", top->node);
	tt_jsonw_key_string(&out, "operation", top->operation);
	json_number("bytes", highest_of(memory, view));
	if (view == TT_MEMORY_CORE) {
		json_number("buffers", point->core_buffers);
		json_number("program", point->core_program);
		if (memory->bank)
			json_number("capacity", memory->bank);
	}
	tt_jsonw_key(&out, "holders");
	tt_jsonw_array(&out);
	for (size_t i = 0; i < top->holders.count; i++) {
		const struct tt_memory_holder *holder = &top->holders.data[i];

		tt_jsonw_object(&out);
		if (holder->buffer != UINT32_MAX)
			json_number("buffer", holder->buffer);
		json_number("size", holder->size);
		json_number("max_size_per_bank", holder->bank_size);
		tt_jsonw_key_string(&out, "shape", holder->shape);
		tt_jsonw_key_string(&out, "operation", holder->maker);
		tt_jsonw_end(&out);
	}
	tt_jsonw_end(&out);
	tt_jsonw_end(&out);
}

static tt_status show_peak(struct tt_stream *stream)
{
	struct tt_memory memory;
	tt_status status = TTNN_OK;

	TT_TRY(tt_memory_of(&memory, stream));
	if (as_json) {
		begin_json();
		tt_jsonw_object(&out);
		for (int view = 0; view < TT_MEMORY_VIEWS; view++)
			json_peak(view, &memory);
		json_number("unknown_shares", memory.shareless);
		tt_jsonw_end(&out);
		status = end_json();
	} else {
		for (int view = 0; view < TT_MEMORY_VIEWS; view++)
			print_chart(view, &memory);
		for (int view = 0; view < TT_MEMORY_VIEWS; view++)
			print_peak(view, &memory);
		if (memory.shareless)
			printf("\nThe file does not tell what %zu buffers in L1 take of a core: "
			       "they are not in its peak.\n",
			       memory.shareless);
	}
	tt_memory_deinit(&memory);
	return status;
}

/* ---- calls, levels, files -------------------------------------------------------------------------------------- */

static void print_text(void *context, const char *text, size_t length)
{
	cli_write_stdout(context, text, length);
}

static tt_status show_tree(struct tt_stream *stream)
{
	if (!as_json)
		return tt_query_pretty_stream(stream, print_text, NULL);
	begin_json();
	TT_TRY(tt_stream_write(&out, stream));
	return end_json();
}

static void print_list(const char *label, const struct tt_query_list *list)
{
	if (!list->count)
		return;
	printf("  %s", label);
	for (uint32_t i = 0; i < list->count; i++)
		printf(" %u", list->items[i]);
}

static tt_status show_levels(const struct tt_graph *graph)
{
	struct tt_arena arena = {0};
	struct tt_query_vertex *vertices;
	size_t count;
	tt_status status =
		graph->dialect == TTNN_DIALECT_TT_METAL
			? tt_query_flow(&vertices, &count, &arena, graph, (int32_t)levels)
			: tt_query_levels(&vertices, &count, &arena, graph, (int32_t)levels);

	if (status == TTNN_OK && as_json) {
		begin_json();
		tt_query_levels_json(&out, vertices, count);
		status = end_json();
	} else if (status == TTNN_OK) {
		for (size_t i = 0; i < count; i++) {
			printf("%4zu %*s%s", i, 4 * (vertices[i].level - 1), "", vertices[i].name);
			print_list("in", &vertices[i].in);
			print_list("out", &vertices[i].out);
			print_list("inside", &vertices[i].internals);
			printf("\n");
		}
	}
	tt_arena_deinit(&arena);
	return status;
}

/* Of JSON: how many nodes of each kind. */
static tt_status show_counts(struct tt_stream *stream)
{
	size_t counts[TT_GRAPH_OTHER + 1] = {0};
	const struct tt_graph_node *each;

	for (;;) {
		TT_TRY(tt_stream_next(&each, stream));
		if (!each)
			break;
		counts[each->type]++;
	}
	if (as_json) {
		begin_json();
		tt_jsonw_object(&out);
	}
	for (int type = 0; type <= TT_GRAPH_OTHER; type++) {
		struct tt_graph_node node = {.type = (uint8_t)type, .type_name = "other"};

		if (counts[type] && as_json)
			json_number(tt_graph_type_name(&node), counts[type]);
		else if (counts[type])
			printf("%8zu %s\n", counts[type], tt_graph_type_name(&node));
	}
	if (!as_json)
		return TTNN_OK;
	tt_jsonw_end(&out);
	return end_json();
}

static tt_status show_info(const struct tt_trace_info *about)
{
	if (as_json) {
		begin_json();
		tt_jsonw_object(&out);
		tt_jsonw_key_string(&out, "program", about->program);
		tt_jsonw_key_string(&out, "arguments", about->arguments);
		json_number("operations", about->operations);
		json_number("events", about->events);
		json_number("lost", about->lost);
		json_number("threads", about->threads);
		json_number("duration_ns", about->duration_ns);
		json_number("bytes", about->file_bytes);
		tt_jsonw_key(&out, "complete");
		tt_jsonw_bool(&out, about->complete);
		tt_jsonw_key(&out, "kinds");
		tt_jsonw_object(&out);
		for (int i = 0; i < TT_EVENT_KINDS; i++)
			if (about->counts[i])
				json_number(tt_event_kind_name((enum tt_event_kind)i),
					    about->counts[i]);
		tt_jsonw_end(&out);
		tt_jsonw_end(&out);
		return end_json();
	}
	printf("%s\n", about->arguments && *about->arguments ? about->arguments : about->program);
	printf("%llu operations, %llu events, %u threads, %.3f ms, %llu bytes%s%s\n",
	       (unsigned long long)about->operations, (unsigned long long)about->events,
	       about->threads, (double)about->duration_ns / 1e6,
	       (unsigned long long)about->file_bytes, about->complete ? "" : ", not complete",
	       about->lost ? ", records lost" : "");
	return TTNN_OK;
}

static tt_status show_levelized(struct tt_input *input)
{
	struct tt_project_options how = {
		.dialect = cli_dialect(dialect), .call_arguments = true, .most = TT_PROJECT_MOST};
	struct tt_graph graph;
	tt_status status;

	TT_TRY(tt_input_graph(&graph, input, &how));
	status = show_levels(&graph);
	tt_graph_deinit(&graph);
	return status;
}

/*
 * The views: an option, and what shows a file of which the nodes are told one by one (`nodes`), or all of it
 * (`whole`). To add one: its option, a row.
 */
static const struct view {
	const bool *flag; /* the option that asks for it; NULL, and `number` too: when none does */
	const int64_t *number;
	tt_status (*nodes)(struct tt_stream *stream);
	tt_status (*whole)(struct tt_input *input);
	unsigned rounds; /* how often the nodes are told */
	bool course;     /* with what memory was there */
	bool params;     /* JSON has all params of nodes */
} views[] = {
	{.flag = &tree, .nodes = show_tree, .rounds = 1, .params = true},
	{.flag = &memory_rows, .nodes = show_memory, .rounds = 1, .course = true},
	{.flag = &peak, .nodes = show_peak, .rounds = 2, .course = true},
	{.flag = &info, .nodes = show_counts, .rounds = 1},
	{.number = &levels, .whole = show_levelized},
	{.whole = show_operations},
};

static const struct view *wanted_view(void)
{
	const struct view *view = views;

	while (view->flag ? !*view->flag : view->number && !*view->number)
		view++;
	return view;
}

static tt_status show_nodes(struct tt_input *input, const struct view *view)
{
	struct tt_project_options how = {
		.dialect = cli_dialect(dialect),
		.label = view->rounds > 1 || !isatty(STDOUT_FILENO) ? "reading" : NULL,
		.rounds = view->rounds,
		.course = view->course,
		.plain = !(view->params && as_json)};
	struct tt_stream *stream;
	tt_status status;

	TT_TRY(tt_input_stream(&stream, input, &how));
	status = view->nodes(stream);
	tt_stream_close(stream);
	return status;
}

static tt_status show_profile(const char *path)
{
	if (!as_json)
		return cli_profile_print(path);
	begin_json();
	TT_TRY(cli_profile_json(&out, path));
	return end_json();
}

static tt_status show(const char *path)
{
	const struct view *view = wanted_view();
	struct tt_input input;
	tt_status status;

	if (profile)
		return show_profile(path);
	if (info && cli_window_given())
		return tt_fail(TTNN_INVALID, "--info tells of whole files, not of a part");
	TT_TRY(cli_window_open(&input, path));
	if (info && input.source)
		status = show_info(tt_source_info(input.source));
	else
		status = view->nodes ? show_nodes(&input, view) : view->whole(&input);
	tt_input_close(&input);
	return status;
}

/* One after the other, each below its name. */
static tt_status show_texts(const struct cli_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		printf("%s%s:\n", i ? "\n" : "", inputs->data[i].path);
		TT_TRY(show(inputs->data[i].path));
	}
	return TTNN_OK;
}

/* [{"file": PATH, "content": what --json prints of it alone}, ...] */
static tt_status show_document(const struct cli_inputs *inputs)
{
	tt_status status = TTNN_OK;

	begin_json();
	in_document = true;
	tt_jsonw_array(&out);
	for (size_t i = 0; status == TTNN_OK && i < inputs->count; i++) {
		tt_jsonw_object(&out);
		tt_jsonw_key_string(&out, "file", inputs->data[i].path);
		tt_jsonw_key(&out, "content");
		status = show(inputs->data[i].path);
		if (status == TTNN_OK)
			tt_jsonw_end(&out);
	}
	in_document = false;
	TT_TRY(status);
	tt_jsonw_end(&out);
	return end_json();
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct cli_inputs inputs = {0};
	tt_status status = cli_inputs_list(&inputs, count, operands);

	(void)cmd;
	if (status == TTNN_OK && !inputs.several)
		status = show(inputs.data[0].path);
	else if (status == TTNN_OK)
		status = as_json ? show_document(&inputs) : show_texts(&inputs);
	cli_inputs_deinit(&inputs);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

const struct tt_cmd cli_show = {
	.name = "show",
	.help = "print what is in traces, graphs or reports",
	.operands = "TRACE|GRAPH.json|REPORT.json|PERF.csv|DIR...",
	.least = 1,
	.most = TT_CMD_ANY,
	.options = options,
	.exclusive = "tree|memory|peak|levels|profile|info",
	.more = "Without an option: the operations by time. Of several files, and of the traces and reports of a\n"
		"folder: one after the other.\n",
	.run = run,
};
