/*
 * binary.h: the program of two-operand element-wise operations, and what is known of each of its
 * functions. Used by the operations of binary_ops.c and by everything built on them.
 */
#ifndef TT_OPS_ELTWISE_BINARY_H
#define TT_OPS_ELTWISE_BINARY_H

#include "ops/op.h"
#include "tensor/fn.h"

/* ---- functions (binary_fn.c) -------------------------------------------------------------------- */

/* Whether a function takes this type at all, and these two together. */
bool tt_binary_takes(enum tt_binary_fn fn, enum ttnn_dtype dtype);
bool tt_binary_mixes(enum tt_binary_fn fn, enum ttnn_dtype a, enum ttnn_dtype b);

/* Whether the vector unit computes it, not the matrix unit; `fast` as the caller chose. */
bool tt_binary_on_sfpu(enum tt_binary_fn fn, enum ttnn_dtype a, enum ttnn_dtype b, bool fast);

/* Whether an operand is transformed before the function proper: it then goes through a buffer. */
struct tt_binary_stages {
	bool a, b;
	bool in_bf16; /* these buffers hold bfloat16 whatever the operands are */
};
struct tt_binary_stages tt_binary_stages(enum tt_binary_fn fn, enum ttnn_dtype a, bool sfpu);

/* ---- the program ----------------------------------------------------------------------------------- */

struct tt_binary_args {
	enum tt_binary_fn fn;
	struct tt_tensor *a, *b;                 /* b NULL: the scalar */
	double scalar;                           /* also the number of WHERE_TTS and WHERE_TST */
	bool scalar_first;                       /* the scalar is the left operand */
	struct tt_tensor *output;                /* (optional) */
	const enum ttnn_dtype *dtype;            /* (optional) */
	const struct ttnn_memory_config *memory; /* (optional) */
	const ttnn_core_set *grid;               /* (optional) */
	const struct ttnn_value
		*sub_device; /* (optional) the number of one: it takes the place of cores */
	const struct ttnn_value *pre_a, *pre_b, *post; /* (optional) lists of activations */
	bool accurate;    /* the caller asked for no approximation where that is not the default */
	bool fast;        /* the caller asked for an approximation */
	double params[3]; /* of the function */
	bool variant;     /* the function has a variant: shown in the attributes */
};
tt_status tt_binary_launch(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_binary_args *args);

#endif
