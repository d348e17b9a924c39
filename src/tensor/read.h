/*
 * read.h: values back from their texts, of either dialect and of older releases. What text.h writes,
 * this reads; importers use it on the arguments and nodes of foreign recordings.
 *
 * Texts need no zero byte at their end. A text that is no such value fails with TTNN_FORMAT and a
 * message that shows where it stopped making sense; unknown fields of a struct are passed over.
 */
#ifndef TT_TENSOR_READ_H
#define TT_TENSOR_READ_H

#include "base/status.h"

/* A piece of text, borrowed. */
struct tt_span {
	const char *text;
	size_t length;
};

/* The span of a zero-terminated text. */
struct tt_span tt_span(const char *text);

/* Whether the text stands for "no value": "None", "nullopt", "std::nullopt", "<nullopt>", "null". */
bool tt_read_is_none(struct tt_span text);

/* "Shape([1, 2])", "ttnn.Shape([1, 2])", "SmallVector([1])", "[1, 2]", "{32, 32}", "(1, 2)". */
tt_status tt_read_shape(struct ttnn_shape *out, struct tt_span text);

/* A core set of either dialect, or as it stands inside a shard spec: any text of four numbers per
 * range. */
tt_status tt_read_core_set(const ttnn_core_set **out, struct tt_span text);

/* "ShardSpec{grid=[...], shape=[64, 32], orientation=ShardOrientation::ROW_MAJOR}". */
tt_status tt_read_shard_spec(struct ttnn_shard_spec *out, struct tt_span text);

/* "{"shard_shape":[1, 32],"grid":[...],...}". */
tt_status tt_read_nd_shard_spec(struct ttnn_nd_shard_spec *out, struct tt_span text);

/* "MemoryConfig(memory_layout=...)" with both shard specs as far as the text has them. */
tt_status tt_read_memory_config(struct ttnn_memory_config *out, struct tt_span text);

/* "TensorSpec(...)": what to give ttnn_tensor_spec_make() to have that spec again. */
tt_status tt_read_tensor_spec(struct ttnn_spec_args *out, struct tt_span text);

#endif
