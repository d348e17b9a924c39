/* golden_collective.h: what the first chip of a mesh gets of others, the slow and obvious way. */
#ifndef TT_GOLDEN_GOLDEN_COLLECTIVE_H
#define TT_GOLDEN_GOLDEN_COLLECTIVE_H

#include "golden/golden.h"

tt_status tt_golden_all_broadcast(struct tt_golden *golden);
tt_status tt_golden_all_to_all_dispatch(struct tt_golden *golden);
tt_status tt_golden_all_to_all_combine(struct tt_golden *golden);
tt_status tt_golden_reduce_to_root(struct tt_golden *golden);

#endif
