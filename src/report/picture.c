#include "report/picture.h"

#include <string.h>

#include "base/mem.h"
#include "trace/stream.h"

/* The first failure is kept for who takes the graph; the import goes on. */
static void keep_failure(struct tt_report_picture *picture, tt_status status)
{
	if (status == TTNN_OK || picture->status != TTNN_OK)
		return;
	picture->status = status;
	picture->message = tt_strdup(ttnn_error());
	tt_graph_deinit(&picture->graph);
}

/* The bytes of L1 that a core has are in another part of the report. */
static tt_status read_devices(struct tt_report_picture *picture, struct tt_report_source *source)
{
	struct tt_json_parser parser = {0};
	const struct tt_json *devices;
	tt_status status = source->read(&devices, source, TT_GRAPH_PART_DEVICES, &parser);

	if (status == TTNN_OK)
		tt_graph_reader_devices(&picture->reader, devices);
	tt_json_parser_deinit(&parser);
	return status;
}

static tt_status begin_json(struct tt_report_picture *picture, struct tt_report_source *source,
			    const char *path)
{
	enum tt_json_kind kind = source->kind(source, TT_GRAPH_PART_GRAPH);

	picture->reader = (struct tt_graph_reader){
		.graph = &picture->graph, .name = path, .most = TT_PROJECT_MOST};
	if (kind == TT_JSON_ABSENT)
		return tt_fail(TTNN_FORMAT, "%s: a report without a graph", path);
	if (kind != TT_JSON_ARRAY)
		return tt_fail(TTNN_FORMAT, "%s: a graph is a list of nodes", path);
	return read_devices(picture, source);
}

static tt_status begin_trace(struct tt_report_picture *picture, struct tt_report_source *source,
			     enum ttnn_dialect dialect)
{
	picture->project = tt_calloc(1, sizeof(*picture->project));
	if (!picture->project)
		return tt_fail_nomem();
	tt_project_init(picture->project,
			&(struct tt_project_options){.dialect = dialect, .most = TT_PROJECT_MOST});
	tt_stream_trace_also(source->stream, picture->project);
	return TTNN_OK;
}

void tt_report_picture_begin(struct tt_report_picture *picture, struct tt_report_source *source,
			     const char *path, enum ttnn_dialect dialect)
{
	tt_report_picture_deinit(picture);
	picture->wanted = true;
	keep_failure(picture, source->stream ? begin_trace(picture, source, dialect)
					     : begin_json(picture, source, path));
}

void tt_report_picture_node(struct tt_report_picture *picture, const struct tt_json *node)
{
	if (picture->wanted && !picture->project && picture->status == TTNN_OK)
		keep_failure(picture, tt_graph_reader_add(&picture->reader, node));
}

tt_status tt_report_picture_take(struct tt_graph *out, struct tt_report_picture *picture,
				 struct tt_report_source *source)
{
	memset(out, 0, sizeof(*out));
	if (picture->status != TTNN_OK)
		return tt_fail(picture->status, "%s", picture->message ? picture->message : "");
	if (picture->project)
		return tt_project_finish(out, picture->project,
					 tt_stream_facts(source->stream)->duration_ns);
	TT_TRY(tt_graph_reader_finish(&picture->reader));
	*out = picture->graph;
	memset(&picture->graph, 0, sizeof(picture->graph));
	return TTNN_OK;
}

void tt_report_picture_deinit(struct tt_report_picture *picture)
{
	if (picture->project)
		tt_project_deinit(picture->project);
	tt_free(picture->project);
	tt_graph_deinit(&picture->graph);
	tt_free(picture->message);
	memset(picture, 0, sizeof(*picture));
}
