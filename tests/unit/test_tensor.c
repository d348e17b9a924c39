/*
 * test_tensor.c: tensors on the host: where each element lies in tiles and rows, against a slow
 * reference that computes every position by itself; conversion, padding, views, sharing. @threads
 */
#include <pthread.h>

#include "test.h"

#include "base/json.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

/* ---- the reference --------------------------------------------------------------------------- */

static const struct ttnn_tile tiles[] = {
	{32, 32, false}, {16, 32, false}, {32, 16, false}, {16, 16, false},
	{8, 32, false},  {4, 32, false},  {2, 32, false},  {1, 32, false},
	{8, 16, false},  {4, 16, false},  {2, 16, false},  {1, 16, false},
	{32, 32, true},  {16, 32, true},  {32, 16, true},  {16, 16, true},
};
#define TILES (sizeof(tiles) / sizeof(tiles[0]))

static uint64_t volume_of(const struct ttnn_shape *shape)
{
	uint64_t volume = 1;

	for (uint32_t d = 0; d < shape->rank; d++)
		volume *= shape->dim[d];
	return volume;
}

/* Index in the padded shape of element number n of the logical shape. */
static uint64_t padded_index(const struct ttnn_tensor_spec *spec, uint64_t n)
{
	uint64_t index = 0, stride = 1;

	for (uint32_t back = 1; back <= spec->padded.rank; back++) {
		uint32_t extent =
			back <= spec->shape.rank ? spec->shape.dim[spec->shape.rank - back] : 1;

		index += n % extent * stride;
		n /= extent;
		stride *= spec->padded.dim[spec->padded.rank - back];
	}
	return index;
}

/* Which element of the storage holds number n of the padded matrix. */
static uint64_t storage_index(const struct ttnn_tensor_spec *spec, uint64_t n)
{
	uint64_t width = spec->padded.rank ? spec->padded.dim[spec->padded.rank - 1] : 1;
	uint64_t x = n % width, y = n / width, h = spec->tile.height, w = spec->tile.width;
	uint64_t fh = h < 16 ? h : 16, tile, face, inside;

	if (spec->layout == TTNN_ROW_MAJOR)
		return n;
	tile = y / h * (width / w) + x / w;
	x %= w;
	y %= h;
	if (spec->tile.transpose) {
		face = x / 16 * (h / fh) + y / fh;
		inside = x % 16 * fh + y % fh;
	} else {
		face = y / fh * (w / 16) + x / 16;
		inside = y % fh * 16 + x % 16;
	}
	return tile * h * w + face * fh * 16 + inside;
}

static uint64_t bytes_at(const void *data, uint64_t index, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)data + index * bytes, bytes);
	return value;
}

/* A number that fits every type of that size and tells elements apart. */
static uint64_t mark(uint64_t n, uint32_t bytes)
{
	uint64_t value = n * 2654435761u + 1;

	return bytes == 4 ? value & 0xffffffff : bytes == 2 ? value & 0x7fff : value & 0x7f;
}

/* Every element lies where the reference says; everything else is padding. */
static void check_storage(const ttnn_tensor *tensor, uint64_t pad, const char *what)
{
	const struct ttnn_tensor_spec *spec = ttnn_tensor_get_spec(tensor);
	uint64_t volume = volume_of(&spec->shape), stored = volume_of(&spec->padded), wrong = 0;
	uint32_t bytes = (uint32_t)(stored ? spec->bytes / stored : 1);
	bool *used = calloc(stored ? stored : 1, 1);

	for (uint64_t n = 0; n < volume; n++) {
		uint64_t at = storage_index(spec, padded_index(spec, n));

		used[at] = true;
		wrong += bytes_at(ttnn_tensor_bytes(tensor), at, bytes) != mark(n, bytes);
	}
	for (uint64_t n = 0; n < stored; n++)
		wrong += !used[n] && bytes_at(ttnn_tensor_bytes(tensor), n, bytes) != pad;
	if (wrong)
		TEST_FAIL("%s: tile %u x %u%s, rank %u: %" PRIu64 " of %" PRIu64 " wrong", what,
			  spec->tile.height, spec->tile.width, spec->tile.transpose ? "t" : "",
			  spec->shape.rank, wrong, stored);
	free(used);
}

/* Types of 1, 2 and 4 bytes whose bits a copy keeps. */
static const enum ttnn_dtype plain[] = {TTNN_UINT8, TTNN_UINT16, TTNN_UINT32};

static void *marked(uint64_t count, uint32_t bytes)
{
	char *data = malloc(count * bytes + 1);

	for (uint64_t n = 0; n < count; n++) {
		uint64_t value = mark(n, bytes);

		memcpy(data + n * bytes, &value, bytes);
	}
	return data;
}

static void check_round_trip(struct ttnn_spec_args args, unsigned size)
{
	uint32_t bytes = 1u << size;
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL, *rows = NULL, *again = NULL;
	uint64_t count = volume_of(&args.shape);
	void *data = marked(count, bytes), *back = malloc(count * bytes + 1);

	args.dtype = plain[size];
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&tensor, data, args.dtype, &spec, 5));
	check_storage(tensor, 5, "from data");
	memset(back, 0, count * bytes);
	CHECK_OK(ttnn_tensor_to_data(back, count * bytes, args.dtype, tensor));
	CHECK(memcmp(back, data, count * bytes) == 0);
	CHECK_OK(ttnn_tensor_to_layout(&rows, tensor, TTNN_ROW_MAJOR, 9));
	CHECK_INT(ttnn_tensor_get_spec(rows)->layout, TTNN_ROW_MAJOR);
	if (args.layout == TTNN_TILE) {
		check_storage(rows, 0, "to rows");
		CHECK(ttnn_shape_equal(&rows->spec.padded, &args.shape) || !args.shape.rank);
	} else {
		CHECK(rows == tensor);
	}
	CHECK_OK(ttnn_tensor_to_layout(&again, rows, TTNN_TILE, 77));
	check_storage(again, 77, "to tiles");
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(again);
	free(data);
	free(back);
}

