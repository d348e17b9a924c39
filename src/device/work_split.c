#include "device/work_split.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tensor/core.h"

/* A line begun in its middle, full lines, the begin of a line: what filling a rectangle gives. */
#define PIECES 3

/* Sets of up to this many ranges are filled without asking for memory. */
#define SMALL_SET 16

/* Tiles along an edge and altogether that no real tensor has; squares of edges are exact. */
#define EDGE_MAX (1u << 24)
#define TILES_MAX ((uint64_t)1 << 48)

/* Swaps x and y where lines are columns, so that the rest of the code knows rows only. */
static struct ttnn_core turn(struct ttnn_core core, enum ttnn_orientation order)
{
	return order == TTNN_ORIENT_ROW_MAJOR ? core : (struct ttnn_core){core.y, core.x};
}

static struct ttnn_core_range turn_range(struct ttnn_core_range range, enum ttnn_orientation order)
{
	return (struct ttnn_core_range){turn(range.start, order), turn(range.end, order)};
}

static struct ttnn_core_range rectangle(struct ttnn_core first, uint64_t width, uint64_t lines)
{
	return (struct ttnn_core_range){
		first, {first.x + (uint32_t)width - 1, first.y + (uint32_t)lines - 1}};
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* a / b, rounded up. */
static uint64_t share(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static tt_status empty_set(const ttnn_core_set **out)
{
	static const struct ttnn_core_range none;

	return ttnn_core_set_make(out, &none, 0);
}

/* ---- which cores ---------------------------------------------------------------------------- */

/* Writes the pieces of `range` that hold *left cores from `at` on, and takes them off *left. */
static size_t fill(struct ttnn_core_range *pieces, uint64_t *left, struct ttnn_core_range range,
		   struct ttnn_core at, enum ttnn_orientation order)
{
	uint64_t width, count, lines;
	size_t n = 0;

	range = turn_range(range, order);
	at = turn(at, order);
	width = (uint64_t)range.end.x - range.start.x + 1;
	if (at.x != range.start.x && *left) {
		count = smaller((uint64_t)range.end.x - at.x + 1, *left);
		pieces[n++] = rectangle(at, count, 1);
		*left -= count;
		at = (struct ttnn_core){range.start.x, at.y + 1};
	}
	lines = smaller((uint64_t)range.end.y + 1 - at.y, *left / width);
	if (lines) {
		pieces[n++] = rectangle(at, width, lines);
		*left -= lines * width;
		at.y += (uint32_t)lines;
	}
	if (*left && at.y <= range.end.y) {
		count = smaller(width, *left);
		pieces[n++] = rectangle(at, count, 1);
		*left -= count;
	}
	for (size_t i = 0; i < n; i++)
		pieces[i] = turn_range(pieces[i], order);
	return n;
}

tt_status tt_split_cores(const ttnn_core_set **out, struct ttnn_core grid, struct ttnn_core start,
			 uint64_t count, enum ttnn_orientation order)
{
	struct ttnn_core_range pieces[PIECES], all = {{0, 0}, {grid.x - 1, grid.y - 1}};
	struct ttnn_core size = turn(grid, order), at = turn(start, order);
	uint64_t room, left = count;
	size_t n;

	if (start.x >= grid.x || start.y >= grid.y)
		return tt_fail_cond(TTNN_INVALID,
				    "start_core.x < num_cores_x && start_core.y < num_cores_y",
				    "Start core must be within grid size");
	room = (uint64_t)(size.y - at.y) * size.x - at.x;
	if (count > room)
		return tt_fail_cond(TTNN_INVALID, "target_num_cores <= total_available_cores",
				    "Target number of cores %" PRIu64
				    " is greater than total number of available cores %" PRIu64,
				    count, room);
	n = fill(pieces, &left, all, start, order);
	return ttnn_core_set_make(out, pieces, n);
}

/* Fills the ranges of a set, beginning with the one that holds `start`; how many pieces. */
static size_t fill_set(struct ttnn_core_range *pieces, uint64_t *left, const ttnn_core_set *set,
		       struct ttnn_core start, enum ttnn_orientation order)
{
	size_t count, n = 0;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(set, &count);
	bool begun = false;

	for (size_t i = 0; i < count && *left; i++) {
		struct ttnn_core at = ranges[i].start;

		if (!begun) {
			if (!tt_core_range_contains(&ranges[i], start))
				continue;
			begun = true;
			at = start;
		}
		n += fill(&pieces[n], left, ranges[i], at, order);
	}
	return n;
}

tt_status tt_split_cores_in(const ttnn_core_set **out, const ttnn_core_set *set,
			    struct ttnn_core start, uint64_t count, enum ttnn_orientation order)
{
	struct ttnn_core_range few[PIECES * SMALL_SET], *pieces = few;
	uint64_t left = count;
	size_t ranges, n;
	tt_status status;

	ttnn_core_set_ranges(set, &ranges);
	if (count == 0)
		return tt_fail_cond(TTNN_INVALID, "target_num_cores > 0",
				    "Target number of cores must be greater than 0");
	if (count > ttnn_core_set_cores(set))
		return tt_fail_cond(TTNN_INVALID, "target_num_cores <= sub_core_grids.num_cores()",
				    "Target number of cores %" PRIu64
				    " is greater than total available cores %zu",
				    count, ttnn_core_set_cores(set));
	if (!tt_core_set_contains(set, start))
		return tt_fail_cond(TTNN_INVALID, "sub_core_grids.contains(start_core)",
				    "Start core must be inside sub_core_grids");
	if (ranges > SMALL_SET)
		pieces = tt_calloc(ranges, PIECES * sizeof(*pieces));
	if (!pieces)
		return tt_fail_nomem();
	n = fill_set(pieces, &left, set, start, order);
	status = left ? tt_fail_cond(TTNN_INVALID, "remaining == 0",
				     "Failed to assign all %" PRIu64 " requested cores", count)
		      : ttnn_core_set_make(out, pieces, n);
	if (pieces != few)
		tt_free(pieces);
	return status;
}

static int compare_cores(const void *left, const void *right)
{
	const struct ttnn_core_range *a = left, *b = right;

	if (a->start.x != b->start.x)
		return a->start.x < b->start.x ? -1 : 1;
	return (a->start.y > b->start.y) - (a->start.y < b->start.y);
}

/* The cores that are wanted, as a range each. */
struct singles {
	struct ttnn_core_range *data;
	size_t count;
};

static tt_status make_singles(const ttnn_core_set **out, struct singles *singles)
{
	if (singles->count)
		qsort(singles->data, singles->count, sizeof(*singles->data), compare_cores);
	return ttnn_core_set_make(out, singles->data, singles->count);
}

static void add_single(struct singles *singles, struct ttnn_core core)
{
	singles->data[singles->count++] = (struct ttnn_core_range){core, core};
}

tt_status tt_split_singles(const ttnn_core_set **out, const ttnn_core_set *set, uint64_t count,
			   enum ttnn_orientation order)
{
	struct singles singles = {0};
	tt_status status;

	if (count > ttnn_core_set_cores(set))
		return tt_fail(TTNN_INVALID, "%" PRIu64 " cores of a set that has %zu", count,
			       ttnn_core_set_cores(set));
	singles.data = tt_calloc(count ? count : 1, sizeof(*singles.data));
	if (!singles.data)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < count; i++)
		add_single(&singles, tt_core_set_at(set, i, order));
	status = make_singles(out, &singles);
	tt_free(singles.data);
	return status;
}

/* ---- units of work -------------------------------------------------------------------------- */

/* A grid, or the cores of a set. */
struct field {
	struct ttnn_core grid; /* 0 x 0: the set */
	const ttnn_core_set *set;
	uint64_t cores;
	enum ttnn_orientation order;
};

/* `count` cores of the field, beginning with number `first`. */
static tt_status pick(const ttnn_core_set **out, const struct field *field, uint64_t first,
		      uint64_t count)
{
	uint64_t line = turn(field->grid, field->order).x;
	struct ttnn_core start;

	if (!line) {
		start = tt_core_set_at(field->set, first, field->order);
		return tt_split_cores_in(out, field->set, start, count, field->order);
	}
	start = turn((struct ttnn_core){(uint32_t)(first % line), (uint32_t)(first / line)},
		     field->order);
	return tt_split_cores(out, field->grid, start, count, field->order);
}

static tt_status share_work(struct tt_work_split *out, const struct field *field, uint64_t units)
{
	struct tt_work_split split = {.cores = smaller(units, field->cores)};
	uint64_t more;

	TT_TRY(empty_set(&split.group[1]));
	if (units == 0) {
		split.all = split.group[0] = split.group[1];
		*out = split;
		return TTNN_OK;
	}
	if (units < field->cores)
		TT_TRY(pick(&split.all, field, 0, units));
	else if (field->set)
		split.all = field->set;
	else
		TT_TRY(tt_core_set_grid(&split.all, field->grid.x, field->grid.y));
	split.group[0] = split.all;
	split.units[0] = units / split.cores;
	more = units % split.cores;
	if (more) {
		TT_TRY(pick(&split.group[0], field, 0, more));
		TT_TRY(pick(&split.group[1], field, more, split.cores - more));
		split.units[1] = split.units[0]++;
	}
	*out = split;
	return TTNN_OK;
}

tt_status tt_split_work(struct tt_work_split *out, struct ttnn_core grid, uint64_t units,
			enum ttnn_orientation order)
{
	struct field field = {grid, NULL, (uint64_t)grid.x * grid.y, order};

