#include <stdio.h>

#include "cli/cli.h"

static int run_bash(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_str text = {0};
	int code = TT_EXIT_DONE;

	(void)cmd;
	(void)count;
	(void)operands;
	tt_cmd_completion_bash(&text, &cli_root);
	if (tt_str_status(&text) == TTNN_OK)
		fputs(tt_str_text(&text), stdout);
	else
		code = cli_fail();
	tt_str_deinit(&text);
	return code;
}

static const struct tt_cmd bash = {
	.name = "bash",
	.help = "for bash: source <(ttnn completion bash)",
	.run = run_bash,
};

static const struct tt_cmd *const shells[] = {&bash, NULL};

const struct tt_cmd cli_completion = {
	.name = "completion",
	.help = "print a script that completes command lines",
	.commands = shells,
};
