/* launch.h: between run.c, which tells, and launch.c, which launches. Nobody else includes it. */
#ifndef TT_OPS_LAUNCH_H
#define TT_OPS_LAUNCH_H

#include "ops/op.h"

/* Scopes; they cost one branch when nobody listens. Of `scope` all but its inputs is given. */
void tt_tell_begin(const struct tt_event_scope_begin *scope, struct tt_tensor *const *inputs,
		   size_t input_count);
void tt_tell_end(struct tt_tensor *const *outputs, size_t count, bool aborted);

/* Two scopes at once, the second in the first: while someone listens. Each takes so many of `inputs`. */
void tt_tell_begin_both(const struct tt_event_scope_begin scopes[2],
			struct tt_tensor *const *inputs, const size_t counts[2]);
void tt_tell_end_both(struct tt_tensor *const *outputs, size_t count, bool aborted);

void tt_tell_error(tt_status status);

#endif
