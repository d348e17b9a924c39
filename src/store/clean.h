/*
 * clean.h: arguments of a parameter file as configurations have them: without what differs from run to run. What
 * upstream's tracer of 2026 does to them, in one pass: devices become placements, what is said twice is said once, shard
 * specs in texts become objects, addresses and numbers that JSON lacks go.
 */
#ifndef TT_STORE_CLEAN_H
#define TT_STORE_CLEAN_H

#include "base/json.h"
#include "base/jsonw.h"
#include "store/master.h"

/* Keywords that are no part of a configuration. */
bool tt_clean_dropped(const char *keyword);

/* One value. The first mesh of devices met fills in the machine's. Errors stick in w. */
void tt_clean_value(struct tt_jsonw *w, struct tt_master_machine *machine,
		    const struct tt_json *value);

#endif
