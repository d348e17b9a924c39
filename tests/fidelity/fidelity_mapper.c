/* fidelity_mapper.c: torch tensors that a mapper cuts for the chips of a mesh. See fidelity.h. */
#include <string.h>
#include <ttnn_frontend.h>

#include "device/device.h"
#include "fidelity/fidelity.h"
#include "tensor/tensor.h"

#define PARTS 32

/* The parts of a tensor as one; the original counts neither. */
static tt_status spread(struct fid_slot *slot, ttnn_tensor *data, const struct tt_device *device,
			const struct ttnn_placement *placement)
{
	struct ttnn_shape mesh = {2, {device->rows, device->cols}};
	struct ttnn_shape line = {1, {device->rows * device->cols}};
	size_t count = line.dim[0];
	ttnn_tensor *parts[PARTS];
	bool before;
	tt_status status;

	if (count > PARTS)
		return tt_fail(TTNN_UNSUPPORTED, "a mesh of more than %d chips", PARTS);
	before = tt_tensor_hide(true);
	status = ttnn_tensor_cut(parts, data, &line, placement);
	if (status == TTNN_OK) {
		status = ttnn_tensor_gather(&slot->tensors[0], parts, &mesh, &line, placement);
		for (size_t i = 0; i < count; i++)
			ttnn_tensor_unref(parts[i]);
	}
	tt_tensor_hide(before);
	if (status == TTNN_OK)
		slot->count = 1;
	return status;
}

tt_status fid_map(struct fid_names *names, struct ttnn_arg *args, size_t count)
{
	struct ttnn_placement placement = {0};
	const struct ttnn_value *mapper = NULL;
	struct fid_slot *slot;

	for (size_t i = 0; i < count; i++)
		if (args[i].name && strcmp(args[i].name, "mesh_mapper") == 0)
			mapper = &args[i].value;
	if (!mapper || mapper->kind == TTNN_VALUE_NONE || args[0].value.kind != TTNN_VALUE_TENSOR)
		return TTNN_OK;
	if (mapper->kind == TTNN_VALUE_INT)
		placement = (struct ttnn_placement){.shard = true, .dim = (int32_t)mapper->integer};
	slot = TT_VEC_PUSH(&names->slots);
	if (!slot)
		return tt_fail_nomem();
	*slot = (struct fid_slot){.tensors = tt_arena_alloc(&names->arena, sizeof(ttnn_tensor *))};
	if (!slot->tensors)
		return tt_fail_nomem();
	TT_TRY(spread(slot, args[0].value.tensor, names->device, &placement));
	args[0].value = ttnn_v_tensor(slot->tensors[0]);
	return TTNN_OK;
}
