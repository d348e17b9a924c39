/*
 * value_json.h: values of this layer in JSON.
 *
 * Written as upstream's to_json() does: keys in alphabetical order, enumerations as numbers, only
 * the shard spec the config was created with. Upstream cannot write the shape of an ND shard and
 * leaves a sentence in its place; so does the tt-metal dialect here, while the default dialect
 * writes the shape.
 *
 * Read in every form that files are known to hold: enumerations as numbers or names with or without
 * their type, shard specs as objects, as texts or as words for "none", grids as {start, end}
 * objects, as pairs of cores or as one such pair, shapes as arrays or texts.
 */
#ifndef TT_TENSOR_VALUE_JSON_H
#define TT_TENSOR_VALUE_JSON_H

#include "base/json.h"
#include "base/jsonw.h"

/* {"x":3,"y":4} */
void tt_json_write_core(struct tt_jsonw *w, struct ttnn_core core);
/* {"end":{...},"start":{...}} */
void tt_json_write_core_range(struct tt_jsonw *w, const struct ttnn_core_range *range);
void tt_json_write_core_set(struct tt_jsonw *w, const ttnn_core_set *set);
void tt_json_write_shape(struct tt_jsonw *w, const struct ttnn_shape *shape);
void tt_json_write_shard_spec(struct tt_jsonw *w, const struct ttnn_shard_spec *spec);
void tt_json_write_nd_shard_spec(struct tt_jsonw *w, const struct ttnn_nd_shard_spec *spec,
				 enum ttnn_dialect dialect);
void tt_json_write_memory_config(struct tt_jsonw *w, const struct ttnn_memory_config *config,
				 enum ttnn_dialect dialect);

/* These fail with TTNN_FORMAT when the value is nothing of the kind; *out is then untouched. */
tt_status tt_json_read_shape(struct ttnn_shape *out, const struct tt_json *value);
tt_status tt_json_read_core_set(const ttnn_core_set **out, const struct tt_json *value);
tt_status tt_json_read_shard_spec(struct ttnn_shard_spec *out, const struct tt_json *value);
tt_status tt_json_read_nd_shard_spec(struct ttnn_nd_shard_spec *out, const struct tt_json *value);
tt_status tt_json_read_memory_config(struct ttnn_memory_config *out, const struct tt_json *value);

#endif
