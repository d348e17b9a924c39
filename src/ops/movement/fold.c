/*
 * fold.c: images whose squares of elements become channels: what a convolution with a stride as
 * large as its window may begin with.
 *
 * Models the device operation Fold of ttnn 0.81 (data_movement/fold/device) with both factories:
 * MultiCore, for height shards, in which each core folds what it has, and MultiCoreDRAMFold, for
 * interleaved images, in which rows are read in the order of the result: refusals, memory,
 * cores. Not modelled: shards that are padded downwards or across.
 */
#include "ops/movement/fold.h"
#include "backend/backend.h"
#include "golden/golden_window.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_ops.h"

/* ---- the program ------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(DOWN, "stride_h")                                                                        \
	X(ACROSS, "stride_w")                                                                      \
	X(COLLAPSE, "collapse_output")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

static uint32_t down(const struct tt_launch *launch)
{
	return (uint32_t)launch->attrs[DOWN].integer;
}

static uint32_t across(const struct tt_launch *launch)
{
	return (uint32_t)launch->attrs[ACROSS].integer;
}

static enum ttnn_dtype folded_dtype(enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 || dtype == TTNN_UINT16 ? dtype : TTNN_BFLOAT16;
}

static struct ttnn_shape folded_shape(const struct ttnn_shape *in, uint32_t h, uint32_t w)
{
	const uint32_t *dim = in->dim;

	return (struct ttnn_shape){4, {dim[0], dim[1] / h, dim[2] / w, dim[3] * h * w}};
}

/* h × w points become channels of one; a height shard shrinks and widens accordingly. */
static tt_status fold_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t h = down(launch), w = across(launch);
	struct ttnn_spec_args args = {.shape = folded_shape(&in->shape, h, w),
				      .dtype = folded_dtype(in->dtype),
				      .memory = in->memory};
	struct ttnn_shard_spec shard = in->memory.shard;
	const uint32_t *dim = args.shape.dim;

	if (launch->attrs[COLLAPSE].boolean)
		args.shape = (struct ttnn_shape){4, {1, 1, dim[0] * dim[1] * dim[2], dim[3]}};
	if (tt_tensor_is_sharded(launch->inputs[0])) {
		shard.height /= h * w;
		shard.width *= h * w;
		TT_TRY(ttnn_memory_config_sharded(&args.memory, in->memory.layout,
						  in->memory.buffer, &shard));
	}
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* Squares must not be cut, neither by the image's end nor by a shard's. */
static tt_status fold_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const uint32_t *dim = in->padded.dim;
	uint32_t h = down(launch), w = across(launch);

	if (tt_tensor_is_sharded(launch->inputs[0])) {
		TT_REQUIRE(in->memory.layout == TTNN_HEIGHT_SHARDED,
			   "input_tensor.memory_config().memory_layout() == "
			   "TensorMemoryLayout::HEIGHT_SHARDED",
			   "Fold: Only height-sharded input tensors are supported.");
		TT_REQUIRE(in->memory.shard.height % (dim[2] * h) == 0,
			   "shard_shape[0] % (input_shape[2] * stride_h) == 0",
			   "Fold: Shard height must be divisible by input width times stride_h for "
			   "proper folding operation.");
		return TTNN_OK;
	}
	TT_REQUIRE(dim[1] % h == 0, "input_shape[1] % stride_h == 0",
		   "Fold: Input height must be divisible by stride_h.");
	TT_REQUIRE(dim[2] % w == 0, "input_shape[2] % stride_w == 0",
		   "Fold: Input width must be divisible by stride_w.");
	return TTNN_OK;
}

/* Cores for so many units of work, row after row of the grid. */
static tt_status fold_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			    uint64_t units)
{
	struct ttnn_core grid = tt_grid_size(launch->device->grid);
	uint64_t share;

	units += !units; /* nothing to do is done by one core */
	share = tt_div_up(units, (uint64_t)grid.x * grid.y);
	return tt_split_cores(out, grid, (struct ttnn_core){0, 0}, tt_div_up(units, share),
			      TTNN_ORIENT_ROW_MAJOR);
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

/* Tiles become rows, of which results are put together. */
static tt_status fold_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *out = &launch->outputs[0]->spec;
	const uint32_t *dim = in->padded.dim;
	uint64_t tiles = (uint64_t)down(launch) * (dim[2] / TT_TILE) * (dim[3] / TT_TILE);
	const ttnn_core_set *cores;

	TT_TRY(fold_cores(&cores, launch, (uint64_t)dim[0] * (in->shape.dim[1] / down(launch))));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0", .pages = tiles, .page = tt_tile_bytes_of(in->dtype)),
		       TT_DFB_ROW(1, "src1", .pages = tiles, .page = tt_tile_bytes_of(out->dtype)),
		       TT_DFB_ROW(2, "dst", .pages = 1,
				  .page = in->shape.dim[2] / across(launch) * out->page_bytes));
}

