/* which core holds which page of a sharded tensor: recorded maps, upstream's numbers, a slow twin */
#include "test.h"

#include "values.h"

#include "tensor/distribution.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

/* ---- recorded ------------------------------------------------------------------------------------ */

static void check_page(const struct tt_distribution *d, const struct tt_json *want)
{
	struct tt_page_place place;
	struct ttnn_core core;
	uint64_t n[4] = {0}, host = 0;

	for (size_t i = 0; i < 4; i++)
		CHECK(tt_json_uint(&n[i], tt_json_at(want, i)));
	place = tt_distribution_find(d, n[2]);
	core = tt_distribution_core(d, place.core);
	CHECK(place.host == n[2] && core.x == n[0] && core.y == n[1] && place.page == n[3]);
	CHECK(tt_distribution_host(&host, d, place.core, place.page) && host == n[2]);
}

static bool check_map(const struct tt_json *row)
{
	struct ttnn_spec_args args = row_spec(row);
	struct tt_json_iter it = tt_json_iter(tt_json_get(row, "map"));
	struct ttnn_tensor_spec spec;
	struct tt_distribution d;
	uint64_t bank = 0, pages = 0;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	if (tt_distribution_make(&d, &spec) != TTNN_OK) {
		TEST_FAIL("%s", ttnn_error());
		return false;
	}
	if (tt_json_get(row, "refused")) {
		CHECK_INT(tt_distribution_check(&d), TTNN_INVALID);
		check_refusal(tt_json_get(row, "refused"));
		return false;
	}
	CHECK_OK(tt_distribution_check(&d));
	for (; tt_json_next(&it); pages++)
		check_page(&d, it.value);
	CHECK_INT(pages, d.pages);
	CHECK_INT(pages, spec.pages);
	CHECK(tt_json_uint(&bank, tt_json_get(row, "bank")));
	CHECK_INT(tt_distribution_core_pages(&d), bank);
	return true;
}

TEST(recorded_maps)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t rows = 0, maps = 0;
	int failures = 0;

	CHECK_OK(tt_json_load(&doc, VALUES_DATA "shard_maps.json.gz"));
	it = tt_json_iter(tt_json_root(doc));
	for (; tt_json_next(&it); rows++) {
		maps += check_map(it.value);
		if (test_failures > failures)
			fprintf(stderr, "  ^ row %zu of shard_maps.json.gz\n", rows + 1);
		failures = test_failures;
	}
	printf("%zu recorded maps of pages compared, %zu refusals\n", maps, rows - maps);
	CHECK_INT(rows, 240);
	tt_json_free(doc);
}

/* What upstream refuses when it allocates, in the rows of recorded specs. */
TEST(recorded_refusals)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t refused = 0, fine = 0;
	int failures = 0;

	CHECK_OK(tt_json_load(&doc, VALUES_DATA "specs.json.gz"));
	it = tt_json_iter(tt_json_root(doc));
	for (size_t i = 0; tt_json_next(&it); i++) {
		const struct tt_json *refusal = tt_json_get(it.value, "allocation");
		const char *condition = tt_json_string(tt_json_get(refusal, "condition"), NULL);
		struct ttnn_spec_args args = row_spec(it.value);
		struct ttnn_tensor_spec spec;
		struct tt_distribution d;

		if (ttnn_tensor_spec_make(&spec, &args) != TTNN_OK || !spec.pages ||
		    spec.memory.layout == TTNN_INTERLEAVED)
			continue;
		if (condition && (strstr(condition, "has_bank") || strcmp(condition, "false") == 0))
			continue; /* the device's refusals: no such bank, out of memory */
		if (refusal) {
			refused++;
			CHECK_INT(tt_distribution_make(&d, &spec), TTNN_INVALID);
			check_refusal(refusal);
		} else if (tt_json_get(it.value, "pages")) {
			fine++;
			CHECK_OK(tt_distribution_make(&d, &spec));
			CHECK_INT(d.pages, spec.pages);
		}
		if (test_failures > failures)
			fprintf(stderr, "  ^ row %zu of specs.json.gz\n", i + 1);
		failures = test_failures;
	}
	printf("%zu recorded refusals of distributions, %zu accepted\n", refused, fine);
	CHECK(refused > 100 && fine > 300);
	tt_json_free(doc);
}

