/* trace_exporters.c: the forms that are made of nodes and calls alone: JSON, Graphviz, stacks, parameter files. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/jsonw.h"
#include "base/vec.h"
#include "trace/calls.h"
#include "trace/exporter.h"
#include "trace/graph_report.h"
#include "trace/params.h"
#include "trace/query.h"

tt_status tt_export_open(struct tt_input *out, const struct tt_export_job *job)
{
	return tt_input_open_part(out, job->paths[0], job->options->window);
}

tt_status tt_export_graph(struct tt_graph *out, const struct tt_export_job *job)
{
	struct tt_project_options how = {.dialect = job->options->dialect, .most = TT_PROJECT_MOST};
	struct tt_input input;
	tt_status status;

	TT_TRY(tt_export_open(&input, job));
	status = tt_input_graph(out, &input, &how);
	tt_input_close(&input);
	return status;
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

/* It is not kept as text: it goes where it belongs as it is made. */
struct json_out {
	struct tt_jsonw w;
	struct tt_file_out *file; /* NULL: it is printed */
};

static tt_status begin_json(struct json_out *out, const struct tt_export_job *job)
{
	struct tt_jsonw_style style = {.indent = 2, .utf8 = true};

	out->file = NULL;
	if (job->to)
		TT_TRY(tt_file_create(&out->file, job->to));
	if (out->file)
		tt_jsonw_init_file(&out->w, out->file, style);
	else
		tt_jsonw_init(&out->w, job->print, NULL, style);
	return TTNN_OK;
}

/* `status` is how writing went; what did not go well leaves no file. `behind` follows the JSON. */
static tt_status end_json(struct json_out *out, tt_status status, const char *behind)
{
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&out->w);
	if (status == TTNN_OK)
		out->w.write(out->w.context, behind, strlen(behind));
	if (status == TTNN_OK && out->file)
		return tt_file_commit(out->file);
	tt_file_discard(out->file);
	return status;
}

static tt_status write_graph(struct tt_str *out, struct tt_export_job *job)
{
	struct tt_project_options how = {.dialect = job->options->dialect,
					 .label = job->options->label};
	struct tt_stream *stream;
	struct tt_input input;
	struct json_out json;
	tt_status status;

	(void)out;
	TT_TRY(tt_export_open(&input, job));
	status = tt_input_stream(&stream, &input, &how);
	if (status == TTNN_OK) {
		status = begin_json(&json, job);
		if (status == TTNN_OK)
			status = end_json(&json, tt_stream_write(&json.w, stream), "\n");
		tt_stream_close(stream);
	}
	tt_input_close(&input);
	return status;
}

/* Of a trace all that it tells; of a graph the graph. */
static tt_status report_of(struct tt_jsonw *w, const struct tt_export_job *job)
{
	bool pages = job->options->pages;
	struct tt_project_options how = {.dialect = job->options->dialect,
					 .label = job->options->label,
					 .rounds = pages ? 3 : 1,
					 .stacks = true};
	struct tt_stream *stream;
	struct tt_input input;
	tt_status status;

	TT_TRY(tt_export_open(&input, job));
	if (input.source) {
		status = tt_graph_report_from_source(w, input.source, &how, pages);
	} else {
		status = tt_input_stream(&stream, &input, &how);
		if (status == TTNN_OK) {
			status = tt_graph_report_from_nodes(w, stream);
			tt_stream_close(stream);
		}
	}
	tt_input_close(&input);
	return status;
}

static tt_status write_report(struct tt_str *out, struct tt_export_job *job)
{
	struct json_out json;

	(void)out;
	TT_TRY(begin_json(&json, job));
	return end_json(&json, report_of(&json.w, job), "");
}

/* ---- texts and files ------------------------------------------------------------------------------ */

static tt_status write_dot(struct tt_str *out, struct tt_export_job *job)
{
	struct tt_graph graph;
	tt_status status;

	TT_TRY(tt_export_graph(&graph, job));
	status = tt_query_dot(out, &graph);
	tt_graph_deinit(&graph);
	return status;
}

static tt_status write_flame(struct tt_str *out, struct tt_export_job *job)
{
	struct tt_input input;
	tt_status status;

	TT_TRY(tt_export_open(&input, job));
	status = tt_calls_fold(out, &input, job->options->dialect, job->root);
	tt_input_close(&input);
	return status;
}

/* One file for each call, into the directory. */
static tt_status write_params(struct tt_str *out, struct tt_export_job *job)
{
	const struct tt_params_style *style = tt_params_style(job->options->params_style);
	const char *directory = job->to ? job->to : style->directory;
	struct tt_source *source;
	tt_status status = TTNN_OK;
	uint64_t count;

	TT_TRY(tt_source_open(&source, job->paths[0]));
	if (job->options->window)
		status = tt_source_window(source, job->options->window);
	if (status == TTNN_OK)
		status = tt_params_export(&count, source, directory, style);
	tt_source_close(source);
	if (status == TTNN_OK)
		tt_str_addf(out, "%s: %" PRIu64 " files\n", directory, count);
	return status;
}

/* ---- the table ------------------------------------------------------------------------------------- */

static const struct tt_exporter rows[] = {
	{.name = "graph",
	 .help = "the nodes as JSON, as end_graph_capture() gives them",
	 .write = write_graph,
	 .files = true,
	 .ending = ".graph.json"},
	{.name = "report",
	 .help = "a trace or a graph as end_graph_capture_to_file() writes it",
	 .write = write_report,
	 .files = true,
	 .ending = ".report.json",
	 .takes = TT_EXPORT_PAGES,
	 .no_report = true},
	{.name = "dot",
	 .help = "Graphviz: a cluster for each function",
	 .write = write_dot,
	 .ending = ".dot"},
	{.name = "flame",
	 .help = "folded stacks with nanoseconds, for flame graphs",
	 .write = write_flame,
	 .several = TT_EXPORT_MERGED},
	{.name = "params",
	 .help = "one JSON file for each operation, into the directory of -o",
	 .write = write_params,
	 .files = true,
	 .several = TT_EXPORT_FOLDERS,
	 .ending = ""},
};
const struct tt_exporters tt_trace_exporters = {rows, TT_COUNT(rows)};
