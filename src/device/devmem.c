#include "device/devmem.h"

#include <sched.h>
#include <stddef.h>

#include "base/mem.h"
#include "device/buffer.h"

/* Where this thread is, and how many times it entered: it must not wait for itself. */
static _Thread_local struct {
	const struct tt_devmem *memory;
	uint32_t times;
} inside;

/*
 * In the child of a fork: operations of other threads do not end here, so nobody waits for them. A device
 * that one of them was closing is closed.
 */
static void forget_others(struct tt_lock *lock)
{
	struct tt_devmem *memory =
		(struct tt_devmem *)((char *)lock - offsetof(struct tt_devmem, lock));

	atomic_store(&memory->users, inside.memory == memory ? 1 : 0);
	if (!atomic_load(&memory->closing))
		return;
	atomic_store(&memory->closed, true);
	atomic_store(&memory->device, NULL);
}

static const struct tt_lock_forks forks = {.child = forget_others};

static tt_status init(struct tt_devmem *memory, const struct tt_devmem_config *config)
{
	struct tt_allocator_config allocator = config->allocator;

	TT_TRY(tt_banks_init_dram(&memory->dram, allocator.dram_banks));
	TT_TRY(tt_banks_init_l1(&memory->l1, config->grid_width, config->grid_height));
	allocator.l1_banks = memory->l1.count;
	return tt_allocator_init(&memory->allocator, &allocator);
}

static void destroy(struct tt_devmem *memory)
{
	tt_allocator_deinit(&memory->allocator);
	tt_allocator_deinit(&memory->shadow);
	tt_banks_deinit(&memory->dram);
	tt_banks_deinit(&memory->l1);
	tt_lock_deinit(&memory->lock);
	tt_free(memory);
}

tt_status tt_devmem_new(struct tt_devmem **out, const struct tt_devmem_config *config)
{
	struct tt_devmem *memory = tt_calloc(1, sizeof(*memory));
	tt_status status;

	if (!memory)
		return tt_fail_nomem();
	atomic_init(&memory->refs, 1);
	atomic_init(&memory->closed, false);
	atomic_init(&memory->closing, false);
	atomic_init(&memory->users, 0);
	tt_lock_init(&memory->lock, TT_RANK_MEMORY, &forks);
	memory->chips = config->chips;
	memory->device_id = config->device_id;
	status = init(memory, config);
	if (status != TTNN_OK)
		destroy(memory);
	else
		*out = memory;
	return status;
}

struct tt_devmem *tt_devmem_ref(struct tt_devmem *memory)
{
	atomic_fetch_add_explicit(&memory->refs, 1, memory_order_relaxed);
	return memory;
}

void tt_devmem_unref(struct tt_devmem *memory)
{
	if (memory && atomic_fetch_sub_explicit(&memory->refs, 1, memory_order_acq_rel) == 1)
		destroy(memory);
}

tt_status tt_devmem_shadow(struct tt_allocator **out, struct tt_devmem *memory)
{
	tt_status status = TTNN_OK;

	tt_lock_take(&memory->lock);
	if (memory->shadows == 0)
		status = tt_allocator_copy(&memory->shadow, &memory->allocator);
	if (status == TTNN_OK)
		memory->shadows++;
	tt_lock_give(&memory->lock);
	*out = &memory->shadow;
	return status;
}

void tt_devmem_shadow_done(struct tt_devmem *memory)
{
	tt_lock_take(&memory->lock);
	memory->shadows--;
	tt_lock_give(&memory->lock);
}

const struct tt_banks *tt_devmem_banks(const struct tt_devmem *memory, enum ttnn_buffer_type type)
{
	return type == TTNN_DRAM || type == TTNN_TRACE ? &memory->dram : &memory->l1;
}

