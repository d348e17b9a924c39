/* ttnn sweep submit: a run as a job of the scheduler that a cluster has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/sweep.h"
#include "db/db.h"
#include "report/git.h"
#include "sweep/build.h"
#include "sweep/jobs.h"
#include "sweep/submit.h"

#define VECTORS_A_SHARD 100 /* by default, ... */
#define MOST_SHARDS 64      /* ... and so many at most */

/* A scheduler. To add one: a row, its word in the option, a writer in src/sweep. */
struct engine {
	const char *name, *program, *suffix;
	tt_status (*write)(struct tt_str *out, const struct tt_submit *submit);
	const char *words[5]; /* of the command, before the file's name */
};

static const struct engine engines[] = {
	{"slurm", "sbatch", "sh", tt_submit_slurm, {"sbatch", "--parsable"}},
	{"k8s", "kubectl", "yaml", tt_submit_k8s, {"kubectl", "create", "-o", "name", "-f"}},
};

static int engine_number = -1;
static const char *database, *output, *program, *partition, *account, *limit, *image, *name_space,
	*secret, *logs;
static int64_t shards, cpus, retries = 3;
static uint64_t memory;
static struct tt_opt_list extra, run_options;
static bool dry_run, no_submit;

static const struct tt_opt options[] = {
	{"engine", 0, TT_OPT_CHOICE, &engine_number, "slurm|k8s", "who runs it"},
	SWEEP_PLAN_OPTIONS,
	{"db", 0, TT_OPT_STRING, &database, "URL",
	 "the database: a postgresql:// address, or a file that all machines see"},
	{"shards", 0, TT_OPT_POSITIVE, &shards, "N",
	 "in so many tasks (default: one for each 100 vectors, 64 at most)"},
	{"cpus", 0, TT_OPT_POSITIVE, &cpus, "N", "processors of a task"},
	{"memory", 0, TT_OPT_SIZE, &memory, "SIZE", "of a task"},
	{"time", 0, TT_OPT_STRING, &limit, "TIME", "of a task: minutes, H:M:S or D-H"},
	{"retries", 0, TT_OPT_COUNT, &retries, "N",
	 "how often a task that died is started again (default: 3)"},
	{"partition", 0, TT_OPT_STRING, &partition, "NAME", "Slurm's partition"},
	{"account", 0, TT_OPT_STRING, &account, "NAME", "who pays, for Slurm"},
	{"logs", 0, TT_OPT_STRING, &logs, "DIR", "where Slurm writes what tasks print"},
	{"image", 0, TT_OPT_STRING, &image, "NAME", "of Kubernetes' containers"},
	{"namespace", 0, TT_OPT_STRING, &name_space, "NAME", "Kubernetes' namespace"},
	{"secret", 0, TT_OPT_STRING, &secret, "NAME",
	 "Kubernetes' secret whose key `password` is the database's"},
	{"extra", 0, TT_OPT_LIST, &extra, "TEXT",
	 "an option of sbatch, or KEY=VALUE of Kubernetes' node selector; may be repeated"},
	{"run-option", 0, TT_OPT_LIST, &run_options, "TEXT",
	 "an option of `ttnn sweep run` for the tasks (--run-option=--no-cache); may be repeated"},
	{"program", 0, TT_OPT_STRING, &program, "PATH",
	 "ttnn on the machines (default: this one; in containers: ttnn)"},
	{"output", 'o', TT_OPT_STRING, &output, "FILE",
	 "where the script or manifest is written (default: ttnn-sweep-RUN.sh or .yaml)"},
	{"no-submit", 0, TT_OPT_FLAG, &no_submit, NULL,
	 "make the run and write the file, and leave it to you to submit it"},
	{"dry-run", 0, TT_OPT_FLAG, &dry_run, NULL,
	 "print what would be submitted, and do nothing"},
	{0},
};

/* ---- the job --------------------------------------------------------------------------------------------------- */

