/* gather_program.c: the two programs that take elements along the last dimension of four. */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/cost.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "ops/shard_derive.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

enum { IN, INDEX, INPUTS };
enum { DIM, SPARSE, MEMORY, CORES, ATTRS };
enum { HT = ATTRS, WT_IN, WT_INDEX, LAST_H, LAST_W, HT_BATCH, FAST_ATTRS };

#define COMMON_FIELDS                                                                              \
	[DIM] = {.name = "dim"}, [SPARSE] = {.name = "sparse_grad"},                               \
	[MEMORY] = {.name = "output_mem_config"}, [CORES] = {.name = "sub_core_grids"}

static const struct tt_field fields[ATTRS] = {COMMON_FIELDS};
static const struct tt_schema schema = {"GatherParams", fields, ATTRS, false};

static const struct tt_field fast_fields[FAST_ATTRS] = {
	COMMON_FIELDS,
	[HT] = {.name = "Ht"},
	[WT_IN] = {.name = "Wt_input"},
	[WT_INDEX] = {.name = "Wt_index"},
	[LAST_H] = {.name = "index_valid_h_last"},
	[LAST_W] = {.name = "index_valid_w_last"},
	[HT_BATCH] = {.name = "index_ht_per_batch"},
};
static const struct tt_schema fast_schema = {"GatherCodegenParams", fast_fields, FAST_ATTRS, false};

/* ---- the output ------------------------------------------------------------------------------------------------ */

/* Shards that the config leaves open: those of the index, or new ones. */
static tt_status resolve(struct ttnn_memory_config *out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *index = &launch->inputs[INDEX]->spec;
	bool tiled = launch->inputs[IN]->spec.layout == TTNN_TILE;
	struct ttnn_shard_spec shard = index->memory.shard;
	struct tt_shard_wish wish = {.device = launch->device,
				     .padded = &index->shape,
				     .layout = out->layout,
				     .orientation = index->memory.has_shard ? shard.orientation
									    : TTNN_ORIENT_ROW_MAJOR,
				     .tiled = tiled};

	if (!tt_memory_config_is_sharded(out) || out->has_shard)
		return TTNN_OK;
	if (!index->memory.has_shard || index->memory.layout != out->layout ||
	    (tiled && (shard.height % 32 || shard.width % 32)))
		TT_TRY(tt_shard_make(&shard, &wish, "Transpose"));
	return ttnn_memory_config_sharded(out, out->layout, out->buffer, &shard);
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	TT_TRY(resolve(&memory, launch));
	return tt_spec_simple(&launch->specs[0], &launch->inputs[INDEX]->spec.shape, in->dtype,
			      in->layout, &memory);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static tt_status check_ranks(const struct tt_launch *launch, const char *who)
{
	uint32_t in = launch->inputs[IN]->spec.shape.rank;
	uint32_t index = launch->inputs[INDEX]->spec.shape.rank;

	TT_REQUIRE(in == index, "input_tensor_rank == input_index_tensor_rank",
		   "%s and index tensor must have the same number of dimensions. Got input dim: "
		   "%" PRIu32 " and index dim: %" PRIu32,
		   who, in, index);
	return TTNN_OK;
}

static tt_status check_index(const struct tt_launch *launch, const char *who)
{
	enum ttnn_dtype dtype = launch->inputs[INDEX]->spec.dtype;

	TT_REQUIRE(dtype == TTNN_UINT32 || dtype == TTNN_UINT16,
		   "tensor_args.input_index_tensor.dtype() == DataType::UINT32 || "
		   "tensor_args.input_index_tensor.dtype() == DataType::UINT16",
		   "%s tensor must be of type UINT32 or UINT16. Got: DataType::%s", who,
		   tt_enum_name(&tt_enum_dtype, (int64_t)dtype));
	return TTNN_OK;
}

static tt_status check_extents(const struct tt_launch *launch, const char *who)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.shape;
	const struct ttnn_shape *index = &launch->inputs[INDEX]->spec.shape;

	for (uint32_t d = 0; d + 1 < in->rank; d++)
		TT_REQUIRE(index->dim[d] <= in->dim[d],
			   "input_index_tensor_shape[i] <= input_tensor_shape[i]",
			   "%s tensor shape dimension %" PRIu32
			   " must be less than or equal to input tensor shape dimension %" PRIu32
			   ". Got index tensor shape: %" PRIu32 " and input tensor shape: %" PRIu32,
			   who, d, d, index->dim[d], in->dim[d]);
	return TTNN_OK;
}

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	TT_TRY(check_ranks(launch, "Input"));
	TT_TRY(check_index(launch, "Index"));
	TT_TRY(check_extents(launch, "Index"));
	TT_REQUIRE(in->layout == launch->inputs[INDEX]->spec.layout,
		   "tensor_args.input_tensor.layout() == tensor_args.input_index_tensor.layout()",
		   "Input tensor and index tensor must have the same layout. Got input layout: "
		   "Layout::%s and index layout: Layout::%s",
		   tt_enum_name(&tt_enum_layout, (int64_t)in->layout),
		   tt_enum_name(&tt_enum_layout, (int64_t)launch->inputs[INDEX]->spec.layout));
	if (in->layout == TTNN_TILE && tt_memory_config_is_sharded(out) && out->has_shard)
		TT_REQUIRE(out->shard.height % 32 == 0 && out->shard.width % 32 == 0,
			   "spec.shape[0] % tt::constants::TILE_HEIGHT == 0 && spec.shape[1] % "
			   "tt::constants::TILE_WIDTH == 0",
			   "TILE sharded gather requires tile-aligned output shard shape; got "
			   "(%" PRIu32 ", %" PRIu32 ")",
			   out->shard.height, out->shard.width);
	TT_REQUIRE(!launch->attrs[SPARSE].boolean, "attributes.sparse_grad == false",
		   "Sparse gradient is not supported yet.");
	return TTNN_OK;
}

