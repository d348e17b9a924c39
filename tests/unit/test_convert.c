/*
 * conversions against a slow reference: tables of all values of a type, long double arithmetic and
 * division instead of bits; every instruction set this machine has @threads
 */
#include "test.h"

#include "base/pool.h"
#include "each_isa.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

static float as_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t as_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* ---- small floating-point types: all their values, and searching among them ------------------- */

/* The magnitudes a type can hold, in order; the code of the i-th is first + i. */
struct table {
	size_t count;
	unsigned first;
	double value[32768];
};

static struct table bfloat16_table, fp8_table;

static void build_tables(void)
{
	if (bfloat16_table.count)
		return;
	for (int code = 0; code < 255 * 128; code++) {
		int exponent = code / 128, fraction = code % 128;

		bfloat16_table.value[code] =
			exponent ? ldexp(128 + fraction, exponent - 134) : ldexp(fraction, -133);
	}
	bfloat16_table.count = 255 * 128;
	fp8_table.first = 8; /* subnormals are not used */
	for (int code = 8; code < 127; code++)
		fp8_table.value[code - 8] = ldexp(8 + code % 8, code / 8 - 10);
	fp8_table.count = 127 - 8;
}

/* The code of the nearest magnitude; count + first when it is nearer to what would come next. */
static unsigned nearest(const struct table *table, double magnitude, double next)
{
	size_t low = 0, high = table->count; /* low <= magnitude < high */
	double below, above, middle;

	while (high - low > 1) {
		size_t between = (low + high) / 2;

		*(table->value[between] <= magnitude ? &low : &high) = between;
	}
	below = table->value[low];
	above = high < table->count ? table->value[high] : next;
	middle = below + (above - below) / 2;
	if (magnitude > middle || (magnitude == middle && (table->first + low) % 2))
		low++;
	return table->first + (unsigned)low;
}

static unsigned want_bfloat16(double value)
{
	if (isnan(value))
		return 0x7fc0;
	/* What follows the largest, infinity, stands in the place of 2^128. */
	return (signbit(value) ? 0x8000 : 0) +
	       (isinf(value) ? 0x7f80 : nearest(&bfloat16_table, fabs(value), ldexp(1, 128)));
}

static unsigned want_fp8(double value)
{
	unsigned code;

	if (isnan(value))
		return 0x7f;
	code = isinf(value) || fabs(value) > 448 ? 0x7e
	       : fabs(value) < ldexp(1, -6)      ? 0
						 : nearest(&fp8_table, fabs(value), 480);
	return (signbit(value) ? 0x80 : 0) + code;
}

/* ---- integers ---------------------------------------------------------------------------------- */

static long long want_int(long double value, enum ttnn_dtype dtype)
{
	static const long long limits[TTNN_DTYPE_COUNT][2] = {
		[TTNN_UINT8] = {0, 255},
		[TTNN_INT8] = {-128, 127},
		[TTNN_UINT16] = {0, 65535},
		[TTNN_INT32] = {-2147483648LL, 2147483647},
	};
	const long double two32 = 4294967296.0L;
	long long whole = -2147483648LL;

	if (!isnan(value) && truncl(value) >= -two32 / 2 && truncl(value) < two32 / 2)
		whole = (long long)truncl(value);
	if (dtype == TTNN_UINT32) {
		if (value >= two32 / 2 && value < two32)
			whole = (long long)value;
		return whole < 0 ? whole + 4294967296LL : whole;
	}
	if (whole < limits[dtype][0])
		return limits[dtype][0];
	return whole > limits[dtype][1] ? limits[dtype][1] : whole;
}

/* An element of an integer array. */
static long long element(const void *array, enum ttnn_dtype dtype, size_t i)
{
	switch (dtype) {
	case TTNN_UINT8:
		return ((const uint8_t *)array)[i];
	case TTNN_INT8:
		return ((const int8_t *)array)[i];
	case TTNN_UINT16:
		return ((const uint16_t *)array)[i];
	case TTNN_UINT32:
		return ((const uint32_t *)array)[i];
	default:
		return ((const int32_t *)array)[i];
	}
}

