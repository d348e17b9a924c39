/* kv_cache.h: the goldens of kv_cache.c and paged_cache.c, and what both share. */
#ifndef TT_OPS_ATTENTION_KV_CACHE_H
#define TT_OPS_ATTENTION_KV_CACHE_H

#include "backend/backend.h"
#include "golden/golden_attention.h"
#include "ops/op.h"

/* Launches a program whose only result is its first input, changed in place. */
tt_status tt_cache_launch(struct tt_call *call, const struct tt_program_args *args);

/* infer() of such programs: their outputs are given. */
tt_status tt_cache_infer(struct tt_launch *launch);

/*
 * A paged cache as [blocks, heads, rows, width] where each block has as many tiles as before, in the same order;
 * a new reference over the same memory.
 */
tt_status tt_cache_view(struct tt_tensor **out, struct tt_tensor *cache, const uint32_t view[3]);

/* The argument paged_cache_geometry of a call; an object of zeros if there is none. */
struct ttnn_value tt_cache_geometry_arg(const struct tt_call *call);

/*
 * paged_cache_geometry: a cache that was allocated for other heads or blocks is looked at as if it had these;
 * models with several kinds of layers share one cache so. A field of it (enum tt_paged_field), 0 without one.
 */
uint32_t tt_cache_geometry(const struct ttnn_value *geometry, int field);

/* Whether any of its fields is given. */
bool tt_cache_is_overridden(const struct ttnn_value *geometry);

/* Heads, rows and width of a block as queries of this shape see it. */
void tt_cache_view_of(uint32_t view[3], const struct ttnn_value *geometry,
		      const struct tt_tensor *cache, const struct tt_tensor *q);

/* Attends to keys and values as the call sees them: views of the same bytes. */
tt_status tt_cache_attend(struct tt_attention_job *job, const struct ttnn_value *geometry);

/* Refuses a view whose blocks have another number of elements, in the words of the operation. */
tt_status tt_cache_check_view(const char *operation, const char *what,
			      const struct ttnn_tensor_spec *cache, const uint32_t view[3]);

/* How many chips share along an axis of the mesh (none: all of it), and which of them this one is. */
struct tt_cache_share {
	uint64_t count, own;
};
struct tt_cache_share tt_cache_share(const struct tt_launch *launch, const struct ttnn_value *axis);

/*
 * The row in its slabs from which a chip has a chunk of so many rows each, when so many tokens are there. The chip of the next token begins amid
 * a slab; those before it are a slab ahead.
 */
uint64_t tt_cache_first_row(uint64_t prior, uint64_t rows, const struct tt_cache_share *share);

/* The token that a row of a chip's slabs holds. */
uint64_t tt_cache_token(uint64_t row, uint64_t rows, const struct tt_cache_share *share);

/* Refuses an input that is no number in a tensor; one that is missing is fine. */
tt_status tt_cache_check_number(const struct tt_launch *launch, size_t input, const char *name);

/* A list argument of positions as a backend wants it, in the launch's arena; NULL when it is empty. */
tt_status tt_cache_positions(const int32_t **out, const struct tt_launch *launch,
			     const struct ttnn_value *list);

#endif
