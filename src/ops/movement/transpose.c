/*
 * transpose.c: two dimensions swapped. Three swaps of four dimensions N, C, H, W have a program
 * of their own; the others are permutations.
 *
 * Models TransposeDeviceOperation of ttnn 0.81 (data_movement/transpose/device): refusals,
 * memory, cores, shards of the output, and the choice of a factory (pick()):
 *
 *	WH, WHSharded, WHShardedRM      height and width: a tile is transposed by the engine;
 *	                                shards stay where whole matrices are in one
 *	HCTiledInterleaved, HCRM, HCSharded  channels and height: rows are moved
 *	CN                              batches and channels: whole matrices are moved
 *	HCTiled                         never chosen any more
 *
 * Not modelled: which face of a tile goes where.
 */

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/shard_derive.h"
#include "ops/movement/shard_ops.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_mem_config")                                                             \
	X(PAD_VALUE, "pad_value")                                                                  \
	X(EXPLICIT, "output_mem_config_is_explicit")
TT_ATTRS(schema, "TransposeParams", ATTRS);

enum swap { WH, HC, CN, NH, NW, CW };
static const struct tt_enum_row swap_rows[] = {{WH, "WH"}, {HC, "HC"}, {CN, "CN"},
					       {NH, "NH"}, {NW, "NW"}, {CW, "CW"}};
static const struct tt_enum swap_enum = {"TransposeOpDim", swap_rows, TT_COUNT(swap_rows)};

/* The dimensions of each swap, of four. */
static const uint32_t swapped[][2] = {
	[WH] = {2, 3}, [HC] = {1, 2}, [CN] = {0, 1}, [NH] = {0, 2}, [NW] = {0, 3}, [CW] = {1, 3}};

enum { TILES_WH, SHARDS_WH, SHARD_ROWS_WH, TILES_HC, OLD_TILES_HC, ROWS_HC, SHARDS_HC, ANY_CN };

static enum swap swap_of(const struct tt_launch *launch)
{
	return (enum swap)launch->attrs[DIM].integer;
}

static void exchange(struct ttnn_shape *shape, enum swap swap)
{
	uint32_t *a = &shape->dim[swapped[swap][0]], *b = &shape->dim[swapped[swap][1]], keep = *a;

	*a = *b;
	*b = keep;
}

/* The padded shape of the output: what was height is not padded when it becomes channels. */
static struct ttnn_shape output_padded(const struct ttnn_tensor_spec *in, enum swap swap)
{
	struct ttnn_shape padded = in->padded;

	if (swap == HC && in->layout == TTNN_TILE) {
		padded.dim[1] = in->shape.dim[2];
		padded.dim[2] = (uint32_t)tt_align_to(in->shape.dim[1], in->tile.height);
	} else {
		exchange(&padded, swap);
	}
	return padded;
}

/* ---- shards ---------------------------------------------------------------------------------------------- */

static bool is_native(const struct ttnn_memory_config *memory, enum ttnn_layout layout)
{
	if (!tt_memory_config_is_sharded(memory) || memory->buffer == TTNN_DRAM ||
	    memory->layout == TTNN_BLOCK_SHARDED)
		return false;
	return layout != TTNN_ROW_MAJOR || !memory->has_shard ||
	       (uint64_t)memory->shard.height * memory->shard.width % 1024 == 0;
}

/* Whether shards are swapped where they are; `out` may be NULL. */
static bool swaps_in_place(const struct ttnn_tensor_spec *in, const struct ttnn_memory_config *out)
{
	if (!is_native(&in->memory, in->layout) || tt_shards_uneven(in))
		return false;
	if (!out)
		return true;
	return is_native(out, in->layout) && !(in->memory.has_shard && out->has_shard &&
					       in->memory.shard.grid != out->shard.grid);
}

static bool is_whole_tiles(const struct ttnn_tensor_spec *in, const struct ttnn_shard_spec *shard)
{
	return in->layout != TTNN_TILE ||
	       (shard->height % TT_TILE == 0 && shard->width % TT_TILE == 0);
}

