/* operations on three operands and conversions against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"

#define NOT_BFP4 (GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B))

/* An operand that is as the first, or repeated along a dimension. */
static ttnn_tensor *operand(const struct ttnn_spec_args *like, size_t n, uint64_t *state,
			    double low)
{
	struct ttnn_spec_args spec = *like;
	struct ttnn_shape *shape = &spec.shape;

	if (n % 4 == 1 && shape->rank > 1)
		shape->dim[shape->rank - 2] = 1;
	else if (n % 4 == 2)
		shape->dim[shape->rank - 1] = 1;
	if (n % 4 == 1 || n % 4 == 2)
		spec.memory = (struct ttnn_memory_config){.buffer = TTNN_DRAM};
	return golden_make(&spec, state, low, 3);
}

struct form {
	const char *name;
	double low; /* of the third operand */
	bool a_number[3];
	const char *extra; /* (optional) a keyword argument */
	uint32_t dtypes;
	bool whole; /* repeats nothing */
	uint32_t min_rank;
};

static const struct form forms[] = {
	{.name = "ttnn.addcdiv", .low = 1, .extra = "value"},
	{.name = "ttnn.addcmul", .low = -3, .extra = "value", .dtypes = NOT_BFP4},
	{.name = "ttnn.lerp", .low = 0},
	{.name = "ttnn.lerp", .low = 0, .a_number = {[2] = true}},
	{.name = "ttnn.mac", .low = -3},
	{.name = "ttnn.mac", .low = -3, .a_number = {[1] = true}},
	{.name = "ttnn.mac", .low = -3, .a_number = {[1] = true, [2] = true}},
	{.name = "ttnn.snake_beta", .low = 1, .whole = true, .min_rank = 2},
	{.name = "ttnn.where", .low = -3, .dtypes = GOLDEN_FLOATS | GOLDEN_BIT(TTNN_INT32)},
	{.name = "ttnn.where", .low = -3, .a_number = {[1] = true}},
	{.name = "ttnn.where", .low = -3, .a_number = {[2] = true}},
	{.name = "ttnn.where", .low = -3, .a_number = {[1] = true, [2] = true}},
};

static void run_form(const struct form *form)
{
	const struct golden_wants wants = {.dtypes = form->dtypes ? form->dtypes : GOLDEN_FLOATS,
					   .min_rank = form->min_rank};
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *tensors[] = {
			golden_make(&spec, &state, -2, 3),
			operand(&spec, form->a_number[2] || form->whole ? 0 : n, &state, -3),
			operand(&spec, form->a_number[1] || form->whole ? 0 : n / 2, &state,
				form->low)};
		struct ttnn_arg args[4] = {{0}};

		for (size_t i = 0; i < 3; i++)
			args[i] = (struct ttnn_arg){NULL, form->a_number[i]
								  ? ttnn_v_real(0.5 + (double)i)
								  : ttnn_v_tensor(tensors[i])};
		args[3] = (struct ttnn_arg){form->extra, ttnn_v_real(1.5)};
		if (!(n == 7 ? golden_case_on_threads : golden_case)(form->name, args,
								     form->extra ? 4 : 3, 2))
			TEST_FAIL("%s: case %zu", form->name, n);
		for (size_t i = 0; i < 3; i++)
			ttnn_tensor_unref(tensors[i]);
	}
}

TEST(functions_of_three_operands)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		run_form(&forms[i]);
	golden_check_family("ternary");
}

/* ---- conversions -------------------------------------------------------------------------------- */

TEST(types_into_each_other)
{
	static const enum ttnn_dtype types[] = {TTNN_BFLOAT16,  TTNN_FLOAT32, TTNN_BFLOAT8_B,
						TTNN_BFLOAT4_B, TTNN_INT32,   TTNN_UINT32,
						TTNN_UINT16,    TTNN_UINT8};
	uint64_t state = 2;
	size_t n = 0;

	for (size_t from = 0; from < 8; from++)
		for (size_t to = 0; to < 8; to++, n++) {
			const struct golden_wants wants = {.dtypes = GOLDEN_BIT(types[from])};
			struct ttnn_spec_args spec = golden_input(n, &wants);
			ttnn_tensor *a = golden_make(&spec, &state, 0, 100);
			struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)},
						  {NULL, ttnn_v_dtype(types[to])}};

			if (!golden_case("ttnn.typecast", args, 2, 1))
				TEST_FAIL("typecast %zu to %zu", from, to);
			if (!golden_case("ttnn.experimental.typecast", args, 2, 1))
				TEST_FAIL("experimental.typecast %zu to %zu", from, to);
			ttnn_tensor_unref(a);
		}
}

TEST(every_conversion_has_its_cases)
{
	golden_check_family("typecast");
	golden_close();
}
