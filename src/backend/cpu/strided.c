#include "backend/cpu/strided.h"

#include <string.h>

#include "base/deadline.h"
#include "base/pool.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

/* Blocks: long and low where elements lie side by side in both, else square. */
#define LONG 1024
#define SIDE 32
#define LINE_BYTES ((uint64_t)256 << 10) /* of a line without borders */
#define LOOPS_MOST (2 * TTNN_MAX_RANK)

/* ---- axes ------------------------------------------------------------------------------------- */

static struct tt_axis plain_axis(uint64_t stride)
{
	return (struct tt_axis){.tile = stride};
}

static uint32_t log2_of(uint32_t power)
{
	return (uint32_t)__builtin_ctz(power);
}

/* The axes of the last two dimensions: inside of tiles (tensor/layout.h draws them). */
static void tile_axes(struct tt_axis *row, struct tt_axis *col, const struct tt_area *area)
{
	const struct ttnn_tile *tile = &area->tile;
	struct tt_faces faces = tt_tile_faces(tile);
	uint64_t face = (uint64_t)faces.height * faces.width, whole = face * faces.count;
	uint64_t across = tile->width / faces.width, down = tile->height / faces.height;

	*row = (struct tt_axis){
		.tile_shift = log2_of(tile->height),
		.face_shift = log2_of(faces.height),
		.tile_mask = tile->height - 1,
		.face_mask = faces.height - 1,
		.tile = area->cols / tile->width * whole,
		.face = tile->transpose ? face : across * face,
		.unit = tile->transpose ? 1 : faces.width,
	};
	*col = (struct tt_axis){
		.tile_shift = log2_of(tile->width),
		.face_shift = log2_of(faces.width),
		.tile_mask = tile->width - 1,
		.face_mask = faces.width - 1,
		.tile = whole,
		.face = tile->transpose ? down * face : face,
		.unit = tile->transpose ? faces.height : 1,
	};
}

struct tt_strided_side tt_strided_of(const struct tt_area *area)
{
	struct tt_strided_side side = {.data = area->data, .rank = area->shape.rank};
	struct tt_axis row = plain_axis(area->cols), col = plain_axis(1);
	uint64_t per_row = area->cols; /* elements; in tiles only for whole tiles of rows */

	if (tt_area_is_tiled(area))
		tile_axes(&row, &col, area);
	for (uint32_t back = 1; back <= side.rank; back++) {
		uint32_t d = side.rank - back;

		side.axis[d] = back == 1   ? col
			       : back == 2 ? row
					   : plain_axis(area->step[d] * per_row);
	}
	return side;
}

/* ---- loops ------------------------------------------------------------------------------------ */

/* How a loop moves on one side: by a stride, or along an axis that is cut into tiles. */
struct motion {
	int64_t stride;             /* when there is no axis */
	const struct tt_axis *axis; /* NULL: none */
	uint32_t dim;
	int64_t step; /* of the index */
};

struct loop {
	uint64_t extent;
	struct motion out, in;
};

struct plan {
	const struct tt_strided *copy;
	uint32_t loop_count; /* outer loops, outermost first; x and y are not among them */
	struct loop loops[LOOPS_MOST], x, y;
	bool lines; /* x moves by one element on both sides */
	uint64_t x_block, y_block, x_blocks, y_blocks;
};

static struct motion motion_of(const struct tt_strided_side *side, int32_t dim, int64_t step)
{
	struct motion motion = {.step = step};

	if (dim < 0)
		return motion;
	motion.dim = (uint32_t)dim;
	if (side->axis[dim].tile_mask)
		motion.axis = &side->axis[dim];
	else
		motion.stride = (int64_t)side->axis[dim].tile * step;
	return motion;
}

static bool merges(const struct motion *outer, const struct motion *inner, uint64_t extent)
{
	return !outer->axis && !inner->axis && outer->stride == inner->stride * (int64_t)extent;
}

