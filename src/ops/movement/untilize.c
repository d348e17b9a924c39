/*
 * untilize.c: from tiles to rows, padding included.
 *
 * Models UntilizeDeviceOperation of ttnn 0.81 (data_movement/untilize/device/factories):
 * refusals, memory, cores, and the choice of a factory (untilize_choose()), in this order:
 *
 *	SingleCore                       asked for
 *	MultiCoreSubCoreGrids            cores are given
 *	MultiCoreBlock                   wide interleaved tensors, or a row does not fit into L1
 *	...ShardTypeAndShardSpecIdentical, ...NDShardTypeAndShardSpecIdentical   in place
 *	MultiCoreParallelizeColumn       one row of tiles, many columns
 *	MultiCoreNDShardInput, MultiCore the rest
 *
 * Not modelled: the two ways of the packer (fast and slow), which only time shows.
 */
#include "ops/movement/untilize.h"

#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/untilize_codegen.h"

enum ttnn_dtype tt_untilized_dtype(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16 : dtype;
}

/* A row of tiles in and out, beside an output that is not there yet. */
bool tt_untilize_has_space(struct tt_tensor *in, const struct ttnn_shape *shape,
			   const struct ttnn_memory_config *memory)
{
	struct tt_device *device = tt_tensor_device(in);
	enum ttnn_dtype dtype = tt_untilized_dtype(in->spec.dtype);
	struct ttnn_spec_args args = {
		.shape = *shape, .dtype = dtype, .layout = TTNN_ROW_MAJOR, .memory = *memory};
	uint64_t tiles = tt_shape_last(&in->spec.padded, 1) / TT_TILE;
	uint64_t need = tiles * (tt_tile_bytes_of(in->spec.dtype) + tt_tile_bytes_of(dtype));
	uint64_t room = tt_l1_free(device), pending = tt_l1_pending(device, &args);

	return (room > pending ? room - pending : 0) > need;
}

/* ---- the program ------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(MEMORY, "output_mem_config")                                                             \
	X(MULTI, "use_multicore")                                                                  \
	X(FP32, "fp32_dest_acc_en")                                                                \
	X(CORES, "sub_core_grids")                                                                 \
	X(ENOUGH, "enough_space_height")                                                           \
	X(TYPE, "pf_type")
TT_ATTRS(schema, "UntilizeOperationAttributes", ATTRS);

enum {
	SINGLE,
	SUB_CORES,
	BLOCKS,
	SAME_SHARDS,
	SAME_ND_SHARDS,
	COLUMNS,
	LINES,
	ND_SHARDS,
	FACTORIES
};

/* 0: columns in parallel, 1: one core, 2: rows of tiles in parallel. */
static int64_t program_type(const struct tt_tensor *in, bool to_shards)
{
	uint64_t half = tt_l1_half(tt_tensor_device(in));
	uint64_t max = half / (2 * tt_tile_bytes_of(in->spec.dtype));

	if (tt_tensor_is_sharded(in) || in->spec.cols / in->spec.tile.width <= max)
		return 2;
	return !to_shards && in->spec.rows / in->spec.tile.height == 1 ? 0 : 1;
}

static tt_status untilize_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_infer_padded(launch, &in->shape, &in->padded, tt_untilized_dtype(in->dtype),
			       TTNN_ROW_MAJOR);
}

/* sub_core_grids is for one row of tiles. */
static tt_status check_sub_cores(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	if (!tt_value_given(&launch->attrs[CORES]))
		return TTNN_OK;
	TT_REQUIRE(in->memory.layout == TTNN_INTERLEAVED,
		   "input_memory_layout == TensorMemoryLayout::INTERLEAVED",
		   "Input memory layout must be interleaved when sub_core_grid argument provided");
	TT_REQUIRE(launch->attrs[MEMORY].memory->layout == TTNN_INTERLEAVED,
		   "output_memory_layout == TensorMemoryLayout::INTERLEAVED",
		   "Output memory layout must be interleaved when sub_core_grid argument provided");
	TT_REQUIRE(
		launch->attrs[MULTI].boolean, "operation_attributes.use_multicore",
		"sub_core_grid implementation only supported when use_multicore flag argument is "
		"set to true");
	TT_REQUIRE(
		in->rows == in->tile.height,
		"tensor_height == 0 || tensor_height == "
		"input_tensor_a.tensor_spec().tile().get_tile_shape()[0]",
		"sub_core_grid untilize only supports tensors one tile row tall, got height %" PRIu64
		" with tile height %u",
		in->rows, in->tile.height);
	return TTNN_OK;
}

