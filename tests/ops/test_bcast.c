/* rows, columns and values over matrices, and what is made of them, against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"
#include "ops/golden_dims.h"
#include "ops/op_enums.h"

#define PLAIN (GOLDEN_BIT(GOLDEN_DRAM) | GOLDEN_BIT(GOLDEN_L1))

static ttnn_tensor *make_other(const struct ttnn_spec_args *spec, int dim, size_t n,
			       uint64_t *state)
{
	struct ttnn_spec_args other = {.shape = spec->shape,
				       .dtype = n % 3 ? spec->dtype : TTNN_BFLOAT16,
				       .layout = spec->layout};
	uint32_t rank = other.shape.rank;

	for (uint32_t d = 0; d + 2 < rank && n % 2; d++)
		other.shape.dim[d] = 1;
	if (dim != TT_BCAST_H)
		other.shape.dim[rank - 1] = n % 4 == 1 ? 32 : 1;
	if (dim != TT_BCAST_W)
		other.shape.dim[rank - 2] = n % 4 == 1 ? 32 : 1;
	return golden_make(&other, state, -2, 2);
}

TEST(rows_columns_and_values)
{
	const struct golden_wants wants = {.dtypes = GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B),
					   .layouts = GOLDEN_BOTH_LAYOUTS,
					   .min_rank = 2,
					   .places = PLAIN};
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++)
		for (int dim = TT_BCAST_H; dim <= TT_BCAST_HW; dim++)
			for (int math = TT_BCAST_ADD; math <= TT_BCAST_MUL; math++) {
				struct ttnn_spec_args spec = golden_input(n, &wants);
				ttnn_tensor *a = golden_make(&spec, &state, -4, 4);
				ttnn_tensor *b = make_other(&spec, dim, n, &state);

				if (!(n == 7 ? golden_case_on_threads : golden_case)(
					    "ttnn.bcast",
					    (struct ttnn_arg[]){
						    {NULL, ttnn_v_tensor(a)},
						    {NULL, ttnn_v_tensor(b)},
						    {NULL,
						     tt_value_enum(&tt_enum_bcast_math, math)},
						    {NULL, tt_value_enum(&tt_enum_bcast_dim, dim)}},
					    4, 2))
					TEST_FAIL("case %zu, %d, %d", n, dim, math);
				ttnn_tensor_unref(a);
				ttnn_tensor_unref(b);
			}
}

TEST(sharded)
{
	const struct golden_wants wants = {.min_rank = 2,
					   .max_rank = 2,
					   .places = GOLDEN_BIT(GOLDEN_HEIGHT) |
						     GOLDEN_BIT(GOLDEN_WIDTH) |
						     GOLDEN_BIT(GOLDEN_BLOCK)};
	uint64_t state = 2;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		int dim = spec.memory.layout == TTNN_HEIGHT_SHARDED ? TT_BCAST_HW : TT_BCAST_H;
		ttnn_tensor *a = golden_make(&spec, &state, -4, 4);
		ttnn_tensor *b = make_other(&spec, dim, n, &state);

		golden_case("ttnn.bcast",
			    (struct ttnn_arg[]){
				    {NULL, ttnn_v_tensor(a)},
				    {NULL, ttnn_v_tensor(b)},
				    {NULL, tt_value_enum(&tt_enum_bcast_math, (int)(n % 3))},
				    {NULL, tt_value_enum(&tt_enum_bcast_dim, dim)}},
			    4, 2);
		ttnn_tensor_unref(a);
		ttnn_tensor_unref(b);
	}
}

TEST(whole_matrices)
{
	static const char *const names[] = {"ttnn.var_hw", "ttnn.std_hw", "ttnn.normalize_hw"};
	uint64_t state = 3;

	for (uint32_t n = 0; n < GOLDEN_CASES; n++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			struct ttnn_spec_args spec = {
				.shape = {4, {2 + n % 2, 1 + n % 3, 5 + n * 7, 3 + n * 11}},
				.dtype = n % 2 ? TTNN_BFLOAT16 : TTNN_FLOAT32,
				.layout = TTNN_TILE};
			ttnn_tensor *x;

			golden_put(&spec, n % 3 ? GOLDEN_DRAM : GOLDEN_L1);
			x = golden_uneven(&spec, &state, -2, 2);
			if (!golden_case_on_threads(
				    names[i], (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}}, 1, 4))
				TEST_FAIL("%s: case %zu", names[i], (size_t)n);
			ttnn_tensor_unref(x);
		}
}

/* Matrices that fill their tiles: else padding becomes values. */
TEST(everything_at_once)
{
	uint64_t state = 4;

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = {
			.shape = {4, {1 + n % 3, 1 + n % 4, 32 * (1 + n % 5), 32 * (1 + n % 3)}},
			.dtype = n % 2 ? TTNN_BFLOAT16 : TTNN_FLOAT32,
			.layout = TTNN_TILE};
		ttnn_tensor *x = golden_uneven(&spec, &state, -2, 2);

		golden_case("ttnn.normalize_global", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}},
			    1, 4);
		ttnn_tensor_unref(x);
	}
}

TEST(shapes)
{
	uint64_t state = 5;

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t a = 1 + n % 3, b = 1 + n % 4;
		struct ttnn_spec_args spec = {.shape = {4, {a, b, 32 * (1 + n % 5), 64}},
					      .dtype = n % 2 ? TTNN_BFLOAT16 : TTNN_FLOAT32,
					      .layout = n % 4 < 2 ? TTNN_TILE : TTNN_ROW_MAJOR};
		ttnn_tensor *x = golden_make(&spec, &state, -2, 2);

		golden_case("ttnn.reshape_on_device",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
						{NULL, ttnn_v_int(n % 3 ? 1 : a)},
						{NULL, ttnn_v_int(n % 5 ? 1 : b)},
						{NULL, ttnn_v_int(-1)},
						{NULL, ttnn_v_int(n % 2 ? 64 : 32)}},
			    5, 1);
		ttnn_tensor_unref(x);
	}
}

TEST(every_row_was_tested)
{
	golden_check_family("bcast");
	golden_check_family("reshape_on_device");
	golden_check_family("std_var_hw");
	golden_close();
}
