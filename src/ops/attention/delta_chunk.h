/*
 * delta_chunk.h: between the files of gated delta nets in chunks: delta_chunk.c calls, delta_chunk_program.c has what
 * the device runs, delta_chunk_kernel.c its numbers, delta_geometry.c where heads lie on cores.
 */
#ifndef TT_OPS_ATTENTION_DELTA_CHUNK_H
#define TT_OPS_ATTENTION_DELTA_CHUNK_H

#include "ops/attention/delta_rule.h"

/* The tensors of all three programs, as far as they have them. */
enum {
	TT_DELTA_Q,
	TT_DELTA_K,
	TT_DELTA_V,
	TT_DELTA_G,
	TT_DELTA_BETA,
	TT_DELTA_EYE,
	TT_DELTA_TRIL,
	TT_DELTA_ONES,
	TT_DELTA_MASKS,
	TT_DELTA_STATE,
	TT_DELTA_INPUTS
};
/* What the first of two programs hands to the second, which takes the state behind it. */
enum { TT_DELTA_PARTS = 7 };

/*
 * Attributes that the programs have one after the other: heads of all batches, chunks, and what a chunk is. Behind
 * them, the first program and the one for all have what is flat, and how many heads that has.
 */
enum {
	TT_DELTA_HEADS,
	TT_DELTA_CHUNKS,
	TT_DELTA_CHUNK,
	TT_DELTA_KEY,
	TT_DELTA_VALUE,
	TT_DELTA_V_FLAT,
	TT_DELTA_V_HEADS,
	TT_DELTA_QK_FLAT,
	TT_DELTA_QK_HEADS,
	TT_DELTA_NORM,
	TT_DELTA_SCALE,
	TT_DELTA_SHAPE_ATTRS
};

/* The first of them: the program for all has another before it. */
static inline const struct ttnn_value *tt_delta_shape(const struct tt_launch *launch)
{
	return &launch->attrs[launch->attrs[0].kind == TTNN_VALUE_ENUM];
}

/* How a program for all lies on cores: a head has receivers, and producers of its own or a share of a pool. */
enum { TT_DELTA_ROW_MAJOR, TT_DELTA_ROW_BY_ROW, TT_DELTA_SHARED_POOL };
struct tt_delta_layout {
	uint32_t producers, receivers, depth, placement;
	uint32_t extra, extra_of; /* of a pool: what its extra producers take */
};

/* What a layout is chosen for, and what of it is given; 0: nothing. */
struct tt_delta_need {
	struct ttnn_core grid;
	uint32_t heads, chunks, values; /* values: in tiles */
	uint32_t producers, receivers, depth;
	int pool, local; /* 0: no, 1: yes, -1: as it comes */
};

/* The layout that is told to be fastest, and whether one program is faster than two; false: there is none. */
bool tt_delta_choose(struct tt_delta_layout *out, bool *pays, const struct tt_delta_need *need);

/* Whether heads fit, each with its cores side by side. */
bool tt_delta_fits_rows(const struct tt_delta_need *need, uint32_t receivers, uint32_t producers);

/* The producers that each head has of a pool; 0: none fits. */
uint32_t tt_delta_home(const struct tt_delta_need *need, uint32_t receivers, uint32_t pool);

/* Cores of receivers and producers, in the arena; both have room for all of the grid. */
tt_status tt_delta_place(struct ttnn_core *receivers, struct ttnn_core *producers, size_t counts[2],
			 const struct tt_delta_need *need, const struct tt_delta_layout *layout);

/* Numbers: of the first program, of the second, and of one for both. */
tt_status tt_delta_prep_kernel(struct tt_launch *launch);
tt_status tt_delta_scan_kernel(struct tt_launch *launch);
tt_status tt_delta_chunk_kernel(struct tt_launch *launch);

/* A call's tensors and what is said of them, on their way to the programs. */
struct tt_delta_chunks {
	struct tt_call *call;
	struct tt_tensor *inputs[TT_DELTA_INPUTS];
	struct ttnn_value shape[TT_DELTA_SHAPE_ATTRS];
	struct ttnn_value memory, compute;
	const struct ttnn_value *config; /* None: as the model says */
	struct tt_tensor *results[2];    /* what came out of chunks, and the last states */
	bool final;
};
tt_status tt_delta_run(struct tt_delta_chunks *chunks);
extern const struct tt_prog *const tt_delta_programs[]; /* that it may launch; ends with NULL */

#endif
