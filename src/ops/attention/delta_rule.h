/*
 * delta_rule.h: between the files of gated delta nets: numbers of tensors, their products, and where heads go.
 */
#ifndef TT_OPS_ATTENTION_DELTA_RULE_H
#define TT_OPS_ATTENTION_DELTA_RULE_H

#include "ops/usual.h"

/* A core for each head, column after column, each a range by itself. */
tt_status tt_delta_cores(const ttnn_core_set **out, const struct tt_launch *launch, uint64_t heads);

/* The numbers of an input, of which there must be so many, in the launch's arena. */
tt_status tt_delta_numbers(double **out, const struct tt_launch *launch, size_t input,
			   uint64_t most);

/* So many zeros, in the launch's arena; NULL when memory is exhausted. */
double *tt_delta_zeros(const struct tt_launch *launch, uint64_t count);

/* out[rows × columns] += by × a[rows × inner] · b[inner × columns]; size: rows, inner, columns. */
void tt_delta_product(double *out, const double *a, const double *b, const uint32_t size[3],
		      double by);

/* An output of float32 gets these numbers, all that it holds. */
tt_status tt_delta_write(const struct tt_launch *launch, size_t output, const double *values);

/* ---- tensors on their way ------------------------------------------------------------------------------------ */

/* *at goes through an operation with one more argument, or to another type; NULL after a failure. */
tt_status tt_delta_step(struct tt_tensor **at, struct tt_call *call, const char *name,
			struct ttnn_value with);
tt_status tt_delta_cast(struct tt_tensor **at, struct tt_call *call, enum ttnn_dtype dtype);

/* Tokens and heads change places. */
tt_status tt_delta_swap(struct tt_tensor **at, struct tt_call *call);

/* [batches, tokens, heads, width?] as [batches × heads, tokens, width?], yours to give up; NULL after a failure. */
struct tt_delta_heads {
	struct ttnn_shape shape;
	enum ttnn_dtype dtype;
};
tt_status tt_delta_split(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			 const struct tt_delta_heads *heads);

#endif
