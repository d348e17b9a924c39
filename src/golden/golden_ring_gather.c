/* golden_ring_gather.c: what the first chip gets of tensors that the others have, number by number. */
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_collective.h"
#include "golden/golden_mesh.h"

/* The parts of all but the first chip; before: what was in the result, or NULL. */
static tt_status gather_one(struct tt_golden *golden, struct tt_tensor *in,
			    const struct tt_array *before, const struct ttnn_shape *shape)
{
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	struct tt_array *out = tt_golden_out(golden, shape, in->spec.dtype);
	uint64_t at[TTNN_MAX_RANK], own;
	struct tt_golden_mesh mesh;

	TT_NEED_MEMORY(out);
	tt_golden_mesh_of(&mesh, golden, tt_tensor_device(in));
	dim = tt_place_of(dim, shape->rank);
	own = in->spec.shape.dim[dim];
	for (uint64_t i = 0; before && i < out->count; i++)
		*tt_at(out, i) = *tt_at(before, i);
	for (uint32_t chip = 1; chip < mesh.count; chip++) {
		const struct tt_array *part = tt_golden_part(golden, in, chip * mesh.step);

		TT_NEED_MEMORY(part);
		for (uint64_t i = 0; i < part->count; i++) {
			tt_array_coordinate(at, part, i);
			at[dim] += chip * own;
			*tt_at(out, tt_array_index(out, at)) = *tt_at(part, i);
		}
	}
	return TTNN_OK;
}

tt_status tt_golden_ring_gather(struct tt_golden *golden)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, "input_tensor");
	const struct ttnn_value *given = tt_call_arg(&golden->call, "persistent_output_buffer");
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	struct tt_golden_mesh mesh;

	for (uint32_t i = 0; i < list->count; i++) {
		struct tt_tensor *in = list->items[i].tensor;
		struct ttnn_shape shape = in->spec.shape;
		const struct tt_array *before = NULL;

		TT_NEED(tt_tensor_device(in) && dim < shape.rank && dim + shape.rank >= 0 &&
				(!given->count || i < given->count),
			"tensors on a mesh, each with a buffer if any, have a dimension");
		tt_golden_mesh_of(&mesh, golden, tt_tensor_device(in));
		shape.dim[dim < 0 ? dim + shape.rank : dim] *= mesh.count;
		if (given->count) {
			shape = given->items[i].tensor->spec.shape;
			before = tt_golden_part(golden, given->items[i].tensor, 0);
			TT_NEED_MEMORY(before);
		}
		TT_TRY(gather_one(golden, in, before, &shape));
	}
	return TTNN_OK;
}
