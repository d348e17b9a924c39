/*
 * dnnl.h: products by oneDNN, for gemm.c, where the machine has the library and the processor has
 * instructions that it knows better: bfloat16 products and AVX-512. Loaded at the first question; all
 * works without it.
 *
 * A product is cut into blocks by its size alone. Each is one call in one of our own threads; OpenMP,
 * which the library is made with, starts none: a program may fork() after a product, and has its own
 * setting of OpenMP as before. No signal comes to a thread during a call. Primitives are kept.
 *
 * TTNN_DNNL=0 leaves it out, =all uses it wherever it can, and a path names the library.
 */
#ifndef TT_BACKEND_CPU_DNNL_H
#define TT_BACKEND_CPU_DNNL_H

#include "backend/cpu/gemm.h"

/* Whether so many products, of bfloat16 or float32 on both sides, are for oneDNN. */
bool tt_dnnl_wants(bool half, size_t work);

struct tt_dnnl_size {
	size_t rows, depth, cols;
	size_t step; /* of C */
	bool half;
};

struct tt_dnnl_plan;

/* What a product of this size takes, for tt_dnnl_plan_release(); NULL when oneDNN has it not. */
struct tt_dnnl_plan *tt_dnnl_plan_get(const struct tt_dnnl_size *size);
void tt_dnnl_plan_release(struct tt_dnnl_plan *plan);

/* How many bytes a packed right side takes. It is the same for any number of rows. */
size_t tt_dnnl_bytes(const struct tt_dnnl_plan *plan);

/* Packs a right side into so many bytes; false when oneDNN fails. */
bool tt_dnnl_pack(void *out, const struct tt_dnnl_plan *plan, const struct tt_matrix *b);

/* Runs a product on all threads. gemm->right->data was packed for a plan of its depth and width. */
tt_status tt_dnnl_run(const struct tt_dnnl_plan *plan, const struct tt_gemm *gemm);

#endif
