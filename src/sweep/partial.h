/*
 * partial.h: random parts of a giant's result against the golden of the parts of its inputs that they depend on.
 */
#ifndef TT_SWEEP_PARTIAL_H
#define TT_SWEEP_PARTIAL_H

#include "sweep/inputs.h"
#include "sweep/verdict.h"

/* Whether the golden of the whole takes too long, and parts can be told. */
bool tt_partial_wanted(const char *op, uint64_t elements);

/* Compares random parts of the results of a call; their places come from the inputs' random numbers. */
tt_status tt_partial_compare(struct tt_verdict *verdict, struct tt_inputs *inputs,
			     const struct tt_traced_call *call, const struct ttnn_results *results);

#endif
