/* norm_rows.c: what normalisation keeps in L1: rows of tiles, whole where they fit, else in parts. */
#include "device/device.h"
#include "device/split.h"
#include "ops/movement.h"
#include "ops/norm.h"
#include "ops/objects.h"
#include "ops/rows.h"
#include "tensor/core.h"
#include "tensor/shape.h"

#define TILE 32u

/* Bytes of a tile of a tensor; 0 without one. */
static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tensor ? tt_tile_bytes_of(tensor->spec.dtype) : 0;
}

tt_status tt_norm_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_shape *padded = &launch->inputs[0]->spec.padded;
	uint64_t rows = tt_div_up(tt_shape_last(padded, 2), TILE);
	struct tt_work_split split;

	for (uint32_t back = 3; back <= padded->rank; back++)
		rows *= tt_shape_last(padded, back);
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, rows,
			     TTNN_ORIENT_ROW_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

/* ---- interleaved -------------------------------------------------------------------------------- */

struct facts {
	uint64_t in, out, inter, gamma, beta, residual; /* bytes of a tile */
	uint64_t width, block;                          /* tiles of a row, and of a step in it */
	bool rms, row_major;
	bool row_weights; /* weights in rows: there is no kernel that streams with them */
};

static bool in_rows(const struct tt_tensor *tensor)
{
	return tensor && tensor->spec.layout == TTNN_ROW_MAJOR;
}

static struct facts facts_of(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[TT_NORM_IN];
	bool fp32 = tt_norm_fp32(launch);
	uint64_t width = tt_div_up(tt_shape_last(&in->spec.padded, 1), TILE);

	return (struct facts){
		.in = tile_of(in),
		.out = tile_of(launch->outputs[0]),
		.inter = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16),
		.gamma = tile_of(launch->inputs[TT_NORM_WEIGHT]),
		.beta = tile_of(launch->inputs[TT_NORM_BIAS]),
		.residual = tile_of(launch->inputs[TT_NORM_RESIDUAL]),
		.block = fp32 ? 4 : 8,
		.width = tt_align_to(width, fp32 ? 4 : 8),
		.rms = launch->attrs[TT_NORM_TYPE].integer == TT_NORM_RMS,
		.row_major = in->spec.layout == TTNN_ROW_MAJOR,
		.row_weights = in_rows(launch->inputs[TT_NORM_WEIGHT]) ||
			       in_rows(launch->inputs[TT_NORM_BIAS]),
	};
}

#define ROWS 17

/*
 * The buffers when `width` tiles of a row are kept. Streamed: the row passes by in parts, more than
 * once.
 */
static void list(struct tt_page_row rows[ROWS], const struct facts *f, uint64_t width, bool stream)
{
	uint64_t twice = 2 * f->block, small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t whole = stream ? f->block : width;
	const struct tt_page_row all[ROWS] = {
		{TT_DFB, 0,
		 f->row_major  ? whole
		 : f->residual ? twice
			       : width,
		 f->in, NULL},
		{TT_DFB, 16, f->row_major ? whole : twice, f->out, NULL},
		{TT_DFB, 18, f->rms ? 0 : 2, f->inter, NULL},
		{TT_DFB, 2, 2, small, NULL},
		{TT_DFB, 3, 2, small, NULL},
		{TT_DFB, 19, 2, f->inter, NULL},
		{TT_DFB, 24, !f->rms || f->residual || stream ? width : 0, f->inter, NULL},
		{TT_DFB, 20, width, f->inter, NULL},
		{TT_DFB, 21, 8, f->inter, NULL},
		{TT_DFB, 26, stream, f->inter, NULL},
		{TT_DFB, 27, f->row_major ? twice : 0, f->in, NULL},
		{TT_DFB, 28, f->row_major ? twice : 0, f->out, NULL},
		{TT_DFB, 22, f->gamma || f->beta ? twice : 0, f->inter, NULL},
		{TT_DFB, 5, f->gamma ? width : 0, f->gamma, NULL},
		{TT_DFB, 6, f->beta ? width : 0, f->beta, NULL},
		{TT_DFB, 23, f->residual && !f->rms ? width : 0, f->inter, NULL},
		{TT_DFB, 1, f->residual ? twice : 0, f->residual, NULL},
	};

	for (size_t i = 0; i < ROWS; i++)
		rows[i] = all[i];
}

