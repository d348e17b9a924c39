/* regions of device memory: placement, merging, undo; the allocator of a chip: @threads */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "device/alloc.h"

#define KIB UINT64_C(1024)
#define GIB (UINT64_C(1) << 30)

static uint64_t take(struct tt_freelist *list, uint64_t size, bool top)
{
	uint64_t address = UINT64_MAX;

	CHECK_OK(tt_freelist_take(&address, list, size, top, 0));
	return address;
}

/* ---- known numbers ------------------------------------------------------------------------- */

TEST(first_fit_from_both_ends)
{
	struct tt_freelist list;
	uint64_t b, d;

	CHECK_OK(tt_freelist_init(&list, 0, GIB, KIB));
	CHECK_INT(take(&list, KIB, false), 0);
	CHECK_INT(b = take(&list, 3 * KIB, false), KIB);
	CHECK_INT(take(&list, KIB, false), 4 * KIB);
	CHECK_INT(d = take(&list, KIB, false), 5 * KIB);
	CHECK_INT(take(&list, KIB, false), 6 * KIB);
	CHECK(tt_freelist_release(&list, b));
	CHECK(tt_freelist_release(&list, d));
	CHECK_INT(take(&list, KIB, false), KIB);
	tt_freelist_deinit(&list);

	CHECK_OK(tt_freelist_init(&list, 0, GIB, KIB));
	CHECK_OK(tt_freelist_take_at(&list, 32 * KIB, KIB, 0));
	CHECK_INT(tt_freelist_take_at(&list, 32 * KIB, KIB, 0), TTNN_DEVICE_OOM);
	CHECK_INT(tt_freelist_take_at(&list, 31 * KIB, 2 * KIB, 0), TTNN_DEVICE_OOM);
	CHECK_INT(tt_freelist_take_at(&list, 32 * KIB + 1, KIB, 0), TTNN_DEVICE_OOM);
	CHECK_INT(tt_freelist_take_at(&list, GIB, KIB, 0), TTNN_DEVICE_OOM);
	CHECK_INT(take(&list, KIB, false), 0);
	CHECK_INT(take(&list, KIB, true), GIB - KIB);
	CHECK_INT(take(&list, KIB, false), KIB);
	tt_freelist_deinit(&list);
}

/* A linear layer as recorded with the memory map of 2025. */
TEST(linear_model_addresses)
{
	uint64_t base = 1920032;
	struct tt_freelist dram;

	CHECK_OK(tt_freelist_init(&dram, base, GIB - base, 32));
	CHECK_INT(take(&dram, 176128, false), 1920032);
	CHECK_INT(take(&dram, 176128, false), 2096160);
	CHECK_INT(take(&dram, 6144, false), 2272288);
	CHECK_INT(take(&dram, 176128, false), 2278432);
	CHECK_INT(take(&dram, 4096, true), 1073737728); /* the kernel's code */
	tt_freelist_deinit(&dram);
}

TEST(l1_grows_down)
{
	uint64_t base = 107616, top = 1499136;
	struct tt_freelist l1;

	/* convolution with l1_small_size 32768: halo, then output */
	CHECK_OK(tt_freelist_init(&l1, base, top - 32768 - base, 32));
	CHECK_INT(take(&l1, 335360, true), 1131008);
	CHECK_INT(take(&l1, 262144, true), 868864);
	tt_freelist_deinit(&l1);

	CHECK_OK(tt_freelist_init(&l1, base, top - base, 32));
	CHECK_OK(tt_freelist_take_at(&l1, 1048576 + 131072, top - 1048576 - 131072, 0));
	CHECK_INT(take(&l1, 131072, true), 1048576);
	CHECK_INT(take(&l1, 131072, true), 917504);
	CHECK_INT(take(&l1, 262144, true), 655360);
	tt_freelist_deinit(&l1);

	CHECK_OK(tt_freelist_init(&l1, 105824, top - 105824, 32));
	for (uint64_t page = 32 * KIB, sum = 0; page <= 128 * KIB; page *= 2) {
		sum += page;
		CHECK_INT(take(&l1, page, true), top - sum);
	}
	tt_freelist_deinit(&l1);
}