static tt_status fast_validate(struct tt_launch *launch)
{
	TT_TRY(check_ranks(launch, "gather_codegen: input"));
	TT_TRY(check_extents(launch, "gather_codegen: index"));
	return check_index(launch, "gather_codegen: index");
}

/* ---- program memory ---------------------------------------------------------------------------------------------- */

/* All factories have three buffers; numbers: 0, 1, 2 pages of the bytes in 3, 4, 5. */
static const struct tt_mem_row rows[] = {
	{TT_CB, 0, .pages = tt_number0, .page = tt_number3, .cores = tt_work_cores0},
	{TT_CB, 1, .pages = tt_number1, .page = tt_number4, .cores = tt_work_cores0},
	{TT_CB, 2, .pages = tt_number2, .page = tt_number5, .cores = tt_work_cores0},
};

enum { TILES_ONE, TILES_MANY, ROWS_ONE, ROWS_MANY };
#define WIDE_TILES 60

static uint64_t width_of(const struct tt_tensor *tensor)
{
	return tt_shape_last(&tensor->spec.padded, 1);
}

static tt_status split(struct tt_work_split *out, const struct tt_launch *launch, uint64_t units)
{
	const struct ttnn_value *cores = &launch->attrs[CORES];

	return tt_split_work_in(out, tt_value_given(cores) ? cores->core_set : launch->device->grid,
				units, TTNN_ORIENT_ROW_MAJOR);
}

static uint64_t matrix_rows(const struct ttnn_tensor_spec *spec)
{
	uint64_t width = tt_shape_last(&spec->padded, 1);

	return width ? spec->rows * spec->cols / width : 0;
}

static tt_status plan_tiles(struct tt_launch *launch, struct tt_move_work *work, bool wide)
{
	const struct tt_tensor *in = launch->inputs[IN], *index = launch->inputs[INDEX];
	struct tt_work_split cores;

	work->number[0] = wide ? 2 : width_of(in) / 32;
	work->number[1] = work->number[2] = 1;
	work->number[3] = tt_tile_bytes_of(in->spec.dtype);
	work->number[4] = tt_tile_bytes_of(index->spec.dtype);
	work->number[5] = tt_tile_bytes_of(launch->outputs[0]->spec.dtype);
	TT_TRY(split(&cores, launch, wide ? width_of(index) / 32 : matrix_rows(&index->spec) / 32));
	work->cores[0] = cores.all;
	return TTNN_OK;
}

