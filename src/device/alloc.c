#include "device/alloc.h"

#include <inttypes.h>

#include "base/mem.h"
#include "tensor/enums.h"
#include "tensor/shape.h"

#define TYPES (TTNN_TRACE + 1)

/* The memory kept for traces in a bank comes in pieces of this size. */
#define TRACE_PIECE 8192

static const struct {
	bool top;         /* takes from the top by itself */
	bool interleaved; /* may spread pages over all banks, so their number matters */
} kinds[TYPES] = {
	[TTNN_DRAM] = {false, true},
	[TTNN_L1] = {true, true},
	[TTNN_L1_SMALL] = {true, false},
	[TTNN_TRACE] = {false, true},
};

static const char *type_name(enum ttnn_buffer_type type)
{
	const char *name = tt_enum_name(&tt_enum_buffer_type, type);

	return name ? name : "?";
}

/* ---- setting up ---------------------------------------------------------------------------- */

/* Kernels find the bank of a page by a modulo that exists for these numbers and powers of two. */
static const uint32_t odd_bank_counts[] = {7,  12,  20,  48,  56,  63,  70,  72,  80,
					   94, 108, 110, 117, 120, 124, 126, 130, 140};

static tt_status check_banks(enum ttnn_buffer_type type, uint32_t banks)
{
	if (!kinds[type].interleaved || (banks && (banks & (banks - 1)) == 0))
		return TTNN_OK;
	for (size_t i = 0; i < sizeof(odd_bank_counts) / sizeof(odd_bank_counts[0]); i++)
		if (odd_bank_counts[i] == banks)
			return TTNN_OK;
	return tt_fail(TTNN_INVALID,
		       "Invalid number of memory banks %" PRIu32 " for %s. Num banks must be "
		       "power of 2 or have a dedicated modulo implementation",
		       banks, type_name(type));
}

/* Bytes of L1_SMALL; UINT64_MAX, which fits nowhere, when rounding up is not possible. */
static uint64_t small_bytes(const struct tt_allocator_config *config)
{
	uint64_t bytes;

	return tt_round_up(&bytes, config->l1_small_size, config->dram_align) ? bytes : UINT64_MAX;
}

static tt_status check_config(const struct tt_allocator_config *config)
{
	TT_TRY(check_banks(TTNN_DRAM, config->dram_banks));
	TT_TRY(check_banks(TTNN_L1, config->l1_banks));
	if (!config->dram_align || !config->l1_align)
		return tt_fail(TTNN_INVALID, "the alignment of device memory must not be 0");
	if (config->l1_base > config->l1_size)
		return tt_fail(TTNN_INVALID, "L1 of %" PRIu64 " bytes cannot start at %" PRIu64,
			       config->l1_size, config->l1_base);
	if (small_bytes(config) >= config->l1_size - config->l1_base)
		return tt_fail_cond(TTNN_INVALID,
				    "config.l1_small_size < config.worker_l1_size - "
				    "config.l1_unreserved_base",
				    "Reserved size must be less than bank size");
	if (config->dram_base > config->dram_bank_size)
		return tt_fail(TTNN_INVALID,
			       "a DRAM bank of %" PRIu64 " bytes cannot start at %" PRIu64,
			       config->dram_bank_size, config->dram_base);
	return TTNN_OK;
}

static tt_status trace_bytes(uint64_t *out, const struct tt_allocator_config *config)
{
	uint64_t bytes = tt_div_up(config->trace_region_size, config->dram_banks);

	if (!tt_round_up(&bytes, bytes, TRACE_PIECE))
		bytes = UINT64_MAX;
	if (bytes > config->dram_bank_size - config->dram_base)
		return tt_fail(TTNN_INVALID,
			       "trace_region_size %" PRIu64 " needs %" PRIu64
			       " bytes of each DRAM bank, which has %" PRIu64,
			       config->trace_region_size, bytes,
			       config->dram_bank_size - config->dram_base);
	*out = bytes;
	return TTNN_OK;
}

static tt_status init_region(struct tt_allocator *allocator, enum ttnn_buffer_type type,
			     uint64_t start, uint64_t end)
{
	tt_status status = tt_freelist_init(&allocator->region[type], start, end - start,
					    allocator->config.dram_align);

	return status == TTNN_INVALID ? tt_fail_prefix(status, "%s", type_name(type)) : status;
}

