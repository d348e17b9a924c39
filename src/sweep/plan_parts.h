/* plan_parts.h: between plan.c and plan_file.c. */
#ifndef TT_SWEEP_PLAN_PARTS_H
#define TT_SWEEP_PLAN_PARTS_H

#include "sweep/plan.h"

/* Reads a master; its configurations are the plan's then, without vectors. The file's digest. */
tt_status tt_plan_load(const char **digest, struct tt_plan *plan, const char *path);

/* Adds a vector of a configuration, if options want it and its mutation applies. */
tt_status tt_plan_take(struct tt_plan *plan, struct tt_plan_vector *vector,
		       const struct tt_plan_options *options);

#endif
