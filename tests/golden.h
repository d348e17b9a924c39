/*
 * golden.h: runs operations on a device and compares with their goldens. Include it after test.h.
 *
 * A case is a call: its results must have the golden's shapes and values, by correlation (the bound
 * of the operation's row) and by the largest error, relative to the type. golden_count() tells at the
 * end how many cases each row had.
 */
#ifndef TT_TESTS_GOLDEN_H
#define TT_TESTS_GOLDEN_H

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "device/devtensor.h"
#include "golden/golden.h"
#include "ops/op.h"
#include "tensor/dtype.h"
#include "tensor/memory.h"

/* Opened once, closed by golden_close(); then another profile may be set. */
static ttnn_device *golden_opened;
static const char *golden_profile = "n150";

static inline ttnn_device *golden_device(void)
{
	if (!golden_opened)
		CHECK_OK(
			ttnn_device_open(&golden_opened, 0,
					 &(struct ttnn_device_options){.profile = golden_profile}));
	return golden_opened;
}

/* A tensor on it of these elements, with `pad` in its padding. */
static inline ttnn_tensor *golden_upload(const void *data, enum ttnn_dtype of,
					 const struct ttnn_spec_args *args, double pad)
{
	ttnn_tensor *host = NULL, *out = NULL;
	struct ttnn_tensor_spec spec;

	CHECK_OK(ttnn_tensor_spec_make(&spec, args));
	CHECK_OK(ttnn_tensor_from_data(&host, data, of, &spec, pad));
	CHECK_OK(ttnn_call_one(&out, "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())}},
			       2, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	return out;
}

/* For tests of large tensors: memory that one case gave up is the next one's, instead of new pages each time. */
static inline void golden_keep_memory(void)
{
#if defined(__GLIBC__)
	mallopt(M_MMAP_THRESHOLD, INT32_MAX);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
#endif
}

static inline void golden_close(void)
{
	ttnn_device_unref(golden_opened);
	golden_opened = NULL;
}

/* ---- making arguments -------------------------------------------------------------------------- */

/* A number from low to high; integers for integer types. */
static inline double golden_number(uint64_t *state, enum ttnn_dtype dtype, double low, double high)
{
	double unit = (double)(test_random(state) >> 11) / 9007199254740992.0;
	double value = low + unit * (high - low);

	return tt_dtype_is_integer(dtype) ? floor(value) : value;
}

/*
 * A device tensor of random values, with 77 in its padding. Padding shares the exponent of block
 * floats: there it is the highest value, else the others would lose their digits.
 */
static inline ttnn_tensor *golden_tensor(const struct ttnn_spec_args *args, uint64_t *state,
					 double low, double high)
{
	ttnn_tensor *host = NULL, *out = NULL;
	enum ttnn_dtype plain = tt_dtype_is_integer(args->dtype) ? TTNN_INT32 : TTNN_FLOAT32;
	struct ttnn_tensor_spec spec;
	uint64_t count = 0;
	void *data;

	CHECK_OK(ttnn_tensor_spec_make(&spec, args));
	CHECK_OK(ttnn_shape_volume(&count, &args->shape));
	data = calloc(count + 1, 4);
	for (uint64_t i = 0; i < count && data; i++) {
		double value = golden_number(state, args->dtype, low, high);

		if (plain == TTNN_INT32)
			((int32_t *)data)[i] = (int32_t)value;
		else
			((float *)data)[i] = (float)value;
	}
	CHECK_OK(ttnn_tensor_from_data(&host, data, plain, &spec,
				       tt_dtype_is_block(args->dtype) ? high : 77));
	free(data);
	CHECK_OK(ttnn_call_one(&out, "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())},
						   {NULL, ttnn_v_memory(&args->memory)}},
			       3, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	return out;
}

/* ---- comparing ----------------------------------------------------------------------------------- */

/*
 * What rounding to a type may cost, relative to the value (or to 1, if that is larger); for block
 * floats, relative to the largest value of the tensor.
 */
static inline double golden_tolerance(enum ttnn_dtype dtype)
{
	switch (dtype) {
	case TTNN_FLOAT32:
		return 1e-5;
	case TTNN_BFLOAT16:
		return 1.0 / 128;
	case TTNN_BFLOAT8_B:
		return 1.0 / 64;
	case TTNN_BFLOAT4_B:
		return 1.0 / 4;
	case TTNN_FP8_E4M3:
		return 1.0 / 8;
	default:
		return 0;
	}
}

/* Correlation of two series; 1 when both are constant. */
static inline double golden_pcc(const double *a, const double *b, uint64_t count)
{
	double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;

	for (uint64_t i = 0; i < count; i++) {
		ma += a[i] / (double)count;
		mb += b[i] / (double)count;
	}
	for (uint64_t i = 0; i < count; i++) {
		ab += (a[i] - ma) * (b[i] - mb);
		aa += (a[i] - ma) * (a[i] - ma);
		bb += (b[i] - mb) * (b[i] - mb);
	}
	return aa < 1e-30 || bb < 1e-30 ? 1 : ab / sqrt(aa * bb);
}

/* How many cases each operation had. */
static struct {
	const char *op;
	size_t cases;
} golden_rows[1024];

static inline void golden_counted(const char *op)
{
	size_t i = 0;

	while (golden_rows[i].op && strcmp(golden_rows[i].op, op) != 0 && i < 1023)
		i++;
	golden_rows[i].op = op;
	golden_rows[i].cases++;
}

/*
 * What a block float makes of these values: its rounding depends on the neighbours, so the golden's
 * values are rounded as well before they are compared. Returns the largest of them.
 */
static inline double golden_round(double *values, uint64_t count, const ttnn_tensor *like)
{
	struct ttnn_spec_args args = {
		.shape = like->spec.shape, .dtype = like->spec.dtype, .layout = TTNN_TILE};
	float *data = calloc(count + 1, sizeof(*data));
	struct ttnn_tensor_spec spec;
	ttnn_tensor *rounded = NULL;
	double largest = 0;

	for (uint64_t i = 0; i < count && data; i++)
		data[i] = (float)values[i];
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&rounded, data, TTNN_FLOAT32, &spec, 0));
	if (rounded)
		CHECK_OK(tt_tensor_numbers(values, count, rounded));
	for (uint64_t i = 0; i < count; i++)
		largest = fmax(largest, fabs(values[i]));
	ttnn_tensor_unref(rounded);
	free(data);
	return largest;
}

static inline void golden_compare(const struct tt_op *op, ttnn_tensor *got,
				  const struct tt_array *array, double slack)
{
	bool whole = tt_dtype_is_integer(got->spec.dtype);
	double tolerance = whole ? fmax(slack - 1, 0) : slack * golden_tolerance(got->spec.dtype);
	double *values = calloc(2 * array->count + 2, sizeof(*values));
	double *want = values + array->count, worst = 0, scale = 1;

	if (!ttnn_shape_equal(&got->spec.shape, &array->shape)) {
		TEST_FAIL("%s: the result has another shape than the golden", op->name);
		free(values);
		return;
	}
	CHECK_OK(tt_tensor_numbers(values, array->count, got));
	memcpy(want, array->data, array->count * sizeof(*want));
	if (tt_dtype_is_block(got->spec.dtype))
		scale = golden_round(want, array->count, got);
	for (uint64_t i = 0; i < array->count; i++) {
		double error = fabs(values[i] - want[i]) / (whole ? 1 : fmax(scale, fabs(want[i])));

		if (values[i] == want[i] || (isnan(values[i]) && isnan(want[i])))
			continue;
		worst = isnan(error) ? INFINITY : fmax(worst, error);
	}
	if (worst > tolerance)
		TEST_FAIL("%s: an error of %g, more than %g", op->name, worst, tolerance);
	if (golden_pcc(values, want, array->count) < op->pcc)
		TEST_FAIL("%s: a correlation of %g, less than %g", op->name,
			  golden_pcc(values, want, array->count), op->pcc);
	free(values);
}

/*
 * One case; `slack` multiplies the tolerance of the result's type, whole numbers may be slack - 1
 * off. False when it could not run.
 */
static inline bool golden_case(const char *name, const struct ttnn_arg *args, size_t count,
			       double slack)
{
	const struct tt_op_entry *entry = tt_op_find(name);
	struct tt_arena arena = {0};
	struct ttnn_results results = {.count = 0};
	struct tt_golden *golden = tt_arena_calloc(&arena, 1, sizeof(*golden));
	int before = test_failures;

	CHECK_OK(tt_golden_run(golden, &arena, name, args, count));
	CHECK_OK(ttnn_call(&results, name, args, count, TTNN_FRONTEND_C));
	while (results.count && !results.tensors[results.count - 1])
		results.count--; /* was not asked for */
	if (test_failures == before) {
		size_t next = 0; /* results that were not made have none among the golden's */

		for (size_t i = 0; i < results.count; i++)
			if (results.tensors[i] && next++ < golden->out_count)
				golden_compare(entry->op, results.tensors[i],
					       &golden->out[next - 1], slack);
		CHECK_INT(next, golden->out_count);
		golden_counted(entry->op->name);
	}
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
	tt_arena_deinit(&arena);
	return test_failures == before;
}

/* Every row of the family that has a golden had its 20 cases; prints the counts. */
static inline void golden_check_counts(const char *family)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	for (size_t i = 0; i < count; i++) {
		size_t cases = 0;

		if (!entries[i].op->golden || strcmp(entries[i].op->family, family) != 0)
			continue;
		for (size_t k = 0; golden_rows[k].op; k++)
			if (strcmp(golden_rows[k].op, entries[i].op->name) == 0)
				cases = golden_rows[k].cases;
		printf("%s: %zu cases\n", entries[i].op->name, cases);
		if (cases < 20)
			TEST_FAIL("%s: only %zu cases", entries[i].op->name, cases);
	}
}

#endif
