/*
 * status.h: how functions fail.
 *
 * A function that can fail returns tt_status. The place that knows the fact sets the message once,
 * with tt_fail(); everyone above passes the status on (TT_TRY). Messages are per thread.
 */
#ifndef TT_BASE_STATUS_H
#define TT_BASE_STATUS_H

#include <stdarg.h>
#include <ttnn.h>

typedef enum ttnn_status tt_status;

/* Sets this thread's message and returns status, so that `return tt_fail(...)` reads well. */
tt_status tt_fail(tt_status status, const char *format, ...) TTNN_PRINTF(2, 3);

/*
 * The same for a refusal that upstream words as a failed condition: `condition` is that text
 * ("shard_shape[0] > 0"), kept beside the message for frontends that print both.
 */
tt_status tt_fail_cond(tt_status status, const char *condition, const char *format, ...)
	TTNN_PRINTF(3, 4);

/* Puts "context: " before this thread's message; returns status. For adding a file name, say. */
tt_status tt_fail_prefix(tt_status status, const char *format, ...) TTNN_PRINTF(2, 3);

/* "out of memory" needs no memory: returns TTNN_NOMEM with a fixed message. */
tt_status tt_fail_nomem(void);

/* The condition of the last failure on this thread, or "" when it had none. Borrowed. */
const char *tt_fail_condition(void);

#define TT_TRY(call)                                                                               \
	do {                                                                                       \
		tt_status tt_try_status = (call);                                                  \
		if (tt_try_status != TTNN_OK)                                                      \
			return tt_try_status;                                                      \
	} while (0)

#endif
