/*
 * ttnn export: a trace or a graph in a form that other tools read.
 *
 * To add a format: a row in the table below with the function that writes it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "report/svg.h"
#include "trace/params.h"
#include "trace/query.h"
#include "trace/session.h"
#include "trace/source.h"

static const char *path;
static int dialect = -1;
static int64_t levels;
static bool no_fold, pages;

static const struct tt_opt options[] = {
	{"output", 'o', TT_OPT_STRING, &path, "FILE", "write here, not to standard output"},
	{"dialect", 0, TT_OPT_CHOICE, &dialect, "seed|tt-metal", "how a trace becomes a graph"},
	{"levels", 0, TT_OPT_COUNT, &levels, "N", "pictures: calls down to this level"},
	{"no-fold", 0, TT_OPT_FLAG, &no_fold, NULL,
	 "pictures: repeated layers as often as they are"},
	{"pages", 0, TT_OPT_FLAG, &pages, NULL,
	 "report: also the pages of buffers, and the buffers of each operation"},
	{0},
};

/* ---- formats ---------------------------------------------------------------------------------------------- */

static tt_status open_graph(struct tt_graph *graph, const char *from)
{
	return tt_graph_open(graph, from,
			     dialect < 0 ? tt_dialect_default() : (enum ttnn_dialect)dialect);
}

static tt_status write_graph(struct tt_str *out, const char *from)
{
	struct tt_graph graph;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(open_graph(&graph, from));
	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.indent = 2, .utf8 = true});
	tt_graph_write(&w, &graph);
	status = tt_jsonw_finish(&w);
	tt_str_addc(out, '\n');
	tt_graph_deinit(&graph);
	return status;
}

static tt_status write_dot(struct tt_str *out, const char *from)
{
	struct tt_graph graph;
	tt_status status;

	TT_TRY(open_graph(&graph, from));
	status = tt_query_dot(out, &graph);
	tt_graph_deinit(&graph);
	return status;
}

/* "ttnn::add;ttnn::prim::binary 1234": calls and the time they took by themselves. */
static tt_status add_stacks(struct tt_str *out, const struct tt_graph *graph)
{
	struct {
		const char *name;
		uint64_t inner;
	} open[256];
	size_t depth = 0;

	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *node = &graph->nodes[i];
		uint64_t own;

		if (node->type == TT_GRAPH_FUNCTION_START && depth < 256) {
			open[depth].name = tt_graph_string(node, TT_KEY_NAME);
			open[depth++].inner = 0;
		}
		if (node->type != TT_GRAPH_FUNCTION_END || !depth)
			continue;
		own = node->duration > open[depth - 1].inner
			      ? node->duration - open[depth - 1].inner
			      : 0;
		for (size_t k = 0; k < depth; k++)
			tt_str_addf(out, "%s%s", k ? ";" : "", open[k].name);
		tt_str_addf(out, " %llu\n", (unsigned long long)own);
		if (--depth)
			open[depth - 1].inner += node->duration;
	}
	return tt_str_status(out);
}

static tt_status write_flame(struct tt_str *out, const char *from)
{
	struct tt_graph graph;
	tt_status status;

	TT_TRY(open_graph(&graph, from));
	status = add_stacks(out, &graph);
	tt_graph_deinit(&graph);
	return status;
}

/* One file for each call, into the directory of --output. */
static tt_status write_params(struct tt_str *out, const char *from)
{
	const struct tt_params_style *style =
		tt_params_style(dialect == TTNN_DIALECT_TT_METAL ? "tt-metal" : "seed");
	const char *directory = path ? path : style->directory;
	struct tt_source *source;
	uint64_t count;
	tt_status status;

	TT_TRY(tt_source_open(&source, from));
	status = tt_params_export(&count, source, directory, style);
	tt_source_close(source);
	if (status == TTNN_OK)
		tt_str_addf(out, "%s: %" PRIu64 " files\n", directory, count);
	return status;
}

