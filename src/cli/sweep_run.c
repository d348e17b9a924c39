/* ttnn sweep run: vectors in child processes, each against its golden. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "cli/cli.h"
#include "cli/stop.h"
#include "cli/sweep.h"
#include "cli/sweep_join.h"
#include "db/db.h"
#include "report/git.h"
#include "sweep/build.h"
#include "sweep/runner.h"
#include "sweep/summary.h"

static const char *directory = SWEEP_RESULTS, *database, *resume, *shard, *join;
static int64_t jobs, timeout = 300, largest, lease = 60, batch, linger = -1, patience = 600;
static uint64_t memory;
static struct tt_job joined; /* what was submitted, if that is run */
static bool as_json, quiet, verbose, no_cache, no_retrace, skip_on_timeout, keep_invalid, dry_run;
static bool own_share;
static struct tt_claims_options claims = {0};

static const struct tt_opt options[] = {
	SWEEP_PLAN_OPTIONS,
	{"largest", 0, TT_OPT_POSITIVE, &largest, "N", "leave out vectors on more than N elements"},
	{"jobs", 'j', TT_OPT_POSITIVE, &jobs, "N",
	 "child processes at a time (default: one for each processor)"},
	{"timeout", 0, TT_OPT_COUNT, &timeout, "SECONDS",
	 "of one vector; 0: none (default: 300). Who takes longer is killed"},
	{"memory", 0, TT_OPT_SIZE, &memory, "SIZE",
	 "of each child (default: most of the machine's, shared out)"},
	{"shard", 0, TT_OPT_STRING, &shard, "I/N",
	 "only part I of N, counted from 1; of a run with others: that part first"},
	{"resume", 0, TT_OPT_STRING, &resume, "RUN",
	 "go on with a run, or join it; `last` is the newest that is unfinished"},
	{"run", 0, TT_OPT_STRING, &join, "NAME",
	 "join the run of this name, or begin it: who works on it with others claims vectors"},
	{"own-share", 0, TT_OPT_FLAG, &own_share, NULL,
	 "with others: take over what they left, but nothing that waits for them"},
	{"lease", 0, TT_OPT_POSITIVE, &lease, "SECONDS",
	 "with others: what a runner that is silent for so long had is anybody's (default: 60)"},
	{"claim", 0, TT_OPT_POSITIVE, &batch, "N",
	 "with others: vectors that are claimed at a time (default: 4 for each child)"},
	{"linger", 0, TT_OPT_COUNT, &linger, "SECONDS",
	 "with others: wait so long for what they have (default: until it is done)"},
	{"patience", 0, TT_OPT_POSITIVE, &patience, "SECONDS",
	 "wait so long for a database server that is away (default: 600)"},
	{"no-cache", 0, TT_OPT_FLAG, &no_cache, NULL, "run also what this build has passed before"},
	{"no-retrace", 0, TT_OPT_FLAG, &no_retrace, NULL,
	 "do not trace calls to see that they are the recorded ones"},
	{"skip-on-timeout", 0, TT_OPT_FLAG, &skip_on_timeout, NULL,
	 "after a vector that hung, leave out the rest of its suite"},
	{"keep-invalid", 0, TT_OPT_FLAG, &keep_invalid, NULL,
	 "write a row for invalid vectors too"},
	{"dry-run", 0, TT_OPT_FLAG, &dry_run, NULL, "print which vectors would be run"},
	{"results", 'o', TT_OPT_STRING, &directory, "DIR",
	 "where files of results go (default: " SWEEP_RESULTS ")"},
	{"db", 0, TT_OPT_STRING, &database, "FILE",
	 "the database, a file or postgresql://USER@HOST/NAME (default: results.sqlite in that folder)"},
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print the totals as JSON"},
	{"quiet", 'q', TT_OPT_FLAG, &quiet, NULL, "no progress bar, no line for each failure"},
	{"verbose", 'v', TT_OPT_FLAG, &verbose, NULL, "print a line for each vector"},
	{0},
};

/* ---- what is printed ----------------------------------------------------------------------------------------- */

/* The number of a configuration, out of the parameters of its row. */
static long long configuration(const struct tt_sweep_result *result)
{
	const char *key = "\"configuration\": ", *found = strstr(result->params, key);

	return found ? strtoll(found + strlen(key), NULL, 10) : -1;
}

