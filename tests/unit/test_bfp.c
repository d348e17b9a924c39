/* block-float tiles against a slow reference in long double; every instruction set of this machine */
#include "test.h"

#include "each_isa.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#define GROUP 16

static const struct ttnn_tile tiles[] = {
	{32, 32, false}, {16, 32, false}, {32, 16, false}, {16, 16, false},
	{32, 32, true},  {16, 32, true},  {32, 16, true},  {16, 16, true},
	{8, 32, false},  {8, 16, false},  {4, 32, false},  {4, 16, false},
	{2, 32, false},  {2, 16, false},  {1, 32, false},  {1, 16, false},
};
static const enum ttnn_dtype blocks[] = {TTNN_BFLOAT8_B, TTNN_BFLOAT4_B};

/* ---- the reference ------------------------------------------------------------------------------ */

static uint32_t as_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* The magnitude as a number; infinity and NaN go on where the largest float32 ends. */
static long double magnitude(float value)
{
	uint32_t bits = as_bits(value) % 0x80000000;

	if (isfinite(value))
		return fabsl((long double)value);
	return ldexpl(8388608.0L + bits % 8388608, 255 - 150);
}

/* floor(log2) for normal numbers, as float32 stores it; 0 for denormals and zero. */
static int exponent(float value)
{
	int power;

	if (magnitude(value) < 0x1p-126L)
		return 0;
	(void)frexpl(magnitude(value), &power);
	return power - 1 + 127;
}

static unsigned want_exponent(const float *group)
{
	int largest = 0;

	for (int i = 0; i < GROUP; i++)
		largest = exponent(group[i]) > largest ? exponent(group[i]) : largest;
	return (unsigned)largest;
}

static unsigned want_code(float value, unsigned shared, unsigned bits)
{
	/* Units: the last of 24 bits below the shared exponent, then the last one that is stored. */
	unsigned long long units, unit = 1ULL << (24 - bits), code;

	if (exponent(value) == 0)
		return 0;
	units = (unsigned long long)floorl(ldexpl(magnitude(value), 150 - (int)shared));
	code = units / unit;
	if (units % unit > unit / 2 || (units % unit == unit / 2 && code % 2))
		code++;
	if (code == 1ULL << bits)
		code--;
	return (unsigned)(code && signbit(value) ? code + (1ULL << bits) : code);
}

/* Where the k-th stored element of a tile lies in it. */
static void place(size_t *row, size_t *col, size_t k, const struct ttnn_tile *tile)
{
	size_t face_rows = tile->height < 16 ? tile->height : 16;
	size_t face = k / (face_rows * 16), inside = k % (face_rows * 16);
	size_t across = tile->width / 16, down = tile->height / face_rows;
	size_t r = inside / 16, c = inside % 16;

	if (tile->transpose) {
		*row = face % down * face_rows + c;
		*col = face / down * 16 + r;
	} else {
		*row = face / across * face_rows + r;
		*col = face % across * 16 + c;
	}
}

static size_t want_tile(uint8_t *out, enum ttnn_dtype dtype, const struct ttnn_tile *tile,
			const float *src, const struct tt_tile_window *window)
{
	unsigned bits = dtype == TTNN_BFLOAT8_B ? 7 : 3;
	size_t count = (size_t)tile->height * tile->width, start = (count / GROUP + 15) / 16 * 16;

	memset(out, 0, 1088);
	for (size_t k = 0; k < count; k += GROUP) {
		float group[GROUP];

		for (size_t i = 0; i < GROUP; i++) {
			size_t row, col;

			place(&row, &col, k + i, tile);
			group[i] = row < window->rows && col < window->cols
					   ? src[row * window->stride + col]
					   : window->pad;
		}
		out[k / GROUP] = (uint8_t)want_exponent(group);
		for (size_t i = 0; i < GROUP; i++) {
			unsigned code = want_code(group[i], out[k / GROUP], bits);

			if (bits == 7)
				out[start + k + i] = (uint8_t)code;
			else
				out[start + (k + i) / 2] |= (uint8_t)(i % 2 ? 16 * code : code);
		}
	}
	return start + count * (bits + 1) / 8;
}

