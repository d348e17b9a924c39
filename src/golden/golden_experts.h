/* golden_experts.h: how experts are chosen, and their weights as a ring of cores reads them, element by element. */
#ifndef TT_GOLDEN_GOLDEN_EXPERTS_H
#define TT_GOLDEN_GOLDEN_EXPERTS_H

#include "golden/golden.h"

/* The nearest bfloat16: scores of experts are compared as such. */
double tt_golden_bf16(double number);

/* How many values are larger than one, or as large and before it: its place among the best. */
uint32_t tt_golden_rank(const double *values, uint32_t count, uint32_t place);

/* Of 256 experts' values those go that are not in the four of eight groups whose two best are the best together, as bfloat16. */
void tt_golden_leave_groups(double *values);

/* Gate and up; with bias where the call has one. */
tt_status tt_golden_pack_gate_up(struct tt_golden *golden);

/* Down; with bias where the call has one. */
tt_status tt_golden_pack_down(struct tt_golden *golden);

/* Shared experts behind those of the first chip. */
tt_status tt_golden_shared_experts(struct tt_golden *golden);

/*
 * One expert's weights from where they are packed, rows first: gate and up [in + 1, between], down [between + 1, in]. The last row is
 * what is added, the sum of a tile of bias.
 */
struct tt_golden_expert {
	int64_t in, between; /* in elements */
	int64_t layers, experts, layer, expert, cores;
	int64_t parts; /* so many chips share this one, each with its columns in front; 0: none */
	bool bias;
	double *first[2], *back;
};
void tt_golden_unpack_expert(struct tt_golden_expert *out, const struct tt_array *gate_up,
			     const struct tt_array *down);

/* Other numbers' type only. */
tt_status tt_golden_quantize_weights(struct tt_golden *golden);

#endif
