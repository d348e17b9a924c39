#include "base/jsonslice.h"

#include <string.h>
#include <sys/mman.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/jsonscan.h"
#include "base/mem.h"
#include "base/str.h"

/* Mapped pages are given back in strides of this many bytes. */
#define STRIDE ((size_t)16 << 20)

enum place {
	FRESH,  /* before the first value of a container */
	AT,     /* at a value */
	BEHIND, /* behind one */
};

struct tt_jsonslice {
	struct tt_file_map map;
	const char *text;
	const char *name;
	char *own_name;
	size_t size;
	size_t at;    /* start of the present value, or where to go on */
	size_t end;   /* behind the present value; 0: not known yet */
	size_t freed; /* mapped pages before this were given back */
	enum place place;
	bool in_object, has_key;
	size_t depth;
	bool objects[TT_JSON_DEPTH]; /* the containers around: object or array */
	struct tt_str key;
	struct tt_json_parser parser;
	tt_status status;
};

/* ---- the scanner ---------------------------------------------------------------------------- */

size_t tt_jsonscan_close(const char *text, size_t size, size_t start, size_t depth)
{
	switch (tt_cpu_isa()) {
#if defined(__x86_64__)
	case TT_ISA_AVX512:
		return tt_jsonscan_close_avx512(text, size, start, depth);
	case TT_ISA_AVX2:
		return tt_jsonscan_close_avx2(text, size, start, depth);
#endif
	default:
		return tt_jsonscan_close_plain(text, size, start, depth);
	}
}

size_t tt_jsonscan_string(const char *text, size_t size, size_t start)
{
	const char *first = text + start + 1, *at = first, *quote;

	while ((quote = memchr(at, '"', (size_t)(text + size - at)))) {
		const char *slash = quote;

		while (slash > first && slash[-1] == '\\')
			slash--;
		at = quote + 1;
		if ((quote - slash) % 2 == 0)
			return (size_t)(at - text);
	}
	return TT_JSONSCAN_NONE;
}

/* A number or a name ends where none of its characters can be. */
static size_t scalar_end(const char *text, size_t size, size_t start)
{
	while (start < size && !memchr(",]} \t\n\r", text[start], 7))
		start++;
	return start;
}

/* ---- opening -------------------------------------------------------------------------------- */

tt_status tt_jsonslice_text(struct tt_jsonslice **out, const char *text, size_t length,
			    const char *name)
{
	struct tt_jsonslice *slices = tt_calloc(1, sizeof(*slices));

	if (!slices)
		return tt_fail_nomem();
	slices->text = text;
	slices->size = length;
	slices->name = name;
	*out = slices;
	return TTNN_OK;
}

tt_status tt_jsonslice_open(struct tt_jsonslice **out, const char *path)
{
	struct tt_file_map map;
	struct tt_jsonslice *slices = NULL;
	tt_status status;

	TT_TRY(tt_file_map_unpacked(&map, path));
	status = tt_jsonslice_text(&slices, map.data, map.size, path);
	if (status != TTNN_OK) {
		tt_file_unmap(&map);
		return status;
	}
	slices->map = map;
	slices->name = slices->own_name = tt_strdup(path);
	if (!slices->own_name) {
		tt_jsonslice_free(slices);
		return tt_fail_nomem();
	}
	if (map.size)
		madvise((void *)(uintptr_t)map.data, map.size, MADV_SEQUENTIAL);
	*out = slices;
	return TTNN_OK;
}

void tt_jsonslice_free(struct tt_jsonslice *slices)
{
	if (!slices)
		return;
	tt_file_unmap(&slices->map);
	tt_free(slices->own_name);
	tt_str_deinit(&slices->key);
	tt_json_parser_deinit(&slices->parser);
	tt_free(slices);
}

/* ---- moving --------------------------------------------------------------------------------- */

static bool fail(struct tt_jsonslice *slices, size_t at, const char *what)
{
	slices->status = tt_json_fail_at(slices->name, slices->text, at, what);
	return false;
}

/* The present character, or 0 at the end of the text (where a zero byte is no JSON either). */
static char peek(const struct tt_jsonslice *slices)
{
	return slices->at < slices->size ? slices->text[slices->at] : '\0';
}

