/*
 * Small vectors of a sweep: how many a second, in one reused child, with inputs, golden, call, its trace and the row in the
 * database; beside it the bare cost of golden and call on the same tensors, and of the trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "sweep/replay.h"
#include "sweep/runner.h"

#define MASTER "tests/data/master/master_2025-11.json.gz"
#define LARGEST (4 * 32 * 32) /* four tiles */

static const char *const ops[] = {"pad",
				  "plus_one",
				  "sigmoid_accurate",
				  "multiply",
				  "add",
				  "reshape",
				  "interleaved_to_sharded",
				  "slice",
				  "silu",
				  "untilize_with_unpadding"};

static void must(tt_status status)
{
	if (status != TTNN_OK) {
		fprintf(stderr, "%s\n", ttnn_error());
		exit(1);
	}
}

/* Processor time of this process, or of its children that have ended, in seconds. */
static double cpu_of(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double cpu(void)
{
	return cpu_of(RUSAGE_SELF);
}

/* Small configurations, each with many seeds. */
static void make_plan(struct tt_plan *plan, const struct tt_replay_machine *machine, uint64_t seeds)
{
	size_t small = 0;

	for (uint64_t seed = 0; seed < seeds; seed++)
		must(tt_plan_add_master(plan, MASTER,
					&(struct tt_plan_options){.ops = ops,
								  .op_count = TT_COUNT(ops),
								  .seed = seed}));
	/* Which are small shows when their tensors are made. */
	for (size_t i = 0; i < plan->vectors.count; i++) {
		const struct tt_plan_vector *vector = &plan->vectors.data[i];
		struct tt_call_source source =
			tt_call_of_config(&plan->configs.data[vector->config].traced);
		struct tt_arena arena = {0};
		struct tt_inputs inputs = {.device = machine->device};
		uint64_t elements = 0;

		must(tt_inputs_survey(&inputs, &arena, &source));
		for (size_t k = 0; k < inputs.wanted_count; k++) {
			uint64_t volume;

			must(ttnn_shape_volume(&volume, &inputs.wanted[k].shape));
			elements = volume > elements ? volume : elements;
		}
		if (elements <= LARGEST)
			plan->vectors.data[small++] = *vector;
		tt_arena_deinit(&arena);
	}
	plan->vectors.count = small;
}

/* All vectors in this process, one after another: microseconds each. */
static double run_bare(const struct tt_plan *plan, const struct tt_replay_machine *machine,
		       bool retrace)
{
	double begin = cpu();

	for (size_t i = 0; i < plan->vectors.count; i++) {
		const struct tt_plan_vector *vector = &plan->vectors.data[i];
		struct tt_call_source source =
			tt_call_of_config(&plan->configs.data[vector->config].traced);
		struct tt_replay_result result;
		struct tt_arena arena = {0};

		must(tt_replay_run(
			&result, &arena, machine, &source,
			&(struct tt_replay_options){.seed = vector->seed, .retrace = retrace}));
		if (result.outcome != TT_REPLAY_PASSED)
			fprintf(stderr, "%s: %s\n", source.op, result.why);
		tt_arena_deinit(&arena);
	}
	return 1e6 * (cpu() - begin) / (double)plan->vectors.count;
}

int main(void)
{
	char directory[] = "/tmp/ttnn-bench.XXXXXX", path[64];
	struct tt_replay_machine machine;
	struct tt_plan plan = {0};
	struct tt_runner runner = {.plan = &plan, .jobs = 1, .threads = 1, .quiet = true};
	double begin, bare, traced, seconds, parent, children;

	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/r.sqlite", directory);
	must(tt_replay_open(&machine));
	make_plan(&plan, &machine, 40);
	run_bare(&plan, &machine, false);
	bare = run_bare(&plan, &machine, false);
	traced = run_bare(&plan, &machine, true);
	tt_replay_close(&machine);
	must(tt_results_open(&runner.results,
			     &(struct tt_results_options){.database = path, .no_files = true}));
	parent = cpu();
	begin = 1e-9 * (double)tt_clock_ns();
	must(tt_runner_run(&runner));
	must(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	seconds = 1e-9 * (double)tt_clock_ns() - begin;
	parent = cpu() - parent;
	printf("%zu vectors of at most %d elements, each %.0f us: inputs, golden, call; %.0f us with its "
	       "trace\n",
	       plan.vectors.count, LARGEST, bare, traced);
	children = cpu_of(RUSAGE_CHILDREN);
	printf("a sweep of them: %.0f us of processor time each in a reused child, %.0f us in the parent "
	       "for its row: %.0f a second and core (%.0f by the clock, with one child)\n",
	       1e6 * children / (double)plan.vectors.count,
	       1e6 * parent / (double)plan.vectors.count,
	       (double)plan.vectors.count / (children + parent),
	       (double)plan.vectors.count / seconds);
	unlink(path);
	rmdir(directory);
	tt_plan_deinit(&plan);
	return 0;
}
