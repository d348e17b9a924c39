#include "report/intmap.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define LEAST 16

static size_t home(const struct tt_intmap *map, uint64_t key)
{
	return (size_t)tt_hash_u64(0, key) & map->mask;
}

/* The slot of the key, or the free one where it belongs. */
static struct tt_intmap_slot *find(const struct tt_intmap *map, uint64_t key)
{
	size_t at = home(map, key);

	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & map->mask;
	return &map->slots[at];
}

uint32_t tt_intmap_get(const struct tt_intmap *map, uint64_t key)
{
	return map->count ? find(map, key)->value : 0;
}

static tt_status grow(struct tt_intmap *map)
{
	struct tt_intmap larger = {.mask = map->slots ? 2 * map->mask + 1 : LEAST - 1};

	larger.slots = tt_calloc(larger.mask + 1, sizeof(*larger.slots));
	if (!larger.slots)
		return tt_fail_nomem();
	larger.count = map->count;
	for (size_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].value)
			*find(&larger, map->slots[i].key) = map->slots[i];
	tt_free(map->slots);
	*map = larger;
	return TTNN_OK;
}

tt_status tt_intmap_set(struct tt_intmap *map, uint64_t key, uint32_t value)
{
	struct tt_intmap_slot *slot;

	if (!map->slots || 4 * (map->count + 1) > 3 * (map->mask + 1))
		TT_TRY(grow(map));
	slot = find(map, key);
	map->count += !slot->value;
	*slot = (struct tt_intmap_slot){key, value};
	return TTNN_OK;
}

void tt_intmap_remove(struct tt_intmap *map, uint64_t key)
{
	struct tt_intmap_slot *slot = map->count ? find(map, key) : NULL;
	size_t hole, at;

	if (!slot || !slot->value)
		return;
	map->count--;
	/* Whoever stands behind and could not be found across a hole moves into it. */
	hole = (size_t)(slot - map->slots);
	for (at = (hole + 1) & map->mask; map->slots[at].value; at = (at + 1) & map->mask) {
		size_t wanted = home(map, map->slots[at].key);

		if (((at - wanted) & map->mask) < ((at - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole].value = 0;
}

void tt_intmap_clear(struct tt_intmap *map)
{
	if (map->count)
		memset(map->slots, 0, (map->mask + 1) * sizeof(*map->slots));
	map->count = 0;
}

void tt_intmap_deinit(struct tt_intmap *map)
{
	tt_free(map->slots);
	*map = (struct tt_intmap){0};
}
