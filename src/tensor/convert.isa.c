/*
 * convert.isa.c: the conversion kernels, compiled once per instruction set.
 *
 * Element functions say what a number becomes; the loops around them are written for the compiler
 * to vectorise: no branches, no calls, conditions as selections, nothing undefined for any input.
 * One source gives the same bits at every level. The rules are in convert.h.
 */
#include "tensor/convert_kernels.h"

#include <string.h>

#include "tensor/bf16.h"

#define GROUP 16 /* elements of a block float that share an exponent */

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static inline uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* ---- floating-point types: load_NAME and store_NAME ---------------------------------------- */

static inline float load_float32(float value)
{
	return value;
}

static inline float store_float32(float value)
{
	return value;
}

static inline float load_bfloat16(uint16_t bits)
{
	return tt_bf16_load(bits);
}

static inline uint16_t store_bfloat16(float value)
{
	return tt_bf16_store(value);
}

static inline float load_fp8_e4m3(uint8_t code)
{
	uint32_t sign = (uint32_t)(code & 0x80) << 24;
	uint32_t magnitude = code & 0x7f;
	uint32_t bits = sign | ((magnitude << 20) + (120u << 23)); /* bias 7 becomes 127 */

	bits = magnitude < 8 ? sign : bits;
	return float_of(magnitude == 0x7f ? 0x7fc00000 : bits);
}

static inline uint8_t store_fp8_e4m3(float value)
{
	uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
	uint32_t rounded = ((magnitude + 0x7ffff + (magnitude >> 20 & 1)) >> 20) - (120 << 3);

	rounded = rounded > 0x7e ? 0x7e : rounded;
	rounded = magnitude < 0x3c800000 ? 0 : rounded; /* also what went below zero above */
	rounded |= bits >> 24 & 0x80;
	return (uint8_t)(magnitude > 0x7f800000 ? 0x7f : rounded);
}

/*
 * To float32 so that a later rounding to fewer bits is the only one: an inexact result takes the
 * neighbour whose last bit is 1. NaN stays one.
 */
static inline float round_to_odd(double value)
{
	float nearest = (float)value;
	double back = (double)nearest;
	double magnitude = __builtin_fabs(value), reached = __builtin_fabs(back);
	uint32_t bits = bits_of(nearest);
	uint32_t step = reached > magnitude ? UINT32_MAX : 1; /* down or up by one */

	return float_of(bits + ((reached != magnitude) & ~bits & 1) * step);
}

/* ---- numbers to integers -------------------------------------------------------------------- */

/* The fraction cut off; what does not fit becomes -2^31. */
static inline int32_t int32_of(double value)
{
	int fits = (value >= -2147483648.0) & (value < 2147483648.0);

	return (int32_t)(fits ? value : -2147483648.0);
}

static inline uint32_t uint32_of(double value)
{
	int high = (value >= 2147483648.0) & (value < 4294967296.0);

	value -= high ? 2147483648.0 : 0.0;
	return (uint32_t)int32_of(value) ^ (uint32_t)high << 31;
}

static inline int32_t clamped(double value, int32_t low, int32_t high)
{
	int32_t whole = int32_of(value);

	whole = whole < low ? low : whole;
	return whole > high ? high : whole;
}

/* Rounds once: both halves are exact. (Few processors have this conversion as an instruction.) */
static inline float float_of_uint32(uint32_t value)
{
	return (float)(int32_t)(value >> 16) * 65536.0f + (float)(int32_t)(value & 0xffff);
}

static inline double double_of_uint32(uint32_t value)
{
	return (double)(int32_t)(value ^ 0x80000000) + 2147483648.0;
}

/* ---- block floats --------------------------------------------------------------------------- */

/* value >> shift for values below 2^24 and shifts below 32. */
static inline int32_t shifted_down(int32_t value, int32_t shift)
{
#if defined(__x86_64__) && !defined(__AVX2__)
	/* No vector shift takes a count per element there; a product with 2^-shift is exact. */
	return (int32_t)((float)value * float_of((uint32_t)(127 - shift) << 23));
#else
	return value >> shift;
#endif
}

/*
 * The mantissa of one element under the group's exponent, with its sign above it. All numbers fit
 * int32_t, which old instruction sets compare with less ado.
 */
static inline uint32_t quantise(uint32_t bits, int32_t shared, int mantissa)
{
	const int cut = 24 - mantissa;
	const int32_t top = (1 << mantissa) - 1;
	int32_t exponent = (int32_t)(bits >> 23 & 0xff);
	int32_t shift = shared - exponent;
	int32_t whole = (int32_t)((bits & 0x7fffff) | 0x800000);

	shift = shift > 31 ? 31 : shift;
	whole = shifted_down(whole, shift);
	whole = exponent ? whole : 0;
	whole = (whole + (1 << (cut - 1)) - 1 + (whole >> cut & 1)) >> cut;
	whole = whole > top ? top : whole;
	return whole ? (uint32_t)whole | bits >> 31 << mantissa : 0;
}

