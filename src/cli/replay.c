/* ttnn replay: calls of a trace once more, on random tensors, each against its golden. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "cli/cli.h"
#include "sweep/recall.h"
#include "sweep/replay.h"

static int64_t seed = 1, largest;
static bool as_json, quiet;

static const struct tt_opt options[] = {
	{"seed", 0, TT_OPT_COUNT, &seed, "N", "of the random tensors (default: 1)"},
	{"largest", 0, TT_OPT_POSITIVE, &largest, "N", "leave out calls on more than N elements"},
	{"quiet", 'q', TT_OPT_FLAG, &quiet, NULL, "print failures and the totals alone"},
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON, a line for each call"},
	{0},
};

/* Counts of what became of calls. */
struct totals {
	uint64_t passed, moved, failed, skipped, unjudged, not_operations;
};

static const char *word(const struct tt_replay_result *result)
{
	if (result->outcome == TT_REPLAY_SKIPPED)
		return "skipped";
	if (result->outcome == TT_REPLAY_FAILED)
		return "failed";
	if (result->outcome == TT_REPLAY_UNJUDGED)
		return "ran";
	return result->moved ? "moved" : "passed";
}

/* What was not compared has no numbers. */
static void write_number(struct tt_jsonw *w, const char *key, double number)
{
	tt_jsonw_key(w, key);
	if (isnan(number))
		tt_jsonw_null(w);
	else
		tt_jsonw_real(w, number);
}

static void print_json(const struct tt_recall *recall, const struct tt_replay_result *result)
{
	struct tt_str text = {0};
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.utf8 = true});
	tt_jsonw_object(&w);
	tt_jsonw_key_int(&w, "call", (int64_t)recall->number);
	tt_jsonw_key_string(&w, "operation", recall->op);
	tt_jsonw_key_string(&w, "outcome", word(result));
	write_number(&w, "pcc", result->pcc);
	write_number(&w, "bound", result->bound);
	write_number(&w, "error", result->error);
	tt_jsonw_key_int(&w, "ns", (int64_t)result->ns);
	tt_jsonw_key_string(&w, "why", result->why);
	tt_jsonw_end(&w);
	if (tt_jsonw_finish(&w) == TTNN_OK)
		puts(tt_str_text(&text));
	tt_str_deinit(&text);
}

static void print(const struct tt_recall *recall, const struct tt_replay_result *result)
{
	if (quiet && result->outcome != TT_REPLAY_FAILED)
		return;
	if (as_json) {
		print_json(recall, result);
		return;
	}
	printf("%6" PRIu64 "  %-7s  %-44s", recall->number, word(result), recall->op);
	if (result->outcome == TT_REPLAY_FAILED)
		printf("  %s\n", result->why);
	else if (result->outcome == TT_REPLAY_SKIPPED)
		printf("  more than %" PRId64 " elements\n", largest);
	else if (result->outcome == TT_REPLAY_UNJUDGED)
		printf("  it has no golden to be compared with\n");
	else
		printf("  correlation %.6f (%g), largest difference %.3g, %.2f ms\n", result->pcc,
		       result->bound, result->error, 1e-6 * (double)result->ns);
}

static void count(struct totals *totals, const struct tt_replay_result *result)
{
	totals->skipped += result->outcome == TT_REPLAY_SKIPPED;
	totals->unjudged += result->outcome == TT_REPLAY_UNJUDGED;
	totals->failed += result->outcome == TT_REPLAY_FAILED;
	totals->passed += result->outcome == TT_REPLAY_PASSED && !result->moved;
	totals->moved += result->outcome == TT_REPLAY_PASSED && result->moved;
}

/* The machine is opened by the first call that knows one. */
static tt_status replay(struct totals *totals, struct tt_replay_machine *machine,
			struct tt_source *source, uint64_t number)
{
	struct tt_replay_options how = {.seed = (uint64_t)seed * 1000003 + number,
					.largest = (uint64_t)largest};
	struct tt_replay_result result;
	struct tt_call_source call;
	struct tt_recall recall;
	tt_status status;