static const enum ttnn_dtype integers[] = {TTNN_UINT8, TTNN_INT8, TTNN_UINT16, TTNN_UINT32,
					   TTNN_INT32};

/* ---- float32 and float64 to everything --------------------------------------------------------- */

#define PER_EXPONENT 64
#define FLOATS (2 * 256 * PER_EXPONENT)

/* Every exponent and sign with random fractions, some with few bits or only ones. */
static void fill_floats(float *values)
{
	uint64_t state = 5;

	for (uint32_t i = 0; i < FLOATS; i++) {
		uint64_t random = test_random(&state);
		uint32_t fraction = (uint32_t)random & 0x7fffff;

		switch (i / 512 % 8) {
		case 0:
			fraction &= 0x7f0000;
			break; /* a bfloat16 */
		case 1:
			fraction &= 0x7f8000;
			break; /* halfway between two, often */
		case 2:
			fraction &= 0x780000;
			break; /* the same for fp8 */
		case 3:
			fraction |= 0x7fff00;
			break;
		case 4:
			fraction = random & 0x800000 ? 0x7fffff : 0;
			break;
		}
		values[i] = as_float((i % 512) << 23 | fraction);
	}
}

static void check_floats(const double *values, const uint16_t *bfloat16, const uint8_t *fp8,
			 const char *what)
{
	build_tables();
	for (size_t i = 0; i < FLOATS; i++) {
		if (bfloat16[i] != want_bfloat16(values[i]))
			TEST_FAIL("%s: %a to bfloat16 is %#x, not %#x", what, values[i],
				  bfloat16[i], want_bfloat16(values[i]));
		if (fp8[i] != want_fp8(values[i]))
			TEST_FAIL("%s: %a to fp8_e4m3 is %#x, not %#x", what, values[i], fp8[i],
				  want_fp8(values[i]));
	}
}

static void check_integers(const double *values, const void *got, enum ttnn_dtype dtype,
			   const char *what)
{
	for (size_t i = 0; i < FLOATS; i++)
		if (element(got, dtype, i) != want_int(values[i], dtype))
			TEST_FAIL("%s: %a to %s is %lld, not %lld", what, values[i],
				  ttnn_dtype_name(dtype, TTNN_DIALECT_SEED), element(got, dtype, i),
				  want_int(values[i], dtype));
}

static float f32[FLOATS];
static double f64[FLOATS];
static uint16_t out16[FLOATS];
static uint8_t out8[FLOATS];
static uint32_t out32[FLOATS];

TEST(float32_to_all)
{
	fill_floats(f32);
	for (size_t i = 0; i < FLOATS; i++)
		f64[i] = f32[i];
	EACH_ISA(isa)
	{
		const char *name = tt_cpu_isa_name((enum tt_isa)isa);

		CHECK_OK(tt_convert(out16, TTNN_BFLOAT16, f32, TTNN_FLOAT32, FLOATS));
		CHECK_OK(tt_convert(out8, TTNN_FP8_E4M3, f32, TTNN_FLOAT32, FLOATS));
		check_floats(f64, out16, out8, name);
		for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
			CHECK_OK(tt_convert(out32, integers[i], f32, TTNN_FLOAT32, FLOATS));
			check_integers(f64, out32, integers[i], name);
		}
	}
}

