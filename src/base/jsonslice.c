#include "base/jsonslice.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/jsonscan.h"
#include "base/mem.h"
#include "base/str.h"

/* So many bytes of a file are in memory at a time: where the cursor is, and where values are fetched. */
#define NEAR ((size_t)256 << 10)
#define FAR ((size_t)128 << 10)

/* Keys are kept as texts: a longer one is none. */
#define KEY_MAX ((size_t)1 << 20)

enum place {
	FRESH,  /* before the first value of a container */
	AT,     /* at a value */
	BEHIND, /* behind one */
};

/* A stretch of the text. */
struct window {
	const char *text;
	size_t base, filled; /* where it begins, how long it is */
	char *own;           /* memory for it, made at first use; NULL: the text is in memory */
	size_t room;
};

struct tt_jsonslice {
	int fd; /* -1: a text in memory, which `near` holds as a whole */
	struct window near, far;
	const char *name;
	char *own_name;
	size_t size;
	size_t at;  /* start of the present value, or where to go on */
	size_t end; /* behind the present value; 0: not known yet */
	enum place place;
	bool in_object, has_key;
	size_t depth;
	bool objects[TT_JSON_DEPTH]; /* the containers around: object or array */
	struct tt_str key;
	struct tt_json_parser parser;
	tt_status status;
};

/* ---- scanning within a stretch --------------------------------------------------------------- */

size_t tt_jsonscan_close(struct tt_jsonscan *scan, const char *text, size_t size, size_t start)
{
	switch (tt_cpu_isa()) {
#if defined(__x86_64__)
	case TT_ISA_AVX512:
		return tt_jsonscan_close_avx512(scan, text, size, start);
	case TT_ISA_AVX2:
		return tt_jsonscan_close_avx2(scan, text, size, start);
#endif
	default:
		return tt_jsonscan_close_plain(scan, text, size, start);
	}
}

/* Whether an odd number of backslashes lies before `at`. */
static bool is_escaped(const char *first, const char *at)
{
	const char *slash = at;

	while (slash > first && slash[-1] == '\\')
		slash--;
	return (at - slash) % 2 != 0;
}

size_t tt_jsonscan_string(bool *escape, const char *text, size_t size, size_t start)
{
	const char *end = text + size, *first = text + start + (*escape && start < size);
	const char *at = first, *quote;

	if (start == size)
		return TT_JSONSCAN_NONE;
	while ((quote = memchr(at, '"', (size_t)(end - at)))) {
		at = quote + 1;
		if (!is_escaped(first, quote))
			return (size_t)(at - text);
	}
	*escape = is_escaped(first, end);
	return TT_JSONSCAN_NONE;
}

/* ---- opening -------------------------------------------------------------------------------- */

tt_status tt_jsonslice_text(struct tt_jsonslice **out, const char *text, size_t length,
			    const char *name)
{
	struct tt_jsonslice *slices = tt_calloc(1, sizeof(*slices));

	if (!slices)
		return tt_fail_nomem();
	slices->fd = -1;
	slices->near = (struct window){.text = text, .filled = length};
	slices->size = length;
	slices->name = name;
	*out = slices;
	return TTNN_OK;
}

tt_status tt_jsonslice_fd(struct tt_jsonslice **out, int fd, size_t size, const char *name)
{
	struct tt_jsonslice *slices = NULL;
	char *own_name = tt_strdup(name);
	tt_status status = own_name ? tt_jsonslice_text(&slices, "", 0, own_name) : tt_fail_nomem();

	if (status != TTNN_OK) {
		tt_free(own_name);
		close(fd);
		return status;
	}
	slices->own_name = own_name;
	slices->fd = fd;
	slices->size = size;
	slices->near.room = NEAR;
	slices->far.room = FAR;
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	*out = slices;
	return TTNN_OK;
}

tt_status tt_jsonslice_open(struct tt_jsonslice **out, const char *path)
{
	size_t size;
	int fd;

	TT_TRY(tt_file_open_unpacked(&fd, &size, path));
	return tt_jsonslice_fd(out, fd, size, path);
}

void tt_jsonslice_set_window(struct tt_jsonslice *slices, size_t bytes)
{
	/* A quarter of a window may stay behind: a whole block must fit beside it. */
	if (bytes < 4 * TT_JSONSCAN_BLOCK)
		bytes = 4 * TT_JSONSCAN_BLOCK;
	if (slices->fd >= 0 && !slices->near.own && !slices->far.own)
		slices->near.room = slices->far.room = bytes;
}