/* An ND shard with its extents swapped like the tensor's; false when that cannot be said. */
static bool swap_nd(struct ttnn_nd_shard_spec *out, const struct ttnn_nd_shard_spec *shard,
		    const struct ttnn_tensor_spec *in, enum swap swap)
{
	uint32_t offset = in->padded.rank - shard->shape.rank;
	bool has_a = swapped[swap][0] >= offset, has_b = swapped[swap][1] >= offset;

	if (shard->strategy == TTNN_GRID_2D || (swap == HC && in->layout != TTNN_ROW_MAJOR) ||
	    has_a != has_b)
		return false;
	*out = *shard;
	if (has_a) {
		out->shape.dim[swapped[swap][0] - offset] =
			shard->shape.dim[swapped[swap][1] - offset];
		out->shape.dim[swapped[swap][1] - offset] =
			shard->shape.dim[swapped[swap][0] - offset];
	}
	return true;
}

/* Shards of the result: given, ND shards swapped, or derived from the swapped shape. */
static tt_status output_memory(struct ttnn_memory_config *out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape padded = output_padded(in, swap_of(launch));
	struct ttnn_nd_shard_spec nd;
	bool has_nd;

	*out = *launch->attrs[MEMORY].memory;
	has_nd = out->created_with_nd_shard && out->has_nd_shard;
	if (!tt_memory_config_is_sharded(out) || (has_nd && launch->attrs[EXPLICIT].boolean))
		return TTNN_OK;
	if (has_nd && swap_nd(&nd, &out->nd_shard, in, swap_of(launch)))
		return ttnn_memory_config_nd(out, out->buffer, &nd);
	if (out->has_shard)
		return TTNN_OK;
	return tt_shards_derive(out, launch, &in->padded, &padded);
}

/* ---- the program ------------------------------------------------------------------------------------------ */

/* Padding is swapped with the dimensions. */
static tt_status transpose_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape padded = output_padded(in, swap_of(launch));
	struct ttnn_spec_args args = {.shape = in->shape, .dtype = in->dtype, .layout = in->layout};

	exchange(&args.shape, swap_of(launch));
	TT_TRY(output_memory(&args.memory, launch));
	return tt_tensor_spec_padded(&launch->specs[0], &args, &padded);
}

/* A pad value is for HC only. */
static tt_status transpose_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	double pad_value = launch->attrs[PAD_VALUE].real;
	uint32_t height = tt_shape_last(&in->padded, 2), width = tt_shape_last(&in->padded, 1);

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor.buffer() != nullptr",
		   "Operands to transpose need to be allocated in buffers on device!");
	TT_REQUIRE(swap_of(launch) == HC || pad_value == 0,
		   "!(dim != TransposeOpDim::HC && pad_value != 0.0f)",
		   "Non-zero padding %g is not supported for any transpose other than HC.",
		   pad_value);
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR || (width % TT_TILE == 0 && height % TT_TILE == 0),
		   "W % TILE_WIDTH == 0 && H % TILE_HEIGHT == 0",
		   "Tiled tensor H %u W %u must be a multiple of TILE HEIGHT 32 and TILE WIDTH",
		   height, width);
	return TTNN_OK;
}

/* What is whole in a shard, on either side. */
struct whole {
	bool rows, matrix;
};

static struct whole whole_in(const struct ttnn_memory_config *memory,
			     const struct ttnn_shape *padded)
{
	bool rows = memory->has_shard && memory->shard.width == tt_shape_last(padded, 1);
	uint32_t height = tt_shape_last(padded, 2);

	return (struct whole){rows, rows && height && memory->shard.height % height == 0};
}

/* CN is any layout; HC and WH have a form for shards that hold whole matrices or rows. */
static uint32_t pick(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	bool rows = in->layout == TTNN_ROW_MAJOR, native = swaps_in_place(in, &out->memory);
	struct whole from = whole_in(&in->memory, &in->padded);
	struct whole to = whole_in(&out->memory, &out->padded);
	bool single = in->padded.dim[0] == 1 && in->padded.dim[1] == 1;

	if (swap_of(launch) == CN)
		return ANY_CN;
	if (swap_of(launch) == HC)
		return native && from.rows && to.rows && rows ? SHARDS_HC
		       : rows                                 ? ROWS_HC
							      : TILES_HC;
	if (native && from.matrix && to.matrix)
		return rows ? SHARD_ROWS_WH : SHARDS_WH;
	if (native && !rows && single && from.rows && out->memory.has_shard &&
	    out->memory.shard.height == tt_shape_last(&out->padded, 2))
		return SHARDS_WH;
	return TILES_WH;
}

