/* left_out.c: the files of a folder that a database is made without. */
#include <string.h>

#include "base/jsonw.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/report_file.h"

/* A path without the folder's, which messages begin with, too. */
static const char *without_folder(const char *text, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash + 1 - path) : 0;

	return strncmp(text, path, length) == 0 ? text + length : text;
}

tt_status tt_report_leave(struct tt_report_lefts *lefts, const char *path, const char *words,
			  bool broken)
{
	const char *name = without_folder(path, path);
	struct tt_report_left *left;

	for (size_t i = 0; i < lefts->files.count; i++)
		if (strcmp(lefts->files.data[i].name, name) == 0)
			return TTNN_OK;
	left = TT_VEC_PUSH(&lefts->files);
	if (!left)
		return tt_fail_nomem();
	*left = (struct tt_report_left){tt_strdup(name), tt_strdup(without_folder(words, path))};
	if (!broken)
		tt_log(TT_LOG_WARN, "%s", words);
	else if (strncmp(words, path, strlen(path)) == 0)
		tt_log(TT_LOG_WARN, "%s; left out", words);
	else /* a file beside it is what is broken */
		tt_log(TT_LOG_WARN, "%s: left out: %s", path, words);
	return left->name && left->reason ? TTNN_OK : tt_fail_nomem();
}

void tt_report_lefts_deinit(struct tt_report_lefts *lefts)
{
	for (size_t i = 0; i < lefts->files.count; i++) {
		tt_free(lefts->files.data[i].name);
		tt_free(lefts->files.data[i].reason);
	}
	TT_VEC_DEINIT(&lefts->files);
}

tt_status tt_report_lefts_write(struct tt_report_import *import,
				const struct tt_report_lefts *lefts)
{
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	if (!lefts->files.count)
		return TTNN_OK;
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.utf8 = true});
	tt_jsonw_array(&w);
	for (size_t i = 0; i < lefts->files.count; i++) {
		tt_jsonw_object(&w);
		tt_jsonw_key_string(&w, "file", lefts->files.data[i].name);
		tt_jsonw_key_string(&w, "reason", lefts->files.data[i].reason);
		tt_jsonw_end(&w);
	}
	tt_jsonw_end(&w);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status =
			tt_report_metadata_row(import, "left_out", tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return status;
}