static bool unexpected(struct tt_jsonslice *slices, const char *wanted)
{
	return fail(slices, slices->at,
		    slices->at < slices->size ? wanted : "unexpected end of data");
}

static void skip_space(struct tt_jsonslice *slices)
{
	for (;;) {
		char c = peek(slices);

		if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
			return;
		slices->at++;
	}
}

/* Gives pages that lie behind back to the system, from time to time; they stay in its cache. */
static void release_pages(struct tt_jsonslice *slices)
{
	size_t done = slices->at & ~(STRIDE - 1);

	if (!slices->map.size || done <= slices->freed)
		return;
	madvise((void *)(uintptr_t)(slices->map.data + slices->freed), done - slices->freed,
		MADV_DONTNEED);
	slices->freed = done;
}

static bool find_end(struct tt_jsonslice *slices)
{
	char c = peek(slices);

	if (slices->end)
		return true;
	if (c == '[' || c == '{')
		slices->end = tt_jsonscan_close(slices->text, slices->size, slices->at + 1, 1);
	else if (c == '"')
		slices->end = tt_jsonscan_string(slices->text, slices->size, slices->at);
	else
		slices->end = scalar_end(slices->text, slices->size, slices->at);
	if (slices->end == TT_JSONSCAN_NONE)
		return fail(slices, slices->size, "unexpected end of data");
	if (slices->end == slices->at)
		return unexpected(slices, "unexpected character");
	return true;
}

static void go_behind(struct tt_jsonslice *slices, size_t end)
{
	slices->at = end;
	slices->end = 0;
	slices->place = BEHIND;
	release_pages(slices);
}

/* Behind the closing bracket of the container the cursor is in. */
static void close_container(struct tt_jsonslice *slices, size_t end)
{
	slices->depth--;
	slices->in_object = slices->depth && slices->objects[slices->depth - 1];
	go_behind(slices, end);
}

static tt_status read_part(const struct tt_json **out, struct tt_jsonslice *slices, size_t end)
{
	struct tt_json_part part = {
		.name = slices->name,
		.whole = slices->text,
		.start = slices->at,
		.length = end - slices->at,
		.depth = slices->depth,
	};

	return tt_json_parser_read(out, &slices->parser, &part);
}

/* Copies the key at the cursor and moves to the value. */
static bool take_key(struct tt_jsonslice *slices)
{
	const struct tt_json *key;
	const char *text;
	size_t end, length;

	if (peek(slices) != '"')
		return unexpected(slices, "unexpected character, expected a string key");
	end = tt_jsonscan_string(slices->text, slices->size, slices->at);
	if (end == TT_JSONSCAN_NONE)
		return fail(slices, slices->size, "unexpected end of data");
	slices->status = read_part(&key, slices, end);
	if (slices->status != TTNN_OK)
		return false;
	text = tt_json_string(key, &length);
	tt_str_clear(&slices->key);
	tt_str_add(&slices->key, text, length);
	slices->status = tt_str_status(&slices->key);
	slices->at = end;
	skip_space(slices);
	if (slices->status == TTNN_OK && peek(slices) != ':')
		return unexpected(slices, "unexpected character, expected a colon after the key");
	slices->at++;
	skip_space(slices);
	return slices->status == TTNN_OK;
}

static bool begin_value(struct tt_jsonslice *slices)
{
	if (slices->in_object && !take_key(slices))
		return false;
	if (slices->at >= slices->size)
		return unexpected(slices, "");
	slices->has_key = slices->in_object;
	slices->place = AT;
	slices->end = 0;
	return true;
}

bool tt_jsonslice_next(struct tt_jsonslice *slices)
{
	char close = slices->in_object ? '}' : ']';

	if (slices->status != TTNN_OK)
		return false;
	if (slices->place == AT) {
		if (!find_end(slices))
			return false;
		go_behind(slices, slices->end);
	}
	skip_space(slices);
	if (slices->depth && peek(slices) == close) {
		close_container(slices, slices->at + 1);
		return false;
	}
	if (slices->place == FRESH)
		return begin_value(slices);
	if (!slices->depth) {
		if (slices->at < slices->size)
			fail(slices, slices->at, "unexpected content after document");
		return false;
	}
	if (peek(slices) != ',')
		return unexpected(slices,
				  "unexpected character, expected a comma or a closing bracket");
	slices->at++;
	skip_space(slices);
	if (peek(slices) == close)
		return unexpected(slices, "trailing comma is not allowed");
	return begin_value(slices);
}

