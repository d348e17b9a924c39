/* results_spool.c: results that wait for the database in a file. */
#include "sweep/results_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

#define ROWS_AT_ONCE 256

/* ---- rows as lines ------------------------------------------------------------------------------------------ */

/*
 * Members of a line, in the order of docs/formats/vectors.md: those of a row. The database is known by its digest, so
 * that names of hosts and users are in no file.
 */
#define TEXTS(X)                                                                                   \
	X(module)                                                                                  \
	X(suite) X(vector) X(message) X(exception) X(model) X(operation) X(notes) X(key) X(params)
#define REALS(X) X(pcc) X(bound) X(error)

static void write_number(struct tt_jsonw *w, const char *key, double value)
{
	tt_jsonw_key(w, key);
	if (isfinite(value))
		tt_jsonw_real(w, value);
	else
		tt_jsonw_null(w);
}

static tt_status write_line(struct tt_str *out, const struct tt_results *results,
			    const struct tt_results_row *row)
{
	const struct tt_sweep_result *result = &row->result;
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	tt_jsonw_key_string(&w, "database", results->database_digest);
	tt_jsonw_key_string(&w, "run", results->name);
#define WRITE_TEXT(name) tt_jsonw_key_string(&w, #name, result->name);
	TEXTS(WRITE_TEXT)
#undef WRITE_TEXT
#define WRITE_REAL(name) write_number(&w, #name, result->name);
	REALS(WRITE_REAL)
#undef WRITE_REAL
	write_number(&w, "e2e_ms", row->e2e_ms);
	tt_jsonw_key_string(&w, "metrics", row->metrics);
	tt_jsonw_key_string(&w, "status", tt_sweep_status_text(result->status));
	tt_jsonw_key_string(&w, "how", tt_sweep_how_text(result->how));
	tt_jsonw_key_int(&w, "position", (int64_t)result->position);
	tt_jsonw_key_int(&w, "begin_ns", result->begin_ns);
	tt_jsonw_key_int(&w, "end_ns", result->end_ns);
	tt_jsonw_key_int(&w, "cached", result->cached);
	tt_jsonw_end(&w);
	TT_TRY(tt_jsonw_finish(&w));
	tt_str_addc(out, '\n');
	return tt_str_status(out);
}

static double member_real(const struct tt_json *object, const char *key)
{
	double value;

	return tt_json_real(&value, tt_json_get(object, key)) ? value : NAN;
}

static int64_t member_int(const struct tt_json *object, const char *key)
{
	int64_t value;

	return tt_json_int(&value, tt_json_get(object, key)) ? value : 0;
}