/* ---- a slow twin: deals out shards page by page ---------------------------------------------------- */

struct dealt {
	uint64_t core, page;
};

/* Walks the shards in order; odometers instead of divisions, nothing shared with the code tested. */
static void deal(struct dealt *out, const struct ttnn_shape *tensor, const struct ttnn_shape *shard,
		 uint64_t cores, bool contiguous)
{
	uint32_t first[4] = {0}, rank = tensor->rank;
	uint64_t shards = 1, number = 0, volume = 1, per;

	for (uint32_t i = 0; i < rank; i++) {
		uint64_t count = 0;

		for (uint32_t at = 0; at < tensor->dim[i]; at += shard->dim[i])
			count++;
		shards *= count;
		volume *= shard->dim[i];
	}
	for (per = 0; per * cores < shards;)
		per++;
	for (; number < shards; number++) {
		uint64_t core = contiguous ? number / per : number % cores;
		uint64_t slot = contiguous ? number % per : number / cores;
		uint32_t in[4] = {0};

		for (uint64_t page = 0; page < volume; page++) {
			uint64_t host = 0;
			bool inside = true;

			for (uint32_t i = 0; i < rank; i++) {
				inside = inside && first[i] + in[i] < tensor->dim[i];
				host = host * tensor->dim[i] + first[i] + in[i];
			}
			if (inside)
				out[host] = (struct dealt){core, slot * volume + page};
			for (uint32_t i = rank; i-- > 0 && ++in[i] == shard->dim[i];)
				in[i] = 0;
		}
		for (uint32_t i = rank; i-- > 0;) {
			first[i] += shard->dim[i];
			if (first[i] < tensor->dim[i])
				break;
			first[i] = 0;
		}
	}
}

TEST(random_distributions_agree_with_the_slow_twin)
{
	static struct dealt want[7 * 7 * 7 * 7];
	uint64_t state = 3, pages = 0;

	for (int round = 0; round < 2000; round++) {
		struct ttnn_nd_shard_spec shard = {.strategy = round % 3 ? TTNN_ROUND_ROBIN_1D
									 : TTNN_CONTIGUOUS_1D};
		struct ttnn_shape tensor = {.rank = 1 + (uint32_t)test_random(&state) % 4};
		struct tt_distribution d;
		uint64_t taken = 0, host;

		shard.shape.rank = tensor.rank;
		for (uint32_t i = 0; i < tensor.rank; i++) {
			tensor.dim[i] = 1 + (uint32_t)(test_random(&state) % 7);
			shard.shape.dim[i] = 1 + (uint32_t)(test_random(&state) % 8);
		}
		CHECK_OK(tt_core_set_grid(&shard.grid, 1 + (uint32_t)(test_random(&state) % 8),
					  1 + (uint32_t)(test_random(&state) % 3)));
		CHECK_OK(tt_distribution_of(&d, &tensor, &shard));
		if (tt_distribution_check(&d) != TTNN_OK)
			continue;
		deal(want, &tensor, &shard.shape, d.core_count, d.contiguous);
		for (host = 0; host < d.pages; host++, pages++) {
			struct tt_page_place place = tt_distribution_find(&d, host);

			CHECK(place.core == want[host].core && place.page == want[host].page);
			CHECK(place.core < tt_distribution_cores(&d));
		}
		for (uint64_t core = 0; core < d.core_count; core++)
			for (uint64_t page = 0; page < tt_distribution_core_pages(&d); page++)
				taken += tt_distribution_host(&host, &d, core, page);
		CHECK_INT(taken, d.pages); /* all other places are padding */
	}
	printf("%" PRIu64 " pages placed as the slow twin does\n", pages);
	CHECK(pages > 50000);
}

/* ---- by hand -------------------------------------------------------------------------------------- */

static struct tt_distribution distribution(struct ttnn_shape tensor, struct ttnn_shape shard,
					   uint32_t width, uint32_t height)
{
	struct ttnn_nd_shard_spec spec = {.shape = shard};
	struct tt_distribution d = {0};

	CHECK_OK(tt_core_set_grid(&spec.grid, width, height));
	CHECK_OK(tt_distribution_of(&d, &tensor, &spec));
	return d;
}