TEST(edges_of_a_region)
{
	struct tt_freelist list;
	struct tt_freelist_stats stats;
	struct tt_freelist_block block;
	uint64_t address = 7;

	CHECK_OK(tt_freelist_init(&list, 100, 96, 32));
	CHECK_INT(tt_freelist_take(&address, &list, 97, false, 0), TTNN_DEVICE_OOM);
	CHECK_INT(tt_freelist_take(&address, &list, UINT64_MAX, true, 0), TTNN_DEVICE_OOM);
	CHECK_INT(address, 7);
	CHECK(!tt_freelist_lowest(&address, &list));
	CHECK_INT(take(&list, 0, false), 100); /* nothing takes a granule */
	CHECK_INT(take(&list, 33, true), 132);
	CHECK_INT(tt_freelist_take(&address, &list, 1, false, 0), TTNN_DEVICE_OOM);
	CHECK(tt_freelist_lowest(&address, &list) && address == 100);
	stats = tt_freelist_stats(&list);
	CHECK(stats.total == 96 && stats.taken == 96 && stats.free == 0 && stats.largest_free == 0);
	CHECK_INT(stats.taken_blocks, 2);
	CHECK_INT(stats.free_blocks, 0);
	CHECK(!tt_freelist_release(&list, 0));
	CHECK(!tt_freelist_release(&list, 101));
	CHECK(!tt_freelist_release(&list, 164)); /* inside of a block */
	CHECK(!tt_freelist_release(&list, 196));
	CHECK(tt_freelist_release(&list, 100));
	CHECK(!tt_freelist_release(&list, 100));
	CHECK(tt_freelist_lowest(&address, &list) && address == 132);
	CHECK(tt_freelist_block(&block, &list, 131) && !block.taken && block.address == 100 &&
	      block.size == 32);
	CHECK(tt_freelist_block(&block, &list, 195) && block.taken && block.address == 132 &&
	      block.size == 64);
	CHECK(!tt_freelist_block(&block, &list, 196) && !tt_freelist_block(&block, &list, 99));
	tt_freelist_deinit(&list);

	CHECK_OK(tt_freelist_init(&list, 5, 0, 32));
	CHECK_INT(tt_freelist_take(&address, &list, 1, false, 0), TTNN_DEVICE_OOM);
	CHECK(!tt_freelist_release(&list, 5) && !tt_freelist_lowest(&address, &list));
	CHECK_INT(tt_freelist_stats(&list).total, 0);
	tt_freelist_deinit(&list);
	CHECK_FAILS(tt_freelist_init(&list, 0, 33, 32), TTNN_INVALID, "no multiple");
	CHECK_FAILS(tt_freelist_init(&list, 0, 32, 0), TTNN_INVALID, "no multiple");
	CHECK_FAILS(tt_freelist_init(&list, 0, UINT64_MAX - 31, 32), TTNN_INVALID, "too large");
	CHECK_FAILS(tt_freelist_init(&list, UINT64_MAX, 32, 32), TTNN_INVALID, "too large");
}

/* ---- against a slow model ------------------------------------------------------------------ */

/* One owner for each unit, 0 is free: nothing to get wrong. */
struct model {
	uint32_t units, next;
	uint32_t owner[20000];
};

/* The lowest or highest run of free units that is long enough; UINT32_MAX when none is. */
static uint32_t model_place(const struct model *model, uint32_t units, bool top)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < model->units;) {
		uint32_t end = i;

		while (end < model->units && !model->owner[end])
			end++;
		if (end - i >= units) {
			found = top ? end - units : i;
			if (!top)
				return found;
		}
		i = end + 1;
	}
	return found;
}

static void model_fill(struct model *model, uint32_t start, uint32_t units, uint32_t owner)
{
	for (uint32_t i = 0; i < units; i++)
		model->owner[start + i] = owner;
}

static uint32_t model_run(const struct model *model, uint32_t start)
{
	uint32_t end = start;

	while (end < model->units && model->owner[end] == model->owner[start])
		end++;
	return end - start;
}

