/*
 * workspace_modules.h: sweep modules of the workspace, from one template: one for each operation of a master file.
 */
#ifndef TT_CLI_WORKSPACE_MODULES_H
#define TT_CLI_WORKSPACE_MODULES_H

#include <stddef.h>

#include "base/status.h"

/* Takes a file: its name below the workspace, and its text. */
typedef tt_status cli_put_module(void *context, const char *name, const char *text, size_t length);

/* Makes the modules of all operations of the master, and of those that have a sample (workspace_modules.c). */
tt_status cli_workspace_modules(const char *master, cli_put_module *put, void *context);

#endif
