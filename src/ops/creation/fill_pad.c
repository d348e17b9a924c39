/*
 * fill_pad.c: values put into tensors: what tiles have beyond the shape, and a corner of a new
 * tensor.
 *
 * Models FillPadDeviceOperation of ttnn 0.81 (data_movement/fill_pad/device) with
 * FillPadProgramFactory and FillPadL1ShardedProgramFactory, for shards in L1, which are filled
 * where they are; and FillRMDeviceOperation with its one factory: refusals, memory, cores. Only
 * tiles at the edges are touched. Not modelled: the mask that a kernel makes.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"

/* ---- the padding of tiles ---------------------------------------------------------------------------------- */

#define PAD_LIST(X)                                                                                \
	X(VALUE, "fill_value", .text = TT_TEXT_FIXED, .fixed = "<variant>")                        \
	X(MEMORY, "output_mem_config")
TT_ATTRS(pad_schema, "FillPadParams", PAD_LIST);

enum { TILES, SHARDS };

/* Block floats have no place for single elements: the operation casts them. */
static tt_status fill_pad_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool known = in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32 ||
		     in->dtype == TTNN_UINT16 || in->dtype == TTNN_UINT32 ||
		     in->dtype == TTNN_INT32;

	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == TILE_LAYOUT",
		   "FillPad should only be used for tile layout");
	TT_REQUIRE(known, "detail::data_type_to_size.contains(input_tensor.dtype())",
		   "Unsupported datatype DataType::%s", tt_enum_name(&tt_enum_dtype, in->dtype));
	return TTNN_OK;
}

/* How many matrices there are. */
static uint64_t matrices(const struct ttnn_shape *shape)
{
	uint64_t count = 1;

	for (uint32_t d = 0; d + 2 < shape->rank; d++)
		count *= shape->dim[d];
	return count;
}

/* A tensor in tiles: how many down and across, and whether the last ones are full. */
struct edges {
	uint32_t down, across;
	bool right, bottom;
};

/* Only tiles at the right and lower edge have padding. */
static struct edges edges_of(const struct ttnn_tensor_spec *in)
{
	uint32_t height = tt_shape_last(&in->shape, 2), width = tt_shape_last(&in->shape, 1);

	return (struct edges){.down = (uint32_t)tt_div_up(height, in->tile.height),
			      .across = (uint32_t)tt_div_up(width, in->tile.width),
			      .right = width % in->tile.width != 0,
			      .bottom = height % in->tile.height != 0};
}

/* Cores for edge tiles only. */
static tt_status tile_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct edges edges = edges_of(in);
	uint64_t tiles = (edges.right ? edges.down : 0) + (edges.bottom ? edges.across : 0);
	struct tt_work_split split;

	/* The tile in the corner is counted once. */
	tiles -= edges.right && edges.bottom;
	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), tiles * matrices(&in->shape),
			     TTNN_ORIENT_COL_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

/* Whether the shard of core number i has any of the tensor. */
static bool has_data(const struct ttnn_tensor_spec *in, const struct ttnn_core_range *box,
		     uint32_t i)
{
	const struct ttnn_shard_spec *shard = &in->memory.shard;
	uint32_t cols = box->end.x - box->start.x + 1, rows = box->end.y - box->start.y + 1;
	struct edges edges = edges_of(in);
	uint32_t row = 0, col = 0;

	if (in->memory.layout == TTNN_HEIGHT_SHARDED) {
		row = i;
	} else if (in->memory.layout == TTNN_WIDTH_SHARDED) {
		col = i;
	} else if (shard->orientation == TTNN_ORIENT_ROW_MAJOR) {
		row = i / cols;
		col = i % cols;
	} else {
		col = i / rows;
		row = i % rows;
	}
	return (uint64_t)row * (shard->height / in->tile.height) < edges.down &&
	       (uint64_t)col * (shard->width / in->tile.width) < edges.across;
}

