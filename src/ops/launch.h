/* launch.h: between run.c, which tells, and launch.c, which launches. Nobody else includes it. */
#ifndef TT_OPS_LAUNCH_H
#define TT_OPS_LAUNCH_H

#include "ops/op.h"

/* Scopes; they cost one branch when nobody listens. */
void tt_tell_begin(enum tt_scope_kind kind, const char *name, const struct tt_schema *schema,
		   const struct ttnn_value *args, size_t arg_count, struct tt_tensor *const *inputs,
		   size_t input_count);
void tt_tell_end(struct tt_tensor *const *outputs, size_t count, bool aborted);
void tt_tell_error(tt_status status);

#endif
