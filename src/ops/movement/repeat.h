/* repeat.h: between repeat.c, which decides how a tensor is repeated, and the programs. */
#ifndef TT_OPS_MOVEMENT_REPEAT_H
#define TT_OPS_MOVEMENT_REPEAT_H

#include "ops/op.h"

/* How often each dimension is repeated; as many as the tensor has. */
struct tt_repeats {
	uint32_t rank, times[TTNN_MAX_RANK];
	bool native; /* the call names the programs of rows and tiles: later than ttnn 0.81 */
};

/* One program: one dimension. */
struct tt_repeat_step {
	struct tt_tensor *in, *out; /* out: given, or NULL */
	uint32_t dim, times;
	bool native; /* as above */
	const struct ttnn_memory_config *memory;
};

/* Rows: of four dimensions the second is repeated, of two the last. */
tt_status tt_repeat_rows(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_repeat_step *step);
/* Whole tiles, any dimension. */
tt_status tt_repeat_tiles(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_repeat_step *step);
/* The usual program: four dimensions, any of them. */
tt_status tt_repeat_pages(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_repeat_step *step);

/* The only dimension that is repeated; false when there are none or several. */
bool tt_repeat_single(uint32_t *dim, const struct tt_repeats *repeats);

/* ---- shards ---------------------------------------------------------------------------------- */

/* Whether shards can be repeated where they are; memory is the output's. */
bool tt_repeat_in_place(const struct ttnn_tensor_spec *in, const struct ttnn_memory_config *memory,
			uint32_t dim, uint32_t times);

/* The shard with one dimension repeated: the tensor's last, or another. */
struct ttnn_shard_spec tt_repeat_shard(const struct ttnn_shard_spec *shard, bool last,
				       uint32_t times);

/* New shards for a padded shape with the input's layout; *found false when there are none. */
struct tt_repeat_request {
	struct tt_tensor *in;
	const struct ttnn_shape *padded;
	enum ttnn_memory_layout layout;
	const enum ttnn_orientation *order; /* (optional) instead of the input's */
};
tt_status tt_repeat_new_shards(bool *found, struct ttnn_shard_spec *out,
			       const struct tt_repeat_request *request);

/* ---- the usual program: whether, and in which steps ------------------------------------------- */

/* Whether tiles have to become rows for it. */
bool tt_repeat_by_rows(const struct tt_tensor *in, const struct tt_repeats *repeats);

struct tt_repeat_plan {
	bool unshard, by_rows;                   /* before the first step */
	struct ttnn_memory_config between, last; /* of what the steps make */
	bool into_given;
	uint32_t dims[4], count; /* the steps */
	uint32_t times[4];       /* by dimension; some are folded into the next one */
};
void tt_repeat_plan(struct tt_repeat_plan *plan, const struct tt_tensor *in,
		    const struct tt_repeats *repeats, const struct ttnn_memory_config *memory);

/* Whether it takes this; `given` when the output exists. */
bool tt_repeat_pages_can(struct tt_tensor *in, const struct tt_repeats *repeats,
			 const struct ttnn_memory_config *memory, bool given);

/* Rows of the wider page of both sides, in a circular buffer: how many fit; 0 when none does. */
uint64_t tt_repeat_depth(uint64_t page, uint64_t room);

#endif
