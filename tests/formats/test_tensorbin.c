/*
 * test_tensorbin.c: tensor files recorded from tt-metal's ttnn (tests/data/host, made by
 * record_tensorbin.py there) come back byte for byte and hold what was put into them; bad
 * files are refused.
 */
#include "base/file.h"
#include "base/json.h"
#include "tensor/shape.h"
#include "tensor/tensorbin.h"
#include "test.h"

#define DATA "tests/data/host"

#define MOST (3 * 64 * 64) /* elements of the largest file */
#define SCRATCH test_path("x")

static bool same_file(const char *path, const char *other)
{
	size_t a = 0, b = 1;
	char *x = NULL, *y = NULL;
	bool same;

	CHECK_OK(tt_file_read(&x, &a, path));
	CHECK_OK(tt_file_read(&y, &b, other));
	same = x && y && a == b && memcmp(x, y, a) == 0;
	tt_free(x);
	tt_free(y);
	return same;
}

TEST(every_file_comes_back)
{
	DIR *directory = opendir(DATA);
	struct dirent *entry;
	char path[512];
	int files = 0;

	CHECK(directory != NULL);
	while (directory && (entry = readdir(directory))) {
		ttnn_tensor *tensor = NULL;

		if (!strstr(entry->d_name, ".tensorbin"))
			continue;
		files++;
		snprintf(path, sizeof(path), DATA "/%s", entry->d_name);
		CHECK_OK(ttnn_tensor_load(&tensor, path));
		if (!tensor)
			continue;
		CHECK_OK(ttnn_tensor_save(SCRATCH, tensor));
		if (!same_file(SCRATCH, path))
			TEST_FAIL("%s is written differently", path);
		ttnn_tensor_unref(tensor);
	}
	CHECK(files >= 107);
	if (directory)
		closedir(directory);
	unlink(SCRATCH);
}

/* ---- what the files hold ----------------------------------------------------------------- */

/* As value() of record_tensorbin.py. */
static double value(int64_t i, enum ttnn_dtype dtype)
{
	int64_t v = (i * 7919 + 13) % 2003 - 1001;

	switch (dtype) {
	case TTNN_BFLOAT16:
	case TTNN_FLOAT32:
	case TTNN_BFLOAT8_B:
	case TTNN_BFLOAT4_B:
		return (double)v / 64;
	case TTNN_INT32:
		return (double)v;
	default:
		return (double)((v % 100 + 100) % 100);
	}
}

static bool shape_is(const struct ttnn_shape *shape, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	uint64_t extent;
	uint32_t d = 0;

	while (tt_json_next(&it))
		if (d == shape->rank || !tt_json_uint(&extent, it.value) ||
		    extent != shape->dim[d++])
			return false;
	return d == shape->rank;
}

static float round_to_bfloat16(double value)
{
	int exponent;
	double mantissa = frexp(value, &exponent); /* 8 bits of it stay, ties to even */

	return (float)ldexp(nearbyint(ldexp(mantissa, 8)), exponent - 8);
}

/* The tensor made again from its elements has the same bytes, and the same elements. */
static void check_elements(const ttnn_tensor *tensor, const struct tt_json *row, const char *name)
{
	const struct ttnn_tensor_spec *spec = ttnn_tensor_get_spec(tensor);
	static float values[MOST], back[MOST], again[MOST];
	ttnn_tensor *made = NULL;
	bool via_bfloat16 = false;
	uint64_t count = 0;
	double pad = 0;

	CHECK(tt_json_real(&pad, tt_json_get(row, "pad")));
	CHECK(tt_json_bool(&via_bfloat16, tt_json_get(row, "via_bfloat16")));
	CHECK_OK(ttnn_shape_volume(&count, &spec->shape));
	CHECK(count <= MOST);
	for (uint64_t i = 0; i < count && i < MOST; i++) {
		values[i] = (float)value((int64_t)i, spec->dtype);
		if (via_bfloat16)
			values[i] = round_to_bfloat16(values[i]);
	}
	CHECK_OK(ttnn_tensor_from_data(&made, values, TTNN_FLOAT32, spec, pad));
	if (!made)
		return;
	if (memcmp(ttnn_tensor_bytes(made), ttnn_tensor_bytes(tensor), spec->bytes) != 0)
		TEST_FAIL("%s: the bytes differ", name);
	CHECK_OK(ttnn_tensor_to_data(back, count * 4, TTNN_FLOAT32, tensor));
	CHECK_OK(ttnn_tensor_to_data(again, count * 4, TTNN_FLOAT32, made));
	CHECK(memcmp(back, again, count * 4) == 0);
	ttnn_tensor_unref(made);
}

