/*
 * test_backend_matmul.c: matrix products against three nested loops in float64, and panels that are
 * kept. @threads
 */
#include "test.h"

#include "backend.h"

#include "backend/cpu/weights.h"
#include "device/device.h"
#include "device/devtensor.h"

/* ---- the reference ------------------------------------------------------------------------------ */

static double gelu(double x)
{
	return 0.5 * x * (1 + erf(x / sqrt(2)));
}

/* Element (i, j) of matrix n of `values`, which lie as `shape` says. */
static double at(const double *values, const struct ttnn_shape *shape, uint64_t n, uint64_t i,
		 uint64_t j)
{
	uint32_t height = shape->rank > 1 ? shape->dim[shape->rank - 2] : 1;
	uint32_t width = shape->dim[shape->rank - 1];

	return values[(n * height + i) * width + j];
}

/* The number of the matrix of `shape` that goes with matrix n of the batch. */
static uint64_t number(const struct ttnn_shape *shape, const struct ttnn_shape *batch, uint64_t n)
{
	struct ttnn_shape outer = *shape;

	outer.rank = shape->rank > 2 ? shape->rank - 2 : 0;
	return bk_broadcast(&outer, batch, n);
}

/* Want and, beside it, the sum of absolute values, which errors are measured by. */
static double *product(const struct tt_matmul_job *job, const struct ttnn_shape *batch,
		       const uint64_t size[3], double *large)
{
	const struct ttnn_shape *sa = &job->a->spec.shape, *sb = &job->b->spec.shape;
	double *a = bk_read(job->a), *b = bk_read(job->b);
	double *bias = job->bias ? bk_read(job->bias) : NULL;
	uint64_t count = bk_volume(&job->out->spec.shape), m = size[0], k = size[1], n = size[2];
	double *want = bk_new(count);

	for (uint64_t at_out = 0; at_out < count; at_out++) {
		uint64_t i = at_out / n % m, j = at_out % n, which = at_out / n / m;
		uint64_t na = number(sa, batch, which), nb = number(sb, batch, which);
		double sum = 0;

		for (uint64_t p = 0; p < k; p++) {
			double x = job->transpose_a ? at(a, sa, na, p, i) : at(a, sa, na, i, p);
			double y = job->transpose_b ? at(b, sb, nb, j, p) : at(b, sb, nb, p, j);

			sum += x * y;
			large[at_out] += fabs(x * y * job->alpha);
		}
		want[at_out] = sum * job->alpha;
		if (bias)
			want[at_out] +=
				job->beta * bias[bk_broadcast(&job->bias->spec.shape,
							      &job->out->spec.shape, at_out)];
		if (job->post_count)
			want[at_out] = job->post->fn == TT_UNARY_RELU ? fmax(0, want[at_out])
								      : gelu(want[at_out]);
	}
	free(a);
	free(b);
	free(bias);
	return want;
}

/* As bk_check(), but beside the values that were added up. */
static void check_product(const struct tt_tensor *out, const double *want, const double *large)
{
	double *rounded = bk_rounded(&out->spec, want), *got = bk_read(out);
	double slack = bk_slack(out->spec.dtype), most = 0;
	uint64_t count = bk_volume(&out->spec.shape);

	for (uint64_t i = 0; i < count; i++)
		most = fmax(most, fabs(rounded[i]));
	for (uint64_t i = 0; i < count; i++) {
		double room =
			slack * (tt_dtype_is_block(out->spec.dtype) ? 1 + most : fabs(want[i])) +
			1e-6 * (1 + large[i]);

		if (fabs(got[i] - rounded[i]) <= room)
			continue;
		TEST_FAIL("element %llu is %.9g, not %.9g (%s)", (unsigned long long)i, got[i],
			  rounded[i], ttnn_dtype_name(out->spec.dtype, TTNN_DIALECT_SEED));
		break;
	}
	free(rounded);
	free(got);
}

/* ---- random products ---------------------------------------------------------------------------- */

static struct tt_tensor *some_tensor(const struct ttnn_shape *shape)
{
	enum ttnn_dtype dtype = bk_chance(8) ? TTNN_INT8 : bk_float_dtype();
	struct ttnn_tensor_spec spec = bk_spec(shape, dtype);

	return bk_random(&spec);
}

/* A side's shape: some batch dimensions are 1 or missing. */
static struct ttnn_shape side_shape(const struct ttnn_shape *batch, uint64_t height, uint64_t width)
{
	struct ttnn_shape shape = {0};
	uint32_t skip = bk_chance(3) ? (uint32_t)bk_below(batch->rank + 1) : 0;

