/* normalisation of rows across devices, by means and variances or with heads, against its goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"

static const enum ttnn_dtype floats[] = {TTNN_BFLOAT16, TTNN_BFLOAT8_B};

/* A line of so many numbers in L1, which nobody reads. */
static void add_reciprocals(struct given *given, uint32_t width)
{
	struct ttnn_spec_args spec = {.shape = {2, {1, width}}, .dtype = TTNN_FLOAT32};

	golden_put(&spec, GOLDEN_L1);
	given_tensor(given, "recip_tensor", &spec, 0, 1);
}

TEST(means_and_variances)
{
	static const uint32_t widths[] = {64, 256, 96, 320};
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t width = widths[n % 4];
		struct ttnn_spec_args in = given_spec(floats[n % 3 == 1], 1 + n % 2, 1 + n % 3,
						      1 + 17 * n % 70, width);

		golden_put(&in, n % 2 ? GOLDEN_L1 : GOLDEN_DRAM);
		given_tensor(&given, "input_tensor", &in, n % 5 ? -2 : 30, n % 5 ? 3 : 31);
		add_reciprocals(&given, width);
		if (n % 4 == 2)
			given_add(&given, "dtype", ttnn_v_dtype(TTNN_FLOAT32));
		given_case(&given, "ttnn.experimental.dit_layernorm_pre_allgather", n, 2);
	}
}

/* Means within reach of each other, and variances above zero. */
static void add_stats(struct given *given, const struct ttnn_spec_args *in, uint32_t width)
{
	struct ttnn_spec_args stats = *in;

	stats.dtype = TTNN_BFLOAT16;
	stats.shape.dim[3] = width;
	given_tensor(given, "stats", &stats, 0.25, 2);
}

static void add_affine(struct given *given, uint32_t n, uint32_t batches, uint32_t width)
{
	struct ttnn_spec_args row = given_spec(TTNN_BFLOAT16, n % 3 ? 1 : batches, 1, width, 0);

	if (n % 3 == 2) {
		row = given_spec(TTNN_BFLOAT16, width / 32, 32, 0, 0);
		row.layout = TTNN_ROW_MAJOR;
	}
	given_tensor(given, "weight", &row, -2, 2);
	given_tensor(given, "bias", &row, -2, 2);
}

TEST(joined_means_and_variances)
{
	struct given given = {.state = 4};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t width = 64 * (1 + n % 3), batches = 1 + n % 3;
		struct ttnn_spec_args in =
			given_spec(floats[n % 4 == 3], 1, batches, 1 + 13 * n % 70, width);

		given_tensor(&given, "input_tensor", &in, -3, 3);
		add_stats(&given, &in, 64 * (1 + n % 4));
		if (n % 2)
			add_affine(&given, n, batches, width);
		if (n % 5 == 4)
			given_add(&given, "epsilon", ttnn_v_real(0.01));
		if (n % 6 == 5)
			given_add(&given, "dtype", ttnn_v_dtype(TTNN_FLOAT32));
		given_case(&given, "ttnn.experimental.dit_layernorm_post_allgather", n, 2);
	}
}

TEST(sums_of_squares)
{
	struct given given = {.state = 5};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		const struct golden_wants wants = {.dtypes = GOLDEN_BIT(TTNN_BFLOAT16),
						   .places = GOLDEN_BIT(GOLDEN_DRAM) |
							     GOLDEN_BIT(GOLDEN_L1)};
		const struct ttnn_spec_args in = golden_input(n, &wants);

		given_tensor(&given, "input_tensor", &in, -2, 2);
		if (n % 3 == 1)
			given_add(&given, "dtype", ttnn_v_dtype(TTNN_FLOAT32));
		given_case(&given, "ttnn.experimental.wan_fused_rmsnorm_pre_allgather", n, 2);
	}
}

static void add_rotation(struct given *given, uint32_t rows, uint32_t width, bool exact)
{
	const struct ttnn_spec_args matrix = given_spec(TTNN_BFLOAT16, 1, 1, 32, 32);
	const struct ttnn_spec_args angles =
		given_spec(exact ? TTNN_FLOAT32 : TTNN_BFLOAT16, 1, 1, rows, width);

	given_tensor(given, "transformation_mat", &matrix, -1, 1);
	given_tensor(given, "rope_cos", &angles, -1, 1);
	given_tensor(given, "rope_sin", &angles, -1, 1);
}

TEST(heads_of_normal_rows)
{
	struct given given = {.state = 6};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t heads = 1 + n % 4, head = 32 * (1 + n % 3), rows = 1 + 19 * n % 90;
		const struct ttnn_spec_args in =
			given_spec(TTNN_BFLOAT16, 1, 1, rows, heads * head);
		const struct ttnn_spec_args weight =
			given_spec(TTNN_BFLOAT16, 1, heads * head, 0, 0);
		struct ttnn_spec_args stats = in;

		stats.shape.dim[3] = 32 * (1 + n % 5);
		given_tensor(&given, "input_tensor", &in, -3, 3);
		given_tensor(&given, "stats", &stats, 10, 200);
		given_add(&given, "num_heads_per_device", ttnn_v_int(heads));
		if (n % 2)
			given_tensor(&given, "weight", &weight, -2, 2);
		if (n % 3)
			add_rotation(&given, rows, head, n % 3 == 2);
		if (n % 7 == 6)
			given_add(&given, "dtype", ttnn_v_dtype(TTNN_FLOAT32));
		given_case(&given, "ttnn.experimental.wan_fused_rmsnorm_post_allgather", n, 3);
	}
}

TEST(goldens_refuse_what_does_not_fit)
{
	struct given given = {.state = 7};
	const struct ttnn_spec_args in = given_spec(TTNN_BFLOAT16, 1, 1, 32, 64);

	given_tensor(&given, "input_tensor", &in, -3, 3);
	given_tensor(&given, "stats", &in, 1, 2);
	given_add(&given, "num_heads_per_device", ttnn_v_int(3));
	given_refused(&given, "ttnn.experimental.wan_fused_rmsnorm_post_allgather",
		      "must be divisible by number of heads");
}

TEST(zz_all_rows)
{
	golden_check_family("norm_welford");
	golden_check_family("norm_heads");
	golden_close();
}