/* Whole rows where they fit; else the most tiles that do, of at most so many that there are kernels. */
static tt_status fit(struct tt_page_row rows[ROWS], const struct tt_launch *launch)
{
	const struct facts f = facts_of(launch);
	uint64_t usable = tt_l1_free(launch->device) * 95 / 100;
	bool heavy = f.gamma || f.beta || f.in == tt_tile_bytes_of(TTNN_FLOAT32);
	uint64_t most = (heavy ? 7u : 14u) * f.block;

	list(rows, &f, f.width, false);
	if (f.row_weights || tt_page_rows_bytes(rows, ROWS) <= usable)
		return TTNN_OK;
	for (uint64_t width = f.width < most ? f.width : most; width; width -= f.block) {
		list(rows, &f, width, true);
		if (tt_page_rows_bytes(rows, ROWS) <= usable)
			return TTNN_OK;
	}
	return tt_fail_cond(
		TTNN_INVALID, "streaming_footprint.fits(usable_l1)",
		"LayerNorm streaming circular buffers require %llu bytes, but only %llu "
		"bytes of the allocator's L1 span are available",
		(unsigned long long)tt_page_rows_bytes(rows, ROWS), (unsigned long long)usable);
}

tt_status tt_norm_rows_interleaved(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_page_row rows[ROWS];
	const ttnn_core_set *cores;

	TT_TRY(fit(rows, launch));
	TT_TRY(tt_norm_cores(&cores, launch));
	return tt_plan_rows(plan, cores, rows, ROWS);
}

/* ---- sharded ------------------------------------------------------------------------------------- */

/* The smallest rectangle around a set, as width and height. */
static struct ttnn_core extent_of(const ttnn_core_set *set)
{
	struct ttnn_core_range box;

	if (tt_core_set_box(&box, set) != TTNN_OK)
		return (struct ttnn_core){0, 0};
	return (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
}

struct tt_norm_blocks tt_norm_blocks(const struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = &launch->inputs[TT_NORM_IN]->spec.memory.shard;
	const struct ttnn_value *config = &launch->attrs[TT_NORM_CONFIG];
	struct tt_norm_blocks blocks = {.grid = extent_of(shard->grid),
					.h = shard->height / TILE,
					.w = shard->width / TILE};

	if (config->kind != TTNN_VALUE_OBJECT || config->schema != &tt_schema_norm_sharded)
		return blocks;
	blocks.h = (uint64_t)config->items[TT_NORM_BLOCK_H].integer;
	blocks.w = (uint64_t)config->items[TT_NORM_BLOCK_W].integer;
	return blocks;
}

/* How many partial results a core gathers, and how many tile rows it finishes for all. */
struct gathering {
	uint64_t parts, rows;
};

static struct gathering gathering_of(const struct tt_launch *launch, struct tt_norm_blocks blocks)
{
	const struct ttnn_memory_config *memory = &launch->inputs[TT_NORM_IN]->spec.memory;
	bool by_columns = memory->shard.orientation == TTNN_ORIENT_COL_MAJOR;
	uint64_t across = by_columns ? blocks.grid.y : blocks.grid.x;
	struct gathering out = {across, across};