static struct ttnn_shape random_shape(uint64_t *state, uint32_t rank)
{
	static const uint32_t sizes[] = {1, 2, 3, 5, 7, 16, 17, 31, 32, 33, 40, 64, 65};
	struct ttnn_shape shape = {.rank = rank};

	for (uint32_t d = 0; d < rank; d++)
		shape.dim[d] = d + 2 < rank ? 1 + (uint32_t)(test_random(state) % 3)
					    : sizes[test_random(state) % 13];
	return shape;
}

TEST(elements_lie_where_they_should)
{
	uint64_t state = 1;

	for (uint32_t rank = 0; rank <= 6; rank++)
		for (size_t t = 0; t < TILES; t++)
			for (unsigned size = 0; size < 3; size++) {
				struct ttnn_spec_args args = {
					.shape = random_shape(&state, rank),
					.layout = TTNN_TILE,
					.tile = tiles[t],
				};

				check_round_trip(args, size);
				args.layout = TTNN_ROW_MAJOR;
				args.tile = tiles[0];
				check_round_trip(args, size);
			}
}

/* Larger than the blocks that are copied at a time, in every direction. */
TEST(many_blocks)
{
	static const struct ttnn_shape shapes[] = {
		{2, {70, 600}}, {3, {3, 33, 513}}, {3, {40, 1, 257}}, {4, {2, 3, 64, 512}},
		{1, {70000}},   {2, {3000, 3}},    {3, {2, 130, 65}},
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned size = 0; size < 3; size++) {
			check_round_trip(
				(struct ttnn_spec_args){.shape = shapes[i], .layout = TTNN_TILE},
				size);
			check_round_trip((struct ttnn_spec_args){.shape = shapes[i]}, size);
		}
}

/* So large that results go around the cache: a sample against the reference, all of it back. */
TEST(larger_than_the_cache)
{
	static const struct ttnn_shape shapes[] = {{2, {2112, 2112}}, {2, {2100, 2085}}};

	for (size_t i = 0; i < 2; i++)
		for (unsigned size = 0; size < 3; size++) {
			struct ttnn_spec_args args = {.shape = shapes[i], .layout = TTNN_TILE};
			uint32_t bytes = 1u << size, more = 4 / bytes;
			ttnn_tensor *tiled = NULL, *rows = NULL;
			struct ttnn_tensor_spec spec;
			uint64_t count, wrong = 0;
			void *data;

			args.dtype = plain[size];
			args.shape.dim[0] *= more; /* always about 17 MB */
			count = volume_of(&args.shape);
			data = marked(count, bytes);
			CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
			CHECK_OK(ttnn_tensor_from_data(&tiled, data, args.dtype, &spec, 5));
			for (uint64_t n = 0; n < count; n += 997)
				wrong += bytes_at(ttnn_tensor_bytes(tiled),
						  storage_index(&spec, padded_index(&spec, n)),
						  bytes) != mark(n, bytes);
			CHECK_INT(wrong, 0);
			CHECK_OK(ttnn_tensor_to_layout(&rows, tiled, TTNN_ROW_MAJOR, 0));
			CHECK(memcmp(ttnn_tensor_bytes(rows), data, count * bytes) == 0);
			ttnn_tensor_unref(tiled);
			ttnn_tensor_unref(rows);
			free(data);
		}
}

TEST(as_many_dimensions_as_there_are)
{
	struct ttnn_spec_args args = {.layout = TTNN_TILE};

	args.shape.rank = TTNN_MAX_RANK;
	for (uint32_t d = 0; d < TTNN_MAX_RANK; d++)
		args.shape.dim[d] = d % 5 == 3 ? 2 : 1;
	args.shape.dim[31] = 33;
	check_round_trip(args, 2);
}

/* Alignment of more than the last two dimensions leaves padding between the planes too. */
TEST(other_alignments)
{
	static const struct ttnn_shape alignments[] = {
		{2, {64, 96}},   {3, {64, 32, 32}}, {3, {128, 64, 32}},  {1, {64}},
		{3, {12, 4, 6}}, {2, {4, 7}},       {4, {36, 12, 4, 6}},
	};

	for (size_t i = 0; i < sizeof(alignments) / sizeof(alignments[0]); i++) {
		struct ttnn_spec_args args = {.shape = {3, {3, 3, 5}}, .alignment = alignments[i]};

		if (i < 4) {
			args.layout = TTNN_TILE;
			for (unsigned size = 0; size < 3; size++)
				check_round_trip(args, size);
		} else {
			struct ttnn_tensor_spec spec;
			ttnn_tensor *tensor = NULL;
			uint32_t *data = marked(45, 4), back[45];

			args.dtype = TTNN_UINT32;
			CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
			CHECK_OK(ttnn_tensor_from_data(&tensor, data, TTNN_UINT32, &spec, 8));
			check_storage(tensor, 8, "padded rows");
			CHECK_OK(ttnn_tensor_to_data(back, sizeof(back), TTNN_UINT32, tensor));
			CHECK(memcmp(back, data, sizeof(back)) == 0);
			ttnn_tensor_unref(tensor);
			free(data);
		}
	}
}