/* Around what float32 can hold, and so close to the middle that a first rounding would hide it. */
static void fill_doubles(void)
{
	uint64_t state = 6;

	fill_floats(f32);
	for (size_t i = 0; i < FLOATS; i++) {
		uint64_t random = test_random(&state);
		uint32_t bits = as_bits(f32[i]);

		f64[i] = as_float(bits);
		if (isfinite(
			    f64[i])) /* a quarter exact; the others off by next to nothing, or much */
			f64[i] *= random % 4 == 0   ? 1
				  : random % 4 == 1 ? 1 + 0x1p-50
				  : random % 4 == 2 ? 1 - 0x1p-50
						    : ldexp(1 + (double)(random >> 40), -20);
	}
	f64[0] = 1e300;
	f64[1] = -1e300;
	f64[2] = 1e-300;
	f64[3] = -1e-300;
	f64[4] = 4294967295.75;
	f64[5] = 2147483647.75;
	f64[6] = -2147483648.75;
	f64[7] = -2147483649.0;
}

TEST(float64_to_all)
{
	fill_doubles();
	EACH_ISA(isa)
	{
		const char *name = tt_cpu_isa_name((enum tt_isa)isa);

		CHECK_OK(tt_convert_from_f64(out16, TTNN_BFLOAT16, f64, FLOATS));
		CHECK_OK(tt_convert_from_f64(out8, TTNN_FP8_E4M3, f64, FLOATS));
		check_floats(f64, out16, out8, name);
		for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
			CHECK_OK(tt_convert_from_f64(out32, integers[i], f64, FLOATS));
			check_integers(f64, out32, integers[i], name);
		}
	}
}

/* The float32 next to a double by searching its neighbours, none nearer, an even one in a tie. */
static bool is_nearest_float(float got, double value)
{
	double down = nextafterf(got, -INFINITY), up = nextafterf(got, INFINITY);
	double lower, upper;

	if (isnan(value))
		return isnan(got);
	if (isinf(got)) /* beyond the middle of the largest and 2^128 */
		return (got > 0) == (value > 0) && fabs(value) >= 0x1.ffffffp127;
	lower = isinf(down) ? -0x1p128 : down;
	upper = isinf(up) ? 0x1p128 : up;
	lower = ((double)got + lower) / 2;
	upper = ((double)got + upper) / 2;
	if (!signbit(got) != !signbit(value))
		return false;
	if (as_bits(got) % 2)
		return value > lower && value < upper;
	return value >= lower && value <= upper;
}

TEST(float64_to_float32_and_back)
{
	fill_doubles();
	EACH_ISA(isa)
	{
		CHECK_OK(tt_convert_from_f64(f32, TTNN_FLOAT32, f64, FLOATS));
		for (size_t i = 0; i < FLOATS; i++)
			if (!is_nearest_float(f32[i], f64[i]))
				TEST_FAIL("%a to float32 is %a", f64[i], (double)f32[i]);
	}
	fill_floats(f32);
	EACH_ISA(isa)
	{
		CHECK_OK(tt_convert_to_f64(f64, f32, TTNN_FLOAT32, FLOATS));
		for (size_t i = 0; i < FLOATS; i++)
			if (isnan(f32[i])
				    ? !isnan(f64[i])
				    : f64[i] != f32[i] || !signbit(f64[i]) != !signbit(f32[i]))
				TEST_FAIL("%a to float64 is %a", (double)f32[i], f64[i]);
	}
}

/* ---- small types to float32 and float64 -------------------------------------------------------- */

