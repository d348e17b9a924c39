#include "event/encode.h"

#include <dlfcn.h>
#include <endian.h>
#include <string.h>

#include "base/mem.h"
#include "base/symbols.h"
#include "event/alike.h"
#include "event/fields.h"
#include "event/value_kinds.h"
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
#define NAMES_MAX 512

/* What is numbered, each kind from 1. */
enum table { NAMES, SCHEMAS, MEMBERS, CORE_SETS, FRAMES, BLOCKS, TABLES };

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
 * A tensor as it was told last. Its spec is that of the tensor, which never changes: the same place is the
 * same spec for the same number.
 */
struct tensor_slot {
	struct tt_event_tensor told;
	uint32_t spec, generation;
	uint32_t number; /* from 0, of all that the chunk has told */
};

/* The block that scopes of a name had last. */
#define MEMOS 32
#define MEMO_VALUES 48
#define MEMO_DEEP 8

struct block_memo {
	const char *scope;
	uint32_t generation, number, deep_count;
	uint32_t all, single, told; /* values; those before the block; those in it */
	uint64_t hash;              /* of those values that point at something, ... */
	uint8_t deep[MEMO_DEEP];    /* ...which are these */
	struct ttnn_value values[MEMO_VALUES];
};

struct tt_encoder {
	unsigned char *data, *at, *limit;
	atomic_uint_least32_t *committed; /* how far the records go; `nobody` when nobody asks */
	atomic_uint_least32_t nobody;
	bool full;
	uint32_t generation;
	uint64_t first_ticks, last_ticks, last_op, last_tensor, last_buffer;
	struct tt_chunk_head head;
	const struct tt_event_tensor *described, *described_end; /* those it takes */
	const char *scope;                                       /* that begins; NULL: none does */
	const struct ttnn_value *block;                          /* told last, in this batch */
	size_t block_count, block_all; /* values in it; with the absent ones behind it */
	uint32_t block_number;

	uint32_t interned, next[TABLES];
	uint32_t spec_count, last_spec, tensor_count, name_count;
	struct slot slots[INTERN_SLOTS];
	struct spec_slot spec_slots[SPEC_SLOTS];
	struct tensor_slot tensor_slots[TENSOR_SLOTS];
	struct ttnn_tensor_spec specs[SPECS_MAX];
	struct block_memo memos[MEMOS];
	struct tt_name_count names[NAMES_MAX];
	uint16_t name_at[NAMES_MAX]; /* by a hash of name and kind: its place in names + 1 */
};

/* ---- bytes ---------------------------------------------------------------------------------------------- */

/*
 * Whatever writes takes the place to write at and returns the place behind: so that it stays in a
 * register. It is asked for room wherever something begins of which there may be many; without room
 * nothing is written.
 */
static inline bool has_room(struct tt_encoder *e, const unsigned char *at)
{
	if (__builtin_expect(at < e->limit, 1))
		return true;
	e->full = true;
	return false;
}

static inline unsigned char *put_number(unsigned char *at, uint64_t number)
{
	while (__builtin_expect(number >= 0x80, 0)) {
		*at++ = (unsigned char)(number | 0x80);
		number >>= 7;
	}
	*at++ = (unsigned char)number;
	return at;
}

