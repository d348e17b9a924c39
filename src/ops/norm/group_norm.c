/*
 * group_norm.c: groups of channels of an image, normalised together: [batch, 1, pixels,
 * channels].
 *
 * Models GroupNormDeviceOperation of ttnn 0.81 (normalization/groupnorm/device) with its three
 * factories: sharded, interleaved where several cores have parts of a group and send each other
 * their sums (TOGETHER), and interleaved where a core has whole groups (ALONE): refusals,
 * memory, cores. Which channels a core has and how groups fall into tiles is in
 * group_norm_setup.c. Not modelled: the order of sums on the chip.
 */
#include <string.h>

#include "backend/backend.h"
#include "golden/golden_norm.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

/* What stands in the program config; BY_ITSELF leaves the number of blocks to the program. */
enum { LAYOUT, GRID, BLOCKS, SETTINGS };
enum { BY_ITSELF = -1 };
#define ATTRS(X)                                                                                   \
	X(EPS, "eps")                                                                              \
	X(GROUPS, "num_groups")                                                                    \
	X(MEMORY, "output_mem_config")                                                             \
	X(CONFIG, "program_config", .text = TT_TEXT_FIXED, .fixed = "<variant>")                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(WELFORD, "use_welford")                                                                  \
	X(NEGATIVE_MASK, "use_negative_mask")
TT_ATTRS(schema, "GroupNormParams", ATTRS);
enum { IN, WEIGHT, BIAS, MASK, NEGATIVE, INPUTS };

static const struct ttnn_value *setting(const struct tt_launch *launch, int which)
{
	return &launch->attrs[CONFIG].items[which];
}

/* ---- how the work is spread --------------------------------------------------------------------------- */

/*
 * A grid of cores as upstream sees it: columns of cores share the channels, as many as divide both
 * their tiles and the groups; the rest of each row of the grid makes further rows.
 */
struct spread {
	uint32_t columns, rows; /* of the work */
	struct ttnn_core grid;  /* cores that take part */
};

/*
 * Columns of cores share the channels: as many as divide both the tiles of channels and the
 * groups. Columns of the grid that are left over take more rows.
 */
static struct spread spread_of(struct ttnn_core grid, uint32_t channels, uint32_t groups)
{
	uint32_t columns = groups && grid.x > groups ? groups : grid.x;

	while (columns > 1 && (channels / TT_TILE % columns != 0 || groups % columns != 0))
		columns--;
	return (struct spread){columns,
			       columns ? grid.x / columns * grid.y : 0,
			       {columns ? grid.x / columns * columns : 0, grid.y}};
}

static bool fits(const struct spread *spread, uint64_t height, uint32_t batches)
{
	return spread->rows && spread->rows <= height && height % spread->rows == 0 &&
	       (spread->rows % batches == 0 || spread->rows < batches);
}

/* No chip has more cores in a row or column: what is asked for may be any number. */
#define MOST_CORES 64u

/*
 * The cores of a grid that can be used: the widest rows that the channels fill, then the most of them; rows with cores
 * to spare only where there are no others.
 */
static struct ttnn_core largest(struct ttnn_core grid, const struct ttnn_tensor_spec *in,
				uint32_t groups)
{
	struct ttnn_core best = {1, 1};
	bool found = false;

	for (uint32_t x = grid.x < MOST_CORES ? grid.x : MOST_CORES; x > 0; x--)
		for (uint32_t y = grid.y < MOST_CORES ? grid.y : MOST_CORES; y > 0; y--) {
			struct spread spread =
				spread_of((struct ttnn_core){x, y}, in->padded.dim[3], groups);

			if (!fits(&spread, in->rows / TT_TILE, in->padded.dim[0]))
				continue;
			if (spread.grid.x == x)
				return (struct ttnn_core){x, y};
			if (!found)
				best = (struct ttnn_core){x, y};
			found = true;
			break;
		}
	return best;
}

/* Tiles that a group of channels can touch, wherever it begins. */
static uint64_t group_tiles(uint32_t channels, uint32_t groups)
{
	uint32_t width = channels / groups;
	uint64_t most = 1;

	for (uint32_t start = 0; width && start < channels; start += width) {
		uint64_t tiles = (start + width - 1) / TT_TILE - start / TT_TILE + 1;

		most = tiles > most ? tiles : most;
	}
	return most;
}

/* The box around the cores of shards. */
static struct ttnn_core grid_of_shards(const struct tt_tensor *tensor)
{
	struct ttnn_core_range box;

	if (tt_core_set_box(&box, tensor->spec.memory.shard.grid) != TTNN_OK)
		return (struct ttnn_core){0, 0};
	return (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
}

/* Channels of a column of cores where they are sharded: weights for them fill tiles of their own. */
static uint32_t part_of(const struct tt_tensor *in)
{
	return in->spec.memory.has_shard ? in->spec.memory.shard.width : 0;
}

/* ---- specs and refusals ---------------------------------------------------------------------------------- */

static tt_status group_norm_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	return tt_infer_one(launch, &in->shape, in->dtype,
			    (enum ttnn_layout)setting(launch, LAYOUT)->integer);
}

static const char *layout_name(const struct tt_tensor *tensor)
{
	return tensor->spec.layout == TTNN_TILE ? "TILE" : "ROW_MAJOR";
}

