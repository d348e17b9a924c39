/* ttnn sweep gen: vector files of configurations. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/sweep.h"

static const char *output = SWEEP_VECTORS, *list, *tag;

static const struct tt_opt options[] = {
	SWEEP_PLAN_OPTIONS,
	{"output", 'o', TT_OPT_STRING, &output, "DIR",
	 "where vector files go (default: " SWEEP_VECTORS ")"},
	{"list", 0, TT_OPT_STRING, &list, "FILE",
	 "write one list instead: a line for each vector, which leads to the master"},
	{"tag", 0, TT_OPT_STRING, &tag, "TEXT",
	 "mark vectors with this (default: the user's name)"},
	{0},
};

static tt_status generate(size_t count, char **operands)
{
	struct tt_plan_written written;
	struct tt_plan plan = {0};
	tt_status status = sweep_plan(&plan, count, operands);

	if (status == TTNN_OK && list) {
		status = tt_plan_write_list(&plan, list, sweep_master);
		if (status == TTNN_OK)
			printf("%zu vectors, %s\n", plan.vectors.count, list);
	} else if (status == TTNN_OK) {
		status = tt_plan_write(&written, &plan, output, tag);
		if (status == TTNN_OK)
			printf("%zu vectors of %zu modules, %s/; %zu had them already\n",
			       written.vectors, written.files, output, written.unchanged);
	}
	tt_plan_deinit(&plan);
	return status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)cmd;
	if (!sweep_master && !count) {
		tt_fail(TTNN_INVALID, "--master FILE is missing: which configurations?");
		return tt_cmd_complain("ttnn sweep gen");
	}
	if (list && (!sweep_master || count)) {
		tt_fail(TTNN_INVALID, "--list needs --master FILE alone: its lines lead there");
		return tt_cmd_complain("ttnn sweep gen");
	}
	return generate(count, operands) == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

const struct tt_cmd sweep_gen = {
	.name = "gen",
	.help = "write vector files of recorded configurations",
	.options = options,
	.operands = "[FILE...]",
	.most = TT_CMD_ANY,
	.more = "Vectors are those of --master FILE, or of vector files and lists. Each module, which is an operation, has a file\n"
		"of its own; a suite that is there already stays as it is (docs/formats/vectors.md).",
	.run = run,
};
