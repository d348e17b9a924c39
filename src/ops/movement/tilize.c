/*
 * tilize.c: from rows to tiles: tilize and its padding forms.
 *
 * Models, of ttnn 0.81 (data_movement/tilize, tilize_with_val_padding), with refusals, memory,
 * cores:
 *
 *	TilizeDeviceOperation
 *	  SingleCore        asked for, low on L1, or one core given
 *	  MultiCoreSharded  shards that stay where they are
 *	  MultiCoreBlock    wide tensors: blocks of tiles, more cores than rows of tiles would busy
 *	  MultiCoreDefault  else a row of tiles after the other
 *	  MultiCoreRetile, MultiCoreShardedRetile  tiles to tiles of another form
 *	TilizeWithValPaddingDeviceOperation
 *	  SingleCore, MultiCoreSharded, MultiCoreBlockInterleaved, MultiCoreDefault  alike
 *
 * Whether blocks busy more cores is tt_block_is_wider(). Not modelled: how padding is written
 * into a block.
 */
#include <inttypes.h>
#include <math.h>

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_ops.h"

/* ---- what both programs share ---------------------------------------------------------------------- */

static uint64_t tile_bytes(const struct tt_tensor *tensor, const struct ttnn_tile *tile)
{
	return tt_dtype_tile_bytes(tensor->spec.dtype, tile);
}

/* A buffer of rows and one of tiles, as many tiles on both sides. */
static tt_status pair_memory(struct tt_plan *plan, const struct tt_launch *launch,
			     const struct ttnn_tile *tile, const ttnn_core_set *cores,
			     uint64_t tiles)
{
	return TT_PLAN(
		plan, cores,
		TT_DFB_ROW(0, "src0", .pages = tiles, .page = tile_bytes(launch->inputs[0], tile)),
		TT_DFB_ROW(1, "output", .pages = tiles,
			   .page = tile_bytes(launch->outputs[0], tile)));
}

/* Wide matrices in blocks, column by column over the cores. */
static tt_status blocks_memory(struct tt_plan *plan, const struct tt_launch *launch,
			       const struct ttnn_tile *tile, const ttnn_core_set *cores)
{
	struct tt_block_request request = {
		.cores = cores,
		.order = TTNN_ORIENT_COL_MAJOR,
		.tiled = &launch->outputs[0]->spec,
		.tile = *tile,
		.in_tile = tile_bytes(launch->inputs[0], tile),
		.out_tile = tile_bytes(launch->outputs[0], tile),
		.scratch = true,
	};

	return tt_block_plan(plan, launch, &request);
}

/* The largest divisor of the tiles of a row that is not above max. */
static uint64_t fitting(uint64_t tiles, uint64_t max)
{
	return tiles <= max ? tiles : tt_split_divisor(tiles, max);
}

/* What is known of the space a whole row of tiles needs, before anything is allocated. */
struct space {
	struct tt_tensor *in;
	const struct ttnn_shape *padded;
	const struct ttnn_memory_config *memory;
	const enum ttnn_dtype *dtype; /* NULL: not given */
	struct ttnn_tile tile;
};

/*
 * Whether a row of tiles fits: input, output and the scratch of unaligned rows, beside an output
 * that is not there yet.
 */
static bool has_space(const struct space *space, uint64_t tiles)
{
	struct tt_device *device = tt_tensor_device(space->in);
	enum ttnn_dtype dtype = space->dtype ? *space->dtype : space->in->spec.dtype;
	uint64_t in_tile = tt_dtype_tile_bytes(space->in->spec.dtype, &space->tile);
	uint64_t out_tile = tt_dtype_tile_bytes(dtype, &space->tile);
	uint64_t scratch =
		in_tile / space->tile.height * tiles + 2 * tt_memory_alignment(device, TTNN_DRAM);
	struct ttnn_spec_args args = {.shape = *space->padded,
				      .dtype = dtype,
				      .layout = TTNN_TILE,
				      .memory = *space->memory};
	uint64_t room = tt_l1_free(device), pending = tt_l1_pending(device, &args);

	return (room > pending ? room - pending : 0) > (in_tile + out_tile) * tiles + scratch;
}

static bool is_wide_float(enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT16 || tt_dtype_is_block(dtype);
}

/* ---- tilize ------------------------------------------------------------------------------------------ */

#define TZ_ATTRS(X)                                                                                \
	X(TZ_MEMORY, "output_mem_config")                                                          \
	X(TZ_DTYPE, "output_dtype")                                                                \
	X(TZ_MULTI, "use_multicore")                                                               \
	X(TZ_ENOUGH, "enough_space_height")                                                        \
	X(TZ_LOW, "use_low_perf")                                                                  \
	X(TZ_TILE, "tile")                                                                         \
	X(TZ_CORES, "sub_core_grids")
TT_ATTRS(tz_schema, "TilizeParams", TZ_ATTRS);

enum { TZ_LINES, TZ_BLOCKS, TZ_SINGLE, TZ_SHARDS, TZ_SHARDS_RETILE, TZ_RETILE };

static bool tile_divides(const struct ttnn_shard_spec *shard, const struct ttnn_tile *tile)
{
	return shard->height % tile->height == 0 && shard->width % tile->width == 0;
}

/*
 * Whether shards can be tilized where they are: both sides in L1, cut alike, in shards that
 * tiles divide. A height sharded input may also go to an interleaved result, if its shards
 * follow row after row. A sub-grid that the caller gave excludes it.
 */