/* Only shards that hold an edge. */
static tt_status shard_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shard_spec *shard = &in->memory.shard;
	uint64_t slices = matrices(&in->shape);
	struct ttnn_core *cores;
	struct ttnn_core_range box;
	size_t count = 0, all;

	TT_REQUIRE(slices == 1, "N_slices == 1",
		   "FillPadL1ShardedProgramFactory: N_slices > 1 not yet supported (got %" PRIu64
		   ")",
		   slices);
	TT_NEED(in->memory.has_shard, "bad optional access");
	all = ttnn_core_set_cores(shard->grid);
	cores = tt_arena_calloc(launch->arena, all, sizeof(*cores));
	TT_NEED_MEMORY(cores);
	TT_TRY(tt_core_set_box(&box, shard->grid));
	for (uint32_t i = 0; i < all; i++)
		if (has_data(in, &box, i))
			cores[count++] = tt_core_set_at(shard->grid, i, shard->orientation);
	TT_REQUIRE(count, "!active.empty()",
		   "FillPadL1ShardedProgramFactory: no active shard cores");
	return tt_cores_set(out, cores, count);
}

static tt_status fill_pad_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = &launch->inputs[0]->spec.memory;

	*out = tt_memory_config_is_sharded(memory) && memory->buffer != TTNN_DRAM ? SHARDS : TILES;
	return TTNN_OK;
}

/* A tile with the mask of each edge. */
static tt_status pad_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool shards = launch->factory == &launch->prog->factories[SHARDS];
	uint64_t tile = tt_tile_bytes_of(in->dtype);
	struct edges edges = edges_of(in);
	const ttnn_core_set *cores;

	TT_TRY(shards ? shard_cores(&cores, launch) : tile_cores(&cores, launch));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "cb_data_in", .pages = 2, .page = tile),
		       TT_DFB_ROW(1, "cb_right_mask", .pages = edges.right, .page = tile),
		       TT_DFB_ROW(2, "cb_bottom_mask", .pages = edges.bottom, .page = tile),
		       TT_DFB_ROW(3, "cb_data_out", .pages = 2, .page = tile));
}

static const struct tt_factory pad_factories[] = {
	[TILES] = {.name = "ttnn::prim::FillPadProgramFactory", .memory = pad_memory},
	[SHARDS] = {.name = "ttnn::prim::FillPadL1ShardedProgramFactory", .memory = pad_memory},
};

static double number_of(const struct ttnn_value *value)
{
	return value->kind == TTNN_VALUE_INT ? (double)value->integer : value->real;
}

static tt_status fill_pad_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->fill(launch->outputs[0], number_of(&launch->attrs[VALUE]),
				      TT_FILL_PADDING);
}

static const struct tt_prog pad_prog = {
	.device_op = "FillPadDeviceOperation",
	.prim = "ttnn::prim::fill_pad",
	.attrs = &pad_schema,
	.infer = tt_infer_in_place,
	.validate = fill_pad_validate,
	.factories = pad_factories,
	.factory_count = TT_COUNT(pad_factories),
	.choose = fill_pad_choose,
	TT_KERNEL(fill_pad_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* In place. */
static tt_status launch_fill(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const struct ttnn_memory_config *memory)
{
	struct ttnn_value attrs[pad_schema_count] = {
		[VALUE] = *tt_call_arg(call, "fill_value"),
		[MEMORY] = ttnn_v_memory(memory),
	};

	return TT_LAUNCH(out, call, &pad_prog, .attrs = attrs, TT_INPUTS(in), TT_OUTPUTS(in),
			 .in_place = true);
}

static tt_status to_rank(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			 const struct ttnn_shape *shape)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"shape", ttnn_v_shape(shape)},
				  {"skip_padding_fill", ttnn_v_bool(true)}};

	return tt_call_op(out, call, "ttnn.reshape", args, TT_COUNT(args));
}

/* Through three dimensions, where there are more. */
static tt_status fill_folded(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const struct ttnn_memory_config *memory)
{
	struct ttnn_shape folded = tt_shape_folded(&in->spec.shape, 3);
	struct tt_tensor *cube, *filled;

	if (in->spec.shape.rank <= 3 || tt_tensor_is_sharded(in))
		return launch_fill(out, call, in, memory);
	TT_TRY(to_rank(&cube, call, in, &folded));
	tt_call_own(call, cube);
	TT_TRY(launch_fill(&filled, call, cube, memory));
	tt_call_own(call, filled);
	return to_rank(out, call, filled, &in->spec.shape);
}

