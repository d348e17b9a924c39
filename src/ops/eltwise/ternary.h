/* ternary.h: the program of three-operand element-wise operations. */
#ifndef TT_OPS_ELTWISE_TERNARY_H
#define TT_OPS_ELTWISE_TERNARY_H

#include "ops/op.h"
#include "tensor/fn.h"

/* Whether operands repeat inside of tiles. */
enum tt_ternary_broadcast {
	TT_TERNARY_NONE,
	TT_TERNARY_OUTER,
	TT_TERNARY_ROW,
	TT_TERNARY_COL,
	TT_TERNARY_SCALAR,   /* of three tensors */
	TT_TERNARY_SCALAR_A, /* of two */
	TT_TERNARY_SCALAR_B,
	TT_TERNARY_ROW_COL,
	TT_TERNARY_INVALID,
};

struct tt_ternary_args {
	enum tt_ternary_fn fn;
	struct tt_tensor *a, *b, *c; /* b or c NULL: the scalar */
	double scalar;               /* the missing operand, or the factor of ADDCMUL and ADDCDIV */
	bool has_scalar;
	struct tt_tensor *output;                /* (optional) */
	enum ttnn_dtype dtype;                   /* of the result */
	const struct ttnn_memory_config *memory; /* (optional) */
	const ttnn_core_set *grid;               /* (optional) */
};

/* How the operands repeat; a missing one does not count. */
enum tt_ternary_broadcast tt_ternary_broadcast(const struct tt_ternary_args *args);

/* Refuses extents that do not go together. */
tt_status tt_ternary_check(const struct tt_ternary_args *args);

tt_status tt_ternary_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_ternary_args *args);

#endif