/* The image is [N, 1, H × W, C]: C is whole groups, H × W whole tiles. */
static tt_status check_input(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t groups = (uint32_t)launch->attrs[GROUPS].integer;

	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32,
		   "a.dtype() == DataType::BFLOAT16 || a.dtype() == DataType::FLOAT32",
		   "Input tensor must be BFLOAT16 or FLOAT32, got: DataType::%s",
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(in->padded.dim[3] % groups == 0, "a.padded_shape()[3] % args.num_groups == 0",
		   "channel must be divisible by num_groups!");
	TT_REQUIRE(in->padded.dim[1] == 1, "a.padded_shape()[1] == 1",
		   "input tensor shape[1] must be 1!");
	TT_REQUIRE(in->padded.dim[2] % TT_TILE == 0,
		   "(a.padded_shape()[1] * a.padded_shape()[2]) % tile_height == 0",
		   "H*W (%u*%u) must be a multiple of the tile height (%u)", in->padded.dim[1],
		   in->padded.dim[2], TT_TILE);
	TT_REQUIRE(
		!launch->attrs[WELFORD].boolean || tt_tensor_is_sharded(launch->inputs[IN]) ||
			(in->layout == TTNN_TILE && setting(launch, LAYOUT)->integer == TTNN_TILE),
		"a.layout() == Layout::TILE && output_layout == Layout::TILE",
		"group_norm: ROW_MAJOR interleaved input/output is not supported on the SFPU "
		"two-pass path yet. Use TILE layout for both input and output, or use the "
		"tile-reduction path (use_welford=false).");
	return TTNN_OK;
}

/* The cores of shards are those of the program. */
static tt_status check_shards(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN];
	struct ttnn_core grid = setting(launch, GRID)->core, size;

	if (!in->spec.memory.has_shard)
		return TTNN_OK;
	size = grid_of_shards(in);
	TT_REQUIRE(ttnn_core_set_cores(in->spec.memory.shard.grid) == (uint64_t)size.x * size.y,
		   "shard_spec.grid.num_cores() == bbox_num_cores",
		   "Sharded groupnorm does not support non-rectangular core grids. The shard spec "
		   "grid has %llu cores but its bounding box spans %u cores (%u x %u).",
		   (unsigned long long)ttnn_core_set_cores(in->spec.memory.shard.grid),
		   size.x * size.y, size.x, size.y);
	TT_REQUIRE(size.x <= grid.x && size.y <= grid.y,
		   "program_range.contains(shifted_shard_bbox)",
		   "shard_spec.grid size %ux%u does not fit within program_config grid %ux%u",
		   size.x, size.y, grid.x, grid.y);
	return TTNN_OK;
}

/* Weight and bias are padded for each part of the channels: their volume must be enough for all. */
static tt_status check_weights(const struct tt_launch *launch)
{
	const struct tt_tensor *weight = launch->inputs[WEIGHT], *bias = launch->inputs[BIAS];

	TT_REQUIRE(!weight || !bias || weight->spec.layout == bias->spec.layout,
		   "gamma.value().layout() == beta.value().layout()",
		   "Gamma and beta must have the same layout, got gamma: Layout::%s vs beta: "
		   "Layout::%s",
		   layout_name(weight), layout_name(bias));
	for (int i = WEIGHT; i <= BIAS; i++) {
		uint64_t volume, needs = tt_norm_vector(launch->inputs[IN]->spec.padded.dim[3],
							part_of(launch->inputs[IN]));

		if (!launch->inputs[i])
			continue;
		TT_TRY(ttnn_shape_volume(&volume, &launch->inputs[i]->spec.shape));
		TT_NEED(volume >= needs,
			"group_norm: %s has %llu elements where the cores take %llu",
			i == WEIGHT ? "weight" : "bias", (unsigned long long)volume,
			(unsigned long long)needs);
	}
	return TTNN_OK;
}

/* A negative mask is for rows in shards, and not for Welford's method. */
static tt_status check_negative(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN];
	bool rows = setting(launch, LAYOUT)->integer == TTNN_ROW_MAJOR;

	TT_REQUIRE(tt_tensor_is_sharded(in), "a.is_sharded()",
		   "Negative mask support is only available for sharded input tensors.");
	TT_REQUIRE(!launch->attrs[WELFORD].boolean, "!args.use_welford",
		   "Negative mask is not supported with use_welford=True.");
	TT_REQUIRE(in->spec.layout == TTNN_ROW_MAJOR, "a.layout() == Layout::ROW_MAJOR",
		   "If using negative mask, input tensor must be in ROW_MAJOR layout, but layout "
		   "is Layout::%s",
		   layout_name(in));
	TT_REQUIRE(rows, "output_layout == Layout::ROW_MAJOR",
		   "If using negative mask, output tensor must be in ROW_MAJOR layout, but layout "
		   "is Layout::TILE");
	return TTNN_OK;
}

/* In upstream's order. A mask has, for each group, as many tiles as the widest group needs. */
static tt_status group_norm_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct tt_tensor *mask = launch->inputs[MASK];
	uint32_t groups = (uint32_t)launch->attrs[GROUPS].integer;
	uint64_t width = group_tiles(in->padded.dim[3], groups) * TT_TILE;

	TT_TRY(check_input(launch));
	TT_TRY(check_shards(launch));
	TT_TRY(check_weights(launch));
	TT_REQUIRE(!mask || mask->spec.layout == TTNN_TILE,
		   "input_mask.value().layout() == Layout::TILE",
		   "Input mask must have TILE layout, got: Layout::%s", layout_name(mask));
	if (launch->inputs[NEGATIVE])
		TT_TRY(check_negative(launch));
	TT_REQUIRE(!mask || tt_shape_last(&mask->spec.padded, 1) == width,
		   "input_mask.value().padded_shape()[3] == block_wt * tile_width",
		   "input mask width (%u) must have the same width as block_wt * TILE_WIDTH (%llu)",
		   tt_shape_last(&mask->spec.padded, 1), (unsigned long long)width);
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------------------ */

