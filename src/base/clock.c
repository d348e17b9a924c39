#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "base/env.h"

/* Two readings at least this far apart give the rate to some millionths. */
#define CALIBRATION_NS 5000000u

static uint64_t read_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t tt_clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t tt_clock_wall_ns(void)
{
	return (int64_t)read_ns(CLOCK_REALTIME);
}

/* ---- ticks ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static uint64_t read_tsc(void)
{
	return __rdtsc();
}

/* The counter runs at one rate whatever the processor does ("invariant"). */
static bool find_tsc(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}
#else
static uint64_t read_tsc(void)
{
	return 0;
}

static bool find_tsc(void)
{
	return false;
}
#endif

/* The same moment on both clocks. */
struct moment {
	uint64_t ticks, ns;
};

static struct moment start;
static double ns_per_tick = 1;
static bool has_tsc;

/* Of some tries the one least interrupted, its stamp put in the middle. */
static struct moment read_both(void)
{
	struct moment best = {0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 10; i++) {
		uint64_t before = read_tsc(), ns = tt_clock_ns(), after = read_tsc();

		if (after - before < least) {
			least = after - before;
			best = (struct moment){before + least / 2, ns};
		}
	}
	return best;
}

static void find_start(void)
{
	const char *choice = tt_env("TTNN_CLOCK");

	has_tsc = find_tsc() && !(choice && strcmp(choice, "os") == 0);
	if (has_tsc)
		start = read_both();
}

static atomic_bool started;

static void ensure_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (__builtin_expect(atomic_load_explicit(&started, memory_order_acquire), 1))
		return;
	pthread_once(&once, find_start);
	atomic_store_explicit(&started, true, memory_order_release);
}

static void find_rate(void)
{
	struct moment now;

	ensure_start();
	if (!has_tsc)
		return;
	do
		now = read_both();
	while (now.ns - start.ns < CALIBRATION_NS);
	ns_per_tick = (double)(now.ns - start.ns) / (double)(now.ticks - start.ticks);
}

static atomic_bool rated;

static void ensure_rate(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_rate);
	atomic_store_explicit(&rated, true, memory_order_release);
}

uint64_t tt_clock_ticks(void)
{
	ensure_start();
	return __builtin_expect(has_tsc, 1) ? read_tsc() : tt_clock_ns();
}

uint64_t tt_clock_ticks_to_ns(uint64_t ticks)
{
	ensure_rate();
	if (!has_tsc)
		return ticks;
	/* The difference is signed: a stamp of another processor may be a little before the start. */
	return start.ns + (uint64_t)(int64_t)((double)(int64_t)(ticks - start.ticks) * ns_per_tick);
}

double tt_clock_rate(void)
{
	ensure_rate();
	return 1e9 / ns_per_tick;
}

double tt_clock_rate_by_now(void)
{
	struct moment now;

	ensure_start();
	if (!has_tsc || atomic_load_explicit(&rated, memory_order_acquire))
		return 1e9 / ns_per_tick;
	now = read_both();
	return now.ns > start.ns
		       ? 1e9 * (double)(now.ticks - start.ticks) / (double)(now.ns - start.ns)
		       : 1e9;
}

bool tt_clock_has_tsc(void)
{
	ensure_start();
	return has_tsc;
}