	/* A wide row lies on all cores: gathered along rows of cores, then along columns. */
	if (memory->layout == TTNN_WIDTH_SHARDED) {
		bool two_stages = blocks.grid.x > 1 && blocks.grid.y > 1;

		out.parts = two_stages ? (uint64_t)blocks.grid.x + blocks.grid.y - 1
				       : (uint64_t)blocks.grid.x * blocks.grid.y;
		out.rows = two_stages ? across : out.parts;
	}
	out.rows = out.rows ? tt_div_up(blocks.h, out.rows) : blocks.h;
	return out;
}

static tt_status rows_whole(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct facts f = facts_of(launch);
	const struct tt_norm_blocks blocks = tt_norm_blocks(launch);
	const struct gathering g = gathering_of(launch, blocks);
	struct tt_tensor *in = launch->inputs[TT_NORM_IN], *out = launch->outputs[0];
	uint64_t block = blocks.h * blocks.w, small = tt_tile_bytes_of(TTNN_BFLOAT16);
	bool mean = !f.rms, ragged = tt_shape_last(&in->spec.shape, 1) % TILE != 0;
	const struct tt_page_row rows[] = {
		{TT_DFB, 0, block, f.in, in},
		{TT_DFB, 1, f.residual ? block : 0, f.residual, launch->inputs[TT_NORM_RESIDUAL]},
		{TT_DFB, 2, 1, small, NULL},
		{TT_DFB, 3, 1, small, NULL},
		{TT_DFB, 4, 1, f.inter, NULL},
		/* Columns of the last tile that do not count, and values without them. */
		{TT_DFB, 14, ragged && mean ? block : 0, f.inter, NULL},
		{TT_DFB, 7, ragged ? blocks.w : 0, small, NULL},
		{TT_DFB, 11, blocks.h, f.inter, NULL},
		{TT_DFB, 13, g.parts, f.inter, NULL},
		{TT_DFB, 15, blocks.h, f.inter, NULL},
		{TT_DFB, 12, g.rows, f.inter, NULL},
		{TT_DFB, 8, mean ? blocks.h : 0, f.inter, NULL},
		{TT_DFB, 9, mean ? blocks.h : 0, f.inter, NULL},
		{TT_DFB, 10, mean ? g.parts : 0, f.inter, NULL},
		{TT_DFB, 5, f.gamma ? blocks.w : 0, f.gamma, NULL},
		{TT_DFB, 6, f.beta ? blocks.w : 0, f.beta, NULL},
		{TT_DFB, 24, block, f.inter, NULL},
		{TT_DFB, 18, block, f.inter, NULL},
		{TT_DFB, 20, blocks.h, f.inter, NULL},
		{TT_DFB, 16, block, f.out, out},
	};

	return tt_plan_rows(plan, in->spec.memory.shard.grid, rows, TT_COUNT(rows));
}

/* Only sums go out: of squares, and for layer_norm of the values too. */
static tt_status rows_before(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct facts f = facts_of(launch);
	const struct tt_norm_blocks blocks = tt_norm_blocks(launch);
	const struct gathering g = gathering_of(launch, blocks);
	struct tt_tensor *in = launch->inputs[TT_NORM_IN], *out = launch->outputs[0];
	uint64_t block = blocks.h * blocks.w, small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t kinds = f.rms ? 1 : 2;
	const struct tt_page_row rows[] = {
		{TT_DFB, 0, block, f.in, in},
		{TT_DFB, 1, f.residual ? block : 0, f.residual, launch->inputs[TT_NORM_RESIDUAL]},
		{TT_DFB, 2, 1, small, NULL},
		{TT_DFB, 4, 1, f.inter, NULL},
		{TT_DFB, 8, kinds * blocks.h, f.inter, NULL},
		{TT_DFB, 10, kinds * g.parts, f.inter, NULL},
		{TT_DFB, 9, kinds * g.rows, f.inter, NULL},
		{TT_DFB, 24, block, f.inter, NULL},
		{TT_DFB, 16, kinds * blocks.h, f.out, out},
	};

	return tt_plan_rows(plan, in->spec.memory.shard.grid, rows, TT_COUNT(rows));
}

/*
 * The sums of all devices come in on the first core, which shares what it makes of them. Counted by
 * kinds of sums, but for one buffer of variances that layer_norm alone needs a tile more for.
 */
static tt_status rows_after(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct facts f = facts_of(launch);
	const struct tt_norm_blocks blocks = tt_norm_blocks(launch);
	struct tt_tensor *in = launch->inputs[TT_NORM_IN], *out = launch->outputs[0];
	struct tt_tensor *stats = launch->inputs[TT_NORM_STATS];
	uint64_t block = blocks.h * blocks.w, small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t kinds = f.rms ? 1 : 2;
	const struct tt_page_row rows[] = {
		{TT_DFB, 0, block, f.in, in},
		{TT_DFB, 2, 1, small, NULL},
		{TT_DFB, 3, 1, small, NULL},
		{TT_DFB, 4, 1, f.inter, NULL},
		{TT_DFB, 15, kinds * blocks.h, f.inter, NULL},
		{TT_DFB, 5, f.gamma ? blocks.w : 0, f.gamma, NULL},
		{TT_DFB, 6, f.beta ? blocks.w : 0, f.beta, NULL},
		{TT_DFB, 24, block + (f.rms ? 0 : 1), f.inter, NULL},
		{TT_DFB, 18, block, f.inter, NULL},
		{TT_DFB, 20, kinds * blocks.h, f.inter, NULL},
		{TT_DFB, 16, block, f.out, out},
	};
	const struct tt_page_row first[] = {
		{TT_DFB, 7, tt_shard_tiles(&stats->spec), tile_of(stats), stats},
		{TT_DFB, 9, kinds * blocks.h, f.inter, NULL},
		{TT_DFB, 21, kinds * blocks.h, f.inter, NULL},
	};

	TT_TRY(tt_plan_rows(plan, in->spec.memory.shard.grid, rows, TT_COUNT(rows)));
	return tt_plan_rows(plan, stats->spec.memory.shard.grid, first, TT_COUNT(first));
}

tt_status tt_norm_rows_sharded(struct tt_plan *plan, const struct tt_launch *launch)
{
	switch (launch->attrs[TT_NORM_STAGE].integer) {
	case TT_NORM_BEFORE_GATHER:
		return rows_before(plan, launch);
	case TT_NORM_AFTER_GATHER:
		return rows_after(plan, launch);
	default:
		return rows_whole(plan, launch);
	}
}
