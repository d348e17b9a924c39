/*
 * convert_hwc.c: images whose channels are rows of their own become images of one row for each
 * point, and back. Programs of models with few channels: between the layout of the host and that
 * of convolutions.
 *
 * Models ConvertToHWCDeviceOperation and ConvertToCHWDeviceOperation of ttnn 0.81
 * (experimental/cnn), one factory each: refusals, memory, cores. Not modelled: in which order
 * cores fetch each other's parts.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(MEMORY, "memory_config")                                                                 \
	X(DTYPE, "dtype")
TT_ATTRS(schema, "ConvertToHwcParams", ATTRS);
static const struct tt_schema chw_schema = {"ConvertToCHWParams", schema_fields, schema_count,
					    false};

static tt_status infer(struct tt_launch *launch, const struct ttnn_shape *shape)
{
	const struct ttnn_spec_args args = {.shape = *shape,
					    .dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer,
					    .memory = *launch->attrs[MEMORY].memory};

	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

static tt_status check_rank(uint32_t rank)
{
	TT_REQUIRE(rank == 4, "shape.size() == 4", "Input shape must be rank 4 (was rank %u)",
		   rank);
	return TTNN_OK;
}

static tt_status check_channels(uint32_t channels)
{
	TT_REQUIRE(channels <= TT_TILE, "C <= TILE_HEIGHT",
		   "C must be less than or equal to 32 (was %u)", channels);
	return TTNN_OK;
}

/* ---- points of channels: [1, B, C, HW] to [1, 1, B x HW, C] --------------------------------------------- */

/* Elements of what transfers are aligned to: channels are padded to those. */
static uint32_t alignment_of(const struct tt_tensor *in)
{
	return (uint32_t)(tt_memory_alignment(tt_tensor_device(in), TTNN_L1) /
			  tt_element_bytes(in));
}

static tt_status hwc_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;
	uint32_t aligned = (uint32_t)tt_align_to(in->dim[2], alignment_of(launch->inputs[0]));

	return infer(launch, &(struct ttnn_shape){4, {1, 1, in->dim[1] * in->dim[3], aligned}});
}

/* [1, B, C, H × W] in width shards to [1, 1, B × H × W, C] in height shards. */
static tt_status hwc_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_TRY(check_rank(in->shape.rank));
	TT_REQUIRE(in->shape.dim[0] == 1, "shape[0] == 1",
		   "Expected input tensor to be shape [1, B, C, HW] (shape was Shape([%u, %u, "
		   "%u, %u]))",
		   in->shape.dim[0], in->shape.dim[1], in->shape.dim[2], in->shape.dim[3]);
	TT_TRY(check_channels(in->shape.dim[2]));
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input.layout() == Layout::ROW_MAJOR",
		   "Input tensor must be in row-major layout");
	TT_REQUIRE(tt_memory_config_is_sharded(&in->memory), "input.is_sharded()",
		   "Input tensor must be sharded");
	TT_REQUIRE(in->memory.layout == TTNN_WIDTH_SHARDED,
		   "input.memory_config().memory_layout() == TensorMemoryLayout::WIDTH_SHARDED",
		   "Input tensor must be width sharded");
	TT_REQUIRE(launch->attrs[MEMORY].memory->layout == TTNN_HEIGHT_SHARDED,
		   "args.memory_config.is_sharded() && args.memory_config.memory_layout() == "
		   "TensorMemoryLayout::HEIGHT_SHARDED",
		   "Output tensor must be height sharded");
	return TTNN_OK;
}

/* Points that are gathered at a time: at least 1024 where whole tiles of that divide a shard. */
static uint32_t block_of(uint32_t points)
{
	for (uint32_t block = 1024; block <= points; block += TT_TILE)
		if (points % block == 0)
			return block;
	return points;
}

/*
 * Blocks of points become tiles, are transposed and written as rows; input in DRAM has a buffer of
 * its own.
 */
