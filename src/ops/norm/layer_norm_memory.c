/*
 * layer_norm_memory.c: what normalisation keeps in L1: rows of tiles, whole where they fit, else in parts. Models
 * the factories LayerNormMultiCore and LayerNormSharded of ttnn 0.81, without those that use Welford's method.
 */
#include "ops/movement/movement.h"
#include "ops/norm/layer_norm.h"
#include "ops/objects.h"

/* Rows of tiles are given out row by row over the grid. */
tt_status tt_norm_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_shape *padded = &launch->inputs[0]->spec.padded;
	uint64_t rows = tt_div_up(tt_shape_last(padded, 2), TT_TILE);
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

/* Blocks are 8 tiles, or 4 in float32; widths are rounded up to whole blocks. */
static struct facts facts_of(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[TT_NORM_IN];
	bool fp32 = tt_norm_fp32(launch);
	uint64_t width = tt_div_up(tt_shape_last(&in->spec.padded, 1), TT_TILE);

	return (struct facts){
		.in = tt_tensor_tile_bytes(in),
		.out = tt_tensor_tile_bytes(launch->outputs[0]),
		.inter = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16),
		.gamma = tt_tensor_tile_bytes(launch->inputs[TT_NORM_WEIGHT]),
		.beta = tt_tensor_tile_bytes(launch->inputs[TT_NORM_BIAS]),
		.residual = tt_tensor_tile_bytes(launch->inputs[TT_NORM_RESIDUAL]),
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
static void list(struct tt_buffer_row rows[ROWS], const struct facts *f, uint64_t width,
		 bool stream)
{
	uint64_t twice = 2 * f->block, small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t whole = stream ? f->block : width;
	const struct tt_buffer_row all[ROWS] = {
		TT_DFB_ROW(0, "cb_in",
			   .pages = f->row_major  ? whole
				    : f->residual ? twice
						  : width,
			   .page = f->in),
		TT_DFB_ROW(16, "cb_out", .pages = f->row_major ? whole : twice, .page = f->out),
		TT_DFB_ROW(18, "cb_ex", .pages = f->rms ? 0 : 2, .page = f->inter),
		TT_DFB_ROW(2, "cb_scaler", .pages = 2, .page = small),
		TT_DFB_ROW(3, "cb_eps", .pages = 2, .page = small),
		TT_DFB_ROW(19, "cb_ex2", .pages = 2, .page = f->inter),
		TT_DFB_ROW(24, "cb_xmm", .pages = !f->rms || f->residual || stream ? width : 0,
			   .page = f->inter),
		TT_DFB_ROW(20, "cb_xmm2", .pages = width, .page = f->inter),
		TT_DFB_ROW(21, "cb_ex2pe", .pages = 8, .page = f->inter),
		TT_DFB_ROW(26, "cb_accumulate", .pages = stream, .page = f->inter),
		TT_DFB_ROW(27, "cb_in_rm", .pages = f->row_major ? twice : 0, .page = f->in),
		TT_DFB_ROW(28, "cb_out_rm", .pages = f->row_major ? twice : 0, .page = f->out),
		TT_DFB_ROW(22, "cb_fusion", .pages = f->gamma || f->beta ? twice : 0,
			   .page = f->inter),
		TT_DFB_ROW(5, "cb_gamma", .pages = f->gamma ? width : 0, .page = f->gamma),
		TT_DFB_ROW(6, "cb_beta", .pages = f->beta ? width : 0, .page = f->beta),
		TT_DFB_ROW(23, "cb_x", .pages = f->residual && !f->rms ? width : 0,
			   .page = f->inter),
		TT_DFB_ROW(1, "cb_inb", .pages = f->residual ? twice : 0, .page = f->residual),
	};

	for (size_t i = 0; i < ROWS; i++)
		rows[i] = all[i];
}

/* Whole rows where they fit; else the most tiles that do, of at most so many that there are kernels. */
static tt_status fit(struct tt_buffer_row rows[ROWS], const struct tt_launch *launch)
{
	const struct facts f = facts_of(launch);
	uint64_t usable = tt_l1_free(launch->device) * 95 / 100;
	bool heavy = f.gamma || f.beta || f.in == tt_tile_bytes_of(TTNN_FLOAT32);
	uint64_t most = (heavy ? 7u : 14u) * f.block;

	list(rows, &f, f.width, false);
	if (f.row_weights || tt_buffers_bytes(rows, ROWS) <= usable)
		return TTNN_OK;
	for (uint64_t width = f.width < most ? f.width : most; width; width -= f.block) {
		list(rows, &f, width, true);
		if (tt_buffers_bytes(rows, ROWS) <= usable)
			return TTNN_OK;
	}
	return tt_fail_cond(
		TTNN_INVALID, "streaming_footprint.fits(usable_l1)",
		"LayerNorm streaming circular buffers require %llu bytes, but only %llu "
		"bytes of the allocator's L1 span are available",
		(unsigned long long)tt_buffers_bytes(rows, ROWS), (unsigned long long)usable);
}

/* As many rows of buffers as fit; fit() makes them smaller where a whole row does not. */
tt_status tt_norm_rows_interleaved(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_buffer_row rows[ROWS];
	const ttnn_core_set *cores;

	TT_TRY(fit(rows, launch));
	TT_TRY(tt_norm_cores(&cores, launch));
	return tt_plan_buffers(plan, cores, rows, ROWS);
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

/* block_h and block_w of the config, or those of a shard. */
struct tt_norm_blocks tt_norm_blocks(const struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = &launch->inputs[TT_NORM_IN]->spec.memory.shard;
	const struct ttnn_value *config = &launch->attrs[TT_NORM_CONFIG];
	struct tt_norm_blocks blocks = {.grid = extent_of(shard->grid),
					.h = shard->height / TT_TILE,
					.w = shard->width / TT_TILE};

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

/* How many parts of a row's sums come together on a core, and how many rows each then has. */
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

/*
 * Each core sums its part of the rows, gathers those of its rows of tiles from the others, and
 * gets the results of the rest: partial, external and global buffers, for squares and, in
 * layer_norm, for values.
 */
static tt_status rows_whole(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct facts f = facts_of(launch);
	const struct tt_norm_blocks blocks = tt_norm_blocks(launch);
	const struct gathering g = gathering_of(launch, blocks);
	struct tt_tensor *in = launch->inputs[TT_NORM_IN], *out = launch->outputs[0];
	uint64_t block = blocks.h * blocks.w, small = tt_tile_bytes_of(TTNN_BFLOAT16);
	bool mean = !f.rms, ragged = tt_shape_last(&in->spec.shape, 1) % TT_TILE != 0;

	return TT_PLAN(
		plan, in->spec.memory.shard.grid,
		TT_DFB_ROW(0, "cb_in0", .pages = block, .page = f.in, .backing = in),
		TT_DFB_ROW(1, "cb_in1", .pages = f.residual ? block : 0, .page = f.residual,
			   .backing = launch->inputs[TT_NORM_RESIDUAL]),
		TT_DFB_ROW(2, "cb_scaler", .pages = 1, .page = small),
		TT_DFB_ROW(3, "cb_eps", .pages = 1, .page = small),
		TT_DFB_ROW(4, "cb_scaler_global", .pages = 1, .page = f.inter),
		/* Columns of the last tile that do not count, and values without them. */
		TT_DFB_ROW(14, "cb_mask_scratch", .pages = ragged && mean ? block : 0,
			   .page = f.inter),
		TT_DFB_ROW(7, "cb_col_mask", .pages = ragged ? blocks.w : 0, .page = small),
		TT_DFB_ROW(11, "cb_ex_partial2", .pages = blocks.h, .page = f.inter),
		TT_DFB_ROW(13, "cb_ex_external2", .pages = g.parts, .page = f.inter),
		TT_DFB_ROW(15, "cb_ex_global", .pages = blocks.h, .page = f.inter),
		TT_DFB_ROW(12, "cb_ex2", .pages = g.rows, .page = f.inter),
		TT_DFB_ROW(8, "cb_ex_partial", .pages = mean ? blocks.h : 0, .page = f.inter),
		TT_DFB_ROW(9, "cb_ex", .pages = mean ? blocks.h : 0, .page = f.inter),
		TT_DFB_ROW(10, "cb_ex_external", .pages = mean ? g.parts : 0, .page = f.inter),
		TT_DFB_ROW(5, "cb_gamma", .pages = f.gamma ? blocks.w : 0, .page = f.gamma),
		TT_DFB_ROW(6, "cb_beta", .pages = f.beta ? blocks.w : 0, .page = f.beta),
		TT_DFB_ROW(24, "cb_x", .pages = block, .page = f.inter),
		TT_DFB_ROW(18, "cb_xmm", .pages = block, .page = f.inter),
		TT_DFB_ROW(20, "cb_ex2pe", .pages = blocks.h, .page = f.inter),
		TT_DFB_ROW(16, "cb_out", .pages = block, .page = f.out, .backing = out));
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

	return TT_PLAN(
		plan, in->spec.memory.shard.grid,
		TT_DFB_ROW(0, "cb_in0", .pages = block, .page = f.in, .backing = in),
		TT_DFB_ROW(1, "cb_in1", .pages = f.residual ? block : 0, .page = f.residual,
			   .backing = launch->inputs[TT_NORM_RESIDUAL]),
		TT_DFB_ROW(2, "cb_scaler", .pages = 1, .page = small),
		TT_DFB_ROW(4, "cb_scaler_global", .pages = 1, .page = f.inter),
		TT_DFB_ROW(8, "cb_ex_partial", .pages = kinds * blocks.h, .page = f.inter),
		TT_DFB_ROW(10, "cb_ex_external", .pages = kinds * g.parts, .page = f.inter),
		TT_DFB_ROW(9, "cb_ex", .pages = kinds * g.rows, .page = f.inter),
		TT_DFB_ROW(24, "cb_x", .pages = block, .page = f.inter),
		TT_DFB_ROW(16, "cb_out", .pages = kinds * blocks.h, .page = f.out, .backing = out));
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

	TT_TRY(TT_PLAN(plan, in->spec.memory.shard.grid,
		       TT_DFB_ROW(0, "cb_in0", .pages = block, .page = f.in, .backing = in),
		       TT_DFB_ROW(2, "cb_scaler", .pages = 1, .page = small),
		       TT_DFB_ROW(3, "cb_eps", .pages = 1, .page = small),
		       TT_DFB_ROW(4, "cb_scaler_global", .pages = 1, .page = f.inter),
		       TT_DFB_ROW(15, "cb_ex_global", .pages = kinds * blocks.h, .page = f.inter),
		       TT_DFB_ROW(5, "cb_gamma", .pages = f.gamma ? blocks.w : 0, .page = f.gamma),
		       TT_DFB_ROW(6, "cb_beta", .pages = f.beta ? blocks.w : 0, .page = f.beta),
		       TT_DFB_ROW(24, "cb_x", .pages = block + (f.rms ? 0 : 1), .page = f.inter),
		       TT_DFB_ROW(18, "cb_xmm", .pages = block, .page = f.inter),
		       TT_DFB_ROW(20, "cb_ex2pe", .pages = kinds * blocks.h, .page = f.inter),
		       TT_DFB_ROW(16, "cb_out", .pages = block, .page = f.out, .backing = out)));
	return TT_PLAN(plan, stats->spec.memory.shard.grid,
		       TT_DFB_ROW(7, "cb_stats", .pages = tt_shard_tiles(&stats->spec),
				  .page = tt_tensor_tile_bytes(stats), .backing = stats),
		       TT_DFB_ROW(9, "cb_ex", .pages = kinds * blocks.h, .page = f.inter),
		       TT_DFB_ROW(21, "cb_var", .pages = kinds * blocks.h, .page = f.inter));
}

/* Upstream has one factory for the three; the stage decides what it makes. */
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
