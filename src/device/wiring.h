/*
 * wiring.h: which product a cluster is, and the mesh its links form: shape and the chip at every
 * place, as the released upstream finds them. Profiles are completed with it.
 *
 * The shape is the first of upstream's candidates that the links allow: all chips before fewer,
 * two dimensions before one, near-square before long. Of the ways to lay the chips out, the one
 * that is smallest in order of (tray, location), read row by row. Recorded for every product of
 * data/profiles; for wirings that no product has upstream's solver may choose a mirror image.
 */
#ifndef TT_DEVICE_WIRING_H
#define TT_DEVICE_WIRING_H

#include "device/descriptor.h"

/* The products, with upstream's numbers. To add one: a row in wiring.c. */
struct tt_cluster_type {
	const char *name; /* "N150" */
	uint32_t code;
	bool ethernet_dispatch; /* upstream's default there */
};

/* The type of this name, or NULL. */
const struct tt_cluster_type *tt_cluster_type_find(const char *name);

/* The type of a cluster, from its boards and links; INVALID when the boards are unknown. */
tt_status tt_wiring_type(const struct tt_cluster_type **out, const struct tt_cluster *cluster);

/*
 * The mesh of a cluster: rows × cols, and order[rows × cols] the index of the chip at each place,
 * row by row. order has room for all chips.
 */
tt_status tt_wiring_mesh(uint32_t *rows, uint32_t *cols, uint32_t *order,
			 const struct tt_cluster *cluster);

#endif
