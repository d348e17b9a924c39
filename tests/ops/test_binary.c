/* operations on two operands against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"
#include "ops/op_enums.h"

#define ALL_FLOATS (GOLDEN_FLOATS | GOLDEN_BLOCKS)
#define I32 GOLDEN_BIT(TTNN_INT32)
#define WHOLE GOLDEN_INTEGERS
#define NOT_BFP4 (GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B))

/* How an operation is tested where it is not as most are: floats from -3 to 3 on both sides. */
struct special {
	const char *name; /* also of the form that writes over its argument */
	double low[2], high[2];
	uint32_t dtypes;
	double slack;
	bool apart; /* has a test of its own */
};

#define BOTH(low_, high_) .low = {low_, low_}, .high = {high_, high_}
#define COMPARISON(name_)                                                                          \
	{                                                                                          \
		.name = name_, BOTH(-2, 3), .dtypes = NOT_BFP4 | I32                               \
	}

static const struct special specials[] = {
	{.name = "add", BOTH(-9, 9), .dtypes = ALL_FLOATS | WHOLE},
	{.name = "addalpha", .apart = true},
	{.name = "bitwise_and", BOTH(-99, 99), .dtypes = WHOLE},
	{.name = "bitwise_left_shift", .low = {-99, 0}, .high = {99, 9}, .dtypes = I32},
	{.name = "bitwise_or", BOTH(-99, 99), .dtypes = WHOLE},
	{.name = "bitwise_right_shift", .low = {-99, 0}, .high = {99, 9}, .dtypes = I32},
	{.name = "bitwise_xor", BOTH(-99, 99), .dtypes = WHOLE},
	{.name = "div", .low = {-9, 1}, .high = {9, 4}},
	{.name = "div_no_nan", .low = {-9, 1}, .high = {9, 4}, .dtypes = NOT_BFP4, .slack = 2},
	{.name = "divide", .low = {-9, 1}, .high = {9, 4}},
	COMPARISON("eq"),
	{.name = "floor_div", .low = {-9, 1}, .high = {9, 4}, .dtypes = GOLDEN_BIT(TTNN_FLOAT32)},
	{.name = "fmod", .low = {-9, 1}, .high = {9, 4}, .dtypes = GOLDEN_FLOATS | I32},
	{.name = "gcd", BOTH(-99, 99), .dtypes = I32},
	COMPARISON("ge"),
	COMPARISON("gt"),
	{.name = "isclose", BOTH(-2, 3), .dtypes = GOLDEN_FLOATS | I32},
	{.name = "lcm", BOTH(-99, 99), .dtypes = I32},
	COMPARISON("le"),
	{.name = "logical_and", BOTH(-1, 2), .dtypes = NOT_BFP4 | I32},
	{.name = "logical_left_shift", .low = {-99, 0}, .high = {99, 9}, .dtypes = I32},
	{.name = "logical_or", BOTH(-1, 2), .dtypes = NOT_BFP4 | I32},
	{.name = "logical_right_shift", .low = {-99, 0}, .high = {99, 9}, .dtypes = I32},
	{.name = "logical_xor", BOTH(-1, 2), .dtypes = NOT_BFP4 | I32},
	COMPARISON("lt"),
	{.name = "maximum", BOTH(-9, 9), .dtypes = ALL_FLOATS | I32},
	{.name = "minimum", BOTH(-9, 9), .dtypes = ALL_FLOATS | I32},
	{.name = "multiply", BOTH(-9, 9), .dtypes = ALL_FLOATS | WHOLE},
	COMPARISON("ne"),
	{.name = "nextafter", .dtypes = GOLDEN_BIT(TTNN_FLOAT32)},
	{.name = "outer", .apart = true},
	{.name = "polyval", .apart = true},
	{.name = "pow", .low = {0.2, -2}, .high = {3, 2}},
	{.name = "prelu", .apart = true},
	{.name = "remainder", .low = {-9, 1}, .high = {9, 4}, .dtypes = GOLDEN_FLOATS | I32},
	{.name = "rsub", BOTH(-9, 9), .dtypes = ALL_FLOATS | I32},
	{.name = "squared_difference", BOTH(-9, 9), .dtypes = ALL_FLOATS | I32},
	{.name = "subalpha", .apart = true},
	{.name = "subtract", BOTH(-9, 9), .dtypes = ALL_FLOATS | I32},
	{.name = "xlogy", .low = {-3, 0.2}, .high = {3, 5}},
};

static const struct special *special_of(const char *full)
{
	static const struct special usual = {BOTH(0, 0)};
	const char *name = full + strlen("ttnn.");
	size_t length = strlen(name);

	length -= name[length - 1] == '_';
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (strncmp(name, specials[i].name, length) == 0 && !specials[i].name[length])
			return &specials[i];
	return &usual;
}

