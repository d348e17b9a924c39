#include "tensor/shard.h"

#include <inttypes.h>

#include "base/str.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/shape.h"

/* Upstream's checks end in one of these two conditions; the message tells which it was. */
#define DOES_NOT_FIT "!shard_grid_fit_error.has_value()"
#define NOT_TILE_SIZE "!shard_align_error.has_value()"

tt_status tt_shard_check_tiles(const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_memory_config *memory = &spec->memory;
	const struct ttnn_shape *nd = &memory->nd_shard.shape;
	struct tt_str text = {0};
	uint32_t height, width;

	if (spec->layout != TTNN_TILE || !tt_memory_config_is_sharded(memory))
		return TTNN_OK;
	if (!memory->has_shard && !memory->has_nd_shard)
		return tt_fail(TTNN_INVALID, "bad optional access"); /* upstream's very words */
	height = memory->has_shard ? memory->shard.height : tt_shape_last(nd, 2);
	width = memory->has_shard ? memory->shard.width : tt_shape_last(nd, 1);
	if (height % spec->tile.height == 0 && width % spec->tile.width == 0)
		return TTNN_OK;
	if (memory->has_shard) {
		tt_str_addf(&text, "(%" PRIu32 ", %" PRIu32 ")", height, width);
	} else {
		tt_str_adds(&text, "Shape(");
		tt_shape_list(&text, nd);
		tt_str_addc(&text, ')');
	}
	tt_fail_cond(TTNN_INVALID, NOT_TILE_SIZE,
		     "Physical shard shape %s must be tile {%" PRIu32 ", %" PRIu32 "} sized!",
		     tt_str_text(&text), spec->tile.height, spec->tile.width);
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* ---- shards against the physical shape ------------------------------------------------------------ */

static tt_status check_height_shards(const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_shard_spec *shard = &spec->memory.shard;
	size_t cores = ttnn_core_set_cores(shard->grid);

	if (shard->width != spec->cols)
		return tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
				    "Shard width %" PRIu32 " must match physical width %" PRIu64
				    " for height sharded",
				    shard->width, spec->cols);
	if (tt_div_up(spec->rows, shard->height) > cores)
		return tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
				    "Number of shards along height %" PRIu64
				    " must not exceed number of cores %zu",
				    tt_div_up(spec->rows, shard->height), cores);
	return TTNN_OK;
}

static tt_status check_width_shards(const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_shard_spec *shard = &spec->memory.shard;
	size_t cores = ttnn_core_set_cores(shard->grid);

	if (shard->height != spec->rows)
		return tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
				    "Shard height %" PRIu32 " must match physical height %" PRIu64
				    " for width sharded",
				    shard->height, spec->rows);
	if (tt_div_up(spec->cols, shard->width) > cores)
		return tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
				    "Number of shards along width %" PRIu64
				    " must not exceed number of cores %zu",
				    tt_div_up(spec->cols, shard->width), cores);
	return TTNN_OK;
}

static tt_status check_block_shards(const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_shard_spec *shard = &spec->memory.shard;
	bool by_row = shard->orientation == TTNN_ORIENT_ROW_MAJOR;
	uint64_t down = tt_div_up(spec->rows, shard->height);
	uint64_t across = tt_div_up(spec->cols, shard->width);
	struct ttnn_core_range box;
	uint64_t grid_rows, grid_cols;
	size_t count;

	ttnn_core_set_ranges(shard->grid, &count);
	if (count != 1)
		return tt_fail_cond(
			TTNN_INVALID, DOES_NOT_FIT,
			"Shard grid must be one full rectangular grid for block sharded!");
	TT_TRY(tt_core_set_box(&box, shard->grid));
	grid_cols = (uint64_t)box.end.x - box.start.x + 1;
	grid_rows = (uint64_t)box.end.y - box.start.y + 1;
	if (down > (by_row ? grid_rows : grid_cols))
		return tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
				    "Number of shards along height %" PRIu64
				    " must not exceed number of %s %" PRIu64
				    " for %s major orientation!",
				    down, by_row ? "rows" : "columns",
				    by_row ? grid_rows : grid_cols, by_row ? "row" : "column");
	if (across > (by_row ? grid_cols : grid_rows))
		return tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
				    "Number of shards along width %" PRIu64
				    " must not exceed number of %s %" PRIu64
				    " for %s major orientation!",
				    across, by_row ? "columns" : "rows",
				    by_row ? grid_cols : grid_rows, by_row ? "row" : "column");
	return TTNN_OK;
}