static tt_status init_regions(struct tt_allocator *allocator)
{
	const struct tt_allocator_config *config = &allocator->config;
	uint64_t l1_top = config->l1_size - small_bytes(config);
	uint64_t dram_top = 0;

	TT_TRY(trace_bytes(&dram_top, config));
	dram_top = config->dram_bank_size - dram_top;
	TT_TRY(init_region(allocator, TTNN_DRAM, config->dram_base, dram_top));
	TT_TRY(init_region(allocator, TTNN_TRACE, dram_top, config->dram_bank_size));
	TT_TRY(init_region(allocator, TTNN_L1, config->l1_base, l1_top));
	return init_region(allocator, TTNN_L1_SMALL, l1_top, config->l1_size);
}

tt_status tt_allocator_init(struct tt_allocator *allocator,
			    const struct tt_allocator_config *config)
{
	tt_status status;

	*allocator = (struct tt_allocator){.config = *config};
	TT_TRY(check_config(config));
	tt_lock_init(&allocator->lock, TT_RANK_ALLOCATOR, NULL);
	status = init_regions(allocator);
	if (status != TTNN_OK)
		tt_allocator_deinit(allocator);
	return status;
}

void tt_allocator_deinit(struct tt_allocator *allocator)
{
	for (size_t i = 0; i < TYPES; i++)
		tt_freelist_deinit(&allocator->region[i]);
	tt_lock_deinit(&allocator->lock);
	*allocator = (struct tt_allocator){0};
}

static tt_status copy_regions(struct tt_allocator *to, const struct tt_allocator *from)
{
	for (size_t i = 0; i < TYPES; i++)
		TT_TRY(tt_freelist_copy(&to->region[i], &from->region[i]));
	to->config = from->config;
	return TTNN_OK;
}

tt_status tt_allocator_copy(struct tt_allocator *to, struct tt_allocator *from)
{
	tt_status status;

	/* Others may use it from now on. */
	if (to->lock.rank == TT_RANK_NONE)
		tt_lock_init(&to->lock, TT_RANK_ALLOCATOR, NULL);
	tt_lock_take(&from->lock);
	status = copy_regions(to, from);
	tt_lock_give(&from->lock);
	return status;
}

/* ---- taking and releasing ------------------------------------------------------------------ */

static tt_status check_type(enum ttnn_buffer_type type)
{
	if ((size_t)type < TYPES && type != TTNN_SYSTEM_MEMORY)
		return TTNN_OK;
	return tt_fail(TTNN_INVALID, "%s (%d) is no memory of a device", type_name(type),
		       (int)type);
}

static tt_status out_of_memory(const struct tt_freelist *region,
			       const struct tt_allocator_request *request)
{
	struct tt_freelist_stats stats = tt_freelist_stats(region);
	const char *hint = "";

	if (request->type == TTNN_L1_SMALL && stats.total == 0)
		hint = " The L1_SMALL region is 0 B because it is reserved at device open; set "
		       "l1_small_size large enough for this allocation when opening the device.";
	return tt_fail_cond(
		TTNN_DEVICE_OOM, "false",
		"Out of Memory: Not enough space to allocate %" PRIu64
		" B %s buffer across %" PRIu32 " banks, where each bank needs to store %" PRIu64
		" B, but bank size is %" PRIu64 " B (allocated: %" PRIu64 " B, free: %" PRIu64
		" B, largest free block: %" PRIu64 " B).%s",
		request->total_bytes, type_name(request->type), request->banks, request->bank_bytes,
		stats.total, stats.taken, stats.free, stats.largest_free, hint);
}

static tt_status take(uint64_t *address, struct tt_freelist *region,
		      const struct tt_allocator_request *request)
{
	bool top = request->from == TT_ALLOCATOR_OWN_END ? kinds[request->type].top
							 : request->from == TT_ALLOCATOR_TOP;
	uint64_t taken = 0;
	tt_status status = tt_freelist_take(&taken, region, request->bank_bytes, top, request->tag);

	if (status == TTNN_DEVICE_OOM)
		return out_of_memory(region, request);
	if (status == TTNN_OK && taken < request->lowest) {
		tt_freelist_release(region, taken);
		return tt_fail(TTNN_DEVICE_OOM,
			       "Out of Memory: Cannot allocate at an address below %" PRIu64
			       ". Allocation at %" PRIu64,
			       request->lowest, taken);
	}
	if (status == TTNN_OK)
		*address = taken;
	return status;
}

tt_status tt_allocator_take(uint64_t *address, struct tt_allocator *allocator,
			    const struct tt_allocator_request *request)
{
	tt_status status;

	TT_TRY(check_type(request->type));
	tt_lock_take(&allocator->lock);
	status = take(address, &allocator->region[request->type], request);
	tt_lock_give(&allocator->lock);
	return status;
}