static tt_status add_loops(struct plan *plan)
{
	const struct tt_strided *copy = plan->copy;

	for (uint32_t i = 0; i < copy->loop_count; i++) {
		const struct tt_move_loop *from = &copy->loops[i];
		struct loop loop = {from->extent,
				    motion_of(&copy->out, from->out_dim, from->out_step),
				    motion_of(&copy->in, from->in_dim, from->in_step)};
		struct loop *last = plan->loop_count ? &plan->loops[plan->loop_count - 1] : NULL;

		if (loop.extent == 1)
			continue;
		if (last && merges(&last->out, &loop.out, loop.extent) &&
		    merges(&last->in, &loop.in, loop.extent)) {
			loop.extent *= last->extent;
			*last = loop;
			continue;
		}
		if (plan->loop_count == LOOPS_MOST)
			return tt_fail(TTNN_INTERNAL, "a copy of more than %d loops", LOOPS_MOST);
		plan->loops[plan->loop_count++] = loop;
	}
	return TTNN_OK;
}

/* How far apart the elements of a loop lie; 1 is side by side. */
static uint64_t spacing(const struct motion *motion)
{
	int64_t apart = motion->axis ? (int64_t)motion->axis->unit * motion->step : motion->stride;

	/* Backwards is never side by side, and staying is worse than any step. */
	return apart > 0 ? (uint64_t)apart : apart == 0 ? UINT64_MAX : (uint64_t)-apart + 1;
}

static bool same_axis(const struct motion *a, const struct motion *b)
{
	return a->axis && b->axis && a->dim == b->dim;
}

/* Takes the loop with the closest elements out of the plan, if x leaves one. */
static bool take_loop(struct loop *out, struct plan *plan, bool by_input, const struct loop *x)
{
	uint32_t best = UINT32_MAX;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = plan->loop_count; i-- > 0;) {
		struct loop *loop = &plan->loops[i];
		uint64_t apart = spacing(by_input ? &loop->in : &loop->out);

		if (x && (same_axis(&x->out, &loop->out) || same_axis(&x->in, &loop->in)))
			continue;
		if (best == UINT32_MAX || apart < least) {
			best = i;
			least = apart;
		}
	}
	if (best == UINT32_MAX)
		return false;
	*out = plan->loops[best];
	plan->loop_count--;
	memmove(&plan->loops[best], &plan->loops[best + 1],
		(plan->loop_count - best) * sizeof(plan->loops[0]));
	return true;
}

static tt_status make_plan(struct plan *plan)
{
	const struct loop once = {.extent = 1};

	TT_TRY(add_loops(plan));
	plan->x = plan->y = once;
	if (take_loop(&plan->x, plan, false, NULL)) {
		plan->lines = spacing(&plan->x.out) == 1 && spacing(&plan->x.in) == 1;
		(void)take_loop(&plan->y, plan, !plan->lines, &plan->x);
	}
	plan->x_block = plan->lines ? LONG : SIDE;
	plan->y_block = SIDE;
	if (plan->lines && !plan->x.out.axis && !plan->x.in.axis)
		plan->x_block = tt_div_up(LINE_BYTES, plan->copy->bytes);
	plan->x_blocks = tt_div_up(plan->x.extent, plan->x_block);
	plan->y_blocks = tt_div_up(plan->y.extent, plan->y_block);
	return TTNN_OK;
}

/* ---- places ----------------------------------------------------------------------------------- */

/* Where a block begins on one side. */
struct origin {
	uint64_t base;                /* what all loops but x and y add */
	int64_t index[TTNN_MAX_RANK]; /* of dimensions cut into tiles */
};

/* The index of every outer loop for block `number`, which counts x blocks, then y, then loops. */
static uint64_t outer_indices(uint64_t index[LOOPS_MOST], const struct plan *plan, uint64_t number)
{
	uint64_t inner = number % (plan->x_blocks * plan->y_blocks);

	number /= plan->x_blocks * plan->y_blocks;
	for (uint32_t i = plan->loop_count; i-- > 0;) {
		index[i] = number % plan->loops[i].extent;
		number /= plan->loops[i].extent;
	}
	return inner;
}

