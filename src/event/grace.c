#include "event/grace.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct tt_speaker {
	atomic_bool speaking;
	bool listed;
	int ends; /* how often the thread's end was seen */
	struct tt_speaker *next, *before;
};

static _Thread_local struct tt_speaker own;
static struct tt_speaker *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_exit;

/* Destructors of other keys may tell once more: then the thread is listed again, and ends again. */
static void unlist(void *data)
{
	struct tt_speaker *self = data;

	pthread_mutex_lock(&lock);
	if (self->before)
		self->before->next = self->next;
	else
		first = self->next;
	if (self->next)
		self->next->before = self->before;
	self->listed = false;
	self->ends++;
	pthread_mutex_unlock(&lock);
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* The other threads are not in the child. */
static void in_child(void)
{
	first = own.listed ? &own : NULL;
	own.next = own.before = NULL;
	pthread_mutex_unlock(&lock);
}

static void start(void)
{
	pthread_key_create(&at_exit, unlist);
	pthread_atfork(before_fork, after_fork, in_child);
}

static bool enlist(struct tt_speaker *self)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
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

	if (!self->listed && !enlist(self))
		return NULL;
	if (atomic_load_explicit(&self->speaking, memory_order_relaxed))
		return NULL;
	atomic_store(&self->speaking, true);
	return self;
}

void tt_grace_leave(struct tt_speaker *self)
{
	atomic_store_explicit(&self->speaking, false, memory_order_release);
}

void tt_grace_wait(void)
{
	pthread_mutex_lock(&lock);
	for (struct tt_speaker *speaker = first; speaker; speaker = speaker->next)
		while (speaker != &own && atomic_load(&speaker->speaking))
			sched_yield();
	pthread_mutex_unlock(&lock);
}