/* Padding between planes, where whole tiles of a block float are padding. */
TEST(padding_tiles_of_block_floats)
{
	struct ttnn_spec_args args = {
		.shape = {3, {3, 20, 20}}, .layout = TTNN_TILE, .alignment = {3, {64, 32, 32}}};
	static float values[3 * 20 * 20];
	double got = 0;

	for (int i = 0; i < 3 * 20 * 20; i++)
		values[i] = (float)(i % 7);
	for (int k = 0; k < 2; k++) {
		struct ttnn_tensor_spec spec, whole;
		ttnn_tensor *tensor = NULL;
		struct tt_area area;
		int wrong = 0;

		args.dtype = k ? TTNN_BFLOAT4_B : TTNN_BFLOAT8_B;
		CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
		CHECK_INT(spec.rows, 128);
		CHECK_OK(ttnn_tensor_from_data(&tensor, values, TTNN_FLOAT32, &spec, -2));
		whole = spec; /* all that is stored, as elements */
		whole.shape = (struct ttnn_shape){2, {128, 32}};
		whole.alignment = (struct ttnn_shape){2, {32, 32}};
		area = tt_area_of(ttnn_tensor_bytes(tensor), &whole);
		for (uint32_t y = 0; y < 128; y++)
			for (uint32_t x = 0; x < 32; x++) {
				bool inside = y / 32 < 3 && y % 32 < 20 && x < 20;
				double want =
					inside ? (double)((y / 32 * 400 + y % 32 * 20 + x) % 7)
					       : -2;

				CHECK_OK(tt_area_get(&got, &area, (uint32_t[]){y, x}));
				wrong += got != want;
			}
		CHECK_INT(wrong, 0);
		ttnn_tensor_unref(tensor);
	}
}

TEST(tiles_to_other_tiles)
{
	const struct ttnn_shape shape = {3, {2, 45, 70}};
	uint64_t count = 2 * 45 * 70;
	uint16_t *data = marked(count, 2);

	for (size_t a = 0; a < TILES; a++)
		for (size_t b = 0; b < TILES; b++) {
			struct ttnn_tensor_spec from, to;
			ttnn_tensor *x = NULL, *y = NULL;
			struct tt_area src, dst;
			const double pad = 3;

			CHECK_OK(ttnn_tensor_spec_make(
				&from, &(struct ttnn_spec_args){.shape = shape,
								.dtype = TTNN_UINT16,
								.layout = TTNN_TILE,
								.tile = tiles[a]}));
			CHECK_OK(ttnn_tensor_spec_make(
				&to, &(struct ttnn_spec_args){.shape = shape,
							      .dtype = TTNN_UINT16,
							      .layout = TTNN_TILE,
							      .tile = tiles[b]}));
			CHECK_OK(ttnn_tensor_from_data(&x, data, TTNN_UINT16, &from, 1));
			CHECK_OK(tt_tensor_alloc(&y, &to));
			src = tt_area_of(ttnn_tensor_bytes(x), &from);
			dst = tt_area_of(tt_tensor_data(y), &to);
			CHECK_OK(tt_layout_copy(&dst, &src, &pad));
			check_storage(y, 3, "other tiles");
			ttnn_tensor_unref(x);
			ttnn_tensor_unref(y);
		}
	free(data);
}

/* ---- data types ------------------------------------------------------------------------------ */

/* Small whole numbers are the same in every type, in every layout, and so is padding. */
static void check_conversion(enum ttnn_dtype from, enum ttnn_dtype to, enum ttnn_layout layout)
{
	struct ttnn_spec_args args = {.shape = {3, {2, 5, 37}}, .dtype = from, .layout = layout};
	float values[2 * 5 * 37], back[2 * 5 * 37];
	ttnn_tensor *tensor = NULL, *other = NULL;
	struct ttnn_tensor_spec spec;
	double pad = 0;

	for (int i = 0; i < 2 * 5 * 37; i++)
		values[i] = (float)(i * 5 % 8);
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&tensor, values, TTNN_FLOAT32, &spec, 6));
	CHECK_OK(ttnn_tensor_to_dtype(&other, tensor, to));
	CHECK_INT(ttnn_tensor_get_spec(other)->dtype, to);
	CHECK((other == tensor) == (from == to));
	CHECK_OK(ttnn_tensor_to_data(back, sizeof(back), TTNN_FLOAT32, other));
	if (memcmp(back, values, sizeof(back)) != 0)
		TEST_FAIL("%s to %s in layout %d", ttnn_dtype_name(from, 0), ttnn_dtype_name(to, 0),
			  layout);
	if (layout == TTNN_TILE) {
		struct tt_area area = tt_area_of(ttnn_tensor_bytes(other), &other->spec);

		CHECK_OK(tt_area_get(&pad, &area, (uint32_t[]){1, 31, 60}));
		CHECK(pad == 6);
	}
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(other);
}

TEST(every_type_to_every_type)
{
	for (unsigned from = 0; from < TTNN_DTYPE_COUNT; from++)
		for (unsigned to = 0; to < TTNN_DTYPE_COUNT; to++) {
			bool fp8 = from == TTNN_FP8_E4M3 || to == TTNN_FP8_E4M3;

			if (!fp8)
				check_conversion(from, to, TTNN_TILE);
			if (!tt_dtype_is_block(from) && !tt_dtype_is_block(to) &&
			    (!fp8 || from == to || from == TTNN_FLOAT32 || to == TTNN_FLOAT32))
				check_conversion(from, to, TTNN_ROW_MAJOR);
		}
}

