/*
 * value_text.h: values of any kind as upstream's printers write them, and objects in JSON as its
 * to_json() does. Frontends show them, traces and parameter files keep them.
 */
#ifndef TT_EVENT_VALUE_TEXT_H
#define TT_EVENT_VALUE_TEXT_H

#include "base/jsonw.h"
#include "event/value.h"

struct tt_event_tensor;

/*
 * "std::nullopt", "1" for true, "DataType::BFLOAT16", "8-8"; an object as "Name(field=value,...)" or,
 * when its schema is not named, by position. Tensors and devices by what they are alone.
 */
void tt_value_text(struct tt_str *out, const struct ttnn_value *value);

/* "[32, 64] BFLOAT16 TILE DRAM": what one wants to know of a tensor at a glance. */
void tt_value_text_glance(struct tt_str *out, const struct tt_event_tensor *tensor);

/* Cuts what is behind `from` to at most `most` bytes, where a character ends, and says so by "...". */
void tt_value_text_cut(struct tt_str *out, size_t from, size_t most);

/*
 * Enumerations as numbers, an object's fields in alphabetical order, null for what is none and for
 * what has no JSON. The dialect is that of memory configs.
 */
void tt_value_json(struct tt_jsonw *w, const struct ttnn_value *value, enum ttnn_dialect dialect);

/* The same for an object's fields alone, inside of an object that is open. */
void tt_value_json_members(struct tt_jsonw *w, const struct ttnn_value *value,
			   enum ttnn_dialect dialect);

#endif
