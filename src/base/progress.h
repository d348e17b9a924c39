/*
 * progress.h: a bar on the terminal for what takes longer than a second:
 *
 *	importing [#########           ]  45%  1.2M/2.6M  350k/s  0:04 left
 *
 * Nothing is shown when stderr is no terminal.
 */
#ifndef TT_BASE_PROGRESS_H
#define TT_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tt_progress {
	const char *label; /* borrowed */
	uint64_t total;    /* 0: not known */
	atomic_uint_least64_t done;
	uint64_t start_ns;
	atomic_uint_least64_t next_ns; /* not drawn before this time */
	bool on;
	atomic_bool shown;
};

/* Starts a bar for `total` things (0: unknown how many). */
void tt_progress_init(struct tt_progress *progress, const char *label, uint64_t total);

/* So many more are done. Any thread; costs a clock reading, so add in batches. */
void tt_progress_add(struct tt_progress *progress, uint64_t count);

/* So much time went by without anything that is counted: the time left is not told from it. By who adds, or before. */
void tt_progress_leave_out(struct tt_progress *progress, uint64_t nanoseconds);

/* Removes the bar. */
void tt_progress_deinit(struct tt_progress *progress);

/* The text at `now_ns` (of tt_clock_ns()) for that many columns, zero-terminated; for tests too. */
void tt_progress_text(char *out, size_t room, const struct tt_progress *progress, uint64_t now_ns,
		      size_t columns);

#endif
