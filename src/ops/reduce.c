/*
 * reduce.c: the program that reduces height or width: sum, mean, largest and smallest.
 */
#include "ops/reduce.h"

#include <math.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/compute.h"
#include "ops/eltwise.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

static const struct tt_enum_row math_rows[] = {{TT_MATH_SUM, "SUM"}, {TT_MATH_AVG, "AVG"},
					       {TT_MATH_MAX, "MAX"}, {TT_MATH_MIN, "MIN"},
					       {TT_MATH_STD, "STD"}, {TT_MATH_VAR, "VAR"}};
const struct tt_enum tt_enum_reduce_math = {"ReduceOpMath", math_rows, TT_COUNT(math_rows)};
static const struct tt_enum_row dim_rows[] = {{TT_DIM_H, "H"}, {TT_DIM_W, "W"}, {TT_DIM_HW, "HW"}};
const struct tt_enum tt_enum_reduce_dim = {"ReduceOpDim", dim_rows, TT_COUNT(dim_rows)};
static const struct tt_enum_row mode_rows[] = {
	{TT_SCALER_NONE, "None"}, {TT_SCALER_TILE, "ScalerTile"}, {TT_SCALER_POST, "PostMul"}};
static const struct tt_enum mode_enum = {"ScalerMode", mode_rows, TT_COUNT(mode_rows)};

enum {
	MATH,
	DIM,
	SCALER,
	MEMORY,
	DTYPE,
	COMPUTE,
	CORES,
	NEGATE,
	POST,
	MODE,
	ROWS_W,
	ROWS_H,
	VECTOR,
	SLICES,
	LAYOUT,
	ATTRS
};

static const struct tt_field fields[ATTRS] = {
	[MATH] = {.name = "math_op"},
	[DIM] = {.name = "dim"},
	[SCALER] = {.name = "scaler"},
	[MEMORY] = {.name = "output_mem_config"},
	[DTYPE] = {.name = "output_dtype"},
	[COMPUTE] = {.name = "compute_kernel_config"},
	[CORES] = {.name = "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>"},
	[NEGATE] = {.name = "negate"},
	[POST] = {.name = "post_mul_scaler", .unkeyed = true},
	[MODE] = {.name = "scaler_mode"},
	[ROWS_W] = {.name = "row_major_w_dense_path"},
	[ROWS_H] = {.name = "row_major_h_dense_path"},
	[VECTOR] = {.name = "use_sfpu_reduce"},
	[SLICES] = {.name = "num_h_slices"},
	[LAYOUT] = {.name = "output_layout"},
};
static const struct tt_schema schema = {"ReduceParams", fields, ATTRS, false};

static enum tt_reduce_dim dim_of(const struct tt_launch *launch)
{
	return (enum tt_reduce_dim)launch->attrs[DIM].integer;
}

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

/* The result spread anew over all cores that were asked for. */
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

tt_status tt_reduced_spec(struct ttnn_tensor_spec *out, struct ttnn_spec_args *args,
			  const struct ttnn_memory_config *asked, const struct ttnn_tensor_spec *in)
{
	struct ttnn_nd_shard_spec nd = asked->nd_shard;
	struct ttnn_tensor_spec plain;

	TT_TRY(ttnn_tensor_spec_make(&plain, args));
	args->memory = *asked;
	if (asked->created_with_nd_shard && asked->has_nd_shard)
		shrink(&nd, in, &plain);
	else if (tt_memory_config_is_sharded(asked) && asked->has_shard)
		TT_TRY(spread(&nd, asked, &plain));
	else
		return ttnn_tensor_spec_make(out, args);
	TT_TRY(ttnn_memory_config_nd(&args->memory, asked->buffer, &nd));
	return ttnn_tensor_spec_make(out, args);
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer,
				      .layout = (enum ttnn_layout)launch->attrs[LAYOUT].integer,
				      .tile = in->tile};
	enum tt_reduce_dim dim = dim_of(launch);

	launch->output_count = 1;
	if (dim != TT_DIM_H)
		args.shape.dim[in->shape.rank - 1] = 1;
	if (dim != TT_DIM_W)
		args.shape.dim[in->shape.rank - 2] = (uint32_t)launch->attrs[SLICES].integer;
	return tt_reduced_spec(&launch->specs[0], &args, launch->attrs[MEMORY].memory, in);
}

