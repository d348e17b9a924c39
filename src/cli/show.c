/* ttnn show: a trace or a graph, for people: operations, memory, the peak, calls, levels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "trace/memory.h"
#include "trace/query.h"
#include "trace/session.h"

static bool tree, memory_rows, peak, info, as_json;
static int64_t levels;
static int dialect = -1;

static const struct tt_opt options[] = {
	{"tree", 0, TT_OPT_FLAG, &tree, NULL, "every call and what it did, indented"},
	{"memory", 0, TT_OPT_FLAG, &memory_rows, NULL, "memory after each event"},
	{"peak", 0, TT_OPT_FLAG, &peak, NULL, "the highest point, what held memory then, a chart"},
	{"levels", 0, TT_OPT_POSITIVE, &levels, "N", "the levelized graph down to this level"},
	{"info", 0, TT_OPT_FLAG, &info, NULL, "what the file is, without reading it all"},
	{"dialect", 0, TT_OPT_CHOICE, &dialect, "seed|tt-metal", "how a trace becomes a graph"},
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"},
	{0},
};

static enum ttnn_dialect chosen_dialect(void)
{
	return dialect < 0 ? tt_dialect_default() : (enum ttnn_dialect)dialect;
}

static struct tt_jsonw out;
static struct tt_str out_text;

/* Answers about several files are parts of one document. */
static bool in_document;

static void begin_json(void)
{
	if (in_document)
		return;
	tt_jsonw_init_str(&out, &out_text, (struct tt_jsonw_style){.indent = 2, .utf8 = true});
}

static tt_status end_json(void)
{
	tt_status status;

	if (in_document)
		return TTNN_OK;
	status = tt_jsonw_finish(&out);
	if (status == TTNN_OK)
		status = tt_str_status(&out_text);
	if (status == TTNN_OK)
		printf("%s\n", tt_str_text(&out_text));
	tt_str_deinit(&out_text);
	return status;
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

/* ---- operations ----------------------------------------------------------------------------------------- */

struct row {
	const char *name;
	uint64_t calls, total_ns, longest_ns;
};

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sums the ends of operations by name. */
static tt_status sum_rows(struct row **rows, size_t *count, struct tt_map *names,
			  const struct tt_graph *graph)
{
	TT_VEC(struct row) found = {0};

	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *node = &graph->nodes[i];
		const char *name = tt_graph_string(node, TT_KEY_NAME);
		struct tt_map_entry *entry;
		struct row *row;
		bool added;

		if (node->type != TT_GRAPH_FUNCTION_END || !tt_graph_is_operation(node))
			continue;
		entry = tt_map_add(names, name, strlen(name), &added);
		row = entry && added ? TT_VEC_PUSH(&found) : NULL;
		if (row) {
			*row = (struct row){.name = name};
			entry->number = found.count - 1;
		}
		if (!entry || (added && !row)) {
			TT_VEC_DEINIT(&found);
			return tt_fail_nomem();
		}
		row = found.data ? &found.data[entry->number] : NULL;
		if (!row)
			continue;
		row->calls++;
		row->total_ns += node->duration;
		if (node->duration > row->longest_ns)
			row->longest_ns = node->duration;
	}
	if (found.count)
		qsort(found.data, found.count, sizeof(*found.data), by_time);
	*rows = found.data;
	*count = found.count;
	return TTNN_OK;
}

