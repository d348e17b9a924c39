#include "trace/devices.h"

#include <string.h>

#include "base/mem.h"

tt_status tt_seen_devices_add(struct tt_seen_devices *devices, const struct ttnn_device_info *info)
{
	size_t bytes = info->chip_count * sizeof(*info->chips);
	struct tt_seen_device *seen;

	if (tt_seen_devices_find(devices, info->id))
		return TTNN_OK;
	seen = TT_VEC_PUSH(&devices->all);
	if (!seen)
		return tt_fail_nomem();
	*seen = (struct tt_seen_device){.info = {.id = info->id,
						 .rows = info->rows,
						 .cols = info->cols,
						 .chip_count = info->chip_count},
					.chips = tt_alloc(bytes ? bytes : 1)};
	if (!seen->chips)
		return tt_fail_nomem();
	if (bytes)
		memcpy(seen->chips, info->chips, bytes);
	seen->info.chips = seen->chips;
	return TTNN_OK;
}

const struct ttnn_device_info *tt_seen_devices_find(const struct tt_seen_devices *devices,
						    uint32_t id)
{
	for (size_t i = devices->all.count; i-- > 0;)
		if (devices->all.data[i].info.id == id)
			return &devices->all.data[i].info;
	return NULL;
}

void tt_seen_devices_deinit(struct tt_seen_devices *devices)
{
	for (size_t i = 0; i < devices->all.count; i++)
		tt_free(devices->all.data[i].chips);
	TT_VEC_DEINIT(&devices->all);
}

tt_status tt_chip_list_note(struct tt_chip_list *chips, uint32_t id)
{
	uint32_t *slot;

	for (size_t i = 0; i < chips->count; i++)
		if (chips->data[i] == id)
			return TTNN_OK;
	if (chips->count == TT_CHIPS_MAX)
		return TTNN_OK;
	slot = TT_VEC_PUSH(chips);
	if (!slot)
		return tt_fail_nomem();
	*slot = id;
	return TTNN_OK;
}