void tt_jsonslice_free(struct tt_jsonslice *slices)
{
	if (!slices)
		return;
	if (slices->fd >= 0)
		close(slices->fd);
	tt_free(slices->near.own);
	tt_free(slices->far.own);
	tt_free(slices->own_name);
	tt_str_deinit(&slices->key);
	tt_json_parser_deinit(&slices->parser);
	tt_free(slices);
}

/* ---- the text -------------------------------------------------------------------------------- */

static bool holds(const struct window *window, size_t at)
{
	return at - window->base < window->filled; /* what lies before is a huge number */
}

/*
 * Moves a window to the byte at `at`, which the text has, and to as many behind it as there is room
 * for. What lies up to a quarter of the room before stays. False: the cursor has an error.
 */
static bool slide(struct tt_jsonslice *slices, struct window *window, size_t at)
{
	size_t from = at, kept = 0, more;

	if (!window->own)
		window->own = tt_alloc(window->room);
	if (!window->own) {
		slices->status = tt_fail_nomem();
		return false;
	}
	if (at >= window->base && at - window->base <= window->filled) {
		size_t before = at - window->base, most = window->room / 4;

		from = at - (before < most ? before : most);
		kept = window->base + window->filled - from;
		memmove(window->own, window->own + (from - window->base), kept);
	}
	more = window->room - kept;
	if (more > slices->size - from - kept)
		more = slices->size - from - kept;
	window->filled = 0;
	slices->status =
		tt_file_read_at(slices->fd, window->own + kept, more, from + kept, slices->name);
	if (slices->status != TTNN_OK)
		return false;
	*window = (struct window){window->own, from, kept + more, window->own, window->room};
	return true;
}

/* The first error stays. */
static bool fail(struct tt_jsonslice *slices, size_t offset, const char *what)
{
	struct tt_json_position position = {1, 1};
	const struct window *window = &slices->near;
	size_t at = 0;

	while (at < offset && slices->status == TTNN_OK) {
		size_t length;

		if (!holds(window, at) && !slide(slices, &slices->near, at))
			return false;
		length = window->base + window->filled - at;
		length = length < offset - at ? length : offset - at;
		tt_json_position_pass(&position, window->text + (at - window->base), length);
		at += length;
	}
	if (slices->status == TTNN_OK)
		slices->status = tt_json_fail(slices->name, &position, what);
	return false;
}

/* The present character, or 0 at the end of the text (where a zero byte is no JSON either). */
static char peek(struct tt_jsonslice *slices)
{
	struct window *window = &slices->near;

	if (holds(window, slices->at) ||
	    (slices->at < slices->size && slide(slices, window, slices->at)))
		return window->text[slices->at - window->base];
	return '\0';
}

/* The offset behind the bracket that closes `depth` containers. */
static size_t scan_close(struct tt_jsonslice *slices, size_t from, size_t depth)
{
	struct tt_jsonscan scan = {.depth = depth};
	struct window *window = &slices->near;

	while (from < slices->size) {
		size_t start, size, end;

		if (!holds(window, from) && !slide(slices, window, from))
			break;
		start = from - window->base;
		size = window->filled;
		if (window->base + size < slices->size) /* then whole blocks */
			size -= (size - start) % TT_JSONSCAN_BLOCK;
		if (size == start) {
			if (!slide(slices, window, from))
				break;
			continue;
		}
		end = tt_jsonscan_close(&scan, window->text, size, start);
		if (end != TT_JSONSCAN_NONE)
			return window->base + end;
		from = window->base + size;
	}
	return TT_JSONSCAN_NONE;
}

/* The offset behind the string that begins at `from`. */
static size_t scan_string(struct tt_jsonslice *slices, size_t from)
{
	struct window *window = &slices->near;
	bool escape = false;

	for (from++; from < slices->size; from = window->base + window->filled) {
		size_t end;

		if (!holds(window, from) && !slide(slices, window, from))
			break;
		end = tt_jsonscan_string(&escape, window->text, window->filled,
					 from - window->base);
		if (end != TT_JSONSCAN_NONE)
			return window->base + end;
	}
	return TT_JSONSCAN_NONE;
}

/* A number or a name ends where none of its characters can be. */
static size_t scan_scalar(struct tt_jsonslice *slices, size_t from)
{
	struct window *window = &slices->near;

	for (; from < slices->size; from++) {
		if (!holds(window, from) && !slide(slices, window, from))
			return TT_JSONSCAN_NONE;
		if (memchr(",]} \t\n\r", window->text[from - window->base], 7))
			break;
	}
	return from;
}

static bool holds_all(const struct window *window, size_t start, size_t length)
{
	return holds(window, start) && start - window->base + length <= window->filled;
}