/* Block by block, and the statistics counted anew. */
static bool same_state(const struct tt_freelist *list, const struct model *model)
{
	struct tt_freelist_stats stats = tt_freelist_stats(list), want = {0};
	uint64_t lowest = UINT64_MAX, got = UINT64_MAX;
	struct tt_freelist_block block;

	want.total = model->units * list->granule;
	for (uint32_t i = 0; i < model->units;) {
		uint32_t run = model_run(model, i);
		uint64_t bytes = run * list->granule, address = list->base + i * list->granule;

		if (!tt_freelist_block(&block, list, address) || block.address != address ||
		    block.size != bytes || block.taken != (model->owner[i] != 0) ||
		    block.tag != model->owner[i])
			return false;
		if (model->owner[i]) {
			lowest = lowest == UINT64_MAX ? address : lowest;
			want.taken += bytes;
			want.taken_blocks++;
		} else {
			want.free += bytes;
			want.free_blocks++;
			want.largest_free = bytes > want.largest_free ? bytes : want.largest_free;
		}
		i += run;
	}
	return tt_freelist_lowest(&got, list) == (lowest != UINT64_MAX) && got == lowest &&
	       memcmp(&stats, &want, sizeof(stats)) == 0;
}

struct play {
	struct tt_freelist list;
	struct model model;
	uint64_t random;
	uint32_t largest; /* units a request asks for at most */
	uint32_t fill;    /* of 100 steps so many take */
};

static bool play_take(struct play *play)
{
	uint64_t granule = play->list.granule, address = UINT64_MAX;
	uint32_t units = 1 + (uint32_t)(test_random(&play->random) % play->largest);
	uint64_t bytes = (units - 1) * granule + test_random(&play->random) % granule + 1;
	bool top = test_random(&play->random) % 2;
	uint32_t want = model_place(&play->model, units, top);
	uint32_t owner = ++play->model.next;
	tt_status status = tt_freelist_take(&address, &play->list, bytes, top, owner);

	if (want == UINT32_MAX)
		return status == TTNN_DEVICE_OOM;
	model_fill(&play->model, want, units, owner);
	return status == TTNN_OK && address == play->list.base + want * granule;
}

static bool play_take_at(struct play *play)
{
	uint32_t start = (uint32_t)(test_random(&play->random) % play->model.units);
	uint32_t units = 1 + (uint32_t)(test_random(&play->random) % play->largest);
	uint64_t granule = play->list.granule;
	uint32_t owner = ++play->model.next;
	tt_status status = tt_freelist_take_at(&play->list, play->list.base + start * granule,
					       units * granule, owner);

	if (play->model.owner[start] || model_run(&play->model, start) < units)
		return status == TTNN_DEVICE_OOM;
	model_fill(&play->model, start, units, owner);
	return status == TTNN_OK;
}

/* Frees at a random unit, which often is no start of a taken block. */
static bool play_release(struct play *play)
{
	uint32_t at = (uint32_t)(test_random(&play->random) % play->model.units);
	uint32_t owner = play->model.owner[at];
	bool starts;

	if (test_random(&play->random) % 8 != 0) /* mostly go to the start of what is there */
		while (at > 0 && play->model.owner[at - 1] == owner)
			at--;
	starts = owner && (at == 0 || play->model.owner[at - 1] != owner);
	if (starts)
		model_fill(&play->model, at, model_run(&play->model, at), 0);
	return tt_freelist_release(&play->list, play->list.base + at * play->list.granule) ==
	       starts;
}

static bool play_step(struct play *play)
{
	uint64_t dice = test_random(&play->random) % 100;

	if (dice < 5)
		return play_take_at(play);
	return dice < play->fill ? play_take(play) : play_release(play);
}

static bool play_begin(struct play *play, uint32_t units, uint32_t largest)
{
	static const uint64_t granules[] = {1, 16, 32, 64, 96, 1024};
	uint64_t granule = granules[test_random(&play->random) % 6];

	play->model.units = units;
	play->model.next = 0;
	memset(play->model.owner, 0, units * sizeof(play->model.owner[0]));
	play->largest = largest;
	play->fill = 40 + (uint32_t)(test_random(&play->random) % 50);
	return tt_freelist_init(&play->list, test_random(&play->random) % GIB, units * granule,
				granule) == TTNN_OK;
}