/* Small numbers of either sign become small ones. */
static inline unsigned char *put_signed(unsigned char *at, int64_t number)
{
	return put_number(at, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static unsigned char *put_bytes(struct tt_encoder *e, unsigned char *at, const void *data,
				size_t size)
{
	if (at >= e->limit || size > (size_t)(e->limit - at)) {
		e->full = true;
		return at;
	}
	memcpy(at, data, size);
	return at + size;
}

/* The forms of event/fields.h, each put_FORM(encoder, place, value). */
#define put_U64(e, at, number) put_number(at, number)
#define put_U32(e, at, number) put_number(at, number)
#define put_ENUM(e, at, member) put_number(at, (unsigned)(member))
#define put_BOOL(e, at, boolean) put_number(at, (boolean) ? 1 : 0)
#define put_F32(e, at, real) put_bytes(e, at, &(real), sizeof(float))

static unsigned char *put_TEXT(struct tt_encoder *e, unsigned char *at, const char *text)
{
	size_t length;

	if (!text)
		return put_number(at, 0);
	length = strlen(text);
	return put_bytes(e, put_number(at, length + 1), text, length);
}

/* ---- things with numbers -------------------------------------------------------------------------------- */

/* A number, and whether the thing is new and its definition has to follow. */
struct number {
	uint32_t id;
	bool fresh;
};

/* The number of a thing; 0 when nothing more can be numbered. */
static inline struct number number_of(struct tt_encoder *e, enum table table, const void *pointer,
				      uint64_t extra)
{
	uint64_t hash = ((uint64_t)(uintptr_t)pointer ^ extra << 40 ^ extra) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(hash >> 53);
	struct slot *slot = &e->slots[at];

	while (slot->generation == e->generation) {
		if (slot->pointer == pointer && slot->extra == extra)
			return (struct number){slot->id, false};
		at = (at + 1) % INTERN_SLOTS;
		slot = &e->slots[at];
	}
	if (e->interned == INTERNED_MAX) {
		e->full = true;
		return (struct number){0, false};
	}
	e->interned++;
	*slot = (struct slot){pointer, extra, ++e->next[table], e->generation};
	return (struct number){slot->id, true};
}

static unsigned char *define_name(struct tt_encoder *e, unsigned char *at, const char *name)
{
	return has_room(e, at) ? put_TEXT(e, at, name) : at;
}

static inline unsigned char *put_NAME(struct tt_encoder *e, unsigned char *at, const char *name)
{
	struct number number;

	if (!name)
		return put_number(at, 0);
	number = number_of(e, NAMES, name, NAMES);
	at = put_number(at, number.id);
	return __builtin_expect(number.fresh, 0) ? define_name(e, at, name) : at;
}

static unsigned char *define_cores(struct tt_encoder *e, unsigned char *at,
				   const ttnn_core_set *set)
{
	size_t count;
	const struct ttnn_core_range *range = ttnn_core_set_ranges(set, &count);

	at = put_number(at, count);
	for (; count-- && has_room(e, at); range++) {
		at = put_number(at, range->start.x);
		at = put_number(at, range->start.y);
		at = put_number(at, range->end.x);
		at = put_number(at, range->end.y);
	}
	return at;
}

static inline unsigned char *put_CORES(struct tt_encoder *e, unsigned char *at,
				       const ttnn_core_set *set)
{
	struct number number;

	if (!set)
		return put_number(at, 0);
	number = number_of(e, CORE_SETS, set, CORE_SETS);
	at = put_number(at, number.id);
	return __builtin_expect(number.fresh, 0) ? define_cores(e, at, set) : at;
}

static unsigned char *define_schema(struct tt_encoder *e, unsigned char *at,
				    const struct tt_schema *schema)
{
	at = put_NAME(e, at, schema->name);
	at = put_BOOL(e, at, schema->named);
	at = put_number(at, schema->count);
	for (size_t i = 0; i < schema->count && has_room(e, at); i++) {
		const struct tt_field *field = &schema->fields[i];

		at = put_NAME(e, at, field->name);
		at = put_ENUM(e, at, field->text);
		at = put_NAME(e, at, field->fixed);
		at = put_number(at, (uint64_t)field->unkeyed | (uint64_t)field->unprinted << 1 |
					    (uint64_t)field->omit_empty << 2 |
					    (uint64_t)field->spaced << 3 |
					    (uint64_t)field->words << 4 |
					    (uint64_t)field->defaulted << 5);
		at = put_NAME(e, at, field->json);
	}
	return at;
}

static inline unsigned char *put_SCHEMA(struct tt_encoder *e, unsigned char *at,
					const struct tt_schema *schema)
{
	struct number number;

	if (!schema)
		return put_number(at, 0);
	number = number_of(e, SCHEMAS, schema, SCHEMAS);
	at = put_number(at, number.id);
	return __builtin_expect(number.fresh, 0) ? define_schema(e, at, schema) : at;
}

/* A member alone, not its whole enumeration: those can be long. */
static unsigned char *put_member(struct tt_encoder *e, unsigned char *at,
				 const struct tt_enum *type, int64_t member)
{
	struct number number = number_of(e, MEMBERS, type, (uint64_t)member << 8 | MEMBERS);

	at = put_number(at, number.id);
	if (!number.fresh)
		return at;
	at = put_NAME(e, at, type->name);
	at = put_signed(at, member);
	return put_NAME(e, at, tt_enum_name(type, member));
}

/* ---- specs ---------------------------------------------------------------------------------------------- */

static unsigned char *put_shape(unsigned char *at, const struct ttnn_shape *shape)
{
	uint32_t rank = shape->rank <= TTNN_MAX_RANK ? shape->rank : TTNN_MAX_RANK;

	at = put_number(at, rank);
	for (uint32_t i = 0; i < rank; i++)
		at = put_number(at, shape->dim[i]);
	return at;
}

static unsigned char *put_tile(unsigned char *at, const struct ttnn_tile *tile)
{
	at = put_number(at, tile->height);
	at = put_number(at, tile->width);
	return put_number(at, tile->transpose);
}

static unsigned char *put_shard(struct tt_encoder *e, unsigned char *at,
				const struct ttnn_shard_spec *shard)
{
	at = put_CORES(e, at, shard->grid);
	at = put_number(at, shard->height);
	at = put_number(at, shard->width);
	return put_ENUM(e, at, shard->orientation);
}

static unsigned char *put_nd_shard(struct tt_encoder *e, unsigned char *at,
				   const struct ttnn_nd_shard_spec *shard)
{
	at = put_shape(at, &shard->shape);
	at = put_CORES(e, at, shard->grid);
	at = put_ENUM(e, at, shard->orientation);
	return put_ENUM(e, at, shard->strategy);
}

static unsigned char *put_memory_config(struct tt_encoder *e, unsigned char *at,
					const struct ttnn_memory_config *memory)
{
	at = put_ENUM(e, at, memory->layout);
	at = put_ENUM(e, at, memory->buffer);
	at = put_number(at, (uint64_t)memory->has_shard | (uint64_t)memory->has_nd_shard << 1 |
				    (uint64_t)memory->created_with_nd_shard << 2 |
				    (uint64_t)memory->per_core_allocation << 3 |
				    (uint64_t)memory->range_lockstep_allocation << 4);
	if (memory->has_shard)
		at = put_shard(e, at, &memory->shard);
	if (memory->has_nd_shard)
		at = put_nd_shard(e, at, &memory->nd_shard);
	return at;
}

static unsigned char *define_spec(struct tt_encoder *e, unsigned char *at,
				  const struct ttnn_tensor_spec *spec)
{
	at = put_shape(at, &spec->shape);
	at = put_ENUM(e, at, spec->dtype);
	at = put_ENUM(e, at, spec->layout);
	at = put_tile(at, &spec->tile);
	at = put_memory_config(e, at, &spec->memory);
	at = put_shape(at, &spec->alignment);
	at = put_shape(at, &spec->padded);
	at = put_number(at, spec->rows);
	at = put_number(at, spec->cols);
	at = put_number(at, spec->page_rows);
	at = put_number(at, spec->page_cols);
	at = put_number(at, spec->page_bytes);
	at = put_number(at, spec->pages);
	return put_number(at, spec->bytes);
}

/* The number of a spec; 0 when nothing more can be numbered. */
static struct number number_of_spec(struct tt_encoder *e, const struct ttnn_tensor_spec *spec)
{
	uint32_t at;
	struct spec_slot *slot;

	/* Results are mostly like those before; the bytes are a quick look at the whole. */
	if (e->last_spec && memcmp(&e->specs[e->last_spec - 1], spec, sizeof(*spec)) == 0)
		return (struct number){e->last_spec, false};
	at = tt_spec_place(spec) % SPEC_SLOTS;
	slot = &e->spec_slots[at];
	for (; slot->generation == e->generation; slot = &e->spec_slots[at]) {
		if (tt_spec_same(&e->specs[slot->id - 1], spec)) {
			e->last_spec = slot->id;
			return (struct number){slot->id, false};
		}
		at = (at + 1) % SPEC_SLOTS;
	}
	if (e->spec_count == SPECS_MAX) {
		e->full = true;
		return (struct number){0, false};
	}
	e->specs[e->spec_count++] = *spec;
	*slot = (struct spec_slot){e->spec_count, e->generation};
	e->last_spec = e->spec_count;
	return (struct number){e->spec_count, true};
}

/* ---- tensors -------------------------------------------------------------------------------------------- */

/* A tensor as it was not told before in this chunk. */
static unsigned char *define_tensor(struct tt_encoder *e, unsigned char *at,
				    const struct tt_event_tensor *tensor, struct tensor_slot *slot)
{
	/* Nearly all tensors are spread in one of two ways; others say theirs. */
	uint64_t spread = tensor->spread == TT_SPREAD_LINE   ? 0
			  : tensor->spread == TT_SPREAD_MESH ? 1
							     : 2;
	struct number spec = number_of_spec(e, tensor->spec);

	if (!spec.id)
		return at; /* the record goes to another chunk */
	at = put_number(at, 0);
	at = put_signed(at, (int64_t)(tensor->id - e->last_tensor));
	e->last_tensor = tensor->id;
	at = put_number(at, spec.id);
	if (spec.fresh)
		at = define_spec(e, at, tensor->spec);
	at = put_number(at, (uint64_t)tensor->on_device | (uint64_t)tensor->owns << 1 |
				    (uint64_t)(tensor->buffer_id != 0) << 2 | spread << 3);
	if (spread == 2)
		at = put_number(at, tensor->spread);
	if (tensor->buffer_id) {
		at = put_signed(at, (int64_t)(tensor->buffer_id - e->last_buffer));
		e->last_buffer = tensor->buffer_id;
		at = put_number(at, tensor->address);
		at = put_number(at, tensor->device_id);
	}
	*slot = (struct tensor_slot){*tensor, spec.id, e->generation, e->tensor_count++};
	return at;
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
		tt_spec_looks_same(&e->specs[slot->spec - 1], tensor->spec));
}

/* One of the last few by how long ago it was told first, others by their number. */
static inline unsigned char *put_tensor(struct tt_encoder *e, unsigned char *at,
					const struct tt_event_tensor *tensor)
{
	struct tensor_slot *slot = &e->tensor_slots[tensor->id % TENSOR_SLOTS];
	uint32_t ago;

	if (__builtin_expect(!is_unchanged(e, slot, tensor), 0))
		return define_tensor(e, at, tensor, slot);
	ago = e->tensor_count - 1 - slot->number;
	return put_number(at, ago < TT_TENSORS_RECENT ? 2 * (uint64_t)ago + 1
						      : 2 * (uint64_t)slot->number + 2);
}

static inline unsigned char *put_TENSORS(struct tt_encoder *e, unsigned char *at,
					 const struct tt_event_tensor *tensors, size_t count)
{
	at = put_number(at, count);
	for (size_t i = 0; i < count && has_room(e, at); i++)
		at = put_tensor(e, at, &tensors[i]);
	return at;
}

/* ---- values --------------------------------------------------------------------------------------------- */

static unsigned char *put_value(struct tt_encoder *e, unsigned char *at,
				const struct ttnn_value *value, int depth);

/* Most arguments are not given. */
static inline unsigned char *put_items(struct tt_encoder *e, unsigned char *at,
				       const struct ttnn_value *items, size_t count, int depth)
{
	for (size_t i = 0; i < count && has_room(e, at); i++) {
		if (items[i].kind > TTNN_VALUE_NONE)
			at = put_value(e, at, &items[i], depth);
		else
			*at++ = items[i].kind;
	}
	return at;
}

/* Most tensors among the arguments of a scope are those it takes, in the same order. */
static unsigned char *put_live_tensor(struct tt_encoder *e, unsigned char *at,
				      const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;

	*at++ = TTNN_VALUE_SEEN_TENSOR;
	if (value->kind == TTNN_VALUE_SEEN_TENSOR)
		return put_tensor(e, at, value->seen);
	if (e->described < e->described_end && e->described->id == value->tensor->id &&
	    e->described->spec == &value->tensor->spec)
		return put_tensor(e, at, e->described++);
	tt_event_describe(&tensor, value->tensor);
	return put_tensor(e, at, &tensor);
}

static unsigned char *put_live_device(unsigned char *at, const struct ttnn_value *value)
{
	uint32_t id = 0;

	tt_value_seen_device(&id, value);
	*at++ = TTNN_VALUE_SEEN_DEVICE;
	return put_number(at, id);
}

/* The content of a value whose kind was written, for each word of value_kinds.h. */
#define CONTENT(word, expression)                                                                  \
	static inline unsigned char *content_##word(struct tt_encoder *e, unsigned char *at,       \
						    const struct ttnn_value *value, int depth)     \
	{                                                                                          \
		(void)e;                                                                           \
		(void)value;                                                                       \
		(void)depth;                                                                       \
		return expression;                                                                 \
	}

