/* The performance report of a run. */
#include "profile/ops_report.h"

#include <stdio.h>

#include "base/file.h"
#include "base/str.h"
#include "profile/columns.h"
#include "profile/logs.h"
#include "profile/merge.h"

/* A CSV on its way to a file or to standard output. */
struct table {
	enum ttnn_dialect dialect;
	struct tt_file_out *file;           /* NULL: the next, or standard output */
	const struct tt_ops_output *output; /* NULL: standard output */
	struct tt_ops_csv *csv;
	bool calls;
};

static void write_table(void *context, const void *data, size_t size)
{
	struct table *table = context;

	if (table->file)
		tt_file_write(table->file, data, size);
	else if (table->output)
		table->output->write(table->output->context, data, size);
	else
		fwrite(data, 1, size, stdout);
}

static tt_status begin_table(void *context, const struct tt_ops_survey *survey)
{
	struct table *table = context;
	struct tt_ops_shape shape = {table->dialect, survey->inputs, survey->outputs, table->calls};

	TT_TRY(tt_ops_csv_new(&table->csv, &shape, write_table, table));
	tt_ops_csv_header(table->csv);
	return TTNN_OK;
}

static tt_status emit_table(void *context, const struct tt_ops_row *row)
{
	struct table *table = context;

	tt_ops_csv_row(table->csv, row);
	return table->file ? tt_file_status(table->file) : TTNN_OK;
}

static const struct tt_ops_sink table_sink = {begin_table, emit_table};

/* Completes the file if all went well; what did not leaves none. */
static tt_status end_table(struct table *table, tt_status status)
{
	tt_status ended = tt_ops_csv_end(table->csv);

	if (status == TTNN_OK)
		status = ended;
	if (status == TTNN_OK && table->file)
		return tt_file_commit(table->file);
	tt_file_discard(table->file);
	return status;
}

static tt_status write_csv(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			   size_t count, const struct tt_ops_options *options, const char *path)
{
	struct table table = {.dialect = options->dialect};
	const struct tt_ops_writer writers[] = {{&table_sink, &table}, {0}};

	if (path)
		TT_TRY(tt_file_create(&table.file, path));
	return end_table(&table, tt_ops_merge(totals, inputs, count, options, writers));
}

tt_status tt_ops_csv(struct tt_ops_totals *totals, const struct tt_ops_input *inputs, size_t count,
		     const struct tt_ops_options *options, const char *path)
{
	struct tt_ops_options quick = *options;
	struct tt_ops_widths widths = {0}, before;
	tt_status status;

	*totals = (struct tt_ops_totals){0};
	/* Standard output cannot be written again, and numbers of several processes need all of them. */
	if (!path || count != 1)
		return write_csv(totals, inputs, count, options, path);
	quick.widths = &widths;
	do {
		before = widths;
		status = write_csv(totals, inputs, count, &quick, path);
	} while (status == TTNN_STATE &&
		 (widths.inputs > before.inputs || widths.outputs > before.outputs));
	return status;
}

tt_status tt_ops_csv_to(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			size_t count, const struct tt_ops_options *options,
			const struct tt_ops_output *output)
{
	struct table table = {
		.dialect = options->dialect, .calls = options->calls, .output = output};
	const struct tt_ops_writer writers[] = {{&table_sink, &table}, {0}};

	return end_table(&table, tt_ops_merge(totals, inputs, count, options, writers));
}

/* The table beside the logs. */
static tt_status write_folder(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			      size_t count, const struct tt_ops_options *options,
			      const char *folder)
{
	struct table table = {.dialect = options->dialect};
	struct tt_ops_logs *logs = NULL;
	struct tt_str path = {0};
	tt_status status;

	tt_str_addf(&path, "%s/ops_perf_results.csv", folder);
	status = tt_str_status(&path);
	if (status == TTNN_OK)
		status = tt_file_create(&table.file, tt_str_text(&path));
	tt_str_deinit(&path);
	if (status == TTNN_OK)
		status = tt_ops_logs_new(&logs, folder, options->dialect);
	if (status == TTNN_OK) {
		const struct tt_ops_writer writers[] = {
			{&table_sink, &table}, {&tt_ops_logs_sink, logs}, {0}};

		status = tt_ops_merge(totals, inputs, count, options, writers);
	}
	status = tt_ops_logs_end(logs, status);
	return end_table(&table, status);
}

tt_status tt_ops_folder(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			size_t count, const struct tt_ops_options *options, const char *folder)
{
	*totals = (struct tt_ops_totals){0};
	TT_TRY(tt_file_make_dirs(folder));
	return write_folder(totals, inputs, count, options, folder);
}
