/*
 * moe_places.h: which cores moe_compute takes (select_moe_compute_cores() of ttnn 0.81): a ring that multiplies, beside the banks of
 * DRAM or, where that leaves no room, in rows from the west; cores that combine in one rectangle; cores that tilize in the two
 * highest rows. The rectangles around the three share no core, and none has one that the caller keeps (mux).
 */
#ifndef TT_OPS_COLLECTIVE_MOE_PLACES_H
#define TT_OPS_COLLECTIVE_MOE_PLACES_H

#include "ops/op.h"

#define TT_MOE_TILIZERS 4u
#define TT_MOE_SIDE 32u /* no grid is wider or higher */

struct tt_moe_places {
	const ttnn_core_set *ring, *combiners, *tilizers, *all;
	struct ttnn_core combiner[TT_MOE_SIDE * TT_MOE_SIDE]; /* column after column */
	uint32_t combiner_count;
	struct ttnn_core_range around; /* all of them */
};

/* `combining` cores, and as many others as tokens of so many tiles need. Refuses where they do not fit; `mux` may be NULL. */
tt_status tt_moe_place(struct tt_moe_places *out, struct tt_device *device, uint64_t combining,
		       uint32_t tiles, const ttnn_core_set *mux);

#endif