static tt_status plan_rows(struct tt_launch *launch, struct tt_move_work *work, bool wide)
{
	const struct tt_tensor *in = launch->inputs[IN], *index = launch->inputs[INDEX];
	uint64_t width = width_of(index);
	struct tt_work_split cores;

	TT_TRY(split(&cores, launch, wide ? width : matrix_rows(&index->spec)));
	work->cores[0] = cores.all;
	if (wide)
		width = cores.units[0] > cores.units[1] ? cores.units[0] : cores.units[1];
	work->number[0] = wide ? 2 : 1;
	work->number[1] = work->number[2] = 1;
	work->number[3] = width_of(in) * tt_element_bytes(in);
	work->number[4] = width * tt_element_bytes(index);
	work->number[5] = width * tt_element_bytes(launch->outputs[0]);
	return TTNN_OK;
}

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN], *index = launch->inputs[INDEX];
	struct tt_move_work *work = tt_move_work_new(launch);
	bool wide;

	if (!work)
		return TTNN_NOMEM;
	if (in->spec.layout == TTNN_ROW_MAJOR) {
		wide = width_of(index) > WIDE_TILES * 32;
		*out = wide ? ROWS_MANY : ROWS_ONE;
		return plan_rows(launch, work, wide);
	}
	wide = width_of(in) / 32 > WIDE_TILES || width_of(index) / 32 > WIDE_TILES;
	*out = wide ? TILES_MANY : TILES_ONE;
	return plan_tiles(launch, work, wide);
}

#define FACTORY(name_)                                                                             \
	{                                                                                          \
		"ttnn::prim::" name_, rows, TT_COUNT(rows), NULL                                   \
	}
static const struct tt_factory factories[] = {
	[TILES_ONE] = FACTORY("GatherDeviceOperation::SingleRowSingleCore"),
	[TILES_MANY] = FACTORY("GatherDeviceOperation::SingleRowMultiCore"),
	[ROWS_ONE] = FACTORY("GatherDeviceOperation::RmSingleRowSingleCore"),
	[ROWS_MANY] = FACTORY("GatherDeviceOperation::RmSingleRowMultiCore"),
};

/* ---- the faster one ------------------------------------------------------------------------------------------------ */

enum { BY_ROW, BY_TILE, STREAMING };
#define AT_ONCE 4 /* tiles that are written together */

static uint64_t out_tiles(uint64_t across)
{
	return across > AT_ONCE ? across : AT_ONCE;
}

/* Tiles of a row that fit at once, in even parts. */
static uint64_t stream_tiles(const struct tt_launch *launch, uint64_t across)
{
	uint64_t in = tt_aligned_page(launch->inputs[IN]);
	uint64_t fixed = tt_aligned_page(launch->inputs[INDEX]) + in;
	uint64_t room = tt_l1_free(launch->device);
	uint64_t most = room > fixed ? (room - fixed) / in : 0;

	most = most < 2 ? 2 : most;
	most = most > across ? across : most;
	return tt_div_up(across, tt_div_up(across, most));
}

static bool fits_l1(const struct tt_launch *launch)
{
	uint64_t in = tt_aligned_page(launch->inputs[IN]);

	return (uint64_t)launch->attrs[WT_IN].integer * in +
		       tt_aligned_page(launch->inputs[INDEX]) +
		       out_tiles((uint64_t)launch->attrs[WT_INDEX].integer) * in <=
	       tt_l1_free(launch->device);
}

/* Columns of cores, as many as there is work; or those that were named. */
static tt_status fast_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			    uint64_t units)
{
	struct tt_work_split cores;

	if (tt_value_given(&launch->attrs[CORES]))
		TT_TRY(tt_split_work_in(&cores, launch->attrs[CORES].core_set, units,
					TTNN_ORIENT_COL_MAJOR));
	else
		TT_TRY(tt_split_work(&cores, tt_grid_size(launch->device->grid), units,
				     TTNN_ORIENT_COL_MAJOR));
	*out = cores.all;
	return TTNN_OK;
}

static tt_status fast_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_move_work *work = tt_move_work_new(launch);
	uint64_t down = (uint64_t)launch->attrs[HT].integer;
	uint64_t across = (uint64_t)launch->attrs[WT_INDEX].integer;
	uint64_t in_across = (uint64_t)launch->attrs[WT_IN].integer;
	struct ttnn_core grid = tt_grid_size(launch->device->grid);

	if (!work)
		return TTNN_NOMEM;
	*out = !fits_l1(launch)                                  ? STREAMING
	       : across >= 2 && down < (uint64_t)grid.x * grid.y ? BY_TILE
								 : BY_ROW;
	work->number[0] = *out == STREAMING ? stream_tiles(launch, in_across) : in_across;
	work->number[1] = 1;
	work->number[2] = *out == STREAMING ? 1 : out_tiles(across);
	work->number[3] = tt_aligned_page(launch->inputs[IN]);
	work->number[4] = tt_aligned_page(launch->inputs[INDEX]);
	work->number[5] = tt_aligned_page(launch->outputs[0]);
	return fast_cores(&work->cores[0], launch,
			  *out == STREAMING ? across
			  : *out == BY_TILE ? down * across
					    : down);
}