	for (uint32_t d = skip; d < batch->rank; d++)
		shape.dim[shape.rank++] = bk_chance(4) ? 1 : batch->dim[d];
	shape.dim[shape.rank++] = (uint32_t)height;
	shape.dim[shape.rank++] = (uint32_t)width;
	return shape;
}

/* What the two sides' batches broadcast to. */
static struct ttnn_shape broadcast_batch(const struct ttnn_shape *a, const struct ttnn_shape *b)
{
	struct ttnn_shape batch = {.rank = (a->rank > b->rank ? a->rank : b->rank) - 2};

	for (uint32_t d = 0; d < batch.rank; d++) {
		uint32_t x = tt_shape_last(a, batch.rank - d + 2);
		uint32_t y = tt_shape_last(b, batch.rank - d + 2);

		batch.dim[d] = x > y ? x : y;
	}
	return batch;
}

static void one_product(void)
{
	static const uint64_t extents[] = {1, 2, 5, 16, 17, 31, 32, 33, 64, 97, 100, 130};
	static const struct tt_unary_step steps[] = {{.fn = TT_UNARY_RELU}, {.fn = TT_UNARY_GELU}};
	uint64_t size[3] = {extents[bk_below(12)], extents[bk_below(12)], extents[bk_below(12)]};
	struct ttnn_shape batch = bk_shape((uint32_t)bk_below(3)), sa, sb, out, bias;
	struct tt_matmul_job job = {
		.transpose_a = bk_chance(3),
		.transpose_b = bk_chance(3),
		.alpha = bk_chance(4) ? 0.5 : 1,
		.beta = bk_chance(4) ? -2 : 1,
		.post = &steps[bk_below(2)],
		.post_count = bk_chance(3),
	};
	struct ttnn_tensor_spec spec;
	double *want, *large;

	if (bk_chance(10))
		size[1] = 700; /* deeper than a block */
	for (uint32_t d = 0; d < batch.rank; d++)
		batch.dim[d] = 1 + (uint32_t)bk_below(3);
	sa = side_shape(&batch, size[job.transpose_a], size[!job.transpose_a]);
	sb = side_shape(&batch, size[job.transpose_b ? 2 : 1], size[job.transpose_b ? 1 : 2]);
	batch = broadcast_batch(&sa, &sb);
	out = batch;
	out.dim[out.rank++] = (uint32_t)size[0];
	out.dim[out.rank++] = (uint32_t)size[2];
	spec = bk_spec(&out, bk_float_dtype());
	job.out = bk_blank(&spec);
	job.a = some_tensor(&sa);
	job.b = some_tensor(&sb);
	if (bk_chance(2)) {
		bias = out;
		for (uint32_t d = 0; d < bias.rank; d++)
			if (bk_chance(2) || d + 2 == bias.rank)
				bias.dim[d] = 1;
		job.bias = some_tensor(&bias);
	}
	large = bk_new(bk_volume(&out));
	want = product(&job, &batch, size, large);
	CHECK_OK(tt_backend_cpu.matmul(&job));
	check_product(job.out, want, large);
	free(want);
	free(large);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.bias);
}

TEST(random_products_equal_three_loops)
{
	enum tt_isa best = tt_cpu_isa();

	for (int round = 0; round < 240; round++) {
		if (!tt_cpu_force_isa((enum tt_isa)(round % TT_ISA_COUNT)))
			continue;
		one_product();
	}
	CHECK(tt_cpu_force_isa(best));
}

/* ---- special ones --------------------------------------------------------------------------------- */

static struct tt_tensor *dense(const struct ttnn_shape *shape, enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype};
	struct ttnn_tensor_spec spec = {0};

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	return bk_random(&spec);
}

static tt_status run_matmul(void *context)
{
	return tt_backend_cpu.matmul(context);
}

/* The same for any number of threads; each instruction set by itself. */
TEST(threads_do_not_change_a_product)
{
	struct ttnn_shape left = TT_SHAPE(3, 70, 600), right = TT_SHAPE(600, 333);
	struct ttnn_shape shape = TT_SHAPE(3, 70, 333);
	struct tt_matmul_job job = {.alpha = 1, .beta = 1};
	enum tt_isa best = tt_cpu_isa();

	job.a = dense(&left, TTNN_FLOAT32);
	job.b = dense(&right, TTNN_BFLOAT16);
	job.out = dense(&shape, TTNN_FLOAT32);
	for (int isa = 0; isa < TT_ISA_COUNT; isa++) {
		double *first = NULL;

		if (!tt_cpu_force_isa((enum tt_isa)isa))
			continue;
		for (unsigned threads = 1; threads <= 5; threads += 2) {
			double *again;

			tt_pool_set_threads(threads);
			CHECK_OK(run_matmul(&job));
			again = bk_read(job.out);
			for (uint64_t i = 0; first && i < 3 * 70 * 333; i++)
				if (first[i] != again[i]) {
					TEST_FAIL("element %llu differs", (unsigned long long)i);
					break;
				}
			if (first)
				free(again);
			else
				first = again;
		}
		free(first);
	}
	tt_pool_set_threads(0);
	CHECK(tt_cpu_force_isa(best));
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.out);
}

