#include "base/json.h"

#include <math.h>
#include <string.h>
#include <yyjson.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

struct tt_json_doc {
	yyjson_doc *doc; /* its strings point into text */
	char *text;
};

/* ---- allocators for the parser underneath --------------------------------------------------- */

static void *door_malloc(void *context, size_t size)
{
	(void)context;
	return tt_alloc(size);
}

static void *door_realloc(void *context, void *block, size_t old_size, size_t size)
{
	(void)context;
	(void)old_size;
	return tt_realloc(block, size);
}

static void door_free(void *context, void *block)
{
	(void)context;
	tt_free(block);
}

static const yyjson_alc door = {door_malloc, door_realloc, door_free, NULL};

/*
 * Reading in place takes one block, for the values. It is kept from text to text; should another
 * be asked for meanwhile, it comes from the door.
 */
static void *kept_realloc(void *context, void *block, size_t old_size, size_t size)
{
	struct tt_json_parser *parser = context;

	if (block != parser->values)
		return door_realloc(NULL, block, old_size, size);
	if (size > parser->values_room) {
		block = tt_realloc(parser->values, size);
		if (!block)
			return NULL;
		parser->values = block;
		parser->values_room = size;
	}
	parser->values_used = true;
	return parser->values;
}

static void *kept_malloc(void *context, size_t size)
{
	struct tt_json_parser *parser = context;

	return parser->values_used ? tt_alloc(size) : kept_realloc(parser, parser->values, 0, size);
}

static void kept_free(void *context, void *block)
{
	struct tt_json_parser *parser = context;

	if (block == parser->values)
		parser->values_used = false;
	else
		tt_free(block);
}

/* ---- parsing -------------------------------------------------------------------------------- */

void tt_json_position_pass(struct tt_json_position *position, const char *text, size_t length)
{
	const char *end = text + length, *newline;

	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		text = newline + 1;
		position->line++;
		position->column = 1;
	}
	for (; text < end; text++)
		position->column += (*text & 0xc0) != 0x80; /* characters, not bytes, of UTF-8 */
}

tt_status tt_json_fail(const char *name, const struct tt_json_position *position, const char *what)
{
	return tt_fail(TTNN_FORMAT, "%s:%zu:%zu: %s", name, position->line, position->column, what);
}

/*
 * Values lie in the document in text order, a container before its content and with the distance
 * to what comes after it. So the nesting is known by keeping the ends of the open ones.
 */
static bool too_deep(const yyjson_doc *doc, size_t depth)
{
	yyjson_val *ends[TT_JSON_DEPTH], *value = doc->root, *end = value + doc->val_read;
	size_t outside = depth;

	for (; value < end; value++) {
		if (!unsafe_yyjson_is_ctn(value))
			continue;
		while (depth > outside && value >= ends[depth - 1])
			depth--;
		if (depth >= TT_JSON_DEPTH)
			return true;
		ends[depth++] = unsafe_yyjson_get_next(value);
	}
	return false;
}

