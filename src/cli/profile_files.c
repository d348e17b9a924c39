#include "cli/profile_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "event/live.h"
#include "event/ttrace.h"

#define BASE "results/perf"
#define TRACES "traces"
/* What a workspace has, and where documents look for the timeline in it. */
#define WORKSPACE "tt_torch/tools/tt_profile.py"
#define TIMELINE "install/tt-metal/generated/profiler/.logs/tracy_profile_log_host.tracy"

/* ---- before -------------------------------------------------------------------------------------------- */

static tt_status make_timeline(struct cli_profile_files *files)
{
	struct tt_str path = {0};

	if (access(WORKSPACE, F_OK) == 0)
		tt_str_adds(&path, TIMELINE);
	else
		tt_str_addf(&path, "%.*s.tracy",
			    (int)tt_length_without(files->report, strlen(files->report), ".csv"),
			    files->report);
	return tt_str_take(&files->timeline, &path);
}

static tt_status make_names(struct cli_profile_files *files, const char *output)
{
	struct tt_str report = {0}, folder = {0};
	size_t length;

	if (*output != '/')
		tt_str_adds(&report, BASE "/");
	tt_str_adds(&report, output);
	length = tt_length_without(tt_str_text(&report), report.length, ".csv");
	tt_str_add(&folder, tt_str_text(&report), length);
	/* A report without an ending has the name that its folder would have. */
	if (length == report.length)
		tt_str_adds(&folder, ".report");
	if (tt_str_take(&files->folder, &folder) != TTNN_OK) {
		tt_str_deinit(&report);
		return TTNN_NOMEM;
	}
	return tt_str_take(&files->report, &report);
}

/* The path of something in the folder, absolute if the folder is. */
static char *inside(const char *folder, const char *name)
{
	struct tt_str path = {0};
	char *text;

	tt_str_addf(&path, "%s/%s", folder, name);
	return tt_str_take(&text, &path) == TTNN_OK ? text : NULL;
}

/*
 * Makes the folder and takes its lock. A profile that ends removes a folder with nothing in it: then the lock is one of a
 * folder that is gone, and all is done again. Where the file system has no locks there are none.
 */
