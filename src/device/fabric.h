/*
 * fabric.h: the links between the chips of a mesh, and how programs use them.
 *
 * Which fabric there is, is a choice of the process (ttnn_fabric_set()). Upstream refuses what sends between chips
 * until one was chosen; here the smallest that will do stands in: nothing has to be set up.
 */
#ifndef TT_DEVICE_FABRIC_H
#define TT_DEVICE_FABRIC_H

#include <ttnn_frontend.h>

#include "device/device.h"

/* The fabric that a program has along a line of chips, or for `plane` over rows and columns at once. */
enum ttnn_fabric tt_fabric_of(bool plane);
static inline bool tt_fabric_is_plane(enum ttnn_fabric fabric)
{
	return fabric >= TTNN_FABRIC_2D;
}

/* Along an axis of the mesh (0: down columns, 1: along rows): chips, and links from one to the next, at least one. */
uint32_t tt_fabric_extent(const struct tt_device *device, uint32_t axis);
uint32_t tt_fabric_links(const struct tt_device *device, uint32_t axis);

/* Whether all lines along an axis go straight through the machine; whether they are wired to rings. */
bool tt_fabric_is_straight(const struct tt_device *device, uint32_t axis);
bool tt_fabric_is_wired(const struct tt_device *device, uint32_t axis);

/* Whether this fabric makes rings of the lines along an axis. */
bool tt_fabric_is_ring(const struct tt_device *device, enum ttnn_fabric fabric, uint32_t axis);

/* The largest packet, its header (by the dimensions of the fabric), and what holds both. */
#define TT_FABRIC_PAYLOAD 4352u
uint32_t tt_fabric_header(enum ttnn_fabric fabric);
uint32_t tt_fabric_channel(enum ttnn_fabric fabric);

#endif