tt_status tt_allocator_take_at(struct tt_allocator *allocator, enum ttnn_buffer_type type,
			       uint64_t address, uint64_t bank_bytes, uint32_t tag)
{
	tt_status status;

	TT_TRY(check_type(type));
	tt_lock_take(&allocator->lock);
	status = tt_freelist_take_at(&allocator->region[type], address, bank_bytes, tag);
	tt_lock_give(&allocator->lock);
	if (status == TTNN_DEVICE_OOM)
		return tt_fail(status,
			       "%" PRIu64 " bytes at address %" PRIu64 " of %s are not free",
			       bank_bytes, address, type_name(type));
	return status;
}

bool tt_allocator_release(struct tt_allocator *allocator, enum ttnn_buffer_type type,
			  uint64_t address)
{
	bool done;

	if ((size_t)type >= TYPES)
		return false;
	tt_lock_take(&allocator->lock);
	done = tt_freelist_release(&allocator->region[type], address);
	tt_lock_give(&allocator->lock);
	return done;
}

/* ---- asking -------------------------------------------------------------------------------- */

bool tt_allocator_lowest(uint64_t *address, struct tt_allocator *allocator,
			 enum ttnn_buffer_type type)
{
	bool found;

	if ((size_t)type >= TYPES)
		return false;
	tt_lock_take(&allocator->lock);
	found = tt_freelist_lowest(address, &allocator->region[type]);
	tt_lock_give(&allocator->lock);
	return found;
}

struct tt_freelist_stats tt_allocator_stats(struct tt_allocator *allocator,
					    enum ttnn_buffer_type type)
{
	struct tt_freelist_stats stats = {0};

	if ((size_t)type >= TYPES)
		return stats;
	tt_lock_take(&allocator->lock);
	stats = tt_freelist_stats(&allocator->region[type]);
	tt_lock_give(&allocator->lock);
	return stats;
}

double tt_allocator_fragmentation(const struct tt_freelist_stats *stats)
{
	return stats->free ? 1.0 - (double)stats->largest_free / (double)stats->free : 0.0;
}

static tt_status list_blocks(struct tt_freelist_block **out, size_t *count,
			     const struct tt_freelist *region)
{
	struct tt_freelist_block *blocks = tt_calloc(region->tree.blocks, sizeof(*blocks));
	uint64_t address = region->base;

	if (!blocks)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < region->tree.blocks; i++) {
		tt_freelist_block(&blocks[i], region, address);
		address += blocks[i].size;
	}
	*out = blocks;
	*count = region->tree.blocks;
	return TTNN_OK;
}

tt_status tt_allocator_blocks(struct tt_freelist_block **out, size_t *count,
			      struct tt_allocator *allocator, enum ttnn_buffer_type type)
{
	tt_status status;

	TT_TRY(check_type(type));
	tt_lock_take(&allocator->lock);
	status = list_blocks(out, count, &allocator->region[type]);
	tt_lock_give(&allocator->lock);
	return status;
}

size_t tt_allocator_holders(struct tt_freelist_block *out, size_t max,
			    struct tt_allocator *allocator, enum ttnn_buffer_type type)
{
	size_t count;

	if ((size_t)type >= TYPES)
		return 0;
	tt_lock_take(&allocator->lock);
	count = tt_freelist_holders(out, max, &allocator->region[type]);
	tt_lock_give(&allocator->lock);
	return count;
}

/* ---- what-if ------------------------------------------------------------------------------- */

static tt_status begin(struct tt_allocator_mark *mark, struct tt_allocator *allocator)
{
	for (size_t i = 0; i < TYPES; i++) {
		tt_status status = tt_freelist_begin(&mark->at[i], &allocator->region[i]);

		if (status != TTNN_OK) {
			while (i-- > 0)
				tt_freelist_commit(&allocator->region[i]);
			return status;
		}
	}
	return TTNN_OK;
}

tt_status tt_allocator_begin(struct tt_allocator_mark *mark, struct tt_allocator *allocator)
{
	tt_status status;

	tt_lock_take(&allocator->lock);
	status = begin(mark, allocator);
	tt_lock_give(&allocator->lock);
	return status;
}

void tt_allocator_rollback(struct tt_allocator *allocator, const struct tt_allocator_mark *mark)
{
	tt_lock_take(&allocator->lock);
	for (size_t i = 0; i < TYPES; i++)
		tt_freelist_rollback(&allocator->region[i], mark->at[i]);
	tt_lock_give(&allocator->lock);
}

void tt_allocator_commit(struct tt_allocator *allocator)
{
	tt_lock_take(&allocator->lock);
	for (size_t i = 0; i < TYPES; i++)
		tt_freelist_commit(&allocator->region[i]);
	tt_lock_give(&allocator->lock);
}
