/*
 * reduce_program.c: the program that reduces height or width: sum, mean, largest and smallest.
 *
 * Models ReduceDeviceOperation of ttnn 0.81 (reduction/generic/device) with its three factories:
 * over width (a row of tiles for each core), over height (columns of tiles, also in width shards
 * where they are), and over both at once on one core: specs, refusals, memory, cores. The scaler
 * is a tile of its own, which the engine multiplies by: 1, 1 / n for a mean, or what the caller
 * gave. Not modelled: the order of sums on the chip, and the values of slices of a height, which
 * only the next pass sees.
 */
#include "ops/reduce/reduce_program.h"

#include <math.h>

#include "backend/backend.h"
#include "ops/compute.h"
#include "ops/eltwise/eltwise.h"
#include "ops/movement/movement.h"

static const struct tt_enum_row math_rows[] = {{TT_MATH_SUM, "SUM"}, {TT_MATH_AVG, "AVG"},
					       {TT_MATH_MAX, "MAX"}, {TT_MATH_MIN, "MIN"},
					       {TT_MATH_STD, "STD"}, {TT_MATH_VAR, "VAR"}};
const struct tt_enum tt_enum_reduce_math = {"ReduceOpMath", math_rows, TT_COUNT(math_rows)};
static const struct tt_enum_row dim_rows[] = {{TT_DIM_H, "H"}, {TT_DIM_W, "W"}, {TT_DIM_HW, "HW"}};
const struct tt_enum tt_enum_reduce_dim = {"ReduceOpDim", dim_rows, TT_COUNT(dim_rows)};
static const struct tt_enum_row mode_rows[] = {
	{TT_SCALER_NONE, "None"}, {TT_SCALER_TILE, "ScalerTile"}, {TT_SCALER_POST, "PostMul"}};
static const struct tt_enum mode_enum = {"ScalerMode", mode_rows, TT_COUNT(mode_rows)};

#define ATTRS(X)                                                                                   \
	X(MATH, "math_op")                                                                         \
	X(DIM, "dim")                                                                              \
	X(SCALER, "scaler", .unkeyed = true)                                                       \
	X(MEMORY, "output_mem_config")                                                             \
	X(DTYPE, "output_dtype")                                                                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")               \
	X(NEGATE, "negate")                                                                        \
	X(POST, "post_mul_scaler", .unkeyed = true)                                                \
	X(MODE, "scaler_mode")                                                                     \
	X(ROWS_W, "row_major_w_dense_path")                                                        \
	X(ROWS_H, "row_major_h_dense_path")                                                        \
	X(VECTOR, "use_sfpu_reduce")                                                               \
	X(SLICES, "num_h_slices")                                                                  \
	X(LAYOUT, "output_layout")
TT_ATTRS(schema, "ReduceParams", ATTRS);

static enum tt_reduce_dim dim_of(const struct tt_launch *launch)
{
	return (enum tt_reduce_dim)launch->attrs[DIM].integer;
}

/* Tiles of a matrix, and how many matrices. */
struct tt_reduce_tiles tt_reduce_tiles_of(const struct ttnn_tensor_spec *spec)
{
	uint32_t height = tt_shape_last(&spec->padded, 2), width = tt_shape_last(&spec->padded, 1);
	struct tt_reduce_tiles tiles = {.width = tt_div_up(width, spec->tile.width),
					.height = tt_div_up(height, spec->tile.height),
					.matrices = 1};

	for (uint32_t d = 0; d + 2 < spec->padded.rank; d++)
		tiles.matrices *= spec->padded.dim[d];
	return tiles;
}

static uint32_t in_tiles(uint64_t extent, uint32_t tile)
{
	return (uint32_t)tt_align_to(extent ? extent : 1, tile);
}

/*
 * The result spread anew over all cores that were asked for: its shards are equal shares of what
 * is left, in upstream's spec for any rank.
 */
