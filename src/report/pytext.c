#include "report/pytext.h"

#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/utf8.h"

bool tt_py_true(const struct tt_json *value)
{
	double number;
	size_t length;
	bool flag;

	switch (tt_json_kind(value)) {
	case TT_JSON_BOOL:
		return tt_json_bool(&flag, value) && flag;
	case TT_JSON_INT:
	case TT_JSON_REAL:
		return tt_json_real(&number, value) && number != 0;
	case TT_JSON_STRING:
		return tt_json_string(value, &length) && length > 0;
	case TT_JSON_ARRAY:
	case TT_JSON_OBJECT:
		return tt_json_count(value) > 0;
	default:
		return false;
	}
}

/* ---- int() ---------------------------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool tt_py_int_text(int64_t *out, const char *text, size_t length)
{
	const char *end = text + length;
	bool negative = false, digit = false;
	int64_t value = 0;

	while (text < end && is_space(*text))
		text++;
	while (end > text && is_space(end[-1]))
		end--;
	if (text < end && (*text == '-' || *text == '+'))
		negative = *text++ == '-';
	for (; text < end; text++) {
		if (*text == '_' && digit) { /* one between digits */
			digit = false;
			continue;
		}
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_sub_overflow(value, *text - '0', &value))
			return false;
		digit = true;
	}
	if (!digit || (!negative && value == INT64_MIN))
		return false;
	*out = negative ? value : -value;
	return true;
}

bool tt_py_int(int64_t *out, const struct tt_json *value)
{
	const char *text;
	size_t length;
	double real;
	bool flag;

	switch (tt_json_kind(value)) {
	case TT_JSON_BOOL:
		tt_json_bool(&flag, value);
		*out = flag;
		return true;
	case TT_JSON_INT:
		return tt_json_int(out, value);
	case TT_JSON_REAL:
		tt_json_real(&real, value);
		if (!(fabs(real) < 0x1p63))
			return false;
		*out = (int64_t)real;
		return true;
	case TT_JSON_STRING:
		text = tt_json_string(value, &length);
		return tt_py_int_text(out, text, length);
	default:
		return false;
	}
}

/* ---- strings -------------------------------------------------------------------------------- */

#define REPEAT(byte) ((uint64_t)(byte)*0x0101010101010101u)

/* High bits are set where a byte of x is 0; bytes above may be marked too, never below. */
static uint64_t zero_bytes(uint64_t x)
{
	return (x - REPEAT(0x01)) & ~x & REPEAT(0x80);
}

/* Whether one of 8 bytes has to be escaped in ASCII JSON: controls, quote, backslash, 127 and up. */
static bool needs_escape(uint64_t x)
{
	uint64_t control = (x - REPEAT(0x20)) & ~x & REPEAT(0x80);

	return (control | (x & REPEAT(0x80)) | zero_bytes(x ^ REPEAT('"')) |
		zero_bytes(x ^ REPEAT('\\')) | zero_bytes(x ^ REPEAT(0x7f))) != 0;
}

/* How many bytes from the start need no escape. */
static size_t plain_length(const char *text, size_t length)
{
	size_t at = 0;

	for (uint64_t word; length - at >= 8; at += 8) {
		memcpy(&word, text + at, 8);
		if (needs_escape(word))
			break;
	}
	while (at < length && text[at] >= 0x20 && text[at] < 0x7f && text[at] != '"' &&
	       text[at] != '\\')
		at++;
	return at;
}

static void dump_character(struct tt_str *out, uint32_t code)
{
	static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *at = escapes; *at; at += 2)
		if (code == (unsigned char)*at) {
			char text[2] = {'\\', at[1]};

			tt_str_add(out, text, 2);
			return;
		}
	if (code >= 0x10000) {
		tt_str_addf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
			    0xdc00 + ((code - 0x10000) & 0x3ff));
	} else {
		tt_str_addf(out, "\\u%04x", code);
	}
}

/* The rest of a string that needs escapes, from the first of them on, and the quote behind. */
static void dump_rest(struct tt_str *out, const char *text, size_t length)
{
	while (length) {
		size_t plain = plain_length(text, length), size;
		uint32_t code;

		tt_str_add(out, text, plain);
		text += plain;
		length -= plain;
		if (!length)
			break;
		size = tt_utf8_get(&code, text, length);
		dump_character(out, code);
		text += size;
		length -= size;
	}
	tt_str_addc(out, '"');
}

void tt_py_dumps_text(struct tt_str *out, const char *text, size_t length)
{
	size_t plain = plain_length(text, length);
	bool whole = plain == length;
	char *to = tt_str_grow(out, 1 + plain + whole);

	if (!to)
		return;
	to[0] = '"';
	if (plain)
		memcpy(to + 1, text, plain);
	if (whole)
		to[1 + plain] = '"';
	else
		dump_rest(out, text + plain, length - plain);
}

/* Most keys are plain: then it is one piece of text, for which room is made once. */
void tt_py_dumps_key(struct tt_str *out, const char *key, size_t length, bool first)
{
	char *to;

	if (plain_length(key, length) != length) {
		tt_str_add(out, ", ", first ? 0 : 2);
		tt_py_dumps_text(out, key, length);
		tt_str_add(out, ": ", 2);
		return;
	}
	to = tt_str_grow(out, length + (first ? 4 : 6));
	if (!to)
		return;
	if (!first) {
		memcpy(to, ", ", 2);
		to += 2;
	}
	*to++ = '"';
	if (length)
		memcpy(to, key, length);
	memcpy(to + length, "\": ", 3);
}

