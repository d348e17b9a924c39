/* cores, ranges and sets, against recorded answers and against bitmaps. @threads */
#include "test.h"

#include <pthread.h>

#include "values.h"

#include "tensor/text.h"

#define GRID 8

/* The cores of a set as a bitmap, counted one by one. */
static uint64_t bitmap(const ttnn_core_set *set)
{
	uint64_t bits = 0;
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(set, &count);

	for (size_t i = 0; i < count; i++)
		for (uint32_t y = ranges[i].start.y; y <= ranges[i].end.y; y++)
			for (uint32_t x = ranges[i].start.x; x <= ranges[i].end.x; x++)
				bits |= (uint64_t)1 << (y * GRID + x);
	return bits;
}

static void check_list(const struct tt_json *want, const ttnn_core_set *set,
		       enum ttnn_orientation orientation)
{
	struct ttnn_core cores[GRID * GRID];
	struct tt_json_iter it = tt_json_iter(want);
	size_t count = tt_core_set_list(cores, GRID * GRID, set, orientation), i = 0;

	CHECK_INT(count, tt_json_count(want));
	for (; tt_json_next(&it) && i < count; i++) {
		struct ttnn_core at = tt_core_set_at(set, i, orientation);
		uint64_t x = 0, y = 0;

		CHECK(tt_json_uint(&x, tt_json_at(it.value, 0)) &&
		      tt_json_uint(&y, tt_json_at(it.value, 1)));
		CHECK(cores[i].x == x && cores[i].y == y && at.x == x && at.y == y);
	}
}

static void check_row(const struct tt_json *row)
{
	const ttnn_core_set *a = row_cores(tt_json_get(row, "a"));
	const ttnn_core_set *b = row_cores(tt_json_get(row, "b"));
	const ttnn_core_set *merged = NULL, *normal = NULL, *rest = NULL, *common = NULL;
	struct ttnn_core_range box, want;
	struct tt_str text = {0};
	size_t one = 0;

	CHECK_OK(tt_core_set_merge(&merged, a, b));
	CHECK(merged == row_cores(tt_json_get(row, "merge")));
	CHECK_OK(tt_core_set_merge(&normal, a, NULL));
	CHECK(normal == row_cores(tt_json_get(row, "normal")));
	CHECK_OK(tt_core_set_subtract(&rest, a, b));
	CHECK(rest == row_cores(tt_json_get(row, "subtract")));
	CHECK_OK(tt_core_set_intersect(&common, a, b));
	CHECK(bitmap(common) == (bitmap(a) & bitmap(b)));
	CHECK(bitmap(merged) == (bitmap(a) | bitmap(b)));
	CHECK(bitmap(rest) == (bitmap(a) & ~bitmap(b)));
	CHECK_INT(ttnn_core_set_cores(a), __builtin_popcountll(bitmap(a)));
	CHECK_INT(tt_core_set_includes(a, b), (bitmap(b) & ~bitmap(a)) == 0);
	CHECK(tt_core_set_includes(merged, a) && tt_core_set_includes(a, rest));
	for (uint32_t i = 0; i < GRID * GRID; i++)
		CHECK_INT(tt_core_set_contains(a, (struct ttnn_core){i % GRID, i / GRID}),
			  bitmap(a) >> i & 1);
	check_list(tt_json_get(row, "rows"), a, TTNN_ORIENT_ROW_MAJOR);
	check_list(tt_json_get(row, "columns"), a, TTNN_ORIENT_COL_MAJOR);
	if (tt_json_get(row, "box")) {
		const struct tt_json *corners = tt_json_get(row, "box");
		uint64_t n[4] = {0};

		for (size_t i = 0; i < 4; i++)
			CHECK(tt_json_uint(&n[i], tt_json_at(corners, i)));
		want = (struct ttnn_core_range){{(uint32_t)n[0], (uint32_t)n[1]},
						{(uint32_t)n[2], (uint32_t)n[3]}};
		CHECK_OK(tt_core_set_box(&box, a));
		CHECK(memcmp(&box, &want, sizeof(box)) == 0);
		CHECK(ttnn_core_set_ranges(a, &one) && one > 0);
	}
	tt_text_core_set(&text, a, TTNN_DIALECT_TT_METAL);
	CHECK_STR(tt_str_text(&text), tt_json_string(tt_json_get(row, "text"), NULL));
	tt_str_deinit(&text);
}

TEST(recorded_sets)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t rows = 0;

	CHECK_OK(tt_json_load(&doc, VALUES_DATA "core_sets.json.gz"));
	it = tt_json_iter(tt_json_root(doc));
	for (; tt_json_next(&it); rows++)
		check_row(it.value);
	printf("%zu recorded pairs of core sets compared\n", rows);
	CHECK_INT(rows, 400);
	tt_json_free(doc);
}

TEST(equal_sets_are_one_object)
{
	struct ttnn_core_range ranges[] = {{{0, 0}, {3, 3}}, {{5, 5}, {6, 6}}};
	struct ttnn_core_range transposed[] = {ranges[1], ranges[0]};
	const ttnn_core_set *a = NULL, *b = NULL, *c = NULL, *empty = NULL, *grid = NULL;

	CHECK_OK(ttnn_core_set_make(&a, ranges, 2));
	CHECK_OK(ttnn_core_set_make(&b, ranges, 2));
	CHECK_OK(ttnn_core_set_make(&c, transposed, 2));
	CHECK(a == b && a != c);
	CHECK(tt_core_set_hash(a) != tt_core_set_hash(c));
	CHECK_INT(ttnn_core_set_cores(a), 20);
	CHECK_OK(ttnn_core_set_make(&empty, NULL, 0));
	CHECK_INT(ttnn_core_set_cores(empty), 0);
	CHECK_OK(tt_core_set_grid(&grid, 8, 7));
	CHECK_INT(ttnn_core_set_cores(grid), 56);
	CHECK(ttnn_core_set_ranges(grid, NULL)->end.y == 6);
}

