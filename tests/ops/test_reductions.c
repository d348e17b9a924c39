/* operations over dimensions against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"

/* How an operation is tested: values, types, what its results may be off by. */
struct wanted {
	const char *name;
	double low, high;
	uint32_t dtypes;
	double slack;
};

#define ALL_FLOATS (GOLDEN_FLOATS | GOLDEN_BIT(TTNN_BFLOAT8_B))
#define AND_INT32 (ALL_FLOATS | GOLDEN_BIT(TTNN_INT32))

/* Dimension arguments, each for a tensor of any rank; NULL counts: as the number says. */
enum which { ALL, LAST, BEFORE_LAST, FIRST, LAST_TWO, FIRST_AND_LAST, EVERY, WHICH };

/* Writes the argument; false when a tensor of this rank has no such dimensions. */
static bool dims_of(struct ttnn_value *out, struct ttnn_value *items, enum which which,
		    uint32_t rank)
{
	switch (which) {
	case ALL:
		*out = ttnn_v_none();
		return true;
	case LAST:
	case BEFORE_LAST:
		*out = ttnn_v_int(which == LAST ? -1 : -2);
		return rank >= (which == LAST ? 1 : 2);
	case FIRST:
		*out = ttnn_v_int(0);
		return true;
	case LAST_TWO:
		items[0] = ttnn_v_int(-1);
		items[1] = ttnn_v_int(-2);
		*out = ttnn_v_list(items, 2);
		return rank >= 2;
	case FIRST_AND_LAST:
		items[0] = ttnn_v_int(0);
		items[1] = ttnn_v_int(-1);
		*out = ttnn_v_list(items, 2);
		return rank >= 2;
	default:
		for (uint32_t i = 0; i < rank; i++)
			items[i] = ttnn_v_int(i);
		*out = ttnn_v_list(items, rank);
		return true;
	}
}

/* How large values are at a coordinate: results that were all alike would say little. */
static double size_at(const struct ttnn_shape *shape, uint64_t index)
{
	double size = 1;

	for (uint32_t d = shape->rank; d-- > 0;) {
		size *= 0.25 + (double)(index % shape->dim[d] * 37 % 11) / 8;
		index /= shape->dim[d];
	}
	return size;
}

/* A device tensor whose rows, columns and so on differ in size. */
static ttnn_tensor *make_uneven(const struct ttnn_spec_args *args, uint64_t *state, double low,
				double high)
{
	bool whole = tt_dtype_is_integer(args->dtype);
	ttnn_tensor *host = NULL, *out = NULL;
	struct ttnn_tensor_spec spec;
	uint64_t count = 0;
	float *data;

	CHECK_OK(ttnn_tensor_spec_make(&spec, args));
	CHECK_OK(ttnn_shape_volume(&count, &args->shape));
	data = calloc(count + 1, sizeof(*data));
	for (uint64_t i = 0; i < count && data; i++) {
		double value =
			golden_number(state, args->dtype, low, high) * size_at(&args->shape, i);

		data[i] = (float)(whole ? floor(value) : value);
	}
	CHECK_OK(ttnn_tensor_from_data(&host, data, TTNN_FLOAT32, &spec, 77));
	free(data);
	CHECK_OK(ttnn_call_one(&out, "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())},
						   {NULL, ttnn_v_memory(&args->memory)}},
			       3, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	return out;
}

/*
 * Shards stay where a reduction leaves them in place; elsewhere upstream moves them or refuses, as it
 * does for several matrices with padding.
 */
static bool keeps_shards(enum which which, const struct ttnn_shape *shape)
{
	uint32_t rank = shape->rank;

	for (uint32_t d = 0; d + 2 < rank; d++)
		if (shape->dim[d] > 1)
			return false;
	return (which == LAST || which == BEFORE_LAST || which == LAST_TWO) && rank >= 2;
}

static void run_case(const struct wanted *wanted, size_t n, enum which which, uint64_t *state)
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

	if (!dims_of(&dim, items, which, spec.shape.rank))
		return;
	if (!keep || spec.layout == TTNN_ROW_MAJOR || !keeps_shards(which, &spec.shape))
		golden_put(&spec, n % 2 ? GOLDEN_DRAM : GOLDEN_L1);
	x = make_uneven(&spec, state, wanted->low, wanted->high);
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
				run_case(&all[i], n, (enum which)which, &state);
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
		ttnn_tensor *x = make_uneven(&spec, &state, 0.1, 2);

		golden_case(names[i % 4],
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}, {NULL, ttnn_v_int(-2)}},
			    2, 2);
		ttnn_tensor_unref(x);
	}
}

TEST(every_row_was_tested)
{
	golden_check_family("reduction");
	golden_close();
}
