#include "base/jsondump.h"

#include <math.h>
#include <string.h>
#include <yyjson.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/fmt.h"
#include "base/utf8.h"

/* A byte becomes at most "\u0000". Texts up to SHORT get room for that at once. */
#define WORST 6
#define SHORT 4096

/* Room for so many characters at the end, which is told to tt_str_end() afterwards. */
static inline char *room(struct tt_str *out, size_t size)
{
	if (out->room - out->length > size && !out->failed)
		return out->data + out->length;
	return tt_str_room(out, size);
}

/* ---- strings -------------------------------------------------------------------------------- */

#define REPEAT(byte) ((uint64_t)(byte)*0x0101010101010101u)

/* High bits are set where a byte of x is 0; bytes above may be marked too, never below. */
static inline uint64_t zero_bytes(uint64_t x)
{
	return (x - REPEAT(0x01)) & ~x & REPEAT(0x80);
}

/* High bits from the first byte on that has to be escaped: controls, quote, backslash, 127 and up. */
static inline uint64_t escapes_of(uint64_t x)
{
	uint64_t control = (x - REPEAT(0x20)) & ~x & REPEAT(0x80);

	return control | (x & REPEAT(0x80)) | zero_bytes(x ^ REPEAT('"')) |
	       zero_bytes(x ^ REPEAT('\\')) | zero_bytes(x ^ REPEAT(0x7f));
}

static inline bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

#if defined(__SSE2__)
/* Bit i tells whether byte i has to be escaped. Signed: what is not ASCII is below the controls. */
static inline unsigned escapes_of_16(__m128i x)
{
	__m128i low = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20));
	__m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
	__m128i slash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
	__m128i last = _mm_cmpeq_epi8(x, _mm_set1_epi8(0x7f));

	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(_mm_or_si128(low, quote), _mm_or_si128(slash, last)));
}

/* Copies blocks of 16 bytes up to what has to be escaped; how many bytes. */
static inline size_t copy_blocks(char *to, const char *text, size_t length)
{
	size_t at = 0;

	for (; length - at >= 16; at += 16) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)(text + at));
		unsigned found = escapes_of_16(block);

		_mm_storeu_si128((__m128i *)(void *)(to + at), block);
		if (found)
			return at + (size_t)__builtin_ctz(found);
	}
	return at;
}
#else
static inline size_t copy_blocks(char *to, const char *text, size_t length)
{
	(void)to;
	(void)text;
	(void)length;
	return 0;
}
#endif

/* Copies up to what has to be escaped; how many bytes. `to` has room for all. */
static inline size_t copy_plain(char *to, const char *text, size_t length)
{
	size_t at = copy_blocks(to, text, length);

	for (uint64_t word; length - at >= 8; at += 8) {
		memcpy(&word, text + at, 8);
		if (escapes_of(word))
			break;
		memcpy(to + at, &word, 8);
	}
	for (; at < length && is_plain(text[at]); at++)
		to[at] = text[at];
	return at;
}