TEST(a_hundred_thousand_sequences_agree_with_a_map_of_units)
{
	static struct play play = {.random = 7};
	uint64_t steps = 0;
	int sequences = 0;

	for (; sequences < 120000 && !test_failures; sequences++) {
		uint32_t units = 1 + (uint32_t)(test_random(&play.random) % 96);
		uint32_t length = 10 + (uint32_t)(test_random(&play.random) % 50);
		bool good = play_begin(&play, units, 1 + units / 6);

		for (uint32_t i = 0; i < length && good; i++)
			good = play_step(&play);
		steps += length;
		if (!good || !same_state(&play.list, &play.model))
			TEST_FAIL("sequence %d disagrees", sequences);
		tt_freelist_deinit(&play.list);
	}
	printf("%d sequences, %" PRIu64 " steps\n", sequences, steps);
}

TEST(long_sequences_agree_with_a_map_of_units)
{
	static const struct {
		uint32_t units, largest;
		int steps;
	} rounds[] = {{600, 3, 4000}, {4000, 4, 6000}, {20000, 3, 20000}, {20000, 40, 5000}};
	static struct play play = {.random = 99};

	for (size_t r = 0; r < sizeof(rounds) / sizeof(rounds[0]) && !test_failures; r++) {
		bool good = play_begin(&play, rounds[r].units, rounds[r].largest);

		for (int i = 0; i < rounds[r].steps && good; i++) {
			/* from nearly full to nearly empty and back: nodes split and join */
			play.fill = i * 4 / rounds[r].steps % 2 ? 15 : 95;
			good = play_step(&play) &&
			       (i % 512 != 0 || same_state(&play.list, &play.model));
		}
		if (!good || !same_state(&play.list, &play.model))
			TEST_FAIL("round %zu disagrees", r);
		tt_freelist_deinit(&play.list);
	}
}

/* ---- copies and undo ----------------------------------------------------------------------- */

TEST(rollback_restores_every_block)
{
	static struct play play = {.random = 5}, before, outer;

	for (int round = 0; round < 300 && !test_failures; round++) {
		uint32_t units = 50 + (uint32_t)(test_random(&play.random) % 1500);
		size_t mark, inner;
		bool good = play_begin(&play, units, 4);

		for (int i = 0; i < 300 && good; i++)
			good = play_step(&play);
		outer.model = play.model;
		CHECK_OK(tt_freelist_begin(&mark, &play.list));
		for (int i = 0; i < 200 && good; i++)
			good = play_step(&play);
		before.model = play.model;
		CHECK_OK(tt_freelist_begin(&inner, &play.list));
		play.fill = round % 2 ? 95 : 10;
		for (int i = 0; i < 200 && good; i++)
			good = play_step(&play);
		CHECK(good);
		if (round % 3 == 0) {
			tt_freelist_commit(&play.list);
		} else {
			tt_freelist_rollback(&play.list, inner);
			play.model = before.model;
		}
		CHECK(same_state(&play.list, &play.model));
		if (round % 5 == 0) {
			tt_freelist_commit(&play.list);
			CHECK(same_state(&play.list, &play.model));
		} else {
			tt_freelist_rollback(&play.list, mark);
			CHECK(same_state(&play.list, &outer.model));
		}
		CHECK_INT(play.list.marks, 0);
		tt_freelist_deinit(&play.list);
	}
}

TEST(copies_are_equal_and_independent)
{
	static struct play play = {.random = 11}, other;

	for (int round = 0; round < 200 && !test_failures; round++) {
		uint32_t units = 1 + (uint32_t)(test_random(&play.random) % 3000);
		bool good = play_begin(&play, units, 3);

		for (int i = 0; i < 500 && good; i++)
			good = play_step(&play);
		CHECK_OK(tt_freelist_copy(&other.list, &play.list)); /* into a used one */
		other.model = play.model;
		other.random = play.random;
		other.largest = other.fill = 9;
		for (int i = 0; i < 200 && good; i++)
			good = play_step(&other) && play_step(&play);
		CHECK(good && same_state(&other.list, &other.model));
		CHECK(same_state(&play.list, &play.model));
		tt_freelist_deinit(&play.list);
	}
	tt_freelist_deinit(&other.list);
}

