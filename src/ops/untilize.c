/* untilize.c: from tiles to rows, padding included. */
#include "ops/untilize.h"

#include <inttypes.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/cost.h"
#include "ops/golden_movement.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "ops/untilize_codegen.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

enum ttnn_dtype tt_untilized_dtype(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16 : dtype;
}

bool tt_untilize_has_space(struct tt_tensor *in, const struct ttnn_shape *shape,
			   const struct ttnn_memory_config *memory)
{
	struct tt_device *device = tt_tensor_device(in);
	enum ttnn_dtype dtype = tt_untilized_dtype(in->spec.dtype);
	struct ttnn_spec_args args = {
		.shape = *shape, .dtype = dtype, .layout = TTNN_ROW_MAJOR, .memory = *memory};
	uint64_t tiles = tt_shape_last(&in->spec.padded, 1) / 32;
	uint64_t need = tiles * (tt_tile_bytes_of(in->spec.dtype) + tt_tile_bytes_of(dtype));
	uint64_t room = tt_l1_free(device), pending = tt_l1_pending(device, &args);

	return (room > pending ? room - pending : 0) > need;
}

/* ---- the program ------------------------------------------------------------------------------------- */

enum { MEMORY, MULTI, FP32, CORES, ENOUGH, TYPE, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[MEMORY] = {.name = "output_mem_config"},   [MULTI] = {.name = "use_multicore"},
	[FP32] = {.name = "fp32_dest_acc_en"},      [CORES] = {.name = "sub_core_grids"},
	[ENOUGH] = {.name = "enough_space_height"}, [TYPE] = {.name = "pf_type"},
};
static const struct tt_schema schema = {"UntilizeOperationAttributes", fields, ATTRS, false};

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
	const struct tt_device *device = tt_tensor_device(in);
	uint64_t half = device->limits.l1_size / 2 - device->limits.l1_base;
	uint64_t max = half / (2 * tt_tile_bytes_of(in->spec.dtype));

	if (tt_tensor_is_sharded(in) || in->spec.cols / in->spec.tile.width <= max)
		return 2;
	return !to_shards && in->spec.rows / in->spec.tile.height == 1 ? 0 : 1;
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = tt_untilized_dtype(in->dtype),
				      .layout = TTNN_ROW_MAJOR,
				      .memory = *launch->attrs[MEMORY].memory};

	launch->output_count = 1;
	return tt_tensor_spec_padded(&launch->specs[0], &args, &in->padded);
}

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
	TT_REQUIRE(in->rows == in->tile.height,
		   "tensor_height == 0 || tensor_height == "
		   "input_tensor_a.tensor_spec().tile().get_tile_shape()[0]",
		   "sub_core_grid untilize only supports tensors one tile row tall, got height "
		   "%" PRIu64 " with tile height %" PRIu32,
		   in->rows, in->tile.height);
	return TTNN_OK;
}

