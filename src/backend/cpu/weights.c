#include "backend/cpu/weights.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/large.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "tensor/tile.h"

#define RECENT 1024 /* more than a large model has, or none of its weights would be known again */
#define LOOK_BYTES 65536 /* at once */
#define MOST_BYTES ((size_t)2 << 30)

static void forget_users(struct tt_lock *unused);
static const struct tt_lock_forks forks = {.child = forget_users};
TT_LOCK_STATIC(lock, TT_RANK_WEIGHTS, &forks);
static struct tt_weights *all;
static size_t all_bytes, most_bytes; /* 0: not known yet */
static uint64_t calls;
/* Bytes that were asked for in vain: addresses to compare, not to follow. */
static const void *recent[RECENT];
static uint32_t recent_next;

static bool is_same(const struct tt_weights_key *a, const struct tt_weights_key *b)
{
	if (a->storage != b->storage || a->area.data != b->area.data ||
	    memcmp(a->how, b->how, sizeof(a->how)) != 0 || a->fns != b->fns ||
	    a->area.dtype != b->area.dtype || a->area.rows != b->area.rows ||
	    a->area.cols != b->area.cols || !tt_tile_equal(&a->area.tile, &b->area.tile) ||
	    !ttnn_shape_equal(&a->area.shape, &b->area.shape))
		return false;
	for (uint32_t d = 0; d + 1 < a->area.shape.rank; d++)
		if (a->area.step[d] != b->area.step[d])
			return false;
	return true;
}

/* ---- dropping ---------------------------------------------------------------------------------- */

/* The caller holds the lock. */
static size_t limit(void)
{
	if (!most_bytes) {
		long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

		most_bytes = pages > 0 && page > 0 ? (size_t)pages / 4 * (size_t)page : MOST_BYTES;
		most_bytes = most_bytes < MOST_BYTES ? most_bytes : MOST_BYTES;
	}
	return most_bytes;
}

/* Moves weights to the list of those that go. The caller holds the lock. */
static void drop(struct tt_weights **dropped, struct tt_weights **link)
{
	struct tt_weights *weights = *link;

	*link = weights->next;
	all_bytes -= weights->bytes;
	weights->next = *dropped;
	*dropped = weights;
}

/* Without the lock: whoever lent the bytes is told, which may be Python. */
static void free_dropped(struct tt_weights *dropped)
{
	struct tt_weights *next;

	for (; dropped; dropped = next) {
		next = dropped->next;
		tt_storage_unref(dropped->key.storage);
		tt_large_free(dropped->data, dropped->bytes);
		tt_free(dropped);
	}
}

/* Those whose bytes nobody else has, or all. */
static void drop_dead(struct tt_weights **dropped, bool every)
{
	struct tt_weights **link = &all;

	while (*link)
		if ((*link)->users == 0 && (every || (*link)->key.storage->refs == 1))
			drop(dropped, link);
		else
			link = &(*link)->next;
}

static void drop_oldest(struct tt_weights **dropped, size_t most)
{
	while (all_bytes > most) {
		struct tt_weights **oldest = NULL;

		for (struct tt_weights **link = &all; *link; link = &(*link)->next)
			if ((*link)->users == 0 && (!oldest || (*link)->used < (*oldest)->used))
				oldest = link;
		if (!oldest)
			return;
		drop(dropped, oldest);
	}
}

void tt_weights_drop(void)
{
	struct tt_weights *dropped = NULL;

	tt_lock_take(&lock);
	drop_dead(&dropped, true);
	tt_lock_give(&lock);
	free_dropped(dropped);
}

void tt_weights_set_limit(size_t bytes)
{
	struct tt_weights *dropped = NULL;

	tt_lock_take(&lock);
	most_bytes = bytes;
	drop_oldest(&dropped, limit());
	tt_lock_give(&lock);
	free_dropped(dropped);
}

size_t tt_weights_bytes(void)
{
	size_t bytes;

	tt_lock_take(&lock);
	bytes = all_bytes;
	tt_lock_give(&lock);
	return bytes;
}

/* In the child of a fork: the jobs that used them are not here. */
static void forget_users(struct tt_lock *unused)
{
	(void)unused;
	for (struct tt_weights *weights = all; weights; weights = weights->next)
		weights->users = 0;
}

/* ---- finding and keeping ------------------------------------------------------------------------- */

