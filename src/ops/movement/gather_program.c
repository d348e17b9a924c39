/*
 * gather_program.c: the two programs that take elements along the last dimension of four.
 *
 * Models, of ttnn 0.81 (data_movement/gather), with refusals, memory, cores:
 *
 *	GatherDeviceOperation
 *	  SingleRowSingleCore, SingleRowMultiCore      tiles; rows of up to WIDE_TILES, longer ones
 *	  RmSingleRowSingleCore, RmSingleRowMultiCore  the same of rows
 *	GatherCodegenDeviceOperation
 *	  Interleaved   a row of tiles for each core
 *	  Tiled         a tile for each core, where there are fewer rows than cores
 *	  Streaming     the row does not fit into L1: it is read again for each tile of indices
 *
 * Not modelled: how a kernel finds an element within a tile.
 */

#include "backend/backend.h"
#include "ops/movement/gather.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_derive.h"

enum { IN, INDEX, INPUTS };
#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(SPARSE, "sparse_grad")                                                                   \
	X(MEMORY, "output_mem_config")                                                             \
	X(CORES, "sub_core_grids")
#define CODEGEN_ATTRS(X)                                                                           \
	ATTRS(X)                                                                                   \
	X(HT, "Ht")                                                                                \
	X(WT_IN, "Wt_input")                                                                       \
	X(WT_INDEX, "Wt_index")                                                                    \
	X(LAST_H, "index_valid_h_last")                                                            \
	X(LAST_W, "index_valid_w_last")                                                            \
	X(HT_BATCH, "index_ht_per_batch")
TT_ATTRS(codegen_schema, "GatherCodegenParams", CODEGEN_ATTRS);
/* The other program has the first of them. */
static const struct tt_schema schema = {"GatherParams", codegen_schema_fields, HT, false};

/* ---- the output ------------------------------------------------------------------------------------------------ */

/* Shards that the config leaves open: those of the index, or new ones. */
static tt_status gather_resolve(struct ttnn_memory_config *out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *index = &launch->inputs[INDEX]->spec;
	bool tiled = launch->inputs[IN]->spec.layout == TTNN_TILE;
	struct ttnn_shard_spec shard = index->memory.shard;
	struct tt_shard_request request = {
		.device = launch->device,
		.padded = &index->shape,
		.layout = out->layout,
		.orientation = index->memory.has_shard ? shard.orientation : TTNN_ORIENT_ROW_MAJOR,
		.tiled = tiled};

	if (!tt_memory_config_is_sharded(out) || out->has_shard)
		return TTNN_OK;
	if (!index->memory.has_shard || index->memory.layout != out->layout ||
	    (tiled && (shard.height % TT_TILE || shard.width % TT_TILE)))
		TT_TRY(tt_shard_make(&shard, &request, "Transpose"));
	return ttnn_memory_config_sharded(out, out->layout, out->buffer, &shard);
}

/* Shape of the index, dtype of the input. */
static tt_status gather_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	TT_TRY(gather_resolve(&memory, launch));
	return tt_spec_simple(&launch->specs[0], &launch->inputs[INDEX]->spec.shape, in->dtype,
			      in->layout, &memory);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

/* Both programs ask this, with other words. */
static tt_status check_ranks(const struct tt_launch *launch, const char *who)
{
	uint32_t in = launch->inputs[IN]->spec.shape.rank;
	uint32_t index = launch->inputs[INDEX]->spec.shape.rank;

	TT_REQUIRE(in == index, "input_tensor_rank == input_index_tensor_rank",
		   "%s and index tensor must have the same number of dimensions. Got input dim: "
		   "%u and index dim: %u",
		   who, in, index);
	return TTNN_OK;
}

/* uint32, or uint16 for short rows. */
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

/* The index may be smaller than the input in the other dimensions, as in torch. */
static tt_status check_extents(const struct tt_launch *launch, const char *who)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.shape;
	const struct ttnn_shape *index = &launch->inputs[INDEX]->spec.shape;

	for (uint32_t d = 0; d + 1 < in->rank; d++)
		TT_REQUIRE(index->dim[d] <= in->dim[d],
			   "input_index_tensor_shape[i] <= input_tensor_shape[i]",
			   "%s tensor shape dimension %u must be less than or equal to input "
			   "tensor shape dimension %u. Got index tensor shape: %u and input "
			   "tensor shape: %u",
			   who, d, d, index->dim[d], in->dim[d]);
	return TTNN_OK;
}

/* Shards of tiles are whole tiles. */
static tt_status gather_validate(struct tt_launch *launch)
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
		TT_REQUIRE(out->shard.height % TT_TILE == 0 && out->shard.width % TT_TILE == 0,
			   "spec.shape[0] % tt::constants::TILE_HEIGHT == 0 && spec.shape[1] % "
			   "tt::constants::TILE_WIDTH == 0",
			   "TILE sharded gather requires tile-aligned output shard shape; got "
			   "(%u, %u)",
			   out->shard.height, out->shard.width);
	TT_REQUIRE(!launch->attrs[SPARSE].boolean, "attributes.sparse_grad == false",
		   "Sparse gradient is not supported yet.");
	return TTNN_OK;
}