enum { SHARDED, ALONE, TOGETHER };

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tt_tile_bytes_of(tensor ? tensor->spec.dtype : TTNN_BFLOAT16);
}

struct work {
	struct spread spread;
	uint64_t wide, high, across; /* tiles of a group, of a block's rows and of its columns */
	uint64_t rows, blocks; /* rows of tiles of a core, for each image; in so many blocks */
};

/*
 * As many blocks as the caller says, or a power of two: one for each 256 x 256 elements that a core has of an image,
 * and two at least where registers of 16 bits do not hold all its tiles at once.
 */
static uint64_t blocks_of(const struct tt_launch *launch, const struct work *work)
{
	enum { ELEMENTS = 256 * 256, MOST = 256, REGISTERS = 8 };
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint64_t cores = (uint64_t)work->spread.columns * work->spread.rows;
	uint64_t wanted, blocks = 1;
	bool narrow = !launch->attrs[WELFORD].boolean &&
		      !tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);

	if (setting(launch, BLOCKS)->integer != BY_ITSELF)
		return (uint64_t)setting(launch, BLOCKS)->integer;
	wanted = cores ? (uint64_t)in->padded.dim[1] * in->padded.dim[2] * in->padded.dim[3] /
				 (ELEMENTS * cores)
		       : 1;
	while (blocks < wanted && blocks < MOST)
		blocks *= 2;
	if (narrow && blocks == 1 && work->rows * work->wide > REGISTERS)
		blocks = 2;
	return blocks < work->rows ? blocks : work->rows;
}

/*
 * What a core has: `high` rows of tiles of a block, `wide` tiles of a group, `across` tiles of all
 * its channels.
 */
static struct work work_of(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t groups = (uint32_t)launch->attrs[GROUPS].integer;
	struct work work = {
		.spread = spread_of(setting(launch, GRID)->core, in->padded.dim[3], groups),
		.wide = group_tiles(in->padded.dim[3], groups)};

	/* A core that has more than one image works on them one by one. */
	work.rows = in->rows / TT_TILE /
		    (work.spread.rows > in->padded.dim[0] ? work.spread.rows : in->padded.dim[0]);
	work.blocks = blocks_of(launch, &work);
	work.high = work.blocks ? work.rows / work.blocks : work.rows;
	work.across = in->padded.dim[3] / TT_TILE / (work.spread.columns ? work.spread.columns : 1);
	return work;
}

/*
 * Shards have a factory. Interleaved images are shared by several rows of cores (mcast), or whole
 * on one.
 */
static tt_status group_norm_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct work work = work_of(launch);

	*out = tt_memory_config_is_sharded(&in->memory)   ? SHARDED
	       : work.spread.rows / in->padded.dim[0] > 1 ? TOGETHER
							  : ALONE;
	return TTNN_OK;
}

/* Cores that have an image more than others, and those others: none where images are dealt out evenly. */
struct kinds {
	const ttnn_core_set *more, *fewer;
	bool alone; /* there may be two kinds */
};

/* Cores follow each other down the columns; a part of the channels takes as many of them as there are rows of work. */
static tt_status kinds_of(struct kinds *out, const struct tt_launch *launch,
			  const struct work *work)
{
	uint32_t rows = work->spread.rows, images = launch->inputs[IN]->spec.padded.dim[0];
	uint32_t height = work->spread.grid.y, cores = work->spread.grid.x * height;
	struct ttnn_core_range *ranges =
		tt_arena_calloc(launch->arena, cores ? cores : 1, sizeof(*ranges));
	size_t more = 0, fewer = 0;

	TT_NEED_MEMORY(ranges);
	out->alone = launch->factory == &launch->prog->factories[ALONE];
	for (uint32_t i = 0; i < cores; i++) {
		const struct ttnn_core core = {i / height, i % height};
		bool late = out->alone && rows && images % rows && i % rows >= images % rows;

		ranges[late ? cores - ++fewer : more++] = (struct ttnn_core_range){core, core};
	}
	for (size_t i = 0; i < fewer / 2; i++) {
		const struct ttnn_core_range last = ranges[cores - 1 - i];

		ranges[cores - 1 - i] = ranges[more + i];
		ranges[more + i] = last;
	}
	TT_TRY(ttnn_core_set_make(&out->more, ranges, more));
	return ttnn_core_set_make(&out->fewer, ranges + more, fewer);
}

/* Blocks of the image, for each kind of cores; `kept` is there also where its cores are none. */
static tt_status add_blocks(struct tt_plan *plan, const struct kinds *kinds,
			    const struct tt_buffer_row *rows, size_t count, bool kept)
{
	bool some = ttnn_core_set_cores(kinds->fewer) > 0;

	TT_TRY(tt_plan_buffers(plan, kinds->more, rows, count));
	if (some)
		return tt_plan_buffers(plan, kinds->fewer, rows, count);
	for (size_t i = 0; i < count && kinds->alone; i++)
		TT_TRY(tt_plan_empty(plan,
				     &(struct tt_buffer_row){.kind = TT_CB,
							     .index = rows[i].index,
							     .pages = kept ? rows[i].pages : 0,
							     .page = rows[i].page,
							     .cores = kinds->fewer}));
	return TTNN_OK;
}