static char *put_unit(char *to, uint32_t unit)
{
	static const char digits[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = digits[unit >> shift & 15];
	return to;
}

static char *put_escape(char *to, uint32_t code)
{
	static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *at = escapes; *at; at += 2)
		if (code == (unsigned char)*at) {
			*to++ = '\\';
			*to++ = at[1];
			return to;
		}
	if (code < 0x10000)
		return put_unit(to, code);
	to = put_unit(to, 0xd800 + ((code - 0x10000) >> 10));
	return put_unit(to, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

static inline char *put_text(char *to, const char *text, size_t length)
{
	*to++ = '"';
	while (length) {
		size_t done = copy_plain(to, text, length);
		uint32_t code;

		to += done;
		text += done;
		length -= done;
		if (!length)
			break;
		done = tt_utf8_get(&code, text, length);
		to = put_escape(to, code);
		text += done;
		length -= done;
	}
	*to++ = '"';
	return to;
}

/* Piece by piece: the worst case of all at once would be too much to ask for. */
static void dump_long(struct tt_str *out, const char *text, size_t length)
{
	tt_str_addc(out, '"');
	while (length) {
		size_t done = length < SHORT ? length : SHORT;
		char *to = room(out, done + 2 * WORST);
		uint32_t code;

		if (!to)
			return;
		done = copy_plain(to, text, done);
		to += done;
		text += done;
		length -= done;
		if (length && !is_plain(*text)) {
			done = tt_utf8_get(&code, text, length);
			to = put_escape(to, code);
			text += done;
			length -= done;
		}
		tt_str_end(out, to);
	}
	tt_str_addc(out, '"');
}

void tt_json_dump_text(struct tt_str *out, const char *text, size_t length)
{
	char *to;

	if (length > SHORT) {
		dump_long(out, text, length);
		return;
	}
	to = room(out, WORST * length + 2);
	if (to)
		tt_str_end(out, put_text(to, text, length));
}

void tt_json_dump_key(struct tt_str *out, const char *key, size_t length, bool first)
{
	char *to;

	if (length > SHORT) {
		tt_str_add(out, ", ", first ? 0 : 2);
		dump_long(out, key, length);
		tt_str_add(out, ": ", 2);
		return;
	}
	to = room(out, WORST * length + 6);
	if (!to)
		return;
	memcpy(to, ", ", 2);
	to = put_text(first ? to : to + 2, key, length);
	memcpy(to, ": ", 2);
	tt_str_end(out, to + 2);
}

/* ---- values --------------------------------------------------------------------------------- */

static void dump_number(struct tt_str *out, yyjson_val *value)
{
	char *to = room(out, TT_FMT_MAX);
	double real;

	if (!to)
		return;
	if (unsafe_yyjson_is_uint(value)) {
		to += tt_fmt_u64(to, unsafe_yyjson_get_uint(value));
	} else if (unsafe_yyjson_is_sint(value)) {
		to += tt_fmt_i64(to, unsafe_yyjson_get_sint(value));
	} else {
		real = unsafe_yyjson_get_real(value);
		if (!isfinite(real)) {
			tt_str_adds(out, isnan(real) ? "NaN" : real > 0 ? "Infinity" : "-Infinity");
			return;
		}
		to += tt_fmt_double(to, real);
	}
	tt_str_end(out, to);
}

/* Documents are at most TT_JSON_DEPTH deep, so this may recurse. */
static void dump(struct tt_str *out, yyjson_val *value)
{
	size_t left;
	bool object;

	switch (yyjson_get_type(value)) {
	case YYJSON_TYPE_BOOL:
		tt_str_adds(out, yyjson_get_bool(value) ? "true" : "false");
		return;
	case YYJSON_TYPE_NUM:
		dump_number(out, value);
		return;
	case YYJSON_TYPE_STR:
		tt_json_dump_text(out, unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value));
		return;
	case YYJSON_TYPE_ARR:
	case YYJSON_TYPE_OBJ:
		break;
	default:
		tt_str_adds(out, "null");
		return;
	}
	object = unsafe_yyjson_is_obj(value);
	left = unsafe_yyjson_get_len(value);
	tt_str_addc(out, object ? '{' : '[');
	if (left)
		value = unsafe_yyjson_get_first(value);
	for (bool first = true; left; left--, first = false) {
		if (object) {
			tt_json_dump_key(out, unsafe_yyjson_get_str(value),
					 unsafe_yyjson_get_len(value), first);
			value++;
		} else if (!first) {
			tt_str_add(out, ", ", 2);
		}
		dump(out, value);
		value = unsafe_yyjson_get_next(value);
	}
	tt_str_addc(out, object ? '}' : ']');
}

void tt_json_dump(struct tt_str *out, const struct tt_json *value)
{
	dump(out, (yyjson_val *)(uintptr_t)value); /* which is only read */
}