static void check_record(const struct tt_json *row)
{
	const char *name = tt_json_string(tt_json_get(row, "file"), NULL);
	const struct ttnn_tensor_spec *spec;
	ttnn_tensor *tensor = NULL;
	enum ttnn_dtype dtype = 0;
	uint64_t shards = 0;
	bool elements = false;
	char path[512];

	snprintf(path, sizeof(path), DATA "/%s.tensorbin", name);
	CHECK_OK(ttnn_tensor_load(&tensor, path));
	if (!tensor)
		return;
	spec = ttnn_tensor_get_spec(tensor);
	CHECK_OK(ttnn_dtype_find(&dtype, tt_json_string(tt_json_get(row, "dtype"), NULL)));
	CHECK_INT(spec->dtype, dtype);
	CHECK(shape_is(&spec->shape, tt_json_get(row, "shape")));
	CHECK(shape_is(&spec->padded, tt_json_get(row, "padded")));
	CHECK_STR(tt_json_string(tt_json_get(row, "layout"), NULL),
		  spec->layout == TTNN_TILE ? "TILE" : "ROW_MAJOR");
	CHECK(tt_json_uint(&shards, tt_json_get(row, "shards")));
	CHECK_INT(ttnn_tensor_shard_count(tensor), shards);
	CHECK(tt_json_bool(&elements, tt_json_get(row, "elements")));
	if (elements)
		check_elements(tensor, row, name);
	ttnn_tensor_unref(tensor);
}

TEST(files_hold_what_was_recorded)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	int rows = 0;

	CHECK_OK(tt_json_load(&doc, DATA "/tensorbin.json"));
	if (!doc)
		return;
	it = tt_json_iter(tt_json_root(doc));
	for (; tt_json_next(&it); rows++)
		check_record(it.value);
	CHECK_INT(rows, 101);
	tt_json_free(doc);
}

TEST(fields_of_a_spec)
{
	const struct ttnn_core_range *ranges;
	const struct ttnn_tensor_spec *spec;
	ttnn_tensor *tensor = NULL;
	size_t count = 0;

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/width.tensorbin"));
	spec = ttnn_tensor_get_spec(tensor);
	CHECK_INT(spec->memory.layout, TTNN_WIDTH_SHARDED);
	CHECK_INT(spec->memory.buffer, TTNN_L1);
	CHECK(spec->memory.has_shard && !spec->memory.created_with_nd_shard);
	CHECK_INT(spec->memory.shard.height, 8);
	CHECK_INT(spec->memory.shard.width, 32);
	CHECK_INT(spec->memory.shard.orientation, TTNN_ORIENT_COL_MAJOR);
	ranges = ttnn_core_set_ranges(spec->memory.shard.grid, &count);
	CHECK_INT(count, 2);
	CHECK_INT(ranges[1].start.x, 2);
	CHECK_INT(ranges[1].end.y, 3);
	ttnn_tensor_unref(tensor);

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/nd2_col.tensorbin"));
	spec = ttnn_tensor_get_spec(tensor);
	CHECK(spec->memory.has_nd_shard && spec->memory.created_with_nd_shard);
	CHECK_INT(spec->memory.nd_shard.strategy, TTNN_CONTIGUOUS_1D);
	CHECK_INT(spec->memory.nd_shard.orientation, TTNN_ORIENT_COL_MAJOR);
	CHECK(ttnn_shape_equal(&spec->memory.nd_shard.shape, &TT_SHAPE(2, 4)));
	ttnn_tensor_unref(tensor);

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/tile16x32t_bfloat16.tensorbin"));
	spec = ttnn_tensor_get_spec(tensor);
	CHECK_INT(spec->tile.height, 16);
	CHECK_INT(spec->tile.width, 32);
	CHECK(spec->tile.transpose);
	ttnn_tensor_unref(tensor);

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/range_lockstep.tensorbin"));
	CHECK(ttnn_tensor_get_spec(tensor)->memory.range_lockstep_allocation);
	CHECK(!ttnn_tensor_get_spec(tensor)->memory.per_core_allocation);
	ttnn_tensor_unref(tensor);
}

