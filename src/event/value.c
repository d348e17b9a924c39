#include "event/value.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "event/event.h"
#include "event/value_kinds.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

uint32_t (*tt_value_device_id)(const ttnn_device *device);

static const char *const kind_names[TTNN_VALUE_KINDS] = {
#define ROW(KIND, name, content, alike, text, json) [TTNN_VALUE_##KIND] = (name),
	TT_VALUE_KIND_LIST(ROW)
#undef ROW
};

const char *tt_value_kind_name(const struct ttnn_value *value)
{
	return value->kind < TTNN_VALUE_KINDS ? kind_names[value->kind] : "?";
}

struct ttnn_value ttnn_v_none(void)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_NONE};
}

struct ttnn_value ttnn_v_bool(bool boolean)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_BOOL, .boolean = boolean};
}

struct ttnn_value ttnn_v_int(int64_t integer)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_INT, .integer = integer};
}

struct ttnn_value ttnn_v_real(double real)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_REAL, .real = real};
}

struct ttnn_value ttnn_v_list(const struct ttnn_value *items, size_t count)
{
	return (struct ttnn_value){
		.kind = TTNN_VALUE_LIST, .count = (uint32_t)count, .items = items};
}

struct ttnn_value ttnn_v_device(ttnn_device *device)
{
	if (!device)
		return ttnn_v_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_DEVICE, .device = device};
}

struct ttnn_value ttnn_v_string(const char *text)
{
	if (!text)
		return ttnn_v_none();
	return (struct ttnn_value){
		.kind = TTNN_VALUE_STRING, .count = (uint32_t)strlen(text), .text = text};
}

struct ttnn_value ttnn_v_tensor(struct tt_tensor *tensor)
{
	if (!tensor)
		return ttnn_v_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_TENSOR, .tensor = tensor};
}

struct ttnn_value ttnn_v_shape(const struct ttnn_shape *shape)
{
	if (!shape)
		return ttnn_v_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_SHAPE, .shape = shape};
}

struct ttnn_value ttnn_v_memory(const struct ttnn_memory_config *memory)
{
	if (!memory)
		return ttnn_v_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_MEMORY, .memory = memory};
}

struct ttnn_value ttnn_v_core_set(const ttnn_core_set *set)
{
	if (!set)
		return ttnn_v_none();
	return (struct ttnn_value){.kind = TTNN_VALUE_CORE_SET, .core_set = set};
}

struct ttnn_value ttnn_v_dtype(enum ttnn_dtype dtype)
{
	return tt_value_enum(&tt_enum_dtype, (int64_t)dtype);
}

struct ttnn_value ttnn_v_layout(enum ttnn_layout layout)
{
	return tt_value_enum(&tt_enum_layout, (int64_t)layout);
}

bool tt_value_number(double *out, const struct ttnn_value *value)
{
	switch (value->kind) {
	case TTNN_VALUE_BOOL:
		*out = value->boolean;
		return true;
	case TTNN_VALUE_INT:
	case TTNN_VALUE_ENUM:
		*out = (double)value->integer;
		return true;
	case TTNN_VALUE_REAL:
		*out = value->real;
		return true;
	default:
		return false;
	}
}

bool tt_value_integer(int64_t *out, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_REAL) {
		if (!(fabs(value->real) < 0x1p63) || value->real != floor(value->real))
			return false;
		*out = (int64_t)value->real;
		return true;
	}
	if (value->kind == TTNN_VALUE_BOOL)
		*out = value->boolean;
	else if (value->kind == TTNN_VALUE_INT || value->kind == TTNN_VALUE_ENUM)
		*out = value->integer;
	else
		return false;
	return true;
}

/* ---- the same ---------------------------------------------------------------------------------- */

#define EQUAL(content, expression)                                                                 \
	static inline bool equal_##content(const struct ttnn_value *a, const struct ttnn_value *b) \
	{                                                                                          \
		return expression;                                                                 \
	}

