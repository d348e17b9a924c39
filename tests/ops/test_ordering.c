/* sort and topk against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"

static const struct golden_wants wants = {
	.dtypes = GOLDEN_FLOATS, .places = GOLDEN_BIT(GOLDEN_DRAM) | GOLDEN_BIT(GOLDEN_L1)};

TEST(sorted)
{
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++)
		for (int64_t dim = -5; dim < 0; dim++) {
			struct ttnn_spec_args spec = golden_input(n, &wants);
			ttnn_tensor *x;

			if (dim < -(int64_t)spec.shape.rank)
				continue;
			if (n % 7 == 6)
				spec.dtype = TTNN_UINT16;
			x = golden_make(&spec, &state, -99, 99);
			if (!(n == 7 ? golden_case_on_threads
				     : golden_case)("ttnn.sort",
						    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
									{NULL, ttnn_v_int(dim)},
									{NULL, ttnn_v_bool(n % 2)},
									{NULL, ttnn_v_bool(true)}},
						    4, 1))
				TEST_FAIL("case %zu, dimension %d", n, (int)dim);
			ttnn_tensor_unref(x);
		}
}

TEST(largest_and_smallest)
{
	const struct golden_wants some = {.dtypes = GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B),
					  .places = wants.places,
					  .min_rank = 2};
	uint64_t state = 2;

	for (size_t n = 0; n < GOLDEN_CASES; n++)
		for (int64_t dim = -5; dim < 0; dim++) {
			struct ttnn_spec_args spec = golden_input(n, &some);
			int64_t rank = spec.shape.rank, k;
			ttnn_tensor *x;

			if (dim < -rank)
				continue;
			k = 1 + (int64_t)n % spec.shape.dim[rank + dim];
			x = golden_make(&spec, &state, -99, 99);
			if (!golden_case("ttnn.topk",
					 (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
							     {NULL, ttnn_v_int(k)},
							     {NULL, ttnn_v_int(dim)},
							     {NULL, ttnn_v_bool(n % 2)}},
					 4, 1))
				TEST_FAIL("case %zu, dimension %d", n, (int)dim);
			ttnn_tensor_unref(x);
		}
}

/* Rows that many cores share, and all of a row. */
TEST(long_rows)
{
	static const uint32_t widths[] = {1024, 4096, 70, 8192, 96};
	uint64_t state = 3;

	for (size_t i = 0; i < 5; i++) {
		struct ttnn_spec_args spec = {.shape = {4, {1, 1, 33, widths[i]}},
					      .layout = TTNN_TILE};
		ttnn_tensor *x = golden_make(&spec, &state, -99, 99);

		golden_case("ttnn.topk",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
						{NULL, ttnn_v_int(i % 2 ? 50 : 64)}},
			    2, 1);
		if (widths[i] < 1000)
			golden_case("ttnn.topk",
				    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
							{NULL, ttnn_v_int(widths[i])}},
				    2, 1);
		ttnn_tensor_unref(x);
	}
}

TEST(every_row_was_tested)
{
	golden_check_family("ordering");
	golden_close();
}