tt_status tt_shard_check(const struct ttnn_tensor_spec *spec)
{
	static const struct {
		bool cut_height, cut_width; /* which sides must not be 0 */
		tt_status (*check)(const struct ttnn_tensor_spec *spec);
	} rules[] = {
		[TTNN_HEIGHT_SHARDED] = {true, false, check_height_shards},
		[TTNN_WIDTH_SHARDED] = {false, true, check_width_shards},
		[TTNN_BLOCK_SHARDED] = {true, true, check_block_shards},
		[TTNN_ND_SHARDED] = {0},
	};
	const struct ttnn_memory_config *memory = &spec->memory;
	const struct ttnn_shard_spec *shard = &memory->shard;

	if (!memory->has_shard || !rules[memory->layout].check)
		return TTNN_OK;
	if ((rules[memory->layout].cut_height && !shard->height) ||
	    (rules[memory->layout].cut_width && !shard->width))
		return tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
				    "Shard shape must be greater than 0 in each sharded dim, got "
				    "[%" PRIu32 ", %" PRIu32 "]",
				    shard->height, shard->width);
	return rules[memory->layout].check(spec);
}

/* ---- the other kind of shard spec ----------------------------------------------------------------- */

static tt_status derive_nd(struct ttnn_tensor_spec *spec)
{
	struct ttnn_memory_config *memory = &spec->memory;
	const struct ttnn_shard_spec *shard = &memory->shard;

	memory->nd_shard = (struct ttnn_nd_shard_spec){
		.shape = TT_SHAPE(shard->height, shard->width),
		.grid = shard->grid,
		.orientation = shard->orientation,
		.strategy =
			memory->layout == TTNN_BLOCK_SHARDED ? TTNN_GRID_2D : TTNN_ROUND_ROBIN_1D,
	};
	if (spec->padded.rank == 1) {
		if (shard->height != 1)
			return tt_fail_cond(TTNN_INVALID, "shard_spec.shape[0] == 1",
					    "Shard shape must be 1D for 1D tensor!");
		memory->nd_shard.shape = TT_SHAPE(shard->width);
	}
	memory->has_nd_shard = true;
	return TTNN_OK;
}

static tt_status fail_zero(const struct ttnn_shape *shard)
{
	struct tt_str text = {0};

	tt_shape_list(&text, shard);
	tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
		     "Shard shape must be greater than 0 in each sharded dim, got %s",
		     tt_str_text(&text));
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* Upstream's shapes answer for four dimensions at least, with ones beyond their rank. */
static tt_status fail_rank(uint32_t back, uint32_t rank)
{
	return tt_fail_cond(TTNN_INVALID, "tt::exception",
			    "ShapeBase[] index out of range. -%" PRIu32 " not in [-%" PRIu32
			    ", %" PRIu32 ")",
			    back, rank > 4 ? rank : 4, rank);
}

/* Whether all extents from `back` places before the end outwards are 1. */
static bool ones_from(const struct ttnn_shape *shape, uint32_t back)
{
	for (; back <= shape->rank; back++)
		if (tt_shape_last(shape, back) != 1)
			return false;
	return true;
}

/*
 * An ND shard as a matrix: its inner dimensions fold into the height as long as the shard covers
 * them whole; the first it does not cover must be the last it cuts. *height is 0 when it cannot be.
 * Extents of 0, by which upstream would divide, are refused.
 */