static bool equal_items(const struct ttnn_value *a, const struct ttnn_value *b)
{
	for (uint32_t i = 0; i < a->count; i++)
		if (!tt_value_equal(&a->items[i], &b->items[i]))
			return false;
	return true;
}

/* clang-format off */
EQUAL(boolean, a->boolean == b->boolean)
EQUAL(integer, a->integer == b->integer)
EQUAL(real, a->real == b->real || (isnan(a->real) && isnan(b->real))) /* a NaN equals itself here */
EQUAL(text, memcmp(a->text, b->text, a->count) == 0)
EQUAL(member, a->enumeration == b->enumeration && a->integer == b->integer)
EQUAL(shape, ttnn_shape_equal(a->shape, b->shape))
EQUAL(memory, ttnn_memory_config_equal(a->memory, b->memory))
EQUAL(core, a->core.x == b->core.x && a->core.y == b->core.y)
EQUAL(core_set, a->core_set == b->core_set)
EQUAL(tile, tt_tile_equal(a->tile, b->tile))
EQUAL(shard, tt_shard_spec_equal(a->shard, b->shard))
EQUAL(nd_shard, tt_nd_shard_spec_equal(a->nd_shard, b->nd_shard))
EQUAL(tensor, a->tensor == b->tensor)
EQUAL(device, a->device == b->device)
EQUAL(seen_tensor, a->seen->id == b->seen->id)
EQUAL(object, a->schema == b->schema && equal_items(a, b))
/* clang-format on */

bool tt_value_equal(const struct ttnn_value *a, const struct ttnn_value *b)
{
	if (a->kind != b->kind || a->count != b->count)
		return false;
	switch ((enum ttnn_value_kind)a->kind) {
#define equal_empty(a, b) true
#define equal_seen_device(a, b) true /* `count` is all there is */
#define ROW(KIND, name, content, alike, text, json) TT_VALUE_CASE(KIND, equal_##content(a, b))
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	case TTNN_VALUE_KINDS:
		break;
	}
	return true;
}

/* ---- hashes: of what programs' keys are made of ------------------------------------------------------ */

#define HASH(content, expression)                                                                  \
	static inline uint64_t hash_##content(uint64_t hash, const struct ttnn_value *value)       \
	{                                                                                          \
		return expression;                                                                 \
	}

static uint64_t hash_tile(uint64_t hash, const struct ttnn_value *value)
{
	hash = tt_hash_u64(hash, (uint64_t)value->tile->height << 32 | value->tile->width);
	return tt_hash_u64(hash, value->tile->transpose);
}

static uint64_t hash_shard(uint64_t hash, const struct ttnn_value *value)
{
	const struct ttnn_shard_spec *shard = value->shard;

	hash = tt_hash_u64(hash, tt_core_set_hash(shard->grid));
	hash = tt_hash_u64(hash, (uint64_t)shard->height << 32 | shard->width);
	return tt_hash_u64(hash, shard->orientation);
}

static uint64_t hash_nd_shard(uint64_t hash, const struct ttnn_value *value)
{
	hash = tt_shape_hash(hash, &value->nd_shard->shape);
	hash = tt_hash_u64(hash, tt_core_set_hash(value->nd_shard->grid));
	return tt_hash_u64(hash, (uint64_t)value->nd_shard->orientation << 8 |
					 (uint64_t)value->nd_shard->strategy);
}

static uint64_t hash_items(uint64_t hash, const struct ttnn_value *value)
{
	for (uint32_t i = 0; i < value->count; i++)
		hash = tt_value_hash(hash, &value->items[i]);
	return hash;
}

