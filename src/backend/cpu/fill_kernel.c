/* fill_kernel.c: jobs that make values out of nothing: fill and range. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/fn_kernel.h"
#include "base/pool.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tile.h"
#include "tensor/tile_copy.h"

/* ---- all of a tensor -------------------------------------------------------------------------- */

/* The same unit again and again: an element, or a tile of a block float. */
struct pattern {
	uint8_t *out;
	uint8_t unit[32 * 32 + 64]; /* the largest tile of a block float */
	size_t bytes;
};

static void repeat_unit(void *context, size_t begin, size_t end)
{
	const struct pattern *pattern = context;
	size_t bytes = pattern->bytes;

	if (bytes <= 4)
		tt_tile_fill(pattern->out + begin * bytes, pattern->unit, bytes, end - begin);
	else
		for (size_t i = begin; i < end; i++)
			memcpy(pattern->out + i * bytes, pattern->unit, bytes);
}

static tt_status fill_all(const struct tt_area *out, double value)
{
	struct pattern pattern = {.out = out->data, .bytes = tt_dtype_bytes(out->dtype)};
	size_t count = (size_t)(out->rows * out->cols);

	if (tt_dtype_is_block(out->dtype)) {
		pattern.bytes = tt_dtype_tile_bytes(out->dtype, &out->tile);
		count /= out->tile.height * out->tile.width;
		tt_bfp_encode_tile(pattern.unit, out->dtype, &out->tile, NULL,
				   &(struct tt_tile_window){.pad = (float)value});
	} else {
		TT_TRY(tt_layout_pad_element(pattern.unit, out->dtype, value));
	}
	tt_pool_for(count, 4 * TT_CPU_GRAIN / pattern.bytes, repeat_unit, &pattern);
	return TTNN_OK;
}

/* ---- padding ---------------------------------------------------------------------------------- */

/*
 * Padding is what a matrix has beside and below its elements, and rows between matrices. Each row of
 * the whole is padded from its own column on: the width, or 0 where no element lies.
 */
struct margin {
	const struct tt_area *out;
	uint8_t pad[4];
	float value;
};

/* How many elements a row of the whole matrix has: the width, or none. */
static uint32_t valid_cols(const struct tt_area *area, uint64_t row)
{
	for (uint32_t d = 0; d + 1 < area->shape.rank; d++) {
		uint64_t index = area->step[d] ? row / area->step[d] : 0;

		if (index >= area->shape.dim[d])
			return 0;
		row -= index * area->step[d];
	}
	return row ? 0 : tt_shape_last(&area->shape, 1);
}

static void pad_rows(void *context, size_t begin, size_t end)
{
	const struct margin *margin = context;
	const struct tt_area *out = margin->out;
	size_t bytes = tt_dtype_bytes(out->dtype);

	for (uint64_t row = begin; row < end; row++) {
		uint64_t from = valid_cols(out, row);

		tt_tile_fill((uint8_t *)out->data + (row * out->cols + from) * bytes, margin->pad,
			     bytes, (size_t)(out->cols - from));
	}
}

/* How many rows of a tile have elements: matrices begin with a tile, so these come first. */
static uint32_t filled_rows(const struct tt_area *out, uint64_t row)
{
	uint32_t filled = 0, empty = out->tile.height;

	while (filled < empty) {
		uint32_t middle = (filled + empty) / 2;

		if (valid_cols(out, row + middle))
			filled = middle + 1;
		else
			empty = middle;
	}
	return filled;
}

/* The elements of a row of a tile from a column on. */
static void pad_tile_row(const struct margin *margin, uint8_t *at, uint32_t row, uint32_t col)
{
	const struct ttnn_tile *tile = &margin->out->tile;
	size_t bytes = tt_dtype_bytes(margin->out->dtype);
	uint32_t piece;

	for (; col < tile->width; col += piece) {
		uint8_t *to = at + tt_tile_index(tile, row, col) * bytes;

		piece = tile->transpose ? 1 : TT_FACE - col % TT_FACE;
		for (uint32_t i = 0; i < piece; i++)
			memcpy(to + i * bytes, margin->pad, bytes);
	}
}

/* A tile with elements and padding is taken apart and put together again. */
static void pad_tile(const struct margin *margin, uint8_t *at, uint64_t row, uint64_t col)
{
	const struct tt_area *out = margin->out;
	const struct ttnn_tile *tile = &out->tile;
	const struct tt_tile_window window = {tile->width, tile->height, tile->width, 0};
	uint32_t filled = filled_rows(out, row), width = tt_shape_last(&out->shape, 1);
	uint32_t valid = width > col ? (uint32_t)(width - col) : 0;
	bool is_block = tt_dtype_is_block(out->dtype);
	float values[32 * 32];

	if (is_block)
		tt_bfp_decode_tile(values, &window, out->dtype, tile, at);
	else if (filled == 0 || valid == 0)
		tt_tile_fill(at, margin->pad, tt_dtype_bytes(out->dtype),
			     (size_t)tile->height * tile->width);
	else
		for (uint32_t r = 0; r < tile->height; r++)
			pad_tile_row(margin, at, r, r < filled ? valid : 0);
	for (uint32_t r = 0; is_block && r < tile->height; r++)
		for (uint32_t c = r < filled ? valid : 0; c < tile->width; c++)
			values[r * tile->width + c] = margin->value;
	if (is_block)
		tt_bfp_encode_tile(at, out->dtype, tile, values, &window);
}

