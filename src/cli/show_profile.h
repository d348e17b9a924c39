/*
 * show_profile.h: `ttnn show --profile`: performance reports for people, and as JSON.
 */
#ifndef TT_CLI_SHOW_PROFILE_H
#define TT_CLI_SHOW_PROFILE_H

#include "base/jsonw.h"

/* Of a trace, or of a CSV in any of the layouts. */
tt_status cli_profile_print(const char *path);
tt_status cli_profile_json(struct tt_jsonw *w, const char *path);

#endif
