/*
 * eltwise.h: the room of operations that work element by element.
 *
 *	unary           the program, unary_ops its operations, unary_composite those made of others
 *	binary          the program, binary_fn what its functions take; binary_ops, binary_composite
 *	ternary         the program, ternary_ops
 *	backward*       gradients: recipes, and the programs that some have
 *	bcast, typecast, pow_int, quantization, classic: programs of their own
 *	complex, gate, loss: made of others
 *
 * Other rooms use tt_unary_launch() and tt_classic_repeat(). The rest of this header is what the programs of the
 * room share: the shape of a result, where it lies when the caller left that open, and when shards are worked on
 * where they are.
 */
#ifndef TT_OPS_ELTWISE_ELTWISE_H
#define TT_OPS_ELTWISE_ELTWISE_H

#include "device/device.h"
#include "device/generation.h"
#include "ops/activation.h"
#include "ops/op.h"
#include "tensor/fn.h"

/*
 * The shape of a result over two shapes. Upstream's reckoning, which checks nothing: where neither
 * extent is 1, the first one counts.
 */
void tt_eltwise_shape(struct ttnn_shape *out, const struct ttnn_shape *a,
		      const struct ttnn_shape *b);

/* Whether shards of the tensor reach beyond it; also for shards that no legacy spec describes. */
bool tt_eltwise_uneven(const struct ttnn_tensor_spec *spec);

/* The shard spec of a tensor scaled to another padded shape, no edge below a tile's. */
tt_status tt_eltwise_rescale(struct ttnn_shard_spec *out, const struct ttnn_tensor_spec *from,
			     const struct ttnn_shape *padded);

/* The memory config of a sharded tensor for a result of this shape. */
tt_status tt_eltwise_memory_like(struct ttnn_memory_config *out,
				 const struct ttnn_tensor_spec *like,
				 const struct ttnn_shape *shape);

/*
 * Gives a sharded config without a shard spec one that spreads a tensor of this unsharded spec over
 * as many cores as it fills. Rows of width shards are cut at multiples of `width_step` elements
 * where that divides the width; 1 cuts anywhere.
 */
tt_status tt_eltwise_spread(struct ttnn_memory_config *memory, const struct tt_device *device,
			    const struct ttnn_tensor_spec *spec, uint32_t width_step);

/* The padded shape that a tensor laid out like `like` has for this shape. */
tt_status tt_eltwise_padded(struct ttnn_shape *out, const struct ttnn_tensor_spec *like,
			    const struct ttnn_shape *shape);

/* Mixes into a key how a sharded tensor is cut: the shards in pages and the cores that take part. */
void tt_eltwise_key_shards(struct tt_key *key, const struct ttnn_tensor_spec *spec);

/*
 * The shape in pages of a sharded tensor, adjacent dimensions merged where that moves no page.
 * False when it cannot be told.
 */
bool tt_eltwise_pages(struct ttnn_shape *out, const struct ttnn_tensor_spec *spec);

/* The cores that a tensor's shards are on; 0 without a shard spec. */
static inline size_t tt_shard_cores(const struct tt_tensor *tensor)
{
	return tensor->spec.memory.has_shard ? ttnn_core_set_cores(tensor->spec.memory.shard.grid)
					     : 0;
}

/* 32 bits between the steps: 32-bit types and, as upstream has it, uint8. */
static inline bool tt_dtype_is_wide(enum ttnn_dtype dtype)
{
	return tt_dtype_bytes(dtype) == 4 || dtype == TTNN_UINT8;
}

static inline bool tt_dtype_is_wide_integer(enum ttnn_dtype dtype)
{
	return dtype == TTNN_INT32 || dtype == TTNN_UINT32;
}

/* ---- the program of all unary operations (unary.c) ------------------------------------------------ */

/* Launches the unary program on a chain; `output` (optional) is written into. */
struct tt_unary_args {
	struct tt_tensor *input, *output;
	const struct tt_unary_step *steps;
	size_t step_count;
	const enum ttnn_dtype *dtype;            /* (optional) else the input's */
	const struct ttnn_memory_config *memory; /* (optional) else the input's */
	const ttnn_core_set *grid;               /* (optional) */
	bool real_parameter;                     /* the caller gave a real number */
};
tt_status tt_unary_launch(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_unary_args *args);

/* ---- what an older release does otherwise: generation `classic` (classic.c) ---------------------- */

/* Repeats the operand with fewer batches; a new tensor in place of one is the call's. */
tt_status tt_classic_level(struct tt_tensor **a, struct tt_tensor **b, struct tt_call *call);

/* Repeats along one dimension. */
struct tt_classic_repeat_args {
	struct tt_tensor *input;
	uint32_t dim, times;
	const struct ttnn_memory_config *memory; /* (optional) else the input's */
};
tt_status tt_classic_repeat(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_classic_repeat_args *args);

#endif
