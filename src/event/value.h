/*
 * value.h: typed values, the one form in which arguments and attributes travel.
 *
 * A call's arguments, a program's attributes, what a trace stores and what a parameter file shows
 * are all arrays of struct ttnn_value (ttnn.h), described by a struct tt_schema. Values are small,
 * are copied freely and own nothing: what they point at belongs to whoever made them and lives at
 * least as long as the call (a recorder copies what it keeps).
 *
 * "absent", "None" and a given default are three different things and stay apart.
 */
#ifndef TT_EVENT_VALUE_H
#define TT_EVENT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ttnn.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "tensor/enums.h"

/*
 * How a field is written where upstream's own printer is the authority: by its value, or by the
 * placeholder it leaves for types it cannot print.
 */
enum tt_field_text {
	TT_TEXT_VALUE,
	TT_TEXT_FIXED,  /* the text in `fixed`, unless the value is absent or None */
	TT_TEXT_ALWAYS, /* the text in `fixed`, whatever the value is */
	TT_TEXT_MEMBER, /* a member of an enumeration without its type: "HiFi4" */
	TT_TEXT_SMALL,  /* a list or shape as "SmallVector([1, 2])" */
	TT_TEXT_ARRAY,  /* a list as "array(1, 2)" */
	TT_TEXT_EACH,   /* a list, the text in `fixed` for each item */
	TT_TEXT_PLACES, /* an object without the names of its fields */
	TT_TEXTS,
};

/* One field of a struct, or one argument. */
struct tt_field {
	const char *name;
	enum tt_field_text text;
	const char *fixed; /* for TT_TEXT_FIXED, TT_TEXT_ALWAYS, TT_TEXT_EACH */
	bool unkeyed;      /* (optional) not part of a program's cache key */
	bool unprinted;    /* (optional) not part of an object's text: it has no effect */
	bool omit_empty;   /* (optional) a list, written as [a, b], left out when it is empty */
	bool spaced;       /* (optional) a named field with a space before it */
	bool words;        /* (optional) "true", not "1" */
	bool defaulted;    /* (optional) an argument that has a default */
	const char *json;  /* (optional) its key in JSON, where that is another */
};

/* The layout of an object or of an argument list. To add one: a static table of rows. */
struct tt_schema {
	const char *
		name; /* upstream's type name, "MatmulParams"; "<MatmulParams>": all that it prints */
	const struct tt_field *fields;
	size_t count;
	bool named; /* prints as name=value, not by position */
};

/* ---- making values: ttnn_v_*() in ttnn.h, and ------------------------------------------------------------------------ */

static inline struct ttnn_value tt_value_enum(const struct tt_enum *type, int64_t member)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_ENUM, .enumeration = type, .integer = member};
}

static inline struct ttnn_value tt_value_object(const struct tt_schema *schema,
						const struct ttnn_value *fields)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_OBJECT,
				   .count = (uint32_t)schema->count,
				   .schema = schema,
				   .items = fields};
}

/* ---- reading values ------------------------------------------------------------------------ */

/* Whether there is anything: neither absent nor None. */
static inline bool tt_value_given(const struct ttnn_value *value)
{
	return value->kind > TTNN_VALUE_NONE;
}

/* Whether items[0..count) of a value are values. */
static inline bool tt_value_has_items(const struct ttnn_value *value)
{
	return value->kind == TTNN_VALUE_LIST || value->kind == TTNN_VALUE_OBJECT ||
	       value->kind == TTNN_VALUE_DICT;
}

/* The value as a number: INT, REAL, BOOL and ENUM; false for anything else. */
bool tt_value_number(double *out, const struct ttnn_value *value);

/* The same as an integer; a REAL only if it is one. */
bool tt_value_integer(int64_t *out, const struct ttnn_value *value);

/* The id of a device. The layer of devices, which is above this one, sets it before there is any. */
extern uint32_t (*tt_value_device_id)(const ttnn_device *device);

/* Deep equality; tensors and devices by identity. */
bool tt_value_equal(const struct ttnn_value *a, const struct ttnn_value *b);

/*
 * Mixes the value into a hash the way a program cache key wants it: tensors by their spec, devices
 * not at all.
 */
uint64_t tt_value_hash(uint64_t seed, const struct ttnn_value *value);

/* The same value with all it points at in `arena`, but for tensors and devices. */
tt_status tt_value_copy(struct ttnn_value *out, struct tt_arena *arena,
			const struct ttnn_value *value);

/* What a value is, for messages: "an integer", "a tensor". */
const char *tt_value_kind_name(const struct ttnn_value *value);

#endif
