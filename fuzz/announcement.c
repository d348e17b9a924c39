/*
 * announcement.c: any bytes as what a process tells the server of a profile. Where the head is right the checksum is made
 * right, so that the body is read; what was read and is written again is the same.
 */
#include "profile/announcement.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pack.h"
#include "event/ttrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_same(const struct tt_announcement *a, const struct tt_announcement *b)
{
	check(a->kind == b->kind && strcmp(a->key, b->key) == 0);
#define CHECK_number(name) check(a->name == b->name);
#define CHECK_text(name) check(strcmp(a->name, b->name) == 0);
#define TT_X(form, name) CHECK_##form(name)
	TT_ANNOUNCED_LIST(TT_X)
#undef TT_X
}

static void check_again(const struct tt_announcement *told)
{
	struct tt_announcement again;
	struct tt_arena arena = {0};
	struct tt_str bytes = {0};
	size_t size = 0;

	tt_announcement_add(&bytes, told);
	check(tt_announcement_look(&size, bytes.data, bytes.length) == TT_ANNOUNCEMENT_WHOLE);
	check(size == bytes.length);
	check(tt_announcement_look(&size, bytes.data, size - 1) == TT_ANNOUNCEMENT_PART);
	check(tt_announcement_read(&again, &arena, bytes.data, size) == TTNN_OK);
	check_same(told, &again);
	tt_str_deinit(&bytes);
	tt_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_announcement told;
	struct tt_arena arena = {0};
	size_t whole = 0;
	unsigned char *copy;

	for (size_t i = 0; i < size && i < TT_ANNOUNCE_HEAD_SIZE; i++)
		tt_announcement_look(&whole, data, i);
	if (tt_announcement_look(&whole, data, size) != TT_ANNOUNCEMENT_WHOLE)
		return 0;
	copy = tt_alloc(whole);
	if (!copy)
		return 0;
	memcpy(copy, data, whole);
	tt_put_u32(copy + 16,
		   tt_crc32(0, copy + TT_ANNOUNCE_HEAD_SIZE, whole - TT_ANNOUNCE_HEAD_SIZE));
	if (tt_announcement_read(&told, &arena, copy, whole) == TTNN_OK)
		check_again(&told);
	tt_free(copy);
	tt_arena_deinit(&arena);
	return 0;
}
