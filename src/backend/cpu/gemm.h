/*
 * gemm.h: products of float32 matrices, C = A · B, for matrix products, convolutions and attention.
 *
 * The right side is cut into panels, `nr` columns wide, in which the numbers lie in the order they
 * are used in; weights keep their panels from one job to the next (weights.h). A panel may hold
 * bfloat16, which is widened in the cache: half the bytes, the same numbers. The left side is asked
 * for block by block, so that it need not exist as a matrix.
 *
 *	panel of a right side, nr = 4, of 3 rows:   b00 b01 b02 b03 b10 b11 b12 b13 b20 b21 b22 b23
 *
 * An element is the sum over blocks of TT_GEMM_DEPTH products; their order depends on the size of the
 * product (matrix products: without the last rows of A, if they are zeros) and the instruction set alone.
 */
#ifndef TT_BACKEND_CPU_GEMM_H
#define TT_BACKEND_CPU_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define TT_GEMM_DEPTH 256 /* products that are added before C is touched */
#define TT_GEMM_ROWS 96   /* rows of A that stay in the cache; a multiple of every mr */
#define TT_GEMM_STEP (TT_GEMM_DEPTH + 16) /* so that rows do not compete for the same lines */
#define TT_GEMM_MAX_MR 12
#define TT_GEMM_MAX_NR 32

/* Numbers in memory: element (i, j) is data[i × row_step + j × col_step]. */
struct tt_matrix {
	const void *data;
	bool half; /* bfloat16; else float32 */
	size_t row_step, col_step;
};

/* Some rows and columns further. */
struct tt_matrix tt_matrix_at(const struct tt_matrix *matrix, size_t row, size_t col);

/* ---- once per instruction set ---------------------------------------------------------------- */

/* C (rows × cols, at most mr × nr) = or += rows of A, a_step apart, times a panel of B. */
struct tt_gemm_block {
	const float *a, *b;
	const uint16_t *half; /* (optional) the panel as bfloat16, instead of b */
	size_t a_step, depth;
	uint32_t rows, cols;
	bool add;
};

struct tt_gemm_fns {
	uint32_t mr, nr;
	/* Rows as float32, TT_GEMM_STEP apart. */
	void (*load_left)(float *out, const struct tt_matrix *a, size_t rows, size_t depth);
	/* Up to nr columns, in the type they have: out[k × nr + j]. Missing columns are 0. */
	void (*pack_right)(void *out, const struct tt_matrix *b, size_t cols, size_t depth);
	void (*widen)(float *out, const uint16_t *in, size_t count);
	void (*block)(float *c, size_t step, const struct tt_gemm_block *block);
	/* The sum of x[i] × y[i]; y[i] += x[i] × scale. */
	float (*dot)(const float *x, const float *y, size_t count);
	void (*axpy)(float *y, const float *x, size_t count, float scale);
	/* y[i] = the sum over so many rows of x[row][i] × w[row][i]. */
	void (*taps)(float *y, const float *const *x, const float *const *w, size_t rows,
		     size_t count);
};

/* The functions for the instruction set in use. */
const struct tt_gemm_fns *tt_gemm_fns_get(void);

/* ---- the right side -------------------------------------------------------------------------- */

struct tt_dnnl_plan;

struct tt_panels {
	const struct tt_gemm_fns *fns;
	size_t rows, cols;
	bool half;
	struct tt_dnnl_plan *plan; /* (optional) oneDNN's: then the bytes are as it wants them */
	void *data;
};

/* The left side of a product. */
struct tt_gemm_left {
	size_t rows;
	bool half;
	size_t step; /* of the result */
};

/*
 * Gives the product to oneDNN if that is better at it (dnnl.h): to be asked before the panels are
 * packed or found, for the same left side. The caller releases the panels.
 */
void tt_panels_choose(struct tt_panels *panels, const struct tt_gemm_left *left);
void tt_panels_release(struct tt_panels *panels);

/* How many bytes they need; SIZE_MAX when more than there can be. */
size_t tt_panels_bytes(const struct tt_panels *panels);

/* Fills panels->data, of that many bytes, with `b`, whose type is panels->half. */
tt_status tt_panels_pack(const struct tt_panels *panels, const struct tt_matrix *b);

/* ---- products ---------------------------------------------------------------------------------- */

/* Some rows of A, and some columns of them. */
struct tt_gemm_part {
	size_t row, rows, from, depth;
};

struct tt_gemm {
	/* Rows of A: where they lie, or made in `room` (rows × depth floats). */
	struct tt_matrix (*left)(const void *context, float *room, const struct tt_gemm_part *part);
	const void *context;
	size_t rows;
	const struct tt_panels *right;
	float *c;
	size_t step; /* elements from one row of c to the next */
};

/* Runs on all threads. */
tt_status tt_gemm_run(const struct tt_gemm *gemm);

/* The `left` of a matrix in memory: the context is its struct tt_matrix. */
struct tt_matrix tt_gemm_left(const void *context, float *room, const struct tt_gemm_part *part);

#endif
