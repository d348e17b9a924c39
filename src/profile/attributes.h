/*
 * attributes.h: the attributes of operations as performance reports write them: upstream's reflection, which has
 * words for truth values and (x=0,y=0) for cores.
 */
#ifndef TT_PROFILE_ATTRIBUTES_H
#define TT_PROFILE_ATTRIBUTES_H

#include "event/event.h"
#include "profile/ops_row.h"

/*
 * The attributes of a device operation, with one reference; NULL when memory is exhausted. The names are the
 * schema's, and borrowed from it. In the SEED dialect operations have the keys of mid-2025 where those are known.
 */
struct tt_ops_attributes *tt_ops_attributes_make(const struct tt_event_scope_begin *begin,
						 enum ttnn_dialect dialect);

#endif
