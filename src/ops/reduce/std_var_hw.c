/* std_var_hw.c: variance, deviation and normal values of whole matrices, made of other operations. */
#include <math.h>

#include "golden/golden.h"
#include "ops/op_enums.h"
#include "ops/recipe.h"

#define CENTERED                                                                                   \
	"average = mean~(input_tensor, dims, True); "                                              \
	"centered = bcast~(input_tensor, average, minus, both); "

/* With the dimensions, and one by as many values as a matrix has, padding too. */
static tt_status hw_run(struct tt_call *call, const char *text)
{
	const struct ttnn_shape *padded = &tt_call_tensor(call, "input_tensor")->spec.padded;
	const struct ttnn_value dims[] = {ttnn_v_int(2), ttnn_v_int(3)};
	double values = padded->rank < 4 ? 1 : (double)padded->dim[2] * padded->dim[3];
	const struct tt_recipe_name names[] = {
		{"dims", ttnn_v_list(dims, TT_COUNT(dims))},
		{"scale", ttnn_v_real((double)(float)(1 / values))},
		{"minus", tt_value_enum(&tt_enum_bcast_math, TT_BCAST_SUB)},
		{"both", tt_value_enum(&tt_enum_bcast_dim, TT_BCAST_HW)},
	};
	const struct tt_recipe recipe = {.text = text,
					 .memory = tt_call_memory(call, "memory_config"),
					 .names = names,
					 .name_count = TT_COUNT(names)};

	return tt_recipe_run(call, &recipe);
}

static tt_status expand_var(struct tt_call *call)
{
	return hw_run(call, CENTERED "squares = square(centered); "
				     "return sum~(squares, dims, True, scalar=scale)");
}

static tt_status expand_std(struct tt_call *call)
{
	return hw_run(call, "return sqrt~(var_hw(input_tensor))");
}

static tt_status expand_normal(struct tt_call *call)
{
	return hw_run(call, CENTERED
		      "variance = sum~(square(centered), dims, True, scalar=scale); "
		      "return multiply(centered, variance, input_tensor_b_activations=[RSQRT])");
}

/* All matrices as one, side by side. */
static tt_status expand_global(struct tt_call *call)
{
	const struct ttnn_shape *padded = &tt_call_tensor(call, "input_tensor")->spec.padded;
	struct tt_recipe_name names[] = {
		{"n", ttnn_v_int(padded->dim[0])},
		{"c", ttnn_v_int(padded->dim[1])},
		{"h", ttnn_v_int(padded->dim[2])},
		{"w", ttnn_v_int(padded->dim[3])},
		{"wide", ttnn_v_int((int64_t)padded->dim[0] * padded->dim[1] * padded->dim[3])},
	};
	const struct tt_recipe recipe = {
		.text = "all = reshape_on_device~(input_tensor, 1, 1, h, wide); "
			"normal = normalize_hw(all); drop all; "
			"return reshape_on_device(normal, n, c, h, w)",
		.memory = tt_call_memory(call, "memory_config"),
		.names = names,
		.name_count = TT_COUNT(names)};

	TT_REQUIRE(padded->rank == 4, "y.padded_shape().rank() == 4",
		   "Cannot support non-rank 4 Tensor");
	return tt_recipe_run(call, &recipe);
}

/* ---- goldens ------------------------------------------------------------------------------------------------- */

struct spread {
	double mean, variance;
};

/* Of `count` values; the variance is that of a matrix with zeros where tiles have padding. */
static struct spread spread_of(const double *values, uint64_t count, double with_padding)
{
	struct spread out = {0, 0};

	for (uint64_t i = 0; i < count; i++)
		out.mean += values[i] / (double)count;
	for (uint64_t i = 0; i < count; i++)
		out.variance += (values[i] - out.mean) * (values[i] - out.mean) / with_padding;
	return out;
}

enum what { VARIANCE, DEVIATION, NORMAL, NORMAL_OF_ALL };

/* Upstream divides by the padded size: so does this. */
static tt_status hw_golden(struct tt_golden *golden)
{
	enum what what = *(const enum what *)golden->op->row;
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape shape;
	struct tt_array *out;
	uint64_t matrix;
	double padded;

	TT_GOLDEN_NEED(in && in->shape.rank == 4);
	shape = in->shape;
	matrix = (uint64_t)shape.dim[2] * shape.dim[3];
	padded = ceil(shape.dim[2] / 32.0) * 32 * ceil(shape.dim[3] / 32.0) * 32;
	if (what == VARIANCE || what == DEVIATION)
		shape.dim[2] = shape.dim[3] = 1;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	if (what == NORMAL_OF_ALL) {
		uint64_t matrices = matrix ? in->count / matrix : 0;

		padded *= (double)matrices;
		matrix = in->count;
	}
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t m = i / tt_divisor(matrix);
		struct spread spread;

		if (i % matrix)
			continue;
		spread = spread_of(tt_array_span(in, i, matrix), matrix, padded);
		if (what == VARIANCE || what == DEVIATION)
			*tt_at(out, m) = what == VARIANCE ? spread.variance : sqrt(spread.variance);
		for (uint64_t k = i; k < i + matrix && what >= NORMAL; k++)
			*tt_at(out, k) = (*tt_at(in, k) - spread.mean) / sqrt(spread.variance);
	}
	return TTNN_OK;
}

static const enum what variance = VARIANCE, deviation = DEVIATION, normal = NORMAL,
		       normal_of_all = NORMAL_OF_ALL;

#define OP(name_, expand_, row_, doc_)                                                             \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_,                                                \
		.sigs = {"input_tensor: Tensor, *, memory_config: MemoryConfig? = None"},          \
		.expand = expand_, .golden = hw_golden, .row = row_                                \
	}

static const struct tt_op ops[] = {
	OP("var_hw", expand_var, &variance, "The variance of each matrix."),
	OP("std_hw", expand_std, &deviation, "The standard deviation of each matrix."),
	OP("normalize_hw", expand_normal, &normal,
	   "Each matrix less its mean, over its standard deviation."),
	OP("normalize_global", expand_global, &normal_of_all,
	   "All values less their mean, over their standard deviation."),
};

const struct tt_op_family tt_family_std_var_hw = {"std_var_hw", ops, TT_COUNT(ops)};
