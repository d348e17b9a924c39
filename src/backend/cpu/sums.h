/*
 * sums.h: what rows and columns of numbers come to, once per instruction set. Sums are kept in
 * float64, in a fixed order: the same bits everywhere, and long sums stay exact enough.
 */
#ifndef TT_BACKEND_CPU_SUMS_H
#define TT_BACKEND_CPU_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* What is combined. A mean is a sum and a division; a variance has functions of its own. */
enum tt_sum { TT_SUM_ADD, TT_SUM_MUL, TT_SUM_MAX, TT_SUM_MIN, TT_SUMS };

struct tt_sums {
	/* Of a row, from the neutral element on. Maxima and minima are NaN where a number is. */
	double (*row[TT_SUMS])(const float *x, size_t count);
	int64_t (*row_int[TT_SUMS])(const int64_t *x, size_t count);
	/* into[i] is combined with x[i]. */
	void (*column[TT_SUMS])(double *into, const float *x, size_t count);
	void (*column_int[TT_SUMS])(int64_t *into, const int64_t *x, size_t count);
	/* The squares of x[i] - mean, added. */
	double (*squares)(const float *x, size_t count, double mean);
	/* Mean and added squares of columns, when x is number `n` (1 is the first) of each. */
	void (*spread)(double *mean, double *squares, const float *x, size_t count, double n);
	/* y[i] = x[i] × scale + bias[i]; bias may be NULL. y may be x. */
	void (*bias)(float *y, const float *x, const float *bias, size_t count, float scale);
	/* y[i] = e^(x[i] - most); returns their sum. y may be x. */
	double (*exp)(float *y, const float *x, size_t count, float most);
	/* y[i] = x[i] × scale + add. y may be x. */
	void (*line)(float *y, const float *x, size_t count, float scale, float add);
	/* y[i] = (x[i] - mean) × scale, rounded as if mean were a float32 and a bit. y may be x. */
	void (*center)(float *y, const float *x, size_t count, double mean, float scale);
	/* y[i] = the larger of y[i] and x[i]; NaN is the largest. */
	void (*larger)(float *y, const float *x, size_t count);
	/* y[i] = x[i] × gain[i] + add[i]; add may be NULL. y may be x. */
	void (*gain)(float *y, const float *x, size_t count, const float *gain, const float *add);
};

/* The functions for the instruction set in use (base/cpu.h). */
const struct tt_sums *tt_sums_get(void);

/* What nothing comes to. */
double tt_sum_neutral(enum tt_sum sum);
int64_t tt_sum_neutral_int(enum tt_sum sum);

/* a combined with b. */
double tt_sum_two(enum tt_sum sum, double a, double b);
int64_t tt_sum_two_int(enum tt_sum sum, int64_t a, int64_t b);

#endif
