/* golden_dispatch.h: tokens in the buffers of experts of a prefill, and back; what the first chip gets. */
#ifndef TT_GOLDEN_GOLDEN_DISPATCH_H
#define TT_GOLDEN_GOLDEN_DISPATCH_H

#include "golden/golden.h"

tt_status tt_golden_offset_cumsum(struct tt_golden *golden);
tt_status tt_golden_prefill_dispatch(struct tt_golden *golden);
tt_status tt_golden_prefill_combine(struct tt_golden *golden);

#endif
