#include "report/idset.h"

#include <string.h>

#include "base/mem.h"

#define LEAST 8
#define NEIGHBOURS 9
#define LARGE 50000

/* hash(id) of Python: modulo a Mersenne prime, with the sign kept, and never -1. */
static size_t hash(int64_t id)
{
	int64_t value = id % (((int64_t)1 << 61) - 1);

	return (size_t)(value == -1 ? -2 : value);
}

/* The slot of the id, or the free one where it belongs. */
static struct tt_idset_slot *find(struct tt_idset_slot *slots, size_t mask, int64_t id)
{
	size_t perturb = hash(id), at = perturb & mask;

	for (;;) {
		size_t more = at + NEIGHBOURS <= mask ? NEIGHBOURS : 0;

		for (size_t i = at; i <= at + more; i++)
			if (!slots[i].used || slots[i].id == id)
				return &slots[i];
		perturb >>= 5;
		at = (at * 5 + 1 + perturb) & mask;
	}
}

static tt_status resize(struct tt_idset *set, size_t want)
{
	struct tt_idset_slot *slots;
	size_t size = LEAST;

	while (size <= want)
		size *= 2;
	slots = tt_calloc(size, sizeof(*slots));
	if (!slots)
		return tt_fail_nomem();
	for (size_t i = 0; set->slots && i <= set->mask; i++)
		if (set->slots[i].used)
			*find(slots, size - 1, set->slots[i].id) = set->slots[i];
	tt_free(set->slots);
	set->slots = slots;
	set->mask = size - 1;
	return TTNN_OK;
}

tt_status tt_idset_add(struct tt_idset *set, int64_t id)
{
	struct tt_idset_slot *slot;

	if (!set->slots)
		TT_TRY(resize(set, 0));
	slot = find(set->slots, set->mask, id);
	if (slot->used)
		return TTNN_OK;
	*slot = (struct tt_idset_slot){id, true};
	set->count++;
	if (set->count * 5 < set->mask * 3)
		return TTNN_OK;
	return resize(set, set->count > LARGE ? set->count * 2 : set->count * 4);
}

bool tt_idset_has(const struct tt_idset *set, int64_t id)
{
	return set->count && find(set->slots, set->mask, id)->used;
}

bool tt_idset_next(int64_t *id, size_t *at, const struct tt_idset *set)
{
	if (!set->count)
		return false;
	for (; *at <= set->mask; ++*at)
		if (set->slots[*at].used) {
			*id = set->slots[(*at)++].id;
			return true;
		}
	return false;
}

void tt_idset_clear(struct tt_idset *set)
{
	if (!set->count)
		return;
	set->count = 0;
	set->mask = LEAST - 1;
	memset(set->slots, 0, LEAST * sizeof(*set->slots));
}

void tt_idset_deinit(struct tt_idset *set)
{
	tt_free(set->slots);
	*set = (struct tt_idset){0};
}
