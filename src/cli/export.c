/*
 * ttnn export: a trace or a graph in a form that other tools read.
 *
 * Formats are rows of the layers that write them (trace/exporter.h); here is what options and inputs mean for all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/stop.h"
#include "cli/window.h"
#include "profile/ops_report.h"
#include "report/svg.h"

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

/* To add a format: a row in one of these. To add a table: its name. */
static const struct tt_exporters *const tables[] = {&tt_trace_exporters, &tt_picture_exporters,
						    &tt_profile_exporters};

static struct tt_export_options how;

/* What a reader of the result should know. */
static void warn_of(const struct tt_export_job *job)
{
	if (job->lost)
		fprintf(stderr,
			"ttnn: %" PRIu64
			" records were lost while recording: some operations are missing.\n",
			job->lost);
	if (job->damaged)
		fprintf(stderr,
			"ttnn: %" PRIu64
			" of the traces are not complete: they were read as far as they go.\n",
			job->damaged);
}

/* The formats that take this option, as "svg, flow". */
static void add_takers(struct tt_str *out, unsigned option)
{
	const char *before = "";

	for (size_t t = 0; t < TT_COUNT(tables); t++)
		for (size_t i = 0; i < tables[t]->count; i++) {
			if (!(tables[t]->rows[i].takes & option))
				continue;
			tt_str_addf(out, "%s%s", before, tables[t]->rows[i].name);
			before = ", ";
		}
}

/* An option that would change nothing is a mistake. */
static tt_status check_options(const struct tt_exporter *format)
{
	const struct {
		const char *name;
		unsigned option;
		bool given;
	} rows[] = {{"levels", TT_EXPORT_LEVELS, levels > 0},
		    {"no-fold", TT_EXPORT_NO_FOLD, no_fold},
		    {"pages", TT_EXPORT_PAGES, pages},
		    {"cores", TT_EXPORT_CORES, cores},
		    {"tracy-version", TT_EXPORT_VERSION, tracy_version >= 0}};
	struct tt_str takers = {0};
	tt_status status = TTNN_OK;

	for (size_t i = 0; status == TTNN_OK && i < TT_COUNT(rows); i++) {
		if (!rows[i].given || (format->takes & rows[i].option))
			continue;
		add_takers(&takers, rows[i].option);
		status = tt_fail(TTNN_INVALID, "--%s is an option of %s, not of %s", rows[i].name,
				 tt_str_text(&takers), format->name);
	}
	tt_str_deinit(&takers);
	return status;
}

/* Some are made of traces alone, and some of all but reports. */
static tt_status check_input(const struct tt_exporter *format, const char *from)
{
	enum cli_json kind = CLI_JSON_OTHER;
	struct stat facts;

	if (format->traces_only && !tt_is_trace(from))
		return tt_fail(TTNN_INVALID, "%s is no trace: %s are made of traces alone", from,
			       format->traces_only);
	if (format->no_report && !tt_is_trace(from) && stat(from, &facts) == 0 &&
	    S_ISREG(facts.st_mode))
		TT_TRY(cli_json_kind(&kind, from));
	if (kind == CLI_JSON_REPORT)
		return tt_fail(TTNN_INVALID, "%s is a report already", from);
	return TTNN_OK;
}

/* From the options; `window` is for a part that was asked for. */
static tt_status set_options(struct tt_source_window *window)
{
	bool part;

	TT_TRY(cli_window_make(window, &part));
	how = (struct tt_export_options){
		.dialect = cli_dialect(dialect),
		.params_style = dialect == TTNN_DIALECT_TT_METAL ? "tt-metal" : "seed",
		.window = part ? window : NULL,
		.levels = levels > 0 ? (uint32_t)levels : 0,
		.no_fold = no_fold,
		.pages = pages,
		.cores = cores,
		.old_tracy = tracy_version == 1,
	};
	return TTNN_OK;
}

/* ---- one input ---------------------------------------------------------------------------------------------- */

static tt_status deliver(const struct tt_exporter *format, const struct tt_str *text,
			 const char *to)
{
	TT_TRY(tt_str_status(text));
	if (to && !format->files)
		return tt_file_save(to, tt_str_text(text), text->length);
	fwrite(tt_str_text(text), 1, text->length, stdout);
	return TTNN_OK;
}

/* Adds what becomes of a job to a text, or to its file. */
static tt_status write_one(struct tt_str *text, const struct tt_exporter *format,
			   struct tt_export_job job)
{
	tt_status status;

	for (size_t i = 0; i < job.count; i++)
		TT_TRY(check_input(format, job.paths[i]));
	/* A bar is for files: what is printed shows by itself how far it is. */
	how.label = job.to || !isatty(STDOUT_FILENO) ? "exporting" : NULL;
	job.options = &how;
	job.print = cli_write_stdout;
	status = format->write(text, &job);
	if (status == TTNN_OK)
		warn_of(&job);
	return status;
}

