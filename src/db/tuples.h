/*
 * tuples.h: rows of integers in order, however many: what does not fit in some memory is sorted in parts, which are
 * written to a file without a name and merged in the end. Rows that come in order already cost little more than
 * their copy.
 */
#ifndef TT_DB_TUPLES_H
#define TT_DB_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

#define TT_DB_TUPLE_MAX 10

/* A part that was written. */
struct tt_db_run {
	uint64_t next, end; /* tuples of the file that were not taken yet */
	int64_t *window;    /* those at hand */
	size_t at, count;   /* in it */
};

struct tt_db_tuples {
	int width;
	const char *directory; /* borrowed */
	TT_VEC(int64_t) rows;  /* in memory */
	bool unordered;        /* those are not in order */
	bool apart;            /* each part is behind the one before */
	int fd;                /* + 1; 0: none */
	TT_VEC(struct tt_db_run) runs;
	TT_VEC(uint32_t) heap; /* runs that have tuples, the least first */
	int64_t last[TT_DB_TUPLE_MAX];
	uint64_t count;
	size_t taken; /* of those in memory */
};

void tt_db_tuples_init(struct tt_db_tuples *tuples, int width, const char *directory);

tt_status tt_db_tuples_add(struct tt_db_tuples *tuples, const int64_t *tuple);

/* No more come: they are taken from here on. */
tt_status tt_db_tuples_sort(struct tt_db_tuples *tuples);

/* The next in order, borrowed until the next call; NULL behind the last. */
tt_status tt_db_tuples_next(const int64_t **out, struct tt_db_tuples *tuples);

void tt_db_tuples_deinit(struct tt_db_tuples *tuples);

#endif
