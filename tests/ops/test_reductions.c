/* operations over dimensions against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/golden_dims.h"

/* How an operation is tested: values, types, what its results may be off by. */
struct wanted {
	const char *name;
	double low, high;
	uint32_t dtypes;
	double slack;
};

#define ALL_FLOATS (GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B))
#define AND_INT32 (ALL_FLOATS | GOLDEN_BIT(TTNN_INT32))

/*
 * Shards stay where a reduction leaves them in place; elsewhere upstream moves them or refuses, as it
 * does for several matrices with padding.
 */
static bool keeps_shards(enum golden_which which, const struct ttnn_shape *shape)
{
	uint32_t rank = shape->rank;

	for (uint32_t d = 0; d + 2 < rank; d++)
		if (shape->dim[d] > 1)
			return false;
	return (which == LAST || which == BEFORE_LAST || which == LAST_TWO) && rank >= 2;
}

static void run_case(const struct wanted *wanted, size_t n, enum golden_which which,
		     uint64_t *state)
{
	struct golden_wants wants = {.dtypes = wanted->dtypes, .layouts = GOLDEN_BOTH_LAYOUTS};
	struct ttnn_value items[TTNN_MAX_RANK], dim;
	struct ttnn_spec_args spec = golden_input(n, &wants);
	bool keep = n % 2 == 0;
	ttnn_tensor *x;
	bool scaled = n % 5 == 3 && !tt_dtype_is_integer(spec.dtype);
	struct ttnn_arg args[4] = {{NULL, {0}},
				   {"dim", {0}},
				   {"keepdim", ttnn_v_bool(keep)},
				   {"scalar", ttnn_v_real(scaled ? 0.5 : 1)}};

	if (!golden_dims(&dim, items, which, spec.shape.rank))
		return;
	if (!keep || spec.layout == TTNN_ROW_MAJOR || !keeps_shards(which, &spec.shape))
		golden_put(&spec, n % 2 ? GOLDEN_DRAM : GOLDEN_L1);
	x = golden_uneven(&spec, state, wanted->low, wanted->high);
	args[0].value = ttnn_v_tensor(x);
	args[1].value = dim;
	if (!(n == 7 ? golden_case_on_threads : golden_case)(wanted->name, args, 4, wanted->slack))
		TEST_FAIL("%s: case %zu, dimensions %d", wanted->name, n, (int)which);
	ttnn_tensor_unref(x);
}

TEST(sums_and_extremes)
{
	static const struct wanted all[] = {
		{"ttnn.sum", 0.1, 2, ALL_FLOATS, 4},
		{"ttnn.mean", 0.1, 2, ALL_FLOATS, 4},
		{"ttnn.max", -9, 9, ALL_FLOATS, 2},
		{"ttnn.min", -9, 9, ALL_FLOATS, 2},
		{"ttnn.max", -99, 99, GOLDEN_BIT(TTNN_INT32), 1},
		{"ttnn.sum", -99, 99, GOLDEN_BIT(TTNN_INT32), 1},
		{"ttnn.std", -3, 3, ALL_FLOATS, 2},
		{"ttnn.var", -3, 3, ALL_FLOATS, 2},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint64_t state = 1;

		for (size_t n = 0; n < GOLDEN_CASES; n++)
			for (int which = 0; which < WHICH; which++)
				run_case(&all[i], n, (enum golden_which)which, &state);
	}
}

/* One dimension or all. */
static void run_single(const struct wanted *wanted, uint32_t layouts, uint64_t *state)
{
	const struct golden_wants wants = {.dtypes = wanted->dtypes,
					   .layouts = layouts,
					   .places =
						   GOLDEN_BIT(GOLDEN_DRAM) | GOLDEN_BIT(GOLDEN_L1)};

	for (size_t n = 0; n < GOLDEN_CASES; n++)
		for (int64_t dim = -6; dim < 0; dim++) {
			struct ttnn_spec_args spec = golden_input(n, &wants);
			int64_t rank = spec.shape.rank;
			bool all = dim == -6;
			ttnn_tensor *x;

			if (!all && dim < -rank)
				continue;
			/* Tiles of everything: refused by upstream's search. */
			if (all && spec.layout == TTNN_TILE && layouts != GOLDEN_BIT(TTNN_TILE) &&
			    strcmp(wanted->name, "ttnn.argmax") == 0)
				continue;
			x = golden_uneven(&spec, state, wanted->low, wanted->high);
			if (!(n == 7 ? golden_case_on_threads : golden_case)(
				    wanted->name,
				    (struct ttnn_arg[]){
					    {NULL, ttnn_v_tensor(x)},
					    {"dim", all ? ttnn_v_none() : ttnn_v_int(dim)},
					    {"keepdim", ttnn_v_bool(n % 2)}},
				    3, wanted->slack))
				TEST_FAIL("%s: case %zu, dimension %d", wanted->name, n, (int)dim);
			ttnn_tensor_unref(x);
		}
}