/* clang-format off */
CONTENT(empty, at)
CONTENT(boolean, put_number(at, value->boolean))
CONTENT(integer, put_signed(at, value->integer))
CONTENT(real, put_bytes(e, at, &value->real, sizeof(value->real)))
CONTENT(text, put_TEXT(e, at, value->text ? value->text : ""))
CONTENT(member, put_member(e, at, value->enumeration, value->integer))
CONTENT(shape, put_shape(at, value->shape))
CONTENT(memory, put_memory_config(e, at, value->memory))
CONTENT(core, put_number(put_number(at, value->core.x), value->core.y))
CONTENT(core_set, put_CORES(e, at, value->core_set))
CONTENT(tile, put_tile(at, value->tile))
CONTENT(shard, put_shard(e, at, value->shard))
CONTENT(nd_shard, put_nd_shard(e, at, value->nd_shard))
CONTENT(items, put_items(e, put_number(at, value->count), value->items, value->count, depth + 1))
CONTENT(object, put_items(e, put_SCHEMA(e, at, value->schema), value->items, value->schema->count,
			  depth + 1))
/* clang-format on */
/* What is alive is written as what is seen of it: by put_value(). */
#define content_tensor content_empty
#define content_device content_empty
#define content_seen_tensor content_empty
#define content_seen_device content_empty

