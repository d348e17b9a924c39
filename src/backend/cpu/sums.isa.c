/*
 * sums.isa.c: see sums.h. A row is combined in LANES lanes, which are combined at the end: the order
 * is the same whatever the width of the vectors.
 */
#include "backend/cpu/sums.h"

#include "backend/cpu/math.h"

#define LANES 16

/* Keeps a NaN: whatever is compared with it, it stays. */
static inline double later_max(double a, double b)
{
	double most = b > a ? b : a;

	return b != b ? b : most;
}

static inline double later_min(double a, double b)
{
	double least = b < a ? b : a;

	return b != b ? b : least;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* X(NAME, lane type, neutral, of lane a and element b) */
#define ROW(name, lane, neutral, expression)                                                       \
	static double row_##name(const float *x, size_t count)                                     \
	{                                                                                          \
		lane lanes[LANES];                                                                 \
		size_t i = 0;                                                                      \
                                                                                                   \
		for (int k = 0; k < LANES; k++)                                                    \
			lanes[k] = neutral;                                                        \
		for (; i + LANES <= count; i += LANES)                                             \
			for (int k = 0; k < LANES; k++) {                                          \
				lane a = lanes[k], b = (lane)x[i + (size_t)k];                     \
                                                                                                   \
				lanes[k] = expression;                                             \
			}                                                                          \
		for (int k = 0; i < count; i++, k++) {                                             \
			lane a = lanes[k], b = (lane)x[i];                                         \
                                                                                                   \
			lanes[k] = expression;                                                     \
		}                                                                                  \
		for (int half = LANES / 2; half; half /= 2)                                        \
			for (int k = 0; k < half; k++) {                                           \
				lane a = lanes[k], b = lanes[k + half];                            \
                                                                                                   \
				lanes[k] = expression;                                             \
			}                                                                          \
		return (double)lanes[0];                                                           \
	}
ROW(add, double, 0, a + b)
ROW(mul, double, 1, a *b)

/*
 * Bits of a float as an integer of the same order; its own inverse. Integers have an order that
 * compilers may change, so maxima of them become vector code, which those of floats do not.
 */
static inline int32_t ordered(int32_t bits)
{
	return bits ^ (bits >> 31 & 0x7fffffff);
}

#define EXTREME(name, neutral, sign)                                                               \
	static double row_##name(const float *x, size_t count)                                     \
	{                                                                                          \
		int32_t best = ordered((int32_t)tt_as_bits(neutral)), odd = 0;                     \
                                                                                                   \
		for (size_t i = 0; i < count; i++) {                                               \
			int32_t bits = (int32_t)tt_as_bits(x[i]), value = ordered(bits);           \
                                                                                                   \
			odd |= (bits & 0x7fffffff) > 0x7f800000;                                   \
			best = value sign best ? value : best;                                     \
		}                                                                                  \
		return odd ? NAN : (double)tt_as_float((uint32_t)ordered(best));                   \
	}
EXTREME(max, -INFINITY, >)
EXTREME(min, INFINITY, <)

#define ROW_INT(name, neutral, expression)                                                         \
	static int64_t row_int_##name(const int64_t *x, size_t count)                              \
	{                                                                                          \
		int64_t a = neutral;                                                               \
                                                                                                   \
		for (size_t i = 0; i < count; i++) {                                               \
			int64_t b = x[i];                                                          \
                                                                                                   \
			a = (int64_t)(expression);                                                 \
		}                                                                                  \
		return a;                                                                          \
	}
ROW_INT(add, 0, (uint64_t)a + (uint64_t)b)
ROW_INT(mul, 1, (uint64_t)a *(uint64_t)b)
ROW_INT(max, INT64_MIN, b > a ? b : a)
ROW_INT(min, INT64_MAX, b < a ? b : a)

static double squares(const float *x, size_t count, double mean)
{
	double lanes[LANES] = {0};
	size_t i = 0;

	for (; i + LANES <= count; i += LANES)
		for (int k = 0; k < LANES; k++) {
			double apart = x[i + (size_t)k] - mean;

			lanes[k] += apart * apart;
		}
	for (int k = 0; i < count; i++, k++)
		lanes[k] += (x[i] - mean) * (x[i] - mean);
	for (int half = LANES / 2; half; half /= 2)
		for (int k = 0; k < half; k++)
			lanes[k] += lanes[k + half];
	return lanes[0];
}

/* ---- columns --------------------------------------------------------------------------------- */

#define COLUMN(name, type, from, expression)                                                       \
	static void column_##name(type *restrict into, const from *restrict x, size_t count)       \
	{                                                                                          \
		for (size_t i = 0; i < count; i++) {                                               \
			type a = into[i], b = (type)x[i];                                          \
                                                                                                   \
			into[i] = (type)(expression);                                              \
		}                                                                                  \
	}
COLUMN(add, double, float, a + b)
COLUMN(mul, double, float, a *b)
COLUMN(max, double, float, later_max(a, b))
COLUMN(min, double, float, later_min(a, b))
COLUMN(int_add, int64_t, int64_t, (uint64_t)a + (uint64_t)b)
COLUMN(int_mul, int64_t, int64_t, (uint64_t)a *(uint64_t)b)
COLUMN(int_max, int64_t, int64_t, b > a ? b : a)
COLUMN(int_min, int64_t, int64_t, b < a ? b : a)

static void spread(double *restrict mean, double *restrict squares_of, const float *restrict x,
		   size_t count, double n)
{
	double part = 1 / n;

	for (size_t i = 0; i < count; i++) {
		double apart = x[i] - mean[i];

		mean[i] += apart * part;
		squares_of[i] += apart * (x[i] - mean[i]);
	}
}

/* ---- softmax --------------------------------------------------------------------------------- */

static void line(float *y, const float *x, size_t count, float scale, float add)
{
	TT_LOOP
	for (size_t i = 0; i < count; i++)
		y[i] = x[i] * scale + add;
}

static void bias(float *y, const float *x, const float *add, size_t count, float scale)
{
	if (!add) {
		line(y, x, count, scale, 0);
		return;
	}
	TT_LOOP
	for (size_t i = 0; i < count; i++)
		y[i] = x[i] * scale + add[i];
}

/* In two loops over a piece: the sum would keep the first one from being vectorised. */
static double exp_row(float *y, const float *x, size_t count, float most)
{
	double sum = 0;

	for (size_t from = 0; from < count;) {
		size_t piece = count - from < 1024 ? count - from : 1024;

		TT_LOOP
		for (size_t i = from; i < from + piece; i++)
			y[i] = tt_exp(x[i] - most);
		sum += row_add(y + from, piece);
		from += piece;
	}
	return sum;
}

/* ---- normalisation --------------------------------------------------------------------------- */

static void center(float *y, const float *x, size_t count, double mean, float scale)
{
	float high = (float)mean, low = (float)(mean - high);

	TT_LOOP
	for (size_t i = 0; i < count; i++)
		y[i] = ((x[i] - high) - low) * scale;
}

static void larger(float *restrict y, const float *restrict x, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float most = x[i] > y[i] ? x[i] : y[i];

		y[i] = x[i] != x[i] ? x[i] : most;
	}
}

static void gain(float *y, const float *x, size_t count, const float *by, const float *add)
{
	if (add) {
		TT_LOOP
		for (size_t i = 0; i < count; i++)
			y[i] = x[i] * by[i] + add[i];
		return;
	}
	TT_LOOP
	for (size_t i = 0; i < count; i++)
		y[i] = x[i] * by[i];
}

#define TABLE_(isa) tt_sums_##isa
#define TABLE(isa) TABLE_(isa)

extern const struct tt_sums TABLE(TT_ISA);
const struct tt_sums TABLE(TT_ISA) = {
	.row = {row_add, row_mul, row_max, row_min},
	.row_int = {row_int_add, row_int_mul, row_int_max, row_int_min},
	.column = {column_add, column_mul, column_max, column_min},
	.column_int = {column_int_add, column_int_mul, column_int_max, column_int_min},
	.squares = squares,
	.spread = spread,
	.bias = bias,
	.exp = exp_row,
	.line = line,
	.center = center,
	.gain = gain,
	.larger = larger,
};