static tt_status hwc_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_shard_spec *from = &in->spec.memory.shard, *to = &out->spec.memory.shard;
	bool dram = in->spec.memory.buffer == TTNN_DRAM;
	uint32_t block = block_of(to->height);
	uint64_t tiles = tt_div_up(block, TT_TILE), tile = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t capacity = (uint64_t)ttnn_core_set_cores(from->grid) * from->width;

	TT_REQUIRE(to->width % alignment_of(out) == 0,
		   "output_shard_width % alignment_elements == 0",
		   "Output shard width %u must be multiple of %u to satisfy alignment constraints",
		   to->width, alignment_of(out));
	TT_REQUIRE(to->height % TT_TILE == 0, "output_shard_height % 32 == 0",
		   "Shard height %u must be multiple of tile width (32)", to->height);
	TT_REQUIRE(in->spec.shape.dim[3] >= capacity || in->spec.shape.dim[1] == 1,
		   "batch_size == 1",
		   "Uneven sharding (HW=%u < total_padded_capacity=%" PRIu64
		   ") is only supported for batch_size=1, got batch_size=%u",
		   in->spec.shape.dim[3], capacity, in->spec.shape.dim[1]);
	return TT_PLAN(plan, to->grid,
		       TT_CB_ROW(0, "cb_in", .pages = dram ? in->spec.shape.dim[2] : from->height,
				 .page = from->width * tt_element_bytes(in),
				 .backing = dram ? NULL : in),
		       TT_CB_ROW(1, "cb_in_batch", .pages = in->spec.shape.dim[2],
				 .page = block * tt_element_bytes(in)),
		       TT_CB_ROW(2, "cb_in_tiled", .pages = tiles, .page = tile),
		       TT_CB_ROW(3, "cb_in_transpose_0", .pages = tiles, .page = tile),
		       TT_CB_ROW(4, "cb_in_transpose_1", .pages = tiles, .page = tile),
		       TT_CB_ROW(5, "cb_out", .pages = to->height,
				 .page = to->width * tt_element_bytes(in), .backing = out));
}

/* Channels beyond the input's are zeros. */
static tt_status hwc_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const uint32_t *dim = in->spec.shape.dim;
	const struct tt_move_loop loops[] = {
		{dim[1], 1, 2, 1, dim[3]},
		{dim[3], 3, 2, 1, 1},
		{dim[2], 2, 3, 1, 1},
	};
	struct tt_move_job job = {
		.out = out, .in = in, .loops = loops, .loop_count = TT_COUNT(loops)};

	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_backend_get()->move(&job);
}

static const struct tt_factory hwc_factory = {
	.name = "ttnn::experimental::prim::ConvertToHWCProgramFactory", .memory = hwc_memory};

static const struct tt_prog hwc = {
	.device_op = "ConvertToHWCDeviceOperation",
	.prim = "ttnn::prim::convert_to_hwc",
	.attrs = &schema,
	.infer = hwc_infer,
	.validate = hwc_validate,
	.factories = &hwc_factory,
	.factory_count = 1,
	TT_KERNEL(hwc_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* Shards of the result where the input's are: a point is a row. */
static tt_status hwc_shards(struct ttnn_memory_config *out, const struct tt_tensor *in)
{
	const struct ttnn_memory_config *memory = &in->spec.memory;
	struct ttnn_shard_spec shard = memory->shard;

	TT_REQUIRE(tt_tensor_is_sharded(in), "input_tensor.is_sharded()",
		   "Input tensor must be sharded to infer output memory config");
	TT_REQUIRE(memory->layout == TTNN_WIDTH_SHARDED,
		   "input_memory_config.memory_layout() == "
		   "tt::tt_metal::TensorMemoryLayout::WIDTH_SHARDED",
		   "Input tensor must be width sharded");
	TT_TRY(check_rank(in->spec.shape.rank));
	shard.height = in->spec.shape.dim[1] * memory->shard.width;
	shard.width = (uint32_t)tt_align_to(in->spec.shape.dim[2], alignment_of(in));
	return ttnn_memory_config_sharded(out, TTNN_HEIGHT_SHARDED, memory->buffer, &shard);
}

/* From DRAM the caller must say the shards; from L1 they follow from the input's. */
static tt_status hwc_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	const struct ttnn_memory_config *given = tt_call_memory(call, "memory_config");
	struct ttnn_memory_config memory;
	struct ttnn_value attrs[schema_count];

	TT_TRY(tt_need_device(in));
	TT_REQUIRE(given || in->spec.memory.buffer != TTNN_DRAM, "memory_config.has_value()",
		   "When input tensor is in DRAM, output memory_config must be explicitly "
		   "specified");
	if (!given)
		TT_TRY(hwc_shards(&memory, in));
	else
		memory = *given;
	TT_NEED(memory.has_shard, "bad optional access");
	TT_REQUIRE(memory.shard.width % alignment_of(in) == 0,
		   "output_memory_config.shard_spec()->shape[1] % alignment_elements == 0",
		   "Output shard width must be rounded up to next multiple of %u to satisfy "
		   "alignment constraints (width was %u)",
		   alignment_of(in), memory.shard.width);
	attrs[MEMORY] = ttnn_v_memory(&memory);
	attrs[DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", in->spec.dtype));
	return TT_LAUNCH_RETURN(call, &hwc, TT_INPUTS(in), .attrs = attrs);
}

/* ---- planes of points: [1, 1, HW, C] to [1, 1, C, HW] ----------------------------------------------------- */

static tt_status chw_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;

	return infer(launch, &(struct ttnn_shape){4, {in->dim[0], 1, in->dim[3], in->dim[2]}});
}

/* Points are whole tiles, in all and in each shard. */
static tt_status chw_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_TRY(check_rank(in->shape.rank));
	TT_REQUIRE(in->shape.dim[0] == 1 && in->shape.dim[1] == 1, "shape[0] == 1 && shape[1] == 1",
		   "Expected input tensor to be shape [1, 1, HW, C]");
	TT_TRY(check_channels(in->shape.dim[3]));
	TT_REQUIRE(in->shape.dim[2] % TT_TILE == 0, "HW % TILE_HEIGHT == 0",
		   "HW must be divisible by tile size");
	TT_REQUIRE(in->memory.shard.height % TT_TILE == 0,
		   "input_shard_spec.shape[0] % TILE_HEIGHT == 0",
		   "Shard height must be divisible by tile size");
	return TTNN_OK;
}

