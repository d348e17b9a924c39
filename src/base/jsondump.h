/*
 * jsondump.h: parsed values as Python's json.dumps() writes them, to the byte: in ASCII, ", " and
 * ": " between, numbers as repr() has them. The importer's texts of graphs are made with it.
 */
#ifndef TT_BASE_JSONDUMP_H
#define TT_BASE_JSONDUMP_H

#include "base/json.h"
#include "base/str.h"

/* Appends json.dumps(value); absent is null. */
void tt_json_dump(struct tt_str *out, const struct tt_json *value);

/* Appends the key of a member with what stands around it: a comma unless it is the first, a colon. */
void tt_json_dump_key(struct tt_str *out, const char *key, size_t length, bool first);

/* Appends a text as a JSON string. */
void tt_json_dump_text(struct tt_str *out, const char *text, size_t length);

#endif
