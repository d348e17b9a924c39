/*
 * pytext.h: what Python makes of JSON values: int(), str(), truth. The importer's
 * rules are written in these terms, and its texts must be the same to the byte. json.dumps() is
 * base/jsondump.h.
 */
#ifndef TT_REPORT_PYTEXT_H
#define TT_REPORT_PYTEXT_H

#include "base/json.h"
#include "base/str.h"

/* Whether bool(value) is true; absent is false. */
bool tt_py_true(const struct tt_json *value);

/* int(value): numbers are cut, texts read. False where Python raises, also for what has no 64 bits. */
bool tt_py_int(int64_t *out, const struct tt_json *value);

/* The same for a text. */
bool tt_py_int_text(int64_t *out, const char *text, size_t length);

/* Appends str(value): a string as it is, anything else as repr() writes it. */
void tt_py_str(struct tt_str *out, const struct tt_json *value);

#endif
