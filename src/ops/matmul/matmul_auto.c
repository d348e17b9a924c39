/*
 * matmul_auto.c: how a product is cut when the caller leaves it open. Upstream's rules weigh the
 * shape of the result, where the operands are, and how much of L1 is free at this moment, so the
 * same product may be cut in another way later.
 *
 * Models the functions that make a program config in ttnn 0.81
 * (matmul/device/config/matmul_program_config.cpp), by what they are called there:
 *
 *	get_matmul_program_config                      choose_by_shards(): a is sharded
 *	create_matmul_program_config                   choose_on_grid(): the caller gave a core grid
 *	create_matmul_1d_systolic_array_program_config cut_systolic()
 *	create_simple_matmul_program_config            choose_simple(): nothing is known but the shapes
 *	get_mcast_1d_config                            cut_1d()
 *	get_multi_dim_per_core_factor                  shrink()
 *	get_subblock_sizes, get_matmul_subblock_params sub_block_transposed(), sub_block()
 *
 * Whatever they give is then checked like a config of the caller's (matmul_check_config.c). Not
 * modelled: batched weights in DRAM shards and gathered operands, which upstream never chooses
 * by itself.
 */
#include "ops/matmul/matmul.h"
#include "ops/movement/movement.h"

/* A block of the result and the depth of the operands' blocks. */
struct block {
	uint32_t m, n, k;
};

/* The greatest common divisor: in0_block_w must divide a shard's width and K. */
uint32_t tt_matmul_gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* ---- what fits ---------------------------------------------------------------------------------------- */

/*
 * A tile of sums on the way. Upstream assumes that the packer accumulates in L1 (bfloat16 at
 * least) whether it will or not: the estimate is made before that is decided.
 */
static uint64_t intermediate_bytes(const struct tt_matmul *matmul)
{
	uint64_t out = tt_tile_bytes_of(matmul->dtype), half = tt_tile_bytes_of(TTNN_BFLOAT16);

	if (matmul->fp32)
		return tt_tile_bytes_of(TTNN_FLOAT32);
	return out > half ? out : half;
}

/*
 * What the circular buffers of a block would take, as upstream estimates it: both operands twice
 * (one block is multiplied while the next comes), result and sums once, a's shard where there is
 * one, and room to transpose a. The result is counted in tiles of a's type, not its own. An
 * estimate, not what the program takes; upstream counts in 32 bits, and so does this.
 */
static uint32_t bytes_of(const struct tt_matmul *matmul, const struct block *block)
{
	uint64_t tile_a = tt_tile_bytes_of(matmul->a->spec.dtype);
	uint64_t tile_b = tt_tile_bytes_of(matmul->b->spec.dtype);
	uint64_t area = (uint64_t)block->m * block->n;
	uint64_t in_a = 2ull * block->m * block->k * tile_a, shard = 0, bias = 0;

	if (tt_tensor_is_sharded(matmul->a) && matmul->a->spec.memory.has_shard)
		shard = (uint64_t)block->m *
			(matmul->a->spec.memory.shard.width / matmul->a_tile.width) * tile_a;
	if (matmul->bias)
		bias = tt_tile_bytes_of(matmul->bias->spec.dtype) * block->n;
	return (uint32_t)(in_a + 2ull * block->n * block->k * tile_b + area * tile_a +
			  area * intermediate_bytes(matmul) + bias + shard +
			  (matmul->transpose_a ? (tt_tensor_is_sharded(matmul->a) ? shard : in_a)
					       : 0));
}

uint32_t tt_matmul_estimate(const struct tt_matmul *matmul, uint32_t m, uint32_t n, uint32_t k)
{
	return bytes_of(matmul, &(struct block){.m = m, .n = n, .k = k});
}

/*
 * "room" is L1 between what the allocator has handed out and the bottom: why a config depends on
 * the tensors that are alive.
 */
static bool fits(const struct tt_matmul *matmul, const struct block *block)
{
	return bytes_of(matmul, block) < matmul->room;
}

/* The divisors of a size in upstream's order: itself, 1, the others from large to small. */
static uint32_t next_divisor(uint32_t size, uint32_t before)
{
	uint32_t next = before == size ? 1 : before == 1 ? size / 2 : before - 1;

	if (before == size)
		return 1;
	while (next > 1 && size % next != 0)
		next--;
	return next > 1 ? next : 0;
}

/* How far from a square: single precision, as upstream compares it, since ties decide. */
static double ratio_of(const struct block *block)
{
	return block->m > block->n ? (double)((float)block->m / (float)block->n)
				   : (double)((float)block->n / (float)block->m);
}

/*
 * The largest area below `below` that divisors of whole->m and whole->n make, as square as can be:
 * of two that are equally square the later one. False when there is none.
 */
