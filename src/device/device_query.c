/* What is asked about a device: the public calls that change nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "device/buffer.h"
#include "device/device.h"

static void copy_name(char *out, size_t room, const char *name)
{
	snprintf(out, room, "%s", name);
}

enum ttnn_status ttnn_system_info(struct ttnn_system_info *out, const char *name)
{
	struct tt_profile *profile;

	TT_TRY(tt_profile_open(&profile, name));
	*out = (struct ttnn_system_info){
		.cluster_code = profile->type->code,
		.rows = profile->rows,
		.cols = profile->cols,
		.chip_count = (uint32_t)profile->cluster.chip_count,
	};
	copy_name(out->name, sizeof(out->name), profile->name);
	copy_name(out->arch, sizeof(out->arch), profile->arch.name);
	copy_name(out->cluster, sizeof(out->cluster), profile->type->name);
	tt_profile_unref(profile);
	return TTNN_OK;
}

const char *ttnn_profile_name(size_t i)
{
	return tt_profile_name(i);
}

uint32_t ttnn_device_fabric_chip(const ttnn_device *device, uint32_t chip)
{
	const struct tt_profile *profile = device->profile;
	uint32_t places = profile->rows * profile->cols;

	for (uint32_t i = 0; i < places; i++)
		if (profile->cluster.chips[profile->order[i]].id == chip)
			return i;
	return places;
}

const struct ttnn_device_info *ttnn_device_get_info(const ttnn_device *device)
{
	return &device->info;
}

void ttnn_device_get_row(struct ttnn_device_row *out, const ttnn_device *device)
{
	const struct ttnn_device_info *info = &device->info;
	uint64_t cores = info->l1_banks;
	uint64_t bank = tt_allocator_stats(&device->memory->allocator, TTNN_L1).total;

	*out = (struct ttnn_device_row){
		.num_y_cores = info->logical_grid.y,
		.num_x_cores = info->logical_grid.x,
		.num_y_compute_cores = info->compute_grid.y,
		.num_x_compute_cores = info->compute_grid.x,
		.worker_l1_size = info->l1_size,
		.l1_num_banks = info->l1_banks,
		.l1_bank_size = bank,
		.address_at_first_l1_cb_buffer = info->l1_base,
		.num_banks_per_storage_core = bank ? info->l1_size / bank : 0,
		.num_compute_cores = cores,
		.total_l1_memory = info->l1_size * cores,
		.total_l1_for_interleaved_buffers = bank * cores,
		.total_l1_for_sharded_buffers = bank * cores,
		.cb_limit = info->l1_size - info->l1_base,
		.num_dram_channels = info->dram_banks,
		.dram_size_per_channel = info->dram_bank_size,
	};
}

/* The banks of a kind of memory; NULL, and the message set, when no device has such. */
static const struct tt_banks *find_banks(const ttnn_device *device, enum ttnn_buffer_type type)
{
	if (type != TTNN_SYSTEM_MEMORY && (unsigned)type <= TTNN_TRACE)
		return tt_devmem_banks(device->memory, type);
	tt_fail(TTNN_INVALID, "a device has no memory of type %d", (int)type);
	return NULL;
}

enum ttnn_status ttnn_device_memory(struct ttnn_memory_view *out, ttnn_device *device,
				    enum ttnn_buffer_type type)
{
	const struct tt_banks *banks = find_banks(device, type);
	struct tt_freelist_stats stats;

	if (!banks)
		return TTNN_INVALID;
	stats = tt_allocator_stats(&device->memory->allocator, type);
	*out = (struct ttnn_memory_view){
		.banks = type == TTNN_L1_SMALL && stats.total == 0 ? 0 : banks->count,
		.bank_bytes = stats.total,
		.allocated = stats.taken,
		.free = stats.free,
		.largest_free = stats.largest_free,
		.fragmentation = tt_allocator_fragmentation(&stats),
	};
	return TTNN_OK;
}

/* Completes the holders with what their buffers know; a tag alone is half an id. */
static void name_holders(struct ttnn_memory_holder *holders, size_t count, struct tt_devmem *memory,
			 enum ttnn_buffer_type type)
{
	tt_lock_take(&memory->lock);
	for (const struct tt_buffer *at = memory->oldest; at; at = at->newer)
		for (size_t i = 0; i < count && at->layout.type == type; i++)
			if (holders[i].address == at->address) {
				holders[i].buffer_id = at->id;
				holders[i].size = at->layout.size;
			}
	tt_lock_give(&memory->lock);
}

enum ttnn_status ttnn_device_holders(struct ttnn_memory_holder *out, size_t *count, size_t max,
				     ttnn_device *device, enum ttnn_buffer_type type)
{
	struct tt_freelist_block *blocks;
	size_t found;

	if (!find_banks(device, type))
		return TTNN_INVALID;
	blocks = tt_calloc(max, sizeof(*blocks));
	if (!blocks)
		return tt_fail_nomem();
	found = tt_allocator_holders(blocks, max, &device->memory->allocator, type);
	for (size_t i = 0; i < found; i++)
		out[i] = (struct ttnn_memory_holder){.buffer_id = blocks[i].tag,
						     .address = blocks[i].address,
						     .bank_bytes = blocks[i].size};
	tt_free(blocks);
	name_holders(out, found, device->memory, type);
	*count = found;
	return TTNN_OK;
}

enum ttnn_status ttnn_device_text(char **out, const ttnn_device *device)
{
	struct tt_str text = {0};

	tt_str_addf(&text, "MeshDevice(%" PRIu32 "x%" PRIu32 " grid, %" PRIu32 " devices)",
		    device->rows, device->cols, device->rows * device->cols);
	return tt_str_take(out, &text);
}

enum ttnn_status ttnn_device_bank_core(struct ttnn_core *out, const ttnn_device *device,
				       enum ttnn_buffer_type type, uint32_t bank)
{
	const struct tt_banks *banks = find_banks(device, type);

	if (!banks)
		return TTNN_INVALID;
	if (bank >= banks->count)
		return tt_fail(TTNN_INVALID, "there is no bank %" PRIu32 ", there are %" PRIu32,
			       bank, banks->count);
	*out = banks->cores[bank];
	return TTNN_OK;
}

enum ttnn_status ttnn_device_worker_core(struct ttnn_core *out, const ttnn_device *device,
					 struct ttnn_core logical)
{
	return tt_workers_translate(out, &device->workers, logical);
}

enum ttnn_status ttnn_device_logical_core(struct ttnn_core *out, const ttnn_device *device,
					  struct ttnn_core worker)
{
	return tt_workers_logical(out, &device->workers, worker);
}

enum ttnn_status ttnn_device_dram_workers(struct ttnn_core *out, const ttnn_device *device,
					  uint32_t noc)
{
	return tt_workers_dram(out, &device->workers, noc);
}

uint64_t ttnn_device_program_cache_entries(ttnn_device *device)
{
	return tt_progcache_stats(&device->programs).entries;
}

void ttnn_device_program_cache_counts(uint64_t *hits, uint64_t *misses, ttnn_device *device)
{
	struct tt_progcache_stats stats = tt_progcache_stats(&device->programs);

	*hits = stats.hits;
	*misses = stats.misses;
}

void ttnn_device_program_cache_clear(ttnn_device *device)
{
	tt_progcache_clear(&device->programs);
}

void ttnn_device_program_cache_enable(ttnn_device *device, bool on)
{
	tt_progcache_enable(&device->programs, on);
}
