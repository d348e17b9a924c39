/*
 * A report of a trace. Its graph is a stream of nodes (trace/stream.h); the rest is written as a report without
 * nodes, into a file without a name beside the database, and read as any other.
 */
#include <unistd.h>

#include "base/file.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "base/str.h"
#include "report/report_source.h"
#include "trace/session.h"
#include "trace/stream.h"

static tt_status write_rest(int *fd, size_t *size, struct tt_source *source,
			    struct tt_stream *stream, const struct tt_report_trace_options *options)
{
	struct tt_file_out *file;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(tt_file_create_nameless(&file, options->directory));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	status = tt_graph_report_around(&w, source, stream, options->pages);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_file_take(fd, size, file);
	tt_file_discard(file);
	return status;
}

/* Takes the source. */
static tt_status open_report(struct tt_report_source **out, const char *path,
			     struct tt_source *source,
			     const struct tt_report_trace_options *options)
{
	struct tt_project_options how = {
		.dialect = options->dialect, .apart = true, .label = "reading"};
	struct tt_stream *stream = NULL;
	struct tt_str name = {0};
	size_t size = 0;
	tt_status status;
	int fd = -1;

	status = tt_stream_open(&stream, source, &how);
	if (status == TTNN_OK)
		status = write_rest(&fd, &size, source, stream, options);
	/* Positions in it are none of the trace. */
	tt_str_addf(&name, "%s (as a report)", path);
	if (status == TTNN_OK)
		status = tt_str_status(&name);
	if (status == TTNN_OK)
		status =
			tt_report_source_json_fd(out, fd, size, tt_str_text(&name), &options->json);
	else if (fd >= 0)
		close(fd);
	tt_str_deinit(&name);
	if (status == TTNN_OK) {
		(*out)->stream = stream;
		(*out)->trace = source;
		return TTNN_OK;
	}
	tt_stream_close(stream);
	tt_source_close(source);
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
		return open_report(out, path, source, options);
	tt_source_close(source);
	return TTNN_OK;
}
