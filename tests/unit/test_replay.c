/*
 * Recorded allocations, repeated: every buffer is made from its tensor spec, and must get the recorded
 * pages, sizes and address; afterwards the same blocks must be taken. tests/data/alloc/README.md
 */
#include "test.h"

#include "base/json.h"
#include "device/buffer.h"

/* The chips that were recorded, and where their memory starts. */
static const struct chip {
	const char *name;
	uint32_t width, height, chips;
	struct tt_allocator_config memory;
} chips[] = {
	{"n150", 8, 8, 1, {12, 0, 32, 16, 1048640, 1073741824, 105824, 1499136, 0, 0}},
	{"p150", 11, 10, 1, {8, 0, 64, 16, 1048704, 4278190080, 111744, 1572864, 0, 0}},
	{"p150_x4", 11, 10, 4, {8, 0, 64, 16, 1048704, 4278190080, 111744, 1572864, 0, 0}},
};

struct replay {
	const struct chip *chip;
	struct tt_json_doc *doc;
	const struct tt_json *programs;
	const struct tt_json **specs;
	struct ttnn_tensor_spec *made; /* of specs */
	size_t spec_count;
	uint64_t program_count, address_count, free_count, spec_checks;
};

static uint64_t number(const struct tt_json *object, const char *key)
{
	uint64_t value = 0;

	tt_json_uint(&value, tt_json_get(object, key));
	return value;
}

/* ---- reading specs ------------------------------------------------------------------------- */

static size_t read_numbers(uint64_t *out, size_t room, const struct tt_json *array)
{
	struct tt_json_iter it = tt_json_iter(array);
	size_t count = 0;

	while (tt_json_next(&it) && count < room)
		tt_json_uint(&out[count++], it.value);
	return count;
}

static struct ttnn_shape read_shape(const struct tt_json *array)
{
	uint64_t dims[TTNN_MAX_RANK];
	struct ttnn_shape shape = {.rank = (uint32_t)read_numbers(dims, TTNN_MAX_RANK, array)};

	for (uint32_t i = 0; i < shape.rank; i++)
		shape.dim[i] = (uint32_t)dims[i];
	return shape;
}

static tt_status read_grid(const ttnn_core_set **out, const struct tt_json *array)
{
	uint64_t at[4 * 64];
	struct ttnn_core_range ranges[64];
	size_t count = read_numbers(at, 4 * 64, array) / 4;

	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct ttnn_core_range){
			{(uint32_t)at[4 * i], (uint32_t)at[4 * i + 1]},
			{(uint32_t)at[4 * i + 2], (uint32_t)at[4 * i + 3]}};
	return ttnn_core_set_make(out, ranges, count);
}

static tt_status read_memory(struct ttnn_memory_config *out, const struct tt_json *row)
{
	enum ttnn_buffer_type buffer = (enum ttnn_buffer_type)number(row, "buffer");
	enum ttnn_memory_layout layout = (enum ttnn_memory_layout)number(row, "memory");
	const struct tt_json *shard = tt_json_get(row, "shard"), *nd = tt_json_get(row, "nd");
	uint64_t n[4] = {0};

	if (nd) {
		struct ttnn_nd_shard_spec spec = {.shape = read_shape(tt_json_at(nd, 0))};

		TT_TRY(read_grid(&spec.grid, tt_json_at(nd, 1)));
		tt_json_uint(&n[2], tt_json_at(nd, 2));
		tt_json_uint(&n[3], tt_json_at(nd, 3));
		spec.orientation = (enum ttnn_orientation)n[2];
		spec.strategy = (enum ttnn_shard_strategy)n[3];
		return ttnn_memory_config_nd(out, buffer, &spec);
	}
	if (shard) {
		struct ttnn_shard_spec spec = {0};

		for (size_t i = 0; i < 4; i++)
			tt_json_uint(&n[i], tt_json_at(shard, i));
		TT_TRY(read_grid(&spec.grid, tt_json_at(shard, 2)));
		spec.height = (uint32_t)n[0];
		spec.width = (uint32_t)n[1];
		spec.orientation = (enum ttnn_orientation)n[3];
		return ttnn_memory_config_sharded(out, layout, buffer, &spec);
	}
	*out = (struct ttnn_memory_config){.layout = layout, .buffer = buffer};
	return TTNN_OK;
}

