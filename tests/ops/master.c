/*
 * master.c: runs the configurations traced from real models and compares each with its golden (sweep/replay.h).
 */
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "sweep/replay.h"

/* ---- options and totals ----------------------------------------------------------------------------- */

static const char *only = ".";
static int64_t every = 1, seed = 1, largest;
static bool verbose, list_lost;

static const struct tt_opt options[] = {
	{"only", 0, TT_OPT_STRING, &only, "REGEX", "only those whose OPERATION/NUMBER fits"},
	{"every", 0, TT_OPT_INT, &every, "N", "only each N-th (default: all)"},
	{"largest", 0, TT_OPT_INT, &largest, "N", "only those with at most N elements"},
	{"seed", 0, TT_OPT_INT, &seed, "N", "of the random tensors (default: 1)"},
	{"list-lost", 0, TT_OPT_FLAG, &list_lost, NULL,
	 "print what stands for arguments that the file lost"},
	{"verbose", 'v', TT_OPT_FLAG, &verbose, NULL, "print every configuration"},
	{0},
};

struct total {
	const char *op;
	size_t count, passed, stood_in, moved;
	double seconds, least; /* correlation */
};

static struct total totals[64];
static size_t total_count;

/* ---- what was lost ---------------------------------------------------------------------------------------------------- */

static struct note {
	const char *op;
	char text[160];
	size_t count;
} notes[256];
static size_t note_count;

static void note(const char *op, const char *text)
{
	struct note *found = notes;

	while (found < notes + note_count &&
	       (strcmp(found->op, op) != 0 ||
		strncmp(found->text, text, sizeof(found->text) - 1) != 0))
		found++;
	if (found == notes + sizeof(notes) / sizeof(notes[0]))
		return;
	if (found == notes + note_count) {
		found->op = op;
		snprintf(found->text, sizeof(found->text), "%s", text);
		note_count++;
	}
	found->count++;
}

static void report_notes(void)
{
	printf("\n%14s  %s\n", "configurations", "operation, and what stands for what was lost");
	for (size_t i = 0; i < note_count; i++)
		printf("%14zu  %s: %s\n", notes[i].count, notes[i].op, notes[i].text);
}

/* ---- one configuration ------------------------------------------------------------------------------------------ */

static void print_result(const struct tt_traced_config *config,
			 const struct tt_replay_result *result)
{
	bool failed = result->outcome == TT_REPLAY_FAILED;

	if (failed || verbose)
		printf("%s %s %zu: %.5f, %.2f s%s%s\n", failed ? "FAIL" : "ok  ", config->op,
		       config->number, result->pcc, 1e-9 * (double)result->ns, failed ? ": " : "",
		       result->why);
	for (size_t i = 0; !failed && list_lost && i < result->note_count; i++) {
		printf("lost %s %zu: %s\n", config->op, config->number, result->notes[i]);
		note(config->op, result->notes[i]);
	}
	fflush(stdout);
}

static tt_status run_config(const struct tt_traced_config *config, struct total *total,
			    const struct tt_replay_machine *machine)
{
	struct tt_replay_options how = {.seed = (uint64_t)seed * 1000003 + config->number,
					.largest = (uint64_t)largest,
					.retrace = true};
	struct tt_call_source source = tt_call_of_config(config);
	struct tt_replay_result result;
	struct tt_arena arena = {0};
	tt_status status = tt_replay_run(&result, &arena, machine, &source, &how);

	if (status == TTNN_OK && result.outcome != TT_REPLAY_SKIPPED) {
		print_result(config, &result);
		total->count++;
		total->passed += result.outcome == TT_REPLAY_PASSED;
		total->stood_in += result.stood_in;
		total->moved += result.moved;
		total->seconds += 1e-9 * (double)result.ns;
		total->least = fmin(total->least, result.pcc);
	}
	tt_arena_deinit(&arena);
	return status;
}

/* ---- all of them ----------------------------------------------------------------------------------------------------- */

static struct total *total_of(const char *op)
{
	for (size_t i = 0; i < total_count; i++)
		if (strcmp(totals[i].op, op) == 0)
			return &totals[i];
	if (total_count == sizeof(totals) / sizeof(totals[0]))
		return &totals[total_count - 1];
	totals[total_count] = (struct total){.op = op, .least = 1};
	return &totals[total_count++];
}

static size_t report(void)
{
	size_t count = 0, passed = 0, stood_in = 0, moved = 0;
	double seconds = 0;

	printf("\n%-60s %6s %6s %9s %6s %9s %9s\n", "operation", "runs", "passed", "stand-ins",
	       "moved", "least pcc", "seconds");
	for (size_t i = 0; i < total_count; i++) {
		const struct total *total = &totals[i];

		printf("%-60s %6zu %6zu %9zu %6zu %9.5f %9.2f\n", total->op, total->count,
		       total->passed, total->stood_in, total->moved, total->least, total->seconds);
		count += total->count;
		passed += total->passed;
		stood_in += total->stood_in;
		moved += total->moved;
		seconds += total->seconds;
	}
	printf("%-60s %6zu %6zu %9zu %6zu %9s %9.2f\n", "all", count, passed, stood_in, moved, "",
	       seconds);
	return count - passed;
}

static tt_status run_all(size_t *failed, const char *path)
{
	struct tt_replay_machine machine;
	struct tt_traced traced;
	tt_status status = TTNN_OK;
	regex_t chosen;

	TT_TRY(tt_replay_open(&machine));
	TT_TRY(tt_traced_load(&traced, path));
	if (regcomp(&chosen, only, REG_EXTENDED | REG_NOSUB) != 0)
		return tt_fail(TTNN_INVALID, "--only: not a regular expression");
	for (size_t i = 0; status == TTNN_OK && i<traced.count; i += every> 0 ? (size_t)every : 1) {
		const struct tt_traced_config *config = &traced.configs[i];
		char name[160];

		snprintf(name, sizeof(name), "%s/%zu", config->op, config->number);
		if (regexec(&chosen, name, 0, NULL, 0) == 0)
			status = run_config(config, total_of(config->op), &machine);
	}
	*failed = report();
	if (list_lost)
		report_notes();
	regfree(&chosen);
	tt_traced_free(&traced);
	tt_replay_close(&machine);
	return status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	size_t failed = 0;

	(void)cmd;
	if (run_all(&failed, count ? operands[0] : "tests/data/master/master_2025-11.json.gz") !=
	    TTNN_OK) {
		fprintf(stderr, "master: %s\n", ttnn_error());
		return 2;
	}
	return failed != 0;
}

int main(int argc, char **argv)
{
	static const struct tt_cmd cmd = {
		.name = "master",
		.help = "run configurations traced from models, and compare with their goldens",
		.operands = "[FILE]",
		.most = 1,
		.options = options,
		.run = run,
	};

	return tt_cmd_run(&cmd, "master", (size_t)argc - 1, argv + 1);
}
