/*
 * test_backend_norm.c: normalisation and rotary positions, against loops over single elements in
 * float64. @threads
 */
#include "test.h"

#include "backend.h"

/* ---- normalisation: the reference ----------------------------------------------------------------- */

/* Which numbers are averaged together with element n: all with the same answer. */
static uint64_t family(const struct tt_norm_job *job, uint64_t n)
{
	const struct ttnn_shape *shape = &job->in->spec.shape;
	uint64_t width = shape->dim[shape->rank - 1], batch = n;

	if (job->kind != TT_NORM_GROUP)
		return n / width;
	for (uint32_t d = 1; d < shape->rank; d++)
		batch /= shape->dim[d];
	return (shape->rank > 1 ? batch : 0) * job->groups + n % width / (width / job->groups);
}

static double *norm_ref(const struct tt_norm_job *job)
{
	const struct ttnn_shape *shape = &job->in->spec.shape;
	uint64_t count = bk_volume(shape), width = shape->dim[shape->rank - 1];
	double *x = bk_read(job->in), *add = job->residual ? bk_read(job->residual) : NULL;
	double *gamma = job->gamma ? bk_read(job->gamma) : NULL;
	double *beta = job->beta ? bk_read(job->beta) : NULL;
	double *mean = bk_new(count + 1), *square = bk_new(count + 1), *number = bk_new(count + 1);
	double *given[2] = {NULL, NULL};

	if (job->kind == TT_NORM_BATCH) {
		given[0] = bk_read(job->mean);
		given[1] = bk_read(job->variance);
	}
	for (uint64_t n = 0; add && n < count; n++)
		x[n] = (double)((float)x[n] + (float)add[n]);
	for (uint64_t n = 0; n < count; n++) {
		mean[family(job, n)] += job->kind == TT_NORM_RMS ? 0 : x[n];
		number[family(job, n)]++;
	}
	for (uint64_t n = 0; n < count; n++) {
		uint64_t f = family(job, n);

		square[f] += pow(x[n] - mean[f] / number[f], 2);
	}
	for (uint64_t n = 0; n < count; n++) {
		uint64_t f = family(job, n), c = n % width;
		double m = mean[f] / number[f], v = square[f] / number[f];

		if (job->kind == TT_NORM_BATCH) {
			uint64_t index[TTNN_MAX_RANK];

			bk_unravel(index, shape, n);
			c = index[1];
			m = given[0][c];
			v = given[1][c];
		}
		x[n] = (x[n] - m) / sqrt(v + job->epsilon);
		x[n] = x[n] * (gamma ? gamma[c] : 1) + (beta ? beta[c] : 0);
		if (job->post_count)
			x[n] = fmax(x[n], 0);
	}
	free(add);
	free(gamma);
	free(beta);
	free(mean);
	free(square);
	free(number);
	free(given[0]);
	free(given[1]);
	return x;
}

/* ---- normalisation -------------------------------------------------------------------------------- */

/* A number for each channel, in one of the shapes that models have. */
static struct tt_tensor *vector(uint32_t channels, bool positive)
{
	struct ttnn_shape shape = TT_SHAPE(channels);
	struct ttnn_tensor_spec spec;
	struct tt_tensor *tensor;
	double *values = bk_new(channels + 32);

	switch (bk_below(3)) {
	case 0:
		shape = TT_SHAPE(1, 1, 1, channels);
		break;
	case 1:
		shape = TT_SHAPE(1, 1, (channels + 31) / 32, 32);
		break;
	default:
		break;
	}
	spec = bk_spec(&shape, bk_chance(2) ? TTNN_BFLOAT16 : TTNN_FLOAT32);
	for (uint64_t i = 0; i < bk_volume(&shape); i++)
		values[i] = positive ? fabs(bk_value(TTNN_FLOAT32)) + 0.1 : bk_value(TTNN_FLOAT32);
	tensor = bk_tensor(&spec, values);
	free(values);
	return tensor;
}

