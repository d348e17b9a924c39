/*
 * sound.h: what no operation takes, whatever its signature admits: values that upstream's own types cannot be, or that
 * nothing can be done with. The door asks once for every call of a user; operations need not ask again.
 */
#ifndef TT_OPS_SOUND_H
#define TT_OPS_SOUND_H

#include "ops/sig.h"

/*
 * Refuses sets without cores, tiles of sizes that the hardware has not, and numbers that are no member of their
 * enumeration, also within lists, objects and memory configs; but a field of an object may be a set without cores.
 */
tt_status tt_args_sound(const struct tt_args *args);

#endif
