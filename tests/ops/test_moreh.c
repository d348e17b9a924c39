/* moreh operations against their goldens */
#include "test.h"

#include <math.h>

#include "golden.h"
#include "ops/golden_cases.h"
#include "ops/golden_dims.h"

#define PLAIN (GOLDEN_BIT(GOLDEN_DRAM) | GOLDEN_BIT(GOLDEN_L1))

static const struct golden_wants wants = {
	.dtypes = GOLDEN_BIT(TTNN_BFLOAT16), .min_rank = 2, .places = PLAIN};

/* These operations take no dimensions from the end. */
static void count_from_front(struct ttnn_value *dim, uint32_t rank)
{
	if (dim->integer < 0)
		dim->integer += rank;
}

static void run_case(const char *name, struct ttnn_arg last, size_t n, enum golden_which which)
{
	struct ttnn_value items[TTNN_MAX_RANK], dim;
	struct ttnn_spec_args spec = golden_input(n, &wants);
	uint64_t state = n;
	ttnn_tensor *x;
	struct ttnn_arg args[4] = {
		{NULL, {0}}, {"dim", {0}}, {"keepdim", ttnn_v_bool(n % 2 == 0)}, last};

	if (!golden_dims(&dim, items, which, spec.shape.rank))
		return;
	if (dim.kind == TTNN_VALUE_INT)
		count_from_front(&dim, spec.shape.rank);
	for (uint32_t i = 0; dim.kind == TTNN_VALUE_LIST && i < dim.count; i++)
		count_from_front(&items[i], spec.shape.rank);
	x = golden_uneven(&spec, &state, 0.1, 2);
	args[0].value = ttnn_v_tensor(x);
	args[1].value = dim;
	if (!(n == 7 ? golden_case_on_threads : golden_case)(name, args, last.name ? 4 : 3, 4))
		TEST_FAIL("%s: case %zu, dimensions %d", name, n, (int)which);
	ttnn_tensor_unref(x);
}

TEST(sums_and_means)
{
	const struct ttnn_arg none = {NULL, {0}};

	for (size_t n = 0; n < GOLDEN_CASES; n++)
		for (int which = 0; which < WHICH; which++) {
			run_case("ttnn.moreh_sum", none, n, which);
			run_case("ttnn.moreh_mean", none, n, which);
		}
}

TEST(norms)
{
	static const double powers[] = {2, 1, 3, 2.5, INFINITY, -INFINITY, 0};

	for (size_t n = 0; n < GOLDEN_CASES; n++)
		for (int which = 0; which < WHICH; which++)
			for (size_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++) {
				struct ttnn_arg p = {"p", ttnn_v_real(powers[i])};

				run_case("ttnn.moreh_norm", p, n, which);
			}
}

TEST(powers_of_sizes)
{
	static const double powers[] = {2, 1, 3, 0.5};

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		uint64_t state = n;
		ttnn_tensor *x = golden_make(&spec, &state, -3, 3);

		golden_case_on_threads("ttnn.moreh_abs_pow",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
							   {NULL, ttnn_v_real(powers[n % 4])}},
				       2, 2);
		ttnn_tensor_unref(x);
	}
}

TEST(along_a_dimension)
{
	static const char *const names[] = {"ttnn.moreh_cumsum", "ttnn.moreh_cumsum_backward"};

	for (size_t n = 0; n < GOLDEN_CASES; n++)
		for (int64_t dim = -5; dim < 0; dim++)
			for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
				struct ttnn_spec_args spec = golden_input(n, &wants);
				uint64_t state = n;
				ttnn_tensor *x;

				if (dim < -(int64_t)spec.shape.rank)
					continue;
				x = golden_make(&spec, &state, -4, 4);
				if (!(n == 7 ? golden_case_on_threads : golden_case)(
					    names[i],
					    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
								{NULL, ttnn_v_int(dim)}},
					    2, 2))
					TEST_FAIL("%s: case %zu, dimension %d", names[i], n,
						  (int)dim);
				ttnn_tensor_unref(x);
			}
}

TEST(every_row_was_tested)
{
	golden_check_family("moreh");
	golden_close();
}
