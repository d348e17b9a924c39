/*
 * Random tensors allocated and freed in random order, against a slow model that shares no function
 * with the code under test: shards are dealt out one by one, memory is a map of granules.
 * @slow
 */
#include "test.h"

#include "device/buffer.h"

#define UNITS 1024 /* granules of each region */
#define GRANULE 32
#define DRAM_BASE 64
#define L1_BASE 96
#define MAX_PAGES 4096

static const struct tt_devmem_config small_chip = {
	.allocator = {.dram_banks = 12,
		      .dram_align = GRANULE,
		      .l1_align = 16,
		      .dram_base = DRAM_BASE,
		      .dram_bank_size = DRAM_BASE + UNITS * GRANULE,
		      .l1_base = L1_BASE,
		      .l1_size = L1_BASE + UNITS * GRANULE},
	.grid_width = 8,
	.grid_height = 8,
	.chips = 1,
};

static uint64_t state = 2024;

static uint32_t pick(uint32_t low, uint32_t high)
{
	return low + (uint32_t)(test_random(&state) % (high - low + 1));
}

static uint32_t up(uint32_t value, uint32_t multiple)
{
	while (value % multiple)
		value++;
	return value;
}

/* ---- a random tensor ----------------------------------------------------------------------- */

/* Everything the model needs to know, in its own words. */
struct tensor {
	struct ttnn_spec_args args;
	uint32_t rank, dim[4];   /* padded, in elements */
	uint32_t shard[4];       /* of the same rank, in elements */
	uint32_t page_h, page_w; /* in elements */
	uint32_t page_bytes;
	bool sharded, contiguous;
	struct ttnn_core cores[64];
	uint32_t core_count;
	/* found out by dealing: */
	uint32_t pages, bank_pages, used_cores;
	struct {
		uint32_t core, slot;
	} place[MAX_PAGES];
};

static uint32_t element_bytes(enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 ? 4 : dtype == TTNN_BFLOAT16 ? 2 : 1;
}

/* One or two rectangles, and their cores in the order shards are dealt. */
static const ttnn_core_set *random_cores(struct tensor *t, enum ttnn_orientation orientation,
					 bool one_row)
{
	struct ttnn_core_range ranges[2];
	const ttnn_core_set *set = NULL;
	size_t count = one_row ? 1 : pick(1, 2);
	uint32_t split = pick(1, 7); /* the second is below the first */

	ranges[0].start = (struct ttnn_core){pick(0, 3), 0};
	ranges[0].end = (struct ttnn_core){pick(3, 7), one_row ? 0 : split - 1};
	ranges[1].start = (struct ttnn_core){pick(0, 3), split};
	ranges[1].end = (struct ttnn_core){pick(3, 7), pick(split, 7)};
	for (size_t r = 0; r < count; r++) {
		uint32_t w = ranges[r].end.x - ranges[r].start.x + 1;
		uint32_t h = ranges[r].end.y - ranges[r].start.y + 1;

		for (uint32_t i = 0; i < w * h; i++)
			t->cores[t->core_count++] =
				orientation == TTNN_ORIENT_ROW_MAJOR
					? (struct ttnn_core){ranges[r].start.x + i % w,
							     ranges[r].start.y + i / w}
					: (struct ttnn_core){ranges[r].start.x + i / h,
							     ranges[r].start.y + i % h};
	}
	CHECK_OK(ttnn_core_set_make(&set, ranges, count));
	return set;
}

static void random_shape(struct tensor *t)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_UINT8,
						 TTNN_BFLOAT8_B};
	bool tiled = pick(0, 1);

	t->args.layout = tiled ? TTNN_TILE : TTNN_ROW_MAJOR;
	t->args.dtype = dtypes[pick(0, tiled ? 3 : 2)];
	t->rank = t->args.shape.rank = pick(2, 4);
	for (uint32_t i = 0; i < t->rank; i++) {
		bool outer = i + 2 < t->rank;

		t->dim[i] = t->args.shape.dim[i] = pick(1, outer ? 3 : tiled ? 130 : 40);
		if (tiled && !outer)
			t->dim[i] = up(t->dim[i], 32);
	}
}

/* Two dimensions: what lies further out counts as rows. */
static void fold_rows(struct tensor *t)
{
	for (; t->rank > 2; t->rank--) {
		t->dim[1] *= t->dim[0];
		memmove(t->dim, t->dim + 1, (t->rank - 1) * sizeof(t->dim[0]));
	}
}