static bool in_place(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	const struct ttnn_memory_config *out = launch->attrs[TZ_MEMORY].memory;
	const struct ttnn_tile *tile = launch->attrs[TZ_TILE].tile;
	bool interleaved = out->layout == TTNN_INTERLEAVED;

	if (!in->has_shard || in->layout == TTNN_ND_SHARDED || in->buffer != TTNN_L1 ||
	    out->buffer != TTNN_L1 || out->layout == TTNN_ND_SHARDED)
		return false;
	if (launch->inputs[0]->spec.layout == TTNN_ROW_MAJOR && tile->height < 32)
		return false;
	if (in->layout == TTNN_HEIGHT_SHARDED) {
		if (!tile_divides(&in->shard, tile) ||
		    (interleaved ? in->shard.orientation != TTNN_ORIENT_ROW_MAJOR
				 : out->layout != TTNN_HEIGHT_SHARDED))
			return false;
	} else if (out->layout != in->layout || !out->has_shard ||
		   !tile_divides(&out->shard, tile)) {
		return false;
	}
	return !tt_value_given(&launch->attrs[TZ_CORES]) &&
	       tt_core_set_includes(launch->device->grid, in->shard.grid);
}

static bool is_retile(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tile *tile = launch->attrs[TZ_TILE].tile;

	return in->layout == TTNN_TILE &&
	       (in->tile.width != tile->width || in->tile.height != tile->height);
}

/* Shards that are tilized in their place keep the input's cut. */
static tt_status tz_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[TZ_MEMORY].memory;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = (enum ttnn_dtype)launch->attrs[TZ_DTYPE].integer,
				      .layout = TTNN_TILE,
				      .tile = *launch->attrs[TZ_TILE].tile,
				      .memory = *memory};

	if (!tt_memory_config_is_sharded(memory) || !in_place(launch))
		return ttnn_tensor_spec_make(&launch->specs[0], &args);
	TT_TRY(ttnn_memory_config_sharded(&args.memory, in->memory.layout, memory->buffer,
					  &in->memory.shard));
	return tt_tensor_spec_padded(&launch->specs[0], &args, &in->padded);
}

/*
 * Tiles are 32 wide; other heights are for bfloat16 and its kin, as block floats share exponents
 * over a row of 16 in faces of 16 rows.
 */
static tt_status check_tile_size(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tile *tile = launch->attrs[TZ_TILE].tile;
	uint32_t width = tt_shape_last(&in->padded, 1), height = tt_shape_last(&in->padded, 2);

	TT_REQUIRE(tile->width == 32, "tile_width == tt::constants::TILE_WIDTH",
		   "tilize requires tile width 32, got %u", tile->width);
	TT_REQUIRE(tile->height == 32 ||
			   !tt_dtype_is_block((enum ttnn_dtype)launch->attrs[TZ_DTYPE].integer),
		   "out_dt != DataType::BFLOAT8_B && out_dt != DataType::BFLOAT4_B",
		   "Tiny tile heights are not supported for blocked data types like BFLOAT8_B or "
		   "BFLOAT4_B");
	TT_REQUIRE(width % tile->width == 0, "input_tensor_a.padded_shape()[-1] % tile_width == 0",
		   "Input tensor width (%u) must be divisible by tile width (%u)", width,
		   tile->width);
	TT_REQUIRE(is_retile(launch) || height % tile->height == 0,
		   "retile || input_tensor_a.padded_shape()[-2] % tile_height == 0",
		   "Input tensor height (%u) must be divisible by tile height (%u)", height,
		   tile->height);
	return TTNN_OK;
}

/* Eight-bit floats become a wider type on the way; a single column of tiles is not supported. */
static tt_status check_fp8(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	enum ttnn_dtype dtype = (enum ttnn_dtype)launch->attrs[TZ_DTYPE].integer;
	uint32_t width = tt_shape_last(&in->padded, 1);

	if (in->dtype != TTNN_FP8_E4M3)
		return TTNN_OK;
	TT_REQUIRE(is_wide_float(dtype),
		   "input_tensor_a.dtype() != DataType::FP8_E4M3 || (is_floating_point(out_dt) && "
		   "out_dt != DataType::FP8_E4M3)",
		   "FP8_E4M3 input to tilize requires a float TILE output (FLOAT32, BFLOAT16, "
		   "BFLOAT8_B, or BFLOAT4_B)");
	TT_REQUIRE(width / TT_TILE > 1,
		   "input_tensor_a.dtype() != DataType::FP8_E4M3 || (width / tile_width) > 1",
		   "FP8_E4M3 tilize requires more than one tile per row (padded width %u must "
		   "exceed one tile of 32); the single-tile-per-row 8-bit unpack-tilize path is "
		   "currently broken on this architecture",
		   width);
	return TTNN_OK;
}