TEST(all_bfloat16_values)
{
	static uint16_t codes[65536], back[65536];
	static float floats[65536];
	static double doubles[65536];

	build_tables();
	for (unsigned i = 0; i < 65536; i++)
		codes[i] = (uint16_t)i;
	EACH_ISA(isa)
	{
		CHECK_OK(tt_convert(floats, TTNN_FLOAT32, codes, TTNN_BFLOAT16, 65536));
		CHECK_OK(tt_convert_to_f64(doubles, codes, TTNN_BFLOAT16, 65536));
		CHECK_OK(tt_convert(back, TTNN_BFLOAT16, floats, TTNN_FLOAT32, 65536));
		for (unsigned i = 0; i < 65536; i++) {
			unsigned magnitude = i % 32768;
			double want = magnitude > 0x7f80    ? NAN
				      : magnitude == 0x7f80 ? INFINITY
							    : bfloat16_table.value[magnitude];
			bool is_right = isnan(want) ? isnan(floats[i]) && isnan(doubles[i])
						    : floats[i] == (i < 32768 ? want : -want) &&
							      doubles[i] == floats[i];

			if (!is_right || !signbit(floats[i]) != (i < 32768))
				TEST_FAIL("bfloat16 %#x is %a, %a", i, (double)floats[i],
					  doubles[i]);
			/* A NaN keeps its payload on the way out and loses it on the way back. */
			if (as_bits(floats[i]) != i * 65536u)
				TEST_FAIL("bfloat16 %#x is %#x", i, as_bits(floats[i]));
			if (back[i] != (isnan(want) ? 0x7fc0 : i))
				TEST_FAIL("bfloat16 %#x comes back as %#x", i, back[i]);
		}
	}
}

TEST(all_fp8_values)
{
	uint8_t codes[256], back[256];
	float floats[256];

	build_tables();
	for (unsigned i = 0; i < 256; i++)
		codes[i] = (uint8_t)i;
	EACH_ISA(isa)
	{
		CHECK_OK(tt_convert(floats, TTNN_FLOAT32, codes, TTNN_FP8_E4M3, 256));
		CHECK_OK(tt_convert(back, TTNN_FP8_E4M3, floats, TTNN_FLOAT32, 256));
		for (unsigned i = 0; i < 256; i++) {
			unsigned magnitude = i % 128;
			double want = magnitude < 8 ? 0 : fp8_table.value[magnitude - 8];

			if (magnitude == 127) {
				CHECK_INT(as_bits(floats[i]), 0x7fc00000);
				CHECK_INT(back[i], 0x7f);
				continue;
			}
			CHECK(floats[i] == (i < 128 ? want : -want));
			CHECK_INT(!signbit(floats[i]), i < 128);
			CHECK_INT(back[i], magnitude < 8 ? i & 128 : i);
		}
	}
}

/* ---- integers to everything -------------------------------------------------------------------- */

#define INTS 4096

/* The nearest float32 of a whole number, by division. */
static double want_float(long long value)
{
	unsigned long long magnitude = (unsigned long long)(value < 0 ? -value : value), unit = 1;
	unsigned long long whole, rest;

	while (magnitude / unit >= 16777216)
		unit *= 2;
	whole = magnitude / unit;
	rest = magnitude % unit;
	if (rest * 2 > unit || (rest * 2 == unit && whole % 2))
		whole++;
	return (value < 0 ? -1.0 : 1.0) * (double)(whole * unit);
}

/* What is left of a whole number in a smaller type. */
static long long want_wrapped(long long value, enum ttnn_dtype dtype)
{
	long long size = 1LL << 8 * tt_dtype_bytes(dtype);
	long long wrapped = ((value % size) + size) % size;
	bool is_signed = dtype == TTNN_INT8 || dtype == TTNN_INT32;

	return is_signed && wrapped >= size / 2 ? wrapped - size : wrapped;
}

static void check_integer_source(const uint32_t *raw, enum ttnn_dtype from)
{
	static const enum ttnn_dtype bf16 = TTNN_BFLOAT16;

	CHECK_OK(tt_convert(f32, TTNN_FLOAT32, raw, from, INTS));
	CHECK_OK(tt_convert_to_f64(f64, raw, from, INTS));
	CHECK_OK(tt_convert(out16, bf16, raw, from, INTS));
	CHECK_OK(tt_convert(out8, TTNN_FP8_E4M3, raw, from, INTS));
	for (size_t i = 0; i < INTS; i++) {
		long long value = element(raw, from, i);

		if (f32[i] != want_float(value) || f64[i] != (double)value ||
		    out16[i] != want_bfloat16(want_float(value)) ||
		    out8[i] != want_fp8((double)value))
			TEST_FAIL("%lld becomes %a, %a, %#x, %#x", value, (double)f32[i], f64[i],
				  out16[i], out8[i]);
	}
	for (size_t k = 0; k < sizeof(integers) / sizeof(integers[0]); k++) {
		CHECK_OK(tt_convert(out32, integers[k], raw, from, INTS));
		for (size_t i = 0; i < INTS; i++)
			if (element(out32, integers[k], i) !=
			    want_wrapped(element(raw, from, i), integers[k]))
				TEST_FAIL("%lld becomes %lld", element(raw, from, i),
					  element(out32, integers[k], i));
	}
}

