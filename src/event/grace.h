/*
 * grace.h: waiting until nobody is in the middle of telling an event. Emitters enter and leave without
 * a lock; whoever took something away from them waits once and may then free it.
 */
#ifndef TT_EVENT_GRACE_H
#define TT_EVENT_GRACE_H

/* A thread that tells. */
struct tt_speaker;

/* Raises this thread's flag; NULL when it is up already or the thread is about to be gone. */
struct tt_speaker *tt_grace_enter(void);
void tt_grace_leave(struct tt_speaker *self);

/* Returns once every other thread was seen outside. Not from inside for the own thread. */
void tt_grace_wait(void);

#endif
