/* unary.h: what other families need of unary operations: chains of functions as arguments. */
#ifndef TT_OPS_UNARY_H
#define TT_OPS_UNARY_H

#include "ops/op.h"
#include "tensor/fn.h"

#define TT_UNARY_STEPS_MAX 8

/* The schema of one activation: {op_type, params}. */
extern const struct tt_schema tt_schema_unary;

/*
 * A list of activations as the attributes of binary programs have them, in `arena`: the same
 * functions and parameters, another text.
 */
tt_status tt_unary_activations(struct ttnn_value *out, struct tt_arena *arena,
			       const struct ttnn_value *list);

/* A list of activations (of either form, or bare functions) as steps. */
tt_status tt_unary_steps(struct tt_unary_step *out, size_t *count, const struct ttnn_value *chain);

/* None, "trunc" or "floor"; false for anything else. */
bool tt_rounding_find(enum tt_rounding *out, const struct ttnn_value *value);

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

#endif
