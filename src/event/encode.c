#include "event/encode.h"

#include <dlfcn.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "event/fields.h"
#include "tensor/tensor.h"

/*
 * Room for what is written between two looks at it (has_room): a number takes at most 10 bytes, a spec
 * or a device without its texts less than 600.
 */
#define SLACK 1024
/* When a chunk has named so many things it is full: a new one starts with empty tables. */
#define INTERNED_MAX 1024
#define INTERN_SLOTS 2048
#define SPECS_MAX 128
#define SPEC_SLOTS 512
#define TENSOR_SLOTS 512
#define TENSOR_BYTES 16
#define NAMES_MAX 512

/* What is numbered, each kind from 1. */
enum table { NAMES, SCHEMAS, MEMBERS, CORE_SETS, FRAMES, TABLES };

/* Slots of another generation are empty: so starting a chunk clears nothing. */
struct slot {
	const void *pointer;
	uint64_t extra;
	uint32_t id, generation;
};

struct spec_slot {
	uint32_t id, generation;
};

/*
 * A tensor as it was told last, and the bytes that say so: before its buffer's number and behind. Its spec
 * is that of the tensor, which never changes: the same place is the same spec for the same number.
 */
struct tensor_slot {
	struct tt_event_tensor told;
	uint32_t spec, generation;
	uint32_t head_size, tail_size;
	unsigned char head[TENSOR_BYTES], tail[TENSOR_BYTES];
};

struct tt_encoder {
	unsigned char *data, *at, *limit;
	bool full;
	uint32_t generation;
	uint64_t first_ticks, last_ticks, last_op, last_tensor, last_buffer;
	struct tt_chunk_head head;
	const struct tt_event_tensor *described, *described_end; /* those it takes */

	uint32_t interned, next[TABLES];
	uint32_t spec_count, name_count;
	struct slot slots[INTERN_SLOTS];
	struct spec_slot spec_slots[SPEC_SLOTS];
	struct tensor_slot tensor_slots[TENSOR_SLOTS];
	struct ttnn_tensor_spec specs[SPECS_MAX];
	struct tt_name_count names[NAMES_MAX];
	uint16_t name_at[NAMES_MAX]; /* by the number of the name: its place in names + 1 */
};

/* ---- bytes ---------------------------------------------------------------------------------------------- */

/* Asked wherever something begins of which there may be many; without room nothing is written. */
static inline bool has_room(struct tt_encoder *e)
{
	if (__builtin_expect(e->at < e->limit, 1))
		return true;
	e->full = true;
	return false;
}

static inline void put_U64(struct tt_encoder *e, uint64_t number)
{
	unsigned char *at = e->at;

	while (__builtin_expect(number >= 0x80, 0)) {
		*at++ = (unsigned char)(number | 0x80);
		number >>= 7;
	}
	*at++ = (unsigned char)number;
	e->at = at;
}

static inline void put_U32(struct tt_encoder *e, uint32_t number)
{
	put_U64(e, number);
}

static inline void put_ENUM(struct tt_encoder *e, unsigned member)
{
	put_U64(e, member);
}

static inline void put_BOOL(struct tt_encoder *e, bool boolean)
{
	put_U64(e, boolean);
}