/* Shards of tiles are whole tiles; rows of shards are aligned. */
static tt_status check_shards(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;
	uint64_t bytes, alignment = tt_memory_alignment(launch->device, out->buffer);

	if (tt_tensor_is_sharded(in)) {
		TT_REQUIRE(tt_shard_width(&in->spec.memory) % TT_TILE == 0,
			   "input_shard_width % TILE_WIDTH == 0",
			   "Input shard width %u must be a multiple of tile width",
			   tt_shard_width(&in->spec.memory));
		TT_REQUIRE(tt_shard_height(&in->spec.memory) % TT_TILE == 0,
			   "input_shard_height % TILE_HEIGHT == 0",
			   "Input shard height %u must be a multiple of tile height",
			   tt_shard_height(&in->spec.memory));
	}
	if (!tt_memory_config_is_sharded(out))
		return TTNN_OK;
	TT_REQUIRE(
		out->has_shard || out->has_nd_shard,
		"operation_attributes.output_mem_config.shard_spec().has_value() || "
		"operation_attributes.output_mem_config.nd_shard_spec().has_value()",
		"Output memory config is sharded but no shard spec or nd shard spec is provided");
	bytes = (uint64_t)tt_shard_width(out) *
		(in->spec.dtype == TTNN_BFLOAT8_B ? 2 : tt_element_bytes(in));
	TT_REQUIRE(bytes % alignment == 0, "output_row_size_bytes % alignment_requirement == 0",
		   "Output shard row size %" PRIu64 " bytes must be aligned to %" PRIu64
		   " bytes buffer alignment requirement",
		   bytes, alignment);
	return TTNN_OK;
}

/* Both sides ask the same with other words. */
static tt_status check_even(bool is_input, const struct ttnn_memory_config *memory,
			    const struct ttnn_tensor_spec *in)
{
	const char *which = is_input ? "input" : "output";

	TT_REQUIRE(!memory->has_shard || in->cols % memory->shard.width == 0,
		   is_input ? "tensor_width % input_shard_width == 0"
			    : "tensor_width % output_shard_width == 0",
		   "Uneven %s shard width %u for tensor width %" PRIu64
		   " not supported for single core implementation",
		   which, memory->shard.width, in->cols);
	TT_REQUIRE(!memory->has_shard || in->rows % memory->shard.height == 0,
		   is_input ? "tensor_height % input_shard_height == 0"
			    : "tensor_height % output_shard_height == 0",
		   "Uneven %s shard height %u for tensor height %" PRIu64
		   " not supported for single core implementation",
		   which, memory->shard.height, in->rows);
	return TTNN_OK;
}

/* One core takes even shards only. */
static tt_status check_single(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	if (launch->attrs[MULTI].boolean)
		return TTNN_OK;
	if (tt_memory_config_is_sharded(out))
		TT_REQUIRE(tt_shard_width(out) % TT_TILE == 0,
			   "output_shard_width % TILE_WIDTH == 0",
			   "Output shard width %u must be a multiple of tile width 32 for single "
			   "core implementation",
			   tt_shard_width(out));
	TT_TRY(check_even(true, &in->memory, in));
	return check_even(false, out, in);
}

