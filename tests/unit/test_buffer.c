/* buffers: sizes per bank, refused grids, pages, lifetimes, events, several owners: @threads */
#include "test.h"

#include <pthread.h>
#include <sched.h>

#include "device/buffer.h"
#include "event/event.h"
#include "tensor/shape.h"

static const struct tt_devmem_config n150 = {
	.allocator = {.dram_banks = 12,
		      .dram_align = 32,
		      .l1_align = 16,
		      .dram_base = 1048640,
		      .dram_bank_size = 1073741824,
		      .l1_base = 105824,
		      .l1_size = 1499136,
		      .l1_small_size = 16384},
	.grid_width = 8,
	.grid_height = 8,
	.chips = 1,
	.device_id = 7,
};

static struct tt_devmem *open_n150(void)
{
	struct tt_devmem *memory = NULL;

	CHECK_OK(tt_devmem_new(&memory, &n150));
	return memory;
}

static const ttnn_core_set *grid(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
	const ttnn_core_set *set = NULL;
	struct ttnn_core_range range = {{x0, y0}, {x1, y1}};

	CHECK_OK(ttnn_core_set_make(&set, &range, 1));
	return set;
}

static struct ttnn_memory_config sharded(enum ttnn_memory_layout layout,
					 enum ttnn_buffer_type buffer, const ttnn_core_set *cores,
					 uint32_t height, uint32_t width)
{
	struct ttnn_shard_spec shard = {.grid = cores, .height = height, .width = width};
	struct ttnn_memory_config config = {0};

	CHECK_OK(ttnn_memory_config_sharded(&config, layout, buffer, &shard));
	return config;
}

static tt_status layout_of(struct tt_buffer_layout *out, const struct tt_devmem *memory,
			   const struct ttnn_spec_args *args)
{
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, args));
	return tt_buffer_layout_make(out, memory, &spec);
}

static struct tt_buffer *new_raw(struct tt_devmem *memory, enum ttnn_buffer_type type,
				 uint64_t size)
{
	struct tt_buffer_layout layout;
	struct tt_buffer *buffer = NULL;

	CHECK_OK(tt_buffer_layout_raw(&layout, memory, type, size, 2048));
	CHECK_OK(tt_buffer_new(&buffer, memory, &layout, NULL));
	return buffer;
}

/* ---- sizes --------------------------------------------------------------------------------- */

TEST(bytes_per_bank_of_known_tensors)
{
	static const struct {
		uint32_t height, width;
		enum ttnn_dtype dtype;
		enum ttnn_buffer_type type;
		uint64_t bank_bytes;
	} rows[] = {
		{1, 1, TTNN_UINT8, TTNN_DRAM, 32},       {12, 1, TTNN_UINT8, TTNN_DRAM, 32},
		{12, 32, TTNN_UINT8, TTNN_DRAM, 32},     {13, 32, TTNN_UINT8, TTNN_DRAM, 64},
		{13, 33, TTNN_UINT8, TTNN_DRAM, 128},    {1, 1, TTNN_BFLOAT16, TTNN_DRAM, 32},
		{12, 16, TTNN_BFLOAT16, TTNN_DRAM, 32},  {13, 16, TTNN_BFLOAT16, TTNN_DRAM, 64},
		{13, 17, TTNN_BFLOAT16, TTNN_DRAM, 128}, {1, 1, TTNN_UINT8, TTNN_L1, 16},
		{64, 1, TTNN_UINT8, TTNN_L1, 16},        {64, 16, TTNN_UINT8, TTNN_L1, 16},
		{65, 16, TTNN_UINT8, TTNN_L1, 32},       {65, 17, TTNN_UINT8, TTNN_L1, 64},
		{64, 8, TTNN_BFLOAT16, TTNN_L1, 16},     {65, 8, TTNN_BFLOAT16, TTNN_L1, 32},
		{65, 9, TTNN_BFLOAT16, TTNN_L1, 64},
	};
	struct tt_devmem *memory = open_n150();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ttnn_spec_args args = {.shape = TT_SHAPE(rows[i].height, rows[i].width),
					      .dtype = rows[i].dtype,
					      .memory.buffer = rows[i].type};
		struct tt_buffer_layout layout;

		CHECK_OK(layout_of(&layout, memory, &args));
		CHECK_INT(layout.bank_bytes, rows[i].bank_bytes);
	}
	tt_devmem_unref(memory);
}

