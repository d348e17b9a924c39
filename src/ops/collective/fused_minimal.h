/*
 * fused_minimal.h: for programs that are a collective and a product in blocks of a given size (fused_minimal.c,
 * fused_strided.c): what they have of the product. They have an attribute "matmul_struct", the attributes of minimal_matmul,
 * and these inputs.
 */
#ifndef TT_OPS_COLLECTIVE_FUSED_MINIMAL_H
#define TT_OPS_COLLECTIVE_FUSED_MINIMAL_H

#include "ops/collective/fused.h"
#include "ops/matmul/matmul.h"

enum {
	TT_BLOCKS_IN,
	TT_BLOCKS_WEIGHT,
	TT_BLOCKS_BIAS,
	TT_BLOCKS_GIVEN,
	TT_BLOCKS_ADDED,
	TT_BLOCKS_GATE,
	TT_BLOCKS_GIVEN_WEIGHT
};

/* The attributes of the product; whether its columns are gates and what is gated. */
const struct ttnn_value *tt_blocks_attrs(const struct tt_launch *launch);
bool tt_blocks_swiglu(const struct tt_launch *launch);

/* They as an object in the arena, from the call's arguments; `memory` is the name of the one that says where. */
tt_status tt_blocks_bind(struct ttnn_value *out, struct tt_call *call, const char *memory,
			 const struct ttnn_value *scalar);

/* Columns of the result, and of a chunk of it. */
uint32_t tt_blocks_width(const struct tt_launch *launch);
tt_status tt_blocks_chunk(uint32_t *out, const struct tt_launch *launch, size_t chunk);

/* Specs of the chunks of the product of an operand of this shape, from output `first` on. */
tt_status tt_blocks_infer(struct tt_launch *launch, size_t first, struct ttnn_shape shape);

/* The product alone, of these operands, which get the bias and what gates; its outputs are those from `first` on. */
struct tt_launch tt_blocks_part(const struct tt_launch *launch, struct tt_tensor **inputs,
				size_t first);

/* Tiles of a block along each dimension, and the cores. */
struct tt_blocks {
	uint64_t m, k, n;
	const ttnn_core_set *cores;
};
tt_status tt_blocks_find(struct tt_blocks *out, const struct tt_launch *launch);

/* Bytes of a tile of a tensor; none without one. */
uint64_t tt_blocks_tile(const struct tt_tensor *tensor);

/* Buffers of sums and of what follows them: a bias, what is added, the gate. */
tt_status tt_blocks_more(struct tt_plan *plan, const struct tt_launch *launch,
			 const struct tt_blocks *blocks);

/* Refusals: of rings that are not closed, of whole numbers. */
tt_status tt_blocks_check_ring(const struct tt_launch *launch, int64_t axis);
bool tt_blocks_takes(const struct tt_tensor *tensor);

/* What adds up in the order of blocks: the buffers of who sends pages of the first input, with a gate behind or not. */
tt_status tt_strided_memory(struct tt_plan *plan, const ttnn_core_set *cores,
			    const struct tt_launch *launch, bool gated);
/* Refuses chips that are no ring along the axis; how many are one in a call, of this tensor's. */
tt_status tt_strided_check_ring(const struct tt_launch *launch, const struct ttnn_value *axis);
tt_status tt_strided_bind(struct ttnn_value *size, struct tt_call *call,
			  const struct tt_tensor *in);

#endif
