/* shard_ops.h: between shard_ops.c, reshard.c and those who need a tensor in another place. */
#ifndef TT_OPS_MOVEMENT_SHARD_OPS_H
#define TT_OPS_MOVEMENT_SHARD_OPS_H

#include "ops/movement/movement.h"
#include "ops/op.h"

/* The spec of the result: the given output's, or the input's in the wanted memory. */
tt_status tt_shard_spec(struct ttnn_tensor_spec *out, const struct tt_shard_want *want);

/* What a launch wants; its second input is the output that the caller gave. dtype may be NULL. */
struct tt_shard_want tt_shard_wanted(const struct tt_launch *launch,
				     const struct ttnn_value *memory,
				     const struct ttnn_value *dtype);

/* Launches a program of this kind. */
tt_status tt_shard_launch(struct tt_tensor **out, struct tt_call *call, const struct tt_prog *prog,
			  const struct tt_shard_want *want, const struct ttnn_value *attrs);

/*
 * The cores of shards: the argument `grid` of the call, or, where that is the size of a rectangle, as many of its
 * cores as one of so many slices of the rows of `input_tensor` has shards. Slices are at least one.
 */
tt_status tt_shard_grid(const ttnn_core_set **out, const struct tt_call *call,
			const struct ttnn_shard_spec *shard, enum ttnn_memory_layout layout,
			uint64_t slices);

/* Refuses what the program cannot do: condition "valid". */
tt_status tt_shard_refuse(const char *message);

/* Resharding: whether it can be done, and doing it. */
tt_status tt_reshard_check(const struct tt_shard_want *want);
tt_status tt_reshard_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_shard_want *want);

/* Whether the older programs serve, which need two-dimensional shard specs and L1. */
bool tt_reshard_is_legacy(const struct ttnn_memory_config *in,
			  const struct ttnn_memory_config *out);

/* ttnn::to_memory_config() as other operations call it, in its own scope. */
tt_status tt_call_to_memory(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    const struct ttnn_memory_config *memory);

/* ttnn::interleaved_to_sharded() as they call it; `given` (or NULL) is where the result goes. */
tt_status tt_call_to_shards(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    const struct ttnn_memory_config *memory, struct tt_tensor *given);

#endif