const char *tt_jsonslice_key(const struct tt_jsonslice *slices, size_t *length)
{
	if (length)
		*length = slices->has_key ? slices->key.length : 0;
	return slices->has_key ? tt_str_text(&slices->key) : NULL;
}

enum tt_json_kind tt_jsonslice_kind(const struct tt_jsonslice *slices)
{
	if (slices->status != TTNN_OK || slices->place != AT)
		return TT_JSON_ABSENT;
	switch (peek(slices)) {
	case '[':
		return TT_JSON_ARRAY;
	case '{':
		return TT_JSON_OBJECT;
	default:
		return TT_JSON_ABSENT;
	}
}

void tt_jsonslice_enter(struct tt_jsonslice *slices)
{
	enum tt_json_kind kind = tt_jsonslice_kind(slices);

	if (slices->status != TTNN_OK)
		return;
	if (kind == TT_JSON_ABSENT) {
		fail(slices, slices->at, "expected an array or an object");
	} else if (slices->depth == TT_JSON_DEPTH) {
		fail(slices, slices->at, "nested too deep");
	} else {
		slices->in_object = kind == TT_JSON_OBJECT;
		slices->objects[slices->depth++] = slices->in_object;
		slices->place = FRESH;
		slices->at++;
	}
}

void tt_jsonslice_leave(struct tt_jsonslice *slices)
{
	size_t end;

	if (slices->status != TTNN_OK || !slices->depth)
		return;
	end = tt_jsonscan_close(slices->text, slices->size, slices->at, 1);
	if (end == TT_JSONSCAN_NONE)
		fail(slices, slices->size, "unexpected end of data");
	else
		close_container(slices, end);
}

const struct tt_json *tt_jsonslice_read(struct tt_jsonslice *slices)
{
	const struct tt_json *value;

	if (slices->status != TTNN_OK || slices->place != AT || !find_end(slices))
		return NULL;
	slices->status = read_part(&value, slices, slices->end);
	return slices->status == TTNN_OK ? value : NULL;
}

/* ---- coming back ---------------------------------------------------------------------------- */

struct tt_jsonslice_place tt_jsonslice_place(struct tt_jsonslice *slices)
{
	if (slices->status != TTNN_OK || slices->place != AT || !find_end(slices))
		return (struct tt_jsonslice_place){0};
	return (struct tt_jsonslice_place){slices->at, slices->end - slices->at, slices->depth};
}

tt_status tt_jsonslice_fetch(const struct tt_json **out, struct tt_jsonslice *slices,
			     struct tt_json_parser *parser, const struct tt_jsonslice_place *place)
{
	struct tt_json_part part = {
		.name = slices->name,
		.whole = slices->text,
		.start = place->start,
		.length = place->length,
		.depth = place->depth,
	};

	return tt_json_parser_read(out, parser, &part);
}

void tt_jsonslice_seek(struct tt_jsonslice *slices, const struct tt_jsonslice_place *place)
{
	if (slices->status != TTNN_OK)
		return;
	slices->depth = place->depth;
	slices->in_object = slices->depth && slices->objects[slices->depth - 1];
	slices->has_key = false;
	slices->at = place->start;
	slices->end = place->start + place->length;
	slices->place = AT;
	slices->freed = slices->at & ~(STRIDE - 1);
}

tt_status tt_jsonslice_fail(struct tt_jsonslice *slices, size_t offset, const char *what)
{
	fail(slices, offset, what);
	return slices->status;
}

tt_status tt_jsonslice_status(const struct tt_jsonslice *slices)
{
	return slices->status;
}

size_t tt_jsonslice_tell(const struct tt_jsonslice *slices, size_t *total)
{
	if (total)
		*total = slices->size;
	return slices->at;
}