TEST(bytes_per_bank_of_known_buffers)
{
	static const struct {
		enum ttnn_buffer_type type;
		uint64_t size, page, bank_bytes;
	} rows[] = {
		{TTNN_DRAM, 2097152, 2048, 176128}, /* 1024 × 1024 bfloat16 */
		{TTNN_DRAM, 65536, 2048, 6144},
		{TTNN_DRAM, 26624, 2048, 4096}, /* code of a kernel */
		{TTNN_L1, 65536, 2048, 2048},
		{TTNN_DRAM, UINT64_C(1417472) * 4096, 4096, 483831808},
		{TTNN_L1, 134217728, 2048, 2097152},
		{TTNN_DRAM, 725745664, 3584, 60480000},
		{TTNN_TRACE, 33, 33, 64},
		{TTNN_DRAM, 0, 0, 0},
	};
	struct tt_devmem *memory = open_n150();
	struct tt_buffer_layout layout;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_OK(tt_buffer_layout_raw(&layout, memory, rows[i].type, rows[i].size,
					      rows[i].page));
		CHECK_INT(layout.bank_bytes, rows[i].bank_bytes);
		CHECK_INT(layout.cores, 0);
	}
	CHECK_FAILS(tt_buffer_layout_raw(&layout, memory, TTNN_L1, 100, 64), TTNN_INVALID,
		    "For valid non-interleaved buffers page size 64 must equal buffer size 100. "
		    "For interleaved-buffers, buffer size should be divisible by the page size");
	CHECK_FAILS(tt_buffer_layout_raw(&layout, memory, TTNN_L1, 100, 0), TTNN_INVALID,
		    "page size 0 must equal buffer size 100");
	CHECK_FAILS(tt_buffer_layout_raw(&layout, memory, TTNN_L1, UINT64_MAX, 1), TTNN_INVALID,
		    "more than 2^64 bytes");
	CHECK_FAILS(tt_buffer_layout_raw(&layout, memory, TTNN_L1, UINT64_MAX, UINT64_MAX),
		    TTNN_INVALID, "more than 2^64 bytes");
	tt_devmem_unref(memory);
}

/* More cores than shards: those without data set nothing aside, and are not counted. */
TEST(sharded_sizes)
{
	struct tt_devmem *memory = open_n150();
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(1, 1, 256, 64),
		.layout = TTNN_TILE,
		.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_L1, grid(0, 0, 7, 3), 32, 64)};
	struct tt_buffer_layout layout;

	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK(layout.cores == 8 && layout.banks == 8 && layout.pages == 16);
	CHECK(layout.bank_bytes == 4096 && layout.total_bytes == 32768);
	args.layout = TTNN_ROW_MAJOR;
	args.shape = TT_SHAPE(1, 1, 100, 50);
	args.memory = sharded(TTNN_BLOCK_SHARDED, TTNN_L1, grid(0, 0, 7, 7), 32, 20);
	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK(layout.page_size == 40 && layout.aligned_page == 48 && layout.bank_pages == 32);
	CHECK(layout.cores == 12 && layout.bank_bytes == 32 * 48 && layout.pages == 300);
	args.shape = TT_SHAPE(0, 64);
	args.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_L1, grid(0, 0, 7, 0), 32, 64);
	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK(layout.size == 0 && layout.cores == 0 && layout.bank_bytes == 0);
	tt_devmem_unref(memory);
}

