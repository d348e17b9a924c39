/*
 * Entering and waiting are a pair of "say what I do, then look what the other does", which needs a full
 * barrier on both sides. Threads enter millions of times a second and are waited for a few times in a run,
 * so where the kernel can order all threads at once (membarrier) the waiting side does it for both.
 */
#include "event/grace.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define THREAD_SANITIZER 0
#endif

_Thread_local struct tt_speaker tt_speaker_own;
atomic_bool tt_grace_held;
atomic_bool tt_grace_one_sided; /* set before the first thread enters */
static struct tt_speaker *first;
static void hold(struct tt_lock *unused);
static void release(struct tt_lock *unused);
static void forget_others(struct tt_lock *unused);
static const struct tt_lock_forks forks = {
	.before = hold, .parent = release, .child = forget_others};
TT_LOCK_STATIC(lock, TT_RANK_GRACE, &forks);
static pthread_key_t at_exit;
static _Atomic(void (*)(void)) exit_hook;

/* Destructors of other keys may tell once more: then the thread is listed again, and ends again. */
static void unlist(void *data)
{
	struct tt_speaker *self = data;
	void (*hook)(void) = atomic_load(&exit_hook);

	if (hook)
		hook();
	tt_lock_take(&lock);
	*(self->before ? &self->before->next : &first) = self->next;
	if (self->next)
		self->next->before = self->before;
	self->listed = false;
	self->ends++;
	tt_lock_give(&lock);
}

/* The thread sanitizer knows no barrier but those of the language. */
static bool prepare_barrier(void)
{
#if THREAD_SANITIZER
	return false;
#else
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

/* After this every thread has seen what the caller did, and the caller what they did before. */
static void order_all(void)
{
	if (!atomic_load(&tt_grace_one_sided) ||
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
		return;
	/* Forbidden meanwhile: what a processor has not written by then it never will. */
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void prepare(void)
{
	pthread_key_create(&at_exit, unlist);
	atomic_store(&tt_grace_one_sided, prepare_barrier());
}

static bool enlist(struct tt_speaker *self)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare);
	if (self->ends >= PTHREAD_DESTRUCTOR_ITERATIONS - 1 || pthread_setspecific(at_exit, self))
		return false;
	tt_lock_take(&lock);
	self->before = NULL;
	self->next = first;
	if (first)
		first->before = self;
	first = self;
	self->listed = true;
	tt_lock_give(&lock);
	return true;
}

static void go_inside(struct tt_speaker *self)
{
	if (atomic_load_explicit(&tt_grace_one_sided, memory_order_relaxed)) {
		atomic_store_explicit(&self->inside, true, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
	} else {
		atomic_exchange(&self->inside, true);
	}
}

struct tt_speaker *tt_grace_enter_slowly(void)
{
	struct tt_speaker *self = &tt_speaker_own;

	if (!self->listed && !enlist(self))
		return NULL;
	if (atomic_load_explicit(&self->inside, memory_order_relaxed))
		return NULL;
	tt_lock_note(TT_RANK_GRACE);
	for (go_inside(self); atomic_load(&tt_grace_held); go_inside(self)) {
		atomic_store_explicit(&self->inside, false, memory_order_release);
		while (atomic_load(&tt_grace_held))
			sched_yield();
	}
	return self;
}

static void wait_for_all(void)
{
	for (struct tt_speaker *speaker = first; speaker; speaker = speaker->next)
		while (speaker != &tt_speaker_own && atomic_load(&speaker->inside))
			sched_yield();
}

void tt_grace_wait(void)
{
	tt_lock_take(&lock);
	order_all();
	wait_for_all();
	tt_lock_give(&lock);
}

void tt_grace_stop(void)
{
	tt_lock_take(&lock);
	hold(NULL);
}

bool tt_grace_try_stop(void)
{
	if (!tt_lock_try(&lock))
		return false;
	atomic_store(&tt_grace_held, true);
	order_all();
	return true;
}

void tt_grace_resume(void)
{
	release(NULL);
	tt_lock_give(&lock);
}

/* One that enters just now sees that all are held, and leaves without a word. */
bool tt_grace_is_held(const struct tt_speaker *speaker)
{
	return !atomic_load(&speaker->inside);
}

/* A fork finds nobody in the middle of telling, but for the thread that forks. */
static void hold(struct tt_lock *unused)
{
	(void)unused;
	atomic_store(&tt_grace_held, true);
	order_all();
	wait_for_all();
}

static void release(struct tt_lock *unused)
{
	(void)unused;
	atomic_store(&tt_grace_held, false);
}

static void forget_others(struct tt_lock *unused)
{
	(void)unused;
	first = tt_speaker_own.listed ? &tt_speaker_own : NULL;
	tt_speaker_own.next = tt_speaker_own.before = NULL;
	/* The kernel wants to hear of it from each process. */
	atomic_store(&tt_grace_one_sided, atomic_load(&tt_grace_one_sided) && prepare_barrier());
	atomic_store(&tt_grace_held, false);
}

void tt_grace_at_exit(void (*hook)(void))
{
	atomic_store(&exit_hook, hook);
}

struct tt_speaker *tt_grace_self(void)
{
	return &tt_speaker_own;
}
