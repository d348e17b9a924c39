/*
 * reduce_kernel.h: a reduction under way, for reduce_kernel.c (which prepares and finishes it) and the two ways to
 * run it: along rows, when the last dimension goes, or down columns, when it stays.
 *
 * How the work is cut depends on the shape alone, never on the number of threads: so does the order
 * in which numbers are combined.
 */
#ifndef TT_BACKEND_CPU_REDUCE_KERNEL_H
#define TT_BACKEND_CPU_REDUCE_KERNEL_H

#include <stdatomic.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/fn_kernel.h"
#include "backend/cpu/sums.h"

/* A result, or a part of one. */
union tt_cell {
	double real;
	int64_t whole;
};

struct tt_reduce {
	struct tt_area in; /* of rank 1 at least; no extent is 0 */
	uint32_t dims;     /* which of its dimensions go */
	enum tt_sum sum;
	bool whole;  /* cells are whole numbers */
	bool spread; /* cells are means, with added squares beside them */
	const struct tt_sums *fns;
	const struct tt_int_fns *int_fns;
	uint64_t out_count;
	union tt_cell *cells; /* out_count results, in row-major order of what stays */
	double *squares;      /* (spread) as many */
	_Atomic tt_status status;
};

/* The last dimension goes. */
tt_status tt_reduce_rows(struct tt_reduce *reduce);

/* The last dimension stays. */
tt_status tt_reduce_columns(struct tt_reduce *reduce);

static inline bool tt_reduce_goes(const struct tt_reduce *reduce, uint32_t d)
{
	return reduce->dims >> d & 1;
}

/* Some numbers: how many, their mean or what they come to, and the squares of a spread. */
struct tt_partial {
	double count;
	union tt_cell value;
	double squares;
};

/* into += part, which holds the numbers that come after. */
void tt_reduce_combine(struct tt_partial *into, const struct tt_partial *part,
		       const struct tt_reduce *reduce);

/* What no numbers come to. */
struct tt_partial tt_reduce_nothing(const struct tt_reduce *reduce);

#endif
