/*
 * device.h: an opened device: a mesh of virtual chips with its memory and its programs. Operations
 * run on one; tensors keep its memory (device/devmem.h) alive. The public calls are in <ttnn.h>.
 *
 * Every mesh device has an allocator of its own, also submeshes and a chip that is opened twice:
 * upstream does the same, so two of them can hand out the same address. A submesh keeps its parent
 * alive; a parent knows its submeshes and closes them with itself.
 *
 * Fields are constant after opening but those under the lock, and rows, cols and chips (reshape).
 */
#ifndef TT_DEVICE_DEVICE_H
#define TT_DEVICE_DEVICE_H

#include <stdatomic.h>

#include "base/lock.h"
#include "device/devmem.h"
#include "device/mesh.h"
#include "device/profile.h"
#include "device/progcache.h"
#include "device/program.h"
#include "device/workers.h"
#include "event/event.h"

/* Options with every choice made. */
struct tt_device_setup {
	enum tt_dispatch dispatch;
	enum ttnn_generation generation;
	const struct tt_memory_map *map;
	uint64_t l1_small_size, trace_region_size, worker_l1_size;
	uint32_t queues;
};

#define TT_RANDOM_COLUMNS 16
#define TT_RANDOM_CORES (TT_RANDOM_COLUMNS * 16)
#define TT_SUB_DEVICES_MAX 16 /* upstream's DISPATCH_MESSAGE_ENTRIES */

struct tt_device {
	atomic_uint_least32_t refs;
	uint32_t id;
	struct tt_profile *profile;
	struct tt_device_setup setup;
	uint32_t rows, cols;
	uint32_t *chips; /* ids, row by row */
	struct ttnn_device_info info;
	struct ttnn_device_row row;
	struct tt_event_known known; /* to the event stream */

	struct tt_workers workers; /* of the first chip: stands for all */
	struct tt_devmem *memory;
	const ttnn_core_set *grid; /* the cores that compute */
	struct tt_program_limits limits;
	struct tt_progcache programs;

	/* What ttnn_device_set_sub_devices() set; with the lock below. */
	const ttnn_core_set *sub_devices[TT_SUB_DEVICES_MAX];
	size_t sub_device_count;

	/* (optional) What the operation layer keeps with a device, given back when it is closed. */
	_Atomic(void *) kept;
	void (*drop_kept)(struct tt_device *device); /* takes it out of `kept` */
	atomic_uint_least32_t capturing; /* 1 + the id of the trace that is captured; 0: none */

	/* Where the generators of the cores' random numbers are (sampling, manual_seed), row by row. */
	atomic_uint_least64_t random[TT_RANDOM_CORES];

	struct tt_device *parent; /* NULL: opened on the machine */
	bool closes_parent;       /* the parent was made for this one alone */
	atomic_bool closed;
	struct tt_lock lock;               /* of the list of submeshes, with their part of it */
	struct tt_device *oldest, *newest; /* submeshes; not owned */
	struct tt_device *older, *newer;   /* in the list of the parent */
};

/* The chips of a device as a mesh; its list is borrowed. */
static inline struct tt_mesh tt_device_mesh(const struct tt_device *device)
{
	return (struct tt_mesh){device->rows, device->cols, device->chips};
}

/* Whether the device was not closed yet; else fails. */
tt_status tt_device_check_open(const struct tt_device *device);

/* The cores of a sub-device. */
tt_status tt_device_sub_device(const ttnn_core_set **out, struct tt_device *device, uint64_t id);

/*
 * One chip of the machine that TTNN_DEVICE names, for the rules of operations on tensors that are nowhere: nobody hears
 * of it, it has no number. Borrowed, the same for the whole process.
 */
tt_status tt_device_model(struct tt_device **out);

/* For tests: the id that the next mesh device gets. */
void tt_device_set_next_id(uint32_t id);

#endif
