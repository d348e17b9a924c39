/*
 * activation.h: element-wise functions as values: activations by name, as objects, and as chains of steps. What
 * products, convolutions and their goldens take as arguments and attributes.
 */
#ifndef TT_OPS_ACTIVATION_H
#define TT_OPS_ACTIVATION_H

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

/* The activation of this name as an object of tt_schema_unary, in `arena`; refuses other names. */
tt_status tt_activation_named(struct ttnn_value *out, struct tt_arena *arena, const char *name);

/* The same for an argument that is a name, such an object, a function (with its parameter), or none. */
tt_status tt_activation_of(struct ttnn_value *out, struct tt_arena *arena,
			   const struct ttnn_value *value);

#endif
