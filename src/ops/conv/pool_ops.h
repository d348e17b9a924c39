/*
 * pool_ops.h: pools: the largest element or the average of windows over images. What the operation
 * (pool_ops.c, pool_whole.c, pool_slice.c), its choice of shards (pool_plan.c) and its program (pool_program.c) share.
 */
#ifndef TT_OPS_CONV_POOL_OPS_H
#define TT_OPS_CONV_POOL_OPS_H

#include "ops/conv/conv.h"

struct tt_pool {
	enum tt_pool_kind kind;
	struct tt_slide slide;
	bool count_padding;
	int64_t divisor; /* 0: not given */
	uint32_t beyond; /* columns of the right padding that only fill tiles: they do not count */
	bool indices;
	enum ttnn_dtype in_dtype, dtype; /* of the result */
	enum ttnn_layout in_layout, layout;
	bool tables_in_dram;
	struct ttnn_value compute;
	const struct ttnn_memory_config *memory; /* of the result, when the program is launched */
};

/* What the channels of a shard of the result are a multiple of. */
uint32_t tt_pool_unit(const struct tt_pool *pool);

/* The type of the places of largest elements. */
enum ttnn_dtype tt_pool_index_dtype(const struct tt_slide *slide);

/* How the program reads: worked out alike for its memory and for choosing shards. */
struct tt_pool_blocks {
	uint32_t in_tiles, out_tiles; /* across the channels of a shard */
	uint64_t in_page;             /* bytes of what is reduced at once */
	bool one_scalar;              /* every window is divided alike */
	bool large;                   /* windows of more rows than are reduced at once */
};
tt_status tt_pool_blocks(struct tt_pool_blocks *out, const struct tt_pool *pool, uint32_t shards);

/* The cores of a pool whose input is not sharded: those that need least L1. */
tt_status tt_pool_parallel(struct tt_parallel *out, const struct tt_pool *pool,
			   struct ttnn_core grid);

/* The runs of windows of a core that are divided alike: the most that a core has. */
uint32_t tt_pool_scalars(const struct tt_pool *pool, enum ttnn_memory_layout scheme,
			 uint32_t share);

/* Launches the program on a halo; one output, or two with indices. */
tt_status tt_pool_launch(struct tt_tensor **out, size_t *count, struct tt_call *call,
			 const struct tt_haloed *haloed, const struct tt_pool *pool);

/* A call under way. */
struct tt_pool_run {
	struct tt_call *call;
	struct tt_tensor *in;
	struct tt_pool pool;
	const struct ttnn_memory_config *memory; /* wanted, or NULL */
	struct ttnn_value scheme;
	bool free_input, move_halo;
};

/* Shards for an input of so many rows. */
tt_status tt_pool_shards(struct ttnn_memory_config *out, const struct tt_pool_run *run,
			 uint64_t rows);

/* Through L1, all at once; with indices, two results. They are the caller's. */
tt_status tt_pool_run_l1(struct tt_tensor *out[2], size_t *count, struct tt_pool_run *run);

/* What the program needs of L1, if its results are sharded so. */
tt_status tt_pool_usage(uint64_t *out, const struct tt_pool *pool, uint32_t shards,
			const struct ttnn_shard_spec *shard);

/*
 * Images in DRAM that do not fit into L1 (pool_slice.c): into how many slices, as the argument
 * dram_slice_config says or as many as are needed; and slice by slice into a new tensor.
 */
tt_status tt_pool_choose_slices(struct tt_conv_slices *out, const struct tt_pool_run *run);
tt_status tt_pool_run_slices(struct tt_tensor **out, struct tt_pool_run *run,
			     const struct tt_conv_slices *slices);

/*
 * The average over whole images is no pool but a sum over rows (pool_whole.c). Whether a call is one;
 * and the call, whose result it returns.
 */
bool tt_pool_is_mean(const struct tt_pool *pool, const struct tt_tensor *in);
tt_status tt_pool_mean(struct tt_call *call, struct tt_tensor *in, const struct tt_pool *pool,
		       const struct ttnn_memory_config *memory);
tt_status tt_pool_expand_global(struct tt_call *call);

/* Window, stride and padding that give a result of this size; refused if there are none. */
tt_status tt_pool_adapt(struct tt_slide *slide, const uint32_t out[2]);

#endif
