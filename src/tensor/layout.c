/* layout.c: see layout.h. */
#include "tensor/layout.h"

#include <inttypes.h>
#include <string.h>

#include "base/deadline.h"
#include "base/pool.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tile_copy.h"

/* Blocks through scratch memory: as high as a tile, this wide (a multiple of every tile's width). */
#define BLOCK_ROWS 32
#define BLOCK_COLS 512
/* Larger results go around the cache, which could not hold them anyway. */
#define STREAM_LEAST ((uint64_t)16 << 20)
#define LINE 64
/* Elements that are worth another thread. */
#define GRAIN 65536
/* Blocks without scratch memory, from rows to rows. */
#define ROWS_ROWS 64
#define ROWS_COLS 65536

/* ---- areas --------------------------------------------------------------------------------- */

void tt_area_set(struct tt_area *out, const void *data, const struct ttnn_tensor_spec *spec)
{
	uint64_t rows = 1, step = 1;

	out->data = (void *)(uintptr_t)data;
	out->shape = spec->shape;
	out->dtype = spec->dtype;
	out->rows = spec->rows;
	out->cols = spec->cols;
	out->tile = spec->layout == TTNN_TILE ? spec->tile : (struct ttnn_tile){0};
	if (spec->shape.rank)
		out->step[spec->shape.rank - 1] = 0;
	for (uint32_t back = 2; back <= spec->shape.rank; back++) {
		uint64_t extent = tt_shape_last(&spec->shape, back);
		uint64_t unit =
			back <= spec->alignment.rank ? tt_shape_last(&spec->alignment, back) : 1;

		out->step[spec->shape.rank - back] = step;
		/* The spec was checked: all of it fits 64 bits. Zero extents step like ones. */
		rows = step * (extent ? extent : 1);
		(void)tt_round_up(&step, rows, unit);
	}
}

struct tt_area tt_area_of(const void *data, const struct ttnn_tensor_spec *spec)
{
	struct tt_area area = {0};

	tt_area_set(&area, data, spec);
	return area;
}

struct tt_area tt_area_rows(const void *data, const struct ttnn_shape *shape, enum ttnn_dtype dtype)
{
	struct tt_area area = {
		.data = (void *)(uintptr_t)data,
		.shape = *shape,
		.dtype = dtype,
		.rows = 1,
		.cols = tt_shape_last(shape, 1),
	};

	for (uint32_t back = 2; back <= shape->rank; back++) {
		area.step[shape->rank - back] = area.rows;
		area.rows *= tt_shape_last(shape, back);
	}
	return area;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool is_tiled(const struct tt_area *area)
{
	return area->tile.height != 0;
}

/* ---- blocks -------------------------------------------------------------------------------- */

/*
 * A copy in progress. Dimensions that lie without gaps in both areas are one; what remains is
 * `planes` of height × width elements, cut into blocks.
 */
struct job {
	const struct tt_area *dst, *src;
	enum ttnn_dtype stage; /* what elements are after fetching: float32 for block floats */
	enum ttnn_dtype want;  /* what they must be to be stored: float32 for block floats */
	uint64_t height, width;
	uint64_t padded;           /* rows of dst from one plane to the next */
	uint64_t dst_cols, planes; /* dst_cols with the padding */
	uint64_t block_rows, block_cols, across, down;
	uint32_t outer; /* dimensions that number the planes, outermost first */
	uint64_t extent[TTNN_MAX_RANK], dst_step[TTNN_MAX_RANK], src_step[TTNN_MAX_RANK];
	struct tt_tile_element element; /* of type `want` */
	float pad;                      /* the same for block floats */
	_Atomic tt_status status;
};

/* One block of a plane, and how much of it is more than padding. */
struct block {
	uint64_t dst_row, src_row, col; /* in the matrices */
	uint32_t rows, cols;
	uint32_t valid_rows, valid_cols;
};

/* Elements of a block in rows. */
struct rows {
	uint8_t *at;
	size_t stride; /* bytes */
};

static size_t element_bytes(enum ttnn_dtype dtype)
{
	return tt_dtype_bytes(dtype);
}

static uint8_t *tile_at(const struct tt_area *area, uint64_t row, uint64_t col)
{
	const struct ttnn_tile *tile = &area->tile;
	uint64_t index = row / tile->height * (area->cols / tile->width) + col / tile->width;

	return (uint8_t *)area->data + index * tt_dtype_tile_bytes(area->dtype, tile);
}

static uint8_t *row_at(const struct tt_area *area, uint64_t row, uint64_t col)
{
	return (uint8_t *)area->data + (row * area->cols + col) * element_bytes(area->dtype);
}

struct tt_area tt_area_part(const struct tt_area *area, const uint32_t *start,
			    const struct ttnn_shape *shape)
{
	struct tt_area part = *area;
	uint32_t rank = shape->rank;
	uint64_t row = 0, col = rank ? start[rank - 1] : 0;

	for (uint32_t d = 0; d + 1 < rank; d++)
		row += start[d] * area->step[d];
	part.shape = *shape;
	part.data = is_tiled(area) ? tile_at(area, row, col) : row_at(area, row, col);
	return part;
}

tt_status tt_area_get(double *out, const struct tt_area *area, const uint32_t *index)
{
	const struct ttnn_tile *tile = &area->tile;
	uint32_t rank = area->shape.rank;
	uint64_t row = 0, col = rank ? index[rank - 1] : 0;
	float decoded[32 * 32];
	const uint8_t *at;

	for (uint32_t d = 0; d + 1 < rank; d++)
		row += index[d] * area->step[d];
	if (!is_tiled(area))
		return tt_convert_to_f64(out, row_at(area, row, col), area->dtype, 1);
	at = tile_at(area, row, col);
	row %= tile->height;
	col %= tile->width;
	if (!tt_dtype_is_block(area->dtype)) {
		at += tt_tile_index(tile, (uint32_t)row, (uint32_t)col) *
		      tt_dtype_bytes(area->dtype);
		return tt_convert_to_f64(out, at, area->dtype, 1);
	}
	tt_bfp_decode_tile(decoded,
			   &(struct tt_tile_window){tile->width, tile->height, tile->width, 0},
			   area->dtype, tile, at);
	*out = decoded[row * tile->width + col];
	return TTNN_OK;
}

/* The tiles of a block: the first one, and how far it is to the next of its row and column. */
struct tiles {
	uint8_t *at;
	size_t right, down;
};

static struct tiles tiles_at(const struct tt_area *area, uint64_t row, uint64_t col)
{
	size_t bytes = tt_dtype_tile_bytes(area->dtype, &area->tile);

