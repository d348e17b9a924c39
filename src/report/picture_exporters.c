/* picture_exporters.c: the forms that are pictures. */
#include <string.h>

#include "base/vec.h"
#include "report/svg.h"
#include "trace/graph.h"

static tt_status write_picture(struct tt_str *out, const struct tt_export_job *job, bool flow)
{
	struct tt_diagram_options picture = {
		.flow = flow, .levels = job->options->levels, .no_fold = job->options->no_fold};
	const char *slash = strrchr(job->paths[0], '/');
	struct tt_graph graph;
	tt_status status;

	TT_TRY(tt_export_graph(&graph, job));
	status = tt_svg_text(out, &graph, slash ? slash + 1 : job->paths[0], &picture);
	tt_graph_deinit(&graph);
	return status;
}

static tt_status write_svg(struct tt_str *out, struct tt_export_job *job)
{
	return write_picture(out, job, false);
}

static tt_status write_flow(struct tt_str *out, struct tt_export_job *job)
{
	return write_picture(out, job, true);
}

static const struct tt_exporter rows[] = {
	{.name = "svg",
	 .help = "a picture of all calls and the memory they took",
	 .write = write_svg,
	 .ending = ".svg",
	 .takes = TT_EXPORT_LEVELS | TT_EXPORT_NO_FOLD},
	{.name = "flow",
	 .help = "a picture of operations and the tensors between them: SVG",
	 .write = write_flow,
	 .ending = ".flow.svg",
	 .takes = TT_EXPORT_LEVELS | TT_EXPORT_NO_FOLD},
};
const struct tt_exporters tt_picture_exporters = {rows, TT_COUNT(rows)};
