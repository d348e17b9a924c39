#include "event/environment.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/announce.h"
#include "event/capture.h"

/* What lies in buffers is written so often, so that a killed process leaves its trace. */
#define FLUSH_MS 200

/* ---- options --------------------------------------------------------------------------------------------- */

enum kind { POSITIVE64, NUMBER32, TEXT, FLAG, SIGNAL };

static const struct {
	const char *word;
	enum kind kind;
	size_t offset;
} rows[] = {
#define ROW(word, kind, member)                                                                    \
	{                                                                                          \
		word, kind, offsetof(struct ttnn_trace_options, member)                            \
	}
	ROW("first", POSITIVE64, first_op), ROW("count", POSITIVE64, op_count),
	ROW("begin", TEXT, begin_mark),     ROW("end", TEXT, end_mark),
	ROW("last", POSITIVE64, last_ops),  ROW("flush", NUMBER32, flush_ms),
	ROW("stacks", FLAG, stacks),        ROW("calls", FLAG, calls),
	ROW("profile", FLAG, profile),      {"signal", SIGNAL, 0},
#undef ROW
};

/* Whether a process can wait for it: KILL and STOP come to none. */
static bool can_catch(long number)
{
	return number > 0 && number < NSIG && number != SIGKILL && number != SIGSTOP &&
	       sigaction((int)number, NULL, &(struct sigaction){0}) == 0;
}

/* "USR2", "SIGUSR2" or 12. */
static tt_status find_signal(int *out, const char *text)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"USR1", SIGUSR1},   {"USR2", SIGUSR2}, {"HUP", SIGHUP},
		       {"WINCH", SIGWINCH}, {"URG", SIGURG},   {"QUIT", SIGQUIT}};
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
	long number = 0;
	char *end;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strcmp(signals[i].name, name) == 0)
			number = signals[i].number;
	if (isdigit((unsigned char)text[0])) {
		number = strtol(text, &end, 10);
		number = *end ? 0 : number;
	}
	if (!can_catch(number))
		return tt_fail(TTNN_INVALID,
			       "'%s' is no signal that a process can wait for: USR1, USR2, HUP, "
			       "WINCH, URG, QUIT or the number of another",
			       text);
	*out = (int)number;
	return TTNN_OK;
}

static tt_status set_number(void *target, enum kind kind, const char *word, const char *text)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno ||
	    (kind == NUMBER32 && number > UINT32_MAX) || (kind == POSITIVE64 && !number))
		return tt_fail(TTNN_INVALID, "'%s' is no number for '%s'", text, word);
	if (kind == NUMBER32)
		*(uint32_t *)target = (uint32_t)number;
	else
		*(uint64_t *)target = number;
	return TTNN_OK;
}

static tt_status set_option(struct ttnn_trace_options *out, int *number, char *word)
{
	char *text = strchr(word, '=');
	size_t i = 0;
	void *target;

	if (text)
		*text++ = '\0';
	while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].word, word) != 0)
		i++;
	if (i == sizeof(rows) / sizeof(rows[0]))
		return tt_fail(TTNN_INVALID, "there is no option '%s' of a trace", word);
	target = (char *)out + rows[i].offset;
	if (rows[i].kind == FLAG) {
		*(bool *)target = true;
		return TTNN_OK;
	}
	if (!text)
		return tt_fail(TTNN_INVALID, "'%s' wants a value: %s=...", word, word);
	if (rows[i].kind == TEXT)
		*(const char **)target = text;
	else if (rows[i].kind == SIGNAL)
		return find_signal(number, text);
	else
		return set_number(target, rows[i].kind, word, text);
	return TTNN_OK;
}

tt_status tt_trace_parse_options(struct ttnn_trace_options *out, int *number, char *words)
{
	char *rest, *word = strtok_r(words, ",", &rest);

	for (; word; word = strtok_r(NULL, ",", &rest))
		TT_TRY(set_option(out, number, word));
	return TTNN_OK;
}

/* ---- the trace of the process ------------------------------------------------------------------------------ */

static ttnn_trace *trace;

/* With the process: it need not be the last word of a destructor, but none comes after it. */
__attribute__((destructor)) static void end_with_the_process(void)
{
	struct ttnn_trace_summary summary = {0};
	tt_status status;

	if (!trace)
		return;
	status = ttnn_trace_end(&summary, trace);
	trace = NULL;
	if (status != TTNN_OK)
		tt_log(TT_LOG_WARN, "the trace is not complete: %s", ttnn_error());
	tt_announce_end(&summary);
	if (summary.lost)
		tt_log(TT_LOG_WARN, "%llu records of the trace are lost: %s",
		       (unsigned long long)summary.lost, summary.reason);
}

static tt_status begin(const char *directory, const char *words)
{
	struct ttnn_trace_options options = {.directory = directory, .flush_ms = FLUSH_MS};
	char *copy = tt_strdup(words ? words : "");
	int number = 0;
	tt_status status;

	if (!copy)
		return tt_fail_nomem();
	status = tt_trace_parse_options(&options, &number, copy);
	if (status == TTNN_OK && mkdir(directory, 0777) != 0 && errno != EEXIST)
		status = tt_fail(TTNN_IO, "%s: %s", directory, strerror(errno));
	if (status == TTNN_OK)
		status = ttnn_trace_begin(&trace, &options);
	if (status == TTNN_OK && number)
		status = tt_capture_flush_on(number);
	tt_free(copy);
	return status;
}

void tt_trace_from_environment(void)
{
	const char *directory = tt_env("TTNN_TRACE");

	if (!directory)
		return;
	if (begin(directory, tt_env("TTNN_TRACE_OPTIONS")) != TTNN_OK)
		tt_log(TT_LOG_WARN, "TTNN_TRACE: %s", ttnn_error());
}