static tt_status spread(struct ttnn_nd_shard_spec *nd, const struct ttnn_memory_config *asked,
			const struct ttnn_tensor_spec *plain)
{
	bool columns = asked->shard.orientation == TTNN_ORIENT_COL_MAJOR;
	uint64_t cores = ttnn_core_set_cores(asked->shard.grid), down = 1, across = 1;
	struct ttnn_core_range box;

	TT_TRY(tt_core_set_box(&box, asked->shard.grid));
	if (asked->layout == TTNN_HEIGHT_SHARDED) {
		down = cores;
	} else if (asked->layout == TTNN_WIDTH_SHARDED) {
		across = cores;
	} else {
		uint64_t x = (uint64_t)box.end.x - box.start.x + 1;
		uint64_t y = (uint64_t)box.end.y - box.start.y + 1;

		down = columns ? x : y;
		across = columns ? y : x;
	}
	*nd = (struct ttnn_nd_shard_spec){.grid = asked->shard.grid,
					  .orientation = asked->shard.orientation,
					  .strategy = asked->layout == TTNN_BLOCK_SHARDED
							      ? TTNN_GRID_2D
							      : TTNN_ROUND_ROBIN_1D};
	nd->shape = TT_SHAPE(in_tiles(tt_div_up(plain->rows, down), plain->tile.height),
			     in_tiles(tt_div_up(plain->cols, across), plain->tile.width));
	return TTNN_OK;
}

/* Shards of any rank lose what was reduced. */
static void shrink(struct ttnn_nd_shard_spec *nd, const struct ttnn_tensor_spec *in,
		   const struct ttnn_tensor_spec *plain)
{
	uint32_t rank = nd->shape.rank, height = tt_shape_last(&in->shape, 2);
	uint32_t *dim = nd->shape.dim;

	if (rank > 0 && tt_shape_last(&plain->shape, 1) != tt_shape_last(&in->shape, 1))
		dim[rank - 1] = in_tiles(1, plain->tile.width);
	if (rank > 1 && height && tt_shape_last(&plain->shape, 2) != height)
		dim[rank - 2] = in_tiles(tt_div_up(dim[rank - 2], height), plain->tile.height);
}

/* Shards that are asked for without saying where lie where those of the input are. */
static tt_status with_shards(struct ttnn_memory_config *memory, const struct ttnn_memory_config *in)
{
	bool nd = memory->layout == TTNN_ND_SHARDED;

	if (!tt_memory_config_is_sharded(memory) || memory->has_shard || memory->has_nd_shard)
		return TTNN_OK;
	if (nd) {
		TT_REQUIRE(in->has_nd_shard,
			   "nd_shard_spec.has_value() || input_nd_shard_spec.has_value()",
			   "ND_SHARDED memory layout requires nd_shard_spec to be set on the "
			   "output memory config or the input tensor");
		memory->nd_shard = in->nd_shard;
		memory->has_nd_shard = memory->created_with_nd_shard = true;
		return TTNN_OK;
	}
	if (!in->has_nd_shard && !in->has_shard)
		return tt_fail_cond(
			TTNN_INVALID, "tt::exception",
			"Sharded memory layout TensorMemoryLayout::%s requires either "
			"nd_shard_spec or shard_spec to be set on the output memory config "
			"or the input tensor",
			tt_enum_name(&tt_enum_memory_layout, memory->layout));
	TT_REQUIRE(memory->buffer == in->buffer,
		   "output_mem_config.buffer_type() == input_mem_config.buffer_type()",
		   "Sharded memory layout TensorMemoryLayout::%s on an output with buffer type "
		   "BufferType::%s requires an explicit shard_spec (cannot fall back to the input "
		   "tensor's BufferType::%s shard grid)",
		   tt_enum_name(&tt_enum_memory_layout, memory->layout),
		   tt_enum_name(&tt_enum_buffer_type, memory->buffer),
		   tt_enum_name(&tt_enum_buffer_type, in->buffer));
	memory->has_shard = true;
	memory->shard.grid = in->has_nd_shard ? in->nd_shard.grid : in->shard.grid;
	memory->shard.orientation =
		in->has_nd_shard ? in->nd_shard.orientation : in->shard.orientation;
	return TTNN_OK;
}

/* Shards of the result are ND shards: extents shrink with the tensor. */
tt_status tt_reduced_spec(struct ttnn_tensor_spec *out, struct ttnn_spec_args *args,
			  const struct ttnn_memory_config *asked, const struct ttnn_tensor_spec *in)
{
	struct ttnn_memory_config memory = *asked;
	struct ttnn_nd_shard_spec nd;
	struct ttnn_tensor_spec plain;

	TT_TRY(ttnn_tensor_spec_make(&plain, args));
	TT_TRY(with_shards(&memory, &in->memory));
	nd = memory.nd_shard;
	args->memory = memory;
	if (memory.created_with_nd_shard && memory.has_nd_shard)
		shrink(&nd, in, &plain);
	else if (tt_memory_config_is_sharded(&memory) && memory.has_shard)
		TT_TRY(spread(&nd, &memory, &plain));
	else
		return ttnn_tensor_spec_make(out, args);
	TT_TRY(ttnn_memory_config_nd(&args->memory, memory.buffer, &nd));
	return ttnn_tensor_spec_make(out, args);
}