/* Rows of shards must be aligned pages: they are read as they stand, not copied. */
static tt_status tz_validate(struct tt_launch *launch)
{
	const struct tt_tensor *tensor = launch->inputs[0];
	const struct ttnn_tensor_spec *in = &tensor->spec;

	TT_REQUIRE(tt_tensor_buffer(tensor), "input_tensor_a.buffer() != nullptr",
		   "Operands to tilize need to be allocated in buffers on device!");
	TT_REQUIRE(is_retile(launch) || in->layout == TTNN_ROW_MAJOR,
		   "input_tensor_a.layout() == Layout::ROW_MAJOR",
		   "Can only tilize row major data");
	TT_TRY(check_tile_size(launch));
	TT_REQUIRE(
		in->dtype != TTNN_INT8 && !tt_dtype_is_block(in->dtype),
		"input_tensor_a.dtype() == DataType::BFLOAT16 or input_tensor_a.dtype() == "
		"DataType::FLOAT32 or input_tensor_a.dtype() == DataType::UINT32 or "
		"input_tensor_a.dtype() == DataType::INT32 or input_tensor_a.dtype() == "
		"DataType::UINT16 or input_tensor_a.dtype() == DataType::UINT8 or "
		"input_tensor_a.dtype() == DataType::FP8_E4M3",
		"data type must be bfloat16, float32, uint32, int32, uint16, uint8, or fp8_e4m3");
	TT_TRY(check_fp8(launch));
	if (!tt_tensor_is_sharded(tensor))
		return TTNN_OK;
	TT_REQUIRE(launch->attrs[TZ_MULTI].boolean, "operation_attributes.use_multicore == true",
		   "Multicore must be enabled for sharded input");
	TT_REQUIRE(in->page_bytes == tt_aligned_page(tensor),
		   "page_size_bytes == input_tensor_a.buffer()->aligned_page_size()",
		   "Input row-major shard width %u bytes gives page size %" PRIu64
		   " bytes, which must be aligned to %" PRIu64
		   " bytes L1 SRAM buffer alignment requirement",
		   tt_shard_width(&in->memory), in->page_bytes,
		   tt_memory_alignment(launch->device, TTNN_L1));
	return TTNN_OK;
}

/* Chooses between rows of tiles and blocks for what is interleaved. */
static tt_status choose_wide(uint32_t *out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tile *tile = launch->attrs[TZ_TILE].tile;
	uint64_t across = tt_shape_last(&in->padded, 1) / tile->width;
	uint64_t down = tt_shape_last(&in->padded, 2) / tile->height;
	struct ttnn_shape tiles = {2, {(uint32_t)down * 32, (uint32_t)across * 32}};
	bool wider;

	if (!launch->attrs[TZ_ENOUGH].boolean) {
		*out = TZ_BLOCKS;
		return TTNN_OK;
	}
	TT_TRY(tt_block_is_wider(&wider, tt_cores_or_all(launch, &launch->attrs[TZ_CORES]), &tiles,
				 across * down, in->rows / tile->height));
	*out = wider ? TZ_BLOCKS : TZ_LINES;
	return TTNN_OK;
}

/*
 * Tiles of another height first (retile), then what forces one core, then shards, then the shape.
 */
static tt_status tz_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_value *sub = &launch->attrs[TZ_CORES];
	bool sharded = tt_tensor_is_sharded(in);

	if (is_retile(launch))
		*out = sharded && in_place(launch) ? TZ_SHARDS_RETILE : TZ_RETILE;
	else if (tt_is_blackhole(launch->device) && in->spec.dtype == TTNN_UINT8 && !sharded)
		*out = TZ_BLOCKS;
	else if (launch->attrs[TZ_LOW].boolean || !launch->attrs[TZ_MULTI].boolean ||
		 (tt_value_given(sub) && ttnn_core_set_cores(sub->core_set) < 2))
		*out = TZ_SINGLE;
	else if (sharded)
		*out = in_place(launch) ? TZ_SHARDS : TZ_LINES;
	else
		return choose_wide(out, launch);
	return TTNN_OK;
}

/* A row of tiles at a time on each core. */
static tt_status tz_lines_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tile *tile = launch->attrs[TZ_TILE].tile;
	uint64_t across = tt_div_up(tt_shape_last(&launch->inputs[0]->spec.shape, 1), tile->width);
	struct tt_block_split split;

	TT_TRY(tt_split_blocks(&split, tt_cores_or_all(launch, &launch->attrs[TZ_CORES]),
			       tt_div_up(launch->outputs[0]->spec.pages, across),
			       TTNN_ORIENT_COL_MAJOR));
	return pair_memory(plan, launch, tile, split.all, across);
}

static tt_status tz_blocks_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return blocks_memory(plan, launch, launch->attrs[TZ_TILE].tile,
			     tt_cores_or_all(launch, &launch->attrs[TZ_CORES]));
}

/* As many tiles of a row as half of L1 holds, and evenly. */
static tt_status tz_single_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tile *tile = launch->attrs[TZ_TILE].tile;
	uint64_t across = tt_shape_last(&launch->inputs[0]->spec.padded, 1) / tile->width;
	uint64_t max = tt_l1_half(launch->device) /
		       (tile_bytes(launch->inputs[0], tile) + tile_bytes(launch->outputs[0], tile));
	const ttnn_core_set *one;

	TT_TRY(tt_cores_first(&one, tt_cores_or_all(launch, &launch->attrs[TZ_CORES]), 1,
			      TTNN_ORIENT_ROW_MAJOR));
	return pair_memory(plan, launch, tile, one,
			   launch->attrs[TZ_LOW].boolean ? 1 : fitting(across, max));
}

/* Shards in their own place; an interleaved output is written a row of tiles at a time. */
static tt_status tz_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tile *tile = launch->attrs[TZ_TILE].tile;
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_shard_spec *shard = &in->spec.memory.shard;
	uint64_t across = shard->width / tile->width;
	uint64_t tiles =
		(uint64_t)shard->height * shard->width / ((uint64_t)tile->height * tile->width);
	bool sharded = tt_tensor_is_sharded(out);

	return TT_PLAN(
		plan, shard->grid,
		TT_DFB_ROW(0, "src0", .pages = tiles, .page = tile_bytes(in, tile), .backing = in),
		TT_DFB_ROW(1, "output", .pages = sharded ? tiles : across,
			   .page = tile_bytes(out, tile), .backing = sharded ? out : NULL));
}

