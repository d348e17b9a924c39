#include "backend/cpu/strips.h"

#include "backend/cpu/strided.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* As high as any tile, and a multiple of every tile's height. */
#define TILE_ROWS 32

/* Whether the rows of dimension d follow on those of the dimensions inside of it. */
static bool follows(const struct tt_strips *strips, uint32_t d, uint64_t height)
{
	for (uint32_t k = 0; k < strips->areas; k++)
		if (strips->area[k].step[d] != height)
			return false;
	return true;
}

void tt_strips_init(struct tt_strips *out, const struct tt_area *const areas[TT_STRIPS_AREAS],
		    uint64_t elements)
{
	const struct ttnn_shape *shape = &areas[0]->shape;
	uint32_t d = shape->rank > 1 ? shape->rank - 1 : 0;
	uint64_t width = tt_shape_last(shape, 1);
	bool tiled = false;

	*out = (struct tt_strips){.height = 1};
	for (; out->areas < TT_STRIPS_AREAS && areas[out->areas]; out->areas++) {
		out->area[out->areas] = *areas[out->areas];
		tiled |= tt_area_is_tiled(areas[out->areas]);
	}
	while (d > 0 && (shape->dim[d - 1] == 1 || follows(out, d - 1, out->height)))
		out->height *= shape->dim[--d];
	out->outer = d;
	out->tall = width && elements > width ? elements / width : 1;
	if (tiled)
		out->tall = (out->tall + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
	if (out->tall > out->height)
		out->tall = out->height;
	out->per_plane = tt_div_up(out->height, out->tall ? out->tall : 1);
	out->count = out->per_plane;
	for (uint32_t i = 0; i < d; i++) {
		out->extent[i] = shape->dim[i];
		out->count *= shape->dim[i];
		for (uint32_t k = 0; k < out->areas; k++)
			out->step[k][i] = out->area[k].step[i];
	}
}

struct tt_area tt_part_rows(const struct tt_area *area, uint64_t row, uint32_t rows)
{
	struct tt_area part = {
		.shape = TT_SHAPE(rows, tt_shape_last(&area->shape, 1)),
		.dtype = area->dtype,
		.tile = area->tile,
		.rows = rows,
		.cols = area->cols,
		.step = {1},
	};
	uint64_t bytes;

	if (tt_area_is_tiled(area)) {
		(void)tt_round_up(&part.rows, rows, area->tile.height);
		bytes = row / area->tile.height * (area->cols / area->tile.width) *
			tt_dtype_tile_bytes(area->dtype, &area->tile);
	} else {
		bytes = row * area->cols * tt_dtype_bytes(area->dtype);
	}
	part.data = (uint8_t *)area->data + bytes;
	return part;
}

void tt_strip_get(struct tt_strip *out, const struct tt_strips *strips, uint64_t index)
{
	uint64_t plane = index / strips->per_plane;
	uint64_t down = index % strips->per_plane * strips->tall, left = strips->height - down;
	uint64_t row[TT_STRIPS_AREAS] = {down, down, down};

	out->first = plane * strips->height + down;
	out->rows = (uint32_t)(left < strips->tall ? left : strips->tall);
	for (uint32_t d = strips->outer; d-- > 0;) {
		for (uint32_t k = 0; k < strips->areas; k++)
			row[k] += plane % strips->extent[d] * strips->step[k][d];
		plane /= strips->extent[d];
	}
	for (uint32_t k = 0; k < strips->areas; k++)
		out->part[k] = tt_part_rows(&strips->area[k], row[k], out->rows);
}

struct tt_area tt_part_columns(const struct tt_area *part, uint64_t from, uint64_t count)
{
	struct tt_area columns = *part;
	uint64_t bytes = from * tt_dtype_bytes(part->dtype);

	if (tt_area_is_tiled(part))
		bytes = from / part->tile.width * tt_dtype_tile_bytes(part->dtype, &part->tile);
	columns.data = (uint8_t *)part->data + bytes;
	columns.shape.dim[1] = (uint32_t)count;
	return columns;
}

/* Neither of these can fail: the types were checked when the tensors were made. */

const void *tt_part_load(void *room, const struct tt_area *part, enum ttnn_dtype dtype)
{
	struct tt_area rows = tt_area_rows(room, &part->shape, dtype);

	if (part->dtype == dtype && tt_area_is_dense(part))
		return part->data;
	(void)tt_cpu_copy(&rows, part);
	return room;
}

void tt_part_store(const struct tt_area *part, const void *rows, enum ttnn_dtype dtype)
{
	struct tt_area from = tt_area_rows(rows, &part->shape, dtype);

	(void)tt_cpu_copy(part, &from);
}

/* ---- along any dimension --------------------------------------------------------------------- */

/* Where dimension d goes when `dim` goes to the end. */
static uint32_t transposed_place(uint32_t d, uint32_t dim, uint32_t rank)
{
	return d == dim ? rank - 1 : d > dim ? d - 1 : d;
}

struct ttnn_shape tt_transposed(const struct ttnn_shape *shape, uint32_t dim)
{
	struct ttnn_shape transposed = *shape;

	for (uint32_t d = 0; d < shape->rank; d++)
		transposed.dim[transposed_place(d, dim, shape->rank)] = shape->dim[d];
	return transposed;
}

/* Both have single elements of one type; `back` is from the turned one to the other. */
static tt_status turn(const struct tt_area *out, const struct tt_area *in, uint32_t dim, bool back)
{
	const struct ttnn_shape *shape = back ? &out->shape : &in->shape;
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_strided copy = {
		.out = tt_strided_of(out),
		.in = tt_strided_of(in),
		.bytes = tt_dtype_bytes(out->dtype),
		.loops = loops,
		.loop_count = shape->rank,
	};

	for (uint32_t d = 0; d < shape->rank; d++) {
		int32_t to = (int32_t)transposed_place(d, dim, shape->rank), from = (int32_t)d;

		loops[d] = (struct tt_move_loop){shape->dim[d], back ? to : from, back ? from : to,
						 1, 1};
	}
	return tt_strided_copy(&copy);
}

tt_status tt_turn_in(struct tt_scratch *out, const struct tt_area *in, uint32_t dim,
		     enum ttnn_dtype dtype)
{
	struct ttnn_shape shape = tt_transposed(&in->shape, dim);
	struct tt_scratch scratch = {0};
	struct tt_area rows = *in;
	tt_status status;

	TT_TRY(tt_scratch_init(out, &shape, dtype, NULL));
	status = in->dtype == dtype ? TTNN_OK : tt_cpu_rows(&rows, &scratch, in, dtype);
	if (status == TTNN_OK)
		status = turn(&out->area, &rows, dim, false);
	tt_scratch_deinit(&scratch);
	if (status != TTNN_OK)
		tt_scratch_deinit(out);
	return status;
}

tt_status tt_turn_out(const struct tt_area *out, const struct tt_area *rows, uint32_t dim)
{
	struct tt_scratch scratch;
	tt_status status;

	if (out->dtype == rows->dtype)
		return turn(out, rows, dim, true);
	TT_TRY(tt_scratch_init(&scratch, &out->shape, rows->dtype, NULL));
	status = turn(&scratch.area, rows, dim, true);
	if (status == TTNN_OK)
		status = tt_cpu_copy(out, &scratch.area);
	tt_scratch_deinit(&scratch);
	return status;
}
