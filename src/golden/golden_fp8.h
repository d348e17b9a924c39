/* golden_fp8.h: numbers as FP8 with scales of blocks, and back. */
#ifndef TT_GOLDEN_GOLDEN_FP8_H
#define TT_GOLDEN_GOLDEN_FP8_H

#include "golden/golden.h"

tt_status tt_golden_cast_to_fp8(struct tt_golden *golden);
tt_status tt_golden_cast_back(struct tt_golden *golden);
tt_status tt_golden_pack_fp8(struct tt_golden *golden);

#endif