/*
 * Already tiles, of another height: they go through rows, two output blocks deep. `mid` holds
 * the rows of the taller of both tiles.
 */
static tt_status tz_retile_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	const struct ttnn_tile *tile = launch->attrs[TZ_TILE].tile;
	bool shrink = in->tile.height >= tile->height;
	uint64_t taller = shrink ? in->tile.height : tile->height;
	uint64_t rows = out->rows > in->rows ? out->rows : in->rows;
	uint64_t in_tile = tt_dtype_tile_bytes(in->dtype, &in->tile);
	uint64_t across = in->cols / tile->width, tiles;
	struct tt_block_split split;

	TT_TRY(tt_split_blocks(&split, tt_cores_or_all(launch, &launch->attrs[TZ_CORES]),
			       rows / taller, TTNN_ORIENT_COL_MAJOR));
	tiles = across * (split.share > 1 || split.rest > 1 ? 2 : 1);
	return TT_PLAN(
		plan, split.all, TT_DFB_ROW(0, "src0", .pages = tiles, .page = in_tile),
		TT_DFB_ROW(1, "mid",
			   .pages = 2 * across * (shrink ? 1 : tile->height / in->tile.height),
			   .page = in_tile),
		TT_DFB_ROW(2, "output", .pages = tiles,
			   .page = tile_bytes(launch->outputs[0], tile)));
}

#define TZ_FACTORY(name_, memory_)                                                                 \
	TT_FACTORY_ROW("ttnn::prim::Tilize" name_ "ProgramFactory", memory_)

static const struct tt_factory tz_factories[] = {
	[TZ_LINES] = TZ_FACTORY("MultiCoreDefault", tz_lines_memory),
	[TZ_BLOCKS] = TZ_FACTORY("MultiCoreBlock", tz_blocks_memory),
	[TZ_SINGLE] = TZ_FACTORY("SingleCore", tz_single_memory),
	[TZ_SHARDS] = TZ_FACTORY("MultiCoreSharded", tz_shards_memory),
	[TZ_SHARDS_RETILE] = TZ_FACTORY("MultiCoreShardedRetile", tz_shards_memory),
	[TZ_RETILE] = TZ_FACTORY("MultiCoreRetile", tz_retile_memory),
};
static const struct tt_prog prog_tilize = {
	.device_op = "TilizeDeviceOperation",
	.prim = "ttnn::prim::tilize",
	.attrs = &tz_schema,
	.infer = tz_infer,
	.validate = tz_validate,
	TT_FACTORIES(tz_factories),
	.choose = tz_choose,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_computed_move,
};

/* Arguments of the operation. */
struct tilize {
	const struct ttnn_memory_config *memory; /* NULL: the input's */
	const enum ttnn_dtype *dtype;            /* NULL: the input's */
	struct ttnn_tile tile;
	const ttnn_core_set *cores; /* (optional) */
	bool multicore, low_perf, enough;
};

/* Attributes in upstream's order. */
static tt_status launch_tilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			       const struct tilize *args)
{
	enum ttnn_dtype usual = in->spec.dtype == TTNN_FP8_E4M3 ? TTNN_FLOAT32 : in->spec.dtype;
	struct ttnn_value attrs[tz_schema_count];

	attrs[TZ_MEMORY] = ttnn_v_memory(args->memory ? args->memory : &in->spec.memory);
	attrs[TZ_DTYPE] = ttnn_v_dtype(args->dtype ? *args->dtype : usual);
	attrs[TZ_MULTI] = ttnn_v_bool(args->multicore);
	attrs[TZ_ENOUGH] = ttnn_v_bool(args->enough);
	attrs[TZ_LOW] = ttnn_v_bool(args->low_perf);
	attrs[TZ_TILE] = (struct ttnn_value){.kind = TTNN_VALUE_TILE, .tile = &args->tile};
	attrs[TZ_CORES] = tt_value_cores(args->cores);
	return TT_LAUNCH(out, call, &prog_tilize, TT_INPUTS(in), .attrs = attrs);
}

/* Rows too wide for L1 are tilized in DRAM. */
static tt_status tilize_in_dram(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
				const struct tilize *args)
{
	static const struct ttnn_memory_config dram;
	struct tilize away = *args;
	struct tt_tensor *rows, *tiles;

	TT_TRY(tt_call_to_memory(&rows, call, in, &dram));
	tt_call_own(call, rows);
	away.memory = &dram;
	TT_TRY(launch_tilize(&tiles, call, rows, &away));
	tt_call_own(call, tiles);
	return tt_call_to_memory(out, call, tiles, args->memory ? args->memory : &in->spec.memory);
}

/*
 * Through four dimensions and back. Whether a row of tiles fits into L1 is asked first and is an
 * attribute (enough_space_width): shards that do not fit are tilized in DRAM, between two moves.
 */
