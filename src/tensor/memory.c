#include "tensor/memory.h"

#include "base/hash.h"
#include "tensor/core.h"
#include "tensor/shape.h"

/* ---- making --------------------------------------------------------------------------------- */

enum ttnn_status ttnn_memory_config_sharded(struct ttnn_memory_config *out,
					    enum ttnn_memory_layout layout,
					    enum ttnn_buffer_type buffer,
					    const struct ttnn_shard_spec *spec)
{
	struct ttnn_memory_config config = {.layout = layout, .buffer = buffer};

	if (spec) {
		config.has_shard = true;
		config.shard = *spec;
	}
	TT_TRY(tt_memory_config_check(&config));
	*out = config;
	return TTNN_OK;
}

enum ttnn_status ttnn_memory_config_nd(struct ttnn_memory_config *out, enum ttnn_buffer_type buffer,
				       const struct ttnn_nd_shard_spec *spec)
{
	struct ttnn_memory_config config = {
		.layout = TTNN_ND_SHARDED,
		.buffer = buffer,
		.has_nd_shard = true,
		.created_with_nd_shard = true,
		.nd_shard = *spec,
	};

	TT_TRY(tt_memory_config_check(&config));
	*out = config;
	return TTNN_OK;
}

tt_status tt_memory_config_check(const struct ttnn_memory_config *config)
{
	const struct ttnn_nd_shard_spec *nd = &config->nd_shard;

	if ((unsigned)config->layout > TTNN_ND_SHARDED || (unsigned)config->layout == 1)
		return tt_fail(TTNN_INVALID, "%u is no tensor memory layout",
			       (unsigned)config->layout);
	if ((unsigned)config->buffer > TTNN_TRACE)
		return tt_fail(TTNN_INVALID, "%u is no buffer type", (unsigned)config->buffer);
	if ((config->has_shard && !config->shard.grid) || (config->has_nd_shard && !nd->grid))
		return tt_fail(TTNN_INVALID, "A shard spec needs a grid of cores");
	if (config->created_with_nd_shard && !config->has_nd_shard)
		return tt_fail(TTNN_INVALID, "The ND shard spec a config was made with is missing");
	if ((config->has_shard && (unsigned)config->shard.orientation > TTNN_ORIENT_COL_MAJOR) ||
	    (config->has_nd_shard && (unsigned)nd->orientation > TTNN_ORIENT_COL_MAJOR))
		return tt_fail(TTNN_INVALID, "A shard orientation is ROW_MAJOR or COL_MAJOR");
	if (config->has_nd_shard && (unsigned)nd->strategy > TTNN_CONTIGUOUS_1D)
		return tt_fail(TTNN_INVALID, "%u is no shard distribution strategy",
			       (unsigned)nd->strategy);
	return config->has_nd_shard ? tt_shape_check(&nd->shape) : TTNN_OK;
}

void tt_memory_config_strip(struct ttnn_memory_config *config)
{
	if (config->created_with_nd_shard) {
		config->layout = TTNN_ND_SHARDED;
		config->has_shard = false;
	} else {
		config->has_nd_shard = false;
	}
}

/* ---- comparing ------------------------------------------------------------------------------ */

bool tt_shard_spec_equal(const struct ttnn_shard_spec *a, const struct ttnn_shard_spec *b)
{
	return a->grid == b->grid && a->height == b->height && a->width == b->width &&
	       a->orientation == b->orientation;
}

bool tt_nd_shard_spec_equal(const struct ttnn_nd_shard_spec *a, const struct ttnn_nd_shard_spec *b)
{
	return a->grid == b->grid && a->orientation == b->orientation &&
	       a->strategy == b->strategy && ttnn_shape_equal(&a->shape, &b->shape);
}

static bool same_shard(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b)
{
	return a->has_shard == b->has_shard &&
	       (!a->has_shard || tt_shard_spec_equal(&a->shard, &b->shard));
}

static bool same_nd_shard(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b)
{
	return a->has_nd_shard == b->has_nd_shard &&
	       (!a->has_nd_shard || tt_nd_shard_spec_equal(&a->nd_shard, &b->nd_shard));
}

bool ttnn_memory_config_equal(const struct ttnn_memory_config *a,
			      const struct ttnn_memory_config *b)
{
	if (a->layout != b->layout || a->buffer != b->buffer ||
	    a->per_core_allocation != b->per_core_allocation ||
	    a->range_lockstep_allocation != b->range_lockstep_allocation)
		return false;
	if (a->created_with_nd_shard && b->created_with_nd_shard)
		return same_nd_shard(a, b);
	if (!a->created_with_nd_shard && !b->created_with_nd_shard)
		return same_shard(a, b);
	return same_shard(a, b) && same_nd_shard(a, b);
}

/* Only what configs of either origin have in common: cores, orientation, elements of a shard. */
static uint64_t hash_shards(uint64_t seed, const ttnn_core_set *grid,
			    enum ttnn_orientation orientation, uint64_t elements)
{
	seed = tt_hash_u64(seed, tt_core_set_hash(grid));
	return tt_hash_u64(tt_hash_u64(seed, orientation), elements);
}

uint64_t tt_memory_config_hash(uint64_t seed, const struct ttnn_memory_config *config)
{
	const struct ttnn_shard_spec *shard = &config->shard;
	const struct ttnn_nd_shard_spec *nd = &config->nd_shard;
	uint64_t elements = 1;

	seed = tt_hash_u64(seed, (uint64_t)config->layout << 8 | (uint64_t)config->buffer |
					 (uint64_t)config->per_core_allocation << 16 |
					 (uint64_t)config->range_lockstep_allocation << 17);
	if (config->created_with_nd_shard && config->has_nd_shard) {
		for (uint32_t i = 0; i < tt_shape_rank(&nd->shape); i++)
			elements *= nd->shape.dim[i]; /* may wrap: it is only a hash */
		return hash_shards(seed, nd->grid, nd->orientation, elements);
	}
	if (config->has_shard)
		return hash_shards(seed, shard->grid, shard->orientation,
				   (uint64_t)shard->height * shard->width);
	return seed;
}

/* Those that a tensor's config derives are extents of the same shard. */
uint64_t tt_memory_config_key(uint64_t seed, const struct ttnn_memory_config *config)
{
	const struct ttnn_shape *nd = &config->nd_shard.shape;

	seed = tt_memory_config_hash(seed, config);
	if (config->created_with_nd_shard && config->has_nd_shard)
		for (uint32_t i = 0; i < tt_shape_rank(nd); i++)
			seed = tt_hash_u64(seed, nd->dim[i]);
	else if (config->has_shard)
		seed = tt_hash_u64(tt_hash_u64(seed, config->shard.height), config->shard.width);
	return seed;
}