/* The float32 bits of a stored mantissa. */
static inline uint32_t expand(uint32_t stored, uint32_t shared, int mantissa)
{
	uint32_t magnitude = stored & ((1u << mantissa) - 1);
	uint32_t sign = stored >> mantissa << 31;
	/* As a float the magnitude is normal; moving its exponent is all that is left to do. */
	uint32_t moved =
		bits_of((float)(int32_t)magnitude) + ((shared - 126 - (uint32_t)mantissa) << 23);

	moved = moved >> 31 ? 0 : moved | sign; /* below exponent 0 */
	return magnitude ? moved : sign;
}

/*
 * Block floats are worked on some rows at a time, in passes whose elements all have one size: that
 * is what compilers vectorise well. What lies between the passes stays in the first-level cache.
 * (clang-tidy does not count far enough to see that each pass reads what the one before set.)
 */
#define BATCH 16 /* rows; a face has no more */

/* codes: one stored mantissa per element */
static inline void pack(uint8_t *restrict packed, const uint32_t *restrict codes, size_t rows,
			int mantissa)
{
	const size_t width = (size_t)mantissa + 1, per_byte = 8 / width;
	uint8_t narrow[BATCH * GROUP];

	if (per_byte == 1) {
		for (size_t i = 0; i < rows * GROUP; i++)
			packed[i] = (uint8_t)codes[i];
		return;
	}
	for (size_t i = 0; i < rows * GROUP; i++)
		narrow[i] = (uint8_t)codes[i];
	for (size_t i = 0; i < rows * GROUP / per_byte; i++) {
		uint32_t byte = 0;

		for (size_t j = 0; j < per_byte; j++)
			/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
			byte |= (uint32_t)narrow[i * per_byte + j] << j * width;
		packed[i] = (uint8_t)byte;
	}
}

