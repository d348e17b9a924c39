/*
 * grace.h: who is in the middle of telling an event. Emitters enter and leave without a lock; others can
 * wait until each of them was seen outside, or hold all of them out for a moment.
 */
#ifndef TT_EVENT_GRACE_H
#define TT_EVENT_GRACE_H

#include <stdbool.h>

/* A thread that tells. */
struct tt_speaker;

/*
 * This thread begins to tell; waits while it is held out. NULL when it is telling already, or is about
 * to be gone.
 */
struct tt_speaker *tt_grace_enter(void);
void tt_grace_leave(struct tt_speaker *self);

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
