/* fused_matmul.h: for programs that are made of a collective and a product of ops/matmul: the plan of the product. */
#ifndef TT_OPS_COLLECTIVE_FUSED_MATMUL_H
#define TT_OPS_COLLECTIVE_FUSED_MATMUL_H

#include "ops/collective/fused.h"
#include "ops/matmul/matmul.h"

/* What is multiplied: `a`, or what it is made of, which says type and place of the result where the call does not. */
struct tt_fused_operands {
	struct tt_tensor *in, *a, *b;
	struct tt_tensor *also; /* (optional) a second b */
	const char *memory;     /* the name of the argument that says where the result lies */
};

/* The plan of what the call says of a product, and its attributes as an object. */
tt_status tt_fused_product(struct tt_matmul_plan *out, struct ttnn_value *attrs,
			   struct tt_call *call, const struct tt_fused_operands *of);

/* In choose(): a copy of the plan (launch->extra) that lives as long as the launch does, as its work. */
tt_status tt_fused_keep_plan(struct tt_matmul_plan **out, struct tt_launch *launch);

#endif