static inline void unpack(uint32_t *restrict codes, const uint8_t *restrict packed, size_t rows,
			  int mantissa)
{
	const size_t width = (size_t)mantissa + 1, per_byte = 8 / width;
	uint8_t narrow[BATCH * GROUP];

	if (per_byte == 1) {
		for (size_t i = 0; i < rows * GROUP; i++)
			codes[i] = packed[i];
		return;
	}
	for (size_t i = 0; i < rows * GROUP / per_byte; i++)
		for (size_t j = 0; j < per_byte; j++)
			narrow[i * per_byte + j] =
				(uint8_t)(packed[i] >> j * width & ((1u << width) - 1));
	for (size_t i = 0; i < rows * GROUP; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
		codes[i] = narrow[i];
}

static inline void encode_rows(uint8_t *restrict exponents, uint8_t *restrict mantissas,
			       const float *restrict src, const struct tt_convert_rows *rows,
			       int mantissa)
{
	const size_t count = rows->count, stride = rows->stride;
	uint32_t codes[BATCH * GROUP];

	for (size_t first = 0; first < count; first += BATCH) {
		size_t batch = count - first < BATCH ? count - first : BATCH;

		for (size_t row = 0; row < batch; row++, src += stride) {
			int32_t largest = 0;

			for (int i = 0; i < GROUP; i++) {
				int32_t magnitude = (int32_t)(bits_of(src[i]) & 0x7fffffff);

				largest = magnitude > largest ? magnitude : largest;
			}
			exponents[first + row] = (uint8_t)(largest >> 23);
			for (int i = 0; i < GROUP; i++)
				codes[row * GROUP + i] =
					quantise(bits_of(src[i]), largest >> 23, mantissa);
		}
		pack(mantissas, codes, batch, mantissa);
		mantissas += batch * GROUP * ((size_t)mantissa + 1) / 8;
	}
}

static inline void decode_rows(float *restrict dst, const uint8_t *restrict exponents,
			       const uint8_t *restrict mantissas,
			       const struct tt_convert_rows *rows, int mantissa)
{
	const size_t count = rows->count, stride = rows->stride;
	uint32_t codes[BATCH * GROUP];

	for (size_t first = 0; first < count; first += BATCH) {
		size_t batch = count - first < BATCH ? count - first : BATCH;

		unpack(codes, mantissas, batch, mantissa);
		mantissas += batch * GROUP * ((size_t)mantissa + 1) / 8;
		for (size_t row = 0; row < batch; row++, dst += stride) {
			uint32_t shared = exponents[first + row];

#pragma GCC unroll 1
			for (int i = 0; i < GROUP; i++)
				/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
				dst[i] = float_of(expand(codes[row * GROUP + i], shared, mantissa));
		}
	}
}

/* ---- the kernels of each row of the table --------------------------------------------------- */

#define READ(kernel, result, word, expression)                                                     \
	static void kernel(result *restrict dst, const void *restrict from, size_t count)          \
	{                                                                                          \
		const word *restrict src = from;                                                   \
                                                                                                   \
		for (size_t i = 0; i < count; i++)                                                 \
			dst[i] = (expression);                                                     \
	}

#define WRITE(kernel, word, operand, expression)                                                   \
	static void kernel(void *restrict to, const operand *restrict src, size_t count)           \
	{                                                                                          \
		word *restrict dst = to;                                                           \
                                                                                                   \
		for (size_t i = 0; i < count; i++)                                                 \
			dst[i] = (word)(expression);                                               \
	}

/* How a floating-point type lies in memory. One of four bytes is float32 itself. */
#define WORD_1 uint8_t
#define WORD_2 uint16_t
#define WORD_4 float

#define FLOAT_KERNELS(name, bytes, mantissa)                                                       \
	READ(load_f32_##name, float, WORD_##bytes, load_##name(src[i]))                            \
	READ(load_f64_##name, double, WORD_##bytes, (double)load_##name(src[i]))                   \
	WRITE(store_f32_##name, WORD_##bytes, float, store_##name(src[i]))                         \
	WRITE(store_f64_##name, WORD_##bytes, double,                                              \
	      store_##name(bytes == 4 ? (float)src[i] : round_to_odd(src[i])))

#define LIMIT(limit, bytes) ((int32_t)((limit) >> (32 - 8 * (bytes))))

#define UNSIGNED_OF(value, bytes)                                                                  \
	(bytes == 4 ? uint32_of(value) : (uint32_t)clamped(value, 0, LIMIT(UINT32_MAX, bytes)))
#define UNSIGNED_KERNELS(name, bytes, mantissa)                                                    \
	READ(load_f32_##name, float, name##_t, float_of_uint32(src[i]))                            \
	READ(load_f64_##name, double, name##_t, double_of_uint32(src[i]))                          \
	READ(load_i32_##name, uint32_t, name##_t, src[i])                                          \
	WRITE(store_i32_##name, name##_t, uint32_t, src[i])                                        \
	WRITE(store_f32_##name, name##_t, float, UNSIGNED_OF((double)src[i], bytes))               \
	WRITE(store_f64_##name, name##_t, double, UNSIGNED_OF(src[i], bytes))

#define SIGNED_OF(value, bytes)                                                                    \
	clamped(value, -LIMIT(INT32_MAX, bytes) - 1, LIMIT(INT32_MAX, bytes))
#define SIGNED_KERNELS(name, bytes, mantissa)                                                      \
	READ(load_f32_##name, float, name##_t, (float)src[i])                                      \
	READ(load_f64_##name, double, name##_t, (double)src[i])                                    \
	READ(load_i32_##name, uint32_t, name##_t, (uint32_t)src[i])                                \
	WRITE(store_i32_##name, name##_t, uint32_t, src[i])                                        \
	WRITE(store_f32_##name, name##_t, float, SIGNED_OF((double)src[i], bytes))                 \
	WRITE(store_f64_##name, name##_t, double, SIGNED_OF(src[i], bytes))

#define BLOCK_KERNELS(name, bytes, mantissa)                                                       \
	static void encode_##name(uint8_t *exponents, uint8_t *mantissas, const float *src,        \
				  const struct tt_convert_rows *rows)                              \
	{                                                                                          \
		encode_rows(exponents, mantissas, src, rows, mantissa);                            \
	}                                                                                          \
	static void decode_##name(float *dst, const uint8_t *exponents, const uint8_t *mantissas,  \
				  const struct tt_convert_rows *rows)                              \
	{                                                                                          \
		decode_rows(dst, exponents, mantissas, rows, mantissa);                            \
	}

#define TTNN_X(NAME, name, code, class, bytes, mantissa, layouts, file)                            \
	class##_KERNELS(name, bytes, mantissa)
TTNN_DTYPE_LIST(TTNN_X)
#undef TTNN_X

#define ELEMENT_ROW(name)                                                                          \
	.load_f32 = load_f32_##name, .store_f32 = store_f32_##name, .load_f64 = load_f64_##name,   \
	.store_f64 = store_f64_##name
#define INTEGER_ROW(name)                                                                          \
	ELEMENT_ROW(name), .load_i32 = load_i32_##name, .store_i32 = store_i32_##name

#define FLOAT_ROW(name) ELEMENT_ROW(name)
#define UNSIGNED_ROW(name) INTEGER_ROW(name)
#define SIGNED_ROW(name) INTEGER_ROW(name)
#define BLOCK_ROW(name) .encode = encode_##name, .decode = decode_##name

const struct tt_convert_kernels PASTE(tt_convert_, TT_ISA) = {
	.of =
		{
#define TTNN_X(NAME, name, code, class, bytes, mantissa, layouts, file)                            \
	[code] = {class##_ROW(name)},
			TTNN_DTYPE_LIST(TTNN_X)
#undef TTNN_X
		},
};
