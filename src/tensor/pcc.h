/*
 * pcc.h: how alike two lists of numbers are: their correlation, by one rule for the whole project (that of upstream's
 * tests in 2026).
 *
 * NaN and infinities count as 0. Where there is nothing to correlate (one side is constant, or all zero) it is 1 if the
 * sides are close, else 0. Lists come in batches, each of them twice:
 *
 *	struct tt_pcc pcc = tt_pcc_begin();
 *	for each batch: tt_pcc_look(&pcc, expected, actual, count);
 *	for each batch: tt_pcc_add(&pcc, expected, actual, count);
 *	result = tt_pcc_value(&pcc);
 */
#ifndef TT_TENSOR_PCC_H
#define TT_TENSOR_PCC_H

#include <stdbool.h>
#include <stddef.h>

struct tt_pcc {
	double count, mean[2];     /* of expected and actual; sums until the second pass */
	double square[2], product; /* around the means */
	double low, high, worst;   /* of expected, and the largest difference */
	bool all_nan[2], all_zero[2];
	bool strange; /* NaN, or an infinity, where a number is expected */
	bool equal;   /* to the bit */
	bool close;
	bool single; /* differences and products are rounded to float32, as those of float32 tensors are */
	bool second; /* the means are known */
};

struct tt_pcc tt_pcc_begin(void);
void tt_pcc_look(struct tt_pcc *pcc, const double *expected, const double *actual, size_t count);
void tt_pcc_add(struct tt_pcc *pcc, const double *expected, const double *actual, size_t count);
double tt_pcc_value(const struct tt_pcc *pcc);

/*
 * The same for a result and its golden: one that is a single number everywhere has to be met as far as a type of few bits
 * can tell, which of a sum of `terms` random numbers is less than of one; 0 when there is a NaN or an infinity where the
 * golden has a number.
 */
double tt_pcc_judged(const struct tt_pcc *pcc, double terms);

/* Of two lists in memory. */
double tt_pcc_of(const double *expected, const double *actual, size_t count);

#endif
