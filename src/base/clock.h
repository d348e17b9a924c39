/*
 * clock.h: what time it is. Any thread may ask.
 *
 * Ticks are the cheapest stamps: the processor's time stamp counter where it runs at one rate in
 * all states (TTNN_CLOCK=os in the environment avoids it), else nanoseconds. They are turned into
 * nanoseconds later, when it does not matter what that costs.
 */
#ifndef TT_BASE_CLOCK_H
#define TT_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds that only grow, from an unknown start. */
uint64_t tt_clock_ns(void);

/* Nanoseconds since 1970, UTC; may jump when the machine's clock is set. */
int64_t tt_clock_wall_ns(void);

/* A stamp in ticks. */
uint64_t tt_clock_ticks(void);

/*
 * The time of a stamp on the scale of tt_clock_ns(). The rate is measured up to the first call,
 * which may wait some milliseconds for it, and then stays: differences are always consistent.
 */
uint64_t tt_clock_ticks_to_ns(uint64_t ticks);

/* Ticks per second; waits as tt_clock_ticks_to_ns() does. */
double tt_clock_rate(void);

/* The same as far as it is known, without waiting until it is exact. */
double tt_clock_rate_by_now(void);

/* Whether ticks are the time stamp counter. */
bool tt_clock_has_tsc(void);

#endif