/* ---- several devices --------------------------------------------------------------------- */

/* The first element of a shard, in an 8 × 8 tensor numbered by value(). */
static void check_shard(const ttnn_tensor *tensor, size_t index, int64_t first)
{
	ttnn_tensor *shard = NULL;
	float values[64];
	uint64_t count = 0;

	CHECK_OK(ttnn_tensor_shard(&shard, tensor, index));
	if (!shard)
		return;
	CHECK_OK(ttnn_shape_volume(&count, &ttnn_tensor_get_spec(shard)->shape));
	CHECK_OK(ttnn_tensor_to_data(values, count * 4, TTNN_FLOAT32, shard));
	CHECK(fabs(values[0] - value(first, TTNN_FLOAT32)) < 0.05);
	ttnn_tensor_unref(shard);
}

TEST(shards_of_a_mesh)
{
	ttnn_tensor *tensor = NULL, *none = NULL;
	float values[64];

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/mesh_rows.tensorbin"));
	for (size_t i = 0; i < 4; i++)
		check_shard(tensor, i, (int64_t)i * 16);
	CHECK(tt_spread_at(tensor->spread, 0).shard && tt_spread_at(tensor->spread, 0).dim == 0);
	CHECK(ttnn_shape_equal(&tensor->layout->mesh, &TT_SHAPE(2, 2)));
	CHECK(tt_spread_rank(tensor->spread) == 1 && tt_spread_at(tensor->spread, 0).extent == 4);
	CHECK(ttnn_shape_equal(&tensor->layout->shards[2].coord, &TT_SHAPE(1, 0)));
	CHECK_FAILS(ttnn_tensor_to_data(values, 64, TTNN_FLOAT32, tensor), TTNN_UNSUPPORTED,
		    "spread over 4");
	CHECK_FAILS(ttnn_tensor_shard(&none, tensor, 4), TTNN_INVALID, "no shard 4");
	ttnn_tensor_unref(tensor);

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/mesh_columns.tensorbin"));
	for (size_t i = 0; i < 4; i++)
		check_shard(tensor, i, (int64_t)i * 2);
	CHECK_INT(tt_spread_at(tensor->spread, 0).dim, -1);
	ttnn_tensor_unref(tensor);

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/mesh_second.tensorbin"));
	CHECK(tensor->layout->shards[0].storage == tensor->layout->shards[2].storage);
	CHECK(tensor->layout->shards[0].storage != tensor->layout->shards[1].storage);
	CHECK(!tt_spread_at(tensor->spread, 0).shard && tt_spread_at(tensor->spread, 1).shard);
	check_shard(tensor, 3, 4);
	ttnn_tensor_unref(tensor);
}

TEST(shards_are_converted_each)
{
	ttnn_tensor *tensor = NULL, *tiled = NULL, *wide = NULL, *back = NULL;

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/mesh_second.tensorbin"));
	CHECK_OK(ttnn_tensor_to_layout(&tiled, tensor, TTNN_TILE, 0));
	CHECK_OK(ttnn_tensor_to_dtype(&wide, tiled, TTNN_BFLOAT8_B));
	CHECK_INT(ttnn_tensor_shard_count(wide), 4);
	CHECK(wide->layout->shards[1].storage == wide->layout->shards[3].storage);
	check_shard(wide, 1, 4);
	CHECK_OK(ttnn_tensor_to_layout(&back, tiled, TTNN_ROW_MAJOR, 0));
	CHECK_OK(ttnn_tensor_save(SCRATCH, back));
	CHECK(same_file(SCRATCH, DATA "/mesh_second.tensorbin"));
	unlink(SCRATCH);
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(tiled);
	ttnn_tensor_unref(wide);
	ttnn_tensor_unref(back);
}

