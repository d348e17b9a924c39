/* each_isa.h: for tests of code that is compiled once per instruction set. */
#ifndef TT_EACH_ISA_H
#define TT_EACH_ISA_H

#include "base/cpu.h"

/* Runs the statement once per level this machine has, named by `isa`; then the best is set again. */
#define EACH_ISA(isa)                                                                              \
	for (int isa = 0, best_ = tt_cpu_isa(); isa <= TT_ISA_COUNT; isa++)                        \
		if (isa == TT_ISA_COUNT)                                                           \
			tt_cpu_force_isa((enum tt_isa)best_);                                      \
		else if (tt_cpu_force_isa((enum tt_isa)isa))

#endif