static void print_ended(void *context, const struct tt_sweep_result *result)
{
	bool failed = result->status != TT_SWEEP_PASS && result->status != TT_SWEEP_NOT_RUN &&
		      result->status != TT_SWEEP_XFAIL;

	struct tt_str line = {0};

	(void)context;
	if (as_json || (!verbose && (!failed || quiet)))
		return;
	tt_str_addf(&line, "%-22s ", tt_sweep_status_text(result->status));
	tt_summary_line(&line, result->operation);
	tt_str_addf(&line, "/%lld: ", configuration(result));
	tt_summary_line(&line, result->exception ? result->exception : result->message);
	if (!result->exception && result->notes) {
		tt_str_adds(&line, "; ");
		tt_summary_line(&line, result->notes);
	}
	puts(tt_str_text(&line));
	fflush(stdout);
	tt_str_deinit(&line);
}

struct ending {
	char run[32], oprun[TT_RESULTS_PATH];
	double seconds, database_seconds;
};

static uint64_t failures(const struct tt_runner_counts *counts)
{
	uint64_t failed = 0;

	for (unsigned i = 0; i < TT_SWEEP_STATUSES; i++)
		if (i != TT_SWEEP_PASS && i != TT_SWEEP_NOT_RUN && i != TT_SWEEP_XFAIL)
			failed += counts->statuses[i];
	return failed;
}

static void print_json(const struct tt_runner *runner, const struct ending *ending)
{
	const struct tt_runner_counts *counts = &runner->counts;
	struct tt_str text = {0};
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_object(&w);
	tt_jsonw_key_string(&w, "run", ending->run);
	tt_jsonw_key_int(&w, "vectors", (int64_t)runner->plan->vectors.count);
	tt_jsonw_key_int(&w, "executed", (int64_t)counts->done);
	tt_jsonw_key_int(&w, "failed", (int64_t)failures(counts));
	tt_jsonw_key(&w, "passed");
	tt_jsonw_object(&w);
	for (unsigned i = 0; i < TT_SWEEP_HOWS; i++)
		tt_jsonw_key_int(&w, tt_sweep_how_text((enum tt_sweep_how)i),
				 (int64_t)counts->hows[i]);
	tt_jsonw_end(&w);
	tt_jsonw_key(&w, "statuses");
	tt_jsonw_object(&w);
	for (unsigned i = 0; i < TT_SWEEP_STATUSES; i++)
		if (counts->statuses[i])
			tt_jsonw_key_int(&w, tt_sweep_status_text((enum tt_sweep_status)i),
					 (int64_t)counts->statuses[i]);
	tt_jsonw_end(&w);
	tt_jsonw_key_int(&w, "crashed", (int64_t)counts->crashed);
	tt_jsonw_key_int(&w, "hung", (int64_t)counts->hung);
	tt_jsonw_key_int(&w, "refused", (int64_t)counts->refused);
	tt_jsonw_key_int(&w, "cached", (int64_t)counts->cached);
	tt_jsonw_key_int(&w, "done_before", (int64_t)counts->before);
	tt_jsonw_key_int(&w, "arguments_of_the_recorded_text", (int64_t)counts->texts);
	tt_jsonw_key_int(&w, "arguments_of_the_same_meaning", (int64_t)counts->meant);
	tt_jsonw_key(&w, "seconds");
	tt_jsonw_real(&w, ending->seconds);
	tt_jsonw_key(&w, "database_seconds");
	tt_jsonw_real(&w, ending->database_seconds);
	tt_jsonw_key_string(&w, "file", *ending->oprun ? ending->oprun : NULL);
	tt_jsonw_end(&w);
	if (tt_jsonw_finish(&w) == TTNN_OK)
		puts(tt_str_text(&text));
	tt_str_deinit(&text);
}

