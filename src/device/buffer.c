#include "device/buffer.h"

#include <inttypes.h>

#include "base/mem.h"
#include "device/devtensor.h"
#include "event/event.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/shape.h"

/* ---- layouts ------------------------------------------------------------------------------- */

static const char grid_hint[] =
	"Derive the shard grid from the device (dram_grid_size() for DRAM, "
	"compute_with_storage_grid_size() for L1) rather than assuming a fixed size -- a harvested "
	"device exposes fewer banks than an unharvested one of the same type. An L1 shard core "
	"outside the compute grid is legal only while it is claimed via ServiceCoreManager.";

static tt_status refuse_core(const struct tt_devmem *memory, const struct tt_buffer_layout *layout,
			     struct ttnn_core core)
{
	bool dram = layout->type == TTNN_DRAM;

	if (dram && core.y != 0)
		return tt_fail_cond(TTNN_INVALID, "core.y == 0",
				    "Invalid DRAM shard grid: shard core (%" PRIu32 ", %" PRIu32
				    ") is not on row 0. DRAM banks are 1D (bank_id == logical "
				    "x-coordinate), so every shard core must have y == 0.",
				    core.x, core.y);
	return tt_fail_cond(TTNN_INVALID,
			    "allocator.has_bank(bank_type, core) || is_claimed_service_core(core)",
			    "Invalid shard grid: shard core (%" PRIu32 ", %" PRIu32
			    ") has no %s bank on this device, which has %" PRIu32 " of them. %s",
			    core.x, core.y, dram ? "DRAM" : "L1",
			    tt_devmem_banks(memory, layout->type)->count, grid_hint);
}

/* Every core that may get shards must have a bank, those without data too. */
static tt_status check_cores(const struct tt_devmem *memory, const struct tt_buffer_layout *layout)
{
	const struct tt_distribution *d = &layout->distribution;
	const struct tt_banks *banks = tt_devmem_banks(memory, layout->type);
	size_t count, i = 0;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(d->cores, &count);
	uint32_t bank;

	/* Banks fill a rectangle at the origin, so the far corner of a range stands for all of it. */
	while (i < count && tt_banks_find(&bank, banks, ranges[i].end))
		i++;
	if (i == count || layout->type == TTNN_TRACE)
		return TTNN_OK;
	for (uint64_t k = 0;; k++) {
		struct ttnn_core core = tt_distribution_core(d, k);

		if (!tt_banks_find(&bank, banks, core))
			return refuse_core(memory, layout, core);
	}
}

/* Bytes from pages; what does not fit 64 bits fits no device. */
static tt_status count_bytes(struct tt_buffer_layout *layout, const struct tt_devmem *memory,
			     uint64_t all_pages)
{
	if (!tt_round_up(&layout->aligned_page, layout->page_size,
			 tt_devmem_alignment(memory, layout->type)) ||
	    __builtin_mul_overflow(layout->bank_pages, layout->aligned_page, &layout->bank_bytes) ||
	    __builtin_mul_overflow(all_pages, layout->aligned_page, &layout->total_bytes))
		return tt_fail(TTNN_INVALID,
			       "a buffer of %" PRIu64 " pages of %" PRIu64
			       " bytes has more than 2^64 bytes",
			       all_pages, layout->page_size);
	return TTNN_OK;
}

static tt_status finish_interleaved(struct tt_buffer_layout *layout, const struct tt_devmem *memory)
{
	layout->layout = TTNN_INTERLEAVED;
	layout->banks = tt_devmem_banks(memory, layout->type)->count;
	layout->bank_pages = tt_div_up(layout->pages, layout->banks);
	return count_bytes(layout, memory, layout->pages);
}

static tt_status finish_sharded(struct tt_buffer_layout *layout, const struct tt_devmem *memory,
				const struct ttnn_tensor_spec *spec)
{
	uint64_t cores, pages;

	layout->layout = spec->memory.layout;
	TT_TRY(tt_distribution_make(&layout->distribution, spec));
	TT_TRY(check_cores(memory, layout));
	cores = tt_distribution_cores(&layout->distribution);
	if (cores > UINT32_MAX)
		return tt_fail(TTNN_INVALID, "no device has %" PRIu64 " cores", cores);
	layout->banks = layout->cores = (uint32_t)cores;
	layout->bank_pages = tt_distribution_core_pages(&layout->distribution);
	if (__builtin_mul_overflow(layout->bank_pages, cores, &pages))
		pages = UINT64_MAX;
	return count_bytes(layout, memory, pages);
}

