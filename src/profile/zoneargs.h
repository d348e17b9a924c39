/* zoneargs.h: the arguments of an operation as a viewer shows them beside its zone, remembered. */
#ifndef TT_PROFILE_ZONEARGS_H
#define TT_PROFILE_ZONEARGS_H

#include "profile/timeline.h"
#include "trace/argmemo.h"

#define TT_ZONEARGS_PLACES 256

struct tt_zoneargs_row {
	uint64_t number; /* of tt_argmemo; 0: none yet */
	struct tt_zone_arg *args;
	size_t count;
	struct tt_arena arena;
};

/* All zero but the style's dialect is one to begin with. One for each process. */
struct tt_zoneargs {
	struct tt_argmemo memo;
	struct tt_argtext_style style;
	struct tt_str text;
	struct tt_zoneargs_row rows[TT_ZONEARGS_PLACES];
};

/* Fills in args, arg_count and args_number of a zone; borrowed until the next call. False: memory is exhausted. */
bool tt_zoneargs_fill(struct tt_zone *zone, struct tt_zoneargs *args,
		      const struct tt_event_scope_begin *begin);

void tt_zoneargs_deinit(struct tt_zoneargs *args);

#endif
