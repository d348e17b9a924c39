/* configs_sources.c: recordings as sources of configurations: traces, graphs, reports, parameter files. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/file.h"
#include "base/jsonslice.h"
#include "base/str.h"
#include "cli/configs.h"
#include "ops/op.h"
#include "store/extract.h"

/* Whether JSON is a recording: a list, or an object without the members of a master, whatever it begins with. */
static bool is_recording(struct tt_jsonslice *file)
{
	if (!tt_jsonslice_next(file) || tt_jsonslice_kind(file) == TT_JSON_ABSENT)
		return false;
	if (tt_jsonslice_kind(file) == TT_JSON_ARRAY)
		return true;
	tt_jsonslice_enter(file);
	while (tt_jsonslice_next(file)) {
		if (tt_jsonslice_is(file, "operations") || tt_jsonslice_is(file, "content"))
			return false;
		if (tt_jsonslice_is(file, "graph"))
			return true;
	}
	return true;
}

static bool takes_recording(const char *path)
{
	struct tt_jsonslice *file;
	struct stat info;
	bool recording;

	if (stat(path, &info) != 0)
		return false;
	if (S_ISDIR(info.st_mode) || tt_ends_with(path, ".ttrace"))
		return true;
	if (tt_ends_with(path, ".sqlite") || tt_jsonslice_open(&file, path) != TTNN_OK)
		return false;
	recording = is_recording(file);
	tt_jsonslice_free(file);
	return recording;
}

/* Whether a text has a line of that word alone. */
static bool has_line(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += length)
		if ((at == text || at[-1] == '\n') && (at[length] == '\n' || !at[length]))
			return true;
	return false;
}

/* Functions of graphs that are no operations do not count: neither ours nor upstream's list has them. */
static bool is_operation(void *context, const char *op)
{
	(void)context;
	if (tt_op_find(op))
		return true;
	for (size_t i = 0; tt_embedded_sources[i].name; i++)
		if (strcmp(tt_embedded_sources[i].name, "Allops.txt") == 0)
			return has_line((const char *)tt_embedded_sources[i].data, op);
	return false;
}

struct adding {
	struct tt_master *master;
	size_t added;
};

static tt_status add_call(void *context, const struct tt_master_call *call)
{
	struct adding *adding = context;
	bool added;

	TT_TRY(tt_master_add(&added, adding->master, call));
	adding->added += added;
	return TTNN_OK;
}

static tt_status add_recording(size_t *calls, size_t *added, struct tt_master *master,
			       const char *path)
{
	struct adding adding = {.master = master};
	bool v2 = tt_master_layout(master) == TT_MASTER_V2;
	struct tt_extract extract = {.layout = v2 ? TT_MASTER_V2 : TT_MASTER_V1,
				     .listed = is_operation,
				     .call = add_call,
				     .context = &adding};

	TT_TRY(tt_extract_path(&extract, path));
	/* A trace without calls as they were written has the operations still. */
	if (v2 && !extract.calls) {
		extract.layout = TT_MASTER_V1;
		TT_TRY(tt_extract_path(&extract, path));
	}
	*calls = (size_t)extract.calls;
	*added = adding.added;
	return TTNN_OK;
}

const struct configs_source configs_recordings = {"recordings", takes_recording, add_recording};