/* The second operand of a case: as the first, repeated along some dimensions, or of lower rank. */
static struct ttnn_spec_args other_operand(const struct ttnn_spec_args *first, size_t n)
{
	struct ttnn_spec_args spec = *first;
	struct ttnn_shape *shape = &spec.shape;

	switch (n % 6) {
	case 1: /* one row */
		if (shape->rank > 1)
			shape->dim[shape->rank - 2] = 1;
		break;
	case 2: /* one column */
		shape->dim[shape->rank - 1] = 1;
		break;
	case 3: /* one number */
		*shape = (struct ttnn_shape){1, {1}};
		break;
	case 4: /* of lower rank */
		if (shape->rank > 2)
			*shape = (struct ttnn_shape){
				2, {shape->dim[shape->rank - 2], shape->dim[shape->rank - 1]}};
		break;
	default:
		return spec;
	}
	spec.memory = (struct ttnn_memory_config){.buffer = n % 2 ? TTNN_L1 : TTNN_DRAM};
	return spec;
}

static void run_row(const struct tt_op *op)
{
	const struct special *special = special_of(op->name);
	const struct golden_wants wants = {
		.dtypes = special->dtypes ? special->dtypes : ALL_FLOATS,
	};
	bool in_place = op->name[strlen(op->name) - 1] == '_', usual = !special->name;
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		struct ttnn_spec_args other = other_operand(&spec, n);
		bool range = usual || (special->low[0] == 0 && special->high[0] == 0);
		ttnn_tensor *a = golden_make(&spec, &state, range ? -3 : special->low[0],
					     range ? 3 : special->high[0]);
		ttnn_tensor *b = golden_make(&other, &state, range ? -3 : special->low[1],
					     range ? 3 : special->high[1]);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(b)}};
		double slack = special->slack != 0 ? special->slack : 1;

		if (!(n == 6 && !in_place ? golden_case_on_threads : golden_case)(op->name, args, 2,
										  slack))
			TEST_FAIL("%s: case %zu", op->name, n);
		ttnn_tensor_unref(b);
		ttnn_tensor_unref(a);
	}
}

TEST(functions_of_two_operands)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(entries[i].op->family, "binary") == 0 && entries[i].op->golden &&
		    !special_of(entries[i].op->name)->apart)
			run_row(entries[i].op);
}

/* ---- numbers, activations, types, layouts ------------------------------------------------------- */

TEST(a_number_as_operand)
{
	static const char *const names[] = {"ttnn.add",  "ttnn.multiply", "ttnn.subtract",
					    "ttnn.rsub", "ttnn.maximum",  "ttnn.gt",
					    "ttnn.div",  "ttnn.pow",      "ttnn.remainder"};
	const struct golden_wants wants = {.dtypes = NOT_BFP4};
	uint64_t state = 3;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t n = 0; n < 12; n++) {
			struct ttnn_spec_args spec = golden_input(n, &wants);
			ttnn_tensor *a = golden_make(&spec, &state, 0.3, 4);
			struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)},
						  {NULL, ttnn_v_real(n % 2 ? 1.5 : 2)}};

			if (!golden_case(names[i], args, 2, 1))
				TEST_FAIL("%s with a number: case %zu", names[i], n);
			ttnn_tensor_unref(a);
		}
}

TEST(activations_on_all_sides)
{
	const struct golden_wants wants = {.dtypes = GOLDEN_FLOATS};
	struct ttnn_value lists[3];
	uint64_t state = 4;

	lists[0] = tt_value_enum(&tt_enum_unary, TT_UNARY_SQUARE);
	lists[1] = tt_value_enum(&tt_enum_unary, TT_UNARY_ABS);
	lists[2] = tt_value_enum(&tt_enum_unary, TT_UNARY_TANH);
	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		struct ttnn_spec_args other = other_operand(&spec, n);
		ttnn_tensor *a = golden_make(&spec, &state, -2, 2);
		ttnn_tensor *b = golden_make(&other, &state, -2, 2);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)},
					  {NULL, ttnn_v_tensor(b)},
					  {"input_tensor_a_activations", ttnn_v_list(&lists[0], 1)},
					  {"input_tensor_b_activations", ttnn_v_list(&lists[1], 1)},
					  {"activations", ttnn_v_list(&lists[2], 1)}};

		CHECK(golden_case(n % 2 ? "ttnn.multiply" : "ttnn.add", args, 5, 1));
		ttnn_tensor_unref(b);
		ttnn_tensor_unref(a);
	}
}

