#include <stdio.h>
#include <ttnn.h>

#include "cli/cli.h"

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)cmd;
	(void)count;
	(void)operands;
	printf("ttnn %s\n", ttnn_version());
	return TT_EXIT_DONE;
}

const struct tt_cmd cli_version = {
	.name = "version",
	.help = "print the version",
	.run = run,
};