static tt_status check_shards(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;
	uint64_t bytes, alignment = tt_memory_alignment(launch->device, out->buffer);

	if (tt_tensor_is_sharded(in)) {
		TT_REQUIRE(tt_shard_width(&in->spec.memory) % 32 == 0,
			   "input_shard_width % TILE_WIDTH == 0",
			   "Input shard width %" PRIu32 " must be a multiple of tile width",
			   tt_shard_width(&in->spec.memory));
		TT_REQUIRE(tt_shard_height(&in->spec.memory) % 32 == 0,
			   "input_shard_height % TILE_HEIGHT == 0",
			   "Input shard height %" PRIu32 " must be a multiple of tile height",
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

static tt_status check_even(const char *which, const struct ttnn_memory_config *memory,
			    const struct ttnn_tensor_spec *in)
{
	TT_REQUIRE(!memory->has_shard || in->cols % memory->shard.width == 0,
		   which[0] == 'i' ? "tensor_width % input_shard_width == 0"
				   : "tensor_width % output_shard_width == 0",
		   "Uneven %s shard width %" PRIu32 " for tensor width %" PRIu64
		   " not supported for single core implementation",
		   which, memory->shard.width, in->cols);
	TT_REQUIRE(!memory->has_shard || in->rows % memory->shard.height == 0,
		   which[0] == 'i' ? "tensor_height % input_shard_height == 0"
				   : "tensor_height % output_shard_height == 0",
		   "Uneven %s shard height %" PRIu32 " for tensor height %" PRIu64
		   " not supported for single core implementation",
		   which, memory->shard.height, in->rows);
	return TTNN_OK;
}

static tt_status check_single(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	if (launch->attrs[MULTI].boolean)
		return TTNN_OK;
	if (tt_memory_config_is_sharded(out))
		TT_REQUIRE(tt_shard_width(out) % 32 == 0, "output_shard_width % TILE_WIDTH == 0",
			   "Output shard width %" PRIu32
			   " must be a multiple of tile width 32 for single core implementation",
			   tt_shard_width(out));
	TT_TRY(check_even("input", &in->memory, in));
	return check_even("output", out, in);
}

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor_a.buffer() != nullptr",
		   "Operands to untilize need to be allocated in buffers on device!");
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor_a.layout() == Layout::TILE",
		   "Can only untilize tile major data");
	TT_REQUIRE(in->cols % 32 == 0, "tensor_width % TILE_WIDTH == 0",
		   "Width must be evenly divisible into tiles");
	TT_REQUIRE(in->rows % 32 == 0, "tensor_height % TILE_HEIGHT == 0",
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

static tt_status pick(uint32_t *out, const struct tt_launch *launch)
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

static void set_tiles(struct tt_move_work *work, uint64_t in, uint64_t out)
{
	work->number[0] = in;
	work->number[1] = out;
}

static tt_status plan_single(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = &launch->outputs[0]->spec.memory;
	const struct tt_device *device = launch->device;
	uint64_t half = device->limits.l1_size / 2 - device->limits.l1_base;
	uint64_t max = half / (work->number[2] + work->number[3]), columns = 1, tiles;

	if (out->layout != TTNN_INTERLEAVED && out->layout != TTNN_HEIGHT_SHARDED)
		columns = tt_shape_last(&in->padded, 1) / tt_shard_width(out);
	tiles = tt_shape_last(&in->padded, 1) / columns / in->tile.width;
	if (tiles > max)
		tiles = tt_split_divisor(tiles, max);
	set_tiles(work, tiles, tiles);
	return tt_cores_first(&work->cores[0], device->grid, 1, TTNN_ORIENT_ROW_MAJOR);
}

static tt_status plan_sub_cores(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const ttnn_core_set *cores = launch->attrs[CORES].core_set;
	uint64_t count = tt_split_divisor(in->rows * in->cols / 1024, ttnn_core_set_cores(cores));

	set_tiles(work, 2, 2);
	return tt_split_cores_in(&work->cores[0], cores,
				 tt_core_set_at(cores, 0, TTNN_ORIENT_ROW_MAJOR), count,
				 TTNN_ORIENT_ROW_MAJOR);
}

static tt_status plan_columns(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_core grid = tt_grid_size(launch->device->grid);
	uint64_t tiles = in->rows * in->cols / 1024, x = tt_split_divisor(tiles, grid.x);
	const ttnn_core_set *cores;
	struct tt_block_split split;

	TT_TRY(tt_core_set_grid(&cores, (uint32_t)x,
				(uint32_t)tt_split_divisor(tiles / x, grid.y)));
	TT_TRY(tt_split_blocks(&split, cores, tiles, TTNN_ORIENT_ROW_MAJOR));
	set_tiles(work, 2, 2);
	work->cores[0] = split.all;
	return TTNN_OK;
}

/* Rows of tiles, or the shards of the input where they lie: number 4 tells that. */
static tt_status plan_lines(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shard_spec *shard = &in->memory.shard;
	uint64_t across = in->cols / in->tile.width, blocks, deep;
	struct tt_block_split split;

	if (!tt_memory_config_is_sharded(&in->memory)) {
		TT_TRY(tt_split_blocks(&split, launch->device->grid, in->rows / in->tile.height,
				       TTNN_ORIENT_ROW_MAJOR));
		work->cores[0] = split.all;
		deep = split.share == 1 ? across : 2 * across;
		set_tiles(work, deep, deep);
		return TTNN_OK;
	}
	across = shard->width / in->tile.width;
	blocks = shard->height / in->tile.height;
	deep = blocks == 1 ? across : 2 * across;
	set_tiles(work, deep, deep);
	if (in->rows % shard->height == 0 && in->cols % shard->width == 0 &&
	    in->memory.buffer != TTNN_DRAM) {
		work->number[0] = across * blocks;
		work->number[4] = 1;
	}
	return tt_cores_near(&work->cores[0], launch->inputs[0]);
}

/* How many shards the fullest core has, and the tiles across and down of one. */
static void nd_shards(uint64_t *across, uint64_t *down, uint64_t *shards,
		      const struct tt_tensor *tensor)
{
	const struct tt_distribution *d = &tt_tensor_buffer(tensor)->layout.distribution;
	const struct ttnn_shape *shape = &tensor->spec.memory.nd_shard.shape;

	*across = tt_shape_last(shape, 1) / tensor->spec.tile.width;
	*down = tt_shape_last(shape, 2) / tensor->spec.tile.height;
	for (uint32_t back = 3; back <= shape->rank; back++)
		*down *= tt_shape_last(shape, back);
	*shards = tt_div_up(d->shards, tt_distribution_cores(d));
}

static tt_status plan_nd(struct tt_launch *launch, struct tt_move_work *work, bool same)
{
	uint64_t across, down, shards, deep;

	nd_shards(&across, &down, &shards, launch->inputs[0]);
	deep = shards * down == 1 ? across : 2 * across;
	if (same)
		deep = across * down * shards;
	set_tiles(work, deep, deep);
	if (!same)
		return tt_cores_near(&work->cores[0], launch->inputs[0]);
	work->cores[0] = launch->inputs[0]->spec.memory.nd_shard.grid;
	return TTNN_OK;
}

static tt_status plan_blocks(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_block_wish wish = {.cores = launch->device->grid,
				     .order = TTNN_ORIENT_ROW_MAJOR,
				     .tiled = in,
				     .tile = in->tile,
				     .in_tile = tt_tile_bytes_of(in->dtype),
				     .out_tile = tt_tile_bytes_of(launch->outputs[0]->spec.dtype)};

	return tt_block_plan(launch, &wish);
}

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_move_work *work;

	TT_TRY(pick(out, launch));
	if (*out == BLOCKS)
		return plan_blocks(launch);
	work = tt_move_work_new(launch);
	if (!work)
		return TTNN_NOMEM;
	work->number[2] = tt_tile_bytes_of(in->dtype);
	work->number[3] = tt_tile_bytes_of(launch->outputs[0]->spec.dtype);
	switch (*out) {
	case SINGLE:
		return plan_single(launch, work);
	case SUB_CORES:
		return plan_sub_cores(launch, work);
	case COLUMNS:
		return plan_columns(launch, work);
	case LINES:
		return plan_lines(launch, work);
	case SAME_ND_SHARDS:
		return plan_nd(launch, work, true);
	case ND_SHARDS:
		return plan_nd(launch, work, false);
	default:
		set_tiles(work, tt_shard_tiles(in), tt_shard_tiles(in));
		work->cores[0] = in->memory.shard.grid;
		return TTNN_OK;
	}
}

static struct tt_tensor *back_even(const struct tt_launch *launch)
{
	return tt_has4(launch) ? launch->inputs[0] : NULL;
}

static const struct tt_mem_row line_rows[] = {
	{TT_DFB, 0, .pages = tt_number0, .page = tt_number2, .cores = tt_work_cores0,
	 .backing = back_even},
	{TT_DFB, 1, .pages = tt_number1, .page = tt_number3, .cores = tt_work_cores0},
};
static const struct tt_mem_row same_rows[] = {
	{TT_DFB, 0, .pages = tt_number0, .page = tt_number2, .cores = tt_work_cores0,
	 .backing = tt_back_in0},
	{TT_DFB, 1, .pages = tt_number1, .page = tt_number3, .cores = tt_work_cores0,
	 .backing = tt_back_out0},
};
static const struct tt_mem_row same_nd_rows[] = {
	{TT_CB, 0, .pages = tt_number0, .page = tt_number2, .cores = tt_work_cores0,
	 .backing = tt_back_in0},
	{TT_CB, 16, .pages = tt_number1, .page = tt_number3, .cores = tt_work_cores0,
	 .backing = tt_back_out0},
};

#define FACTORY(name, rows)                                                                        \
	{                                                                                          \
		"ttnn::prim::Untilize" name "ProgramFactory", rows, TT_COUNT(rows), NULL           \
	}

static const struct tt_factory factories[FACTORIES] = {
	[SINGLE] = FACTORY("SingleCore", tt_pair_rows),
	[SUB_CORES] = FACTORY("MultiCoreSubCoreGrids", tt_pair_rows),
	[BLOCKS] = FACTORY("MultiCoreBlock", tt_block_rows),
	[SAME_SHARDS] = FACTORY("MultiCoreInputAndOutputShardTypeAndShardSpecIdentical", same_rows),
	[SAME_ND_SHARDS] =
		FACTORY("MultiCoreInputAndOutputNDShardTypeAndShardSpecIdentical", same_nd_rows),
	[COLUMNS] = FACTORY("MultiCoreParallelizeColumn", tt_pair_rows),
	[LINES] = FACTORY("MultiCore", line_rows),
	[ND_SHARDS] = FACTORY("MultiCoreNDShardInput", tt_pair_rows),
};
static const struct tt_prog prog = {
	.device_op = "UntilizeDeviceOperation",
	.prim = "ttnn::prim::untilize",
	.attrs = &schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = FACTORIES,
	.choose = choose,
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
	struct ttnn_value attrs[ATTRS];
	struct tt_program_args program = {
		.prog = &prog, .attrs = attrs, .inputs = &in, .input_count = 1};

	if (!tt_tensor_is_sharded(in) && !ttnn_shape_equal(&in->spec.shape, &in->spec.padded) &&
	    in->spec.layout == TTNN_TILE) {
		for (uint32_t d = 0; d < end.rank; d++)
			end.dim[d]--;
		return tt_call_unpad(out, call, &unpad);
	}
	attrs[MEMORY] = ttnn_v_memory(memory);
	attrs[MULTI] = ttnn_v_bool(args->multicore);
	attrs[FP32] = ttnn_v_bool(needs_fp32(in->spec.dtype));
	attrs[CORES] = args->cores ? ttnn_v_core_set(args->cores) : ttnn_v_none();
	attrs[ENOUGH] = ttnn_v_bool(tt_untilize_has_space(in, &in->spec.padded, memory));
	attrs[TYPE] = ttnn_v_int(program_type(in, tt_memory_config_is_sharded(memory)));
	return tt_call_program(out, call, &program);
}

static tt_status untilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct untilize *args)
{
	const struct ttnn_memory_config *memory = args->memory ? args->memory : &in->spec.memory;

	if (args->multicore && !args->cores && tt_untilize_codegen_can(in, memory))
		return tt_untilize_codegen_launch(out, call, in, memory);
	return launch_native(out, call, in, args);
}

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
	TT_TRY(tt_call_create(&out, call, tt_tensor_device(in), &spec));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status expand(struct tt_call *call)
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
		"untilize", expand, tt_golden_same, "Tiles to rows.",
		"input_tensor: Tensor, *, memory_config: MemoryConfig? = None, use_multicore: bool "
		"= True, sub_core_grids: CoreRangeSet? = None")},
};

const struct tt_op_family tt_family_untilize = {"untilize", ops, TT_COUNT(ops)};
