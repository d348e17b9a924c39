/* device_frontend.c: what <ttnn_frontend.h> says of tensors on devices and of device memory. */
#include <inttypes.h>
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"

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
