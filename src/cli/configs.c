/* ttnn configs: configurations of operations, and the master files that hold them. One file per group of subcommands. */
#include "cli/configs.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"

const char *configs_master;
int configs_layout = -1;

/* Where the workspace has its master; the first that is there. */
static const char *const usual[] = {
	"model_tracer/traced_operations/ttnn_operations_master.json",
	"traced_operations/ttnn_operations_master.json",
};

const char *configs_path(void)
{
	if (configs_master)
		return configs_master;
	return access(usual[0], F_OK) == 0 || access("model_tracer", F_OK) == 0 ? usual[0]
										: usual[1];
}

enum tt_master_layout configs_layout_of(const struct tt_master *master)
{
	return configs_layout < 0 ? tt_master_layout(master)
				  : (enum tt_master_layout)configs_layout;
}

enum tt_master_layout configs_new_layout(void)
{
	return configs_layout < 0 ? TT_MASTER_V1 : (enum tt_master_layout)configs_layout;
}

/* To add a subcommand: its row here, its name in configs.h, a case in tests/cli. */
static const struct tt_cmd *const commands[] = {
	&configs_add,   &configs_check, &configs_diff,  &configs_export, &configs_list,
	&configs_merge, &configs_show,  &configs_stats, &configs_trace,  NULL,
};

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)count;
	(void)operands;
	tt_fail(TTNN_INVALID, "a subcommand is missing");
	(void)cmd;
	return tt_cmd_complain("ttnn configs");
}

const struct tt_cmd cli_configs = {
	.name = "configs",
	.help = "configurations of operations that were traced: look at them, merge them",
	.commands = commands,
	.more = "A master file holds every unique configuration of operations, as\n"
		"ttnn_operations_master.json does (docs/formats/master.md).",
	.run = run,
};
