/* normalisation in all its forms against the goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/objects.h"

#define TYPES (GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B))
#define UNCUT (GOLDEN_BIT(GOLDEN_DRAM) | GOLDEN_BIT(GOLDEN_L1))

/* A weight or bias for rows this wide: in tiles, or in rows of 32. */
static void add_weight(struct given *given, const char *name, uint32_t width, size_t n)
{
	struct ttnn_spec_args spec = given_spec(TTNN_BFLOAT16, 1, 1, 1, width);

	if (n % 4 == 3) {
		spec = given_spec(TTNN_FLOAT32, 1, 1, (width + 31) / 32, 32);
		spec.layout = TTNN_ROW_MAJOR;
	}
	given_tensor(given, name, &spec, -2, 2);
}

static void norm_cases(const char *op)
{
	const struct golden_wants wants = {.dtypes = TYPES, .places = UNCUT};
	struct given given = {.state = 1};

	for (size_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		uint32_t width = spec.shape.dim[spec.shape.rank - 1];

		given_tensor(&given, NULL, &spec, -3, 3);
		if (n % 3)
			add_weight(&given, "weight", width, n);
		if (n % 3 == 2)
			add_weight(&given, "bias", width, n);
		if (n % 5 == 1)
			given_tensor(&given, "residual_input_tensor", &spec, -3, 3);
		given_add(&given, "epsilon", ttnn_v_real(n % 2 ? 1e-5 : 1e-3));
		/* a lone element has no deviation: the golden divides 0 by almost 0 */
		if (n == 7)
			golden_case_on_threads(op, given.args, given.count, 2);
		given_case(&given, op, n, width == 1 ? 4 : 2);
	}
}

TEST(layer_norm)
{
	norm_cases("ttnn.layer_norm");
}

TEST(rms_norm)
{
	norm_cases("ttnn.rms_norm");
}

/* The same with a function of the results. */
TEST(rms_norm_with_a_function)
{
	static const char *const names[] = {"silu", "gelu", "relu"};
	const struct golden_wants wants = {.dtypes = TYPES, .places = UNCUT};
	struct given given = {.state = 4};

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		uint32_t width = spec.shape.dim[spec.shape.rank - 1];

		given_tensor(&given, NULL, &spec, -3, 3);
		if (n % 2)
			add_weight(&given, "weight", width, n);
		given_add(&given, "activation",
			  n % 4 == 3 ? ttnn_v_none() : ttnn_v_string(names[n % 3]));
		given_case(&given, "ttnn.experimental.dit_rms_norm_unary_fused", n,
			   width == 1 ? 4 : 2);
	}
}

/* Rows that are cut over cores, with and without a config that says how. */
TEST(shards)
{
	static const char *const ops[] = {"ttnn.layer_norm", "ttnn.rms_norm"};
	struct given given = {.state = 2};

	for (size_t n = 0; n < 12; n++) {
		struct ttnn_spec_args spec =
			given_spec(n % 3 ? TTNN_BFLOAT16 : TTNN_FLOAT32, 1, 1, 64, 256);

		golden_put(&spec, n % 2 ? GOLDEN_WIDTH : GOLDEN_BLOCK);
		given_tensor(&given, NULL, &spec, -3, 3);
		add_weight(&given, "weight", 256, n / 2);
		if (n > 5)
			given_tensor(&given, "residual_input_tensor", &spec, -3, 3);
		given_add(&given, "epsilon", ttnn_v_real(1e-5));
		given_case(&given, ops[n / 2 % 2], n, 2);
	}
}

/* Rows in row-major layout, which layer_norm alone takes. */
TEST(plain_rows)
{
	struct given given = {.state = 3};

	for (size_t n = 0; n < 6; n++) {
		struct ttnn_spec_args spec =
			given_spec(n % 2 ? TTNN_BFLOAT16 : TTNN_FLOAT32, 1, 2, 40, 32u << (n % 4));

		spec.layout = TTNN_ROW_MAJOR;
		given_tensor(&given, NULL, &spec, -3, 3);
		given_add(&given, "epsilon", ttnn_v_real(1e-5));
		given_case(&given, "ttnn.layer_norm", n, 2);
	}
}

static struct ttnn_spec_args rows_of(size_t n, uint32_t width)
{
	struct ttnn_spec_args spec =
		given_spec(n % 4 ? TTNN_BFLOAT16 : TTNN_BFLOAT8_B, 1 + (uint32_t)(n % 2), 1,
			   32 + 13 * (uint32_t)(n % 6), width);

	golden_put(&spec, n % 3 ? GOLDEN_DRAM : GOLDEN_L1);
	return spec;
}