static tt_status validate(struct tt_launch *launch)
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
/* What choose() works out: numbers are pages or bytes of a page. */
enum { IN_PAGES, SCALER_BYTES, SHARDED, ROWS, BLOCK_PAGES, NEGATIVES };

/* Shards are reduced where they lie when each has all that its results need. */
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

static tt_status plan(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	bool rows = work->number[ROWS];
	struct tt_work_split split;
	uint64_t units, at_once;

	if (dim_of(launch) == TT_DIM_HW)
		units = 1;
	else if (dim_of(launch) == TT_DIM_W)
		units = rows ? tiles.matrices * tt_shape_last(&in->shape, 2)
			     : tiles.matrices * tiles.height;
	else
		units = tiles.matrices * tiles.width * (uint64_t)launch->attrs[SLICES].integer;
	if (launch->attrs[CORES].kind == TTNN_VALUE_CORE_SET)
		TT_TRY(tt_split_work_in(&split, launch->attrs[CORES].core_set, units,
					TTNN_ORIENT_COL_MAJOR));
	else
		TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), units,
				     TTNN_ORIENT_COL_MAJOR));
	work->cores[0] = split.all;
	if (dim_of(launch) == TT_DIM_H)
		at_once = columns_at_once(launch, split.units[split.units[1] ? 1 : 0]);
	else if (rows)
		at_once = tiles.width < ROWS_BLOCK ? tiles.width : ROWS_BLOCK;
	else
		at_once = tiles.width < WIDTH_BLOCK || launch->attrs[NEGATE].boolean ? 1
										     : WIDTH_BLOCK;
	work->number[IN_PAGES] = 2 * at_once;
	/* Rows become tiles on the way: one block of them, or as many as are reduced at a time. */
	work->number[BLOCK_PAGES] = dim_of(launch) == TT_DIM_W ? at_once : 2 * at_once;
	if (rows && dim_of(launch) == TT_DIM_H) {
		uint64_t tall = tiles.height < ROWS_BLOCK ? tiles.height : ROWS_BLOCK;

		work->number[IN_PAGES] = 2;
		if (work->number[BLOCK_PAGES] < tall)
			work->number[BLOCK_PAGES] = tall;
	}
	if (dim_of(launch) == TT_DIM_H && launch->attrs[NEGATE].boolean) {
		work->number[IN_PAGES] = NEGATED_BLOCK;
		work->number[NEGATIVES] = tiles.height * split.units[0];
	}
	return TTNN_OK;
}

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_move_work *work = tt_move_work_new(launch);

	if (!work)
		return TTNN_NOMEM;
	*out = factory_of[dim_of(launch)];
	work->number[SCALER_BYTES] = tt_tile_bytes_of(
		launch->inputs[0]->spec.dtype == TTNN_FLOAT32 ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	work->number[ROWS] = launch->attrs[ROWS_W].boolean || launch->attrs[ROWS_H].boolean;
	work->number[SHARDED] = !work->number[ROWS] && in_place(launch);
	if (!work->number[SHARDED])
		return plan(launch, work);
	work->number[IN_PAGES] = 2;
	work->cores[0] = launch->inputs[0]->spec.memory.shard.grid;
	return TTNN_OK;
}

static uint64_t shard_pages_in(const struct tt_launch *launch)
{
	return tt_shard_tiles(&launch->inputs[0]->spec);
}

static bool negates(const struct tt_launch *launch)
{
	return launch->attrs[NEGATE].boolean;
}

/* Columns are negated whole, rows tile by tile. */
static uint64_t negatives(const struct tt_launch *launch)
{
	const struct tt_move_work *work = launch->work;

	return work->number[NEGATIVES] ? work->number[NEGATIVES] : 1;
}

static uint64_t pages_out(const struct tt_launch *launch)
{
	if (tt_has2(launch))
		return tt_shard_tiles(&launch->outputs[0]->spec);
	return negates(launch) && dim_of(launch) == TT_DIM_H ? NEGATED_BLOCK : 2;
}