TEST(replicas_that_differ_are_refused)
{
	struct tt_storage *other = NULL;
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_tensor_load(&tensor, DATA "/mesh_replicated.tensorbin"));
	CHECK_OK(tt_storage_new(&other, tensor->spec.bytes));
	memset(other->data, 1, other->bytes);
	tt_storage_unref(tensor->layout->shards[3].storage);
	tensor->layout->shards[3].storage = other;
	CHECK_FAILS(ttnn_tensor_save(SCRATCH, tensor), TTNN_INVALID, "shards 0 and 3");
	CHECK(access(SCRATCH, F_OK) != 0);
	ttnn_tensor_unref(tensor);
}

/* ---- other files ------------------------------------------------------------------------- */

static tt_status make(ttnn_tensor **out, struct ttnn_spec_args args)
{
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return ttnn_tensor_new(out, &spec);
}

TEST(no_elements)
{
	ttnn_tensor *tensor = NULL, *back = NULL;

	CHECK_OK(make(&tensor, (struct ttnn_spec_args){.shape = TT_SHAPE(0, 5)}));
	CHECK_OK(ttnn_tensor_save(SCRATCH, tensor));
	CHECK_OK(ttnn_tensor_load(&back, SCRATCH));
	CHECK(ttnn_tensor_spec_equal(&tensor->spec, &back->spec));
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(back);
	unlink(SCRATCH);
}

TEST(types_without_a_code)
{
	ttnn_tensor *tensor = NULL;

	CHECK_OK(make(&tensor,
		      (struct ttnn_spec_args){.shape = TT_SHAPE(2), .dtype = TTNN_FP8_E4M3}));
	CHECK_FAILS(ttnn_tensor_save(SCRATCH, tensor), TTNN_UNSUPPORTED,
		    "FP8_E4M3 cannot be serialized to flatbuffer");
	CHECK(access(SCRATCH, F_OK) != 0);
	ttnn_tensor_unref(tensor);
}

TEST(large_files_stay_in_the_file)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(1024, 600), .dtype = TTNN_UINT32};
	ttnn_tensor *tensor = NULL, *back = NULL;
	uint32_t *data;

	CHECK_OK(make(&tensor, args));
	data = tt_tensor_data(tensor);
	for (uint32_t i = 0; i < 1024 * 600; i++)
		data[i] = i * 2654435761u;
	CHECK_OK(ttnn_tensor_save(SCRATCH, tensor));
	CHECK_OK(ttnn_tensor_load(&back, SCRATCH));
	CHECK_STR(back->storage->ops->name, "mapped file");
	unlink(SCRATCH); /* the mapping keeps the content */
	CHECK(memcmp(ttnn_tensor_bytes(back), data, back->spec.bytes) == 0);
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(back);
}

/* ---- bad files --------------------------------------------------------------------------- */

/* Reads bytes from a block of just their size, so that asan sees a read beyond them. */
static tt_status read_bytes(const void *data, size_t size)
{
	char *copy = malloc(size ? size : 1);
	ttnn_tensor *tensor = NULL;
	tt_status status;

	memcpy(copy, data, size);
	status = tt_tensorbin_read(&tensor, copy, size, NULL);
	if (status == TTNN_OK)
		ttnn_tensor_unref(tensor);
	free(copy);
	return status;
}

/* The bytes of a recorded file; gives them back with tt_free(). */
static char *load_bytes(size_t *size, const char *name)
{
	char path[256], *data = NULL;

	snprintf(path, sizeof(path), DATA "/%s.tensorbin", name);
	CHECK_OK(tt_file_read(&data, size, path));
	return data;
}

