#include "golden/golden_matmul.h"

/* Weights in blocks that stand beside each other: `each` matrices of k rows and n columns, or a part of one's rows. */
struct folded {
	const struct tt_array *b;
	uint64_t k, n, each; /* each 0: the block has rows of one matrix, as many as it is high */
};

/* Element [k, n] of a matrix of the batch. */
static double weight(const struct folded *folded, uint64_t batch, uint64_t k, uint64_t n)
{
	uint64_t high = tt_shape_last(&folded->b->shape, 2);
	uint64_t wide = tt_shape_last(&folded->b->shape, 1);
	uint64_t block = folded->each ? batch / folded->each : k / high;
	uint64_t row = folded->each ? batch % folded->each * folded->k + k : k % high;

	return *tt_at(folded->b, row * wide + block * folded->n + n);
}

tt_status tt_golden_matmul_decode(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in(golden, "input_tensor_a");
	struct folded folded = {.b = tt_golden_in(golden, "input_tensor_b")};
	bool partial = tt_call_bool(&golden->call, "partial_width_sharded", false);
	uint64_t high, rows, batch = 1, blocks = 1;
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(a && folded.b);
	high = tt_shape_last(&folded.b->shape, 2);
	rows = tt_shape_last(&a->shape, 2);
	folded.k = tt_shape_last(&a->shape, 1);
	if (a->shape.rank == 4)
		batch = (uint64_t)a->shape.dim[0] * a->shape.dim[1];
	if (batch > 1)
		folded.each = folded.k ? high / folded.k : 0;
	if (batch > 1 && folded.each)
		blocks = batch / folded.each;
	else if (partial && high)
		blocks = folded.k / high;
	if (!blocks || !high || !folded.k || (batch > 1 && !folded.each))
		return tt_fail(TTNN_INVALID, "%s: its weights do not fit", golden->op->name);
	folded.n = tt_shape_last(&folded.b->shape, 1) / blocks;
	shape = a->shape;
	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)folded.n;
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", a->dtype));
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row = i / folded.n, n = i % folded.n;
		double sum = 0;

		for (uint64_t k = 0; k < folded.k; k++)
			sum += *tt_at(a, row * folded.k + k) *
			       weight(&folded, batch > 1 ? row / rows : 0, k, n);
		out->data[i] = sum;
	}
	return TTNN_OK;
}