TEST(holders_are_the_largest_blocks)
{
	struct tt_freelist list;
	struct tt_freelist_block found[3];
	static const uint64_t sizes[] = {64, 256, 32, 256, 128, 32};
	uint64_t address;

	CHECK_OK(tt_freelist_init(&list, 1000, 32 * 100, 32));
	CHECK_INT(tt_freelist_holders(found, 3, &list), 0);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_OK(tt_freelist_take(&address, &list, sizes[i], i % 2, 100 + i));
	CHECK_INT(tt_freelist_holders(found, 3, &list), 3);
	CHECK(found[0].tag == 103 && found[1].tag == 101); /* from the top: the later is lower */
	CHECK(found[0].size == 256 && found[1].size == 256);
	CHECK(found[2].size == 128 && found[2].tag == 104);
	CHECK_INT(tt_freelist_holders(found, 0, &list), 0);
	tt_freelist_deinit(&list);
}

/* ---- the allocator of a chip --------------------------------------------------------------- */

static const struct tt_allocator_config n150 = {
	.dram_banks = 12,
	.l1_banks = 64,
	.dram_align = 32,
	.l1_align = 16,
	.dram_base = 1048640,
	.dram_bank_size = 1073741824,
	.l1_base = 105824,
	.l1_size = 1499136,
};

static tt_status ask(uint64_t *address, struct tt_allocator *allocator, enum ttnn_buffer_type type,
		     uint64_t bytes)
{
	struct tt_allocator_request request = {
		.type = type, .bank_bytes = bytes, .total_bytes = 64 * bytes, .banks = 64};

	return tt_allocator_take(address, allocator, &request);
}

TEST(regions_of_a_chip)
{
	static const struct {
		uint64_t l1_small, trace, dram, l1, small, first_l1;
	} rows[] = {
		{0, 0, 1072693184, 1393312, 0, 1497088},
		{16384, 0, 1072693184, 1376928, 16384, 1480704},
		{1000, 0, 1072693184, 1392288, 1024, 1496064},
		{0, 1000000, 1072603072, 1393312, 0, 1497088},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tt_allocator_config config = n150;
		struct tt_allocator chip;
		uint64_t address = 0;

		config.l1_small_size = rows[i].l1_small;
		config.trace_region_size = rows[i].trace;
		CHECK_OK(tt_allocator_init(&chip, &config));
		CHECK_INT(tt_allocator_stats(&chip, TTNN_DRAM).total, rows[i].dram);
		CHECK_INT(tt_allocator_stats(&chip, TTNN_L1).total, rows[i].l1);
		CHECK_INT(tt_allocator_stats(&chip, TTNN_L1_SMALL).total, rows[i].small);
		CHECK_INT(tt_allocator_stats(&chip, TTNN_TRACE).total, 1072693184 - rows[i].dram);
		CHECK_INT(tt_allocator_stats(&chip, TTNN_SYSTEM_MEMORY).total, 0);
		CHECK_OK(ask(&address, &chip, TTNN_L1, 2048));
		CHECK_INT(address, rows[i].first_l1);
		CHECK_OK(ask(&address, &chip, TTNN_DRAM, 2048));
		CHECK_INT(address, 1048640);
		if (rows[i].trace) {
			CHECK_OK(ask(&address, &chip, TTNN_TRACE, 2048));
			CHECK_INT(address, 1073651712);
		}
		if (rows[i].small) {
			CHECK_OK(ask(&address, &chip, TTNN_L1_SMALL, 32));
			CHECK_INT(address, 1499136 - 32);
		}
		tt_allocator_deinit(&chip);
	}
}

