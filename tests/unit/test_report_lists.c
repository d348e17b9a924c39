/* The lists of an import: on disk beyond memory (spool.h), by number (intmap.h), by tensor id (ids.h). */
#include "base/mem.h"
#include "report/ids.h"
#include "report/intmap.h"
#include "report/spool.h"
#include "test.h"

#define MANY 400000

struct record {
	uint64_t number, other;
};

/* A number that depends on another in no simple way. */
static uint64_t scramble(uint64_t n)
{
	n *= 0x9e3779b97f4a7c15u;
	return n ^ n >> 29;
}

TEST(records_come_back)
{
	struct tt_spool spool;
	struct record *record;
	const struct record *found;

	tt_spool_init(&spool, sizeof(*record), test_path(""));
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < MANY; i++) {
			record = tt_spool_push(&spool);
			CHECK(record && !record->number && !record->other);
			if (!record)
				break;
			*record = (struct record){scramble(i), i};
		}
		CHECK(spool.count == MANY && spool.fd > 0);
		for (uint64_t i = 0; i < MANY; i += 7) { /* far jumps, some of them changing */
			uint64_t at = scramble(i) % MANY;

			record = tt_spool_change(&spool, at);
			CHECK(record && record->number == scramble(at) && record->other >= at);
			if (record)
				record->other = at + MANY;
			i += 7 * 97;
		}
		for (uint64_t i = 0; i < MANY; i++) {
			found = tt_spool_at(&spool, i);
			CHECK(found && found->number == scramble(i) && found->other % MANY == i);
		}
		tt_spool_clear(&spool);
	}
	tt_spool_deinit(&spool);
}

TEST(a_short_list_is_no_file)
{
	struct tt_spool spool;

	tt_spool_init(&spool, sizeof(int64_t), "/nowhere");
	for (int64_t i = 0; i < 1000; i++) {
		int64_t *number = tt_spool_push(&spool);

		CHECK(number);
		if (number)
			*number = i;
	}
	CHECK(spool.fd == 0 && *(const int64_t *)tt_spool_at(&spool, 999) == 999);
	tt_spool_deinit(&spool);
}

TEST(a_file_that_cannot_be)
{
	struct tt_spool spool;
	void *record = NULL;

	tt_spool_init(&spool, 64, "/nowhere/at/all");
	for (int i = 0; i < MANY && (record = tt_spool_push(&spool)); i++)
		;
	CHECK(!record && tt_spool_status(&spool) == TTNN_IO);
	tt_spool_deinit(&spool);
}

/* Against an array: numbers come and go. */
TEST(numbers_are_found_until_they_go)
{
	static uint32_t truth[5000];
	struct tt_intmap map = {0};
	size_t count = 0;

	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t key = scramble(i) % 5000;

		if (scramble(i + MANY) % 3) {
			count += !truth[key];
			truth[key] = (uint32_t)i + 1;
			CHECK_OK(tt_intmap_set(&map, key << 6, truth[key]));
		} else {
			count -= truth[key] != 0;
			truth[key] = 0;
			tt_intmap_remove(&map, key << 6);
		}
		if (i % 1000 == 0)
			for (uint64_t k = 0; k < 5000; k++)
				CHECK(tt_intmap_get(&map, k << 6) == truth[k]);
	}
	CHECK(map.count == count && map.mask < 16384);
	tt_intmap_clear(&map);
	CHECK(tt_intmap_get(&map, 64) == 0);
	tt_intmap_deinit(&map);
}

TEST(ids_are_apart)
{
	static const int64_t odd[] = {
		0, 1, -1, -64, 63, 64, INT64_MAX, INT64_MIN, (int64_t)1 << 47};
	struct tt_report_ids ids;
	struct tt_report_id *id;

	tt_report_ids_init(&ids, test_path(""));
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		CHECK_OK(tt_report_ids_at(&id, &ids, odd[i]));
		CHECK(!id->used && !id->seq[0]);
		id->seq[0] = (int64_t)i + 1;
	}
	for (int64_t i = 1000; i < 200000; i++) {
		CHECK_OK(tt_report_ids_at(&id, &ids, i));
		id->device = i;
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		CHECK_OK(tt_report_ids_at(&id, &ids, odd[i]));
		CHECK(id->seq[0] == (int64_t)i + 1);
	}
	for (int64_t i = 1000; i < 200000; i += 77) {
		CHECK_OK(tt_report_ids_at(&id, &ids, i));
		CHECK(id->device == i);
	}
	tt_report_ids_deinit(&ids);
}

SCENARIO(lists)
{
	struct tt_report_ids ids;
	struct tt_report_id *id;
	tt_status status = TTNN_OK;

	tt_report_ids_init(&ids, test_path(""));
	for (int64_t i = 0; status == TTNN_OK && i < 5000; i += 50)
		status = tt_report_ids_at(&id, &ids, i);
	tt_report_ids_deinit(&ids);
	return status;
}
