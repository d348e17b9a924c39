#include "device/fabric.h"

#include <stdatomic.h>

static atomic_int chosen = TTNN_FABRIC_NONE;

void ttnn_fabric_set(enum ttnn_fabric fabric)
{
	atomic_store(&chosen, (int)fabric);
}

enum ttnn_fabric ttnn_fabric_get(void)
{
	return (enum ttnn_fabric)atomic_load(&chosen);
}

enum ttnn_fabric tt_fabric_of(bool plane)
{
	enum ttnn_fabric fabric = ttnn_fabric_get();

	if (fabric != TTNN_FABRIC_NONE)
		return fabric;
	return plane ? TTNN_FABRIC_2D : TTNN_FABRIC_1D;
}

uint32_t tt_fabric_header(enum ttnn_fabric fabric)
{
	return tt_fabric_is_plane(fabric) ? 96 : 48;
}

uint32_t tt_fabric_channel(enum ttnn_fabric fabric)
{
	return TT_FABRIC_PAYLOAD + tt_fabric_header(fabric);
}

uint32_t tt_fabric_extent(const struct tt_device *device, uint32_t axis)
{
	return axis ? device->cols : device->rows;
}

/* The chip at a place of a line along an axis. */
static uint32_t chip_at(const struct tt_device *device, uint32_t axis, uint32_t line,
			uint32_t place)
{
	return device->chips[axis ? line * device->cols + place : place * device->cols + line];
}

/* Where a chip is among those of the cluster, whose links count them so. */
static uint32_t index_of(const struct tt_cluster *cluster, uint32_t id)
{
	for (uint32_t i = 0; i < cluster->chip_count; i++)
		if (cluster->chips[i].id == id)
			return i;
	return UINT32_MAX;
}

static uint32_t links_between(const struct tt_device *device, uint32_t from, uint32_t to)
{
	const struct tt_cluster *cluster = &device->profile->cluster;
	uint32_t a = index_of(cluster, from), b = index_of(cluster, to), count = 0;

	for (size_t i = 0; i < cluster->link_count; i++) {
		const uint32_t *ends = cluster->links[i].chip;

		count += (ends[0] == a && ends[1] == b) || (ends[0] == b && ends[1] == a);
	}
	return count;
}

/* Dispatch over ethernet takes a link for itself. */
uint32_t tt_fabric_links(const struct tt_device *device, uint32_t axis)
{
	uint32_t fewest = UINT32_MAX, own = device->profile->type->ethernet_dispatch;

	for (uint32_t line = 0; line < tt_fabric_extent(device, !axis); line++)
		for (uint32_t i = 1; i < tt_fabric_extent(device, axis); i++) {
			uint32_t links = links_between(device, chip_at(device, axis, line, i - 1),
						       chip_at(device, axis, line, i));

			links = links > own ? links - own : links;
			fewest = links && links < fewest ? links : fewest;
		}
	return fewest == UINT32_MAX ? 1 : fewest;
}

/* The place of a chip in the machine, row by row. */
static int32_t place_of(const struct tt_device *device, uint32_t id)
{
	const struct tt_profile *profile = device->profile;

	for (uint32_t i = 0; i < profile->rows * profile->cols; i++)
		if (profile->cluster.chips[profile->order[i]].id == id)
			return (int32_t)i;
	return -1;
}

bool tt_fabric_is_straight(const struct tt_device *device, uint32_t axis)
{
	int32_t way = 0, cols = (int32_t)device->profile->cols;

	for (uint32_t line = 0; line < tt_fabric_extent(device, !axis); line++)
		for (uint32_t i = 1; i < tt_fabric_extent(device, axis); i++) {
			int32_t from = place_of(device, chip_at(device, axis, line, i - 1));
			int32_t to = place_of(device, chip_at(device, axis, line, i));
			int32_t down = to / cols - from / cols, right = to % cols - from % cols;
			int32_t step = 2 * ((down > 0) - (down < 0)) + (right > 0) - (right < 0);

			if (from < 0 || to < 0 || (way && step != way))
				return false;
			way = step;
		}
	return true;
}

bool tt_fabric_is_wired(const struct tt_device *device, uint32_t axis)
{
	uint32_t extent = tt_fabric_extent(device, axis);

	if (extent < 3)
		return false;
	for (uint32_t line = 0; line < tt_fabric_extent(device, !axis); line++)
		if (!links_between(device, chip_at(device, axis, line, 0),
				   chip_at(device, axis, line, extent - 1)))
			return false;
	return true;
}

bool tt_fabric_is_ring(const struct tt_device *device, enum ttnn_fabric fabric, uint32_t axis)
{
	bool wraps = fabric == TTNN_FABRIC_1D_RING || fabric == TTNN_FABRIC_2D_TORUS_XY ||
		     fabric == (axis ? TTNN_FABRIC_2D_TORUS_X : TTNN_FABRIC_2D_TORUS_Y);

	return wraps && tt_fabric_is_wired(device, axis);
}