static tt_status describe(struct tt_submit *out, const char *run)
{
	static char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length > 0)
		self[length] = '\0';
	*out = (struct tt_submit){
		.run = run,
		.db = database,
		.program = program                            ? program
			   : engine_number == 0 && length > 0 ? self
							      : "ttnn",
		.shards = (uint64_t)shards,
		.retries = (uint64_t)retries,
		.arguments = run_options.data,
		.argument_count = run_options.count,
		.time = limit,
		.cpus = (uint64_t)cpus,
		.memory = memory,
		.extra = extra.data,
		.extra_count = extra.count,
		.partition = partition,
		.account = account,
		.logs = logs,
		.image = image,
		.name_space = name_space,
		.secret = secret,
	};
	return logs && !dry_run ? tt_file_make_dirs(logs) : TTNN_OK;
}

/* Vectors that get a row. */
static uint64_t count_valid(const struct tt_plan *plan)
{
	uint64_t valid = 0;

	for (size_t i = 0; i < plan->vectors.count; i++)
		valid += !plan->vectors.data[i].invalid;
	return valid;
}

/* Makes the run: its row, its request, its master file. */
static tt_status make_run(char run[32], const struct tt_plan *plan, const char *digest)
{
	struct tt_job_request request = {.ops = sweep_ops.data,
					 .op_count = sweep_ops.count,
					 .suite = sweep_suite,
					 .vector = sweep_vector,
					 .mutate = sweep_mutate,
					 .seed = sweep_seed,
					 .every = sweep_every,
					 .all_cases = sweep_all_cases};
	struct tt_job job = {.shards = (uint64_t)shards, .vectors = count_valid(plan)};
	struct tt_report_git git = {0};
	struct tt_results *results = NULL;
	char build[TT_DIGEST_TEXT];
	tt_status status, left;

	TT_TRY(tt_build_digest(build));
	status = tt_report_git_ask(&git);
	if (status == TTNN_OK)
		status = tt_results_open(
			&results, &(struct tt_results_options){
					  .database = database,
					  .contents = sweep_ops.count ? sweep_ops.data[0] : NULL,
					  .git_sha = tt_str_text(&git.sha),
					  .build = build,
					  .plan = digest,
					  .no_files = true});
	tt_report_git_deinit(&git);
	if (status == TTNN_OK) {
		snprintf(run, 32, "%s", tt_results_run(results));
		snprintf(job.run, sizeof(job.run), "%s", run);
		snprintf(job.engine, sizeof(job.engine), "%s", engines[engine_number].name);
		status = tt_job_save(results, &job, &request, sweep_master);
		left = tt_results_leave(results);
		status = status == TTNN_OK ? left : status;
	}
	return status;
}

/* Where the script or manifest of the run goes. */
static void file_name(char *out, size_t size, const char *run)
{
	char name[TT_SUBMIT_NAME];

	tt_submit_name(name, run);
	if (output)
		snprintf(out, size, "%s", output);
	else
		snprintf(out, size, "%s.%s", name, engines[engine_number].suffix);
}

