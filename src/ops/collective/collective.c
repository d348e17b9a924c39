/*
 * collective.c: which chips of a mesh take part together, and the parts that they get of each other.
 *
 * A group is all chips, or those of one row or column of the mesh (cluster_axis).
 */
#include <string.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/collective/collective.h"
#include "ops/movement/movement.h"

/* ---- groups ----------------------------------------------------------------------------------------- */

/* All chips, or the column (axis 0) or row of the mesh that `chip` is in. */
void tt_group_find(struct tt_group *out, const struct tt_device *device, int64_t axis,
		   uint32_t chip)
{
	uint32_t rows = device->rows, cols = device->cols;

	out->count = out->own = 0;
	for (uint32_t i = 0; i < rows * cols && out->count < TT_GROUP_MAX; i++) {
		bool together =
			axis < 0 || (axis == 0 ? i % cols == chip % cols : i / cols == chip / cols);

		if (!together)
			continue;
		if (i == chip)
			out->own = out->count;
		out->chips[out->count++] = i;
	}
}

uint32_t tt_group_size(const struct tt_device *device, int64_t axis)
{
	if (axis < 0)
		return device->rows * device->cols;
	return axis == 0 ? device->rows : device->cols;
}

int64_t tt_group_axis(const struct ttnn_value *value)
{
	int64_t axis;

	return tt_value_integer(&axis, value) ? axis : -1;
}

/* ---- parts ------------------------------------------------------------------------------------------------ */

/* A part of one chip's tensor to its place in another's; `shift` adds dimensions in front. */
static tt_status move_part(struct tt_tensor *out, struct tt_tensor *in, const struct tt_share *part)
{
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_move_job job = {.out = out, .in = in, .loops = loops};

	for (uint32_t d = 0; d < in->spec.shape.rank; d++)
		loops[job.loop_count++] = (struct tt_move_loop){
			.extent = d == part->dim ? part->extent : in->spec.shape.dim[d],
			.in_dim = (int32_t)d,
			.out_dim = (int32_t)(d + part->shift),
			.in_step = 1,
			.out_step = 1};
	job.in_start[part->dim] = part->from;
	job.out_start[part->to_dim + part->shift] = part->to;
	if (part->shift)
		job.out_start[0] = part->at;
	return tt_backend_get()->move(&job);
}

tt_status tt_share_receive(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			   const struct tt_share *part)
{
	struct tt_tensor *in;
	tt_status status;

	TT_TRY(tt_tensor_resident(&in, launch->inputs[0], chip, TT_BUFFER_READ));
	status = move_part(out, in, part);
	ttnn_tensor_unref(in);
	return status;
}

tt_status tt_share_sum(struct tt_tensor *out, const struct tt_launch *launch,
		       const struct tt_group *group, struct tt_share part)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	struct ttnn_spec_args args = {
		.dtype = tt_dtype_is_integer(out->spec.dtype) ? out->spec.dtype : TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *stack;
	tt_status status = TTNN_OK;

	TT_REQUIRE(shape->rank < TTNN_MAX_RANK, "rank < 8",
		   "A tensor of rank %u cannot be added up", shape->rank);
	args.shape.rank = shape->rank + 1;
	args.shape.dim[0] = group->count;
	memcpy(&args.shape.dim[1], shape->dim, shape->rank * sizeof(shape->dim[0]));
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_tensor_alloc(&stack, &spec));
	part.shift = 1;
	for (uint32_t i = 0; i < group->count && status == TTNN_OK; i++) {
		part.at = i;
		status = tt_share_receive(stack, launch, group->chips[i], &part);
	}
	if (status == TTNN_OK)
		status = tt_backend_get()->reduce(&(struct tt_reduce_job){
			.out = out, .in = stack, .kind = TT_REDUCE_SUM, .dims = 1, .scale = 1});
	ttnn_tensor_unref(stack);
	return status;
}

/* A coordinate of the mesh as a chip's number; -1: none given. */
tt_status tt_group_place(struct ttnn_value *out, const struct tt_call *call, const char *name)
{
	const struct tt_device *device = call->device;
	int64_t at[2] = {0, 0};
	size_t count;

	*out = ttnn_v_int(-1);
	if (!tt_value_given(tt_call_arg(call, name)))
		return TTNN_OK;
	TT_TRY(tt_call_ints(at, &count, 2, call, name));
	TT_REQUIRE(count == 2 && at[0] >= 0 && at[0] < device->rows && at[1] >= 0 &&
			   at[1] < device->cols,
		   "coord in mesh", "%s is not on the mesh of %u x %u devices", name, device->rows,
		   device->cols);
	*out = ttnn_v_int(at[0] * device->cols + at[1]);
	return TTNN_OK;
}