static tt_status tilize(struct tt_call *call, struct tt_tensor *in, struct tilize *args)
{
	struct space space = {.in = in,
			      .padded = &in->spec.padded,
			      .memory = args->memory ? args->memory : &in->spec.memory,
			      .dtype = args->dtype,
			      .tile = args->tile};
	struct tt_tensor *folded, *out;

	args->enough = has_space(&space, tt_shape_last(&in->spec.padded, 1) / args->tile.width);
	TT_TRY(tt_call_fold_to_4d(&folded, call, in, args->cores));
	tt_call_own(call, folded);
	if (tt_tensor_is_sharded(folded) && !args->enough)
		TT_TRY(tilize_in_dram(&out, call, folded, args));
	else
		TT_TRY(launch_tilize(&out, call, folded, args));
	if (in->spec.shape.rank > 4) {
		struct tt_reshape_args back = {.in = tt_call_own(call, out),
					       .shape = &in->spec.shape,
					       .sub_cores = args->cores};

		TT_TRY(tt_call_reshape(&out, call, &back));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

/* An empty tensor is only made. */
static tt_status return_empty(struct tt_call *call, const struct tt_tensor *in,
			      const struct ttnn_spec_args *args)
{
	struct ttnn_tensor_spec spec;
	struct tt_tensor *out;

	TT_TRY(ttnn_tensor_spec_make(&spec, args));
	return tt_call_give(call, tt_call_create(&out, call, tt_tensor_device(in), &spec), &out);
}

static bool is_empty(const struct tt_tensor *tensor)
{
	return !tensor->spec.rows || !tensor->spec.cols;
}

static const enum ttnn_dtype *given_dtype(enum ttnn_dtype *out, const struct tt_call *call,
					  const char *name)
{
	*out = tt_call_dtype(call, name, TTNN_BFLOAT16);
	return tt_value_given(tt_call_arg(call, name)) ? out : NULL;
}

/* An empty tensor on a device is only made. */
static tt_status expand_tilize(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct ttnn_value *tile = tt_call_arg(call, "tile");
	enum ttnn_dtype dtype;
	struct tilize args = {.memory = tt_call_memory(call, "memory_config"),
			      .dtype = given_dtype(&dtype, call, "dtype"),
			      .tile = tile->kind == TTNN_VALUE_TILE ? *tile->tile : TT_TILE_DEFAULT,
			      .cores = tt_call_core_set(call, "sub_core_grids"),
			      .multicore = tt_call_bool(call, "use_multicore", true),
			      .low_perf = tt_call_bool(call, "use_low_perf", false)};

	if (tt_tensor_device(in) && is_empty(in)) {
		struct ttnn_spec_args spec = {.shape = in->spec.shape,
					      .dtype = args.dtype ? dtype : in->spec.dtype,
					      .layout = TTNN_TILE,
					      .tile = args.tile,
					      .memory =
						      args.memory ? *args.memory : in->spec.memory};

		return return_empty(call, in, &spec);
	}
	TT_TRY(tt_need_device(in));
	return tilize(call, in, &args);
}

/* ---- tilize with padding -------------------------------------------------------------------------------- */

#define VP_ATTRS(X)                                                                                \
	X(VP_SHAPE, "output_padded_shape")                                                         \
	X(VP_VALUE, "pad_value", .text = TT_TEXT_FIXED, .fixed = "<variant>")                      \
	X(VP_MEMORY, "output_mem_config")                                                          \
	X(VP_DTYPE, "output_dtype")                                                                \
	X(VP_MULTI, "use_multicore")                                                               \
	X(VP_WIDTH, "enough_space_width")                                                          \
	X(VP_HEIGHT, "enough_space_height")                                                        \
	X(VP_CORES, "sub_core_grids")
TT_ATTRS(vp_schema, "TilizeWithValPaddingParams", VP_ATTRS);

enum { VP_SINGLE, VP_BLOCKS, VP_LINES, VP_SHARDS };

/* Whether rows can be padded within shards that hold all of them. */
static bool pads_in_place(const struct ttnn_tensor_spec *in, const struct ttnn_value *attrs)
{
	const struct ttnn_memory_config *out = attrs[VP_MEMORY].memory;
	const struct ttnn_shape *padded = attrs[VP_SHAPE].shape;

	if (in->memory.buffer != TTNN_L1 || out->buffer != TTNN_L1 ||
	    in->memory.layout != TTNN_WIDTH_SHARDED || out->layout != in->memory.layout)
		return false;
	for (uint32_t d = 0; d < in->padded.rank; d++)
		if (d + 2 != in->padded.rank &&
		    (d >= padded->rank || in->padded.dim[d] != padded->dim[d]))
			return false;
	return !tt_value_given(&attrs[VP_CORES]);
}

/*
 * The padded shape is what was asked for; the logical one stays, so that nobody sees the padding
 * but who asks for it. In place, a shard grows to the padded height.
 */
static tt_status vp_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *attrs = launch->attrs;
	const struct ttnn_shape *padded = attrs[VP_SHAPE].shape;
	struct ttnn_shard_spec shard = in->memory.shard;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = (enum ttnn_dtype)attrs[VP_DTYPE].integer,
				      .layout = TTNN_TILE,
				      .memory = *attrs[VP_MEMORY].memory};
	uint64_t rows;

	if (pads_in_place(in, attrs)) {
		TT_TRY(tt_shape_rows(&rows, padded));
		shard.height = (uint32_t)rows;
		TT_TRY(ttnn_memory_config_sharded(&args.memory, in->memory.layout,
						  args.memory.buffer, &shard));
	}
	return tt_tensor_spec_padded(&launch->specs[0], &args, padded);
}