/* Where pages are padded, a result is put together in a buffer of its own. */
static tt_status fold_dram_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *out = &launch->outputs[0]->spec;
	uint64_t alignment = tt_memory_alignment(launch->device, TTNN_DRAM);
	uint64_t stick = tt_align_to(in->page_bytes, alignment);
	const ttnn_core_set *cores;

	if (in->layout == TTNN_TILE)
		return fold_tiles_memory(plan, launch);
	TT_TRY(fold_cores(&cores, launch, out->rows));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0", .pages = 2,
				  .page = (uint64_t)down(launch) * across(launch) * stick),
		       TT_DFB_ROW(1, "src1", .pages = in->page_bytes % alignment != 0,
				  .page = out->page_bytes));
}

enum { MULTI_CORE, DRAM };

static tt_status fold_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = tt_tensor_is_sharded(launch->inputs[0]) ? MULTI_CORE : DRAM;
	return TTNN_OK;
}

static const struct tt_factory factories[] = {
	[MULTI_CORE] = {.name = "ttnn::operations::data_movement::Fold::MultiCore",
			.memory = fold_shards_memory},
	[DRAM] = {.name = "ttnn::operations::data_movement::Fold::MultiCoreDRAMFold",
		  .memory = fold_dram_memory},
};

/* ---- numbers ------------------------------------------------------------------------------------------- */

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

static const struct tt_prog prog = {
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

/* ---- the operation ------------------------------------------------------------------------------------- */

/* [height, width], [top, bottom, left, right], or that and [front, back] of the channels. */
static tt_status read_pads(uint32_t out[6], bool *any, const struct tt_call *call)
{
	int64_t items[6] = {0};
	size_t count;

	TT_TRY(tt_call_ints(items, &count, 6, call, "padding"));
	*any = false;
	for (size_t i = 0; i < 6; i++) {
		out[i] = i >= count && count != 2 ? 0 : (uint32_t)items[i];
		if (count == 2)
			out[i] = i < 4 ? (uint32_t)items[i / 2] : 0;
		*any = *any || out[i];
	}
	return TTNN_OK;
}

/* Zeros around height and width, and behind the channels. */
static tt_status fold_pad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const uint32_t pads[6])
{
	struct ttnn_value sides[4][2], dims[4];

	for (int d = 0; d < 4; d++) {
		sides[d][0] = ttnn_v_int(d ? pads[2 * (d - 1)] : 0);
		sides[d][1] = ttnn_v_int(d ? pads[2 * (d - 1) + 1] : 0);
		dims[d] = ttnn_v_list(sides[d], 2);
	}
	return tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.pad", {NULL, ttnn_v_tensor(in)},
				     {"padding", ttnn_v_list(dims, 4)}, {"value", ttnn_v_real(0)}),
			     out);
}

static tt_status to_rows(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	return tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.to_layout", {NULL, ttnn_v_tensor(in)},
				     {"layout", ttnn_v_layout(TTNN_ROW_MAJOR)}),
			     out);
}

static tt_status launch_fold(struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_value attrs[schema_count] = {*tt_call_arg(call, "stride_h"),
						 *tt_call_arg(call, "stride_w"),
						 *tt_call_arg(call, "collapse_output")};

	return TT_LAUNCH_RETURN(call, &prog, TT_INPUTS(in), .attrs = attrs);
}

/* use_transpose_as_fold: images with channels first. Shards default to a grid of 2 × 2 cores. */
static tt_status by_transposing(struct tt_call *call, struct tt_tensor *in, const uint32_t *pads)
{
	int64_t sizes[4];
	struct ttnn_shape shape = {.rank = 4};
	struct tt_fold fold = {.in = in,
			       .down = (uint32_t)tt_call_int(call, "stride_h", 1),
			       .across = (uint32_t)tt_call_int(call, "stride_w", 1),
			       .pads = pads,
			       .cores = tt_call_core_set(call, "grid_size"),
			       .memory = tt_call_memory(call, "override_memory_config")};
	size_t count;

	TT_TRY(tt_call_ints(sizes, &count, 4, call, "output_shape"));
	for (size_t d = 0; d < count; d++)
		shape.dim[d] = (uint32_t)sizes[d];
	if (count == 4)
		fold.shape = &shape;
	if (!tt_tensor_is_sharded(in))
		return tt_fold_by_transposing(call, &fold);
	TT_REQUIRE(in->spec.memory.layout == TTNN_HEIGHT_SHARDED, "tt::exception",
		   "fold op does not support non height-sharding!");
	if (!fold.cores)
		TT_TRY(tt_core_set_grid(&fold.cores, 2, 2));
	return tt_fold_shards_by_transposing(call, &fold);
}

