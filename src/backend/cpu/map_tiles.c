/*
 * map_tiles.c: element-wise jobs tile by tile, in the order that tiles store their elements in.
 *
 * A strip is a row of tiles. Broadcasting over outer dimensions chooses the operand's strip;
 * broadcasting inside of a matrix takes its first row or column of tiles, and spreads the first row
 * or column inside of the tile. A tile so spread is kept while the next ones need the same.
 */
#include <string.h>

#include "backend/cpu/map_kernel.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

/* Strips that share the spread tiles of an operand with one row. */
#define GROUP 8

/* One tensor as strips. */
struct strips {
	uint8_t *data;
	enum ttnn_dtype dtype;
	size_t tile_bytes;
	uint64_t tiles;               /* in a strip */
	uint64_t step[TTNN_MAX_RANK]; /* strips per index of the output's outer dimensions */
	uint64_t down;                /* strips per strip of the output's matrix: 1, or 0 */
	bool one_row, one_col;        /* broadcast inside of the matrix */
};

struct walk {
	const struct tt_map_work *work;
	struct ttnn_tile tile;
	uint32_t outer; /* dimensions of the output but the last two */
	uint64_t strips_down, strips, tiles_across;
	uint64_t group; /* strips of a group */
	struct strips out, in[3];
};

/* What one thread works with. */
struct room {
	union tt_lanes in[3], steps[3], result;
	uint64_t loaded[3]; /* which tile of the operand is there; UINT64_MAX for none */
};

/* ---- preparing --------------------------------------------------------------------------------- */

static struct strips strips_of(const struct tt_area *area, const struct ttnn_shape *out)
{
	struct strips strips = {
		.data = area->data,
		.dtype = area->dtype,
		.tile_bytes = tt_dtype_tile_bytes(area->dtype, &area->tile),
		.tiles = area->cols / area->tile.width,
	};
	uint32_t rank = area->shape.rank;

	for (uint32_t back = 3; back <= rank; back++)
		if (area->shape.dim[rank - back] != 1)
			strips.step[out->rank - back] = area->step[rank - back] / area->tile.height;
	strips.one_row = tt_shape_last(&area->shape, 2) == 1 && tt_shape_last(out, 2) != 1;
	strips.one_col = tt_shape_last(&area->shape, 1) == 1 && tt_shape_last(out, 1) != 1;
	strips.down = !strips.one_row;
	return strips;
}

/* ---- inside of a tile --------------------------------------------------------------------------- */

/* Row 0 in all rows: each face repeats the first row of the face at the top of its column. */
static void spread_down(char *tile, const struct ttnn_tile *shape, size_t bytes)
{
	struct tt_faces faces = tt_tile_faces(shape);
	size_t row = faces.width * bytes, face = faces.height * row;
	uint32_t across = shape->width > faces.width ? 2 : 1;

	for (uint32_t f = 0; f < faces.count; f++)
		for (uint32_t r = 0; r < faces.height; r++)
			if (f >= across || r > 0)
				memcpy(tile + f * face + r * row, tile + f % across * face, row);
}

/* Column 0 in all columns: each row repeats the first element of the face at its left end. */
static void spread_across(char *tile, const struct ttnn_tile *shape,
			  const struct tt_lane_kind *kind)
{
	struct tt_faces faces = tt_tile_faces(shape);
	size_t row = faces.width * kind->bytes, face = faces.height * row;
	uint32_t across = shape->width > faces.width ? 2 : 1;

	for (uint32_t f = 0; f < faces.count; f += across)
		for (uint32_t r = 0; r < faces.height; r++) {
			char *first = tile + f * face + r * row;

			tt_lanes_repeat(kind, first, first, faces.width);
			for (uint32_t x = 1; x < across; x++)
				memcpy(first + x * face, first, row);
		}
}

/* Padding columns must not touch the exponents of the elements beside them. */
static void clear_padding(char *tile, const struct ttnn_tile *shape, uint32_t cols, size_t bytes)
{
	struct tt_faces faces = tt_tile_faces(shape);
	uint32_t across = shape->width > faces.width ? 2 : 1;

	for (uint32_t f = 0; f < faces.count; f++) {
		uint32_t first = f % across * faces.width;
		uint32_t valid = cols <= first ? 0 : cols - first;

		for (uint32_t r = 0; r < faces.height && valid < faces.width; r++)
			memset(tile + ((size_t)(f * faces.height + r) * faces.width + valid) *
					       bytes,
			       0, (faces.width - valid) * bytes);
	}
}

/* ---- one tile ----------------------------------------------------------------------------------- */

