/*
 * devices.h: devices that a trace told of, as far as arguments show them, and chips that a graph names: for who reads a
 * trace from its beginning and is asked later.
 */
#ifndef TT_TRACE_DEVICES_H
#define TT_TRACE_DEVICES_H

#include <ttnn.h>

#include "base/status.h"
#include "base/vec.h"

struct tt_seen_device {
	struct ttnn_device_info info; /* id, rows, columns and chips; the rest is zero */
	uint32_t *chips;
};

/* All zero is a valid empty one. */
struct tt_seen_devices {
	TT_VEC(struct tt_seen_device) all;
};

/* Keeps a copy, unless there is one of that id. */
tt_status tt_seen_devices_add(struct tt_seen_devices *devices, const struct ttnn_device_info *info);

/* The device of an id, or NULL; it moves when another is added. */
const struct ttnn_device_info *tt_seen_devices_find(const struct tt_seen_devices *devices,
						    uint32_t id);
void tt_seen_devices_deinit(struct tt_seen_devices *devices);

/* Ids of chips, each once, in the order in which they came; free with TT_VEC_DEINIT(). */
struct tt_chip_list {
	uint32_t *data;
	size_t count, room;
};

/* Chips that are told of; more than that is a damaged trace, and not noted. */
#define TT_CHIPS_MAX 1024

/* Notes a chip. */
tt_status tt_chip_list_note(struct tt_chip_list *chips, uint32_t id);

#endif