/* 36 cores, filled column by column, as circular buffers and as dataflow buffers show them. */
TEST(two_cuts_of_one_set)
{
	struct ttnn_core_range ranges[] = {{{0, 0}, {3, 7}}, {{4, 0}, {4, 3}}};
	const ttnn_core_set *given = NULL, *normal = NULL;
	struct tt_str text = {0};

	CHECK_OK(ttnn_core_set_make(&given, ranges, 2));
	CHECK_OK(tt_core_set_merge(&normal, given, NULL));
	tt_text_core_set(&text, given, TTNN_DIALECT_TT_METAL);
	tt_text_core_set(&text, normal, TTNN_DIALECT_TT_METAL);
	CHECK_STR(tt_str_text(&text), "{[0-0 - 3-7], [4-0 - 4-3]}{[0-0 - 4-3], [0-4 - 3-7]}");
	tt_str_deinit(&text);
}

TEST(bad_sets_are_refused)
{
	struct ttnn_core_range backwards = {{3, 3}, {2, 2}};
	struct ttnn_core_range overlap[] = {{{0, 0}, {3, 3}}, {{2, 2}, {4, 4}}};
	struct ttnn_core_range absurd = {{0, 0}, {UINT32_MAX, UINT32_MAX}};
	struct ttnn_core_range tall[] = {{{0, 0}, {0, UINT32_MAX - 1}}, {{1, 5}, {1, 5}}};
	const ttnn_core_set *set = NULL, *empty = NULL;
	struct ttnn_core_range box;

	CHECK_FAILS(ttnn_core_set_make(&set, &backwards, 1), TTNN_INVALID,
		    "Invalid core range for start_coord: 3-3, end_coord: 2-2");
	CHECK_FAILS(ttnn_core_set_make(&set, overlap, 2), TTNN_INVALID,
		    "core ranges [0-0 - 3-3] and [2-2 - 4-4] overlap!");
	CHECK_STR(tt_fail_condition(), "tt::exception");
	CHECK_FAILS(ttnn_core_set_make(&set, &absurd, 1), TTNN_INVALID, "absurd");
	CHECK_FAILS(ttnn_core_set_make(&set, &absurd, SIZE_MAX / 2), TTNN_INVALID, "at most");
	CHECK_FAILS(tt_core_set_grid(&set, 0, 4), TTNN_INVALID, "empty");
	CHECK_OK(ttnn_core_set_make(&empty, NULL, 0));
	CHECK_FAILS(tt_core_set_box(&box, empty), TTNN_INVALID, "empty CoreRangeSet");
	CHECK(!set);
	CHECK_OK(ttnn_core_set_make(&set, tall, 1)); /* large, but a set; merging it is no loop */
	CHECK_OK(tt_core_set_merge(&set, set, NULL));
	CHECK_INT(ttnn_core_set_cores(set), UINT32_MAX);
	CHECK_FAILS(ttnn_core_set_make(&set, tall, 2), TTNN_INVALID, "absurd");
}

/* Every step towards a new set runs out of memory once; then the set is made all the same. */
TEST(interning_survives_exhaustion)
{
	size_t before = tt_core_set_count();
	const ttnn_core_set *set = NULL;

	for (uint32_t i = 0; i < 300; i++) {
		struct ttnn_core_range range = {{i, 1000}, {i, 1000 + i % 3}};
		tt_status status = TTNN_NOMEM;

		for (uint64_t n = 1; status != TTNN_OK && n < 10; n++) {
			tt_mem_fail_at(n);
			status = ttnn_core_set_make(&set, &range, 1);
			CHECK(status == TTNN_OK || (status == TTNN_NOMEM && tt_mem_failed()));
		}
		tt_mem_fail_at(0);
		CHECK_OK(status);
		CHECK_INT(ttnn_core_set_cores(set), 1 + i % 3);
	}
	CHECK_INT(tt_core_set_count() - before, 300);
}

static void *make_sets(void *argument)
{
	const ttnn_core_set **out = argument;

	for (uint32_t i = 0; i < 500; i++) {
		struct ttnn_core_range range = {{i, 2000}, {i + i % 7, 2000 + i % 5}};

		if (ttnn_core_set_make(&out[i], &range, 1) != TTNN_OK ||
		    ttnn_core_set_cores(out[i]) != (1 + i % 7) * (1 + i % 5))
			return NULL;
	}
	return out;
}

TEST(threads_share_sets)
{
	static const ttnn_core_set *made[8][500];
	pthread_t threads[8];
	void *result;

	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&threads[i], NULL, make_sets, (void *)made[i]) == 0);
	for (int i = 0; i < 8; i++) {
		CHECK(pthread_join(threads[i], &result) == 0 && result);
		CHECK(memcmp(made[i], made[0], sizeof(made[0])) == 0);
	}
}

SCENARIO(set_operations)
{
	struct ttnn_core_range a_ranges[] = {{{0, 0}, {3, 3}}, {{5, 5}, {6, 6}}, {{4, 0}, {4, 2}}};
	struct ttnn_core_range b_range = {{2, 2}, {5, 5}};
	const ttnn_core_set *a = NULL, *b = NULL, *out = NULL;

	TT_TRY(ttnn_core_set_make(&a, a_ranges, 3));
	TT_TRY(ttnn_core_set_make(&b, &b_range, 1));
	TT_TRY(tt_core_set_merge(&out, a, b));
	TT_TRY(tt_core_set_subtract(&out, a, b));
	TT_TRY(tt_core_set_intersect(&out, a, b));
	return TTNN_OK;
}
