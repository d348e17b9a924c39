/*
 * spill.h: pairs of numbers, sorted by the first in the order they came, however many: what does not fit
 * into a few megabytes is sorted in parts and kept in a file without a name (under TMPDIR).
 *
 *	struct tt_spill *spill;
 *
 *	TT_TRY(tt_spill_new(&spill));
 *	... tt_spill_add(spill, key, value) ...
 *	TT_TRY(tt_spill_sort(spill));
 *	for (key = 0; ...; key++)
 *		while (tt_spill_next(&value, spill, key))
 *			...
 *	status = tt_spill_status(spill);
 *	tt_spill_free(spill);
 */
#ifndef TT_BASE_SPILL_H
#define TT_BASE_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct tt_spill;

tt_status tt_spill_new(struct tt_spill **out);

/* A failure is remembered and told by tt_spill_sort(). */
void tt_spill_add(struct tt_spill *spill, uint32_t key, uint32_t value);

/* No more come; now they can be read, from the first key on. May be called again: to read them again. */
tt_status tt_spill_sort(struct tt_spill *spill);

/*
 * The next value of this key; false behind its last one. Keys are asked for in ascending order; values of
 * those left out are passed over.
 */
bool tt_spill_next(uint32_t *value, struct tt_spill *spill, uint32_t key);

/* Whether all could be read. */
tt_status tt_spill_status(const struct tt_spill *spill);

/* NULL is fine. */
void tt_spill_free(struct tt_spill *spill);

#endif
