/*
 * intmap.h: a hash map from numbers to numbers that entries are taken out of again: as large as what is in
 * it. All zero is a valid empty one. For one thread at a time.
 */
#ifndef TT_REPORT_INTMAP_H
#define TT_REPORT_INTMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct tt_intmap_slot {
	uint64_t key;
	uint32_t value; /* 0: the slot is free */
};

struct tt_intmap {
	struct tt_intmap_slot *slots; /* a power of two of them, at most three quarters used */
	size_t mask, count;
};

/* The value, or 0 when there is none. */
uint32_t tt_intmap_get(const struct tt_intmap *map, uint64_t key);

/* Sets the value, which is not 0. */
tt_status tt_intmap_set(struct tt_intmap *map, uint64_t key, uint32_t value);

/* Takes a key out; one that is not in it is fine. */
void tt_intmap_remove(struct tt_intmap *map, uint64_t key);

/* Empties and keeps the memory; frees it. */
void tt_intmap_clear(struct tt_intmap *map);
void tt_intmap_deinit(struct tt_intmap *map);

#endif
