/*
 * A report of a trace. Its graph is a stream of nodes (trace/stream.h), and what is told besides is known by itself
 * (trace/graph_report.h): nothing of it is JSON.
 */
#include "base/log.h"
#include "base/mem.h"
#include "report/report_source.h"
#include "trace/graph_report.h"
#include "trace/session.h"

struct trace_source {
	struct tt_report_source base;
	struct tt_graph_report told;
};

/* Its parts are no JSON, but for the graph, which is a list as far as anyone asks. */
static enum tt_json_kind trace_kind(struct tt_report_source *source, enum tt_graph_part part)
{
	(void)source;
	return part == TT_GRAPH_PART_GRAPH ? TT_JSON_ARRAY : TT_JSON_ABSENT;
}

static tt_status trace_read(const struct tt_json **out, struct tt_report_source *source,
			    enum tt_graph_part part, struct tt_json_parser *parser)
{
	(void)source, (void)part, (void)parser;
	*out = NULL;
	return TTNN_OK;
}

static void trace_free(struct tt_report_source *source)
{
	tt_graph_report_deinit(&((struct trace_source *)source)->told);
	tt_stream_close(source->stream);
	tt_source_close(source->trace);
	tt_free(source);
}

/* Takes the source. */
static tt_status open_report(struct tt_report_source **out, struct tt_source *source,
			     const struct tt_report_trace_options *options)
{
	struct tt_project_options how = {
		.dialect = options->dialect, .apart = true, .label = "reading", .stacks = true};
	struct trace_source *report = tt_calloc(1, sizeof(*report));
	tt_status status;

	if (!report) {
		tt_source_close(source);
		return tt_fail_nomem();
	}
	report->base = (struct tt_report_source){.trace = source,
						 .told = &report->told,
						 .kind = trace_kind,
						 .read = trace_read,
						 .free = trace_free};
	status = tt_stream_open(&report->base.stream, source, &how);
	if (status == TTNN_OK)
		status = tt_graph_report_around(&report->told, source, report->base.stream,
						options->pages);
	if (status == TTNN_OK)
		*out = &report->base;
	else
		trace_free(&report->base);
	return status;
}

tt_status tt_report_source_trace(struct tt_report_source **out, const char *path,
				 const struct tt_report_trace_options *options)
{
	struct tt_source *source;

	*out = NULL;
	TT_TRY(tt_source_open(&source, path));
	if (tt_source_info(source)->damage)
		tt_log(TT_LOG_WARN, "%s: damaged: %s; what is whole is imported", path,
		       tt_source_info(source)->damage);
	if (tt_source_info(source)->operations || !options->skip_empty)
		return open_report(out, source, options);
	tt_source_close(source);
	return TTNN_OK;
}
