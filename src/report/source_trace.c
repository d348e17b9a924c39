/*
 * A report of a trace. A database wants the nodes of a graph with all their connections, which are known
 * at the end of the trace only: so the report is written first, into a file without a name beside the
 * database, and read as any other.
 */
#include <unistd.h>

#include "base/file.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "base/str.h"
#include "report/source.h"
#include "trace/session.h"

static tt_status write_report(int *fd, size_t *size, struct tt_source *source,
			      const struct tt_report_trace_options *options)
{
	struct tt_project_options how = {.dialect = options->dialect};
	struct tt_file_out *file;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(tt_file_create_nameless(&file, options->directory));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	status = tt_report_from_source(&w, source, &how, options->pages);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_file_take(fd, size, file);
	tt_file_discard(file);
	return status;
}

tt_status tt_report_source_trace(struct tt_report_source **out, const char *path,
				 const struct tt_report_trace_options *options)
{
	struct tt_str name = {0};
	struct tt_source *source;
	tt_status status = TTNN_OK;
	size_t size = 0;
	int fd = -1;

	*out = NULL;
	TT_TRY(tt_source_open(&source, path));
	if (tt_source_info(source)->operations || !options->skip_empty)
		status = write_report(&fd, &size, source, options);
	if (tt_source_info(source)->damage)
		tt_log(TT_LOG_WARN, "%s: damaged: %s; what is whole is imported", path,
		       tt_source_info(source)->damage);
	tt_source_close(source);
	if (status != TTNN_OK || fd < 0)
		return status;
	/* Positions in it are none of the trace. */
	tt_str_addf(&name, "%s (as a report)", path);
	status = tt_str_status(&name);
	if (status == TTNN_OK)
		status =
			tt_report_source_json_fd(out, fd, size, tt_str_text(&name), &options->json);
	else
		close(fd);
	tt_str_deinit(&name);
	return status;
}
