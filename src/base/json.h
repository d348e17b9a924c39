/*
 * json.h: reading JSON into documents. Only json*.c know which parser is underneath.
 *
 * Errors name file, line and column: "report.json:12:7: expected ...". Files that end in .gz (or
 * start as gzip does) are unpacked on the way. Documents are immutable and may be shared between
 * threads; everything read from one lives until tt_json_free().
 */
#ifndef TT_BASE_JSON_H
#define TT_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Deeper texts are refused, so that whoever walks a document may recurse. */
#define TT_JSON_DEPTH 512

struct tt_json_doc; /* a parsed text */
struct tt_json;     /* a value inside one; functions take NULL and treat it as "absent" */

enum tt_json_kind {
	TT_JSON_ABSENT, /* only from a NULL value */
	TT_JSON_NULL,
	TT_JSON_BOOL,
	TT_JSON_INT,  /* fits int64_t or uint64_t */
	TT_JSON_REAL, /* any other number, also an integer of more than 64 bits */
	TT_JSON_STRING,
	TT_JSON_ARRAY,
	TT_JSON_OBJECT,
};

/* Parses `length` bytes; `name` stands for the file in messages. NaN and Infinity are accepted. */
tt_status tt_json_parse(struct tt_json_doc **out, const char *text, size_t length,
			const char *name);

/* Reads a whole file, gzip or plain. */
tt_status tt_json_load(struct tt_json_doc **out, const char *path);

/* NULL is fine. */
void tt_json_free(struct tt_json_doc *doc);

const struct tt_json *tt_json_root(const struct tt_json_doc *doc);

/*
 * For many texts one after another: a parser that keeps its memory. All zero is a valid one. A text
 * may be a part of a larger one, which its errors then count lines in.
 */
struct tt_json_parser {
	char *text;   /* copy of the part */
	void *values; /* what the parser underneath made of it */
	size_t text_room, values_room;
	bool values_used;
};
struct tt_json_part {
	const char *name;     /* of the file, for messages */
	const char *whole;    /* its text ... */
	size_t start, length; /* ... and the bytes of it to read */
	size_t depth;         /* containers around the part: they count as nesting */
};

/* The value, which lives until the next call with this parser. */
tt_status tt_json_parser_read(const struct tt_json **out, struct tt_json_parser *parser,
			      const struct tt_json_part *part);
void tt_json_parser_deinit(struct tt_json_parser *parser);

/*
 * Changes a value that a parser made, which is of that kind already: for a document that is used again and again
 * with other numbers. The text is borrowed, zero-terminated.
 */
void tt_json_parser_set_int(const struct tt_json *value, int64_t number);
void tt_json_parser_set_text(const struct tt_json *value, const char *text, size_t length);

/*
 * The same in two steps, for a text that is not in memory: room for its bytes (NULL when there is
 * none), then reading what the caller put there, which changes it. With TTNN_FORMAT the fault is
 * filled and no message made.
 */
struct tt_json_fault {
	const char *what;
	size_t offset;
	bool deep; /* nested too deep; the offset is not known */
};
char *tt_json_parser_room(struct tt_json_parser *parser, size_t length);
tt_status tt_json_parser_take(const struct tt_json **out, struct tt_json_fault *fault,
			      struct tt_json_parser *parser, size_t length, size_t depth);

/* Where in the original text a fault is. */
size_t tt_json_fault_offset(const struct tt_json_fault *fault, const char *text, size_t length,
			    size_t depth);

/* A place in a text, counted piece by piece from {1, 1} on. */
struct tt_json_position {
	size_t line, column;
};
void tt_json_position_pass(struct tt_json_position *position, const char *text, size_t length);

/* TTNN_FORMAT with the message "name:line:column: what". */
tt_status tt_json_fail(const char *name, const struct tt_json_position *position, const char *what);

enum tt_json_kind tt_json_kind(const struct tt_json *value);

/* "null", "a string", ...: for messages. */
const char *tt_json_kind_name(const struct tt_json *value);

/* The member of an object (the first of that name), or NULL: absent, or not an object. */
const struct tt_json *tt_json_get(const struct tt_json *object, const char *key);

/*
 * Many members at once, which is faster where objects have them in the order of the keys: out[i] becomes
 * the member of keys[i] (the first of that name), or NULL.
 */
struct tt_json_key {
	const char *text;
	size_t length;
};
#define TT_JSON_KEY(literal)                                                                       \
	{                                                                                          \
		(literal), sizeof(literal) - 1                                                     \
	}
void tt_json_pick(const struct tt_json **out, const struct tt_json *object,
		  const struct tt_json_key *keys, size_t count);

/* The element of an array, or NULL: out of range, or not an array. Linear in the index. */
const struct tt_json *tt_json_at(const struct tt_json *array, size_t index);

/* Elements of an array, members of an object, 0 for anything else. */
size_t tt_json_count(const struct tt_json *value);

/* The text of a string (length may be NULL), or NULL when it is none. Zero-terminated. */
const char *tt_json_string(const struct tt_json *value, size_t *length);

/* Numbers: true and *out set when the value is a number of that range. Reals only if integral. */
bool tt_json_int(int64_t *out, const struct tt_json *value);
bool tt_json_uint(uint64_t *out, const struct tt_json *value);
bool tt_json_real(double *out, const struct tt_json *value);
bool tt_json_bool(bool *out, const struct tt_json *value);

/*
 * Walks an array or object:
 *	struct tt_json_iter it = tt_json_iter(value);
 *	while (tt_json_next(&it)) { it.key (objects), it.value }
 */
struct tt_json_iter {
	const struct tt_json *value;
	const char *key; /* NULL in arrays */
	size_t key_length;
	const void *next;
	size_t left;
	bool object;
};
struct tt_json_iter tt_json_iter(const struct tt_json *value);
bool tt_json_next(struct tt_json_iter *iter);

#endif
