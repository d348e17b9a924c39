#include "event/grace.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum state { OUTSIDE, INSIDE, HELD };

struct tt_speaker {
	atomic_int state;
	bool listed;
	int ends; /* how often the thread's end was seen */
	struct tt_speaker *next, *before;
};

static _Thread_local struct tt_speaker own;
static struct tt_speaker *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_exit;
static _Atomic(void (*)(void)) exit_hook;

/* Destructors of other keys may tell once more: then the thread is listed again, and ends again. */
static void unlist(void *data)
{
	struct tt_speaker *self = data;
	void (*hook)(void) = atomic_load(&exit_hook);

	if (hook)
		hook();
	pthread_mutex_lock(&lock);
	*(self->before ? &self->before->next : &first) = self->next;
	if (self->next)
		self->next->before = self->before;
	self->listed = false;
	self->ends++;
	pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
	pthread_key_create(&at_exit, unlist);
}

static bool enlist(struct tt_speaker *self)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_key);
	if (self->ends >= PTHREAD_DESTRUCTOR_ITERATIONS - 1 || pthread_setspecific(at_exit, self))
		return false;
	pthread_mutex_lock(&lock);
	self->before = NULL;
	self->next = first;
	if (first)
		first->before = self;
	first = self;
	self->listed = true;
	pthread_mutex_unlock(&lock);
	return true;
}

struct tt_speaker *tt_grace_enter(void)
{
	struct tt_speaker *self = &own;
	int state = OUTSIDE;

	if (!self->listed && !enlist(self))
		return NULL;
	/* Sequentially consistent: whoever waits sees the thread inside, or it sees what they did. */
	while (!atomic_compare_exchange_strong(&self->state, &state, INSIDE)) {
		if (state == INSIDE)
			return NULL;
		sched_yield();
		state = OUTSIDE;
	}
	return self;
}

void tt_grace_leave(struct tt_speaker *self)
{
	atomic_store_explicit(&self->state, OUTSIDE, memory_order_release);
}

void tt_grace_wait(void)
{
	pthread_mutex_lock(&lock);
	for (struct tt_speaker *speaker = first; speaker; speaker = speaker->next)
		while (speaker != &own && atomic_load(&speaker->state) == INSIDE)
			sched_yield();
	pthread_mutex_unlock(&lock);
}

void tt_grace_stop(bool patient)
{
	pthread_mutex_lock(&lock);
	for (struct tt_speaker *speaker = first; speaker; speaker = speaker->next) {
		int state = OUTSIDE;

		while (!atomic_compare_exchange_strong(&speaker->state, &state, HELD) && patient) {
			sched_yield();
			state = OUTSIDE;
		}
	}
}

void tt_grace_resume(void)
{
	for (struct tt_speaker *speaker = first; speaker; speaker = speaker->next)
		if (tt_grace_is_held(speaker))
			atomic_store_explicit(&speaker->state, OUTSIDE, memory_order_release);
	pthread_mutex_unlock(&lock);
}

bool tt_grace_is_held(const struct tt_speaker *speaker)
{
	return atomic_load(&speaker->state) == HELD;
}

void tt_grace_resume_child(void)
{
	first = own.listed ? &own : NULL;
	own.next = own.before = NULL;
	atomic_store(&own.state, OUTSIDE);
	pthread_mutex_unlock(&lock);
}

void tt_grace_at_exit(void (*hook)(void))
{
	atomic_store(&exit_hook, hook);
}

struct tt_speaker *tt_grace_self(void)
{
	return &own;
}