/* Characters beyond ASCII that repr() does not show as they are: separators, formats, private. */
static bool is_printable(uint32_t code)
{
	static const uint32_t hidden[][2] = {
		{0x7f, 0xa0},       {0xad, 0xad},        {0x600, 0x605},   {0x61c, 0x61c},
		{0x6dd, 0x6dd},     {0x70f, 0x70f},      {0x1680, 0x1680}, {0x180e, 0x180e},
		{0x2000, 0x200f},   {0x2028, 0x202f},    {0x205f, 0x206f}, {0x3000, 0x3000},
		{0xd800, 0xf8ff},   {0xfeff, 0xfeff},    {0xfff0, 0xfffb}, {0xfffe, 0xffff},
		{0xe0000, 0xe00ff}, {0xf0000, 0x10ffff},
	};

	if (code < 0x20)
		return false;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i][0] && code <= hidden[i][1])
			return false;
	return true;
}

static void repr_text(struct tt_str *out, const char *text, size_t length)
{
	char quote = memchr(text, '\'', length) && !memchr(text, '"', length) ? '"' : '\'';

	tt_str_addc(out, quote);
	while (length) {
		uint32_t code;
		size_t size = tt_utf8_get(&code, text, length);

		if (code == (unsigned char)quote || code == '\\')
			tt_str_addf(out, "\\%c", (char)code);
		else if (code == '\n' || code == '\r' || code == '\t')
			tt_str_adds(out, code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t");
		else if (is_printable(code))
			tt_str_add(out, text, size);
		else if (code < 0x100)
			tt_str_addf(out, "\\x%02x", code);
		else
			tt_str_addf(out, code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
		text += size;
		length -= size;
	}
	tt_str_addc(out, quote);
}

/* ---- values --------------------------------------------------------------------------------- */

/* The two notations differ in their names and their strings. */
struct notation {
	const char *names[6]; /* null, false, true, nan, infinity, and it negative */
	void (*string)(struct tt_str *out, const char *text, size_t length);
	void (*key)(struct tt_str *out, const char *key, size_t length, bool first);
};

static void repr_key(struct tt_str *out, const char *key, size_t length, bool first)
{
	tt_str_add(out, ", ", first ? 0 : 2);
	repr_text(out, key, length);
	tt_str_add(out, ": ", 2);
}

static const struct notation python = {
	{"None", "False", "True", "nan", "inf", "-inf"}, repr_text, repr_key};
static const struct notation json = {{"null", "false", "true", "NaN", "Infinity", "-Infinity"},
				     tt_py_dumps_text,
				     tt_py_dumps_key};

static void add_number(struct tt_str *out, const struct tt_json *value, const struct notation *as)
{
	char text[TT_FMT_MAX];
	uint64_t big;
	int64_t whole;
	double real = 0;

	if (tt_json_kind(value) == TT_JSON_INT && tt_json_int(&whole, value)) {
		tt_str_add(out, text, tt_fmt_i64(text, whole));
	} else if (tt_json_kind(value) == TT_JSON_INT && tt_json_uint(&big, value)) {
		tt_str_addu(out, big);
	} else {
		tt_json_real(&real, value);
		if (isfinite(real))
			tt_str_add(out, text, tt_fmt_double(text, real));
		else
			tt_str_adds(out, as->names[isnan(real) ? 3 : real > 0 ? 4 : 5]);
	}
}

/* Documents are at most TT_JSON_DEPTH deep, so this may recurse. */
static void add_value(struct tt_str *out, const struct tt_json *value, const struct notation *as)
{
	struct tt_json_iter it;
	enum tt_json_kind kind = tt_json_kind(value);
	bool flag, first = true;
	const char *text;
	size_t length;

	switch (kind) {
	case TT_JSON_BOOL:
		tt_json_bool(&flag, value);
		tt_str_adds(out, as->names[1 + flag]);
		return;
	case TT_JSON_INT:
	case TT_JSON_REAL:
		add_number(out, value, as);
		return;
	case TT_JSON_STRING:
		text = tt_json_string(value, &length);
		as->string(out, text, length);
		return;
	case TT_JSON_ARRAY:
	case TT_JSON_OBJECT:
		break;
	default:
		tt_str_adds(out, as->names[0]);
		return;
	}
	tt_str_addc(out, kind == TT_JSON_OBJECT ? '{' : '[');
	it = tt_json_iter(value);
	for (; tt_json_next(&it); first = false) {
		if (it.key)
			as->key(out, it.key, it.key_length, first);
		else if (!first)
			tt_str_add(out, ", ", 2);
		add_value(out, it.value, as);
	}
	tt_str_addc(out, kind == TT_JSON_OBJECT ? '}' : ']');
}

void tt_py_dumps(struct tt_str *out, const struct tt_json *value)
{
	add_value(out, value, &json);
}

void tt_py_str(struct tt_str *out, const struct tt_json *value)
{
	size_t length;
	const char *text = tt_json_string(value, &length);

	if (text)
		tt_str_add(out, text, length);
	else
		add_value(out, value, &python);
}
