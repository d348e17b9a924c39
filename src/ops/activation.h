/* activation.h: activations by the names that products and convolutions take them by. */
#ifndef TT_OPS_ACTIVATION_H
#define TT_OPS_ACTIVATION_H

#include "ops/op.h"

/* The activation of this name as an object of tt_schema_unary, in `arena`; refuses other names. */
tt_status tt_activation_named(struct ttnn_value *out, struct tt_arena *arena, const char *name);

/* The same for an argument that is a name, such an object, or none. */
tt_status tt_activation_of(struct ttnn_value *out, struct tt_arena *arena,
			   const struct ttnn_value *value);

#endif
