/* gradients against their goldens: the derivatives */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"

#define NOT_BFP4 (GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B))

/* How a gradient is tested where it is not as most are: operands from -2 to 2, no parameters. */
struct special {
	const char *name;
	double low, high;   /* of the first operand */
	double low2, high2; /* of the others */
	double number[2];   /* parameters behind the operands */
	size_t number_count;
	bool whole; /* they are integers */
	uint32_t dtypes;
	double slack;
	bool apart; /* has a test of its own */
};

static const struct special specials[] = {
	{.name = "acos", .low = -0.9, .high = 0.9},
	{.name = "acosh", .low = 1.2, .high = 5},
	{.name = "addcdiv", .low2 = 1, .high2 = 3, .number = {1.5}, .number_count = 1},
	{.name = "addcmul", .number = {1.5}, .number_count = 1},
	{.name = "asin", .low = -0.9, .high = 0.9},
	{.name = "atan2", .low = 0.5, .high = 2, .low2 = 0.5, .high2 = 2},
	{.name = "atanh", .low = -0.8, .high = 0.8},
	{.name = "clamp", .number = {-1, 1}, .number_count = 2},
	{.name = "clip", .number = {-1, 1}, .number_count = 2},
	{.name = "concat", .apart = true},
	{.name = "digamma", .low = 0.6, .high = 5},
	{.name = "div", .low2 = 1, .high2 = 3},
	{.name = "div_no_nan", .number = {4}, .number_count = 1},
	{.name = "erfinv", .low = -0.8, .high = 0.8},
	/* a rounded quotient is not the quotient: whole steps go wrong near their edges */
	{.name = "fmod", .low2 = 1, .high2 = 3, .dtypes = GOLDEN_BIT(TTNN_FLOAT32)},
	{.name = "hardswish", .slack = 20}, /* upstream's third is 0.3333 */
	{.name = "hypot", .low = 0.5, .high = 2},
	{.name = "lgamma", .low = 0.6, .high = 5},
	{.name = "log", .low = 0.3, .high = 5},
	{.name = "log10", .low = 0.3, .high = 5},
	{.name = "log1p", .low = -0.5, .high = 5},
	{.name = "log2", .low = 0.3, .high = 5},
	{.name = "logaddexp", .dtypes = GOLDEN_FLOATS},
	{.name = "logaddexp2", .dtypes = GOLDEN_FLOATS},
	{.name = "logit", .low = 0.1, .high = 0.9},
	{.name = "logiteps", .low = 0.1, .high = 0.9},
	/* operands that differ may have a difference of 0 in block floats */
	{.name = "max", .dtypes = GOLDEN_FLOATS},
	{.name = "min", .dtypes = GOLDEN_FLOATS},
	{.name = "multigammaln", .low = 2.2, .high = 9},
	{.name = "polygamma",
	 .low = 0.8,
	 .high = 5,
	 .number = {2},
	 .number_count = 1,
	 .whole = true},
	{.name = "pow", .low = 0.3, .high = 3, .number = {2.5}, .number_count = 1},
	{.name = "prod", .apart = true},
	{.name = "rdiv", .low = 0.7, .high = 3, .number = {1.5}, .number_count = 1},
	{.name = "reciprocal", .low = 0.7, .high = 3},
	{.name = "remainder", .low2 = 1, .high2 = 3, .dtypes = GOLDEN_BIT(TTNN_FLOAT32)},
	{.name = "repeat", .apart = true},
	{.name = "rpow", .low = 0.3, .high = 3, .number = {2.5}, .number_count = 1},
	{.name = "rsqrt", .low = 0.5, .high = 3},
	{.name = "sqrt", .low = 0.5, .high = 3},
	{.name = "tan", .low = -1, .high = 1},
	{.name = "threshold", .number = {0.5, 7}, .number_count = 2, .dtypes = GOLDEN_FLOATS},
	{.name = "where", .low = 0, .high = 2},
	{.name = "xlogy", .low2 = 0.5, .high2 = 3},
};

