#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/env.h"
#include "base/lock.h"

#define THREADS_MOST 512u

/* One loop, on the stack of its caller. Who takes part takes piece after piece. */
struct job {
	void (*body)(void *context, size_t begin, size_t end);
	void *context;
	size_t count, grain, pieces;
	atomic_size_t next;
	struct tt_deadline deadline; /* when pieces are left out */
	struct tt_pool_meter *meter; /* (optional) */
	unsigned helpers;            /* threads of the pool that are in it; guarded by lock */
	unsigned forks;              /* as below, when it began */
};

/* A fork does not wait for loops, which may take long: the child begins anew. */
static void forget_threads(struct tt_lock *unused);
static const struct tt_lock_forks owner_forks = {.anew = true};
static const struct tt_lock_forks forks = {.child = forget_threads, .anew = true};
TT_LOCK_STATIC(owner, TT_RANK_LOOP, &owner_forks);     /* held by the caller of the loop */
TT_LOCK_STATIC(lock, TT_RANK_POOL, &forks);            /* guards what follows */
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* there is a job, or the end */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* the last helper left the job */
static struct job *job;
static unsigned long job_number;
static unsigned forks_behind; /* of a child: its parents' threads help nobody */
static bool stopping;

/* Guarded by owner. */
static pthread_t threads[THREADS_MOST];
static unsigned started;

static atomic_uint wanted; /* 0: not known yet */
static _Thread_local bool inside;
static _Thread_local struct tt_pool_meter *measured; /* where the caller's loops are */

/* ---- how many -------------------------------------------------------------------------------- */

static unsigned clip(long count)
{
	return count < 1 ? 1 : count > THREADS_MOST ? THREADS_MOST : (unsigned)count;
}

static unsigned default_threads(void)
{
	const char *text = tt_env("TTNN_NUM_THREADS");
	cpu_set_t cpus;
	char *end;

	if (text) {
		long count = strtol(text, &end, 10);

		if (!*end && count > 0)
			return clip(count);
	}
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		return clip(CPU_COUNT(&cpus));
	return clip(sysconf(_SC_NPROCESSORS_ONLN));
}

unsigned tt_pool_threads(void)
{
	unsigned count = atomic_load_explicit(&wanted, memory_order_relaxed);

	if (!count) {
		count = default_threads();
		atomic_store_explicit(&wanted, count, memory_order_relaxed);
	}
	return count;
}

/* ---- working --------------------------------------------------------------------------------- */

static bool is_over(const struct tt_deadline *deadline)
{
	if (deadline->cancelled) {
		tt_deadline_poll();
		if (atomic_load_explicit(deadline->cancelled, memory_order_relaxed))
			return true;
	}
	return __builtin_expect(deadline->ends != 0, 0) && tt_clock_ns() >= deadline->ends;
}

static void take_part(struct job *of)
{
	bool nested = inside;
	size_t piece;

	inside = true;
	while (!is_over(&of->deadline) &&
	       (piece = atomic_fetch_add_explicit(&of->next, 1, memory_order_relaxed)) <
		       of->pieces) {
		size_t begin = piece * of->grain;
		size_t left = of->count - begin;

		of->body(of->context, begin, begin + (left < of->grain ? left : of->grain));
	}
	inside = nested;
}

void tt_pool_measure(struct tt_pool_meter *meter)
{
	measured = meter;
}

/* A thread was in a loop since then. Holds lock. */
static void add_helper(struct tt_pool_meter *to, unsigned number, uint64_t since)
{
	unsigned i = number < TT_POOL_METERED ? number : TT_POOL_METERED - 1;

	if (!(to->helped >> i & 1)) {
		to->helped |= UINT64_C(1) << i;
		to->busy[i] = 0;
		to->last = since > to->last ? since : to->last;
	}
	to->busy[i] += tt_clock_ticks() - since;
}

