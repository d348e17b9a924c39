#include "tensor/spec.h"

#include <inttypes.h>

#include "base/hash.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

/* Upstream's checks end in one of these two conditions; the message tells which it was. */
#define DOES_NOT_FIT  "!shard_grid_fit_error.has_value()"
#define NOT_TILE_SIZE "!shard_align_error.has_value()"

static tt_status fail_absurd(const struct ttnn_tensor_spec *spec)
{
	struct tt_str text = {0};

	tt_shape_list(&text, &spec->shape);
	tt_fail(TTNN_INVALID, "Shape(%s) needs more storage than 64 bits can count",
		tt_str_text(&text));
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* ---- dtype, layout, tile ---------------------------------------------------------------------- */

static tt_status check_dtype(const struct ttnn_tensor_spec *spec)
{
	bool block = spec->dtype == TTNN_BFLOAT8_B || spec->dtype == TTNN_BFLOAT4_B;

	if (block && spec->layout != TTNN_TILE) /* upstream names 8_B for both */
		return tt_fail_cond(TTNN_INVALID, "layout == Layout::TILE",
				    "Only TILE layout is supported for BFLOAT8_B dtype!");
	if (spec->dtype == TTNN_FP8_E4M3 && spec->layout != TTNN_ROW_MAJOR)
		return tt_fail_cond(TTNN_INVALID, "layout == Layout::ROW_MAJOR",
				    "Only ROW_MAJOR layout is supported for FP8_E4M3 dtype!");
	return TTNN_OK;
}

static tt_status check_args(const struct ttnn_spec_args *args)
{
	if ((unsigned)args->dtype >= TTNN_DTYPE_COUNT)
		return tt_fail(TTNN_INVALID,
			       "Only UINT32, INT32, FLOAT32, UINT16, UINT8, INT8, BFLOAT16, "
			       "BFLOAT8_B, BFLOAT4_B, or FP8_E4M3 dtypes are supported on device!");
	if ((unsigned)args->layout > TTNN_TILE)
		return tt_fail(TTNN_INVALID, "A layout is ROW_MAJOR or TILE, not %u",
			       (unsigned)args->layout);
	if (args->shape.rank > TTNN_MAX_RANK || args->alignment.rank > TTNN_MAX_RANK)
		return tt_fail(TTNN_INVALID, "A shape of %u dimensions: at most %d are possible",
			       args->shape.rank > args->alignment.rank ? args->shape.rank
								       : args->alignment.rank,
			       TTNN_MAX_RANK);
	for (uint32_t i = 0; i < args->alignment.rank; i++)
		if (!args->alignment.dim[i])
			return tt_fail(TTNN_INVALID, "An alignment of 0 is none");
	return tt_memory_config_check(&args->memory);
}

static tt_status choose_tile(struct ttnn_tensor_spec *spec, const struct ttnn_tile *tile)
{
	spec->tile = tile->height || tile->width ? *tile : TT_TILE_DEFAULT;
	TT_TRY(tt_tile_check(&spec->tile));
	if (spec->layout == TTNN_ROW_MAJOR && !tt_tile_equal(&spec->tile, &TT_TILE_DEFAULT))
		return tt_fail_cond(TTNN_INVALID, "!tile.has_value() || *tile == Tile{}",
				    "Configuring a ROW MAJOR page config with a custom tile "
				    "configuration is not supported.");
	return TTNN_OK;
}

/* ---- alignment ---------------------------------------------------------------------------------- */

static struct ttnn_shape default_alignment(const struct ttnn_tensor_spec *spec)
{
	if (spec->layout == TTNN_TILE)
		return TT_SHAPE(spec->tile.height, spec->tile.width);
	if (spec->memory.has_shard)
		return TT_SHAPE(spec->memory.shard.width);
	if (spec->memory.has_nd_shard)
		return TT_SHAPE(tt_shape_last(&spec->memory.nd_shard.shape, 1));
	return TT_SHAPE(1);
}

/* Rounds each entry of a custom alignment up to the default one beneath it. */
static tt_status choose_alignment(struct ttnn_tensor_spec *spec, const struct ttnn_shape *custom)
{
	struct ttnn_shape usual = default_alignment(spec), *result = &spec->alignment;

	if (!custom->rank) {
		*result = usual;
		return TTNN_OK;
	}
	result->rank = custom->rank > usual.rank ? custom->rank : usual.rank;
	for (uint32_t back = 1; back <= result->rank; back++) {
		uint64_t entry = tt_shape_last(custom, back);

		if (!tt_round_up(&entry, entry, tt_shape_last(&usual, back)) || entry > UINT32_MAX)
			return fail_absurd(spec);
		result->dim[result->rank - back] = (uint32_t)entry;
	}
	return TTNN_OK;
}

static tt_status check_alignment(const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_memory_config *memory = &spec->memory;
	uint32_t width = tt_shape_last(&spec->alignment, 1);

	if (spec->alignment.rank > 2 && memory->has_shard)
		return tt_fail_cond(
			TTNN_INVALID,
			"alignment.size() <= 2 || !memory_config.shard_spec().has_value()",
			"Tensor must be interleaved if alignment has rank greater than 2!");
	if (spec->layout != TTNN_ROW_MAJOR || !memory->has_shard ||
	    memory->layout == TTNN_HEIGHT_SHARDED)
		return TTNN_OK;
	if (!width)
		return tt_fail_cond(TTNN_INVALID, "width_alignment > 0",
				    "Row Major width alignment must be greater than 0; a sharded "
				    "tensor takes it from the shard width (%" PRIu32 ")",
				    memory->shard.width);
	if (memory->shard.width % width)
		return tt_fail_cond(TTNN_INVALID, "physical_shard_width % width_alignment == 0",
				    "Alignment mismatch for sharded tensor: Expected physical shard "
				    "shape %" PRIu32 " to be aligned to %" PRIu32
				    " along the width for Row Major layout.",
				    memory->shard.width, width);
	return TTNN_OK;
}

/* Shards of a TILE tensor are whole tiles. */
static tt_status check_shard_tiles(const struct ttnn_tensor_spec *spec)
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

/* ---- padded and physical shape ------------------------------------------------------------------ */

static tt_status fail_padding(const struct ttnn_tensor_spec *spec)
{
	struct tt_str alignment = {0}, shape = {0};

	tt_shape_list(&alignment, &spec->alignment);
	tt_shape_list(&shape, &spec->shape);
	tt_fail_cond(TTNN_INVALID, "tt::exception",
		     "Padded shape can't be deducted from TensorLayout parameters Alignment(%s) and "
		     "Shape Shape(%s)",
		     tt_str_text(&alignment), tt_str_text(&shape));
	tt_str_deinit(&alignment);
	tt_str_deinit(&shape);
	return TTNN_INVALID;
}

/*
 * Extents from the inner one outwards. The last two are rounded up by themselves. Further out the
 * alignment speaks of whole matrix rows, of which `inner` come with each step of that dimension.
 */
static tt_status pad_shape(struct ttnn_tensor_spec *spec)
{
	const struct ttnn_shape *alignment = &spec->alignment;
	struct ttnn_shape *padded = &spec->padded;
	uint64_t inner = 1;

	padded->rank = spec->shape.rank > alignment->rank ? spec->shape.rank : alignment->rank;
	for (uint32_t back = 1; back <= padded->rank; back++) {
		uint64_t extent = tt_shape_last(&spec->shape, back);
		uint64_t unit = tt_shape_last(alignment, back);

		if (back > alignment->rank || (back > 2 && inner % unit == 0))
			unit = 1;
		else if (back > 2 && unit % inner)
			return fail_padding(spec);
		else if (back > 2)
			unit /= inner;
		if (!tt_round_up(&extent, extent, unit) || extent > UINT32_MAX)
			return fail_absurd(spec);
		padded->dim[padded->rank - back] = (uint32_t)extent;
		if (back > 1 && back <= alignment->rank &&
		    __builtin_mul_overflow(inner, extent, &inner))
			return fail_absurd(spec);
	}
	return TTNN_OK;
}

static tt_status flatten(struct ttnn_tensor_spec *spec)
{
	uint64_t volume;

	spec->cols = tt_shape_last(&spec->padded, 1);
	spec->rows = 1;
	TT_TRY(tt_shape_rows(&volume, &spec->shape)); /* an overflow hidden by a zero is none */
	for (uint32_t back = 2; back <= spec->padded.rank; back++) {
		uint64_t extent = volume ? tt_shape_last(&spec->shape, back) : 0;

		if (__builtin_mul_overflow(spec->rows, extent, &spec->rows))
			return fail_absurd(spec);
		if (back <= spec->alignment.rank &&
		    !tt_round_up(&spec->rows, spec->rows, tt_shape_last(&spec->alignment, back)))
			return fail_absurd(spec);
	}
	if (__builtin_mul_overflow(spec->rows, spec->cols, &volume))
		return fail_absurd(spec);
	return TTNN_OK;
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
		return tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
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

static tt_status check_shards(const struct ttnn_tensor_spec *spec)
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

/* Upstream divides by these extents; we refuse. */
static tt_status check_nd_shard(const struct ttnn_memory_config *memory)
{
	const struct ttnn_shape *shape = &memory->nd_shard.shape;
	struct tt_str text = {0};

	if (!memory->has_nd_shard)
		return TTNN_OK;
	for (uint32_t i = 0; i < shape->rank; i++) {
		if (shape->dim[i])
			continue;
		tt_shape_list(&text, shape);
		tt_fail_cond(TTNN_INVALID, DOES_NOT_FIT,
			     "Shard shape must be greater than 0 in each sharded dim, got %s",
			     tt_str_text(&text));
		tt_str_deinit(&text);
		return TTNN_INVALID;
	}
	return TTNN_OK;
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
		.strategy = memory->layout == TTNN_BLOCK_SHARDED ? TTNN_GRID_2D
								 : TTNN_ROUND_ROBIN_1D,
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

/*
 * An ND shard as a matrix: its inner dimensions fold into the height as long as the shard covers
 * them whole; the first it does not cover must be the last it cuts. False when that fails.
 */
static bool fold_shard(uint64_t *height, const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_shape *shard = &spec->memory.nd_shard.shape;
	const struct ttnn_shape *padded = &spec->padded;
	bool outer_shard_ones = true, outer_tensor_ones = true;
	uint32_t back = 2;

	*height = 1;
	for (; back <= shard->rank; back++) {
		if (__builtin_mul_overflow(*height, tt_shape_last(shard, back), height))
			return false;
		if (tt_shape_last(padded, back) != tt_shape_last(shard, back))
			break;
	}
	if (*height > UINT32_MAX)
		return false;
	if (back > shard->rank)
		return true;
	for (uint32_t outer = back + 1; outer <= shard->rank; outer++)
		outer_shard_ones = outer_shard_ones && tt_shape_last(shard, outer) == 1;
	for (uint32_t outer = back + 1; outer <= padded->rank; outer++)
		outer_tensor_ones = outer_tensor_ones && tt_shape_last(padded, outer) == 1;
	return outer_shard_ones &&
	       (back == shard->rank || outer_tensor_ones ||
		tt_shape_last(padded, back) % tt_shape_last(shard, back) == 0);
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

static void derive_legacy(struct ttnn_tensor_spec *spec)
{
	struct ttnn_memory_config *memory = &spec->memory;
	const struct ttnn_nd_shard_spec *nd = &memory->nd_shard;
	enum ttnn_memory_layout layout;
	uint64_t height;

	if (nd->strategy == TTNN_CONTIGUOUS_1D || !fold_shard(&height, spec))
		return;
	layout = legacy_layout(spec, height);
	if (layout == TTNN_ND_SHARDED)
		return;
	memory->layout = layout;
	memory->has_shard = true;
	memory->shard = (struct ttnn_shard_spec){nd->grid, (uint32_t)height,
						 tt_shape_last(&nd->shape, 1), nd->orientation};
}

static tt_status derive_shards(struct ttnn_tensor_spec *spec)
{
	if (spec->memory.created_with_nd_shard) {
		derive_legacy(spec);
		return TTNN_OK;
	}
	return spec->memory.has_shard ? derive_nd(spec) : TTNN_OK;
}

/* ---- pages --------------------------------------------------------------------------------------- */

static uint64_t row_page_cols(const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_memory_config *memory = &spec->memory;

	if (!spec->rows || !spec->cols) /* a page that nothing fills still has four bytes */
		return sizeof(uint32_t) / tt_dtype_bytes(spec->dtype);
	if (memory->has_shard && memory->layout != TTNN_HEIGHT_SHARDED)
		return memory->shard.width;
	if (tt_memory_config_is_sharded(memory) && memory->has_nd_shard)
		return tt_shape_last(&memory->nd_shard.shape, 1);
	return spec->cols;
}

static tt_status cut_pages(struct ttnn_tensor_spec *spec)
{
	if (spec->layout == TTNN_TILE) {
		spec->page_rows = spec->tile.height;
		spec->page_cols = spec->tile.width;
		spec->page_bytes = tt_dtype_tile_bytes(spec->dtype, &spec->tile);
	} else {
		spec->page_rows = 1;
		spec->page_cols = row_page_cols(spec);
		spec->page_bytes = spec->page_cols * tt_dtype_bytes(spec->dtype);
	}
	spec->pages = (spec->rows / spec->page_rows) * (spec->cols / spec->page_cols);
	if (__builtin_mul_overflow(spec->pages, spec->page_bytes, &spec->bytes))
		return fail_absurd(spec);
	return TTNN_OK;
}

/* ---- specs --------------------------------------------------------------------------------------- */

enum ttnn_status ttnn_tensor_spec_make(struct ttnn_tensor_spec *out,
				       const struct ttnn_spec_args *args)
{
	struct ttnn_tensor_spec spec = {
		.shape = args->shape,
		.dtype = args->dtype,
		.layout = args->layout,
		.memory = args->memory,
	};

	TT_TRY(check_args(args));
	TT_TRY(choose_tile(&spec, &args->tile));
	TT_TRY(choose_alignment(&spec, &args->alignment));
	TT_TRY(check_alignment(&spec));
	TT_TRY(check_shard_tiles(&spec));
	TT_TRY(pad_shape(&spec));
	TT_TRY(flatten(&spec));
	TT_TRY(check_shards(&spec));
	TT_TRY(check_nd_shard(&spec.memory));
	TT_TRY(check_dtype(&spec));
	TT_TRY(derive_shards(&spec));
	TT_TRY(cut_pages(&spec));
	*out = spec;
	return TTNN_OK;
}

struct ttnn_spec_args tt_tensor_spec_args(const struct ttnn_tensor_spec *spec)
{
	struct ttnn_spec_args args = {
		.shape = spec->shape,
		.dtype = spec->dtype,
		.layout = spec->layout,
		.tile = spec->tile,
		.memory = spec->memory,
		.alignment = spec->alignment,
	};

	/* without what was derived: it is derived again */
	if (args.memory.created_with_nd_shard) {
		args.memory.layout = TTNN_ND_SHARDED;
		args.memory.has_shard = false;
	} else {
		args.memory.has_nd_shard = false;
	}
	return args;
}

bool ttnn_tensor_spec_equal(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b)
{
	return a->dtype == b->dtype && a->layout == b->layout &&
	       (a->layout == TTNN_ROW_MAJOR || tt_tile_equal(&a->tile, &b->tile)) &&
	       ttnn_shape_equal(&a->shape, &b->shape) &&
	       ttnn_shape_equal(&a->alignment, &b->alignment) &&
	       ttnn_memory_config_equal(&a->memory, &b->memory);
}

uint64_t tt_tensor_spec_hash(uint64_t seed, const struct ttnn_tensor_spec *spec)
{
	seed = tt_hash_u64(seed, (uint64_t)spec->dtype << 8 | (uint64_t)spec->layout);
	if (spec->layout == TTNN_TILE)
		seed = tt_hash_u64(seed, (uint64_t)spec->tile.height << 32 | spec->tile.width << 1 |
						 spec->tile.transpose);
	seed = tt_shape_hash(tt_shape_hash(seed, &spec->shape), &spec->alignment);
	return tt_memory_config_hash(seed, &spec->memory);
}
