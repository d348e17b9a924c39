#include "base/deadline.h"

#include <stdlib.h>
#include <ttnn_frontend.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"

#define UNKNOWN UINT64_MAX
#define MOST_SECONDS 1e9
#define MOST_NS ((uint64_t)1000000000 * 1000000000)

/*
 * Questions are so far apart; one that takes long (others hold what it needs) makes the next ones rarer,
 * so that they take a small part of the time.
 */
#define POLL_NS 10000000u
#define POLL_MOST_NS 50000000u
#define POLL_SHARE 8

static atomic_uint_least64_t limit_ns = UNKNOWN;
static _Thread_local uint64_t ends; /* 0: never */
static _Thread_local bool watched;

static _Thread_local ttnn_poll *asked; /* NULL: nobody */
static _Thread_local uint64_t ask_at;  /* 0, 1: not known yet, since the setting or one look */
static _Thread_local atomic_bool cancelled;
static _Thread_local bool hushed;
static _Thread_local const atomic_bool *adopted; /* of the thread that this one helps */

/* What is no number is no limit. */
static uint64_t read_limit(void)
{
	const char *text = tt_env("TT_METAL_OPERATION_TIMEOUT_SECONDS");
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

struct tt_deadline tt_deadline_watched(void)
{
	return (struct tt_deadline){watched ? ends : 0, asked ? &cancelled : adopted};
}

void tt_deadline_adopt(const struct tt_deadline *of)
{
	ends = of->ends;
	watched = of->ends != 0;
	adopted = of->cancelled;
}

ttnn_poll *ttnn_set_poll(ttnn_poll *poll)
{
	ttnn_poll *before = asked;

	asked = poll;
	ask_at = 0;
	atomic_store_explicit(&cancelled, false, memory_order_relaxed);
	return before;
}

void ttnn_cancel(void)
{
	atomic_store_explicit(&cancelled, true, memory_order_relaxed);
}

bool tt_deadline_hush(bool on)
{
	bool before = hushed;

	hushed = on;
	return before;
}

/*
 * The function may run anything, calls of this library too. In the child of a fork that it made the threads
 * that helped are missing, and what they were doing.
 */
static void ask(uint64_t now)
{
	ttnn_poll *poll = asked;
	bool was_watched = watched, go_on;
	uint64_t was_ends = ends, took, pause;
	pid_t process = getpid();

	asked = NULL;
	watched = false;
	go_on = poll() && getpid() == process;
	asked = poll;
	watched = was_watched;
	ends = was_ends;
	atomic_store_explicit(&cancelled, !go_on, memory_order_relaxed);
	took = tt_clock_ns() - now;
	pause = POLL_SHARE * took;
	pause = pause < POLL_NS ? POLL_NS : pause > POLL_MOST_NS ? POLL_MOST_NS : pause;
	ask_at = now + took + pause;
}

void tt_deadline_poll(void)
{
	uint64_t now;

	if (__builtin_expect(!asked || hushed, 1))
		return;
	if (!ask_at) { /* small operations come here once: the clock is too dear for them */
		ask_at = 1;
		return;
	}
	now = tt_clock_ns();
	if (ask_at == 1)
		ask_at = now + POLL_NS;
	else if (now >= ask_at && !atomic_load_explicit(&cancelled, memory_order_relaxed))
		ask(now);
}

uint64_t tt_deadline_poll_ns(void)
{
	return asked && !hushed && !atomic_load_explicit(&cancelled, memory_order_relaxed) ? POLL_NS
											   : 0;
}

static bool is_cancelled(void)
{
	if (asked)
		return atomic_load_explicit(&cancelled, memory_order_relaxed);
	return adopted && atomic_load_explicit(adopted, memory_order_relaxed);
}

bool tt_deadline_passed(void)
{
	return is_cancelled() || (ends && tt_clock_ns() >= ends);
}

static bool is_over(void)
{
	return is_cancelled() || (watched && ends && tt_clock_ns() >= ends);
}

bool tt_deadline_stop(void)
{
	tt_deadline_poll();
	return is_over();
}

tt_status tt_deadline_check(void)
{
	return is_over() ? tt_deadline_fail("the operation") : TTNN_OK;
}

tt_status tt_deadline_fail(const char *who)
{
	if (is_cancelled())
		return tt_fail(TTNN_CANCELLED, "CANCELLED: %s was interrupted", who);
	return tt_fail(TTNN_TIMEOUT,
		       "TIMEOUT: %s took longer than the %g s that "
		       "TT_METAL_OPERATION_TIMEOUT_SECONDS allows",
		       who, (double)limit() / 1e9);
}