static unsigned char *put_content(struct tt_encoder *e, unsigned char *at,
				  const struct ttnn_value *value, int depth)
{
	switch ((enum ttnn_value_kind)value->kind) {
#define ROW(KIND, name, content, alike, text, json)                                                \
	TT_VALUE_CASE(KIND, content_##content(e, at, value, depth))
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	case TTNN_VALUE_KINDS:
		break;
	}
	return at;
}

static unsigned char *put_value(struct tt_encoder *e, unsigned char *at,
				const struct ttnn_value *value, int depth)
{
	if (value->kind == TTNN_VALUE_TENSOR || value->kind == TTNN_VALUE_SEEN_TENSOR)
		return put_live_tensor(e, at, value);
	if (value->kind == TTNN_VALUE_DEVICE || value->kind == TTNN_VALUE_SEEN_DEVICE)
		return put_live_device(at, value);
	if (depth >= TT_VALUE_DEPTH_MAX || value->kind >= TTNN_VALUE_KINDS) {
		*at++ = TTNN_VALUE_ABSENT;
		return at;
	}
	*at++ = value->kind;
	return put_content(e, at, value, depth);
}

/* ---- blocks of values ----------------------------------------------------------------------------------- */

static uint64_t deep_hash(const struct block_memo *memo, const struct ttnn_value *values)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < memo->deep_count; i++)
		hash = tt_value_mix(hash, &values[memo->deep[i]]);
	return hash;
}

