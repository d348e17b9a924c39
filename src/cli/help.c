#include <stdio.h>

#include "cli/cli.h"

/* Goes down the words as far as they are commands and prints what the last one's help says. */
static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	const struct tt_cmd *about = &cli_root;
	struct tt_str path = {0}, text = {0};
	int code = TT_EXIT_DONE;

	(void)cmd;
	tt_str_adds(&path, cli_root.name);
	for (size_t i = 0; i < count && about; i++) {
		const struct tt_cmd *below = tt_cmd_find(about, operands[i]);

		if (!below)
			tt_cmd_fail_unknown(about, tt_str_text(&path), operands[i]);
		tt_str_addf(&path, " %s", operands[i]);
		about = below;
	}
	if (about) {
		tt_cmd_help(&text, about, tt_str_text(&path));
		fputs(tt_str_text(&text), stdout);
	}
	if (!about || tt_str_status(&text) != TTNN_OK)
		code = cli_fail();
	tt_str_deinit(&path);
	tt_str_deinit(&text);
	return code;
}

const struct tt_cmd cli_help = {
	.name = "help",
	.help = "print help about a command",
	.operands = "[COMMAND...]",
	.most = TT_CMD_ANY,
	.run = run,
};
