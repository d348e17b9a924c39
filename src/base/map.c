#include "base/map.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"

static struct tt_map_entry *probe(const struct tt_map *map, const void *key, size_t length,
				  uint64_t hash)
{
	size_t mask = map->slot_count - 1;
	size_t slot;

	if (!map->slot_count)
		return NULL;
	for (slot = (size_t)hash & mask; map->slots[slot]; slot = (slot + 1) & mask) {
		struct tt_map_entry *entry = &map->entries[map->slots[slot] - 1];

		if (entry->hash == hash && entry->length == length &&
		    (!length || memcmp(entry->key, key, length) == 0))
			return entry;
	}
	return NULL;
}

static void place(struct tt_map *map, size_t index)
{
	size_t mask = map->slot_count - 1;
	size_t slot = (size_t)map->entries[index].hash & mask;

	while (map->slots[slot])
		slot = (slot + 1) & mask;
	map->slots[slot] = (uint32_t)(index + 1);
}

/* Keeps the table at most half full. */
static bool grow(struct tt_map *map)
{
	size_t want = map->slot_count ? map->slot_count * 2 : 16;
	uint32_t *slots;

	if ((map->count + 1) * 2 <= map->slot_count)
		return true;
	if (map->count >= UINT32_MAX - 1)
		return false;
	slots = tt_calloc(want, sizeof(*slots));
	if (!slots)
		return false;
	tt_free(map->slots);
	map->slots = slots;
	map->slot_count = want;
	for (size_t i = 0; i < map->count; i++)
		place(map, i);
	return true;
}

struct tt_map_entry *tt_map_find(const struct tt_map *map, const void *key, size_t length)
{
	return probe(map, key, length, tt_hash(0, key, length));
}

struct tt_map_entry *tt_map_finds(const struct tt_map *map, const char *key)
{
	return tt_map_find(map, key, strlen(key));
}

struct tt_map_entry *tt_map_add(struct tt_map *map, const void *key, size_t length, bool *added)
{
	uint64_t hash = tt_hash(0, key, length);
	struct tt_map_entry *entry = probe(map, key, length, hash);
	const char *copy;

	if (added)
		*added = !entry;
	if (entry)
		return entry;
	copy = tt_arena_strndup(&map->keys, key, length);
	if (!copy || !grow(map))
		return NULL;
	if (!tt_vec_reserve(&map->entries, &map->room, map->count, 1, sizeof(*entry)))
		return NULL;
	entry = &map->entries[map->count];
	*entry = (struct tt_map_entry){.key = copy, .length = length, .hash = hash};
	place(map, map->count++);
	return entry;
}

void tt_map_clear(struct tt_map *map)
{
	/* A table far larger than what was in it would be cleared at length again and again. */
	if (map->slot_count > 1024 && map->count < map->slot_count / 16) {
		tt_free(map->slots);
		map->slots = NULL;
		map->slot_count = 0;
	}
	map->count = 0;
	if (map->slots)
		memset(map->slots, 0, map->slot_count * sizeof(*map->slots));
	tt_arena_reset(&map->keys);
}

void tt_map_deinit(struct tt_map *map)
{
	tt_free(map->entries);
	tt_free(map->slots);
	tt_arena_deinit(&map->keys);
	memset(map, 0, sizeof(*map));
}