static tt_status show_operations(const struct tt_graph *graph)
{
	struct tt_map names = {0};
	struct row *rows = NULL;
	size_t count = 0;
	int width = 44;
	tt_status status = sum_rows(&rows, &count, &names, graph);

	tt_map_deinit(&names);
	if (status != TTNN_OK)
		return status;
	for (size_t i = 0; i < count; i++)
		if (strlen(rows[i].name) < 100 && (int)strlen(rows[i].name) > width)
			width = (int)strlen(rows[i].name);
	if (as_json) {
		begin_json();
		tt_jsonw_array(&out);
	} else {
		printf("%-*s %8s %12s %12s\n", width, "operation", "calls", "total us",
		       "longest us");
	}
	for (size_t i = 0; i < count; i++) {
		if (!as_json) {
			printf("%-*s %8llu %12.1f %12.1f\n", width, rows[i].name,
			       (unsigned long long)rows[i].calls, (double)rows[i].total_ns / 1e3,
			       (double)rows[i].longest_ns / 1e3);
			continue;
		}
		tt_jsonw_object(&out);
		tt_jsonw_key_string(&out, "name", rows[i].name);
		json_number("calls", rows[i].calls);
		json_number("total_ns", rows[i].total_ns);
		json_number("longest_ns", rows[i].longest_ns);
		tt_jsonw_end(&out);
	}
	tt_free(rows);
	if (!as_json)
		return TTNN_OK;
	tt_jsonw_end(&out);
	return end_json();
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

/* The word of an event in the memory table, or NULL. */
static const char *event_word(const struct tt_graph_node *node)
{
	if (node->type == TT_GRAPH_FUNCTION_START)
		return tt_graph_is_operation(node) ? "begin_op" : NULL;
	if (node->type == TT_GRAPH_FUNCTION_END)
		return tt_graph_is_operation(node) ? "end_op" : NULL;
	if (node->type >= TT_GRAPH_BUFFER_ALLOCATE && node->type <= TT_GRAPH_SCRATCHPAD_ALLOCATE)
		return tt_graph_type_name(node);
	return NULL;
}

static void memory_row(size_t number, const char *operation, const char *event,
		       const struct tt_memory_point *point)
{
	uint64_t buffers = point->l1 + point->dram;

	if (!as_json) {
		printf("%-5zu %24s %32s %10llu %13llu %10llu\n", number, operation, event,
		       (unsigned long long)point->program, (unsigned long long)buffers,
		       (unsigned long long)tt_memory_core(point));
		return;
	}
	tt_jsonw_object(&out);
	tt_jsonw_key_string(&out, "current_op", operation);
	tt_jsonw_key_string(&out, "event", event);
	json_number("total_cb", point->program);
	json_number("total_buffer", buffers);
	json_number("core_l1", tt_memory_core(point));
	tt_jsonw_end(&out);
}

static tt_status show_memory(const struct tt_graph *graph)
{
	const char *operations[64] = {""};
	size_t depth = 0, number = 0;
	struct tt_memory memory;

	TT_TRY(tt_memory_of(&memory, graph));
	if (as_json) {
		begin_json();
		tt_jsonw_array(&out);
	} else {
		printf("%-5s %24s %32s %10s %13s %10s\n", "", "current_op", "event", "total_cb",
		       "total_buffer", "core_l1");
	}
	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *node = &graph->nodes[i];
		const char *event = event_word(node);

		if (!event)
			continue;
		if (node->type == TT_GRAPH_FUNCTION_START && depth < 63)
			operations[++depth] = tt_graph_string(node, TT_KEY_NAME);
		memory_row(number++, operations[depth], event, &memory.points[i]);
		depth -= node->type == TT_GRAPH_FUNCTION_END && depth > 0;
	}
	tt_memory_deinit(&memory);
	if (!as_json)
		return TTNN_OK;
	tt_jsonw_end(&out);
	return end_json();
}

/* ---- the peak ------------------------------------------------------------------------------------------------ */

#define WIDTH 64

static uint64_t l1_of(const struct tt_memory_point *point)
{
	return point->l1;
}

static uint64_t dram_of(const struct tt_memory_point *point)
{
	return point->dram;
}

/* What is shown of memory, each with its peak. To add one: a row. */
enum { CORE, L1, DRAM, VIEWS };
static const struct {
	const char *name, *key; /* for people, in JSON */
	uint64_t (*value)(const struct tt_memory_point *point);
} views[VIEWS] = {
	[CORE] = {"core", "core", tt_memory_core},
	[L1] = {"L1", "l1", l1_of},
	[DRAM] = {"DRAM", "dram", dram_of},
};

static const struct tt_memory_peak *peak_of(const struct tt_memory *memory, int view)
{
	return view == CORE ? &memory->core : view == L1 ? &memory->l1 : &memory->dram;
}

/* The highest value in each of WIDTH stretches of the graph, as bars. */
static void print_chart(int view, const struct tt_graph *graph, const struct tt_memory *memory)
{
	static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	uint64_t highest = views[view].value(&memory->points[peak_of(memory, view)->node]);
	char text[32];

	printf("%-5s |", views[view].name);
	for (size_t x = 0; x < WIDTH; x++) {
		size_t from = x * graph->count / WIDTH, to = (x + 1) * graph->count / WIDTH;
		uint64_t most = 0;

		for (size_t i = from; i < to || i == from; i++)
			if (i < graph->count && views[view].value(&memory->points[i]) > most)
				most = views[view].value(&memory->points[i]);
		printf("%s", bars[highest ? (size_t)ceil(8 * (double)most / (double)highest) : 0]);
	}
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
	if (*memory->core.operation)
		printf(", in %s", memory->core.operation);
}