TEST(products_and_places)
{
	static const struct wanted product = {"ttnn.prod", 0.9, 1.1, GOLDEN_FLOATS, 8};
	static const struct wanted place = {"ttnn.argmax", -9, 9, GOLDEN_FLOATS, 1};
	uint64_t state = 7;

	run_single(&product, GOLDEN_BOTH_LAYOUTS, &state);
	run_single(&place, GOLDEN_BOTH_LAYOUTS, &state);
}

TEST(products_into_a_tensor)
{
	uint64_t state = 8;

	for (size_t n = 0; n < 4; n++) {
		struct ttnn_spec_args spec = {.shape = {4, {2, 3, 45, 70}}, .layout = TTNN_TILE};
		struct ttnn_spec_args into = {.shape = {4, {1, n % 2 ? 1 : 3, 45, 70}},
					      .layout = TTNN_TILE};
		const struct ttnn_value dims[] = {ttnn_v_int(0), ttnn_v_int(1)};
		ttnn_tensor *x = golden_uneven(&spec, &state, 0.5, 1.5);
		ttnn_tensor *out = golden_make(&into, &state, 0, 1);

		golden_case("ttnn.prod",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
						{NULL, ttnn_v_tensor(out)},
						{"dims", ttnn_v_list(dims, n % 2 ? 2 : 1)}},
			    3, 2);
		ttnn_tensor_unref(x);
		ttnn_tensor_unref(out);
	}
}

TEST(running_sums_and_products)
{
	static const struct wanted all[] = {
		{"ttnn.cumsum", 0.1, 2, GOLDEN_FLOATS, 4},
		{"ttnn.cumprod", 0.8, 1.2, GOLDEN_FLOATS, 8},
		{"ttnn.cumsum", -99, 99, GOLDEN_BIT(TTNN_INT32), 1},
	};
	uint64_t state = 9;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) * GOLDEN_CASES * 5; i++) {
		const struct wanted *wanted = &all[i / (GOLDEN_CASES * 5)];
		const struct golden_wants wants = {.dtypes = wanted->dtypes,
						   .places = GOLDEN_BIT(GOLDEN_DRAM) |
							     GOLDEN_BIT(GOLDEN_L1)};
		size_t n = i / 5 % GOLDEN_CASES;
		int64_t dim = (int64_t)(i % 5) - 5;
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *x;

		if (dim < -(int64_t)spec.shape.rank)
			continue;
		x = golden_uneven(&spec, &state, wanted->low, wanted->high);
		(n == 7 ? golden_case_on_threads : golden_case)(
			wanted->name,
			(struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
					    {NULL, ttnn_v_int(dim)},
					    {"reverse_order", ttnn_v_bool(n % 3 == 1)}},
			3, wanted->slack);
		ttnn_tensor_unref(x);
	}
}

TEST(integral_images)
{
	uint64_t state = 6;

	for (uint32_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = {
			.shape = {4, {1, 1 + n * 7 % 50, 1 + n * 11 % 70, 1 + n * 13 % 90}},
			.dtype = n % 2 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
			.layout = TTNN_TILE,
			.memory = {.buffer = n % 3 ? TTNN_DRAM : TTNN_L1}};
		ttnn_tensor *x = golden_uneven(&spec, &state, 0, 1);

		(n == 7 ? golden_case_on_threads
			: golden_case)("ttnn.experimental.intimg",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}}, 1, 4);
		ttnn_tensor_unref(x);
	}
}

/* Batches and channels of samples; also into a tensor that is there. */
TEST(moving_averages)
{
	uint64_t state = 5;

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = {.shape = {4, {1, 1 + n % 3, 7 + 13 * n, 3 + 21 * n}},
					      .layout = TTNN_TILE};
		ttnn_tensor *x = golden_uneven(&spec, &state, -2, 2);
		ttnn_tensor *out = golden_make(&spec, &state, 0, 1);

		golden_case(
			"ttnn.ema",
			(struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
					    {NULL, ttnn_v_real(0.05 * n)},
					    {"out", n % 2 ? ttnn_v_tensor(out) : ttnn_v_none()}},
			3, 2);
		ttnn_tensor_unref(x);
		ttnn_tensor_unref(out);
	}
}