/* In upstream's order. */
static tt_status untilize_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor_a.buffer() != nullptr",
		   "Operands to untilize need to be allocated in buffers on device!");
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor_a.layout() == Layout::TILE",
		   "Can only untilize tile major data");
	TT_REQUIRE(in->cols % TT_TILE == 0, "tensor_width % TILE_WIDTH == 0",
		   "Width must be evenly divisible into tiles");
	TT_REQUIRE(in->rows % TT_TILE == 0, "tensor_height % TILE_HEIGHT == 0",
		   "Height must be evenly divisible into tiles");
	TT_TRY(check_sub_cores(launch));
	TT_TRY(check_shards(launch));
	TT_TRY(check_single(launch));
	TT_REQUIRE(out->layout != TTNN_BLOCK_SHARDED || out->buffer == TTNN_L1,
		   "output_buffer_type == BufferType::L1", "We don't support DRAM block sharding");
	return TTNN_OK;
}

static bool shards_alike(const struct ttnn_memory_config *in, const struct ttnn_memory_config *out)
{
	return tt_memory_config_is_sharded(in) && in->buffer == TTNN_L1 && out->buffer == TTNN_L1 &&
	       in->layout == out->layout;
}

/* Upstream's order: one core, given cores, blocks, equal shards, then by type. */
static tt_status untilize_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_memory_config *from = &in->spec.memory,
					*to = launch->attrs[MEMORY].memory;
	bool plain = !tt_tensor_is_sharded(in) && !tt_memory_config_is_sharded(to), wider = false;
	uint64_t tiles = (uint64_t)tt_shape_last(&in->spec.padded, 1) *
			 tt_shape_last(&in->spec.padded, 2) / 1024;
	struct ttnn_shape area = {2, {(uint32_t)in->spec.rows, (uint32_t)in->spec.cols}};
	int64_t type;

	if (plain)
		TT_TRY(tt_block_is_wider(&wider, launch->device->grid, &area, tiles,
					 in->spec.rows / in->spec.tile.height));
	type = program_type(in, tt_memory_config_is_sharded(to));
	if (!launch->attrs[MULTI].boolean)
		*out = SINGLE;
	else if (tt_value_given(&launch->attrs[CORES]))
		*out = SUB_CORES;
	else if (plain && (wider || !launch->attrs[ENOUGH].boolean))
		*out = BLOCKS;
	else if (shards_alike(from, to) && from->has_shard && to->has_shard &&
		 tt_shard_spec_equal(&from->shard, &to->shard))
		*out = SAME_SHARDS;
	else if (shards_alike(from, to) && from->has_nd_shard && to->has_nd_shard &&
		 tt_nd_shard_spec_equal(&from->nd_shard, &to->nd_shard))
		*out = SAME_ND_SHARDS;
	else if (type == 0)
		*out = COLUMNS;
	else if (type == 1)
		*out = SINGLE;
	else
		*out = from->layout == TTNN_ND_SHARDED ? ND_SHARDS : LINES;
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------- */

tt_status tt_untilize_pair(struct tt_plan *plan, const struct tt_launch *launch,
			   const ttnn_core_set *cores, uint64_t tiles, const char *const names[2])
{
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, names[0], .pages = tiles,
				  .page = tt_tile_bytes_of(launch->inputs[0]->spec.dtype)),
		       TT_DFB_ROW(1, names[1], .pages = tiles,
				  .page = tt_tile_bytes_of(launch->outputs[0]->spec.dtype)));
}

static const char *const names[2] = {"src0", "output"};

/* As many tiles of a row as half of L1 holds, and evenly. */
static tt_status untilize_single_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t max = tt_l1_half(launch->device) /
		       (tt_tile_bytes_of(in->dtype) + tt_tile_bytes_of(out->dtype));
	uint64_t columns = 1, tiles;
	const ttnn_core_set *one;

	if (out->memory.layout != TTNN_INTERLEAVED && out->memory.layout != TTNN_HEIGHT_SHARDED)
		columns = tt_shape_last(&in->padded, 1) / tt_shard_width(&out->memory);
	tiles = tt_shape_last(&in->padded, 1) / columns / in->tile.width;
	if (tiles > max)
		tiles = tt_split_divisor(tiles, max);
	TT_TRY(tt_cores_first(&one, launch->device->grid, 1, TTNN_ORIENT_ROW_MAJOR));
	return tt_untilize_pair(plan, launch, one, tiles, names);
}