static tt_status write_picture(struct tt_str *out, const char *from, bool flow)
{
	struct tt_diagram_options picture = {
		.flow = flow, .levels = levels > 0 ? (uint32_t)levels : 0, .no_fold = no_fold};
	const char *slash = strrchr(from, '/');
	struct tt_graph graph;
	tt_status status;

	TT_TRY(open_graph(&graph, from));
	status = tt_svg_text(out, &graph, slash ? slash + 1 : from, &picture);
	tt_graph_deinit(&graph);
	return status;
}

static tt_status write_svg(struct tt_str *out, const char *from)
{
	return write_picture(out, from, false);
}

static tt_status write_flow(struct tt_str *out, const char *from)
{
	return write_picture(out, from, true);
}

static void write_stdout(void *context, const void *data, size_t size)
{
	(void)context;
	fwrite(data, 1, size, stdout);
}

/* A report is not kept as text: it goes where it belongs as it is made. */
static tt_status write_report(struct tt_str *out, const char *from)
{
	struct tt_project_options how = {.dialect = dialect < 0 ? tt_dialect_default()
								: (enum ttnn_dialect)dialect};
	struct tt_jsonw_style style = {.indent = 2, .utf8 = true};
	struct tt_file_out *file = NULL;
	struct tt_source *source;
	struct tt_jsonw w;
	tt_status status;

	(void)out;
	TT_TRY(tt_source_open(&source, from));
	status = path ? tt_file_create(&file, path) : TTNN_OK;
	if (file)
		tt_jsonw_init_file(&w, file, style);
	else
		tt_jsonw_init(&w, write_stdout, NULL, style);
	if (status == TTNN_OK)
		status = tt_report_from_source(&w, source, &how, pages);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	tt_source_close(source);
	if (status == TTNN_OK && file)
		return tt_file_commit(file);
	tt_file_discard(file);
	return status;
}

/* To add a format: a row. Text goes to *out; one that writes files by itself leaves it empty. */
static const struct {
	const char *name, *help;
	tt_status (*write)(struct tt_str *out, const char *from);
	bool files; /* writes them itself; the text is a word about that */
} formats[] = {
	{"graph", "the nodes as JSON, as end_graph_capture() gives them", write_graph, false},
	{"report", "a trace as end_graph_capture_to_file() writes it", write_report, true},
	{"svg", "a picture of all calls and the memory they took", write_svg, false},
	{"flow", "a picture of operations and the tensors between them: SVG", write_flow, false},
	{"dot", "Graphviz: a cluster for each function", write_dot, false},
	{"flame", "folded stacks with nanoseconds, for flame graphs", write_flame, false},
	{"params", "one JSON file for each operation, into the directory of -o", write_params,
	 true},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static tt_status export(const char *name, const char *from)
{
	struct tt_str text = {0};
	tt_status status;
	size_t i = 0;

	while (i < FORMATS && strcmp(formats[i].name, name) != 0)
		i++;
	if (i == FORMATS)
		return tt_fail(TTNN_INVALID, "there is no format %s; see ttnn export -h", name);
	status = formats[i].write(&text, from);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	if (status == TTNN_OK && path && !formats[i].files)
		status = tt_file_save(path, tt_str_text(&text), text.length);
	else if (status == TTNN_OK)
		fwrite(tt_str_text(&text), 1, text.length, stdout);
	tt_str_deinit(&text);
	return status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)cmd;
	(void)count;
	return export(operands[0], operands[1]) == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

const struct tt_cmd cli_export = {
	.name = "export",
	.help = "write a trace or graph in a form that others read",
	.operands = "FORMAT TRACE|GRAPH.json|REPORT.json",
	.least = 2,
	.most = 2,
	.options = options,
	.more = "Formats: graph and report (JSON), svg (calls), flow (operations and tensors, SVG), dot (Graphviz),\n"
		"flame (folded stacks), params (a file per operation; -o is their directory).\n",
	.run = run,
};
