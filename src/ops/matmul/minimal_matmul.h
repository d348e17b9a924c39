/* minimal_matmul.h: the config object of minimal_matmul, for the table of objects. */
#ifndef TT_OPS_MATMUL_MINIMAL_MATMUL_H
#define TT_OPS_MATMUL_MINIMAL_MATMUL_H

#include "event/value.h"

extern const struct tt_schema tt_schema_minimal_matmul;
#define TT_SIG_MINIMAL_MATMUL                                                                      \
	"*, M_block_size: int = 1, K_block_size: int = 1, N_block_size: int = 1, "                 \
	"subblock_h: int = 1, subblock_w: int = 1, "                                               \
	"compute_with_storage_grid_size: CoreCoord ? = None"

#endif
