/*
 * recording.h: the options of commands that run a program with recording on (trace, profile): which part of what it does
 * is recorded. They become the words of TTNN_TRACE_OPTIONS (event/environment.h).
 *
 *	static const struct tt_opt options[] = {..., CLI_RECORDING_OPTIONS, {0}};
 *	TT_TRY(cli_recording_words(&words));
 *	cli_recording_add(&words, "stacks", NULL);
 *	TT_TRY(cli_recording_judge(&words));
 */
#ifndef TT_CLI_RECORDING_H
#define TT_CLI_RECORDING_H

#include "base/opt.h"

/* What was asked for: targets of the options. Numbers are 0, and texts NULL, when nothing was. */
extern struct cli_recording_asked {
	int64_t first, count, last;
	const char *begin, *end;
} cli_recording_asked;

/* The rows of a table of options. */
#define CLI_RECORDING_OPTIONS                                                                        \
	{"first",                                                                                    \
	 0,                                                                                          \
	 TT_OPT_POSITIVE,                                                                            \
	 &cli_recording_asked.first,                                                                 \
	 "N",                                                                                        \
	 "begin with outermost call N, counted from 1"},                                             \
		{"count",                                                                            \
		 0,                                                                                  \
		 TT_OPT_POSITIVE,                                                                    \
		 &cli_recording_asked.count,                                                         \
		 "N",                                                                                \
		 "record so many outermost calls"},                                                  \
		{"begin",       0,                                                                   \
		 TT_OPT_STRING, &cli_recording_asked.begin,                                          \
		 "MARK",        "begin at each mark of this text"},                                  \
		{"end",         0,                                                                   \
		 TT_OPT_STRING, &cli_recording_asked.end,                                            \
		 "MARK",        "end at each mark of this text"},                                    \
	{                                                                                            \
		"last", 0, TT_OPT_POSITIVE, &cli_recording_asked.last, "N",                          \
			"keep the last N outermost calls alone, in memory, until the end or a flush" \
	}

/* Whether a part was asked for. */
bool cli_recording_given(void);

/* Appends the words of the options. TTNN_INVALID: a mark cannot be told so. */
tt_status cli_recording_words(struct tt_str *words);

/* Appends another word, with a value or NULL. */
void cli_recording_add(struct tt_str *words, const char *word, const char *value);
void cli_recording_add_number(struct tt_str *words, const char *word, int64_t number);

/* Whether the library will take them: in the program itself nobody would hear that it does not. */
tt_status cli_recording_judge(const struct tt_str *words);

#endif