/* Partial sums of each block from each core that shares an image, 16 bytes apart, in whole tiles. */
static uint64_t external_tiles(const struct tt_launch *launch, const struct work *work,
			       uint64_t tile)
{
	enum { APART = 16 };
	uint32_t images = launch->inputs[IN]->spec.padded.dim[0];
	uint64_t cores = work->spread.rows > images ? work->spread.rows / images : 1;
	uint64_t rest = work->rows - work->blocks * work->high, blocks = work->blocks;

	if (rest)
		blocks += rest / work->high + 1;
	return tt_div_up(blocks * cores * APART, tile);
}

/* The order is upstream's, and so is the repeated name "cb_ex2pe"; add_blocks() makes those of a block. */
static tt_status rows_two_passes(struct tt_plan *plan, const struct tt_launch *launch,
				 const struct work *work)
{
	struct tt_tensor *const *in = launch->inputs;
	uint64_t tile = tile_of(in[IN]), small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t block = work->high * work->wide;
	const struct tt_buffer_row blocks[] = {
		TT_CB_ROW(0, "in0_cb", .pages = block, .page = tile),
		TT_CB_ROW(1, "in_cb", .pages = block, .page = tile),
		TT_CB_ROW(16, "output_cb", .pages = block, .page = tile),
		TT_CB_ROW(24, "x_cb", .pages = block, .page = tile),
		TT_CB_ROW(23, "xmm2_cb", .pages = block, .page = tile),
		TT_CB_ROW(25, "xmm_cb", .pages = block, .page = tile),
		TT_CB_ROW(22, "xmm3_cb", .pages = block, .page = tile),
	};
	/* A result in rows has tiles beside it, and rows that come back for the next group. */
	const struct tt_buffer_row rows[] = {
		TT_CB_ROW(30, "out_cb", .pages = block, .page = tile),
		TT_CB_ROW(20, "reread_rm_cb", .pages = block, .page = tile),
	};
	bool to_rows = setting(launch, LAYOUT)->integer == TTNN_ROW_MAJOR;
	const ttnn_core_set *all;
	struct kinds kinds;

	TT_TRY(tt_core_set_grid(&all, work->spread.grid.x, work->spread.grid.y));
	TT_TRY(kinds_of(&kinds, launch, work));
	TT_TRY(add_blocks(plan, &kinds, blocks, 2, false));
	TT_TRY(add_blocks(plan, &kinds, &blocks[2], 1, false));
	if (to_rows)
		TT_TRY(add_blocks(plan, &kinds, rows, TT_COUNT(rows), false));
	TT_TRY(TT_PLAN(
		plan, all, TT_CB_ROW(2, "in2_cb", .pages = 1, .page = tile),
		TT_CB_ROW(3, "in3_cb", .pages = 1, .page = small),
		TT_CB_ROW(4, "in4_cb", .pages = 1, .page = tile),
		TT_CB_ROW(5, "in5_cb", .pages = in[WEIGHT] ? work->across : 0,
			  .page = tile_of(in[WEIGHT])),
		TT_CB_ROW(6, "in6_cb", .pages = in[BIAS] ? work->across : 0,
			  .page = tile_of(in[BIAS])),
		TT_CB_ROW(28, "in_mask_cb", .pages = 2 * work->wide, .page = tile_of(in[MASK]))));
	for (int i = 3; i < 7; i++)
		TT_TRY(add_blocks(plan, &kinds, &blocks[i], 1, false));
	return TT_PLAN(plan, all, TT_CB_ROW(8, "ex_cb_partial", .pages = 1, .page = tile),
		       TT_CB_ROW(9, "ex_cb", .pages = 1, .page = tile),
		       TT_CB_ROW(10, "ex_cb_external", .pages = external_tiles(launch, work, tile),
				 .page = tile),
		       TT_CB_ROW(15, "ex_global_cb", .pages = 1, .page = tile),
		       TT_CB_ROW(17, "cb_ex2pe", .pages = 1, .page = tile),
		       TT_CB_ROW(27, "cb_ex2pe", .pages = 1, .page = tile));
}

/* What a core has of a tensor in shards. */
struct share {
	uint64_t high, across, wide; /* tiles of its rows, of its columns, of a group */
	uint64_t block;              /* tiles of a group of one image */
	uint64_t groups;             /* that it has */
	bool repacked, to_rows;
};

/*
 * The same for shards: extents of the shard in tiles, the groups it has, and whether rows must be
 * packed anew because the shard is not whole tiles wide.
 */
static struct share share_of(const struct tt_tensor *in, uint32_t groups, enum ttnn_layout layout)
{
	const struct ttnn_tensor_spec *spec = &in->spec;
	const struct ttnn_shard_spec *shard = &spec->memory.shard;
	uint32_t images = spec->padded.dim[0], size = spec->padded.dim[3] / groups;
	uint32_t whole = size && shard->width > size ? shard->width / size : 1; /* groups in it */
	uint64_t rows = spec->rows / shard->height, columns = spec->padded.dim[3] / shard->width;
	struct share share = {.high = tt_div_up(shard->height, TT_TILE),
			      .across = tt_div_up(shard->width, TT_TILE),
			      .wide = group_tiles(shard->width, whole),
			      .groups = columns && groups > columns ? groups / columns : 1,
			      .repacked = shard->width % TT_TILE != 0,
			      .to_rows = layout == TTNN_ROW_MAJOR};

	share.block = share.high / (rows && images > rows ? images / rows : 1) * share.wide;
	return share;
}