TEST(distributions_by_hand)
{
	/* 5 × 4 × 3 pages in shards of 2 × 2 × 2: 3 × 2 × 2 shards of 8 pages, dealt to 6 cores */
	struct tt_distribution d = distribution(TT_SHAPE(5, 4, 3), TT_SHAPE(2, 2, 2), 3, 2);
	struct tt_page_place place;
	struct ttnn_core core;
	uint64_t host;

	CHECK_INT(d.shards, 12);
	CHECK_INT(tt_distribution_cores(&d), 6);
	CHECK_INT(tt_distribution_core_pages(&d), 16);
	place = tt_distribution_find(&d, 59); /* the last page, in shard 11, its first place */
	CHECK_INT(place.core, 5);
	CHECK_INT(place.page, 8 + 2);
	core = tt_distribution_core(&d, 5);
	CHECK(core.x == 2 && core.y == 1);
	CHECK(!tt_distribution_host(&host, &d, 5, 8 + 1)); /* beyond the last column */
	CHECK(!tt_distribution_host(&host, &d, 6, 0));     /* no such core */

	/* fewer shards than cores */
	d = distribution(TT_SHAPE(2, 2), TT_SHAPE(2, 1), 8, 8);
	CHECK_INT(tt_distribution_cores(&d), 2);
	CHECK_INT(tt_distribution_core_pages(&d), 2);

	/* a tensor of no pages */
	d = distribution(TT_SHAPE(0, 2), TT_SHAPE(2, 1), 8, 8);
	CHECK_INT(tt_distribution_cores(&d), 0);
	CHECK_INT(tt_distribution_core_pages(&d), 0);

	/* outer dimensions fold into the first: 2 × 3 rows in shards of 4 straddle the matrices */
	d = distribution(TT_SHAPE(2, 3, 2), TT_SHAPE(4, 2), 2, 1);
	place = tt_distribution_find(&d, 2 * 3);
	CHECK_INT(place.core, 0);
	CHECK_INT(place.page, 6);
}

#define PAD UINT64_MAX

/* Upstream's own test of distributions: elements, pages, cores; what a core then holds. */
static const struct {
	struct ttnn_shape tensor, shard;
	uint32_t page_rows, page_cols;
	struct ttnn_core_range ranges[3];
	size_t range_count;
	enum ttnn_orientation orientation;
	uint64_t cores, device_pages;
	uint64_t core, held[24]; /* the first pages of one core */
	size_t held_count;
} known[] = {
	{{3, {2, 64, 96}},
	 {3, {1, 32, 64}},
	 32,
	 32,
	 {{{0, 0}, {3, 3}}},
	 1,
	 TTNN_ORIENT_ROW_MAJOR,
	 8,
	 16,
	 1,
	 {2, PAD},
	 2},
	{{3, {2, 128, 64}},
	 {3, {1, 64, 96}},
	 32,
	 32,
	 {{{4, 6}, {6, 6}}, {{1, 1}, {1, 1}}, {{0, 3}, {3, 3}}},
	 3,
	 TTNN_ORIENT_ROW_MAJOR,
	 4,
	 24,
	 3,
	 {12, 13, PAD, 14, 15, PAD},
	 6},
	{{3, {2, 3, 32}},
	 {3, {2, 4, 16}},
	 1,
	 16,
	 {{{0, 0}, {3, 3}}},
	 1,
	 TTNN_ORIENT_ROW_MAJOR,
	 2,
	 16,
	 1,
	 {1, 3, 5, PAD, 7, 9, 11, PAD},
	 8},
	{{5, {3, 2, 2, 3, 4}},
	 {5, {1, 1, 2, 2, 4}},
	 1,
	 4,
	 {{{0, 0}, {1, 4}}},
	 1,
	 TTNN_ORIENT_COL_MAJOR,
	 10,
	 80,
	 9,
	 {26, PAD, 29, PAD, PAD, PAD, PAD, PAD},
	 8},
	{{4, {5, 2, 64, 96}},
	 {4, {2, 1, 64, 64}},
	 32,
	 32,
	 {{{0, 0}, {2, 0}}, {{0, 1}, {1, 1}}},
	 2,
	 TTNN_ORIENT_ROW_MAJOR,
	 5,
	 120,
	 4,
	 {24,  25,  27,  28,  36,  37,  39,  40,  50,  PAD, 53,  PAD,
	  PAD, PAD, PAD, PAD, PAD, PAD, PAD, PAD, PAD, PAD, PAD, PAD},
	 24},
	{{4, {5, 2, 64, 96}},
	 {4, {5, 2, 32, 32}},
	 32,
	 32,
	 {{{0, 0}, {3, 3}}},
	 1,
	 TTNN_ORIENT_ROW_MAJOR,
	 6,
	 60,
	 0,
	 {0},
	 1},
	{{4, {5, 2, 64, 128}},
	 {4, {3, 2, 64, 64}},
	 1,
	 64,
	 {{{0, 0}, {3, 3}}},
	 1,
	 TTNN_ORIENT_COL_MAJOR,
	 4,
	 1536,
	 0,
	 {0},
	 1},
	{{6, {2, 3, 4, 5, 6, 128}},
	 {6, {3, 1, 5, 4, 2, 128}},
	 1,
	 128,
	 {{{0, 0}, {1, 1}}},
	 1,
	 TTNN_ORIENT_COL_MAJOR,
	 4,
	 2400,
	 0,
	 {0},
	 1},
};