	if (!grid.x || !grid.y)
		return tt_fail(TTNN_INVALID, "A grid of %u x %u cores has none for work", grid.x,
			       grid.y);
	return share_work(out, &field, units);
}

tt_status tt_split_work_in(struct tt_work_split *out, const ttnn_core_set *set, uint64_t units,
			   enum ttnn_orientation order)
{
	struct field field = {.set = set, .cores = ttnn_core_set_cores(set), .order = order};

	if (units && field.cores == 0)
		return tt_fail_cond(TTNN_INVALID, "max_num_cores > 0",
				    "Core grid must contain at least one core");
	return share_work(out, &field, units);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* As pick(), in the normal cut; 0 cores are the empty set. */
static tt_status pick_normal(const ttnn_core_set **out, const struct field *field, uint64_t first,
			     uint64_t count)
{
	if (count == 0)
		return empty_set(out);
	TT_TRY(pick(out, field, first, count));
	return tt_core_set_merge(out, *out, NULL);
}

static tt_status check_cores(const struct field *field)
{
	if (field->cores)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "max_num_cores > 0",
			    "Core grid must contain at least one core");
}

tt_status tt_split_blocks(struct tt_block_split *out, const ttnn_core_set *set, uint64_t blocks,
			  enum ttnn_orientation order)
{
	struct field field = {.set = set, .cores = ttnn_core_set_cores(set), .order = order};
	struct tt_block_split split = {0};
	uint64_t full;

