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

static void repr_number(struct tt_str *out, const struct tt_json *value)
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
		tt_str_add(out, text, tt_fmt_double(text, real));
	}
}

/* Documents are at most TT_JSON_DEPTH deep, so this may recurse. */
static void repr(struct tt_str *out, const struct tt_json *value)
{
	struct tt_json_iter it;
	enum tt_json_kind kind = tt_json_kind(value);
	bool flag, first = true;
	const char *text;
	size_t length;

	switch (kind) {
	case TT_JSON_BOOL:
		tt_json_bool(&flag, value);
		tt_str_adds(out, flag ? "True" : "False");
		return;
	case TT_JSON_INT:
	case TT_JSON_REAL:
		repr_number(out, value);
		return;
	case TT_JSON_STRING:
		text = tt_json_string(value, &length);
		repr_text(out, text, length);
		return;
	case TT_JSON_ARRAY:
	case TT_JSON_OBJECT:
		break;
	default:
		tt_str_adds(out, "None");
		return;
	}
	tt_str_addc(out, kind == TT_JSON_OBJECT ? '{' : '[');
	it = tt_json_iter(value);
	for (; tt_json_next(&it); first = false) {
		tt_str_add(out, ", ", first ? 0 : 2);
		if (it.key) {
			repr_text(out, it.key, it.key_length);
			tt_str_add(out, ": ", 2);
		}
		repr(out, it.value);
	}
	tt_str_addc(out, kind == TT_JSON_OBJECT ? '}' : ']');
}

void tt_py_str(struct tt_str *out, const struct tt_json *value)
{
	size_t length;
	const char *text = tt_json_string(value, &length);

	if (text)
		tt_str_add(out, text, length);
	else
		repr(out, value);
}
