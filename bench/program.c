/*
 * Program memory, work splits and the program cache: nanoseconds per call, best of seven, and the
 * ratio to a locked increment (the least a thread-safe call can cost).
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "device/progcache.h"
#include "device/program.h"
#include "device/work_split.h"
#include "tensor/core.h"

#define BUFFERS 8
#define KEY_BYTES 256
#define PROGRAMS 1000

static const struct tt_program_limits limits = {105824, 1499136, 32, 32, {8, 8}, {8, 9}};
static const ttnn_core_set *grid, *columns, *singles, *parts[2];
static struct tt_program program, placed[2], mixed;
static struct tt_progcache cache;
static char key[KEY_BYTES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t counter;
static int failures;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void expect(tt_status status)
{
	if (status != TTNN_OK && !failures++)
		fprintf(stderr, "%s\n", ttnn_error());
}

static void build(struct tt_program *out, enum tt_program_memory_kind kind,
		  const ttnn_core_set *cores, const ttnn_core_set *others)
{
	tt_program_start(out);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		struct tt_program_row row = {.kind = kind,
					     .view_count = 1,
					     .views = {{i, 2048}},
					     .size = 4096 + 2048 * i,
					     .cores = i % 2 ? others : cores};

		expect(tt_program_add(out, &row, &limits));
	}
}

static void run_lock(void)
{
	pthread_mutex_lock(&lock);
	counter++;
	pthread_mutex_unlock(&lock);
}

static void run_build(void)
{
	build(&program, TT_MEMORY_CIRCULAR_BUFFER, grid, grid);
}

static void run_build_dataflow(void)
{
	build(&program, TT_MEMORY_DATAFLOW_BUFFER, columns, columns);
}

static void run_place(void)
{
	expect(tt_program_place(&placed[0], &limits));
	expect(tt_program_check(&placed[0], &limits, TT_PROGRAM_L1_EMPTY));
}

static void run_place_singles(void)
{
	expect(tt_program_place(&placed[1], &limits));
	expect(tt_program_check(&placed[1], &limits, TT_PROGRAM_L1_EMPTY));
}

static void run_place_mixed(void)
{
	expect(tt_program_place(&mixed, &limits));
	expect(tt_program_check(&mixed, &limits, TT_PROGRAM_L1_EMPTY));
}

static void run_hit(void)
{
	struct tt_progcache_entry *entry;
	static uint32_t turn;

	turn = (turn + 7) % PROGRAMS;
	memcpy(key, &turn, sizeof(turn));
	expect(tt_progcache_find(&entry, &cache, &(struct tt_progcache_key){key, KEY_BYTES},
				 "BenchOperation"));
	tt_progcache_unref(entry);
}

static void run_hit_small(void)
{
	struct tt_progcache_entry *entry;
	uint64_t small = counter % PROGRAMS;

	expect(tt_progcache_find(&entry, &cache, &(struct tt_progcache_key){&small, sizeof(small)},
				 "BenchOperation"));
	tt_progcache_unref(entry);
}

static void run_cores(void)
{
	const ttnn_core_set *set;

	expect(tt_split_cores(&set, (struct ttnn_core){8, 8}, (struct ttnn_core){0, 0}, 36,
			      TTNN_ORIENT_COL_MAJOR));
}

static void run_work(void)
{
	struct tt_work_split split;

	expect(tt_split_work(&split, (struct ttnn_core){8, 8}, 100, TTNN_ORIENT_COL_MAJOR));
}

static void run_blocks(void)
{
	struct tt_block_split split;

	expect(tt_split_blocks(&split, grid, 100, TTNN_ORIENT_COL_MAJOR));
}

static void run_blocks_2d(void)
{
	struct tt_block_split_2d split;

	expect(tt_split_blocks_2d(&split, grid,
				  &(struct tt_block_area){33, 5, 165, TT_SPLIT_NO_LIMIT},
				  TTNN_ORIENT_COL_MAJOR));
}

static void run_merge(void)
{
	const ttnn_core_set *set;

	expect(tt_core_set_merge(&set, columns, NULL));
}

static const struct {
	const char *name;
	void (*run)(void);
} rows[] = {
	{"locked increment", run_lock},
	{"program cache hit, key of 8 bytes", run_hit_small},
	{"program cache hit, key of 256 bytes", run_hit},
	{"add 8 circular buffers", run_build},
	{"add 8 dataflow buffers, two ranges", run_build_dataflow},
	{"place and check 8, one range", run_place},
	{"place and check 8, 64 ranges", run_place_singles},
	{"place and check 8, overlapping sets", run_place_mixed},
	{"normal cut of two ranges", run_merge},
	{"split: cores", run_cores},
	{"split: work in two groups", run_work},
	{"split: blocks", run_blocks},
	{"split: blocks in two dimensions", run_blocks_2d},
};

static double best(void (*run)(void))
{
	double least = 1e30;
	int calls = 1000;

	for (int turn = 0; turn < 7; turn++) {
		double begin = now(), each;

		for (int i = 0; i < calls; i++)
			run();
		each = (now() - begin) / calls;
		least = each < least ? each : least;
		if (turn == 0 && each < 1000)
			calls = 20000;
	}
	return least;
}

static void prepare(void)
{
	const struct ttnn_core_range halves[2] = {{{0, 0}, {4, 5}}, {{0, 6}, {1, 6}}};
	struct tt_progcache_entry *entry;
	const struct tt_progcache_payload none = {0};

	expect(tt_core_set_grid(&grid, 8, 8));
	expect(tt_split_cores(&columns, (struct ttnn_core){8, 8}, (struct ttnn_core){0, 0}, 36,
			      TTNN_ORIENT_COL_MAJOR));
	expect(tt_split_singles(&singles, grid, 64, TTNN_ORIENT_COL_MAJOR));
	expect(ttnn_core_set_make(&parts[0], halves, 2));
	expect(tt_core_set_grid(&parts[1], 5, 8));
	build(&placed[0], TT_MEMORY_CIRCULAR_BUFFER, grid, grid);
	build(&placed[1], TT_MEMORY_CIRCULAR_BUFFER, singles, singles);
	build(&mixed, TT_MEMORY_CIRCULAR_BUFFER, parts[0], parts[1]);
	tt_progcache_init(&cache);
	for (uint64_t i = 0; i < PROGRAMS; i++) {
		uint32_t word = (uint32_t)i;

		memcpy(key, &word, sizeof(word));
		expect(tt_progcache_add(&entry, &cache, &(struct tt_progcache_key){key, KEY_BYTES},
					&none));
		tt_progcache_unref(entry);
		expect(tt_progcache_add(&entry, &cache, &(struct tt_progcache_key){&i, sizeof(i)},
					&none));
		tt_progcache_unref(entry);
	}
}

int main(void)
{
	double least = 0;

	prepare();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double each = best(rows[i].run);

		least = i ? least : each;
		printf("%-40s %9.1f ns  %7.1f x\n", rows[i].name, each, each / least);
	}
	tt_program_deinit(&program);
	tt_program_deinit(&placed[0]);
	tt_program_deinit(&placed[1]);
	tt_program_deinit(&mixed);
	tt_progcache_deinit(&cache);
	return failures != 0;
}