TEST(out_of_memory_has_upstreams_words)
{
	struct tt_allocator chip;
	uint64_t address = 0;
	struct tt_allocator_request request = {.type = TTNN_DRAM,
					       .total_bytes = 137438953472,
					       .banks = 12,
					       .bank_bytes = 11453247488};

	CHECK_OK(tt_allocator_init(&chip, &n150));
	CHECK_INT(tt_allocator_take(&address, &chip, &request), TTNN_DEVICE_OOM);
	CHECK_STR(ttnn_error(),
		  "Out of Memory: Not enough space to allocate 137438953472 B DRAM buffer across "
		  "12 banks, where each bank needs to store 11453247488 B, but bank size is "
		  "1072693184 B (allocated: 0 B, free: 1072693184 B, largest free block: "
		  "1072693184 B).");
	CHECK_STR(tt_fail_condition(), "false");
	CHECK_OK(ask(&address, &chip, TTNN_L1, 1048576));
	CHECK_INT(ask(&address, &chip, TTNN_L1, 1048576), TTNN_DEVICE_OOM);
	CHECK_STR(ttnn_error(),
		  "Out of Memory: Not enough space to allocate 67108864 B L1 buffer across 64 "
		  "banks, where each bank needs to store 1048576 B, but bank size is 1393312 B "
		  "(allocated: 1048576 B, free: 344736 B, largest free block: 344736 B).");
	request = (struct tt_allocator_request){
		.type = TTNN_L1_SMALL, .total_bytes = 8192, .banks = 2, .bank_bytes = 4096};
	CHECK_INT(tt_allocator_take(&address, &chip, &request), TTNN_DEVICE_OOM);
	CHECK_STR(ttnn_error(),
		  "Out of Memory: Not enough space to allocate 8192 B L1_SMALL buffer across 2 "
		  "banks, where each bank needs to store 4096 B, but bank size is 0 B (allocated: "
		  "0 B, free: 0 B, largest free block: 0 B). The L1_SMALL region is 0 B because "
		  "it is reserved at device open; set l1_small_size large enough for this "
		  "allocation when opening the device.");
	CHECK_FAILS(ask(&address, &chip, TTNN_SYSTEM_MEMORY, 1), TTNN_INVALID, "no memory of a");
	CHECK_FAILS(ask(&address, &chip, (enum ttnn_buffer_type)77, 1), TTNN_INVALID, "77");
	tt_allocator_deinit(&chip);
}

TEST(ends_and_limits)
{
	struct tt_allocator chip;
	uint64_t address = 0, other = 0;
	struct tt_allocator_request top = {
		.type = TTNN_DRAM, .bank_bytes = 4096, .from = TT_ALLOCATOR_TOP};
	struct tt_allocator_request low = {
		.type = TTNN_L1, .bank_bytes = 64, .from = TT_ALLOCATOR_BOTTOM, .lowest = 105825};

	CHECK_OK(tt_allocator_init(&chip, &n150));
	CHECK_OK(tt_allocator_take(&address, &chip, &top));
	CHECK_INT(address, 1073737728);
	CHECK_INT(tt_allocator_take(&address, &chip, &low), TTNN_DEVICE_OOM);
	CHECK_STR(
		ttnn_error(),
		"Out of Memory: Cannot allocate at an address below 105825. Allocation at 105824");
	CHECK_INT(tt_allocator_stats(&chip, TTNN_L1).taken, 0);
	low.lowest = 0;
	CHECK_OK(tt_allocator_take(&address, &chip, &low));
	CHECK_INT(address, 105824);
	CHECK(tt_allocator_lowest(&other, &chip, TTNN_L1) && other == address);
	CHECK_FAILS(tt_allocator_take_at(&chip, TTNN_L1, 105824, 32, 0), TTNN_DEVICE_OOM,
		    "32 bytes at address 105824 of L1 are not free");
	CHECK(tt_allocator_release(&chip, TTNN_L1, address));
	CHECK(!tt_allocator_release(&chip, TTNN_L1, address));
	CHECK(!tt_allocator_release(&chip, TTNN_SYSTEM_MEMORY, 0));
	CHECK(!tt_allocator_lowest(&other, &chip, TTNN_L1));
	tt_allocator_deinit(&chip);
}