/* Tile by tile; rows are tilized first, so a whole matrix of tiles waits between. */
static tt_status transpose_wh_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t across = tt_div_up(in->shape.dim[3], TT_TILE),
		 down = tt_div_up(in->shape.dim[2], TT_TILE);
	uint64_t tile = tt_tile_bytes_of(in->dtype);
	uint64_t out_tile = tt_tile_bytes_of(launch->outputs[0]->spec.dtype);
	const ttnn_core_set *cores;

	if (in->layout == TTNN_TILE) {
		TT_TRY(tt_cores_for(&cores, launch, in->rows * in->cols / 1024));
		return TT_PLAN(plan, cores, TT_DFB_ROW(0, "src0", .pages = 2, .page = tile),
			       TT_DFB_ROW(1, "output", .pages = 2, .page = out_tile));
	}
	TT_TRY(tt_cores_for(&cores, launch, (uint64_t)in->shape.dim[0] * in->shape.dim[1]));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "src0", .pages = 2 * across, .page = tile),
		       TT_DFB_ROW(1, "output", .pages = 2 * down, .page = out_tile),
		       TT_DFB_ROW(2, "im", .pages = down * across, .page = tile));
}

/* On all cores of the grid, as upstream makes them, also where there are fewer shards. */
static tt_status transpose_wh_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint64_t tiles = tt_shard_tiles(&in->spec);

	return TT_PLAN(plan, launch->device->grid,
		       TT_DFB_ROW(0, "src0", .pages = tiles,
				  .page = tt_tile_bytes_of(in->spec.dtype), .backing = in),
		       TT_DFB_ROW(1, "output", .pages = tiles,
				  .page = tt_tile_bytes_of(out->spec.dtype), .backing = out));
}

/* Tiles down from which on what is transposed goes through buffers of its own. */
#define TALL_TILES 8

/* Rows of shards: those of H and C are copied, those of W and H become tiles on the way. */
static tt_status transpose_shard_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_shape *shape = &in->spec.shape;
	uint64_t across = tt_div_up(shape->dim[3], TT_TILE),
		 down = tt_div_up(shape->dim[2], TT_TILE);
	uint64_t shard =
		in->spec.memory.shard.height * (uint64_t)shape->dim[3] * tt_element_bytes(in);
	uint64_t tile = tt_tile_bytes_of(in->spec.dtype);
	uint64_t out_tile = tt_tile_bytes_of(out->spec.dtype);
	bool wh = tt_factory_index(launch) == SHARD_ROWS_WH, tall = wh && down > TALL_TILES;

	return TT_PLAN(plan, in->spec.memory.shard.grid,
		       TT_CB_ROW(0, "src0", .pages = 1, .page = shard, .backing = in),
		       TT_CB_ROW(16, "output", .pages = 1, .page = shard, .backing = out),
		       TT_CB_ROW(24, "in", .pages = wh ? 2 * across : 0, .page = tile),
		       TT_CB_ROW(25, "im", .pages = wh ? down * across : 0, .page = tile),
		       TT_CB_ROW(26, "im2", .pages = tall ? down : 0, .page = out_tile),
		       TT_CB_ROW(27, "out", .pages = tall ? 2 * down : 0, .page = out_tile));
}

/* Elements of padding that are written at once. */
#define PADDING_ELEMENTS 256

/* Cores for tiles and for padding tiles: whichever are more. */
static tt_status transpose_hc_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t tall = out->padded.dim[2] / TT_TILE;
	uint64_t beside = tall ? out->rows * out->cols / 1024 / tall : 0;
	const ttnn_core_set *a, *b;

	TT_TRY(tt_cores_for(&a, launch, in->spec.rows * in->spec.cols / 1024));
	TT_TRY(tt_cores_for(&b, launch, beside));
	return TT_PLAN(plan, ttnn_core_set_cores(a) > ttnn_core_set_cores(b) ? a : b,
		       TT_DFB_ROW(0, "src0", .pages = 2, .page = tt_tile_bytes_of(in->spec.dtype)),
		       TT_DFB_ROW(1, "padding", .pages = in->spec.shape.dim[1] % TT_TILE != 0,
				  .page = PADDING_ELEMENTS * tt_element_bytes(in)));
}

