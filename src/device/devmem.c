#include "device/devmem.h"

#include <sched.h>

#include "base/mem.h"
#include "device/buffer.h"

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
	pthread_mutex_destroy(&memory->lock);
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
	pthread_mutex_init(&memory->lock, NULL);
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

	pthread_mutex_lock(&memory->lock);
	if (memory->shadows == 0)
		status = tt_allocator_copy(&memory->shadow, &memory->allocator);
	if (status == TTNN_OK)
		memory->shadows++;
	pthread_mutex_unlock(&memory->lock);
	*out = &memory->shadow;
	return status;
}

void tt_devmem_shadow_done(struct tt_devmem *memory)
{
	pthread_mutex_lock(&memory->lock);
	memory->shadows--;
	pthread_mutex_unlock(&memory->lock);
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

	pthread_mutex_lock(&memory->lock);
	live = memory->live;
	pthread_mutex_unlock(&memory->lock);
	return live;
}

tt_status tt_devmem_list(struct tt_buffer ***out, size_t *count, struct tt_devmem *memory)
{
	struct tt_buffer **buffers;
	size_t found = 0;

	pthread_mutex_lock(&memory->lock);
	buffers = tt_calloc(memory->live, sizeof(struct tt_buffer *));
	if (buffers)
		for (struct tt_buffer *at = memory->oldest; at; at = at->newer)
			if (ref_if_owned(at))
				buffers[found++] = at;
	pthread_mutex_unlock(&memory->lock);
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

/* The oldest live buffer as a reference; NULL when there is none left to deallocate. */
static struct tt_buffer *first_owned(struct tt_devmem *memory)
{
	struct tt_buffer *at;

	pthread_mutex_lock(&memory->lock);
	memory->closed = true;
	at = memory->oldest;
	while (at && !ref_if_owned(at))
		at = at->newer;
	pthread_mutex_unlock(&memory->lock);
	return at;
}

/* Where this thread is, and how many times it entered: it must not wait for itself. */
static _Thread_local struct {
	const struct tt_devmem *memory;
	uint32_t times;
} inside;

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
