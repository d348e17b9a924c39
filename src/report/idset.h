/*
 * idset.h: a set of tensor ids that is walked in the order in which CPython walks its sets of ints:
 * the order of lifted inputs in a database is that one, so it has to be the same.
 *
 * Open addressing; 9 neighbours are tried before the next jump; four times the members (twice from
 * 50,000) when three fifths are full. All zero is a valid empty set.
 */
#ifndef TT_REPORT_IDSET_H
#define TT_REPORT_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct tt_idset_slot {
	int64_t id;
	bool used;
};

struct tt_idset {
	struct tt_idset_slot *slots;
	size_t mask; /* slots - 1; all of them are walked for the order */
	size_t count;
};

tt_status tt_idset_add(struct tt_idset *set, int64_t id);
bool tt_idset_has(const struct tt_idset *set, int64_t id);

/* The next member from slot *at, which starts at 0; false behind the last. */
bool tt_idset_next(int64_t *id, size_t *at, const struct tt_idset *set);

/* Empties: as a new set, but keeps the memory. */
void tt_idset_clear(struct tt_idset *set);
void tt_idset_deinit(struct tt_idset *set);

#endif
