/*
 * declare.h: the typed C functions of operations, as ttnn_ops.h declares them: made by tools/gen_ops.c, told by
 * `ttnn ops NAME`. Each signature is one function: arguments without a default are parameters, the others
 * members of an options struct.
 */
#ifndef TT_OPS_DECLARE_H
#define TT_OPS_DECLARE_H

#include "base/str.h"
#include "ops/op.h"

/* Appends the name of the function for signature `which`: "ttnn_add_tensor". */
void tt_declare_name(struct tt_str *out, const struct tt_op_entry *entry, size_t which);

/* Appends its declaration, without storage class and semicolon. */
void tt_declare(struct tt_str *out, const struct tt_op_entry *entry, size_t which);

/* Whether some argument has a default: the function then takes options. */
bool tt_declare_has_options(const struct tt_sig *sig);

/* The constructor that makes a value of a parameter, "ttnn_v_int"; NULL: it is a value. */
const char *tt_declare_wrap(const struct tt_arg *arg);

#endif
