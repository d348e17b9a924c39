/* operations on one operand against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"
#include "ops/op_enums.h"

/* How an operation is tested where it is not as most are: floats from -3 to 3, no parameters. */
struct special {
	const char *name;
	double low, high;
	struct ttnn_arg args[2]; /* behind the operand */
	size_t arg_count;
	uint32_t dtypes;
	double slack;
	bool tiles; /* made of operations that take no rows */
};

#define ALL_FLOATS (GOLDEN_FLOATS | GOLDEN_BLOCKS)
#define AND_INT32 (ALL_FLOATS | GOLDEN_BIT(TTNN_INT32))
#define NUMBER(value_) .args = {{NULL, {.kind = TTNN_VALUE_REAL, .real = (value_)}}}, .arg_count = 1
#define WHOLE(value_)                                                                              \
	.args = {{NULL, {.kind = TTNN_VALUE_INT, .integer = (value_)}}}, .arg_count = 1
#define NUMBERS(first_, second_)                                                                   \
	.args = {{NULL, {.kind = TTNN_VALUE_REAL, .real = (first_)}},                              \
		 {NULL, {.kind = TTNN_VALUE_REAL, .real = (second_)}}},                            \
	.arg_count = 2

static const struct special specials[] = {
	{.name = "abs", .low = -9, .high = 9, .dtypes = AND_INT32},
	{.name = "acos", .low = -1, .high = 1},
	{.name = "acosh", .low = 1, .high = 9},
	{.name = "asin", .low = -1, .high = 1},
	{.name = "atanh", .low = -0.95, .high = 0.95},
	{.name = "bitwise_not", .low = -99, .high = 99, .dtypes = GOLDEN_BIT(TTNN_INT32)},
	{.name = "digamma", .low = 0.5, .high = 9},
	{.name = "eqz", .low = -2, .high = 3, .dtypes = AND_INT32},
	{.name = "erfinv", .low = -0.95, .high = 0.95},
	{.name = "fill", .low = -3, .high = 3, NUMBER(1.5)},
	{.name = "gez", .low = -2, .high = 3, .dtypes = AND_INT32},
	{.name = "gtz", .low = -2, .high = 3, .dtypes = AND_INT32},
	{.name = "heaviside", .low = -3, .high = 3, NUMBER(0.25)},
	{.name = "leaky_relu", .low = -3, .high = 3, NUMBER(0.1)},
	{.name = "lez", .low = -2, .high = 3, .dtypes = AND_INT32},
	{.name = "lgamma", .low = 0.5, .high = 9, .dtypes = GOLDEN_FLOATS},
	{.name = "log", .low = 0.1, .high = 9},
	{.name = "log10", .low = 0.1, .high = 9},
	{.name = "log1p", .low = -0.9, .high = 9},
	{.name = "log2", .low = 0.1, .high = 9},
	{.name = "logical_not", .low = -2, .high = 3, .dtypes = AND_INT32},
	{.name = "logit", .low = 0.05, .high = 0.95},
	{.name = "ltz", .low = -2, .high = 3, .dtypes = AND_INT32},
	{.name = "multigammaln",
	 .low = 1.7,
	 .high = 9,
	 .dtypes = GOLDEN_FLOATS,
	 .slack = 4,
	 .tiles = true},
	{.name = "neg", .low = -99, .high = 99, .dtypes = AND_INT32},
	{.name = "nez", .low = -2, .high = 3, .dtypes = AND_INT32},
	{.name = "polygamma", .low = 0.7, .high = 9, WHOLE(2)},
	{.name = "rdiv", .low = 0.5, .high = 9, NUMBER(3)},
	{.name = "reciprocal", .low = 0.5, .high = 9},
	{.name = "relu", .low = -9, .high = 9, .dtypes = AND_INT32},
	{.name = "relu_max", .low = -3, .high = 3, NUMBER(1.5)},
	{.name = "relu_min", .low = -3, .high = 3, NUMBER(0.5)},
	{.name = "rpow", .low = -3, .high = 3, NUMBER(2.5)},
	{.name = "rsqrt", .low = 0.1, .high = 9},
	{.name = "sign", .low = -3, .high = 3},
	{.name = "softcap",
	 .low = -3,
	 .high = 3,
	 NUMBER(2),
	 .dtypes = GOLDEN_BIT(TTNN_BFLOAT16) | GOLDEN_BIT(TTNN_BFLOAT8_B)},
	{.name = "sqrt", .low = 0, .high = 9},
	{.name = "square", .low = -9, .high = 9, .dtypes = AND_INT32},
	{.name = "tan", .low = -1.4, .high = 1.4},
	{.name = "threshold", .low = -3, .high = 3, NUMBERS(0.5, 7)},
};