static void print_totals(const struct tt_runner *runner, const struct ending *ending)
{
	const struct tt_runner_counts *counts = &runner->counts;
	uint64_t passed = counts->statuses[TT_SWEEP_PASS];

	printf("%" PRIu64 " of %zu vectors executed: %" PRIu64 " passed (%" PRIu64
	       " plain, %" PRIu64 " with stand-ins, %" PRIu64 " moved to DRAM, %" PRIu64
	       " without a golden), %" PRIu64 " failed, %" PRIu64 " not run\n",
	       counts->done - counts->statuses[TT_SWEEP_NOT_RUN], runner->plan->vectors.count,
	       passed, counts->hows[TT_SWEEP_PLAIN], counts->hows[TT_SWEEP_STAND_IN],
	       counts->hows[TT_SWEEP_MOVED], counts->hows[TT_SWEEP_UNJUDGED], failures(counts),
	       counts->statuses[TT_SWEEP_NOT_RUN]);
	if (counts->crashed || counts->hung)
		printf("%" PRIu64 " crashed, %" PRIu64 " hung\n", counts->crashed, counts->hung);
	if (counts->statuses[TT_SWEEP_XFAIL] || counts->statuses[TT_SWEEP_XPASS])
		printf("%" PRIu64 " failed as expected, %" PRIu64 " passed unexpectedly\n",
		       counts->statuses[TT_SWEEP_XFAIL], counts->statuses[TT_SWEEP_XPASS]);
	if (counts->refused)
		printf("%" PRIu64 " mutations are none that the operation takes\n",
		       counts->refused);
	if (counts->cached || counts->before)
		printf("%" PRIu64 " were passed by this build before, %" PRIu64
		       " are of this run already\n",
		       counts->cached, counts->before);
	if (!no_retrace)
		printf("traced again: %" PRIu64 " arguments have the recorded text, %" PRIu64
		       " another text of the same value\n",
		       counts->texts, counts->meant);
	printf("run %s, %.1f s", ending->run, ending->seconds);
	printf(*ending->oprun ? ", %s\n" : "\n", ending->oprun);
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

/* Whether others may work on the run: vectors are claimed then. */
static bool is_shared(void)
{
	return join || joined.request || (database && tt_db_is_url(database));
}

static void choose_claims(uint64_t index, uint64_t count)
{
	unsigned children = jobs ? (unsigned)jobs : tt_runner_processors();

	claims = (struct tt_claims_options){.shard = index,
					    .shards = count,
					    .lease_ms = (uint64_t)lease * 1000,
					    .batch = batch ? (unsigned)batch : 4 * children,
					    .own = own_share};
}

static tt_status take_shard(struct tt_plan *plan)
{
	unsigned long long index = 1, count = 1;
	char *slash, *end;

	if (shard) {
		index = strtoull(shard, &slash, 10);
		count = *slash == '/' ? strtoull(slash + 1, &end, 10) : 0;
		if (!count || *end || !index || index > count)
			return tt_fail(TTNN_INVALID, "--shard: '%s' is no part such as 1/4", shard);
	}
	/* A part of a run of its own is that part; who joins others does it first. */
	if (is_shared() && (join || resume)) {
		choose_claims(index, count);
		return TTNN_OK;
	}
	if (is_shared())
		choose_claims(1, 1);
	if (!shard)
		return TTNN_OK;
	tt_plan_shard(plan, index - 1, count);
	return plan->vectors.count ? TTNN_OK
				   : tt_fail(TTNN_INVALID, "NO VECTORS: part %s is empty", shard);
}

static void print_plan(const struct tt_plan *plan)
{
	for (size_t i = 0; i < plan->vectors.count; i++) {
		const struct tt_plan_vector *vector = &plan->vectors.data[i];
		const struct tt_traced_config *config = &plan->configs.data[vector->config].traced;
		char mutation[TT_MUTATION_NAME];

		tt_mutation_name(mutation, vector->mutation);
		printf("%s %s/%zu %s%s\n", vector->hash, config->op, config->number, mutation,
		       vector->invalid ? " invalid" : "");
	}
}

/* What the run is called in its file: modules and suite, or everything. */
static tt_status describe(struct tt_str *out)
{
	for (size_t i = 0; i < sweep_ops.count; i++)
		tt_str_addf(out, "%s%s", i ? ", " : "", sweep_ops.data[i]);
	if (sweep_suite)
		tt_str_addf(out, "%s%s", out->length ? ", " : "", sweep_suite);
	return tt_str_status(out);
}

static tt_status open_results(struct tt_results **out, const char *digest, const char *build)
{
	struct tt_report_git git = {0};
	struct tt_str contents = {0};
	tt_status status = tt_report_git_ask(&git);

	if (status == TTNN_OK)
		status = describe(&contents);
	if (status == TTNN_OK)
		status = tt_results_open(
			out, &(struct tt_results_options){.directory = directory,
							  .database = database,
							  .contents = tt_str_text(&contents),
							  .run = resume,
							  .join = join,
							  .patience_s = (unsigned)patience,
							  .git_sha = tt_str_text(&git.sha),
							  .build = build,
							  .plan = digest,
							  .no_files = joined.request});
	tt_str_deinit(&contents);
	tt_report_git_deinit(&git);
	return status;
}

/* The last of those who work on a run ends it: nothing is left then. */
static tt_status end(struct tt_results_files *files, struct tt_results *results)
{
	uint64_t left = 0;
	tt_status status;

	do {
		status = tt_results_settle(results);
		if (status == TTNN_OK && claims.batch)
			status = tt_results_bear(results, tt_claims_left(&left, results, false));
	} while (status == TTNN_OK && tt_results_away(results));
	if (status == TTNN_OK && !left)
		return tt_results_finish(files, results, TT_SWEEP_RUN_PASSED);
	if (status == TTNN_OK)
		return tt_results_leave(results);
	tt_results_leave(results);
	return status;
}

static int finish(struct tt_runner *runner, struct ending *ending, tt_status status)
{
	struct tt_results_files files = {0};
	struct tt_str why = {0};

	if (status != TTNN_OK && tt_results_cancelled(runner->results)) {
		tt_results_leave(runner->results);
		cli_fail();
		return TT_EXIT_NO; /* nothing that another try could mend */
	}
	if (status != TTNN_OK) {
		/* The rows so far are kept; the message of what went wrong too. */
		tt_str_adds(&why, ttnn_error());
		tt_results_leave(runner->results);
		tt_fail(status, "%s; `--resume %s` goes on", tt_str_text(&why), ending->run);
		tt_str_deinit(&why);
		if (status == TTNN_CANCELLED)
			fprintf(stderr, "ttnn: %s\n", ttnn_error());
		return cli_stop_fail();
	}
	ending->database_seconds = 1e-9 * (double)tt_results_database_ns(runner->results);
	if (end(&files, runner->results) != TTNN_OK)
		return cli_fail();
	snprintf(ending->oprun, sizeof(ending->oprun), "%s", files.oprun);
	if (as_json)
		print_json(runner, ending);
	else
		print_totals(runner, ending);
	return failures(&runner->counts) ? TT_EXIT_NO : TT_EXIT_DONE;
}

/* `digest` is that of the whole plan: its parts join one run. */
static int run_plan(const struct tt_plan *plan, const char *digest)
{
	struct tt_runner runner = {.plan = plan,
				   .jobs = (unsigned)jobs,
				   .timeout_ns = (uint64_t)timeout * 1000000000,
				   .largest = (uint64_t)largest,
				   .no_retrace = no_retrace,
				   .skip_on_timeout = skip_on_timeout,
				   .keep_invalid = keep_invalid,
				   .quiet = quiet,
				   .claims = claims.batch ? &claims : NULL,
				   .linger_ns =
					   linger < 0 ? UINT64_MAX : (uint64_t)linger * 1000000000,
				   .ended = print_ended};
	uint64_t begin = tt_clock_ns();
	char build[TT_DIGEST_TEXT];
	static struct ending ending;
	tt_status status;

	runner.memory =
		memory ? memory : tt_runner_memory(jobs ? (unsigned)jobs : tt_runner_processors());
	if (tt_build_digest(build) != TTNN_OK ||
	    open_results(&runner.results, digest, build) != TTNN_OK)
		return cli_fail();
	runner.build = no_cache ? NULL : build;
	snprintf(ending.run, sizeof(ending.run), "%s", tt_results_run(runner.results));
	cli_stop_watch();
	status = tt_runner_run(&runner);
	ending.seconds = 1e-9 * (double)(tt_clock_ns() - begin);
	return finish(&runner, &ending, status);
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_plan plan = {0};
	char digest[TT_DIGEST_TEXT] = "";
	tt_status status = TTNN_OK;
	int code;

	(void)cmd;
	if (join && (resume || strlen(join) > 31 || !*join)) {
		tt_fail(TTNN_INVALID, resume ? "either --run or --resume"
					     : "--run: a name has 1 to 31 characters");
		return tt_cmd_complain("ttnn sweep run");
	}
	if (database && tt_db_check_url(database) != TTNN_OK)
		return cli_fail();
	if (resume && !sweep_master && !count)
		status = sweep_join(&joined, database ? database : SWEEP_RESULTS "/results.sqlite",
				    resume);
	if (status == TTNN_OK && strcmp(joined.status, "cancelled") == 0) {
		fprintf(stderr, "ttnn: run %s was cancelled\n", joined.run);
		sweep_join_end(&joined);
		return TT_EXIT_NO;
	}
	if (status == TTNN_OK)
		status = sweep_plan(&plan, count, operands);
	sweep_join_loaded();
	if (status == TTNN_OK)
		status = tt_plan_digest(digest, &plan);
	if (status == TTNN_OK)
		status = take_shard(&plan);
	if (status != TTNN_OK)
		code = cli_fail();
	else if (dry_run)
		print_plan(&plan), code = TT_EXIT_DONE;
	else
		code = run_plan(&plan, digest);
	tt_plan_deinit(&plan);
	sweep_join_end(&joined);
	return code;
}

const struct tt_cmd sweep_run = {
	.name = "run",
	.help = "run vectors and compare each with its golden",
	.options = options,
	.operands = "[FILE...]",
	.most = TT_CMD_ANY,
	.more = "Vectors are those of --master FILE, of vector files and lists, or of " SWEEP_VECTORS
		"/. Exit code: 0 when all passed,\n"
		"1 when some failed, 2 when it could not be run; no vectors are an error.",
	.run = run,
};