static tt_status read_spec(struct ttnn_tensor_spec *out, const struct tt_json *row)
{
	struct ttnn_spec_args args = {
		.shape = read_shape(tt_json_get(row, "shape")),
		.dtype = (enum ttnn_dtype)number(row, "dtype"),
		.layout = (enum ttnn_layout)number(row, "layout"),
		.alignment = read_shape(tt_json_get(row, "align")),
	};

	TT_TRY(read_memory(&args.memory, row));
	return ttnn_tensor_spec_make(out, &args);
}

/* ---- one file ------------------------------------------------------------------------------ */

static void replay_close(struct replay *replay)
{
	tt_json_free(replay->doc);
	tt_free(replay->specs);
	tt_free(replay->made);
}

static tt_status replay_open(struct replay *replay, const char *path)
{
	const struct tt_json *root, *specs;
	const char *device;
	struct tt_json_iter it;

	*replay = (struct replay){0};
	TT_TRY(tt_json_load(&replay->doc, path));
	root = tt_json_root(replay->doc);
	device = tt_json_string(tt_json_get(root, "device"), NULL);
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
		if (device && strcmp(chips[i].name, device) == 0)
			replay->chip = &chips[i];
	specs = tt_json_get(root, "specs");
	replay->programs = tt_json_get(root, "programs");
	replay->specs = tt_calloc(tt_json_count(specs), sizeof(*replay->specs));
	replay->made = tt_calloc(tt_json_count(specs), sizeof(*replay->made));
	if (!replay->chip || !replay->specs || !replay->made)
		return tt_fail(TTNN_FORMAT, "%s: no replay of a known chip", path);
	it = tt_json_iter(specs);
	while (tt_json_next(&it)) {
		TT_TRY(read_spec(&replay->made[replay->spec_count], it.value));
		replay->specs[replay->spec_count++] = it.value;
	}
	return TTNN_OK;
}

static void check_number(struct replay *replay, const struct tt_json *row, const char *key,
			 uint64_t got)
{
	uint64_t want;

	if (!tt_json_uint(&want, tt_json_get(row, key)))
		return;
	replay->spec_checks++;
	if (want != got)
		TEST_FAIL("%s: %s is %" PRIu64 ", not %" PRIu64, replay->chip->name, key, got,
			  want);
}

/* What a recording says about a buffer, whichever of it it says. */
static void check_layout(struct replay *replay, size_t index, const struct tt_buffer_layout *layout)
{
	const struct tt_json *row = replay->specs[index], *padded = tt_json_get(row, "padded");
	struct ttnn_shape want = read_shape(padded);

	check_number(replay, row, "pages", layout->pages);
	check_number(replay, row, "page", layout->page_size);
	check_number(replay, row, "aligned", layout->aligned_page);
	check_number(replay, row, "size", layout->size);
	check_number(replay, row, "bank", layout->bank_bytes);
	check_number(replay, row, "cores", layout->cores);
	if (padded) {
		replay->spec_checks++;
		CHECK(ttnn_shape_equal(&want, &replay->made[index].padded));
	}
}

/* ---- one program --------------------------------------------------------------------------- */

static const enum ttnn_buffer_type kinds[] = {TTNN_DRAM, TTNN_L1, TTNN_L1_SMALL};

static tt_status take_blocks(struct tt_devmem *memory, const struct tt_json *before)
{
	for (size_t k = 0; k < 3; k++) {
		struct tt_json_iter it = tt_json_iter(tt_json_at(before, k));
		uint64_t base = memory->allocator.region[kinds[k]].base, start = 0, size = 0;

		while (tt_json_next(&it)) {
			tt_json_uint(&start, it.value);
			tt_json_next(&it);
			tt_json_uint(&size, it.value);
			TT_TRY(tt_allocator_take_at(&memory->allocator, kinds[k], base + start,
						    size, 0));
		}
	}
	return TTNN_OK;
}