static tt_status copy_text(char *out, struct tt_jsonslice *slices, size_t start, size_t length)
{
	struct window *window = &slices->near;

	if (!holds_all(window, start, length) && slices->far.room) {
		window = &slices->far;
		if (length > window->room / 2)
			return tt_file_read_at(slices->fd, out, length, start, slices->name);
		if (!holds_all(window, start, length) && !slide(slices, window, start))
			return slices->status;
	}
	memcpy(out, window->text + (start - window->base), length);
	return TTNN_OK;
}

static tt_status read_value(const struct tt_json **out, struct tt_jsonslice *slices,
			    struct tt_json_parser *parser, const struct tt_jsonslice_place *place)
{
	char *text = tt_json_parser_room(parser, place->length);
	struct tt_json_fault fault;
	tt_status status;

	if (!text)
		return tt_fail_nomem();
	TT_TRY(copy_text(text, slices, place->start, place->length));
	status = tt_json_parser_take(out, &fault, parser, place->length, place->depth);
	if (status != TTNN_FORMAT)
		return status;
	/* The parser changed its text: again, to see where the fault is. */
	TT_TRY(copy_text(text, slices, place->start, place->length));
	fail(slices, place->start + tt_json_fault_offset(&fault, text, place->length, place->depth),
	     fault.what);
	return slices->status;
}

/* ---- moving --------------------------------------------------------------------------------- */

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

static bool find_end(struct tt_jsonslice *slices)
{
	char c;

	if (slices->end)
		return true;
	c = peek(slices);
	if (c == '[' || c == '{')
		slices->end = scan_close(slices, slices->at + 1, 1);
	else if (c == '"')
		slices->end = scan_string(slices, slices->at);
	else
		slices->end = scan_scalar(slices, slices->at);
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
}

/* Behind the closing bracket of the container the cursor is in. */
static void close_container(struct tt_jsonslice *slices, size_t end)
{
	slices->depth--;
	slices->in_object = slices->depth && slices->objects[slices->depth - 1];
	go_behind(slices, end);
}

/* Most keys are plain ASCII, and their own text. */
static bool copy_plain_key(struct tt_jsonslice *slices, size_t end)
{
	const struct window *window = &slices->near;
	size_t length = end - slices->at - 2;
	const char *text;

	if (!holds_all(window, slices->at, end - slices->at))
		return false;
	text = window->text + (slices->at + 1 - window->base);
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\\' || (unsigned char)(text[i] - ' ') > '~' - ' ')
			return false;
	tt_str_add(&slices->key, text, length);
	return true;
}

/* Copies the key at the cursor and moves to the value. */
static bool take_key(struct tt_jsonslice *slices)
{
	struct tt_jsonslice_place place = {slices->at, 0, slices->depth};
	const struct tt_json *key;
	const char *text;
	size_t end, length;

	if (peek(slices) != '"')
		return unexpected(slices, "unexpected character, expected a string key");
	end = scan_string(slices, slices->at);
	if (end == TT_JSONSCAN_NONE)
		return fail(slices, slices->size, "unexpected end of data");
	place.length = end - slices->at;
	if (place.length > KEY_MAX)
		return fail(slices, slices->at, "a key of more than a million bytes");
	tt_str_clear(&slices->key);
	if (!copy_plain_key(slices, end)) {
		slices->status = read_value(&key, slices, &slices->parser, &place);
		if (slices->status != TTNN_OK)
			return false;
		text = tt_json_string(key, &length);
		tt_str_add(&slices->key, text, length);
	}
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

bool tt_jsonslice_is(const struct tt_jsonslice *slices, const char *key)
{
	size_t length;
	const char *found = tt_jsonslice_key(slices, &length);

	return found && length == strlen(key) && memcmp(found, key, length) == 0;
}

enum tt_json_kind tt_jsonslice_kind(struct tt_jsonslice *slices)
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
	end = scan_close(slices, slices->at, 1);
	if (end == TT_JSONSCAN_NONE)
		fail(slices, slices->size, "unexpected end of data");
	else
		close_container(slices, end);
}

const struct tt_json *tt_jsonslice_read(struct tt_jsonslice *slices)
{
	struct tt_jsonslice_place place = tt_jsonslice_place(slices);
	const struct tt_json *value;

	if (!place.length)
		return NULL;
	slices->status = read_value(&value, slices, &slices->parser, &place);
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
	return read_value(out, slices, parser, place);
}

tt_status tt_jsonslice_copy(char *out, const struct tt_jsonslice *slices, size_t start,
			    size_t length)
{
	if (slices->fd >= 0)
		return tt_file_read_at(slices->fd, out, length, start, slices->name);
	memcpy(out, slices->near.text + start, length);
	return TTNN_OK;
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