TEST(integers_to_all)
{
	static uint32_t raw[INTS];
	uint64_t state = 7;

	build_tables();
	for (size_t i = 0; i < INTS; i++) /* of every length, and full of ones and zeros */
		raw[i] = (uint32_t)test_random(&state) >> (test_random(&state) % 32) ^
			 (i % 4 == 0 ? UINT32_MAX : 0);
	raw[0] = 0x80000000;
	raw[1] = 0xffffffff;
	raw[2] = 0xffffff7f; /* below the middle of two floats */
	raw[3] = 0xffffff80; /* on it */
	EACH_ISA(isa)
	for (size_t k = 0; k < sizeof(integers) / sizeof(integers[0]); k++)
		check_integer_source(raw, integers[k]);
}

/* ---- all pairs: the same bits at every level, nothing written beside --------------------------- */

static bool is_block(int dtype)
{
	return tt_dtype_is_block((enum ttnn_dtype)dtype);
}

TEST(every_length_of_every_pair)
{
	enum { MAX = 1200 };
	static uint32_t source[MAX];
	static uint8_t whole[4 * MAX], part[4 * MAX + 8];
	enum tt_isa best = tt_cpu_isa();
	uint64_t state = 8;

	for (size_t i = 0; i < MAX; i++)
		source[i] = (uint32_t)test_random(&state);
	for (int pair = 0; pair < TTNN_DTYPE_COUNT * TTNN_DTYPE_COUNT; pair++) {
		enum ttnn_dtype to = (enum ttnn_dtype)(pair / TTNN_DTYPE_COUNT);
		enum ttnn_dtype from = (enum ttnn_dtype)(pair % TTNN_DTYPE_COUNT);

		if (is_block(to) || is_block(from))
			continue;
		CHECK(tt_cpu_force_isa(TT_ISA_PLAIN));
		CHECK_OK(tt_convert(whole, to, source, from, MAX));
		EACH_ISA(isa)
		{
			/* Lengths with and without a rest behind the vectors; more than a hub. */
			for (size_t count = 0; count <= MAX; count += count < 70 ? 1 : 113) {
				size_t bytes = count * tt_dtype_bytes(to);

				memset(part, 0xaa, sizeof(part));
				CHECK_OK(tt_convert(part, to, source, from, count));
				if (memcmp(part, whole, bytes) != 0 || part[bytes] != 0xaa)
					TEST_FAIL("%zu of %d to %d at level %d", count, from, to,
						  isa);
			}
		}
	}
	CHECK(tt_cpu_force_isa(best));
}

TEST(refuses_what_has_no_elements)
{
	float value = 1;
	double wide = 1;

	CHECK_FAILS(tt_convert(&value, TTNN_FLOAT32, &value, TTNN_BFLOAT8_B, 1), TTNN_INVALID,
		    "bfloat8_b exists in tiles only");
	CHECK_FAILS(tt_convert(&value, TTNN_BFLOAT4_B, &value, TTNN_FLOAT32, 1), TTNN_INVALID,
		    "bfloat4_b exists in tiles only");
	CHECK_FAILS(tt_convert(&value, TTNN_DTYPE_COUNT, &value, TTNN_FLOAT32, 1), TTNN_INVALID,
		    "10 is no data type");
	CHECK_FAILS(tt_convert_from_f64(&value, TTNN_BFLOAT8_B, &wide, 1), TTNN_INVALID, "tiles");
	CHECK_FAILS(tt_convert_to_f64(&wide, &value, (enum ttnn_dtype) - 1, 1), TTNN_INVALID,
		    "-1 is no data type");
	CHECK_FAILS(tt_convert_tiles(&value, TTNN_FLOAT32, &value, TTNN_DTYPE_COUNT,
				     &(struct tt_tile_run){{32, 32, false}, 1}),
		    TTNN_INVALID, "10 is no data type");
	CHECK_FAILS(tt_convert_tiles(&value, TTNN_BFLOAT8_B, &value, TTNN_FLOAT32,
				     &(struct tt_tile_run){{64, 32, false}, 1}),
		    TTNN_INVALID, "Tile size");
	CHECK(value == 1 && wide == 1);
}