/* SLICES rows are left of a height that is reduced in slices. */
static tt_status reduce_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer,
				      .layout = (enum ttnn_layout)launch->attrs[LAYOUT].integer,
				      .tile = in->tile};
	enum tt_reduce_dim dim = dim_of(launch);

	if (dim != TT_DIM_H)
		args.shape.dim[in->shape.rank - 1] = 1;
	if (dim != TT_DIM_W)
		args.shape.dim[in->shape.rank - 2] = (uint32_t)launch->attrs[SLICES].integer;
	return tt_reduced_spec(&launch->specs[0], &args, launch->attrs[MEMORY].memory, in);
}

/* int32 has no mean. */
static tt_status reduce_validate(struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;
	bool known = dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT8_B ||
		     dtype == TTNN_UINT32;
	bool int32 = dtype == TTNN_INT32 && launch->attrs[MATH].integer != TT_MATH_AVG;

	TT_REQUIRE(known || int32,
		   "tensor_args.dtype() == DataType::BFLOAT16 || tensor_args.dtype() == "
		   "DataType::FLOAT32 || tensor_args.dtype() == DataType::BFLOAT8_B || "
		   "tensor_args.dtype() == DataType::UINT32 || is_int32_sfpu_reduce",
		   "Only FLOAT32, BFLOAT16, BFLOAT8_B, and UINT32 are supported for generic "
		   "reduction (INT32 is supported for MAX/MIN/SUM) - got DataType::%s.",
		   tt_enum_name(&tt_enum_dtype, dtype));
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------- */

enum { SINGLE_HW, MULTI_H, MULTI_W };
static const uint32_t factory_of[] = {
	[TT_DIM_H] = MULTI_H, [TT_DIM_W] = MULTI_W, [TT_DIM_HW] = SINGLE_HW};
/* Shards are reduced where they are when each has all that its results need. */
static bool in_place(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	const struct ttnn_memory_config *out = &launch->outputs[0]->spec.memory;
	enum ttnn_memory_layout wanted =
		dim_of(launch) == TT_DIM_W ? TTNN_HEIGHT_SHARDED : TTNN_WIDTH_SHARDED;

	return in->has_shard && out->has_shard && in->layout == wanted && out->layout == wanted &&
	       in->buffer != TTNN_DRAM && out->buffer != TTNN_DRAM &&
	       in->shard.grid == out->shard.grid;
}

/* How many columns of tiles are read at a time. */
static uint64_t columns_at_once(const struct tt_launch *launch, uint64_t per_core)
{
	uint64_t most = tt_compute_tiles(&launch->attrs[COMPUTE]);
	bool sliced = launch->attrs[SLICES].integer > 1;

	if (sliced)
		return launch->inputs[0]->spec.dtype == TTNN_FLOAT32 ? 1 : most;
	return per_core >= most ? most : 1;
}

#define WIDTH_BLOCK 4
#define ROWS_BLOCK 8
#define NEGATED_BLOCK 4

/* How much of each kind a core holds, in tiles. */
struct reduce_pages {
	uint64_t in, block; /* read; rows that become tiles on the way */
	uint64_t out;
	uint64_t negatives; /* columns are negated whole, rows tile by tile */
	const ttnn_core_set *cores;
};

static bool takes_rows(const struct tt_launch *launch)
{
	return launch->attrs[ROWS_W].boolean || launch->attrs[ROWS_H].boolean;
}

/* Units of work: what is reduced to one tile or row. */
static uint64_t units_of(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);

	if (dim_of(launch) == TT_DIM_HW)
		return 1;
	if (dim_of(launch) == TT_DIM_W)
		return tiles.matrices *
		       (takes_rows(launch) ? tt_shape_last(&in->shape, 2) : tiles.height);
	return tiles.matrices * tiles.width * (uint64_t)launch->attrs[SLICES].integer;
}

