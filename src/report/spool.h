/*
 * spool.h: a list of records of one size, of which a few parts are in memory and the rest in a temporary
 * file without a name: for lists as long as what is imported. Neighbours are cheap to reach, far jumps cost
 * a read. A short list never becomes a file.
 *
 *	tt_spool_init(&uses, sizeof(struct use), "out");
 *	struct use *use = tt_spool_push(&uses);
 *	if (!use) return tt_spool_status(&uses);
 */
#ifndef TT_REPORT_SPOOL_H
#define TT_REPORT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

/* Parts in memory at a time: pairs, so that one that is far away does not push out the newest again and again. */
#define TT_SPOOL_PARTS 16
#define TT_SPOOL_PAIRS (TT_SPOOL_PARTS / 2)

struct tt_spool_part {
	char *data; /* NULL: none was needed yet */
	uint64_t number;
	bool used, changed;
};

struct tt_spool {
	size_t size;    /* bytes of a record */
	unsigned shift; /* records of a part, as a power of two */
	uint64_t count;
	const char *directory; /* borrowed */
	int fd;                /* of the file + 1; 0: there is none */
	tt_status status;
	struct tt_spool_part
		parts[TT_SPOOL_PARTS]; /* that of a record is one of two, by its number */
	uint8_t older[TT_SPOOL_PAIRS]; /* the one of them that was not used last */
};

/* Starts an empty list; its file, if one is needed, is in that directory, whose name is borrowed. */
void tt_spool_init(struct tt_spool *spool, size_t size, const char *directory);

/* What the functions below do when a part is not in memory. NULL after failures. */
void *tt_spool_bring(struct tt_spool *spool, uint64_t index, bool change);

/* A record; `change`: it is going to be changed. */
static inline void *tt_spool_reach(struct tt_spool *spool, uint64_t index, bool change)
{
	uint64_t number = index >> spool->shift, pair = number % TT_SPOOL_PAIRS;
	struct tt_spool_part *part = &spool->parts[2 * pair];
	unsigned which = !(part->used && part->number == number);

	part += which;
	if (!part->used || part->number != number)
		return tt_spool_bring(spool, index, change);
	spool->older[pair] = !which;
	part->changed |= change;
	return part->data + (index & (((uint64_t)1 << spool->shift) - 1)) * spool->size;
}

/* A new record at the end, all of which the caller writes before the next call. NULL after failures. */
static inline void *tt_spool_append(struct tt_spool *spool)
{
	void *record = tt_spool_reach(spool, spool->count, true);

	spool->count += record != NULL;
	return record;
}

/* The same, all zero. */
static inline void *tt_spool_push(struct tt_spool *spool)
{
	void *record = tt_spool_append(spool);

	return record ? memset(record, 0, spool->size) : NULL;
}

/* Records one behind another: *count is how many there are from this one on, at least one. NULL after failures. */
static inline const void *tt_spool_run(struct tt_spool *spool, uint64_t index, size_t *count)
{
	uint64_t each = (uint64_t)1 << spool->shift, left = each - (index & (each - 1));

	*count = (size_t)(left < spool->count - index ? left : spool->count - index);
	return tt_spool_reach(spool, index, false);
}

/* Adds so many records. */
tt_status tt_spool_extend(struct tt_spool *spool, const void *records, size_t count);

/* A record, likewise, to be read only; and one that is going to be changed. */
static inline const void *tt_spool_at(struct tt_spool *spool, uint64_t index)
{
	return tt_spool_reach(spool, index, false);
}

static inline void *tt_spool_change(struct tt_spool *spool, uint64_t index)
{
	return tt_spool_reach(spool, index, true);
}

/* The failure that made one of these NULL, as a status whose message is set. */
tt_status tt_spool_status(const struct tt_spool *spool);

/* Empties, and may be filled anew; frees everything. An all-zero one is fine. */
void tt_spool_clear(struct tt_spool *spool);
void tt_spool_deinit(struct tt_spool *spool);

#endif
