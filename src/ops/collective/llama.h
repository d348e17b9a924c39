/*
 * llama.h: the program of llama_reduce_scatter (llama_reduce.c), for those that multiply beside it: shards added up, and
 * each device's part of the sum.
 */
#ifndef TT_OPS_COLLECTIVE_LLAMA_H
#define TT_OPS_COLLECTIVE_LLAMA_H

#include "ops/op.h"

#define TT_LLAMA_SCATTER_COUNT 9

/* Its inputs are what is added up and the buffer of packets; it fills in its first output. */
extern const struct tt_prog tt_prog_llama_scatter;

/* Its attributes, from the arguments of a call for a tensor like `in`; `memory` names that of the result's place. */
tt_status tt_llama_scatter_bind(struct ttnn_value *attrs, struct tt_call *call,
				const struct tt_tensor *in, const char *memory);

/* The cores it works on: those that add up, and those that send. */
tt_status tt_llama_scatter_cores(const ttnn_core_set **out, const struct tt_launch *launch);

#endif
