/* experts.c: how gates choose experts for a token. */
#include "ops/experts.h"

#include <math.h>

#include "tensor/bf16.h"

double tt_experts_rounded(double number)
{
	return (double)tt_bf16_load(tt_bf16_store((float)number));
}

void tt_experts_best(uint32_t *places, uint32_t count, const double *values, uint32_t total)
{
	bool taken[TT_EXPERTS_MAX] = {false};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t best = 0;

		while (best + 1 < total && taken[best])
			best++;
		for (uint32_t k = best + 1; k < total; k++)
			if (!taken[k] && values[k] > values[best])
				best = k;
		places[i] = best;
		taken[best] = true;
	}
}

void tt_experts_leave_groups(double *values, const struct tt_expert_groups *groups)
{
	uint32_t size = groups->experts / groups->groups, places[TT_EXPERTS_MAX];
	double sums[TT_EXPERTS_MAX] = {0};
	bool stays[TT_EXPERTS_MAX] = {false};

	for (uint32_t g = 0; g < groups->groups; g++) {
		tt_experts_best(places, groups->summed, &values[g * size], size);
		for (uint32_t i = 0; i < groups->summed; i++)
			sums[g] += values[g * size + places[i]];
		if (!groups->exact)
			sums[g] = tt_experts_rounded(sums[g]);
	}
	tt_experts_best(places, groups->top, sums, groups->groups);
	for (uint32_t i = 0; i < groups->top; i++)
		stays[places[i]] = true;
	for (uint32_t e = 0; e < groups->experts; e++)
		if (!stays[e / size])
			values[e] = -INFINITY;
}