tt_status tt_buffer_layout_make(struct tt_buffer_layout *out, const struct tt_devmem *memory,
				const struct ttnn_tensor_spec *spec)
{
	*out = (struct tt_buffer_layout){
		.type = spec->memory.buffer,
		.size = spec->bytes,
		.page_size = spec->page_bytes,
		.pages = spec->pages,
	};
	return tt_memory_config_is_sharded(&spec->memory) ? finish_sharded(out, memory, spec)
							  : finish_interleaved(out, memory);
}

tt_status tt_buffer_layout_raw(struct tt_buffer_layout *out, const struct tt_devmem *memory,
			       enum ttnn_buffer_type type, uint64_t size, uint64_t page_size)
{
	struct tt_buffer_layout layout = {.type = type, .size = size, .page_size = page_size};

	if (size && (!page_size || size % page_size != 0))
		return tt_fail_cond(TTNN_INVALID, "valid_page_size",
				    "For valid non-interleaved buffers page size %" PRIu64
				    " must equal buffer size %" PRIu64
				    ". For interleaved-buffers, buffer size should be divisible by "
				    "the page size",
				    page_size, size);
	layout.pages = size ? size / page_size : 0;
	TT_TRY(finish_interleaved(&layout, memory));
	*out = layout;
	return TTNN_OK;
}

/* ---- allocation ---------------------------------------------------------------------------- */

bool tt_buffer_is_for_events(const struct tt_buffer *buffer)
{
	return buffer->layout.size && buffer->mode != TT_BUFFER_GHOST &&
	       buffer->mode != TT_BUFFER_LOOSE && buffer->mode != TT_BUFFER_PART;
}

struct tt_buffer *tt_buffer_root(struct tt_buffer *buffer)
{
	while (buffer->mode == TT_BUFFER_PART)
		buffer = buffer->part.whole;
	return buffer;
}

struct tt_event_buffer tt_buffer_facts(const struct tt_buffer *buffer)
{
	const struct tt_buffer_layout *layout = &buffer->layout;

	return (struct tt_event_buffer){
		.buffer_id = buffer->id,
		.device_id = buffer->memory->device_id,
		.type = layout->type,
		.layout = layout->layout,
		.size = layout->size,
		.page_size = layout->page_size,
		.bank_size = layout->bank_bytes,
		.cores = layout->cores,
		.address = buffer->address,
		.real = buffer->mode == TT_BUFFER_REAL,
	};
}

/* The one place that tells of buffers. */
static void emit(const struct tt_buffer *buffer, enum tt_event_kind kind)
{
	struct tt_event event;

	if (!tt_event_on() || !tt_buffer_is_for_events(buffer))
		return;
	event.kind = kind;
	event.ticks = 0;
	event.buffer = tt_buffer_facts(buffer);
	tt_event_emit(&event);
}

/* Gives the address back to the allocator it came from. */
static void release(struct tt_buffer *buffer)
{
	if (!buffer->allocator)
		return;
	tt_allocator_release(buffer->allocator, buffer->layout.type, buffer->address);
	if (buffer->allocator == &buffer->memory->shadow)
		tt_devmem_shadow_done(buffer->memory);
}

static tt_status take(struct tt_buffer *buffer, const struct tt_buffer_options *options)
{
	const struct tt_buffer_layout *layout = &buffer->layout;
	struct tt_allocator_request request = {
		.type = layout->type,
		.from = options->from,
		.bank_bytes = layout->bank_bytes,
		.total_bytes = layout->total_bytes,
		.banks = layout->banks,
		.tag = (uint32_t)buffer->id,
	};
	struct tt_allocator *allocator =
		options->mode == TT_BUFFER_SHADOW ? options->shadow : &buffer->memory->allocator;
	tt_status status;

	if (options->mode == TT_BUFFER_GHOST)
		buffer->address = options->address;
	if (options->mode == TT_BUFFER_PART)
		buffer->address = options->part->whole->address + options->part->address;
	/*
	 * Nothing to place in an empty buffer, or when nobody wants to know. What an allocator refuses
	 * is then not refused: upstream's dry runs do not ask theirs either.
	 */
	if (!layout->size || options->mode == TT_BUFFER_BLIND || options->mode == TT_BUFFER_GHOST ||
	    options->mode == TT_BUFFER_LOOSE || options->mode == TT_BUFFER_PART)
		return TTNN_OK;
	if (layout->type == TTNN_L1_SMALL && layout->layout == TTNN_INTERLEAVED)
		return tt_fail_cond(TTNN_INVALID, "num_cores.has_value()",
				    "L1_SMALL only supports sharded allocations, see "
				    "validate_num_banks");
	if (!allocator)
		TT_TRY(tt_devmem_shadow(&allocator, buffer->memory));
	status = tt_allocator_take(&buffer->address, allocator, &request);
	if (status == TTNN_OK)
		buffer->allocator = allocator;
	else if (allocator == &buffer->memory->shadow)
		tt_devmem_shadow_done(buffer->memory);
	return status;
}