/* Hands the file to the scheduler; its answer is the job's name, which may have a cluster's behind ';'. */
static tt_status hand_over(char job[TT_JOB_TEXT], const char *file)
{
	const struct engine *engine = &engines[engine_number];
	char *words[8] = {0};
	struct tt_str answer = {0};
	size_t count = 0;
	int code = 0;
	tt_status status;

	for (; count < 5 && engine->words[count]; count++)
		words[count] = (char *)(uintptr_t)engine->words[count]; /* exec() only reads it */
	words[count] = (char *)(uintptr_t)file;
	status = cli_child_output(&code, &answer, words);
	if (status == TTNN_OK && code)
		status = tt_fail(TTNN_IO, "%s has not taken %s: exit code %d", engine->program,
				 file, code);
	if (status == TTNN_OK) {
		const char *text = tt_str_text(&answer);

		snprintf(job, TT_JOB_TEXT, "%.*s", (int)strcspn(text, ";\n"), text);
		status = *job ? TTNN_OK
			      : tt_fail(TTNN_IO, "%s tells no number of a job", engine->program);
	}
	tt_str_deinit(&answer);
	return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int print_job(void)
{
	struct tt_submit submit;
	struct tt_str text = {0};
	tt_status status = describe(&submit, engine_number ? "run" : "RUN");

	if (status == TTNN_OK)
		status = engines[engine_number].write(&text, &submit);
	if (status == TTNN_OK && output)
		status = tt_file_save(output, tt_str_text(&text), text.length);
	else if (status == TTNN_OK)
		fputs(tt_str_text(&text), stdout);
	tt_str_deinit(&text);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

/* A run that no scheduler took stays in the database as what it is. */
static int give_up(const char *run)
{
	struct tt_str why = {0};
	int code;

	tt_str_adds(&why, ttnn_error());
	tt_job_cancel(database, run);
	tt_fail(TTNN_IO, "%s; run %s is cancelled", tt_str_text(&why), run);
	code = cli_fail();
	tt_str_deinit(&why);
	return code;
}

static int submit_run(const struct tt_plan *plan, const char *digest)
{
	char run[32] = "", job[TT_JOB_TEXT] = "", file[4096];
	const struct engine *engine = &engines[engine_number];
	struct tt_submit submit;
	struct tt_str text = {0};
	tt_status status;

	/* What can be wrong is found before there is a run. */
	status = describe(&submit, "run");
	if (status == TTNN_OK)
		status = engine->write(&text, &submit);
	tt_str_clear(&text);
	if (status == TTNN_OK && !no_submit && !cli_child_there(engine->program))
		status = tt_fail(
			TTNN_NOTFOUND,
			"there is no %s on this machine, which --engine %s needs: --no-submit writes the "
			"file for another one",
			engine->program, engine->name);
	if (status == TTNN_OK)
		status = make_run(run, plan, digest);
	if (status == TTNN_OK) {
		submit.run = run;
		file_name(file, sizeof(file), run);
		status = engine->write(&text, &submit);
	}
	if (status == TTNN_OK)
		status = tt_file_save(file, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	if (status == TTNN_OK && !no_submit)
		status = hand_over(job, file);
	if (status != TTNN_OK)
		return *run ? give_up(run) : cli_fail();
	if (*job && tt_job_started(database, run, job) != TTNN_OK)
		return cli_fail();
	printf("run %s: %" PRIu64 " vectors in %" PRId64 " shards, %s\n", run, count_valid(plan),
	       shards, file);
	if (*job)
		printf("%s job %s\n", engine->name, job);
	return TT_EXIT_DONE;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_plan plan = {0};
	char digest[TT_DIGEST_TEXT];
	tt_status status = TTNN_OK;
	int code;

	(void)cmd;
	(void)operands;
	if (engine_number < 0 || !database || !sweep_master) {
		tt_fail(TTNN_INVALID, "%s is missing",
			engine_number < 0 ? "--engine"
			: !database       ? "--db"
					  : "--master");
		return tt_cmd_complain("ttnn sweep submit");
	}
	status = tt_db_check_url(database);
	if (status == TTNN_OK)
		status = sweep_plan(&plan, count, operands);
	if (status == TTNN_OK)
		status = tt_plan_digest(digest, &plan);
	if (status == TTNN_OK && shards > (int64_t)plan.vectors.count)
		shards = (int64_t)plan.vectors.count;
	if (status == TTNN_OK && !shards) {
		shards = (int64_t)((plan.vectors.count + VECTORS_A_SHARD - 1) / VECTORS_A_SHARD);
		shards = shards > MOST_SHARDS ? MOST_SHARDS : shards;
	}
	if (status != TTNN_OK)
		code = cli_fail();
	else
		code = dry_run ? print_job() : submit_run(&plan, digest);
	tt_plan_deinit(&plan);
	return code;
}

const struct tt_cmd sweep_submit = {
	.name = "submit",
	.help = "run vectors on a cluster, by its scheduler",
	.options = options,
	.exclusive = "dry-run|no-submit",
	.more = "The run and its master file go to the database; tasks need its address alone. Passwords come from\n"
		"PGPASSWORD, PGPASSFILE, ~/.pgpass or --secret, never from the address. docs/cluster.md has worked examples.",
	.run = run,
};
