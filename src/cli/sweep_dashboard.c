/* ttnn sweep dashboard: charts of runs, for Apache Superset. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/sweep.h"
#include "sweep/bundle.h"

static const char *database = SWEEP_RESULTS "/results.sqlite", *output = "ttnn-sweeps.zip";

static const struct tt_opt options[] = {
	{"db", 0, TT_OPT_STRING, &database, "URL",
	 "the database as Superset reaches it (default: " SWEEP_RESULTS "/results.sqlite)"},
	{"output", 'o', TT_OPT_STRING, &output, "FILE", "(default: ttnn-sweeps.zip)"},
	{0},
};

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)cmd;
	(void)count;
	(void)operands;
	if (tt_bundle_write(output, database) != TTNN_OK)
		return cli_fail();
	printf("%s: import it in Superset under Dashboards\n", output);
	return TT_EXIT_DONE;
}

const struct tt_cmd sweep_dashboard = {
	.name = "dashboard",
	.help = "write a bundle of charts for Apache Superset",
	.options = options,
	.more = "No password is written: Superset is told it by whoever imports the bundle.",
	.run = run,
};