static uint32_t shards_along(uint32_t extent, uint32_t shard)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < extent; at += shard)
		count++;
	return count;
}

/* A rectangle that the shards fill a corner of; only that corner is dealt to. */
static tt_status shard_by_block(struct tensor *t, struct ttnn_shard_spec *spec)
{
	bool by_row = spec->orientation == TTNN_ORIENT_ROW_MAJOR;
	uint32_t down = shards_along(t->dim[0], t->shard[0]);
	uint32_t across = shards_along(t->dim[1], t->shard[1]);
	uint32_t wide = by_row ? across : down, high = by_row ? down : across;
	struct ttnn_core_range range = {{0, 0}, {7, 7}};

	if (wide > 8 || high > 8)
		return TTNN_INVALID;
	range.start = (struct ttnn_core){pick(0, 8 - wide), pick(0, 8 - high)};
	for (uint32_t i = 0; i < wide * high; i++)
		t->cores[t->core_count++] = by_row ? (struct ttnn_core){range.start.x + i % wide,
									range.start.y + i / wide}
						   : (struct ttnn_core){range.start.x + i / high,
									range.start.y + i % high};
	return ttnn_core_set_make(&spec->grid, &range, 1);
}

static tt_status random_legacy(struct tensor *t)
{
	static const enum ttnn_memory_layout layouts[] = {TTNN_HEIGHT_SHARDED, TTNN_WIDTH_SHARDED,
							  TTNN_BLOCK_SHARDED};
	enum ttnn_memory_layout layout = layouts[pick(0, 2)];
	struct ttnn_shard_spec spec = {.orientation = (enum ttnn_orientation)pick(0, 1)};
	uint32_t step = t->args.layout == TTNN_TILE ? 32 : 1;

	fold_rows(t);
	t->shard[0] = layout == TTNN_WIDTH_SHARDED ? t->dim[0] : up(pick(1, t->dim[0]), step);
	t->shard[1] = layout == TTNN_HEIGHT_SHARDED ? t->dim[1] : up(pick(1, t->dim[1]), step);
	if (t->args.layout == TTNN_ROW_MAJOR)
		t->dim[1] = up(t->dim[1], t->shard[1]);
	if (layout == TTNN_BLOCK_SHARDED)
		TT_TRY(shard_by_block(t, &spec));
	else
		spec.grid = random_cores(t, spec.orientation, false);
	if (shards_along(t->dim[0], t->shard[0]) * shards_along(t->dim[1], t->shard[1]) >
	    t->core_count)
		return TTNN_INVALID;
	spec.height = t->shard[0];
	spec.width = t->shard[1];
	if (t->args.layout == TTNN_ROW_MAJOR)
		t->page_w = layout == TTNN_HEIGHT_SHARDED ? t->dim[1] : t->shard[1];
	return ttnn_memory_config_sharded(&t->args.memory, layout, TTNN_L1, &spec);
}

static tt_status random_nd(struct tensor *t)
{
	enum ttnn_buffer_type buffer = pick(0, 1) ? TTNN_L1 : TTNN_DRAM;
	struct ttnn_nd_shard_spec spec = {.orientation = (enum ttnn_orientation)pick(0, 1)};
	uint32_t step = t->args.layout == TTNN_TILE ? 32 : 1;

	t->contiguous = pick(0, 1);
	spec.strategy = t->contiguous ? TTNN_CONTIGUOUS_1D : TTNN_ROUND_ROBIN_1D;
	spec.shape.rank = t->rank;
	for (uint32_t i = 0; i < t->rank; i++) {
		t->shard[i] = pick(1, t->dim[i] + 1);
		if (i + 2 >= t->rank)
			t->shard[i] = up(t->shard[i], step);
		spec.shape.dim[i] = t->shard[i];
	}
	if (t->args.layout == TTNN_ROW_MAJOR) {
		t->page_w = t->shard[t->rank - 1];
		t->dim[t->rank - 1] = up(t->dim[t->rank - 1], t->page_w);
	}
	spec.grid = random_cores(t, spec.orientation, buffer == TTNN_DRAM);
	return ttnn_memory_config_nd(&t->args.memory, buffer, &spec);
}

