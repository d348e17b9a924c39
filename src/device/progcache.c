#include "device/progcache.h"

#include "base/mem.h"

static struct tt_progcache_entry *take(struct tt_progcache_entry *entry)
{
	atomic_fetch_add_explicit(&entry->refs, 1, memory_order_relaxed);
	return entry;
}

void tt_progcache_unref(struct tt_progcache_entry *entry)
{
	if (!entry || atomic_fetch_sub_explicit(&entry->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (entry->payload.free)
		entry->payload.free(entry->payload.data);
	tt_free(entry);
}

void tt_progcache_init(struct tt_progcache *cache)
{
	*cache = (struct tt_progcache){.on = true, .misses_allowed = true};
	tt_lock_init(&cache->lock, TT_RANK_PROGRAMS, NULL);
}

/* Takes all entries out of the cache; gives them back outside of the lock with drop(). */
static struct tt_map forget(struct tt_progcache *cache)
{
	struct tt_map programs = cache->programs;

	cache->programs = (struct tt_map){0};
	return programs;
}

static void drop(struct tt_map *programs)
{
	for (size_t i = 0; i < programs->count; i++)
		tt_progcache_unref(programs->entries[i].pointer);
	tt_map_deinit(programs);
}

void tt_progcache_clear(struct tt_progcache *cache)
{
	struct tt_map programs;

	tt_lock_take(&cache->lock);
	programs = forget(cache);
	tt_lock_give(&cache->lock);
	drop(&programs);
}

void tt_progcache_deinit(struct tt_progcache *cache)
{
	tt_progcache_clear(cache);
	tt_lock_deinit(&cache->lock);
}

void tt_progcache_enable(struct tt_progcache *cache, bool on)
{
	struct tt_map programs = {0};

	tt_lock_take(&cache->lock);
	cache->on = on;
	if (!on)
		programs = forget(cache);
	tt_lock_give(&cache->lock);
	drop(&programs);
}

void tt_progcache_allow_misses(struct tt_progcache *cache, bool allowed)
{
	tt_lock_take(&cache->lock);
	cache->misses_allowed = allowed;
	tt_lock_give(&cache->lock);
}

struct tt_progcache_stats tt_progcache_stats(struct tt_progcache *cache)
{
	struct tt_progcache_stats stats;

	tt_lock_take(&cache->lock);
	stats = (struct tt_progcache_stats){cache->programs.count, cache->hits, cache->misses};
	tt_lock_give(&cache->lock);
	return stats;
}

tt_status tt_progcache_find(struct tt_progcache_entry **out, struct tt_progcache *cache,
			    const struct tt_progcache_key *key, const char *operation)
{
	struct tt_progcache_entry *found = NULL;
	const struct tt_map_entry *slot;
	bool allowed = true;

	tt_lock_take(&cache->lock);
	if (cache->on) {
		slot = tt_map_find(&cache->programs, key->bytes, key->length);
		if (slot)
			found = take(slot->pointer);
		cache->hits += found != NULL;
		cache->misses += !found;
		allowed = found || cache->misses_allowed;
	}
	tt_lock_give(&cache->lock);
	if (!allowed)
		return tt_fail_cond(
			TTNN_STATE, "tt::exception",
			"Device operation \"%s\": program cache miss occurred, but cache "
			"misses are forbidden",
			operation);
	*out = found;
	return TTNN_OK;
}

/* Puts a new entry into the cache, or returns the one that is there; NULL when exhausted. */
static struct tt_progcache_entry *insert(struct tt_progcache *cache,
					 const struct tt_progcache_key *key,
					 struct tt_progcache_entry *entry)
{
	struct tt_map_entry *slot;
	bool added;

	if (!cache->on)
		return entry;
	slot = tt_map_add(&cache->programs, key->bytes, key->length, &added);
	if (!slot)
		return NULL;
	if (added)
		slot->pointer = entry;
	return take(slot->pointer);
}

tt_status tt_progcache_add(struct tt_progcache_entry **out, struct tt_progcache *cache,
			   const struct tt_progcache_key *key,
			   const struct tt_progcache_payload *payload)
{
	struct tt_progcache_entry *entry = tt_calloc(1, sizeof(*entry)), *kept;

	if (!entry)
		return tt_fail_nomem();
	atomic_init(&entry->refs, 1);
	entry->payload = *payload;
	tt_lock_take(&cache->lock);
	kept = insert(cache, key, entry);
	tt_lock_give(&cache->lock);
	if (!kept) {
		tt_free(entry);
		return tt_fail_nomem();
	}
	if (kept != entry)
		tt_progcache_unref(entry);
	*out = kept;
	return TTNN_OK;
}