/* Whether a tile holds anything but elements. */
static bool is_padded(const struct tt_area *out, uint64_t row, uint64_t col)
{
	uint64_t last = row + out->tile.height - 1;

	/* Where the last row is full, so are those above it. */
	return valid_cols(out, last) < col + out->tile.width;
}

static void pad_tiles(void *context, size_t begin, size_t end)
{
	const struct margin *margin = context;
	const struct tt_area *out = margin->out;
	uint64_t across = out->cols / out->tile.width;
	size_t bytes = tt_dtype_tile_bytes(out->dtype, &out->tile);

	for (uint64_t i = begin; i < end; i++) {
		uint64_t row = i / across * out->tile.height, col = i % across * out->tile.width;

		if (is_padded(out, row, col))
			pad_tile(margin, (uint8_t *)out->data + i * bytes, row, col);
	}
}

static tt_status fill_padding(const struct tt_area *out, double value)
{
	struct margin margin = {.out = out, .value = (float)value};

	if (!tt_dtype_is_block(out->dtype))
		TT_TRY(tt_layout_pad_element(margin.pad, out->dtype, value));
	if (tt_area_is_tiled(out))
		tt_pool_for((size_t)(out->rows / out->tile.height * (out->cols / out->tile.width)),
			    64, pad_tiles, &margin);
	else
		tt_pool_for((size_t)out->rows, 256, pad_rows, &margin);
	return TTNN_OK;
}

static tt_status fill_open(struct tt_tensor *out, double value, enum tt_fill_region region,
			   struct tt_session *session)
{
	struct tt_area area;

	TT_TRY(tt_session_write(&area, session, out, region == TT_FILL_PADDING));
	if (region == TT_FILL_ALL)
		return fill_all(&area, value);
	return tt_area_has_padding(&area) ? fill_padding(&area, value) : TTNN_OK;
}

tt_status tt_cpu_fill(struct tt_tensor *out, double value, enum tt_fill_region region)
{
	struct tt_session session = {0};

	if (out->spec.bytes == 0)
		return TTNN_OK;
	return tt_session_end(&session, fill_open(out, value, region, &session));
}

/* ---- ranges ----------------------------------------------------------------------------------- */

struct range {
	const struct tt_area *out;
	double start, step;
};

static void run_range(void *context, size_t begin, size_t end)
{
	const struct range *range = context;
	enum ttnn_dtype dtype = range->out->dtype;
	const struct tt_int_fns *fns = tt_int_fns_get();
	double values[TT_CPU_PIECE];
	int64_t whole[TT_CPU_PIECE];

	for (size_t i = begin; i < end;) {
		size_t count = end - i < TT_CPU_PIECE ? end - i : TT_CPU_PIECE;
		uint8_t *to = (uint8_t *)range->out->data + i * tt_dtype_bytes(dtype);

		for (size_t k = 0; k < count; k++)
			values[k] = range->start + (double)(i + k) * range->step;
		for (size_t k = 0; fns->store[dtype] && k < count; k++)
			whole[k] = tt_whole(values[k]);
		if (fns->store[dtype])
			fns->store[dtype](to, whole, count);
		else
			(void)tt_convert_from_f64(to, dtype, values, count);
		i += count;
	}
}

static tt_status range_open(struct tt_tensor *out, const struct range *asked,
			    struct tt_session *session)
{
	struct tt_scratch scratch = {0};
	struct tt_area area, rows;
	struct range range = *asked;
	tt_status status = TTNN_OK;
	uint64_t volume;

	TT_TRY(tt_session_write(&area, session, out, false));
	TT_TRY(tt_cpu_volume(&volume, out));
	rows = area;
	if (!tt_area_is_dense(&area)) {
		enum ttnn_dtype dtype = area.dtype;

		if (tt_dtype_is_block(dtype))
			dtype = TTNN_FLOAT32;
		TT_TRY(tt_scratch_init(&scratch, &area.shape, dtype, NULL));
		rows = scratch.area;
	}
	range.out = &rows;
	tt_pool_for((size_t)volume, TT_CPU_GRAIN, run_range, &range);
	if (scratch.block)
		status = tt_cpu_copy(&area, &rows);
	tt_scratch_deinit(&scratch);
	return status;
}

tt_status tt_cpu_range(struct tt_tensor *out, double start, double step)
{
	struct range range = {.start = start, .step = step};
	struct tt_session session = {0};
	uint64_t volume;

	TT_TRY(tt_cpu_volume(&volume, out));
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, range_open(out, &range, &session));
}
