/*
 * moe_tilize.c: rows that were combined for tokens as tiles, a shard on each core.
 *
 * Models DeepseekMoEPostCombineTilizeDeviceOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores.
 */
#include "golden/golden.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

#define ATTRS(X) X(MEMORY, "output_memory_config")
TT_ATTRS(schema, "DeepseekMoEPostCombineTilizeParams", ATTRS);
#define OP "DeepseekMoEPostCombineTilize "

static tt_status tilize_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &in->padded, in->dtype, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

static tt_status check_input(const struct ttnn_tensor_spec *in)
{
	TT_REQUIRE(in->padded.rank >= 2, "input_rank >= 2", OP "requires rank >= 2, but has %u",
		   in->padded.rank);
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "input_tensor.dtype() == DataType::BFLOAT16",
		   OP "requires dtype to be bfloat16, but has DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype));
	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory),
		   "input_tensor.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   OP "requires input to be interleaved");
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input_tensor.layout() == ttnn::Layout::ROW_MAJOR",
		   OP "requires input layout to be ROW_MAJOR");
	return TTNN_OK;
}

static tt_status tilize_validate(struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t width = tt_shape_last(&in->padded, 1), shard_width, shard_height;
	uint64_t rows = 1;

	TT_TRY(check_input(in));
	for (uint32_t i = 0; i + 1 < in->padded.rank; i++)
		rows *= in->padded.dim[i];
	TT_REQUIRE(tt_memory_config_is_sharded(memory) && memory->has_nd_shard,
		   "output_memory_config.is_sharded() && "
		   "output_memory_config.nd_shard_spec().has_value()",
		   OP "requires sharded output");
	TT_REQUIRE(memory->buffer == TTNN_L1,
		   "output_memory_config.buffer_type() == BufferType::L1", OP "requires L1 output");
	TT_REQUIRE(memory->nd_shard.shape.rank == 2, "output_nd_shard_shape.rank() == 2",
		   OP "requires dimension 2 output shard shape");
	shard_height = memory->nd_shard.shape.dim[0];
	shard_width = memory->nd_shard.shape.dim[1];
	TT_REQUIRE(shard_width && shard_width % TT_TILE == 0 && width % shard_width == 0,
		   "output_shard_width % tt::constants::TILE_WIDTH == 0 && input_shape[-1] % "
		   "output_shard_width == 0",
		   OP "requires output shard width to be even multiple of tiles");
	TT_REQUIRE(shard_height == TT_TILE && rows % shard_height == 0,
		   "output_shard_height == tt::constants::TILE_HEIGHT && upper_dims % "
		   "output_shard_height == 0",
		   OP "requires output shard height to be a single tile high");
	TT_REQUIRE(width / shard_width * (rows / shard_height) ==
			   ttnn_core_set_cores(memory->nd_shard.grid),
		   "num_shards_wide * num_shards_high == output_nd_shard_spec.grid.num_cores()",
		   OP "requires one output shard per core");
	return TTNN_OK;
}

static tt_status tilize_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_nd_shard_spec *shard = &launch->attrs[MEMORY].memory->nd_shard;
	uint64_t width = shard->shape.dim[1];

	return TT_PLAN(plan, shard->grid,
		       TT_CB_ROW(0, "tilize_input", .pages = TT_TILE,
				 .page = width * tt_element_bytes(launch->inputs[0])),
		       TT_CB_ROW(1, "tilize_output", .pages = width / TT_TILE,
				 .page = tt_page_out0(launch), .backing = launch->outputs[0]));
}

static const struct tt_prog program = {
	.device_op = "DeepseekMoEPostCombineTilizeDeviceOperation",
	.prim = "ttnn::prim::deepseek_moe_post_combine_tilize",
	.attrs = &schema,
	.infer = tilize_infer,
	.validate = tilize_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::experimental::prim::"
		   "DeepseekMoEPostCombineTilizeDeviceOperation>::DirectDescriptorFactory",
		   tilize_memory),
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_move,
};

static tt_status tilize_expand(struct tt_call *call)
{
	return TT_LAUNCH_RETURN(call, &program, TT_INPUTS(tt_call_tensor(call, "input_tensor")),
				TT_BIND(call, schema, [MEMORY] = {0}));
}

static tt_status golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = *tt_at(in, i);
	return TTNN_OK;
}

static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_moe_post_combine_tilize",
	 .family = "moe_tilize",
	 .doc = "Rows that were combined for tokens, as tiles with a shard on each core.",
	 .sigs = {"input_tensor: Tensor, *, output_memory_config: MemoryConfig"},
	 .expand = tilize_expand,
	 .golden = golden,
	 .pcc = 0.9999,
	 .programs = programs},
};

const struct tt_op_family tt_family_moe_tilize = {"moe_tilize", ops, TT_COUNT(ops)};