#define SHARD_ROWS 24
/* The buffers of a program over shards; with a negative mask the result's tiles lie in the input's. */
static size_t shard_rows(struct tt_buffer_row rows[SHARD_ROWS], struct tt_tensor *const *in,
			 const struct share *s, bool negative, bool welford)
{
	uint64_t tile = tile_of(in[IN]), small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t all = s->high * s->across;
	const struct tt_buffer_row list[] = {
		TT_CB_ROW(1, "in_cb", .pages = all, .page = tile),
		TT_CB_ROW(30, "out_cb", .pages = s->to_rows && !negative ? all : 0, .page = tile),
		TT_CB_ROW(2, "in2_cb", .pages = welford ? 2 : 1, .page = welford ? tile : small),
		TT_CB_ROW(3, "in3_cb", .pages = 1, .page = small),
		TT_CB_ROW(4, "in4_cb", .pages = !welford, .page = small),
		TT_CB_ROW(5, "in5_cb", .pages = in[WEIGHT] ? s->across : 0,
			  .page = tile_of(in[BIAS] ? in[BIAS] : in[WEIGHT])),
		TT_CB_ROW(6, "in6_cb", .pages = in[BIAS] ? s->across : 0,
			  .page = tile_of(in[BIAS])),
		TT_CB_ROW(7, "in_mask_cb", .pages = s->wide * (welford ? s->groups : 2),
			  .page = tile_of(in[MASK])),
		TT_CB_ROW(14, "in_negative_mask_cb", .pages = negative ? 2 * s->wide : 0,
			  .page = tile_of(in[NEGATIVE])),
		TT_CB_ROW(11, "repack_cb", .pages = s->repacked ? 2 * s->across : 0, .page = tile),
		TT_CB_ROW(13, "x_cb", .pages = welford ? 1 : s->block, .page = tile),
		TT_CB_ROW(8, "ex_cb_partial", .pages = welford ? 2 : 1, .page = tile),
		TT_CB_ROW(10, "ex_cb_external", .pages = !welford, .page = tile),
		TT_CB_ROW(15, "ex_global_cb", .pages = welford ? 2 * s->groups : 1, .page = tile),
		TT_CB_ROW(17, "cb_ex2pe", .pages = welford ? s->groups : 1, .page = tile),
		TT_CB_ROW(26, "ones_cb", .pages = 1, .page = small),
	};

	memcpy(rows, list, sizeof(list));
	return TT_COUNT(list);
}

/* The shard is the input buffer, and the output's too where the caller works in place. */
static tt_status rows_sharded(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	struct tt_tensor *out = launch->outputs[0];
	struct ttnn_core asked = setting(launch, GRID)->core, grid = grid_of_shards(in[IN]);
	struct share share = share_of(in[IN], (uint32_t)launch->attrs[GROUPS].integer,
				      (enum ttnn_layout)setting(launch, LAYOUT)->integer);
	struct tt_buffer_row rows[SHARD_ROWS];
	size_t count =
		shard_rows(rows, in, &share, in[NEGATIVE] || launch->attrs[NEGATIVE_MASK].boolean,
			   launch->attrs[WELFORD].boolean);
	uint64_t all = share.high * share.across, tile = tile_of(in[IN]);
	uint64_t held = (uint64_t)in[IN]->spec.memory.shard.height *
			in[IN]->spec.memory.shard.width * tt_element_bytes(in[IN]);

	TT_REQUIRE(asked.x == grid.x && asked.y == grid.y,
		   "grid_size.x == num_cores_c && grid_size.y == num_cores_r",
		   "program_config compute_with_storage_grid_size (%ux%u) must match shard grid "
		   "dimensions (%ux%u)",
		   asked.x, asked.y, grid.x, grid.y);
	if (in[IN]->spec.layout == TTNN_TILE)
		held = all * tile;
	TT_TRY(TT_PLAN(plan, in[IN]->spec.memory.shard.grid,
		       TT_CB_ROW(0, "in0_cb", .pages = 1, .page = held, .backing = in[IN]),
		       TT_CB_ROW(16, "output_cb", .pages = out->storage != in[IN]->storage,
				 .page = held, .backing = out)));
	return tt_plan_buffers(plan, in[IN]->spec.memory.shard.grid, rows, count);
}

/* Whether a program over shards fits into L1 only with the result's tiles in the input's. */
static bool needs_overlap(struct tt_tensor *const *in, uint32_t groups, enum ttnn_layout layout,
			  const struct ttnn_memory_config *memory, bool apart)
{
	struct tt_device *device = tt_tensor_device(in[IN]);
	struct share share = share_of(in[IN], groups, layout);
	struct tt_buffer_row rows[SHARD_ROWS];
	size_t count = shard_rows(rows, in, &share, false, false);
	uint64_t lowest = device->limits.l1_base, room, output;

	if (in[IN]->spec.layout != TTNN_ROW_MAJOR || layout != TTNN_ROW_MAJOR)
		return false;
	tt_allocator_lowest(&lowest, &device->memory->allocator, TTNN_L1);
	room = lowest - device->limits.l1_base;
	output = apart && memory->buffer == TTNN_L1
			 ? (uint64_t)in[IN]->spec.memory.shard.height *
				   in[IN]->spec.memory.shard.width * tt_element_bytes(in[IN])
			 : 0;
	return output < room && tt_buffers_bytes(rows, count) > room - output;
}

