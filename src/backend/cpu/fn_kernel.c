#include "backend/cpu/fn_kernel.h"

#include "base/cpu.h"

/* The numbers have no gaps: all differ (they index tables), and together they are 0 + 1 + ... + count - 1. */
#define ROW(...) +1
#define FIRST(number, ...) (number)
#define NUMBER(name, ...) +FIRST(__VA_ARGS__, 0)
#define GAPLESS(list)                                                                              \
	_Static_assert(2 * (0 list(NUMBER)) == (0 list(ROW)) * ((0 list(ROW)) - 1),                \
		       #list " has gaps in its numbers")
GAPLESS(TT_UNARY_LIST);
GAPLESS(TT_BINARY_LIST);
GAPLESS(TT_TERNARY_LIST);

extern const struct tt_float_fns tt_float_fns_plain;
extern const struct tt_int_fns tt_int_fns_plain;
#if defined(__x86_64__)
extern const struct tt_float_fns tt_float_fns_avx2, tt_float_fns_avx512;
extern const struct tt_int_fns tt_int_fns_avx2, tt_int_fns_avx512;
#endif

static const struct tt_float_fns *const floats[TT_ISA_COUNT] = {
	[TT_ISA_PLAIN] = &tt_float_fns_plain,
#if defined(__x86_64__)
	[TT_ISA_AVX2] = &tt_float_fns_avx2,
	[TT_ISA_AVX512] = &tt_float_fns_avx512,
#endif
};

static const struct tt_int_fns *const ints[TT_ISA_COUNT] = {
	[TT_ISA_PLAIN] = &tt_int_fns_plain,
#if defined(__x86_64__)
	[TT_ISA_AVX2] = &tt_int_fns_avx2,
	[TT_ISA_AVX512] = &tt_int_fns_avx512,
#endif
};

const struct tt_float_fns *tt_float_fns_get(void)
{
	return floats[tt_cpu_isa()];
}

const struct tt_int_fns *tt_int_fns_get(void)
{
	return ints[tt_cpu_isa()];
}