/* As many of the given cores as divide the tiles. */
static tt_status untilize_sub_cores_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const ttnn_core_set *given = launch->attrs[CORES].core_set, *cores;
	uint64_t count = tt_split_divisor(in->rows * in->cols / 1024, ttnn_core_set_cores(given));

	TT_TRY(tt_split_cores_in(&cores, given, tt_core_set_at(given, 0, TTNN_ORIENT_ROW_MAJOR),
				 count, TTNN_ORIENT_ROW_MAJOR));
	return tt_untilize_pair(plan, launch, cores, 2, names);
}

/* One long row of tiles: a grid of cores that divides it. */
static tt_status untilize_columns_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_core grid = tt_grid_size(launch->device->grid);
	uint64_t tiles = in->rows * in->cols / 1024, x = tt_split_divisor(tiles, grid.x);
	const ttnn_core_set *cores;
	struct tt_block_split split;

	TT_TRY(tt_core_set_grid(&cores, (uint32_t)x,
				(uint32_t)tt_split_divisor(tiles / x, grid.y)));
	TT_TRY(tt_split_blocks(&split, cores, tiles, TTNN_ORIENT_ROW_MAJOR));
	return tt_untilize_pair(plan, launch, split.all, 2, names);
}

/* Rows of tiles, or the shards of the input, in their own place when all are full and in L1. */
static tt_status untilize_lines_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *tensor = launch->inputs[0];
	const struct ttnn_tensor_spec *in = &tensor->spec;
	const struct ttnn_shard_spec *shard = &in->memory.shard;
	uint64_t across = in->cols / in->tile.width, blocks, deep;
	const ttnn_core_set *cores;
	struct tt_block_split split;
	bool full;

	if (!tt_memory_config_is_sharded(&in->memory)) {
		TT_TRY(tt_split_blocks(&split, launch->device->grid, in->rows / in->tile.height,
				       TTNN_ORIENT_ROW_MAJOR));
		return tt_untilize_pair(plan, launch, split.all,
					split.share == 1 ? across : 2 * across, names);
	}
	across = shard->width / in->tile.width;
	blocks = shard->height / in->tile.height;
	deep = blocks == 1 ? across : 2 * across;
	full = in->rows % shard->height == 0 && in->cols % shard->width == 0 &&
	       in->memory.buffer != TTNN_DRAM;
	TT_TRY(tt_cores_near(&cores, tensor));
	if (!full)
		return tt_untilize_pair(plan, launch, cores, deep, names);
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0", .pages = across * blocks,
				  .page = tt_tile_bytes_of(in->dtype), .backing = tensor),
		       TT_DFB_ROW(1, "output", .pages = deep,
				  .page = tt_tile_bytes_of(launch->outputs[0]->spec.dtype)));
}

/* Both shards are the buffers. */
static tt_status untilize_same_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint64_t tiles = tt_shard_tiles(&in->spec);

	return TT_PLAN(plan, in->spec.memory.shard.grid,
		       TT_DFB_ROW(0, "src0", .pages = tiles,
				  .page = tt_tile_bytes_of(in->spec.dtype), .backing = in),
		       TT_DFB_ROW(1, "output", .pages = tiles,
				  .page = tt_tile_bytes_of(out->spec.dtype), .backing = out));
}

/* Shards of the fullest core, all their dimensions but the last as rows. */
struct tt_nd_blocks tt_nd_blocks_of(const struct tt_tensor *tensor)
{
	const struct tt_distribution *d = &tt_tensor_buffer(tensor)->layout.distribution;
	const struct ttnn_shape *shape = &tensor->spec.memory.nd_shard.shape;
	struct tt_nd_blocks blocks = {tt_shape_last(shape, 1) / tensor->spec.tile.width,
				      tt_shape_last(shape, 2) / tensor->spec.tile.height};

