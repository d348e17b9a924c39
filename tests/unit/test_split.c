/* Work splits: against the library's answers, and properties of splits of any size. */
#include <inttypes.h>

#include "device/work_split.h"
#include "program_data.h"
#include "tensor/core.h"
#include "test.h"

#define ROWS TTNN_ORIENT_ROW_MAJOR
#define COLUMNS TTNN_ORIENT_COL_MAJOR

static enum ttnn_orientation order_at(const struct tt_json *array, size_t index)
{
	return data_uint_at(array, index) ? ROWS : COLUMNS;
}

/* The answer is a text, or a refusal as [condition, message]. */
static void compare_set(tt_status status, const ttnn_core_set *set, const struct tt_json *want)
{
	const char *text = tt_json_string(want, NULL);

	if (text ? status == TTNN_OK && strcmp(data_text(set), text) == 0
		 : status == TTNN_INVALID && data_error_is(want))
		return;
	TEST_FAIL("%s, not %s", status == TTNN_OK ? data_text(set) : ttnn_error(),
		  text ? text : tt_json_string(tt_json_at(want, 1), NULL));
}

static void compare_work(tt_status status, const struct tt_work_split *split,
			 const struct tt_json *want)
{
	CHECK_OK(status);
	if (status != TTNN_OK)
		return;
	CHECK_INT(split->cores, data_uint_at(want, 0));
	CHECK(split->all == data_set_at(want, 1));
	CHECK(split->group[0] == data_set_at(want, 2));
	CHECK(split->group[1] == data_set_at(want, 3));
	CHECK_INT(split->units[0], data_uint_at(want, 4));
	CHECK_INT(split->units[1], data_uint_at(want, 5));
}

static struct ttnn_core core_at(const struct tt_json *array, size_t index)
{
	return (struct ttnn_core){(uint32_t)data_uint_at(array, index),
				  (uint32_t)data_uint_at(array, index + 1)};
}

TEST(library_splits)
{
	struct tt_json_doc *doc = data_load("split");
	const struct tt_json *root = tt_json_root(doc);
	struct tt_json_iter it;
	const ttnn_core_set *set = NULL;
	struct tt_work_split work = {0};
	tt_status status;
	size_t n = 0;

	for (it = tt_json_iter(tt_json_get(root, "cores")); tt_json_next(&it); n++) {
		status = tt_split_cores(&set, core_at(it.value, 0), (struct ttnn_core){0, 0},
					data_uint_at(it.value, 3), order_at(it.value, 2));
		compare_set(status, set, tt_json_at(it.value, 4));
	}
	for (it = tt_json_iter(tt_json_get(root, "cores_in")); tt_json_next(&it); n++) {
		status = tt_split_cores_in(&set, data_set_at(it.value, 0),
					   core_at(tt_json_at(it.value, 1), 0),
					   data_uint_at(it.value, 3), order_at(it.value, 2));
		compare_set(status, set, tt_json_at(it.value, 4));
	}
	for (it = tt_json_iter(tt_json_get(root, "work")); tt_json_next(&it); n++) {
		status = tt_split_work(&work, core_at(it.value, 0), data_uint_at(it.value, 3),
				       order_at(it.value, 2));
		compare_work(status, &work, tt_json_at(it.value, 4));
	}
	for (it = tt_json_iter(tt_json_get(root, "work_in")); tt_json_next(&it); n++) {
		status = tt_split_work_in(&work, data_set_at(it.value, 0),
					  data_uint_at(it.value, 2), order_at(it.value, 1));
		compare_work(status, &work, tt_json_at(it.value, 3));
	}
	printf("splits: %zu answers as the library\n", n);
	CHECK_INT(n, 8410);
	tt_json_free(doc);
}

TEST(library_blocks)
{
	struct tt_json_doc *doc = data_load("blocks");
	struct tt_json_iter it = tt_json_iter(tt_json_get(tt_json_root(doc), "rows"));
	struct tt_block_split split = {0};
	size_t n = 0;

	for (; tt_json_next(&it); n++) {
		const struct tt_json *buffer = tt_json_at(tt_json_at(it.value, 5), 0);

		CHECK_OK(tt_split_blocks(&split, data_set_at(it.value, 0),
					 data_uint_at(it.value, 2), order_at(it.value, 1)));
		CHECK_STR(data_text(split.all), tt_json_string(tt_json_at(buffer, 1), NULL));
	}
	printf("blocks: the cores of %zu operations as the library\n", n);
	CHECK_INT(n, 598);
	tt_json_free(doc);
}

