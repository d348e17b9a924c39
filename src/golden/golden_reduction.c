/*
 * golden_reduction.c: goldens of reductions. gather() takes each element of a group once and
 * keeps all that any reduction may ask for; the result is one function of that (result_fn).
 */
#include "golden/golden_reduction.h"

#include <math.h>

#include "ops/dims.h"

/* ---- many values to one -------------------------------------------------------------------------- */

/* What is known of the values that go into one result. */
struct gathered {
	uint64_t count;
	double sum, max, min, product;
	double p, powers, largest, smallest; /* sizes, for norms */
	uint64_t place;                      /* of the first largest one */
	double mean, squares;                /* of what was before, and of distances to the mean */
};

/*
 * One more element of a group. Mean and squares by Welford's method: stable in one pass. The
 * place of the largest is that of the first one.
 */
static void gather(struct gathered *out, double value)
{
	double before = value - out->mean, size = fabs(value);

	out->largest = out->count == 0 ? size : fmax(out->largest, size);
	out->smallest = out->count == 0 ? size : fmin(out->smallest, size);
	out->powers += out->p == 0 ? value != 0 : pow(size, out->p);

	if (out->count == 0 || value > out->max) {
		out->max = value;
		out->place = out->count;
	}
	out->min = out->count == 0 || value < out->min ? value : out->min;
	out->product = out->count == 0 ? value : out->product * value;
	out->sum += value;
	out->count++;
	out->mean += before / (double)out->count;
	out->squares += before * (value - out->mean);
}

typedef double (*result_fn)(const struct gathered *values, double correction);

#define RESULT(name)                                                                               \
	static double result_##name(const struct gathered *values, double correction)              \
	{                                                                                          \
		(void)correction;                                                                  \
		return values->name;                                                               \
	}
RESULT(sum)
RESULT(max)
RESULT(min)
RESULT(product)

static double result_mean(const struct gathered *values, double correction)
{
	(void)correction;
	return values->sum / (double)values->count;
}

static double result_var(const struct gathered *values, double correction)
{
	return values->squares / ((double)values->count - correction);
}

static double result_std(const struct gathered *values, double correction)
{
	return sqrt(result_var(values, correction));
}

/* How a reduction is described: which tensor, which dimensions. */
struct over {
	const char *input, *dims;
	struct ttnn_shape shape; /* of the result, reduced dimensions kept */
	struct tt_reduction_dims reduced;
	const struct tt_array *in;
};

/*
 * Which dimensions are reduced, and the shape with those as extents of 1: elements find their
 * group through it.
 */
static tt_status begin(struct over *out, struct tt_golden *golden, const char *input,
		       const char *dims)
{
	out->in = tt_golden_in(golden, input);
	TT_GOLDEN_NEED(out->in);
	TT_TRY(tt_reduction_dims(&out->reduced, &golden->call, dims, out->in->shape.rank));
	out->shape = tt_reduction_shape(&out->in->shape, &out->reduced, true);
	return TTNN_OK;
}

/* All values by the result they go into; in the arena. */
static struct gathered *gather_all(struct tt_golden *golden, const struct over *over,
				   uint64_t count)
{
	struct gathered *all = tt_arena_calloc(golden->arena, count ? count : 1, sizeof(*all));
	struct tt_array kept = {.shape = over->shape};
	double scalar = kept.shape.rank ? tt_call_real(&golden->call, "scalar", 1) : 1;
	uint64_t coordinate[TTNN_MAX_RANK];

	if (!all)
		return NULL;
	for (uint64_t i = 0; i < count; i++)
		all[i].p = tt_call_real(&golden->call, "p", 1);
	for (uint64_t i = 0; i < over->in->count; i++) {
		tt_array_coordinate(coordinate, over->in, i);
		for (uint32_t d = 0; d < over->reduced.count; d++)
			coordinate[over->reduced.dim[d]] = 0;
		gather(&all[tt_array_index(&kept, coordinate)], scalar * *tt_at(over->in, i));
	}
	return all;
}

static tt_status reduce_over(struct tt_golden *golden, const char *dims, bool keep,
			     result_fn result)
{
	double correction = tt_call_real(&golden->call, "correction", 1);
	struct gathered *all;
	struct tt_array *out;
	struct ttnn_shape shape;
	struct over over;

	TT_TRY(begin(&over, golden, "input_tensor", dims));
	shape = tt_reduction_shape(&over.in->shape, &over.reduced, keep);
	out = tt_golden_out(golden, &shape, over.in->dtype);
	all = out ? gather_all(golden, &over, out->count) : NULL;
	TT_GOLDEN_NEED(all);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = tt_golden_fit(out->dtype, result(&all[i], correction));
	return TTNN_OK;
}

