#include "base/jsonw.h"

#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/utf8.h"

/* ---- output --------------------------------------------------------------------------------- */

static void flush(struct tt_jsonw *w)
{
	w->write(w->context, w->buffer, w->used);
	w->used = 0;
}

static void put_long(struct tt_jsonw *w, const char *text, size_t length)
{
	flush(w);
	if (length > sizeof(w->buffer)) {
		w->write(w->context, text, length);
	} else {
		memcpy(w->buffer, text, length);
		w->used = length;
	}
}

static inline void put(struct tt_jsonw *w, const char *text, size_t length)
{
	if (length > sizeof(w->buffer) - w->used) {
		put_long(w, text, length);
	} else {
		memcpy(w->buffer + w->used, text, length);
		w->used += length;
	}
}

static void put_spaces(struct tt_jsonw *w, size_t count)
{
	static const char spaces[] = "                                ";
	size_t most = sizeof(spaces) - 1;

	for (; count > most; count -= most)
		put(w, spaces, most);
	put(w, spaces, count);
}

static void put_newline(struct tt_jsonw *w)
{
	put(w, "\n", 1);
	put_spaces(w, w->depth * w->style.indent);
}

static void write_str(void *context, const void *data, size_t size)
{
	tt_str_add(context, data, size);
}

static void write_file(void *context, const void *data, size_t size)
{
	tt_file_write(context, data, size);
}

void tt_jsonw_init(struct tt_jsonw *w, void (*write)(void *context, const void *data, size_t size),
		   void *context, struct tt_jsonw_style style)
{
	memset(w, 0, offsetof(struct tt_jsonw, objects));
	w->write = write;
	w->context = context;
	w->style = style;
	w->used = 0;
}

void tt_jsonw_init_str(struct tt_jsonw *w, struct tt_str *str, struct tt_jsonw_style style)
{
	tt_jsonw_init(w, write_str, str, style);
}

void tt_jsonw_init_file(struct tt_jsonw *w, struct tt_file_out *file, struct tt_jsonw_style style)
{
	tt_jsonw_init(w, write_file, file, style);
}

/* ---- structure ------------------------------------------------------------------------------ */

static bool fail(struct tt_jsonw *w, const char *what)
{
	w->status = tt_fail(TTNN_STATE, "JSON writer: %s", what);
	return false;
}

static bool in_object(const struct tt_jsonw *w)
{
	return w->depth && w->objects[w->depth - 1];
}

static bool is_indented(const struct tt_jsonw *w)
{
	return w->style.indent && !w->one_line;
}

static void separate(struct tt_jsonw *w)
{
	if (w->filled)
		put(w, ", ", w->style.compact || is_indented(w) ? 1 : 2);
	if (is_indented(w))
		put_newline(w);
}

bool tt_jsonw_inline(struct tt_jsonw *w, bool on)
{
	bool before = w->one_line;

	w->one_line = on;
	return before;
}

/* Whatever comes before a value; false if none may come. */
static bool begin(struct tt_jsonw *w)
{
	if (w->status != TTNN_OK)
		return false;
	if (in_object(w) && !w->has_key)
		return fail(w, "a value in an object needs a key");
	if (!w->depth && w->filled)
		return fail(w, "a text has one value");
	if (w->depth && !w->has_key)
		separate(w);
	w->has_key = false;
	w->filled = true;
	return true;
}

static void put_value(struct tt_jsonw *w, const char *text, size_t length)
{
	if (begin(w))
		put(w, text, length);
}

static void open_container(struct tt_jsonw *w, bool object)
{
	if (!begin(w))
		return;
	if (w->depth == TT_JSON_DEPTH) {
		fail(w, "nested too deep");
		return;
	}
	put(w, object ? "{" : "[", 1);
	w->objects[w->depth++] = object;
	w->filled = false;
}

void tt_jsonw_object(struct tt_jsonw *w)
{
	open_container(w, true);
}

void tt_jsonw_array(struct tt_jsonw *w)
{
	open_container(w, false);
}

void tt_jsonw_end(struct tt_jsonw *w)
{
	bool object = in_object(w);

	if (w->status != TTNN_OK)
		return;
	if (!w->depth || w->has_key) {
		fail(w, w->has_key ? "a key without a value" : "an end too many");
		return;
	}
	w->depth--;
	if (w->filled && is_indented(w))
		put_newline(w);
	put(w, object ? "}" : "]", 1);
	w->filled = true;
}