/* A given output has the shape of the index. */
static tt_status check_given(const struct tt_launch *launch)
{
	const struct ttnn_shape *index = &launch->inputs[INDEX]->spec.shape;

	if (!launch->outputs[0] || ttnn_shape_equal(&launch->outputs[0]->spec.shape, index))
		return TTNN_OK;
	return tt_fail_shapes(
		TTNN_INVALID, "output_shape == tensor_args.input_index_tensor.logical_shape()",
		"gather_codegen: output tensor shape must be the same as index tensor "
		"shape. Got output tensor shape: %s and index tensor shape: %s",
		&launch->outputs[0]->spec.shape, index);
}

static tt_status gather_codegen_validate(struct tt_launch *launch)
{
	TT_TRY(check_ranks(launch, "gather_codegen: input"));
	TT_TRY(check_extents(launch, "gather_codegen: index"));
	TT_TRY(check_given(launch));
	TT_TRY(check_index(launch, "gather_codegen: index"));
	TT_REQUIRE(!launch->attrs[SPARSE].boolean, "attributes.sparse_grad == false",
		   "gather_codegen: sparse gradient is not supported.");
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------------------- */

enum { TILES_ONE, TILES_MANY, ROWS_ONE, ROWS_MANY };
#define WIDE_TILES 60

static uint64_t width_of(const struct tt_tensor *tensor)
{
	return tt_shape_last(&tensor->spec.padded, 1);
}

static tt_status gather_split_work(struct tt_work_split *out, const struct tt_launch *launch,
				   uint64_t units)
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

/*
 * A core has a whole row of input tiles, or two of them where rows are wide and many cores share
 * one.
 */
static tt_status gather_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN], *index = launch->inputs[INDEX];
	bool wide = tt_factory_index(launch) == TILES_MANY;
	struct tt_work_split cores;

	TT_TRY(gather_split_work(&cores, launch,
				 wide ? width_of(index) / TT_TILE
				      : matrix_rows(&index->spec) / TT_TILE));
	return TT_PLAN(plan, cores.all,
		       TT_CB_ROW(0, "input_tensor", .pages = wide ? 2 : width_of(in) / TT_TILE,
				 .page = tt_tile_bytes_of(in->spec.dtype)),
		       TT_CB_ROW(1, "input_index_tensor", .pages = 1,
				 .page = tt_tile_bytes_of(index->spec.dtype)),
		       TT_CB_ROW(2, "output_tensor", .pages = 1,
				 .page = tt_tile_bytes_of(launch->outputs[0]->spec.dtype)));
}

/* The same in rows: one core a row, or parts of the index of one row on many cores. */
static tt_status gather_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN], *index = launch->inputs[INDEX];
	bool wide = tt_factory_index(launch) == ROWS_MANY;
	uint64_t width = width_of(index);
	struct tt_work_split cores;

	TT_TRY(gather_split_work(&cores, launch, wide ? width : matrix_rows(&index->spec)));
	if (wide)
		width = cores.units[0] > cores.units[1] ? cores.units[0] : cores.units[1];
	return TT_PLAN(plan, cores.all,
		       TT_CB_ROW(0, "input_tensor", .pages = wide ? 2 : 1,
				 .page = width_of(in) * tt_element_bytes(in)),
		       TT_CB_ROW(1, "input_index_tensor", .pages = 1,
				 .page = width * tt_element_bytes(index)),
		       TT_CB_ROW(2, "output_tensor", .pages = 1,
				 .page = width * tt_element_bytes(launch->outputs[0])));
}

/* More than WIDE_TILES tiles in a row are shared by many cores. */
static tt_status gather_choose(uint32_t *out, struct tt_launch *launch)
{
	uint64_t in = width_of(launch->inputs[IN]), index = width_of(launch->inputs[INDEX]);

	if (launch->inputs[IN]->spec.layout == TTNN_ROW_MAJOR)
		*out = index > WIDE_TILES * TT_TILE ? ROWS_MANY : ROWS_ONE;
	else
		*out = in / TT_TILE > WIDE_TILES || index / TT_TILE > WIDE_TILES ? TILES_MANY
										 : TILES_ONE;
	return TTNN_OK;
}

