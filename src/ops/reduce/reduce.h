/*
 * reduce.h: the room of operations over dimensions: fewer values than before, or the same in order.
 *
 *	reduce_ops      sum, mean, max, min, by reduce_program (width, height) and reduce_outer (dimensions before)
 *	std_var         by welford; std_var_hw of whole matrices, made of others
 *	prod, argmax, scan; moreh_reduce, its gradients in moreh_backward, moreh_nll_loss, moreh_clip: of training
 *	sort, topk      with what both share in ordering
 *
 * All of this header is for other rooms.
 */
#ifndef TT_OPS_REDUCE_REDUCE_H
#define TT_OPS_REDUCE_REDUCE_H

#include "ops/dims.h"
#include "ops/op.h"

/* Rows as tiles, with this value in the padding. */
tt_status tt_reduction_tilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			      double padding);

/* The tiles of a tensor: across, down, and how many matrices. */
struct tt_reduce_tiles {
	uint64_t width, height, matrices;
};
struct tt_reduce_tiles tt_reduce_tiles_of(const struct ttnn_tensor_spec *spec);

#endif
