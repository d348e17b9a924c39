#include "base/deadline.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"

#define UNKNOWN UINT64_MAX
#define MOST_SECONDS 1e9
#define MOST_NS ((uint64_t)1000000000 * 1000000000)

static atomic_uint_least64_t limit_ns = UNKNOWN;
static _Thread_local uint64_t ends; /* 0: never */
static _Thread_local bool watched;

/* What is no number is no limit. */
static uint64_t read_limit(void)
{
	const char *text = getenv("TT_METAL_OPERATION_TIMEOUT_SECONDS");
	double seconds = text ? strtod(text, NULL) : 0;

	if (!(seconds > 0))
		return 0;
	return (uint64_t)(1e9 * (seconds < MOST_SECONDS ? seconds : MOST_SECONDS)) + 1;
}

static uint64_t limit(void)
{
	uint64_t ns = atomic_load_explicit(&limit_ns, memory_order_relaxed);

	if (__builtin_expect(ns == UNKNOWN, 0)) {
		uint64_t read = read_limit();

		/* One that was set meanwhile stays. */
		if (atomic_compare_exchange_strong(&limit_ns, &ns, read))
			ns = read;
	}
	return ns;
}

void tt_deadline_set_limit(uint64_t ns)
{
	atomic_store(&limit_ns, ns < MOST_NS ? ns : MOST_NS);
}

void tt_deadline_begin(void)
{
	uint64_t ns = limit();

	ends = ns ? tt_clock_ns() + ns : 0;
}

void tt_deadline_watch(bool on)
{
	watched = on;
}

uint64_t tt_deadline_watched(void)
{
	return watched ? ends : 0;
}

void tt_deadline_adopt(uint64_t when)
{
	ends = when;
	watched = when != 0;
}

bool tt_deadline_passed(void)
{
	return ends && tt_clock_ns() >= ends;
}

tt_status tt_deadline_check(void)
{
	return watched && tt_deadline_passed() ? tt_deadline_fail("the operation") : TTNN_OK;
}

tt_status tt_deadline_fail(const char *who)
{
	return tt_fail(TTNN_TIMEOUT,
		       "TIMEOUT: %s took longer than the %g s that "
		       "TT_METAL_OPERATION_TIMEOUT_SECONDS allows",
		       who, (double)limit() / 1e9);
}