TEST(conversions_upstream_refuses)
{
	struct ttnn_tensor_spec spec, square;
	ttnn_tensor *rows = NULL, *whole = NULL, *out = NULL;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &(struct ttnn_spec_args){.shape = {2, {3, 5}}}));
	CHECK_OK(ttnn_tensor_new(&rows, &spec));
	CHECK_FAILS(ttnn_tensor_to_dtype(&out, rows, TTNN_FP8_E4M3), TTNN_UNSUPPORTED,
		    "only supported to/from FLOAT32");
	CHECK_FAILS(ttnn_tensor_to_dtype(&out, rows, TTNN_BFLOAT8_B), TTNN_UNSUPPORTED,
		    "changed physical shape from (3, 5) to (32, 32)");
	CHECK_FAILS(ttnn_tensor_to_dtype(&out, rows, (enum ttnn_dtype)99), TTNN_INVALID, "");
	CHECK_OK(ttnn_tensor_spec_make(&square, &(struct ttnn_spec_args){.shape = {2, {32, 64}}}));
	CHECK_OK(ttnn_tensor_new(&whole, &square));
	CHECK_OK(ttnn_tensor_to_dtype(&out, whole, TTNN_BFLOAT8_B));
	CHECK_INT(ttnn_tensor_get_spec(out)->layout, TTNN_TILE);
	ttnn_tensor_unref(rows);
	rows = out;
	CHECK_FAILS(ttnn_tensor_to_layout(&out, rows, TTNN_ROW_MAJOR, 0), TTNN_INVALID,
		    "Only TILE layout");
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(whole);
}

/* What from_data() and to_data() refuse. */
TEST(data_of_the_wrong_size_or_type)
{
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL;
	float data[6] = {0};

	CHECK_OK(ttnn_tensor_spec_make(&spec, &(struct ttnn_spec_args){.shape = {2, {2, 3}}}));
	CHECK_FAILS(ttnn_tensor_from_data(&tensor, data, TTNN_BFLOAT8_B, &spec, 0), TTNN_INVALID,
		    "bfloat8_b has no single elements");
	CHECK_FAILS(ttnn_tensor_from_data(&tensor, data, (enum ttnn_dtype)77, &spec, 0),
		    TTNN_INVALID, "77 is no data type");
	CHECK_OK(ttnn_tensor_new(&tensor, &spec));
	CHECK_FAILS(ttnn_tensor_to_data(data, 23, TTNN_FLOAT32, tensor), TTNN_INVALID,
		    "6 elements of float32 are not 23 bytes");
	CHECK_FAILS(ttnn_tensor_to_data(data, 6, TTNN_BFLOAT4_B, tensor), TTNN_INVALID,
		    "bfloat4_b");
	ttnn_tensor_unref(tensor);
}

static float word_float(uint32_t word)
{
	float value;

	memcpy(&value, &word, 4);
	return value;
}

/* Recorded from the real library: values there and back through a tensor. */
static void check_recorded(const struct tt_json *row)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(row, "shape")), types;
	const char *input = tt_json_string(tt_json_get(row, "input"), NULL);
	struct ttnn_spec_args args = {.layout = TTNN_TILE};
	uint64_t extent, count;
	uint32_t *values, *back;
	int32_t *whole;

	while (tt_json_next(&it) && tt_json_uint(&extent, it.value))
		args.shape.dim[args.shape.rank++] = (uint32_t)extent;
	count = volume_of(&args.shape);
	values = malloc(count * 4);
	back = malloc(count * 4);
	whole = malloc(count * 4);
	for (uint64_t i = 0; i < count; i++)
		values[i] = (uint32_t)strtoul(input + 9 * i, NULL, 16);
	types = tt_json_iter(tt_json_get(row, "round_trip"));
	while (tt_json_next(&types)) {
		const char *want = tt_json_string(types.value, NULL);
		struct ttnn_tensor_spec spec;
		ttnn_tensor *tensor = NULL;
		uint64_t wrong = 0;
		bool integer;

		CHECK_OK(ttnn_dtype_find(&args.dtype, types.key));
		CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
		integer = tt_dtype_is_integer(args.dtype);
		for (uint64_t i = 0; i < count && integer; i++) /* unsigned: the magnitudes */
			whole[i] = args.dtype == TTNN_INT32 ? (int32_t)word_float(values[i])
							    : (int32_t)fabsf(word_float(values[i]));
		CHECK_OK(ttnn_tensor_from_data(&tensor, integer ? (void *)whole : values,
					       integer ? TTNN_INT32 : TTNN_FLOAT32, &spec, 0));
		CHECK_OK(ttnn_tensor_to_data(back, count * 4, TTNN_FLOAT32, tensor));
		for (uint64_t i = 0; i < count; i++)
			wrong += back[i] != (uint32_t)strtoul(want + 9 * i, NULL, 16);
		if (wrong)
			TEST_FAIL("%s as %s: %" PRIu64 " of %" PRIu64 " differ",
				  tt_json_string(tt_json_get(row, "name"), NULL), types.key, wrong,
				  count);
		ttnn_tensor_unref(tensor);
	}
	free(values);
	free(back);
	free(whole);
}

