#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/folder.h"
#include "report/report_file.h"
#include "trace/session.h"

/* A database that grows is written to more often than this, ... */
#define STALE_SECONDS 600
/* ... a folder of pictures only as often as a file of the import is drawn. */
#define STALE_FOLDER_SECONDS (24 * 60 * 60)

/* ---- the folder of the database ------------------------------------------------------------- */

/* *there: how much of the path names folders that were there. */
static tt_status make_folder(size_t *there, const char *path)
{
	char *copy = tt_strdup(path);
	tt_status status = TTNN_OK;

	if (!copy)
		return tt_fail_nomem();
	*there = 0;
	for (char *at = copy + 1; *copy; at++) {
		char c = *at;

		if (c && (c != '/' || at[-1] == '/'))
			continue;
		if (at[-1] == '/')
			break; /* the path ends with one */
		*at = '\0';
		if (mkdir(copy, 0777) == 0) {
			;
		} else if (errno == EEXIST) {
			*there = (size_t)(at - copy);
		} else {
			status = tt_fail(TTNN_IO, "%s: cannot make the folder: %s", copy,
					 strerror(errno));
			break;
		}
		*at = c;
		if (!c)
			break;
	}
	tt_free(copy);
	return status;
}

/* An import that failed takes back the folders that it made, if they are empty. */
static void remove_folder(const char *path, size_t there)
{
	char *copy = tt_strdup(path), *slash;

	while (copy && strlen(copy) > there && (rmdir(copy) == 0 || errno == ENOENT)) {
		slash = strrchr(copy, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	tt_free(copy);
}

/* Whether the database that is there is one to append to. */
static bool is_current(const char *path, const char *version)
{
	struct tt_db_stmt *select = NULL;
	struct tt_db *db;
	bool row = false;

	if (tt_db_open(&db, path) != TTNN_OK)
		return false;
	if (tt_db_prepare(&select, db,
			  "select value from report_metadata where key = 'schema_version'") ==
		    TTNN_OK &&
	    tt_db_next(&row, select) == TTNN_OK && row)
		row = !tt_report_version_older(tt_db_text(select, 0), version);
	tt_db_stmt_free(select);
	tt_db_discard(db);
	return row;
}

static tt_status copy_file(const char *to, const char *from)
{
	struct tt_file_map map;
	tt_status status;

	TT_TRY(tt_file_map(&map, from));
	status = tt_file_save(to, map.data, map.size);
	tt_file_unmap(&map);
	return status;
}

/* ---- the whole import ----------------------------------------------------------------------- */

/* What is imported, in one run or, where a folder has broken files, in another one without them. */
struct input {
	struct tt_report_names files;
	bool in_folder;
	struct tt_report_lefts lefts;
	bool again;
	size_t there; /* how much of the output's path was there before */
};

struct run {
	struct tt_report_import import;
	struct tt_report_sides sides;
	struct tt_report_git git;
	struct tt_map ranks, compared, devices;
	struct input *input;
	bool appends;
	char *goal, *temporary; /* names of the database */
	char *drawn;            /* the folder where pictures wait for it; NULL: there are none */
};

static void run_deinit(struct run *run)
{
	struct tt_report_import *import = &run->import;

	tt_report_db_deinit(&import->db);
	if (run->temporary)
		unlink(run->temporary);
	for (size_t i = 0; i < run->sides.files.count; i++)
		tt_file_discard(run->sides.files.data[i]);
	TT_VEC_DEINIT(&run->sides.files);
	tt_map_deinit(&run->sides.paths);
	tt_report_walk_deinit(import);
	tt_report_picture_deinit(&import->picture);
	tt_report_records_deinit(&import->records);
	tt_report_buffers_deinit(&import->buffers);
	tt_report_pages_deinit(&import->pages);
	tt_report_tensors_deinit(&import->tensors);
	tt_report_captured_deinit(&import->captured);
	tt_report_traces_deinit(&import->traces);
	TT_VEC_DEINIT(&import->devices.rows);
	tt_report_git_deinit(&run->git);
	tt_map_deinit(&run->ranks);
	tt_map_deinit(&run->compared);
	tt_map_deinit(&run->devices);
	tt_free(run->goal);
	tt_free(run->temporary);
	tt_free(run->drawn);
	tt_free(run);
}

static const char *db_name(const struct tt_report_options *options)
{
	return options->db_name ? options->db_name : "db.sqlite";
}

/* The process of "NAME.<pid>REST", and where the rest begins; 0: the file is called otherwise. */
static pid_t pid_of(const char **rest, const char *file, const char *name)
{
	size_t length = strlen(name);
	char *end;
	long pid;

	if (strncmp(file, name, length) != 0 || file[length] != '.' || file[length + 1] < '1' ||
	    file[length + 1] > '9')
		return 0;
	pid = strtol(file + length + 1, &end, 10);
	*rest = end;
	return pid <= INT_MAX ? (pid_t)pid : 0;
}

static bool is_dead(pid_t pid)
{
	return kill(pid, 0) != 0 && errno == ESRCH;
}

/* Whether nobody has written to it for a while: one of another machine or container may. */
static bool is_old(int directory, const char *file, time_t seconds)
{
	struct stat facts;

	return fstatat(directory, file, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
	       facts.st_mtime < time(NULL) - seconds;
}

/* Whether this is the unfinished database "NAME.<pid>.tmp" of an import that was killed. */
static bool is_stale_db(int directory, const char *file, const char *name)
{
	const char *rest;
	pid_t pid = pid_of(&rest, file, name);

	return pid && strcmp(rest, ".tmp") == 0 && is_dead(pid) &&
	       is_old(directory, file, STALE_SECONDS);
}

/*
 * Whether this is the folder of pictures (make_drawn()) of an import that was killed. In containers it often had the
 * number that this process has.
 */
static bool is_stale_folder(int directory, const char *file)
{
	const char *rest;
	pid_t pid = pid_of(&rest, file, "graphs");

	return pid && strncmp(rest, ".tmp.", 5) == 0 && strlen(rest) == sizeof(".tmp.XXXXXX") - 1 &&
	       (pid == getpid() || is_dead(pid)) && is_old(directory, file, STALE_FOLDER_SECONDS);
}

/* Removes a folder with its files. */
static void remove_drawn(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		unlinkat(fd, entry->d_name, 0);
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_stale(const struct tt_report_options *options)
{
	DIR *directory = opendir(options->output);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (is_stale_db(dirfd(directory), entry->d_name, db_name(options)))
			unlinkat(dirfd(directory), entry->d_name, 0);
		else if (is_stale_folder(dirfd(directory), entry->d_name))
			remove_drawn(dirfd(directory), entry->d_name);
	if (directory)
		closedir(directory);
}

/* "OUT/graphs.<pid>.tmp.XXXXXX", where pictures wait until the database is there: each import has its own. */
static tt_status make_drawn(struct run *run)
{
	struct tt_str text = {0};
	char *path;

	tt_str_addf(&text, "%s/graphs.%ld.tmp.XXXXXX", run->import.options->output, (long)getpid());
	TT_TRY(tt_str_take(&path, &text));
	if (!mkdtemp(path)) {
		tt_status status = tt_fail(TTNN_IO, "%s: cannot make a folder for pictures: %s",
					   run->import.options->output, strerror(errno));

		tt_free(path);
		return status;
	}
	run->import.drawn = run->drawn = path;
	return TTNN_OK;
}

static tt_status open_db(struct run *run, const struct tt_report_version *version)
{
	const struct tt_report_options *options = run->import.options;
	struct tt_report_db_options how = {
		.version = version,
		.as_tables = options->as_tables || options->strict,
		.as_views = options->as_views,
		.alone = run->input->files.count < 2,
		.text_limit = options->text_limit ? options->text_limit : TT_REPORT_TEXT_LIMIT,
	};
	struct tt_str text = {0};
	size_t there = SIZE_MAX;
	tt_status status;

	if (how.as_tables && how.as_views)
		return tt_fail(TTNN_INVALID, "a database of %s has no views",
			       options->strict ? "--strict" : "--tables");
	if (!*db_name(options) || strchr(db_name(options), '/'))
		return tt_fail(TTNN_INVALID, "'%s' is no name for a database in %s",
			       db_name(options), options->output);
	status = make_folder(&there, options->output);
	if (there < run->input->there) /* not if another run made it */
		run->input->there = there;
	TT_TRY(status);
	remove_stale(options);
	tt_str_addf(&text, "%s/%s", options->output, db_name(options));
	TT_TRY(tt_str_take(&run->goal, &text));
	tt_str_addf(&text, "%s.%ld.tmp", run->goal, (long)getpid());
	TT_TRY(tt_str_take(&run->temporary, &text));
	unlink(run->temporary);
	run->appends = options->strict && is_current(run->goal, version->name);
	if (run->appends)
		TT_TRY(copy_file(run->temporary, run->goal));
	TT_TRY(tt_report_db_init(&run->import.db, run->temporary, &how));
	return options->svg ? make_drawn(run) : TTNN_OK;
}

static uint64_t total_size(const struct tt_report_names *files)
{
	uint64_t total = 0;
	struct stat info;

	for (size_t i = 0; i < files->count; i++)
		if (stat(files->data[i], &info) == 0)
			total += (uint64_t)info.st_size;
	return total;
}

/* The name that the visualizer shows is in a config.json: it goes along if there is one. */
static tt_status keep_config(struct run *run)
{
	const struct tt_report_options *options = run->import.options;
	const struct tt_report_names *files = &run->input->files;
	const char *file = files->count ? files->data[0] : NULL;
	const char *slash = file ? strrchr(file, '/') : NULL;
	struct tt_str from = {0}, to = {0};
	tt_status status;

	tt_str_add(&from, file, slash ? (size_t)(slash + 1 - file) : 0);
	tt_str_adds(&from, "config.json");
	tt_str_addf(&to, "%s/config.json", options->output);
	status = from.failed || to.failed ? tt_fail_nomem() : TTNN_OK;
	if (status == TTNN_OK && file && access(from.data, F_OK) == 0 && access(to.data, F_OK) != 0)
		status = copy_file(to.data, from.data);
	tt_str_deinit(&from);
	tt_str_deinit(&to);
	return status;
}

/* Everything gets its name. */
static tt_status finish(struct run *run)
{
	tt_status status = TTNN_OK;

	TT_TRY(tt_report_db_finish(&run->import.db));
	if (rename(run->temporary, run->goal) != 0)
		return tt_fail(TTNN_IO, "%s: cannot rename: %s", run->goal, strerror(errno));
	for (size_t i = 0; i < run->sides.files.count; i++) {
		tt_status one = tt_file_commit(run->sides.files.data[i]);

		status = status == TTNN_OK ? one : status;
	}
	run->sides.files.count = 0;
	if (status == TTNN_OK && !run->import.options->strict)
		status = keep_config(run);
	return status;
}

/*
 * Nothing takes the place of nothing: a database that was there stays. A report of nothing makes one without rows where
 * there is none, as upstream's does; what is no report makes none, unless strict is asked for.
 */
static tt_status check_found(const struct run *run)
{
	const struct tt_report_options *options = run->import.options;
	const struct tt_report_counts *counts = &run->import.counts;

	if (counts->devices || counts->operations || counts->tensors || counts->buffers ||
	    counts->errors || counts->comparisons || counts->chunks)
		return TTNN_OK;
	if ((options->strict || counts->files) && (run->appends || access(run->goal, F_OK) != 0))
		return TTNN_OK;
	return tt_fail(TTNN_NOTFOUND, "%s: %s, so nothing was imported", options->input,
		       counts->files ? "what was recorded is empty"
		       : run->input->in_folder
			       ? "no file in this folder is a report that can be read"
			       : "this is no report that can be read");
}

/*
 * A file that is broken is left out, if it is one of a folder: what it had added already is not to be taken back, so
 * the others are imported again, once all that are broken are known.
 */
static tt_status leave_broken(struct run *run, size_t at)
{
	struct input *input = run->input;
	char *path = input->files.data[at];

	TT_TRY(tt_report_leave(&input->lefts, path, ttnn_error(), true));
	if (!run->import.counts.broken++)
		snprintf(run->import.counts.fault, sizeof(run->import.counts.fault), "%s",
			 ttnn_error());
	input->again = true;
	input->files.data[at] = NULL;
	tt_free(path);
	return TTNN_OK;
}

static tt_status import_files(struct run *run, const struct tt_report_file_args *args)
{
	struct tt_report_names *files = &run->input->files;
	bool kind = args->in_folder && !run->import.options->strict, own = false;
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++) {
		tt_status status = tt_report_file(&own, args, files->data[i]);

		if (status != TTNN_OK && kind && own)
			status = leave_broken(run, i);
		TT_TRY(status);
	}
	for (size_t i = 0; i < files->count; i++)
		if (files->data[i])
			files->data[kept++] = files->data[i];
	files->count = kept;
	return kept || !run->input->again ? TTNN_OK
					  : tt_fail(TTNN_FORMAT, "%s", run->import.counts.fault);
}

static tt_status import_all(struct run *run, const struct tt_report_version *version)
{
	struct tt_report_import *import = &run->import;
	struct tt_report_file_args args = {.import = import,
					   .sides = &run->sides,
					   .git = &run->git,
					   .ranks = &run->ranks,
					   .compared = &run->compared,
					   .devices = &run->devices,
					   .in_folder = run->input->in_folder,
					   .lefts = &run->input->lefts};
	tt_status status;

	TT_TRY(open_db(run, version));
	TT_TRY(tt_report_git_ask(&run->git));
	tt_progress_init(&import->progress, "importing", total_size(&run->input->files));
	status = import_files(run, &args);
	tt_progress_deinit(&import->progress);
	if (status != TTNN_OK || run->input->again)
		return status;
	import->counts.buffers = import->db.buffer_rows = import->buffers.rows;
	import->counts.traces = import->traces.rows;
	import->counts.chunks = import->pages.rows;
	import->counts.left = run->input->lefts.files.count;
	TT_TRY(check_found(run));
	TT_TRY(tt_report_lefts_write(import, &run->input->lefts));
	return finish(run);
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* Moves one to OUT/graphs, or removes it. */
static tt_status place_picture(const struct run *run, const char *name, bool keep)
{
	struct tt_str from = {0}, to = {0};
	tt_status status;

	tt_str_addf(&from, "%s/%s", run->drawn, name);
	tt_str_addf(&to, "%s/graphs/%s", run->import.options->output, name);
	status = from.failed || to.failed ? tt_fail_nomem() : TTNN_OK;
	if (status == TTNN_OK && keep && rename(from.data, to.data) != 0)
		status = tt_fail(TTNN_IO, "%s: cannot rename: %s", to.data, strerror(errno));
	if (from.data && !(keep && status == TTNN_OK))
		unlink(from.data);
	tt_str_deinit(&from);
	tt_str_deinit(&to);
	return status;
}

static tt_status make_graphs(const struct run *run)
{
	struct tt_str folder = {0};
	tt_status status;

	tt_str_addf(&folder, "%s/graphs", run->import.options->output);
	status = tt_str_status(&folder);
	if (status == TTNN_OK && mkdir(tt_str_text(&folder), 0777) != 0 && errno != EEXIST)
		status = tt_fail(TTNN_IO, "%s: cannot make the folder: %s", tt_str_text(&folder),
				 strerror(errno));
	tt_str_deinit(&folder);
	return status;
}

/* One that cannot be placed costs nobody the database. */
static void place_pictures(struct run *run, bool keep)
{
	DIR *directory = run->drawn ? opendir(run->drawn) : NULL;
	bool placed = keep && directory && run->import.counts.pictures;
	struct dirent *entry;

	if (placed && make_graphs(run) != TTNN_OK) {
		tt_log(TT_LOG_WARN, "no pictures: %s", ttnn_error());
		run->import.counts.pictures = 0;
		placed = false;
	}
	while (directory && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (place_picture(run, entry->d_name, placed) == TTNN_OK)
			continue;
		tt_log(TT_LOG_WARN, "no picture: %s", ttnn_error());
		run->import.counts.pictures--;
	}
	if (directory) {
		closedir(directory);
		rmdir(run->drawn);
	}
}

/* Imports what is to be imported; input->again when it is to be tried without what is broken. */
static tt_status import_once(struct tt_report_counts *counts, struct input *input,
			     const struct tt_report_options *options,
			     const struct tt_report_version *version)
{
	struct run *run = tt_calloc(1, sizeof(*run));
	tt_status status;

	if (!run)
		return tt_fail_nomem();
	input->again = false;
	run->input = input;
	run->import.options = options;
	run->import.counts.broken = counts->broken;
	memcpy(run->import.counts.fault, counts->fault, sizeof(counts->fault));
	tt_report_tensors_init(&run->import.tensors, options->output);
	tt_report_captured_init(&run->import.captured, options->output);
	status = import_all(run, version);
	place_pictures(run, status == TTNN_OK && !input->again);
	*counts = run->import.counts;
	if (run->import.source)
		run->import.source->free(run->import.source);
	run_deinit(run);
	return status;
}

tt_status tt_report_import(struct tt_report_counts *counts, const struct tt_report_options *options)
{
	const struct tt_report_version *version = options->schema
							  ? tt_report_version_find(options->schema)
							  : tt_report_version_default();
	struct tt_fd_guard guard; /* the database writes by itself */
	struct input input = {.there = strlen(options->output)};
	tt_status status;

	*counts = (struct tt_report_counts){0};
	if (!*options->input || !*options->output)
		return tt_fail(TTNN_INVALID, "the path of %s is empty",
			       *options->input ? "the folder for the database" : "the report");
	if (!version)
		return tt_fail(TTNN_INVALID, "'%s' is no version of the schema: 3.3 or 3.5",
			       options->schema);
	tt_fd_guard(&guard);
	status = tt_report_names_list(&input.files, &input.in_folder, options->input,
				      options->strict);
	input.again = true;
	while (status == TTNN_OK && input.again)
		status = import_once(counts, &input, options, version);
	tt_report_names_deinit(&input.files);
	tt_report_lefts_deinit(&input.lefts);
	tt_fd_unguard(&guard);
	if (status != TTNN_OK)
		remove_folder(options->output, input.there);
	return status;
}

/* What stands between a folder's path and a name in it. */
static const char *slash_behind(const char *folder)
{
	size_t length = strlen(folder);

	return length && folder[length - 1] == '/' ? "" : "/";
}

void tt_report_summary(struct tt_str *out, const struct tt_report_counts *counts,
		       const struct tt_report_options *options)
{
	const struct {
		uint64_t count;
		const char *text;
		bool always;
	} rows[] = {
		{counts->devices, "devices", true},
		{counts->operations, "operations", true},
		{counts->tensors, "tensors", true},
		{counts->places, "device tensor entries", false},
		{counts->buffers, "buffers", true},
		{counts->edges, "edges", true},
		{counts->errors, "errors captured", false},
		{counts->traces, "stack traces captured", false},
		{counts->comparisons, "tensor comparison records", false},
		{counts->lifetimes, "tensor lifetime rows", false},
		{counts->consumers, "tensor_consumers rows", false},
		{counts->producers, "tensor_producers rows", false},
		{counts->chunks, "buffer chunks", false},
	};

	tt_str_addf(out, "Imported %" PRIu64 " report(s) into %s%s%s", counts->files,
		    options->output, slash_behind(options->output), db_name(options));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].count && !rows[i].always)
			continue;
		tt_str_addf(out, "\n  - %" PRIu64 " %s", rows[i].count, rows[i].text);
		if (rows[i].count == counts->lifetimes && strstr(rows[i].text, "lifetime"))
			tt_str_addf(out, " (also in %s/*.tensor_lifetime.json)", options->output);
	}
	if (counts->cluster)
		tt_str_adds(out, "\n  - cluster_descriptor YAML saved");
	if (counts->mesh)
		tt_str_adds(out, "\n  - physical_chip_mesh_coordinate_mapping YAML saved");
	if (options->svg)
		tt_str_addf(out, "\n  - %" PRIu64 " SVG visualizations", counts->pictures);
	if (options->svg && counts->pictures)
		tt_str_addf(out, " in %s%sgraphs/", options->output, slash_behind(options->output));
	if (counts->left)
		tt_str_addf(out, "\n  - %" PRIu64 " file(s) left out, named in report_metadata",
			    counts->left);
}

tt_status tt_report_verdict(const struct tt_report_counts *counts,
			    const struct tt_report_options *options)
{
	if (!counts->broken)
		return TTNN_OK;
	if (counts->broken == 1)
		return tt_fail(TTNN_FORMAT, "%s: all but one broken file were imported: %s",
			       options->input, counts->fault);
	return tt_fail(TTNN_FORMAT,
		       "%s: all but %" PRIu64 " broken files were imported, the first of them: %s",
		       options->input, counts->broken, counts->fault);
}

enum ttnn_status ttnn_import_report(char **summary, const char *input, const char *output,
				    const struct ttnn_import_options *options)
{
	static const struct ttnn_import_options none;
	const struct ttnn_import_options *given = options ? options : &none;
	struct tt_report_options report = {
		.input = input,
		.output = output,
		.db_name = given->db_name,
		.schema = given->schema,
		.strict = given->strict,
		.as_tables = given->as_tables,
		.svg = given->svg,
		.dialect = tt_dialect_default(),
	};
	struct tt_report_counts counts;
	struct tt_str text = {0};

	if (summary)
		*summary = NULL;
	TT_TRY(tt_report_import(&counts, &report));
	if (summary) {
		tt_report_summary(&text, &counts, &report);
		TT_TRY(tt_str_take(summary, &text));
	}
	return tt_report_verdict(&counts, &report);
}
