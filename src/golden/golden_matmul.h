/* golden_matmul.h: matrix products the slow and obvious way. Families name these in their rows. */
#ifndef TT_GOLDEN_GOLDEN_MATMUL_H
#define TT_GOLDEN_GOLDEN_MATMUL_H

#include "golden/golden.h"

tt_status tt_golden_matmul(struct tt_golden *golden); /* matmul, linear */
tt_status tt_golden_addmm(struct tt_golden *golden);
tt_status tt_golden_minimal_matmul(struct tt_golden *golden);
tt_status tt_golden_sparse_matmul(struct tt_golden *golden);
tt_status tt_golden_matmul_decode(struct tt_golden *golden);
tt_status tt_golden_minimal_matmul_split(struct tt_golden *golden);
tt_status tt_golden_gated_matmul(struct tt_golden *golden);
tt_status tt_golden_moreh_dot(struct tt_golden *golden);
tt_status tt_golden_moreh_matmul(struct tt_golden *golden);

/* The activation inside of the argument program_config, or none. */
const struct ttnn_value *tt_golden_config_activation(const struct tt_golden *golden);

#endif
