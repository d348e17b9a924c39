/*
 * dnnl_plan.h: what oneDNN is asked for a product of a certain size, for dnnl.c: its primitives, made
 * once and kept.
 *
 * A product is cut into blocks, of which one is one call, by its size alone: full ones, and the last
 * of its rows, columns or depth. No call takes long, because nothing can stop it. The right side lies
 * packed block by block: those of a column one behind the other, then those of the next column.
 *
 * Primitives are made with one thread of OpenMP, as they are run: they remember how many there were.
 */
#ifndef TT_BACKEND_CPU_DNNL_PLAN_H
#define TT_BACKEND_CPU_DNNL_PLAN_H

#include "backend/cpu/dnnl.h"
#include "backend/cpu/dnnl_load.h"

#if TT_HAS_DNNL
/* The most of a block. */
#define TT_DNNL_ROWS 256
#define TT_DNNL_COLS 512
#define TT_DNNL_DEPTH 8192
#define TT_DNNL_LINE 64 /* bytes; packed blocks and scratch memory begin at one */

/* A memory descriptor is a struct in version 2, and what a pointer points to in version 3. */
struct tt_dnnl_desc {
	dnnl_memory_desc_t it;
};
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t tt_dnnl_borrowed;
#define TT_DNNL_LEND(desc) ((desc)->it)
#else
typedef const dnnl_memory_desc_t *tt_dnnl_borrowed;
#define TT_DNNL_LEND(desc) (&(desc)->it)
#endif

/* A matrix of that size; its rows and columns are so many elements apart, or as oneDNN likes (NULL). */
bool tt_dnnl_desc_init(struct tt_dnnl_desc *out, const struct tt_dnnl *dnnl, const size_t size[2],
		       dnnl_data_type_t type, const size_t *steps);
void tt_dnnl_desc_deinit(struct tt_dnnl_desc *desc, const struct tt_dnnl *dnnl);

/* A block of so many rows, columns and depth. */
struct tt_dnnl_block {
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t primitive;
	struct tt_dnnl_desc a, c;
	tt_dnnl_borrowed scratch;
	size_t scratch_bytes;
};

/* How a block of the right side lies packed. */
struct tt_dnnl_right {
	dnnl_primitive_desc_t pd; /* owns weights */
	tt_dnnl_borrowed weights;
	size_t bytes;
	bool plain; /* dense rows */
};

/* Blocks are full (0) or the last ones (1). */
struct tt_dnnl_plan {
	struct tt_dnnl_plan *next;
	const struct tt_dnnl *dnnl;
	struct tt_dnnl_size size;
	size_t rows[2], cols[2], depth[2]; /* of a block; 0: there is none */
	struct tt_dnnl_right right[2][2];  /* [depth][col] */
	/* [row][col]: the first of the depth; then those that are added, full and last */
	struct tt_dnnl_block first[2][2], more[2][2][2];
	uint32_t users;
	uint64_t used;
};

dnnl_data_type_t tt_dnnl_type(const struct tt_dnnl_plan *plan);

/* Where a packed block lies: the number of its column, and of its piece of the depth. */
size_t tt_dnnl_packed_at(const struct tt_dnnl_plan *plan, size_t col, size_t piece);

/* Like tt_dnnl_alone(), for calls that make or destroy primitives: one at a time, never while a process forks. */
int tt_dnnl_make_begin(const struct tt_dnnl *dnnl);
void tt_dnnl_make_end(const struct tt_dnnl *dnnl, int before);
#endif
#endif