/* Where the first container opens that is too deep, in a text that is JSON. */
static size_t find_deep(const char *text, size_t length, size_t depth)
{
	bool string = false;

	for (size_t i = 0; i < length; i++) {
		if (string && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			string = !string;
		else if (!string && (text[i] == '[' || text[i] == '{') && depth++ == TT_JSON_DEPTH)
			return i;
		else if (!string && (text[i] == ']' || text[i] == '}') && depth)
			depth--;
	}
	return 0;
}

size_t tt_json_fault_offset(const struct tt_json_fault *fault, const char *text, size_t length,
			    size_t depth)
{
	size_t offset = fault->deep ? find_deep(text, length, depth) : fault->offset;

	return offset < length ? offset : length;
}

/* Tells of a fault in a part, of which this is the original text. */
static tt_status fail_in(const struct tt_json_part *part, const struct tt_json_fault *fault)
{
	const char *text = part->whole + part->start;
	struct tt_json_position position = {1, 1};

	tt_json_position_pass(&position, part->whole,
			      part->start +
				      tt_json_fault_offset(fault, text, part->length, part->depth));
	return tt_json_fail(part->name, &position, fault->what);
}

/* `text` has TT_FILE_PAD zero bytes behind it. With TTNN_FORMAT the fault is filled. */
static tt_status read_in_place(yyjson_doc **out, struct tt_json_fault *fault, char *text,
			       const struct tt_json_part *part, const yyjson_alc *alc)
{
	yyjson_read_err error;
	yyjson_doc *doc =
		yyjson_read_opts(text, part->length,
				 YYJSON_READ_INSITU | YYJSON_READ_ALLOW_INF_AND_NAN, alc, &error);

	if (!doc && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return tt_fail_nomem();
	*fault = (struct tt_json_fault){error.msg, error.pos, false};
	if (doc && too_deep(doc, part->depth)) {
		yyjson_doc_free(doc);
		doc = NULL;
		*fault = (struct tt_json_fault){"nested too deep", 0, true};
	}
	*out = doc;
	return doc ? TTNN_OK : TTNN_FORMAT;
}

/* Takes the text. */
static tt_status make_doc(struct tt_json_doc **out, struct tt_json_fault *fault, char *text,
			  const struct tt_json_part *part)
{
	struct tt_json_doc *doc = tt_calloc(1, sizeof(*doc));
	tt_status status;

	if (!doc) {
		tt_free(text);
		return tt_fail_nomem();
	}
	doc->text = text;
	status = read_in_place(&doc->doc, fault, text, part, &door);
	if (status == TTNN_OK)
		*out = doc;
	else
		tt_json_free(doc);
	return status;
}

tt_status tt_json_parse(struct tt_json_doc **out, const char *text, size_t length, const char *name)
{
	struct tt_json_part part = {.name = name, .whole = text, .length = length};
	struct tt_json_fault fault;
	tt_status status;
	char *copy = length > SIZE_MAX - TT_FILE_PAD ? NULL : tt_alloc(length + TT_FILE_PAD);

	if (!copy)
		return tt_fail_nomem();
	if (length)
		memcpy(copy, text, length);
	memset(copy + length, 0, TT_FILE_PAD);
	status = make_doc(out, &fault, copy, &part);
	return status == TTNN_FORMAT ? fail_in(&part, &fault) : status;
}

tt_status tt_json_load(struct tt_json_doc **out, const char *path)
{
	struct tt_json_part part = {.name = path};
	struct tt_json_fault fault;
	tt_status status;
	char *text;

	TT_TRY(tt_file_read(&text, &part.length, path));
	status = make_doc(out, &fault, text, &part);
	if (status != TTNN_FORMAT)
		return status;
	/* Reading in place moved the newlines about: count lines in a fresh copy, if there is one. */
	if (tt_file_read(&text, &part.length, path) != TTNN_OK)
		return tt_fail(TTNN_FORMAT, "%s: %s", path, fault.what);
	part.whole = text;
	status = fail_in(&part, &fault);
	tt_free(text);
	return status;
}

void tt_json_free(struct tt_json_doc *doc)
{
	if (!doc)
		return;
	yyjson_doc_free(doc->doc);
	tt_free(doc->text);
	tt_free(doc);
}

char *tt_json_parser_room(struct tt_json_parser *parser, size_t length)
{
	if (length > SIZE_MAX - TT_FILE_PAD ||
	    !tt_vec_reserve(&parser->text, &parser->text_room, 0, length + TT_FILE_PAD, 1))
		return NULL;
	return parser->text;
}

tt_status tt_json_parser_take(const struct tt_json **out, struct tt_json_fault *fault,
			      struct tt_json_parser *parser, size_t length, size_t depth)
{
	const yyjson_alc kept = {kept_malloc, kept_realloc, kept_free, parser};
	struct tt_json_part part = {.length = length, .depth = depth};
	yyjson_doc *doc;

	memset(parser->text + length, 0, TT_FILE_PAD);
	parser->values_used = false; /* forgets the last document */
	TT_TRY(read_in_place(&doc, fault, parser->text, &part, &kept));
	*out = (const struct tt_json *)doc->root;
	return TTNN_OK;
}

tt_status tt_json_parser_read(const struct tt_json **out, struct tt_json_parser *parser,
			      const struct tt_json_part *part)
{
	char *text = tt_json_parser_room(parser, part->length);
	struct tt_json_fault fault;
	tt_status status;

	if (!text)
		return tt_fail_nomem();
	if (part->length)
		memcpy(text, part->whole + part->start, part->length);
	status = tt_json_parser_take(out, &fault, parser, part->length, part->depth);
	return status == TTNN_FORMAT ? fail_in(part, &fault) : status;
}

void tt_json_parser_set_int(const struct tt_json *value, int64_t number)
{
	yyjson_val *own = (yyjson_val *)value;

	if (number < 0)
		unsafe_yyjson_set_sint(own, number);
	else
		unsafe_yyjson_set_uint(own, (uint64_t)number);
}

void tt_json_parser_set_text(const struct tt_json *value, const char *text, size_t length)
{
	unsafe_yyjson_set_strn((yyjson_val *)value, text, length);
}

void tt_json_parser_deinit(struct tt_json_parser *parser)
{
	tt_free(parser->text);
	tt_free(parser->values);
	*parser = (struct tt_json_parser){0};
}

/* ---- values ---------------------------------------------------------------------------------- */

/* yyjson's readers take non-const pointers and only read. */
static yyjson_val *inner(const struct tt_json *value)
{
	return (yyjson_val *)(uintptr_t)value;
}

static const struct tt_json *outer(const yyjson_val *value)
{
	return (const struct tt_json *)value;
}

const struct tt_json *tt_json_root(const struct tt_json_doc *doc)
{
	return outer(yyjson_doc_get_root(doc->doc));
}

enum tt_json_kind tt_json_kind(const struct tt_json *value)
{
	switch (yyjson_get_type(inner(value))) {
	case YYJSON_TYPE_NULL:
		return TT_JSON_NULL;
	case YYJSON_TYPE_BOOL:
		return TT_JSON_BOOL;
	case YYJSON_TYPE_NUM:
		return yyjson_is_real(inner(value)) ? TT_JSON_REAL : TT_JSON_INT;
	case YYJSON_TYPE_STR:
		return TT_JSON_STRING;
	case YYJSON_TYPE_ARR:
		return TT_JSON_ARRAY;
	case YYJSON_TYPE_OBJ:
		return TT_JSON_OBJECT;
	default:
		return TT_JSON_ABSENT;
	}
}

const char *tt_json_kind_name(const struct tt_json *value)
{
	static const char *const names[] = {
		[TT_JSON_ABSENT] = "nothing", [TT_JSON_NULL] = "null",
		[TT_JSON_BOOL] = "a boolean", [TT_JSON_INT] = "an integer",
		[TT_JSON_REAL] = "a number",  [TT_JSON_STRING] = "a string",
		[TT_JSON_ARRAY] = "an array", [TT_JSON_OBJECT] = "an object",
	};

	return names[tt_json_kind(value)];
}

const struct tt_json *tt_json_get(const struct tt_json *object, const char *key)
{
	return outer(yyjson_obj_get(inner(object), key));
}

void tt_json_pick(const struct tt_json **out, const struct tt_json *object,
		  const struct tt_json_key *keys, size_t count)
{
	yyjson_val *key = inner(object);
	size_t left = yyjson_is_obj(key) ? unsafe_yyjson_get_len(key) : 0, next = 0;

	for (size_t i = 0; i < count; i++)
		out[i] = NULL;
	for (key = left ? unsafe_yyjson_get_first(key) : NULL; left; left--) {
		for (size_t tries = 0; tries < count; tries++, next++) {
			next = next < count ? next : 0;
			if (unsafe_yyjson_get_len(key) != keys[next].length ||
			    memcmp(unsafe_yyjson_get_str(key), keys[next].text,
				   keys[next].length) != 0)
				continue;
			if (!out[next])
				out[next] = outer(key + 1);
			next++;
			break;
		}
		key = unsafe_yyjson_get_next(key + 1);
	}
}

const struct tt_json *tt_json_at(const struct tt_json *array, size_t index)
{
	return outer(yyjson_arr_get(inner(array), index));
}

size_t tt_json_count(const struct tt_json *value)
{
	return yyjson_is_ctn(inner(value)) ? unsafe_yyjson_get_len(inner(value)) : 0;
}

const char *tt_json_string(const struct tt_json *value, size_t *length)
{
	if (length)
		*length = yyjson_get_len(inner(value));
	return yyjson_get_str(inner(value));
}

/* Below, 0x1p63 and 0x1p64 are the first doubles that do not fit. */
bool tt_json_int(int64_t *out, const struct tt_json *value)
{
	yyjson_val *val = inner(value);
	double real = yyjson_get_real(val);

	if (yyjson_is_sint(val))
		*out = unsafe_yyjson_get_sint(val);
	else if (yyjson_is_uint(val) && unsafe_yyjson_get_uint(val) <= INT64_MAX)
		*out = (int64_t)unsafe_yyjson_get_uint(val);
	else if (yyjson_is_real(val) && real >= -0x1p63 && real < 0x1p63 && real == trunc(real))
		*out = (int64_t)real;
	else
		return false;
	return true;
}

bool tt_json_uint(uint64_t *out, const struct tt_json *value)
{
	yyjson_val *val = inner(value);
	double real = yyjson_get_real(val);

	if (yyjson_is_uint(val) || (yyjson_is_sint(val) && unsafe_yyjson_get_sint(val) == 0))
		*out = unsafe_yyjson_get_uint(val); /* "-0" is an integer too */
	else if (yyjson_is_real(val) && real >= 0 && real < 0x1p64 && real == trunc(real))
		*out = (uint64_t)real;
	else
		return false;
	return true;
}

bool tt_json_real(double *out, const struct tt_json *value)
{
	if (!yyjson_is_num(inner(value)))
		return false;
	*out = yyjson_get_num(inner(value));
	return true;
}

bool tt_json_bool(bool *out, const struct tt_json *value)
{
	if (!yyjson_is_bool(inner(value)))
		return false;
	*out = yyjson_get_bool(inner(value));
	return true;
}

struct tt_json_iter tt_json_iter(const struct tt_json *value)
{
	struct tt_json_iter iter = {.left = tt_json_count(value)};

	if (iter.left)
		iter.next = unsafe_yyjson_get_first(inner(value));
	iter.object = yyjson_is_obj(inner(value));
	return iter;
}

bool tt_json_next(struct tt_json_iter *iter)
{
	yyjson_val *value = (yyjson_val *)(uintptr_t)iter->next;

	if (!iter->left)
		return false;
	iter->left--;
	if (iter->object) {
		iter->key = unsafe_yyjson_get_str(value);
		iter->key_length = unsafe_yyjson_get_len(value);
		value++;
	}
	iter->value = outer(value);
	iter->next = unsafe_yyjson_get_next(value);
	return true;
}
