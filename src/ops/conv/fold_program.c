/*
 * fold_program.c: the program that folds images.
 *
 * Models the device operation Fold of ttnn 0.81 (data_movement/fold/device) with both factories:
 * MultiCore, for rows in height shards in L1, in which each core folds what it has, and
 * MultiCoreDRAMFold, for all others, in which rows are read in the order of the result: refusals,
 * memory, cores.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "ops/conv/fold.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

#define ATTRS(X)                                                                                   \
	X(DOWN, "stride_h")                                                                        \
	X(ACROSS, "stride_w")                                                                      \
	X(COLLAPSE, "collapse_output")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

#define TILES_RESERVE 93184 /* bytes of L1 that must be left when tiles are folded as they are */

static uint32_t down(const struct tt_launch *launch)
{
	return tt_attr_u32(launch, DOWN);
}

static uint32_t across(const struct tt_launch *launch)
{
	return tt_attr_u32(launch, ACROSS);
}

static enum ttnn_dtype folded_dtype(enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 || dtype == TTNN_UINT16 ? dtype : TTNN_BFLOAT16;
}

/* Cores of row-wise grids, as many as hold something of `extent`, which becomes a share of it. */
static tt_status spread(const ttnn_core_set **out, uint32_t *extent, struct ttnn_core grid)
{
	uint32_t all = *extent;

	*extent = (uint32_t)tt_div_up(all, (uint64_t)grid.x * grid.y);
	return tt_split_cores(out, grid, (struct ttnn_core){0, 0}, tt_div_up(all, *extent),
			      TTNN_ORIENT_ROW_MAJOR);
}

tt_status tt_fold_shards(struct ttnn_memory_config *out, const struct tt_tensor *in,
			 const struct ttnn_memory_config *like, const uint32_t matrix[2])
{
	struct ttnn_core grid = tt_grid_size(tt_tensor_device(in)->grid);
	struct ttnn_shard_spec shard = {.height = matrix[0], .width = matrix[1]};
	bool columns;

	TT_NEED(matrix[0] && matrix[1], "Fold: there is nothing to shard");
	if (in->spec.memory.has_shard)
		shard.orientation = in->spec.memory.shard.orientation;
	columns = shard.orientation == TTNN_ORIENT_COL_MAJOR;
	if (like->layout == TTNN_HEIGHT_SHARDED) {
		TT_TRY(spread(&shard.grid, &shard.height, grid));
	} else if (like->layout == TTNN_WIDTH_SHARDED) {
		TT_TRY(spread(&shard.grid, &shard.width, grid));
	} else {
		uint32_t high, wide;

		shard.height = (uint32_t)tt_div_up(matrix[0], columns ? grid.x : grid.y);
		shard.width = (uint32_t)tt_div_up(matrix[1], columns ? grid.y : grid.x);
		high = (uint32_t)tt_div_up(matrix[0], shard.height);
		wide = (uint32_t)tt_div_up(matrix[1], shard.width);
		TT_TRY(tt_core_set_grid(&shard.grid, columns ? high : wide, columns ? wide : high));
	}
	return ttnn_memory_config_sharded(out, like->layout, like->buffer, &shard);
}

tt_status tt_fold_rescaled(struct ttnn_memory_config *out, const struct ttnn_memory_config *in,
			   enum ttnn_buffer_type buffer, uint64_t patch)
{
	struct ttnn_shard_spec shard = in->shard;

	TT_NEED(patch && patch <= shard.height && patch <= UINT32_MAX / shard.width,
		"Fold: squares of %llu elements do not fit into shards of %u rows",
		(unsigned long long)patch, shard.height);
	shard.height /= (uint32_t)patch;
	shard.width *= (uint32_t)patch;
	return ttnn_memory_config_sharded(out, in->layout, buffer, &shard);
}

