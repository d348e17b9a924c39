/*
 * moe_work.h: which tokens a chip's experts have, as moe_gpt and moe_compute tell it: how many each, a row for each token that one of
 * them has, and the tokens of each.
 */
#ifndef TT_OPS_COLLECTIVE_MOE_WORK_H
#define TT_OPS_COLLECTIVE_MOE_WORK_H

#include "ops/op.h"

struct tt_moe_work {
	uint32_t chip;
	uint32_t tokens, experts, k,
		all;   /* experts of the chip; choices of a token; experts of all chips */
	uint32_t rows; /* that `active` has room for */
	uint32_t row_words, map_words; /* of such a row; from one token to the next in `maps` */
	uint64_t owners; /* numbers of the mapping: a row of `all` for each chip, or one */
	bool along;      /* tokens come from the chips in a row of the mesh, not in a column */
	bool unsent;     /* a token whose choices are all the same was not sent */
	bool slots;      /* behind a token in `maps` stands which choice of it the expert was */
	const double *ids, *scores, *mapping;
	uint32_t *counts, *active, *maps; /* the results, zeros before */
	uint32_t found;                   /* rows of `active` that are a token's */
};

/* Fills the results. Rows that no token has say so; the one behind the last ends them, if there is one. */
void tt_moe_find(struct tt_moe_work *work, const struct tt_launch *launch);

#endif