static bool is_tensor(const struct ttnn_value *value)
{
	return value->kind == TTNN_VALUE_TENSOR || value->kind == TTNN_VALUE_SEEN_TENSOR;
}

/* Most calls say what the last one of their name has said: the bytes tell, but for what they point at. */
static inline bool is_remembered(const struct tt_encoder *e, const struct block_memo *memo,
				 const struct ttnn_value *values, size_t count)
{
	const struct ttnn_value *block = values + memo->single;

	return memo->generation == e->generation && memo->scope == e->scope && memo->all == count &&
	       (!memo->single || is_tensor(block - 1)) &&
	       memcmp(memo->values, block, (count - memo->single) * sizeof(*block)) == 0 &&
	       deep_hash(memo, block) == memo->hash;
}

/* `all` values, of which those from `single` on, but for absent ones at the end, are a block. */
static void remember(struct tt_encoder *e, struct block_memo *memo, const struct ttnn_value *values,
		     size_t all, size_t single)
{
	memo->generation = 0;
	if (!e->scope || all - single > MEMO_VALUES)
		return;
	values += single;
	memo->deep_count = 0;
	for (size_t i = 0; i < e->block_count; i++) {
		if (tt_value_is_flat(&values[i]))
			continue;
		if (memo->deep_count == MEMO_DEEP)
			return;
		memo->deep[memo->deep_count++] = (uint8_t)i;
	}
	memo->scope = e->scope;
	memo->generation = e->generation;
	memo->all = (uint32_t)all;
	memo->single = (uint32_t)single;
	memo->told = (uint32_t)e->block_count;
	memo->number = e->block_number;
	memo->hash = deep_hash(memo, values);
	memcpy(memo->values, values, (all - single) * sizeof(*values));
}