static bool next_area(struct block *out, const struct block *whole, uint64_t below)
{
	uint64_t best = 0;

	for (uint32_t m = whole->m; m; m = next_divisor(whole->m, m)) {
		for (uint32_t n = whole->n; n; n = next_divisor(whole->n, n)) {
			struct block block = {m, n, whole->k};
			uint64_t area = (uint64_t)m * n;

			if (area < below &&
			    (area > best || (area == best && ratio_of(out) >= ratio_of(&block)))) {
				best = area;
				*out = block;
			}
			if (n == 1 && whole->n == 1)
				break;
		}
		if (m == 1 && whole->m == 1)
			break;
	}
	return best > 0;
}

/*
 * The block, or the largest part of it that fits; `deep` allows for less depth too. Areas go
 * first and depth second: upstream would rather read an operand's block more often in thinner
 * slices than cut the result further. One tile when nothing fits: the program then fails for
 * want of L1, not here.
 */
static struct block shrink(const struct tt_matmul *matmul, const struct block *whole, bool deep)
{
	struct block block;

	if (fits(matmul, whole))
		return *whole;
	for (uint64_t below = UINT64_MAX; next_area(&block, whole, below);
	     below = (uint64_t)block.m * block.n)
		for (uint32_t k = whole->k; k >= 1 && (deep || k == whole->k); k--) {
			block.k = k;
			if (whole->k % k == 0 && fits(matmul, &block))
				return block;
		}
	return (struct block){1, 1, 1};
}

/* ---- blocks of the destination registers ------------------------------------------------------------------ */

/*
 * Height and width in tiles of what stays in the destination registers, best first: eight tiles,
 * then fewer, and squarer before longer, which reads fewer operands for as many results.
 */
static const uint8_t choices[][2] = {
	{4, 2}, {2, 4}, {8, 1}, {1, 8}, {7, 1}, {1, 7}, {3, 2}, {2, 3}, {6, 1}, {1, 6},
	{5, 1}, {1, 5}, {2, 2}, {4, 1}, {1, 4}, {3, 1}, {1, 3}, {2, 1}, {1, 2}, {1, 1},
};

/*
 * out_subblock_h and out_subblock_w: the first choice that divides the block. Sums in float32
 * take two registers each, so only four tiles stay. `whole_row`: the packer writes a sharded
 * result row by row, so a block must be as wide as the result and one tile high.
 */
static void sub_block(struct tt_matmul_config *config, const struct tt_matmul *matmul,
		      bool whole_row)
{
	config->sub_h = config->sub_w = 1;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		uint32_t h = choices[i][0], w = choices[i][1];

		if ((matmul->fp32 && h * w > 4) || (whole_row && (w != config->block_w || h != 1)))
			continue;
		if (config->block_h % h == 0 && config->block_w % w == 0) {
			config->sub_h = h;
			config->sub_w = w;
			return;
		}
	}
}

/*
 * The same table read the other way round: the function for configs on a caller's grid takes
 * (width, height) out of a table that the other one fills with (height, width).
 */
static void sub_block_transposed(struct tt_matmul_config *config, const struct tt_matmul *matmul)
{
	config->sub_h = config->sub_w = 1;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		uint32_t w = choices[i][0], h = choices[i][1];

		if ((h * w <= 4 || !matmul->fp32) && config->block_h % h == 0 &&
		    config->block_w % w == 0) {
			config->sub_h = h;
			config->sub_w = w;
			return;
		}
	}
}

/* ---- narrow results: one operand goes to all cores --------------------------------------------------------- */

/*
 * What all kinds begin with. num_global_cb_receivers is 1 in a 1-D config that nobody wrote, and
 * not there in others.
 */
static struct tt_matmul_config config_of(enum tt_matmul_kind kind, struct ttnn_core grid)
{
	return (struct tt_matmul_config){.kind = kind,
					 .grid = grid,
					 .activation = ttnn_v_none(),
					 .receivers = kind == TT_MATMUL_1D};
}

/*
 * out_block_h and out_block_w: those of a whole core, made smaller until the buffers fit into L1.
 * Only deep cuts may lower in0_block_w too.
 */
static void cut(struct tt_matmul_config *config, const struct tt_matmul *matmul, bool deep)
{
	struct block block = shrink(matmul, &(struct block){config->m, config->n, config->k}, deep);

	config->block_h = block.m;
	config->block_w = block.n;
	if (deep)
		config->k = block.k;
}

