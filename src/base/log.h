/*
 * log.h: what the library and the tools have to say besides their results: lines on stderr.
 *
 * TTNN_LOG=error|warn|info|debug says how much; the default is warn. Lines of several threads do
 * not mix. Errors that a caller gets as a status are not logged as well.
 */
#ifndef TT_BASE_LOG_H
#define TT_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <ttnn.h>

enum tt_log_level { TT_LOG_ERROR, TT_LOG_WARN, TT_LOG_INFO, TT_LOG_DEBUG };

/* Writes "ttnn: warning: text" and a newline if the level is on. Keeps errno. */
void tt_log(enum tt_log_level level, const char *format, ...) TTNN_PRINTF(2, 3);

/* Whether a line of that level would be written: for texts that cost something to make. */
bool tt_log_on(enum tt_log_level level);

/* Changes the level, over the environment. */
void tt_log_set_level(enum tt_log_level level);

/* The same as tt_log(), the first time this place in the program is reached. */
#define TT_LOG_ONCE(level, ...)                                                                    \
	do {                                                                                       \
		static atomic_flag tt_log_said = ATOMIC_FLAG_INIT;                                 \
		if (!atomic_flag_test_and_set(&tt_log_said))                                       \
			tt_log((level), __VA_ARGS__);                                              \
	} while (0)

/*
 * Writes to stderr in one piece, between the lines of other threads. A text without a newline at
 * its end is a line that changes (a progress bar): the next one takes its place.
 */
void tt_log_write(const char *text, size_t length);

#endif