#define FACTORY(name_, memory_) TT_FACTORY_ROW("ttnn::prim::Gather" name_, memory_)
static const struct tt_factory factories[] = {
	[TILES_ONE] = FACTORY("DeviceOperation::SingleRowSingleCore", gather_tiles_memory),
	[TILES_MANY] = FACTORY("DeviceOperation::SingleRowMultiCore", gather_tiles_memory),
	[ROWS_ONE] = FACTORY("DeviceOperation::RmSingleRowSingleCore", gather_rows_memory),
	[ROWS_MANY] = FACTORY("DeviceOperation::RmSingleRowMultiCore", gather_rows_memory),
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

/*
 * By whole rows of tiles; by single tiles if rows are fewer than cores; streaming if a row does
 * not fit into L1.
 */
static tt_status gather_codegen_choose(uint32_t *out, struct tt_launch *launch)
{
	uint64_t down = (uint64_t)launch->attrs[HT].integer;
	struct ttnn_core grid = tt_grid_size(launch->device->grid);

	*out = !fits_l1(launch) ? STREAMING
	       : launch->attrs[WT_INDEX].integer >= 2 && down < (uint64_t)grid.x * grid.y ? BY_TILE
											  : BY_ROW;
	return TTNN_OK;
}

/* Streaming takes as many input tiles as fit. */
static tt_status gather_codegen_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t down = (uint64_t)launch->attrs[HT].integer;
	uint64_t across = (uint64_t)launch->attrs[WT_INDEX].integer;
	uint64_t in_across = (uint64_t)launch->attrs[WT_IN].integer;
	uint32_t way = tt_factory_index(launch);
	struct tt_work_split work;

	TT_TRY(tt_split_among(&work, launch, &launch->attrs[CORES],
			      way == STREAMING ? across
			      : way == BY_TILE ? down * across
					       : down));
	return TT_PLAN(
		plan, work.all,
		TT_CB_ROW(0, "input_tensor",
			  .pages = way == STREAMING ? stream_tiles(launch, in_across) : in_across,
			  .page = tt_aligned_page(launch->inputs[IN])),
		TT_CB_ROW(1, "input_index_tensor", .pages = 1,
			  .page = tt_aligned_page(launch->inputs[INDEX])),
		TT_CB_ROW(2, "output_tensor", .pages = way == STREAMING ? 1 : out_tiles(across),
			  .page = tt_aligned_page(launch->outputs[0])));
}

static const struct tt_factory gather_codegen_factories[] = {
	[BY_ROW] = FACTORY("CodegenProgramFactoryInterleaved", gather_codegen_memory),
	[BY_TILE] = FACTORY("CodegenProgramFactoryTiled", gather_codegen_memory),
	[STREAMING] = FACTORY("CodegenProgramFactoryStreaming", gather_codegen_memory),
};

/* When upstream takes the generated program: bfloat16 in 32 × 32 tiles, interleaved all through. */
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

/* Always along the last dimension: that is where operations bring it. */
static tt_status gather_kernel(struct tt_launch *launch)
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
	.infer = gather_infer,
	.validate = gather_validate,
	TT_FACTORIES(factories),
	.choose = gather_choose,
	TT_KERNEL(gather_kernel),
	.cost = tt_cost_move,
};
static const struct tt_prog gather_codegen_prog = {
	.device_op = "GatherCodegenDeviceOperation",
	.prim = "ttnn::prim::gather_codegen",
	.attrs = &codegen_schema,
	.infer = gather_infer,
	.validate = gather_codegen_validate,
	TT_FACTORIES(gather_codegen_factories),
	.choose = gather_codegen_choose,
	TT_KERNEL(gather_kernel),
	.cost = tt_cost_move,
};

/* What of the last tile the extent fills. */
static uint32_t in_last_tile(uint32_t extent)
{
	return extent % TT_TILE ? extent % TT_TILE : TT_TILE;
}

/* The generated program is keyed by extents in tiles, and how much of the last ones counts. */
static void set_tiles(struct ttnn_value *attrs, const struct tt_gather_args *args)
{
	const struct ttnn_tensor_spec *index = &args->index->spec;

	attrs[HT] = ttnn_v_int((int64_t)(matrix_rows(index) / TT_TILE));
	attrs[WT_IN] = ttnn_v_int((int64_t)(width_of(args->in) / TT_TILE));
	attrs[WT_INDEX] = ttnn_v_int((int64_t)(width_of(args->index) / TT_TILE));
	attrs[LAST_H] = ttnn_v_int(in_last_tile(tt_shape_last(&index->shape, 2)));
	attrs[LAST_W] = ttnn_v_int(in_last_tile(tt_shape_last(&index->shape, 1)));
	attrs[HT_BATCH] = ttnn_v_int(tt_shape_last(&index->padded, 2) / TT_TILE);
}

/* Both programs share the first attributes; the generated one has more. */
tt_status tt_gather_launch(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_gather_args *args, bool fast)
{
	struct tt_tensor *inputs[INPUTS] = {args->in, args->index};
	struct ttnn_value attrs[codegen_schema_count] = {
		[DIM] = ttnn_v_int(args->dim),
		[SPARSE] = ttnn_v_bool(args->sparse),
		[MEMORY] = ttnn_v_memory(args->memory),
		[CORES] = tt_value_cores(args->cores),
	};

	if (fast)
		set_tiles(attrs, args);
	return TT_LAUNCH(out, call, fast ? &gather_codegen_prog : &prog, .attrs = attrs,
			 .inputs = inputs, .input_count = INPUTS, .outputs = &args->out,
			 .output_count = args->out ? 1 : 0);
}
