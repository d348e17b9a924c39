/*
 * weights.h: the right sides of products that were used before, ready for use (packed).
 *
 * A device gives a writer other bytes when someone has a reference to the old ones (device/buffer.h),
 * so what was made of bytes that are held here stays true. What nobody else holds any more is
 * dropped at the next miss, and the longest unused when all together are more than a quarter of
 * the machine's memory or 2 GB. Any thread may call.
 */
#ifndef TT_BACKEND_CPU_WEIGHTS_H
#define TT_BACKEND_CPU_WEIGHTS_H

#include "backend/cpu/gemm.h"
#include "tensor/layout.h"
#include "tensor/tensor.h"

/* What was packed, and how. */
struct tt_weights_key {
	struct tt_storage *storage;
	struct tt_area area;
	bool half, turned;
	const struct tt_gemm_fns *fns;
};

struct tt_weights;

/* The panels of a matrix if they were kept, for tt_weights_release(); else NULL. */
struct tt_weights *tt_weights_find(const struct tt_weights_key *key);

/* Whether these were asked for before: what is used once is not worth keeping. */
bool tt_weights_wanted(const struct tt_weights_key *key);

/* Packs the matrix, of so many rows and columns, and keeps it; NULL when there is no memory. */
struct tt_weights *tt_weights_keep(const struct tt_weights_key *key, const struct tt_matrix *b,
				   size_t rows, size_t cols);

const struct tt_panels *tt_weights_panels(const struct tt_weights *weights);

/* The caller is done with them. NULL is fine. */
void tt_weights_release(struct tt_weights *weights);

/* Drops all that no job is using. */
void tt_weights_drop(void);

#endif
