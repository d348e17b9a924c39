/*
 * deadline.h: how long an operation may take: TT_METAL_OPERATION_TIMEOUT_SECONDS in the environment, a
 * number with or without a fraction; 0 or nothing: as long as it likes.
 *
 * ops/run.c begins one with every outermost call of a thread, ops/launch.c watches it while a kernel
 * runs. Loops of the pool that are started meanwhile leave out their remaining pieces once the time is
 * over. Kernels need not care, for their results are given up; but whoever keeps what a loop made for
 * later calls, or takes it for positions, asks tt_deadline_check() first.
 */
#ifndef TT_BASE_DEADLINE_H
#define TT_BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* An outermost call of this thread begins: it has all of its time. */
void tt_deadline_begin(void);

/* From now on its loops look at the clock, or not any more. */
void tt_deadline_watch(bool on);

/* Whether the time of this thread's call is over, watched or not. */
bool tt_deadline_passed(void);

/* TTNN_TIMEOUT with a message when it is watched and over. */
tt_status tt_deadline_check(void);

/* TTNN_TIMEOUT with a message that names who took so long. */
tt_status tt_deadline_fail(const char *who);

/* When watched loops of this thread end, on the scale of tt_clock_ns(); 0: never. For the pool... */
uint64_t tt_deadline_watched(void);
/* ...whose threads take over that of the loop they help with. */
void tt_deadline_adopt(uint64_t when);

/* Another limit than the environment's, for all threads; 0: none. */
void tt_deadline_set_limit(uint64_t ns);

#endif