TEST(recorded_round_trips)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	int rows = 0;

	CHECK_OK(tt_json_load(&doc, "tests/data/host/conversions.json.gz"));
	if (!doc)
		return;
	it = tt_json_iter(tt_json_root(doc));
	for (; tt_json_next(&it); rows++)
		if (tt_json_get(it.value, "round_trip"))
			check_recorded(it.value);
	CHECK_INT(rows, 6);
	tt_json_free(doc);
}

/* ---- padding --------------------------------------------------------------------------------- */

/* The stored elements of a row-major tensor, as float32. */
static void check_stored(const ttnn_tensor *tensor, const float *want, uint64_t count)
{
	const float *got = ttnn_tensor_bytes(tensor);

	CHECK_INT(ttnn_tensor_get_spec(tensor)->bytes, count * 4);
	for (uint64_t i = 0; i < count; i++)
		if (got[i] != want[i]) {
			TEST_FAIL("element %" PRIu64 " is %g, not %g", i, got[i], want[i]);
			return;
		}
}

static ttnn_tensor *counted(struct ttnn_shape shape)
{
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL;
	float values[4096];

	for (int i = 0; i < 4096; i++)
		values[i] = (float)(i + 1);
	CHECK_OK(ttnn_tensor_spec_make(
		&spec, &(struct ttnn_spec_args){.shape = shape, .dtype = TTNN_FLOAT32}));
	CHECK_OK(ttnn_tensor_from_data(&tensor, values, TTNN_FLOAT32, &spec, 0));
	return tensor;
}

/* The numbers are those of the real library. */
TEST(padding_as_upstream)
{
	ttnn_tensor *a = counted(TT_SHAPE(3, 5)), *p = NULL, *q = NULL;

	CHECK_OK(ttnn_tensor_pad(&p, a, &TT_SHAPE(4, 7), NULL, 9));
	CHECK(ttnn_shape_equal(&p->spec.shape, &TT_SHAPE(3, 5)));
	CHECK(ttnn_shape_equal(&p->spec.padded, &TT_SHAPE(4, 7)));
	CHECK(ttnn_shape_equal(&p->spec.alignment, &TT_SHAPE(4, 7)));
	check_stored(p, (float[]){1,  2,  3,  4,  5,  9, 9, 6, 7, 8, 9, 10, 9, 9,
				  11, 12, 13, 14, 15, 9, 9, 9, 9, 9, 9, 9,  9, 9},
		     28);
	CHECK_OK(ttnn_tensor_pad(&q, p, &TT_SHAPE(5, 8), NULL, 7)); /* old padding stays */
	check_stored(q, (float[]){1,  2, 3, 4, 5, 9, 9, 7, 6, 7, 8, 9, 10, 9, 9, 7, 11, 12, 13, 14,
				  15, 9, 9, 7, 9, 9, 9, 9, 9, 9, 9, 7, 7,  7, 7, 7, 7,  7,  7,  7},
		     40);
	ttnn_tensor_unref(q);
	CHECK_OK(ttnn_tensor_unpad(&q, p, (uint32_t[]){1, 1}, (uint32_t[]){3, 4}));
	CHECK(ttnn_shape_equal(&q->spec.shape, &TT_SHAPE(2, 3)));
	check_stored(q, (float[]){7, 8, 9, 12, 13, 14}, 6);
	ttnn_tensor_unref(q);
	ttnn_tensor_unref(p);
	CHECK_OK(ttnn_tensor_pad(&p, a, &TT_SHAPE(4, 7), (uint32_t[]){1, 2}, 9));
	check_stored(p, (float[]){9, 9, 9, 9, 9, 9, 9,  9, 9, 1,  2,  3,  4,  5,
				  9, 9, 6, 7, 8, 9, 10, 9, 9, 11, 12, 13, 14, 15},
		     28);
	ttnn_tensor_unref(p);
	CHECK_OK(ttnn_tensor_pad_to_tile(&p, a, 3));
	CHECK(ttnn_shape_equal(&p->spec.padded, &TT_SHAPE(32, 32)));
	CHECK_INT(p->spec.layout, TTNN_ROW_MAJOR);
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(p);
}

TEST(padding_of_integers_takes_the_low_bits)
{
	struct ttnn_tensor_spec spec;
	ttnn_tensor *a = NULL, *p = NULL;
	const uint8_t *bytes;

	CHECK_OK(ttnn_tensor_spec_make(
		&spec, &(struct ttnn_spec_args){.shape = {1, {2}}, .dtype = TTNN_UINT8}));
	CHECK_OK(ttnn_tensor_new(&a, &spec));
	CHECK_OK(ttnn_tensor_pad(&p, a, &TT_SHAPE(3), NULL, -3.7));
	bytes = ttnn_tensor_bytes(p);
	CHECK_INT(bytes[1], 0);
	CHECK_INT(bytes[2], 253);
	ttnn_tensor_unref(p);
	CHECK_OK(ttnn_tensor_pad(&p, a, &TT_SHAPE(3), (uint32_t[]){1}, 300.5));
	bytes = ttnn_tensor_bytes(p);
	CHECK_INT(bytes[0], 44);
	CHECK_INT(bytes[1], 0);
	ttnn_tensor_unref(p);
	ttnn_tensor_unref(a);
}

