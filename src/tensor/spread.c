#include "tensor/spread.h"

#include "tensor/tensor.h"

/* Of tensor i: inputs, then outputs; 0: there is none. */
static uint64_t spread_at(const struct tt_spread_tensors *of, size_t i)
{
	const struct tt_tensor *tensor =
		i < of->input_count ? of->inputs[i] : of->given[i - of->input_count];

	return tensor ? tensor->spread : 0;
}

/* How many dimensions the result's distribution has. */
static unsigned result_rank(const struct tt_spread_tensors *of, uint64_t first)
{
	unsigned rank = 0;

	for (size_t i = 0; i < of->input_count + of->given_count; i++) {
		uint64_t spread = spread_at(of, i);
		unsigned own = tt_spread_rank(spread);

		if (own > rank && spread & TT_SPREAD_CUTS)
			rank = own;
	}
	return rank ? rank : tt_spread_rank(first);
}

/* Adds a tensor to what a result is so far; *cut_dims: dimensions of the tensor, plus 32. */
static uint64_t add(uint64_t result, uint64_t *cut_dims, uint64_t spread, unsigned rank)
{
	for (unsigned d = 0; d < rank; d++) {
		struct tt_spread axis = tt_spread_at(spread, d), out = tt_spread_at(result, d);
		uint64_t bit = UINT64_C(1) << (axis.dim + 32);

		out.extent = axis.extent > out.extent ? axis.extent : out.extent;
		if (axis.shard && !(*cut_dims & bit)) {
			*cut_dims |= bit;
			out.dim = out.shard ? out.dim : axis.dim;
			out.shard = true;
		}
		result = tt_spread_with(result, d, out);
	}
	return result;
}

static uint64_t combine(const struct tt_spread_tensors *of, uint64_t first)
{
	unsigned rank = result_rank(of, first);
	uint64_t result = 0, cut_dims = 0;

	for (size_t i = 0; i < of->input_count + of->given_count; i++) {
		uint64_t spread = spread_at(of, i);

		if (spread && tt_spread_rank(spread) == rank)
			result = add(result, &cut_dims, spread, rank);
	}
	return result;
}

uint64_t tt_spread_of_results(const struct tt_spread_tensors *of)
{
	uint64_t first = 0, all = 0;
	bool alike = true;

	for (size_t i = 0; i < of->input_count + of->given_count; i++) {
		uint64_t spread = spread_at(of, i);

		first = first ? first : spread;
		alike &= !spread || spread == first;
		all |= spread;
	}
	/* Nearly always: copies on all devices. */
	return alike && !(all & TT_SPREAD_CUTS) ? first : combine(of, first);
}