static void one_norm(enum tt_norm_kind kind)
{
	static const struct tt_unary_step relu = {.fn = TT_UNARY_RELU};
	static const uint32_t channels[] = {1, 8, 32, 40, 64, 96, 100, 320};
	struct tt_norm_job job = {
		.kind = kind, .epsilon = 1e-5, .post = &relu, .post_count = bk_chance(4)};
	struct ttnn_shape shape = bk_shape(1 + (uint32_t)bk_below(4));
	struct ttnn_tensor_spec from, to, other;
	uint32_t wide;
	double *want;

	if (kind == TT_NORM_GROUP) {
		shape = TT_SHAPE(1 + (uint32_t)bk_below(3), 1, 1 + (uint32_t)bk_below(70),
				 channels[bk_below(8)]);
		job.groups = shape.dim[3] % 8 || bk_chance(4) ? 1 : shape.dim[3] / 8;
	} else if (kind == TT_NORM_BATCH && shape.rank < 2) {
		shape = TT_SHAPE(3, 7);
	}
	wide = kind == TT_NORM_BATCH ? shape.dim[1] : shape.dim[shape.rank - 1];
	from = bk_spec(&shape, bk_float_dtype());
	to = bk_spec(&shape, bk_float_dtype());
	other = bk_spec(&shape, bk_float_dtype());
	job.in = bk_random(&from);
	job.out = bk_chance(4) ? ttnn_tensor_ref(job.in) : bk_blank(&to);
	if (kind <= TT_NORM_RMS && bk_chance(3))
		job.residual = bk_random(&other);
	if (bk_chance(2))
		job.gamma = vector(wide, false);
	if (bk_chance(2))
		job.beta = vector(wide, false);
	if (kind == TT_NORM_BATCH) {
		job.mean = vector(wide, false);
		job.variance = vector(wide, true);
	}
	want = norm_ref(&job);
	CHECK_OK(tt_backend_cpu.norm(&job));
	bk_check("norm", job.out, want, bk_slack(job.out->spec.dtype) * 2);
	free(want);
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(job.residual);
	ttnn_tensor_unref(job.gamma);
	ttnn_tensor_unref(job.beta);
	ttnn_tensor_unref(job.mean);
	ttnn_tensor_unref(job.variance);
}

TEST(random_normalisations_equal_the_reference)
{
	bk_state = 5;
	for (int round = 0; round < 240; round++)
		one_norm((enum tt_norm_kind)(round % 4));
}

TEST(a_mean_far_from_zero_keeps_its_digits)
{
	struct ttnn_shape shape = TT_SHAPE(4, 200);
	struct ttnn_spec_args args = {.shape = shape, .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec = {0};
	struct tt_norm_job job = {.kind = TT_NORM_LAYER, .epsilon = 1e-5};
	double values[800], *want;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	for (int i = 0; i < 800; i++)
		values[i] = 5000 + (double)bk_below(1000) / 256;
	job.in = bk_tensor(&spec, values);
	job.out = bk_blank(&spec);
	want = norm_ref(&job);
	CHECK_OK(tt_backend_cpu.norm(&job));
	bk_check("norm", job.out, want, 1e-6);
	free(want);
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
}

static tt_status run_norm(void *context)
{
	return tt_backend_cpu.norm(context);
}

TEST(threads_do_not_change_a_norm)
{
	struct ttnn_shape shape = TT_SHAPE(2, 1, 300, 96);

	for (int i = 0; i < 6; i++) {
		struct ttnn_tensor_spec from = bk_spec(&shape, TTNN_BFLOAT16);
		struct ttnn_tensor_spec to = bk_spec(&shape, TTNN_FLOAT32);
		struct tt_norm_job job = {
			.kind = (enum tt_norm_kind)(i % 3), .epsilon = 1e-5, .groups = 8};

		job.in = bk_random(&from);
		job.out = bk_blank(&to);
		bk_same_bits("norm", run_norm, &job, job.out);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
	}
}

TEST(groups_that_do_not_divide_the_channels_are_refused)
{
	struct ttnn_shape shape = TT_SHAPE(2, 10);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_FLOAT32);
	struct tt_norm_job job = {.kind = TT_NORM_GROUP, .groups = 3};

	job.in = bk_random(&spec);
	job.out = bk_blank(&spec);
	CHECK_FAILS(tt_backend_cpu.norm(&job), TTNN_INTERNAL, "10 channels in 3 groups");
	job.kind = TT_NORM_BATCH;
	CHECK_FAILS(tt_backend_cpu.norm(&job), TTNN_INTERNAL, "no statistics");
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
}

/* ---- rotary positions -------------------------------------------------------------------------------- */

static double transposed(const struct tt_rotary_job *job, const double *x, const double *matrix,
			 uint64_t n)
{
	uint64_t width = job->in->spec.shape.dim[job->in->spec.shape.rank - 1], c = n % width;
	uint64_t row = n - c, half = width / 2;
	double sum = 0;

	if (job->kind == TT_ROTARY_HALVES)
		return c < half ? -x[row + c + half] : x[row + c - half];
	if (job->kind == TT_ROTARY_PAIRS)
		return c % 2 ? x[n - 1] : -x[n + 1];
	for (uint64_t i = 0; i < 32; i++)
		sum += x[row + c / 32 * 32 + i] * matrix[i * 32 + c % 32];
	return sum;
}