static tt_status split_units(struct tt_work_split *split, const struct tt_launch *launch,
			     const struct ttnn_value *asked, uint64_t units)
{
	if (asked->kind == TTNN_VALUE_CORE_SET)
		return tt_split_work_in(split, asked->core_set, units, TTNN_ORIENT_COL_MAJOR);
	return tt_split_work(split, tt_grid_size(launch->grid), units, TTNN_ORIENT_COL_MAJOR);
}

tt_status tt_cores_of(const ttnn_core_set **out, const struct tt_launch *launch,
		      const struct ttnn_value *asked, uint64_t units)
{
	struct tt_work_split split;

	TT_TRY(split_units(&split, launch, asked, units));
	*out = split.all;
	return TTNN_OK;
}

/*
 * How many tiles are taken at once: columns along the height, blocks along the width, more for
 * rows, which are tilized on the way.
 */
static tt_status pages_of(struct reduce_pages *pages, const struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[0]->spec);
	bool rows = takes_rows(launch), height = dim_of(launch) == TT_DIM_H;
	bool negate = launch->attrs[NEGATE].boolean;
	struct tt_work_split split;
	uint64_t at_once;

	TT_TRY(split_units(&split, launch, &launch->attrs[CORES], units_of(launch)));
	if (height)
		at_once = columns_at_once(launch, split.units[split.units[1] ? 1 : 0]);
	else if (rows)
		at_once = tiles.width < ROWS_BLOCK ? tiles.width : ROWS_BLOCK;
	else
		at_once = tiles.width < WIDTH_BLOCK || negate ? 1 : WIDTH_BLOCK;
	*pages = (struct reduce_pages){.in = 2 * at_once,
				       .block = dim_of(launch) == TT_DIM_W ? at_once : 2 * at_once,
				       .out = 2,
				       .negatives = negate,
				       .cores = split.all};
	if (rows && height) {
		uint64_t tall = tiles.height < ROWS_BLOCK ? tiles.height : ROWS_BLOCK;

		pages->in = 2;
		pages->block = pages->block < tall ? tall : pages->block;
	}
	if (height && negate) {
		uint64_t columns = tiles.height * split.units[0];

		pages->in = pages->out = NEGATED_BLOCK;
		pages->negatives = columns ? columns : 1;
	}
	return TTNN_OK;
}

static tt_status reduce_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = factory_of[dim_of(launch)];
	return TTNN_OK;
}

/*
 * Rows need buffers to tilize, negated maxima a buffer for negatives; upstream numbers both 4 and
 * 5.
 */
static tt_status reduce_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool rows = takes_rows(launch), sharded = !rows && in_place(launch);
	bool negate = launch->attrs[NEGATE].boolean;
	uint64_t tile = tt_page_in0(launch), result = tt_page_out0(launch);
	uint64_t scaler =
		tt_tile_bytes_of(in->dtype == TTNN_FLOAT32 ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	struct reduce_pages pages = {.in = 2, .negatives = negate, .cores = in->memory.shard.grid};

	if (sharded)
		pages.out = tt_shard_tiles(&launch->outputs[0]->spec);
	else
		TT_TRY(pages_of(&pages, launch));
	return TT_PLAN(plan, pages.cores, TT_DFB_ROW(0, "src0", .pages = pages.in, .page = tile),
		       TT_DFB_ROW(1, "src1", .pages = sharded ? tt_shard_tiles(in) : 0,
				  .page = tile, .backing = launch->inputs[0]),
		       TT_DFB_ROW(2, "scaler", .pages = 1, .page = scaler),
		       TT_DFB_ROW(4, "clear_value", .pages = rows, .page = result),
		       TT_DFB_ROW(5, "acc", .pages = rows ? pages.block : 0, .page = tile),
		       TT_DFB_ROW(6, "rm", .pages = rows, .page = tile),
		       TT_DFB_ROW(3, "output", .pages = pages.out, .page = result,
				  .backing = sharded ? launch->outputs[0] : NULL),
		       TT_DFB_ROW(4, "acc", .pages = pages.negatives, .page = tile),
		       TT_DFB_ROW(5, "ineg", .pages = pages.negatives, .page = tile));
}

#define FACTORY(name_)                                                                             \
	{                                                                                          \
		.name = "ttnn::prim::ReduceDeviceOperation::Reduce" name_ "ProgramFactory",        \
		.memory = reduce_memory                                                            \
	}