/* The user's shards of a result that is block sharded on one row or column of cores. */
static tt_status per_core_of_shards(struct tt_matmul_config *config, const struct tt_matmul *matmul,
				    const struct ttnn_shard_spec *shard)
{
	struct ttnn_core_range box;
	uint64_t cores;

	TT_REQUIRE(shard->height % matmul->a_tile.height == 0,
		   "shard_shape[0] % in0_tile.get_height() == 0",
		   "Shard height %u must be divisible by tile height %u for BLOCK_SHARDED on 1D "
		   "grid",
		   shard->height, matmul->a_tile.height);
	TT_REQUIRE(shard->width % matmul->b_tile.width == 0,
		   "shard_shape[1] % in1_tile.get_width() == 0",
		   "Shard width %u must be divisible by tile width %u for BLOCK_SHARDED on 1D grid",
		   shard->width, matmul->b_tile.width);
	config->m = shard->height / matmul->a_tile.height;
	config->n = shard->width / matmul->b_tile.width;
	TT_TRY(tt_core_set_box(&box, shard->grid));
	cores = tt_core_range_cores(&box);
	TT_REQUIRE(cores == ttnn_core_set_cores(shard->grid),
		   "bbox_num_cores == user_shard_spec->grid.num_cores()",
		   "BLOCK_SHARDED on 1D grid requires a contiguous core grid without gaps. "
		   "Bounding box has %llu cores but grid has %zu cores.",
		   (unsigned long long)cores, ttnn_core_set_cores(shard->grid));
	config->grid = (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
	return TTNN_OK;
}

/*
 * One line of cores: mcast_in0 sends a to all, each has columns of the result; otherwise b goes
 * to all, and each has rows. Shards of the result fix both extents. Depth is two tiles where K
 * is even: enough to hide a read behind a multiplication, whatever L1 would allow.
 */
static tt_status cut_1d(struct tt_matmul_config *out, const struct tt_matmul *matmul,
			struct ttnn_core grid, bool cast_a, const struct ttnn_shard_spec *shard)
{
	uint32_t cores = grid.x * grid.y;
	bool fuse = shard && matmul->batch_b == 1;
	uint32_t m = tt_matmul_rows(matmul, fuse);
	/* Counted before tiles are: of what is not tilized a part of a tile is one here, none elsewhere. */
	uint32_t height = tt_shape_last(&matmul->a_padded, 2);
	uint32_t width = tt_shape_last(&matmul->b_padded, 1);

	*out = config_of(TT_MATMUL_1D, grid);
	out->cast_a = cast_a;
	out->fuse_batch = fuse;
	if (shard) {
		TT_TRY(per_core_of_shards(out, matmul, shard));
	} else if (cast_a) {
		out->m = m;
		out->n = tt_div_up32(tt_div_up32(width, cores), matmul->b_tile.width);
	} else {
		out->m = tt_div_up32(tt_div_up32(height, cores), matmul->a_tile.height);
		out->n = matmul->n;
	}
	out->k = matmul->k % 2 == 0 ? 2 : 1;
	cut(out, matmul, false);
	sub_block(out, matmul, false);
	return TTNN_OK;
}

/* ---- nothing was said, a is not sharded ----------------------------------------------------------------------- */

/*
 * Whether a product is so long that a line of cores serves it better than a grid: upstream's
 * limit is 8 : 1, and one row or column of tiles when everything is in DRAM anyway.
 */
static bool narrow(uint32_t height, uint32_t width, bool all_dram)
{
	uint32_t ratio = height > width ? height / width : width / height;

	return ratio > 8 || (all_dram && (height <= TT_TILE || width <= TT_TILE));
}

/* What the choice weighs. */
struct view {
	bool interleaved, dram; /* all of operands and result */
	bool wide, tall;
	bool row_shards, column_shards; /* block sharded on one row, one column of cores */
	uint32_t factor;                /* tiles along an edge of a block */
	uint32_t blocks_x, blocks_y, k;
	uint32_t range_x, range_y; /* cores of the blocks, 0 when they do not fit or are one */
};

/* The edge of a square block, two tiles deep: powers of two from 16 on, the first that fits. */
static uint32_t edge_that_fits(const struct tt_matmul *matmul)
{
	for (uint32_t edge = 16; edge > 1; edge /= 2)
		if (fits(matmul, &(struct block){edge, edge, 2}))
			return edge;
	return 1;
}

/*
 * What upstream looks at first: are all three interleaved, all in DRAM, is the result narrow, and
 * how many square blocks of the largest edge that fits it has on the grid.
 */
static struct view look(const struct tt_matmul *matmul, struct ttnn_core grid)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *b = &matmul->b->spec.memory;
	uint32_t height = tt_shape_last(&matmul->a_padded, 2);
	uint32_t width = tt_shape_last(&matmul->b_padded, 1);
	struct view view = {
		.interleaved = a->layout == TTNN_INTERLEAVED && b->layout == TTNN_INTERLEAVED &&
			       matmul->memory.layout == TTNN_INTERLEAVED,
		.dram = a->buffer == TTNN_DRAM && b->buffer == TTNN_DRAM &&
			matmul->memory.buffer == TTNN_DRAM,
		.k = 2,
	};

	if (view.interleaved && narrow(height, width, view.dram)) {
		view.wide = width > height;
		view.tall = !view.wide;
	}
	view.factor = edge_that_fits(matmul);
	view.blocks_y = tt_div_up32(matmul->m, view.factor);
	view.blocks_x = tt_div_up32(matmul->n, view.factor);
	if ((tt_memory_config_is_sharded(&matmul->memory) || view.blocks_y > 1 ||
	     view.blocks_x > 1) &&
	    matmul->k % 2 != 0)
		view.k = 1;
	if ((view.blocks_x > 1 || view.blocks_y > 1) && view.blocks_x <= grid.x &&
	    view.blocks_y <= grid.y) {
		view.range_x = view.blocks_x;
		view.range_y = view.blocks_y;
	}
	return view;
}