/* h × w points become channels of one; shards shrink and widen accordingly. */
static tt_status fold_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const uint32_t *dim = in->shape.dim;
	uint32_t h = down(launch), w = across(launch), points, channels;
	struct ttnn_spec_args args = {.dtype = folded_dtype(in->dtype), .memory = in->memory};

	TT_REQUIRE(in->shape.rank >= 4, "tt::exception",
		   "ShapeBase[] index out of range. 3 not in [-4, %u)", in->shape.rank);
	TT_NEED(in->shape.rank == 4, "Fold op only supports 4D tensors");
	TT_REQUIRE(h && w, "op_attr.stride_h > 0 && op_attr.stride_w > 0",
		   "Fold: stride_h (%u) and stride_w (%u) must be > 0.", h, w);
	launch->output_count = 1;
	points = dim[0] * (dim[1] / h) * (dim[2] / w);
	channels = dim[3] * h * w;
	args.shape = TT_SHAPE(dim[0], dim[1] / h, dim[2] / w, channels);
	if (launch->attrs[COLLAPSE].boolean)
		args.shape = TT_SHAPE(1, 1, points, channels);
	if (tt_tensor_is_sharded(launch->inputs[0]) && !in->memory.has_shard)
		TT_TRY(tt_fold_shards(&args.memory, launch->inputs[0], &in->memory,
				      (uint32_t[]){points, channels}));
	else if (in->memory.has_shard)
		TT_TRY(tt_fold_rescaled(&args.memory, &in->memory, in->memory.buffer,
					(uint64_t)h * w));
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* Squares must not be cut, neither by the image's end nor by a shard's. */
static tt_status fold_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t h = down(launch), w = across(launch);

	TT_REQUIRE(in->shape.dim[1] % h == 0, "logical_shape[1] % stride_h == 0",
		   "Fold: logical H (%u) must be divisible by stride_h (%u).", in->shape.dim[1], h);
	TT_REQUIRE(in->shape.dim[2] % w == 0, "logical_shape[2] % stride_w == 0",
		   "Fold: logical W (%u) must be divisible by stride_w (%u).", in->shape.dim[2], w);
	TT_REQUIRE(!tt_fold_is_fast(launch->inputs[0]) || !in->padded.dim[2] ||
			   in->memory.shard.height % (in->padded.dim[2] * h) == 0,
		   "shard_shape[0] % (input_shape[2] * stride_h) == 0",
		   "Fold: Shard height must be divisible by input width times stride_h for "
		   "proper folding operation.");
	return TTNN_OK;
}

/* Cores for so many units of work, row after row of the grid. */
static tt_status fold_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			    uint64_t units)
{
	uint32_t share = (uint32_t)(units + !units); /* nothing to do is done by one core */

	return spread(out, &share, tt_grid_size(launch->device->grid));
}

/* Both shards are the buffers. */
static tt_status fold_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];

	return TT_PLAN(plan, in->spec.memory.shard.grid,
		       TT_DFB_ROW(0, "src", .pages = in->spec.memory.shard.height,
				  .page = tt_aligned_page(in), .backing = in),
		       TT_DFB_ROW(1, "dst", .pages = out->spec.memory.shard.height,
				  .page = tt_aligned_page(out), .backing = out));
}

/* A row of tiles twice, as it comes and as rows; a row of squares is put together in a third buffer. */
struct tiles {
	uint64_t across, in_tile, out_tile, row;
};

static struct tiles tiles_of(const struct ttnn_tensor_spec *in, uint32_t h)
{
	enum ttnn_dtype dtype = folded_dtype(in->dtype);

	return (struct tiles){2 * tt_div_up(in->shape.dim[3], TT_TILE), tt_tile_bytes_of(in->dtype),
			      tt_tile_bytes_of(dtype),
			      (uint64_t)in->shape.dim[2] * h * in->shape.dim[3] *
				      tt_dtype_bytes(dtype)};
}

