/*
 * Products of block floats whose operands are transposed, against sums in float64 of what the tensors hold.
 *
 * As upstream, three programs transpose on the way, where no number is rounded; before the others a transposed operand
 * is a tensor of its own, of its type: 16 neighbours share another exponent, which costs up to half a step of it.
 */
#include "test.h"

#include <math.h>

#include "golden.h"

struct row {
	enum ttnn_dtype dtype;
	enum ttnn_buffer_type buffer;
	uint32_t m, k, n;
	uint32_t grid; /* of the caller, square; 0: none */
	bool apart;    /* operands are transposed before the program */
};

static const struct row rows[] = {
	{TTNN_BFLOAT4_B, TTNN_DRAM, 64, 96, 128, 0, false},
	{TTNN_BFLOAT8_B, TTNN_DRAM, 64, 96, 128, 0, false},
	{TTNN_BFLOAT4_B, TTNN_L1, 64, 96, 128, 0, true},
	{TTNN_BFLOAT8_B, TTNN_L1, 64, 96, 128, 0, true},
	/* Blocks for several cores are for a program that transposes; those of bfloat4_b hold more. */
	{TTNN_BFLOAT4_B, TTNN_L1, 512, 64, 512, 0, true},
	{TTNN_BFLOAT8_B, TTNN_L1, 512, 64, 512, 0, false},
	{TTNN_BFLOAT4_B, TTNN_L1, 544, 64, 544, 0, false},
	{TTNN_BFLOAT4_B, TTNN_L1, 64, 96, 128, 4, false},
	{TTNN_BFLOAT8_B, TTNN_L1, 64, 96, 128, 4, false},
};

/* An operand as it is multiplied: what it holds, and what transposing it may have cost. */
struct operand {
	ttnn_tensor *tensor;
	double *values, *costs;
	uint32_t rows, cols;
	bool transposed;
};

static ttnn_tensor *make_tensor(const struct row *row, uint32_t height, uint32_t width,
				uint64_t *state)
{
	struct ttnn_spec_args args = {.shape = {2, {height, width}},
				      .dtype = row->dtype,
				      .layout = TTNN_TILE,
				      .memory = {.buffer = row->buffer}};
	float *data = calloc((size_t)height * width, sizeof(*data));
	ttnn_tensor *host = NULL, *out = NULL;
	struct ttnn_tensor_spec spec;

	/* Of several exponents, so that steps differ from group to group. */
	for (size_t i = 0; i < (size_t)height * width; i++)
		data[i] = (float)ldexp(golden_number(state, TTNN_FLOAT32, -1, 1),
				       (int)(test_random(state) % 4));
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&host, data, TTNN_FLOAT32, &spec, 0));
	CHECK_OK(ttnn_call_one(&out, "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())},
						   {NULL, ttnn_v_memory(&args.memory)}},
			       3, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	free(data);
	return out;
}

/* What a tensor holds, as float32. */
static float *elements(ttnn_tensor *tensor, size_t count)
{
	float *out = calloc(count, sizeof(*out));
	ttnn_tensor *host = NULL;

	CHECK_OK(ttnn_call_one(&host, "ttnn.from_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tensor)}}, 1,
			       TTNN_FRONTEND_C));
	CHECK_OK(ttnn_tensor_to_data(out, count * sizeof(*out), TTNN_FLOAT32, host));
	ttnn_tensor_unref(host);
	return out;
}

/* Half a step of each group of 16 in a row: one of bfloat4_b has 3 bits below its exponent, sign aside. */
static void set_costs(struct operand *x, enum ttnn_dtype dtype)
{
	int bits = dtype == TTNN_BFLOAT4_B ? 3 : 7;

	for (size_t i = 0; i < (size_t)x->rows * x->cols; i += 16) {
		double most = 0;

		for (size_t k = 0; k < 16; k++)
			most = fmax(most, fabs(x->values[i + k]));
		for (size_t k = 0; k < 16 && most > 0; k++)
			x->costs[i + k] = ldexp(1, ilogb(most) - bits);
	}
}