static tt_status lock_folder(struct cli_profile_files *files)
{
	struct stat own, there;

	for (;;) {
		TT_TRY(tt_file_make_dirs(files->folder));
		files->lock = tt_fd_open(files->folder, O_RDONLY | O_DIRECTORY);
		if (files->lock < 0 && errno == ENOENT)
			continue;
		if (files->lock < 0)
			return tt_fail(TTNN_IO, "%s: %s", files->folder, strerror(errno));
		if (flock(files->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
			close(files->lock);
			files->lock = -1;
			return tt_fail(TTNN_STATE,
				       "%s: another profile of this name runs; give this one a "
				       "name of its own with -o",
				       files->report);
		}
		if (fstat(files->lock, &own) == 0 && stat(files->folder, &there) == 0 &&
		    own.st_ino == there.st_ino && own.st_dev == there.st_dev)
			return TTNN_OK;
		close(files->lock);
	}
}

static tt_status make_traces(struct cli_profile_files *files)
{
	char *whole = realpath(files->folder, NULL);

	if (!whole)
		return tt_fail(TTNN_IO, "%s: %s", files->folder, strerror(errno));
	files->traces = inside(whole, TRACES "-XXXXXX");
	free(whole);
	if (!files->traces)
		return tt_fail_nomem();
	if (mkdtemp(files->traces)) {
		/* It lets nobody else in, but the reports beside it are for everybody. */
		mode_t mask = umask(0);

		umask(mask);
		return chmod(files->traces, 0777 & ~mask) == 0
			       ? TTNN_OK
			       : tt_fail(TTNN_IO, "%s: %s", files->traces, strerror(errno));
	}
	tt_fail(TTNN_IO, "%s: cannot write there: %s", files->folder, strerror(errno));
	tt_free(files->traces);
	files->traces = NULL;
	return TTNN_IO;
}

tt_status cli_profile_files_make(struct cli_profile_files *files, const char *output)
{
	struct stat facts;

	files->lock = -1;
	if (tt_ends_with(output, "/"))
		return tt_fail(TTNN_INVALID, "--output: %s is no name of a file", output);
	TT_TRY(make_names(files, output));
	TT_TRY(make_timeline(files));
	if (stat(files->report, &facts) == 0 && S_ISDIR(facts.st_mode))
		return tt_fail(TTNN_INVALID, "--output: %s is a directory", files->report);
	TT_TRY(lock_folder(files));
	return make_traces(files);
}

/* ---- after --------------------------------------------------------------------------------------------- */

/* Takes over the path. */
static tt_status add_input(struct cli_profile_files *files, char *path)
{
	struct tt_source *source;
	struct tt_ops_input *input;
	struct stat facts;

	if (tt_source_open(&source, path) != TTNN_OK) {
		fprintf(stderr, "ttnn profile: %s\n", ttnn_error());
		/* A disk that was full from the start leaves empty files. */
		if (stat(path, &facts) == 0 && !facts.st_size)
			unlink(path);
		tt_free(path);
		return TTNN_OK;
	}
	files->events += tt_source_info(source)->events;
	files->threads += tt_source_info(source)->threads;
	tt_source_close(source);
	input = TT_VEC_PUSH(&files->inputs);
	if (!input) {
		tt_free(path);
		return tt_fail_nomem();
	}
	*input = (struct tt_ops_input){.path = path};
	return TTNN_OK;
}

tt_status cli_profile_files_list(struct cli_profile_files *files)
{
	struct dirent **entries = NULL;
	int count = scandir(files->traces, &entries, NULL, alphasort);
	tt_status status = TTNN_OK;

	if (count < 0)
		return tt_fail(TTNN_IO, "%s: %s", files->traces, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (status == TTNN_OK && tt_ends_with(entries[i]->d_name, TT_TRACE_SUFFIX)) {
			char *path = inside(files->traces, entries[i]->d_name);

			status = path ? add_input(files, path) : tt_fail_nomem();
		}
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* Those of the last profile; a folder with something else in it stays. */
static tt_status remove_traces(const char *path)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, NULL, NULL);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *file = inside(path, name);

		if (file && (tt_ends_with(name, TT_TRACE_SUFFIX) ||
			     tt_ends_with(name, TT_TRACE_SUFFIX TT_LIVE_SUFFIX)))
			unlink(file);
		tt_free(file);
		free(entries[i]);
	}
	free(entries);
	if (rmdir(path) != 0 && errno != ENOENT)
		return tt_fail(TTNN_IO, "%s: cannot be replaced: %s", path, strerror(errno));
	return TTNN_OK;
}

static tt_status move_inputs(struct cli_profile_files *files, const char *to)
{
	for (size_t i = 0; i < files->inputs.count; i++) {
		const char *path = files->inputs.data[i].path;
		char *moved = inside(to, strrchr(path, '/') + 1);

		if (!moved)
			return tt_fail_nomem();
		tt_free((void *)(uintptr_t)path);
		files->inputs.data[i].path = moved;
	}
	return TTNN_OK;
}

tt_status cli_profile_files_settle(struct cli_profile_files *files)
{
	char *last = inside(files->folder, TRACES);
	tt_status status = last ? remove_traces(last) : tt_fail_nomem();

	if (status == TTNN_OK && rename(files->traces, last) != 0)
		status = tt_fail(TTNN_IO, "%s: %s", last, strerror(errno));
	if (status != TTNN_OK) {
		tt_free(last);
		return status;
	}
	tt_free(files->traces);
	files->traces = last;
	return move_inputs(files, last);
}

void cli_profile_files_remove(const struct cli_profile_files *files)
{
	if (files->traces)
		rmdir(files->traces);
	if (files->lock >= 0)
		rmdir(files->folder);
}

void cli_profile_files_deinit(struct cli_profile_files *files)
{
	for (size_t i = 0; i < files->inputs.count; i++)
		tt_free((void *)(uintptr_t)files->inputs.data[i].path);
	TT_VEC_DEINIT(&files->inputs);
	if (files->lock >= 0)
		close(files->lock);
	tt_free(files->report);
	tt_free(files->timeline);
	tt_free(files->folder);
	tt_free(files->traces);
}