static struct origin origin_of(const struct plan *plan, const struct tt_strided_side *side,
			       const uint64_t index[LOOPS_MOST])
{
	bool is_in = side == &plan->copy->in;
	const struct motion *x = is_in ? &plan->x.in : &plan->x.out;
	const struct motion *y = is_in ? &plan->y.in : &plan->y.out;
	struct origin origin = {0};

	for (uint32_t d = 0; d < side->rank; d++) {
		origin.index[d] = side->start[d];
		if (!side->axis[d].tile_mask)
			origin.base += (uint64_t)side->start[d] * side->axis[d].tile;
	}
	for (uint32_t i = 0; i < plan->loop_count; i++) {
		const struct motion *motion = is_in ? &plan->loops[i].in : &plan->loops[i].out;

		if (motion->axis)
			origin.index[motion->dim] += (int64_t)index[i] * motion->step;
		else
			origin.base += (uint64_t)((int64_t)index[i] * motion->stride);
	}
	for (uint32_t back = 1; back <= 2 && back <= side->rank; back++) {
		uint32_t d = side->rank - back;

		if (side->axis[d].tile_mask && !(x->axis && x->dim == d) &&
		    !(y->axis && y->dim == d))
			origin.base += tt_axis_place(&side->axis[d], (uint64_t)origin.index[d]);
	}
	return origin;
}

/* What step `i` of a loop adds to the origin's base. */
static inline uint64_t place(const struct motion *motion, const struct origin *origin, uint64_t i)
{
	if (!motion->axis)
		return (uint64_t)((int64_t)i * motion->stride);
	return tt_axis_place(motion->axis,
			     (uint64_t)(origin->index[motion->dim] + (int64_t)i * motion->step));
}

/* ---- blocks ----------------------------------------------------------------------------------- */

struct block {
	uint8_t *out;
	const uint8_t *in;
	uint64_t x, y; /* the first step of both loops */
	uint32_t rows; /* steps of y; those of x are the caller's */
	struct origin out_at, in_at;
	uint64_t out_row[SIDE], in_row[SIDE]; /* what each step of y adds */
};

/* What each step of x adds. */
struct columns {
	uint64_t out[SIDE], in[SIDE];
	uint32_t count;
};

/* Elements that lie side by side on both sides. */
struct line {
	uint64_t out, in, length;
};

/* Elements from index `i` on to the next border between faces. */
static uint64_t until_border(const struct motion *motion, const struct origin *origin, uint64_t i)
{
	uint64_t mask;

	if (!motion->axis)
		return UINT64_MAX;
	mask = motion->axis->face_mask;
	return mask + 1 - (((uint64_t)origin->index[motion->dim] + i) & mask);
}

static uint32_t find_lines(struct line *lines, bool *regular, const struct plan *plan,
			   const struct block *block, uint64_t count)
{
	uint32_t found = 0;

	*regular = true;
	for (uint64_t i = 0; i < count; found++) {
		uint64_t at = block->x + i, length = count - i;
		uint64_t out = until_border(&plan->x.out, &block->out_at, at);
		uint64_t in = until_border(&plan->x.in, &block->in_at, at);

		length = length < out ? length : out;
		length = length < in ? length : in;
		lines[found] = (struct line){place(&plan->x.out, &block->out_at, at),
					     place(&plan->x.in, &block->in_at, at), length};
		*regular &= length == TT_FACE;
		i += length;
	}
	return found;
}

/* Lines that are rows of faces: the size is a constant where this is called. */
static inline void copy_faces(const struct block *block, const struct line *lines, uint32_t count,
			      size_t bytes)
{
	for (uint32_t row = 0; row < block->rows; row++)
		for (uint32_t i = 0; i < count; i++)
			memcpy(block->out + (block->out_row[row] + lines[i].out) * bytes,
			       block->in + (block->in_row[row] + lines[i].in) * bytes,
			       TT_FACE * bytes);
}

