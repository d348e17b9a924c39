/* ttnn diff: two runs side by side. --profile: their times, and whether the difference is more than noise. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "profile/perf_sum.h"

static bool profile, as_json;
/* Less than this share is no difference that matters. */
#define PERCENT 5

static const struct tt_opt options[] = {
	{"profile", 0, TT_OPT_FLAG, &profile, NULL, "compare the times of two traces or reports"},
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"},
	{0},
};

/* ---- verdicts --------------------------------------------------------------------------------------------- */

enum verdict { SAME, FASTER, SLOWER, GONE, NEW };

static const char *const words[] = {
	[SAME] = "same", [FASTER] = "faster", [SLOWER] = "slower", [GONE] = "gone", [NEW] = "new"};

/* A difference counts from so many standard errors on: by chance one in 300 comes so far. */
#define ERRORS 3

/* One operation in both. */
struct change {
	const char *op_code;
	uint64_t counts[2];
	double us[2], means[2];
	double noise; /* of the difference of the means */
	enum verdict verdict;
};

static double noise_of(const struct tt_perf_group *a, const struct tt_perf_group *b)
{
	return ERRORS * hypot(tt_perf_group_error(a), tt_perf_group_error(b));
}

/* More than noise, and enough to matter. */
static enum verdict judge(double before, double after, double noise)
{
	double apart = after - before;

	if (fabs(apart) <= noise || fabs(apart) <= before * PERCENT / 100)
		return SAME;
	return apart > 0 ? SLOWER : FASTER;
}

/* One of them may be NULL: the operation is in the other report alone. */
static struct change compare(const struct tt_perf_group *a, const struct tt_perf_group *b)
{
	static const struct tt_perf_group none;
	struct change change = {0};

	if (!b)
		change.verdict = GONE;
	else if (!a)
		change.verdict = NEW;
	a = a ? a : &none;
	b = b ? b : &none;
	change.op_code = a->op_code ? a->op_code : b->op_code;
	change.counts[0] = a->count;
	change.counts[1] = b->count;
	change.us[0] = a->us;
	change.us[1] = b->us;
	change.means[0] = a->mean;
	change.means[1] = b->mean;
	if (change.verdict == GONE || change.verdict == NEW)
		return change;
	change.noise = noise_of(a, b);
	change.verdict = judge(a->mean, b->mean, change.noise);
	return change;
}

/* ---- both ------------------------------------------------------------------------------------------------- */

struct run {
	struct tt_perf_file file;
	struct tt_perf_sum sum;
};

static tt_status read_run(struct run *run, const char *path)
{
	run->file = (struct tt_perf_file){.path = path};
	TT_TRY(tt_perf_file_open(&run->file));
	return tt_perf_sum_file(&run->sum, &run->file);
}

/* The sums of all times: their noise is that of the operations. */
static struct change compare_all(const struct run runs[2])
{
	struct change all = {.op_code = "all",
			     .counts = {runs[0].file.operations, runs[1].file.operations},
			     .us = {runs[0].file.device_us, runs[1].file.device_us}};
	double squares = 0;

	for (int r = 0; r < 2; r++)
		for (size_t i = 0; i < runs[r].sum.count; i++)
			squares += runs[r].sum.groups[i]->variance;
	all.noise = ERRORS * sqrt(squares);
	all.verdict = judge(all.us[0], all.us[1], all.noise);
	return all;
}

static double relative(double before, double after)
{
	return before > 0 ? 100 * (after - before) / before : 0;
}

static void print_change(const struct change *change, const double shown[2])
{
	char text[CLI_SHOWN];

	printf("%-44s %7" PRIu64 " %7" PRIu64 " %12.1f %12.1f ", cli_shown(text, change->op_code),
	       change->counts[0], change->counts[1], shown[0], shown[1]);
	if (change->verdict == GONE || change->verdict == NEW)
		printf("%8s %10s %s\n", "", "", words[change->verdict]);
	else
		printf("%+7.1f%% %10.1f %s\n", relative(shown[0], shown[1]), change->noise,
		       words[change->verdict]);
}

