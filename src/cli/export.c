/*
 * ttnn export: a trace or a graph in a form that other tools read.
 *
 * To add a format: a row in the table below with the function that writes it and the options it takes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/stop.h"
#include "cli/window.h"
#include "profile/ops_report.h"
#include "profile/timeline.h"
#include "report/svg.h"
#include "trace/calls.h"
#include "trace/params.h"
#include "trace/query.h"

static const char *output;
static int dialect = -1;
static int64_t levels;
static int tracy_version = -1;
static bool no_fold, pages, cores;

static const struct tt_opt options[] = {
	{"output", 'o', TT_OPT_STRING, &output, "OUT",
	 "write to this file, not to standard output; of several inputs: to a folder"},
	{"dialect", 0, TT_OPT_CHOICE, &dialect, "seed|tt-metal", "how a trace becomes a graph"},
	CLI_WINDOW_OPTIONS,
	{"levels", 0, TT_OPT_POSITIVE, &levels, "N",
	 "pictures, timelines: calls down to this level"},
	{"no-fold", 0, TT_OPT_FLAG, &no_fold, NULL,
	 "pictures: repeated layers as often as they are"},
	{"pages", 0, TT_OPT_FLAG, &pages, NULL,
	 "report: also the pages of buffers, and the buffers of each operation"},
	{"cores", 0, TT_OPT_FLAG, &cores, NULL, "timelines: also a track for each core of a chip"},
	{"tracy-version", 0, TT_OPT_CHOICE, &tracy_version, "0.11.0|0.10",
	 "tracy: of which version the file is"},
	{0},
};

/* ---- formats ---------------------------------------------------------------------------------------------- */

/* One input and where it goes. */
struct job {
	const struct cli_input *input;
	const struct cli_inputs *all; /* of formats that take them together */
	const char *to;               /* a file, or a folder of them; NULL: standard output */
	const char *root;             /* stands above all stacks; NULL: nothing does */
};

static tt_status open_graph(struct tt_graph *graph, const char *from)
{
	struct tt_project_options how = {.dialect = cli_dialect(dialect), .most = TT_PROJECT_MOST};
	struct tt_input input;
	tt_status status;

	TT_TRY(cli_window_open(&input, from));
	status = tt_input_graph(graph, &input, &how);
	tt_input_close(&input);
	return status;
}

/* JSON is not kept as text: it goes where it belongs as it is made. */
struct json_out {
	struct tt_jsonw w;
	struct tt_file_out *file; /* NULL: standard output */
};