/* ---- dealing ------------------------------------------------------------------------------- */

/* Extents in pages. */
static void in_pages(uint32_t *out, const struct tensor *t, const uint32_t *extents)
{
	for (uint32_t i = 0; i < t->rank; i++) {
		uint32_t page = i + 1 == t->rank ? t->page_w : i + 2 == t->rank ? t->page_h : 1;

		out[i] = up(extents[i], page) / page;
	}
}

/* The next position of a grid, row by row; false behind the last. */
static bool advance(uint32_t *at, const uint32_t *extents, uint32_t rank)
{
	for (uint32_t i = rank; i-- > 0;) {
		if (++at[i] < extents[i])
			return true;
		at[i] = 0;
	}
	return false;
}

/* Puts the pages of one shard on a core, from slot on; padding takes slots too. */
static void deal_shard(struct tensor *t, const uint32_t *shard_at, uint32_t core, uint32_t slot)
{
	uint32_t size[4], extent[4], inside[4] = {0};

	in_pages(size, t, t->shard);
	in_pages(extent, t, t->dim);
	do {
		uint32_t page = 0;
		bool padding = false;

		for (uint32_t i = 0; i < t->rank; i++) {
			uint32_t at = shard_at[i] * size[i] + inside[i];

			padding = padding || at >= extent[i];
			page = page * extent[i] + at;
		}
		if (!padding) {
			t->place[page].core = core;
			t->place[page].slot = slot;
		}
		slot++;
	} while (advance(inside, size, t->rank));
}

static void deal(struct tensor *t)
{
	uint32_t size[4], extent[4], grid[4], at[4] = {0}, next[64] = {0};
	uint32_t shard_pages = 1, shards = 1, per_core, core = 0, dealt = 0;

	in_pages(size, t, t->shard);
	in_pages(extent, t, t->dim);
	for (uint32_t i = 0; i < t->rank; i++) {
		shard_pages *= size[i];
		grid[i] = shards_along(extent[i], size[i]);
		shards *= grid[i];
	}
	per_core = shards_along(shards, t->core_count);
	do {
		deal_shard(t, at, core, next[core]);
		next[core] += shard_pages;
		dealt++;
		if (!t->contiguous)
			core = core + 1 == t->core_count ? 0 : core + 1;
		else if (dealt % per_core == 0)
			core++;
	} while (advance(at, grid, t->rank));
	t->bank_pages = per_core * shard_pages;
	t->used_cores = shards < t->core_count ? shards : t->core_count;
}

static void spread(struct tensor *t, uint32_t banks)
{
	uint32_t bank = 0, row = 0;

	for (uint32_t page = 0; page < t->pages; page++) {
		t->place[page].core = bank;
		t->place[page].slot = row;
		t->bank_pages = row + 1;
		if (++bank == banks) {
			bank = 0;
			row++;
		}
	}
}

/* False for a tensor that is not to be had; draw another one. */
static bool random_tensor(struct tensor *t)
{
	uint32_t kind = pick(0, 2), bytes, extent[4];
	tt_status status = TTNN_OK;

	memset(t, 0, sizeof(*t));
	random_shape(t);
	t->page_h = t->args.layout == TTNN_TILE ? 32 : 1;
	t->page_w = t->args.layout == TTNN_TILE ? 32 : t->dim[t->rank - 1];
	t->sharded = kind != 0;
	if (kind == 0)
		t->args.memory.buffer = pick(0, 1) ? TTNN_L1 : TTNN_DRAM;
	else
		status = kind == 1 ? random_legacy(t) : random_nd(t);
	if (status != TTNN_OK)
		return false;
	bytes = t->page_h * t->page_w * element_bytes(t->args.dtype);
	t->page_bytes = t->args.dtype == TTNN_BFLOAT8_B ? 1088 : bytes;
	in_pages(extent, t, t->dim);
	t->pages = 1;
	for (uint32_t i = 0; i < t->rank; i++)
		t->pages *= extent[i];
	if (t->pages > MAX_PAGES)
		return false;
	if (t->sharded)
		deal(t);
	else
		spread(t, t->args.memory.buffer == TTNN_DRAM ? 12 : 64);
	return true;
}

/* ---- memory -------------------------------------------------------------------------------- */

struct model {
	uint8_t taken[2][UNITS]; /* DRAM, L1 */
};