/* All rows of a core at once. */
static tt_status transpose_hc_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const uint32_t *dim = in->spec.shape.dim;
	uint64_t rows = (uint64_t)dim[0] * dim[1] * dim[2], page = dim[3] * tt_element_bytes(in);
	uint64_t from = tt_aligned_page(in), to = tt_aligned_page(launch->outputs[0]);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->device->grid), rows,
			     TTNN_ORIENT_COL_MAJOR));
	page = page > from ? page : from;
	page = page > to ? page : to;
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "src0",
				  .pages = split.units[0] > split.units[1] ? split.units[0]
									   : split.units[1],
				  .page = page));
}

/* Whole pages change places. */
static tt_status transpose_cn_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	bool tiled = in->spec.layout == TTNN_TILE;
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch,
			    tiled ? in->spec.rows * in->spec.cols / 1024 : in->spec.rows));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0", .pages = 2,
				  .page = tiled ? tt_tile_bytes_of(in->spec.dtype)
						: in->spec.cols * tt_element_bytes(in)));
}

static tt_status transpose_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = pick(launch);
	return TTNN_OK;
}

#define FACTORY(name_, memory_)                                                                    \
	TT_FACTORY_ROW("ttnn::prim::Transpose" name_ "ProgramFactory", memory_)

static const struct tt_factory factories[] = {
	[TILES_WH] = FACTORY("WH", transpose_wh_memory),
	[SHARDS_WH] = FACTORY("WHSharded", transpose_wh_shards_memory),
	[SHARD_ROWS_WH] = FACTORY("WHShardedRM", transpose_shard_rows_memory),
	[TILES_HC] = FACTORY("HCTiledInterleaved", transpose_hc_tiles_memory),
	[OLD_TILES_HC] = FACTORY("HCTiled", transpose_hc_tiles_memory), /* never chosen any more */
	[ROWS_HC] = FACTORY("HCRM", transpose_hc_rows_memory),
	[SHARDS_HC] = FACTORY("HCSharded", transpose_shard_rows_memory),
	[ANY_CN] = FACTORY("CN", transpose_cn_memory),
};

static tt_status transpose_kernel(struct tt_launch *launch)
{
	uint32_t dims[4] = {0, 1, 2, 3};

	dims[swapped[swap_of(launch)][0]] = swapped[swap_of(launch)][1];
	dims[swapped[swap_of(launch)][1]] = swapped[swap_of(launch)][0];
	return tt_move_permute(launch->outputs[0], launch->inputs[0], dims);
}

static void transpose_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	uint32_t way = tt_factory_index(launch);

	tt_cost_move(cost, launch);
	cost->moves = way != TILES_WH && way != SHARDS_WH && way != SHARD_ROWS_WH;
}

static const struct tt_prog prog = {
	.device_op = "TransposeDeviceOperation",
	.prim = "ttnn::prim::transpose",
	.attrs = &schema,
	.infer = transpose_infer,
	.validate = transpose_validate,
	TT_FACTORIES(factories),
	.choose = transpose_choose,
	TT_KERNEL(transpose_kernel),
	.cost = transpose_cost,
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

static tt_status launch_swap(struct tt_tensor **out, struct tt_call *call,
			     const struct tt_permute_args *args, enum swap swap, bool given)
{
	struct ttnn_value attrs[schema_count] = {tt_value_enum(&swap_enum, swap),
						 ttnn_v_memory(args->memory),
						 ttnn_v_real(args->pad_value), ttnn_v_bool(given)};

	return TT_LAUNCH(out, call, &prog, TT_INPUTS(args->in), .attrs = attrs);
}

/* The config of shards that swap where they are; interleaved, or left open, when they do not fit. */
static tt_status native_memory(struct ttnn_memory_config *out, const struct tt_permute_args *args,
			       enum swap swap)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;
	const struct ttnn_memory_config *wanted = args->memory ? args->memory : &in->memory;
	struct ttnn_shape padded = output_padded(in, swap);
	struct ttnn_shard_spec shard = in->memory.shard;
	enum ttnn_memory_layout layout = wanted->layout;
	bool fits;

	*out = *wanted;
	if (swap != WH && (swap != HC || in->layout != TTNN_TILE))
		return TTNN_OK;
	if (swap == WH && !args->memory && in->padded.dim[0] == 1 && in->padded.dim[1] == 1 &&
	    shard.width == in->padded.dim[3]) {
		shard.width = in->memory.shard.height;
		shard.height = in->memory.shard.width;
		layout = TTNN_WIDTH_SHARDED;
		fits = is_whole_tiles(in, &shard);
	} else {
		fits = tt_shard_scale(&shard, &in->memory.shard, &in->padded, &padded) &&
		       layout == in->memory.layout && is_whole_tiles(in, &shard);
	}
	if (fits)
		return ttnn_memory_config_sharded(out, layout, wanted->buffer, &shard);
	*out = args->memory ? (struct ttnn_memory_config){.layout = wanted->layout,
							  .buffer = wanted->buffer}
			    : (struct ttnn_memory_config){.buffer = TTNN_L1};
	return TTNN_OK;
}