static void sums_cases(const char *op)
{
	struct given given = {.state = 4};

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = rows_of(n, 32 + 16 * (uint32_t)(n % 9));

		given_tensor(&given, NULL, &spec, -1, 1);
		if (n % 5 == 1)
			given_tensor(&given, "residual_input_tensor", &spec, -1, 1);
		if (n % 2)
			given_add(&given, "dtype", ttnn_v_dtype(TTNN_FLOAT32));
		given_case(&given, op, n, 2);
	}
}

TEST(sums_before_gathering)
{
	sums_cases("ttnn.layer_norm_pre_all_gather");
	sums_cases("ttnn.rms_norm_pre_all_gather");
}

/* Sums of one to four devices; rows of squares must be larger than those of the mean. */
static void apply_cases(const char *op, uint32_t kinds)
{
	struct given given = {.state = 5};

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t width = 32 + 16 * (uint32_t)(n % 9), devices = 1 + (uint32_t)(n % 4);
		struct ttnn_spec_args spec = rows_of(n, width), stats = spec;

		stats.shape.dim[3] = 32 * kinds * devices;
		stats.dtype = TTNN_BFLOAT16;
		golden_put(&stats, GOLDEN_DRAM);
		given_tensor(&given, NULL, &spec, -3, 3);
		given_tensor(&given, NULL, &stats, 0.3 * width, 0.5 * width);
		if (n % 3)
			add_weight(&given, "weight", width, n);
		if (n % 3 == 2)
			add_weight(&given, "bias", width, n);
		given_case(&given, op, n, 4);
	}
}

TEST(normalise_after_gathering)
{
	apply_cases("ttnn.layer_norm_post_all_gather", 2);
	apply_cases("ttnn.rms_norm_post_all_gather", 1);
}

/* The config that asks for Welford's method, made in an arena of the caller's. */
static void add_welford(struct given *given, struct tt_arena *arena)
{
	const struct ttnn_arg field = {"use_welford", ttnn_v_bool(true)};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "LayerNormDefaultProgramConfig", &field, 1));
	given_add(given, "program_config", config);
}

/* Means and variances in place of sums, also of rows far from zero; reciprocals are needed, not read. */
TEST(halves_by_mean_and_variance)
{
	struct given given = {.state = 8};
	struct tt_arena arena = {0};

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t width = 32 + 16 * (uint32_t)(n % 9);
		struct ttnn_spec_args spec = rows_of(n, width), stats = spec, table = spec;

		table = given_spec(TTNN_FLOAT32, 1, width, 0, 0);
		table.layout = TTNN_ROW_MAJOR;
		golden_put(&table, GOLDEN_L1);
		given_tensor(&given, NULL, &spec, n % 4 == 3 ? 30 : -1, n % 4 == 3 ? 31 : 2);
		if (n % 3 == 1)
			given_tensor(&given, "residual_input_tensor", &spec, -1, 1);
		given_tensor(&given, "recip_tensor", &table, 0, 1);
		add_welford(&given, &arena);
		given_case(&given, "ttnn.layer_norm_pre_all_gather", n, 2);

		stats.shape.dim[3] = 64 * (1 + (uint32_t)(n % 4));
		stats.dtype = TTNN_BFLOAT16;
		golden_put(&stats, GOLDEN_DRAM);
		given_tensor(&given, NULL, &spec, -3, 3);
		given_tensor(&given, NULL, &stats, 0.25, 2);
		if (n % 3)
			add_weight(&given, "weight", width, n);
		if (n % 3 == 2)
			add_weight(&given, "bias", width, n);
		add_welford(&given, &arena);
		given_case(&given, "ttnn.layer_norm_post_all_gather", n, 4);
	}
	tt_arena_deinit(&arena);
}

TEST(batch_norm)
{
	struct given given = {.state = 6};

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		enum ttnn_dtype dtype = n % 3 ? TTNN_BFLOAT16 : TTNN_FLOAT32;
		uint32_t channels = 1 + (uint32_t)(n % 5), size = 5 + 14 * (uint32_t)(n % 5);
		struct ttnn_spec_args spec =
			given_spec(dtype, 1 + (uint32_t)(n % 3), channels, size, 40);
		struct ttnn_spec_args each = given_spec(dtype, 1, channels, 1, 1);

		golden_put(&spec, n % 4 ? GOLDEN_DRAM : GOLDEN_L1);
		given_tensor(&given, NULL, &spec, -3, 3);
		if (n % 4 != 3) {
			given_tensor(&given, "running_mean", &each, -1, 1);
			given_tensor(&given, "running_var", &each, 0.5, 2);
		}
		if (n % 4 >= 2)
			given_add(&given, "training", ttnn_v_bool(true));
		if (n % 3 == 1)
			given_tensor(&given, "weight", &each, -2, 2);
		if (n % 3)
			given_tensor(&given, "bias", &each, -2, 2);
		/* statistics of bfloat16 are rounded on the way */
		given_case(&given, "ttnn.batch_norm", n, n % 4 >= 2 ? 8 : 2);
	}
}

