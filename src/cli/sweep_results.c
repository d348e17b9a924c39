/* ttnn sweep results: what became of runs. */
#include "cli/cli.h"
#include "cli/sweep.h"

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)cmd;
	(void)count;
	(void)operands;
	return 0;
}

const struct tt_cmd sweep_results = {
	.name = "results",
	.help = "what became of the vectors of a run",
	.run = run,
};