/* The backend needs the part of the channels a core had, because weights are padded by parts. */
static tt_status group_norm_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->norm(
		&(struct tt_norm_job){.out = launch->outputs[0],
				      .in = launch->inputs[IN],
				      .gamma = launch->inputs[WEIGHT],
				      .beta = launch->inputs[BIAS],
				      .kind = TT_NORM_GROUP,
				      .groups = (uint32_t)launch->attrs[GROUPS].integer,
				      .part = part_of(launch->inputs[IN]),
				      .epsilon = launch->attrs[EPS].real});
}

/*
 * Welford's method: mean and variance in one pass. The image of a core is read once and stays in L1 where it takes, with
 * all else, less than 95 % of that.
 */
static tt_status rows_welford(struct tt_plan *plan, const struct tt_launch *launch,
			      const struct work *work)
{
	struct tt_tensor *const *in = launch->inputs;
	uint64_t tile = tile_of(in[IN]), small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t block = work->high * work->wide;
	uint64_t columns = work->spread.columns ? work->spread.columns : 1;
	uint64_t groups = (uint64_t)launch->attrs[GROUPS].integer / columns;
	struct tt_buffer_row blocks[] = {
		TT_CB_ROW(0, "in0_cb", .pages = work->rows * work->across, .page = tile),
		TT_CB_ROW(1, "in_cb", .pages = block, .page = tile),
		TT_CB_ROW(16, "output_cb", .pages = block, .page = tile),
		TT_CB_ROW(24, "x_cb", .pages = 1, .page = tile),
		TT_CB_ROW(25, "xmm_cb", .pages = 2, .page = tile),
		TT_CB_ROW(22, "xmm3_cb", .pages = block, .page = tile),
	};
	const struct tt_buffer_row weights[] = {
		TT_CB_ROW(3, "in3_cb", .pages = 1, .page = small),
		TT_CB_ROW(5, "in5_cb", .pages = in[WEIGHT] ? work->across : 0,
			  .page = tile_of(in[WEIGHT])),
		TT_CB_ROW(6, "in6_cb", .pages = in[BIAS] ? work->across : 0,
			  .page = tile_of(in[BIAS])),
		TT_CB_ROW(28, "in_mask_cb", .pages = work->wide * groups,
			  .page = tile_of(in[MASK])),
	};
	const struct tt_buffer_row sums[] = {
		TT_CB_ROW(8, "ex_cb_partial", .pages = 2, .page = tile),
		TT_CB_ROW(15, "ex_global_cb", .pages = 2 * groups, .page = tile),
		TT_CB_ROW(17, "cb_ex2pe", .pages = groups, .page = tile),
	};
	const ttnn_core_set *all;
	struct kinds kinds;

	if (tt_buffers_bytes(blocks, TT_COUNT(blocks)) +
		    tt_buffers_bytes(weights, TT_COUNT(weights)) +
		    tt_buffers_bytes(sums, TT_COUNT(sums)) >
	    tt_l1_free(launch->device) * 95 / 100)
		blocks[0].pages = block;
	TT_TRY(tt_core_set_grid(&all, work->spread.grid.x, work->spread.grid.y));
	TT_TRY(kinds_of(&kinds, launch, work));
	TT_TRY(add_blocks(plan, &kinds, blocks, 2, false));
	TT_TRY(add_blocks(plan, &kinds, &blocks[2], 1, false));
	TT_TRY(tt_plan_buffers(plan, all, weights, TT_COUNT(weights)));
	for (int i = 3; i < 6; i++)
		TT_TRY(add_blocks(plan, &kinds, &blocks[i], 1, i < 5));
	return tt_plan_buffers(plan, all, sums, TT_COUNT(sums));
}

static tt_status rows_interleaved(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct work work = work_of(launch);

	TT_REQUIRE(work.blocks > 0 && work.blocks <= work.rows,
		   "num_out_blocks > 0 && num_out_blocks <= block_ht_group_1",
		   "num_out_blocks (%llu) must be in [1, block_h (%llu)]. Reduce num_out_blocks or "
		   "increase input spatial dimensions.",
		   (unsigned long long)work.blocks, (unsigned long long)work.rows);
	TT_REQUIRE(launch->inputs[IN]->spec.dtype != TTNN_FLOAT32 ||
			   tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32),
		   "!(in_data_format == tt::DataFormat::Float32 && !fp32_dest_acc_en)",
		   "group_norm with Float32 input requires fp32_dest_acc_en=true in the compute "
		   "kernel config; otherwise the DEST accumulator is bfloat16 and "
		   "intermediate/accumulated results are silently rounded to bf16.");
	return launch->attrs[WELFORD].boolean ? rows_welford(plan, launch, &work)
					      : rows_two_passes(plan, launch, &work);
}

#define FACTORY "ttnn::prim::GroupNormDeviceOperation::GroupNorm"
static const struct tt_factory factories[] = {
	[SHARDED] = {.name = FACTORY "ShardedProgramFactory", .memory = rows_sharded},
	[ALONE] = {.name = FACTORY "NoMcastProgramFactory", .memory = rows_interleaved},
	[TOGETHER] = {.name = FACTORY "McastProgramFactory", .memory = rows_interleaved},
};
static const struct tt_prog program = {
	.device_op = "GroupNormDeviceOperation",
	.prim = "ttnn::prim::group_norm",
	.attrs = &schema,
	.infer = group_norm_infer,
	.validate = group_norm_validate,
	TT_FACTORIES(factories),
	.choose = group_norm_choose,
	TT_KERNEL(group_norm_kernel),
	.cost = tt_cost_tensors,
};

/* ---- the operation --------------------------------------------------------------------------------------------- */

