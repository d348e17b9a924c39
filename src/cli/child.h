/* child.h: programs that commands run. */
#ifndef TT_CLI_CHILD_H
#define TT_CLI_CHILD_H

#include "base/status.h"
#include "base/str.h"

/*
 * Runs a command, which ends with NULL, to its end; *code is its exit code, or 128 and the number of the signal it died
 * of. TTNN_NOTFOUND when there is no such program.
 */
tt_status cli_child(int *code, char **command);

/* The same; what the program prints is appended to `out`. */
tt_status cli_child_output(int *code, struct tt_str *out, char **command);

/* Whether there is a program of that name on the path. */
bool cli_child_there(const char *program);

/* Puts in order what ended processes left of their traces since then; those about to end have a moment for it. */
void cli_child_complete(const char *directory, int64_t since);

#endif