TEST(an_output_may_be_an_input)
{
	struct ttnn_shape square = TT_SHAPE(40, 40);
	uint64_t size[3] = {40, 40, 40};
	struct tt_matmul_job job = {.alpha = 1, .beta = 1};
	struct ttnn_shape batch = {0};
	double *want, *large = bk_new(1600);

	job.a = dense(&square, TTNN_FLOAT32);
	job.b = dense(&square, TTNN_FLOAT32);
	job.out = job.a;
	want = product(&job, &batch, size, large);
	CHECK_OK(tt_backend_cpu.matmul(&job));
	check_product(job.out, want, large);
	free(want);
	free(large);
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
}

TEST(nothing_to_add_up_is_zero)
{
	struct ttnn_shape left = TT_SHAPE(3, 0), right = TT_SHAPE(0, 5), shape = TT_SHAPE(3, 5);
	struct tt_matmul_job job = {.alpha = 1, .beta = 1};
	double want[15] = {0};

	job.a = dense(&left, TTNN_FLOAT32);
	job.b = dense(&right, TTNN_FLOAT32);
	job.out = dense(&shape, TTNN_FLOAT32);
	CHECK_OK(tt_backend_cpu.matmul(&job));
	bk_check("empty", job.out, want, 0);
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.out);
}

/* The same with other numbers from element `from` up to `end`. */
static struct tt_tensor *filled(struct tt_tensor *tensor, uint64_t from, uint64_t end, double value)
{
	double *values = bk_read(tensor);
	struct tt_tensor *out;

	while (from < end)
		values[from++] = value;
	out = bk_tensor(&tensor->spec, values);
	ttnn_tensor_unref(tensor);
	free(values);
	return out;
}

/* They are not multiplied, but with an infinite weight they are no zeros. */
TEST(rows_of_zeros_are_zeros)
{
	enum { ROWS = 32, DEPTH = 600, COLS = 520 };
	static const uint64_t lives[] = {0, 1, 7, ROWS};
	struct ttnn_shape left = TT_SHAPE(ROWS, DEPTH), right = TT_SHAPE(DEPTH, COLS);
	struct ttnn_shape shape = TT_SHAPE(ROWS, COLS), batch = {0};
	uint64_t size[3] = {ROWS, DEPTH, COLS};

	for (uint32_t n = 0; n < 16; n++) {
		enum ttnn_dtype dtype = n & 1 ? TTNN_BFLOAT16 : TTNN_FLOAT32;
		struct tt_matmul_job job = {.alpha = 1, .beta = 1};
		double *want, *got, *large = bk_new(ROWS * COLS);
		uint64_t live = lives[n / 2 % 4];

		job.a = filled(dense(&left, dtype), live * DEPTH, ROWS * DEPTH, 0);
		job.b = filled(dense(&right, dtype), COLS - 1, COLS, n < 8 ? 1 : INFINITY);
		job.out = dense(&shape, TTNN_FLOAT32);
		CHECK_OK(tt_backend_cpu.matmul(&job));
		got = bk_read(job.out);
		for (uint64_t i = live; n >= 8 && i < ROWS; i++)
			CHECK(isnan(got[i * COLS + COLS - 1]) && got[i * COLS] == 0);
		if (n < 8) {
			want = product(&job, &batch, size, large);
			check_product(job.out, want, large);
			free(want);
		}
		free(got);
		free(large);
		ttnn_tensor_unref(job.a);
		ttnn_tensor_unref(job.b);
		ttnn_tensor_unref(job.out);
	}
}

TEST(shapes_that_do_not_fit_are_refused)
{
	struct ttnn_shape left = TT_SHAPE(3, 4), right = TT_SHAPE(5, 6), shape = TT_SHAPE(3, 6);
	struct tt_matmul_job job = {.alpha = 1, .beta = 1};

	job.a = dense(&left, TTNN_FLOAT32);
	job.b = dense(&right, TTNN_FLOAT32);
	job.out = dense(&shape, TTNN_FLOAT32);
	CHECK(tt_backend_cpu.matmul(&job) == TTNN_INTERNAL);
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.out);
}

