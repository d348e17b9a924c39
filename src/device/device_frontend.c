/* device_frontend.c: what <ttnn_frontend.h> says of tensors on devices and of device memory. */
#include <inttypes.h>
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/devmem.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "tensor/core.h"
#include "tensor/text.h"

ttnn_device *ttnn_tensor_get_device(const ttnn_tensor *tensor)
{
	return tt_tensor_device(tensor);
}

bool ttnn_tensor_get_buffer(struct ttnn_buffer_info *out, const ttnn_tensor *tensor)
{
	const struct tt_buffer *buffer = tt_tensor_buffer(tensor);

	if (!buffer)
		return false;
	*out = (struct ttnn_buffer_info){
		.id = buffer->id,
		.address = buffer->address,
		.page_size = buffer->layout.page_size,
		.aligned_page_size = buffer->layout.aligned_page,
		.pages = buffer->layout.pages,
	};
	return true;
}

enum ttnn_status ttnn_core_set_first(const ttnn_core_set **out, struct ttnn_core grid,
				     uint32_t count, bool row_wise)
{
	return tt_split_cores(out, grid, (struct ttnn_core){0, 0}, count,
			      row_wise ? TTNN_ORIENT_ROW_MAJOR : TTNN_ORIENT_COL_MAJOR);
}

enum ttnn_status ttnn_core_set_some(const ttnn_core_set **out, const ttnn_core_set *set,
				    struct ttnn_core start, uint32_t count, bool row_wise)
{
	const ttnn_core_set *first;

	TT_TRY(ttnn_core_set_make(&first, &(struct ttnn_core_range){start, start}, 1));
	if (!count || count > ttnn_core_set_cores(set) || !ttnn_core_set_includes(set, first))
		return tt_fail(TTNN_INVALID,
			       "%" PRIu32 " cores from %" PRIu32 "-%" PRIu32
			       " on are more than the set has",
			       count, start.x, start.y);
	return tt_split_cores_in(out, set, start, count,
				 row_wise ? TTNN_ORIENT_ROW_MAJOR : TTNN_ORIENT_COL_MAJOR);
}

enum ttnn_status ttnn_work_split_make(struct ttnn_work_split *out, const ttnn_core_set *set,
				      struct ttnn_core grid, uint64_t units, bool row_wise)
{
	enum ttnn_orientation order = row_wise ? TTNN_ORIENT_ROW_MAJOR : TTNN_ORIENT_COL_MAJOR;
	struct tt_work_split split;

	if (set)
		TT_TRY(tt_split_work_in(&split, set, units, order));
	else
		TT_TRY(tt_split_work(&split, grid, units, order));
	*out = (struct ttnn_work_split){split.cores,
					split.all,
					{split.group[0], split.group[1]},
					{split.units[0], split.units[1]}};
	return TTNN_OK;
}

enum ttnn_status ttnn_device_blocks(struct ttnn_memory_block **out, size_t *count,
				    ttnn_device *device, enum ttnn_buffer_type type)
{
	struct tt_allocator *allocator = &device->memory->allocator;
	struct tt_freelist_block *blocks;
	struct ttnn_memory_block *found;
	size_t number;

	if (type == TTNN_SYSTEM_MEMORY || (unsigned)type > TTNN_TRACE)
		return tt_fail(TTNN_INVALID, "a device has no memory of type %d", (int)type);
	TT_TRY(tt_allocator_blocks(&blocks, &number, allocator, type));
	found = tt_calloc(number + 1, sizeof(*found));
	for (size_t i = 0; found && i < number; i++)
		found[i] = (struct ttnn_memory_block){.address = blocks[i].address -
								 allocator->region[type].base,
						      .size = blocks[i].size,
						      .allocated = blocks[i].taken};
	tt_free(blocks);
	if (!found)
		return tt_fail_nomem();
	*out = found;
	*count = number;
	return TTNN_OK;
}

/* ---- sub-devices ---------------------------------------------------------------------------------- */

static tt_status check_sub_device(const struct tt_device *device, const ttnn_core_set *const *cores,
				  size_t which)
{
	struct tt_str texts[2] = {{0}};
	tt_status status = TTNN_OK;

	if (!tt_core_set_includes(device->grid, cores[which])) {
		tt_text_core_set(&texts[0], cores[which], TTNN_DIALECT_TT_METAL);
		tt_text_core_set(&texts[1], device->grid, TTNN_DIALECT_TT_METAL);
		status = tt_fail_cond(TTNN_INVALID, "device_worker_cores.contains(worker_cores)",
				      "Tensix cores %s specified in sub device must be within "
				      "device grid %s",
				      tt_str_text(&texts[0]), tt_str_text(&texts[1]));
		tt_str_deinit(&texts[0]);
		tt_str_deinit(&texts[1]);
	}
	for (size_t i = 0; status == TTNN_OK && i < which; i++) {
		const ttnn_core_set *both;

		status = tt_core_set_intersect(&both, cores[i], cores[which]);
		if (status == TTNN_OK && ttnn_core_set_cores(both))
			status =
				tt_fail_cond(TTNN_INVALID,
					     "!(sub_devices_[i].impl()->cores()[k].intersects("
					     "sub_devices_[j].impl()->cores()[k]))",
					     "SubDevices specified for SubDeviceManager intersect");
	}
	return status;
}

enum ttnn_status ttnn_device_check_sub_devices(ttnn_device *device,
					       const ttnn_core_set *const *cores, size_t count)
{
	if (count > TT_SUB_DEVICES_MAX)
		return tt_fail_cond(TTNN_INVALID,
				    "sub_devices_.size() <= "
				    "DispatchSettings::DISPATCH_MESSAGE_ENTRIES",
				    "Number of sub-devices specified %zu is larger than the max "
				    "number of sub-devices %d",
				    count, TT_SUB_DEVICES_MAX);
	for (size_t i = 0; i < count; i++)
		TT_TRY(check_sub_device(device, cores, i));
	return TTNN_OK;
}

enum ttnn_status ttnn_device_set_sub_devices(ttnn_device *device, const ttnn_core_set *const *cores,
					     size_t count)
{
	TT_TRY(ttnn_device_check_sub_devices(device, cores, count));
	tt_lock_take(&device->lock);
	for (size_t i = 0; i < count; i++)
		device->sub_devices[i] = cores[i];
	device->sub_device_count = count;
	tt_lock_give(&device->lock);
	return TTNN_OK;
}

enum ttnn_status ttnn_device_deallocate_buffers(ttnn_device *device)
{
	struct tt_buffer **buffers;
	size_t count;

	TT_TRY(tt_device_check_open(device));
	TT_TRY(tt_devmem_list(&buffers, &count, device->memory));
	for (size_t i = 0; i < count; i++)
		tt_buffer_deallocate(buffers[i]);
	tt_devmem_free_list(buffers, count);
	return TTNN_OK;
}

tt_status tt_device_sub_device(const ttnn_core_set **out, struct tt_device *device, uint64_t id)
{
	size_t count;

	tt_lock_take(&device->lock);
	count = device->sub_device_count;
	*out = id < count ? device->sub_devices[id] : device->grid;
	tt_lock_give(&device->lock);
	count = count ? count : 1;
	if (id >= count)
		return tt_fail_cond(TTNN_INVALID, "sub_device_index < sub_devices_.size()",
				    "SubDevice index %" PRIu64 " out of bounds %zu", id, count);
	return TTNN_OK;
}