/* Long enough for several threads: the same as one element after the other. */
TEST(long_arrays_are_cut_into_pieces)
{
	enum { COUNT = 200003 };
	static uint32_t source[COUNT];
	static uint16_t got[COUNT];
	static double wide[COUNT];
	uint64_t state = 10;

	for (size_t i = 0; i < COUNT; i++)
		source[i] = (uint32_t)test_random(&state);
	for (unsigned threads = 1; threads <= 4; threads++) {
		tt_pool_set_threads(threads);
		memset(got, 0, sizeof(got));
		CHECK_OK(tt_convert(got, TTNN_BFLOAT16, source, TTNN_INT32, COUNT));
		CHECK_OK(tt_convert_to_f64(wide, source, TTNN_INT32, COUNT));
		for (size_t i = 0; i < COUNT; i++) {
			uint16_t want;

			CHECK_OK(tt_convert(&want, TTNN_BFLOAT16, &source[i], TTNN_INT32, 1));
			if (got[i] != want || wide[i] != (int32_t)source[i])
				TEST_FAIL("element %zu of %d with %u threads", i, COUNT, threads);
		}
	}
	tt_pool_set_threads(0);
}

TEST(long_runs_of_tiles_are_cut_into_pieces)
{
	enum { TILES = 200, BYTES = 1088 };
	static const struct ttnn_tile tile = {32, 32, false};
	static float source[TILES * 1024];
	static uint8_t got[TILES * BYTES];
	uint64_t state = 11;

	for (size_t i = 0; i < sizeof(source) / sizeof(source[0]); i++)
		source[i] = (float)(int32_t)test_random(&state);
	for (unsigned threads = 1; threads <= 4; threads++) {
		const struct tt_tile_run all = {tile, TILES}, one = {tile, 1};

		tt_pool_set_threads(threads);
		memset(got, 0, sizeof(got));
		CHECK_OK(tt_convert_tiles(got, TTNN_BFLOAT8_B, source, TTNN_FLOAT32, &all));
		for (size_t i = 0; i < TILES; i++) {
			uint8_t want[BYTES];

			CHECK_OK(tt_convert_tiles(want, TTNN_BFLOAT8_B, source + i * 1024,
						  TTNN_FLOAT32, &one));
			CHECK(memcmp(want, got + i * BYTES, BYTES) == 0);
		}
	}
	tt_pool_set_threads(0);
}

/* Nothing here needs memory; the threads of long arrays do, and without it one thread does it all. */
SCENARIO(conversions_without_memory)
{
	enum { COUNT = 200000 };
	static uint32_t source[COUNT], target[COUNT];

	tt_pool_set_threads(2);
	TT_TRY(tt_convert(target, TTNN_UINT8, source, TTNN_INT32, COUNT));
	TT_TRY(tt_convert(target, TTNN_BFLOAT16, source, TTNN_UINT8, COUNT));
	TT_TRY(tt_convert_tiles(target, TTNN_BFLOAT8_B, source, TTNN_FLOAT32,
				&(struct tt_tile_run){{32, 32, false}, 100}));
	tt_pool_set_threads(0);
	return TTNN_OK;
}
