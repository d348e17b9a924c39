/* experts.h: how gates choose experts for a token. Called by the kernels of gates; never by goldens, which count ranks. */
#ifndef TT_OPS_EXPERTS_H
#define TT_OPS_EXPERTS_H

#include "ops/op.h"

#define TT_EXPERTS_MAX 1024 /* that a gate takes */

/* The nearest bfloat16. */
double tt_experts_rounded(double number);

/* The places of the largest of at most TT_EXPERTS_MAX values, the largest first; of equal ones that which comes first. */
void tt_experts_best(uint32_t *places, uint32_t count, const double *values, uint32_t total);

/* Groups of experts side by side: as good as the sum of its `summed` best are, of which `top` stay. */
struct tt_expert_groups {
	uint32_t experts, groups, summed, top;
	bool exact; /* sums are not rounded to bfloat16 */
};

/* The experts of groups that are not among the best become as bad as can be. */
void tt_experts_leave_groups(double *values, const struct tt_expert_groups *groups);

#endif
