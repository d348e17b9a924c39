/* golden_mesh.c: see golden_mesh.h. */
#include "golden/golden_mesh.h"

#include "device/device.h"
#include "device/devtensor.h"

void tt_golden_mesh_of(struct tt_golden_mesh *out, struct tt_golden *golden,
		       const struct tt_device *device)
{
	int64_t axis = tt_call_int(&golden->call, "cluster_axis", -1);

	*out = (struct tt_golden_mesh){device->rows * device->cols, 1};
	if (axis == 0)
		*out = (struct tt_golden_mesh){device->rows, device->cols};
	else if (axis > 0)
		out->count = device->cols;
	golden->first_chip = true;
}

tt_status tt_golden_mesh_find(struct tt_golden_mesh *out, struct tt_golden *golden,
			      const char *name)
{
	struct tt_tensor *tensor = tt_call_tensor(&golden->call, name);
	const struct tt_device *device = tensor ? tt_tensor_device(tensor) : NULL;

	if (!device)
		return tt_fail(TTNN_INVALID, "%s: the golden needs a tensor on a mesh of chips",
			       golden->op->name);
	tt_golden_mesh_of(out, golden, device);
	return TTNN_OK;
}

const struct tt_array *tt_golden_mesh_in(struct tt_golden *golden, const char *name, uint32_t chip)
{
	return tt_golden_part(golden, tt_call_tensor(&golden->call, name), chip);
}