/* Shards hold whole rows of squares, or they are cut anew: on as many cores as divide those rows. */
static tt_status reshard(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	const uint32_t *dim = in->spec.shape.dim;
	uint64_t row = (uint64_t)dim[2] * (uint64_t)tt_call_int(call, "stride_h", 1);
	uint64_t rows = (uint64_t)dim[0] * dim[1] * dim[2] / row;
	struct ttnn_core grid = tt_grid_size(tt_tensor_device(in)->grid);
	uint64_t cores = (uint64_t)grid.x * grid.y;
	struct ttnn_shard_spec shard = in->spec.memory.shard;
	struct ttnn_memory_config memory;

	*out = in;
	if (in->spec.memory.layout != TTNN_HEIGHT_SHARDED || shard.height % row == 0)
		return TTNN_OK;
	while (cores > 1 && rows % cores)
		cores--;
	shard.height = (uint32_t)tt_align_to(tt_div_up(rows, cores) * row, row);
	TT_TRY(tt_split_cores(&shard.grid, grid, (struct ttnn_core){0, 0}, cores,
			      TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(ttnn_memory_config_sharded(&memory, in->spec.memory.layout, in->spec.memory.buffer,
					  &shard));
	return tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.reshard", {NULL, ttnn_v_tensor(in)},
				     {NULL, ttnn_v_memory(&memory)}),
			     out);
}

/* More channels of shards. */
static tt_status pad_channels(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			      const uint32_t pads[6])
{
	struct ttnn_shape shape = in->spec.shape, start = {4, {0, 0, 0, pads[4]}};

	shape.dim[3] += pads[4] + pads[5];
	return tt_call_owned(call,
			     TT_CALL(out, call, "ttnn.pad", {NULL, ttnn_v_tensor(in)},
				     {"output_padded_shape", ttnn_v_shape(&shape)},
				     {"input_tensor_start", ttnn_v_shape(&start)},
				     {"value", ttnn_v_real(0)}),
			     out);
}

/* Padding of rows and columns within shards is not modelled. */
static tt_status fold_shards(struct tt_call *call, struct tt_tensor *in, const uint32_t pads[6])
{
	if (pads[0] | pads[1] | pads[2] | pads[3])
		return tt_fail(TTNN_UNSUPPORTED,
			       "fold of shards with rows or columns around them is not supported");
	if (pads[4] | pads[5])
		TT_TRY(pad_channels(&in, call, in, pads));
	if (in->spec.layout == TTNN_TILE)
		TT_TRY(to_rows(&in, call, in));
	TT_TRY(reshard(&in, call, in));
	return launch_fold(call, in);
}

/* In upstream's order: pads first, then tiles become rows where channels are not whole tiles. */
static tt_status fold_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	uint32_t pads[6];
	bool any;

	TT_TRY(tt_need_device(in));
	TT_TRY(read_pads(pads, &any, call));
	TT_NEED(in->spec.shape.rank == 4 && tt_call_int(call, "stride_h", 0) >= 1 &&
			tt_call_int(call, "stride_w", 0) >= 1,
		"Fold op only supports 4D tensors");
	if (tt_call_bool(call, "use_transpose_as_fold", false))
		return by_transposing(call, in, pads);
	if (tt_tensor_is_sharded(in))
		return fold_shards(call, in, pads);
	if (any)
		TT_TRY(fold_pad(&in, call, in, pads));
	if (in->spec.layout == TTNN_TILE && in->spec.shape.dim[3] % TT_TILE)
		TT_TRY(to_rows(&in, call, in));
	return launch_fold(call, in);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.fold",
	 .doc = "Squares of an image's elements become channels of one.",
	 .sigs = {"input: Tensor, stride_h: int, stride_w: int, use_transpose_as_fold: bool = "
		  "False, output_shape: Shape? = None, padding: sizes = [], grid_size: "
		  "CoreRangeSet? = None, override_memory_config: MemoryConfig? = None, "
		  "collapse_output: bool = False"},
	 .expand = fold_expand,
	 .golden = tt_golden_fold},
};

const struct tt_op_family tt_family_fold = {"fold", ops, TT_COUNT(ops)};