/* ---- strings -------------------------------------------------------------------------------- */

/* The letter behind the backslash, or 0: those that have a short form. */
static char short_escape(unsigned char c)
{
	switch (c) {
	case '"':
	case '\\':
		return (char)c;
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	default:
		return 0;
	}
}

static void put_u16(struct tt_jsonw *w, unsigned code)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = {
		'\\',          'u', hex[code >> 12], hex[code >> 8 & 15], hex[code >> 4 & 15],
		hex[code & 15]};

	put(w, text, sizeof(text));
}

static void put_code(struct tt_jsonw *w, uint32_t code)
{
	char text[4];

	if (w->style.utf8) {
		put(w, text, tt_utf8_put(text, code));
	} else if (code < 0x10000) {
		put_u16(w, code);
	} else {
		put_u16(w, 0xd800 + ((code - 0x10000) >> 10));
		put_u16(w, 0xdc00 + ((code - 0x10000) & 0x3ff));
	}
}

#define COPY_MOST 1024 /* characters at a time */
#define EACH_BYTE UINT64_C(0x0101010101010101)

/* The high bit of a byte is set if it is zero; above such a byte others may be set too. */
static uint64_t zero_bytes(uint64_t word)
{
	return (word - EACH_BYTE) & ~word & 0x80 * EACH_BYTE;
}

/* Of eight characters those that may have to be escaped have their high bit set; above such a one others may, too. */
static uint64_t special_bytes(uint64_t word)
{
	return (((word - ' ' * EACH_BYTE) | word) & 0x80 * EACH_BYTE) |
	       zero_bytes(word ^ '"' * EACH_BYTE) | zero_bytes(word ^ '\\' * EACH_BYTE) |
	       zero_bytes(word ^ 0x7f * EACH_BYTE);
}

/*
 * Copies the characters that are written as they are, eight at a time, the last eight perhaps once more, then one by
 * one; returns where it stopped. Python escapes the delete character only where it escapes all that is not
 * printable ASCII.
 */
static const char *put_plain(struct tt_jsonw *w, const char *at, const char *end)
{
	unsigned char most = w->style.utf8 ? 0x7f : 0x7e;
	const char *start = at;
	uint64_t word;
	char *out;

	if (end - at > COPY_MOST)
		end = at + COPY_MOST;
	if (sizeof(w->buffer) - w->used < COPY_MOST)
		flush(w);
	for (out = w->buffer + w->used; end - at >= 8; at += 8, out += 8) {
		memcpy(&word, at, 8);
		if (special_bytes(word))
			break;
		memcpy(out, &word, 8);
	}
	if (end - at < 8 && end - start >= 8) {
		memcpy(&word, end - 8, 8);
		if (!special_bytes(word)) {
			memcpy(out + (end - at) - 8, &word, 8);
			out += end - at;
			at = end;
		}
	}
	while (at < end && (unsigned char)(*at - ' ') <= most - ' ' && *at != '"' && *at != '\\')
		*out++ = *at++;
	w->used = (size_t)(out - w->buffer);
	return at;
}

static const char *put_escaped(struct tt_jsonw *w, const char *at, const char *end)
{
	unsigned char c = (unsigned char)*at;
	char letter = short_escape(c);
	uint32_t code;

	if (letter)
		put(w, (char[]){'\\', letter}, 2);
	else if (c < ' ')
		put_u16(w, c);
	if (letter || c < ' ')
		return at + 1;
	at += tt_utf8_get(&code, at, (size_t)(end - at));
	put_code(w, code);
	return at;
}

static void put_string(struct tt_jsonw *w, const char *text, size_t length)
{
	const char *at = text, *end = text + length;

	put(w, "\"", 1);
	while (at < end) {
		const char *run = at;

		at = put_plain(w, at, end);
		if (at == run)
			at = put_escaped(w, at, end);
	}
	put(w, "\"", 1);
}

/* ---- members and values ---------------------------------------------------------------------- */

void tt_jsonw_keyn(struct tt_jsonw *w, const char *key, size_t length)
{
	if (w->status != TTNN_OK)
		return;
	if (!in_object(w) || w->has_key) {
		fail(w, w->has_key ? "two keys for one value" : "a key outside of an object");
		return;
	}
	separate(w);
	put_string(w, key, length);
	put(w, ": ", w->style.compact ? 1 : 2);
	w->has_key = true;
	w->filled = true;
}