static void *help(void *of)
{
	unsigned number = (unsigned)(uintptr_t)of;
	unsigned long seen = 0;

	tt_lock_take(&lock);
	while (!stopping) {
		struct job *mine = job;
		uint64_t since;

		if (!mine || seen == job_number) {
			pthread_cond_wait(&work, &lock.mutex);
			continue;
		}
		seen = job_number;
		mine->helpers++;
		tt_lock_give(&lock);
		tt_deadline_adopt(&mine->deadline);
		since = mine->meter ? tt_clock_ticks() : 0;
		take_part(mine);
		tt_lock_take(&lock);
		if (mine->meter && mine->forks == forks_behind)
			add_helper(mine->meter, number, since);
		if (--mine->helpers == 0)
			pthread_cond_signal(&done);
	}
	tt_lock_give(&lock);
	return NULL;
}

/* Signals are for the program's own threads. Fewer threads than wanted are no failure. */
static void start_threads(unsigned count)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (started < count &&
	       pthread_create(&threads[started], NULL, help, (void *)(uintptr_t)started) == 0)
		started++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void stop_threads(void)
{
	tt_lock_take(&lock);
	stopping = true;
	pthread_cond_broadcast(&work);
	tt_lock_give(&lock);
	while (started)
		pthread_join(threads[--started], NULL);
	stopping = false;
}

/* In the child only the thread that called fork() exists. */
static void forget_threads(struct tt_lock *unused)
{
	(void)unused;
	pthread_cond_init(&work, NULL);
	pthread_cond_init(&done, NULL);
	job = NULL;
	forks_behind++;
	stopping = false;
	started = 0;
}

/* Until the last helper left; whom to ask whether to go on is asked meanwhile. Holds lock. */
static void wait_for_helpers(struct job *mine)
{
	while (mine->helpers && mine->forks == forks_behind) {
		uint64_t pause = tt_deadline_poll_ns();
		struct timespec until;

		if (!pause) {
			pthread_cond_wait(&done, &lock.mutex);
			continue;
		}
		pause += (uint64_t)tt_clock_wall_ns();
		until.tv_sec = (time_t)(pause / 1000000000);
		until.tv_nsec = (long)(pause % 1000000000);
		if (pthread_cond_timedwait(&done, &lock.mutex, &until) == ETIMEDOUT) {
			tt_lock_give(&lock);
			tt_deadline_poll();
			tt_lock_take(&lock);
		}
	}
}

/* The caller holds owner. */
static void run(struct job *mine)
{
	size_t helpers = mine->pieces - 1;
	uint64_t since;

	/* Who is asked whether to go on, here or while the last helpers are waited for, is inside of the loop. */
	inside = true;
	start_threads(tt_pool_threads() - 1);
	if (mine->meter && !mine->meter->first)
		mine->meter->first = tt_clock_ticks();
	tt_lock_take(&lock);
	mine->forks = forks_behind;
	job = mine;
	job_number++;
	tt_lock_give(&lock);
	for (unsigned i = 0; i < started && i < helpers; i++)
		pthread_cond_signal(&work);
	take_part(mine);
	/* No piece is left: who has not come yet need not, who is in it has to finish. */
	tt_lock_take(&lock);
	job = NULL;
	since = mine->meter ? tt_clock_ticks() : 0;
	wait_for_helpers(mine);
	if (mine->meter)
		mine->meter->waited += tt_clock_ticks() - since;
	tt_lock_give(&lock);
	inside = false;
	if (started > tt_pool_threads() - 1) /* fewer are wanted since */
		stop_threads();
}

void tt_pool_for(size_t count, size_t grain, void (*body)(void *context, size_t begin, size_t end),
		 void *context)
{
	struct job mine = {.body = body,
			   .context = context,
			   .count = count,
			   .grain = grain,
			   .deadline = tt_deadline_watched(),
			   .meter = measured};

	if (!grain)
		mine.grain = grain = 1;
	if (count <= grain) {
		if (count && !is_over(&mine.deadline))
			body(context, 0, count);
		return;
	}
	mine.pieces = (count - 1) / grain + 1;
	if (inside || tt_pool_threads() == 1 || !tt_lock_try(&owner)) {
		take_part(&mine);
		return;
	}
	run(&mine);
	tt_lock_give(&owner);
}

void tt_pool_set_threads(unsigned count)
{
	atomic_store_explicit(&wanted, count ? clip((long)count) : 0, memory_order_relaxed);
	if (inside)
		return;
	tt_lock_take(&owner);
	stop_threads();
	tt_lock_give(&owner);
}