/* The address, or 0 when there is no room. DRAM from the bottom, L1 from the top. */
static uint64_t model_take(struct model *model, bool l1, uint32_t units)
{
	uint8_t *taken = model->taken[l1];

	for (uint32_t i = 0; i + units <= UNITS; i++) {
		uint32_t start = l1 ? UNITS - units - i : i, free = 0;

		while (free < units && !taken[start + free])
			free++;
		if (free == units) {
			memset(taken + start, 1, units);
			return (l1 ? L1_BASE : DRAM_BASE) + (uint64_t)start * GRANULE;
		}
	}
	return 0;
}

struct held {
	struct tt_buffer *buffer;
	uint32_t units;
};

static void release(struct model *model, struct held *held)
{
	bool l1;

	if (!held->buffer)
		return;
	l1 = held->buffer->layout.type == TTNN_L1;
	memset(model->taken[l1] + (held->buffer->address - (l1 ? L1_BASE : DRAM_BASE)) / GRANULE, 0,
	       held->units);
	tt_buffer_unref(held->buffer);
	held->buffer = NULL;
}

static bool same_pages(const struct tensor *t, const struct tt_buffer *buffer)
{
	const struct tt_banks *banks = tt_devmem_banks(buffer->memory, buffer->layout.type);

	for (uint32_t i = 0; i < t->pages; i++) {
		struct tt_buffer_page page = tt_buffer_find_page(buffer, i);
		struct ttnn_core core =
			t->sharded ? t->cores[t->place[i].core] : banks->cores[t->place[i].core];

		if (page.core.x != core.x || page.core.y != core.y ||
		    page.address !=
			    buffer->address + t->place[i].slot * buffer->layout.aligned_page)
			return false;
	}
	return true;
}

/* Allocates in both; false when they disagree. */
static bool allocate(struct held *held, struct model *model, struct tt_devmem *memory,
		     const struct tensor *t)
{
	bool l1 = t->args.memory.buffer == TTNN_L1;
	uint32_t aligned = up(t->page_bytes, l1 ? 16 : GRANULE);
	uint32_t bytes = t->bank_pages * aligned;
	struct ttnn_tensor_spec spec;
	struct tt_buffer_layout layout;
	uint64_t want;
	tt_status status;

	if (ttnn_tensor_spec_make(&spec, &t->args) != TTNN_OK ||
	    tt_buffer_layout_make(&layout, memory, &spec) != TTNN_OK)
		return false;
	if (layout.pages != t->pages || layout.page_size != t->page_bytes ||
	    layout.aligned_page != aligned || layout.bank_bytes != bytes ||
	    layout.cores != t->used_cores)
		return false;
	held->units = up(bytes, GRANULE) / GRANULE;
	want = held->units > UNITS ? 0 : model_take(model, l1, held->units);
	status = tt_buffer_new(&held->buffer, memory, &layout, NULL);
	if (!want)
		return status == TTNN_DEVICE_OOM;
	return status == TTNN_OK && held->buffer->address == want &&
	       (pick(0, 3) || same_pages(t, held->buffer));
}

TEST(a_hundred_thousand_sequences_of_tensors)
{
	static struct tensor tensor;
	static struct model model;
	uint64_t buffers = 0, refused = 0;
	int sequences = 0;

	for (; sequences < 100000 && !test_failures; sequences++) {
		struct tt_devmem *memory = NULL;
		struct held held[4] = {{NULL, 0}};

		memset(&model, 0, sizeof(model));
		CHECK_OK(tt_devmem_new(&memory, &small_chip));
		for (int i = 0; i < 8 && memory; i++) {
			struct held *slot = &held[pick(0, 3)];

			release(&model, slot);
			if (!random_tensor(&tensor))
				continue;
			if (!allocate(slot, &model, memory, &tensor))
				TEST_FAIL("sequence %d, step %d: %s", sequences, i, ttnn_error());
			*(slot->buffer ? &buffers : &refused) += 1;
		}
		for (int i = 0; i < 4; i++)
			release(&model, &held[i]);
		tt_devmem_unref(memory);
	}
	printf("%d sequences, %" PRIu64 " buffers, %" PRIu64 " without room\n", sequences, buffers,
	       refused);
	CHECK(buffers > 200000 && refused > 10000); /* both happen, often */
}