static struct operand make_operand(const struct row *row, uint32_t height, uint32_t width,
				   bool transposed, uint64_t *state)
{
	struct operand x = {.rows = height, .cols = width, .transposed = transposed};
	size_t count = (size_t)height * width;
	float *data;

	x.tensor = transposed ? make_tensor(row, width, height, state)
			      : make_tensor(row, height, width, state);
	x.values = calloc(count, sizeof(*x.values));
	x.costs = calloc(count, sizeof(*x.costs));
	data = elements(x.tensor, count);
	for (size_t i = 0; i < count; i++)
		x.values[i] = data[transposed ? i % width * height + i / width : i];
	free(data);
	if (transposed && row->apart)
		set_costs(&x, row->dtype);
	return x;
}

static void free_operand(struct operand *x)
{
	ttnn_tensor_unref(x->tensor);
	free(x->values);
	free(x->costs);
}

/* The product in float32; `before`: with ttnn.transpose() instead of the flags. */
static float *product(const struct row *row, const struct operand *x, bool before)
{
	struct ttnn_memory_config memory = {.buffer = row->buffer};
	struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(x[0].tensor)},
		{NULL, ttnn_v_tensor(x[1].tensor)},
		{"dtype", ttnn_v_dtype(TTNN_FLOAT32)},
		{"memory_config", ttnn_v_memory(&memory)},
		{"transpose_a", ttnn_v_bool(x[0].transposed && !before)},
		{"transpose_b", ttnn_v_bool(x[1].transposed && !before)},
		{"core_grid", {.kind = TTNN_VALUE_CORE, .core = {row->grid, row->grid}}},
	};
	ttnn_tensor *turned[2] = {NULL, NULL}, *out = NULL;
	float *data;

	for (int i = 0; i < 2; i++) {
		const struct ttnn_arg swap[] = {
			args[i], {NULL, ttnn_v_int(-1)}, {NULL, ttnn_v_int(-2)}};

		if (!before || !x[i].transposed)
			continue;
		CHECK_OK(ttnn_call_one(&turned[i], "ttnn.transpose", swap, 3, TTNN_FRONTEND_C));
		args[i].value = ttnn_v_tensor(turned[i]);
	}
	CHECK_OK(ttnn_call_one(&out, "ttnn.matmul", args, row->grid ? 7 : 6, TTNN_FRONTEND_C));
	data = elements(out, (size_t)x[0].rows * x[1].cols);
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(turned[0]);
	ttnn_tensor_unref(turned[1]);
	return data;
}

/* How many numbers are beyond what sums in float32 cost, and beyond that and transposing. */
static void compare(size_t *rounded, size_t *wrong, const float *got, const struct operand *x)
{
	uint32_t depth = x[0].cols, width = x[1].cols;

	*rounded = *wrong = 0;
	for (uint32_t i = 0; i < x[0].rows; i++)
		for (uint32_t j = 0; j < width; j++) {
			double sum = 0, size = 0, cost = 0, off;

			for (uint32_t k = 0; k < depth; k++) {
				size_t p = (size_t)i * depth + k, q = (size_t)k * width + j;
				double a = fabs(x[0].values[p]), b = fabs(x[1].values[q]);

				sum += x[0].values[p] * x[1].values[q];
				size += a * b;
				cost += (a + x[0].costs[p]) * (b + x[1].costs[q]) - a * b;
			}
			off = fabs(got[(size_t)i * width + j] - sum);
			size *= depth * 0x1p-24;
			*rounded += off > size;
			*wrong += off > size + cost;
		}
}

static void check_row(const struct row *row, bool transpose_a, bool transpose_b, uint64_t *state)
{
	struct operand x[] = {make_operand(row, row->m, row->k, transpose_a, state),
			      make_operand(row, row->k, row->n, transpose_b, state)};
	float *got = product(row, x, false), *before = product(row, x, true);
	size_t rounded, wrong;

	compare(&rounded, &wrong, got, x);
	CHECK_INT(wrong, 0);
	/* The bound is not idle, and where it is needed is as the table says. */
	CHECK_INT(rounded > 0, row->apart && (transpose_a || transpose_b));
	if (row->apart)
		CHECK(memcmp(got, before, (size_t)row->m * row->n * sizeof(*got)) == 0);
	free(got);
	free(before);
	free_operand(&x[0]);
	free_operand(&x[1]);
}

TEST(only_what_is_transposed_before_the_program_is_rounded_again)
{
	uint64_t state = 21;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int which = 0; which < 4; which++)
			check_row(&rows[i], which & 1, which & 2, &state);
	golden_close();
}
