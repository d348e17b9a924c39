/* backward.h: what the tables of gradients share. */
#ifndef TT_OPS_ELTWISE_BACKWARD_H
#define TT_OPS_ELTWISE_BACKWARD_H

#include "golden/golden.h"
#include "ops/recipe.h"

#define TT_BACKWARD_NAMES 8

/*
 * Runs a recipe with the name g for the gradient that comes in, x or a, b, c for the operands (the
 * arguments behind it), and those of `more`. The memory config is the caller's, or `fallback`.
 */
struct tt_backward {
	const char *text;
	const struct ttnn_memory_config *fallback; /* (optional) */
	struct tt_recipe_name more[TT_BACKWARD_NAMES - 4];
	size_t more_count;
};
tt_status tt_backward_run(struct tt_call *call, const struct tt_backward *backward);

/*
 * The tensor a gradient is written to: the caller's, or a new one like another, where the caller
 * wants results to lie; the call owns it.
 */
tt_status tt_backward_output(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *given,
			     struct tt_tensor *like);

/*
 * For goldens: the gradient times a derivative. One that float32 has not is infinite, as kernels and
 * torch have it; that of a rounded quotient (rounding_mode is given) is 0.
 */
double tt_backward_golden(const struct tt_golden *golden, double grad, double slope);

/* Binds a name to what was worked out. */
void tt_backward_name(struct tt_backward *backward, const char *name, struct ttnn_value value);

#endif