static void copy_lines(const struct plan *plan, const struct block *block, uint64_t count)
{
	struct line lines[2 * LONG / TT_FACE + 2];
	size_t bytes = plan->copy->bytes;
	bool regular;
	uint32_t found = find_lines(lines, &regular, plan, block, count);

	if (regular && bytes == 2) {
		copy_faces(block, lines, found, 2);
	} else if (regular && bytes == 4) {
		copy_faces(block, lines, found, 4);
	} else if (regular && bytes == 1) {
		copy_faces(block, lines, found, 1);
	} else {
		for (uint32_t row = 0; row < block->rows; row++)
			for (uint32_t i = 0; i < found; i++)
				memcpy(block->out + (block->out_row[row] + lines[i].out) * bytes,
				       block->in + (block->in_row[row] + lines[i].in) * bytes,
				       lines[i].length * bytes);
	}
}

/*
 * A square of as many elements as a vector has, turned over its diagonal: row i of the input becomes
 * column i of the output. Rows are interleaved with those half the square below, again and again.
 */
#define TURN(name, lane, count, low, high)                                                         \
	typedef lane name##_vector __attribute__((vector_size(16)));                               \
	static inline void name(uint8_t *const out[count], const uint8_t *const in[count])         \
	{                                                                                          \
		name##_vector a[count], b[count];                                                  \
                                                                                                   \
		for (int i = 0; i < (count); i++)                                                  \
			memcpy(&a[i], in[i], sizeof(a[i]));                                        \
		for (int done = 1; done < (count); done *= 2) {                                    \
			for (int i = 0; i < (count) / 2; i++) {                                    \
				b[2 * i] = __builtin_shufflevector(a[i], a[i + (count) / 2],       \
								   LIST low);                      \
				b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + (count) / 2],   \
								       LIST high);                 \
			}                                                                          \
			memcpy(a, b, sizeof(a));                                                   \
		}                                                                                  \
		for (int i = 0; i < (count); i++)                                                  \
			memcpy(out[i], &a[i], sizeof(a[i]));                                       \
	}
