/*
 * cli.h: what the commands share. Each is a file of this directory that defines one row.
 */
#ifndef TT_CLI_H
#define TT_CLI_H

#include "base/opt.h"

/* The program itself; its commands are listed in main.c. */
extern const struct tt_cmd cli_root;

/* The commands, in the order of the alphabet. */
extern const struct tt_cmd cli_completion;
extern const struct tt_cmd cli_configs;
extern const struct tt_cmd cli_devices;
extern const struct tt_cmd cli_diff;
extern const struct tt_cmd cli_export;
extern const struct tt_cmd cli_help;
extern const struct tt_cmd cli_import;
extern const struct tt_cmd cli_ops;
extern const struct tt_cmd cli_profile;
extern const struct tt_cmd cli_replay;
extern const struct tt_cmd cli_repro;
extern const struct tt_cmd cli_show;
extern const struct tt_cmd cli_sweep;
extern const struct tt_cmd cli_trace;
extern const struct tt_cmd cli_version;
extern const struct tt_cmd cli_workspace;

/* Prints "ttnn: " and the last failure's message on stderr; returns TT_EXIT_ERROR. */
int cli_fail(void);

#endif