static void print_peak(int view, const struct tt_memory *memory)
{
	const struct tt_memory_peak *top = peak_of(memory, view);
	const struct tt_memory_point *point = &memory->points[top->node];
	char text[32];

	printf("\n%s peak: %s", view == CORE ? "Core" : views[view].name,
	       bytes_text(text, views[view].value(point)));
	if (view == CORE)
		print_core(memory, point);
	printf("\n");
	for (size_t i = 0; i < top->holders.count && i < 10; i++) {
		const struct tt_memory_holder *holder = &top->holders.data[i];

		printf("  %10s  %-34s %s\n",
		       bytes_text(text, view == CORE ? holder->bank_size : holder->size),
		       holder->shape, *holder->maker ? holder->maker : "(there before)");
	}
	if (top->holders.count > 10)
		printf("  and %zu more\n", top->holders.count - 10);
}

static void json_peak(int view, const struct tt_memory *memory)
{
	const struct tt_memory_peak *top = peak_of(memory, view);
	const struct tt_memory_point *point = &memory->points[top->node];

	tt_jsonw_key(&out, views[view].key);
	tt_jsonw_object(&out);
	json_number("node", top->node);
	tt_jsonw_key_string(&out, "operation", top->operation);
	json_number("bytes", views[view].value(point));
	if (view == CORE) {
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

static tt_status show_peak(const struct tt_graph *graph)
{
	struct tt_memory memory;
	tt_status status = TTNN_OK;

	TT_TRY(tt_memory_of(&memory, graph));
	if (as_json) {
		begin_json();
		tt_jsonw_object(&out);
		for (int view = 0; view < VIEWS; view++)
			json_peak(view, &memory);
		json_number("unknown_shares", memory.shareless);
		tt_jsonw_end(&out);
		status = end_json();
	} else {
		for (int view = 0; view < VIEWS; view++)
			print_chart(view, graph, &memory);
		for (int view = 0; view < VIEWS; view++)
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

static tt_status show_tree(const struct tt_graph *graph)
{
	struct tt_str text = {0};
	tt_status status;

	if (as_json) {
		begin_json();
		tt_graph_write(&out, graph);
		return end_json();
	}
	status = tt_query_pretty(&text, graph);
	if (status == TTNN_OK)
		fputs(tt_str_text(&text), stdout);
	tt_str_deinit(&text);
	return status;
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
static tt_status show_counts(const struct tt_graph *graph)
{
	size_t counts[TT_GRAPH_OTHER + 1] = {0};

	for (size_t i = 0; i < graph->count; i++)
		counts[graph->nodes[i].type]++;
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

static tt_status show_info(const char *path)
{
	const struct tt_trace_info *about;
	struct tt_source *source;

	TT_TRY(tt_source_open(&source, path));
	about = tt_source_info(source);
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
		tt_jsonw_end(&out);
		tt_source_close(source);
		return end_json();
	}
	printf("%s\n", about->arguments && *about->arguments ? about->arguments : about->program);
	printf("%llu operations, %llu events, %u threads, %.3f ms, %llu bytes%s%s\n",
	       (unsigned long long)about->operations, (unsigned long long)about->events,
	       about->threads, (double)about->duration_ns / 1e6,
	       (unsigned long long)about->file_bytes, about->complete ? "" : ", not complete",
	       about->lost ? ", records lost" : "");
	tt_source_close(source);
	return TTNN_OK;
}

static tt_status show(const char *path)
{
	struct tt_project_options how = {.dialect = chosen_dialect(), .call_arguments = levels > 0};
	struct tt_graph graph;
	tt_status status;

	if (info && tt_is_trace(path))
		return show_info(path);
	TT_TRY(tt_graph_open_as(&graph, path, &how));
	if (info)
		status = show_counts(&graph);
	else if (tree)
		status = show_tree(&graph);
	else if (memory_rows)
		status = show_memory(&graph);
	else if (peak)
		status = show_peak(&graph);
	else if (levels)
		status = show_levels(&graph);
	else
		status = show_operations(&graph);
	tt_graph_deinit(&graph);
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
	if (status != TTNN_OK) {
		tt_str_deinit(&out_text);
		return status;
	}
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
	.operands = "TRACE|GRAPH.json|REPORT.json|DIR...",
	.least = 1,
	.most = TT_CMD_ANY,
	.options = options,
	.exclusive = "tree|memory|peak|levels|info",
	.more = "Without an option: the operations by time. Of several files, and of the traces and reports of a\n"
		"folder: one after the other.\n",
	.run = run,
};