/*
 * Values that are told again and again are told once in a chunk: those behind the last tensor, as one
 * block. It is known by a hash of 64 bits alone, as programs are in their cache.
 */
static inline unsigned char *put_hashed(struct tt_encoder *e, unsigned char *at, uint32_t *id,
					const struct tt_event_block *block)
{
	struct number number = {0};

	if (block->hash)
		number = number_of(e, BLOCKS, (const void *)(uintptr_t)block->hash, BLOCKS);
	*id = number.id;
	at = put_number(at, number.id);
	if (number.fresh || !number.id)
		at = put_items(e, put_number(at, block->count), block->values, block->count, 0);
	return at;
}

static unsigned char *put_block(struct tt_encoder *e, unsigned char *at,
				const struct ttnn_value *values, size_t count)
{
	uint64_t hash = count <= TT_BLOCK_MAX ? tt_block_hash(values, count) : 0;

	at = put_hashed(e, at, &e->block_number, &(struct tt_event_block){values, count, hash});
	e->block_count = count;
	return at;
}

/* Values none of which stands alone, by whoever knows their hash. */
static inline unsigned char *put_BLOCK(struct tt_encoder *e, unsigned char *at,
				       struct tt_event_block block)
{
	uint32_t id;

	at = put_number(at, block.count);
	*at++ = 0;
	if (block.count > TT_BLOCK_MAX)
		block.hash = 0;
	return block.count ? put_hashed(e, at, &id, &block) : at;
}

/* Of `count` values those that are told: others are absent, and at the end. */
static size_t count_told(const struct ttnn_value *values, size_t count)
{
	size_t told = count;

	while (told && count - told < TT_VALUES_ABSENT &&
	       values[told - 1].kind == TTNN_VALUE_ABSENT)
		told--;
	return told;
}

