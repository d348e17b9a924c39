#include "tensor/spec.h"

#include <inttypes.h>

#include "base/hash.h"
#include "tensor/dtype.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/shard.h"
#include "tensor/tile.h"

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
	const struct tt_dtype *row = tt_dtype_find(spec->dtype);

	/* Upstream names the one type whichever block float it is. */
	if (row->layouts == TT_DTYPE_TILES && spec->layout != TTNN_TILE)
		return tt_fail_cond(TTNN_INVALID, "layout == Layout::TILE",
				    "Only TILE layout is supported for BFLOAT8_B dtype!");
	if (row->layouts == TT_DTYPE_ROWS && spec->layout != TTNN_ROW_MAJOR)
		return tt_fail_cond(TTNN_INVALID, "layout == Layout::ROW_MAJOR",
				    "Only ROW_MAJOR layout is supported for %s dtype!", row->upper);
	return TTNN_OK;
}

static tt_status check_args(const struct ttnn_spec_args *args)
{
	if ((unsigned)args->dtype >= TTNN_DTYPE_COUNT)
		return tt_fail(TTNN_INVALID, "%u is no data type; there are%s",
			       (unsigned)args->dtype, tt_dtype_names());
	if ((unsigned)args->layout > TTNN_TILE)
		return tt_fail(TTNN_INVALID, "A layout is ROW_MAJOR or TILE, not %u",
			       (unsigned)args->layout);
	TT_TRY(tt_shape_check(&args->shape));
	TT_TRY(tt_shape_check(&args->alignment));
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

static void default_alignment(struct ttnn_shape *out, const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_memory_config *memory = &spec->memory;

	out->rank = 1;
	out->dim[0] = 1;
	if (spec->layout == TTNN_TILE) {
		out->rank = 2;
		out->dim[0] = spec->tile.height;
		out->dim[1] = spec->tile.width;
	} else if (memory->has_shard) {
		out->dim[0] = memory->shard.width;
	} else if (memory->has_nd_shard) {
		out->dim[0] = tt_shape_last(&memory->nd_shard.shape, 1);
	}
}

/* Rounds each entry of a custom alignment up to the default one beneath it. */
static tt_status choose_alignment(struct ttnn_tensor_spec *spec, const struct ttnn_shape *custom)
{
	struct ttnn_shape *result = &spec->alignment, usual;

	default_alignment(result, spec);
	if (!custom->rank)
		return TTNN_OK;
	usual = *result;
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
		return tt_fail_cond(
			TTNN_INVALID, "physical_shard_width % width_alignment == 0",
			"Alignment mismatch for sharded tensor: Expected physical shard "
			"shape %" PRIu32 " to be aligned to %" PRIu32
			" along the width for Row Major layout.",
			memory->shard.width, width);
	return TTNN_OK;
}

/* ---- padded and physical shape ------------------------------------------------------------------ */

static tt_status fail_padding(const struct ttnn_tensor_spec *spec)
{
	struct tt_str alignment = {0}, shape = {0};

	tt_shape_list(&alignment, &spec->alignment);
	tt_shape_list(&shape, &spec->shape);
	tt_fail_cond(
		TTNN_INVALID, "tt::exception",
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
	if (!spec->page_cols)
		return tt_fail(TTNN_INVALID, "A shard of width 0 leaves no pages to cut");
	spec->pages = (spec->rows / spec->page_rows) * (spec->cols / spec->page_cols);
	if (__builtin_mul_overflow(spec->pages, spec->page_bytes, &spec->bytes))
		return fail_absurd(spec);
	return TTNN_OK;
}

/* ---- specs --------------------------------------------------------------------------------------- */

/* What layout and memory say of a shape, before it is asked whether they can hold it. */
static tt_status lay_out(struct ttnn_tensor_spec *spec, const struct ttnn_spec_args *args)
{
	*spec = (struct ttnn_tensor_spec){
		.shape = args->shape,
		.dtype = args->dtype,
		.layout = args->layout,
		.memory = args->memory,
	};
	TT_TRY(check_args(args));
	TT_TRY(choose_tile(spec, &args->tile));
	TT_TRY(choose_alignment(spec, &args->alignment));
	TT_TRY(check_alignment(spec));
	TT_TRY(tt_shard_check_tiles(spec));
	return pad_shape(spec);
}

tt_status tt_tensor_padded_shape(struct ttnn_shape *out, const struct ttnn_spec_args *args)
{
	struct ttnn_tensor_spec spec;

	TT_TRY(lay_out(&spec, args));
	*out = spec.padded;
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_spec_make(struct ttnn_tensor_spec *out,
				       const struct ttnn_spec_args *args)
{
	struct ttnn_tensor_spec spec;

	TT_TRY(lay_out(&spec, args));
	TT_TRY(flatten(&spec));
	TT_TRY(tt_shard_check(&spec));
	TT_TRY(check_dtype(&spec));
	TT_TRY(tt_shard_derive(&spec));
	TT_TRY(cut_pages(&spec));
	*out = spec;
	return TTNN_OK;
}

/* What `extent` must be aligned to so that `padded` comes out; `unit` if that does it. */
static uint32_t inner_alignment(uint32_t extent, uint32_t padded, uint32_t unit)
{
	uint64_t usual;

	return unit && tt_round_up(&usual, extent, unit) && padded <= usual ? unit : padded;
}

/* Whether padding touches the last two dimensions only. */
static bool pads_inside(const struct ttnn_shape *shape, const struct ttnn_shape *padded)
{
	for (uint32_t back = 3; back <= padded->rank; back++)
		if (tt_shape_last(shape, back) != tt_shape_last(padded, back))
			return false;
	return true;
}

/* Right-aligned with `padded`; in outer dimensions it counts matrix rows. */
static tt_status alignment_for(struct ttnn_spec_args *args, const struct ttnn_shape *padded)
{
	const struct ttnn_tile *tile = args->tile.height ? &args->tile : &TT_TILE_DEFAULT;
	bool tiled = args->layout == TTNN_TILE, inside = pads_inside(&args->shape, padded);
	struct ttnn_shape *out = &args->alignment;
	uint64_t rows = tt_shape_last(padded, 2);

	out->rank = inside && padded->rank > 2 ? 2 : padded->rank;
	for (uint32_t back = 1; back <= out->rank; back++) {
		uint32_t *entry = &out->dim[out->rank - back];

		if (back > 2 && __builtin_mul_overflow(rows, tt_shape_last(padded, back), &rows))
			rows = UINT64_MAX;
		if (rows > UINT32_MAX)
			return tt_fail(TTNN_INVALID, "a padded shape of more than 2^32 rows");
		*entry = back > 2 ? (uint32_t)rows
				  : inner_alignment(tt_shape_last(&args->shape, back),
						    tt_shape_last(padded, back),
						    !tiled      ? 0
						    : back == 1 ? tile->width
								: tile->height);
		if (!*entry && !inside)
			*entry = 1;
	}
	return TTNN_OK;
}

static tt_status fail_outer_shard(const struct ttnn_shape *shape, const struct ttnn_shape *padded)
{
	struct tt_str texts[2] = {{0}};

	tt_shape_list(&texts[0], shape);
	tt_shape_list(&texts[1], padded);
	tt_fail_cond(TTNN_INVALID, "alignment_can_be_2D",
		     "Tensor with shape Shape(%s) (Shape(%s)) cannot be sharded because alignment "
		     "will have rank greater than 2!",
		     tt_str_text(&texts[0]), tt_str_text(&texts[1]));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return TTNN_INVALID;
}

tt_status tt_tensor_spec_padded(struct ttnn_tensor_spec *out, const struct ttnn_spec_args *args,
				const struct ttnn_shape *padded)
{
	struct ttnn_spec_args aligned = *args;

	aligned.alignment.rank = 0;
	if (ttnn_shape_equal(&args->shape, padded))
		return ttnn_tensor_spec_make(out, &aligned);
	if (!args->memory.has_shard)
		TT_TRY(alignment_for(&aligned, padded));
	else if (!pads_inside(&args->shape, padded))
		return fail_outer_shard(&args->shape, padded);
	return ttnn_tensor_spec_make(out, &aligned);
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

	tt_memory_config_strip(&args.memory); /* it is derived again */
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
	return tt_memory_config_key(seed, &spec->memory);
}
