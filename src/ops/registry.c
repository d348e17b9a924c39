#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/map.h"
#include "ops/families.h"
#include "ops/op.h"

/* Built once, kept until the process ends. */
static struct {
	atomic_bool ready;
	struct tt_arena arena;
	struct tt_op_entry *entries;
	size_t count;
	struct tt_map by_name;
} registry;
TT_LOCK_STATIC(building, TT_RANK_REGISTRY, NULL);

/* "ttnn.transformer.attention_softmax" → "ttnn::transformer::attention_softmax" */
static const char *cpp_name(struct tt_arena *arena, const char *name)
{
	size_t dots = 0;
	char *out, *to;

	for (const char *at = name; *at; at++)
		dots += *at == '.';
	out = to = tt_arena_alloc(arena, strlen(name) + dots + 1);
	if (!out)
		return NULL;
	for (; *name; name++) {
		if (*name == '.')
			*to++ = ':';
		*to++ = *name == '.' ? ':' : *name;
	}
	*to = '\0';
	return out;
}

static tt_status index_name(const char *name, struct tt_op_entry *entry)
{
	bool added;
	struct tt_map_entry *slot = tt_map_add(&registry.by_name, name, strlen(name), &added);

	TT_NEED_MEMORY(slot);
	if (!added)
		return tt_fail(TTNN_INTERNAL, "two operations are called %s", name);
	slot->pointer = entry;
	return TTNN_OK;
}

static tt_status index_names(void)
{
	for (size_t i = 0; i < registry.count; i++) {
		struct tt_op_entry *entry = &registry.entries[i];

		TT_TRY(index_name(entry->op->name, entry));
		TT_TRY(index_name(entry->cpp_name, entry));
	}
	for (size_t i = 0; i < tt_op_alias_count; i++) {
		struct tt_map_entry *slot = tt_map_finds(&registry.by_name, tt_op_aliases[i].of);

		if (slot)
			TT_TRY(index_name(tt_op_aliases[i].name, slot->pointer));
	}
	return TTNN_OK;
}

static int by_name(const void *a, const void *b)
{
	const struct tt_op_entry *left = a, *right = b;

	return strcmp(left->op->name, right->op->name);
}

/* A row with what its table says of all its rows, and with the usual bound where it has none of its own. */
static const struct tt_op *whole_row(const struct tt_op_family *family, size_t place)
{
	struct tt_op *op = tt_arena_alloc(&registry.arena, sizeof(*op));

	if (!op)
		return NULL;
	*op = family->ops[place];
	op->family = op->family ? op->family : family->name;
	if (op->golden && !(op->pcc > 0))
		op->pcc = TT_USUAL_PCC;
	return op;
}

static tt_status fill_entry(struct tt_op_entry *entry, const struct tt_op *op)
{
	memset(entry, 0, sizeof(*entry));
	TT_NEED_MEMORY(op);
	entry->op = op;
	entry->overloads.name = op->name;
	entry->cpp_name = cpp_name(&registry.arena, op->name);
	TT_NEED_MEMORY(entry->cpp_name);
	for (size_t i = 0; i < TT_SIGS_MAX && op->sigs[i]; i++) {
		tt_status status =
			tt_sig_parse(&entry->overloads.sigs[i], &registry.arena, op->sigs[i]);

		if (status != TTNN_OK)
			return tt_fail_prefix(status, "%s", op->name);
		entry->overloads.count++;
	}
	entry->own = entry->overloads.count;
	return TTNN_OK;
}

/* Adds the signatures of a row to those of the operation that has its name. */
static tt_status add_overload(const struct tt_op *op)
{
	struct tt_op_entry *other = tt_arena_alloc(&registry.arena, sizeof(*other)), *entry;
	struct tt_map_entry *slot;

	TT_NEED_MEMORY(other);
	TT_TRY(fill_entry(other, op));
	slot = tt_map_finds(&registry.by_name, op->name);
	entry = slot ? slot->pointer : NULL;
	if (!entry || entry->other || entry->own + other->own > TT_SIGS_MAX)
		return tt_fail(TTNN_INTERNAL, "%s has no room for more signatures", op->name);
	entry->other = other;
	for (size_t i = 0; i < other->own; i++)
		entry->overloads.sigs[entry->overloads.count++] = other->overloads.sigs[i];
	return TTNN_OK;
}

/* Calls a function for all rows of one kind. */
static tt_status each_row(tt_status (*visit)(const struct tt_op *op), bool overload)
{
	for (size_t f = 0; f < tt_family_count; f++)
		for (size_t i = 0; i < tt_families[f]->count; i++)
			if (tt_families[f]->ops[i].overload == overload)
				TT_TRY(visit(whole_row(tt_families[f], i)));
	return TTNN_OK;
}

static tt_status add_entry(const struct tt_op *op)
{
	TT_TRY(fill_entry(&registry.entries[registry.count], op));
	registry.count++;
	return TTNN_OK;
}

static tt_status build(void)
{
	size_t total = 0;

	for (size_t f = 0; f < tt_family_count; f++)
		total += tt_families[f]->count;
	registry.entries = tt_arena_calloc(&registry.arena, total, sizeof(*registry.entries));
	TT_NEED_MEMORY(registry.entries);
	TT_TRY(each_row(add_entry, false));
	qsort(registry.entries, registry.count, sizeof(*registry.entries), by_name);
	TT_TRY(index_names());
	return each_row(add_overload, true);
}

tt_status tt_op_registry(void)
{
	tt_status status = TTNN_OK;

	if (atomic_load_explicit(&registry.ready, memory_order_acquire))
		return TTNN_OK;
	tt_lock_take(&building);
	if (!atomic_load(&registry.ready)) {
		status = build();
		if (status == TTNN_OK) {
			atomic_store_explicit(&registry.ready, true, memory_order_release);
		} else {
			tt_map_deinit(&registry.by_name);
			tt_arena_deinit(&registry.arena);
			registry.count = 0;
		}
	}
	tt_lock_give(&building);
	return status;
}

const struct tt_op_entry *tt_op_find(const char *name)
{
	struct tt_map_entry *slot;
	char full[128];

	if (tt_op_registry() != TTNN_OK)
		return NULL;
	slot = tt_map_finds(&registry.by_name, name);
	if (!slot && strlen(name) < sizeof(full) - 5) {
		memcpy(full, "ttnn.", 5);
		memcpy(full + 5, name, strlen(name) + 1);
		slot = tt_map_finds(&registry.by_name, full);
	}
	return slot ? slot->pointer : NULL;
}

const struct tt_op_entry *tt_op_all(size_t *count)
{
	*count = 0;
	if (tt_op_registry() != TTNN_OK)
		return NULL;
	*count = registry.count;
	return registry.entries;
}