/* clang-format off */
HASH(boolean, tt_hash_u64(hash, value->boolean))
HASH(integer, tt_hash_u64(hash, (uint64_t)value->integer))
HASH(real, tt_hash(hash, &value->real, sizeof(value->real)))
HASH(text, tt_hash(hash, value->text, value->count))
HASH(shape, tt_shape_hash(hash, value->shape))
HASH(memory, tt_memory_config_key(hash, value->memory))
HASH(core, tt_hash_u64(hash, (uint64_t)value->core.x << 32 | value->core.y))
HASH(core_set, tt_hash_u64(hash, tt_core_set_hash(value->core_set)))
HASH(tensor, tt_tensor_spec_hash(hash, ttnn_tensor_get_spec(value->tensor)))
HASH(seen_tensor, tt_tensor_spec_hash(hash, value->seen->spec))
/* clang-format on */
#define hash_member hash_integer
#define hash_object hash_items
#define hash_empty(hash, value) hash
#define hash_device(hash, value) hash
#define hash_seen_device(hash, value) hash

uint64_t tt_value_hash(uint64_t seed, const struct ttnn_value *value)
{
	uint64_t hash = tt_hash_u64(seed, (uint64_t)value->kind << 32 | value->count);

	switch ((enum ttnn_value_kind)value->kind) {
#define ROW(KIND, name, content, alike, text, json) TT_VALUE_CASE(KIND, hash_##content(hash, value))
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	case TTNN_VALUE_KINDS:
		break;
	}
	return hash;
}

/* ---- copies ------------------------------------------------------------------------------------ */

static const void *copy_bytes(struct tt_arena *arena, const void *from, size_t size)
{
	void *to = tt_arena_alloc(arena, size ? size : 1);

	if (to && size)
		memcpy(to, from, size);
	return to;
}

/* What a value points at; false: memory is exhausted. */
#define COPY(content, member, copy)                                                                \
	static bool copy_##content(struct ttnn_value *out, struct tt_arena *arena,                 \
				   const struct ttnn_value *value)                                 \
	{                                                                                          \
		out->member = copy;                                                                \
		return out->member;                                                                \
	}
#define COPY_STRUCT(member)                                                                        \
	COPY(member, member, copy_bytes(arena, value->member, sizeof(*value->member)))

/* clang-format off */
COPY(text, text, tt_arena_strdup(arena, value->text))
COPY_STRUCT(shape)
COPY_STRUCT(memory)
COPY_STRUCT(tile)
COPY_STRUCT(shard)
COPY_STRUCT(nd_shard)
/* clang-format on */

static bool copy_items(struct ttnn_value *out, struct tt_arena *arena,
		       const struct ttnn_value *value)
{
	struct ttnn_value *items = tt_arena_calloc(arena, value->count + 1, sizeof(*items));

	for (uint32_t i = 0; items && i < value->count; i++)
		if (tt_value_copy(&items[i], arena, &value->items[i]) != TTNN_OK)
			return false;
	out->items = items;
	return items;
}

/* What is in the value itself, what is alive, what lives for ever: nothing is left to copy. */
static inline bool copy_nothing(struct ttnn_value *out, struct tt_arena *arena,
				const struct ttnn_value *value)
{
	(void)out;
	(void)arena;
	(void)value;
	return true;
}
#define copy_object copy_items
#define copy_empty copy_nothing
#define copy_boolean copy_nothing
#define copy_integer copy_nothing
#define copy_real copy_nothing
#define copy_member copy_nothing
#define copy_core copy_nothing
#define copy_core_set copy_nothing
#define copy_tensor copy_nothing
#define copy_device copy_nothing
#define copy_seen_tensor copy_nothing
#define copy_seen_device copy_nothing

tt_status tt_value_copy(struct ttnn_value *out, struct tt_arena *arena,
			const struct ttnn_value *value)
{
	static bool (*const copy[TTNN_VALUE_KINDS])(struct ttnn_value *, struct tt_arena *,
						    const struct ttnn_value *) = {
#define ROW(KIND, name, content, alike, text, json) [TTNN_VALUE_##KIND] = copy_##content,
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	};

	*out = *value;
	if (value->kind < TTNN_VALUE_KINDS && !copy[value->kind](out, arena, value))
		return tt_fail_nomem();
	return TTNN_OK;
}