void tt_jsonw_key(struct tt_jsonw *w, const char *key)
{
	tt_jsonw_keyn(w, key, strlen(key));
}

void tt_jsonw_null(struct tt_jsonw *w)
{
	put_value(w, "null", 4);
}

void tt_jsonw_bool(struct tt_jsonw *w, bool value)
{
	put_value(w, value ? "true" : "false", value ? 4 : 5);
}

void tt_jsonw_int(struct tt_jsonw *w, int64_t value)
{
	char text[TT_FMT_MAX];

	put_value(w, text, tt_fmt_i64(text, value));
}

void tt_jsonw_uint(struct tt_jsonw *w, uint64_t value)
{
	char text[TT_FMT_MAX];

	put_value(w, text, tt_fmt_u64(text, value));
}

void tt_jsonw_real(struct tt_jsonw *w, double value)
{
	char text[TT_FMT_MAX];

	if (isnan(value))
		put_value(w, "NaN", 3);
	else if (isinf(value))
		put_value(w, value < 0 ? "-Infinity" : "Infinity", value < 0 ? 9 : 8);
	else
		put_value(w, text, tt_fmt_double(text, value));
}

void tt_jsonw_stringn(struct tt_jsonw *w, const char *text, size_t length)
{
	if (begin(w))
		put_string(w, text, length);
}

void tt_jsonw_string(struct tt_jsonw *w, const char *text)
{
	if (text)
		tt_jsonw_stringn(w, text, strlen(text));
	else
		tt_jsonw_null(w);
}

void tt_jsonw_raw(struct tt_jsonw *w, const char *json, size_t length)
{
	put_value(w, json, length);
}

static void write_number(struct tt_jsonw *w, const struct tt_json *value)
{
	int64_t negative;
	uint64_t number;
	double real;

	if (tt_json_kind(value) == TT_JSON_REAL && tt_json_real(&real, value))
		tt_jsonw_real(w, real);
	else if (tt_json_uint(&number, value))
		tt_jsonw_uint(w, number);
	else if (tt_json_int(&negative, value))
		tt_jsonw_int(w, negative);
}

static void write_container(struct tt_jsonw *w, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);

	open_container(w, it.object);
	while (tt_json_next(&it)) {
		if (it.key)
			tt_jsonw_keyn(w, it.key, it.key_length);
		tt_jsonw_value(w, it.value);
	}
	tt_jsonw_end(w);
}

void tt_jsonw_value(struct tt_jsonw *w, const struct tt_json *value)
{
	const char *text;
	size_t length;
	bool truth;

	switch (tt_json_kind(value)) {
	case TT_JSON_ABSENT:
	case TT_JSON_NULL:
		tt_jsonw_null(w);
		break;
	case TT_JSON_BOOL:
		tt_jsonw_bool(w, tt_json_bool(&truth, value) && truth);
		break;
	case TT_JSON_INT:
	case TT_JSON_REAL:
		write_number(w, value);
		break;
	case TT_JSON_STRING:
		text = tt_json_string(value, &length);
		tt_jsonw_stringn(w, text, length);
		break;
	case TT_JSON_ARRAY:
	case TT_JSON_OBJECT:
		write_container(w, value);
		break;
	}
}

void tt_jsonw_key_string(struct tt_jsonw *w, const char *key, const char *text)
{
	tt_jsonw_key(w, key);
	tt_jsonw_string(w, text);
}

void tt_jsonw_key_int(struct tt_jsonw *w, const char *key, int64_t value)
{
	tt_jsonw_key(w, key);
	tt_jsonw_int(w, value);
}

tt_status tt_jsonw_finish(struct tt_jsonw *w)
{
	if (w->status == TTNN_OK && (w->depth || !w->filled))
		fail(w, w->depth ? "something is still open" : "nothing was written");
	flush(w);
	return w->status;
}

void tt_jsonw_uints(struct tt_jsonw *w, const char *key, const uint32_t *numbers, size_t count)
{
	tt_jsonw_key(w, key);
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++)
		tt_jsonw_uint(w, numbers[i]);
	tt_jsonw_end(w);
}

void tt_jsonw_strings(struct tt_jsonw *w, const char *key, const char *const *texts, size_t count)
{
	tt_jsonw_key(w, key);
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++)
		tt_jsonw_string(w, texts[i]);
	tt_jsonw_end(w);
}