/*
 * A result that is block sharded on one row or column of cores is as good as width or height
 * sharded: one operand is the same for all of them. Upstream found that out after the fact (its
 * issue is in the message), so it is asked apart from the layout.
 */
static tt_status look_at_shards(struct view *view, const struct tt_matmul *matmul)
{
	struct ttnn_core_range box;
	bool one_column, one_row;

	if (matmul->memory.layout != TTNN_BLOCK_SHARDED || !matmul->memory.has_shard)
		return TTNN_OK;
	TT_TRY(tt_core_set_box(&box, matmul->memory.shard.grid));
	one_column = box.start.x == box.end.x;
	one_row = box.start.y == box.end.y;
	view->column_shards = one_column && !one_row;
	view->row_shards = one_row && !one_column;
	TT_REQUIRE((!view->column_shards && !view->row_shards) || matmul->batch_b <= 1, "false",
		   "BLOCK_SHARDED output on a 1D grid (single row or column of cores) is not "
		   "supported when both input tensors are batched. Either use "
		   "HEIGHT_SHARDED/WIDTH_SHARDED explicitly, use a 2D core grid for "
		   "BLOCK_SHARDED, or ensure the second input tensor (B) has batch size 1. See "
		   "GitHub issue #32306 for details.");
	return TTNN_OK;
}

/*
 * Rows of a along rows of cores, columns of b along columns. All in DRAM, the whole grid is used
 * with blocks as large as fit; otherwise blocks are square of the edge that look() found.
 */
static void cut_2d(struct tt_matmul_config *out, const struct tt_matmul *matmul,
		   const struct view *view, struct ttnn_core grid)
{
	*out = config_of(TT_MATMUL_2D, grid);
	/*
	 * The depth of a step is a column's share of K, so that every column of cores sends
	 * once.
	 */
	if (view->dram && view->interleaved) {
		out->k = matmul->k % grid.x == 0 ? matmul->k / grid.x : 1;
		out->m = tt_div_up32(matmul->m, grid.y);
		out->n = tt_div_up32(matmul->n, grid.x);
		cut(out, matmul, true);
		sub_block(out, matmul, false);
		return;
	}
	out->k = view->k;
	out->fuse_batch = tt_memory_config_is_sharded(&matmul->memory) && matmul->batch_b == 1;
	out->m = out->block_h = view->factor < matmul->m ? view->factor : matmul->m;
	out->n = out->block_w = view->factor < matmul->n ? view->factor : matmul->n;
	/*
	 * Not searched for, but written down upstream: 1 × 2 tiles, 4 × 2 for results two tiles
	 * wide.
	 */
	out->sub_w = 2;
	out->sub_h = out->n == 2 ? 4 : 1;
	if (out->m < view->factor || out->n < view->factor)
		sub_block(out, matmul, true);
}

/*
 * Neither config nor grid, a not sharded. In upstream's order: many matrices b for one a (each
 * core has rows of a and sees all b), too many blocks for the grid or a depth that does not
 * divide (any tile anywhere: MatmulMultiCoreProgramConfig, the slow one), one row of blocks, one
 * column, else a grid of both. The names of conditions are upstream's: range_x and range_y are
 * get_core_range()'s, which gives nothing for a single block.
 */
static tt_status choose_simple(struct tt_matmul_config *out, const struct tt_matmul *matmul,
			       struct ttnn_core grid)
{
	const enum ttnn_memory_layout layout = matmul->memory.layout;
	struct view view = look(matmul, grid);
	bool all_dram = view.dram && view.interleaved, none;

	if (matmul->batch_a == 1 && matmul->batch_b > 1 && view.interleaved)
		return cut_1d(out, matmul, grid, false, NULL);
	*out = config_of(TT_MATMUL_MULTI, (struct ttnn_core){0, 0});
	if (!all_dram && ((uint64_t)view.blocks_x * view.blocks_y > (uint64_t)grid.x * grid.y ||
			  matmul->k % view.k != 0))
		return TTNN_OK;
	TT_TRY(look_at_shards(&view, matmul));
	none = view.range_y == 0;
	if ((view.range_y == 1 && !all_dram) || view.wide ||
	    (none && (layout == TTNN_WIDTH_SHARDED || view.row_shards)))
		return cut_1d(out, matmul, matmul->full_grid, true,
			      view.row_shards ? &matmul->memory.shard : NULL);
	if ((view.range_x == 1 && !all_dram) || view.tall ||
	    (none && (layout == TTNN_HEIGHT_SHARDED || view.column_shards)))
		return cut_1d(out, matmul, matmul->full_grid, false,
			      view.column_shards ? &matmul->memory.shard : NULL);
	if (!none || all_dram ||
	    (layout == TTNN_BLOCK_SHARDED && !view.column_shards && !view.row_shards))
		cut_2d(out, matmul, &view, grid);
	return TTNN_OK;
}

