/* profile_exporters.c: the forms that profilers and their viewers read: reports of performance and timelines. */
#include "base/mem.h"
#include "base/vec.h"
#include "profile/ops_report.h"
#include "profile/timeline.h"

/* ---- reports of performance ------------------------------------------------------------------------ */

/* Whoever writes them: tt_ops_csv() or tt_ops_folder(). */
typedef tt_status write_ops_fn(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			       size_t count, const struct tt_ops_options *options, const char *to);

static tt_status write_ops(struct tt_export_job *job, write_ops_fn *write)
{
	struct tt_ops_input *inputs = tt_calloc(job->count + 1, sizeof(*inputs));
	struct tt_ops_options how = {.dialect = job->options->dialect,
				     .label = job->options->label,
				     .window = job->options->window};
	struct tt_ops_totals totals = {0};
	tt_status status;

	if (!inputs)
		return tt_fail_nomem();
	for (size_t i = 0; i < job->count; i++)
		inputs[i].path = job->paths[i];
	status = write(&totals, inputs, job->count, &how, job->to);
	job->lost = totals.lost;
	job->damaged = totals.damaged;
	tt_free(inputs);
	return status;
}

static tt_status write_csv(struct tt_str *out, struct tt_export_job *job)
{
	(void)out;
	return write_ops(job, tt_ops_csv);
}

static tt_status write_performance(struct tt_str *out, struct tt_export_job *job)
{
	(void)out;
	return write_ops(job, tt_ops_folder);
}

/* ---- timelines ------------------------------------------------------------------------------------- */

static tt_status write_timeline(struct tt_export_job *job, const struct tt_timeline_format *format)
{
	struct tt_timeline_options how = {.label = job->options->label,
					  .levels = job->options->levels,
					  .cores = job->options->cores,
					  .old = job->options->old_tracy,
					  .window = job->options->window};
	struct tt_timeline_totals totals = {0};
	tt_status status = tt_timeline_write(
		&totals, &(struct tt_timeline_paths){job->paths, job->count, job->to}, format,
		&how);

	job->lost = totals.lost;
	job->damaged = totals.damaged;
	return status;
}

static tt_status write_chrome(struct tt_str *out, struct tt_export_job *job)
{
	(void)out;
	return write_timeline(job, &tt_timeline_chrome);
}

static tt_status write_perfetto(struct tt_str *out, struct tt_export_job *job)
{
	(void)out;
	return write_timeline(job, &tt_timeline_perfetto);
}

static tt_status write_tracy(struct tt_str *out, struct tt_export_job *job)
{
	(void)out;
	return write_timeline(job, &tt_timeline_tracy);
}

/* ---- the table -------------------------------------------------------------------------------------- */

#define OPS .files = true, .several = TT_EXPORT_TOGETHER, .traces_only = "performance reports"
#define TIMELINE .files = true, .several = TT_EXPORT_TOGETHER, .traces_only = "timelines"

static const struct tt_exporter rows[] = {
	{.name = "csv",
	 .help = "a line for each operation with its times, as profilers write it",
	 .write = write_csv,
	 .ending = ".csv",
	 OPS},
	{.name = "performance",
	 .help = "a folder that ttnn-visualizer opens: the same with its logs",
	 .write = write_performance,
	 .ending = "",
	 .folder = true,
	 OPS},
	{.name = "tracy",
	 .help = "a timeline for Tracy's viewer",
	 .write = write_tracy,
	 .ending = ".tracy",
	 .takes = TT_EXPORT_LEVELS | TT_EXPORT_CORES | TT_EXPORT_VERSION,
	 TIMELINE},
	{.name = "perfetto",
	 .help = "a timeline for Perfetto's page",
	 .write = write_perfetto,
	 .ending = ".perfetto-trace",
	 .takes = TT_EXPORT_LEVELS | TT_EXPORT_CORES,
	 TIMELINE},
	{.name = "chrome",
	 .help = "a timeline as Chrome's trace events: JSON",
	 .write = write_chrome,
	 .ending = ".trace.json",
	 .takes = TT_EXPORT_LEVELS | TT_EXPORT_CORES,
	 TIMELINE},
};
const struct tt_exporters tt_profile_exporters = {rows, TT_COUNT(rows)};
