/* rows, columns and numbers for each matrix; deviations of matrices: against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/enums.h"
#include "ops/golden_cases.h"

TEST(a_row_a_column_or_a_number)
{
	const struct golden_wants wants = {
		.dtypes = GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B), .min_rank = 2, .places = 3};
	uint64_t state = 1;

	for (size_t n = 0; n < 3 * GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n / 3, &wants), other = spec;
		int64_t dim = (int64_t)(n % 3);
		uint32_t rank = spec.shape.rank;
		ttnn_tensor *a = golden_make(&spec, &state, -2, 2), *b;
		struct ttnn_arg args[4];

		if (dim != TT_BCAST_W)
			other.shape.dim[rank - 2] = 1;
		if (dim != TT_BCAST_H)
			other.shape.dim[rank - 1] = 1;
		b = golden_make(&other, &state, -2, 2);
		args[0] = (struct ttnn_arg){NULL, ttnn_v_tensor(a)};
		args[1] = (struct ttnn_arg){NULL, ttnn_v_tensor(b)};
		args[2] = (struct ttnn_arg){
			NULL, tt_value_enum(&tt_enum_bcast_math, (int64_t)(n / 3 % 3))};
		args[3] = (struct ttnn_arg){NULL, tt_value_enum(&tt_enum_bcast_dim, dim)};
		if (!(n == 7 ? golden_case_on_threads : golden_case)("ttnn.bcast", args, 4, 1))
			TEST_FAIL("bcast: case %zu", n);
		ttnn_tensor_unref(b);
		ttnn_tensor_unref(a);
	}
}

TEST(deviations_of_matrices)
{
	static const char *const names[] = {"ttnn.std_hw", "ttnn.var_hw", "ttnn.normalize_hw"};
	/* the deviations of random matrices are almost alike: few digits would leave no correlation */
	const struct golden_wants wants = {.dtypes = GOLDEN_BIT(TTNN_FLOAT32),
					   .min_rank = 4,
					   .max_rank = 4,
					   .multiple = 32,
					   .places = 3};
	uint64_t state = 2;

	for (size_t n = 0; n < 3 * GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n / 3, &wants);
		ttnn_tensor *x = golden_make(&spec, &state, -2, 2);

		if (!golden_case(names[n % 3], (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}}, 1, 4))
			TEST_FAIL("%s: case %zu", names[n % 3], n);
		ttnn_tensor_unref(x);
	}
}

TEST(every_row_has_its_cases)
{
	golden_check_family("bcast");
	golden_close();
}