/* ---- on a grid of the caller's ------------------------------------------------------------------------------------ */

/* Upstream's rules for a grid count in tiles, so extents must be padded to them. */
static tt_status whole_tiles(const struct tt_matmul *matmul)
{
	uint64_t rows = (uint64_t)matmul->batch_a * tt_shape_last(&matmul->a_padded, 2);

	if (rows % TT_TILE == 0 && tt_shape_last(&matmul->a_padded, 1) % TT_TILE == 0 &&
	    tt_shape_last(&matmul->b_padded, 1) % TT_TILE == 0)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID,
			    "(batch_size_a * m_size) % ttnn::TILE_SIZE == 0 && k_size % "
			    "ttnn::TILE_SIZE == 0 && n_size % ttnn::TILE_SIZE == 0",
			    "The last two dimensions of the first tensor and the last dimension "
			    "of the second tensor must be a multiple of tile size");
}

/*
 * A line of cores for a caller's grid. The longer side of the result is cut, or the one that
 * shards are cut along; the depth is cut too, to the largest divisor of K up to a core's share
 * of it: a then goes round in as many steps as there are cores.
 */
static tt_status cut_systolic(struct tt_matmul_config *out, const struct tt_matmul *matmul,
			      struct ttnn_core grid)
{
	enum ttnn_memory_layout layout = matmul->a->spec.memory.layout;
	uint32_t cores = grid.x * grid.y, m = tt_matmul_rows(matmul, true);
	bool tall = m > matmul->n;

	TT_REQUIRE(matmul->batch_b == 1, "batch_size_b == 1",
		   "Second input cannot be currently batched when running matmul using 1d "
		   "systolic array");
	TT_TRY(whole_tiles(matmul));
	if (layout == TTNN_HEIGHT_SHARDED)
		tall = true;
	else if (layout == TTNN_WIDTH_SHARDED)
		tall = false;
	*out = config_of(TT_MATMUL_1D, grid);
	out->cast_a = !tall;
	out->fuse_batch = true;
	out->activation = matmul->activation;
	out->m = tall ? tt_div_up32(m, cores) : m;
	out->n = tall ? matmul->n : tt_div_up32(matmul->n, cores);
	out->k = tt_div_up32(matmul->k, cores);
	while (matmul->k % out->k != 0)
		out->k--;
	cut(out, matmul, false);
	sub_block_transposed(out, matmul);
	return TTNN_OK;
}

/*
 * b has several matrices: each core takes whole matrices, one tile deep (or as deep as a's
 * shard). When even one matrix does not fit into L1, the caller's grid is forgotten and the
 * shapes decide.
 */
static tt_status cut_matrices(struct tt_matmul_config *out, const struct tt_matmul *matmul,
			      struct ttnn_core grid)
{
	const struct ttnn_shard_spec *a = &matmul->a->spec.memory.shard;
	const struct ttnn_shard_spec *b = &matmul->b->spec.memory.shard;
	enum ttnn_memory_layout layout = matmul->a->spec.memory.layout;

	*out = config_of(TT_MATMUL_REUSE, grid);
	out->m = matmul->m;
	out->n = matmul->n;
	out->k = 1;
	if (tt_tensor_is_sharded(matmul->a)) {
		TT_REQUIRE(layout != TTNN_WIDTH_SHARDED,
			   "a_layout != TensorMemoryLayout::WIDTH_SHARDED",
			   "MatmulMultiCoreReuseProgramConfig: Input A cannot be width sharded, "
			   "got layout: TensorMemoryLayout::%s",
			   tt_enum_name(&tt_enum_memory_layout, layout));
		out->m = a->height / TT_TILE;
		out->n = tt_shape_last(&matmul->b_shape, 1) / TT_TILE;
		out->k = a->width / TT_TILE;
	} else if (tt_tensor_is_sharded(matmul->b)) {
		layout = matmul->b->spec.memory.layout;
		TT_REQUIRE(layout != TTNN_WIDTH_SHARDED,
			   "input_tensor_b_memory_config.memory_layout() != "
			   "TensorMemoryLayout::WIDTH_SHARDED",
			   "MatmulMultiCoreReuseProgramConfig: Input B cannot be width sharded, "
			   "got layout: TensorMemoryLayout::%s",
			   tt_enum_name(&tt_enum_memory_layout, layout));
		out->n = b->width / TT_TILE;
	} else if (!fits(matmul, &(struct block){out->m, out->n, 1})) {
		return choose_simple(out, matmul, grid);
	}
	out->block_h = out->m;
	out->block_w = out->n;
	sub_block_transposed(out, matmul);
	return TTNN_OK;
}

