/* What the small things of base cost: nanoseconds each, best of five, by processor time. */
#include <stdio.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"

#define TIMES 200000

static double sink;

static void run_clock(void)
{
	for (int i = 0; i < TIMES; i++)
		sink += (double)tt_clock_ns();
}

static void run_ticks(void)
{
	for (int i = 0; i < TIMES; i++)
		sink += (double)tt_clock_ticks();
}

static void run_alloc(void)
{
	for (int i = 0; i < TIMES; i++)
		tt_free(tt_alloc(64));
}

static void run_arena(void)
{
	struct tt_arena arena = {0};

	for (int i = 0; i < TIMES; i++)
		sink += tt_arena_alloc(&arena, 64) != NULL;
	tt_arena_deinit(&arena);
}

static void run_map(void)
{
	struct tt_map map = {0};

	for (int i = 0; i < TIMES; i++)
		sink += tt_map_add(&map, &i, sizeof(i), NULL) != NULL;
	tt_map_deinit(&map);
}

static void run_fmt(void)
{
	char text[TT_FMT_MAX];

	for (int i = 0; i < TIMES; i++)
		sink += (double)tt_fmt_double(text, i / 7.0);
}

static void run_printf(void)
{
	char text[TT_FMT_MAX];

	for (int i = 0; i < TIMES; i++)
		sink += snprintf(text, sizeof(text), "%.17g", i / 7.0);
}

static void nothing(void *context, size_t begin, size_t end)
{
	(void)context;
	(void)begin;
	(void)end;
}

static void run_small_loop(void)
{
	for (int i = 0; i < TIMES; i++)
		tt_pool_for(10, 10, nothing, NULL);
}

static void run_loop(void)
{
	for (int i = 0; i < TIMES / 20; i++)
		tt_pool_for(2, 1, nothing, NULL);
}

static double best(void (*run)(void), clockid_t clock)
{
	double least = 1e18;

	for (int i = 0; i < 5; i++) {
		struct timespec before, after;
		double took;

		clock_gettime(clock, &before);
		run();
		clock_gettime(clock, &after);
		took = 1e9 * (double)(after.tv_sec - before.tv_sec) +
		       (double)(after.tv_nsec - before.tv_nsec);
		least = took < least ? took : least;
	}
	return least;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
		int times;
		clockid_t clock;
	} rows[] = {
		{"tt_clock_ns", run_clock, TIMES, CLOCK_PROCESS_CPUTIME_ID},
		{"tt_clock_ticks", run_ticks, TIMES, CLOCK_PROCESS_CPUTIME_ID},
		{"tt_alloc and tt_free, 64 bytes", run_alloc, TIMES, CLOCK_PROCESS_CPUTIME_ID},
		{"tt_arena_alloc, 64 bytes", run_arena, TIMES, CLOCK_PROCESS_CPUTIME_ID},
		{"tt_map_add, 200,000 new keys", run_map, TIMES, CLOCK_PROCESS_CPUTIME_ID},
		{"tt_fmt_double", run_fmt, TIMES, CLOCK_PROCESS_CPUTIME_ID},
		{"snprintf %.17g", run_printf, TIMES, CLOCK_PROCESS_CPUTIME_ID},
		{"tt_pool_for, one piece", run_small_loop, TIMES, CLOCK_PROCESS_CPUTIME_ID},
		{"tt_pool_for, two pieces (wall)", run_loop, TIMES / 20, CLOCK_MONOTONIC},
	};

	printf("%u threads, %.3f GHz %s\n", tt_pool_threads(), tt_clock_rate() / 1e9,
	       tt_clock_has_tsc() ? "time stamp counter" : "system clock");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("%-34s %8.1f ns\n", rows[i].name,
		       best(rows[i].run, rows[i].clock) / rows[i].times);
	return sink == 0.5; /* keeps the compiler from leaving the work out */
}