/* The buffers of a square split: wide blocks on the cores of full ones, narrow ones on the others. */
static void compare_squares(const struct tt_block_split_2d *split, const struct tt_json *buffers)
{
	const ttnn_core_set *wide, *narrow;
	size_t i = 0;

	CHECK_OK(tt_core_set_merge(&wide, split->full, split->cliff_col));
	CHECK_OK(tt_core_set_merge(&narrow, split->cliff_row, split->cliff_both));
	if (ttnn_core_set_cores(wide)) {
		CHECK_INT(split->sub_block, data_uint_at(tt_json_at(buffers, i), 0));
		CHECK(wide == data_set_at(tt_json_at(buffers, i), 1));
		i++;
	}
	if (ttnn_core_set_cores(narrow)) {
		CHECK_INT(split->row_rest, data_uint_at(tt_json_at(buffers, i), 0));
		CHECK(narrow == data_set_at(tt_json_at(buffers, i), 1));
		i++;
	}
	CHECK_INT(i, tt_json_count(buffers));
}

TEST(library_squares)
{
	struct tt_json_doc *doc = data_load("blocks");
	struct tt_json_iter it = tt_json_iter(tt_json_get(tt_json_root(doc), "squares"));
	size_t n = 0, limited = 0;

	for (; tt_json_next(&it); n++) {
		struct tt_block_area area = {.height = data_uint_at(it.value, 2),
					     .width = data_uint_at(it.value, 3),
					     .limit = data_uint_at(it.value, 4)};
		const struct tt_json *buffers = tt_json_at(it.value, 5);
		struct tt_block_split_2d split = {0};
		tt_status status;

		area.tiles = area.width * area.height;
		limited += area.limit != 0;
		area.limit = area.limit ? area.limit : TT_SPLIT_NO_LIMIT;
		status = tt_split_blocks_2d(&split, data_set_at(it.value, 0), &area,
					    order_at(it.value, 1));
		if (tt_json_kind(buffers) == TT_JSON_NULL) {
			CHECK_INT(status, TTNN_INVALID);
			CHECK_STR(ttnn_error(), "No solution found for single_block_size");
			CHECK_STR(tt_fail_condition(), "result.has_value()");
			continue;
		}
		CHECK_OK(status);
		compare_squares(&split, buffers);
	}
	printf("squares: the buffers of %zu operations as the library, %zu with a limit\n", n,
	       limited);
	CHECK_INT(n, 233);
	CHECK_INT(limited, 55);
	tt_json_free(doc);
}

/* ---- the documents' examples ---------------------------------------------------------------- */

TEST(examples)
{
	struct ttnn_core wormhole = {8, 8}, origin = {0, 0};
	const ttnn_core_set *set;
	struct tt_block_split blocks;

	CHECK_OK(tt_split_cores(&set, wormhole, origin, 12, COLUMNS));
	CHECK_STR(data_text(set), "{[0-0 - 0-7], [1-0 - 1-3]}");
	CHECK_OK(tt_split_cores(&set, wormhole, origin, 36, COLUMNS));
	CHECK_STR(data_text(set), "{[0-0 - 3-7], [4-0 - 4-3]}");
	CHECK_OK(tt_split_blocks(&blocks, data_set("{[0-0 - 7-7]}"), 12, COLUMNS));
	CHECK_STR(data_text(blocks.all), "{[0-0 - 1-3], [0-4 - 0-7]}");
	CHECK_OK(tt_split_singles(&set, data_set("{[0-0 - 7-7]}"), 10, ROWS));
	CHECK_STR(data_text(set),
		  "{[0-0 - 0-0], [0-1 - 0-1], [1-0 - 1-0], [1-1 - 1-1], [2-0 - 2-0], "
		  "[3-0 - 3-0], [4-0 - 4-0], [5-0 - 5-0], [6-0 - 6-0], [7-0 - 7-0]}");
	/* a start inside the grid: the rest of its line, full lines, the begin of another */
	CHECK_OK(tt_split_cores(&set, wormhole, (struct ttnn_core){5, 1}, 21, ROWS));
	CHECK_STR(data_text(set), "{[5-1 - 7-1], [0-2 - 7-3], [0-4 - 1-4]}");
	CHECK_INT(tt_split_divisor(60, 7), 6);
	CHECK_INT(tt_split_divisor(35, 8), 7);
	CHECK_INT(tt_split_divisor_no57(35, 8), 1);
	CHECK_INT(tt_split_divisor_no57(40, 8), 8);
	CHECK_INT(tt_split_divisor_no57(30, 5), 3);
	CHECK_INT(tt_split_divisor(13, 0), 1);
}