TEST(another_type_for_the_result)
{
	const struct golden_wants wants = {.dtypes = GOLDEN_FLOATS, .places = 3};
	uint64_t state = 5;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *a = golden_make(&spec, &state, -2, 2);
		enum ttnn_dtype dtype = n % 3 == 0   ? TTNN_BFLOAT8_B
					: n % 3 == 1 ? TTNN_FLOAT32
						     : TTNN_BFLOAT16;
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)},
					  {NULL, ttnn_v_tensor(a)},
					  {"dtype", ttnn_v_dtype(dtype)}};

		CHECK(golden_case("ttnn.add", args, 3, 1));
		ttnn_tensor_unref(a);
	}
}

TEST(rows_instead_of_tiles)
{
	const struct golden_wants wants = {.layouts = GOLDEN_BIT(TTNN_ROW_MAJOR), .places = 3};
	uint64_t state = 6;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		struct ttnn_spec_args other = other_operand(&spec, n % 2 ? 0 : n);
		ttnn_tensor *a = golden_make(&spec, &state, -2, 2);
		ttnn_tensor *b = golden_make(&other, &state, -2, 2);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(b)}};

		if (!golden_case(n % 2 ? "ttnn.multiply" : "ttnn.add", args, 2, 1))
			TEST_FAIL("rows: case %zu", n);
		ttnn_tensor_unref(b);
		ttnn_tensor_unref(a);
	}
}

/* ---- rows with arguments of their own --------------------------------------------------------------- */

TEST(with_alpha)
{
	const struct golden_wants wants = {.dtypes = GOLDEN_FLOATS};
	uint64_t state = 7;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		struct ttnn_spec_args other = other_operand(&spec, n);
		ttnn_tensor *a = golden_make(&spec, &state, -2, 2);
		ttnn_tensor *b = golden_make(&other, &state, -2, 2);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)},
					  {NULL, ttnn_v_tensor(b)},
					  {NULL, ttnn_v_real(2.5)}};

		CHECK(golden_case("ttnn.addalpha", args, 3, 1));
		CHECK(golden_case("ttnn.subalpha", args, 3, 1));
		ttnn_tensor_unref(b);
		ttnn_tensor_unref(a);
	}
}

TEST(prelu)
{
	const struct golden_wants wants = {.min_rank = 2, .places = 3};
	uint64_t state = 8;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		struct ttnn_spec_args channel = {.shape = {1, {spec.shape.dim[1]}},
						 .dtype = spec.dtype,
						 .layout = spec.layout};
		ttnn_tensor *a = golden_make(&spec, &state, -2, 2);
		ttnn_tensor *w = golden_make(&channel, &state, 0, 1);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)},
					  {NULL, n % 2 ? ttnn_v_real(0.25) : ttnn_v_tensor(w)}};

		if (!golden_case("ttnn.prelu", args, 2, 1))
			TEST_FAIL("prelu: case %zu", n);
		ttnn_tensor_unref(w);
		ttnn_tensor_unref(a);
	}
}

TEST(polyval)
{
	const struct golden_wants wants = {.places = 3};
	struct ttnn_value factors[] = {ttnn_v_real(0.5), ttnn_v_real(-1), ttnn_v_real(2)};
	uint64_t state = 9;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *a = golden_make(&spec, &state, -2, 2);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)},
					  {NULL, ttnn_v_list(factors, 1 + n % 3)}};

		if (!golden_case("ttnn.polyval", args, 2, 4))
			TEST_FAIL("polyval: case %zu", n);
		ttnn_tensor_unref(a);
	}
}

TEST(outer)
{
	uint64_t state = 10;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args left = {.shape = {1, {1 + (uint32_t)n * 7 % 70}},
					      .dtype = n % 2 ? TTNN_FLOAT32 : TTNN_INT32,
					      .layout = TTNN_TILE};
		struct ttnn_spec_args right = left;
		ttnn_tensor *a, *b;

		right.shape.dim[0] = 1 + (uint32_t)n * 11 % 50;
		a = golden_make(&left, &state, -9, 9);
		b = golden_make(&right, &state, -9, 9);
		if (!golden_case(
			    "ttnn.outer",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(b)}},
			    2, 1))
			TEST_FAIL("outer: case %zu", n);
		ttnn_tensor_unref(b);
		ttnn_tensor_unref(a);
	}
}

TEST(every_row_has_its_cases)
{
	golden_check_family("binary");
	golden_close();
}

/* ---- memory ---------------------------------------------------------------------------------------- */

SCENARIO(operations_give_all_memory_back)
{
	static const struct golden_call calls[] = {
		{"ttnn.add", 2}, {"ttnn.div_no_nan", 2}, {"ttnn.floor_div", 2},
		{"ttnn.pow", 2}, {"ttnn.hypot", 2},
	};

	return golden_scenario(calls, TT_COUNT(calls));
}
