/*
 * Profiling: what a zone takes beside a bare reading of the clock, what an operation takes beside its recording,
 * and what ten million zones take in memory. Nanoseconds are those of the best turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <ttnn_frontend.h>
#include <ttnn_ops.h>
#include <ttnn_zones.h>
#include <unistd.h>

#include "base/clock.h"

static ttnn_device *device;
static ttnn_tensor *a;
static int failures;
static char path[] = "/tmp/ttnn_bench_zones.XXXXXX";
static volatile uint64_t sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void expect(enum ttnn_status status)
{
	if (status != TTNN_OK && !failures++)
		fprintf(stderr, "%s\n", ttnn_error());
}

/* ---- what is measured ------------------------------------------------------------------------------------- */

static void run_clock(void)
{
	sink = tt_clock_ticks();
}

static void run_zone(void)
{
	TTNN_ZONE("zone");
	ttnn_zone_end();
}

static void run_mark(void)
{
	ttnn_mark("mark", NULL);
}

static void run_place(void)
{
	ttnn_emit_place("model.py", "forward", 12);
}

static void run_add(void)
{
	ttnn_tensor *sum = NULL;

	expect(ttnn_add(&sum, a, ttnn_v_tensor(a), NULL));
	ttnn_tensor_unref(sum);
}

/* Short turns, so that some of them run undisturbed on a busy machine. */
static double best(void (*run)(void))
{
	double least = 1e30;

	for (int turn = 0; turn < 2000; turn++) {
		double begin = now(), each;

		for (int i = 0; i < 100; i++)
			run();
		each = (now() - begin) / 100;
		least = each < least ? each : least;
	}
	return least;
}

static double best_recorded(void (*run)(void), bool profile)
{
	ttnn_trace *trace;
	double least;

	expect(ttnn_trace_begin(&trace,
				&(struct ttnn_trace_options){.path = path, .profile = profile}));
	least = best(run);
	expect(ttnn_trace_end(NULL, trace));
	return least;
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static void show_costs(void)
{
	double off, recorded = 1e30, profiled = 1e30;

	printf("a bare reading of the clock  %8.1f ns\n", best(run_clock));
	printf("a zone, nobody records       %8.1f ns\n", best(run_zone));
	printf("a zone, begin and end        %8.1f ns\n", best_recorded(run_zone, true));
	printf("a mark                       %8.1f ns\n", best_recorded(run_mark, true));
	printf("a line of a caller           %8.1f ns\n", best_recorded(run_place, true));
	off = best(run_add);
	/* In turn, so that both see the same machine. */
	for (int i = 0; i < 5; i++) {
		double each = best_recorded(run_add, false);

		recorded = each < recorded ? each : recorded;
		each = best_recorded(run_add, true);
		profiled = each < profiled ? each : profiled;
	}
	printf("add of 32x32, off            %8.1f ns\n", off);
	printf("add of 32x32, recorded       %8.1f ns\n", recorded);
	printf("add of 32x32, profiled       %8.1f ns, %.1f more\n", profiled, profiled - recorded);
}

static long peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static void show_memory(void)
{
	const int zones = 10000000;
	struct ttnn_trace_summary summary = {0};
	long before = peak_mb();
	double begin = now();
	ttnn_trace *trace;

	expect(ttnn_trace_begin(&trace,
				&(struct ttnn_trace_options){.path = path, .profile = true}));
	for (int i = 0; i < zones; i++)
		run_zone();
	expect(ttnn_trace_end(&summary, trace));
	printf("%d million zones: %llu records, %llu lost, %.1f MB, %.1f ns a zone, peak %ld MB more\n",
	       zones / 1000000, (unsigned long long)summary.events,
	       (unsigned long long)summary.lost, (double)summary.bytes / 1e6,
	       (now() - begin) / zones, peak_mb() - before);
}

int main(void)
{
	struct ttnn_shape shape = {.rank = 2, .dim = {32, 32}};
	int fd = mkstemp(path);

	if (fd >= 0)
		close(fd);
	expect(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	expect(ttnn_zeros(&a, &shape,
			  &(struct ttnn_zeros_options){.dtype = ttnn_v_dtype(TTNN_BFLOAT16),
						       .layout = ttnn_v_layout(TTNN_TILE),
						       .device = ttnn_v_device(device)}));
	show_costs();
	show_memory();
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	unlink(path);
	return failures ? 1 : 0;
}