TEST(refusals)
{
	struct ttnn_core none = {0, 5}, origin = {0, 0};
	const ttnn_core_set *set, *empty = data_set("{}"), *grid = data_set("{[0-0 - 7-7]}");
	struct tt_work_split work;
	struct tt_block_split blocks;
	struct tt_block_split_2d squares;
	struct tt_block_area area = {.width = 64, .height = 2, .tiles = 128};

	CHECK_FAILS(tt_split_cores(&set, none, origin, 1, ROWS), TTNN_INVALID,
		    "Start core must be within grid size");
	CHECK_FAILS(
		tt_split_cores(&set, (struct ttnn_core){4, 4}, (struct ttnn_core){2, 3}, 3, ROWS),
		TTNN_INVALID,
		"Target number of cores 3 is greater than total number of available cores 2");
	CHECK_FAILS(tt_split_work(&work, none, 5, ROWS), TTNN_INVALID, "0 x 5 cores");
	CHECK_FAILS(tt_split_work_in(&work, empty, 5, ROWS), TTNN_INVALID,
		    "Core grid must contain at least one core");
	CHECK_OK(tt_split_work_in(&work, empty, 0, ROWS));
	CHECK_FAILS(tt_split_blocks(&blocks, empty, 5, ROWS), TTNN_INVALID, "at least one core");
	CHECK_FAILS(tt_split_blocks_2d(&squares, grid, &area, ROWS), TTNN_INVALID,
		    "single_block_size_limit must be at least 1");
	area.limit = TT_SPLIT_NO_LIMIT;
	CHECK_FAILS(tt_split_blocks_2d(&squares, data_set("{[3-3 - 3-3]}"), &area, ROWS),
		    TTNN_INVALID, "128 blocks of tiles need as many cores, but there are 1");
	area.width = 0;
	CHECK_FAILS(tt_split_blocks_2d(&squares, grid, &area, ROWS), TTNN_INVALID, "2 x 0 tiles");
	area.width = UINT64_MAX;
	CHECK_FAILS(tt_split_blocks_2d(&squares, grid, &area, ROWS), TTNN_INVALID, "cannot be cut");
	CHECK_FAILS(tt_split_singles(&set, grid, 65, ROWS), TTNN_INVALID,
		    "65 cores of a set that has 64");
	CHECK_OK(tt_split_singles(&set, grid, 0, ROWS));
	CHECK(set == empty);
}

/* ---- properties of splits of any size ------------------------------------------------------- */

/* A random set of up to four ranges that do not overlap. */
static const ttnn_core_set *random_set(uint64_t *state)
{
	struct ttnn_core_range ranges[4];
	size_t count = 1 + test_random(state) % 4, first = test_random(state) % 4;
	size_t step = test_random(state) % 2 ? 1 : 3;
	const ttnn_core_set *set;

	/* each in its own quarter of the grid */
	for (size_t i = 0; i < count; i++) {
		uint32_t quarter = (uint32_t)(first + i * step) % 4;
		uint32_t x = quarter % 2 * 6 + (uint32_t)(test_random(state) % 3);
		uint32_t y = quarter / 2 * 5 + (uint32_t)(test_random(state) % 3);

		ranges[i] = (struct ttnn_core_range){{x, y},
						     {x + (uint32_t)(test_random(state) % 3),
						      y + (uint32_t)(test_random(state) % 2)}};
	}
	CHECK_OK(ttnn_core_set_make(&set, ranges, count));
	return set;
}

/* The set holds exactly the cores number first .. first + count - 1 of the field. */
static bool holds(const ttnn_core_set *set, const ttnn_core_set *field, uint64_t first,
		  uint64_t count, enum ttnn_orientation order)
{
	if (ttnn_core_set_cores(set) != count)
		return false;
	for (uint64_t i = first; i < first + count; i++)
		if (!tt_core_set_contains(set, tt_core_set_at(field, i, order)))
			return false;
	return true;
}

