/*
 * attention_kernel.h: an attention under way, for attention_kernel.c (which prepares it) and the two ways to run
 * it: in blocks of many rows, as products of matrices, or a few rows at a time, along the keys.
 *
 * Both keep, for each row, the largest score so far, the sum of the weights relative to it, and the
 * weighted sum of values; so no more than a block of scores ever exists.
 */
#ifndef TT_BACKEND_CPU_ATTENTION_KERNEL_H
#define TT_BACKEND_CPU_ATTENTION_KERNEL_H

#include <stdatomic.h>

#include "backend/cpu/gemm.h"
#include "backend/cpu/planes.h"
#include "backend/cpu/sums.h"

struct tt_attention {
	const struct tt_attention_job *job;
	const struct tt_gemm_fns *fns;
	const struct tt_sums *sums;
	struct tt_planes q, k, v, out, mask; /* v: the first columns of k when there is none */
	bool shared;                         /* values are columns of the keys */
	struct tt_pages pages;
	int64_t *starts;                /* for each batch */
	struct tt_scratch sink, bounds; /* float32; int32 */
	struct tt_scratch chosen;       /* the mask that a choice of columns makes */
	bool masked;
	uint64_t sink_step; /* from the sink of a head to that of the next */
	uint32_t segments;
	uint64_t batches, heads, groups, rows; /* groups: heads for each key head */
	uint64_t key_heads, columns, width, out_width;
	_Atomic tt_status status;
};

/* The columns [low, high) that a row sees. Both grow with the row. */
struct tt_seen {
	uint64_t low, high;
};
struct tt_seen tt_attention_seen(const struct tt_attention *work, uint64_t batch, uint64_t row);

/* Rows of a head's queries or results; q or out. */
struct tt_plane_part tt_attention_part(const struct tt_attention *work, uint64_t batch,
				       uint64_t head, uint64_t row, uint32_t rows);

/*
 * Keys, or values, of a key head: at = {batch, key head, first, count}. Dense rows, where they lie or in
 * `room` for count + 31.
 */
const float *tt_attention_keys(float *room, const struct tt_attention *work,
			       const struct tt_planes *planes, const uint64_t at[4]);

/* Some rows and columns of a head's scores; in the mask columns begin at a multiple of 32. */
struct tt_scores {
	uint64_t batch, head, row, from;
	uint32_t rows, count;
};

/*
 * What the mask adds to these: rows that are *step apart, or NULL when there is none. Room for
 * rows + 31 rows of them.
 */
const float *tt_attention_mask(size_t *step, float *room, const struct tt_attention *work,
			       const struct tt_scores *scores);

/* Where the largest score and the sum begin for a head: with its sink, or with nothing. */
void tt_attention_begin(float *largest, double *sum, const struct tt_attention *work,
			uint64_t head);

/* Many rows. */
tt_status tt_attention_blocks(struct tt_attention *work);

/* Few rows. */
tt_status tt_attention_rows(struct tt_attention *work);

#endif
