/*
 * opt.h: commands and their options as tables. One table gives the parsing, the help text and the
 * words for completion.
 *
 *	static bool verbose;
 *	static const char *output = "out";
 *	static const struct tt_opt options[] = {
 *		{"output", 'o', TT_OPT_STRING, &output, "DIR", "where to write (default: out)"},
 *		{"verbose", 'v', TT_OPT_FLAG, &verbose, NULL, "say more"},
 *		{0},
 *	};
 *	const struct tt_cmd cli_show = {
 *		.name = "show", .help = "print a trace", .operands = "TRACE...",
 *		.least = 1, .most = TT_CMD_ANY, .options = options, .run = run,
 *	};
 *
 * Options may stand before and behind operands, as "--output DIR", "--output=DIR", "-o DIR", "-oDIR"
 * or "-vo DIR"; "--" ends them. A long name may be cut where no other begins so ("--out DIR"). A text
 * that is empty is wrong usage, as argument and as operand. -h and --help are there without a row.
 * Exit codes of programs: 0 done, 1 "no" (differences, failures), 2 usage or error.
 */
#ifndef TT_BASE_OPT_H
#define TT_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

enum tt_exit { TT_EXIT_DONE = 0, TT_EXIT_NO = 1, TT_EXIT_ERROR = 2 };

/* To add a kind: one line here, one row in opt.c. The comment is the type of the target. */
enum tt_opt_kind {
	TT_OPT_FLAG,     /* bool: becomes true */
	TT_OPT_INT,      /* int64_t */
	TT_OPT_COUNT,    /* int64_t: from 0 to TT_OPT_COUNT_MOST */
	TT_OPT_POSITIVE, /* int64_t: from 1 to TT_OPT_COUNT_MOST */
	TT_OPT_SIZE, /* uint64_t: a number from 1 on, or with K, M, G, T behind (powers of 1,024) */
	TT_OPT_DOUBLE, /* double */
	TT_OPT_STRING, /* const char *: the argument itself, borrowed */
	TT_OPT_LIST,   /* struct tt_opt_list: one more each time */
	TT_OPT_CHOICE, /* int: which of the words in arg, "graph|csv|svg", counted from 0 */
};

#define TT_OPT_COUNT_MOST INT32_MAX

/* Borrowed texts in an array of ours: give it back with TT_VEC_DEINIT() of base/vec.h. */
struct tt_opt_list {
	const char **data;
	size_t count, room;
};

/* A row; a table ends with a row of zeros. Targets hold the defaults before. */
struct tt_opt {
	const char *name; /* without the dashes; NULL: only a letter */
	char letter;      /* 0: only a name */
	enum tt_opt_kind kind;
	void *target;
	const char *arg;  /* what the help calls the argument, or the words of a choice */
	const char *help; /* one sentence, wrapped where needed */
};

#define TT_CMD_ANY SIZE_MAX

/* A word of a list that the help shows, and one line about it. */
struct tt_cmd_word {
	const char *name, *help;
};

struct tt_cmd {
	const char *name;
	const char *help;     /* one line, for the list of commands */
	const char *operands; /* (optional) for the usage line: "TRACE..." */
	size_t least, most;   /* operands; most may be TT_CMD_ANY */
	bool stop_at_operand; /* what follows the first operand is not ours: "-- PROG ARGS" */
	const char *more;     /* (optional) text under the options, wrapped by hand */
	/* (optional) Words that the first operand may be, under `topic`: gives the i-th, false behind the last. */
	bool (*word)(struct tt_cmd_word *out, size_t i);
	const char *topic;
	const struct tt_opt *options; /* (optional) */
	const char *exclusive; /* (optional) options of which one can be given: "tree|peak" */
	const struct tt_cmd *const *commands; /* (optional) instead of run; ends with NULL */
	/* Gets the operands; returns an exit code. */
	int (*run)(const struct tt_cmd *cmd, size_t count, char **operands);
};

/* What a parse found besides setting the targets. */
struct tt_opt_result {
	size_t count; /* operands, moved to the front of argv in their order */
	bool help;    /* -h or --help was there; nothing else counts then */
};

/*
 * Sets targets from argv (without the program's name). TTNN_INVALID with one sentence on wrong
 * usage; texts of the command line stay borrowed. Moves the operands to the front of argv.
 */
tt_status tt_opt_parse(struct tt_opt_result *out, const struct tt_cmd *cmd, size_t argc,
		       char **argv);

/*
 * Does what a command line asks for: parses, goes down to a subcommand, prints help on stdout or
 * the fault on stderr, runs. `path` is what was typed so far ("ttnn"). Returns the exit code.
 */
int tt_cmd_run(const struct tt_cmd *cmd, const char *path, size_t argc, char **argv);

/* For wrong usage that a command finds itself: prints the last message as above; returns 2. */
int tt_cmd_complain(const char *path);

/* The subcommand of that name, or NULL. */
const struct tt_cmd *tt_cmd_find(const struct tt_cmd *cmd, const char *name);

/* Sets the message "'shw' is no command ...; did you mean 'show'?" and returns TTNN_INVALID. */
tt_status tt_cmd_fail_unknown(const struct tt_cmd *cmd, const char *path, const char *name);

/* Appends the help text. */
void tt_cmd_help(struct tt_str *out, const struct tt_cmd *cmd, const char *path);

/* Appends a completion script for bash that knows all commands below `cmd`. */
void tt_cmd_completion_bash(struct tt_str *out, const struct tt_cmd *cmd);

#endif
