#include "backend/cpu/sums.h"

#include <math.h>

#include "base/cpu.h"

extern const struct tt_sums tt_sums_plain;
#if defined(__x86_64__)
extern const struct tt_sums tt_sums_avx2, tt_sums_avx512;
#endif

const struct tt_sums *tt_sums_get(void)
{
	static const struct tt_sums *const levels[TT_ISA_COUNT] = {
		[TT_ISA_PLAIN] = &tt_sums_plain,
#if defined(__x86_64__)
		[TT_ISA_AVX2] = &tt_sums_avx2,
		[TT_ISA_AVX512] = &tt_sums_avx512,
#endif
	};

	return levels[tt_cpu_isa()];
}

double tt_sum_neutral(enum tt_sum sum)
{
	static const double neutral[TT_SUMS] = {0, 1, -INFINITY, INFINITY};

	return neutral[sum];
}

int64_t tt_sum_neutral_int(enum tt_sum sum)
{
	static const int64_t neutral[TT_SUMS] = {0, 1, INT64_MIN, INT64_MAX};

	return neutral[sum];
}

double tt_sum_two(enum tt_sum sum, double a, double b)
{
	switch (sum) {
	case TT_SUM_ADD:
		return a + b;
	case TT_SUM_MUL:
		return a * b;
	case TT_SUM_MAX:
		return b > a || b != b ? b : a;
	default:
		return b < a || b != b ? b : a;
	}
}

int64_t tt_sum_two_int(enum tt_sum sum, int64_t a, int64_t b)
{
	switch (sum) {
	case TT_SUM_ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case TT_SUM_MUL:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case TT_SUM_MAX:
		return b > a ? b : a;
	default:
		return b < a ? b : a;
	}
}
