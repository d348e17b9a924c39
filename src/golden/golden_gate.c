/* golden_gate.c: see golden_gate.h. Places are found by counting who is better. */
#include "golden/golden_gate.h"

#include <math.h>
#include <string.h>

#include "golden/golden_experts.h"
#include "tensor/tile.h"

static double score_at(struct tt_golden *golden, uint64_t token, uint64_t expert)
{
	const struct tt_array *scores = tt_golden_in(golden, "scores");
	uint64_t width = tt_shape_last(&scores->shape, 1);
	double x = *tt_at(scores, token * width + expert);

	if (strcmp(tt_call_arg(&golden->call, "score_func")->text, "sigmoid") == 0)
		return 1 / (1 + exp(-x));
	return sqrt(log1p(exp(x)));
}

/* Whether a token is none, by the configuration of padding; tokens of a batch fill whole tiles. */
static bool is_none(struct tt_golden *golden, uint64_t token)
{
	const struct tt_array *config = tt_golden_in(golden, "padding_config");
	const struct ttnn_shape *shape = &tt_golden_in(golden, "scores")->shape;
	uint64_t rows = tt_shape_last(shape, 2), tokens = 1, place = token % rows;

	if (!config)
		return false;
	for (uint32_t i = 0; i + 1 < shape->rank; i++)
		tokens *= shape->dim[i];
	for (uint64_t batch = 0; batch < token / rows; batch++)
		place += rows + (TT_TILE - rows % TT_TILE) % TT_TILE;
	if (*tt_at(config, 0) >= (double)tokens)
		return false;
	return *tt_at(config, 1) == 0 ? (double)place >= *tt_at(config, 0)
				      : (double)place + *tt_at(config, 0) < (double)tokens;
}

/* Of 256 experts those stay that are in the four of eight groups whose best two are best together. */
static void leave_groups(double *biased)
{
	double sums[8] = {0};

	for (uint32_t e = 0; e < 256; e++)
		if (tt_golden_rank(&biased[e / 32 * 32], 32, e % 32) < 2)
			sums[e / 32] += biased[e];
	for (uint32_t e = 0; e < 256; e++)
		if (tt_golden_rank(sums, 8, e / 32) > 3)
			biased[e] = -INFINITY;
}

/* Both results, which have so many numbers for a token. */
static tt_status results(struct tt_array **weights, struct tt_array **experts,
			 struct tt_golden *golden)
{
	const struct tt_array *scores = tt_golden_in(golden, "scores");
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(scores && scores->shape.rank);
	shape = scores->shape;
	shape.dim[tt_from_end(&shape, 1)] =
		(uint32_t)tt_call_int(&golden->call, "n_activated_experts", 8);
	*weights = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	*experts = tt_golden_out(golden, &shape, TTNN_UINT16);
	TT_GOLDEN_NEED(*weights && *experts);
	return TTNN_OK;
}

/* What is chosen has parts of the sum. */
static void weigh(struct tt_golden *golden, struct tt_array *weights, struct tt_array *experts)
{
	uint64_t active = tt_shape_last(&weights->shape, 1);
	double scale = tt_call_real(&golden->call, "route_scale", 1);
	double all = tt_shape_last(&tt_golden_in(golden, "scores")->shape, 1);

	for (uint64_t i = 0; i < weights->count; i++) {
		double sum = tt_call_real(&golden->call, "epsilon", 0);
		uint64_t token = i / active;

		for (uint64_t k = 0; k < active; k++)
			sum += score_at(golden, token,
					(uint64_t)*tt_at(experts, token * active + k));
		*tt_at(weights, i) =
			score_at(golden, token, (uint64_t)*tt_at(experts, i)) * scale / sum;
	}
	for (uint64_t i = 0; i < weights->count; i++)
		if (is_none(golden, i / active))
			*tt_at(experts, i) = all;
}

tt_status tt_golden_grouped_topk(struct tt_golden *golden)
{
	const struct tt_array *bias = tt_golden_in(golden, "bias");
	struct tt_array *weights, *experts, *biased;
	uint64_t width, active;

	TT_TRY(results(&weights, &experts, golden));
	TT_GOLDEN_NEED(bias && bias->count == tt_golden_in(golden, "scores")->count);
	biased = tt_golden_temp(golden, &bias->shape);
	TT_GOLDEN_NEED(biased);
	width = tt_shape_last(&bias->shape, 1);
	active = tt_shape_last(&weights->shape, 1);
	for (uint64_t i = 0; i < bias->count; i++)
		*tt_at(biased, i) = *tt_at(bias, i) + score_at(golden, i / width, i % width);
	for (uint64_t token = 0; token < bias->count / tt_divisor(width); token++) {
		double *own = tt_array_span(biased, token * width, width);

		if (tt_call_int(&golden->call, "n_groups", 8) == 8 && width == 256)
			leave_groups(own);
		for (uint32_t e = 0; e < width; e++) {
			uint32_t rank = tt_golden_rank(own, (uint32_t)width, e);

			if (rank < active)
				*tt_at(experts, token * active + rank) = e;
		}
	}
	weigh(golden, weights, experts);
	return TTNN_OK;
}

tt_status tt_golden_hash_gate(struct tt_golden *golden)
{
	const struct tt_array *scores = tt_golden_in(golden, "scores");
	const struct tt_array *words = tt_golden_in(golden, "input_ids");
	const struct tt_array *table = tt_golden_in(golden, "tid2eid");
	struct tt_array *weights, *experts;
	uint64_t active, rows;

	TT_TRY(results(&weights, &experts, golden));
	TT_GOLDEN_NEED(words && table);
	active = tt_shape_last(&weights->shape, 1);
	rows = tt_shape_last(&scores->shape, 2);
	for (uint64_t i = 0; i < experts->count; i++) {
		uint64_t token = i / active, row = token % rows;
		uint64_t line = token / rows * ((rows + TT_TILE - 1) / TT_TILE) + row / TT_TILE;
		uint64_t word = (uint64_t)*tt_at(words, line * tt_shape_last(&words->shape, 1) +
								row % TT_TILE);

		*tt_at(experts, i) =
			*tt_at(table, word * tt_shape_last(&table->shape, 1) + i % active);
	}
	weigh(golden, weights, experts);
	return TTNN_OK;
}