TEST(weights_of_the_first_expert)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	uint64_t state = 6;

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t width = 64u << n % 3;
		struct ttnn_spec_args spec = {
			.shape = {4, {1 + n % 2, 1, 32 + 16 * (n % 3), width}},
			.layout = TTNN_TILE};
		struct ttnn_spec_args row = {.shape = {4, {1, 1, 1, width}}, .layout = TTNN_TILE};
		ttnn_tensor *x = golden_uneven(&spec, &state, -2, 2), *experts, *mask;

		experts = golden_make(&row, &state, -1, 1);
		row.shape.dim[3] = 32;
		mask = golden_make(&row, &state, -1, 1);
		golden_case("ttnn.moe",
			    (struct ttnn_arg[]){
				    {NULL, ttnn_v_tensor(x)},
				    {NULL, ttnn_v_tensor(experts)},
				    {NULL, ttnn_v_tensor(mask)},
				    {NULL, ttnn_v_int(32)},
				    {"memory_config", n % 2 ? ttnn_v_memory(&l1) : ttnn_v_none()}},
			    5, 2);
		ttnn_tensor_unref(x);
		ttnn_tensor_unref(experts);
		ttnn_tensor_unref(mask);
	}
}

/* Where the likeliest token alone can be drawn. */
TEST(likeliest_tokens)
{
	uint64_t state = 8;

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t users = 1 + (n * 7) % 32, width = 32u << n % 4;
		struct ttnn_spec_args spec = {.shape = {4, {1, 1, users, width}},
					      .layout = TTNN_TILE};
		struct ttnn_spec_args places = {.shape = spec.shape, .dtype = TTNN_INT32};
		struct ttnn_spec_args each = {.shape = {1, {users}}};
		ttnn_tensor *in[5] = {golden_uneven(&spec, &state, -3, 3),
				      golden_make(&places, &state, 0, 1000)};

		in[3] = golden_make(&each, &state, 0, n % 2 ? 0 : 0.9);
		in[4] = golden_make(&each, &state, 0.5, 2);
		each.dtype = TTNN_UINT32;
		in[2] = golden_make(&each, &state, 1, n % 2 ? 32 : 1);
		golden_case("ttnn.sampling",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(in[0])},
						{NULL, ttnn_v_tensor(in[1])},
						{NULL, ttnn_v_tensor(in[2])},
						{NULL, ttnn_v_tensor(in[3])},
						{NULL, ttnn_v_tensor(in[4])},
						{"seed", n % 3 ? ttnn_v_int(n) : ttnn_v_none()}},
			    6, 0);
		for (size_t i = 0; i < 5; i++)
			ttnn_tensor_unref(in[i]);
	}
}

/* A tall tensor is cut into slices, which are reduced again. */
TEST(tall_tensors)
{
	static const char *const names[] = {"ttnn.sum", "ttnn.mean", "ttnn.max", "ttnn.min"};
	static const struct ttnn_shape shapes[] = {
		{2, {1000, 40}}, {4, {2, 2, 700, 33}}, {3, {3, 1024, 96}}};
	uint64_t state = 3;

	for (size_t i = 0; i < 4 * 3 * 4; i++) {
		struct ttnn_spec_args spec = {.shape = shapes[i / 4 % 3],
					      .dtype = i / 24 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
					      .layout = i / 12 % 2 ? TTNN_ROW_MAJOR : TTNN_TILE};
		ttnn_tensor *x = golden_uneven(&spec, &state, 0.1, 2);

		golden_case(names[i % 4],
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}, {NULL, ttnn_v_int(-2)}},
			    2, 2);
		ttnn_tensor_unref(x);
	}
}

TEST(outer_dimensions)
{
	const struct golden_wants wants = {
		.dtypes = ALL_FLOATS, .min_rank = 3, .places = GOLDEN_BIT(GOLDEN_DRAM)};
	uint64_t state = 9;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		const struct ttnn_value dims[] = {ttnn_v_int(0), ttnn_v_int(1)};
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *x = golden_uneven(&spec, &state, 0.1, 2);
		size_t count = n % 2 && spec.shape.rank > 3 ? 2 : 1;

		golden_case_on_threads("ttnn.experimental.fast_reduce_nc",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
							   {"dims", ttnn_v_list(dims, count)}},
				       2, 4);
		ttnn_tensor_unref(x);
	}
}

TEST(outer_dimensions_in_two_parts)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B};
	struct given given = {.state = 9};

	for (uint32_t n = 0; n < 22; n++) {
		uint32_t width = 64 + 32 * (n % 4);
		struct ttnn_spec_args in = given_spec(dtypes[n % 3], 1 + n % 4, 1 + n % 5,
						      n % 3 == 2 ? 64 : 32 + n, width);

		given_tensor(&given, "input", &in, -2, 2);
		given_add(&given, "dim", ttnn_v_int(n % 2));
		given_add(&given, "split_output_width", ttnn_v_int(n % 5 ? 32 : width - 32));
		given_case(&given, "ttnn.experimental.fast_reduce_nc_split", n, 4);
	}
}

TEST(every_row_was_tested)
{
	golden_check_family("reduce_outer");
	golden_check_family("reduction");
	golden_check_family("scan");
	golden_check_family("moe");
	golden_check_family("sampling");
	golden_close();
}
