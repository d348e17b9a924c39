/* arena, string builder, growable array, hash map, status messages, the allocation door */
#include "test.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

TEST(status_names_and_messages)
{
	CHECK_STR(ttnn_status_name(TTNN_OK), "OK");
	CHECK_STR(ttnn_status_name(TTNN_DEVICE_OOM), "DEVICE_OOM");
	CHECK_STR(ttnn_status_name((enum ttnn_status)999), "?");
	CHECK_INT(tt_fail(TTNN_INVALID, "bad %d", 7), TTNN_INVALID);
	CHECK_STR(ttnn_error(), "bad 7");
	CHECK_STR(tt_fail_condition(), "");
	CHECK_INT(tt_fail_prefix(TTNN_INVALID, "file %s", "x"), TTNN_INVALID);
	CHECK_STR(ttnn_error(), "file x: bad 7");
	tt_fail_cond(TTNN_INVALID, "a > b", "a is %d", 1);
	CHECK_STR(tt_fail_condition(), "a > b");
	tt_fail(TTNN_IO, "gone");
	CHECK_STR(tt_fail_condition(), "");
}

TEST(arena_blocks_are_aligned_and_disjoint)
{
	struct tt_arena arena = {0};
	char *blocks[300];

	for (size_t i = 0; i < 300; i++) {
		blocks[i] = tt_arena_alloc(&arena, i * 7);
		CHECK(blocks[i] && (uintptr_t)blocks[i] % 16 == 0);
		memset(blocks[i], (int)i, i * 7);
	}
	for (size_t i = 0; i < 300; i++)
		for (size_t k = 0; k < i * 7; k++)
			if ((unsigned char)blocks[i][k] != (unsigned char)i) {
				TEST_FAIL("block %zu was overwritten", i);
				break;
			}
	CHECK(!tt_arena_alloc(&arena, SIZE_MAX - 3));
	CHECK(!tt_arena_calloc(&arena, SIZE_MAX / 2, 3));
	CHECK_STR(tt_arena_printf(&arena, "%d-%s", 5, "x"), "5-x");
	tt_arena_reset(&arena);
	CHECK_INT(arena.bytes, 0);
	CHECK(tt_arena_alloc(&arena, 10));
	tt_arena_deinit(&arena);
}

TEST(strings_grow)
{
	struct tt_str str = {0};
	char *text = NULL;

	CHECK_STR(tt_str_text(&str), "");
	for (int i = 0; i < 1000; i++)
		tt_str_addf(&str, "%d,", i);
	CHECK_INT(str.length, 3890);
	tt_str_clear(&str);
	tt_str_addu(&str, 0);
	tt_str_addu(&str, UINT64_MAX);
	tt_str_addc(&str, '!');
	CHECK_OK(tt_str_take(&text, &str));
	CHECK_STR(text, "018446744073709551615!");
	tt_free(text);
}

TEST(map_keeps_insertion_order)
{
	struct tt_map map = {0};
	char key[32];
	bool added;

	for (uint64_t i = 0; i < 5000; i++) {
		struct tt_map_entry *entry;

		snprintf(key, sizeof(key), "key %" PRIu64, i * 7919);
		entry = tt_map_add(&map, key, strlen(key), &added);
		CHECK(entry && added);
		if (entry)
			entry->number = i;
	}
	CHECK_INT(map.count, 5000);
	for (uint64_t i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "key %" PRIu64, i * 7919);
		CHECK(tt_map_finds(&map, key) && tt_map_finds(&map, key)->number == i);
		CHECK_STR(map.entries[i].key, key);
	}
	CHECK(!tt_map_finds(&map, "key 1"));
	CHECK(tt_map_add(&map, "", 0, &added) && added);
	CHECK(tt_map_add(&map, "", 0, &added) && !added);
	CHECK(tt_map_add(&map, "a\0b", 3, &added) && added);
	CHECK(!tt_map_find(&map, "a", 1));
	tt_map_clear(&map);
	CHECK(!tt_map_finds(&map, "key 0"));
	tt_map_deinit(&map);
}

TEST(hash_depends_on_every_byte)
{
	char bytes[40] = {0};
	uint64_t zero = tt_hash(0, bytes, sizeof(bytes));

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		CHECK(tt_hash(0, bytes, sizeof(bytes)) != zero);
		bytes[i] = 0;
	}
	CHECK(tt_hash(0, "a", 1) != tt_hash(0, "a\0", 2));
}

TEST(the_door_counts_and_refuses)
{
	void *block;

	tt_mem_watch(true);
	block = tt_alloc(10);
	CHECK_INT(tt_mem_live(), 1);
	tt_mem_fail_at(2);
	tt_free(tt_alloc(1));
	CHECK(!tt_mem_failed());
	CHECK(!tt_realloc(block, 1000));
	CHECK(tt_mem_failed());
	tt_free(block);
	CHECK_INT(tt_mem_live(), 0);
	CHECK(!tt_calloc(SIZE_MAX / 2, 4));
	tt_mem_watch(false);
}

SCENARIO(containers_survive_exhaustion)
{
	struct tt_arena arena = {0};
	struct tt_str str = {0};
	struct tt_map map = {0};
	TT_VEC(int) numbers = {0};
	tt_status status = TTNN_OK;

	for (int i = 0; i < 400 && status == TTNN_OK; i++) {
		int *slot = TT_VEC_PUSH(&numbers);

		tt_str_addf(&str, "item %d", i);
		if (!slot || !tt_arena_alloc(&arena, 100) ||
		    !tt_map_add(&map, str.data, str.length, NULL) || str.failed)
			status = TTNN_NOMEM;
		else
			*slot = i;
	}
	tt_arena_deinit(&arena);
	tt_str_deinit(&str);
	tt_map_deinit(&map);
	TT_VEC_DEINIT(&numbers);
	return status;
}