/*
 * Shards of a give the extents of blocks; without shards rows and columns are divided by the grid,
 * and in0_block_w is the largest of 4, 3, 2, 1 that divides K.
 */
static void blocks_on_grid(struct tt_matmul_config *out, const struct tt_matmul *matmul)
{
	const struct ttnn_shard_spec *shard = &matmul->a->spec.memory.shard;

	if (tt_tensor_is_sharded(matmul->a)) {
		out->m = shard->height / TT_TILE;
		out->n = (uint32_t)((uint64_t)matmul->n * shard->width / (matmul->k * TT_TILE));
		out->k = tt_matmul_gcd(shard->width / TT_TILE, matmul->k);
		out->transpose_cast = shard->orientation == TTNN_ORIENT_COL_MAJOR;
	} else {
		out->m = tt_div_up32(tt_matmul_rows(matmul, true), out->grid.y);
		out->n = tt_div_up32(matmul->n, out->grid.x);
		for (out->k = 4; matmul->k % out->k != 0;)
			out->k--;
	}
	if (out->n == 0)
		out->n = 1;
}

/*
 * A caller's core grid, or block shards on one line of cores. Narrow results and small extents
 * take a line of cores, several matrices b are given out whole, the rest is cut both ways.
 */
static tt_status choose_on_grid(struct tt_matmul_config *out, const struct tt_matmul *matmul)
{
	uint32_t height = matmul->batch_a * tt_shape_last(&matmul->a_padded, 2);
	uint32_t width = tt_shape_last(&matmul->b_padded, 1);
	bool blocks = matmul->a->spec.memory.layout == TTNN_BLOCK_SHARDED;
	struct ttnn_core grid = matmul->full_grid;

	TT_REQUIRE(tt_shape_last(&matmul->a_shape, 1) == tt_shape_last(&matmul->b_shape, 2),
		   "inteneded_k_size_of_a == inteneded_k_size_of_b",
		   "The k dimension does not match between tensors");
	TT_TRY(whole_tiles(matmul));
	TT_NEED(!matmul->has_grid || (matmul->user_grid.x && matmul->user_grid.y),
		"a grid of no cores multiplies nothing");
	if (matmul->has_grid && matmul->user_grid.x <= grid.x && matmul->user_grid.y <= grid.y)
		grid = matmul->user_grid;
	if (matmul->batch_b > 1) {
		TT_REQUIRE(!tt_value_given(&matmul->activation), "!fused_activation.has_value()",
			   "Cannot use activation with batched input b");
		return cut_matrices(out, matmul, grid);
	}
	if (!blocks &&
	    (tt_tensor_is_sharded(matmul->a) || narrow(height, width, false) || matmul->k <= 1 ||
	     tt_shape_last(&matmul->a_padded, 2) <= TT_TILE || width <= TT_TILE))
		return cut_systolic(out, matmul, grid);
	*out = config_of(TT_MATMUL_2D, grid);
	out->fuse_batch = true;
	out->activation = matmul->activation;
	blocks_on_grid(out, matmul);
	cut(out, matmul, false);
	sub_block_transposed(out, matmul);
	/* The packer needs whole rows of the block, unless the block is one subblock high. */
	if (out->sub_w != out->n)
		out->sub_h = 1;
	return TTNN_OK;
}

/* ---- a is sharded ----------------------------------------------------------------------------------------------------- */

/* A sharded result must lie as a does. */
static tt_status same_place(const struct tt_matmul *matmul)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *out = &matmul->memory;

	if (!tt_memory_config_is_sharded(out))
		return TTNN_OK;
	TT_REQUIRE(a->buffer == out->buffer,
		   "input_tensor_a.memory_config().buffer_type() == "
		   "output_mem_config.buffer_type()",
		   "Input A and output buffer types must match, got input: BufferType::%s vs "
		   "output: BufferType::%s",
		   tt_enum_name(&tt_enum_buffer_type, a->buffer),
		   tt_enum_name(&tt_enum_buffer_type, out->buffer));
	TT_REQUIRE(a->layout == out->layout,
		   "input_tensor_a.memory_config().memory_layout() == "
		   "output_mem_config.memory_layout()",
		   "Input A and output memory layouts must match, got input: "
		   "TensorMemoryLayout::%s vs output: TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, a->layout),
		   tt_enum_name(&tt_enum_memory_layout, out->layout));
	return TTNN_OK;
}

static const char *orientation(enum ttnn_orientation which)
{
	return tt_enum_name(&tt_enum_orientation, which);
}

/*
 * a in height or width shards: each core works where its shard is, so the shards' extents are
 * the blocks'. Width shards hold a part of K: they are sent round (mcast_in0), in steps that
 * divide a shard. Height shards hold all of K: b is sent, once.
 */