static float want_value(unsigned code, unsigned shared, unsigned bits)
{
	unsigned size = 1u << bits;
	long double value = ldexpl(code % size, (int)shared - 126 - (int)bits);

	return (float)(code / size ? -value : value);
}

/* ---- data ---------------------------------------------------------------------------------------- */

/* Groups of near and of far magnitudes, with ties, zeros, denormals, infinities and NaN. */
static float random_float(uint64_t *state, unsigned row)
{
	uint64_t random = test_random(state);
	uint32_t base = row * 7 % 255, spread = (uint32_t)(row % 5 ? 1 + row % 31 : 1);
	uint32_t own = (uint32_t)(random >> 32) % spread, bits;
	float value;

	bits = (base > own ? base - own : 0) << 23 | ((uint32_t)random & 0x807fffff);
	switch (row % 8) {
	case 1:
		bits &= 0xffff0000;
		break; /* ties of bfloat8_b */
	case 2:
		bits &= 0xfff00000;
		break; /* ties of bfloat4_b */
	case 3:
		bits |= 0x7ffff0;
		break; /* rounds beyond the top */
	}
	if ((random >> 40) % 64 == 0)
		bits |= 0x7f800000;
	if (row % 16 == 5)
		bits &= 0x807fffff;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

enum { ROWS = 64, COLS = 80 };
static float matrix[ROWS * COLS];

static void fill_matrix(unsigned seed)
{
	uint64_t state = seed;

	for (unsigned r = 0; r < ROWS; r++)
		for (unsigned c = 0; c < COLS; c++)
			matrix[r * COLS + c] = random_float(&state, r * 5 + c / 16 + seed);
}

/* ---- tests --------------------------------------------------------------------------------------- */

static void check_window(enum ttnn_dtype dtype, const struct ttnn_tile *tile,
			 const struct tt_tile_window *window)
{
	uint8_t want[1088], got[1088 + 1];
	size_t bytes = want_tile(want, dtype, tile, matrix, window);

	CHECK_INT(bytes, tt_dtype_tile_bytes(dtype, tile));
	EACH_ISA(isa)
	{
		memset(got, 0xa5, sizeof(got));
		tt_bfp_encode_tile(got, dtype, tile, matrix, window);
		CHECK_INT(got[bytes], 0xa5);
		for (size_t i = 0; i < bytes; i++)
			if (got[i] != want[i])
				TEST_FAIL("byte %zu of a %u x %u tile is %#x, not %#x", i,
					  tile->height, tile->width, got[i], want[i]);
	}
}

TEST(encodes_whole_tiles)
{
	for (unsigned seed = 0; seed < 8; seed++) {
		fill_matrix(seed);
		for (size_t t = 0; t < sizeof(tiles) / sizeof(tiles[0]); t++)
			for (int b = 0; b < 2; b++)
				check_window(blocks[b], &tiles[t],
					     &(struct tt_tile_window){COLS, tiles[t].height,
								      tiles[t].width, 0});
	}
}

TEST(pads_partial_tiles)
{
	static const float pads[] = {0, -1.75f, INFINITY};

	fill_matrix(9);
	for (size_t t = 0; t < sizeof(tiles) / sizeof(tiles[0]); t++) {
		uint32_t height = tiles[t].height, width = tiles[t].width;
		const struct tt_tile_window windows[] = {
			{COLS, height, width - 1, 0},
			{COLS, height - 1, width, 0},
			{COLS, height / 2, 1, 0},
			{17, 1, 17 % width, 0},
			{COLS, 0, 0, 0},
		};

		for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
			struct tt_tile_window window = windows[i];

			window.pad = pads[i % 3];
			check_window(blocks[i % 2], &tiles[t], &window);
		}
	}
}

/* Every code under a shared exponent whose values are all normal: the others are recorded. */
static void fill_tile(uint8_t *tile, uint64_t *state, size_t bytes, size_t exponents)
{
	for (size_t i = 0; i < bytes; i++)
		tile[i] = (uint8_t)test_random(state);
	for (size_t i = 0; i < exponents; i++)
		tile[i] = (uint8_t)(7 + tile[i] % 247);
}