/* What training leaves in the running statistics. */
TEST(running_statistics)
{
	struct given given = {.state = 7};
	struct ttnn_spec_args spec = given_spec(TTNN_FLOAT32, 2, 1, 32, 32);
	struct ttnn_spec_args each = given_spec(TTNN_FLOAT32, 1, 1, 1, 1);
	ttnn_tensor *x = given_tensor(&given, NULL, &spec, -3, 3), *out = NULL;
	ttnn_tensor *mean = given_tensor(&given, "running_mean", &each, 1, 1);
	ttnn_tensor *variance = given_tensor(&given, "running_var", &each, 2, 2);
	double values[2048], sum = 0, squares = 0, got[2];

	given_add(&given, "training", ttnn_v_bool(true));
	given_add(&given, "momentum", ttnn_v_real(0.25));
	CHECK_OK(tt_tensor_numbers(values, 2048, x));
	for (int i = 0; i < 2048; i++)
		sum += values[i];
	for (int i = 0; i < 2048; i++)
		squares += (values[i] - sum / 2048) * (values[i] - sum / 2048);
	CHECK_OK(ttnn_call_one(&out, "ttnn.batch_norm", given.args, given.count, TTNN_FRONTEND_C));
	CHECK_OK(tt_tensor_numbers(&got[0], 1, mean));
	CHECK_OK(tt_tensor_numbers(&got[1], 1, variance));
	CHECK(fabs(got[0] - (0.75 + 0.25 * sum / 2048)) < 1e-5);
	CHECK(fabs(got[1] - (1.5 + 0.25 * squares / 2047)) < 1e-4);
	ttnn_tensor_unref(out);
	for (size_t i = 0; i < given.tensor_count; i++)
		ttnn_tensor_unref(given.tensors[i]);
}

TEST(group_norm)
{
	static const uint32_t widths[] = {64, 96, 128, 320};
	struct given given = {.state = 8};

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t width = widths[n % 4], groups = n % 3 ? 32 : 2;
		struct ttnn_spec_args spec =
			given_spec(n % 5 ? TTNN_BFLOAT16 : TTNN_FLOAT32, 1 + (uint32_t)(n % 2), 1,
				   64 + 32 * (uint32_t)(n % 3), width);
		bool shards = n % 6 == 5 && spec.shape.dim[0] == 1;

		if (shards) {
			spec.shape.dim[2] = 128;
			spec.layout = TTNN_ROW_MAJOR;
		}
		golden_put(&spec, shards ? GOLDEN_HEIGHT : n % 4 ? GOLDEN_DRAM : GOLDEN_L1);
		given_tensor(&given, NULL, &spec, -3, 3);
		given_add(&given, "num_groups", ttnn_v_int(groups));
		given_add(&given, "inplace", ttnn_v_bool(shards));
		given_add(&given, "epsilon", ttnn_v_real(1e-5));
		if (n % 3)
			add_weight(&given, "weight", width, 3);
		if (n % 3 == 2)
			add_weight(&given, "bias", width, 3);
		given_case(&given, "ttnn.group_norm", n, 2);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("norm");
	golden_check_family("norm_gather");
	golden_check_family("batch_norm");
	golden_check_family("group_norm");
	golden_close();
}

SCENARIO(memory_runs_out)
{
	struct ttnn_spec_args args = {.shape = {4, {1, 1, 40, 70}}, .layout = TTNN_TILE};
	ttnn_tensor *x = NULL, *out = NULL;
	ttnn_device *device = NULL;
	struct ttnn_tensor_spec spec;
	static float data[40 * 70];
	tt_status status;

	status = ttnn_device_open(&device, 0, NULL);
	if (status == TTNN_OK)
		status = ttnn_tensor_spec_make(&spec, &args);
	if (status == TTNN_OK)
		status = ttnn_tensor_from_data(&x, data, TTNN_FLOAT32, &spec, 0);
	if (status == TTNN_OK) {
		ttnn_tensor *host = x;

		x = NULL;
		status = ttnn_call_one(&x, "ttnn.to_device",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
							   {NULL, ttnn_v_device(device)}},
				       2, TTNN_FRONTEND_C);
		ttnn_tensor_unref(host);
	}
	if (status == TTNN_OK)
		status = ttnn_call_one(&out, "ttnn.layer_norm",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}}, 1,
				       TTNN_FRONTEND_C);
	ttnn_tensor_unref(x);
	ttnn_tensor_unref(out);
	ttnn_device_unref(device);
	return status;
}
