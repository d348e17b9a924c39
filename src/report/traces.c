#include "report/traces.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "report/pytext.h"

/* ---- what a trace says ---------------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads `File "path", line 12`: behind it, or NULL. */
static const char *read_frame(const char **file, size_t *length, const char **digits,
			      const char *text, const char *end)
{
	static const char head[] = "File \"", middle[] = "\", line ";
	const char *quote;

	while (text < end && is_space(*text))
		text++;
	if ((size_t)(end - text) < sizeof(head) || memcmp(text, head, sizeof(head) - 1) != 0)
		return NULL;
	text += sizeof(head) - 1;
	quote = memchr(text, '"', (size_t)(end - text));
	if (!quote || quote == text || (size_t)(end - quote) < sizeof(middle) ||
	    memcmp(quote, middle, sizeof(middle) - 1) != 0)
		return NULL;
	*file = text;
	*length = (size_t)(quote - text);
	*digits = quote + sizeof(middle) - 1;
	for (text = *digits; text < end && is_digit(*text);)
		text++;
	return text > *digits ? text : NULL;
}

const char *tt_report_trace_frame(size_t *length, int64_t *line, const char *text)
{
	const char *end = text + strlen(text), *file, *digits, *behind;

	while (text) {
		behind = read_frame(&file, length, &digits, text, end);
		if (behind) {
			*line = 0;
			tt_py_int_text(line, digits, (size_t)(behind - digits));
			return file;
		}
		text = memchr(text, '\n', (size_t)(end - text));
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

/* "path:12" or "path:12:7", nothing else on the line. */
static const char *read_location(size_t *length, const char *text, const char *end)
{
	const char *colon = memchr(text, ':', (size_t)(end - text)), *at = colon;

	if (!colon || colon == text)
		return NULL;
	*length = (size_t)(colon - text);
	for (int numbers = 0; numbers < 2 && at < end && *at == ':'; numbers++) {
		if (++at == end || !is_digit(*at))
			return NULL;
		while (at < end && is_digit(*at))
			at++;
	}
	return at == end ? text : NULL;
}

static bool is_line_end(char c)
{
	return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e);
}

const char *tt_report_trace_path(size_t *length, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *line = text, *line_end, *file, *digits, *behind;

		while (text < end && !is_line_end(*text))
			text++;
		line_end = text++;
		while (line < line_end && is_space(*line))
			line++;
		while (line_end > line && is_space(line_end[-1]))
			line_end--;
		behind = read_frame(&file, length, &digits, line, line_end);
		if (behind && line_end - behind >= 5 && memcmp(behind, ", in ", 5) == 0)
			return file;
		if (line < line_end && (file = read_location(length, line, line_end)))
			return file;
	}
	return NULL;
}

/* ---- files ---------------------------------------------------------------------------------- */

static tt_status add_root(struct tt_report_traces *traces, const char *path)
{
	char real[PATH_MAX];

	if (!path || !*path || !realpath(path, real) || strcmp(real, "/") == 0)
		return TTNN_OK;
	return tt_map_add(&traces->roots, real, strlen(real), NULL) ? TTNN_OK : tt_fail_nomem();
}

static tt_status find_roots(struct tt_report_traces *traces)
{
	static const char *const variables[] = {"HOME", "VIRTUAL_ENV", "TT_METAL_HOME", "TMPDIR"};
	static const char *const folders[] = {".", "/tmp", "/usr/lib/python3", "/usr/local/lib"};

	if (traces->roots.count)
		return TTNN_OK;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		TT_TRY(add_root(traces, getenv(variables[i])));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		TT_TRY(add_root(traces, folders[i]));
	return TTNN_OK;
}

static bool is_allowed(const struct tt_report_traces *traces, const char *path)
{
	for (size_t i = 0; i < traces->roots.count; i++) {
		const struct tt_map_entry *root = &traces->roots.entries[i];

		if (strncmp(path, root->key, root->length) == 0 &&
		    (path[root->length] == '/' || !path[root->length]))
			return true;
	}
	return false;
}

