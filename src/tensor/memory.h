/*
 * memory.h: where tensors lie: memory configs and shard specs.
 *
 * A config is created with a legacy shard spec (two dimensions), with an ND shard spec, or with
 * none; inside a tensor spec the other kind is filled in when it can be expressed (spec.h). Two
 * configs are equal when the spec they were created with is: the derived one does not count.
 */
#ifndef TT_TENSOR_MEMORY_H
#define TT_TENSOR_MEMORY_H

#include "base/status.h"

/* Any layout but INTERLEAVED. */
static inline bool tt_memory_config_is_sharded(const struct ttnn_memory_config *config)
{
	return config->layout != TTNN_INTERLEAVED;
}

bool tt_shard_spec_equal(const struct ttnn_shard_spec *a, const struct ttnn_shard_spec *b);
bool tt_nd_shard_spec_equal(const struct ttnn_nd_shard_spec *a, const struct ttnn_nd_shard_spec *b);

/* Equal configs have equal hashes; the same in every process. Files have it. */
uint64_t tt_memory_config_hash(uint64_t seed, const struct ttnn_memory_config *config);

/* The same with all extents of a shard: for keys of which nothing but the hash is compared. */
uint64_t tt_memory_config_key(uint64_t seed, const struct ttnn_memory_config *config);

/* Refuses enum values that are none and shard specs without a grid. */
tt_status tt_memory_config_check(const struct ttnn_memory_config *config);

/* Takes out of a tensor's config what the tensor spec derived: leaves what it was created with. */
void tt_memory_config_strip(struct ttnn_memory_config *config);

#endif