/* Puts a placed buffer among the live ones of its device; false when that is closed. */
static bool link_in(struct tt_buffer *buffer)
{
	struct tt_devmem *memory = buffer->memory;
	bool open;

	if (buffer->mode != TT_BUFFER_REAL || !buffer->allocator)
		return true;
	tt_lock_take(&memory->lock);
	open = !memory->closed;
	if (open) {
		buffer->older = memory->newest;
		*(memory->newest ? &memory->newest->newer : &memory->oldest) = buffer;
		memory->newest = buffer;
		memory->live++;
	}
	tt_lock_give(&memory->lock);
	return open;
}

static void link_out(struct tt_buffer *buffer)
{
	struct tt_devmem *memory = buffer->memory;

	if (buffer->mode != TT_BUFFER_REAL || !buffer->allocator)
		return;
	*(buffer->older ? &buffer->older->newer : &memory->oldest) = buffer->newer;
	*(buffer->newer ? &buffer->newer->older : &memory->newest) = buffer->older;
	buffer->older = buffer->newer = NULL;
	memory->live--;
}

static tt_status place(struct tt_buffer *buffer, const struct tt_buffer_options *options)
{
	TT_TRY(take(buffer, options));
	/* Told first: once it is linked, who closes the device tells that it is freed. */
	emit(buffer, TT_EVENT_BUFFER_ALLOC);
	if (link_in(buffer))
		return TTNN_OK;
	emit(buffer, TT_EVENT_BUFFER_FREE);
	release(buffer);
	return tt_fail(TTNN_STATE, "the device is closed: no buffer can be allocated");
}

static atomic_uint_least64_t last_id;

uint64_t tt_buffer_last_id(void)
{
	return atomic_load(&last_id);
}

tt_status tt_buffer_new(struct tt_buffer **out, struct tt_devmem *memory,
			const struct tt_buffer_layout *layout,
			const struct tt_buffer_options *options)
{
	static const struct tt_buffer_options defaults;
	struct tt_buffer *buffer = tt_calloc(1, sizeof(*buffer));
	tt_status status;

	if (!buffer)
		return tt_fail_nomem();
	options = options ? options : &defaults;
	atomic_init(&buffer->refs, 1);
	atomic_init(&buffer->allocated, true);
	buffer->id = atomic_fetch_add(&last_id, 1) + 1;
	buffer->memory = memory;
	buffer->layout = *layout;
	buffer->mode = options->mode;
	status = place(buffer, options);
	if (status != TTNN_OK) {
		tt_free(buffer);
		return status;
	}
	tt_devmem_ref(memory);
	if (buffer->mode == TT_BUFFER_PART) {
		buffer->part = *options->part;
		tt_buffer_viewed(tt_buffer_ref(buffer->part.whole), true);
	}
	*out = buffer;
	return TTNN_OK;
}

void tt_buffer_deallocate(struct tt_buffer *buffer)
{
	struct tt_devmem *memory = buffer->memory;
	bool was;

	tt_lock_take(&memory->lock);
	was = atomic_load_explicit(&buffer->allocated, memory_order_relaxed);
	if (was) {
		atomic_store_explicit(&buffer->allocated, false, memory_order_release);
		link_out(buffer);
	}
	tt_lock_give(&memory->lock);
	if (!was)
		return;
	if (buffer->mode == TT_BUFFER_PART)
		tt_buffer_viewed(buffer->part.whole, false);
	if (!atomic_load(&buffer->views))
		tt_buffer_drop_data(buffer);
	/* Told first: who gets the address next must not be heard of before. */
	emit(buffer, TT_EVENT_BUFFER_FREE);
	/* As upstream's dry runs do: they only tell that real memory is freed. */
	if (buffer->mode != TT_BUFFER_REAL || tt_run_mode() != TTNN_RUN_NO_DISPATCH)
		release(buffer);
}

