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

#define TT_WEIGHTS_HOW 8

/* The first number of how: who packed. */
enum { TT_WEIGHTS_MATMUL, TT_WEIGHTS_CONV };

/* What was packed, and how: numbers that say what the panels are. */
struct tt_weights_key {
	struct tt_storage *storage; /* NULL: bytes that may change; never kept */
	struct tt_area area;
	uint32_t how[TT_WEIGHTS_HOW];
	const struct tt_gemm_fns *fns;
};

struct tt_weights {
	struct tt_weights *next;
	struct tt_weights_key key;
	void *data; /* the panels, as the key's maker knows */
	size_t bytes;
	uint32_t users;
	bool kept;
	_Atomic uint8_t finite; /* 0: not looked at yet; 1: they are; 2: they are not */
	uint64_t used;          /* when, in calls of tt_weights_find() */
};

/* What was kept for a key, for tt_weights_release(); else NULL. */
struct tt_weights *tt_weights_find(const struct tt_weights_key *key);

/* Room for new panels, to be filled and given to tt_weights_keep(); for tt_weights_release(). */
tt_status tt_weights_new(struct tt_weights **out, const struct tt_weights_key *key, size_t bytes);

/* Others find them from now on, if they were asked for before: what is used once is not kept. */
void tt_weights_keep(struct tt_weights *weights);

/* The caller is done with them. NULL is fine. */
void tt_weights_release(struct tt_weights *weights);

/* Whether no number of the panels, bfloat16 or float32, is infinite or NaN; looked at once. */
bool tt_weights_finite(struct tt_weights *weights, bool half);

/* Drops all that no job is using. */
void tt_weights_drop(void);

/* How many bytes are kept. */
size_t tt_weights_bytes(void);

/* For tests: at most so many bytes are kept, beside what jobs are using; 0: as above. */
void tt_weights_set_limit(size_t bytes);

#endif
