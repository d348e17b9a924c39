/* ttnn sweep status, ttnn sweep cancel: runs on clusters, followed and ended. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/sweep.h"
#include "sweep/jobs.h"

#define WATCH_SECONDS 2

static const char *database = SWEEP_RESULTS "/results.sqlite";
static bool as_json, watch;

static const struct tt_opt status_options[] = {
	{"db", 0, TT_OPT_STRING, &database, "URL",
	 "the database (default: " SWEEP_RESULTS "/results.sqlite)"},
	{"watch", 'w', TT_OPT_FLAG, &watch, NULL, "print it again until the run has ended"},
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"},
	{0},
};

static tt_status print(const struct tt_job_progress *progress)
{
	struct tt_str text = {0};
	tt_status status = TTNN_OK;

	if (as_json)
		status = tt_job_progress_json(&text, progress);
	else
		tt_job_progress_text(&text, progress);
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	if (status == TTNN_OK)
		fputs(tt_str_text(&text), stdout);
	fflush(stdout);
	tt_str_deinit(&text);
	return status;
}

static int run_status(const struct tt_cmd *cmd, size_t count, char **operands)
{
	char name[32] = "";

	(void)cmd;
	for (;;) {
		struct tt_job_progress progress;
		bool ended, bad;
		tt_status status;

		/* A run that begins meanwhile is not the one that is watched. */
		if (tt_job_progress_read(&progress, database,
					 *name   ? name
					 : count ? operands[0]
						 : NULL) != TTNN_OK)
			return cli_fail();
		snprintf(name, sizeof(name), "%s", progress.run);
		status = print(&progress);
		ended = tt_job_progress_ended(&progress);
		bad = progress.failed || strcmp(progress.status, "cancelled") == 0;
		tt_job_progress_deinit(&progress);
		if (status != TTNN_OK)
			return cli_fail();
		if (!watch || ended)
			return bad ? TT_EXIT_NO : TT_EXIT_DONE;
		sleep(WATCH_SECONDS);
	}
}

const struct tt_cmd sweep_status = {
	.name = "status",
	.help = "how far a run is, wherever it runs",
	.options = status_options,
	.operands = "[RUN]",
	.most = 1,
	.more = "RUN is the name of a run; without one it is the newest. Exit code: 0 when nothing failed, 1 when vectors\n"
		"failed or the run was cancelled.",
	.run = run_status,
};

/* ---- cancel ----------------------------------------------------------------------------------------------------- */

static const struct tt_opt cancel_options[] = {
	{"db", 0, TT_OPT_STRING, &database, "URL",
	 "the database (default: " SWEEP_RESULTS "/results.sqlite)"},
	{0},
};

/* The scheduler's own command, where it is on this machine. */
static tt_status end_job(const struct tt_job *job)
{
	bool slurm = strcmp(job->engine, "slurm") == 0;
	char *words[] = {slurm ? "scancel" : "kubectl", slurm ? NULL : "delete",
			 (char *)(uintptr_t)job->job, NULL};
	int code = 0;

	if (slurm)
		words[1] = words[2], words[2] = NULL;
	if (!*job->job)
		return TTNN_OK;
	if (!cli_child_there(words[0])) {
		printf("there is no %s here: the tasks of %s job %s stop by themselves\n", words[0],
		       job->engine, job->job);
		return TTNN_OK;
	}
	TT_TRY(cli_child(&code, words));
	return code ? tt_fail(TTNN_IO, "%s %s: exit code %d; tasks stop by themselves", words[0],
			      job->job, code)
		    : TTNN_OK;
}

static int run_cancel(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_job job;
	tt_status status;

	(void)cmd;
	(void)count;
	if (tt_job_cancel(database, operands[0]) != TTNN_OK)
		return cli_fail();
	status = tt_job_find(&job, database, operands[0]);
	if (status == TTNN_OK)
		status = end_job(&job);
	else if (status == TTNN_NOTFOUND) /* nobody submitted it: its runner sees the row */
		status = TTNN_OK;
	tt_job_deinit(&job);
	if (status != TTNN_OK)
		return cli_fail();
	printf("run %s is cancelled; its rows stay\n", operands[0]);
	return TT_EXIT_DONE;
}

const struct tt_cmd sweep_cancel = {
	.name = "cancel",
	.help = "end a run before all its vectors have rows",
	.options = cancel_options,
	.operands = "RUN",
	.least = 1,
	.most = 1,
	.more = "Runners stop when they next write rows; the scheduler's job is cancelled, too, where its command is here.",
	.run = run_cancel,
};
