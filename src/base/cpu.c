#include "base/cpu.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"

static const char *const names[TT_ISA_COUNT] = {"plain", "avx2", "avx512"};

#if defined(__x86_64__)
#include <cpuid.h>

/* What each level needs, in the order of the Makefile's flags. To add a set: its rows here. */
enum reg { EAX, EBX, ECX, EDX };
static const struct {
	enum tt_isa isa;
	unsigned leaf;
	enum reg reg;
	unsigned bit;
} needs[] = {
	{TT_ISA_AVX2, 7, EBX, 5},    /* avx2 */
	{TT_ISA_AVX2, 1, ECX, 12},   /* fma */
	{TT_ISA_AVX2, 7, EBX, 8},    /* bmi2 */
	{TT_ISA_AVX2, 1, ECX, 29},   /* f16c */
	{TT_ISA_AVX512, 7, EBX, 16}, /* avx512f */
	{TT_ISA_AVX512, 7, EBX, 30}, /* avx512bw */
	{TT_ISA_AVX512, 7, EBX, 31}, /* avx512vl */
	{TT_ISA_AVX512, 7, EBX, 17}, /* avx512dq */
};

/* Registers the system saves for us: XCR0 bits for ymm, and for the mask registers and zmm. */
#define XCR0_AVX2 0x06u
#define XCR0_AVX512 0xe6u

static unsigned saved_registers(void)
{
	unsigned regs[4] = {0}, low, high;

	if (!__get_cpuid(1, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]) ||
	    !(regs[ECX] & 1u << 27)) /* osxsave: xgetbv exists */
		return 0;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static enum tt_isa detect(void)
{
	unsigned saved = saved_registers(), regs[4];
	enum tt_isa best = (saved & XCR0_AVX512) == XCR0_AVX512 ? TT_ISA_AVX512
			   : (saved & XCR0_AVX2) == XCR0_AVX2   ? TT_ISA_AVX2
								: TT_ISA_PLAIN;

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (best >= needs[i].isa &&
		    (!__get_cpuid_count(needs[i].leaf, 0, &regs[EAX], &regs[EBX], &regs[ECX],
					&regs[EDX]) ||
		     !(regs[needs[i].reg] & 1u << needs[i].bit)))
			best = (enum tt_isa)(needs[i].isa - 1);
	return best;
}
#else
static enum tt_isa detect(void)
{
	return TT_ISA_PLAIN;
}
#endif

/* Both hold a level + 1, or 0 before the first question; threads that race store the same. */
static atomic_int best_isa, used_isa;

static enum tt_isa best(void)
{
	int known = atomic_load_explicit(&best_isa, memory_order_relaxed);

	if (!known) {
		known = (int)detect() + 1;
		atomic_store_explicit(&best_isa, known, memory_order_relaxed);
	}
	return (enum tt_isa)(known - 1);
}

static enum tt_isa wanted(void)
{
	const char *name = tt_env("TTNN_ISA");
	enum tt_isa isa = best();

	for (int i = 0; name && i < TT_ISA_COUNT; i++)
		if (i < (int)isa && strcmp(name, names[i]) == 0)
			isa = (enum tt_isa)i;
	return isa;
}

enum tt_isa tt_cpu_isa(void)
{
	int used = atomic_load_explicit(&used_isa, memory_order_relaxed), none = 0;

	if (!used) {
		used = (int)wanted() + 1;
		if (!atomic_compare_exchange_strong(&used_isa, &none, used))
			used = none; /* forced meanwhile */
	}
	return (enum tt_isa)(used - 1);
}

bool tt_cpu_has_isa(enum tt_isa isa)
{
	return isa <= best();
}

bool tt_cpu_force_isa(enum tt_isa isa)
{
	if (!tt_cpu_has_isa(isa))
		return false;
	atomic_store_explicit(&used_isa, (int)isa + 1, memory_order_relaxed);
	return true;
}

const char *tt_cpu_isa_name(enum tt_isa isa)
{
	return (unsigned)isa < TT_ISA_COUNT ? names[isa] : "?";
}