static const struct tt_factory factories[] = {
	[SINGLE_HW] = FACTORY("SingleCoreHw"),
	[MULTI_H] = FACTORY("MultiCoreH"),
	[MULTI_W] = FACTORY("MultiCoreW"),
};

/* ---- running ---------------------------------------------------------------------------------------- */

static const enum tt_reduce_kind kinds[] = {[TT_MATH_SUM] = TT_REDUCE_SUM,
					    [TT_MATH_AVG] = TT_REDUCE_SUM,
					    [TT_MATH_MAX] = TT_REDUCE_MAX,
					    [TT_MATH_MIN] = TT_REDUCE_MIN};

/* What changes nothing when a later pass reduces it too. */
static double neutral(enum tt_reduce_math math)
{
	if (math == TT_MATH_MAX || math == TT_MATH_MIN)
		return math == TT_MATH_MAX ? -INFINITY : INFINITY;
	return 0;
}

/*
 * A height in slices is a detour of the chip: what counts is the result of the next pass, which
 * reduces the slices. So the first one gets everything.
 */
static tt_status reduce_slices(const struct tt_launch *launch, struct tt_reduce_job *job)
{
	struct tt_tensor *out = launch->outputs[0], *whole;
	struct ttnn_shape shape = out->spec.shape;

	shape.dim[shape.rank - 2] = 1;
	TT_TRY(tt_scratch(&whole, &shape, out->spec.dtype, TTNN_ROW_MAJOR));
	job->out = whole;
	TT_TRY(tt_backend_get()->reduce(job));
	TT_TRY(tt_backend_get()->fill(
		out, neutral((enum tt_reduce_math)launch->attrs[MATH].integer), TT_FILL_ALL));
	return tt_move_part(out, whole, &(struct tt_move_block){.extent = shape.dim});
}

/* A negated maximum is a minimum. */
static tt_status reduce_kernel(struct tt_launch *launch)
{
	uint32_t rank = launch->inputs[0]->spec.shape.rank;
	enum tt_reduce_dim dim = dim_of(launch);
	uint32_t last = 1u << (rank - 1), before = 1u << (rank - 2);
	struct tt_reduce_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[0],
		.kind = launch->attrs[NEGATE].boolean ? TT_REDUCE_MIN
						      : kinds[launch->attrs[MATH].integer],
		.dims = (dim == TT_DIM_H ? 0 : last) | (dim == TT_DIM_W ? 0 : before),
		.scale = launch->attrs[SCALER].real * launch->attrs[POST].real,
	};

	if (launch->attrs[SLICES].integer > 1)
		return reduce_slices(launch, &job);
	return tt_backend_get()->reduce(&job);
}

static const struct tt_prog prog = {
	.device_op = "ReduceDeviceOperation",
	.prim = "ttnn::prim::reduce",
	.attrs = &schema,
	.infer = reduce_infer,
	.validate = reduce_validate,
	TT_FACTORIES(factories),
	.choose = reduce_choose,
	TT_KERNEL(reduce_kernel),
};

/* Attributes in upstream's order. */
tt_status tt_reduce_pass(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_reduce_pass *pass)
{
	struct ttnn_value attrs[schema_count] = {
		[MATH] = tt_value_enum(&tt_enum_reduce_math, pass->math),
		[DIM] = tt_value_enum(&tt_enum_reduce_dim, pass->dim),
		[SCALER] = ttnn_v_real(pass->scaler),
		[MEMORY] = ttnn_v_memory(pass->memory),
		[DTYPE] = ttnn_v_dtype(pass->dtype),
		[COMPUTE] = pass->compute,
		[CORES] = tt_value_cores(pass->cores),
		[NEGATE] = ttnn_v_bool(pass->negate),
		[POST] = ttnn_v_real(pass->post),
		[MODE] = tt_value_enum(&mode_enum, pass->mode),
		[ROWS_W] = ttnn_v_bool(pass->rows && pass->dim == TT_DIM_W),
		[ROWS_H] = ttnn_v_bool(pass->rows && pass->dim == TT_DIM_H),
		[VECTOR] = ttnn_v_bool(pass->vector),
		[SLICES] = ttnn_v_int(pass->slices),
		[LAYOUT] = ttnn_v_layout(pass->layout),
	};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, TT_INPUTS(pass->in));
}
