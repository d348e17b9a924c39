/*
 * mesh.h: which chips a mesh of a wanted shape is made of, and in which order: upstream's rules for
 * a part of the machine, a submesh and a reshape, with its refusals. device.c calls it.
 *
 * A rectangle is taken as it lies, or turned when only that fits. A line (one row or column) is laid
 * so that its neighbours are linked: round the edge of a mesh of 2 × 3 or longer, and by search in
 * all others, where lines of an even length close to a ring if they can.
 */
#ifndef TT_DEVICE_MESH_H
#define TT_DEVICE_MESH_H

#include "base/status.h"

/* Chips row by row; by id or whatever else names them. */
struct tt_mesh {
	uint32_t rows, cols;
	const uint32_t *chips;
};

struct tt_mesh_place {
	uint32_t row, col;
};

/* The chips of a mesh of `rows` × `cols` at a place (NULL: the first) of the machine's mesh. */
tt_status tt_mesh_map(uint32_t *out, const struct tt_mesh *system, uint32_t rows, uint32_t cols,
		      const struct tt_mesh_place *at);

/* The chips of a submesh; it is never turned. */
tt_status tt_mesh_part(uint32_t *out, const struct tt_mesh *parent, uint32_t rows, uint32_t cols,
		       const struct tt_mesh_place *at);

/* The order of the chips of `now` in another shape; system is the machine's mesh. */
tt_status tt_mesh_reshape(uint32_t *out, const struct tt_mesh *now, const struct tt_mesh *system,
			  uint32_t rows, uint32_t cols);

/* Fails unless the parent can be cut into parts of this shape. */
tt_status tt_mesh_check_cut(const struct tt_mesh *parent, uint32_t rows, uint32_t cols);

#endif
