/*
 * The allocator: cost of an allocate/free pair by the number of live buffers (and the ratio to a
 * tenth of them), of a copy of the state, and of a pair that is undone.
 *
 *	build/bench/alloc
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device/freelist.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t random_state = 1;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Sizes of 1 to 64 pages of 2 KB, as tensors have them. */
static uint64_t random_size(void)
{
	return 2048 * (1 + random_next() % 64);
}

static void must(tt_status status)
{
	if (status == TTNN_OK)
		return;
	fprintf(stderr, "bench: %s\n", ttnn_status_name(status));
	exit(2);
}

struct bench {
	size_t count;
	bool top;
	struct tt_freelist list;
	uint64_t *live;
	double best; /* seconds for a pair */
};

static void setup(struct bench *bench, size_t count, bool top)
{
	*bench = (struct bench){.count = count, .top = top, .best = 1e9};
	bench->live = calloc(count, sizeof(*bench->live));
	if (!bench->live)
		exit(2);
	must(tt_freelist_init(&bench->list, 0, UINT64_C(1) << 34, 32));
	for (size_t i = 0; i < count; i++)
		must(tt_freelist_take(&bench->live[i], &bench->list, random_size(), top,
				      (uint32_t)i));
}

/* Frees a buffer drawn at random and allocates another, again and again. */
static void pairs(struct bench *bench, size_t rounds)
{
	double start = now(), cost;

	for (size_t i = 0; i < rounds; i++) {
		size_t at = random_next() % bench->count;

		tt_freelist_release(&bench->list, bench->live[at]);
		must(tt_freelist_take(&bench->live[at], &bench->list, random_size(), bench->top,
				      0));
	}
	cost = (now() - start) / (double)rounds;
	bench->best = cost < bench->best ? cost : bench->best;
}

/* Into the same copy again, or into a new one each time. */
static double copies(const struct tt_freelist *list, bool fresh)
{
	struct tt_freelist copy = {0};
	size_t rounds = 200;
	double start = now();

	for (size_t i = 0; i < rounds; i++) {
		must(tt_freelist_copy(&copy, list));
		if (fresh)
			tt_freelist_deinit(&copy);
	}
	tt_freelist_deinit(&copy);
	return (now() - start) / (double)rounds;
}

/* A what-if of 1000 pairs and back, per pair. */
static double rollback(struct bench *bench)
{
	size_t steps = 1000, rounds = 100, mark;
	double start = now();
	uint64_t address;

	for (size_t r = 0; r < rounds; r++) {
		must(tt_freelist_begin(&mark, &bench->list));
		for (size_t i = 0; i < steps; i++) {
			tt_freelist_release(&bench->list,
					    bench->live[random_next() % bench->count]);
			must(tt_freelist_take(&address, &bench->list, random_size(), bench->top,
					      0));
		}
		tt_freelist_rollback(&bench->list, mark);
	}
	return (now() - start) / (double)(rounds * steps);
}

int main(void)
{
	static const size_t counts[] = {1000, 10000, 100000};
	static struct bench benches[6];

	for (size_t i = 0; i < 6; i++) {
		setup(&benches[i], counts[i / 2], i % 2);
		pairs(&benches[i], 1000000);
	}
	for (int round = 0; round < 10; round++) /* by turns, so that noise hits all alike */
		for (size_t i = 0; i < 6; i++)
			pairs(&benches[i], 200000);
	printf("%8s %8s %10s %8s %10s %12s %18s\n", "live", "from", "ns/pair", "ratio", "copy us",
	       "new copy us", "what-if ns/pair");
	for (size_t i = 0; i < 6; i++) {
		struct bench *bench = &benches[i];

		printf("%8zu %8s %10.0f %8.2f %10.1f %12.1f %18.0f\n", bench->count,
		       bench->top ? "top" : "bottom", bench->best * 1e9,
		       i < 2 ? 1.0 : bench->best / benches[i - 2].best,
		       copies(&bench->list, false) * 1e6, copies(&bench->list, true) * 1e6,
		       rollback(bench) * 1e9);
		tt_freelist_deinit(&bench->list);
		free(bench->live);
	}
	return 0;
}