static unsigned char *put_new_values(struct tt_encoder *e, unsigned char *at,
				     const struct ttnn_value *values, size_t count,
				     struct block_memo *memo)
{
	size_t told = count_told(values, count), single = told;

	while (single && !is_tensor(&values[single - 1]))
		single--;
	at = put_number(at, count);
	at = put_number(at, single);
	at = put_items(e, at, values, single, 0);
	e->block = NULL;
	if (count == single)
		return at;
	at = put_block(e, at, values + single, told - single);
	if (e->block_number) {
		e->block = values + single;
		e->block_all = count - single;
		remember(e, memo, values, count, single);
	}
	return at;
}

static unsigned char *put_VALUES(struct tt_encoder *e, unsigned char *at,
				 const struct ttnn_value *values, size_t count)
{
	struct block_memo *memo =
		&e->memos[((uint64_t)(uintptr_t)e->scope * 0x9e3779b97f4a7c15u) >> 59];

	/* Those told a moment ago: what is behind the block was absent. */
	if (count && values == e->block && count >= e->block_count && count <= e->block_all) {
		at = put_number(at, count);
		at = put_number(at, 0);
		return put_number(at, e->block_number);
	}
	if (!count || !is_remembered(e, memo, values, count))
		return put_new_values(e, at, values, count, memo);
	at = put_number(at, count);
	at = put_number(at, memo->single);
	at = put_items(e, at, values, memo->single, 0);
	e->block = values + memo->single;
	e->block_count = memo->told;
	e->block_all = count - memo->single;
	e->block_number = memo->number;
	return put_number(at, memo->number);
}

/* ---- devices and stacks --------------------------------------------------------------------------------- */

static unsigned char *put_INFO(struct tt_encoder *e, unsigned char *at,
			       const struct ttnn_device_info *info)
{
	unsigned char *length;

	at = put_number(at, info != NULL);
	if (!info)
		return at;
	/* The length first, so that readers can pass over fields they do not know. */
	length = at;
	at = put_bytes(e, at, "\0\0\0\0", 4);
	if (e->full || !has_room(e, at))
		return at;
#define F(form, member) at = put_##form(e, at, info->member);
	TT_FIELDS_info(F)
#undef F
		at = put_number(at, info->chip_count);
	for (uint32_t i = 0; i < info->chip_count && has_room(e, at); i++)
		at = put_number(at, info->chips[i]);
#define F(form, member) at = put_##form(e, at, info->member);
	TT_FIELDS_machine(F)
#undef F
		tt_put_u32(length, (uint32_t)(at - length - 4));
	return at;
}

static unsigned char *put_ROW(struct tt_encoder *e, unsigned char *at,
			      const struct ttnn_device_row *row)
{
	const size_t count = sizeof(*row) / sizeof(uint64_t);

	if (!has_room(e, at))
		return at;
	at = put_number(at, row ? count : 0);
	if (!row)
		return at;
#define TT_X(name) at = put_number(at, row->name);
	TTNN_DEVICE_ROW_LIST(TT_X)
#undef TT_X
	return at;
}

/* Where a frame is is found out once for every chunk; what it says there is left to readers. */
static unsigned char *define_frame(struct tt_encoder *e, unsigned char *at,
				   const struct tt_event_frame *frame)
{
	Dl_info found = {0};
	const char *name;
	uint64_t offset;

	at = put_number(at, frame->address);
	if (frame->module || !dladdr((void *)(uintptr_t)frame->address, &found)) {
		at = put_TEXT(e, at, frame->module);
		at = put_number(at, frame->offset);
		at = put_TEXT(e, at, frame->symbol);
		return put_number(at, frame->symbol_offset);
	}
	at = put_TEXT(e, at, found.dli_fname);
	at = put_number(at, frame->address - (uint64_t)(uintptr_t)found.dli_fbase);
	name = found.dli_sname;
	offset = name ? frame->address - (uint64_t)(uintptr_t)found.dli_saddr : 0;
	if (!name)
		name = tt_symbol_at(&offset, frame->address);
	at = put_TEXT(e, at, name);
	return put_number(at, offset);
}