TEST(blocks_and_fragmentation)
{
	struct tt_allocator chip;
	struct tt_freelist_block *blocks = NULL, held[2];
	struct tt_freelist_stats stats;
	uint64_t a[3];
	size_t count = 0;

	CHECK_OK(tt_allocator_init(&chip, &n150));
	for (int i = 0; i < 3; i++)
		CHECK_OK(ask(&a[i], &chip, TTNN_L1, 1 << (14 + i)));
	tt_allocator_release(&chip, TTNN_L1, a[1]);
	CHECK_OK(tt_allocator_blocks(&blocks, &count, &chip, TTNN_L1));
	CHECK_INT(count, 4);
	if (count == 4) {
		CHECK(!blocks[0].taken && blocks[0].address == 105824);
		CHECK(blocks[1].taken && blocks[1].address == a[2] && blocks[1].size == 65536);
		CHECK(!blocks[2].taken && blocks[2].address == a[1] && blocks[2].size == 32768);
		CHECK(blocks[3].taken && blocks[3].address == a[0] && blocks[3].size == 16384);
	}
	tt_free(blocks);
	stats = tt_allocator_stats(&chip, TTNN_L1);
	CHECK(fabs(tt_allocator_fragmentation(&stats) - 32768.0 / (1393312 - 65536 - 16384)) <
	      1e-12);
	CHECK_INT(tt_allocator_holders(held, 2, &chip, TTNN_L1), 2);
	CHECK(held[0].address == a[2] && held[1].address == a[0]);
	stats = tt_allocator_stats(&chip, TTNN_L1_SMALL);
	CHECK(tt_allocator_fragmentation(&stats) < 0.5); /* nothing there: nothing fragmented */
	tt_allocator_deinit(&chip);
}

TEST(impossible_chips_are_refused)
{
	struct tt_allocator_config config = n150;
	struct tt_allocator chip;

	config.l1_small_size = 1393312;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID,
		    "Reserved size must be less than bank size");
	CHECK_STR(tt_fail_condition(), "config.l1_small_size < config.worker_l1_size - "
				       "config.l1_unreserved_base");
	config.l1_small_size = UINT64_MAX;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID, "Reserved size");
	config = n150;
	config.l1_small_size = 1393280;
	CHECK_OK(tt_allocator_init(&chip, &config));
	tt_allocator_deinit(&chip);
	config = n150;
	config.trace_region_size = 20 * GIB;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID, "trace_region_size");
	config.trace_region_size = UINT64_MAX;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID, "trace_region_size");
	config = n150;
	config.l1_banks = 65;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID,
		    "Invalid number of memory banks 65 for L1. Num banks must be power of 2 or "
		    "have a dedicated modulo implementation");
	config = n150;
	config.dram_banks = 0;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID, "banks 0 for DRAM");
	config = n150;
	config.dram_align = 0;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID, "must not be 0");
	config = n150;
	config.l1_base = 1499137;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID, "cannot start");
	config = n150;
	config.dram_base = UINT64_MAX;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID, "cannot start");
	config = n150;
	config.dram_base++;
	CHECK_FAILS(tt_allocator_init(&chip, &config), TTNN_INVALID, "DRAM: a memory region");
}

TEST(what_if)
{
	struct tt_allocator chip, shadow = {0};
	struct tt_allocator_mark mark;
	uint64_t a = 0, b = 0, c = 0;

	CHECK_OK(tt_allocator_init(&chip, &n150));
	CHECK_OK(ask(&a, &chip, TTNN_DRAM, 1000));
	CHECK_OK(tt_allocator_copy(&shadow, &chip));
	CHECK_OK(ask(&b, &shadow, TTNN_DRAM, 5000));
	CHECK_OK(ask(&c, &chip, TTNN_DRAM, 5000));
	CHECK_INT(b, c);
	CHECK_OK(tt_allocator_begin(&mark, &shadow));
	CHECK(tt_allocator_release(&shadow, TTNN_DRAM, a));
	CHECK_OK(ask(&c, &shadow, TTNN_L1, 4096));
	tt_allocator_rollback(&shadow, &mark);
	CHECK_INT(tt_allocator_stats(&shadow, TTNN_L1).taken, 0);
	CHECK_INT(tt_allocator_stats(&shadow, TTNN_DRAM).taken, 1024 + 5024);
	CHECK_OK(tt_allocator_begin(&mark, &shadow));
	CHECK(tt_allocator_release(&shadow, TTNN_DRAM, a));
	tt_allocator_commit(&shadow);
	CHECK_INT(tt_allocator_stats(&shadow, TTNN_DRAM).taken, 5024);
	CHECK_INT(tt_allocator_stats(&chip, TTNN_DRAM).taken, 1024 + 5024);
	tt_allocator_deinit(&shadow);
	tt_allocator_deinit(&chip);
}

/* ---- threads ------------------------------------------------------------------------------- */