static tt_status fold_shard(uint64_t *height, const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_shape *shard = &spec->memory.nd_shard.shape;
	const struct ttnn_shape *padded = &spec->padded;
	uint64_t product = 1;
	uint32_t back = 2;

	*height = 0;
	if (!tt_shape_last(shard, 1))
		return fail_zero(shard);
	for (; back <= shard->rank; back++) {
		if (back > padded->rank && back > 4)
			return fail_rank(back, padded->rank);
		if (!tt_shape_last(shard, back))
			return fail_zero(shard);
		if (__builtin_mul_overflow(product, tt_shape_last(shard, back), &product))
			return TTNN_OK;
		if (tt_shape_last(padded, back) != tt_shape_last(shard, back))
			break;
	}
	if (product > UINT32_MAX)
		return TTNN_OK;
	if (back >= shard->rank || /* all of it folds, or all but the outermost dimension */
	    (ones_from(shard, back + 1) &&
	     (ones_from(padded, back + 1) ||
	      tt_shape_last(padded, back) % tt_shape_last(shard, back) == 0)))
		*height = product;
	return TTNN_OK;
}

/* The legacy layout with the same placement, or ND_SHARDED when there is none. */
static enum ttnn_memory_layout legacy_layout(const struct ttnn_tensor_spec *spec, uint64_t height)
{
	const struct ttnn_nd_shard_spec *nd = &spec->memory.nd_shard;
	uint64_t width = tt_shape_last(&nd->shape, 1);
	uint64_t down = tt_div_up(spec->rows, height), across = tt_div_up(spec->cols, width);
	const struct ttnn_core_range *ranges;
	uint64_t grid_cols, grid_rows, total;
	size_t count;

	if (nd->orientation == TTNN_ORIENT_COL_MAJOR) { /* the grid is filled the other way */
		down = tt_div_up(spec->cols, width);
		across = tt_div_up(spec->rows, height);
	}
	if (__builtin_mul_overflow(down, across, &total) || total > ttnn_core_set_cores(nd->grid))
		return TTNN_ND_SHARDED;
	if (nd->strategy == TTNN_ROUND_ROBIN_1D && height == spec->rows)
		return TTNN_WIDTH_SHARDED;
	if (nd->strategy == TTNN_ROUND_ROBIN_1D && width == spec->cols)
		return TTNN_HEIGHT_SHARDED;
	ranges = ttnn_core_set_ranges(nd->grid, &count);
	if (count != 1)
		return TTNN_ND_SHARDED;
	grid_cols = (uint64_t)ranges->end.x - ranges->start.x + 1;
	grid_rows = (uint64_t)ranges->end.y - ranges->start.y + 1;
	if ((nd->strategy == TTNN_ROUND_ROBIN_1D && across != grid_cols) || across > grid_cols ||
	    down > grid_rows)
		return TTNN_ND_SHARDED;
	return TTNN_BLOCK_SHARDED;
}

static tt_status derive_legacy(struct ttnn_tensor_spec *spec)
{
	struct ttnn_memory_config *memory = &spec->memory;
	const struct ttnn_nd_shard_spec *nd = &memory->nd_shard;
	enum ttnn_memory_layout layout;
	uint64_t height;

	if (nd->strategy == TTNN_CONTIGUOUS_1D) /* no legacy layout places shards that way */
		return TTNN_OK;
	TT_TRY(fold_shard(&height, spec));
	layout = height ? legacy_layout(spec, height) : TTNN_ND_SHARDED;
	if (layout == TTNN_ND_SHARDED)
		return TTNN_OK;
	memory->layout = layout;
	memory->has_shard = true;
	memory->shard = (struct ttnn_shard_spec){nd->grid, (uint32_t)height,
						 tt_shape_last(&nd->shape, 1), nd->orientation};
	return TTNN_OK;
}

tt_status tt_shard_derive(struct ttnn_tensor_spec *spec)
{
	if (spec->memory.created_with_nd_shard && spec->memory.has_nd_shard)
		return derive_legacy(spec);
	return spec->memory.has_shard ? derive_nd(spec) : TTNN_OK;
}
