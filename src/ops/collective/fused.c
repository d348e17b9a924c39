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
