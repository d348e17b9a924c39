/*
 * pool.h: loops on all processors.
 *
 * One pool for the process, started at the first loop that is worth it. It has as many threads as
 * TTNN_NUM_THREADS says, else as there are processors this process may run on; the caller is one of
 * them. Loops inside of loops, and those of a second thread while the pool is taken, run in their
 * caller alone. A child after fork() starts its own; do not fork inside of a loop.
 */
#ifndef TT_BASE_POOL_H
#define TT_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Calls body(context, begin, end) for pieces of at most `grain` (0 is 1) that together are 0 to
 * count, each once, in any order, on several threads at a time; returns when all are done and seen.
 * A count not above the grain is one plain call. Pieces are left out when the caller's operation has no
 * time left or is cancelled (deadline.h): whether it is can only be found between two of them, so that no
 * piece should take more than a few milliseconds.
 */
void tt_pool_for(size_t count, size_t grain, void (*body)(void *context, size_t begin, size_t end),
		 void *context);

/* So many of the pool's threads are told apart; the time of others counts as that of the last. */
#define TT_POOL_METERED 63

/* How busy the pool's threads were in the loops of one caller, in ticks (clock.h). All zero before. */
struct tt_pool_meter {
	uint64_t helped; /* bit i: thread i took part, and the next two are its */
	uint64_t waited; /* the caller waited so long for them */
	uint64_t first,
		last; /* when the first loop began; when the last thread came to its first one */
	uint64_t busy[TT_POOL_METERED];
};

/* From now on the loops of the calling thread are measured, until it is called with NULL. */
void tt_pool_measure(struct tt_pool_meter *meter);

/* How many threads work on a loop. */
unsigned tt_pool_threads(void);

/*
 * Changes that number; 0 is back to the default. Waits for a running loop, and ends the threads; inside of one
 * (its body, or who is asked whether to go on) it is the next loop that has so many.
 */
void tt_pool_set_threads(unsigned count);

#endif