TEST(grids_the_device_cannot_serve)
{
	struct tt_devmem *memory = open_n150();
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(1, 1, 256, 64),
		.layout = TTNN_TILE,
		.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_L1, grid(0, 0, 8, 0), 32, 64)};
	struct tt_buffer_layout layout;

	CHECK_INT(layout_of(&layout, memory, &args), TTNN_INVALID);
	CHECK_STR(ttnn_error(),
		  "Invalid shard grid: shard core (8, 0) has no L1 bank on this device, which has "
		  "64 of them. Derive the shard grid from the device (dram_grid_size() for DRAM, "
		  "compute_with_storage_grid_size() for L1) rather than assuming a fixed size -- a "
		  "harvested device exposes fewer banks than an unharvested one of the same type. "
		  "An L1 shard core outside the compute grid is legal only while it is claimed via "
		  "ServiceCoreManager.");
	CHECK_STR(tt_fail_condition(),
		  "allocator.has_bank(bank_type, core) || is_claimed_service_core(core)");
	args.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_L1_SMALL, grid(0, 0, 7, 8), 32, 64);
	CHECK_FAILS(layout_of(&layout, memory, &args), TTNN_INVALID,
		    "shard core (0, 8) has no L1 bank on this device, which has 64 of them");
	args.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_DRAM, grid(5, 0, 12, 0), 32, 64);
	CHECK_FAILS(layout_of(&layout, memory, &args), TTNN_INVALID,
		    "shard core (12, 0) has no DRAM bank on this device, which has 12 of them");
	args.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_DRAM, grid(0, 0, 3, 1), 32, 64);
	CHECK_INT(layout_of(&layout, memory, &args), TTNN_INVALID);
	CHECK_STR(ttnn_error(),
		  "Invalid DRAM shard grid: shard core (0, 1) is not on row 0. DRAM banks are 1D "
		  "(bank_id == logical x-coordinate), so every shard core must have y == 0.");
	args.shape = TT_SHAPE(0, 64); /* refused even if nothing is to be placed */
	args.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_L1, grid(0, 0, 8, 0), 32, 64);
	CHECK_FAILS(layout_of(&layout, memory, &args), TTNN_INVALID, "shard core (8, 0)");
	/* A block of shards uses only the corner of the grid that it fills. */
	args.shape = TT_SHAPE(1, 1, 128, 128);
	args.memory = sharded(TTNN_BLOCK_SHARDED, TTNN_L1, grid(0, 0, 8, 8), 32, 32);
	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK_INT(layout.cores, 16);
	args.memory = sharded(TTNN_BLOCK_SHARDED, TTNN_L1, grid(5, 5, 9, 9), 32, 32);
	CHECK_FAILS(layout_of(&layout, memory, &args), TTNN_INVALID, "shard core (8, 5)");
	args.shape = TT_SHAPE(1, 1, 81 * 32, 64);
	args.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_L1, grid(0, 0, 8, 8), 32, 64);
	args.memory.shard.orientation = TTNN_ORIENT_COL_MAJOR; /* the order of asking */
	CHECK_FAILS(layout_of(&layout, memory, &args), TTNN_INVALID, "shard core (0, 8)");
	tt_devmem_unref(memory);
}

/* ---- pages --------------------------------------------------------------------------------- */

TEST(pages_of_known_buffers)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *buffer = NULL;
	struct tt_buffer_layout layout;
	struct tt_buffer_walk walk = {0};
	struct tt_buffer_page page = {0};
	struct ttnn_spec_args args = {.shape = TT_SHAPE(1, 1, 70, 50), .memory.buffer = TTNN_L1};

	/* Interleaved: 100 bytes a page, 112 apart; core of bank 0 is (1, 4), reported as bank 1. */
	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK_OK(tt_buffer_new(&buffer, memory, &layout, NULL));
	CHECK_INT(buffer->address, 1482528);
	CHECK_INT(tt_buffer_listed_bytes(buffer), 200);
	CHECK(tt_buffer_next_page(&page, &walk, buffer));
	CHECK(page.core.y == 4 && page.core.x == 1 && page.bank == 0 && page.reported_bank == 1);
	while (page.index < 63 && tt_buffer_next_page(&page, &walk, buffer))
		;
	CHECK(page.index == 63 && page.bank == 63 && page.reported_bank == 0);
	CHECK(tt_buffer_next_page(&page, &walk, buffer));
	CHECK(page.index == 64 && page.address == 1482640 && page.reported_bank == 1);
	while (tt_buffer_next_page(&page, &walk, buffer))
		;
	CHECK(page.index == 69 && page.core.y == 3 && page.core.x == 7);
	tt_buffer_unref(buffer);

	/* Columns over three of four cores: a core's pages are three apart. */
	args.shape = TT_SHAPE(1, 1, 20, 50);
	args.memory = sharded(TTNN_WIDTH_SHARDED, TTNN_L1, grid(0, 0, 3, 0), 20, 20);
	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK_OK(tt_buffer_new(&buffer, memory, &layout, NULL));
	CHECK_INT(buffer->address, 1481792);
	CHECK_INT(tt_buffer_listed_bytes(buffer), 800);
	page = tt_buffer_find_page(buffer, 15);
	CHECK(page.address == 1482032 && page.core.x == 0 && page.bank == 34);
	page = tt_buffer_find_page(buffer, 59);
	CHECK(page.address == 1482704 && page.core.x == 2 && page.reported_bank == 38);
	tt_buffer_unref(buffer);
	tt_devmem_unref(memory);
}

