#include "event/value.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "event/event.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

static const char *const kind_names[TTNN_VALUE_KINDS] = {
	[TTNN_VALUE_ABSENT] = "nothing",
	[TTNN_VALUE_NONE] = "None",
	[TTNN_VALUE_BOOL] = "a boolean",
	[TTNN_VALUE_INT] = "an integer",
	[TTNN_VALUE_REAL] = "a number",
	[TTNN_VALUE_STRING] = "a string",
	[TTNN_VALUE_ENUM] = "an enumeration member",
	[TTNN_VALUE_SHAPE] = "a shape",
	[TTNN_VALUE_MEMORY] = "a memory config",
	[TTNN_VALUE_CORE] = "a core",
	[TTNN_VALUE_CORE_SET] = "a core range set",
	[TTNN_VALUE_TILE] = "a tile",
	[TTNN_VALUE_SHARD] = "a shard spec",
	[TTNN_VALUE_ND_SHARD] = "an ND shard spec",
	[TTNN_VALUE_TENSOR] = "a tensor",
	[TTNN_VALUE_DEVICE] = "a device",
	[TTNN_VALUE_LIST] = "a list",
	[TTNN_VALUE_OBJECT] = "an object",
	[TTNN_VALUE_OPAQUE] = "an object",
	[TTNN_VALUE_SEEN_TENSOR] = "a tensor",
	[TTNN_VALUE_SEEN_DEVICE] = "a device",
	[TTNN_VALUE_DICT] = "a dictionary",
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

bool tt_value_equal(const struct ttnn_value *a, const struct ttnn_value *b)
{
	if (a->kind != b->kind || a->count != b->count)
		return false;
	switch ((enum ttnn_value_kind)a->kind) {
	case TTNN_VALUE_BOOL:
		return a->boolean == b->boolean;
	case TTNN_VALUE_INT:
		return a->integer == b->integer;
	case TTNN_VALUE_REAL: /* a NaN equals itself here */
		return a->real == b->real || (isnan(a->real) && isnan(b->real));
	case TTNN_VALUE_STRING:
	case TTNN_VALUE_OPAQUE:
		return memcmp(a->text, b->text, a->count) == 0;
	case TTNN_VALUE_ENUM:
		return a->enumeration == b->enumeration && a->integer == b->integer;
	case TTNN_VALUE_SHAPE:
		return ttnn_shape_equal(a->shape, b->shape);
	case TTNN_VALUE_MEMORY:
		return ttnn_memory_config_equal(a->memory, b->memory);
	case TTNN_VALUE_CORE:
		return a->core.x == b->core.x && a->core.y == b->core.y;
	case TTNN_VALUE_TILE:
		return tt_tile_equal(a->tile, b->tile);
	case TTNN_VALUE_SHARD:
		return tt_shard_spec_equal(a->shard, b->shard);
	case TTNN_VALUE_ND_SHARD:
		return tt_nd_shard_spec_equal(a->nd_shard, b->nd_shard);
	case TTNN_VALUE_CORE_SET:
	case TTNN_VALUE_TENSOR:
	case TTNN_VALUE_DEVICE:
		return a->core_set == b->core_set;
	case TTNN_VALUE_SEEN_TENSOR:
		return a->seen->id == b->seen->id;
	case TTNN_VALUE_OBJECT:
		if (a->schema != b->schema)
			return false;
		/* fall through */
	case TTNN_VALUE_LIST:
	case TTNN_VALUE_DICT:
		for (uint32_t i = 0; i < a->count; i++)
			if (!tt_value_equal(&a->items[i], &b->items[i]))
				return false;
		return true;
	case TTNN_VALUE_ABSENT:
	case TTNN_VALUE_NONE:
	case TTNN_VALUE_SEEN_DEVICE: /* `count` is all there is */
	case TTNN_VALUE_KINDS:
		break;
	}
	return true;
}

static uint64_t hash_shard(uint64_t hash, const struct ttnn_shard_spec *shard)
{
	hash = tt_hash_u64(hash, tt_core_set_hash(shard->grid));
	hash = tt_hash_u64(hash, (uint64_t)shard->height << 32 | shard->width);
	return tt_hash_u64(hash, shard->orientation);
}

uint64_t tt_value_hash(uint64_t seed, const struct ttnn_value *value)
{
	uint64_t hash = tt_hash_u64(seed, (uint64_t)value->kind << 32 | value->count);

	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_BOOL:
		return tt_hash_u64(hash, value->boolean);
	case TTNN_VALUE_INT:
	case TTNN_VALUE_ENUM:
		return tt_hash_u64(hash, (uint64_t)value->integer);
	case TTNN_VALUE_REAL:
		return tt_hash(hash, &value->real, sizeof(value->real));
	case TTNN_VALUE_STRING:
	case TTNN_VALUE_OPAQUE:
		return tt_hash(hash, value->text, value->count);
	case TTNN_VALUE_SHAPE:
		return tt_shape_hash(hash, value->shape);
	case TTNN_VALUE_MEMORY:
		return tt_memory_config_hash(hash, value->memory);
	case TTNN_VALUE_CORE:
		return tt_hash_u64(hash, (uint64_t)value->core.x << 32 | value->core.y);
	case TTNN_VALUE_CORE_SET:
		return tt_hash_u64(hash, tt_core_set_hash(value->core_set));
	case TTNN_VALUE_TILE:
		hash = tt_hash_u64(hash, (uint64_t)value->tile->height << 32 | value->tile->width);
		return tt_hash_u64(hash, value->tile->transpose);
	case TTNN_VALUE_SHARD:
		return hash_shard(hash, value->shard);
	case TTNN_VALUE_ND_SHARD:
		hash = tt_shape_hash(hash, &value->nd_shard->shape);
		hash = tt_hash_u64(hash, tt_core_set_hash(value->nd_shard->grid));
		return tt_hash_u64(hash, (uint64_t)value->nd_shard->orientation << 8 |
						 (uint64_t)value->nd_shard->strategy);
	case TTNN_VALUE_TENSOR:
		return tt_tensor_spec_hash(hash, ttnn_tensor_get_spec(value->tensor));
	case TTNN_VALUE_SEEN_TENSOR:
		return tt_tensor_spec_hash(hash, value->seen->spec);
	case TTNN_VALUE_LIST:
	case TTNN_VALUE_OBJECT:
	case TTNN_VALUE_DICT:
		for (uint32_t i = 0; i < value->count; i++)
			hash = tt_value_hash(hash, &value->items[i]);
		return hash;
	case TTNN_VALUE_ABSENT:
	case TTNN_VALUE_NONE:
	case TTNN_VALUE_DEVICE:
	case TTNN_VALUE_SEEN_DEVICE:
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

static tt_status copy_items(struct ttnn_value *out, struct tt_arena *arena,
			    const struct ttnn_value *value)
{
	struct ttnn_value *items = tt_arena_calloc(arena, value->count + 1, sizeof(*items));

	if (!items)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < value->count; i++)
		TT_TRY(tt_value_copy(&items[i], arena, &value->items[i]));
	out->items = items;
	return TTNN_OK;
}

tt_status tt_value_copy(struct ttnn_value *out, struct tt_arena *arena,
			const struct ttnn_value *value)
{
	const void *copy = out;

	*out = *value;
	switch (value->kind) {
	case TTNN_VALUE_STRING:
	case TTNN_VALUE_OPAQUE:
		copy = out->text = tt_arena_strdup(arena, value->text);
		break;
	case TTNN_VALUE_SHAPE:
		copy = out->shape = copy_bytes(arena, value->shape, sizeof(*value->shape));
		break;
	case TTNN_VALUE_MEMORY:
		copy = out->memory = copy_bytes(arena, value->memory, sizeof(*value->memory));
		break;
	case TTNN_VALUE_TILE:
		copy = out->tile = copy_bytes(arena, value->tile, sizeof(*value->tile));
		break;
	case TTNN_VALUE_SHARD:
		copy = out->shard = copy_bytes(arena, value->shard, sizeof(*value->shard));
		break;
	case TTNN_VALUE_ND_SHARD:
		copy = out->nd_shard = copy_bytes(arena, value->nd_shard, sizeof(*value->nd_shard));
		break;
	case TTNN_VALUE_LIST:
	case TTNN_VALUE_OBJECT:
	case TTNN_VALUE_DICT:
		return copy_items(out, arena, value);
	default:
		break;
	}
	return copy ? TTNN_OK : tt_fail_nomem();
}
