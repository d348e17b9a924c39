/* golden_fused.h: what the first chip of a mesh gets of operations that multiply what others have, or for others. */
#ifndef TT_GOLDEN_GOLDEN_FUSED_H
#define TT_GOLDEN_GOLDEN_FUSED_H

#include "golden/golden.h"

/* What is gathered, and its product; a product, and a part of the sum of all chips' products. */
tt_status tt_golden_gather_matmul(struct tt_golden *golden);
tt_status tt_golden_matmul_scatter(struct tt_golden *golden);
tt_status tt_golden_minimal_scatter(struct tt_golden *golden);

/* Products, and a part of the sum of another tensor's shards or of the first of them; the product of what is gathered alone. */
tt_status tt_golden_llama_rs_matmul(struct tt_golden *golden);
tt_status tt_golden_llama_gather_matmul(struct tt_golden *golden);

/* The same of products with an activation, gated, or cut into chunks; what is gathered is a result of the second. */
tt_status tt_golden_gather_minimal(struct tt_golden *golden);
tt_status tt_golden_strided_minimal(struct tt_golden *golden);

/* Norms of rows that lie across a group of chips, as heads, rotated by position. */
tt_status tt_golden_fused_rms(struct tt_golden *golden);
tt_status tt_golden_fused_layer(struct tt_golden *golden);

/* The same of a few rows, to which others may be added. */
tt_status tt_golden_rms_minimal(struct tt_golden *golden);

/* Heads of the users of all chips, side by side in rows. */
tt_status tt_golden_gather_concat(struct tt_golden *golden);

/* Rows of all chips added up, and heads of some of them. */
tt_status tt_golden_reduce_heads(struct tt_golden *golden);

#endif
