/*
 * grace.h: who is in the middle of telling an event. Emitters enter and leave without a lock; others can
 * wait until each of them was seen outside, or hold all of them out for a moment.
 */
#ifndef TT_EVENT_GRACE_H
#define TT_EVENT_GRACE_H

#include <stdatomic.h>
#include <stdbool.h>

/* A thread that tells. All but `inside` and `mute` is grace.c's. */
struct tt_speaker {
	atomic_bool inside;
	bool mute; /* event.c's: it tells nothing */
	bool listed;
	int ends; /* how often the thread's end was seen */
	struct tt_speaker *next, *before;
};

extern _Thread_local struct tt_speaker tt_speaker_own;
extern atomic_bool tt_grace_held;      /* nobody may enter */
extern atomic_bool tt_grace_one_sided; /* only those that wait need a barrier */

/* When it is not as easy as mostly. */
struct tt_speaker *tt_grace_enter_slowly(void);

static inline void tt_grace_leave(struct tt_speaker *self)
{
	atomic_store_explicit(&self->inside, false, memory_order_release);
}

/*
 * This thread begins to tell; waits while it is held out. NULL when it is telling already, or is about
 * to be gone.
 */
static inline struct tt_speaker *tt_grace_enter(void)
{
	struct tt_speaker *self = &tt_speaker_own;

	if (__builtin_expect(
		    !self->listed ||
			    !atomic_load_explicit(&tt_grace_one_sided, memory_order_relaxed) ||
			    atomic_load_explicit(&self->inside, memory_order_relaxed),
		    0))
		return tt_grace_enter_slowly();
	atomic_store_explicit(&self->inside, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(!atomic_load_explicit(&tt_grace_held, memory_order_acquire), 1))
		return self;
	tt_grace_leave(self);
	return tt_grace_enter_slowly();
}

/* The own one. */
struct tt_speaker *tt_grace_self(void);

/* Returns once every thread was seen outside. Not from inside. */
void tt_grace_wait(void);

/*
 * Holds all threads out until tt_grace_resume(). Those that are inside are waited for; or, if not
 * `patient`, left alone, which tt_grace_is_held() tells. No thread is gone meanwhile.
 */
void tt_grace_stop(bool patient);
void tt_grace_resume(void);
bool tt_grace_is_held(const struct tt_speaker *speaker);

/* In the child after a fork() inside of stop and resume, instead of the latter: nobody else is left. */
void tt_grace_resume_child(void);

/* What is called on every thread that told something when it ends. Once, before any telling. */
void tt_grace_at_exit(void (*hook)(void));

#endif
