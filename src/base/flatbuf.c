/* flatbuf.c: see flatbuf.h. */
#include "base/flatbuf.h"

#include <string.h>

#include "base/mem.h"

/* ---- reading ----------------------------------------------------------------------------- */

uint64_t tt_fb_load(const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static bool fits(const struct tt_fb *fb, size_t at, uint64_t bytes)
{
	return at <= fb->size && bytes <= fb->size - at;
}

static tt_status outside(size_t at, const char *what)
{
	return tt_fail(TTNN_FORMAT, "flatbuffer: %s at offset %zu lies outside of the buffer", what,
		       at);
}

/* Where the 4-byte reference at `at` leads; a reference never leads nowhere or backwards. */
static tt_status follow(size_t *out, const struct tt_fb *fb, size_t at, const char *what)
{
	uint64_t distance;

	if (!fits(fb, at, 4))
		return outside(at, what);
	distance = tt_fb_load(fb->data + at, 4);
	if (distance == 0 || distance >= fb->size - at)
		return outside(at, what);
	*out = at + (size_t)distance;
	return TTNN_OK;
}

static tt_status table_at(struct tt_fb_table *out, const struct tt_fb *fb, size_t at)
{
	struct tt_fb_table table = {.fb = fb, .at = at};
	int64_t vtable;

	if (!fits(fb, at, 4))
		return outside(at, "a table");
	vtable = (int64_t)at - (int32_t)(uint32_t)tt_fb_load(fb->data + at, 4);
	if (vtable < 0 || !fits(fb, (size_t)vtable, 4))
		return outside(at, "the vtable of the table");
	table.vtable = (size_t)vtable;
	table.vtable_size = (uint16_t)tt_fb_load(fb->data + table.vtable, 2);
	table.size = (uint16_t)tt_fb_load(fb->data + table.vtable + 2, 2);
	if (table.vtable_size < 4 || table.vtable_size % 2 != 0 ||
	    !fits(fb, table.vtable, table.vtable_size))
		return outside(table.vtable, "a vtable");
	if (table.size < 4 || !fits(fb, at, table.size))
		return outside(at, "a table");
	*out = table;
	return TTNN_OK;
}

/* Where a field of `bytes` bytes lies in the buffer; 0 when it is absent. */
static tt_status field_at(size_t *out, const struct tt_fb_table *table, unsigned field,
			  size_t bytes)
{
	size_t entry = 4 + 2 * (size_t)field;
	uint64_t at;

	*out = 0;
	if (!table->fb || entry + 2 > table->vtable_size)
		return TTNN_OK;
	at = tt_fb_load(table->fb->data + table->vtable + entry, 2);
	if (at == 0)
		return TTNN_OK;
	if (at < 4 || at + bytes > table->size)
		return tt_fail(TTNN_FORMAT,
			       "flatbuffer: field %u of the table at offset %zu lies outside of it",
			       field, table->at);
	*out = table->at + (size_t)at;
	return TTNN_OK;
}

tt_status tt_fb_root(struct tt_fb_table *out, const struct tt_fb *fb)
{
	size_t at;

	TT_TRY(follow(&at, fb, 0, "the root reference"));
	return table_at(out, fb, at);
}

bool tt_fb_has_identifier(const struct tt_fb *fb, const char *identifier)
{
	return fits(fb, 4, 4) && memcmp(fb->data + 4, identifier, 4) == 0;
}

tt_status tt_fb_get(uint64_t *out, const struct tt_fb_table *table, unsigned field, size_t bytes,
		    uint64_t fallback)
{
	size_t at;

	TT_TRY(field_at(&at, table, field, bytes));
	*out = at ? tt_fb_load(table->fb->data + at, bytes) : fallback;
	return TTNN_OK;
}

tt_status tt_fb_get_table(struct tt_fb_table *out, const struct tt_fb_table *table, unsigned field)
{
	size_t at;

	TT_TRY(field_at(&at, table, field, 4));
	if (!at) {
		*out = (struct tt_fb_table){0};
		return TTNN_OK;
	}
	TT_TRY(follow(&at, table->fb, at, "a table reference"));
	return table_at(out, table->fb, at);
}

tt_status tt_fb_get_vector(struct tt_fb_vector *out, const struct tt_fb_table *table,
			   unsigned field, size_t bytes)
{
	const struct tt_fb *fb = table->fb;
	uint64_t count;
	size_t at;

	TT_TRY(field_at(&at, table, field, 4));
	if (!at) {
		*out = (struct tt_fb_vector){0};
		return TTNN_OK;
	}
	TT_TRY(follow(&at, fb, at, "a vector reference"));
	if (!fits(fb, at, 4))
		return outside(at, "a vector");
	count = tt_fb_load(fb->data + at, 4);
	if (!fits(fb, at + 4, count * bytes))
		return outside(at, "a vector");
	*out = (struct tt_fb_vector){.fb = fb, .data = fb->data + at + 4, .count = (uint32_t)count};
	return TTNN_OK;
}

tt_status tt_fb_get_struct(const uint8_t **out, const struct tt_fb_table *table, unsigned field,
			   size_t bytes)
{
	size_t at;

	TT_TRY(field_at(&at, table, field, 4));
	if (!at) {
		*out = NULL;
		return TTNN_OK;
	}
	TT_TRY(follow(&at, table->fb, at, "a struct reference"));
	if (!fits(table->fb, at, bytes))
		return outside(at, "a struct");
	*out = table->fb->data + at;
	return TTNN_OK;
}

tt_status tt_fb_element(struct tt_fb_table *out, const struct tt_fb_vector *vector, uint32_t index)
{
	size_t at = (size_t)(vector->data - vector->fb->data) + 4 * (size_t)index;

	TT_TRY(follow(&at, vector->fb, at, "an element reference"));
	return table_at(out, vector->fb, at);
}

/* ---- building ---------------------------------------------------------------------------- */

/* `bytes` more bytes in front of what is built; NULL when memory is or was exhausted. */
static uint8_t *grow(struct tt_fb_builder *builder, size_t bytes)
{
	size_t room = builder->room ? builder->room : 512;
	uint8_t *data;

	if (builder->failed)
		return NULL;
	/* References are 32 bits wide, so this never comes near an overflow. */
	if (bytes > UINT32_MAX / 4 || builder->size > UINT32_MAX / 4) {
		builder->failed = true;
		return NULL;
	}
	while (room - builder->size < bytes)
		room *= 2;
	if (room != builder->room) {
		data = tt_alloc(room);
		if (!data) {
			builder->failed = true;
			return NULL;
		}
		if (builder->size)
			memcpy(data + room - builder->size,
			       builder->data + builder->room - builder->size, builder->size);
		tt_free(builder->data);
		builder->data = data;
		builder->room = room;
	}
	builder->size += bytes;
	return builder->data + builder->room - builder->size;
}

static uint8_t *built_at(const struct tt_fb_builder *builder, size_t ref)
{
	return builder->data + builder->room - ref;
}

/* Zeros such that after `more` further bytes the size is a multiple of `align`. */
static void pad_before(struct tt_fb_builder *builder, size_t more, size_t align)
{
	size_t pad = -(builder->size + more) & (align - 1);
	uint8_t *at;

	if (align > builder->align)
		builder->align = align;
	at = grow(builder, pad);
	if (at)
		memset(at, 0, pad);
}

static void store(uint8_t *at, size_t bytes, uint64_t value)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static void push(struct tt_fb_builder *builder, size_t bytes, uint64_t value)
{
	uint8_t *at;

	pad_before(builder, 0, bytes);
	at = grow(builder, bytes);
	if (at)
		store(at, bytes, value);
}

static void push_ref(struct tt_fb_builder *builder, tt_fb_ref ref)
{
	pad_before(builder, 0, 4);
	push(builder, 4, builder->size - ref + 4);
}

void tt_fb_table_begin(struct tt_fb_builder *builder)
{
	builder->table = builder->size;
	builder->count = 0;
}

static void note_field(struct tt_fb_builder *builder, unsigned field)
{
	if (builder->count == TT_FB_MAX_FIELDS) {
		builder->failed = true;
		return;
	}
	builder->fields[builder->count].field = field;
	builder->fields[builder->count++].at = builder->size;
}

void tt_fb_add(struct tt_fb_builder *builder, unsigned field, size_t bytes, uint64_t value,
	       uint64_t fallback)
{
	if (value == fallback)
		return;
	push(builder, bytes, value);
	note_field(builder, field);
}

void tt_fb_add_ref(struct tt_fb_builder *builder, unsigned field, tt_fb_ref ref)
{
	if (!ref)
		return;
	push_ref(builder, ref);
	note_field(builder, field);
}

/* An earlier vtable equal to the newest one, which lies at the front; 0 when there is none. */
static tt_fb_ref find_vtable(const struct tt_fb_builder *builder, size_t bytes)
{
	const uint8_t *newest = built_at(builder, builder->size);

	for (size_t i = 0; i < builder->vtables.count; i++) {
		const uint8_t *old = built_at(builder, builder->vtables.data[i]);

		if (tt_fb_load(old, 2) == bytes && memcmp(old, newest, bytes) == 0)
			return builder->vtables.data[i];
	}
	return 0;
}

tt_fb_ref tt_fb_table_end(struct tt_fb_builder *builder)
{
	size_t table, vtable_size = 4;
	tt_fb_ref vtable, *slot;
	uint8_t *at;

	push(builder, 4, 0); /* the distance to the vtable, known below */
	table = builder->size;
	for (unsigned i = 0; i < builder->count; i++)
		if (4 + 2 * (builder->fields[i].field + 1) > vtable_size)
			vtable_size = 4 + 2 * (builder->fields[i].field + 1);
	at = grow(builder, vtable_size);
	if (!at)
		return 0;
	memset(at, 0, vtable_size);
	store(at, 2, vtable_size);
	store(at + 2, 2, table - builder->table);
	for (unsigned i = 0; i < builder->count; i++)
		store(at + 4 + 2 * (size_t)builder->fields[i].field, 2,
		      table - builder->fields[i].at);
	vtable = find_vtable(builder, vtable_size);
	if (vtable) {
		builder->size = table;
	} else {
		vtable = (tt_fb_ref)builder->size;
		slot = TT_VEC_PUSH(&builder->vtables);
		if (!slot) {
			builder->failed = true;
			return 0;
		}
		*slot = vtable;
	}
	/* The vtable may lie on either side: the distance is signed. */
	store(built_at(builder, table), 4, (uint32_t)(vtable - (uint32_t)table));
	return (tt_fb_ref)table;
}

tt_fb_ref tt_fb_vector_u32(struct tt_fb_builder *builder, const uint32_t *values, size_t count)
{
	if (count)
		pad_before(builder, 4 * count, 4);
	for (size_t i = count; i-- > 0;)
		push(builder, 4, values[i]);
	push(builder, 4, count);
	return (tt_fb_ref)builder->size;
}

tt_fb_ref tt_fb_vector_refs(struct tt_fb_builder *builder, const tt_fb_ref *refs, size_t count)
{
	if (count)
		pad_before(builder, 4 * count, 4);
	for (size_t i = count; i-- > 0;)
		push_ref(builder, refs[i]);
	push(builder, 4, count);
	return (tt_fb_ref)builder->size;
}

tt_fb_ref tt_fb_struct_u64(struct tt_fb_builder *builder, const uint64_t *values, size_t count)
{
	for (size_t i = count; i-- > 0;)
		push(builder, 8, values[i]);
	return (tt_fb_ref)builder->size;
}

void tt_fb_align(struct tt_fb_builder *builder, size_t bytes)
{
	pad_before(builder, 0, bytes);
}

void tt_fb_finish(struct tt_fb_builder *builder, tt_fb_ref root)
{
	pad_before(builder, 4, builder->align);
	push_ref(builder, root);
}

const uint8_t *tt_fb_builder_data(const struct tt_fb_builder *builder)
{
	return built_at(builder, builder->size);
}

tt_status tt_fb_builder_status(const struct tt_fb_builder *builder)
{
	return builder->failed ? tt_fail_nomem() : TTNN_OK;
}

void tt_fb_builder_deinit(struct tt_fb_builder *builder)
{
	tt_free(builder->data);
	TT_VEC_DEINIT(&builder->vtables);
	*builder = (struct tt_fb_builder){0};
}