#define THREADS 8
#define SLOTS 40
#define MAP_UNITS 4096

struct worker {
	struct tt_allocator *chip;
	atomic_int *owner; /* of each granule */
	int id;
	int clashes;
};

static void claim(struct worker *worker, uint64_t address, uint64_t units, bool take_it)
{
	uint64_t first = (address - n150.l1_base) / 32;

	for (uint64_t i = 0; i < units; i++) {
		int want = take_it ? 0 : worker->id;

		if (!atomic_compare_exchange_strong(&worker->owner[first + i], &want,
						    take_it ? worker->id : 0))
			worker->clashes++;
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t address[SLOTS] = {0}, units[SLOTS] = {0}, random = (uint64_t)worker->id;

	for (int i = 0; i < 20000; i++) {
		uint64_t at = test_random(&random) % SLOTS;

		if (units[at]) {
			claim(worker, address[at], units[at], false);
			tt_allocator_release(worker->chip, TTNN_L1, address[at]);
			units[at] = 0;
			continue;
		}
		units[at] = 1 + test_random(&random) % 10;
		if (ask(&address[at], worker->chip, TTNN_L1, units[at] * 32) == TTNN_OK)
			claim(worker, address[at], units[at], true);
		else
			units[at] = 0;
		if (i % 1000 == 0)
			tt_allocator_stats(worker->chip, TTNN_L1);
	}
	for (int i = 0; i < SLOTS; i++)
		if (units[i]) {
			claim(worker, address[i], units[i], false);
			tt_allocator_release(worker->chip, TTNN_L1, address[i]);
		}
	return NULL;
}

TEST(eight_threads_share_a_chip)
{
	static atomic_int owner[MAP_UNITS];
	struct tt_allocator_config config = n150;
	struct tt_allocator chip;
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	config.l1_size = config.l1_base + 32 * 1024; /* small, so that some requests fail */
	CHECK_OK(tt_allocator_init(&chip, &config));
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){&chip, owner, i + 1, 0};
		CHECK_INT(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_INT(workers[i].clashes, 0);
	}
	CHECK_INT(tt_allocator_stats(&chip, TTNN_L1).taken, 0);
	CHECK_INT(tt_allocator_stats(&chip, TTNN_L1).free_blocks, 1);
	tt_allocator_deinit(&chip);
}

/* ---- without memory ------------------------------------------------------------------------ */

/* Releasing and rolling back must work whatever fails, so their results are checked too. */
static tt_status churn(struct tt_allocator *chip)
{
	struct tt_allocator_mark mark;
	uint64_t address[300], more;
	size_t count = 0;
	tt_status status = TTNN_OK;

	while (count < 300 && status == TTNN_OK) {
		status = ask(&address[count], chip, TTNN_DRAM, 64);
		count += status == TTNN_OK;
	}
	if (status == TTNN_OK)
		status = tt_allocator_begin(&mark, chip);
	if (status == TTNN_OK) {
		for (size_t i = 0; i < count; i += 2)
			CHECK(tt_allocator_release(chip, TTNN_DRAM, address[i]));
		status = ask(&more, chip, TTNN_DRAM, 64000);
		for (size_t i = 1; i < count; i += 2)
			CHECK(tt_allocator_release(chip, TTNN_DRAM, address[i]));
		tt_allocator_rollback(chip, &mark);
	}
	CHECK_INT(tt_allocator_stats(chip, TTNN_DRAM).taken, 64 * count);
	return status;
}

SCENARIO(allocator_survives_exhaustion)
{
	struct tt_allocator_config config = n150;
	struct tt_allocator chip = {0}, copy = {0};
	struct tt_freelist_block *blocks = NULL;
	size_t count;
	tt_status status;

	config.trace_region_size = config.l1_small_size = 16384;
	status = tt_allocator_init(&chip, &config);
	if (status == TTNN_OK)
		status = churn(&chip);
	if (status == TTNN_OK)
		status = tt_allocator_copy(&copy, &chip);
	if (status == TTNN_OK)
		status = tt_allocator_blocks(&blocks, &count, &copy, TTNN_DRAM);
	tt_free(blocks);
	tt_allocator_deinit(&copy);
	tt_allocator_deinit(&chip);
	return status;
}
