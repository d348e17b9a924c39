/*
 * map.h: a hash map from byte strings to 64-bit values (numbers or pointers).
 *
 * Keys are copied. Entries are kept in insertion order: walk map->entries[0 .. map->count).
 * All zero is a valid empty map. There is no removal: what needs one wants another structure.
 * Not for use by two threads while one of them writes.
 */
#ifndef TT_BASE_MAP_H
#define TT_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

struct tt_map_entry {
	const char *key; /* zero-terminated copy; may hold zero bytes itself */
	size_t length;
	uint64_t hash;
	union {
		uint64_t number;
		void *pointer;
	};
};

struct tt_map {
	struct tt_map_entry *entries;
	size_t count, room;
	uint32_t *slots; /* index + 1 into entries, open addressing, power of two */
	size_t slot_count;
	struct tt_arena keys;
};

/* The entry, or NULL. Borrowed until the next tt_map_add(). */
struct tt_map_entry *tt_map_find(const struct tt_map *map, const void *key, size_t length);
struct tt_map_entry *tt_map_finds(const struct tt_map *map, const char *key);

/* The entry, made with value 0 if absent; NULL when memory is exhausted. *added may be NULL. */
struct tt_map_entry *tt_map_add(struct tt_map *map, const void *key, size_t length, bool *added);

/* Empties, keeps the tables. */
void tt_map_clear(struct tt_map *map);
void tt_map_deinit(struct tt_map *map);

#endif
