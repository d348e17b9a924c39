/*
 * conversions against those of the released library, bit for bit
 *
 * tests/data/host/recorded.json.gz is what record.py beside it got from ttnn 0.81.1 (tricky values of
 * all pairs, all tiles, paddings, tiles of arbitrary bytes); conversions.json holds whole tensors
 * there and back. Every instruction set of this machine must give the recorded bits.
 */
#include "test.h"

#include "base/json.h"
#include "each_isa.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#define RECORDED "tests/data/host/recorded.json.gz"
#define ROUND_TRIPS "tests/data/host/conversions.json.gz"

/* ---- reading -------------------------------------------------------------------------------------- */

struct bytes {
	uint8_t *data;
	size_t count;
};

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes of a hex text; freed by the caller. */
static struct bytes from_hex(const struct tt_json *text)
{
	size_t length = 0;
	const char *hex = tt_json_string(text, &length);
	struct bytes bytes = {tt_alloc(length), length / 2};

	if (!hex || !bytes.data)
		abort();
	for (size_t i = 0; i < bytes.count; i++)
		bytes.data[i] = (uint8_t)(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
	return bytes;
}

/* The float32 of words written as numbers, with blanks between them. */
static struct bytes from_words(const struct tt_json *text)
{
	const char *hex = tt_json_string(text, NULL);
	struct bytes bytes = {tt_alloc(hex ? strlen(hex) + 1 : 1), 0};

	if (!hex || !bytes.data)
		abort();
	while (*hex) {
		char *end;
		uint32_t word = (uint32_t)strtoul(hex, &end, 16);

		memcpy(bytes.data + bytes.count, &word, sizeof(word));
		bytes.count += sizeof(word);
		hex = *end ? end + 1 : end;
	}
	return bytes;
}

static enum ttnn_dtype dtype_of(const char *name)
{
	enum ttnn_dtype dtype = TTNN_DTYPE_COUNT;

	CHECK_OK(ttnn_dtype_find(&dtype, name));
	return dtype;
}

static size_t size_at(const struct tt_json *array, size_t index)
{
	uint64_t value = 0;

	CHECK(tt_json_uint(&value, tt_json_at(array, index)));
	return (size_t)value;
}

static struct tt_json_doc *load(const char *path)
{
	struct tt_json_doc *doc = NULL;

	CHECK_OK(tt_json_load(&doc, path));
	return doc;
}

/* ---- comparing ------------------------------------------------------------------------------------ */

static size_t compared; /* conversions of one array or tensor, each at every level */

static void check_same(const void *got, const struct bytes *want, const char *what, int isa)
{
	const uint8_t *bytes = got;

	for (size_t i = 0; i < want->count; i++) {
		if (bytes[i] != want->data[i]) {
			TEST_FAIL("%s at level %d: byte %zu is %#x, not %#x", what, isa, i,
				  bytes[i], want->data[i]);
			return;
		}
	}
}

/* Sources of a section, each with its results in other types; units are elements or 32 x 32 tiles. */
static void check_section(const struct tt_json *section, bool in_tiles)
{
	static const struct ttnn_tile tile = {32, 32, false};
	struct tt_json_iter rows = tt_json_iter(section);

	while (tt_json_next(&rows)) {
		enum ttnn_dtype from =
			dtype_of(tt_json_string(tt_json_get(rows.value, "from"), NULL));
		struct bytes in = from_hex(tt_json_get(rows.value, "in"));
		struct tt_json_iter results = tt_json_iter(tt_json_get(rows.value, "to"));
		struct tt_tile_run run = {tile, in.count / tt_dtype_tile_bytes(from, &tile)};

		while (tt_json_next(&results)) {
			enum ttnn_dtype to = dtype_of(results.key);
			struct bytes want, got;

			if (tt_json_kind(results.value) != TT_JSON_STRING)
				continue; /* the library refuses it */
			want = from_hex(results.value);
			got.data = tt_alloc(want.count);
			EACH_ISA(isa)
			{
				memset(got.data, 0xa5, want.count);
				CHECK_OK(in_tiles ? tt_convert_tiles(got.data, to, in.data, from,
								     &run)
						  : tt_convert(got.data, to, in.data, from,
							       in.count / tt_dtype_bytes(from)));
				check_same(got.data, &want, results.key, isa);
			}
			compared++;
			tt_free(got.data);
			tt_free(want.data);
		}
		tt_free(in.data);
	}
}

TEST(elements_of_all_pairs)
{
	struct tt_json_doc *doc = load(RECORDED);

	compared = 0;
	check_section(tt_json_get(tt_json_root(doc), "elements"), false);
	CHECK_INT(compared, 7 * 7 + 3); /* fp8_e4m3 only from, to and beside float32 */
	tt_json_free(doc);
}

TEST(stored_tiles_of_all_pairs)
{
	struct tt_json_doc *doc = load(RECORDED);

	compared = 0;
	check_section(tt_json_get(tt_json_root(doc), "decoded"), true);
	CHECK_INT(compared, 2 * 9);
	check_section(tt_json_get(tt_json_root(doc), "encoded"), true);
	CHECK_INT(compared, 2 * 9 + 6 * 2);
	tt_json_free(doc);
}

/* ---- matrices in tiles ---------------------------------------------------------------------------- */

/* A stack of matrices, each cut into tiles of its own. */
struct stack {
	size_t count, rows, cols;
	struct ttnn_tile tile;
	float pad;
};

static struct stack stack_of(const struct tt_json *shape)
{
	size_t rank = tt_json_count(shape);
	struct stack stack = {1, 1, size_at(shape, rank - 1), {32, 32, false}, 0};

