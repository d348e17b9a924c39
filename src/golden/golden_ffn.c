/* golden_ffn.c: see golden_ffn.h. */
#include "golden/golden_ffn.h"

#include <math.h>

/* Row by row and column by column: the sum of products. */
static struct tt_array *product(struct tt_golden *golden, const struct tt_array *a,
				const struct tt_array *b)
{
	struct ttnn_shape shape = a->shape;
	uint64_t depth = tt_shape_last(&a->shape, 1), width = tt_shape_last(&b->shape, 1);
	struct tt_array *out;

	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)width;
	out = tt_golden_temp(golden, &shape);
	for (uint64_t i = 0; out && i < out->count; i++)
		for (uint64_t k = 0; k < depth; k++)
			*tt_at(out, i) +=
				*tt_at(a, i / width * depth + k) * *tt_at(b, k * width + i % width);
	return out;
}

tt_status tt_golden_routed_ffn(struct tt_golden *golden)
{
	const struct tt_array *x = tt_golden_in(golden, "x");
	const struct tt_array *down = tt_golden_in(golden, "down_proj"), *result;
	const struct tt_array *weights[2] = {tt_golden_in(golden, "gate_proj"),
					     tt_golden_in(golden, "up_proj")};
	struct tt_array *gate, *up, *out;

	TT_GOLDEN_NEED(x && down && weights[0] && weights[1] && x->shape.rank);
	gate = product(golden, x, weights[0]);
	up = product(golden, x, weights[1]);
	TT_GOLDEN_NEED(gate && up);
	for (uint64_t i = 0; i < gate->count; i++) {
		double g = *tt_at(gate, i);

		*tt_at(gate, i) = g / (1 + exp(-g)) * *tt_at(up, i);
	}
	result = product(golden, gate, down);
	out = result ? tt_golden_out(golden, &result->shape, x->dtype) : NULL;
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(result, i);
	return TTNN_OK;
}

/* Between the products of an expert. */
static double activated(int64_t activation, double gate, double up)
{
	if (activation == 1) {
		double g = gate > 7 ? 7 : gate, u = up > 7 ? 7 : up < -7 ? -7 : up;

		return (u + 1) * g / (1 + exp(-1.702 * g));
	}
	if (activation == 2)
		return 4 * tanh(gate / 4) / (1 + exp(-gate)) * 25 * tanh(up / 25);
	if (activation == 3) {
		double g = gate > 10 ? 10 : gate, u = up > 10 ? 10 : up < -10 ? -10 : up;

		return g / (1 + exp(-g)) * u;
	}
	return gate / (1 + exp(-gate)) * up;
}

/* The item of a list of tensors; NULL if there is no list. */
static const struct tt_array *item(struct tt_golden *golden, const char *name, uint32_t place)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, name);

	if (!tt_value_given(list) || place >= list->count)
		return NULL;
	return tt_golden_read(golden, list->items[place].tensor);
}

static double sum_at(const struct tt_array *row, const struct tt_array *weight,
		     const struct tt_array *bias, uint64_t column)
{
	uint64_t width = tt_shape_last(&weight->shape, 1);
	double sum = bias ? *tt_at(bias, column) : 0;

	for (uint64_t k = 0; k < tt_shape_last(&weight->shape, 2); k++)
		sum += *tt_at(row, k) * *tt_at(weight, k * width + column);
	return sum;
}

/* One row of the result. */
static tt_status expert_row(struct tt_array *out, uint64_t row, struct tt_golden *golden,
			    uint32_t expert)
{
	const struct tt_array *x = tt_golden_in(golden, "dispatched_buffer");
	const struct tt_array *gate = item(golden, "gate_projs", expert);
	const struct tt_array *up = item(golden, "up_projs", expert);
	const struct tt_array *down = item(golden, "down_projs", expert);
	uint64_t width = tt_shape_last(&x->shape, 1);
	struct tt_array *between;
	struct tt_array tokens = *x;

	TT_GOLDEN_NEED(gate && up && down);
	tokens.data = tt_array_span(x, row * width, width);
	tokens.count = width;
	between = tt_golden_temp(golden, &(struct ttnn_shape){1, {tt_shape_last(&gate->shape, 1)}});
	TT_GOLDEN_NEED(between);
	for (uint64_t c = 0; c < between->count; c++)
		*tt_at(between, c) =
			activated(tt_call_arg(&golden->call, "activation")->integer,
				  sum_at(&tokens, gate, item(golden, "gate_biases", expert), c),
				  sum_at(&tokens, up, item(golden, "up_biases", expert), c));
	for (uint64_t c = 0; c < width; c++)
		*tt_at(out, row * width + c) =
			sum_at(between, down, item(golden, "down_biases", expert), c);
	return TTNN_OK;
}

/* Rows that so many tokens have in whole tiles. */
static uint64_t whole_tiles(double count)
{
	return ((uint64_t)ceil(count) + 31) / 32 * 32;
}

tt_status tt_golden_unified_ffn(struct tt_golden *golden)
{
	const struct tt_array *x = tt_golden_in(golden, "dispatched_buffer");
	const struct tt_array *starts = tt_golden_in(golden, "expert_region_offsets");
	const struct tt_array *counts = tt_golden_in(golden, "expert_token_counts");
	const struct tt_array *table = tt_golden_in(golden, "global_expert_idx_table");
	bool rows = tt_golden_tensor(golden, "dispatched_buffer")->spec.layout != TTNN_TILE;
	double room = (double)tt_call_int(&golden->call, "max_dispatched_tokens_per_expert", 0);
	struct tt_array *out = x ? tt_golden_out(golden, &x->shape, TTNN_BFLOAT8_B) : NULL;

	TT_GOLDEN_NEED(out && starts && counts && table && x->shape.rank > 1);
	for (uint64_t i = 0; i < x->count; i++)
		*tt_at(out, i) = rows ? 0 : *tt_at(x, i);
	for (uint32_t e = 0; e < tt_call_arg(&golden->call, "gate_projs")->count; e++) {
		uint64_t own = (uint64_t)*tt_at(table, e), start = (uint64_t)*tt_at(starts, own);
		double count = *tt_at(counts, own);

		if (count < (double)tt_call_int(&golden->call, "min_active_tokens", 0) ||
		    count > (double)tt_call_int(&golden->call, "max_active_tokens", UINT32_MAX))
			continue;
		for (uint64_t r = 0; r < whole_tiles(count) && (double)r < room; r++)
			TT_TRY(expert_row(out, start + r, golden, e));
	}
	return TTNN_OK;
}
