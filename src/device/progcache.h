/*
 * progcache.h: the programs a device has already built, by everything that makes them different.
 *
 * The operations layer writes a key: the program's name, its attributes and the specs of its
 * tensors, without what the program does not depend on (that mask is its business). Keys are
 * compared whole: two programs are taken for one only if their keys are equal. A key that is a hash
 * of these things, as the operations' is, can be equal by chance, once in 2^64. What is kept for a key is the caller's.
 *
 *	tt_progcache_find(&entry, cache, key, name)
 *	if (!entry)  build; tt_progcache_add(&entry, cache, key, built)
 *	... entry->payload ...
 *	tt_progcache_unref(entry)
 *
 * Upstream's dry runs look programs up (and are refused when misses are not allowed), but never add
 * one: they release what they built.
 *
 * Any thread may call any function. A payload lives until the cache has dropped it and the last
 * finder has given it back, so clearing never takes a program away from a running call.
 */
#ifndef TT_DEVICE_PROGCACHE_H
#define TT_DEVICE_PROGCACHE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/map.h"
#include "base/status.h"

struct tt_progcache_key {
	const void *bytes;
	size_t length;
};

/* What is kept, and how it is freed; free may be NULL. */
struct tt_progcache_payload {
	void *data;
	void (*free)(void *data);
};

struct tt_progcache_entry {
	atomic_uint refs;
	struct tt_progcache_payload payload; /* never changes */
};

struct tt_progcache_stats {
	uint64_t entries;      /* now */
	uint64_t hits, misses; /* since init; a cache that is off counts neither */
};

struct tt_progcache {
	struct tt_lock lock;
	struct tt_map programs; /* key → struct tt_progcache_entry */
	uint64_t hits, misses;
	bool on, misses_allowed;
};

/* An empty cache that is on and allows misses. */
void tt_progcache_init(struct tt_progcache *cache);

/* Drops everything; nobody may use the cache any more. */
void tt_progcache_deinit(struct tt_progcache *cache);

/*
 * The entry of a key with one reference more, or NULL: there is none, or the cache is off. Fails
 * only where misses are not allowed; `operation` is the name in that message.
 */
tt_status tt_progcache_find(struct tt_progcache_entry **out, struct tt_progcache *cache,
			    const struct tt_progcache_key *key, const char *operation);

/*
 * Keeps a payload, which belongs to the cache from then on, and hands out an entry with a reference.
 * When another thread was faster its entry is handed out and the payload freed; a cache that is off
 * makes an entry that nobody else will find. On failure the payload stays the caller's.
 */
tt_status tt_progcache_add(struct tt_progcache_entry **out, struct tt_progcache *cache,
			   const struct tt_progcache_key *key,
			   const struct tt_progcache_payload *payload);

/* One reference less. NULL is fine. */
void tt_progcache_unref(struct tt_progcache_entry *entry);

/* Forgets all programs. */
void tt_progcache_clear(struct tt_progcache *cache);

/* Switching off also clears. */
void tt_progcache_enable(struct tt_progcache *cache, bool on);

/* Whether finding nothing is fine (it is at first). Holds until changed, also while it is off. */
void tt_progcache_allow_misses(struct tt_progcache *cache, bool allowed);

struct tt_progcache_stats tt_progcache_stats(struct tt_progcache *cache);

#endif
