/* golden_indexer.c: how much keys matter to queries: a number for each pair that may see each other. */
#include <math.h>

#include "golden/golden_attention.h"

struct scores {
	const struct tt_array *q, *k,
		*weights; /* weights: (optional) of each head, with which no product is negative */
	uint64_t heads, rows, keys, width, groups, start, ratio, valid, slot;
	double scale;
};

static double score(const struct scores *s, uint64_t group, uint64_t row, uint64_t key)
{
	uint64_t own = s->heads / s->groups;
	double sum = 0;

	if (key >= s->valid || key >= (s->start + row + 1) / s->ratio)
		return -INFINITY;
	for (uint64_t h = group * own; h < (group + 1) * own; h++) {
		double product = 0;

		for (uint64_t i = 0; i < s->width; i++)
			product += *tt_at(s->q, (h * s->rows + row) * s->width + i) *
				   *tt_at(s->k, (s->slot * s->keys + key) * s->width + i);
		sum += s->weights ? fmax(product, 0) * *tt_at(s->weights, row * s->heads + h)
				  : product * s->scale;
	}
	return sum;
}

tt_status tt_golden_indexer_score(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	struct scores s = {.q = tt_golden_in4(golden, "q"),
			   .k = tt_golden_in4(golden, "k"),
			   .weights = tt_golden_in(golden, "weights")};
	uint64_t block = (uint64_t)tt_call_int(call, "block_size", 0);
	struct tt_array *out;

	TT_GOLDEN_NEED(s.q && s.k);
	s.heads = s.q->shape.dim[1];
	s.rows = s.q->shape.dim[2];
	s.width = s.q->shape.dim[3];
	s.keys = s.k->shape.dim[2];
	s.groups = (uint64_t)tt_call_int(call, "num_groups", 1);
	s.ratio = (uint64_t)tt_call_int(call, "key_compression_ratio", 1);
	TT_GOLDEN_NEED(s.groups && s.ratio && s.heads % s.groups == 0);
	s.start = (uint64_t)tt_call_int(call, "chunk_start_idx",
					(int64_t)(s.keys * s.ratio) - (int64_t)s.rows);
	s.valid = (uint64_t)tt_call_int(call, "kv_len", (int64_t)s.keys);
	s.slot = (uint64_t)tt_call_int(call, "cache_batch_idx", 0);
	s.scale = tt_call_real(call, "scale", 1);
	block = block ? block : 1;
	out = tt_golden_out(
		golden,
		&TT_SHAPE(1, (uint32_t)s.groups, (uint32_t)s.rows, (uint32_t)(s.keys / block)),
		TTNN_BFLOAT16);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t columns = s.keys / block, row = i / columns % s.rows;

		*tt_at(out, i) = -INFINITY;
		for (uint64_t key = 0; key < block; key++)
			*tt_at(out, i) = fmax(*tt_at(out, i), score(&s, i / columns / s.rows, row,
								    i % columns * block + key));
	}
	return TTNN_OK;
}