static bool same_blocks(struct tt_devmem *memory, const struct tt_json *after)
{
	for (size_t k = 0; k < 3; k++) {
		struct tt_json_iter it = tt_json_iter(tt_json_at(after, k));
		struct tt_freelist_block *blocks = NULL;
		uint64_t base = memory->allocator.region[kinds[k]].base, start = 0, size = 0;
		size_t count = 0;
		bool same = tt_allocator_blocks(&blocks, &count, &memory->allocator, kinds[k]) ==
			    TTNN_OK;

		for (size_t i = 0; i < count && same; i++) {
			if (!blocks[i].taken)
				continue;
			same = tt_json_next(&it) && tt_json_uint(&start, it.value) &&
			       tt_json_next(&it) && tt_json_uint(&size, it.value) &&
			       blocks[i].address == base + start && blocks[i].size == size;
		}
		tt_free(blocks);
		if (!same || tt_json_next(&it))
			return false;
	}
	return true;
}

struct run {
	struct replay *replay;
	const char *name;
	struct tt_devmem *memory;
	struct tt_buffer *buffers[4096]; /* born in this program */
	size_t count;
};

static tt_status run_allocate(struct run *run, size_t spec, uint64_t address)
{
	struct tt_buffer_layout layout;
	struct tt_buffer *buffer = NULL;

	TT_TRY(tt_buffer_layout_make(&layout, run->memory, &run->replay->made[spec]));
	check_layout(run->replay, spec, &layout);
	TT_TRY(tt_buffer_new(&buffer, run->memory, &layout, NULL));
	run->buffers[run->count++] = buffer;
	run->replay->address_count++;
	if (buffer->address != address)
		return tt_fail(TTNN_INVALID, "buffer %zu at %" PRIu64 ", not %" PRIu64, run->count,
			       buffer->address, address);
	return TTNN_OK;
}

/* A buffer of the program, or a block that was there before. */
static tt_status run_free(struct run *run, enum ttnn_buffer_type type, uint64_t address)
{
	run->replay->free_count++;
	for (size_t i = run->count; i-- > 0;) {
		struct tt_buffer *buffer = run->buffers[i];

		if (tt_buffer_is_allocated(buffer) && buffer->layout.size &&
		    buffer->layout.type == type && buffer->address == address) {
			tt_buffer_deallocate(buffer);
			return TTNN_OK;
		}
	}
	if (!tt_allocator_release(&run->memory->allocator, type, address))
		return tt_fail(TTNN_INVALID, "nothing to free at %" PRIu64, address);
	return TTNN_OK;
}

static tt_status run_steps(struct run *run, const struct tt_json *program)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(program, "steps"));
	int64_t what = 0;
	uint64_t address = 0;

	TT_TRY(take_blocks(run->memory, tt_json_get(program, "before")));
	while (tt_json_next(&it)) {
		tt_json_int(&what, it.value);
		tt_json_next(&it);
		tt_json_uint(&address, it.value);
		if (what < 0)
			TT_TRY(run_free(run, (enum ttnn_buffer_type)(-1 - what), address));
		else
			TT_TRY(run_allocate(run, (size_t)what, address));
	}
	return TTNN_OK;
}

static tt_status open_memory(struct tt_devmem **out, const struct replay *replay,
			     const struct tt_json *program)
{
	struct tt_devmem_config config = {
		.allocator = replay->chip->memory,
		.grid_width = replay->chip->width,
		.grid_height = replay->chip->height,
		.chips = replay->chip->chips,
	};

	config.allocator.l1_small_size = number(program, "l1_small");
	config.allocator.trace_region_size = number(program, "trace");
	return tt_devmem_new(out, &config);
}

static void run_program(struct replay *replay, const struct tt_json *program)
{
	static struct run run;
	tt_status status;

	run = (struct run){.replay = replay,
			   .name = tt_json_string(tt_json_get(program, "name"), NULL)};
	status = open_memory(&run.memory, replay, program);
	if (status == TTNN_OK)
		status = run_steps(&run, program);
	if (status != TTNN_OK)
		TEST_FAIL("%s: %s: %s", replay->chip->name, run.name, ttnn_error());
	else if (!same_blocks(run.memory, tt_json_get(program, "after")))
		TEST_FAIL("%s: %s: other blocks are taken at the end", replay->chip->name,
			  run.name);
	for (size_t i = 0; i < run.count; i++)
		tt_buffer_unref(run.buffers[i]);
	tt_devmem_unref(run.memory);
	replay->program_count++;
}

