/* golden_door.h: whether an operation would take what its golden is called with. For golden.c only. */
#ifndef TT_GOLDEN_GOLDEN_DOOR_H
#define TT_GOLDEN_GOLDEN_DOOR_H

#include "golden/golden.h"

/*
 * Fails in the operation's own words where it would refuse shapes, ranges or types of the call, whatever it says of layouts,
 * memory and cores. Reads no tensors and changes none.
 */
tt_status tt_golden_ask(const struct tt_call *call);

#endif
