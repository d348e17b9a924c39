#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "cli/cli.h"

/* ---- topics --------------------------------------------------------------------------------------------- */

static int print_environment(void)
{
	size_t count;
	const struct tt_env_row *rows = tt_env_rows(&count);

	puts("Environment variables. One that is set to what it cannot be is refused; an empty one is\n"
	     "as if it were not set. docs/environment.md tells more.\n");
	for (size_t i = 0; i < count; i++)
		printf("  %s=%s\n        %s\n", rows[i].name, rows[i].values, rows[i].help);
	return TT_EXIT_DONE;
}

/* Help that is about no command. To add a topic: its row. */
static const struct topic {
	const char *name;
	int (*print)(void);
} topics[] = {
	{"environment", print_environment},
};

static const struct topic *find_topic(size_t count, char **operands)
{
	for (size_t i = 0; count == 1 && i < sizeof(topics) / sizeof(topics[0]); i++)
		if (strcmp(topics[i].name, operands[0]) == 0)
			return &topics[i];
	return NULL;
}

/* ---- commands ------------------------------------------------------------------------------------------- */

/* Goes down the words as far as they are commands and prints what the last one's help says. */
static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	const struct tt_cmd *about = &cli_root;
	struct tt_str path = {0}, text = {0};
	int code = TT_EXIT_DONE;

	const struct topic *topic = find_topic(count, operands);

	(void)cmd;
	if (topic)
		return topic->print();
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
	.help = "print help about a command, or about the environment",
	.operands = "[COMMAND...|environment]",
	.most = TT_CMD_ANY,
	.run = run,
};