static unsigned char *put_FRAMES(struct tt_encoder *e, unsigned char *at,
				 const struct tt_event_frame *frames, size_t count)
{
	at = put_number(at, count);
	for (size_t i = 0; i < count && has_room(e, at); i++) {
		const struct tt_event_frame *frame = &frames[i];
		struct number number;

		/* 0 is a line of text, else it is code. */
		if (frame->text) {
			at = put_TEXT(e, put_number(at, 0), frame->text);
			continue;
		}
		number = number_of(e, FRAMES, (const void *)(uintptr_t)frame->address, FRAMES);
		at = put_number(at, number.id);
		if (number.fresh)
			at = define_frame(e, at, frame);
	}
	return at;
}

/* ---- records -------------------------------------------------------------------------------------------- */

#define F(form, member) at = put_##form(e, at, from->member);
#define L(form, member, count) at = put_##form(e, at, from->member, from->count);
#define DEFINE(name)                                                                               \
	static inline unsigned char *put_##name(struct tt_encoder *e, unsigned char *at,           \
						const struct tt_event_##name *from)                \
	{                                                                                          \
		TT_FIELDS_##name(F, L)(void) e;                                                    \
		return at;                                                                         \
	}

TT_EVENT_STRUCT_LIST(DEFINE)
#undef DEFINE
#undef F
#undef L

static inline unsigned char *put_fields(struct tt_encoder *e, unsigned char *at,
					const struct tt_event *event)
{
	switch (event->kind) {
#define X(kind, list, text)                                                                        \
	case TT_EVENT_##kind:                                                                      \
		return put_##list(e, at, &event->list);
		TT_EVENT_LIST(X)
#undef X
	case TT_EVENT_KINDS:
		break;
	}
	return at;
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

bool tt_encoder_put(struct tt_encoder *e, const struct tt_event *event,
		    const struct tt_stamp *stamp)
{
	unsigned char *at = e->at;
	uint64_t ticks = stamp->ticks > e->last_ticks ? stamp->ticks : e->last_ticks;

	if (!e->head.events)
		e->first_ticks = e->last_ticks = ticks = stamp->ticks;
	if (at >= e->limit || e->name_count == NAMES_MAX)
		return false;
	*at++ = (unsigned char)(event->kind | (stamp->op ? TT_RECORD_OP : 0));
	at = put_number(at, ticks - e->last_ticks);
	if (stamp->op)
		at = put_signed(at, (int64_t)(stamp->op - e->last_op));
	if (!stamp->together)
		e->block = NULL;
	e->described = e->described_end = NULL;
	e->scope = NULL;
	if (event->kind == TT_EVENT_SCOPE_BEGIN) {
		e->scope = event->begin.name;
		if (event->begin.input_count) {
			e->described = event->begin.inputs;
			e->described_end = e->described + event->begin.input_count;
		}
	}
	at = put_fields(e, at, event);
	if (e->full)
		return false;
	e->at = at;
	atomic_store_explicit(e->committed, htole32((uint32_t)(at - e->data)),
			      memory_order_release);
	e->last_ticks = ticks;
	if (stamp->op) {
		e->last_op = stamp->op;
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

void tt_encoder_start(struct tt_encoder *e, unsigned char *data, size_t room,
		      atomic_uint_least32_t *committed)
{
	e->data = e->at = data;
	e->committed = committed ? committed : &e->nobody;
	e->limit = room > SLACK ? data + room - SLACK : data;
	e->full = false;
	e->generation++;
	e->interned = e->spec_count = e->last_spec = e->tensor_count = e->name_count = 0;
	e->block = NULL;
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

void tt_encode_kinds(struct tt_str *out)
{
	tt_encode_number(out, TT_EVENT_KINDS);
	for (int i = 0; i < TT_EVENT_KINDS; i++) {
		tt_encode_text(out, tt_event_kind_name(i));
		tt_encode_text(out, tt_event_forms(i));
	}
}
