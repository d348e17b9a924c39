#include "event/alike.h"

#include <string.h>
#include <ttnn.h>

#include "base/hash.h"
#include "event/encode.h"
#include "event/value_kinds.h"
#include "tensor/memory.h"
#include "tensor/shape.h"

/* ---- specs ---------------------------------------------------------------------------------------------- */

static bool same_memory(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b)
{
	return a->layout == b->layout && a->buffer == b->buffer && a->has_shard == b->has_shard &&
	       a->has_nd_shard == b->has_nd_shard &&
	       a->created_with_nd_shard == b->created_with_nd_shard &&
	       a->per_core_allocation == b->per_core_allocation &&
	       a->range_lockstep_allocation == b->range_lockstep_allocation &&
	       (!a->has_shard || tt_shard_spec_equal(&a->shard, &b->shard)) &&
	       (!a->has_nd_shard || tt_nd_shard_spec_equal(&a->nd_shard, &b->nd_shard));
}

bool tt_spec_same(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b)
{
	return tt_spec_looks_same(a, b) && a->tile.height == b->tile.height &&
	       a->tile.width == b->tile.width && a->tile.transpose == b->tile.transpose &&
	       ttnn_shape_equal(&a->alignment, &b->alignment) &&
	       ttnn_shape_equal(&a->padded, &b->padded) && same_memory(&a->memory, &b->memory);
}

uint32_t tt_spec_place(const struct ttnn_tensor_spec *spec)
{
	uint64_t hash = spec->bytes ^ (uint64_t)spec->dtype << 40 ^ (uint64_t)spec->layout << 48 ^
			(uint64_t)spec->memory.buffer << 52 ^ (uint64_t)spec->memory.layout << 56;

	if (spec->shape.rank && spec->shape.rank <= TTNN_MAX_RANK)
		hash ^= (uint64_t)spec->shape.dim[spec->shape.rank - 1] << 20;
	return (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 55);
}

/* ---- values --------------------------------------------------------------------------------------------- */

bool tt_value_is_flat(const struct ttnn_value *value)
{
	static const uint32_t flat = 1u << TTNN_VALUE_ABSENT | 1u << TTNN_VALUE_NONE |
				     1u << TTNN_VALUE_BOOL | 1u << TTNN_VALUE_INT |
				     1u << TTNN_VALUE_REAL | 1u << TTNN_VALUE_ENUM |
				     1u << TTNN_VALUE_CORE | 1u << TTNN_VALUE_CORE_SET;

	return value->kind < TTNN_VALUE_KINDS &&
	       (flat >> value->kind & 1 || (value->kind == TTNN_VALUE_LIST && !value->count));
}

/* Of values in a row, so deep in others. */
static uint64_t row_hash(uint64_t hash, const struct ttnn_value *values, size_t count, int depth);

/* Every bit, as tt_spec_same(). */
static uint64_t memory_hash(uint64_t hash, const struct ttnn_memory_config *memory)
{
	hash = tt_hash_u64(hash, (uint64_t)memory->layout << 16 | (uint64_t)memory->buffer << 8 |
					 (uint64_t)memory->has_shard |
					 (uint64_t)memory->has_nd_shard << 1 |
					 (uint64_t)memory->created_with_nd_shard << 2 |
					 (uint64_t)memory->per_core_allocation << 3 |
					 (uint64_t)memory->range_lockstep_allocation << 4);
	if (memory->has_shard) {
		hash = tt_hash_u64(hash, (uint64_t)(uintptr_t)memory->shard.grid);
		hash = tt_hash_u64(hash,
				   (uint64_t)memory->shard.height << 32 | memory->shard.width);
		hash = tt_hash_u64(hash, memory->shard.orientation);
	}
	if (memory->has_nd_shard) {
		hash = tt_shape_hash(hash, &memory->nd_shard.shape);
		hash = tt_hash_u64(hash, (uint64_t)(uintptr_t)memory->nd_shard.grid);
		hash = tt_hash_u64(hash, (uint64_t)memory->nd_shard.orientation << 8 |
						 (uint64_t)memory->nd_shard.strategy);
	}
	return hash;
}

#define ALIKE(word, expression)                                                                    \
	static inline uint64_t alike_##word(uint64_t hash, const struct ttnn_value *value,         \
					    int depth)                                             \
	{                                                                                          \
		(void)depth;                                                                       \
		return expression;                                                                 \
	}

static inline uint64_t alike_real(uint64_t hash, const struct ttnn_value *value, int depth)
{
	uint64_t number;

	(void)depth;
	memcpy(&number, &value->real, sizeof(number));
	return tt_hash_u64(hash ^ TTNN_VALUE_REAL, number);
}

/* clang-format off */
ALIKE(kind, tt_hash_u64(hash, value->kind))
ALIKE(boolean, tt_hash_u64(hash, (uint64_t)value->boolean << 8 | TTNN_VALUE_BOOL))
ALIKE(integer, tt_hash_u64(hash ^ TTNN_VALUE_INT, (uint64_t)value->integer))
ALIKE(member, tt_hash_u64(hash ^ (uint64_t)(uintptr_t)value->enumeration, (uint64_t)value->integer))
ALIKE(shape, tt_shape_hash(hash ^ TTNN_VALUE_SHAPE, value->shape))
ALIKE(memory, memory_hash(hash ^ TTNN_VALUE_MEMORY, value->memory))
ALIKE(core, tt_hash_u64(hash ^ TTNN_VALUE_CORE, (uint64_t)value->core.x << 32 | (uint64_t)value->core.y))
ALIKE(core_set, tt_hash_u64(hash ^ TTNN_VALUE_CORE_SET, (uint64_t)(uintptr_t)value->core_set))
ALIKE(device, tt_hash_u64(hash ^ TTNN_VALUE_DEVICE, tt_value_device_id(value->device)))
ALIKE(items, row_hash(tt_hash_u64(hash ^ TTNN_VALUE_LIST, value->count), value->items, value->count,
		      depth + 1))
ALIKE(object, row_hash(tt_hash_u64(hash ^ TTNN_VALUE_OBJECT, (uint64_t)(uintptr_t)value->schema),
		       value->items, value->schema->count, depth + 1))
/* clang-format on */
#define alike_never(hash, value, depth) 0

static inline uint64_t value_hash(uint64_t hash, const struct ttnn_value *value, int depth)
{
	switch ((enum ttnn_value_kind)value->kind) {
#define ROW(KIND, name, content, alike, text, json)                                                \
	TT_VALUE_CASE(KIND, alike_##alike(hash, value, depth))
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	case TTNN_VALUE_KINDS:
		break;
	}
	return 0;
}

static uint64_t row_hash(uint64_t hash, const struct ttnn_value *values, size_t count, int depth)
{
	if (depth >= TT_VALUE_DEPTH_MAX)
		return 0;
	for (size_t i = 0; i < count && hash; i++)
		hash = value_hash(hash, &values[i], depth);
	return hash;
}

uint64_t tt_value_mix(uint64_t hash, const struct ttnn_value *value)
{
	return value_hash(hash, value, 0);
}

uint64_t tt_block_hash(const struct ttnn_value *values, size_t count)
{
	return row_hash(count + 1, values, count, 0);
}
