/* golden_mesh.h: for goldens of operations in which chips give each other their data: who takes part, and what they have. */
#ifndef TT_GOLDEN_GOLDEN_MESH_H
#define TT_GOLDEN_GOLDEN_MESH_H

#include "golden/golden.h"

/* The chips that take part with the first one: `step` apart. */
struct tt_golden_mesh {
	uint32_t count, step;
};

/* By the argument cluster_axis, of this tensor's mesh; what is expected is then that of the first chip. */
tt_status tt_golden_mesh_find(struct tt_golden_mesh *out, struct tt_golden *golden,
			      const char *name);

/* A chip's part of this argument; NULL when it was not given, or memory is exhausted. */
const struct tt_array *tt_golden_mesh_in(struct tt_golden *golden, const char *name, uint32_t chip);

/* The chips by the argument cluster_axis, of this device: for tensors of a list. */
void tt_golden_mesh_of(struct tt_golden_mesh *out, struct tt_golden *golden,
		       const struct tt_device *device);

#endif