/* Every page is met exactly once, at a place of its own, where it is also found directly. */
TEST(pages_do_not_overlap)
{
	static const enum ttnn_memory_layout layouts[] = {TTNN_INTERLEAVED, TTNN_HEIGHT_SHARDED,
							  TTNN_WIDTH_SHARDED, TTNN_BLOCK_SHARDED};
	struct tt_devmem *memory = open_n150();

	for (size_t i = 0; i < 4; i++) {
		struct ttnn_spec_args args = {.shape = TT_SHAPE(3, 70, 90),
					      .memory.buffer = TTNN_L1};
		struct tt_buffer_walk walk = {0};
		struct tt_buffer_page page;
		struct tt_buffer *buffer = NULL;
		struct tt_buffer_layout layout;
		static bool met[1000], used[64][64];
		uint64_t count = 0;

		memset(met, 0, sizeof(met));
		memset(used, 0, sizeof(used));
		if (layouts[i] != TTNN_INTERLEAVED)
			args.memory = sharded(layouts[i], TTNN_L1, grid(0, 0, 7, 6),
					      layouts[i] == TTNN_WIDTH_SHARDED ? 210 : 32,
					      layouts[i] == TTNN_HEIGHT_SHARDED ? 90 : 40);
		if (layouts[i] == TTNN_WIDTH_SHARDED)
			args.shape = TT_SHAPE(210, 90);
		CHECK_OK(layout_of(&layout, memory, &args));
		CHECK_OK(tt_buffer_new(&buffer, memory, &layout, NULL));
		while (buffer && tt_buffer_next_page(&page, &walk, buffer)) {
			uint64_t slot = (page.address - buffer->address) / layout.aligned_page;
			struct tt_buffer_page same = tt_buffer_find_page(buffer, page.index);
			uint32_t bank;

			CHECK(tt_banks_find(&bank, &memory->l1, page.core) && bank == page.bank);
			CHECK(memcmp(&same, &page, sizeof(page)) == 0);
			CHECK(page.index < layout.pages && !met[page.index]);
			CHECK(slot < layout.bank_pages);
			if (layouts[i] != TTNN_WIDTH_SHARDED)
				CHECK(!used[page.bank][slot]);
			met[page.index] = used[page.bank][slot % 64] = true;
			count++;
		}
		CHECK_INT(count, layout.pages);
		tt_buffer_unref(buffer);
	}
	tt_devmem_unref(memory);
}

/* ---- lifetimes ----------------------------------------------------------------------------- */

TEST(owners_share_one_allocation)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *a = new_raw(memory, TTNN_DRAM, 4096), *b = tt_buffer_ref(a);
	struct tt_buffer *other, **list = NULL;
	size_t count = 0;

	CHECK_INT(a->address, 1048640);
	tt_buffer_unref(a);
	CHECK(tt_buffer_is_allocated(b));
	CHECK_OK(tt_devmem_list(&list, &count, memory));
	CHECK(count == 1 && list[0] == b);
	tt_devmem_free_list(list, count);
	a = tt_buffer_ref(b);
	tt_buffer_deallocate(a); /* by force: b loses it too */
	CHECK(!tt_buffer_is_allocated(b));
	other = new_raw(memory, TTNN_DRAM, 2048);
	CHECK_INT(other->address, 1048640);
	CHECK(other->id > b->id);
	tt_buffer_deallocate(b); /* nothing, and not the other's */
	CHECK(tt_buffer_is_allocated(other));
	CHECK_INT(tt_allocator_stats(&memory->allocator, TTNN_DRAM).taken, 2048);
	tt_buffer_unref(a);
	tt_buffer_unref(b);
	tt_buffer_unref(NULL);
	tt_devmem_unref(memory); /* other keeps it alive */
	tt_buffer_unref(other);
}

TEST(closing_deallocates_all)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *a = new_raw(memory, TTNN_DRAM, 4096);
	struct tt_buffer *b = new_raw(memory, TTNN_L1, 4096), *none = NULL;

	tt_devmem_close(memory);
	CHECK(!tt_buffer_is_allocated(a) && !tt_buffer_is_allocated(b));
	CHECK_INT(memory->live, 0);
	CHECK_INT(tt_allocator_stats(&memory->allocator, TTNN_L1).taken, 0);
	CHECK_FAILS(tt_buffer_new(&none, memory, &a->layout, NULL), TTNN_STATE, "closed");
	CHECK_INT(tt_allocator_stats(&memory->allocator, TTNN_DRAM).taken, 0);
	CHECK(!none);
	tt_buffer_unref(a);
	tt_devmem_unref(memory);
	tt_buffer_unref(b);
}

