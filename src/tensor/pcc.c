/* pcc.c: the correlation of two lists of numbers. */
#include "tensor/pcc.h"

#include <math.h>

/* What counts as close where there is nothing to correlate. */
#define NEAR 1e-4
#define RATIO 1e-5

#define CONSTANT 1e-15 /* the spread of numbers that are meant to be the same, over their size */
#define LARGE 1e30     /* beyond this a result may overflow */
#define ROUNDED 1e-2   /* how far a constant may be rounded: that of block floats */

struct tt_pcc tt_pcc_begin(void)
{
	return (struct tt_pcc){.low = INFINITY,
			       .high = -INFINITY,
			       .all_nan = {true, true},
			       .all_zero = {true, true},
			       .equal = true,
			       .close = true};
}

static double finite_or_0(double x)
{
	return isfinite(x) ? x : 0;
}

void tt_pcc_look(struct tt_pcc *pcc, const double *expected, const double *actual, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double a = expected[i], b = actual[i];

		pcc->all_nan[0] &= isnan(a) != 0;
		pcc->all_nan[1] &= isnan(b) != 0;
		pcc->all_zero[0] &= a == 0;
		pcc->all_zero[1] &= b == 0;
		pcc->strange |= isfinite(a) && (isnan(b) || (isinf(b) && fabs(a) < LARGE));
		/* Not replaced: a NaN is close to nothing. */
		pcc->close &= a == b || fabs(a - b) <= NEAR + RATIO * fabs(b);
		a = finite_or_0(a);
		b = finite_or_0(b);
		pcc->equal &= a == b;
		pcc->low = fmin(pcc->low, a);
		pcc->high = fmax(pcc->high, a);
		pcc->worst = fmax(pcc->worst, fabs(a - b));
		pcc->mean[0] += a;
		pcc->mean[1] += b;
	}
	pcc->count += (double)count;
}

static double from(double x, double mean, bool single)
{
	return single ? (double)((float)x - (float)mean) : x - mean;
}

/* In float32 unless it is too large for that. */
static double times(double x, double y, bool single)
{
	float product = (float)x * (float)y;

	return single && isfinite(product) ? (double)product : x * y;
}

void tt_pcc_add(struct tt_pcc *pcc, const double *expected, const double *actual, size_t count)
{
	if (!pcc->second) {
		pcc->mean[0] /= pcc->count;
		pcc->mean[1] /= pcc->count;
		pcc->second = true;
	}
	for (size_t i = 0; i < count; i++) {
		double x = from(finite_or_0(expected[i]), pcc->mean[0], pcc->single);
		double y = from(finite_or_0(actual[i]), pcc->mean[1], pcc->single);

		pcc->square[0] += times(x, x, pcc->single);
		pcc->square[1] += times(y, y, pcc->single);
		pcc->product += times(x, y, pcc->single);
	}
}

double tt_pcc_value(const struct tt_pcc *pcc)
{
	double norm = sqrt(pcc->square[0] * pcc->square[1]);

	if (pcc->count == 0 || (pcc->all_nan[0] && pcc->all_nan[1]))
		return 1;
	if (pcc->all_nan[0] || pcc->all_nan[1])
		return 0;
	if (pcc->all_zero[0] != pcc->all_zero[1])
		return pcc->close;
	if (pcc->equal)
		return 1;
	if (!(norm > 0))
		return pcc->close;
	return pcc->product / norm;
}

double tt_pcc_judged(const struct tt_pcc *pcc, double terms)
{
	double size = fmax(fabs(pcc->low), fabs(pcc->high));

	if (pcc->strange)
		return 0;
	if (pcc->count > 0 && pcc->high - pcc->low <= CONSTANT * size)
		return pcc->worst <= ROUNDED * fmax(fmax(1, size), sqrt(terms)) ? 1 : 0;
	return tt_pcc_value(pcc);
}

double tt_pcc_of(const double *expected, const double *actual, size_t count)
{
	struct tt_pcc pcc = tt_pcc_begin();

	tt_pcc_look(&pcc, expected, actual, count);
	tt_pcc_add(&pcc, expected, actual, count);
	return tt_pcc_value(&pcc);
}