#define LIST(...) __VA_ARGS__
TURN(turn_4, uint32_t, 4, (0, 4, 1, 5), (2, 6, 3, 7))
TURN(turn_2, uint16_t, 8, (0, 8, 1, 9, 2, 10, 3, 11), (4, 12, 5, 13, 6, 14, 7, 15))
TURN(turn_1, uint8_t, 16, (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
     (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))

/* Whether `count` places from `from` on lie side by side. */
static inline bool is_line(const uint64_t *places, uint32_t from, uint32_t size, uint32_t limit)
{
	return from + size <= limit && places[from + size - 1] - places[from] == size - 1;
}

/* What columns [x, x + size) and rows [y, y + size) have, element by element. */
static inline void copy_some(const struct block *block, const struct columns *cols, uint32_t x,
			     uint32_t y, size_t bytes)
{
	uint32_t size = 16 / (uint32_t)bytes;

	for (uint32_t row = y; row < y + size && row < block->rows; row++)
		for (uint32_t col = x; col < x + size && col < cols->count; col++)
			memcpy(block->out + (block->out_row[row] + cols->out[col]) * bytes,
			       block->in + (block->in_row[row] + cols->in[col]) * bytes, bytes);
}

/*
 * Squares: where rows lie side by side in the input, and columns in the output, they are turned
 * over; others are copied element by element.
 */
static inline void copy_squares(const struct block *block, const struct columns *cols, size_t bytes,
				void (*turn)(uint8_t *const *out, const uint8_t *const *in))
{
	uint32_t size = 16 / (uint32_t)bytes;
	const uint8_t *in[16];
	uint8_t *out[16];

	for (uint32_t x = 0; x < cols->count; x += size)
		for (uint32_t y = 0; y < block->rows; y += size) {
			if (!is_line(block->in_row, y, size, block->rows) ||
			    !is_line(cols->out, x, size, cols->count)) {
				copy_some(block, cols, x, y, bytes);
				continue;
			}
			for (uint32_t i = 0; i < size; i++) {
				in[i] = block->in + (block->in_row[y] + cols->in[x + i]) * bytes;
				out[i] =
					block->out + (block->out_row[y + i] + cols->out[x]) * bytes;
			}
			turn(out, in);
		}
}

static void copy_elements(const struct plan *plan, const struct block *block, uint32_t count)
{
	struct columns cols = {.count = count};
	size_t bytes = plan->copy->bytes;

	for (uint32_t i = 0; i < count; i++) {
		cols.out[i] = place(&plan->x.out, &block->out_at, block->x + i);
		cols.in[i] = place(&plan->x.in, &block->in_at, block->x + i);
	}
	if (bytes == 2) {
		copy_squares(block, &cols, 2, turn_2);
	} else if (bytes == 4) {
		copy_squares(block, &cols, 4, turn_4);
	} else if (bytes == 1) {
		copy_squares(block, &cols, 1, turn_1);
	} else { /* whole tiles */
		for (uint32_t row = 0; row < block->rows; row++)
			for (uint32_t i = 0; i < count; i++)
				memcpy(block->out + (block->out_row[row] + cols.out[i]) * bytes,
				       block->in + (block->in_row[row] + cols.in[i]) * bytes,
				       bytes);
	}
}

static void copy_block(const struct plan *plan, uint64_t number)
{
	const struct tt_strided *copy = plan->copy;
	uint64_t index[LOOPS_MOST], inner = outer_indices(index, plan, number), cols;
	struct block block = {
		.x = inner % plan->x_blocks * plan->x_block,
		.y = inner / plan->x_blocks * plan->y_block,
		.out_at = origin_of(plan, &copy->out, index),
		.in_at = origin_of(plan, &copy->in, index),
	};
	uint64_t rows = plan->y.extent - block.y;

	block.out = copy->out.data + block.out_at.base * copy->bytes;
	block.in = copy->in.data + block.in_at.base * copy->bytes;
	block.rows = (uint32_t)(rows < plan->y_block ? rows : plan->y_block);
	for (uint32_t i = 0; i < block.rows; i++) {
		block.out_row[i] = place(&plan->y.out, &block.out_at, block.y + i);
		block.in_row[i] = place(&plan->y.in, &block.in_at, block.y + i);
	}
	cols = plan->x.extent - block.x;
	cols = cols < plan->x_block ? cols : plan->x_block;
	if (plan->lines)
		copy_lines(plan, &block, cols);
	else
		copy_elements(plan, &block, (uint32_t)cols);
}

static void copy_blocks(void *context, size_t begin, size_t end)
{
	for (uint64_t number = begin; number < end; number++)
		copy_block(context, number);
}

tt_status tt_strided_copy(const struct tt_strided *copy)
{
	struct plan plan = {.copy = copy};
	uint64_t blocks, block_bytes;
	size_t grain;

	for (uint32_t i = 0; i < copy->loop_count; i++)
		if (copy->loops[i].extent == 0)
			return TTNN_OK;
	TT_TRY(make_plan(&plan));
	blocks = plan.x_blocks * plan.y_blocks;
	for (uint32_t i = 0; i < plan.loop_count; i++)
		blocks *= plan.loops[i].extent;
	block_bytes = (plan.x.extent < plan.x_block ? plan.x.extent : plan.x_block) *
		      (plan.y.extent < plan.y_block ? plan.y.extent : plan.y_block) * copy->bytes;
	grain = (size_t)(4 * TT_CPU_GRAIN / block_bytes);
	tt_pool_for((size_t)blocks, grain ? grain : 1, copy_blocks, &plan);
	return tt_deadline_check();
}