TEST(files_cut_short)
{
	static const char *const names[] = {"mesh_both", "nd3_row", "width"};

	for (size_t n = 0; n < 3; n++) {
		size_t size = 0;
		char *data = load_bytes(&size, names[n]);

		for (size_t length = 0; length < size; length++)
			if (read_bytes(data, length) != TTNN_FORMAT)
				TEST_FAIL("%s: %zu bytes: %s", names[n], length, ttnn_error());
		CHECK_OK(read_bytes(data, size));
		tt_free(data);
	}
}

/* Every byte of the header, changed in several ways: any answer will do, but an answer. */
TEST(headers_with_wrong_bytes)
{
	static const unsigned char wrong[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	static const char *const names[] = {"mesh_second", "nd3_col", "block",
					    "tile2x16_bfloat4_b"};
	int refused = 0;

	for (size_t n = 0; n < 4; n++) {
		size_t size = 0;
		char *data = load_bytes(&size, names[n]);

		for (size_t i = 0; i < size && i < 1024; i++)
			for (size_t w = 0; w < sizeof(wrong); w++) {
				char right = data[i];

				data[i] = (char)wrong[w];
				refused += read_bytes(data, size) != TTNN_OK;
				data[i] = right;
			}
		tt_free(data);
	}
	CHECK(refused > 1000);
}

static void store(char *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (char)(value >> (8 * i));
}

/* The place of a shard's offset and size in the header: it is the only 16-byte pair like it. */
static char *find_place(char *data, size_t size, uint64_t bytes)
{
	for (size_t i = 16; i + 16 <= size; i += 8) {
		uint64_t pair[2];

		memcpy(pair, data + i, 16);
		if (pair[0] == 0 && pair[1] == bytes)
			return data + i;
	}
	return NULL;
}

TEST(what_is_wrong_is_said)
{
	size_t size = 0;
	char *data = load_bytes(&size, "rows_rank2"), *place = find_place(data, size, 30);

	CHECK_FAILS(read_bytes(data, 5), TTNN_FORMAT, "shorter than 8 bytes");
	store(data, UINT64_MAX, 8);
	CHECK_FAILS(read_bytes(data, size), TTNN_FORMAT, "a header of 18446744073709551615 bytes");
	store(data, size - 8 - 30, 8);
	CHECK_OK(read_bytes(data, size));
	CHECK(place != NULL);
	if (!place) {
		tt_free(data);
		return;
	}
	store(place, UINT64_MAX - 8, 8);
	CHECK_FAILS(read_bytes(data, size), TTNN_FORMAT, "shard 0 needs 30 bytes from offset");
	store(place, 1, 8);
	CHECK_FAILS(read_bytes(data, size), TTNN_FORMAT, "the file ends too early");
	store(place, 0, 8);
	store(place + 8, 28, 8);
	CHECK_FAILS(read_bytes(data, size), TTNN_FORMAT,
		    "shard 0 has 28 bytes, the tensor spec means 30");
	tt_free(data);
	CHECK_OK(tt_file_save(SCRATCH, "12345678901234567890", 20));
	CHECK_FAILS(ttnn_tensor_load(&(ttnn_tensor *){NULL}, SCRATCH), TTNN_FORMAT, SCRATCH);
	unlink(SCRATCH);
	CHECK_FAILS(ttnn_tensor_load(&(ttnn_tensor *){NULL}, SCRATCH), TTNN_NOTFOUND, SCRATCH);
}

/* The header is changed at one place, so that it says something else of the mesh. */
static void check_patched(const char *name, size_t at, char was, char is, const char *message)
{
	size_t size = 0;
	char *data = load_bytes(&size, name);

	CHECK_INT(data[at], was);
	data[at] = is;
	CHECK_FAILS(read_bytes(data, size), TTNN_FORMAT, message);
	tt_free(data);
}

/* What is loaded comes back with every shard, or saving says that it cannot. */
static void check_keeps_shards(const char *data, size_t size)
{
	ttnn_tensor *tensor = NULL, *back = NULL;

	if (tt_tensorbin_read(&tensor, data, size, NULL) != TTNN_OK)
		return;
	if (ttnn_tensor_save(SCRATCH, tensor) == TTNN_OK) {
		CHECK_OK(ttnn_tensor_load(&back, SCRATCH));
		if (back)
			CHECK_INT(ttnn_tensor_shard_count(back), ttnn_tensor_shard_count(tensor));
	} else {
		CHECK(strstr(ttnn_error(), "hold the same data, but they differ") != NULL);
	}
	ttnn_tensor_unref(back);
	ttnn_tensor_unref(tensor);
}

TEST(topologies_that_do_not_fit)
{
	check_patched("mesh_line", 96, 0, 1, "the topology has no place for shard 1");
	check_patched("mesh_line", 116, 0, 1, "the topology has no place for shard 0");
	check_patched("mesh_rows", 108, 1, 0, "the topology names a mesh coordinate twice");
	check_patched("mesh_replicated", 108, 1, 0, "the topology names a mesh coordinate twice");
	check_patched("mesh_both", 408, 64, 1, "the bytes of shards 0 and 1 overlap");
}

TEST(no_shard_is_lost)
{
	static const char *const names[] = {"mesh_line", "mesh_rows", "mesh_columns", "mesh_both",
					    "mesh_replicated"};

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		size_t size = 0;
		char *data = load_bytes(&size, names[n]);

		for (size_t i = 8; i < size && i < 8 + 632; i++)
			for (char wrong = 0; wrong < 2; wrong++) {
				char right = data[i];

				data[i] = wrong;
				if (wrong != right)
					check_keeps_shards(data, size);
				data[i] = right;
			}
		tt_free(data);
	}
	unlink(SCRATCH);
}