/* False: it is none. Texts are the document's. */
static bool read_line(struct tt_results_row *out, const struct tt_json *root)
{
	const char *status = tt_json_string(tt_json_get(root, "status"), NULL);
	const char *how = tt_json_string(tt_json_get(root, "how"), NULL);
	struct tt_sweep_result *result = &out->result;

	*out = (struct tt_results_row){0};
#define READ_TEXT(name) result->name = tt_json_string(tt_json_get(root, #name), NULL);
	TEXTS(READ_TEXT)
#undef READ_TEXT
#define READ_REAL(name) result->name = member_real(root, #name);
	REALS(READ_REAL)
#undef READ_REAL
	result->params_length = result->params ? strlen(result->params) : 0;
	out->e2e_ms = member_real(root, "e2e_ms");
	out->metrics = tt_json_string(tt_json_get(root, "metrics"), NULL);
	result->position = (uint64_t)member_int(root, "position");
	result->begin_ns = member_int(root, "begin_ns");
	result->end_ns = member_int(root, "end_ns");
	result->cached = member_int(root, "cached") != 0;
	return result->module && result->suite && result->vector && status && how &&
	       tt_sweep_status_find(&result->status, status) &&
	       tt_sweep_how_find(&result->how, how);
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

/* Whether the file is this process's: others may have taken it for a left one, and removed it, before it was locked. */
static bool lock(int fd)
{
	struct stat info;

	return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 && info.st_nlink > 0;
}

static tt_status open_file(struct tt_spool *spool, const struct tt_results *results)
{
	char directory[TT_RESULTS_PATH];

	if (snprintf(directory, sizeof(directory), "%s/spool", results->directory) >=
	    (int)sizeof(directory))
		return tt_fail(TTNN_INVALID, "the name of the spool's folder is too long");
	TT_TRY(tt_file_make_dirs(directory));
	for (unsigned n = 0; n < 10000; n++) {
		if (snprintf(spool->path, sizeof(spool->path), "%s/%s-%.64s-%ld-%u.jsonl",
			     directory, results->name, results->host, (long)getpid(),
			     n) >= (int)sizeof(spool->path))
			break;
		for (char *c = spool->path + strlen(directory) + 1; *c; c++)
			*c = *c == '/' ? '_' : *c;
		spool->fd = tt_fd_open(spool->path, O_RDWR | O_CREAT | O_EXCL | O_APPEND);
		if (spool->fd >= 0 && lock(spool->fd))
			return TTNN_OK;
		if (spool->fd < 0 && errno != EEXIST)
			break;
		tt_spool_close(spool);
	}
	return tt_fail(TTNN_IO, "%s: cannot write: %s", spool->path, strerror(errno));
}

tt_status tt_spool_add(struct tt_spool *spool, const struct tt_results *results,
		       const struct tt_results_row *rows, size_t count)
{
	struct tt_str text = {0};
	tt_status status = TTNN_OK;
	struct stat before;
	int code;

	if (spool->fd < 0)
		TT_TRY(open_file(spool, results));
	if (fstat(spool->fd, &before) != 0)
		return tt_fail(TTNN_IO, "%s: cannot write: %s", spool->path, strerror(errno));
	for (size_t i = 0; status == TTNN_OK && i < count; i++)
		status = write_line(&text, results, &rows[i]);
	if (status == TTNN_OK) {
		code = tt_fd_write(spool->fd, tt_str_text(&text), text.length);
		if (!code && fdatasync(spool->fd) != 0)
			code = errno;
		/* Part of a line would spoil the next one, and what is written again. */
		if (code && ftruncate(spool->fd, before.st_size) != 0)
			tt_log(TT_LOG_WARN, "%s: cannot shorten: %s", spool->path, strerror(errno));
		if (code)
			status = tt_fail(TTNN_IO, "%s: cannot write: %s", spool->path,
					 strerror(code));
		else
			spool->rows += count;
	}
	tt_str_deinit(&text);
	return status;
}

void tt_spool_close(struct tt_spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
	spool->rows = 0;
}

/* ---- delivering ------------------------------------------------------------------------------------------------ */

/* The id of a run by its name; 0: there is none. */
static tt_status find_run(int64_t *out, struct tt_results *results, const char *name)
{
	struct tt_db_stmt *find;
	bool row = false;
	tt_status status;

	TT_TRY(tt_db_prepare(&find, results->db, "select id from runs where name = ?"));
	tt_db_bind_text(find, 0, name, strlen(name));
	status = tt_db_next(&row, find);
	*out = row ? tt_db_int(find, 0) : 0;
	tt_db_stmt_free(find);
	return status;
}

/* A file as it is read. */
struct reading {
	struct tt_results *results;
	char run[64];
	int64_t id;
	uint64_t rows, unreadable, foreign;
};

static tt_status deliver_line(struct reading *r, const char *line, size_t length)
{
	struct tt_results_row row;
	struct tt_json_doc *doc = NULL;
	const char *run = NULL, *database = NULL;
	tt_status status = TTNN_OK;

	if (tt_json_parse(&doc, line, length, "spool") == TTNN_OK) {
		run = tt_json_string(tt_json_get(tt_json_root(doc), "run"), NULL);
		database = tt_json_string(tt_json_get(tt_json_root(doc), "database"), NULL);
	}
	if (!run || !database || !read_line(&row, tt_json_root(doc))) {
		r->unreadable++;
	} else if (strcmp(database, r->results->database_digest) != 0) {
		r->foreign++;
	} else {
		if (!r->id || strcmp(run, r->run) != 0) {
			snprintf(r->run, sizeof(r->run), "%s", run);
			status = find_run(&r->id, r->results, run);
		}
		if (status == TTNN_OK && r->id) {
			status = tt_results_insert(r->results, r->id, &row);
			r->rows += status == TTNN_OK;
		} else {
			r->foreign += status == TTNN_OK;
		}
	}
	tt_json_free(doc);
	return status;
}

/* All lines that are complete: who was killed while it wrote leaves a part of one, whose vector is run again. */
static tt_status deliver_text(struct reading *r, const char *text, size_t size)
{
	const char *end;
	tt_status status;

	while (size && (end = memchr(text, '\n', size))) {
		TT_TRY(tt_db_begin(r->results->db));
		status = TTNN_OK;
		for (int i = 0; status == TTNN_OK && i < ROWS_AT_ONCE && end; i++) {
			status = deliver_line(r, text, (size_t)(end - text));
			size -= (size_t)(end + 1 - text);
			text = end + 1;
			end = size ? memchr(text, '\n', size) : NULL;
		}
		if (status == TTNN_OK)
			status = tt_db_commit(r->results->db);
		if (status != TTNN_OK) {
			tt_db_rollback(r->results->db);
			return status;
		}
	}
	return TTNN_OK;
}

tt_status tt_spool_deliver(uint64_t *rows, struct tt_spool *spool, struct tt_results *results)
{
	struct reading r = {.results = results};
	char aside[TT_RESULTS_PATH + 16];
	char *text;
	size_t size;
	tt_status status;

	*rows = 0;
	if (spool->fd < 0)
		return TTNN_OK;
	TT_TRY(tt_file_read(&text, &size, spool->path));
	status = deliver_text(&r, text, size);
	tt_free(text);
	TT_TRY(status);
	*rows = r.rows;
	if (r.foreign) {
		/* Of another database, or of a run that is gone: who it is for may come yet. */
		tt_spool_close(spool);
		return TTNN_OK;
	}
	snprintf(aside, sizeof(aside), "%s.unreadable", spool->path);
	if (r.unreadable && rename(spool->path, aside) == 0)
		tt_log(TT_LOG_WARN, "%s: %llu lines are no results", aside,
		       (unsigned long long)r.unreadable);
	else
		unlink(spool->path);
	tt_spool_close(spool);
	return TTNN_OK;
}

static tt_status deliver_old(struct tt_results *results, const char *path)
{
	struct tt_spool old = {.fd = tt_fd_open(path, O_RDWR)};
	uint64_t rows;
	tt_status status;

	snprintf(old.path, sizeof(old.path), "%s", path);
	/* Who still writes it delivers it, or has just done so. */
	if (old.fd < 0 || !lock(old.fd)) {
		tt_spool_close(&old);
		return TTNN_OK;
	}
	status = tt_spool_deliver(&rows, &old, results);
	if (status == TTNN_OK && rows)
		tt_log(TT_LOG_WARN, "%llu results that had waited in %s are delivered",
		       (unsigned long long)rows, path);
	tt_spool_close(&old);
	return status;
}

tt_status tt_spool_deliver_old(struct tt_results *results)
{
	char path[TT_RESULTS_PATH];
	tt_status status = TTNN_OK;
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%.4000s/spool", results->directory);
	directory = opendir(path);
	while (directory && status == TTNN_OK && (entry = readdir(directory))) {
		if (!tt_ends_with(entry->d_name, ".jsonl"))
			continue;
		if (snprintf(path, sizeof(path), "%.3000s/spool/%s", results->directory,
			     entry->d_name) < (int)sizeof(path))
			status = deliver_old(results, path);
	}
	if (directory)
		closedir(directory);
	return status;
}
