/*
 * devmem.h: the memory of an opened device: its allocator, its banks, and the buffers that live in
 * it. The device (device/device.h) makes one when it is opened; every buffer keeps it alive.
 *
 * A device is one chip or a mesh of equal chips. The chips of a mesh are used in step: a buffer has
 * the same address on each of them, so one allocator serves all; data is kept for each chip.
 */
#ifndef TT_DEVICE_DEVMEM_H
#define TT_DEVICE_DEVMEM_H

#include <stdatomic.h>

#include "base/lock.h"
#include "device/alloc.h"
#include "device/banks.h"

struct tt_buffer;
struct tt_device;

struct tt_devmem_config {
	struct tt_allocator_config allocator; /* l1_banks is computed from the grid */
	uint32_t grid_width, grid_height;     /* of compute cores, each an L1 bank */
	uint32_t chips;
	uint32_t device_id; /* in events: that of the mesh */
};

struct tt_devmem {
	atomic_uint_least32_t refs;
	struct tt_allocator allocator;
	struct tt_allocator shadow; /* for dry runs that want addresses; see shadows */
	struct tt_banks dram, l1;
	uint32_t chips, device_id;
	_Atomic(struct tt_device *) device; /* whose memory it is; NULL once that was closed */
	atomic_uint_least32_t users;        /* operations that are running */
	atomic_bool closing;                /* no more of them */

	struct tt_lock lock; /* of what is below, and of the state of its buffers */
	struct tt_buffer *oldest, *newest;
	size_t live;
	size_t shadows; /* buffers placed by the shadow: the first finds a copy of the real one */
	atomic_bool closed; /* written with the lock held */
};

/* Memory with one owner and nothing in it. */
tt_status tt_devmem_new(struct tt_devmem **out, const struct tt_devmem_config *config);

struct tt_devmem *tt_devmem_ref(struct tt_devmem *memory);
/* NULL is fine. */
void tt_devmem_unref(struct tt_devmem *memory);

/*
 * Around an operation: closing waits until all have left, so inside of it the device stays what it
 * is. False when the device was closed already: there is nothing to leave then. A thread that is
 * inside may enter again, also while others wait for it to leave.
 */
bool tt_devmem_enter(struct tt_devmem *memory);
void tt_devmem_leave(struct tt_devmem *memory);

/* Lets nobody in any more and waits for those who are. Not from inside. */
void tt_devmem_drain(struct tt_devmem *memory);

/* Deallocates all buffers and refuses new ones: for closing a device. */
void tt_devmem_close(struct tt_devmem *memory);

/* The banks of a kind of memory: TRACE shares those of DRAM, L1_SMALL those of L1. */
const struct tt_banks *tt_devmem_banks(const struct tt_devmem *memory, enum ttnn_buffer_type type);

/*
 * The shadow allocator, for one more buffer: as the real one was when the first of those that live
 * now was placed. Give it back with tt_devmem_shadow_done() when the buffer has left it.
 */
tt_status tt_devmem_shadow(struct tt_allocator **out, struct tt_devmem *memory);
void tt_devmem_shadow_done(struct tt_devmem *memory);

/* What pages of a kind of memory are aligned to. */
uint32_t tt_devmem_alignment(const struct tt_devmem *memory, enum ttnn_buffer_type type);

/* How many buffers live now. */
size_t tt_devmem_live(struct tt_devmem *memory);

/*
 * The live buffers, oldest first. Each is one reference of the caller's; give all back, and the
 * array, with tt_devmem_free_list().
 */
tt_status tt_devmem_list(struct tt_buffer ***out, size_t *count, struct tt_devmem *memory);
void tt_devmem_free_list(struct tt_buffer **buffers, size_t count);

/* The live buffers as events tell of them, oldest first; *out is to be freed with tt_free(). */
struct tt_event_buffer;
tt_status tt_devmem_facts(struct tt_event_buffer **out, size_t *count, struct tt_devmem *memory);

#endif
