/* golden_moe.h: what the first chip of a mesh gets of operations that find its experts' tokens and let them work, token by token. */
#ifndef TT_GOLDEN_GOLDEN_MOE_H
#define TT_GOLDEN_GOLDEN_MOE_H

#include "golden/golden.h"

/* Experts of 2880 by 2880 with bias on twelve cores in a ring: counts, choices, tokens, and what they make, as tiles and as rows. */
tt_status tt_golden_moe_gpt(struct tt_golden *golden);

/* Experts of any extents as they were packed: the same, and rows of the first chip's tokens where the call asks for them. */
tt_status tt_golden_moe_compute(struct tt_golden *golden);

#endif