bool tt_fold_takes_tiles(const struct tt_tensor *in, uint32_t h)
{
	struct tt_device *device = tt_tensor_device(in);
	const struct ttnn_tensor_spec *spec = &in->spec;
	struct tiles tiles = tiles_of(spec, h);
	uint64_t stick = spec->shape.dim[3] * tt_dtype_bytes(folded_dtype(spec->dtype));
	uint64_t room = device->limits.l1_size - device->limits.l1_base;

	return !tt_tensor_is_sharded(in) && stick % tt_memory_alignment(device, TTNN_L1) == 0 &&
	       tiles.across * (tiles.in_tile + tiles.out_tile) + tiles.row + TILES_RESERVE < room;
}

static tt_status fold_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tiles tiles = tiles_of(in, down(launch));
	const ttnn_core_set *cores;

	TT_TRY(fold_cores(&cores, launch,
			  (uint64_t)in->shape.dim[0] * (in->shape.dim[1] / down(launch))));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0", .pages = tiles.across, .page = tiles.in_tile),
		       TT_DFB_ROW(1, "src1", .pages = tiles.across, .page = tiles.out_tile),
		       TT_DFB_ROW(2, "dst", .pages = 1, .page = tiles.row));
}

/* Where pages are padded, a result is put together in a buffer of its own. */
static tt_status fold_dram_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const uint32_t *dim = in->shape.dim;
	uint64_t square = (uint64_t)down(launch) * across(launch);
	uint64_t alignment = tt_memory_alignment(launch->device, TTNN_DRAM);
	uint64_t stick = (uint64_t)in->padded.dim[3] * tt_element_bytes(launch->inputs[0]);
	const ttnn_core_set *cores;

	if (in->layout == TTNN_TILE)
		return fold_tiles_memory(plan, launch);
	TT_TRY(fold_cores(&cores, launch, (uint64_t)dim[0] * dim[1] * dim[2] / square));
	return TT_PLAN(
		plan, cores,
		TT_DFB_ROW(0, "src0", .pages = 2, .page = square * tt_align_to(stick, alignment)),
		TT_DFB_ROW(1, "src1", .pages = stick % alignment != 0, .page = square * stick));
}

enum { MULTI_CORE, DRAM };

static tt_status fold_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = tt_fold_is_fast(launch->inputs[0]) ? MULTI_CORE : DRAM;
	return TTNN_OK;
}

static const struct tt_factory factories[] = {
	[MULTI_CORE] = {.name = "ttnn::operations::data_movement::Fold::MultiCore",
			.memory = fold_shards_memory},
	[DRAM] = {.name = "ttnn::operations::data_movement::Fold::MultiCoreDRAMFold",
		  .memory = fold_dram_memory},
};

/* Into a tensor of [n, h, w, c] or of one matrix. */
static tt_status fold_into(struct tt_tensor *out, struct tt_tensor *in, uint32_t h, uint32_t w)
{
	const uint32_t *dim = in->spec.shape.dim;
	uint32_t rows = dim[1] / h, cols = dim[2] / w;
	bool flat = out->spec.shape.dim[0] != dim[0] || out->spec.shape.dim[1] != rows;
	const struct tt_move_loop loops[] = {
		{dim[0], 0, flat ? 2 : 0, 1, flat ? (int64_t)rows * cols : 1},
		{rows, 1, flat ? 2 : 1, h, flat ? cols : 1},
		{cols, 2, 2, w, 1},
		{h, 1, 3, 1, (int64_t)w * dim[3]},
		{w, 2, 3, 1, dim[3]},
		{dim[3], 3, 3, 1, 1},
	};
	struct tt_move_job job = {
		.out = out, .in = in, .loops = loops, .loop_count = TT_COUNT(loops)};

	return tt_backend_get()->move(&job);
}

static tt_status fold_kernel(struct tt_launch *launch)
{
	return fold_into(launch->outputs[0], launch->inputs[0], down(launch), across(launch));
}

const struct tt_prog tt_fold_program = {
	.device_op = "Fold",
	.prim = "ttnn::prim::fold",
	.attrs = &schema,
	.infer = fold_infer,
	.validate = fold_validate,
	TT_FACTORIES(factories),
	.choose = fold_choose,
	TT_KERNEL(fold_kernel),
	.cost = tt_cost_unmodelled_move,
};
