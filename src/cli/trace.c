/* ttnn trace: runs a program with recording on. All it does is set the environment. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/recording.h"
#include "trace/info.h"
#include "trace/left.h"

static const char *directory = "ttnn-trace", *flush_signal;
static int64_t flush_ms = -1;
static bool stacks, calls, profile, quiet;

static const struct tt_opt options[] = {
	{"output", 'o', TT_OPT_STRING, &directory, "DIR",
	 "where the traces go (default: ttnn-trace)"},
	CLI_RECORDING_OPTIONS,
	{"flush", 0, TT_OPT_COUNT, &flush_ms, "MS",
	 "write what lies in buffers so often (default: 200; 0: when they are full)"},
	{"signal", 0, TT_OPT_STRING, &flush_signal, "NAME",
	 "write it when this signal comes: USR2"},
	{"stacks", 0, TT_OPT_FLAG, &stacks, NULL, "record where every call comes from"},
	{"calls", 0, TT_OPT_FLAG, &calls, NULL, "record arguments as their users wrote them"},
	{"profile", 0, TT_OPT_FLAG, &profile, NULL,
	 "record what performance reports need, as `ttnn profile` does"},
	{"quiet", 'q', TT_OPT_FLAG, &quiet, NULL, "do not say what was written"},
	{0},
};

/* ---- the environment ------------------------------------------------------------------------------------- */

static void add_options(struct tt_str *out)
{
	if (flush_ms >= 0)
		cli_recording_add_number(out, "flush", flush_ms);
	if (flush_signal)
		cli_recording_add(out, "signal", flush_signal);
	if (stacks)
		cli_recording_add(out, "stacks", NULL);
	if (calls)
		cli_recording_add(out, "calls", NULL);
	if (profile)
		cli_recording_add(out, "profile", NULL);
}

/* An absolute path: the program may go elsewhere. */
static tt_status make_directory(char **out)
{
	struct stat facts;

	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		return tt_fail(TTNN_IO, "%s: %s", directory, strerror(errno));
	if (stat(directory, &facts) == 0 && !S_ISDIR(facts.st_mode))
		return tt_fail(TTNN_INVALID, "--output: %s is not a directory", directory);
	if (access(directory, W_OK | X_OK) != 0)
		return tt_fail(TTNN_IO, "%s: cannot write there: %s", directory, strerror(errno));
	*out = realpath(directory, NULL);
	return *out ? TTNN_OK : tt_fail(TTNN_IO, "%s: %s", directory, strerror(errno));
}

static tt_status set_environment(const char *path, const char *words)
{
	/* Inside of a profile: this part is ours. */
	unsetenv("TTNN_PROFILE");
	if (setenv("TTNN_TRACE", path, 1) != 0 || setenv("TTNN_TRACE_OPTIONS", words, 1) != 0)
		return tt_fail_nomem();
	return TTNN_OK;
}

/* All that is to be judged and made before the program runs. */
static tt_status prepare(void)
{
	struct tt_str words = {0};
	char *path = NULL;
	tt_status status = cli_recording_words(&words);

	add_options(&words);
	if (status == TTNN_OK)
		status = cli_recording_judge(&words);
	if (status == TTNN_OK)
		status = make_directory(&path);
	if (status == TTNN_OK)
		status = set_environment(path, tt_str_text(&words));
	free(path);
	tt_str_deinit(&words);
	return status;
}

/* ---- what came of it -------------------------------------------------------------------------------------- */

static void tell_file(const char *path)
{
	struct tt_source *source;
	struct tt_str line = {0};

	if (tt_source_open(&source, path) != TTNN_OK) {
		fprintf(stderr, "ttnn trace: %s\n", ttnn_error());
		return;
	}
	tt_trace_info_line(&line, tt_source_info(source));
	fprintf(stderr, "ttnn trace: %s: %s\n", path, tt_str_text(&line));
	tt_str_deinit(&line);
	tt_source_close(source);
}

static int64_t modified(const char *path)
{
	struct stat facts;

	if (stat(path, &facts) != 0)
		return 0;
	return (int64_t)facts.st_mtim.tv_sec * 1000000000 + facts.st_mtim.tv_nsec;
}

/* The traces that were written since; returns how many. */
static int tell_files(int64_t since)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, alphasort), told = 0;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		struct tt_str path = {0};

		tt_str_addf(&path, "%s/%s", directory, name);
		if (tt_ends_with(name, TT_TRACE_SUFFIX) && modified(tt_str_text(&path)) >= since) {
			tell_file(tt_str_text(&path));
			told++;
		}
		tt_str_deinit(&path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return told;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	/* File systems round times. */
	int64_t since = tt_clock_wall_ns() - 10000000;
	char **command = tt_calloc(count + 1, sizeof(*command));
	tt_status status;
	int code = 0;

	(void)cmd;
	if (!command) {
		tt_fail_nomem();
		return cli_fail();
	}
	memcpy(command, operands, count * sizeof(*command)); /* with NULL at the end */
	status = prepare();
	if (status == TTNN_OK)
		status = cli_child(&code, command);
	tt_free(command);
	if (status != TTNN_OK)
		return cli_fail();
	cli_child_complete(directory, since);
	if (!quiet && !tell_files(since))
		fprintf(stderr, "ttnn trace: nothing was recorded: did %s use the library?\n",
			operands[0]);
	return code;
}

const struct tt_cmd cli_trace = {
	.name = "trace",
	.help = "run a program and record what it does",
	.operands = "PROG ARGS...",
	.least = 1,
	.most = TT_CMD_ANY,
	.stop_at_operand = true,
	.more = "Every process that uses the library writes DIR/PROGRAM-PID.ttrace.\n"
		"The exit code is the program's, or 128 and the signal it died of.\n",
	.options = options,
	.run = run,
};