struct tt_weights *tt_weights_find(const struct tt_weights_key *key)
{
	struct tt_weights *found, *dropped = NULL;

	if (!key->storage)
		return NULL;
	tt_lock_take(&lock);
	calls++;
	for (found = all; found && !is_same(&found->key, key); found = found->next)
		;
	if (found) {
		found->users++;
		found->used = calls;
	} else {
		drop_dead(&dropped, false);
	}
	tt_lock_give(&lock);
	free_dropped(dropped);
	return found;
}

tt_status tt_weights_new(struct tt_weights **out, const struct tt_weights_key *key, size_t bytes)
{
	struct tt_weights *weights = tt_alloc(sizeof(*weights));

	if (!weights)
		return tt_fail_nomem();
	*weights = (struct tt_weights){.key = *key, .bytes = bytes, .users = 1};
	weights->data = bytes == SIZE_MAX ? NULL : tt_large_alloc(bytes);
	if (!weights->data) {
		tt_free(weights);
		return tt_fail_nomem();
	}
	*out = weights;
	return TTNN_OK;
}

/* Whether the bytes were asked for lately; from now on they were. */
static bool was_asked(const void *bytes)
{
	for (uint32_t i = 0; i < RECENT; i++)
		if (recent[i] == bytes)
			return true;
	recent[recent_next++ % RECENT] = bytes;
	return false;
}

void tt_weights_keep(struct tt_weights *weights)
{
	struct tt_weights *dropped = NULL;

	/* What was packed in a hurry may have holes. */
	if (!weights->key.storage || tt_deadline_passed())
		return;
	tt_lock_take(&lock);
	if (weights->bytes <= limit() && was_asked(weights->key.area.data)) {
		tt_storage_ref(weights->key.storage);
		weights->kept = true;
		weights->used = calls;
		weights->next = all;
		all = weights;
		all_bytes += weights->bytes;
		drop_oldest(&dropped, limit());
	}
	tt_lock_give(&lock);
	free_dropped(dropped);
}

void tt_weights_release(struct tt_weights *weights)
{
	struct tt_weights *dropped = NULL;

	if (!weights)
		return;
	if (!weights->kept) {
		tt_large_free(weights->data, weights->bytes);
		tt_free(weights);
		return;
	}
	tt_lock_take(&lock);
	weights->users--;
	drop_oldest(&dropped, limit()); /* those in use were too many */
	tt_lock_give(&lock);
	free_dropped(dropped);
}

/* ---- what they hold ------------------------------------------------------------------------------ */

struct look {
	const struct tt_weights *weights;
	bool half;
	atomic_bool found; /* a number that is not finite */
};

static bool all_finite_half(const uint16_t *numbers, size_t count)
{
	uint32_t found = 0;

	for (size_t i = 0; i < count; i++)
		found |= (numbers[i] & 0x7f80) == 0x7f80;
	return !found;
}

static bool all_finite_full(const uint32_t *numbers, size_t count)
{
	uint32_t found = 0;

	for (size_t i = 0; i < count; i++)
		found |= (numbers[i] & 0x7f800000) == 0x7f800000;
	return !found;
}

static void look_at(void *context, size_t begin, size_t end)
{
	struct look *look = context;

	for (size_t n = begin; n < end && !atomic_load(&look->found); n++) {
		const void *part = (const uint8_t *)look->weights->data + n * LOOK_BYTES;
		size_t left = look->weights->bytes - n * LOOK_BYTES;
		size_t bytes = left < LOOK_BYTES ? left : LOOK_BYTES;

		if (look->half ? !all_finite_half(part, bytes / sizeof(uint16_t))
			       : !all_finite_full(part, bytes / sizeof(uint32_t)))
			atomic_store(&look->found, true);
	}
}

bool tt_weights_finite(struct tt_weights *weights, bool half)
{
	uint8_t finite = atomic_load(&weights->finite);
	struct look look = {.weights = weights, .half = half};

	if (!finite) {
		tt_pool_for((weights->bytes + LOOK_BYTES - 1) / LOOK_BYTES, 1, look_at, &look);
		finite = atomic_load(&look.found) ? 2 : 1;
		if (!tt_deadline_passed()) /* else not all were looked at */
			atomic_store(&weights->finite, finite);
	}
	return finite == 1;
}