static tt_status begin_json(struct json_out *out, const struct job *job)
{
	struct tt_jsonw_style style = {.indent = 2, .utf8 = true};

	out->file = NULL;
	if (job->to)
		TT_TRY(tt_file_create(&out->file, job->to));
	if (out->file)
		tt_jsonw_init_file(&out->w, out->file, style);
	else
		tt_jsonw_init(&out->w, cli_write_stdout, NULL, style);
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

/* A bar is for files: what is printed shows by itself how far it is. */
static const char *bar(const struct job *job)
{
	return job->to || !isatty(STDOUT_FILENO) ? "exporting" : NULL;
}

static tt_status write_graph(struct tt_str *out, const struct job *job)
{
	struct tt_project_options how = {.dialect = cli_dialect(dialect), .label = bar(job)};
	struct tt_stream *stream;
	struct tt_input input;
	struct json_out json;
	tt_status status;

	(void)out;
	TT_TRY(cli_window_open(&input, job->input->path));
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

static tt_status write_dot(struct tt_str *out, const struct job *job)
{
	struct tt_graph graph;
	tt_status status;

	TT_TRY(open_graph(&graph, job->input->path));
	status = tt_query_dot(out, &graph);
	tt_graph_deinit(&graph);
	return status;
}

static tt_status write_flame(struct tt_str *out, const struct job *job)
{
	struct tt_input input;
	tt_status status;

	TT_TRY(cli_window_open(&input, job->input->path));
	status = tt_calls_fold(out, &input, cli_dialect(dialect), job->root);
	tt_input_close(&input);
	return status;
}

/* One file for each call, into the directory of --output. */
static tt_status write_params(struct tt_str *out, const struct job *job)
{
	const struct tt_params_style *style =
		tt_params_style(dialect == TTNN_DIALECT_TT_METAL ? "tt-metal" : "seed");
	const char *directory = job->to ? job->to : style->directory;
	struct tt_source *source;
	uint64_t count;
	tt_status status;

	TT_TRY(tt_source_open(&source, job->input->path));
	status = cli_window(source);
	if (status == TTNN_OK)
		status = tt_params_export(&count, source, directory, style);
	tt_source_close(source);
	if (status == TTNN_OK)
		tt_str_addf(out, "%s: %" PRIu64 " files\n", directory, count);
	return status;
}

static tt_status write_picture(struct tt_str *out, const struct job *job, bool flow)
{
	struct tt_diagram_options picture = {
		.flow = flow, .levels = levels > 0 ? (uint32_t)levels : 0, .no_fold = no_fold};
	const char *from = job->input->path, *slash = strrchr(from, '/');
	struct tt_graph graph;
	tt_status status;

	TT_TRY(open_graph(&graph, job->input->path));
	status = tt_svg_text(out, &graph, slash ? slash + 1 : from, &picture);
	tt_graph_deinit(&graph);
	return status;
}

static tt_status write_svg(struct tt_str *out, const struct job *job)
{
	return write_picture(out, job, false);
}

static tt_status write_flow(struct tt_str *out, const struct job *job)
{
	return write_picture(out, job, true);
}

/* Of a trace all that it tells; of a graph the graph. */
static tt_status report_of(struct tt_jsonw *w, const struct job *job)
{
	struct tt_project_options how = {
		.dialect = cli_dialect(dialect), .label = bar(job), .rounds = pages ? 3 : 1};
	const char *from = job->input->path;
	struct tt_stream *stream;
	struct tt_input input;
	tt_status status;

	TT_TRY(cli_window_open(&input, from));
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

/* A report again would lose what its graph does not tell. */
static tt_status refuse_report(const char *from)
{
	enum cli_json kind = CLI_JSON_OTHER;
	struct stat facts;

	if (!tt_is_trace(from) && stat(from, &facts) == 0 && S_ISREG(facts.st_mode))
		TT_TRY(cli_json_kind(&kind, from));
	if (kind != CLI_JSON_REPORT)
		return TTNN_OK;
	return tt_fail(TTNN_INVALID, "%s is a report already", from);
}

static tt_status write_report(struct tt_str *out, const struct job *job)
{
	struct json_out json;

	(void)out;
	TT_TRY(refuse_report(job->input->path));
	TT_TRY(begin_json(&json, job));
	return end_json(&json, report_of(&json.w, job), "");
}

/* ---- performance reports ------------------------------------------------------------------------------- */

/* Whoever writes them: tt_ops_csv() or tt_ops_folder(). */
typedef tt_status write_ops_fn(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			       size_t count, const struct tt_ops_options *options, const char *to);

/* What a reader of the report should know. */
static void warn_of(const struct tt_ops_totals *totals)
{
	if (totals->lost)
		fprintf(stderr,
			"ttnn: %" PRIu64
			" records were lost while recording: some operations are missing.\n",
			totals->lost);
	if (totals->damaged)
		fprintf(stderr,
			"ttnn: %" PRIu64
			" of the traces are not complete: they were read as far as they go.\n",
			totals->damaged);
}

static tt_status write_ops(const struct job *job, write_ops_fn *write, const char *to)
{
	struct tt_ops_input *inputs = tt_calloc(job->all->count + 1, sizeof(*inputs));
	struct tt_ops_options how = {.dialect = cli_dialect(dialect), .label = bar(job)};
	struct tt_ops_totals totals = {0};
	struct tt_source_window window;
	tt_status status = TTNN_OK;
	bool part = false;

	if (!inputs)
		return tt_fail_nomem();
	for (size_t i = 0; status == TTNN_OK && i < job->all->count; i++) {
		inputs[i].path = job->all->data[i].path;
		if (!tt_is_trace(inputs[i].path))
			status = tt_fail(
				TTNN_INVALID,
				"%s is no trace: performance reports are made of traces alone",
				inputs[i].path);
	}
	if (status == TTNN_OK)
		status = cli_window_make(&window, &part);
	if (part)
		how.window = &window;
	cli_open_many();
	if (status == TTNN_OK)
		status = write(&totals, inputs, job->all->count, &how, to);
	if (status == TTNN_OK)
		warn_of(&totals);
	tt_free(inputs);
	return status;
}

static tt_status write_csv(struct tt_str *out, const struct job *job)
{
	(void)out;
	return write_ops(job, tt_ops_csv, job->to);
}

static tt_status write_performance(struct tt_str *out, const struct job *job)
{
	(void)out;
	if (!job->to)
		return tt_fail(TTNN_INVALID, "A performance report is a folder: name it with -o.");
	return write_ops(job, tt_ops_folder, job->to);
}

/* ---- timelines ------------------------------------------------------------------------------------------ */

static tt_status write_timeline(const struct job *job, const struct tt_timeline_format *format)
{
	struct tt_timeline_options how = {.label = bar(job),
					  .levels = levels > 0 ? (uint32_t)levels : 0,
					  .cores = cores,
					  .old = tracy_version == 1};
	const char **paths = tt_calloc(job->all->count + 1, sizeof(*paths));
	struct tt_timeline_totals totals = {0};
	struct tt_source_window window;
	tt_status status = TTNN_OK;
	bool part = false;

	if (!paths)
		return tt_fail_nomem();
	for (size_t i = 0; status == TTNN_OK && i < job->all->count; i++) {
		paths[i] = job->all->data[i].path;
		if (!tt_is_trace(paths[i]))
			status = tt_fail(TTNN_INVALID,
					 "%s is no trace: timelines are made of traces alone",
					 paths[i]);
	}
	if (status == TTNN_OK)
		status = cli_window_make(&window, &part);
	if (part)
		how.window = &window;
	if (status == TTNN_OK)
		status = tt_timeline_write(
			&totals, &(struct tt_timeline_paths){paths, job->all->count, job->to},
			format, &how);
	if (status == TTNN_OK)
		warn_of(&(struct tt_ops_totals){.lost = totals.lost, .damaged = totals.damaged});
	tt_free(paths);
	return status;
}

static tt_status write_chrome(struct tt_str *out, const struct job *job)
{
	(void)out;
	return write_timeline(job, &tt_timeline_chrome);
}

static tt_status write_perfetto(struct tt_str *out, const struct job *job)
{
	(void)out;
	return write_timeline(job, &tt_timeline_perfetto);
}

static tt_status write_tracy(struct tt_str *out, const struct job *job)
{
	(void)out;
	return write_timeline(job, &tt_timeline_tracy);
}

/* What becomes of several inputs. */
enum several {
	EACH,     /* a file each, in the folder of -o */
	FOLDERS,  /* a folder each, in that of -o */
	MERGED,   /* one text; the inputs are its roots */
	TOGETHER, /* one file of all of them */
};

/* The options that not every format takes. */
enum special { LEVELS = 1, NO_FOLD = 2, PAGES = 4, CORES = 8, VERSION = 16 };

/* To add a format: a row. Text goes to *out; one that writes files by itself leaves it empty. */
static const struct format {
	const char *name, *help;
	tt_status (*write)(struct tt_str *out, const struct job *job);
	bool files; /* writes them itself; the text is a word about that */
	enum several several;
	const char *ending; /* of a file beside others */
	unsigned takes;     /* options of `special` */
} formats[] = {
	{"graph", "the nodes as JSON, as end_graph_capture() gives them", write_graph, true, EACH,
	 ".graph.json", 0},
	{"report", "a trace or a graph as end_graph_capture_to_file() writes it", write_report,
	 true, EACH, ".report.json", PAGES},
	{"svg", "a picture of all calls and the memory they took", write_svg, false, EACH, ".svg",
	 LEVELS | NO_FOLD},
	{"flow", "a picture of operations and the tensors between them: SVG", write_flow, false,
	 EACH, ".flow.svg", LEVELS | NO_FOLD},
	{"dot", "Graphviz: a cluster for each function", write_dot, false, EACH, ".dot", 0},
	{"flame", "folded stacks with nanoseconds, for flame graphs", write_flame, false, MERGED,
	 NULL, 0},
	{"params", "one JSON file for each operation, into the directory of -o", write_params, true,
	 FOLDERS, "", 0},
	{"csv", "a line for each operation with its times, as profilers write it", write_csv, true,
	 TOGETHER, ".csv", 0},
	{"performance", "a folder that ttnn-visualizer opens: the same with its logs",
	 write_performance, true, TOGETHER, "", 0},
	{"tracy", "a timeline for Tracy's viewer", write_tracy, true, TOGETHER, ".tracy",
	 LEVELS | CORES | VERSION},
	{"perfetto", "a timeline for Perfetto's page", write_perfetto, true, TOGETHER,
	 ".perfetto-trace", LEVELS | CORES},
	{"chrome", "a timeline as Chrome's trace events: JSON", write_chrome, true, TOGETHER,
	 ".trace.json", LEVELS | CORES},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* The formats that take this option, as "svg, flow". */
static void add_takers(struct tt_str *out, enum special option)
{
	const char *before = "";

	for (size_t i = 0; i < FORMATS; i++) {
		if (!(formats[i].takes & option))
			continue;
		tt_str_addf(out, "%s%s", before, formats[i].name);
		before = ", ";
	}
}

/* An option that would change nothing is a mistake. */
static tt_status check_options(const struct format *format)
{
	const struct {
		const char *name;
		enum special option;
		bool given;
	} rows[] = {{"levels", LEVELS, levels > 0},
		    {"no-fold", NO_FOLD, no_fold},
		    {"pages", PAGES, pages},
		    {"cores", CORES, cores},
		    {"tracy-version", VERSION, tracy_version >= 0}};
	struct tt_str takers = {0};
	tt_status status = TTNN_OK;

	for (size_t i = 0; status == TTNN_OK && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].given || (format->takes & rows[i].option))
			continue;
		add_takers(&takers, rows[i].option);
		status = tt_fail(TTNN_INVALID, "--%s is an option of %s, not of %s", rows[i].name,
				 tt_str_text(&takers), format->name);
	}
	tt_str_deinit(&takers);
	return status;
}

/* ---- one input ---------------------------------------------------------------------------------------------- */

static tt_status deliver(const struct format *format, const struct tt_str *text, const char *to)
{
	TT_TRY(tt_str_status(text));
	if (to && !format->files)
		return tt_file_save(to, tt_str_text(text), text->length);
	fwrite(tt_str_text(text), 1, text->length, stdout);
	return TTNN_OK;
}

static tt_status export_one(const struct format *format, const struct job *job)
{
	struct tt_str text = {0};
	tt_status status = format->write(&text, job);

	if (status == TTNN_OK)
		status = deliver(format, &text, job->to);
	tt_str_deinit(&text);
	return status;
}

/* ---- several inputs ------------------------------------------------------------------------------------------ */

static bool is_folder(const char *path)
{
	struct stat facts;

	return path && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Whether -o has the ending of a file of this format. */
static bool names_file(const struct format *format)
{
	const char *ending = strrchr(format->ending, '.'),
		   *dot = output ? strrchr(output, '.') : NULL;

	return ending && dot && strcmp(dot, ending) == 0 && !is_folder(output);
}

/* Two files of one name would become one. */
static tt_status check_names(const struct cli_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(inputs->data[i].name, inputs->data[k].name) == 0)
				return tt_fail(
					TTNN_INVALID,
					"%s and %s have the same name; export them one by one",
					inputs->data[k].path, inputs->data[i].path);
	return TTNN_OK;
}

/* The process is the lowest frame of its stacks. */
static tt_status export_merged(const struct format *format, const struct cli_inputs *inputs)
{
	struct tt_str text = {0};
	tt_status status = TTNN_OK;

	for (size_t i = 0; status == TTNN_OK && i < inputs->count; i++) {
		char *name = inputs->data[i].name;

		for (char *at = strchr(name, ';'); at; at = strchr(at, ';'))
			*at = ':'; /* a semicolon ends a frame */
		status = format->write(
			&text,
			&(struct job){.input = &inputs->data[i], .to = output, .root = name});
	}
	if (status == TTNN_OK)
		status = deliver(format, &text, output);
	tt_str_deinit(&text);
	return status;
}

/* "OUT/network-17.svg" each. */
static tt_status export_each(const struct format *format, const struct cli_inputs *inputs)
{
	struct tt_str to = {0};
	tt_status status;

	if (!output)
		return tt_fail(TTNN_INVALID,
			       "%zu inputs are written apart: name the folder for them with -o",
			       inputs->count);
	if (names_file(format))
		return tt_fail(TTNN_INVALID,
			       "-o %s names one file, but there are %zu inputs: name a folder for "
			       "what becomes of them",
			       output, inputs->count);
	status = tt_file_make_dirs(output);
	for (size_t i = 0; status == TTNN_OK && i < inputs->count; i++) {
		tt_str_clear(&to);
		tt_str_addf(&to, "%s/%s%s", output, inputs->data[i].name, format->ending);
		status = tt_str_status(&to);
		if (status == TTNN_OK)
			status = export_one(format, &(struct job){.input = &inputs->data[i],
								  .to = tt_str_text(&to)});
	}
	tt_str_deinit(&to);
	return status;
}

static tt_status export_all(const struct format *format, const struct cli_inputs *inputs)
{
	bool alone = inputs->count == 1 && (!inputs->several || !output || names_file(format));

	if (format->several == TOGETHER)
		return export_one(
			format,
			&(struct job){.input = &inputs->data[0], .all = inputs, .to = output});
	if (format->several == MERGED && inputs->several) {
		TT_TRY(check_names(inputs));
		return export_merged(format, inputs);
	}
	if (format->several == MERGED || (alone && !(format->several == EACH && is_folder(output))))
		return export_one(format, &(struct job){.input = &inputs->data[0], .to = output});
	TT_TRY(check_names(inputs));
	return export_each(format, inputs);
}

static tt_status export(const char *name, size_t count, char **operands)
{
	struct cli_inputs inputs = {0};
	tt_status status;
	size_t i = 0;

	while (i < FORMATS && strcmp(formats[i].name, name) != 0)
		i++;
	if (i == FORMATS)
		return tt_fail(TTNN_INVALID, "there is no format %s; see ttnn export -h", name);
	TT_TRY(check_options(&formats[i]));
	status = cli_inputs_list(&inputs, count, operands);
	if (status == TTNN_OK)
		status = export_all(&formats[i], &inputs);
	cli_inputs_deinit(&inputs);
	return status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)cmd;
	cli_stop_watch();
	return export(operands[0], count - 1, operands + 1) == TTNN_OK ? TT_EXIT_DONE
								       : cli_stop_fail();
}

const struct tt_cmd cli_export = {
	.name = "export",
	.help = "write traces or graphs in a form that others read",
	.operands = "FORMAT TRACE|GRAPH.json|REPORT.json|DIR...",
	.least = 2,
	.most = TT_CMD_ANY,
	.options = options,
	.more = "Formats: graph and report (JSON), svg (calls), flow (operations and tensors, SVG), dot (Graphviz),\n"
		"flame (folded stacks), params (a file per operation; -o is their directory), csv (a line per\n"
		"operation, as profilers write it), performance (a folder for viewers of those), tracy, perfetto and\n"
		"chrome (timelines). DIR is a folder of traces and reports. Several inputs become a file each in the\n"
		"folder OUT, of params a folder each, of flame one text, of csv and performance one report, of\n"
		"timelines one file.\n",
	.run = run,
};
