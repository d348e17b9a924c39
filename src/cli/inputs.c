#include "cli/inputs.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/jsonslice.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/ttrace.h"
#include "report/folder.h"
#include "trace/session.h"

void cli_inputs_deinit(struct cli_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		tt_free(inputs->data[i].path);
		tt_free(inputs->data[i].name);
	}
	TT_VEC_DEINIT(inputs);
}

tt_status cli_json_kind(enum cli_json *out, const char *path)
{
	struct tt_jsonslice *slices;
	tt_status status;

	*out = CLI_JSON_OTHER;
	TT_TRY(tt_jsonslice_open(&slices, path));
	if (tt_jsonslice_next(slices)) {
		if (tt_jsonslice_kind(slices) == TT_JSON_ARRAY)
			*out = CLI_JSON_GRAPH;
		else if (tt_jsonslice_kind(slices) == TT_JSON_OBJECT)
			for (tt_jsonslice_enter(slices);
			     *out == CLI_JSON_OTHER && tt_jsonslice_next(slices);)
				if (tt_jsonslice_is(slices, "graph"))
					*out = CLI_JSON_REPORT;
	}
	status = tt_jsonslice_status(slices);
	tt_jsonslice_free(slices);
	return status;
}

/* Whether a file of a folder is one to read; says what is left out, as an import does. */
static tt_status is_wanted(bool *wanted, const char *path)
{
	struct tt_source *source;
	enum cli_json kind;

	if (!tt_is_trace(path)) {
		TT_TRY(cli_json_kind(&kind, path));
		*wanted = kind != CLI_JSON_OTHER;
		if (!*wanted)
			tt_log(TT_LOG_WARN, "%s: neither a graph nor a report; left out", path);
		return TTNN_OK;
	}
	TT_TRY(tt_source_open(&source, path));
	*wanted = tt_source_info(source)->operations > 0;
	tt_source_close(source);
	if (!*wanted)
		tt_log(TT_LOG_INFO, "%s: nothing was called; left out", path);
	return TTNN_OK;
}

/* The file's name without what says its format. */
static tt_status name_of(char **out, const char *path)
{
	static const char *const endings[] = {".gz", ".json", TT_TRACE_SUFFIX};
	const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
	size_t length = strlen(start);
	struct tt_str name = {0};

	for (size_t i = 0; i < TT_COUNT(endings); i++)
		length = tt_length_without(start, length, endings[i]);
	tt_str_add(&name, start, length);
	return tt_str_take(out, &name);
}

static tt_status add(struct cli_inputs *out, const char *path)
{
	struct cli_input *input = TT_VEC_PUSH(out);

	if (!input)
		return tt_fail_nomem();
	*input = (struct cli_input){.path = tt_strdup(path)};
	return input->path ? name_of(&input->name, path) : tt_fail_nomem();
}

static tt_status add_operand(struct cli_inputs *out, const char *operand)
{
	struct tt_report_names names = {0};
	size_t before = out->count;
	bool in_folder, wanted = true;
	tt_status status = tt_report_names_list(&names, &in_folder, operand, false);

	for (size_t i = 0; status == TTNN_OK && i < names.count; i++) {
		if (in_folder)
			status = is_wanted(&wanted, names.data[i]);
		if (status == TTNN_OK && wanted)
			status = add(out, names.data[i]);
	}
	tt_report_names_deinit(&names);
	out->several |= in_folder;
	if (status == TTNN_OK && out->count == before)
		return tt_fail(
			TTNN_NOTFOUND,
			"%s: nothing was called in the traces of this folder, and no other file "
			"in it is a graph or a report",
			operand);
	return status;
}

tt_status cli_inputs_list(struct cli_inputs *out, size_t count, char **operands)
{
	out->several = count > 1;
	for (size_t i = 0; i < count; i++)
		TT_TRY(add_operand(out, operands[i]));
	return TTNN_OK;
}

const char *cli_shown(char out[CLI_SHOWN], const char *text)
{
	size_t length = strnlen(text, CLI_SHOWN);

	if (length == CLI_SHOWN) {
		/* A character of several bytes is not cut. */
		for (length = CLI_SHOWN - 4; length && (text[length] & 0xc0) == 0x80;)
			length--;
		memcpy(out + length, "...", 4);
	} else {
		out[length] = '\0';
	}
	for (size_t i = 0; i < length; i++)
		out[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
	return out;
}

void cli_open_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

enum ttnn_dialect cli_dialect(int chosen)
{
	return chosen < 0 ? tt_dialect_default() : (enum ttnn_dialect)chosen;
}

void cli_write_stdout(void *context, const void *data, size_t size)
{
	(void)context;
	fwrite(data, 1, size, stdout);
}
