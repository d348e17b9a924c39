/*
 * nonzero.c: how many elements are not zero, and where they are.
 *
 * Models NonZeroIndicesDeviceOperation of ttnn 0.81 (data_movement/non_zero_indices/device) with
 * its one factory: refusals and memory. It works on one core there, too.
 * Not modelled: what is behind the indices that were found.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"

#define ATTRS(X) X(MEMORY, "output_memory_config")
TT_ATTRS(schema, "NonzeroParams", ATTRS);

/* Numbers that the page of the count has room for. */
#define COUNT_ROOM 8

/* A count, with room for more, and four coordinates for each element there is. */
static tt_status nonzero_infer(struct tt_launch *launch)
{
	const struct ttnn_memory_config memory = {.buffer = launch->attrs[MEMORY].memory->buffer};
	struct ttnn_shape count = {4, {1, 1, 1, COUNT_ROOM}}, where = {4, {1, 1, 1, 0}};
	uint64_t volume;

	TT_TRY(ttnn_shape_volume(&volume, &launch->inputs[0]->spec.shape));
	TT_NEED(volume <= UINT32_MAX / 4,
		"non_zero_indices: input volume %" PRIu64 " exceeds uint32_t representable range",
		volume);
	where.dim[3] = (uint32_t)volume * 4;
	launch->output_count = 2;
	TT_TRY(tt_spec_simple(&launch->specs[0], &count, TTNN_UINT32, TTNN_ROW_MAJOR, &memory));
	return tt_spec_simple(&launch->specs[1], &where, TTNN_UINT32, TTNN_ROW_MAJOR, &memory);
}

/* All indices pass through L1 at once, twice: that bounds the volume. */
static tt_status nonzero_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t bytes = 2 * tt_align_to(4 * (uint64_t)launch->outputs[1]->spec.shape.dim[3], 32);
	uint64_t room = launch->device->limits.l1_size;

	TT_REQUIRE(in->shape.rank == 4, "input_tensor.logical_shape().rank() == 4",
		   "non_zero_indices: input must be rank-4, got rank %u", in->shape.rank);
	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor.buffer() != nullptr",
		   "Operands to Non-zero need to be allocated in buffers on device!");
	TT_REQUIRE(launch->attrs[MEMORY].memory->layout == TTNN_INTERLEAVED,
		   "args.output_memory_config.memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "non_zero_indices: output_memory_config must be INTERLEAVED; variable-length "
		   "output cannot be sharded");
	if (in->layout == TTNN_ROW_MAJOR && !ttnn_shape_equal(&in->padded, &in->shape))
		return tt_fail_shapes(
			TTNN_INVALID, "input_tensor.padded_shape() == input_tensor.logical_shape()",
			"non_zero_indices: ROW_MAJOR input has shape padding (padded_shape=%s vs "
			"logical_shape=%s); padded rows/columns are not masked and would produce "
			"out-of-range indices",
			&in->padded, &in->shape);
	TT_REQUIRE(bytes <= room, "indices_cb_bytes <= l1_size",
		   "non_zero_indices: indices staging buffer requires %" PRIu64
		   " L1 bytes but per-core L1 is %" PRIu64
		   " bytes; maximum supported volume is ~%" PRIu64 " elements",
		   bytes, room, room / 32);
	return TTNN_OK;
}

/* One core. A page of the input, and two of each output. */
static tt_status nonzero_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *one;

	TT_TRY(tt_core_set_grid(&one, 1, 1));
	return TT_PLAN(
		plan, one,
		TT_CB_ROW(0, "input", .pages = 1, .page = tt_aligned_page(launch->inputs[0])),
		TT_CB_ROW(1, "output_0", .pages = 2,
			  .page = COUNT_ROOM * tt_element_bytes(launch->outputs[0])),
		TT_CB_ROW(2, "output_1", .pages = 2, .page = tt_aligned_page(launch->outputs[1])));
}

static tt_status nonzero_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->nonzero(launch->outputs[0], launch->outputs[1], launch->inputs[0]);
}

static const struct tt_prog prog = {
	.device_op = "NonZeroIndicesDeviceOperation",
	.prim = "ttnn::prim::nonzero",
	.drops_forward = true,
	.attrs = &schema,
	.infer = nonzero_infer,
	.validate = nonzero_validate,
	TT_FACTORY("ttnn::prim::NonZeroIndicesProgramFactory", nonzero_memory),
	TT_KERNEL(nonzero_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* Two results: how many, and where. */
static tt_status nonzero_expand(struct tt_call *call)
{
	static const struct ttnn_memory_config dram;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct ttnn_value attrs[schema_count] = {[MEMORY] = ttnn_v_memory(memory ? memory : &dram)};

	return TT_LAUNCH_RETURN(call, &prog, .attrs = attrs, TT_INPUTS(in));
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("nonzero", nonzero_expand, tt_golden_nonzero,
		     "The number of elements that are not zero, and the coordinates of each.",
		     "input_tensor: Tensor, *, memory_config: MemoryConfig? = None"),
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_nonzero = {"movement", ops, TT_COUNT(ops)};