/* Refusals of ttnn::group_norm itself, before it launches anything. */
static tt_status group_norm_check(const struct tt_call *call, const struct ttnn_tensor_spec *in,
				  int64_t groups)
{
	bool in_place = tt_call_bool(call, "inplace", true);
	const struct ttnn_value *layout = tt_call_arg(call, "output_layout");
	uint64_t rows;

	TT_REQUIRE(!in_place || in->layout != TTNN_TILE, "!inplace.value()",
		   "In-place operation not supported: Tile layout requires non-inplace tensors. "
		   "(inplace=true)");
	TT_REQUIRE(!in_place || layout->kind != TTNN_VALUE_ENUM ||
			   layout->integer == (int64_t)in->layout,
		   "!inplace.value()",
		   "In-place operation not allowed: Input and output tensor layouts differ. "
		   "(input_layout=Layout::%s, output_layout=Layout::%s)",
		   in->layout == TTNN_TILE ? "TILE" : "ROW_MAJOR",
		   layout->integer == TTNN_TILE ? "TILE" : "ROW_MAJOR");
	TT_REQUIRE(in->memory.layout != TTNN_WIDTH_SHARDED,
		   "input_tensor.memory_config().memory_layout() != "
		   "TensorMemoryLayout::WIDTH_SHARDED",
		   "Unsupported memory layout: Input tensor cannot be width-sharded.");
	TT_NEED(!tt_memory_config_is_sharded(&in->memory) || in->memory.has_shard,
		"group_norm takes shards of two dimensions");
	TT_REQUIRE(in->shape.rank == 4, "input_shape.rank() == 4",
		   "Invalid tensor shape: Input tensor must have rank 4. (rank=%u)",
		   in->shape.rank);
	TT_REQUIRE(
		groups > 0 && in->shape.dim[3] % groups == 0, "input_shape[-1] % num_groups == 0",
		"Invalid channel configuration: Number of channels (%u) must be divisible by the "
		"number of groups (%lld).",
		in->shape.dim[3], (long long)groups);
	rows = (uint64_t)in->padded.dim[0] * in->padded.dim[1] * in->padded.dim[2];
	TT_REQUIRE(rows % TT_TILE == 0, "(nhw % ttnn::types::TILE_SIZE) == 0",
		   "Invalid tensor dimensions: The product of NHW dimensions (%llu) must be "
		   "divisible by the tile size (%u).",
		   (unsigned long long)rows, TT_TILE);
	return TTNN_OK;
}

/* Masks are read by the cores. */
static tt_status check_masks(const struct tt_tensor *mask, const struct tt_tensor *negative)
{
	TT_REQUIRE(!mask || tt_tensor_device(mask),
		   "input_mask->storage_type() == StorageType::DEVICE",
		   "Input mask must be on device, got storage type: StorageType::HOST");
	TT_REQUIRE(!negative || tt_tensor_device(negative),
		   "negative_mask.value().storage_type() == StorageType::DEVICE",
		   "Negative mask must be on device, got storage type: StorageType::HOST");
	return TTNN_OK;
}

/* num_out_blocks is for interleaved input with a core grid; -1 leaves it to upstream. */
static tt_status check_blocks(const struct tt_call *call, const struct tt_tensor *in)
{
	const struct ttnn_value *blocks = tt_call_arg(call, "num_out_blocks");

	if (tt_tensor_is_sharded(in) || blocks->kind != TTNN_VALUE_INT)
		return TTNN_OK;
	TT_REQUIRE(tt_call_arg(call, "core_grid")->kind == TTNN_VALUE_CORE,
		   "(input_tensor.is_sharded() || !(core_grid_auto_selected && "
		   "num_out_blocks.has_value()))",
		   "group_norm: num_out_blocks cannot be specified when core_grid is "
		   "auto-selected. Either provide an explicit core_grid or omit num_out_blocks.");
	TT_REQUIRE(blocks->integer >= -1, "*num_out_blocks >= -1",
		   "group_norm: num_out_blocks (%lld) is invalid. Use -1 to request the "
		   "auto-heuristic, or an explicit chunk count in [1, block_h].",
		   (long long)blocks->integer);
	return TTNN_OK;
}

/* The cores to use: those asked for, if they can be used, or as many as can. */
static tt_status choose_grid(struct ttnn_core *out, const struct tt_call *call,
			     const struct tt_tensor *in, uint32_t groups)
{
	const struct ttnn_value *asked = tt_call_arg(call, "core_grid");
	const struct ttnn_tensor_spec *spec = &in->spec;
	uint64_t height = spec->rows / TT_TILE;
	struct spread spread;
	struct ttnn_core best;

	if (asked->kind != TTNN_VALUE_CORE) {
		*out = spec->memory.has_shard
			       ? grid_of_shards(in)
			       : largest(tt_tensor_device(in)->info.compute_grid, spec, groups);
		return TTNN_OK;
	}
	*out = asked->core;
	spread = spread_of(*out, spec->padded.dim[3], groups);
	if (tt_memory_config_is_sharded(&spec->memory) ||
	    fits(&spread, height, spec->padded.dim[0]))
		return TTNN_OK;
	best = largest(*out, spec, groups);
	return tt_fail_cond(
		TTNN_INVALID, "tt::exception",
		"group_norm: Requested core_grid (x=%u, y=%u) is invalid for the input dimensions "
		"(Ht=%llu, W=%u, num_groups=%u, num_batches=%u). The grid must satisfy: "
		"num_virtual_rows = (grid_x / num_virtual_cols) * grid_y <= Ht, Ht must be divisible "
		"by num_virtual_rows, and num_virtual_rows must be divisible by num_batches (for "
		"uniform multicast groups). Computed num_virtual_rows=%u, num_virtual_cols=%u. The "
		"largest valid grid that fits is (x=%u, y=%u).",
		out->x, out->y, (unsigned long long)height, spec->padded.dim[3], groups,
		spec->padded.dim[0], spread.rows, spread.columns, best.x, best.y);
}