/* Whether a config is sharded but leaves the shards to be derived. */
static bool is_open(const struct ttnn_memory_config *memory)
{
	return tt_memory_config_is_sharded(memory) && !memory->has_shard &&
	       !(memory->created_with_nd_shard && memory->has_nd_shard);
}

/* A memory config that names no shards is completed here. */
static tt_status swap_memory(struct ttnn_memory_config *out, bool *given,
			     const struct tt_permute_args *args, enum swap swap)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;

	*given = args->memory != NULL;
	if (args->memory && !is_open(args->memory)) {
		*out = *args->memory;
		return TTNN_OK;
	}
	if (tt_tensor_is_sharded(args->in) && swaps_in_place(in, NULL))
		return native_memory(out, args, swap);
	if (args->memory) {
		*out = *args->memory;
		return TTNN_OK;
	}
	if (tt_tensor_is_sharded(args->in))
		return tt_permute_inherits(out, args->in);
	*out = in->memory;
	return TTNN_OK;
}

/* Rows too large for the L1 of a core are permuted. */
static bool is_too_large(const struct tt_tensor *in)
{
	uint64_t width = tt_align_to(in->spec.shape.dim[3], TT_TILE);
	uint64_t height = tt_align_to(in->spec.shape.dim[2], TT_TILE);

	return in->spec.layout == TTNN_ROW_MAJOR &&
	       (2 * width + 2 * height + height * width) * tt_element_bytes(in) >
		       tt_l1_free(tt_tensor_device(in));
}

/* NH, NW and CW have no program: they are permutations. Interleaved rows too. */
static tt_status swap_4d(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_permute_args *of, enum swap swap)
{
	uint32_t dims[4] = {0, 1, 2, 3};
	struct tt_permute_args args = *of;
	struct ttnn_memory_config memory;
	bool given;

	dims[swapped[swap][0]] = swapped[swap][1];
	dims[swapped[swap][1]] = swapped[swap][0];
	args.dims = dims;
	if (swap == NH || swap == NW || swap == CW)
		return tt_call_permute(out, call, &args);
	TT_TRY(swap_memory(&memory, &given, of, swap));
	args.memory = &memory;
	if ((!tt_tensor_is_sharded(of->in) && of->in->spec.layout == TTNN_ROW_MAJOR) ||
	    (swap == WH && is_too_large(of->in)))
		return tt_permute_launch(out, call, &args);
	return launch_swap(out, call, &args, swap, given);
}

static enum swap find_swap(uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < TT_COUNT(swapped); i++)
		if ((swapped[i][0] == a && swapped[i][1] == b) ||
		    (swapped[i][0] == b && swapped[i][1] == a))
			return (enum swap)i;
	return NW;
}

/* Nothing moves: the tensor itself, or a copy where it is wanted elsewhere. */
static tt_status stay(struct tt_tensor **out, struct tt_call *call,
		      const struct tt_permute_args *args)
{
	struct ttnn_arg given[] = {{"input", ttnn_v_tensor(args->in)},
				   {"memory_config", ttnn_v_memory(args->memory)}};

	if (args->memory && !ttnn_memory_config_equal(&args->in->spec.memory, args->memory))
		return tt_call_op(out, call, "ttnn.clone", given, TT_COUNT(given));
	*out = ttnn_tensor_ref(args->in);
	return TTNN_OK;
}

