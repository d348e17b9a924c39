/* golden_experts.h: weights of experts as a ring of cores reads them, element by element. */
#ifndef TT_GOLDEN_GOLDEN_EXPERTS_H
#define TT_GOLDEN_GOLDEN_EXPERTS_H

#include "golden/golden.h"

/* Gate and up; with bias where the call has one. */
tt_status tt_golden_pack_gate_up(struct tt_golden *golden);

/* Down; with bias where the call has one. */
tt_status tt_golden_pack_down(struct tt_golden *golden);

/* Shared experts behind those of the first chip. */
tt_status tt_golden_shared_experts(struct tt_golden *golden);

/* Other numbers' type only. */
tt_status tt_golden_quantize_weights(struct tt_golden *golden);

#endif