/* Any padding, any start, ranks 1 to 5: each element of the new storage against its index. */
TEST(padding_and_the_way_back)
{
	uint64_t state = 7;

	for (int round = 0; round < 60; round++) {
		uint32_t rank = 1 + (uint32_t)(test_random(&state) % 5), start[5], end[5];
		struct ttnn_shape shape = {.rank = rank}, padded = {.rank = rank};
		ttnn_tensor *a, *p = NULL, *back = NULL;
		uint64_t wrong = 0;
		const float *got;

		for (uint32_t d = 0; d < rank; d++) {
			shape.dim[d] = 1 + (uint32_t)(test_random(&state) % 4);
			start[d] = (uint32_t)(test_random(&state) % 3);
			end[d] = start[d] + shape.dim[d];
			padded.dim[d] = end[d] + (uint32_t)(test_random(&state) % 3);
		}
		a = counted(shape);
		CHECK_OK(ttnn_tensor_pad(&p, a, &padded, start, -1));
		if (!p)
			continue;
		got = ttnn_tensor_bytes(p);
		for (uint64_t n = 0; n < volume_of(&padded); n++) {
			uint64_t rest = n, want = 0, stride = 1;
			bool inside = true;

			for (uint32_t d = rank; d-- > 0;) {
				uint64_t at = rest % padded.dim[d] - start[d];

				rest /= padded.dim[d];
				inside &= at < shape.dim[d];
				want += at * stride;
				stride *= shape.dim[d];
			}
			wrong += got[n] != (inside ? (float)(want + 1) : -1);
		}
		CHECK_INT(wrong, 0);
		CHECK_OK(ttnn_tensor_unpad(&back, p, start, end));
		CHECK(memcmp(ttnn_tensor_bytes(back), ttnn_tensor_bytes(a), a->spec.bytes) == 0);
		CHECK(ttnn_tensor_spec_equal(&back->spec, &a->spec));
		ttnn_tensor_unref(a);
		ttnn_tensor_unref(p);
		ttnn_tensor_unref(back);
	}
}

TEST(padding_to_tiles_and_back)
{
	static const struct ttnn_shape shapes[] = {
		{0, {0}}, {1, {5}}, {2, {3, 5}}, {3, {2, 33, 40}}, {4, {2, 1, 32, 1}}};

	for (size_t i = 0; i < 5; i++) {
		ttnn_tensor *a = counted(shapes[i]), *p = NULL, *back = NULL, *tiled = NULL;

		CHECK_OK(ttnn_tensor_pad_to_tile(&p, a, 3));
		CHECK_INT(tt_shape_last(&p->spec.padded, 1) % 32, 0);
		CHECK_INT(tt_shape_last(&p->spec.padded, 2) % 32, 0);
		CHECK(ttnn_shape_equal(&p->spec.shape, &shapes[i]));
		CHECK(((const float *)ttnn_tensor_bytes(p))[p->spec.bytes / 4 - 1] == 3);
		CHECK_OK(ttnn_tensor_unpad_from_tile(&back, p, &shapes[i]));
		CHECK_INT(back->spec.bytes, a->spec.bytes);
		CHECK(memcmp(ttnn_tensor_bytes(back), ttnn_tensor_bytes(a), a->spec.bytes) == 0);
		CHECK_OK(ttnn_tensor_to_layout(&tiled, p, TTNN_TILE, 4)); /* padding is new */
		CHECK(((const float *)ttnn_tensor_bytes(tiled))[tiled->spec.bytes / 4 - 1] == 4);
		ttnn_tensor_unref(a);
		ttnn_tensor_unref(p);
		ttnn_tensor_unref(back);
		ttnn_tensor_unref(tiled);
	}
}

TEST(padding_that_is_refused)
{
	ttnn_tensor *a = counted(TT_SHAPE(3, 5)), *t = NULL, *out = NULL;

	CHECK_FAILS(ttnn_tensor_pad(&out, a, &TT_SHAPE(2, 7), NULL, 0), TTNN_INVALID,
		    "dimension 0 has 3 elements");
	CHECK_FAILS(ttnn_tensor_pad(&out, a, &TT_SHAPE(4, 7), (uint32_t[]){2, 0}, 0), TTNN_INVALID,
		    "does not fit into 4 from 2 on");
	CHECK_FAILS(ttnn_tensor_pad(&out, a, &TT_SHAPE(1, 4, 7), NULL, 0), TTNN_INVALID,
		    "3 dimensions");
	CHECK_FAILS(ttnn_tensor_unpad(&out, a, (uint32_t[]){0, 0}, (uint32_t[]){3, 6}),
		    TTNN_INVALID, "no part from 0 to 6");
	CHECK_FAILS(ttnn_tensor_unpad(&out, a, (uint32_t[]){2, 0}, (uint32_t[]){1, 5}),
		    TTNN_INVALID, "no part from 2 to 1");
	CHECK_FAILS(ttnn_tensor_unpad_from_tile(&out, a, &TT_SHAPE(2, 3)), TTNN_INVALID,
		    "Last 2 dims of input shape must be multiples of 32");
	CHECK_OK(ttnn_tensor_to_layout(&t, a, TTNN_TILE, 0));
	CHECK_FAILS(ttnn_tensor_pad(&out, t, &TT_SHAPE(64, 64), NULL, 0), TTNN_INVALID,
		    "ROW_MAJOR for padding");
	CHECK_FAILS(ttnn_tensor_unpad_from_tile(&out, t, &TT_SHAPE(3, 5)), TTNN_INVALID,
		    "Tensor layout must be ROW_MAJOR for unpadding");
	ttnn_tensor_unref(t);
	CHECK_OK(ttnn_tensor_pad_to_tile(&t, a, 0));
	CHECK_FAILS(ttnn_tensor_unpad_from_tile(&out, t, &TT_SHAPE(3, 50)), TTNN_INVALID,
		    "leaves no 50");
	CHECK_FAILS(ttnn_tensor_unpad_from_tile(&out, t, &TT_SHAPE(2, 3, 5)), TTNN_INVALID,
		    "dimension 3 from the end");
	CHECK_FAILS(ttnn_tensor_unpad_from_tile(&out, t, &(struct ttnn_shape){.rank = 1000}),
		    TTNN_INVALID, "A shape of 1000 dimensions");
	CHECK_FAILS(ttnn_tensor_pad(&out, t, &(struct ttnn_shape){.rank = 1000}, NULL, 0),
		    TTNN_INVALID, "padding to 1000 dimensions");
	CHECK_FAILS(ttnn_tensor_view(&out, t, &(struct ttnn_shape){.rank = 1000}), TTNN_INVALID,
		    "A shape of 1000 dimensions");
	ttnn_tensor_unref(t);
	ttnn_tensor_unref(a);
}