/* Both shapes and the dimension are in the text. */
static tt_status refuse_smaller(const struct ttnn_shape *padded, const struct ttnn_shape *shape,
				uint32_t dim, const char *condition)
{
	struct tt_str texts[2] = {{0}};

	tt_shape_list(&texts[0], padded);
	tt_shape_list(&texts[1], shape);
	tt_fail_cond(TTNN_INVALID, condition,
		     "Output tensor shape Shape(%s) must be greater than or equal to input shape "
		     "Shape(%s) in each dimension, but is smaller in dimension %u",
		     tt_str_text(&texts[0]), tt_str_text(&texts[1]), dim);
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return TTNN_INVALID;
}

/*
 * No dimension smaller than before, the last two whole tiles; vectors are compared with the last
 * one.
 */
static tt_status check_padded(const struct ttnn_shape *padded, const struct ttnn_shape *shape)
{
	struct tt_str text = {0};

	if (shape->rank == 1 && shape->dim[0] > tt_shape_last(padded, 1))
		return refuse_smaller(padded, shape, 0,
				      "input_shape[0] <= "
				      "operation_attributes.output_padded_shape[-1]");
	for (uint32_t d = 0; shape->rank > 1 && d < shape->rank; d++)
		if (d >= padded->rank || shape->dim[d] > padded->dim[d])
			return refuse_smaller(padded, shape, d,
					      "input_shape[i] <= "
					      "operation_attributes.output_padded_shape[i]");
	if (tt_shape_last(padded, 1) % TT_TILE == 0 && tt_shape_last(padded, 2) % TT_TILE == 0)
		return TTNN_OK;
	tt_shape_list(&text, padded);
	tt_fail_cond(TTNN_INVALID, "inner_dim % TILE_WIDTH == 0 && num_rows % TILE_HEIGHT == 0",
		     "To be tilizable output tensor shape Shape(%s) must be divisible by tile size "
		     "(32, 32)",
		     tt_str_text(&text));
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* Rows go to aligned places. */
static tt_status check_row_bytes(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	uint64_t alignment = tt_memory_alignment(launch->device, TTNN_L1);
	uint64_t bytes = tt_shape_last(launch->attrs[VP_SHAPE].shape, 1) * tt_element_bytes(in);

	if (in->spec.memory.layout == TTNN_HEIGHT_SHARDED || !tt_tensor_is_sharded(in)) {
		TT_REQUIRE(bytes % alignment == 0,
			   "l1_address_increment_size % alignment_requirement == 0",
			   "Output padded width size %" PRIu64 " must be aligned to %" PRIu64
			   " bytes for HEIGHT_SHARDED or INTERLEAVED tensors",
			   bytes, alignment);
		return TTNN_OK;
	}
	TT_REQUIRE(in->spec.page_bytes == tt_aligned_page(in),
		   "page_size_bytes == input_tensor.buffer()->aligned_page_size()",
		   "Input row-major shard width %u gives page size %" PRIu64
		   " bytes, which must be aligned to %" PRIu64
		   " bytes L1 SRAM buffer alignment requirement",
		   tt_shard_width(&in->spec.memory), in->spec.page_bytes, alignment);
	return TTNN_OK;
}

/* In upstream's order. */
static tt_status vp_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor.buffer() != nullptr",
		   "Operands need to be allocated in buffers on device!");
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input_tensor.layout() == Layout::ROW_MAJOR",
		   "Can only tilize row major data");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_INT32 ||
			   in->dtype == TTNN_UINT32 || in->dtype == TTNN_FLOAT32 ||
			   in->dtype == TTNN_UINT16 || in->dtype == TTNN_FP8_E4M3,
		   "input_tensor.dtype() == DataType::BFLOAT16 or input_tensor.dtype() == "
		   "DataType::INT32 or input_tensor.dtype() == DataType::UINT32 or "
		   "input_tensor.dtype() == DataType::FLOAT32 or input_tensor.dtype() == "
		   "DataType::UINT16 or input_tensor.dtype() == DataType::FP8_E4M3",
		   "Can only tilize bfloat16/float32 or int32/uint32/uint16 or fp8_e4m3 tensors");
	if (in->dtype == TTNN_FP8_E4M3)
		TT_REQUIRE(is_wide_float((enum ttnn_dtype)launch->attrs[VP_DTYPE].integer),
			   "is_floating_point(out_dt) && out_dt != DataType::FP8_E4M3",
			   "FP8_E4M3 input to tilize requires a float TILE output (FLOAT32, "
			   "BFLOAT16, BFLOAT8_B, or BFLOAT4_B)");
	TT_TRY(check_padded(launch->attrs[VP_SHAPE].shape, &in->shape));
	return check_row_bytes(launch);
}

/*
 * As tz_choose(), with what the attributes say of L1: a row that does not fit goes in blocks,
 * even if it was asked to go on one core.
 */
static tt_status vp_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shape *padded = launch->attrs[VP_SHAPE].shape;
	uint64_t tiles, rows;
	bool wider;

	if (tt_memory_config_is_sharded(&in->memory)) {
		*out = pads_in_place(in, launch->attrs) ? VP_SHARDS : VP_LINES;
	} else if (!launch->attrs[VP_HEIGHT].boolean) {
		*out = VP_BLOCKS;
	} else if (!launch->attrs[VP_MULTI].boolean) {
		*out = VP_SINGLE;
	} else {
		tiles = (uint64_t)tt_shape_last(&in->padded, 1) * tt_shape_last(&in->padded, 2) /
			1024;
		TT_TRY(tt_shape_rows(&rows, padded));
		TT_TRY(tt_block_is_wider(&wider, tt_cores_or_all(launch, &launch->attrs[VP_CORES]),
					 padded, tiles, rows / TT_TILE));
		*out = wider ? VP_BLOCKS : VP_LINES;
	}
	return TTNN_OK;
}

