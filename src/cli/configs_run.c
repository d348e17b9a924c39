#include "cli/configs_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/child.h"

/* ---- what it is --------------------------------------------------------------------------------------------- */

/* "a.py" of "a.py::test" */
static char *file_of(const char *operand)
{
	const char *end = strstr(operand, "::");
	char *copy = tt_strdup(operand);

	if (copy && end)
		copy[end - operand] = '\0';
	return copy;
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Whether a file looks as if it had tests. */
static tt_status names_tests(bool *out, const char *path)
{
	static const char *const words[] = {"def test", "class Test"};
	size_t size;
	char *text;

	TT_TRY(tt_file_read(&text, &size, path));
	*out = false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*out |= memmem(text, size, words[i], strlen(words[i])) != NULL;
	tt_free(text);
	return TTNN_OK;
}

/* Asks pytest whether it finds tests there, without a word. It runs the file for that: a script is not to run twice. */
static tt_status has_tests(bool *out, const struct configs_run *run, const char *path)
{
	char *command[] = {
		(char *)"sh",
		(char *)"-c",
		(char *)"exec \"$0\" -m pytest --collect-only -q -p ttnn.pytest_plugin \"$1\" "
			">/dev/null 2>&1",
		(char *)run->python,
		(char *)path,
		NULL};
	int code;

	TT_TRY(names_tests(out, path));
	if (!*out)
		return TTNN_OK;
	TT_TRY(cli_child(&code, command));
	*out = code == 0;
	return TTNN_OK;
}

enum kind { PROGRAM, SCRIPT, PYTEST };

static tt_status find_kind(enum kind *out, const struct configs_run *run, const char *operand)
{
	bool found = false;

	*out = PROGRAM;
	if (strstr(operand, "::") || is_folder(operand)) {
		*out = PYTEST;
		return TTNN_OK;
	}
	if (!tt_ends_with(operand, ".py"))
		return TTNN_OK;
	if (access(operand, R_OK) != 0)
		return tt_fail(TTNN_NOTFOUND, "%s: %s", operand, strerror(errno));
	TT_TRY(has_tests(&found, run, operand));
	*out = found ? PYTEST : SCRIPT;
	return TTNN_OK;
}

/* ---- running ------------------------------------------------------------------------------------------------- */

static const char *const pytest_words[] = {"-v", "-s", "--tb=short", "-p", "ttnn.pytest_plugin"};
#define WORDS (sizeof(pytest_words) / sizeof(pytest_words[0]))

/* The command of a kind; its words are borrowed. */
static char **make_command(enum kind kind, const struct configs_run *run, size_t count,
			   char **operands)
{
	char **command = tt_calloc(count + WORDS + 4, sizeof(*command));
	size_t used = 0;

	if (!command)
		return NULL;
	if (kind != PROGRAM)
		command[used++] = (char *)run->python;
	if (kind == PYTEST) {
		command[used++] = (char *)"-m";
		command[used++] = (char *)"pytest";
	}
	command[used++] = operands[0];
	for (size_t i = 0; kind == PYTEST && i < WORDS; i++)
		command[used++] = (char *)pytest_words[i];
	for (size_t i = 1; i < count; i++)
		command[used++] = operands[i];
	return command;
}

static tt_status make_places(struct configs_run *run, const char *operand)
{
	struct tt_str path = {0};
	char *file;

	run->root = realpath(".", NULL);
	if (!run->root)
		return tt_fail(TTNN_IO, "the working directory: %s", strerror(errno));
	/* The program may go elsewhere before it records. */
	if (*run->place != '/')
		tt_str_addf(&path, "%s/", run->root);
	tt_str_addf(&path, "%s/.traces-XXXXXX", run->place);
	TT_TRY(tt_str_take(&run->directory, &path));
	if (!mkdtemp(run->directory))
		return tt_fail(TTNN_IO, "%s: %s", run->directory, strerror(errno));
	file = file_of(operand);
	if (!file)
		return tt_fail_nomem();
	run->file = file;
	run->source = file;
	if (strncmp(file, run->root, strlen(run->root)) == 0 && file[strlen(run->root)] == '/')
		run->source = file + strlen(run->root) + 1;
	return TTNN_OK;
}

tt_status configs_run(struct configs_run *run, size_t count, char **operands)
{
	enum kind kind = PROGRAM;
	char **command;
	tt_status status;

	TT_TRY(find_kind(&kind, run, operands[0]));
	TT_TRY(make_places(run, operands[0]));
	unsetenv("TTNN_PROFILE");
	if (setenv("TTNN_TRACE", run->directory, 1) != 0 ||
	    setenv("TTNN_TRACE_OPTIONS", "", 1) != 0)
		return tt_fail_nomem();
	command = make_command(kind, run, count, operands);
	if (!command)
		return tt_fail_nomem();
	status = cli_child(&run->code, command);
	tt_free(command);
	if (status == TTNN_OK)
		cli_child_complete(run->directory, 0);
	return status;
}

/* ---- afterwards ------------------------------------------------------------------------------------------------ */

void configs_run_clean(struct configs_run *run, const char *keep)
{
	struct dirent **entries = NULL;
	int count = run->directory && !run->stays
			    ? scandir(run->directory, &entries, NULL, alphasort)
			    : 0;

	for (int i = 0; i < count; i++) {
		struct tt_str from = {0}, to = {0};

		tt_str_addf(&from, "%s/%s", run->directory, entries[i]->d_name);
		if (keep && tt_ends_with(entries[i]->d_name, ".ttrace")) {
			tt_str_addf(&to, "%s-%s", keep, entries[i]->d_name);
			if (rename(tt_str_text(&from), tt_str_text(&to)) != 0)
				fprintf(stderr, "ttnn: %s: %s\n", tt_str_text(&to),
					strerror(errno));
		}
		if (*entries[i]->d_name != '.')
			unlink(tt_str_text(&from));
		tt_str_deinit(&from);
		tt_str_deinit(&to);
		free(entries[i]);
	}
	free(entries);
	if (run->directory && !run->stays)
		rmdir(run->directory);
	tt_free(run->directory);
	free(run->root);
	tt_free(run->file);
}