/* ---- views ----------------------------------------------------------------------------------- */

/* Whether all elements have the same place in both, found out one by one. */
static bool same_places(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b)
{
	if (a->bytes != b->bytes)
		return false;
	for (uint64_t n = 0; n < volume_of(&a->shape); n++)
		if (storage_index(a, padded_index(a, n)) != storage_index(b, padded_index(b, n)))
			return false;
	return true;
}

TEST(views_move_nothing)
{
	static const struct ttnn_shape shapes[] = {
		{2, {64, 6}},       {2, {6, 64}},       {3, {2, 32, 6}},  {3, {2, 3, 64}},
		{1, {384}},         {4, {1, 2, 32, 6}}, {3, {64, 1, 6}},  {3, {4, 16, 6}},
		{4, {2, 1, 3, 64}}, {2, {1, 384}},      {3, {1, 384, 1}}, {2, {384, 1}},
		{3, {3, 2, 64}},    {2, {12, 32}},      {3, {3, 4, 32}},
	};
	const size_t count = sizeof(shapes) / sizeof(shapes[0]);
	int views = 0, refused = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			for (unsigned k = 0; k < 3; k++) {
				struct ttnn_spec_args args = {
					.shape = shapes[i],
					.layout = k ? TTNN_TILE : TTNN_ROW_MAJOR,
					.tile = k == 2 ? tiles[4] : tiles[0],
				};
				struct ttnn_tensor_spec from, to;
				ttnn_tensor *tensor = NULL, *view = NULL;
				tt_status status;

				CHECK_OK(ttnn_tensor_spec_make(&from, &args));
				args.shape = shapes[j];
				CHECK_OK(ttnn_tensor_spec_make(&to, &args));
				CHECK_OK(ttnn_tensor_new(&tensor, &from));
				status = ttnn_tensor_view(&view, tensor, &shapes[j]);
				if (same_places(&from, &to) != (status == TTNN_OK))
					TEST_FAIL("view %zu of %zu, kind %u: %s", j, i, k,
						  ttnn_error());
				if (status == TTNN_OK) {
					views++;
					CHECK(ttnn_tensor_bytes(view) == ttnn_tensor_bytes(tensor));
					CHECK(ttnn_tensor_spec_equal(&view->spec, &to));
					ttnn_tensor_unref(tensor); /* the view lives on */
					tensor = view;
				} else {
					refused++;
					CHECK(strstr(ttnn_error(), "elements would have to move"));
				}
				ttnn_tensor_unref(tensor);
			}
	CHECK(views > 200);
	CHECK(refused > 100);
}

TEST(views_of_padded_rows)
{
	ttnn_tensor *a = counted(TT_SHAPE(3, 5)), *p = NULL, *view = NULL;

	CHECK_OK(ttnn_tensor_pad(&p, a, &TT_SHAPE(4, 7), NULL, 9));
	CHECK_OK(ttnn_tensor_view(&view, p, &TT_SHAPE(1, 3, 5)));
	CHECK(ttnn_shape_equal(&view->spec.padded, &TT_SHAPE(1, 4, 7)));
	ttnn_tensor_unref(view);
	CHECK_FAILS(ttnn_tensor_view(&view, p, &TT_SHAPE(5, 3)), TTNN_UNSUPPORTED, "move");
	CHECK_FAILS(ttnn_tensor_view(&view, p, &TT_SHAPE(5, 4)), TTNN_INVALID,
		    "20 elements and cannot be a view of Shape([3, 5]), which has 15");
	ttnn_tensor_unref(p);
	ttnn_tensor_unref(a);
}

/* ---- sharing --------------------------------------------------------------------------------- */

TEST(large_storage_is_aligned)
{
	static const uint64_t sizes[] = {0, 1, 100, 4096, 2 << 20, (2 << 20) + 4, 5 << 20};

	for (size_t i = 0; i < 7; i++) {
		struct tt_storage *storage = NULL;

		CHECK_OK(tt_storage_new(&storage, sizes[i]));
		CHECK_INT((uintptr_t)storage->data % (sizes[i] < 2 << 20 ? 64 : 2 << 20), 0);
		memset(storage->data, 1, sizes[i]);
		tt_storage_unref(storage);
	}
	CHECK_FAILS(tt_storage_new(&(struct tt_storage *){NULL}, UINT64_MAX), TTNN_NOMEM, "");
}

