/*
 * ordering.h: what sort and topk share. Both put values of the last of four dimensions in order and
 * tell where they were; other dimensions and ranks are brought there and back.
 */
#ifndef TT_OPS_REDUCE_ORDERING_H
#define TT_OPS_REDUCE_ORDERING_H

#include "ops/op.h"

/* A call under way. */
struct tt_ordering {
	struct tt_call *call;
	struct ttnn_shape shape; /* of the input, the dimension last */
	uint32_t dim;            /* that is put in order */
	const struct ttnn_memory_config *memory;
	struct tt_tensor *swapped; /* (optional) with the dimension last; owned by the call */
};

/* The input with the dimension last, as a tensor of four; it is given up with the call. */
tt_status tt_ordering_begin(struct tt_tensor **out, struct tt_ordering *order,
			    struct tt_tensor *in);

/* The first `count` of the last dimension of both results; what they were is given up. */
tt_status tt_ordering_cut(struct tt_tensor **results, const struct tt_ordering *order,
			  uint32_t count);

/* Both results with the rank of the input and the dimension in its place; what they were is given up. */
tt_status tt_ordering_restore(struct tt_tensor **results, const struct tt_ordering *order);

/* The same, and they are results of the call; on failure they are given up. */
tt_status tt_ordering_end(struct tt_tensor **results, const struct tt_ordering *order);

/* What programs do: orders the last dimension; `count` may reach into padding. */
struct tt_ordering_job {
	struct tt_tensor *values, *indices, *in, *given; /* given: (optional) what indices name */
	uint64_t count;
	uint64_t width; /* of what is there, when the tensor was made wider; 0: all of it */
	bool descending;
};
tt_status tt_ordering_run(const struct tt_ordering_job *job);

/* Whether the last dimension of a tensor has padding. */
bool tt_ordering_padded(const struct tt_tensor *tensor);

/* The tensor with this value in its padding, itself when there is none; given up with the call. */
tt_status tt_ordering_fill(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   double value);

/* With values behind those of the last dimension, which then has `width`; a new tensor. */
tt_status tt_ordering_pad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  uint32_t width, double value);

/* Whether both outputs were given: their specs are the launch's then. */
bool tt_ordering_given(struct tt_launch *launch);

#endif