#define TILES_AT_ONCE 16

/* Both shards are buffers; between them so many tiles are transposed at once. */
static tt_status chw_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_shard_spec *from = &in->spec.memory.shard, *to = &out->spec.memory.shard;
	uint32_t points = in->spec.shape.dim[2];
	uint64_t cores = ttnn_core_set_cores(from->grid), element = tt_element_bytes(out);

	TT_REQUIRE(tt_div_up(points, from->height) == cores,
		   "tt::div_up(HW, a.shard_spec()->shape[0]) == input_cores.size()",
		   "Mismatch between core grid and input/shard shapes");
	return TT_PLAN(plan, from->grid,
		       TT_CB_ROW(0, "cb_in", .pages = tt_div_up(points / TT_TILE, cores),
				 .page = tt_tile_bytes_of(in->spec.dtype), .backing = in),
		       TT_CB_ROW(1, "cb_out", .pages = to->height, .page = to->width * element,
				 .backing = out),
		       TT_CB_ROW(2, "cb_in_transpose", .pages = TILES_AT_ONCE,
				 .page = tt_tile_bytes_of(TTNN_BFLOAT16)));
}

/* Rows and columns change places. */
static tt_status chw_kernel(struct tt_launch *launch)
{
	const uint32_t *dim = launch->inputs[0]->spec.shape.dim;
	const struct tt_move_loop loops[] = {{dim[3], 3, 2, 1, 1}, {dim[2], 2, 3, 1, 1}};
	struct tt_move_job job = {.out = launch->outputs[0],
				  .in = launch->inputs[0],
				  .loops = loops,
				  .loop_count = TT_COUNT(loops)};

	return tt_backend_get()->move(&job);
}

static const struct tt_factory chw_factory = {
	.name = "ttnn::experimental::prim::ConvertToCHWProgramFactory", .memory = chw_memory};

static const struct tt_prog chw = {
	.device_op = "ConvertToCHWDeviceOperation",
	.prim = "ttnn::prim::convert_to_chw",
	.attrs = &chw_schema,
	.infer = chw_infer,
	.validate = chw_validate,
	.factories = &chw_factory,
	.factory_count = 1,
	TT_KERNEL(chw_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* A core keeps its points: the shard is as wide as it was high. */
static tt_status chw_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	struct ttnn_shard_spec shard = in->spec.memory.shard;
	struct ttnn_memory_config memory;
	struct ttnn_value attrs[schema_count];

	TT_TRY(tt_need_device(in));
	TT_REQUIRE(tt_tensor_is_sharded(in), "input.is_sharded()",
		   "Input tensor must be sharded to infer output memory config");
	TT_REQUIRE(in->spec.memory.layout == TTNN_HEIGHT_SHARDED,
		   "input_memory_config.memory_layout() == "
		   "tt::tt_metal::TensorMemoryLayout::HEIGHT_SHARDED",
		   "Input tensor must be height sharded");
	shard.width = shard.height;
	shard.height = tt_shape_last(&in->spec.shape, 1);
	TT_TRY(ttnn_memory_config_sharded(&memory, TTNN_WIDTH_SHARDED, in->spec.memory.buffer,
					  &shard));
	attrs[MEMORY] = ttnn_v_memory(&memory);
	attrs[DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", in->spec.dtype));
	return TT_LAUNCH_RETURN(call, &chw, TT_INPUTS(in), .attrs = attrs);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.convert_to_hwc",
	 .doc = "Planes of channels become rows of one point each.",
	 .sigs = {"input: Tensor, *, memory_config: MemoryConfig? = None, dtype: DataType? = "
		  "None"},
	 .expand = hwc_expand,
	 .golden = tt_golden_hwc},
	{.name = "ttnn.experimental.convert_to_chw",
	 .doc = "Rows of one point each become planes of channels.",
	 .sigs = {"input: Tensor, *, dtype: DataType? = None"},
	 .expand = chw_expand,
	 .golden = tt_golden_chw},
};

const struct tt_op_family tt_family_planes = {"planes", ops, TT_COUNT(ops)};
