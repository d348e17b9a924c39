/*
 * env.h: the environment variables of the library, one row each.
 *
 * Whoever reads one does so by tt_env(); whoever begins something that they govern (a device, a capture, a
 * command, the import of the Python package) calls tt_env_check() first, so that a typo is refused in
 * words instead of being taken for the default.
 *
 * To add a variable: its row in env.c. `ttnn help environment` prints the rows, and a test compares
 * docs/environment.md with them.
 */
#ifndef TT_BASE_ENV_H
#define TT_BASE_ENV_H

#include <stddef.h>

#include "base/status.h"

enum tt_env_kind {
	TT_ENV_CHOICE,  /* one of the words of `values`, "seed|tt-metal" */
	TT_ENV_COUNT,   /* a whole number, 1 or more */
	TT_ENV_SIZE,    /* a whole number, 0 or more */
	TT_ENV_SECONDS, /* a number, 0 or more, with or without a fraction */
	TT_ENV_OTHER,   /* whoever reads it judges it; `values` says what it is: "DIR" */
};

struct tt_env_row {
	const char *name;
	enum tt_env_kind kind;
	const char *values; /* what it may be, for people and for TT_ENV_CHOICE */
	const char *help;   /* one sentence without a full stop */
};

/* The rows in the order of the alphabet; sets *count. */
const struct tt_env_row *tt_env_rows(size_t *count);

/* The value of a variable of the rows; NULL when it is not set or empty, which is the same. Any thread. */
const char *tt_env(const char *name);

/* TTNN_INVALID when a variable is set to what it cannot be; the message names the choices. Any thread. */
tt_status tt_env_check(void);

#endif