/* The tiles of a row of which two buffers and a padded row fit into half of L1. */
static uint64_t single_tiles(const struct tt_device *device, uint64_t element, uint64_t across)
{
	uint64_t columns = (tt_l1_half(device) - 32) / (element * 32 * 2 + element);

	return fitting(across, columns / TT_TILE);
}

/* The sizes are upstream's: rows, tiles and a padded row in half of L1. */
static tt_status vp_single_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t across = tt_shape_last(&launch->outputs[0]->spec.padded, 1) / TT_TILE;
	uint64_t element = tt_element_bytes(launch->inputs[0]);
	const ttnn_core_set *one;

	TT_TRY(tt_cores_first(&one, tt_cores_or_all(launch, &launch->attrs[VP_CORES]), 1,
			      TTNN_ORIENT_ROW_MAJOR));
	return pair_memory(plan, launch, &TT_TILE_DEFAULT, one,
			   single_tiles(launch->device, element, across));
}

static tt_status vp_blocks_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return blocks_memory(plan, launch, &TT_TILE_DEFAULT,
			     tt_cores_or_all(launch, &launch->attrs[VP_CORES]));
}

/* A row of tiles at a time. */
static tt_status vp_lines_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *to = &launch->outputs[0]->spec;
	struct tt_block_split split;

	TT_TRY(tt_split_blocks(&split, tt_cores_or_all(launch, &launch->attrs[VP_CORES]),
			       to->rows / TT_TILE, TTNN_ORIENT_COL_MAJOR));
	return pair_memory(plan, launch, &TT_TILE_DEFAULT, split.all,
			   tt_shape_last(&to->padded, 1) / TT_TILE);
}

/* Rows come first, then what pads them. */
static tt_status vp_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_tensor_spec *to = &out->spec;
	const struct ttnn_shard_spec *shard = &to->memory.shard;
	uint64_t tiles = (uint64_t)shard->height * shard->width / (TT_TILE * TT_TILE);
	uint64_t batches =
		to->rows * to->cols /
		((uint64_t)tt_shape_last(&to->padded, 1) * tt_shape_last(&to->padded, 2));

	return TT_PLAN(plan, shard->grid,
		       TT_DFB_ROW(0, "src0", .pages = 2 * (tiles / batches),
				  .page = tile_bytes(in, &TT_TILE_DEFAULT)),
		       TT_DFB_ROW(1, "output", .pages = tiles,
				  .page = tile_bytes(out, &TT_TILE_DEFAULT), .backing = out),
		       TT_SCRATCH_ROW(0, "pad", .pages = 1,
				      .page = in->spec.memory.shard.width * tt_element_bytes(in)));
}

static tt_status vp_kernel(struct tt_launch *launch)
{
	double value = 0;

	tt_value_number(&value, &launch->attrs[VP_VALUE]);
	TT_TRY(tt_kernel_copy(launch));
	return tt_backend_get()->fill(launch->outputs[0], value, TT_FILL_PADDING);
}

#define VP_FACTORY(name_, memory_)                                                                 \
	TT_FACTORY_ROW("ttnn::prim::TilizeWithValPadding" name_ "Factory", memory_)

static const struct tt_factory vp_factories[] = {
	[VP_SINGLE] = VP_FACTORY("SingleCore", vp_single_memory),
	[VP_BLOCKS] = VP_FACTORY("MultiCoreBlockInterleaved", vp_blocks_memory),
	[VP_LINES] = VP_FACTORY("MultiCoreDefault", vp_lines_memory),
	[VP_SHARDS] = VP_FACTORY("MultiCoreSharded", vp_shards_memory),
};
static const struct tt_prog prog_val_padding = {
	.device_op = "TilizeWithValPaddingDeviceOperation",
	.prim = "ttnn::prim::tilize_with_val_padding",
	.attrs = &vp_schema,
	.infer = vp_infer,
	.validate = vp_validate,
	TT_FACTORIES(vp_factories),
	.choose = vp_choose,
	TT_KERNEL(vp_kernel),
	.cost = tt_cost_computed_move,
};

/* Arguments of the operation. */
struct padding {
	struct ttnn_shape padded;
	struct ttnn_value value;
	const struct ttnn_memory_config *memory;
	const enum ttnn_dtype *dtype;
	const ttnn_core_set *cores;
	bool multicore;
};

static tt_status launch_padding(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
				const struct ttnn_value *attrs)
{
	return TT_LAUNCH(out, call, &prog_val_padding, TT_INPUTS(in), .attrs = attrs);
}

/* Shards whose rows are too long for L1. */
static tt_status pad_in_dram(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     struct ttnn_value *attrs)
{
	static const struct ttnn_memory_config dram;
	const struct ttnn_memory_config *memory = attrs[VP_MEMORY].memory;
	struct tt_tensor *rows, *tiles;

	TT_TRY(tt_call_to_memory(&rows, call, in, &dram));
	tt_call_own(call, rows);
	attrs[VP_MEMORY] = ttnn_v_memory(&dram);
	attrs[VP_HEIGHT] = ttnn_v_bool(false);
	TT_TRY(launch_padding(&tiles, call, rows, attrs));
	tt_call_own(call, tiles);
	return tt_call_to_memory(out, call, tiles, memory);
}

/*
 * enough_space_width is asked of the height and the other way round: upstream's names, kept
 * since they show in attributes.
 */
