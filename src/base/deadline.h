/*
 * deadline.h: when an operation has to give up: its time is over, or its caller does not want it any more.
 *
 * How long it may take says TT_METAL_OPERATION_TIMEOUT_SECONDS in the environment, a number with or without
 * a fraction; 0 or nothing: as long as it likes. ops/run.c begins that time with every outermost call of a
 * thread, ops/launch.c watches it while a kernel runs.
 *
 * A binding may set a function that the library asks every few milliseconds, on the calling thread, whether
 * to go on (ttnn_set_poll(), which the Python package does for Ctrl-C). It is asked between the pieces of
 * loops; once it said no, everything that the thread does gives up until the next setting.
 *
 * Loops of the pool leave out their remaining pieces then. Kernels need not care, for their results are
 * given up; but whoever keeps what a loop made for later calls, or takes it for positions, asks
 * tt_deadline_check() first.
 */
#ifndef TT_BASE_DEADLINE_H
#define TT_BASE_DEADLINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* An outermost call of this thread begins: it has all of its time. */
void tt_deadline_begin(void);

/* From now on its loops look at the clock, or not any more. */
void tt_deadline_watch(bool on);

/* Whether this thread's call is cancelled, or its time over, watched or not. */
bool tt_deadline_passed(void);

/* TTNN_CANCELLED, or TTNN_TIMEOUT when it is watched and over, with a message. */
tt_status tt_deadline_check(void);

/* TTNN_CANCELLED or TTNN_TIMEOUT with a message that names who took so long. */
tt_status tt_deadline_fail(const char *who);

/* When loops of this thread end: for the pool... */
struct tt_deadline {
	uint64_t ends;                /* on the scale of tt_clock_ns(); 0: never */
	const atomic_bool *cancelled; /* NULL: never */
};
struct tt_deadline tt_deadline_watched(void);
/* ...whose threads take over that of the loop they help with. */
void tt_deadline_adopt(const struct tt_deadline *of);

/* Asks whether to go on if it is time to, on the thread that has set whom to ask. Cheap if none. */
void tt_deadline_poll(void);

/*
 * The same, and whether the work of this thread is to be left out: for long loops that are none of the pool's,
 * or one piece of it. Not to be called more often than every microsecond or so.
 */
bool tt_deadline_stop(void);

/* How long a thread that would be asked may wait before it calls tt_deadline_poll(): ns; 0: for ever. */
uint64_t tt_deadline_poll_ns(void);

/*
 * While on, this thread asks nobody: it holds a lock or tells an event, and who is asked may wait for one who
 * waits for that (Python's GIL). Returns what it was.
 */
bool tt_deadline_hush(bool on);

/* Another limit than the environment's, for all threads; 0: none. */
void tt_deadline_set_limit(uint64_t ns);

#endif