uint32_t tt_devmem_alignment(const struct tt_devmem *memory, enum ttnn_buffer_type type)
{
	const struct tt_allocator_config *config = &memory->allocator.config;

	return type == TTNN_DRAM || type == TTNN_TRACE ? config->dram_align : config->l1_align;
}

/* A reference to a buffer on the list, unless its last owner is just letting go. */
static bool ref_if_owned(struct tt_buffer *buffer)
{
	uint_least32_t refs = atomic_load_explicit(&buffer->refs, memory_order_relaxed);

	while (refs)
		if (atomic_compare_exchange_weak_explicit(&buffer->refs, &refs, refs + 1,
							  memory_order_acq_rel,
							  memory_order_relaxed))
			return true;
	return false;
}

size_t tt_devmem_live(struct tt_devmem *memory)
{
	size_t live;

	tt_lock_take(&memory->lock);
	live = memory->live;
	tt_lock_give(&memory->lock);
	return live;
}

tt_status tt_devmem_list(struct tt_buffer ***out, size_t *count, struct tt_devmem *memory)
{
	struct tt_buffer **buffers;
	size_t found = 0;

	tt_lock_take(&memory->lock);
	buffers = tt_calloc(memory->live, sizeof(struct tt_buffer *));
	if (buffers)
		for (struct tt_buffer *at = memory->oldest; at; at = at->newer)
			if (ref_if_owned(at))
				buffers[found++] = at;
	tt_lock_give(&memory->lock);
	if (!buffers)
		return tt_fail_nomem();
	*out = buffers;
	*count = found;
	return TTNN_OK;
}

void tt_devmem_free_list(struct tt_buffer **buffers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tt_buffer_unref(buffers[i]);
	tt_free(buffers);
}

tt_status tt_devmem_facts(struct tt_event_buffer **out, size_t *count, struct tt_devmem *memory)
{
	struct tt_event_buffer *facts;
	size_t found = 0;

	tt_lock_take(&memory->lock);
	facts = tt_calloc(memory->live + 1, sizeof(*facts));
	if (facts)
		for (const struct tt_buffer *at = memory->oldest; at; at = at->newer)
			if (tt_buffer_is_for_events(at))
				facts[found++] = tt_buffer_facts(at);
	tt_lock_give(&memory->lock);
	if (!facts)
		return tt_fail_nomem();
	*out = facts;
	*count = found;
	return TTNN_OK;
}

/* The oldest live buffer as a reference; NULL when there is none left to deallocate. */
static struct tt_buffer *first_owned(struct tt_devmem *memory)
{
	struct tt_buffer *at;

	tt_lock_take(&memory->lock);
	memory->closed = true;
	at = memory->oldest;
	while (at && !ref_if_owned(at))
		at = at->newer;
	tt_lock_give(&memory->lock);
	return at;
}

bool tt_devmem_enter(struct tt_devmem *memory)
{
	if (inside.memory == memory) {
		inside.times++;
		return true;
	}
	atomic_fetch_add(&memory->users, 1);
	if (!atomic_load(&memory->closing)) {
		if (!inside.memory) {
			inside.memory = memory;
			inside.times = 1;
		}
		return true;
	}
	atomic_fetch_sub(&memory->users, 1);
	while (atomic_load(&memory->device))
		sched_yield(); /* half closed is a state that nobody shall see */
	return false;
}

void tt_devmem_leave(struct tt_devmem *memory)
{
	if (inside.memory == memory) {
		if (--inside.times)
			return;
		inside.memory = NULL;
	}
	atomic_fetch_sub(&memory->users, 1);
}

void tt_devmem_drain(struct tt_devmem *memory)
{
	atomic_store(&memory->closing, true);
	while (atomic_load(&memory->users))
		sched_yield();
}

void tt_devmem_close(struct tt_devmem *memory)
{
	struct tt_buffer *buffer;

	while ((buffer = first_owned(memory))) {
		tt_buffer_deallocate(buffer);
		tt_buffer_unref(buffer);
	}
}