	TT_TRY(check_cores(&field));
	if (blocks) {
		split.share = share(blocks, field.cores);
		split.cores = share(blocks, split.share);
		split.rest = blocks % split.share;
	}
	full = split.cores - (split.rest != 0);
	TT_TRY(pick_normal(&split.all, &field, 0, split.cores));
	TT_TRY(pick_normal(&split.full, &field, 0, full));
	TT_TRY(pick_normal(&split.cliff, &field, full, split.cores - full));
	*out = split;
	return TTNN_OK;
}

/* How many blocks of this edge cover the area. */
static uint64_t cover(const struct tt_block_area *area, uint64_t edge)
{
	return share(area->width, edge) * share(area->height, edge);
}

/* The smallest edge from that of a fair share on with which blocks are fewer than cores; 1 if none. */
static uint64_t square_edge(const struct tt_block_area *area, uint64_t per_core, uint64_t cores)
{
	uint64_t low = (uint64_t)sqrt((double)per_core), high;

	if (cores <= 1)
		return 1;
	if (low * low == per_core && cover(area, low) < cores)
		return low;
	/* more edge never gives more blocks, and that of the whole area leaves one */
	low++;
	high = area->width > area->height ? area->width : area->height;
	high = high > low ? high : low;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (cover(area, middle) < cores)
			high = middle;
		else
			low = middle + 1;
	}
	return low <= area->width * area->height ? low : 1;
}

/*
 * Blocks wider than a core can hold are worked on in sub-blocks. Of the pairs whose blocks have cores
 * enough, takes the one with most blocks, then with fewest sub-blocks in a block.
 */
