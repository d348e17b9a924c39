/* fused.c: see fused.h. */
#include "ops/collective/fused.h"

#include "device/device.h"
#include "device/devtensor.h"
#include "ops/objects.h"
#include "ops/usual.h"

static void unref_all(struct tt_tensor *const *tensors, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ttnn_tensor_unref(tensors[i]);
}

static tt_status run_on(const struct tt_launch *part, uint32_t chip)
{
	struct tt_tensor *inputs[TT_OUTPUTS_MAX] = {NULL};
	struct tt_launch one = *part;
	tt_status status = TTNN_OK;

	one.inputs = inputs;
	one.chip = chip;
	for (size_t i = 0; i < part->output_count; i++)
		one.outputs[i] = NULL;
	for (size_t i = 0; i < part->output_count && status == TTNN_OK; i++)
		status = tt_tensor_resident(&one.outputs[i], part->outputs[i], chip,
					    TT_BUFFER_OVERWRITE);
	for (size_t i = 0; i < part->input_count && status == TTNN_OK; i++)
		if (part->inputs[i])
			status = tt_tensor_resident(&inputs[i], part->inputs[i], chip,
						    TT_BUFFER_READ);
	if (status == TTNN_OK)
		status = part->prog->kernel(&one);
	unref_all(inputs, part->input_count);
	unref_all(one.outputs, part->output_count);
	return status;
}

tt_status tt_part_run(const struct tt_launch *part)
{
	uint32_t chips = part->device->rows * part->device->cols;

	for (uint32_t chip = 0; chip < chips; chip++)
		TT_TRY(run_on(part, chip));
	return TTNN_OK;
}

tt_status tt_part_gather(const struct tt_launch *launch, const struct tt_gathering *gathering)
{
	struct ttnn_value attrs[TT_ASYNC_COUNT] = {0};
	struct tt_launch part = *launch;

	attrs[TT_ASYNC_DIM] = ttnn_v_int(gathering->dim);
	attrs[TT_ASYNC_AXIS] = *gathering->axis;
	part.prog = &tt_prog_gather_async;
	part.attrs = attrs;
	part.inputs = (struct tt_tensor *const[]){gathering->in};
	part.input_count = part.output_count = 1;
	part.outputs[0] = gathering->out;
	return part.prog->kernel(&part);
}

tt_status tt_part_here(struct tt_tensor **out, struct tt_tensor *tensor, uint32_t chip)
{
	*out = NULL;
	if (!tensor)
		return TTNN_OK;
	TT_TRY(tt_tensor_resident(out, tensor, chip, TT_BUFFER_READ));
	return tt_scratch_keep(*out);
}

tt_status tt_part_combine(struct tt_tensor *values, struct tt_tensor *with, uint32_t op)
{
	if (!with)
		return TTNN_OK;
	return tt_backend_get()->map(
		&(struct tt_map_job){.out = values, .arity = 2, .op = op, .in = {values, with}});
}

tt_status tt_part_normed(struct tt_tensor **values, struct tt_norm_job job)
{
	job.in = *values;
	TT_TRY(tt_scratch_f32(values, &job.in->spec.shape));
	job.out = *values;
	return tt_backend_get()->norm(&job);
}

tt_status tt_part_norm(struct tt_tensor **out, const struct tt_launch *launch,
		       const struct tt_group *group, struct tt_norm_job job)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;
	struct tt_share part = tt_share_whole(launch, 3);
	struct tt_move_loop loops[4];
	struct tt_tensor *whole;

	for (uint32_t d = 0; d < 4; d++)
		loops[d] = (struct tt_move_loop){shape.dim[d], (int32_t)d, (int32_t)d, 1, 1};
	TT_TRY(tt_scratch_f32(out, &shape));
	shape.dim[3] *= group->count;
	TT_TRY(tt_scratch_f32(&whole, &shape));
	for (uint32_t i = 0; i < group->count; i++, part.to += part.extent)
		TT_TRY(tt_share_receive(whole, launch, group->chips[i], &part));
	TT_TRY(tt_part_normed(&whole, job));
	return tt_backend_get()->move(
		&(struct tt_move_job){.out = *out,
				      .in = whole,
				      .loops = loops,
				      .loop_count = 4,
				      .in_start = {0, 0, 0, (int64_t)part.extent * group->own}});
}

tt_status tt_part_offset(struct ttnn_value *out, const struct tt_call *call, const char *name)
{
	*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE};
	TT_NEED(tt_object_core(&out->core, tt_call_arg(call, name)), "%s: %s is no core",
		call->entry->op->name, name);
	return TTNN_OK;
}

tt_status tt_check_semaphores(const struct ttnn_value *given, uint32_t last)
{
	if (given->kind != TTNN_VALUE_LIST || given->count > last)
		return TTNN_OK;
	return tt_fail(TTNN_RANGE,
		       "vector::_M_range_check: __n (which is %u) >= this->size() (which is %u)",
		       last, given->count);
}

tt_status tt_llama_senders(const ttnn_core_set **out, const struct tt_launch *launch,
			   uint32_t links)
{
	static const struct ttnn_core cores[] = {{5, 3}, {6, 3}, {2, 8}, {3, 8}};
	struct ttnn_core_range ranges[TT_COUNT(cores)];

	TT_NEED(links && links <= TT_COUNT(cores), "there are senders for %d links, not for %u",
		(int)TT_COUNT(cores), links);
	for (uint32_t i = 0; i < links; i++) {
		TT_NEED(tt_core_set_contains(launch->device->grid, cores[i]),
			"No core coordinate found at location: (%u, %u, TENSIX, LOGICAL)",
			cores[i].x, cores[i].y);
		ranges[i].start = ranges[i].end = cores[i];
	}
	return ttnn_core_set_make(out, ranges, links);
}

tt_status tt_head_cores(const ttnn_core_set **out, const ttnn_core_set *cores, uint32_t which,
			uint32_t rows)
{
	uint64_t count = ttnn_core_set_cores(cores), before = (uint64_t)which * rows + 1;
	struct ttnn_core_range box;

	TT_TRY(tt_core_set_box(&box, cores));
	TT_REQUIRE(before <= count, "target_num_cores <= sub_core_grids.num_cores()",
		   "Target number of cores %u is greater than total available cores %u",
		   (uint32_t)before, (uint32_t)count);
	return tt_split_cores_in(out, cores,
				 which ? tt_core_set_at(cores, before - 1, TTNN_ORIENT_ROW_MAJOR)
				       : box.start,
				 rows, TTNN_ORIENT_ROW_MAJOR);
}

tt_status tt_first_left(const ttnn_core_set **out, const ttnn_core_set *left, uint32_t count)
{
	struct ttnn_core_range ranges[TT_GROUP_MAX];

	TT_NEED(count <= TT_GROUP_MAX && count <= ttnn_core_set_cores(left),
		"Not enough cores available for %u links", count);
	for (uint32_t i = 0; i < count; i++)
		ranges[i].start = ranges[i].end = tt_core_set_at(left, i, TTNN_ORIENT_ROW_MAJOR);
	return ttnn_core_set_make(out, ranges, count);
}
