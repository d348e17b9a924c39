/*
 * The program `ttnn`: a table of commands.
 *
 * To add a command: write src/cli/NAME.c with `const struct tt_cmd cli_NAME = {...}` (options and
 * operands as rows, a function to run; base/opt.h), declare it in cli.h, add its line below and a
 * case in tests/cli. Help and completion come from the rows. Results go to stdout, messages to
 * stderr; exit 0 done, 1 "no", 2 usage or error.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <ttnn.h>

#include "base/env.h"
#include "cli/cli.h"

static const struct tt_cmd *const commands[] = {
	&cli_completion, &cli_configs, &cli_devices, &cli_diff,      &cli_export, &cli_help,
	&cli_import,     &cli_ops,     &cli_profile, &cli_replay,    &cli_repro,  &cli_show,
	&cli_sweep,      &cli_trace,   &cli_version, &cli_workspace, NULL,
};

static bool print_version;
static const struct tt_opt options[] = {
	{"version", 0, TT_OPT_FLAG, &print_version, NULL, "print the version"},
	{0},
};

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	if (print_version)
		return cli_version.run(&cli_version, count, operands);
	tt_fail(TTNN_INVALID, "a command is missing");
	return tt_cmd_complain(cmd->name);
}

const struct tt_cmd cli_root = {
	.name = "ttnn",
	.help = "TT-NN in plain C: run, record, look, compare; no card needed.",
	.options = options,
	.commands = commands,
	.more = "`ttnn help COMMAND` tells more of one, `ttnn help environment` of the variables that choose the machine,\n"
		"the dialect of graphs, a time-out, recording. In Python: ttnn.graph captures what operations do,\n"
		"--trace-params writes a file for each (docs/python.md).",
	.run = run,
};

int cli_fail(void)
{
	fprintf(stderr, "ttnn: %s\n", ttnn_error());
	return TT_EXIT_ERROR;
}

/* A result that could not be written is an error, whatever the command thought of it. */
static int close_stdout(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	tt_fail(TTNN_IO, "cannot write to standard output: %s", strerror(errno));
	return cli_fail();
}

/* Those that only tell work whatever the environment says. */
static bool only_tells(const char *word)
{
	return !word || word[0] == '-' || strcmp(word, cli_help.name) == 0 ||
	       strcmp(word, cli_version.name) == 0 || strcmp(word, cli_completion.name) == 0;
}

int main(int argc, char **argv)
{
	size_t count = argc > 0 ? (size_t)argc - 1 : 0;

	if (!only_tells(count ? argv[1] : NULL) && tt_env_check() != TTNN_OK)
		return cli_fail();
	return close_stdout(tt_cmd_run(&cli_root, cli_root.name, count, argv + 1));
}