TEST(decodes_windows_and_nothing_beside)
{
	static float got[ROWS * COLS];
	uint8_t tile[1088];
	uint64_t state = 3;

	for (size_t t = 0; t < 2 * sizeof(tiles) / sizeof(tiles[0]); t++) {
		const struct ttnn_tile *shape = &tiles[t / 2];
		enum ttnn_dtype dtype = blocks[t % 2];
		unsigned bits = t % 2 ? 3 : 7;
		size_t count = (size_t)shape->height * shape->width;
		size_t start = tt_dtype_exponent_bytes(dtype, shape);
		uint32_t cols = shape->width - (uint32_t)t % 3 * 5;
		struct tt_tile_window window = {COLS, shape->height, cols, 0};

		fill_tile(tile, &state, tt_dtype_tile_bytes(dtype, shape), start);
		EACH_ISA(isa)
		{
			for (size_t i = 0; i < ROWS * COLS; i++)
				got[i] = 12345;
			tt_bfp_decode_tile(got, &window, dtype, shape, tile);
			for (size_t k = 0; k < count; k++) {
				size_t row, col;
				unsigned code = bits == 7 ? tile[start + k]
							  : tile[start + k / 2] >> 4 * (k % 2) & 15;
				float want = want_value(code, tile[k / GROUP], bits);

				place(&row, &col, k, shape);
				if (col >= window.cols)
					want = 12345;
				if (as_bits(got[row * COLS + col]) != as_bits(want))
					TEST_FAIL("%#x under %u is %a, not %a", code,
						  tile[k / GROUP], (double)got[row * COLS + col],
						  (double)want);
				got[row * COLS + col] = 12345;
			}
			for (size_t i = 0; i < ROWS * COLS; i++)
				CHECK(got[i] == 12345);
		}
	}
}

/* Tiles in face order give the same bytes as windows of a matrix. */
static void fill_faces(float *faces, uint8_t *want, enum ttnn_dtype dtype,
		       const struct tt_tile_run *run)
{
	size_t count = (size_t)run->tile.height * run->tile.width;
	const struct tt_tile_window window = {COLS, run->tile.height, run->tile.width, 0};

	for (size_t k = 0; k < run->tiles * count; k++) {
		size_t row, col;

		place(&row, &col, k % count, &run->tile);
		faces[k] = matrix[(row + k / count) * COLS + col];
	}
	for (size_t i = 0; i < run->tiles; i++)
		want += want_tile(want, dtype, &run->tile, matrix + i * COLS, &window);
}

TEST(converts_stored_tiles)
{
	static float faces[3 * 1024], back[3 * 1024], again[3 * 1024];
	static uint16_t half[3 * 1024];
	static uint8_t got[3 * 1088], want[3 * 1088], by_half[3 * 1088];

	fill_matrix(4);
	for (size_t t = 0; t < 2 * sizeof(tiles) / sizeof(tiles[0]); t++) {
		const struct tt_tile_run run = {tiles[t / 2], 3};
		enum ttnn_dtype dtype = blocks[t % 2];
		size_t count = 3 * (size_t)run.tile.height * run.tile.width;
		size_t bytes = 3 * tt_dtype_tile_bytes(dtype, &run.tile);

		fill_faces(faces, want, dtype, &run);
		EACH_ISA(isa)
		{
			CHECK_OK(tt_convert_tiles(got, dtype, faces, TTNN_FLOAT32, &run));
			CHECK(memcmp(got, want, bytes) == 0);

			/* what comes back stays as it is from then on */
			CHECK_OK(tt_convert_tiles(back, TTNN_FLOAT32, got, dtype, &run));
			CHECK_OK(tt_convert_tiles(got, dtype, back, TTNN_FLOAT32, &run));
			CHECK_OK(tt_convert_tiles(again, TTNN_FLOAT32, got, dtype, &run));
			CHECK(memcmp(back, again, count * sizeof(float)) == 0);

			/* another type goes through float32 */
			CHECK_OK(tt_convert(half, TTNN_BFLOAT16, faces, TTNN_FLOAT32, count));
			CHECK_OK(tt_convert(back, TTNN_FLOAT32, half, TTNN_BFLOAT16, count));
			CHECK_OK(tt_convert_tiles(got, dtype, back, TTNN_FLOAT32, &run));
			CHECK_OK(tt_convert_tiles(by_half, dtype, half, TTNN_BFLOAT16, &run));
			CHECK(memcmp(by_half, got, bytes) == 0);
		}
	}
}