/* Programs need not keep what lies in padding: after a conversion it is put there again. */
static tt_status fill_again(struct tt_tensor *tensor, double value)
{
	if (tt_run_mode() != TTNN_RUN_NORMAL)
		return TTNN_OK;
	for (uint32_t chip = 0; chip < tt_tensor_chips(tensor); chip++) {
		struct tt_tensor *part;
		tt_status status;

		TT_TRY(tt_tensor_resident(&part, tensor, chip, TT_BUFFER_UPDATE));
		status = tt_backend_get()->fill(part, value, TT_FILL_PADDING);
		ttnn_tensor_unref(part);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/*
 * Whole tiles have nothing to fill. Block floats go through bfloat16, and the value is put in
 * again behind the rounding.
 */
static tt_status expand_implicit(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *wide = in, *out, *narrow;
	const struct ttnn_memory_config *asked = tt_call_memory(call, "memory_config");
	const struct ttnn_memory_config *memory = asked ? asked : &in->spec.memory;
	bool blocks = in->spec.dtype == TTNN_BFLOAT8_B || in->spec.dtype == TTNN_BFLOAT4_B;
	tt_status status;

	if (tt_shape_last(&in->spec.shape, 1) % TT_TILE == 0 &&
	    tt_shape_last(&in->spec.shape, 2) % TT_TILE == 0) {
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	if (blocks) {
		TT_TRY(tt_call_cast(&wide, call, in, TTNN_BFLOAT16));
		tt_call_own(call, wide);
	}
	TT_TRY(fill_folded(&out, call, wide, memory));
	if (!blocks) {
		tt_call_return(call, out);
		return TTNN_OK;
	}
	tt_call_own(call, out);
	TT_TRY(tt_call_cast(&narrow, call, out, in->spec.dtype));
	status = fill_again(narrow, number_of(tt_call_arg(call, "fill_value")));
	if (status != TTNN_OK) {
		ttnn_tensor_unref(narrow);
		return status;
	}
	tt_call_return(call, narrow);
	return TTNN_OK;
}

/* ---- a corner ------------------------------------------------------------------------------------------------- */

#define RM_LIST(X)                                                                                 \
	X(N, "N")                                                                                  \
	X(C, "C")                                                                                  \
	X(H, "H")                                                                                  \
	X(W, "W")                                                                                  \
	X(FILL_H, "hFill")                                                                         \
	X(FILL_W, "wFill")                                                                         \
	X(INSIDE, "val_hi")                                                                        \
	X(OUTSIDE, "val_lo")                                                                       \
	X(PLACE, "output_mem_config")
TT_ATTRS(rm_schema, "FillRmParams", RM_LIST);

static int64_t attr(const struct tt_launch *launch, uint32_t which)
{
	return launch->attrs[which].integer;
}

static tt_status rm_infer(struct tt_launch *launch)
{
	int64_t dims[] = {attr(launch, N), attr(launch, C), attr(launch, H), attr(launch, W)};
	struct ttnn_shape shape;

	TT_TRY(ttnn_shape_make(&shape, dims, TT_COUNT(dims)));
	return tt_infer_one(launch, &shape, launch->inputs[0]->spec.dtype, TTNN_ROW_MAJOR);
}

/* Sizes are arguments: the input tensor only says dtype and device. */
static tt_status rm_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	int64_t n = attr(launch, N), c = attr(launch, C), h = attr(launch, H), w = attr(launch, W);

	TT_REQUIRE(n > 0 && c > 0 && h > 0 && w > 0,
		   "(args.N > 0 && args.C > 0 && args.H > 0 && args.W > 0)",
		   "All dimensions must be positive: N=%" PRId64 ", C=%" PRId64 ", H=%" PRId64
		   ", W=%" PRId64,
		   n, c, h, w);
	TT_REQUIRE(attr(launch, FILL_H) <= h && attr(launch, FILL_W) <= w,
		   "(args.hFill <= args.H && args.wFill <= args.W)",
		   "Fill dimensions must be <= tensor dimensions: hFill=%" PRId64 " <= H=%" PRId64
		   ", wFill=%" PRId64 " <= W=%" PRId64,
		   attr(launch, FILL_H), h, attr(launch, FILL_W), w);
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "input_tensor_a.dtype() == DataType::BFLOAT16",
		   "Input tensor dtype must be BFLOAT16 but got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, in->dtype));
	TT_REQUIRE(in->memory.layout == TTNN_INTERLEAVED,
		   "input_tensor_a.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "FillRM does not currently support sharding");
	TT_REQUIRE(launch->attrs[PLACE].memory->layout == TTNN_INTERLEAVED,
		   "args.output_mem_config.memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "FillRM does not currently support sharding");
	return TTNN_OK;
}

#define LINE_TILES 16

/* Two lines on one core: one with the corner, one without. */
static tt_status rm_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tile = tt_tile_bytes_of(launch->inputs[0]->spec.dtype);
	const ttnn_core_set *first;

	TT_REQUIRE(attr(launch, W) < 1024 * LINE_TILES, "W < 1024 * num_cb_tiles",
		   "Width (W) must be less than %d for kernel simplification. Got W=%" PRId64
		   ", num_cb_tiles=%d",
		   1024 * LINE_TILES, attr(launch, W), LINE_TILES);
	TT_TRY(tt_cores_set(&first, &(struct ttnn_core){0, 0}, 1));
	return TT_PLAN(plan, first, TT_SCRATCH_ROW(0, "cb_in0", .pages = LINE_TILES, .page = tile),
		       TT_SCRATCH_ROW(0, "cb_in1", .pages = LINE_TILES, .page = tile));
}

/* The corner of each matrix from a tensor of one value; fill() has no other way to reach a part. */
static tt_status rm_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0], *one;
	struct ttnn_shape shape = {1, {1}};
	const struct tt_move_loop loops[] = {{(uint32_t)attr(launch, N), -1, 0, 0, 1},
					     {(uint32_t)attr(launch, C), -1, 1, 0, 1},
					     {(uint32_t)attr(launch, FILL_H), -1, 2, 0, 1},
					     {(uint32_t)attr(launch, FILL_W), -1, 3, 0, 1}};
	struct tt_move_job job = {.out = out, .loops = loops, .loop_count = TT_COUNT(loops)};

	TT_TRY(tt_backend_get()->fill(out, launch->attrs[OUTSIDE].real, TT_FILL_ALL));
	TT_TRY(tt_scratch(&one, &shape, out->spec.dtype, TTNN_ROW_MAJOR));
	TT_TRY(tt_backend_get()->fill(one, launch->attrs[INSIDE].real, TT_FILL_ALL));
	job.in = one;
	return tt_backend_get()->move(&job);
}

static const struct tt_prog rm_prog = {
	.device_op = "FillRMDeviceOperation",
	.prim = "ttnn::prim::fill_rm",
	.attrs = &rm_schema,
	.infer = rm_infer,
	.validate = rm_validate,
	TT_FACTORY("ttnn::prim::FillRMProgramFactory", rm_memory),
	TT_KERNEL(rm_kernel),
	.cost = tt_cost_move,
};

/* fill_rm: val_hi in the first hOnes × wOnes elements of each matrix. */
static tt_status expand_rm(struct tt_call *call)
{
	struct tt_tensor *any = tt_call_tensor(call, "any"), *out;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[rm_schema_count] = {
		[N] = ttnn_v_int(tt_call_int(call, "N", 0)),
		[C] = ttnn_v_int(tt_call_int(call, "C", 0)),
		[H] = ttnn_v_int(tt_call_int(call, "H", 0)),
		[W] = ttnn_v_int(tt_call_int(call, "W", 0)),
		[FILL_H] = ttnn_v_int(tt_call_int(call, "hOnes", 0)),
		[FILL_W] = ttnn_v_int(tt_call_int(call, "wOnes", 0)),
		[INSIDE] = ttnn_v_real(tt_call_real(call, "val_hi", 1)),
		[OUTSIDE] = ttnn_v_real(tt_call_real(call, "val_lo", 0)),
		[PLACE] = ttnn_v_memory(memory ? memory : &any->spec.memory),
	};

	return tt_call_give(call, TT_LAUNCH(&out, call, &rm_prog, .attrs = attrs, TT_INPUTS(any)),
			    &out);
}

#define CORNER "N: int, C: int, H: int, W: int, hOnes: int, wOnes: int, any: Tensor, "
#define MEMORY_ARG "*, memory_config: MemoryConfig? = None"

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("fill_implicit_tile_padding", expand_implicit, tt_golden_same,
		     "The same tensor with a value in the padding of its tiles.",
		     "input_tensor: Tensor, fill_value: int | float, " MEMORY_ARG)},
	{TT_MOVE_ROW(
		"fill_ones_rm", expand_rm, tt_golden_fill_rm,
		"A new tensor with ones in the upper left corner of each matrix, zeros elsewhere.",
		CORNER MEMORY_ARG)},
	{TT_MOVE_ROW(
		"fill_rm", expand_rm, tt_golden_fill_rm,
		"A new tensor with one value in the upper left corner of each matrix, another elsewhere.",
		CORNER "val_hi: float, val_lo: float, " MEMORY_ARG)},
};

const struct tt_op_family tt_family_fill = {"fill", ops, TT_COUNT(ops)};