static const struct special *special_of(const char *name)
{
	static const struct special usual = {.low = -3, .high = 3};

	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (strcmp(name + strlen("ttnn."), specials[i].name) == 0)
			return &specials[i];
	return &usual;
}

static bool is_tested_apart(const char *name)
{
	static const char *const names[] = {
		"bitcast", "clamp",   "clip", "geglu", "glu",         "reglu",
		"swiglu",  "softcap", "tril", "triu",  "unary_chain", "alt_complex_rotate90"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name + strlen("ttnn."), names[i]) == 0)
			return true;
	return false;
}

static void run_row(const struct tt_op *op)
{
	const struct special *special = special_of(op->name);
	const struct golden_wants wants = {
		.dtypes = special->dtypes ? special->dtypes : ALL_FLOATS,
		.layouts = special->tiles ? 0 : GOLDEN_BOTH_LAYOUTS,
	};
	bool in_place = op->name[strlen(op->name) - 1] == '_';
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *x = golden_make(&spec, &state, special->low, special->high);
		struct ttnn_arg args[3] = {{NULL, ttnn_v_tensor(x)}};
		double slack = special->slack != 0 ? special->slack : 1;

		memcpy(&args[1], special->args, sizeof(special->args));
		if (!(n == 7 && !in_place ? golden_case_on_threads : golden_case)(
			    op->name, args, 1 + special->arg_count, slack))
			TEST_FAIL("%s: case %zu", op->name, n);
		ttnn_tensor_unref(x);
	}
}

TEST(functions_of_one_operand)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(entries[i].op->family, "unary") == 0 && entries[i].op->golden &&
		    !is_tested_apart(entries[i].op->name))
			run_row(entries[i].op);
}

/* One operand of a series, with arguments that each case makes anew. */
static void run_cases(const char *name, const struct golden_wants *wants,
		      size_t (*arguments)(struct ttnn_arg *args, size_t n, ttnn_tensor *x),
		      double high)
{
	uint64_t state = 5;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, wants);
		ttnn_tensor *x = golden_make(&spec, &state, -high, high);
		struct ttnn_arg args[6] = {{NULL, ttnn_v_tensor(x)}};

		if (!golden_case(name, args, 1 + arguments(&args[1], n, x), 1))
			TEST_FAIL("%s: case %zu", name, n);
		ttnn_tensor_unref(x);
	}
}

static size_t clamp_arguments(struct ttnn_arg *args, size_t n, ttnn_tensor *x)
{
	bool whole = tt_dtype_is_integer(x->spec.dtype);
	struct ttnn_value low = whole ? ttnn_v_int(-3) : ttnn_v_real(-1.5);
	struct ttnn_value high = whole ? ttnn_v_int(2) : ttnn_v_real(0.75);

	args[0] = (struct ttnn_arg){"min", n % 3 == 1 ? ttnn_v_none() : low};
	args[1] = (struct ttnn_arg){"max", n % 3 == 2 ? ttnn_v_none() : high};
	return 2;
}

/* The bounds are tensors: x itself is one, so half of the values are at it. */
static size_t clamp_tensors(struct ttnn_arg *args, size_t n, ttnn_tensor *x)
{
	args[0] = (struct ttnn_arg){"min", n % 3 == 1 ? ttnn_v_none() : ttnn_v_tensor(x)};
	args[1] = (struct ttnn_arg){"max", n % 3 == 2 ? ttnn_v_none() : ttnn_v_tensor(x)};
	return 2;
}