/* Small numbers of either sign become small ones. */
static inline void put_signed(struct tt_encoder *e, int64_t number)
{
	put_U64(e, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static void put_bytes(struct tt_encoder *e, const void *data, size_t size)
{
	if (e->at >= e->limit || size > (size_t)(e->limit - e->at)) {
		e->full = true;
		return;
	}
	memcpy(e->at, data, size);
	e->at += size;
}

static void put_TEXT(struct tt_encoder *e, const char *text)
{
	size_t length;

	if (!text) {
		put_U64(e, 0);
		return;
	}
	length = strlen(text);
	put_U64(e, length + 1);
	put_bytes(e, text, length);
}

static void put_F64(struct tt_encoder *e, double real)
{
	put_bytes(e, &real, sizeof(real));
}

static void put_F32(struct tt_encoder *e, float real)
{
	put_bytes(e, &real, sizeof(real));
}

/* ---- things with numbers -------------------------------------------------------------------------------- */

/* Writes the number of a thing; true when it is new and its definition has to follow. */
static inline bool put_interned(struct tt_encoder *e, enum table table, const void *pointer,
				uint64_t extra)
{
	uint64_t hash = ((uint64_t)(uintptr_t)pointer ^ extra << 40 ^ extra) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(hash >> 53);
	struct slot *slot = &e->slots[at];

	if (!has_room(e))
		return false;
	while (slot->generation == e->generation) {
		if (slot->pointer == pointer && slot->extra == extra) {
			put_U64(e, slot->id);
			return false;
		}
		at = (at + 1) % INTERN_SLOTS;
		slot = &e->slots[at];
	}
	if (e->interned == INTERNED_MAX) {
		e->full = true;
		return false;
	}
	e->interned++;
	*slot = (struct slot){pointer, extra, ++e->next[table], e->generation};
	put_U64(e, slot->id);
	return true;
}

static inline void put_NAME(struct tt_encoder *e, const char *name)
{
	if (!name)
		put_U64(e, 0);
	else if (put_interned(e, NAMES, name, NAMES))
		put_TEXT(e, name);
}

static void define_cores(struct tt_encoder *e, const ttnn_core_set *set)
{
	size_t count;
	const struct ttnn_core_range *range = ttnn_core_set_ranges(set, &count);

	put_U64(e, count);
	for (; count-- && has_room(e); range++) {
		put_U64(e, range->start.x);
		put_U64(e, range->start.y);
		put_U64(e, range->end.x);
		put_U64(e, range->end.y);
	}
}

static inline void put_CORES(struct tt_encoder *e, const ttnn_core_set *set)
{
	if (!set)
		put_U64(e, 0);
	else if (put_interned(e, CORE_SETS, set, CORE_SETS))
		define_cores(e, set);
}

static void define_schema(struct tt_encoder *e, const struct tt_schema *schema)
{
	put_NAME(e, schema->name);
	put_BOOL(e, schema->named);
	put_U64(e, schema->count);
	for (size_t i = 0; i < schema->count && has_room(e); i++) {
		const struct tt_field *field = &schema->fields[i];

		put_NAME(e, field->name);
		put_ENUM(e, field->text);
		put_NAME(e, field->fixed);
		put_U64(e, (uint64_t)field->unkeyed | (uint64_t)field->unprinted << 1 |
				   (uint64_t)field->omit_empty << 2 | (uint64_t)field->spaced << 3 |
				   (uint64_t)field->words << 4);
		put_NAME(e, field->json);
	}
}

static inline void put_SCHEMA(struct tt_encoder *e, const struct tt_schema *schema)
{
	if (!schema)
		put_U64(e, 0);
	else if (put_interned(e, SCHEMAS, schema, SCHEMAS))
		define_schema(e, schema);
}

/* A member alone, not its whole enumeration: those can be long. */
static void put_member(struct tt_encoder *e, const struct tt_enum *type, int64_t member)
{
	if (!put_interned(e, MEMBERS, type, (uint64_t)member << 8 | MEMBERS))
		return;
	put_NAME(e, type->name);
	put_signed(e, member);
	put_NAME(e, tt_enum_name(type, member));
}

/* ---- specs ---------------------------------------------------------------------------------------------- */

static void put_shape(struct tt_encoder *e, const struct ttnn_shape *shape)
{
	uint32_t rank = shape->rank <= TTNN_MAX_RANK ? shape->rank : TTNN_MAX_RANK;

	put_U64(e, rank);
	for (uint32_t i = 0; i < rank; i++)
		put_U64(e, shape->dim[i]);
}

static void put_tile(struct tt_encoder *e, const struct ttnn_tile *tile)
{
	put_U64(e, tile->height);
	put_U64(e, tile->width);
	put_BOOL(e, tile->transpose);
}

static void put_shard(struct tt_encoder *e, const struct ttnn_shard_spec *shard)
{
	put_CORES(e, shard->grid);
	put_U64(e, shard->height);
	put_U64(e, shard->width);
	put_ENUM(e, shard->orientation);
}

static void put_nd_shard(struct tt_encoder *e, const struct ttnn_nd_shard_spec *shard)
{
	put_shape(e, &shard->shape);
	put_CORES(e, shard->grid);
	put_ENUM(e, shard->orientation);
	put_ENUM(e, shard->strategy);
}

static void put_memory_config(struct tt_encoder *e, const struct ttnn_memory_config *memory)
{
	put_ENUM(e, memory->layout);
	put_ENUM(e, memory->buffer);
	put_U64(e, (uint64_t)memory->has_shard | (uint64_t)memory->has_nd_shard << 1 |
			   (uint64_t)memory->created_with_nd_shard << 2 |
			   (uint64_t)memory->per_core_allocation << 3 |
			   (uint64_t)memory->range_lockstep_allocation << 4);
	if (memory->has_shard)
		put_shard(e, &memory->shard);
	if (memory->has_nd_shard)
		put_nd_shard(e, &memory->nd_shard);
}

static void define_spec(struct tt_encoder *e, const struct ttnn_tensor_spec *spec)
{
	put_shape(e, &spec->shape);
	put_ENUM(e, spec->dtype);
	put_ENUM(e, spec->layout);
	put_tile(e, &spec->tile);
	put_memory_config(e, &spec->memory);
	put_shape(e, &spec->alignment);
	put_shape(e, &spec->padded);
	put_U64(e, spec->rows);
	put_U64(e, spec->cols);
	put_U64(e, spec->page_rows);
	put_U64(e, spec->page_cols);
	put_U64(e, spec->page_bytes);
	put_U64(e, spec->pages);
	put_U64(e, spec->bytes);
}

static inline bool same_shape(const struct ttnn_shape *a, const struct ttnn_shape *b)
{
	if (a->rank != b->rank || a->rank > TTNN_MAX_RANK)
		return false;
	for (uint32_t i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return true;
}

static bool same_shard(const struct ttnn_shard_spec *a, const struct ttnn_shard_spec *b)
{
	return a->grid == b->grid && a->height == b->height && a->width == b->width &&
	       a->orientation == b->orientation;
}

static bool same_nd_shard(const struct ttnn_nd_shard_spec *a, const struct ttnn_nd_shard_spec *b)
{
	return a->grid == b->grid && same_shape(&a->shape, &b->shape) &&
	       a->orientation == b->orientation && a->strategy == b->strategy;
}

/* Every bit of it, derived shard specs too: ttnn_memory_config_equal() leaves those out. */
static bool same_memory(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b)
{
	return a->layout == b->layout && a->buffer == b->buffer && a->has_shard == b->has_shard &&
	       a->has_nd_shard == b->has_nd_shard &&
	       a->created_with_nd_shard == b->created_with_nd_shard &&
	       a->per_core_allocation == b->per_core_allocation &&
	       a->range_lockstep_allocation == b->range_lockstep_allocation &&
	       (!a->has_shard || same_shard(&a->shard, &b->shard)) &&
	       (!a->has_nd_shard || same_nd_shard(&a->nd_shard, &b->nd_shard));
}

/* What a quick look tells: enough for a tensor that has the id of one that is known. */
static inline bool looks_same(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b)
{
	return a->dtype == b->dtype && a->layout == b->layout && a->bytes == b->bytes &&
	       a->memory.buffer == b->memory.buffer && a->memory.layout == b->memory.layout &&
	       same_shape(&a->shape, &b->shape);
}

static bool same_spec(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b)
{
	return looks_same(a, b) && a->tile.height == b->tile.height &&
	       a->tile.width == b->tile.width && a->tile.transpose == b->tile.transpose &&
	       same_shape(&a->alignment, &b->alignment) && same_shape(&a->padded, &b->padded) &&
	       same_memory(&a->memory, &b->memory);
}

static uint32_t spec_place(const struct ttnn_tensor_spec *spec)
{
	uint64_t hash = spec->bytes ^ (uint64_t)spec->dtype << 40 ^ (uint64_t)spec->layout << 48 ^
			(uint64_t)spec->memory.buffer << 52 ^ (uint64_t)spec->memory.layout << 56;

	if (spec->shape.rank && spec->shape.rank <= TTNN_MAX_RANK)
		hash ^= (uint64_t)spec->shape.dim[spec->shape.rank - 1] << 20;
	return (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 55);
}

/* Writes the number of a spec, and the spec if it is new; returns the number. */
static uint32_t put_spec(struct tt_encoder *e, const struct ttnn_tensor_spec *spec)
{
	uint32_t at = spec_place(spec);
	struct spec_slot *slot = &e->spec_slots[at];

	if (!has_room(e))
		return 0;
	for (; slot->generation == e->generation; slot = &e->spec_slots[at]) {
		if (same_spec(&e->specs[slot->id - 1], spec)) {
			put_U64(e, slot->id);
			return slot->id;
		}
		at = (at + 1) % SPEC_SLOTS;
	}
	if (e->spec_count == SPECS_MAX) {
		e->full = true;
		return 0;
	}
	e->specs[e->spec_count++] = *spec;
	*slot = (struct spec_slot){e->spec_count, e->generation};
	put_U64(e, slot->id);
	define_spec(e, spec);
	return e->spec_count;
}

/* What is said of a tensor without its number and that of its buffer; the number of its spec. */
static uint32_t put_state(struct tt_encoder *e, const struct tt_event_tensor *tensor)
{
	/* Nearly all tensors are spread in one of two ways; others say theirs. */
	uint64_t spread = tensor->spread == TT_SPREAD_LINE   ? 0
			  : tensor->spread == TT_SPREAD_MESH ? 1
							     : 2;
	uint32_t spec = put_spec(e, tensor->spec);

	put_U64(e, (uint64_t)tensor->on_device | (uint64_t)tensor->owns << 1 |
			   (uint64_t)(tensor->buffer_id != 0) << 2 | spread << 3);
	if (spread == 2)
		put_U64(e, tensor->spread);
	return spec;
}

static void put_buffer_number(struct tt_encoder *e, uint64_t id)
{
	put_signed(e, (int64_t)(id - e->last_buffer));
	e->last_buffer = id;
}

/* Keeps what was written between two places; nothing of it when it does not fit. */
static bool keep_bytes(unsigned char kept[TENSOR_BYTES], uint32_t *size, const unsigned char *from,
		       const unsigned char *to)
{
	if ((size_t)(to - from) > TENSOR_BYTES)
		return false;
	*size = (uint32_t)(to - from);
	memcpy(kept, from, *size);
	return true;
}

/* As it is for the first time, or after it changed. */
static void put_new_tensor(struct tt_encoder *e, struct tensor_slot *slot,
			   const struct tt_event_tensor *tensor)
{
	uint32_t specs = e->spec_count;
	const unsigned char *at = e->at;
	bool fits;

	slot->generation = 0;
	slot->spec = put_state(e, tensor);
	/* With the definition of its spec it is not what comes the next time. */
	fits = slot->spec && specs == e->spec_count &&
	       keep_bytes(slot->head, &slot->head_size, at, e->at);
	slot->tail_size = 0;
	if (tensor->buffer_id) {
		put_buffer_number(e, tensor->buffer_id);
		at = e->at;
		put_U64(e, tensor->address);
		put_U64(e, tensor->device_id);
		fits &= keep_bytes(slot->tail, &slot->tail_size, at, e->at);
	}
	if (!fits)
		return;
	slot->told = *tensor;
	slot->generation = e->generation;
}

static inline bool is_unchanged(const struct tt_encoder *e, const struct tensor_slot *slot,
				const struct tt_event_tensor *tensor)
{
	const struct tt_event_tensor *told = &slot->told;

	return slot->generation == e->generation && told->id == tensor->id &&
	       told->buffer_id == tensor->buffer_id && told->address == tensor->address &&
	       told->device_id == tensor->device_id && told->spread == tensor->spread &&
	       told->on_device == tensor->on_device && told->owns == tensor->owns &&
	       /* arrays of others share numbers, and lie where others lay */
	       ((told->spec == tensor->spec && tensor->buffer_id) ||
		looks_same(&e->specs[slot->spec - 1], tensor->spec));
}

static void put_tensor(struct tt_encoder *e, const struct tt_event_tensor *tensor)
{
	struct tensor_slot *slot = &e->tensor_slots[tensor->id % TENSOR_SLOTS];

	if (!has_room(e))
		return;
	put_signed(e, (int64_t)(tensor->id - e->last_tensor));
	e->last_tensor = tensor->id;
	if (!is_unchanged(e, slot, tensor)) {
		put_new_tensor(e, slot, tensor);
		return;
	}
	memcpy(e->at, slot->head, TENSOR_BYTES);
	e->at += slot->head_size;
	if (!tensor->buffer_id)
		return;
	put_buffer_number(e, tensor->buffer_id);
	memcpy(e->at, slot->tail, TENSOR_BYTES);
	e->at += slot->tail_size;
}

static void put_TENSORS(struct tt_encoder *e, const struct tt_event_tensor *tensors, size_t count)
{
	put_U64(e, count);
	for (size_t i = 0; i < count; i++)
		put_tensor(e, &tensors[i]);
}

/* ---- values --------------------------------------------------------------------------------------------- */

static void put_value(struct tt_encoder *e, const struct ttnn_value *value, int depth);

/* Most arguments are not given. */
static void put_items(struct tt_encoder *e, const struct ttnn_value *items, size_t count, int depth)
{
	for (size_t i = 0; i < count && has_room(e); i++) {
		if (items[i].kind > TTNN_VALUE_NONE)
			put_value(e, &items[i], depth);
		else
			*e->at++ = items[i].kind;
	}
}

/* Most tensors among the arguments of a scope are those it takes, in the same order. */
static void put_live_tensor(struct tt_encoder *e, const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;

	put_U64(e, TTNN_VALUE_SEEN_TENSOR);
	if (value->kind == TTNN_VALUE_SEEN_TENSOR) {
		put_tensor(e, value->seen);
	} else if (e->described < e->described_end && e->described->id == value->tensor->id &&
		   e->described->spec == &value->tensor->spec) {
		put_tensor(e, e->described++);
	} else {
		tt_event_describe(&tensor, value->tensor);
		put_tensor(e, &tensor);
	}
}

static void put_live_device(struct tt_encoder *e, const struct ttnn_value *value)
{
	uint32_t id = 0;

	tt_value_seen_device(&id, value);
	put_U64(e, TTNN_VALUE_SEEN_DEVICE);
	put_U64(e, id);
}

/* The content of a value whose kind was written. */
static void put_content(struct tt_encoder *e, const struct ttnn_value *value, int depth)
{
	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_BOOL:
		put_BOOL(e, value->boolean);
		break;
	case TTNN_VALUE_INT:
		put_signed(e, value->integer);
		break;
	case TTNN_VALUE_REAL:
		put_F64(e, value->real);
		break;
	case TTNN_VALUE_STRING:
	case TTNN_VALUE_OPAQUE:
		put_TEXT(e, value->text ? value->text : "");
		break;
	case TTNN_VALUE_ENUM:
		put_member(e, value->enumeration, value->integer);
		break;
	case TTNN_VALUE_SHAPE:
		put_shape(e, value->shape);
		break;
	case TTNN_VALUE_MEMORY:
		put_memory_config(e, value->memory);
		break;
	case TTNN_VALUE_CORE:
		put_U64(e, value->core.x);
		put_U64(e, value->core.y);
		break;
	case TTNN_VALUE_CORE_SET:
		put_CORES(e, value->core_set);
		break;
	case TTNN_VALUE_TILE:
		put_tile(e, value->tile);
		break;
	case TTNN_VALUE_SHARD:
		put_shard(e, value->shard);
		break;
	case TTNN_VALUE_ND_SHARD:
		put_nd_shard(e, value->nd_shard);
		break;
	case TTNN_VALUE_LIST:
	case TTNN_VALUE_DICT:
		put_U64(e, value->count);
		put_items(e, value->items, value->count, depth + 1);
		break;
	case TTNN_VALUE_OBJECT:
		put_SCHEMA(e, value->schema);
		put_items(e, value->items, value->schema->count, depth + 1);
		break;
	case TTNN_VALUE_ABSENT:
	case TTNN_VALUE_NONE:
	case TTNN_VALUE_TENSOR:
	case TTNN_VALUE_DEVICE:
	case TTNN_VALUE_SEEN_TENSOR:
	case TTNN_VALUE_SEEN_DEVICE:
	case TTNN_VALUE_KINDS:
		break;
	}
}

static void put_value(struct tt_encoder *e, const struct ttnn_value *value, int depth)
{
	if (value->kind == TTNN_VALUE_TENSOR || value->kind == TTNN_VALUE_SEEN_TENSOR) {
		put_live_tensor(e, value);
	} else if (value->kind == TTNN_VALUE_DEVICE || value->kind == TTNN_VALUE_SEEN_DEVICE) {
		put_live_device(e, value);
	} else if (depth >= TT_VALUE_DEPTH_MAX || value->kind >= TTNN_VALUE_KINDS) {
		put_U64(e, TTNN_VALUE_ABSENT);
	} else {
		put_U64(e, value->kind);
		put_content(e, value, depth);
	}
}

static void put_VALUES(struct tt_encoder *e, const struct ttnn_value *values, size_t count)
{
	put_U64(e, count);
	put_items(e, values, count, 0);
}

/* ---- devices and stacks --------------------------------------------------------------------------------- */

static void put_INFO(struct tt_encoder *e, const struct ttnn_device_info *info)
{
	unsigned char *length;

	put_U64(e, info != NULL);
	if (!info)
		return;
	/* The length first, so that readers can pass over fields they do not know. */
	length = e->at;
	put_bytes(e, "\0\0\0\0", 4);
	if (e->full || !has_room(e))
		return;
#define F(form, member) put_##form(e, info->member);
	TT_FIELDS_info(F)
#undef F
		put_U64(e, info->chip_count);
	for (uint32_t i = 0; i < info->chip_count && has_room(e); i++)
		put_U64(e, info->chips[i]);
	tt_put_u32(length, (uint32_t)(e->at - length - 4));
}

static void put_ROW(struct tt_encoder *e, const struct ttnn_device_row *row)
{
	const size_t count = sizeof(*row) / sizeof(uint64_t);

	if (!has_room(e))
		return;
	put_U64(e, row ? count : 0);
	if (!row)
		return;
#define TT_X(name) put_U64(e, row->name);
	TTNN_DEVICE_ROW_LIST(TT_X)
#undef TT_X
}

/* Where a frame is is found out once for every chunk; what it says there is left to readers. */
static void define_frame(struct tt_encoder *e, const struct tt_event_frame *frame)
{
	Dl_info found = {0};

	put_U64(e, frame->address);
	if (frame->module || !dladdr((void *)(uintptr_t)frame->address, &found)) {
		put_TEXT(e, frame->module);
		put_U64(e, frame->offset);
		put_TEXT(e, frame->symbol);
		put_U64(e, frame->symbol_offset);
		return;
	}
	put_TEXT(e, found.dli_fname);
	put_U64(e, frame->address - (uint64_t)(uintptr_t)found.dli_fbase);
	put_TEXT(e, found.dli_sname);
	put_U64(e, found.dli_sname ? frame->address - (uint64_t)(uintptr_t)found.dli_saddr : 0);
}

static void put_FRAMES(struct tt_encoder *e, const struct tt_event_frame *frames, size_t count)
{
	put_U64(e, count);
	for (size_t i = 0; i < count && has_room(e); i++) {
		const struct tt_event_frame *frame = &frames[i];

		/* 0 is a line of text, else it is code. */
		if (frame->text) {
			put_U64(e, 0);
			put_TEXT(e, frame->text);
		} else if (put_interned(e, FRAMES, (const void *)(uintptr_t)frame->address,
					FRAMES)) {
			define_frame(e, frame);
		}
	}
}

/* ---- records -------------------------------------------------------------------------------------------- */

#define F(form, member) put_##form(e, from->member);
#define L(form, member, count) put_##form(e, from->member, from->count);
#define DEFINE(name)                                                                               \
	static void put_##name(struct tt_encoder *e, const struct tt_event_##name *from)           \
	{                                                                                          \
		TT_FIELDS_##name(F, L)                                                             \
	}

TT_EVENT_STRUCT_LIST(DEFINE)
#undef DEFINE
#undef F
#undef L

static void put_fields(struct tt_encoder *e, const struct tt_event *event)
{
	switch (event->kind) {
#define X(kind, list, text)                                                                        \
	case TT_EVENT_##kind:                                                                      \
		put_##list(e, &event->list);                                                       \
		break;
		TT_EVENT_LIST(X)
#undef X
	case TT_EVENT_KINDS:
		break;
	}
}

/* After the record of a scope was written: its name has a number by now. */
static void count_name(struct tt_encoder *e, const struct tt_event_scope_begin *begin)
{
	uint64_t hash = ((uint64_t)(uintptr_t)begin->name >> 3 ^ (uint64_t)begin->kind << 50) *
			0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(hash >> 55) % NAMES_MAX;

	/* A collision is one more row for the same name: they are added up at the end. */
	if (e->name_at[at]) {
		struct tt_name_count *row = &e->names[e->name_at[at] - 1];

		if (row->name == begin->name && row->kind == (uint32_t)begin->kind) {
			row->count++;
			return;
		}
	}
	if (e->name_count == NAMES_MAX)
		return;
	e->names[e->name_count++] = (struct tt_name_count){begin->name, (uint32_t)begin->kind, 1};
	e->name_at[at] = (uint16_t)e->name_count;
}

bool tt_encoder_put(struct tt_encoder *e, const struct tt_event *event, struct tt_stamp stamp)
{
	unsigned char *start = e->at;
	uint64_t ticks = stamp.ticks > e->last_ticks ? stamp.ticks : e->last_ticks;

	if (!e->head.events)
		e->first_ticks = e->last_ticks = ticks = stamp.ticks;
	if (start >= e->limit || e->name_count == NAMES_MAX)
		return false;
	*e->at++ = (unsigned char)(event->kind | (stamp.op ? TT_RECORD_OP : 0));
	put_U64(e, ticks - e->last_ticks);
	if (stamp.op)
		put_signed(e, (int64_t)(stamp.op - e->last_op));
	e->described = e->described_end = NULL;
	if (event->kind == TT_EVENT_SCOPE_BEGIN) {
		e->described = event->begin.inputs;
		e->described_end = event->begin.inputs + event->begin.input_count;
	}
	put_fields(e, event);
	if (e->full) {
		e->at = start;
		return false;
	}
	e->last_ticks = ticks;
	if (stamp.op) {
		e->last_op = stamp.op;
		e->head.operations++;
	}
	e->head.events++;
	e->head.counts[event->kind]++;
	if (event->kind == TT_EVENT_SCOPE_BEGIN && event->begin.name)
		count_name(e, &event->begin);
	return true;
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

tt_status tt_encoder_new(struct tt_encoder **out)
{
	*out = tt_calloc(1, sizeof(**out));
	return *out ? TTNN_OK : tt_fail_nomem();
}

void tt_encoder_free(struct tt_encoder *encoder)
{
	tt_free(encoder);
}

void tt_encoder_start(struct tt_encoder *e, unsigned char *data, size_t room)
{
	e->data = e->at = data;
	e->limit = room > SLACK ? data + room - SLACK : data;
	e->full = false;
	e->generation++;
	e->interned = e->spec_count = e->name_count = 0;
	e->last_tensor = e->last_buffer = e->last_op = 0;
	memset(e->next, 0, sizeof(e->next));
	memset(e->name_at, 0, sizeof(e->name_at));
	e->head = (struct tt_chunk_head){.type = TT_CHUNK_EVENTS};
}

const struct tt_chunk_head *tt_encoder_head(struct tt_encoder *e)
{
	e->head.raw_size = (uint32_t)(e->at - e->data);
	return &e->head;
}

void tt_encoder_ticks(uint64_t *first, uint64_t *last, const struct tt_encoder *e)
{
	*first = e->first_ticks;
	*last = e->last_ticks;
}

const struct tt_name_count *tt_encoder_names(size_t *count, const struct tt_encoder *e)
{
	*count = e->name_count;
	return e->names;
}

/* ---- the head of a file --------------------------------------------------------------------------------- */

void tt_encode_number(struct tt_str *out, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		tt_str_addc(out, (char)(number | 0x80));
	tt_str_addc(out, (char)number);
}

void tt_encode_text(struct tt_str *out, const char *text)
{
	tt_encode_number(out, text ? strlen(text) + 1 : 0);
	if (text)
		tt_str_adds(out, text);
}

#define F(form, member) TT_FORM_##form,
#define L(form, member, count) TT_FORM_##form,
#define X(kind, list, text) [TT_EVENT_##kind] = {TT_FIELDS_##list(F, L) 0},
static const char forms[TT_EVENT_KINDS][TT_CHUNK_KINDS] = {TT_EVENT_LIST(X)};
#undef X
#undef F
#undef L

#define X(kind, list, text) [TT_EVENT_##kind] = text,
static const char *const kind_names[TT_EVENT_KINDS] = {TT_EVENT_LIST(X)};
#undef X

const char *tt_event_kind_name(enum tt_event_kind kind)
{
	return kind < TT_EVENT_KINDS ? kind_names[kind] : "?";
}

const char *tt_event_forms(enum tt_event_kind kind)
{
	return kind < TT_EVENT_KINDS ? forms[kind] : "";
}

_Static_assert(TT_EVENT_KINDS <= TT_CHUNK_KINDS, "the head of a chunk counts every kind");
_Static_assert(TT_EVENT_KINDS <= TT_RECORD_KIND + 1, "the first byte of a record holds every kind");