/* bfloat8_b is swapped as bfloat16 unless tiles stay whole. */
static tt_status transpose_4d(struct tt_tensor **out, struct tt_call *call,
			      const struct tt_permute_args *of, uint32_t rank)
{
	uint32_t a = of->dims[0], b = of->dims[1];
	bool cast = of->in->spec.dtype == TTNN_BFLOAT8_B && a + b != 5 && a + b != 1;
	struct tt_permute_args args = *of;
	struct tt_tensor *now;

	if (cast) {
		TT_TRY(tt_call_cast(&args.in, call, of->in, TTNN_BFLOAT16));
		tt_call_own(call, args.in);
	}
	if (a == b || (args.in->spec.padded.dim[a] == 1 && args.in->spec.padded.dim[b] == 1))
		TT_TRY(stay(&now, call, &args));
	else
		TT_TRY(swap_4d(&now, call, &args, find_swap(a, b)));
	if (rank < 4) {
		tt_call_own(call, now);
		TT_TRY(tt_call_from_4d(&now, call, now, rank));
	}
	*out = now;
	if (!cast)
		return TTNN_OK;
	return tt_call_cast(out, call, tt_call_own(call, now), TTNN_BFLOAT8_B);
}

/* More than four dimensions: a permutation. */
static tt_status transpose_nd(struct tt_tensor **out, struct tt_call *call,
			      const struct tt_permute_args *of)
{
	uint32_t dims[TTNN_MAX_RANK], rank = of->in->spec.shape.rank;
	struct tt_permute_args args = *of;

	for (uint32_t d = 0; d < rank; d++)
		dims[d] = d;
	dims[of->dims[0]] = of->dims[1];
	dims[of->dims[1]] = of->dims[0];
	args.dims = dims;
	return tt_call_permute(out, call, &args);
}

/* Rows cut by shards go through interleaved L1. */
static tt_status detour(struct tt_permute_args *args, struct ttnn_memory_config *memory,
			struct tt_call *call)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct ttnn_shape padded = args->in->spec.padded;
	uint32_t *a = &padded.dim[args->dims[0]], *b = &padded.dim[args->dims[1]], keep = *a;

	*a = *b;
	*b = keep;
	if (args->memory) {
		TT_TRY(tt_permute_resolve(memory, args, &padded, false));
		args->memory = memory;
	}
	TT_TRY(tt_call_to_memory(&args->in, call, args->in, &l1));
	tt_call_own(call, args->in);
	return TTNN_OK;
}

/* Through four dimensions and back. */
static tt_status transpose_expand(struct tt_call *call)
{
	uint32_t dims[2];
	struct tt_permute_args args = {.in = tt_call_tensor(call, "input_tensor"),
				       .dims = dims,
				       .memory = tt_call_memory(call, "memory_config"),
				       .pad_value = tt_call_real(call, "pad_value", 0)};
	uint32_t rank = args.in->spec.shape.rank;
	struct ttnn_memory_config memory;
	struct tt_tensor *out;

	TT_TRY(tt_normal_dim(&dims[0], tt_call_int(call, "dim1", 0), rank));
	TT_TRY(tt_normal_dim(&dims[1], tt_call_int(call, "dim2", 0), rank));
	TT_TRY(tt_need_device(args.in));
	if (tt_permute_needs_detour(args.in))
		TT_TRY(detour(&args, &memory, call));
	if (rank > 4) {
		return tt_call_give(call, transpose_nd(&out, call, &args), &out);
	}
	if (rank < 4) {
		TT_TRY(tt_call_to_4d(&args.in, call, args.in));
		tt_call_own(call, args.in);
		dims[0] += 4 - rank;
		dims[1] += 4 - rank;
	}
	return tt_call_give(call, transpose_4d(&out, call, &args, rank), &out);
}

/* The operation, for other operations. */
tt_status tt_call_transpose(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_permute_args *args)
{
	struct ttnn_arg given[5] = {{"input_tensor", ttnn_v_tensor(args->in)},
				    {"dim1", ttnn_v_int(args->dims[0])},
				    {"dim2", ttnn_v_int(args->dims[1])},
				    {"pad_value", ttnn_v_real(args->pad_value)}};
	size_t count = 4;

	if (args->memory)
		given[count++] = (struct ttnn_arg){"memory_config", ttnn_v_memory(args->memory)};
	return tt_call_op(out, call, "ttnn.transpose", given, count);
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"transpose", transpose_expand, tt_golden_transpose, "Two dimensions swapped.",
		"input_tensor: Tensor, dim1: int, dim2: int, *, memory_config: MemoryConfig? = "
		"None, pad_value: float = 0.0",
		"input_tensor: Tensor, dim1: int, dim2: int, pad_value: float = 0.0")},
};

const struct tt_op_family tt_family_transpose = {"movement", ops, TT_COUNT(ops)};