static tt_status tilize_padded(struct tt_call *call, struct tt_tensor *in,
			       const struct padding *args)
{
	struct ttnn_shape padded = tt_shape_folded(&args->padded, 4);
	struct space space = {.in = in,
			      .padded = &args->padded,
			      .memory = args->memory ? args->memory : &in->spec.memory,
			      .dtype = args->dtype,
			      .tile = TT_TILE_DEFAULT};
	struct ttnn_value attrs[vp_schema_count];
	struct tt_tensor *folded, *out;

	attrs[VP_SHAPE] = ttnn_v_shape(&padded);
	attrs[VP_VALUE] = args->value;
	attrs[VP_DTYPE] = ttnn_v_dtype(args->dtype ? *args->dtype : in->spec.dtype);
	attrs[VP_MULTI] = ttnn_v_bool(args->multicore);
	attrs[VP_WIDTH] = ttnn_v_bool(has_space(&space, tt_shape_last(&args->padded, 2) / TT_TILE));
	attrs[VP_HEIGHT] =
		ttnn_v_bool(has_space(&space, tt_shape_last(&args->padded, 1) / TT_TILE));
	attrs[VP_CORES] = tt_value_cores(args->cores);
	TT_TRY(tt_call_fold_to_4d(&folded, call, in, args->cores));
	tt_call_own(call, folded);
	attrs[VP_MEMORY] = ttnn_v_memory(args->memory ? args->memory : &folded->spec.memory);
	if (tt_tensor_is_sharded(folded) && !attrs[VP_HEIGHT].boolean &&
	    !pads_in_place(&folded->spec, attrs))
		TT_TRY(pad_in_dram(&out, call, folded, attrs));
	else
		TT_TRY(launch_padding(&out, call, folded, attrs));
	if (in->spec.shape.rank > 4) {
		struct tt_reshape_args back = {.in = tt_call_own(call, out),
					       .shape = &in->spec.shape,
					       .sub_cores = args->cores};

		TT_TRY(tt_call_reshape(&out, call, &back));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

/* Tiles are returned as they are. */
static tt_status with_padding(struct tt_call *call, const struct padding *given,
			      const char *dtype_name)
{
	static const enum ttnn_dtype float32 = TTNN_FLOAT32;
	struct padding copy = *given, *args = &copy;
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	enum ttnn_dtype dtype;

	args->dtype = given_dtype(&dtype, call, dtype_name);
	args->memory = tt_call_memory(call, "memory_config");
	args->cores = tt_call_core_set(call, "sub_core_grids");
	args->multicore = tt_call_bool(call, "use_multicore", true);
	if (!args->dtype && in->spec.dtype == TTNN_FP8_E4M3)
		args->dtype = &float32;
	if (in->spec.layout == TTNN_TILE) {
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	TT_TRY(tt_need_device(in));
	if (is_empty(in)) {
		struct ttnn_spec_args spec = {.shape = args->padded,
					      .dtype = args->dtype ? *args->dtype : in->spec.dtype,
					      .layout = TTNN_TILE,
					      .memory = args->memory ? *args->memory
								     : in->spec.memory};

		return return_empty(call, in, &spec);
	}
	return tilize_padded(call, in, args);
}

static tt_status expand_val_padding(struct tt_call *call)
{
	struct padding args = {.value = *tt_call_arg(call, "pad_value")};

	TT_TRY(tt_call_shape(&args.padded, call, "output_tensor_shape"));
	return with_padding(call, &args, "dtype");
}

/* The next whole tiles. */
static tt_status expand_zero_padding(struct tt_call *call)
{
	const struct ttnn_tensor_spec *in = &tt_call_tensor(call, "input_tensor")->spec;
	struct padding args = {.padded = in->padded, .value = ttnn_v_real(0)};

	if (args.padded.rank < 2)
		args.padded = (struct ttnn_shape){2, {1, tt_shape_last(&in->padded, 1)}};
	for (uint32_t back = 1; back <= 2; back++) {
		uint32_t *extent = &args.padded.dim[args.padded.rank - back];

		*extent = (uint32_t)tt_align_to(*extent,
						back == 1 ? in->tile.width : in->tile.height);
	}
	return with_padding(call, &args, "output_dtype");
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"tilize", expand_tilize, tt_golden_same, "Rows of whole tiles to tiles.",
		"input_tensor: Tensor, *, memory_config: MemoryConfig? = None, dtype: DataType? = None, "
		"use_multicore: bool = True, use_low_perf: bool = False, tile: Tile? = None, "
		"sub_core_grids: CoreRangeSet? = None")},
	{TT_MOVE_ROW(
		"tilize_with_val_padding", expand_val_padding, tt_golden_same,
		"Rows to tiles, padded with a value to a shape of whole tiles.",
		"input_tensor: Tensor, output_tensor_shape: Shape, pad_value: int | float, *, "
		"memory_config: MemoryConfig? = None, dtype: DataType? = None, use_multicore: bool = "
		"True, sub_core_grids: CoreRangeSet? = None")},
	{TT_MOVE_ROW(
		"tilize_with_zero_padding", expand_zero_padding, tt_golden_same,
		"Rows to tiles, padded with zeros to whole tiles.",
		"input_tensor: Tensor, *, memory_config: MemoryConfig? = None, output_dtype: DataType? = "
		"None, use_multicore: bool = True, sub_core_grids: CoreRangeSet? = None")},
};

const struct tt_op_family tt_family_tilize = {"movement", ops, TT_COUNT(ops)};