	TT_TRY(tt_recall_read(&recall, source, number));
	call = tt_call_of_recall(&recall);
	status = machine->device
			 ? TTNN_OK
			 : tt_replay_open_as(machine, recall.profile, recall.rows, recall.cols);
	if (status == TTNN_OK)
		status = tt_replay_run(&result, &recall.arena, machine, &call, &how);
	if (status == TTNN_OK) {
		count(totals, &result);
		print(&recall, &result);
	}
	tt_recall_free(&recall);
	return status;
}

/* "7", or "7-12". */
static bool parse_range(uint64_t *first, uint64_t *last, const char *text)
{
	char *end;

	*first = *last = strtoull(text, &end, 10);
	if (end == text)
		return false;
	if (*end == '-' && end[1])
		*last = strtoull(end + 1, &end, 10);
	return !*end && *first && *first <= *last;
}

/* A call that cannot be made again is no reason to leave the others. */
static void leave_out(struct totals *totals, uint64_t number)
{
	totals->skipped++;
	fprintf(stderr, "ttnn: call %" PRIu64 " is left out: %s\n", number, ttnn_error());
}

static tt_status replay_range(struct totals *totals, struct tt_replay_machine *machine,
			      struct tt_source *source, const char *text)
{
	uint64_t first = 1, last = UINT64_MAX, lowest, highest;

	if (strcmp(text, "all") != 0 && !parse_range(&first, &last, text))
		return tt_fail(TTNN_INVALID, "'%s' is no number of a call, nor a range such as 3-7",
			       text);
	if (first == last)
		return replay(totals, machine, source, first);
	TT_TRY(tt_recall_span(&lowest, &highest, source));
	if (!highest || first > highest || last < lowest)
		return tt_fail(TTNN_NOTFOUND,
			       "'%s': the trace has calls %" PRIu64 " to %" PRIu64 " alone", text,
			       lowest, highest);
	first = first < lowest ? lowest : first;
	last = last > highest ? highest : last;
	for (uint64_t number = first; number <= last; number++) {
		tt_status status = replay(totals, machine, source, number);

		/* Calls that run no operation (to_torch, deallocate) are no failures of many. */
		if (status == TTNN_NOTFOUND)
			totals->not_operations++;
		else if (status == TTNN_UNSUPPORTED)
			leave_out(totals, number);
		else
			TT_TRY(status);
	}
	return TTNN_OK;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_replay_machine machine = {0};
	struct totals totals = {0};
	struct tt_source *source;
	tt_status status;

	(void)cmd;
	if (tt_source_open(&source, operands[0]) != TTNN_OK)
		return cli_fail();
	status = TTNN_OK;
	for (size_t i = 1; status == TTNN_OK && i < count; i++)
		status = replay_range(&totals, &machine, source, operands[i]);
	tt_replay_close(&machine);
	tt_source_close(source);
	if (status != TTNN_OK)
		return cli_fail();
	if (!as_json && totals.passed + totals.moved + totals.failed + totals.unjudged > 1)
		printf("%" PRIu64 " passed, %" PRIu64 " moved to DRAM, %" PRIu64 " failed, %" PRIu64
		       " without a golden, %" PRIu64 " left out, %" PRIu64 " run no operation\n",
		       totals.passed, totals.moved, totals.failed, totals.unjudged, totals.skipped,
		       totals.not_operations);
	return totals.failed ? TT_EXIT_NO : TT_EXIT_DONE;
}

const struct tt_cmd cli_replay = {
	.name = "replay",
	.help = "run calls of a trace again and compare them with their goldens",
	.options = options,
	.operands = "TRACE N...",
	.least = 2,
	.most = SIZE_MAX,
	.more = "N is the number of a call as `ttnn show TRACE --tree` counts them, a range (3-7), or `all`.\n"
		"Tensors are random, with the shapes, types and places that were recorded; the machine is the recorded one.",
	.run = run,
};
