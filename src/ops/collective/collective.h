/*
 * collective.h: the room of operations in which chips of a mesh give each other their data.
 *
 *	collective      gathering, reducing, scattering, sending: one program, a row for each
 *	exchange        tokens to experts and back, states to one chip: programs of their own
 *	placements      how their results are spread over the mesh
 *
 * What these files share, and attention with them, is which chips take part together: all, or those of one row or
 * column of the mesh (cluster_axis).
 */
#ifndef TT_OPS_COLLECTIVE_COLLECTIVE_H
#define TT_OPS_COLLECTIVE_COLLECTIVE_H

#include "device/device.h"
#include "ops/op.h"

#define TT_GROUP_MAX 64

struct tt_group {
	uint32_t chips[TT_GROUP_MAX]; /* their places on the mesh, in order */
	uint32_t count;
	uint32_t own; /* the place of the chip itself in the group */
};

/* The group of a chip; axis 0 goes down a column of the mesh, 1 along a row, -1 over all. */
void tt_group_find(struct tt_group *out, const struct tt_device *device, int64_t axis,
		   uint32_t chip);

/* How many chips such a group has. */
uint32_t tt_group_size(const struct tt_device *device, int64_t axis);

/* The axis that an argument or attribute names; -1 for none. */
int64_t tt_group_axis(const struct ttnn_value *value);

/* What the chips of a group have afterwards of the dimension. */
enum tt_group_result {
	TT_GROUP_SAME,      /* the same, all of them */
	TT_GROUP_GATHERED,  /* the same, put together along it */
	TT_GROUP_SCATTERED, /* a part each, of what was added up */
	TT_GROUP_DIVIDED,   /* a part each, of what they had */
};

/* How the result is spread when the first input goes through such a group (tensor/spread.h). */
uint64_t tt_group_spread(const struct tt_launch *launch, int64_t axis, enum tt_group_result result,
			 uint32_t dim);

/* The place of the mesh coordinate that an argument is, as a number; -1 without one. */
tt_status tt_group_place(struct ttnn_value *out, const struct tt_call *call, const char *name);

#endif
