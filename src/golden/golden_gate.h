/* golden_gate.h: experts that tokens of a prefill go to, and their weights. */
#ifndef TT_GOLDEN_GOLDEN_GATE_H
#define TT_GOLDEN_GOLDEN_GATE_H

#include "golden/golden.h"

tt_status tt_golden_grouped_topk(struct tt_golden *golden);
tt_status tt_golden_hash_gate(struct tt_golden *golden);

#endif
