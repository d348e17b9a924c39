/*
 * grace.h: who is in the middle of telling an event. Emitters enter and leave without a lock; others can
 * wait until each of them was seen outside, or hold all of them out for a moment.
 */
#ifndef TT_EVENT_GRACE_H
#define TT_EVENT_GRACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"

struct tt_event_held;

/* A thread that tells. All but `inside`, `mute` and `held` is grace.c's. */
struct tt_speaker {
	atomic_bool inside;
	bool mute; /* event.c's: it tells nothing, or keeps what it tells in `held` */
	bool listed;
	int ends; /* how often the thread's end was seen */
	struct tt_event_held *held;
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
	tt_lock_unnote(TT_RANK_GRACE);
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
	if (__builtin_expect(!atomic_load_explicit(&tt_grace_held, memory_order_acquire), 1)) {
		tt_lock_note(TT_RANK_GRACE);
		return self;
	}
	atomic_store_explicit(&self->inside, false, memory_order_release);
	return tt_grace_enter_slowly();
}

/* The own one. */
struct tt_speaker *tt_grace_self(void);

/* Returns once every thread was seen outside. Not from inside. */
void tt_grace_wait(void);

/* Holds all threads out until tt_grace_resume(), and waits for those that are inside. None is gone meanwhile. */
void tt_grace_stop(void);
void tt_grace_resume(void);

/*
 * The same without waiting, for a thread that others wait for while they are inside: those are left alone,
 * which tt_grace_is_held() tells. False, and nothing to resume, when somebody holds or waits already.
 */
bool tt_grace_try_stop(void);
bool tt_grace_is_held(const struct tt_speaker *speaker);

/* What is called on every thread that told something when it ends. Once, before any telling. */
void tt_grace_at_exit(void (*hook)(void));

#endif
