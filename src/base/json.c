#include "base/json.h"

#include <math.h>
#include <string.h>
#include <yyjson.h>

#include "base/file.h"
#include "base/mem.h"

struct tt_json_doc {
	yyjson_doc *doc; /* its strings point into text */
	char *text;
};

/* ---- the parser's allocator is the door ------------------------------------------------------ */

static void *alc_malloc(void *context, size_t size)
{
	(void)context;
	return tt_alloc(size);
}

static void *alc_realloc(void *context, void *block, size_t old_size, size_t size)
{
	(void)context;
	(void)old_size;
	return tt_realloc(block, size);
}

static void alc_free(void *context, void *block)
{
	(void)context;
	tt_free(block);
}

static const yyjson_alc door = {alc_malloc, alc_realloc, alc_free, NULL};

/* ---- parsing --------------------------------------------------------------------------------- */

/*
 * Values lie in the document in text order, a container before its content and with the distance
 * to what comes after it. So the nesting is known by keeping the ends of the open ones.
 */
static bool too_deep(const yyjson_doc *doc)
{
	yyjson_val *ends[TT_JSON_DEPTH], *value = doc->root, *end = value + doc->val_read;
	size_t depth = 0;

	for (; value < end; value++) {
		if (!unsafe_yyjson_is_ctn(value))
			continue;
		while (depth && value >= ends[depth - 1])
			depth--;
		if (depth == TT_JSON_DEPTH)
			return true;
		ends[depth++] = unsafe_yyjson_get_next(value);
	}
	return false;
}

/* `text` is what was parsed, before in situ reading changed it; NULL when it is gone. */
static tt_status fail_parse(const yyjson_read_err *error, const char *text, size_t length,
			    const char *name)
{
	size_t line, column, character;

	if (error->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return tt_fail_nomem();
	if (!text || !yyjson_locate_pos(text, length, error->pos, &line, &column, &character))
		return tt_fail(TTNN_FORMAT, "%s: at byte %zu: %s", name, error->pos, error->msg);
	return tt_fail(TTNN_FORMAT, "%s:%zu:%zu: %s", name, line, column, error->msg);
}

/* Takes the text, which has TT_FILE_PAD zero bytes behind it. */
static tt_status parse_in_place(struct tt_json_doc **out, yyjson_read_err *error, char *text,
				size_t length, const char *name)
{
	struct tt_json_doc *doc = tt_calloc(1, sizeof(*doc));
	tt_status status = TTNN_OK;

	if (!doc) {
		tt_free(text);
		return tt_fail_nomem();
	}
	doc->text = text;
	doc->doc = yyjson_read_opts(text, length, YYJSON_READ_INSITU | YYJSON_READ_ALLOW_INF_AND_NAN,
				    &door, error);
	if (!doc->doc)
		status = error->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? tt_fail_nomem()
									    : TTNN_FORMAT;
	else if (too_deep(doc->doc))
		status = tt_fail(TTNN_FORMAT, "%s: nested more than %d deep", name, TT_JSON_DEPTH);
	if (status == TTNN_OK)
		*out = doc;
	else
		tt_json_free(doc);
	return status;
}

tt_status tt_json_parse(struct tt_json_doc **out, const char *text, size_t length,
			const char *name)
{
	yyjson_read_err error = {0};
	tt_status status;
	char *copy = length > SIZE_MAX - TT_FILE_PAD ? NULL : tt_alloc(length + TT_FILE_PAD);

	if (!copy)
		return tt_fail_nomem();
	if (length)
		memcpy(copy, text, length);
	memset(copy + length, 0, TT_FILE_PAD);
	status = parse_in_place(out, &error, copy, length, name);
	return error.code ? fail_parse(&error, text, length, name) : status;
}

tt_status tt_json_load(struct tt_json_doc **out, const char *path)
{
	yyjson_read_err error = {0};
	tt_status status;
	size_t length;
	char *text;

	TT_TRY(tt_file_read(&text, &length, path));
	status = parse_in_place(out, &error, text, length, path);
	if (!error.code)
		return status;
	/* Reading in place moved the newlines about: count lines in a fresh copy. */
	if (tt_file_read(&text, &length, path) != TTNN_OK)
		text = NULL;
	status = fail_parse(&error, text, length, path);
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
		[TT_JSON_ABSENT] = "nothing",  [TT_JSON_NULL] = "null",
		[TT_JSON_BOOL] = "a boolean",  [TT_JSON_INT] = "an integer",
		[TT_JSON_REAL] = "a number",   [TT_JSON_STRING] = "a string",
		[TT_JSON_ARRAY] = "an array",  [TT_JSON_OBJECT] = "an object",
	};

	return names[tt_json_kind(value)];
}

const struct tt_json *tt_json_get(const struct tt_json *object, const char *key)
{
	return outer(yyjson_obj_get(inner(object), key));
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

	if (yyjson_is_uint(val))
		*out = unsafe_yyjson_get_uint(val);
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