	for (uint32_t back = 3; back <= shape->rank; back++)
		blocks.down *= tt_shape_last(shape, back);
	blocks.down *= tt_div_up(d->shards, tt_distribution_cores(d));
	return blocks;
}

/* This factory still has circular buffers with fixed numbers. */
static tt_status untilize_same_nd_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	struct tt_nd_blocks nd = tt_nd_blocks_of(in);

	return TT_PLAN(plan, in->spec.memory.nd_shard.grid,
		       TT_CB_ROW(0, "src0", .pages = nd.across * nd.down,
				 .page = tt_tile_bytes_of(in->spec.dtype), .backing = in),
		       TT_CB_ROW(16, "output", .pages = nd.across * nd.down,
				 .page = tt_tile_bytes_of(out->spec.dtype), .backing = out));
}

tt_status tt_untilize_nd_pair(struct tt_plan *plan, const struct tt_launch *launch,
			      const char *const pair[2])
{
	struct tt_nd_blocks nd = tt_nd_blocks_of(launch->inputs[0]);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_near(&cores, launch->inputs[0]));
	return tt_untilize_pair(plan, launch, cores, nd.down == 1 ? nd.across : 2 * nd.across,
				pair);
}

static tt_status untilize_nd_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return tt_untilize_nd_pair(plan, launch, names);
}

tt_status tt_untilize_blocks(struct tt_plan *plan, const struct tt_launch *launch,
			     const ttnn_core_set *cores, enum ttnn_orientation order)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_block_request request = {
		.cores = cores,
		.order = order,
		.tiled = in,
		.tile = in->tile,
		.in_tile = tt_tile_bytes_of(in->dtype),
		.out_tile = tt_tile_bytes_of(launch->outputs[0]->spec.dtype)};

	return tt_block_plan(plan, launch, &request);
}

/* As in tilize, but row by row over the cores. */
static tt_status untilize_blocks_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return tt_untilize_blocks(plan, launch, launch->device->grid, TTNN_ORIENT_ROW_MAJOR);
}

#define FACTORY(name_, memory_)                                                                    \
	TT_FACTORY_ROW("ttnn::prim::Untilize" name_ "ProgramFactory", memory_)

static const struct tt_factory factories[FACTORIES] = {
	[SINGLE] = FACTORY("SingleCore", untilize_single_memory),
	[SUB_CORES] = FACTORY("MultiCoreSubCoreGrids", untilize_sub_cores_memory),
	[BLOCKS] = FACTORY("MultiCoreBlock", untilize_blocks_memory),
	[SAME_SHARDS] = FACTORY("MultiCoreInputAndOutputShardTypeAndShardSpecIdentical",
				untilize_same_memory),
	[SAME_ND_SHARDS] = FACTORY("MultiCoreInputAndOutputNDShardTypeAndShardSpecIdentical",
				   untilize_same_nd_memory),
	[COLUMNS] = FACTORY("MultiCoreParallelizeColumn", untilize_columns_memory),
	[LINES] = FACTORY("MultiCore", untilize_lines_memory),
	[ND_SHARDS] = FACTORY("MultiCoreNDShardInput", untilize_nd_memory),
};
static const struct tt_prog prog = {
	.device_op = "UntilizeDeviceOperation",
	.prim = "ttnn::prim::untilize",
	.attrs = &schema,
	.infer = untilize_infer,
	.validate = untilize_validate,
	TT_FACTORIES(factories),
	.choose = untilize_choose,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_untilize,
};

/* ---- the operation ------------------------------------------------------------------------------------ */

struct untilize {
	const struct ttnn_memory_config *memory; /* NULL: the input's */
	const ttnn_core_set *cores;              /* (optional) */
	bool multicore;
};

static bool needs_fp32(enum ttnn_dtype dtype)
{
	return dtype == TTNN_INT32 || dtype == TTNN_UINT32 || dtype == TTNN_FLOAT32;
}