static tt_status cut_lines(struct tt_matmul_config *out, const struct tt_matmul *matmul)
{
	const struct ttnn_shard_spec *shard = &matmul->a->spec.memory.shard;
	bool wide = matmul->a->spec.memory.layout == TTNN_WIDTH_SHARDED;

	TT_REQUIRE(shard->orientation == TTNN_ORIENT_ROW_MAJOR,
		   "input_tensor_a.shard_spec().value().orientation == ShardOrientation::ROW_MAJOR",
		   "Input tensor A must have ROW_MAJOR shard orientation, got: "
		   "ShardOrientation::%s",
		   orientation(shard->orientation));
	TT_TRY(same_place(matmul));
	out->cast_a = wide;
	out->m = wide ? tt_matmul_rows(matmul, true) : shard->height / matmul->a_tile.height;
	out->n = wide ? tt_div_up32(matmul->n, (uint32_t)ttnn_core_set_cores(shard->grid))
		      : matmul->n;
	out->k = wide ? tt_matmul_gcd(shard->width / matmul->a_tile.width, matmul->k) : matmul->k;
	cut(out, matmul, false);
	sub_block(out, matmul, tt_memory_config_is_sharded(&matmul->memory));
	return TTNN_OK;
}

static tt_status not_on_grid(const char *condition, char axis, uint32_t cores, uint32_t size,
			     uint32_t shard)
{
	return tt_fail_cond(TTNN_INVALID, condition,
			    "Num cores along %c (%u) must match provided grid size (%u) or divided "
			    "up size (%u)",
			    axis, cores, size / shard, tt_div_up32(size, shard));
}

/*
 * a in block shards: its grid must be that of the cores, or one less where the last shards are not
 * full. COL_MAJOR shards swap the axes (transpose_mcast).
 */
static tt_status cut_blocks(struct tt_matmul_config *out, const struct tt_matmul *matmul)
{
	const struct ttnn_shard_spec *shard = &matmul->a->spec.memory.shard;
	uint32_t m = tt_matmul_rows(matmul, true), k = matmul->k, x, y;
	uint32_t shard_m = shard->height / matmul->a_tile.height;
	uint32_t shard_k = shard->width / matmul->a_tile.width;

	out->transpose_cast = shard->orientation == TTNN_ORIENT_COL_MAJOR;
	TT_TRY(same_place(matmul));
	x = out->transpose_cast ? out->grid.y : out->grid.x;
	y = out->transpose_cast ? out->grid.x : out->grid.y;
	TT_NEED(shard_m && shard_k, "shards of the first operand are no whole tiles");
	if (y != m / shard_m && y != tt_div_up32(m, shard_m))
		return not_on_grid("cores_along_y_match_grid_size || virtual_y == div_up(M, "
				   "(shard_shape[0] / in0_tile.get_height()))",
				   'y', y, m, shard_m);
	if (x != k / shard_k && x != tt_div_up32(k, shard_k))
		return not_on_grid("cores_along_x_match_grid_size || virtual_x == div_up(K, "
				   "(shard_shape[1] / in0_tile.get_width()))",
				   'x', x, k, shard_k);
	out->m = tt_div_up32(m, y);
	out->n = tt_div_up32(matmul->n, x);
	/*
	 * Where the last shard is padded, a step must not reach into the padding: one tile at a
	 * time.
	 */
	out->k = x == k / shard_k ? tt_matmul_gcd(shard_k, k) : 1;
	cut(out, matmul, false);
	sub_block(out, matmul, tt_memory_config_is_sharded(&matmul->memory));
	return TTNN_OK;
}

/*
 * b is to be where a is: each core multiplies its own matrices, so both must be cut by the same
 * grid in the same order.
 */
static tt_status both_alike(const struct tt_matmul *matmul)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *b = &matmul->b->spec.memory;

	TT_REQUIRE(a->buffer == b->buffer,
		   "input_tensor_a.memory_config().buffer_type() == "
		   "input_tensor_b.memory_config().buffer_type()",
		   "Input A and B buffer types must match, got A: BufferType::%s vs B: "
		   "BufferType::%s",
		   tt_enum_name(&tt_enum_buffer_type, a->buffer),
		   tt_enum_name(&tt_enum_buffer_type, b->buffer));
	TT_REQUIRE(a->layout == b->layout,
		   "input_tensor_a.memory_config().memory_layout() == "
		   "input_tensor_b.memory_config().memory_layout()",
		   "Input A and B memory layouts must match, got A: TensorMemoryLayout::%s vs B: "
		   "TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, a->layout),
		   tt_enum_name(&tt_enum_memory_layout, b->layout));
	TT_REQUIRE(a->shard.grid == b->shard.grid,
		   "input_tensor_a.shard_spec().value().grid == "
		   "input_tensor_b.shard_spec().value().grid",
		   "Input A and B shard grids must match");
	TT_REQUIRE(a->shard.orientation == b->shard.orientation,
		   "input_tensor_a.shard_spec().value().orientation == "
		   "input_tensor_b.shard_spec().value().orientation",
		   "Orientation mismatch a ShardOrientation::%s vs b ShardOrientation::%s.",
		   orientation(a->shard.orientation), orientation(b->shard.orientation));
	return TTNN_OK;
}