bool tt_buffer_is_allocated(const struct tt_buffer *buffer)
{
	return atomic_load_explicit(&buffer->allocated, memory_order_acquire) &&
	       !atomic_load_explicit(&buffer->memory->closed, memory_order_acquire);
}

bool tt_buffer_is_readable(const struct tt_buffer *buffer)
{
	return tt_buffer_is_allocated(buffer) ||
	       (atomic_load(&buffer->views) &&
		!atomic_load_explicit(&buffer->memory->closed, memory_order_acquire));
}

void tt_buffer_viewed(struct tt_buffer *buffer, bool begins)
{
	if (begins)
		atomic_fetch_add(&buffer->views, 1);
	else if (atomic_fetch_sub(&buffer->views, 1) == 1 &&
		 !atomic_load_explicit(&buffer->allocated, memory_order_acquire))
		tt_buffer_drop_data(buffer);
}

struct tt_buffer *tt_buffer_ref(struct tt_buffer *buffer)
{
	atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
	return buffer;
}

void tt_buffer_unref(struct tt_buffer *buffer)
{
	if (!buffer || atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1)
		return;
	tt_buffer_deallocate(buffer);
	tt_buffer_unref(buffer->part.whole);
	tt_devmem_unref(buffer->memory);
	tt_free(buffer);
}

/* ---- pages --------------------------------------------------------------------------------- */

static struct tt_buffer_page interleaved_page(const struct tt_buffer *buffer, uint64_t index)
{
	const struct tt_banks *banks = tt_devmem_banks(buffer->memory, buffer->layout.type);
	uint32_t bank = (uint32_t)(index % banks->count);

	return (struct tt_buffer_page){
		.index = index,
		.address = buffer->address + index / banks->count * buffer->layout.aligned_page,
		.bank = bank,
		.reported_bank = (uint32_t)((index + 1) % banks->count),
		.core = banks->cores[bank],
	};
}

/* The bank of a core that passed check_cores(). */
static struct tt_buffer_page sharded_page(const struct tt_buffer *buffer,
					  const struct tt_page_place *place)
{
	struct tt_buffer_page page = {
		.index = place->host,
		.address = buffer->address + place->page * buffer->layout.aligned_page,
		.core = tt_distribution_core(&buffer->layout.distribution, place->core),
	};

	tt_banks_find(&page.bank, tt_devmem_banks(buffer->memory, buffer->layout.type), page.core);
	page.reported_bank = page.bank;
	return page;
}

struct tt_buffer_page tt_buffer_find_page(const struct tt_buffer *buffer, uint64_t index)
{
	struct tt_page_place place;

	if (!buffer->layout.cores)
		return interleaved_page(buffer, index);
	place = tt_distribution_find(&buffer->layout.distribution, index);
	return sharded_page(buffer, &place);
}

static bool next_sharded(struct tt_page_place *place, struct tt_buffer_walk *walk,
			 const struct tt_buffer_layout *layout)
{
	for (; walk->core < layout->cores; walk->core++, walk->page = 0)
		while (walk->page < layout->bank_pages) {
			*place = (struct tt_page_place){.core = walk->core, .page = walk->page++};
			if (tt_distribution_host(&place->host, &layout->distribution, place->core,
						 place->page))
				return true;
		}
	return false;
}

bool tt_buffer_next_page(struct tt_buffer_page *out, struct tt_buffer_walk *walk,
			 const struct tt_buffer *buffer)
{
	struct tt_page_place place;

	if (!buffer->layout.cores) {
		if (walk->page >= buffer->layout.pages)
			return false;
		*out = interleaved_page(buffer, walk->page++);
		return true;
	}
	if (!next_sharded(&place, walk, &buffer->layout))
		return false;
	*out = sharded_page(buffer, &place);
	return true;
}

uint64_t tt_buffer_listed_bytes(const struct tt_buffer *buffer)
{
	return buffer->layout.bank_pages * buffer->layout.page_size;
}