static struct tt_tensor *back_out(const struct tt_launch *launch)
{
	return tt_has2(launch) ? launch->outputs[0] : NULL;
}

#define ROW(index_, ...)                                                                           \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .cores = tt_work_cores0, __VA_ARGS__              \
	}

static const struct tt_mem_row memory_rows[] = {
	ROW(0, .pages = tt_number0, .page = tt_page_in0),
	ROW(1, .when = tt_has2, .pages = shard_pages_in, .page = tt_page_in0,
	    .backing = tt_back_in0),
	ROW(2, .page_count = 1, .page = tt_number1),
	ROW(4, .when = tt_has3, .page_count = 1, .page = tt_page_out0),
	ROW(5, .when = tt_has3, .pages = tt_number4, .page = tt_page_in0),
	ROW(6, .when = tt_has3, .page_count = 1, .page = tt_page_in0),
	ROW(3, .pages = pages_out, .page = tt_page_out0, .backing = back_out),
	ROW(4, .when = negates, .pages = negatives, .page = tt_page_in0),
	ROW(5, .when = negates, .pages = negatives, .page = tt_page_in0),
};

#define FACTORY(name)                                                                              \
	{                                                                                          \
		"ttnn::prim::ReduceDeviceOperation::Reduce" name "ProgramFactory", memory_rows,    \
			TT_COUNT(memory_rows), NULL                                                \
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
	struct ttnn_spec_args args = {.shape = out->spec.shape, .dtype = out->spec.dtype};
	struct ttnn_tensor_spec spec;
	tt_status status;

	args.shape.dim[args.shape.rank - 2] = 1;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&whole, &spec));
	job->out = whole;
	status = tt_backend_get()->reduce(job);
	if (status == TTNN_OK)
		status = tt_backend_get()->fill(
			out, neutral((enum tt_reduce_math)launch->attrs[MATH].integer),
			TT_FILL_ALL);
	if (status == TTNN_OK)
		status =
			tt_move_part(out, whole, &(struct tt_move_block){.extent = args.shape.dim});
	ttnn_tensor_unref(whole);
	return status;
}

static tt_status kernel(struct tt_launch *launch)
{
	uint32_t rank = launch->inputs[0]->spec.shape.rank;
	enum tt_reduce_dim dim = dim_of(launch);
	uint32_t last = 1u << (rank - 1), before = 1u << (rank - 2);
	struct tt_reduce_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[0],
		.kind = negates(launch) ? TT_REDUCE_MIN : kinds[launch->attrs[MATH].integer],
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
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
};

tt_status tt_reduce_pass(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_reduce_pass *pass)
{
	struct ttnn_value attrs[ATTRS] = {
		[MATH] = tt_value_enum(&tt_enum_reduce_math, pass->math),
		[DIM] = tt_value_enum(&tt_enum_reduce_dim, pass->dim),
		[SCALER] = ttnn_v_real(pass->scaler),
		[MEMORY] = ttnn_v_memory(pass->memory),
		[DTYPE] = ttnn_v_dtype(pass->dtype),
		[COMPUTE] = pass->compute,
		[CORES] = pass->cores ? ttnn_v_core_set(pass->cores) : ttnn_v_none(),
		[NEGATE] = ttnn_v_bool(pass->negate),
		[POST] = ttnn_v_real(pass->post),
		[MODE] = tt_value_enum(&mode_enum, pass->mode),
		[ROWS_W] = ttnn_v_bool(pass->rows && pass->dim == TT_DIM_W),
		[ROWS_H] = ttnn_v_bool(pass->rows && pass->dim == TT_DIM_H),
		[VECTOR] = ttnn_v_bool(pass->vector),
		[SLICES] = ttnn_v_int(pass->slices),
		[LAYOUT] = ttnn_v_layout(pass->layout),
	};
	struct tt_tensor *in = pass->in;
	struct tt_program_args args = {
		.prog = &prog, .attrs = attrs, .inputs = &in, .input_count = 1};

	return tt_call_program(out, call, &args);
}