static const struct tt_factory fast_factories[] = {
	[BY_ROW] = FACTORY("GatherCodegenProgramFactoryInterleaved"),
	[BY_TILE] = FACTORY("GatherCodegenProgramFactoryTiled"),
	[STREAMING] = FACTORY("GatherCodegenProgramFactoryStreaming"),
};

bool tt_gather_is_fast(const struct tt_gather_args *args)
{
	const struct ttnn_tensor_spec *in = &args->in->spec, *index = &args->index->spec;
	const struct ttnn_tensor_spec *out = args->out ? &args->out->spec : NULL;
	uint64_t volume, indices;

	if (in->layout != TTNN_TILE || index->layout != TTNN_TILE || in->dtype != TTNN_BFLOAT16 ||
	    !tt_tile_equal(&in->tile, &TT_TILE_DEFAULT) ||
	    !tt_tile_equal(&index->tile, &TT_TILE_DEFAULT) || args->dim >= in->shape.rank ||
	    tt_tensor_is_sharded(args->in) || tt_tensor_is_sharded(args->index) ||
	    tt_memory_config_is_sharded(args->memory))
		return false;
	if (out && (tt_tensor_is_sharded(args->out) || out->layout != TTNN_TILE ||
		    out->dtype != in->dtype || !tt_tile_equal(&out->tile, &TT_TILE_DEFAULT)))
		return false;
	if (ttnn_shape_volume(&volume, &in->shape) != TTNN_OK || !volume ||
	    ttnn_shape_volume(&indices, &index->shape) != TTNN_OK || !indices)
		return false;
	return index->dtype != TTNN_UINT16 || in->shape.dim[args->dim] <= 65536;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static tt_status kernel(struct tt_launch *launch)
{
	struct tt_index_job job = {.out = launch->outputs[0],
				   .in = launch->inputs[IN],
				   .index = launch->inputs[INDEX],
				   .kind = TT_INDEX_GATHER,
				   .dim = launch->inputs[IN]->spec.shape.rank - 1};

	return tt_backend_get()->index(&job);
}

static const struct tt_prog prog = {
	.device_op = "GatherDeviceOperation",
	.prim = "ttnn::prim::gather",
	.attrs = &schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = tt_cost_move,
};
static const struct tt_prog fast_prog = {
	.device_op = "GatherCodegenDeviceOperation",
	.prim = "ttnn::prim::gather_codegen",
	.attrs = &fast_schema,
	.infer = infer,
	.validate = fast_validate,
	.factories = fast_factories,
	.factory_count = TT_COUNT(fast_factories),
	.choose = fast_choose,
	TT_KERNEL(kernel),
	.cost = tt_cost_move,
};

/* What of the last tile the extent fills. */
static uint32_t in_last_tile(uint32_t extent)
{
	return extent % 32 ? extent % 32 : 32;
}

static void tell_tiles(struct ttnn_value *attrs, const struct tt_gather_args *args)
{
	const struct ttnn_tensor_spec *index = &args->index->spec;

	attrs[HT] = ttnn_v_int((int64_t)(matrix_rows(index) / 32));
	attrs[WT_IN] = ttnn_v_int((int64_t)(width_of(args->in) / 32));
	attrs[WT_INDEX] = ttnn_v_int((int64_t)(width_of(args->index) / 32));
	attrs[LAST_H] = ttnn_v_int(in_last_tile(tt_shape_last(&index->shape, 2)));
	attrs[LAST_W] = ttnn_v_int(in_last_tile(tt_shape_last(&index->shape, 1)));
	attrs[HT_BATCH] = ttnn_v_int(tt_shape_last(&index->padded, 2) / 32);
}

tt_status tt_gather_launch(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_gather_args *args, bool fast)
{
	struct tt_tensor *inputs[INPUTS] = {args->in, args->index};
	struct ttnn_value attrs[FAST_ATTRS] = {
		[DIM] = ttnn_v_int(args->dim),
		[SPARSE] = ttnn_v_bool(false),
		[MEMORY] = ttnn_v_memory(args->memory),
		[CORES] = args->cores ? ttnn_v_core_set(args->cores) : ttnn_v_none(),
	};
	struct tt_program_args program = {.prog = fast ? &fast_prog : &prog,
					  .attrs = attrs,
					  .inputs = inputs,
					  .input_count = INPUTS,
					  .outputs = &args->out,
					  .output_count = args->out ? 1 : 0};

	if (fast)
		tell_tiles(attrs, args);
	return tt_call_program(out, call, &program);
}