static const void *load(const struct walk *walk, uint32_t which, struct room *room, uint64_t strip,
			uint64_t tile)
{
	const struct strips *in = &walk->in[which];
	const struct tt_lane_kind *kind = &walk->work->kind;
	uint64_t number = strip * in->tiles + (in->one_col ? 0 : tile);
	const uint8_t *from = in->data + number * in->tile_bytes;
	union tt_lanes *lanes = &room->in[which];

	if (walk->work->in[which].constant || room->loaded[which] == number)
		return lanes;
	if (!in->one_row && !in->one_col && tt_lanes_are(kind, in->dtype))
		return from;
	tt_lanes_load_tile(kind, lanes, from, in->dtype, &walk->tile);
	if (in->one_row)
		spread_down((char *)lanes, &walk->tile, kind->bytes);
	if (in->one_col)
		spread_across((char *)lanes, &walk->tile, kind);
	room->loaded[which] = number;
	return lanes;
}

static void run_tile(const struct walk *walk, struct room *room, const uint64_t strip[4],
		     uint64_t tile)
{
	const struct tt_map_work *work = walk->work;
	const struct strips *out = &walk->out;
	size_t count = (size_t)walk->tile.height * walk->tile.width;
	uint8_t *to = out->data + (strip[3] * out->tiles + tile) * out->tile_bytes;
	bool direct = tt_lanes_are(&work->kind, out->dtype);
	void *result = direct ? (void *)to : &room->result;
	uint64_t cols = tt_shape_last(&work->out.shape, 1) - tile * walk->tile.width;
	const void *in[3] = {NULL, NULL, NULL};

	for (uint32_t k = 0; k < work->job->arity; k++)
		in[k] = load(walk, k, room, strip[k], tile);
	tt_map_apply(work, result, room->steps, in, count);
	if (direct)
		return;
	if (tt_dtype_is_block(out->dtype) && cols < walk->tile.width)
		clear_padding((char *)result, &walk->tile, (uint32_t)cols, work->kind.bytes);
	tt_lanes_store_tile(&work->kind, to, out->dtype, result, &walk->tile);
}

/* ---- all tiles ---------------------------------------------------------------------------------- */

/* Which strips of the operands go with this strip of the output, whose place is strip[3]. */
static void find_strips(uint64_t strip[4], const struct walk *walk, uint64_t number)
{
	uint64_t row = number % walk->strips_down, rest = number / walk->strips_down;

	strip[3] = row;
	for (uint32_t k = 0; k < 3; k++)
		strip[k] = row * walk->in[k].down;
	for (uint32_t d = walk->outer; d-- > 0;) {
		uint64_t index = rest % walk->work->out.shape.dim[d];

		rest /= walk->work->out.shape.dim[d];
		strip[3] += index * walk->out.step[d];
		for (uint32_t k = 0; k < 3; k++)
			strip[k] += index * walk->in[k].step[d];
	}
}

/*
 * Tiles are numbered through groups of strips, down a group first: so a tile that is spread down
 * serves the whole group.
 */
static void run_tiles(void *context, size_t begin, size_t end)
{
	const struct walk *walk = context;
	const struct tt_map_work *work = walk->work;
	uint64_t per_group = walk->group * walk->tiles_across, strip[4], found = UINT64_MAX;
	struct room room;

	memset(room.loaded, 0xff, sizeof(room.loaded));
	for (uint32_t k = 0; k < work->job->arity; k++)
		if (work->in[k].constant)
			tt_lanes_set(&work->kind, &room.in[k], work->in[k].value,
				     (size_t)walk->tile.height * walk->tile.width);
	for (uint64_t i = begin; i < end; i++) {
		uint64_t first = i / per_group * walk->group, left = walk->strips - first;
		uint64_t high = left < walk->group ? left : walk->group;
		uint64_t number = first + i % per_group % high;

		if (number != found)
			find_strips(strip, walk, number);
		found = number;
		run_tile(walk, &room, strip, i % per_group / high);
	}
}

void tt_map_tiles(const struct tt_map_work *work)
{
	const struct tt_area *out = &work->out;
	struct walk walk = {.work = work, .tile = out->tile, .group = 1};

	walk.outer = out->shape.rank > 2 ? out->shape.rank - 2 : 0;
	walk.out = strips_of(out, &out->shape);
	for (uint32_t k = 0; k < work->job->arity; k++)
		if (!work->in[k].constant) {
			walk.in[k] = strips_of(&work->in[k].area, &out->shape);
			if (walk.in[k].one_row && !walk.in[k].one_col)
				walk.group = GROUP;
		}
	/* Only what holds elements: tiles of nothing but padding stay as they are. */
	walk.strips_down = tt_div_up(tt_shape_last(&out->shape, 2), out->tile.height);
	walk.tiles_across = tt_div_up(tt_shape_last(&out->shape, 1), out->tile.width);
	walk.strips = walk.strips_down;
	for (uint32_t d = 0; d < walk.outer; d++)
		walk.strips *= out->shape.dim[d];
	tt_pool_for((size_t)(walk.strips * walk.tiles_across),
		    TT_CPU_GRAIN / (out->tile.width * out->tile.height), run_tiles, &walk);
}