static tt_status limited_edge(uint64_t *edge, uint64_t *sub, const struct tt_block_area *area,
			      uint64_t cores)
{
	uint64_t best_n = 0, best_blocks = 0;

	*edge = *sub = area->limit;
	if (cover(area, area->limit) < cores)
		return TTNN_OK;
	for (uint64_t width = area->limit - 1; width >= 1; width--) {
		uint64_t last = share(area->width, width), n = 2, blocks = 0;

		/* with more sub-blocks in a block there are never more blocks: the first n counts */
		for (; n <= last; n++) {
			blocks = cover(area, n * width);
			if (blocks <= cores && area->width % (n * width) < area->limit)
				break;
		}
		if (n > last ||
		    (best_n && (blocks < best_blocks || (blocks == best_blocks && n >= best_n))))
			continue;
		best_n = n;
		best_blocks = blocks;
		*edge = n * width;
		*sub = width;
	}
	if (best_n)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "result.has_value()",
			    "No solution found for single_block_size");
}

/* The cores of a checkerboard: those whose column is (not) the last, and whose row is (not). */
static tt_status pick_blocks(const ttnn_core_set **out, const struct field *field,
			     const struct tt_block_split_2d *split, bool row_end, bool col_end)
{
	uint64_t columns = split->full_in_row + (split->row_rest != 0);
	struct singles singles = {tt_calloc(split->cores, sizeof(*singles.data)), 0};
	tt_status status;

	if (!singles.data)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < split->cores; i++)
		if ((i % columns >= split->full_in_row) == row_end &&
		    (i / columns >= split->full_in_col) == col_end)
			add_single(&singles, tt_core_set_at(field->set, i, field->order));
	status = make_singles(out, &singles);
	tt_free(singles.data);
	return status == TTNN_OK ? tt_core_set_merge(out, *out, NULL) : status;
}

static tt_status check_area(const struct tt_block_area *area)
{
	if (area->limit == 0)
		return tt_fail_cond(TTNN_INVALID, "single_block_size_limit >= 1",
				    "single_block_size_limit must be at least 1");
	if (!area->tiles || area->tiles > TILES_MAX || !area->width || !area->height ||
	    area->width > EDGE_MAX || area->height > EDGE_MAX)
		return tt_fail(TTNN_INVALID,
			       "A matrix of %" PRIu64 " x %" PRIu64
			       " tiles cannot be cut into blocks",
			       area->height, area->width);
	return TTNN_OK;
}

tt_status tt_split_blocks_2d(struct tt_block_split_2d *out, const ttnn_core_set *set,
			     const struct tt_block_area *area, enum ttnn_orientation order)
{
	struct field field = {.set = set, .cores = ttnn_core_set_cores(set), .order = order};
	struct tt_block_split_2d split = {0};

	TT_TRY(check_cores(&field));
	TT_TRY(check_area(area));
	split.block = square_edge(area, share(area->tiles, field.cores), field.cores);
	split.sub_block = split.block;
	split.per_core = split.block * split.block;
	if (split.block > area->limit) {
		TT_TRY(limited_edge(&split.block, &split.sub_block, area, field.cores));
		split.per_core = share(area->tiles, field.cores);
	}
	split.cores = cover(area, split.block);
	if (split.cores > field.cores)
		return tt_fail(TTNN_INVALID,
			       "%" PRIu64
			       " blocks of tiles need as many cores, but there are %" PRIu64,
			       split.cores, field.cores);
	split.full_in_row = area->width / split.block;
	split.full_in_col = area->height / split.block;
	split.row_rest = area->width % split.block;
	split.col_rest = area->height % split.block;
	TT_TRY(pick_normal(&split.all, &field, 0, split.cores));
	TT_TRY(pick_blocks(&split.full, &field, &split, false, false));
	TT_TRY(pick_blocks(&split.cliff_row, &field, &split, true, false));
	TT_TRY(pick_blocks(&split.cliff_col, &field, &split, false, true));
	TT_TRY(pick_blocks(&split.cliff_both, &field, &split, true, true));
	*out = split;
	return TTNN_OK;
}

/* ---- divisors ------------------------------------------------------------------------------- */

uint64_t tt_split_divisor(uint64_t value, uint64_t max)
{
	for (uint64_t divisor = smaller(value, max); divisor > 1; divisor--)
		if (value % divisor == 0)
			return divisor;
	return 1;
}

uint64_t tt_split_divisor_no57(uint64_t value, uint64_t max)
{
	for (uint64_t divisor = smaller(value, max); divisor > 1; divisor--)
		if (divisor != 5 && divisor != 7 && value % divisor == 0)
			return divisor;
	return 1;
}
