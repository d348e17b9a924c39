#include "trace/terms.h"

#include <string.h>

#include "base/mem.h"

/* An enumeration as far as it was told: rows in ascending order. */
struct growing {
	struct tt_enum type;
	TT_VEC(struct tt_enum_row) rows;
};

void tt_terms_deinit(struct tt_terms *terms)
{
	for (size_t i = 0; i < terms->enums.count; i++) {
		struct growing *growing = terms->enums.entries[i].pointer;

		if (growing)
			TT_VEC_DEINIT(&growing->rows);
	}
	tt_map_deinit(&terms->names);
	tt_map_deinit(&terms->schemas);
	tt_map_deinit(&terms->enums);
	tt_arena_deinit(&terms->arena);
}

const char *tt_terms_name(struct tt_terms *terms, const char *text, size_t length)
{
	const char *zero = memchr(text, 0, length);
	struct tt_map_entry *entry =
		tt_map_add(&terms->names, text, zero ? (size_t)(zero - text) : length, NULL);

	terms->nomem |= !entry;
	return entry ? entry->key : NULL;
}

bool tt_terms_have_room(const struct tt_terms *terms)
{
	size_t entries = terms->names.count + terms->schemas.count + terms->enums.count;

	return terms->names.keys.bytes + terms->schemas.keys.bytes + terms->arena.bytes +
		       entries * sizeof(struct tt_map_entry) +
		       terms->member_count * sizeof(struct tt_enum_row) <
	       TT_TERMS_MAX;
}

/* Everything about a schema as bytes: its texts are interned, so their addresses tell them apart. */
static void add_key(struct tt_str *key, const struct tt_schema *schema)
{
	tt_str_add(key, (const char *)&schema->name, sizeof(schema->name));
	tt_str_addc(key, (char)schema->named);
	for (size_t i = 0; i < schema->count; i++) {
		const struct tt_field *field = &schema->fields[i];
		const char flags[] = {(char)field->text,      (char)field->unkeyed,
				      (char)field->unprinted, (char)field->omit_empty,
				      (char)field->spaced,    (char)field->words,
				      (char)field->defaulted};

		tt_str_add(key, (const char *)&field->name, sizeof(field->name));
		tt_str_add(key, (const char *)&field->fixed, sizeof(field->fixed));
		tt_str_add(key, (const char *)&field->json, sizeof(field->json));
		tt_str_add(key, flags, sizeof(flags));
	}
}

static struct tt_schema *copy_schema(struct tt_arena *arena, const struct tt_schema *schema)
{
	struct tt_schema *copy = tt_arena_alloc(arena, sizeof(*copy));
	struct tt_field *fields = tt_arena_calloc(arena, schema->count + 1, sizeof(*fields));

	if (!copy || !fields)
		return NULL;
	*copy = *schema;
	memcpy(fields, schema->fields, schema->count * sizeof(*fields));
	copy->fields = fields;
	return copy;
}

const struct tt_schema *tt_terms_schema(struct tt_terms *terms, const struct tt_schema *schema)
{
	struct tt_map_entry *entry = NULL;
	struct tt_str key = {0};

	add_key(&key, schema);
	if (tt_str_status(&key) == TTNN_OK)
		entry = tt_map_add(&terms->schemas, key.data, key.length, NULL);
	tt_str_deinit(&key);
	if (entry && !entry->pointer)
		entry->pointer = copy_schema(&terms->arena, schema);
	terms->nomem |= !entry || !entry->pointer;
	return entry ? entry->pointer : NULL;
}

/* The library's own enumeration of that name, if it agrees about the member. */
static const struct tt_enum *find_own(const char *type, int64_t member, const char *name)
{
	static const struct tt_enum *const types[] = {
		&tt_enum_dtype,         &tt_enum_layout,        &tt_enum_buffer_type,
		&tt_enum_memory_layout, &tt_enum_orientation,   &tt_enum_shard_strategy,
		&tt_enum_storage_type,  &tt_enum_math_fidelity,
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const char *ours = tt_enum_name(types[i], member);

		if (strcmp(types[i]->name, type) == 0)
			return ours && name && strcmp(ours, name) == 0 ? types[i] : NULL;
	}
	return NULL;
}

static bool grow(struct tt_terms *terms, struct growing *growing, int64_t member, const char *name)
{
	struct tt_enum_row *rows;
	size_t at = 0;

	while (at < growing->rows.count && growing->rows.data[at].value < member)
		at++;
	if (at < growing->rows.count && growing->rows.data[at].value == member)
		return true;
	if (!TT_VEC_RESERVE(&growing->rows, 1))
		return false;
	rows = growing->rows.data;
	memmove(&rows[at + 1], &rows[at], (growing->rows.count++ - at) * sizeof(*rows));
	rows[at] = (struct tt_enum_row){member, name};
	growing->type.rows = rows;
	growing->type.count = growing->rows.count;
	terms->member_count++;
	return true;
}

static struct growing *find_growing(struct tt_terms *terms, const char *type)
{
	struct tt_map_entry *entry = tt_map_add(&terms->enums, type, strlen(type), NULL);

	if (entry && !entry->pointer) {
		struct growing *growing = tt_arena_calloc(&terms->arena, 1, sizeof(*growing));

		if (growing)
			growing->type.name = type;
		entry->pointer = growing;
	}
	return entry ? entry->pointer : NULL;
}

struct ttnn_value tt_terms_member(struct tt_terms *terms, const char *type, int64_t member,
				  const char *name)
{
	const struct tt_enum *known = find_own(type, member, name);

	if (!known) {
		struct growing *growing = find_growing(terms, type);

		if (!growing || (name && !grow(terms, growing, member, name))) {
			terms->nomem = true;
			return (struct ttnn_value){0};
		}
		known = &growing->type;
	}
	return tt_value_enum(known, member);
}
