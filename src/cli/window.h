/*
 * window.h: the options of show and export that choose a part of a trace, for both of them.
 *
 *	static const struct tt_opt options[] = {..., CLI_WINDOW_OPTIONS, {0}};
 *	TT_TRY(cli_window_open(&input, path));
 */
#ifndef TT_CLI_WINDOW_H
#define TT_CLI_WINDOW_H

#include "base/opt.h"
#include "trace/session.h"
#include "trace/source.h"

/* What was asked for: targets of the options. Numbers are 0, and texts NULL, when nothing was. */
extern struct cli_window_asked {
	int64_t first, count, last;
	const char *begin, *end, *thread;
} cli_window_asked;

/* The rows of a table of options. */
#define CLI_WINDOW_OPTIONS                                                                         \
	{"first",                                                                                  \
	 0,                                                                                        \
	 TT_OPT_POSITIVE,                                                                          \
	 &cli_window_asked.first,                                                                  \
	 "N",                                                                                      \
	 "of a trace: from this call on; calls are numbered from 1"},                              \
		{"count",                                                                          \
		 0,                                                                                \
		 TT_OPT_POSITIVE,                                                                  \
		 &cli_window_asked.count,                                                          \
		 "N",                                                                              \
		 "of a trace: so many calls"},                                                     \
		{"last",                                                                           \
		 0,                                                                                \
		 TT_OPT_POSITIVE,                                                                  \
		 &cli_window_asked.last,                                                           \
		 "N",                                                                              \
		 "of a trace: the last so many calls"},                                            \
		{"begin",                                                                          \
		 0,                                                                                \
		 TT_OPT_STRING,                                                                    \
		 &cli_window_asked.begin,                                                          \
		 "TIME",                                                                           \
		 "of a trace: calls that went on after this time: 12.5 (ms), 2s, 30us, 5ns"},      \
		{"end",         0,                                                                 \
		 TT_OPT_STRING, &cli_window_asked.end,                                             \
		 "TIME",        "of a trace: calls that began before this time"},                  \
	{                                                                                          \
		"thread", 0, TT_OPT_STRING, &cli_window_asked.thread, "N",                         \
			"of a trace: one thread, from 0"                                           \
	}

/* Whether a part was asked for. */
bool cli_window_given(void);

/* What was asked for as a part of a trace; *given: whether anything was. TTNN_INVALID: it makes no sense. */
tt_status cli_window_make(struct tt_source_window *out, bool *given);

/* Opens an input with its part; refuses one that is no trace if a part was asked for. */
tt_status cli_window_open(struct tt_input *out, const char *path);

#endif