TEST(dry_runs)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *real = new_raw(memory, TTNN_L1, 2048), *blind = NULL, *shadow = NULL;
	struct tt_allocator copy = {0};
	struct tt_buffer_options options = {.mode = TT_BUFFER_BLIND};
	struct tt_buffer_layout huge, small;
	struct tt_buffer *other = NULL;

	CHECK_OK(tt_buffer_layout_raw(&huge, memory, TTNN_L1, UINT64_C(1) << 50, 2048));
	CHECK_OK(tt_buffer_new(&blind, memory, &huge, &options)); /* fits nowhere, is not placed */
	CHECK_INT(blind->address, 0);
	CHECK(tt_buffer_is_allocated(blind));
	CHECK_OK(tt_buffer_layout_raw(&small, memory, TTNN_L1_SMALL, 2048, 2048));
	CHECK_OK(tt_buffer_new(&other, memory, &small, &options)); /* refused when it is placed */
	tt_buffer_unref(other);
	CHECK_OK(tt_allocator_copy(&copy, &memory->allocator));
	options = (struct tt_buffer_options){.mode = TT_BUFFER_SHADOW, .shadow = &copy};
	CHECK_OK(tt_buffer_new(&shadow, memory, &real->layout, &options));
	CHECK_INT(shadow->address, real->address - 2048);
	CHECK_FAILS(tt_buffer_new(&blind, memory, &huge, &options), TTNN_DEVICE_OOM,
		    "Out of Memory");
	CHECK_INT(memory->live, 1);
	CHECK_INT(tt_allocator_stats(&memory->allocator, TTNN_L1).taken, 2048);
	tt_buffer_unref(shadow);
	CHECK_INT(tt_allocator_stats(&copy, TTNN_L1).taken, 2048);
	tt_buffer_unref(blind);
	tt_buffer_unref(real);
	tt_allocator_deinit(&copy);
	tt_devmem_unref(memory);
}

TEST(refused_buffers)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer_layout layout;
	struct tt_buffer *buffer = NULL;
	struct ttnn_spec_args args = {.shape = TT_SHAPE(1, 1, 32, 32),
				      .layout = TTNN_TILE,
				      .memory.buffer = TTNN_L1_SMALL};

	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK_FAILS(tt_buffer_new(&buffer, memory, &layout, NULL), TTNN_INVALID,
		    "L1_SMALL only supports sharded allocations, see validate_num_banks");
	CHECK_STR(tt_fail_condition(), "num_cores.has_value()");
	args.memory.buffer = TTNN_SYSTEM_MEMORY;
	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK_FAILS(tt_buffer_new(&buffer, memory, &layout, NULL), TTNN_INVALID,
		    "SYSTEM_MEMORY (2) is no memory of a device");
	args.memory = sharded(TTNN_HEIGHT_SHARDED, TTNN_TRACE, grid(0, 0, 7, 0), 32, 64);
	args.shape = TT_SHAPE(1, 1, 256, 64);
	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK_FAILS(
		tt_buffer_new(&buffer, memory, &layout, NULL), TTNN_DEVICE_OOM,
		"Out of Memory: Not enough space to allocate 32768 B TRACE buffer across 8 "
		"banks, where each bank needs to store 4096 B, but bank size is 0 B (allocated: "
		"0 B, free: 0 B, largest free block: 0 B).");
	args.memory = (struct ttnn_memory_config){.buffer = TTNN_L1};
	args.shape = TT_SHAPE(1, 1, 16384, 16384);
	CHECK_OK(layout_of(&layout, memory, &args));
	CHECK_FAILS(
		tt_buffer_new(&buffer, memory, &layout, NULL), TTNN_DEVICE_OOM,
		"Not enough space to allocate 536870912 B L1 buffer across 64 banks, where each "
		"bank needs to store 8388608 B, but bank size is 1376928 B");
	CHECK(!buffer && memory->live == 0);
	tt_devmem_unref(memory);
}

/* ---- events -------------------------------------------------------------------------------- */