static void json_change(struct tt_jsonw *w, const struct change *change)
{
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "op_code", change->op_code);
	tt_jsonw_key(w, "counts");
	tt_jsonw_array(w);
	tt_jsonw_uint(w, change->counts[0]);
	tt_jsonw_uint(w, change->counts[1]);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "device_us");
	tt_jsonw_array(w);
	tt_jsonw_real(w, change->us[0]);
	tt_jsonw_real(w, change->us[1]);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "mean_us");
	tt_jsonw_array(w);
	tt_jsonw_real(w, change->means[0]);
	tt_jsonw_real(w, change->means[1]);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "noise_us");
	tt_jsonw_real(w, change->noise);
	tt_jsonw_key_string(w, "verdict", words[change->verdict]);
	tt_jsonw_end(w);
}

/* Tells of each operation: those of the first run, then those that are new. */
static void each_change(const struct run runs[2],
			void (*tell)(void *context, const struct change *change), void *context)
{
	struct change change;

	for (size_t i = 0; i < runs[0].sum.count; i++) {
		const struct tt_perf_group *a = runs[0].sum.groups[i];

		change = compare(a, tt_perf_sum_find(&runs[1].sum, a->op_code));
		tell(context, &change);
	}
	for (size_t i = 0; i < runs[1].sum.count; i++) {
		const struct tt_perf_group *b = runs[1].sum.groups[i];

		if (tt_perf_sum_find(&runs[0].sum, b->op_code))
			continue;
		change = compare(NULL, b);
		tell(context, &change);
	}
}

static void tell_text(void *context, const struct change *change)
{
	(void)context;
	print_change(change, change->means);
}

static void tell_json(void *context, const struct change *change)
{
	json_change(context, change);
}

static void print_all(const struct run runs[2], const struct change *all)
{
	printf("%-44s %7s %7s %12s %12s %8s %10s %s\n", "operation", "count", "count", "mean us",
	       "mean us", "change", "noise us", "verdict");
	each_change(runs, tell_text, NULL);
	printf("\n");
	print_change(all, all->us);
	if (all->counts[0] != all->counts[1])
		printf("The runs have %" PRIu64 " and %" PRIu64 " operations: their sums are of "
		       "different work.\n",
		       all->counts[0], all->counts[1]);
}

static tt_status json_all(const struct run runs[2], const struct change *all)
{
	struct tt_jsonw w;

	tt_jsonw_init(&w, cli_write_stdout, NULL,
		      (struct tt_jsonw_style){.indent = 2, .utf8 = true});
	tt_jsonw_object(&w);
	tt_jsonw_key(&w, "all");
	json_change(&w, all);
	tt_jsonw_key(&w, "operations");
	tt_jsonw_array(&w);
	each_change(runs, tell_json, &w);
	tt_jsonw_end(&w);
	tt_jsonw_end(&w);
	TT_TRY(tt_jsonw_finish(&w));
	printf("\n");
	return TTNN_OK;
}

static void note_slower(void *context, const struct change *change)
{
	bool *slower = context;

	*slower |= change->verdict == SLOWER;
}

static tt_status diff(bool *slower, char **operands)
{
	struct run runs[2] = {0};
	struct change all;
	tt_status status = TTNN_OK;

	for (int i = 0; status == TTNN_OK && i < 2; i++)
		status = read_run(&runs[i], operands[i]);
	if (status == TTNN_OK) {
		all = compare_all(runs);
		each_change(runs, note_slower, slower);
		*slower |= all.verdict == SLOWER;
		if (as_json)
			status = json_all(runs, &all);
		else
			print_all(runs, &all);
	}
	for (int i = 0; i < 2; i++)
		tt_perf_sum_deinit(&runs[i].sum);
	return status;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	bool slower = false;

	(void)cmd, (void)count;
	if (!profile) {
		tt_fail(TTNN_INVALID, "say what to compare: --profile compares times");
		return tt_cmd_complain("ttnn diff");
	}
	if (diff(&slower, operands) != TTNN_OK)
		return cli_fail();
	return slower ? TT_EXIT_NO : TT_EXIT_DONE;
}

const struct tt_cmd cli_diff = {
	.name = "diff",
	.help = "compare two traces or performance reports",
	.operands = "BEFORE AFTER",
	.least = 2,
	.most = 2,
	.options = options,
	.more = "With --profile: the times of operations on the device, by name. A difference counts if it is more\n"
		"than the noise of the measurements (three standard errors) and more than 5 %.\n"
		"Exit code: 0 nothing is slower, 1 something is, 2 an error.\n",
	.run = run,
};
