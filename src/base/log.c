#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/lock.h"

#define LINE_MOST 4096

/* Name in the environment, and what a line of that level starts with. */
static const struct {
	const char *name, *mark;
} levels[] = {
	[TT_LOG_ERROR] = {"error", "error: "},
	[TT_LOG_WARN] = {"warn", "warning: "},
	[TT_LOG_INFO] = {"info", ""},
	[TT_LOG_DEBUG] = {"debug", "debug: "},
};

static atomic_int used_level = -1; /* not known yet */

static int level_now(void)
{
	int level = atomic_load_explicit(&used_level, memory_order_relaxed);
	const char *name = tt_env("TTNN_LOG");

	if (level >= 0)
		return level;
	level = TT_LOG_WARN;
	for (int i = 0; name && i <= TT_LOG_DEBUG; i++)
		if (strcmp(name, levels[i].name) == 0)
			level = i;
	atomic_store_explicit(&used_level, level, memory_order_relaxed);
	return level;
}

bool tt_log_on(enum tt_log_level level)
{
	return (int)level <= level_now();
}

void tt_log_set_level(enum tt_log_level level)
{
	atomic_store_explicit(&used_level, (int)level, memory_order_relaxed);
}

static void put(const char *text, size_t length)
{
	while (length) {
		ssize_t put = write(STDERR_FILENO, text, length);

		if (put < 0 && errno != EINTR)
			return; /* nowhere left to say it */
		if (put > 0) {
			text += put;
			length -= (size_t)put;
		}
	}
}

/* Whoever is to read the line may be slow, or wait for the fork itself. */
static const struct tt_lock_forks forks = {.anew = true};
TT_LOCK_STATIC(lock, TT_RANK_LOG, &forks);
static bool unfinished; /* a line that changes stands there */

void tt_log_write(const char *text, size_t length)
{
	static const char erase[] = "\r\033[K";
	int saved = errno;

	if (!length)
		return;
	tt_lock_take(&lock);
	if (unfinished)
		put(erase, sizeof(erase) - 1);
	put(text, length);
	unfinished = text[length - 1] != '\n';
	tt_lock_give(&lock);
	errno = saved;
}

void tt_log(enum tt_log_level level, const char *format, ...)
{
	char line[LINE_MOST];
	va_list args;
	size_t length;
	int saved = errno;

	if (!tt_log_on(level))
		return;
	length = (size_t)snprintf(line, sizeof(line), "ttnn: %s", levels[level].mark);
	va_start(args, format);
	vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	va_end(args);
	length = strlen(line);
	line[length++] = '\n';
	tt_log_write(line, length);
	errno = saved;
}