struct ear {
	struct tt_event_listener listener;
	struct tt_event heard[8];
	size_t count;
};

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct ear *ear = (struct ear *)self;

	if (ear->count < 8)
		ear->heard[ear->count++] = *event;
}

TEST(allocation_and_deallocation_are_told)
{
	struct ear ear = {.listener.emit = hear};
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *a = NULL, *empty = NULL, *blind = NULL;
	struct tt_buffer_options options = {.mode = TT_BUFFER_BLIND};
	struct tt_buffer_layout layout;

	tt_event_listen(&ear.listener);
	a = new_raw(memory, TTNN_L1, 65536);
	CHECK_OK(tt_buffer_layout_raw(&layout, memory, TTNN_L1, 0, 0));
	CHECK_OK(tt_buffer_new(&empty, memory, &layout, NULL)); /* leaves no trace */
	CHECK_INT(empty->address, 0);
	CHECK_OK(tt_buffer_new(&blind, memory, &a->layout, &options));
	tt_buffer_unref(empty);
	tt_buffer_deallocate(a);
	tt_buffer_deallocate(a);
	tt_buffer_unref(blind);
	tt_event_listen(NULL);
	CHECK_INT(ear.count, 4);
	CHECK(ear.heard[0].kind == TT_EVENT_BUFFER_ALLOC && ear.heard[0].buffer.real);
	CHECK(ear.heard[0].buffer.buffer_id == a->id && ear.heard[0].buffer.device_id == 7);
	CHECK(ear.heard[0].buffer.size == 65536 && ear.heard[0].buffer.page_size == 2048);
	CHECK(ear.heard[0].buffer.bank_size == 2048 && ear.heard[0].buffer.cores == 0);
	CHECK(ear.heard[0].buffer.address == a->address);
	CHECK(ear.heard[1].kind == TT_EVENT_BUFFER_ALLOC && !ear.heard[1].buffer.real);
	CHECK(ear.heard[1].buffer.address == 0);
	CHECK(ear.heard[2].kind == TT_EVENT_BUFFER_FREE && ear.heard[2].buffer.buffer_id == a->id);
	CHECK(ear.heard[3].kind == TT_EVENT_BUFFER_FREE && !ear.heard[3].buffer.real);
	tt_buffer_unref(a);
	tt_devmem_unref(memory);
}

/* ---- data ---------------------------------------------------------------------------------- */

TEST(data_is_made_when_asked_for)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *buffer = new_raw(memory, TTNN_DRAM, 4096);
	struct tt_storage *first = NULL, *second = NULL, *third = NULL;
	char *bytes;

	CHECK(!buffer->data);
	CHECK_OK(tt_buffer_data(&first, buffer, 0, TT_BUFFER_READ));
	bytes = first->data;
	CHECK(first->bytes == 4096 && bytes[0] == 0 && bytes[4095] == 0);
	CHECK_OK(tt_buffer_data(&second, buffer, 0, TT_BUFFER_READ));
	CHECK(first == second);
	tt_storage_unref(second);
	tt_storage_unref(first);

	/* Alone with it: written in place. With a reader: the reader keeps what it saw. */
	CHECK_OK(tt_buffer_data(&first, buffer, 0, TT_BUFFER_UPDATE));
	CHECK(first->data == bytes);
	bytes[7] = 42;
	CHECK_OK(tt_buffer_data(&second, buffer, 0, TT_BUFFER_UPDATE));
	CHECK(second != first);
	CHECK_INT(((char *)second->data)[7], 42);
	((char *)second->data)[7] = 43;
	CHECK_INT(bytes[7], 42);
	CHECK_OK(tt_buffer_data(&third, buffer, 0, TT_BUFFER_READ));
	CHECK(third == second);
	tt_storage_unref(third);
	tt_storage_unref(second);
	CHECK_OK(tt_buffer_data(&second, buffer, 0, TT_BUFFER_OVERWRITE));
	tt_storage_unref(second);
	tt_buffer_deallocate(buffer);
	CHECK_INT(bytes[7], 42); /* still held */
	tt_storage_unref(first);
	CHECK_FAILS(tt_buffer_data(&second, buffer, 0, TT_BUFFER_READ), TTNN_STATE, "deallocated");
	CHECK_FAILS(tt_buffer_data(&second, buffer, 1, TT_BUFFER_READ), TTNN_INVALID, "no chip 1");
	tt_buffer_unref(buffer);
	tt_devmem_unref(memory);
}

