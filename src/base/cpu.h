/*
 * cpu.h: which instruction sets this machine has, for code compiled once per set (NAME.isa.c).
 *
 * The levels are those of the Makefile's ISA_* flags, each holding the ones before it. Any thread
 * may ask. The environment TTNN_ISA=plain|avx2|avx512 lowers the level; it cannot raise it.
 */
#ifndef TT_BASE_CPU_H
#define TT_BASE_CPU_H

#include <stdbool.h>

enum tt_isa { TT_ISA_PLAIN, TT_ISA_AVX2, TT_ISA_AVX512, TT_ISA_COUNT };

/* The level to use now. Cheap after the first call. */
enum tt_isa tt_cpu_isa(void);

/* Whether processor and system can run code of that level. */
bool tt_cpu_has_isa(enum tt_isa isa);

/* For tests: tt_cpu_isa() gives `isa` from now on; false, and no change, when the machine lacks it. */
bool tt_cpu_force_isa(enum tt_isa isa);

/* "plain", "avx2", "avx512". */
const char *tt_cpu_isa_name(enum tt_isa isa);

#endif
