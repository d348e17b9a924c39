/* binary_ops.h: what composites need of the operations on two operands. */
#ifndef TT_OPS_ELTWISE_BINARY_OPS_H
#define TT_OPS_ELTWISE_BINARY_OPS_H

#include "golden/golden.h"
#include "ops/eltwise/binary.h"

/* A call of such an operation as upstream's front end sees it. */
struct tt_binary_front {
	struct tt_binary_args args;
	enum ttnn_dtype dtype; /* where args.dtype may point */
	bool real_scalar;      /* the scalar was given as a real number */
	bool in_place;         /* the output is the first operand */
	bool no_dtype;         /* the result's type is left to the program */
};

/*
 * Brings types and layouts together, launches, and brings the result back to rows where all
 * operands were. Changes `front` on the way; temporaries are the call's.
 */
tt_status tt_binary_run(struct tt_tensor **out, struct tt_call *call,
			struct tt_binary_front *front);

/* The operands and options of a call whose first two arguments are the operands. */
tt_status tt_binary_read(struct tt_binary_front *out, const struct tt_call *call,
			 enum tt_binary_fn fn);

/* Casts a tensor in place of itself; the new one is the call's. */
tt_status tt_binary_cast(struct tt_tensor **tensor, struct tt_call *call, enum ttnn_dtype dtype);

/* The type that the result of such a call has. */
enum ttnn_dtype tt_binary_result_dtype(const struct tt_call *call, enum tt_binary_fn fn);

/* For goldens: the operands, broadcast; a NULL array is the number beside it. */
struct tt_golden_pair {
	const struct tt_array *a, *b;
	double number;
	struct ttnn_shape shape;
};
tt_status tt_binary_golden_pair(struct tt_golden_pair *out, struct tt_golden *golden);

#endif