/* With padding, interleaved tiles go to untilize_with_unpadding. */
static tt_status launch_native(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			       const struct untilize *args)
{
	const struct ttnn_memory_config *memory = args->memory ? args->memory : &in->spec.memory;
	struct ttnn_shape end = in->spec.shape;
	struct tt_unpad_args unpad = {.in = in,
				      .end = &end,
				      .memory = args->memory,
				      .cores = args->cores,
				      .multicore = args->multicore};
	struct ttnn_value attrs[schema_count];

	if (!tt_tensor_is_sharded(in) && !ttnn_shape_equal(&in->spec.shape, &in->spec.padded) &&
	    in->spec.layout == TTNN_TILE) {
		for (uint32_t d = 0; d < end.rank; d++)
			end.dim[d]--;
		return tt_call_unpad(out, call, &unpad);
	}
	attrs[MEMORY] = ttnn_v_memory(memory);
	attrs[MULTI] = ttnn_v_bool(args->multicore);
	attrs[FP32] = ttnn_v_bool(needs_fp32(in->spec.dtype));
	attrs[CORES] = tt_value_cores(args->cores);
	attrs[ENOUGH] = ttnn_v_bool(tt_untilize_has_space(in, &in->spec.padded, memory));
	attrs[TYPE] = ttnn_v_int(program_type(in, tt_memory_config_is_sharded(memory)));
	return TT_LAUNCH(out, call, &prog, TT_INPUTS(in), .attrs = attrs);
}

static tt_status untilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct untilize *args)
{
	const struct ttnn_memory_config *memory = args->memory ? args->memory : &in->spec.memory;

	if (args->multicore && !args->cores && tt_untilize_codegen_can(in, memory))
		return tt_untilize_codegen_launch(out, call, in, memory);
	return launch_native(out, call, in, args);
}

/* Made, not computed; the padded shape is the input's. */
static tt_status return_empty(struct tt_call *call, const struct tt_tensor *in,
			      const struct untilize *args)
{
	struct ttnn_spec_args spec_args = {.shape = in->spec.shape,
					   .dtype = tt_untilized_dtype(in->spec.dtype),
					   .layout = TTNN_ROW_MAJOR,
					   .memory =
						   args->memory ? *args->memory : in->spec.memory};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *out;

	TT_REQUIRE(in->spec.layout == TTNN_TILE, "input_tensor_a.layout() == Layout::TILE",
		   "Can only untilize tile major data");
	TT_TRY(tt_tensor_spec_padded(&spec, &spec_args, &in->spec.padded));
	return tt_call_give(call, tt_call_create(&out, call, tt_tensor_device(in), &spec), &out);
}

/* Through four dimensions and back. */
static tt_status untilize_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *folded, *out;
	struct untilize args = {.memory = tt_call_memory(call, "memory_config"),
				.cores = tt_call_core_set(call, "sub_core_grids"),
				.multicore = tt_call_bool(call, "use_multicore", true)};
	uint64_t volume;

	TT_TRY(ttnn_shape_volume(&volume, &in->spec.shape));
	TT_TRY(tt_need_device(in));
	if (!volume)
		return return_empty(call, in, &args);
	TT_TRY(tt_call_fold_to_4d(&folded, call, in, NULL));
	tt_call_own(call, folded);
	TT_TRY(untilize(&out, call, folded, &args));
	if (in->spec.shape.rank > 4) {
		struct tt_reshape_args back = {.in = tt_call_own(call, out),
					       .shape = &in->spec.shape,
					       .padded = &in->spec.padded};

		TT_TRY(tt_call_reshape(&out, call, &back));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"untilize", untilize_expand, tt_golden_same, "Tiles to rows.",
		"input_tensor: Tensor, *, memory_config: MemoryConfig? = None, use_multicore: bool "
		"= True, sub_core_grids: CoreRangeSet? = None")},
};

const struct tt_op_family tt_family_untilize = {"movement", ops, TT_COUNT(ops)};
