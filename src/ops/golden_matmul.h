/* golden_matmul.h: matrix products the slow and obvious way. Families name these in their rows. */
#ifndef TT_OPS_GOLDEN_MATMUL_H
#define TT_OPS_GOLDEN_MATMUL_H

#include "ops/golden.h"

tt_status tt_golden_matmul(struct tt_golden *golden); /* matmul, linear */
tt_status tt_golden_addmm(struct tt_golden *golden);

#endif