/* ---- kept panels ---------------------------------------------------------------------------------- */

/* Weights on a device are packed once; when they change, so do the results. */
TEST(changed_weights_are_seen)
{
	struct ttnn_shape left = TT_SHAPE(7, 64), right = TT_SHAPE(64, 48), shape = TT_SHAPE(7, 48);
	struct ttnn_device_options options = {.profile = "n150"};
	struct ttnn_spec_args args = {.shape = right, .dtype = TTNN_BFLOAT16, .layout = TTNN_TILE};
	uint64_t size[3] = {7, 64, 48};
	struct tt_matmul_job job = {.alpha = 1, .beta = 1};
	struct ttnn_shape batch = {0};
	struct ttnn_tensor_spec spec;
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_mesh_open(&device, NULL, &options));
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	job.a = dense(&left, TTNN_FLOAT32);
	job.out = dense(&shape, TTNN_FLOAT32);
	CHECK_OK(tt_device_tensor_new(&job.b, device, &spec));
	for (uint64_t round = 0; round < 9; round++) {
		struct tt_tensor *on_device = job.b, *same = NULL;
		double *want, *large = bk_new(7 * 48);

		if (round % 3 == 0)
			CHECK_OK(tt_backend_cpu.random(&(struct tt_random_job){
				.out = job.b, .seed = round, .low = -1, .high = 1}));
		CHECK_OK(tt_backend_cpu.matmul(&job));
		CHECK_OK(tt_tensor_resident(&same, on_device, 0, TT_BUFFER_READ));
		job.b = same;
		want = product(&job, &batch, size, large);
		job.b = on_device;
		check_product(job.out, want, large);
		free(want);
		free(large);
		ttnn_tensor_unref(same);
	}
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.out);
	tt_weights_drop();
	ttnn_device_close(device);
	ttnn_device_unref(device);
}

/* A model with many weights finds all of them again: the second pass keeps what the first one asked for. */
TEST(many_weights_are_kept)
{
	enum { MANY = 200 };
	struct ttnn_shape left = TT_SHAPE(7, 64), right = TT_SHAPE(64, 48), shape = TT_SHAPE(7, 48);
	struct ttnn_device_options options = {.profile = "n150"};
	struct ttnn_spec_args args = {.shape = right, .dtype = TTNN_BFLOAT16, .layout = TTNN_TILE};
	struct tt_matmul_job job = {.alpha = 1, .beta = 1};
	struct tt_tensor *weights[MANY];
	struct ttnn_tensor_spec spec;
	ttnn_device *device = NULL;
	size_t before;

	tt_weights_drop();
	before = tt_weights_bytes();
	CHECK_OK(ttnn_mesh_open(&device, NULL, &options));
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	job.a = dense(&left, TTNN_FLOAT32);
	job.out = dense(&shape, TTNN_FLOAT32);
	for (uint32_t i = 0; i < MANY; i++) {
		CHECK_OK(tt_device_tensor_new(&weights[i], device, &spec));
		CHECK_OK(tt_backend_cpu.random(&(struct tt_random_job){
			.out = weights[i], .seed = i, .low = -1, .high = 1}));
	}
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < MANY; i++) {
			job.b = weights[i];
			CHECK_OK(tt_backend_cpu.matmul(&job));
		}
	CHECK(tt_weights_bytes() - before >= (size_t)MANY * 64 * 48 * 2);
	for (uint32_t i = 0; i < MANY; i++)
		ttnn_tensor_unref(weights[i]);
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.out);
	tt_weights_drop();
	ttnn_device_close(device);
	ttnn_device_unref(device);
}

/* ---- memory --------------------------------------------------------------------------------------- */

SCENARIO(running_out_of_memory)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(5, 40, 40), .layout = TTNN_TILE, .dtype = TTNN_BFLOAT8_B};
	struct tt_tensor *in[2] = {0}, *out = NULL;
	struct ttnn_tensor_spec spec;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	status = ttnn_tensor_new(&in[0], &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&in[1], &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&out, &spec);
	if (status == TTNN_OK)
		status = tt_backend_cpu.matmul(&(struct tt_matmul_job){
			.out = out, .a = in[0], .b = in[1], .bias = in[1], .alpha = 1, .beta = 2});
	ttnn_tensor_unref(in[0]);
	ttnn_tensor_unref(in[1]);
	ttnn_tensor_unref(out);
	return status;
}