static const struct special *special_of(const char *full)
{
	static const struct special usual = {0};
	const char *name = full + strlen("ttnn.");
	size_t length = strlen(name) - strlen("_bw");

	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (strncmp(name, specials[i].name, length) == 0 && !specials[i].name[length])
			return &specials[i];
	return &usual;
}

/* How many of the first arguments of a signature are tensors that must be given. */
static size_t tensor_count(const struct tt_sig *sig)
{
	size_t count = 0;

	while (count < sig->count && count < 4 && !sig->args[count].keyword_only &&
	       strcmp(tt_arg_type_name(sig->args[count].types[0]), "Tensor") == 0 &&
	       !sig->args[count].optional)
		count++;
	return count;
}

static void run_signature(const struct tt_op_entry *entry, const struct tt_sig *sig)
{
	const struct special *special = special_of(entry->op->name);
	const struct golden_wants wants = {.dtypes = special->dtypes ? special->dtypes : NOT_BFP4};
	size_t tensors = tensor_count(sig);
	bool first = special->low != special->high, others = special->low2 != special->high2;
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *made[4] = {NULL};
		struct ttnn_arg args[8] = {{0}};
		size_t count = 0;

		for (size_t i = 0; i < tensors; i++) {
			double low = i == 1 && first   ? special->low
				     : i > 1 && others ? special->low2
						       : -2;
			double high = i == 1 && first   ? special->high
				      : i > 1 && others ? special->high2
							: 2;

			made[i] = golden_make(&spec, &state, low, high);
			args[count++] = (struct ttnn_arg){NULL, ttnn_v_tensor(made[i])};
		}
		for (size_t i = 0; i < special->number_count; i++)
			args[count++] = (struct ttnn_arg){
				NULL, special->whole ? ttnn_v_int((int64_t)special->number[i])
						     : ttnn_v_real(special->number[i])};
		if (!(n == 7 ? golden_case_on_threads : golden_case)(
			    entry->op->name, args, count, special->slack != 0 ? special->slack : 6))
			TEST_FAIL("%s: case %zu", entry->op->name, n);
		for (size_t i = 0; i < tensors; i++)
			ttnn_tensor_unref(made[i]);
	}
}

/* The signature with the most tensors: the others have a number in place of one. */
static const struct tt_sig *widest(const struct tt_op_entry *entry)
{
	const struct tt_sig *best = &entry->overloads.sigs[0];

	for (size_t i = 1; i < entry->overloads.count; i++)
		if (tensor_count(&entry->overloads.sigs[i]) > tensor_count(best))
			best = &entry->overloads.sigs[i];
	return best;
}

TEST(gradients_are_derivatives)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(entries[i].op->family, "backward") == 0 && entries[i].op->golden &&
		    !special_of(entries[i].op->name)->apart)
			run_signature(&entries[i], widest(&entries[i]));
}

TEST(a_number_as_second_operand)
{
	static const char *const names[] = {"ttnn.add_bw", "ttnn.sub_bw",       "ttnn.mul_bw",
					    "ttnn.div_bw", "ttnn.bias_gelu_bw", "ttnn.fmod_bw"};
	const struct golden_wants wants = {.dtypes = NOT_BFP4};
	uint64_t state = 3;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t n = 0; n < 12; n++) {
			struct ttnn_spec_args spec = golden_input(n, &wants);
			ttnn_tensor *g = golden_make(&spec, &state, -2, 2);
			ttnn_tensor *a = golden_make(&spec, &state, -2, 2);
			struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(g)},
						  {NULL, ttnn_v_tensor(a)},
						  {NULL, ttnn_v_real(1.5)}};

			if (!golden_case(names[i], args, 3, 2))
				TEST_FAIL("%s with a number: case %zu", names[i], n);
			ttnn_tensor_unref(a);
			ttnn_tensor_unref(g);
		}
}