static struct ttnn_shape in_pages(struct ttnn_shape shape, uint32_t rows, uint32_t cols)
{
	shape.dim[shape.rank - 1] = (shape.dim[shape.rank - 1] + cols - 1) / cols;
	shape.dim[shape.rank - 2] = (shape.dim[shape.rank - 2] + rows - 1) / rows;
	return shape;
}

TEST(known_distributions)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint32_t rows = known[i].page_rows, cols = known[i].page_cols;
		struct ttnn_shape tensor = in_pages(known[i].tensor, rows, cols);
		struct ttnn_nd_shard_spec shard = {.shape = in_pages(known[i].shard, rows, cols),
						   .orientation = known[i].orientation};
		struct tt_distribution d;

		CHECK_OK(ttnn_core_set_make(&shard.grid, known[i].ranges, known[i].range_count));
		CHECK_OK(tt_distribution_of(&d, &tensor, &shard));
		CHECK_INT(tt_distribution_cores(&d), known[i].cores);
		CHECK_INT(tt_distribution_core_pages(&d) * tt_distribution_cores(&d),
			  known[i].device_pages);
		for (size_t page = 0; page < known[i].held_count; page++) {
			uint64_t host = PAD;

			tt_distribution_host(&host, &d, known[i].core, page);
			CHECK_INT(host, known[i].held[page]);
		}
	}
}

TEST(absurd_distributions_are_refused)
{
	struct ttnn_nd_shard_spec shard = {.shape = TT_SHAPE(1, 1)};
	struct ttnn_spec_args args = {.shape = TT_SHAPE(64, 64), .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;
	struct tt_distribution d;

	CHECK_OK(tt_core_set_grid(&shard.grid, 8, 8));
	CHECK_FAILS(tt_distribution_of(&d, &TT_SHAPE(1 << 20, 1 << 20, 2), &shard), TTNN_INVALID,
		    "2^32 pages in one direction");
	CHECK_FAILS(tt_distribution_of(&d, &(struct ttnn_shape){0}, &shard), TTNN_INVALID,
		    "Tensor rank must be at least 1!");
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_FAILS(tt_distribution_make(&d, &spec), TTNN_INVALID, "interleaved");
	args.memory.layout = TTNN_WIDTH_SHARDED;
	args.layout = TTNN_ROW_MAJOR;
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_FAILS(tt_distribution_make(&d, &spec), TTNN_INVALID,
		    "MemoryConfig must have Shard Spec specified");
}

SCENARIO(distributions_without_memory)
{
	struct ttnn_nd_shard_spec shard = {.shape = TT_SHAPE(2, 2), .strategy = TTNN_GRID_2D};
	struct tt_distribution d;

	TT_TRY(tt_core_set_grid(&shard.grid, 8, 8));
	return tt_distribution_of(&d, &TT_SHAPE(5, 7), &shard);
}
