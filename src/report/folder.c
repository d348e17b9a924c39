#include "report/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/ttrace.h"

void tt_report_names_deinit(struct tt_report_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		tt_free(names->data[i]);
	TT_VEC_DEINIT(names);
}

/* graph_capture_<digits>_of_<digits>.json */
static bool is_capture(const char *name)
{
	static const char *const between[] = {"graph_capture_", "_of_", ".json"};

	for (int i = 0; i < 3; i++) {
		size_t length = strlen(between[i]);

		if (strncmp(name, between[i], length) != 0)
			return false;
		name += length;
		if (i < 2 && !(*name >= '0' && *name <= '9'))
			return false;
		while (i < 2 && *name >= '0' && *name <= '9')
			name++;
	}
	return !*name;
}

/* Traces (upstream knows none), and any JSON file but those that lie beside reports. */
static bool is_candidate(const char *name, bool strict)
{
	static const char *const beside[] = {".python_io.json", ".comparison_records.json"};

	if (tt_ends_with(name, TT_TRACE_SUFFIX))
		return !strict;
	if (!tt_ends_with(name, ".json") || strcmp(name, "config.json") == 0 ||
	    strcmp(name, "comparison_records.json") == 0)
		return false;
	for (int i = 0; i < 2; i++)
		if (tt_ends_with(name, beside[i]))
			return false;
	return strict || !tt_ends_with(name, ".tensor_lifetime.json");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static tt_status add_name(struct tt_report_names *names, const char *folder, const char *name)
{
	struct tt_str path = {0};
	char **to = TT_VEC_PUSH(names);

	if (!to)
		return tt_fail_nomem();
	names->count--; /* until it is complete */
	tt_str_addf(&path, "%s%s%s", folder, tt_ends_with(folder, "/") ? "" : "/", name);
	TT_TRY(tt_str_take(to, &path));
	names->count++;
	return TTNN_OK;
}

/* The reports of a folder, in the order of their names. */
static tt_status list_folder(struct tt_report_names *out, const char *folder, bool strict)
{
	struct tt_report_names captures = {0};
	tt_status status = TTNN_OK;
	struct dirent *entry;
	DIR *directory = opendir(folder);

	if (!directory)
		return tt_fail(TTNN_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
	while (status == TTNN_OK && (entry = readdir(directory))) {
		if (is_capture(entry->d_name))
			status = add_name(&captures, folder, entry->d_name);
		else if (is_candidate(entry->d_name, strict))
			status = add_name(out, folder, entry->d_name);
	}
	closedir(directory);
	if (captures.count) {
		tt_report_names_deinit(out);
		*out = captures;
	} else {
		tt_report_names_deinit(&captures);
	}
	if (out->count)
		qsort(out->data, out->count, sizeof(*out->data), by_name);
	return status;
}

tt_status tt_report_names_list(struct tt_report_names *out, bool *in_folder, const char *path,
			       bool strict)
{
	struct stat info;
	char **to;

	*in_folder = false;
	if (stat(path, &info) != 0) {
		if (strict) /* as an empty folder */
			return TTNN_OK;
		return tt_fail(TTNN_NOTFOUND, "%s: %s", path, strerror(errno));
	}
	if (S_ISDIR(info.st_mode)) {
		*in_folder = true;
		TT_TRY(list_folder(out, path, strict));
		if (out->count || strict)
			return TTNN_OK;
		return tt_fail(TTNN_NOTFOUND, "%s: no report and no trace is in this folder", path);
	}
	to = TT_VEC_PUSH(out);
	if (!to)
		return tt_fail_nomem();
	*to = tt_strdup(path);
	out->count = *to ? 1 : 0;
	return *to ? TTNN_OK : tt_fail_nomem();
}