static void replay_file(const char *path, uint64_t programs, uint64_t addresses)
{
	struct replay replay;
	struct tt_json_iter it;

	CHECK_OK(replay_open(&replay, path));
	it = tt_json_iter(replay.programs);
	while (tt_json_next(&it))
		run_program(&replay, it.value);
	printf("%s: %" PRIu64 " programs, %" PRIu64 " addresses, %" PRIu64 " frees, %" PRIu64
	       " sizes compared\n",
	       path, replay.program_count, replay.address_count, replay.free_count,
	       replay.spec_checks);
	CHECK_INT(replay.program_count, programs);
	CHECK_INT(replay.address_count, addresses);
	replay_close(&replay);
}

TEST(programs_on_an_n150)
{
	replay_file("tests/data/alloc/n150.json.gz", 2323, 6407);
}

TEST(programs_on_a_p150)
{
	replay_file("tests/data/alloc/p150.json.gz", 2322, 6406);
}

TEST(programs_on_four_p150)
{
	replay_file("tests/data/alloc/p150_x4.json.gz", 175, 458);
}

TEST(whole_models)
{
	replay_file("tests/data/alloc/models.json.gz", 16, 3534);
}

/* ---- pages --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x100000001b3);
}

/* The pages of a buffer that is put where the recorded one was. */
static uint64_t check_pages(struct replay *replay, struct tt_devmem *memory,
			    const struct tt_json *row)
{
	uint64_t n[3] = {0}, hash = UINT64_C(0xcbf29ce484222325), found = 0;
	const char *want = tt_json_string(tt_json_at(row, 3), NULL);
	struct tt_buffer_layout layout;
	struct tt_buffer_walk walk = {0};
	struct tt_buffer_page page;
	struct tt_buffer buffer = {.memory = memory};

	read_numbers(n, 3, row);
	CHECK_OK(tt_buffer_layout_make(&layout, memory, &replay->made[n[0]]));
	check_layout(replay, n[0], &layout);
	buffer.layout = layout;
	buffer.address = n[1];
	while (tt_buffer_next_page(&page, &walk, &buffer)) {
		struct tt_buffer_page again = tt_buffer_find_page(&buffer, page.index);
		uint64_t numbers[] = {page.core.y, page.core.x,  page.reported_bank,
				      page.index,  page.address, layout.page_size,
				      layout.type};

		for (size_t i = 0; i < 7; i++)
			hash = mix(hash, numbers[i]);
		if (again.address != page.address || again.bank != page.bank)
			TEST_FAIL("page %" PRIu64 " is found elsewhere", page.index);
		found++;
	}
	CHECK_INT(found, n[2]);
	if (!want || strtoull(want, NULL, 16) != hash)
		TEST_FAIL("the pages of a buffer at %" PRIu64 " differ", n[1]);
	return found;
}

static void check_listed(struct replay *replay, struct tt_devmem *memory,
			 const struct tt_json *pairs)
{
	struct tt_json_iter it = tt_json_iter(pairs);
	struct tt_buffer buffer = {.memory = memory};
	uint64_t spec = 0, bytes = 0;

	while (tt_json_next(&it)) {
		tt_json_uint(&spec, it.value);
		tt_json_next(&it);
		tt_json_uint(&bytes, it.value);
		CHECK_OK(tt_buffer_layout_make(&buffer.layout, memory, &replay->made[spec]));
		CHECK_INT(tt_buffer_listed_bytes(&buffer), bytes);
	}
}

TEST(pages_of_whole_models)
{
	struct replay replay;
	struct tt_json_iter it;
	uint64_t buffers = 0, pages = 0;

	CHECK_OK(replay_open(&replay, "tests/data/alloc/pages.json.gz"));
	it = tt_json_iter(replay.programs);
	while (tt_json_next(&it)) {
		struct tt_devmem *memory = NULL;
		struct tt_json_iter rows = tt_json_iter(tt_json_get(it.value, "buffers"));

		CHECK_OK(open_memory(&memory, &replay, it.value));
		while (memory && tt_json_next(&rows)) {
			pages += check_pages(&replay, memory, rows.value);
			buffers++;
		}
		if (memory)
			check_listed(&replay, memory, tt_json_get(it.value, "listed"));
		tt_devmem_unref(memory);
	}
	printf("%" PRIu64 " pages of %" PRIu64 " buffers compared\n", pages, buffers);
	CHECK_INT(pages, 326443);
	replay_close(&replay);
}
