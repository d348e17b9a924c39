/*
 * alike.h: whether specs and values say the same, for the recorder, which writes what repeats once. Exact
 * for specs; for values a hash of 64 bits, as programs have in their cache.
 */
#ifndef TT_EVENT_ALIKE_H
#define TT_EVENT_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/value.h"

/* What a quick look tells: enough for a tensor that has the id of one that is known. */
static inline bool tt_spec_looks_same(const struct ttnn_tensor_spec *a,
				      const struct ttnn_tensor_spec *b)
{
	return a->dtype == b->dtype && a->layout == b->layout && a->bytes == b->bytes &&
	       a->memory.buffer == b->memory.buffer && a->memory.layout == b->memory.layout &&
	       ttnn_shape_equal(&a->shape, &b->shape);
}

/* Every bit of them, derived shard specs too: ttnn_memory_config_equal() leaves those out. */
bool tt_spec_same(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b);

/* The same for specs that are the same: where to look for them in a table. */
uint32_t tt_spec_place(const struct ttnn_tensor_spec *spec);

/* Whether a value says nothing but what is in it: it points at nothing, or at what never changes. */
bool tt_value_is_flat(const struct ttnn_value *value);

/*
 * What values say, mixed into a hash; 0 when one holds what is another thing each time: tensors, and texts
 * that lie anywhere. Things that are interned (schemas, enumerations, core sets) are their places.
 */
uint64_t tt_value_mix(uint64_t hash, const struct ttnn_value *value);
uint64_t tt_block_hash(const struct ttnn_value *values, size_t count);

#endif