	return (struct tiles){tile_at(area, row, col), bytes,
			      (size_t)(area->cols / area->tile.width) * bytes};
}

/* Untiles a block into `rows`. */
static void fetch_tiles(const struct rows *rows, const struct job *job, const struct block *block)
{
	const struct ttnn_tile tile = job->src->tile;
	struct tiles tiles = tiles_at(job->src, block->src_row, block->col);
	bool is_block = tt_dtype_is_block(job->src->dtype);
	size_t bytes = element_bytes(job->stage);
	/* Scratch memory belongs into the cache. */
	struct tt_tile_element element = {
		.bytes = bytes,
		.stream = job->element.stream && !is_tiled(job->dst) && job->stage == job->want,
	};

	for (uint32_t row = 0; row < block->valid_rows; row += tile.height) {
		const uint8_t *src = tiles.at;

		for (uint32_t col = 0; col < block->valid_cols; col += tile.width) {
			struct tt_tile_part part = {
				rows->at + row * rows->stride + col * bytes,
				rows->stride,
				least(tile.height, block->valid_rows - row),
				least(tile.width, block->valid_cols - col),
			};

			if (is_block)
				tt_bfp_decode_tile(
					(float *)(void *)part.at,
					&(struct tt_tile_window){rows->stride / sizeof(float),
								 part.rows, part.cols, 0},
					job->src->dtype, &tile, src);
			else
				tt_tile_get(&part, src, &tile, &element);
			src += tiles.right;
		}
		tiles.at += tiles.down;
	}
}

/* Tiles a block from `rows`, with padding. */
static void store_tiles(const struct job *job, const struct block *block, const struct rows *rows)
{
	const struct ttnn_tile tile = job->dst->tile;
	struct tiles tiles = tiles_at(job->dst, block->dst_row, block->col);
	bool is_block = tt_dtype_is_block(job->dst->dtype);

	for (uint32_t row = 0; row < block->rows; row += tile.height) {
		uint8_t *dst = tiles.at;

		for (uint32_t col = 0; col < block->cols; col += tile.width) {
			struct tt_tile_part part = {.stride = rows->stride};

			if (row < block->valid_rows && col < block->valid_cols) {
				part.at = rows->at + row * rows->stride + col * job->element.bytes;
				part.rows = least(tile.height, block->valid_rows - row);
				part.cols = least(tile.width, block->valid_cols - col);
			}
			if (is_block)
				tt_bfp_encode_tile(
					dst, job->dst->dtype, &tile,
					(const float *)(const void *)part.at,
					&(struct tt_tile_window){rows->stride / sizeof(float),
								 part.rows, part.cols, job->pad});
			else
				tt_tile_put(dst, &tile, &part, &job->element);
			dst += tiles.right;
		}
		tiles.at += tiles.down;
	}
}

/* The padding to the right of and below a block of rows. */
static void pad_rows(const struct job *job, const struct block *block)
{
	for (uint32_t row = 0; row < block->rows; row++) {
		uint32_t from = row < block->valid_rows ? block->valid_cols : 0;

		if (from < block->cols)
			tt_tile_fill(row_at(job->dst, block->dst_row + row, block->col + from),
				     job->element.pad, job->element.bytes, block->cols - from);
	}
}

static tt_status convert_rows(const struct rows *dst, const struct rows *src, const struct job *job,
			      const struct block *block)
{
	for (uint32_t row = 0; row < block->valid_rows; row++)
		TT_TRY(tt_convert(dst->at + row * dst->stride, job->want,
				  src->at + row * src->stride, job->stage, block->valid_cols));
	return TTNN_OK;
}

/*
 * Fetch, convert, store. Each step works where the data lies when it can: rows need no fetching,
 * equal types no conversion, and what ends in rows is fetched or converted right into them.
 */
static tt_status copy_block(const struct job *job, const struct block *block)
{
	_Alignas(64) uint8_t scratch[2][BLOCK_ROWS * BLOCK_COLS * 4];
	size_t stage_bytes = element_bytes(job->stage), want_bytes = job->element.bytes;
	struct rows out = {0}, from = {scratch[0], BLOCK_COLS * stage_bytes};
	bool converts = job->stage != job->want;

	if (!is_tiled(job->dst))
		out = (struct rows){row_at(job->dst, block->dst_row, block->col),
				    job->dst->cols * want_bytes};
	if (!is_tiled(job->src)) {
		from = (struct rows){row_at(job->src, block->src_row, block->col),
				     job->src->cols * stage_bytes};
	} else {
		if (out.at && !converts)
			from = out;
		fetch_tiles(&from, job, block);
	}
	if (converts) {
		struct rows to = out;

		/* Through the scratch memory results can go around the cache. */
		if (is_tiled(job->dst) || (is_tiled(job->src) && job->element.stream))
			to = (struct rows){scratch[1], BLOCK_COLS * want_bytes};
		TT_TRY(convert_rows(&to, &from, job, block));
		from = to;
	}
	if (is_tiled(job->dst)) {
		store_tiles(job, block, &from);
		return TTNN_OK;
	}
	if (from.at != out.at)
		for (uint32_t row = 0; row < block->valid_rows; row++)
			tt_tile_copy_row(out.at + row * out.stride, from.at + row * from.stride,
					 block->valid_cols * want_bytes, job->element.stream);
	pad_rows(job, block);
	return TTNN_OK;
}

static uint32_t cut(uint64_t extent, uint64_t from, uint64_t most)
{
	if (extent <= from)
		return 0;
	return (uint32_t)(extent - from < most ? extent - from : most);
}

/* Blocks are numbered plane by plane, in a plane row by row. */
static void copy_blocks(void *context, size_t begin, size_t end)
{
	struct job *job = context;

	for (uint64_t i = begin; i < end; i++) {
		uint64_t col = i % job->across * job->block_cols;
		uint64_t row = i / job->across % job->down * job->block_rows;
		uint64_t plane = i / job->across / job->down;
		struct block block = {
			.dst_row = row,
			.src_row = row,
			.col = col,
			.rows = cut(job->padded, row, job->block_rows),
			.cols = cut(job->dst_cols, col, job->block_cols),
			.valid_rows = cut(job->height, row, job->block_rows),
			.valid_cols = cut(job->width, col, job->block_cols),
		};
		tt_status status;

		for (uint32_t d = job->outer; d-- > 0;) {
			block.dst_row += plane % job->extent[d] * job->dst_step[d];
			block.src_row += plane % job->extent[d] * job->src_step[d];
			plane /= job->extent[d];
		}
		if (!block.valid_rows || !block.valid_cols)
			block.valid_rows = block.valid_cols = 0;
		status = copy_block(job, &block);
		if (status != TTNN_OK)
			job->status = status;
	}
	tt_tile_stream_end();
}

/* ---- whole areas --------------------------------------------------------------------------- */

/* Finds the planes: folds dimensions from the inner ones outwards while nothing lies between. */
static void find_planes(struct job *job)
{
	const struct ttnn_shape *shape = &job->dst->shape;
	uint32_t d = shape->rank > 1 ? shape->rank - 1 : 0;

	job->width = tt_shape_last(shape, 1);
	job->height = 1;
	job->dst_cols = job->dst->cols;
	job->planes = 1;
	while (d > 0 && (shape->dim[d - 1] == 1 || (job->dst->step[d - 1] == job->height &&
						    job->src->step[d - 1] == job->height)))
		job->height *= shape->dim[--d];
	job->outer = d;
	for (uint32_t i = 0; i < d; i++) {
		job->extent[i] = shape->dim[i];
		job->dst_step[i] = job->dst->step[i];
		job->src_step[i] = job->src->step[i];
		job->planes *= shape->dim[i];
	}
	job->padded = d > 0 ? job->dst->step[d - 1] : job->dst->rows;
}

static void cut_blocks(struct job *job)
{
	if (is_tiled(job->dst) || is_tiled(job->src)) {
		job->block_rows = BLOCK_ROWS;
		job->block_cols = BLOCK_COLS;
	} else {
		if (job->width == job->dst->cols && job->width == job->src->cols &&
		    job->padded == job->height) { /* no gaps at all: one long row */
			job->width = job->dst_cols = job->width * job->height;
			job->height = job->padded = 1;
		}
		job->block_rows = ROWS_ROWS;
		job->block_cols = ROWS_COLS;
	}
	job->across = tt_div_up(job->dst_cols, job->block_cols);
	job->down = tt_div_up(job->padded, job->block_rows);
}

tt_status tt_layout_pad_element(uint8_t out[4], enum ttnn_dtype dtype, double value)
{
	int32_t low;

	if (!tt_dtype_is_integer(dtype) || tt_dtype_bytes(dtype) == 4)
		return tt_convert_from_f64(out, dtype, &value, 1);
	TT_TRY(tt_convert_from_f64(&low, TTNN_INT32, &value, 1));
	return tt_convert(out, dtype, &low, TTNN_INT32, 1);
}

/* Padding between planes that blocks do not reach: where outer dimensions are padded as well. */
static void pad_gaps(const struct job *job)
{
	const struct tt_area *dst = job->dst;
	size_t tile_bytes;
	uint64_t tiles;

	if (job->planes * job->padded == dst->rows)
		return;
	if (!tt_dtype_is_block(dst->dtype)) {
		tt_tile_fill(dst->data, job->element.pad, job->element.bytes,
			     (size_t)(dst->rows * dst->cols));
		return;
	}
	tile_bytes = tt_dtype_tile_bytes(dst->dtype, &dst->tile);
	tiles = dst->rows / dst->tile.height * (dst->cols / dst->tile.width);
	for (uint64_t i = 0; i < tiles; i++)
		tt_bfp_encode_tile((uint8_t *)dst->data + i * tile_bytes, dst->dtype, &dst->tile,
				   &job->pad, &(struct tt_tile_window){.pad = job->pad});
}

tt_status tt_layout_copy(const struct tt_area *dst, const struct tt_area *src,
			 const double *pad_value)
{
	struct job job = {.dst = dst, .src = src, .stage = src->dtype, .want = dst->dtype};
	size_t grain;

	if (tt_dtype_is_block(src->dtype))
		job.stage = TTNN_FLOAT32;
	if (tt_dtype_is_block(dst->dtype))
		job.want = TTNN_FLOAT32;
	if (dst->rows == 0 || dst->cols == 0)
		return TTNN_OK;
	job.element.bytes = element_bytes(job.want);
	job.element.stream = (uintptr_t)dst->data % LINE == 0 &&
			     dst->rows > STREAM_LEAST / job.element.bytes / dst->cols;
	find_planes(&job);
	if (pad_value) {
		job.pad = (float)*pad_value;
		TT_TRY(tt_layout_pad_element(job.element.pad, job.want, *pad_value));
		pad_gaps(&job);
	} else {
		job.padded = job.height;
		job.dst_cols = job.width;
	}
	cut_blocks(&job);
	/* A block moves at least as much as starting a piece costs. */
	grain = 1 + GRAIN / (size_t)(job.block_rows * job.block_cols);
	tt_pool_for((size_t)(job.planes * job.down * job.across), grain, copy_blocks, &job);
	return job.status == TTNN_OK ? tt_deadline_check() : job.status;
}