TEST(data_that_was_set_is_never_written)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *buffer = new_raw(memory, TTNN_DRAM, 4096), *dry = NULL;
	struct tt_buffer_options options = {.mode = TT_BUFFER_BLIND};
	struct tt_storage *given = NULL, *seen = NULL, *small = NULL;

	CHECK_OK(tt_storage_new(&given, 4096));
	CHECK_OK(tt_storage_new(&small, 4095));
	memset(given->data, 1, 4096);
	CHECK_FAILS(tt_buffer_set_data(buffer, 0, small), TTNN_INVALID,
		    "a buffer of 4096 bytes cannot take 4095 bytes of host");
	CHECK_OK(tt_buffer_set_data(buffer, 0, given));
	CHECK_OK(tt_buffer_data(&seen, buffer, 0, TT_BUFFER_READ));
	CHECK(seen == given); /* no copy */
	tt_storage_unref(seen);
	CHECK_OK(tt_buffer_data(&seen, buffer, 0, TT_BUFFER_UPDATE));
	CHECK(seen != given && ((char *)seen->data)[9] == 1);
	tt_storage_unref(seen);
	CHECK_OK(tt_buffer_new(&dry, memory, &buffer->layout, &options));
	CHECK_FAILS(tt_buffer_data(&seen, dry, 0, TT_BUFFER_READ), TTNN_STATE, "dry run");
	CHECK_FAILS(tt_buffer_set_data(dry, 0, given), TTNN_STATE, "dry run");
	tt_storage_unref(small);
	tt_storage_unref(given);
	tt_buffer_unref(dry);
	tt_buffer_unref(buffer);
	tt_devmem_unref(memory);
}

TEST(a_tensor_keeps_its_buffer)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *buffer = new_raw(memory, TTNN_L1, 2048);
	struct tt_storage *storage = NULL, *host = NULL;
	uint32_t chip = 9;

	CHECK_OK(tt_buffer_storage_new(&storage, buffer, 0));
	tt_buffer_unref(buffer);
	CHECK(tt_buffer_of(&chip, storage) == buffer && chip == 0);
	CHECK(tt_buffer_is_allocated(buffer) && !storage->data && storage->bytes == 2048);
	CHECK_OK(tt_storage_new(&host, 1));
	CHECK(!tt_buffer_of(NULL, host));
	tt_storage_unref(host);
	tt_storage_unref(storage);
	CHECK_INT(memory->live, 0);
	tt_devmem_unref(memory);
}

/* ---- threads ------------------------------------------------------------------------------- */

struct worker {
	struct tt_devmem *memory;
	struct tt_buffer *shared;
	uint64_t random;
};

/* While another thread may deallocate it. */
static void read_some(struct tt_buffer *buffer)
{
	struct tt_storage *data = NULL;

	if (tt_buffer_data(&data, buffer, 0, TT_BUFFER_READ) != TTNN_OK)
		return;
	if (((char *)data->data)[data->bytes - 1] != 0)
		abort();
	tt_storage_unref(data);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct tt_buffer *held[16] = {NULL};
	struct tt_buffer_layout layout;

	for (int i = 0; i < 3000; i++) {
		size_t at = test_random(&worker->random) % 16;
		uint64_t pages = 1 + test_random(&worker->random) % 200;

		tt_buffer_unref(held[at]);
		held[at] = NULL;
		if (tt_buffer_layout_raw(&layout, worker->memory, TTNN_L1, pages * 2048, 2048) ==
		    TTNN_OK)
			(void)tt_buffer_new(&held[at], worker->memory, &layout, NULL);
		if (i % 100 == 0) {
			struct tt_buffer **list = NULL;
			size_t count = 0;

			if (tt_devmem_list(&list, &count, worker->memory) == TTNN_OK)
				tt_devmem_free_list(list, count);
			tt_buffer_unref(tt_buffer_ref(worker->shared));
			read_some(worker->shared);
		}
		if (i == 1500)
			tt_buffer_deallocate(worker->shared);
	}
	for (size_t i = 0; i < 16; i++)
		tt_buffer_unref(held[i]);
	tt_buffer_unref(worker->shared);
	return NULL;
}

