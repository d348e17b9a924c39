/*
 * jsonw.h: writes JSON as it comes, without building a tree. Byte for byte what Python's json.dumps
 * gives for the same values and options.
 *
 *	struct tt_jsonw w;
 *	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.indent = 2});
 *	tt_jsonw_object(&w);
 *	tt_jsonw_key(&w, "shape");
 *	tt_jsonw_array(&w);
 *	tt_jsonw_int(&w, 32);
 *	tt_jsonw_end(&w);
 *	tt_jsonw_end(&w);
 *	status = tt_jsonw_finish(&w);
 *
 * Errors stick, as with tt_str: write all you want, tt_jsonw_finish() tells. Using the calls in an
 * order that is not JSON (a value without a key in an object, an end too many) is such an error.
 * Nothing is allocated. One thread at a time.
 */
#ifndef TT_BASE_JSONW_H
#define TT_BASE_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/json.h"
#include "base/str.h"

/* All zero is json.dumps without options. */
struct tt_jsonw_style {
	unsigned indent; /* spaces per level; 0: all on one line */
	bool compact;    /* separators "," and ":" */
	bool utf8;       /* ensure_ascii=False */
};

struct tt_jsonw {
	void (*write)(void *context, const void *data, size_t size);
	void *context;
	struct tt_jsonw_style style;
	tt_status status;
	size_t depth;
	bool has_key;                /* a key waits for its value */
	bool filled;                 /* the container (or the text) has a value already */
	bool one_line;               /* whatever the style's indent says */
	bool objects[TT_JSON_DEPTH]; /* the open containers: object or array */
	size_t used;
	char buffer[4096];
};

/*
 * Where the text goes: the end of a string, an open file, or any function. They are borrowed until
 * tt_jsonw_finish(); their own errors stay with them (tt_str_status, tt_file_commit).
 */
void tt_jsonw_init_str(struct tt_jsonw *w, struct tt_str *str, struct tt_jsonw_style style);
void tt_jsonw_init_file(struct tt_jsonw *w, struct tt_file_out *file, struct tt_jsonw_style style);
void tt_jsonw_init(struct tt_jsonw *w, void (*write)(void *context, const void *data, size_t size),
		   void *context, struct tt_jsonw_style style);

void tt_jsonw_object(struct tt_jsonw *w);
void tt_jsonw_array(struct tt_jsonw *w);
/* Ends the innermost open object or array. */
void tt_jsonw_end(struct tt_jsonw *w);

/*
 * What is written from now on stays on the line, or is placed as the style has it again; returns what it was
 * before. For one container: between its beginning and its first item, and after its end.
 */
bool tt_jsonw_inline(struct tt_jsonw *w, bool on);

/* Before each value of an object. */
void tt_jsonw_key(struct tt_jsonw *w, const char *key);
void tt_jsonw_keyn(struct tt_jsonw *w, const char *key, size_t length);

void tt_jsonw_null(struct tt_jsonw *w);
void tt_jsonw_bool(struct tt_jsonw *w, bool value);
void tt_jsonw_int(struct tt_jsonw *w, int64_t value);
void tt_jsonw_uint(struct tt_jsonw *w, uint64_t value);
/* The shortest text that reads back the same; NaN, Infinity, -Infinity as Python writes them. */
void tt_jsonw_real(struct tt_jsonw *w, double value);

/* UTF-8; each part of it that is none becomes U+FFFD. NULL text is written as null. */
void tt_jsonw_string(struct tt_jsonw *w, const char *text);

/* Members of an object that are lists: "key": [ ... ]. */
void tt_jsonw_uints(struct tt_jsonw *w, const char *key, const uint32_t *numbers, size_t count);
void tt_jsonw_strings(struct tt_jsonw *w, const char *key, const char *const *texts, size_t count);
void tt_jsonw_stringn(struct tt_jsonw *w, const char *text, size_t length);

/* A value that is JSON text already, written as it is. */
void tt_jsonw_raw(struct tt_jsonw *w, const char *json, size_t length);

/* A value that was read. */
void tt_jsonw_value(struct tt_jsonw *w, const struct tt_json *value);

/* A member in one line: key and value. */
void tt_jsonw_key_string(struct tt_jsonw *w, const char *key, const char *text);
void tt_jsonw_key_int(struct tt_jsonw *w, const char *key, int64_t value);

/* Hands the rest out; the first error, or an error if something is still open or nothing written. */
tt_status tt_jsonw_finish(struct tt_jsonw *w);

#endif
