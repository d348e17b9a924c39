/* golden_ffn.h: what experts of a prefill make of their tokens. */
#ifndef TT_GOLDEN_GOLDEN_FFN_H
#define TT_GOLDEN_GOLDEN_FFN_H

#include "golden/golden.h"

tt_status tt_golden_routed_ffn(struct tt_golden *golden);
tt_status tt_golden_unified_ffn(struct tt_golden *golden);

#endif