TEST(shards_that_overlap)
{
	size_t size = 0;
	char *data = load_bytes(&size, "mesh_rows"), *place = find_place(data, size, 32);

	CHECK(place != NULL);
	if (place) {
		store(place, 40, 8); /* reaches into the second shard */
		CHECK_FAILS(read_bytes(data, size), TTNN_FORMAT, "overlap");
		store(place, 64, 8); /* all of the second shard: a replica */
		CHECK_OK(read_bytes(data, size));
	}
	tt_free(data);
}

/* The root table of a recorded header: its vtable begins 8 bytes into it. */
enum { ROOT_VTABLE = 8 + 8, TOPOLOGY_ENTRY = ROOT_VTABLE + 4 + 2 * 3 };

TEST(older_and_newer_headers)
{
	size_t size = 0;
	char *data = load_bytes(&size, "mesh_rows");
	ttnn_tensor *tensor = NULL;

	CHECK_INT(data[ROOT_VTABLE], 12);
	data[TOPOLOGY_ENTRY] = 0; /* as before there were topologies */
	CHECK_OK(tt_tensorbin_read(&tensor, data, size, NULL));
	CHECK_INT(ttnn_tensor_shard_count(tensor), 4);
	CHECK(tt_spread_rank(tensor->spread) == 1 && tt_spread_at(tensor->spread, 0).extent == 4);
	ttnn_tensor_unref(tensor);
	memcpy(data + 12, "TTNB", 4); /* as after versions came; this is number 0 */
	CHECK_OK(read_bytes(data, size));
	tt_free(data);
}

/* ---- no memory --------------------------------------------------------------------------- */

SCENARIO(load_and_save)
{
	static const char *const names[] = {"mesh_first", "block", "rows_rank0"};
	tt_status status = TTNN_OK;

	for (size_t i = 0; i < 3 && status == TTNN_OK; i++) {
		ttnn_tensor *tensor = NULL, *other = NULL;
		char path[256];

		snprintf(path, sizeof(path), DATA "/%s.tensorbin", names[i]);
		status = ttnn_tensor_load(&tensor, path);
		if (status == TTNN_OK)
			status = ttnn_tensor_to_dtype(&other, tensor, TTNN_FLOAT32);
		if (status == TTNN_OK)
			status = ttnn_tensor_save(SCRATCH, other);
		ttnn_tensor_unref(tensor);
		ttnn_tensor_unref(other);
	}
	unlink(SCRATCH);
	return status;
}
