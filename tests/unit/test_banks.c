/* which core has which bank: the shuffle of L1, DRAM, absurd grids */
#include "test.h"

#include "device/banks.h"

/* As g++ programs shuffle, and as recorded from the released library. */
static const uint32_t perm64[] = {34, 63, 38, 6,  52, 33, 4,  37, 20, 35, 14, 22, 2,  31, 36, 19,
				  30, 40, 3,  10, 25, 7,  59, 56, 39, 24, 50, 12, 21, 42, 29, 5,
				  61, 0,  26, 54, 1,  9,  15, 13, 18, 58, 8,  46, 27, 51, 16, 53,
				  62, 45, 44, 43, 41, 17, 55, 60, 49, 48, 57, 32, 47, 23, 11, 28};
static const uint32_t perm56[] = {34, 28, 38, 6,  52, 33, 4,  37, 20, 35, 14, 22, 2,  31,
				  36, 19, 30, 40, 3,  10, 25, 7,  32, 49, 39, 24, 50, 12,
				  21, 42, 29, 5,  23, 0,  26, 54, 1,  9,  15, 13, 18, 48,
				  8,  46, 27, 51, 16, 53, 11, 45, 44, 43, 41, 17, 55, 47};
static const uint32_t perm110[] = {
	81, 63,  38,  66, 95,  33,  90,  37,  20, 35, 14,  22,  67, 73, 36, 19, 30, 109, 3,
	10, 99,  103, 59, 70,  104, 24,  96,  12, 78, 106, 29,  5,  61, 0,  26, 54, 85,  9,
	15, 108, 18,  58, 101, 98,  107, 51,  83, 87, 62,  102, 68, 43, 41, 17, 55, 75,  91,
	88, 92,  32,  47, 84,  11,  28,  40,  86, 65, 2,   79,  93, 56, 7,  16, 31, 49,  69,
	76, 100, 21,  44, 25,  82,  34,  72,  94, 1,  6,   53,  89, 48, 4,  74, 57, 60,  23,
	52, 50,  27,  46, 80,  39,  8,   105, 71, 77, 45,  42,  97, 13, 64};
static const uint32_t perm63[] = {35, 29, 39, 10, 60, 9, 8, 58};

static void check_shuffle(uint32_t count, const uint32_t *want, uint32_t known)
{
	uint32_t numbers[256] = {0};

	tt_banks_shuffle(numbers, count);
	for (uint32_t i = 0; i < known; i++)
		if (numbers[i] != want[i])
			TEST_FAIL("number %u of %u is %u, not %u", i, count, numbers[i], want[i]);
}

TEST(shuffles_of_the_known_grids)
{
	check_shuffle(64, perm64, 64);
	check_shuffle(56, perm56, 56);
	check_shuffle(110, perm110, 110);
	check_shuffle(63, perm63, 8);
	check_shuffle(0, NULL, 0);
	check_shuffle(1, (const uint32_t[]){0}, 1);
}

TEST(cores_of_the_first_banks)
{
	static const struct {
		uint32_t width, height, count;
		struct ttnn_core cores[8];
	} grids[] = {
		{8, 8, 8, {{1, 4}, {4, 4}, {4, 1}, {2, 2}, {6, 0}, {7, 3}, {3, 0}, {5, 2}}},
		{11, 10, 8, {{0, 3}, {8, 7}, {1, 6}, {7, 1}, {2, 8}, {9, 2}, {9, 7}, {5, 6}}},
		{12, 10, 4, {{9, 2}, {1, 7}, {7, 5}, {2, 9}}},
		{13, 10, 4, {{7, 2}, {7, 6}, {8, 9}, {6, 8}}},
	};

	for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		struct tt_banks banks;

		CHECK_OK(tt_banks_init_l1(&banks, grids[i].width, grids[i].height));
		CHECK_INT(banks.count, grids[i].width * grids[i].height);
		for (uint32_t b = 0; b < grids[i].count; b++) {
			CHECK_INT(banks.cores[b].x, grids[i].cores[b].x);
			CHECK_INT(banks.cores[b].y, grids[i].cores[b].y);
		}
		tt_banks_deinit(&banks);
	}
}

TEST(every_grid_is_a_permutation)
{
	for (uint32_t width = 1; width <= 17; width++)
		for (uint32_t height = 1; height <= 12; height++) {
			struct tt_banks banks;
			bool seen[17 * 12] = {false};
			uint32_t bank;

			CHECK_OK(tt_banks_init_l1(&banks, width, height));
			for (uint32_t k = 0; k < width * height; k++) {
				struct ttnn_core core = {k % width, k / width};

				CHECK(tt_banks_find(&bank, &banks, core) && !seen[bank]);
				seen[bank] = true;
				CHECK(banks.cores[bank].x == core.x &&
				      banks.cores[bank].y == core.y);
			}
			CHECK(!tt_banks_find(&bank, &banks, (struct ttnn_core){width, 0}));
			CHECK(!tt_banks_find(&bank, &banks, (struct ttnn_core){0, height}));
			tt_banks_deinit(&banks);
		}
}

TEST(dram_banks_are_a_row)
{
	struct tt_banks banks;
	uint32_t bank = 99;

	CHECK_OK(tt_banks_init_dram(&banks, 12));
	CHECK(tt_banks_find(&bank, &banks, (struct ttnn_core){11, 0}) && bank == 11);
	CHECK(!tt_banks_find(&bank, &banks, (struct ttnn_core){12, 0}));
	CHECK(!tt_banks_find(&bank, &banks, (struct ttnn_core){0, 1}));
	tt_banks_deinit(&banks);
	CHECK_OK(tt_banks_init_dram(&banks, 0));
	CHECK(!tt_banks_find(&bank, &banks, (struct ttnn_core){0, 0}));
	tt_banks_deinit(&banks);
	CHECK_FAILS(tt_banks_init_l1(&banks, UINT32_MAX, UINT32_MAX), TTNN_INVALID, "more than");
}

SCENARIO(banks_survive_exhaustion)
{
	struct tt_banks banks;

	TT_TRY(tt_banks_init_l1(&banks, 8, 8));
	tt_banks_deinit(&banks);
	return TTNN_OK;
}