	if (rank > 1)
		stack.rows = size_at(shape, rank - 2);
	for (size_t i = 0; i + 2 < rank; i++)
		stack.count *= size_at(shape, i);
	return stack;
}

/* Does it for every tile of the stack, in the order they are stored. */
static void each_tile(const struct stack *stack, float *matrix, uint8_t *stored,
		      enum ttnn_dtype dtype, bool encode)
{
	size_t bytes = tt_dtype_tile_bytes(dtype, &stack->tile);

	for (size_t m = 0; m < stack->count; m++, matrix += stack->rows * stack->cols)
		for (size_t r = 0; r < stack->rows; r += stack->tile.height)
			for (size_t c = 0; c < stack->cols;
			     c += stack->tile.width, stored += bytes) {
				size_t rows = stack->rows - r, cols = stack->cols - c;
				float *at = matrix + r * stack->cols + c;
				struct tt_tile_window window = {
					stack->cols,
					(uint32_t)(rows < stack->tile.height ? rows
									     : stack->tile.height),
					(uint32_t)(cols < stack->tile.width ? cols
									    : stack->tile.width),
					stack->pad,
				};

				if (encode)
					tt_bfp_encode_tile(stored, dtype, &stack->tile, at,
							   &window);
				else
					tt_bfp_decode_tile(at, &window, dtype, &stack->tile,
							   stored);
			}
}

static size_t stored_bytes(const struct stack *stack, enum ttnn_dtype dtype)
{
	size_t down = (stack->rows + stack->tile.height - 1) / stack->tile.height;
	size_t across = (stack->cols + stack->tile.width - 1) / stack->tile.width;

	return stack->count * down * across * tt_dtype_tile_bytes(dtype, &stack->tile);
}

/* To tiles and back; either expectation may be missing. */
static void check_stack(const struct stack *stack, struct bytes in, enum ttnn_dtype dtype,
			const struct bytes *stored, const struct bytes *back)
{
	size_t bytes = stored_bytes(stack, dtype);
	struct bytes tiles = {tt_alloc(bytes), bytes};
	float *result = tt_alloc(in.count);

	EACH_ISA(isa)
	{
		memset(tiles.data, 0xa5, bytes);
		each_tile(stack, (float *)(void *)in.data, tiles.data, dtype, true);
		if (stored) {
			CHECK_INT(stored->count, bytes);
			check_same(tiles.data, stored, "a tile", isa);
		}
		if (back) {
			CHECK_INT(back->count, in.count);
			each_tile(stack, result, tiles.data, dtype, false);
			check_same(result, back, "a matrix from tiles", isa);
		}
	}
	compared++;
	tt_free(tiles.data);
	tt_free(result);
}

/* The same from float32 that was tilized before; `order` tells where each stored element lay. */
static void check_faces(const struct stack *stack, struct bytes in, const struct tt_json *order,
			enum ttnn_dtype dtype, const struct bytes *stored)
{
	size_t bytes = stored_bytes(stack, dtype), elements = in.count / sizeof(float), k = 0;
	struct tt_tile_run run = {stack->tile, bytes / tt_dtype_tile_bytes(dtype, &stack->tile)};
	struct tt_json_iter from = tt_json_iter(order);
	float *faces = tt_alloc(in.count);
	uint8_t *got = tt_alloc(bytes);