TEST(clamps)
{
	const struct golden_wants wants = {.dtypes = AND_INT32}, floats = {.dtypes = ALL_FLOATS};

	run_cases("ttnn.clamp", &wants, clamp_arguments, 9);
	run_cases("ttnn.clamp", &floats, clamp_tensors, 9);
	run_cases("ttnn.clip", &floats, clamp_arguments, 9);
	run_cases("ttnn.clip", &floats, clamp_tensors, 9);
}

static size_t diagonal(struct ttnn_arg *args, size_t n, ttnn_tensor *x)
{
	(void)x;
	args[0] = (struct ttnn_arg){"diagonal", ttnn_v_int((int64_t)n % 7 - 3)};
	return 1;
}

TEST(triangles)
{
	const struct golden_wants wants = {.min_rank = 2, .multiple = 32};

	run_cases("ttnn.tril", &wants, diagonal, 3);
	run_cases("ttnn.triu", &wants, diagonal, 3);
}

static size_t no_arguments(struct ttnn_arg *args, size_t n, ttnn_tensor *x)
{
	(void)args;
	(void)n;
	(void)x;
	return 0;
}

TEST(gates)
{
	const struct golden_wants wants = {.dtypes = GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B),
					   .min_rank = 4,
					   .max_rank = 4,
					   .multiple = 64};
	static const char *const names[] = {"ttnn.glu", "ttnn.geglu", "ttnn.reglu", "ttnn.swiglu"};

	for (size_t i = 0; i < 4 && tt_op_find("ttnn.slice"); i++)
		run_cases(names[i], &wants, no_arguments, 3);
}

TEST(pairs_turned)
{
	const struct golden_wants wants = {.multiple = 32};

	run_cases("ttnn.alt_complex_rotate90", &wants, no_arguments, 3);
}

static size_t other_type(struct ttnn_arg *args, size_t n, ttnn_tensor *x)
{
	(void)n;
	args[0] = (struct ttnn_arg){
		NULL, ttnn_v_dtype(x->spec.dtype == TTNN_BFLOAT16 ? TTNN_UINT16 : TTNN_UINT32)};
	return 1;
}

TEST(bits_as_another_type)
{
	const struct golden_wants wants = {.dtypes = GOLDEN_FLOATS};

	run_cases("ttnn.bitcast", &wants, other_type, 3);
}

static size_t three_functions(struct ttnn_arg *args, size_t n, ttnn_tensor *x)
{
	static struct ttnn_value items[3];

	(void)x;
	items[0] = tt_value_enum(&tt_enum_unary, n % 2 ? TT_UNARY_NEG : TT_UNARY_ABS);
	items[1] = tt_value_enum(&tt_enum_unary, TT_UNARY_EXP);
	items[2] = tt_value_enum(&tt_enum_unary, n % 3 ? TT_UNARY_SQRT : TT_UNARY_RELU);
	args[0] = (struct ttnn_arg){NULL, ttnn_v_list(items, 3)};
	return 1;
}

TEST(chains)
{
	const struct golden_wants wants = {.dtypes = ALL_FLOATS};

	run_cases("ttnn.unary_chain", &wants, three_functions, 2);
}

/* Only one architecture has it. */
TEST(softcap)
{
	golden_close();
	golden_profile = "p150";
	run_row(tt_op_find("ttnn.softcap")->op);
	golden_close();
	golden_profile = "n150";
}

TEST(every_row_has_its_cases)
{
	golden_check_family("unary");
	golden_close();
}

/* ---- memory ---------------------------------------------------------------------------------------- */

SCENARIO(functions_give_all_memory_back)
{
	static const struct golden_call calls[] = {
		{"ttnn.gelu", 1},
		{"ttnn.multigammaln", 1},
		{"ttnn.alt_complex_rotate90", 1},
		{"ttnn.sigmoid", 1},
	};

	return golden_scenario(calls, TT_COUNT(calls));
}