TEST(eight_threads_make_buffers)
{
	struct tt_devmem *memory = open_n150();
	struct tt_buffer *shared = new_raw(memory, TTNN_L1, 2048);
	struct worker workers[8];
	pthread_t threads[8];

	for (uint64_t i = 0; i < 8; i++) {
		workers[i] = (struct worker){memory, tt_buffer_ref(shared), i};
		CHECK_INT(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	tt_buffer_unref(shared);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(memory->live, 0);
	CHECK_INT(tt_allocator_stats(&memory->allocator, TTNN_L1).taken, 0);
	tt_devmem_unref(memory);
}

/* Whatever closes the device meanwhile: a buffer is told of before it is told that it is gone. */
struct order {
	struct tt_event_listener listener;
	atomic_uchar seen[4096]; /* by id: 1 allocated, 2 freed */
	atomic_int wrong;
	uint64_t base;
};

static void hear_order(struct tt_event_listener *self, const struct tt_event *event)
{
	struct order *order = (struct order *)self;
	bool freed = event->kind == TT_EVENT_BUFFER_FREE;
	uint64_t at = event->buffer.buffer_id - order->base;

	if (at >= 4096 || (!freed && event->kind != TT_EVENT_BUFFER_ALLOC))
		return;
	if (!atomic_compare_exchange_strong(&order->seen[at], &(unsigned char){freed},
					    (unsigned char)(freed + 1)))
		atomic_fetch_add(&order->wrong, 1);
}

static void *allocate_until_closed(void *argument)
{
	struct tt_devmem *memory = argument;
	struct tt_buffer *held[64] = {NULL};
	struct tt_buffer_layout layout;
	tt_status status = tt_buffer_layout_raw(&layout, memory, TTNN_L1, 2048, 2048);

	for (size_t i = 0; i < 64 && status == TTNN_OK; i++)
		status = tt_buffer_new(&held[i], memory, &layout, NULL);
	for (size_t i = 0; i < 64; i++)
		tt_buffer_unref(held[i]);
	return NULL;
}

TEST(closing_while_others_allocate)
{
	static struct order order;

	order.listener.emit = hear_order;
	for (int round = 0; round < 200; round++) {
		struct tt_devmem *memory = open_n150();
		struct tt_buffer *first = new_raw(memory, TTNN_L1, 2048);
		pthread_t threads[2];

		order.base = first->id;
		memset((void *)order.seen, 0, sizeof(order.seen));
		atomic_store(&order.seen[0], 1);
		tt_event_listen(&order.listener);
		for (int i = 0; i < 2; i++)
			CHECK_INT(pthread_create(&threads[i], NULL, allocate_until_closed, memory),
				  0);
		if (round % 2)
			sched_yield();
		tt_devmem_close(memory);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		tt_buffer_unref(first);
		tt_event_listen(NULL);
		for (size_t i = 0; i < 200; i++)
			CHECK(order.seen[i] != 1); /* what was told of is gone */
		CHECK_INT(tt_allocator_stats(&memory->allocator, TTNN_L1).taken, 0);
		tt_devmem_unref(memory);
	}
	CHECK_INT(order.wrong, 0);
}

/* ---- without memory ------------------------------------------------------------------------ */

static tt_status make_some(struct tt_devmem *memory)
{
	struct tt_buffer *buffers[40] = {NULL}, **list;
	struct tt_storage *data = NULL;
	struct tt_buffer_layout layout;
	tt_status status = tt_buffer_layout_raw(&layout, memory, TTNN_DRAM, 4096, 2048);
	size_t count;

	for (int i = 0; i < 40 && status == TTNN_OK; i++)
		status = tt_buffer_new(&buffers[i], memory, &layout, NULL);
	if (status == TTNN_OK) {
		status = tt_devmem_list(&list, &count, memory);
		if (status == TTNN_OK)
			tt_devmem_free_list(list, count);
	}
	if (status == TTNN_OK)
		status = tt_buffer_data(&data, buffers[0], 0, TT_BUFFER_UPDATE);
	if (status == TTNN_OK)
		status = tt_buffer_set_data(buffers[1], 0, data);
	tt_storage_unref(data);
	if (status == TTNN_OK && tt_buffer_storage_new(&data, buffers[2], 0) == TTNN_OK)
		tt_storage_unref(data);
	for (int i = 0; i < 40; i++)
		tt_buffer_unref(buffers[i]);
	return status;
}

SCENARIO(buffers_survive_exhaustion)
{
	struct tt_devmem *memory = NULL;
	tt_status status = tt_devmem_new(&memory, &n150);

	if (status == TTNN_OK)
		status = make_some(memory);
	tt_devmem_unref(memory);
	return status;
}