/* The element of the angles that goes with element n. */
static uint64_t angle(const struct tt_rotary_job *job, const struct ttnn_shape *shape, uint64_t n)
{
	const struct ttnn_shape *in = &job->in->spec.shape;
	uint64_t index[TTNN_MAX_RANK], own[TTNN_MAX_RANK];

	bk_unravel(index, in, n);
	for (uint32_t d = 0; d < shape->rank; d++)
		own[d] = shape->dim[d] == 1 ? 0 : index[in->rank - shape->rank + d];
	if (job->same_row)
		own[shape->rank - 2] = job->start;
	else if (shape->dim[shape->rank - 2] > 1)
		own[shape->rank - 2] += job->start;
	return bk_ravel(shape, own);
}

static void one_rotary(void)
{
	static const uint32_t widths[] = {32, 64, 128};
	uint32_t width = widths[bk_below(3)], rows = 1 + (uint32_t)bk_below(40);
	struct ttnn_shape shape =
		TT_SHAPE(1 + (uint32_t)bk_below(2), 1 + (uint32_t)bk_below(4), rows, width);
	struct ttnn_shape angles = TT_SHAPE(1, bk_chance(2) ? shape.dim[1] : 1, rows + 8, width);
	struct ttnn_shape square = TT_SHAPE(1, 1, 32, 32);
	struct tt_rotary_job job = {.kind = (enum tt_rotary_kind)bk_below(3),
				    .start = (uint32_t)bk_below(8),
				    .same_row = bk_chance(4)};
	struct ttnn_tensor_spec from = bk_spec(&shape, bk_float_dtype());
	struct ttnn_tensor_spec to = bk_spec(&shape, bk_float_dtype()), spec;
	double *x, *cosine, *sine, *matrix, *want = bk_new(bk_volume(&shape));

	if (bk_chance(3)) {
		angles.dim[2] = 1;
		job.start = 0;
	}
	spec = bk_spec(&angles, TTNN_BFLOAT16);
	job.in = bk_random(&from);
	job.out = bk_chance(4) ? ttnn_tensor_ref(job.in) : bk_blank(&to);
	job.cos = bk_random(&spec);
	job.sin = bk_random(&spec);
	spec = bk_spec(&square, TTNN_BFLOAT16);
	job.matrix = bk_random(&spec);
	x = bk_read(job.in);
	cosine = bk_read(job.cos);
	sine = bk_read(job.sin);
	matrix = bk_read(job.matrix);
	for (uint64_t n = 0; n < bk_volume(&shape); n++) {
		uint64_t a = angle(&job, &angles, n);

		want[n] = x[n] * cosine[a] + transposed(&job, x, matrix, n) * sine[a];
	}
	CHECK_OK(tt_backend_cpu.rotary(&job));
	bk_check("rotary", job.out, want, 16 * bk_slack(job.out->spec.dtype));
	free(x);
	free(cosine);
	free(sine);
	free(matrix);
	free(want);
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(job.cos);
	ttnn_tensor_unref(job.sin);
	ttnn_tensor_unref(job.matrix);
}

TEST(random_rotations_equal_the_reference)
{
	bk_state = 6;
	for (int round = 0; round < 120; round++)
		one_rotary();
}

TEST(angles_that_are_too_few_are_refused)
{
	struct ttnn_shape shape = TT_SHAPE(8, 32), angles = TT_SHAPE(4, 32);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_FLOAT32);
	struct ttnn_tensor_spec few = bk_spec(&angles, TTNN_FLOAT32);
	struct tt_rotary_job job = {.kind = TT_ROTARY_PAIRS};

	job.in = bk_random(&spec);
	job.out = bk_blank(&spec);
	job.cos = bk_random(&few);
	job.sin = ttnn_tensor_ref(job.cos);
	CHECK_FAILS(tt_backend_cpu.rotary(&job), TTNN_INTERNAL, "angles that do not fit");
	job.same_row = true;
	CHECK_OK(tt_backend_cpu.rotary(&job));
	job.start = 4;
	CHECK_FAILS(tt_backend_cpu.rotary(&job), TTNN_INTERNAL, "angles that do not fit");
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(job.cos);
	ttnn_tensor_unref(job.sin);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static tt_status all_jobs(struct tt_tensor *in, struct tt_tensor *out)
{
	for (int kind = 0; kind < 3; kind++)
		TT_TRY(tt_backend_cpu.norm(&(struct tt_norm_job){.out = out,
								 .in = in,
								 .gamma = in,
								 .kind = (enum tt_norm_kind)kind,
								 .groups = 2}));
	return tt_backend_cpu.rotary(&(struct tt_rotary_job){
		.out = out, .in = in, .cos = in, .sin = in, .kind = TT_ROTARY_PAIRS});
}

SCENARIO(running_out_of_memory)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(40, 64), .layout = TTNN_TILE, .dtype = TTNN_BFLOAT8_B};
	struct tt_tensor *in = NULL, *out = NULL;
	struct ttnn_tensor_spec spec;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	status = ttnn_tensor_new(&in, &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&out, &spec);
	if (status == TTNN_OK)
		status = all_jobs(in, out);
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
	return status;
}