TEST(new_tensors_are_zero)
{
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL;
	const char *bytes;
	int used = 0;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &(struct ttnn_spec_args){.shape = {2, {999, 77}}}));
	CHECK_OK(ttnn_tensor_new(&tensor, &spec));
	bytes = ttnn_tensor_bytes(tensor);
	for (uint64_t i = 0; i < spec.bytes; i++)
		used |= bytes[i];
	CHECK_INT(used, 0);
	CHECK(ttnn_tensor_spec_equal(ttnn_tensor_get_spec(tensor), &spec));
	CHECK_INT(ttnn_tensor_shard_count(tensor), 1);
	CHECK(ttnn_tensor_ref(tensor) == tensor);
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(NULL);
}

TEST(no_elements_at_all)
{
	static const struct ttnn_shape shapes[] = {
		{1, {0}}, {2, {0, 5}}, {2, {5, 0}}, {3, {2, 0, 3}}};

	for (size_t i = 0; i < 4; i++)
		for (unsigned layout = 0; layout < 2; layout++) {
			struct ttnn_spec_args args = {
				.shape = shapes[i], .layout = layout ? TTNN_TILE : TTNN_ROW_MAJOR};
			struct ttnn_tensor_spec spec;
			ttnn_tensor *tensor = NULL, *other = NULL;

			CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
			CHECK_INT(spec.bytes, 0);
			CHECK_OK(ttnn_tensor_from_data(&tensor, "", TTNN_FLOAT32, &spec, 1));
			CHECK_OK(ttnn_tensor_to_data("", 0, TTNN_UINT8, tensor));
			CHECK_OK(ttnn_tensor_to_layout(&other, tensor, !layout, 1));
			ttnn_tensor_unref(other);
			CHECK_OK(ttnn_tensor_to_dtype(&other, tensor, TTNN_INT32));
			ttnn_tensor_unref(other);
			CHECK_OK(ttnn_tensor_view(&other, tensor, &TT_SHAPE(3, 0)));
			ttnn_tensor_unref(other);
			ttnn_tensor_unref(tensor);
		}
}

static void *share(void *argument)
{
	ttnn_tensor *tensor = argument, *view, *tiled;
	float values[40 * 50];
	void *result = tensor;

	for (int i = 0; i < 200; i++) {
		ttnn_tensor_ref(tensor);
		if (ttnn_tensor_view(&view, tensor, &TT_SHAPE(2, 20, 50)) != TTNN_OK ||
		    ttnn_tensor_to_layout(&tiled, tensor, TTNN_TILE, 0) != TTNN_OK)
			return NULL;
		ttnn_tensor_unref(tensor);
		if (ttnn_tensor_to_data(values, sizeof(values), TTNN_FLOAT32, tiled) != TTNN_OK ||
		    values[1999] != 2000)
			result = NULL;
		ttnn_tensor_unref(view);
		ttnn_tensor_unref(tiled);
	}
	return result;
}

TEST(tensors_are_shared_by_threads)
{
	ttnn_tensor *tensor = counted(TT_SHAPE(40, 50));
	pthread_t threads[4];
	void *result;

	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, share, tensor), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_INT(pthread_join(threads[i], &result), 0);
		CHECK(result == tensor);
	}
	ttnn_tensor_unref(tensor);
}

/* Enough for several threads; the same bytes come from one. */
TEST(large_copies_on_several_threads)
{
	struct ttnn_spec_args args = {
		.shape = {3, {3, 500, 700}}, .dtype = TTNN_BFLOAT8_B, .layout = TTNN_TILE};
	const size_t count = 3 * 500 * 700;
	float *values = malloc(count * 4);
	ttnn_tensor *many = NULL, *one = NULL;
	struct ttnn_tensor_spec spec;

	for (size_t i = 0; i < count; i++)
		values[i] = (float)((double)(i * 7919 % 10007) - 5000) / 13;
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	tt_pool_set_threads(4);
	CHECK_OK(ttnn_tensor_from_data(&many, values, TTNN_FLOAT32, &spec, 1));
	tt_pool_set_threads(1);
	CHECK_OK(ttnn_tensor_from_data(&one, values, TTNN_FLOAT32, &spec, 1));
	CHECK(memcmp(ttnn_tensor_bytes(many), ttnn_tensor_bytes(one), spec.bytes) == 0);
	tt_pool_set_threads(0);
	ttnn_tensor_unref(many);
	ttnn_tensor_unref(one);
	free(values);
}

/* ---- no memory ------------------------------------------------------------------------------- */

static tt_status make_and_change(ttnn_tensor *made[6])
{
	float values[15] = {1, 2, 3};
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(
		&spec, &(struct ttnn_spec_args){.shape = {2, {3, 5}}, .dtype = TTNN_FLOAT32}));
	TT_TRY(ttnn_tensor_from_data(&made[0], values, TTNN_FLOAT32, &spec, 0));
	TT_TRY(ttnn_tensor_pad(&made[1], made[0], &TT_SHAPE(4, 6), NULL, 1));
	TT_TRY(ttnn_tensor_to_layout(&made[2], made[1], TTNN_TILE, 2));
	TT_TRY(ttnn_tensor_to_dtype(&made[3], made[2], TTNN_BFLOAT4_B));
	TT_TRY(ttnn_tensor_view(&made[4], made[3], &TT_SHAPE(1, 3, 5)));
	TT_TRY(ttnn_tensor_shard(&made[5], made[4], 0));
	return ttnn_tensor_to_data(values, sizeof(values), TTNN_FLOAT32, made[5]);
}

SCENARIO(making_tensors)
{
	ttnn_tensor *made[6] = {0};
	tt_status status = make_and_change(made);

	for (int i = 0; i < 6; i++)
		ttnn_tensor_unref(made[i]);
	return status;
}