/* Of nothing there is nothing to norm. */
static tt_status give_clone(struct tt_call *call, struct tt_tensor *in,
			    const struct ttnn_value *memory)
{
	struct tt_tensor *out;
	tt_status status = TT_CALL(&out, call, "ttnn.clone", {NULL, ttnn_v_tensor(in)},
				   {"memory_config", *memory});

	return tt_call_give(call, status, &out);
}

/*
 * In upstream's order: refusals, an empty tensor as a clone, the grid, then attributes.
 * Interleaved rows become tiles first, unless Welford's method is asked for.
 */
static tt_status group_norm_expand(struct tt_call *call)
{
	static const struct ttnn_memory_config dram;
	struct tt_tensor *inputs[INPUTS] = {
		tt_call_tensor(call, "input_tensor"), tt_call_tensor(call, "weight"),
		tt_call_tensor(call, "bias"), tt_call_tensor(call, "input_mask"),
		tt_call_tensor(call, "negative_mask")};
	struct tt_tensor *in = inputs[IN], *output = NULL;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *layout = tt_call_arg(call, "output_layout");
	int64_t groups = tt_call_int(call, "num_groups", 1);
	struct ttnn_value attrs[schema_count], settings[SETTINGS];
	bool chosen = tt_call_arg(call, "core_grid")->kind == TTNN_VALUE_CORE;
	bool welford = tt_call_bool(call, "use_welford", false) &&
		       tt_shape_last(&in->spec.shape, 2) % TT_TILE == 0;
	struct tt_compute_usual usual = {.fidelity = TT_HIFI4,
					 .approx = true,
					 .fp32 = welford || in->spec.dtype == TTNN_FLOAT32};
	struct ttnn_core grid;
	uint64_t volume;

	TT_TRY(group_norm_check(call, &in->spec, groups));
	TT_TRY(ttnn_shape_volume(&volume, &in->spec.shape));
	if (volume == 0)
		return give_clone(call, in, tt_call_arg(call, "memory_config"));
	TT_TRY(tt_need_device(in));
	TT_TRY(check_masks(inputs[MASK], inputs[NEGATIVE]));
	TT_TRY(check_blocks(call, in));
	TT_TRY(choose_grid(&grid, call, in, (uint32_t)groups));
	TT_REQUIRE(tt_call_dtype(call, "dtype", in->spec.dtype) == in->spec.dtype,
		   "out_dtype == input_tensor.dtype()",
		   "group_norm output dtype must match input dtype (DataType::%s), got "
		   "dtype=DataType::%s",
		   ttnn_dtype_name(in->spec.dtype, TTNN_DIALECT_TT_METAL),
		   ttnn_dtype_name(tt_call_dtype(call, "dtype", in->spec.dtype),
				   TTNN_DIALECT_TT_METAL));
	if (tt_call_bool(call, "inplace", true) && tt_tensor_is_sharded(in))
		output = in;
	attrs[EPS] = ttnn_v_real(tt_call_real(call, "epsilon", 1e-12));
	attrs[GROUPS] = ttnn_v_int(groups);
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	settings[LAYOUT] =
		layout->kind == TTNN_VALUE_ENUM ? *layout : ttnn_v_layout(in->spec.layout);
	settings[GRID] = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = grid};
	settings[BLOCKS] = ttnn_v_int(chosen ? tt_call_int(call, "num_out_blocks", 1) : BY_ITSELF);
	attrs[CONFIG] = ttnn_v_list(settings, SETTINGS);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[WELFORD] = ttnn_v_bool(welford);
	attrs[NEGATIVE_MASK] = ttnn_v_bool(
		in->spec.memory.has_shard && !inputs[NEGATIVE] && !attrs[WELFORD].boolean &&
		needs_overlap(inputs, (uint32_t)groups, (enum ttnn_layout)settings[LAYOUT].integer,
			      attrs[MEMORY].memory, !output));
	if (in->spec.layout == TTNN_ROW_MAJOR && !tt_tensor_is_sharded(in) && !welford &&
	    in->spec.padded.dim[2] % TT_TILE == 0) {
		const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(in)}};

		TT_TRY(tt_call_op(&inputs[IN], call, "ttnn.tilize_with_zero_padding", args, 1));
		tt_call_own(call, inputs[IN]);
	}
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS, TT_OUTPUTS(output),
				.in_place = output != NULL);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.group_norm",
	 .doc = "Groups of channels of each image with mean and deviation taken off.",
	 .sigs = {"input_tensor: Tensor, *, num_groups: int, epsilon: float = 1e-12, input_mask: "
		  "Tensor? = None, weight: Tensor? = None, bias: Tensor? = None, memory_config: "
		  "MemoryConfig? = None, dtype: DataType? = None, core_grid: CoreGrid? = None, "
		  "inplace: bool? = True, output_layout: Layout? = None, num_out_blocks: int? = "
		  "None, compute_kernel_config: ComputeConfig? = None, negative_mask: Tensor? = "
		  "None, use_welford: bool = False, -reciprocals: Tensor? = None"},
	 .expand = group_norm_expand,
	 .golden = tt_golden_group_norm,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_group_norm = {"group_norm", ops, TT_COUNT(ops)};
