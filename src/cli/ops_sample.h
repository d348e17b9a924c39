/*
 * ops_sample.h: what an operation launches, found by calling it: on tensors of [1, 1, 64, 64], bfloat16, in tiles,
 * in DRAM of an n150, with simple values for what else it must be given.
 */
#ifndef TT_CLI_OPS_SAMPLE_H
#define TT_CLI_OPS_SAMPLE_H

#include "base/str.h"
#include "base/vec.h"
#include "ops/op.h"

/* A program that the sample built: its memory as lines of text, one a buffer. */
struct ops_built {
	const struct tt_prog *prog;
	const struct tt_factory *factory;
	TT_VEC(char *) lines;
};

struct ops_sample {
	TT_VEC(struct ops_built) built;
	struct tt_str refused; /* why there is no sample; empty: there is one */
};

/* Calls the operation on samples. A sample that is refused is no failure: `refused` says why. */
tt_status ops_sample(struct ops_sample *out, const struct tt_op_entry *entry);
void ops_sample_deinit(struct ops_sample *sample);

#endif
