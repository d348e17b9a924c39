/* numbers beyond memory: sorted pairs, pages */
#include "test.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "base/paged.h"
#include "base/spill.h"

static uint64_t state = 88172645463325252u;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

struct row {
	uint32_t key, value, order;
};

static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void check_sorted(size_t count, uint32_t keys, bool near)
{
	struct row *rows = calloc(count + 1, sizeof(*rows));
	struct tt_spill *spill;
	size_t at = 0;
	uint32_t value;

	CHECK_OK(tt_spill_new(&spill));
	for (size_t i = 0; i < count; i++) {
		uint32_t key = near ? (uint32_t)(i / 3 - random_number() % (i / 3 + 1) % 100)
				    : (uint32_t)(random_number() % keys);

		rows[i] = (struct row){random_number() % 8 ? key : 0, (uint32_t)random_number(),
				       (uint32_t)i};
		tt_spill_add(spill, rows[i].key, rows[i].value);
	}
	qsort(rows, count, sizeof(*rows), by_key);
	for (int times = 0; times < 2; times++) {
		CHECK_OK(tt_spill_sort(spill));
		at = 0;
		for (uint32_t key = 0; at < count; key = rows[at].key) {
			while (tt_spill_next(&value, spill, key)) {
				if (rows[at].key != key || rows[at].value != value)
					break;
				at++;
			}
			if (at < count && rows[at].key == key)
				break;
			if (at < count)
				CHECK(!tt_spill_next(&value, spill, rows[at].key - 1));
		}
		CHECK_INT(at, count);
		CHECK(!tt_spill_next(&value, spill, UINT32_MAX));
		CHECK_OK(tt_spill_status(spill));
	}
	tt_spill_free(spill);
	free(rows);
}

TEST(pairs_are_sorted)
{
	check_sorted(0, 1, false);
	check_sorted(10, 5, false);
	check_sorted(1000, 3, false);
	check_sorted(300000, UINT32_MAX, false);
	check_sorted(3500000, 1u << 20, false);
	check_sorted(3500000, 0, true);
}

TEST(a_key_may_be_left_out)
{
	struct tt_spill *spill;
	uint32_t value;

	CHECK_OK(tt_spill_new(&spill));
	for (uint32_t i = 0; i < 10; i++)
		tt_spill_add(spill, 9 - i, i);
	CHECK_OK(tt_spill_sort(spill));
	CHECK(tt_spill_next(&value, spill, 3));
	CHECK_INT(value, 6);
	CHECK(tt_spill_next(&value, spill, 9));
	CHECK_INT(value, 0);
	tt_spill_free(spill);
}

TEST(no_place_for_a_file)
{
	setenv("TMPDIR", "/nowhere/at/all", 1);
	check_sorted(1100000, 1u << 20, false);
	unsetenv("TMPDIR");
}

/* A limit on file sizes is a full disk that needs no disk. */
TEST(no_room_in_a_file)
{
	struct rlimit before, small;
	struct tt_spill *spill;

	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 1 << 20;
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_OK(tt_spill_new(&spill));
	for (uint32_t i = 0; i < 3000000; i++)
		tt_spill_add(spill, (uint32_t)random_number(), i);
	CHECK_FAILS(tt_spill_sort(spill), TTNN_IO, "temporary file");
	tt_spill_free(spill);
	setrlimit(RLIMIT_FSIZE, &before);
}

static uint32_t *at(struct tt_paged *paged, uint64_t id)
{
	uint32_t *slot = NULL;

	CHECK_OK(tt_paged_at(&slot, paged, id));
	return slot;
}

TEST(pages_come_back)
{
	struct tt_paged paged = {0};
	const uint64_t count = 6000000;
	bool wrong = false;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t *young = at(&paged, i);
		uint32_t *old;

		if (!young)
			break;
		*young = (uint32_t)(i * 3 + 1);
		old = at(&paged, random_number() % 7 ? i / 9 : random_number() % (i + 1));
		if (!old || !*old)
			break;
	}
	for (uint64_t i = 0; i < count && !wrong; i += 1 + i % 97)
		wrong = *at(&paged, i) != (uint32_t)(i * 3 + 1);
	CHECK(!wrong);
	CHECK_INT(*at(&paged, UINT64_MAX), 0);
	*at(&paged, UINT64_MAX - 1) = 7;
	CHECK_INT(*at(&paged, UINT64_MAX - 1), 7);
	tt_paged_deinit(&paged);
}