static tt_status export_one(const struct tt_exporter *format, const char *const *paths,
			    size_t count, const char *to)
{
	struct tt_str text = {0};
	tt_status status = write_one(
		&text, format, (struct tt_export_job){.paths = paths, .count = count, .to = to});

	if (status == TTNN_OK)
		status = deliver(format, &text, to);
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
static bool names_file(const struct tt_exporter *format)
{
	const char *ending = format->ending ? strrchr(format->ending, '.') : NULL,
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
static tt_status export_merged(const struct tt_exporter *format, const struct cli_inputs *inputs)
{
	struct tt_str text = {0};
	tt_status status = TTNN_OK;

	for (size_t i = 0; status == TTNN_OK && i < inputs->count; i++) {
		char *name = inputs->data[i].name;

		for (char *at = strchr(name, ';'); at; at = strchr(at, ';'))
			*at = ':'; /* a semicolon ends a frame */
		status = write_one(
			&text, format,
			(struct tt_export_job){.paths = (const char *const *)&inputs->data[i].path,
					       .count = 1,
					       .to = output,
					       .root = name});
	}
	if (status == TTNN_OK)
		status = deliver(format, &text, output);
	tt_str_deinit(&text);
	return status;
}

/* "OUT/network-17.svg" each. */
static tt_status export_each(const struct tt_exporter *format, const struct cli_inputs *inputs)
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
			status = export_one(format, (const char *const *)&inputs->data[i].path, 1,
					    tt_str_text(&to));
	}
	tt_str_deinit(&to);
	return status;
}

/* One file of all of them; recordings of a run are read side by side. */
static tt_status export_together(const struct tt_exporter *format, const struct cli_inputs *inputs)
{
	const char **paths = tt_calloc(inputs->count + 1, sizeof(*paths));
	tt_status status;

	if (!paths)
		return tt_fail_nomem();
	for (size_t i = 0; i < inputs->count; i++)
		paths[i] = inputs->data[i].path;
	cli_open_many();
	status = export_one(format, paths, inputs->count, output);
	tt_free(paths);
	return status;
}

static tt_status export_all(const struct tt_exporter *format, const struct cli_inputs *inputs)
{
	bool alone = inputs->count == 1 && (!inputs->several || !output || names_file(format));

	if (format->folder && !output)
		return tt_fail(TTNN_INVALID, "A performance report is a folder: name it with -o.");
	if (format->several == TT_EXPORT_TOGETHER)
		return export_together(format, inputs);
	if (format->several == TT_EXPORT_MERGED && inputs->several) {
		TT_TRY(check_names(inputs));
		return export_merged(format, inputs);
	}
	if (format->several == TT_EXPORT_MERGED ||
	    (alone && !(format->several == TT_EXPORT_EACH && is_folder(output))))
		return export_one(format, (const char *const *)&inputs->data[0].path, 1, output);
	TT_TRY(check_names(inputs));
	return export_each(format, inputs);
}

static const struct tt_exporter *find(const char *name)
{
	for (size_t t = 0; t < TT_COUNT(tables); t++)
		for (size_t i = 0; i < tables[t]->count; i++)
			if (strcmp(tables[t]->rows[i].name, name) == 0)
				return &tables[t]->rows[i];
	return NULL;
}

static tt_status export(const char *name, size_t count, char **operands)
{
	const struct tt_exporter *format = find(name);
	struct tt_source_window window;
	struct cli_inputs inputs = {0};
	tt_status status;

	if (!format)
		return tt_fail(TTNN_INVALID, "there is no format %s; see ttnn export -h", name);
	TT_TRY(check_options(format));
	status = cli_inputs_list(&inputs, count, operands);
	if (status == TTNN_OK)
		status = set_options(&window);
	if (status == TTNN_OK)
		status = export_all(format, &inputs);
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

static bool format_word(struct tt_cmd_word *out, size_t i)
{
	for (size_t t = 0; t < TT_COUNT(tables); i -= tables[t++]->count)
		if (i < tables[t]->count) {
			*out = (struct tt_cmd_word){tables[t]->rows[i].name,
						    tables[t]->rows[i].help};
			return true;
		}
	return false;
}

const struct tt_cmd cli_export = {
	.name = "export",
	.help = "write traces or graphs in a form that others read",
	.operands = "FORMAT TRACE|GRAPH.json|REPORT.json|DIR...",
	.least = 2,
	.most = TT_CMD_ANY,
	.options = options,
	.topic = "Formats",
	.word = format_word,
	.more = "DIR is a folder of traces and reports. Several inputs become a file each in the folder OUT, of params\n"
		"a folder each, of flame one text, of csv and performance one report, of timelines one file.\n",
	.run = run,
};