	while (tt_json_next(&from) && k < elements) {
		uint64_t index = 0;

		CHECK(tt_json_uint(&index, from.value) && index < elements);
		memcpy(&faces[k++], in.data + index * sizeof(float), sizeof(float));
	}
	EACH_ISA(isa)
	{
		CHECK_OK(tt_convert_tiles(got, dtype, faces, TTNN_FLOAT32, &run));
		check_same(got, stored, "a tile from faces", isa);
	}
	tt_free(faces);
	tt_free(got);
}

TEST(tiles_of_all_sizes)
{
	struct tt_json_doc *doc = load(RECORDED);
	struct tt_json_iter rows = tt_json_iter(tt_json_get(tt_json_root(doc), "tiles"));

	compared = 0;
	while (tt_json_next(&rows)) {
		struct stack stack = stack_of(tt_json_get(rows.value, "shape"));
		struct bytes in = from_hex(tt_json_get(rows.value, "in"));
		struct tt_json_iter results = tt_json_iter(tt_json_get(rows.value, "to"));

		stack.tile.height = (uint32_t)size_at(tt_json_get(rows.value, "tile"), 0);
		stack.tile.width = (uint32_t)size_at(tt_json_get(rows.value, "tile"), 1);
		CHECK(tt_json_bool(&stack.tile.transpose, tt_json_get(rows.value, "transpose")));
		while (tt_json_next(&results)) {
			struct bytes stored = from_hex(tt_json_get(results.value, "bytes"));
			struct bytes back = from_hex(tt_json_get(results.value, "back"));

			check_stack(&stack, in, dtype_of(results.key), &stored, &back);
			check_faces(&stack, in, tt_json_get(rows.value, "order"),
				    dtype_of(results.key), &stored);
			tt_free(stored.data);
			tt_free(back.data);
		}
		tt_free(in.data);
	}
	CHECK_INT(compared, 16 * 2);
	tt_json_free(doc);
}

TEST(padding_of_odd_shapes)
{
	struct tt_json_doc *doc = load(RECORDED);
	struct tt_json_iter rows = tt_json_iter(tt_json_get(tt_json_root(doc), "padded"));

	compared = 0;
	while (tt_json_next(&rows)) {
		struct stack stack = stack_of(tt_json_get(rows.value, "shape"));
		struct bytes in = from_hex(tt_json_get(rows.value, "in"));
		struct tt_json_iter results = tt_json_iter(tt_json_get(rows.value, "to"));
		double pad = 0;

		CHECK(tt_json_real(&pad, tt_json_get(rows.value, "pad")));
		stack.pad = (float)pad;
		while (tt_json_next(&results)) {
			enum ttnn_dtype dtype = dtype_of(results.key);
			struct bytes stored = from_hex(results.value);

			if (tt_dtype_is_block(dtype))
				check_stack(&stack, in, dtype, &stored, NULL);
			tt_free(stored.data);
		}
		tt_free(in.data);
	}
	CHECK_INT(compared, 3 * 2);
	tt_json_free(doc);
}

/* ---- round trips ---------------------------------------------------------------------------------- */

/* float32 → int32, its magnitude for unsigned types → the type → float32, as it was recorded. */
static void check_integers(struct bytes in, enum ttnn_dtype dtype, const struct bytes *back)
{
	size_t count = in.count / sizeof(float);
	float *source = tt_alloc(in.count), *result = tt_alloc(in.count);
	int32_t *whole = tt_alloc(in.count), *stored = tt_alloc(in.count);

	memcpy(source, in.data, in.count);
	for (size_t i = 0; i < count; i++)
		if (dtype != TTNN_INT32)
			source[i] = fabsf(source[i]);
	EACH_ISA(isa)
	{
		CHECK_OK(tt_convert(whole, TTNN_INT32, source, TTNN_FLOAT32, count));
		CHECK_OK(tt_convert(stored, dtype, whole, TTNN_INT32, count));
		CHECK_OK(tt_convert(result, TTNN_FLOAT32, stored, dtype, count));
		check_same(result, back, "integers", isa);
	}
	compared++;
	tt_free(source);
	tt_free(result);
	tt_free(whole);
	tt_free(stored);
}

static void check_elements(struct bytes in, enum ttnn_dtype dtype, const struct bytes *back)
{
	size_t count = in.count / sizeof(float);
	void *stored = tt_alloc(in.count), *result = tt_alloc(in.count);

	EACH_ISA(isa)
	{
		CHECK_OK(tt_convert(stored, dtype, in.data, TTNN_FLOAT32, count));
		CHECK_OK(tt_convert(result, TTNN_FLOAT32, stored, dtype, count));
		check_same(result, back, "floats", isa);
	}
	compared++;
	tt_free(stored);
	tt_free(result);
}

TEST(round_trips_of_tensors)
{
	struct tt_json_doc *doc = load(ROUND_TRIPS);
	struct tt_json_iter rows = tt_json_iter(tt_json_root(doc));

	compared = 0;
	while (tt_json_next(&rows)) {
		struct stack stack = stack_of(tt_json_get(rows.value, "shape"));
		struct bytes in = from_words(tt_json_get(rows.value, "input"));
		struct tt_json_iter results = tt_json_iter(tt_json_get(rows.value, "round_trip"));

		while (tt_json_next(&results)) {
			enum ttnn_dtype dtype = dtype_of(results.key);
			struct bytes back = from_words(results.value);

			CHECK_INT(back.count, in.count);
			if (tt_dtype_is_block(dtype))
				check_stack(&stack, in, dtype, NULL, &back);
			else if (tt_dtype_is_integer(dtype))
				check_integers(in, dtype, &back);
			else
				check_elements(in, dtype, &back);
			tt_free(back.data);
		}
		tt_free(in.data);
	}
	CHECK_INT(compared, 6 * 4 + 4);
	tt_json_free(doc);
}