/* The real path of a regular file that may be read; false if it is none. */
static bool resolve(char real[PATH_MAX], const struct tt_report_traces *traces, const char *path,
		    size_t length)
{
	const char *home = getenv("HOME");
	char full[PATH_MAX];
	struct stat info;
	int size;

	while (length && is_space(*path)) {
		path++;
		length--;
	}
	while (length && is_space(path[length - 1]))
		length--;
	if (!length || length >= PATH_MAX)
		return false;
	if (*path == '~' && (length == 1 || path[1] == '/') && home && *home)
		size = snprintf(full, sizeof(full), "%s%.*s", home, (int)length - 1, path + 1);
	else
		size = snprintf(full, sizeof(full), "%.*s", (int)length, path);
	return size > 0 && size < PATH_MAX && realpath(full, real) && stat(real, &info) == 0 &&
	       S_ISREG(info.st_mode) && is_allowed(traces, real);
}

/* The content as Python reads a text file: bad UTF-8 replaced, one kind of line end. */
static void add_text(struct tt_str *out, const char *data, size_t size)
{
	while (size) {
		size_t plain = 0, used;
		uint32_t code;
		char bytes[4];

		while (plain < size && data[plain] > 0 && data[plain] != '\r')
			plain++;
		tt_str_add(out, data, plain);
		data += plain;
		size -= plain;
		if (!size)
			return;
		used = tt_utf8_get(&code, data, size);
		if (code == '\r') {
			tt_str_addc(out, '\n');
			used += size > 1 && data[1] == '\n';
		} else {
			tt_str_add(out, bytes, tt_utf8_put(bytes, code));
		}
		data += used;
		size -= used;
	}
}

static tt_status find_id(int64_t *id, struct tt_report_traces *traces, const char *path)
{
	struct tt_db_stmt *select;
	tt_status status;
	bool row;

	TT_TRY(tt_db_prepare(&select, traces->db->db,
			     "select id from source_files where path = ?"));
	tt_db_bind_text(select, 0, path, strlen(path));
	status = tt_db_next(&row, select);
	*id = status == TTNN_OK && row ? tt_db_int(select, 0) : 0;
	tt_db_stmt_free(select);
	return status;
}

static tt_status store_file(int64_t *id, struct tt_report_traces *traces, const char *path)
{
	struct tt_str text = {0};
	struct tt_db_stmt *insert;
	struct tt_file_map map;
	tt_status status;

	*id = 0;
	/* Not every file that is there can be read, and a trace without its source is one still. */
	if (tt_file_map(&map, path) != TTNN_OK)
		return TTNN_OK;
	add_text(&text, map.data, map.size);
	tt_file_unmap(&map);
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_report_insert(&insert, traces->db, TT_REPORT_SOURCE_FILES);
	if (status == TTNN_OK) {
		tt_db_bind_null(insert, 0);
		tt_db_bind_text(insert, 1, path, strlen(path));
		tt_db_bind_text(insert, 2, tt_str_text(&text), text.length);
		status = tt_db_run(insert);
	}
	tt_str_deinit(&text);
	return status == TTNN_OK ? find_id(id, traces, path) : status;
}

/* The id of the file that a trace names; 0: none is stored. */
static tt_status file_of(int64_t *id, struct tt_report_traces *traces, const struct tt_str *text)
{
	char real[PATH_MAX];
	struct tt_map_entry *known;
	const char *path;
	size_t length;
	bool added;

	*id = 0;
	path = tt_report_trace_path(&length, tt_str_text(text), text->length);
	if (!path)
		return TTNN_OK;
	TT_TRY(find_roots(traces));
	known = tt_map_add(&traces->paths, path, length, &added);
	if (!known)
		return tt_fail_nomem();
	if (added && resolve(real, traces, path, length)) {
		TT_TRY(store_file(id, traces, real));
		known->number = (uint64_t)*id;
	}
	*id = (int64_t)known->number;
	return TTNN_OK;
}

tt_status tt_report_traces_add(struct tt_report_traces *traces, int64_t operation, int64_t rank,
			       const struct tt_str *text)
{
	struct tt_db_stmt *insert;
	int64_t file;

	TT_TRY(tt_str_status(text));
	TT_TRY(file_of(&file, traces, text));
	TT_TRY(tt_report_insert(&insert, traces->db, TT_REPORT_STACK_TRACES));
	tt_db_bind_int(insert, 0, operation);
	tt_db_bind_text(insert, 1, tt_str_text(text), text->length);
	if (file)
		tt_db_bind_int(insert, 2, file);
	else
		tt_db_bind_null(insert, 2);
	tt_db_bind_int(insert, 3, rank);
	traces->rows++;
	return tt_db_run(insert);
}

void tt_report_traces_deinit(struct tt_report_traces *traces)
{
	tt_map_deinit(&traces->paths);
	tt_map_deinit(&traces->roots);
}