TEST(gradients_of_concat)
{
	uint64_t state = 4;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		size_t dim = n % 4;
		struct ttnn_spec_args whole = {.shape = {4, {2, 3, 32, 64}},
					       .dtype = n % 2 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
					       .layout = TTNN_TILE};
		struct ttnn_spec_args part = whole;
		ttnn_tensor *tensors[3];

		whole.shape.dim[dim] *= 2;
		for (size_t i = 0; i < 3; i++)
			tensors[i] = golden_make(i ? &part : &whole, &state, -2, 2);
		if (!golden_case("ttnn.concat_bw",
				 (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tensors[0])},
						     {NULL, ttnn_v_tensor(tensors[1])},
						     {NULL, ttnn_v_tensor(tensors[2])},
						     {NULL, ttnn_v_int((int64_t)dim)}},
				 4, 1))
			TEST_FAIL("concat_bw: case %zu", n);
		for (size_t i = 0; i < 3; i++)
			ttnn_tensor_unref(tensors[i]);
	}
}

TEST(gradients_of_products)
{
	uint64_t state = 5;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = {.shape = {4,
							{1, 1 + (uint32_t)n % 3,
							 3 + (uint32_t)n % 5, 2 + (uint32_t)n % 4}},
					      .dtype = TTNN_BFLOAT16,
					      .layout = TTNN_TILE};
		struct ttnn_spec_args folded = spec;
		ttnn_tensor *x = golden_make(&spec, &state, 0.9, 1.1), *g;
		bool along = n % 2;

		if (along)
			folded.shape.dim[3 - n / 2 % 2] = 1;
		g = golden_make(&folded, &state, 0.5, 2);
		if (!golden_case(
			    "ttnn.prod_bw",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(g)},
						{NULL, ttnn_v_tensor(x)},
						{"dim", along ? ttnn_v_int(3 - (int64_t)(n / 2 % 2))
							      : ttnn_v_none()}},
			    3, 16))
			TEST_FAIL("prod_bw: case %zu", n);
		ttnn_tensor_unref(g);
		ttnn_tensor_unref(x);
	}
}

TEST(gradients_of_repetitions)
{
	uint64_t state = 6;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = {.shape = {4, {1, 1, 32 * (1 + (uint32_t)n % 3), 64}},
					      .dtype = TTNN_BFLOAT16,
					      .layout = TTNN_TILE};
		struct ttnn_spec_args larger = spec;
		struct ttnn_shape times = {4, {1, 1, 1, 1}};
		ttnn_tensor *x = golden_make(&spec, &state, -1, 1), *g;

		times.dim[n % 2] = 2 + (uint32_t)n % 3;
		larger.shape.dim[n % 2] = times.dim[n % 2];
		g = golden_make(&larger, &state, -1, 1);
		if (!golden_case("ttnn.repeat_bw",
				 (struct ttnn_arg[]){{NULL, ttnn_v_tensor(g)},
						     {NULL, ttnn_v_tensor(x)},
						     {NULL, ttnn_v_shape(&times)}},
				 3, 4))
			TEST_FAIL("repeat_bw: case %zu", n);
		ttnn_tensor_unref(g);
		ttnn_tensor_unref(x);
	}
}

TEST(every_row_has_its_cases)
{
	golden_check_family("backward");
	golden_close();
}

/* ---- memory ---------------------------------------------------------------------------------------- */

SCENARIO(gradients_give_all_memory_back)
{
	static const struct golden_call calls[] = {
		{"ttnn.sqrt_bw", 2},   {"ttnn.mul_bw", 3},   {"ttnn.log_bw", 2},
		{"ttnn.erfinv_bw", 2}, {"ttnn.xlogy_bw", 3},
	};

	return golden_scenario(calls, TT_COUNT(calls));
}