static tt_status reduce(struct tt_golden *golden, result_fn result)
{
	return reduce_over(golden, "dim", tt_call_bool(&golden->call, "keepdim", false), result);
}

/* What each gives of the gathered sums, moments and extremes. */
#define REDUCTION(name)                                                                            \
	tt_status tt_golden_##name(struct tt_golden *golden)                                       \
	{                                                                                          \
		return reduce(golden, result_##name);                                              \
	}
REDUCTION(sum)
REDUCTION(mean)
REDUCTION(max)
REDUCTION(min)
REDUCTION(std)
REDUCTION(var)

/* Into a given tensor, reduced dimensions are kept. */
tt_status tt_golden_prod(struct tt_golden *golden)
{
	bool into = tt_call_tensor(&golden->call, "output_tensor") != NULL;

	return into ? reduce_over(golden, "dims", true, result_product)
		    : reduce(golden, result_product);
}

tt_status tt_golden_argmax(struct tt_golden *golden)
{
	bool keep = tt_call_bool(&golden->call, "keepdim", false);
	struct ttnn_shape shape;
	struct gathered *all;
	struct tt_array *out;
	struct over over;

	TT_TRY(begin(&over, golden, "input_tensor", "dim"));
	shape = tt_reduction_shape(&over.in->shape, &over.reduced, keep);
	out = tt_golden_out(golden, &shape, TTNN_UINT32);
	all = out ? gather_all(golden, &over, out->count) : NULL;
	TT_GOLDEN_NEED(all);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = (double)all[i].place;
	return TTNN_OK;
}

/* ---- moreh operations: the last two dimensions stay --------------------------------------------------- */

static double result_norm(const struct gathered *values, double correction)
{
	(void)correction;
	if (isinf(values->p))
		return values->p > 0 ? values->largest : values->smallest;
	return values->p == 0 ? values->powers : pow(values->powers, 1 / values->p);
}

/*
 * The moreh operations keep the last two dimensions even when they drop others: results stay
 * tiles.
 */
static tt_status reduce_moreh(struct tt_golden *golden, result_fn result, double factor)
{
	bool keep = tt_call_bool(&golden->call, "keepdim", false);
	struct tt_reduction_dims dropped = {.count = 0};
	struct gathered *all;
	struct tt_array *out;
	struct ttnn_shape shape;
	struct over over;

	TT_TRY(begin(&over, golden, "input", "dim"));
	for (uint32_t i = 0; i < over.reduced.count && !keep; i++)
		if (over.reduced.dim[i] + 2 < over.in->shape.rank)
			dropped.dim[dropped.count++] = over.reduced.dim[i];
	shape = tt_reduction_shape(&over.shape, &dropped, false);
	out = tt_golden_out(golden, &shape, over.in->dtype);
	all = out ? gather_all(golden, &over, out->count) : NULL;
	TT_GOLDEN_NEED(all);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = tt_golden_fit(out->dtype, factor * result(&all[i], 0));
	return TTNN_OK;
}

tt_status tt_golden_moreh_sum(struct tt_golden *golden)
{
	return reduce_moreh(golden, result_sum, 1);
}

tt_status tt_golden_moreh_mean(struct tt_golden *golden)
{
	double divisor = tt_call_real(&golden->call, "divisor", 0);

	return divisor != 0 ? reduce_moreh(golden, result_sum, 1 / divisor)
			    : reduce_moreh(golden, result_mean, 1);
}

tt_status tt_golden_moreh_norm(struct tt_golden *golden)
{
	return reduce_moreh(golden, result_norm, 1);
}

tt_status tt_golden_moreh_abs_pow(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = pow(fabs(*tt_at(in, i)), tt_call_real(&golden->call, "p", 1));
	return TTNN_OK;
}

/* Sums over outer dimensions; the last two are as large as their tiles, with zeros there. */
tt_status tt_golden_reduce_outer(struct tt_golden *golden)
{
	uint64_t at[TTNN_MAX_RANK];
	struct tt_array *out;
	struct ttnn_shape shape;
	struct over over;

	TT_TRY(begin(&over, golden, "input", "dims"));
	shape = over.in->shape;
	for (uint32_t i = 0; i < over.reduced.count; i++)
		shape.dim[over.reduced.dim[i]] = 1;
	for (uint32_t back = 1; back <= 2 && back <= shape.rank; back++)
		shape.dim[shape.rank - back] = (shape.dim[shape.rank - back] + 31) / 32 * 32;
	out = tt_golden_out(golden, &shape, over.in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < over.in->count; i++) {
		tt_array_coordinate(at, over.in, i);
		for (uint32_t k = 0; k < over.reduced.count; k++)
			at[over.reduced.dim[k]] = 0;
		*tt_at(out, tt_array_index(out, at)) += *tt_at(over.in, i);
	}
	return TTNN_OK;
}

/* The most likely token of each user. Other draws are chance, which has no truth. */
tt_status tt_golden_sampling(struct tt_golden *golden)
{
	const struct tt_array *values = tt_golden_in(golden, "input_values_tensor");
	const struct tt_array *indices = tt_golden_in(golden, "input_indices_tensor");
	const struct tt_array *k = tt_golden_in(golden, "k"), *p = tt_golden_in(golden, "p");
	struct tt_tensor *given = tt_call_tensor(&golden->call, "output_tensor");
	struct tt_array *out;

	if (!values || !indices || !k || !p)
		return tt_fail_nomem();
	out = tt_golden_out(golden, &(struct ttnn_shape){4, {1, 1, 1, values->shape.dim[2]}},
			    given ? given->spec.dtype : TTNN_UINT32);
	TT_NEED_MEMORY(out);
	for (uint64_t user = 0; user < out->count; user++) {
		uint64_t width = values->shape.dim[3], best = user * width;

		if (*tt_at(k, user) != 1 && *tt_at(p, user) != 0)
			return tt_fail(TTNN_UNSUPPORTED,
				       "ttnn.sampling has a golden where k is 1 or p is 0 alone");
		for (uint64_t i = user * width; i < (user + 1) * width; i++)
			if (*tt_at(values, i) > *tt_at(values, best))
				best = i;
		*tt_at(out, user) = *tt_at(indices, best);
	}
	return TTNN_OK;
}

/* How many come before element i: more likely ones, and equal ones further left. */
static uint64_t place_of(const double *line, const struct tt_array *experts, uint64_t width,
			 uint64_t i)
{
	double own = line[i] + *tt_at(experts, i);
	uint64_t place = 0;

	for (uint64_t j = 0; j < width; j++) {
		double other = line[j] + *tt_at(experts, j);

		place += other > own || (other == own && j < i);
	}
	return place;
}

/* The weight of value 0 of a row. Each is taken less the greatest, so that none is too large for exp(). */
static double moe_weight(const double *line, const struct tt_array *experts,
			 const struct tt_array *mask, uint64_t width, uint64_t k)
{
	double most = -INFINITY, sum = 0, first = -INFINITY;

	for (int pass = 0; pass < 2; pass++)
		for (uint64_t i = 0; i < width; i++) {
			uint64_t place = place_of(line, experts, width, i);
			double own;

			if (place >= k)
				continue;
			own = line[i] + *tt_at(experts, i) + *tt_at(mask, place);
			if (pass == 0)
				most = fmax(most, own);
			else
				sum += exp(own - most);
			if (i == 0)
				first = own;
		}
	return exp(first - most) / sum;
}

/*
 * As PyTorch says it: val, ind = topk(input + experts, k); sum(softmax(val + mask) * (ind == 0)). How many are larger
 * tells the place of each value.
 */
tt_status tt_golden_moe(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	const struct tt_array *experts = tt_golden_in4(golden, "expert_mask_tensor");
	const struct tt_array *mask = tt_golden_in4(golden, "topk_mask_tensor");
	uint64_t k = (uint64_t)tt_call_int(&golden->call, "k", 32), width;
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in && experts && mask);
	shape = in->shape;
	width = shape.dim[tt_from_end(&shape, 1)];
	shape.dim[tt_from_end(&shape, 1)] = 1;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_NEED_MEMORY(out);
	for (uint64_t row = 0; row < out->count; row++)
		*tt_at(out, row) = moe_weight(tt_at(in, row * width), experts, mask, width, k);
	return TTNN_OK;
}