TEST(random_work)
{
	uint64_t state = 77;

	for (int turn = 0; turn < 4000; turn++) {
		const ttnn_core_set *field = random_set(&state);
		enum ttnn_orientation order = turn % 2 ? ROWS : COLUMNS;
		uint64_t units = test_random(&state) % 200, cores = ttnn_core_set_cores(field);
		struct tt_work_split work;
		struct tt_block_split blocks;
		uint64_t first;

		CHECK_OK(tt_split_work_in(&work, field, units, order));
		first = ttnn_core_set_cores(work.group[0]);
		CHECK_INT(work.cores, units < cores ? units : cores);
		CHECK(holds(work.all, field, 0, work.cores, order));
		CHECK(holds(work.group[0], field, 0, first, order));
		CHECK(holds(work.group[1], field, first, work.cores - first, order));
		CHECK_INT(first * work.units[0] + (work.cores - first) * work.units[1], units);
		CHECK(first == work.cores || work.units[0] == work.units[1] + 1);
		CHECK_OK(tt_split_blocks(&blocks, field, units, order));
		first = ttnn_core_set_cores(blocks.full);
		CHECK(holds(blocks.all, field, 0, blocks.cores, order));
		CHECK(holds(blocks.full, field, 0, first, order));
		CHECK(holds(blocks.cliff, field, first, blocks.cores - first, order));
		CHECK_INT(first * blocks.share + (blocks.cores - first) * blocks.rest, units);
		CHECK(blocks.cores - first <= 1 && blocks.rest < (blocks.share ? blocks.share : 1));
	}
}

/* Every tile of the matrix is in one block, and every block on one core. */
TEST(random_squares)
{
	uint64_t state = 99;
	size_t done = 0;

	for (int turn = 0; turn < 3000; turn++) {
		struct tt_block_area area = {.width = 1 + test_random(&state) % 300,
					     .height = 1 + test_random(&state) % 300,
					     .limit = TT_SPLIT_NO_LIMIT};
		const ttnn_core_set *grid = data_set(turn % 3 ? "{[0-0 - 7-7]}" : "{[0-0 - 10-9]}");
		struct tt_block_split_2d s;
		uint64_t full, row, col, both;

		area.tiles = area.width * area.height;
		if (turn % 4 == 0)
			area.limit = 2 + test_random(&state) % 20;
		if (tt_split_blocks_2d(&s, grid, &area, COLUMNS) != TTNN_OK) {
			CHECK(area.limit != TT_SPLIT_NO_LIMIT);
			continue;
		}
		done++;
		full = ttnn_core_set_cores(s.full);
		row = ttnn_core_set_cores(s.cliff_row);
		col = ttnn_core_set_cores(s.cliff_col);
		both = ttnn_core_set_cores(s.cliff_both);
		CHECK_INT(full + row + col + both, s.cores);
		CHECK(holds(s.all, grid, 0, s.cores, COLUMNS));
		CHECK_INT(full * s.block * s.block + row * s.row_rest * s.block +
				  col * s.block * s.col_rest + both * s.row_rest * s.col_rest,
			  area.tiles);
		CHECK(s.block % s.sub_block == 0);
		CHECK(s.sub_block <= area.limit && s.row_rest < area.limit);
	}
	CHECK(done > 2500);
}

SCENARIO(memory_runs_out)
{
	const struct ttnn_core_range range = {{0, 0}, {10, 9}};
	struct ttnn_core_range many[40];
	struct tt_block_area area = {33, 5, 165, TT_SPLIT_NO_LIMIT};
	const ttnn_core_set *grid, *field, *set;
	struct tt_work_split work;
	struct tt_block_split blocks;
	struct tt_block_split_2d squares;

	for (uint32_t i = 0; i < 40; i++)
		many[i] = (struct ttnn_core_range){{i, 0}, {i, 1}};
	TT_TRY(ttnn_core_set_make(&grid, &range, 1));
	TT_TRY(ttnn_core_set_make(&field, many, 40));
	TT_TRY(tt_split_cores_in(&set, field, many[3].start, 70, COLUMNS));
	TT_TRY(tt_split_work_in(&work, field, 333, ROWS));
	TT_TRY(tt_split_work(&work, (struct ttnn_core){8, 8}, 100, COLUMNS));
	TT_TRY(tt_split_blocks(&blocks, grid, 300, COLUMNS));
	TT_TRY(tt_split_singles(&set, grid, 30, COLUMNS));
	return tt_split_blocks_2d(&squares, grid, &area, COLUMNS);
}
