#include "backend/cpu/fn_kernel.h"

#include "base/cpu.h"

_Static_assert(TT_UNARY_GELU_TANH_SLOPE + 1 == TT_UNARY_FNS, "the numbers have no gaps");
_Static_assert(TT_BINARY_SITU_GLU + 1 == TT_BINARY_FNS, "the numbers have no gaps");
_Static_assert(TT_TERNARY_SNAKE_BETA + 1 == TT_TERNARY_FNS, "the numbers have no gaps");

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