/* Batched b: each core multiplies whole matrices of its own shard, nothing is sent. */
static tt_status cut_shards(struct tt_matmul_config *out, const struct tt_matmul *matmul)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory;

	TT_REQUIRE(a->layout != TTNN_WIDTH_SHARDED,
		   "input_tensor_a.memory_config().memory_layout() != "
		   "TensorMemoryLayout::WIDTH_SHARDED",
		   "Input A memory layout must not be WIDTH_SHARDED, got: "
		   "TensorMemoryLayout::WIDTH_SHARDED");
	TT_TRY(same_place(matmul));
	out->kind = TT_MATMUL_REUSE;
	out->m = out->block_h = a->shard.height / matmul->a_tile.height;
	out->n = out->block_w = matmul->n;
	out->k = a->shard.width / matmul->a_tile.width;
	sub_block(out, matmul, tt_memory_config_is_sharded(&matmul->memory));
	TT_REQUIRE(matmul->batch_a <= 1 || matmul->batch_b != 1, "!broadcast_batch",
		   "Batch broadcasting is not supported for the chosen program config");
	return tt_tensor_is_sharded(matmul->b) ? both_alike(matmul) : TTNN_OK;
}

/*
 * a is sharded: its layout decides. b must be interleaved unless it is batched. Block shards on
 * a single row or column of cores are no grid to send along both ways; those are cut as if the
 * caller had given that line as core grid.
 */
static tt_status choose_by_shards(struct tt_matmul_config *out, const struct tt_matmul *matmul)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory;
	struct ttnn_core_range box;
	struct ttnn_core grid;

	TT_NEED(a->has_shard, "bad optional access");
	TT_TRY(tt_core_set_box(&box, a->shard.grid));
	grid = (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
	*out = config_of(TT_MATMUL_1D, grid);
	if (matmul->batched)
		return cut_shards(out, matmul);
	TT_REQUIRE(!tt_tensor_is_sharded(matmul->b),
		   "input_tensor_b.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Input tensor B must have INTERLEAVED memory layout, got: "
		   "TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, matmul->b->spec.memory.layout));
	out->fuse_batch = true;
	if (a->layout != TTNN_BLOCK_SHARDED)
		return cut_lines(out, matmul);
	if (a->layout == TTNN_BLOCK_SHARDED && grid.x > 1 && grid.y > 1) {
		out->kind = TT_MATMUL_2D;
		out->receivers = 0;
		return cut_blocks(out, matmul);
	}
	return choose_on_grid(out, matmul);
}

/* ---- the choice -------------------------------------------------------------------------------------------------------- */

/*
 * What upstream asks of a config that it made itself: less than of a caller's, since the rest
 * holds by construction.
 */
static tt_status check_choice(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	struct ttnn_core grid = config->grid, full = matmul->full_grid;

	if (config->kind == TT_MATMUL_MULTI)
		return TTNN_OK;
	TT_REQUIRE(grid.x <= full.x && grid.y <= full.y,
		   grid.x > full.x ? "program_config.compute_with_storage_grid_size.x <= "
				     "input_tensor_a.device()->compute_with_storage_grid_size().x"
				   : "program_config.compute_with_storage_grid_size.y <= "
				     "input_tensor_a.device()->compute_with_storage_grid_size().y",
		   "Number of %s in matmul compute grid exceeds maximum device compute grid size!",
		   grid.x > full.x ? "columns" : "rows");
	TT_REQUIRE(config->k != 0, "program_config.in0_block_w > 0",
		   "in0_block_w must be greater than 0!");
	TT_REQUIRE(config->m != 0, "program_config.per_core_M > 0",
		   "per_core_M must be greater than 0!");
	TT_REQUIRE(config->n != 0, "program_config.per_core_N > 0",
		   "per_core_N must be greater than 0!");
	TT_REQUIRE(config->m % config->sub_h == 0,
		   "program_config.per_core_M % program_config.out_subblock_h == 0",
		   "per_core_M must be divisible by out_subblock_h!");
	TT_REQUIRE(config->n % config->sub_w == 0,
		   "program_config.per_core_N % program_config.out_subblock_w == 0",
		   "per_core_N must be divisible by out_subblock_w!");
	return TTNN_OK;
}

/* Upstream's order: shards of a, then a caller's grid, then the shape alone. */
tt_status tt_matmul_choose(struct tt_matmul_config *out, const struct tt_matmul *matmul)
{
	if (tt_tensor_is_sharded(matmul->a))
		TT_TRY(choose_by_shards(out, matmul));
	else if (matmul->has_grid)
		TT_TRY(choose_on_grid(out, matmul));
	else
		TT_TRY(choose_simple(out, matmul, matmul->full_grid));
	return check_choice(matmul, out);
}
