/*
 * test_backend_reduce.c: reductions over any dimensions, running sums and softmax, against loops over
 * single elements in long double. @threads
 */
#include "test.h"

#include "backend.h"

/* ---- the reference ------------------------------------------------------------------------------ */

/* The shape with the dimensions in `dims` set to 1. */
static struct ttnn_shape reduced(const struct ttnn_shape *shape, uint32_t dims)
{
	struct ttnn_shape out = *shape;

	for (uint32_t d = 0; d < shape->rank; d++)
		if (dims >> d & 1)
			out.dim[d] = 1;
	return out;
}

struct sum {
	long double add, mul, max, min, squares;
	uint64_t count;
	bool nan;
};

static double result(const struct sum *sum, const struct tt_reduce_job *job)
{
	long double mean = sum->add / sum->count;
	long double variance = sum->squares / fmax(0, (double)sum->count - job->correction);

	switch (job->kind) {
	case TT_REDUCE_SUM:
		return (double)sum->add * job->scale;
	case TT_REDUCE_MEAN:
		return (double)mean * job->scale;
	case TT_REDUCE_MAX:
		return sum->nan ? NAN : (double)sum->max * job->scale;
	case TT_REDUCE_MIN:
		return sum->nan ? NAN : (double)sum->min * job->scale;
	case TT_REDUCE_PROD:
		return (double)sum->mul * job->scale;
	case TT_REDUCE_VAR:
		return (double)variance * job->scale;
	default:
		return (double)sqrtl(variance) * job->scale;
	}
}

static double *reduce_ref(const struct tt_reduce_job *job, const double *in)
{
	const struct ttnn_shape *shape = &job->in->spec.shape;
	struct ttnn_shape out = reduced(shape, job->dims);
	uint64_t count = bk_volume(shape), results = bk_volume(&out);
	struct sum *sums = calloc(results + 1, sizeof(*sums));
	double *want = bk_new(results);

	for (uint64_t i = 0; i < results; i++)
		sums[i] = (struct sum){.mul = 1, .max = -INFINITY, .min = INFINITY};
	for (uint64_t n = 0; n < count; n++) {
		struct sum *sum = &sums[bk_broadcast(&out, shape, n)];

		sum->add += in[n];
		sum->mul *= in[n];
		sum->max = in[n] > sum->max ? in[n] : sum->max;
		sum->min = in[n] < sum->min ? in[n] : sum->min;
		sum->nan |= isnan(in[n]);
		sum->count++;
	}
	for (uint64_t n = 0; n < count; n++) {
		struct sum *sum = &sums[bk_broadcast(&out, shape, n)];
		long double apart = in[n] - sum->add / sum->count;

		sum->squares += apart * apart;
	}
	for (uint64_t i = 0; i < results; i++)
		want[i] = result(&sums[i], job);
	free(sums);
	return want;
}

/* ---- reductions ----------------------------------------------------------------------------------- */

static void check_reduce(struct tt_reduce_job *job, double slack)
{
	double *values = bk_read(job->in), *want = reduce_ref(job, values);

	CHECK_OK(tt_backend_cpu.reduce(job));
	bk_check("reduce", job->out, want, slack);
	free(values);
	free(want);
}

static void random_reduce(const struct ttnn_shape *shape, uint32_t dims)
{
	bool whole = bk_chance(3);
	struct ttnn_shape out = reduced(shape, dims);
	struct ttnn_tensor_spec from = bk_spec(shape, whole ? TTNN_INT8 : bk_float_dtype()), to;
	struct tt_reduce_job job = {.dims = dims, .scale = 1, .correction = bk_chance(2)};

	job.kind = (enum tt_reduce_kind)bk_below(whole ? 5 : 7);
	if (whole && job.kind == TT_REDUCE_PROD)
		job.kind = TT_REDUCE_MAX;
	if (bk_chance(3))
		job.scale = 0.5;
	to = bk_spec(&out, whole && job.kind != TT_REDUCE_MEAN && job.scale == 1
				   ? TTNN_INT32
				   : bk_float_dtype());
	/* Whole numbers times a half are cut; this test has only even ones then. */
	if (whole && job.scale != 1)
		job.scale = 2;
	job.in = bk_random(&from);
	job.out = bk_blank(&to);
	check_reduce(&job, 2e-7);
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
}

TEST(random_reductions_equal_the_reference)
{
	bk_state = 31;
	for (int i = 0; i < 700 && !test_failures; i++) {
		struct ttnn_shape shape = bk_shape((uint32_t)bk_below(6));

		random_reduce(&shape, (uint32_t)bk_below(1u << shape.rank));
		if (test_failures)
			fprintf(stderr, "in case %d\n", i);
	}
}

/* More columns and rows than a piece of work has, and long sums. */
TEST(large_reductions)
{
	static const struct ttnn_shape shapes[] = {{2, {3, 5000}},    {2, {5000, 3}},
						   {2, {700, 1100}},  {3, {40, 5, 700}},
						   {3, {2, 3000, 5}}, {1, {70000}}};

	bk_state = 32;
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
		for (uint32_t dims = 0; dims < 1u << shapes[k].rank && !test_failures; dims++)
			random_reduce(&shapes[k], dims);
}

TEST(long_sums_stay_exact)
{
	struct ttnn_shape shape = TT_SHAPE(1000, 1000), one = TT_SHAPE(1, 1);
	struct ttnn_spec_args args = {.shape = shape, .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec from, to;
	struct tt_reduce_job job = {.kind = TT_REDUCE_SUM, .dims = 3, .scale = 1};
	double *values = bk_new(1000000), got, *read;

	for (int i = 0; i < 1000000; i++)
		values[i] = i % 2 ? 0.1f : 16777216.0;
	CHECK_OK(ttnn_tensor_spec_make(&from, &args));
	args.shape = one;
	CHECK_OK(ttnn_tensor_spec_make(&to, &args));
	job.in = bk_tensor(&from, values);
	job.out = bk_blank(&to);
	CHECK_OK(tt_backend_cpu.reduce(&job));
	read = bk_read(job.out);
	got = read[0];
	CHECK(got == (float)(500000 * 16777216.0 + 500000 * (double)0.1f));
	free(values);
	free(read);
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
}

/* A mean far from zero must not eat the variance. */
TEST(variances_do_not_cancel)
{
	struct ttnn_shape shape = TT_SHAPE(70, 900);

	for (uint32_t dims = 1; dims < 4; dims++) {
		struct ttnn_shape out = reduced(&shape, dims);
		struct ttnn_spec_args args = {.shape = shape, .dtype = TTNN_FLOAT32};
		struct ttnn_tensor_spec from, to;
		struct tt_reduce_job job = {
			.kind = TT_REDUCE_VAR, .dims = dims, .scale = 1, .correction = 1};
		double *values = bk_new(63000);

		for (int i = 0; i < 63000; i++)
			values[i] = 1e6 + (double)bk_below(16);
		CHECK_OK(ttnn_tensor_spec_make(&from, &args));
		args.shape = out;
		CHECK_OK(ttnn_tensor_spec_make(&to, &args));
		job.in = bk_tensor(&from, values);
		job.out = bk_blank(&to);
		check_reduce(&job, 1e-7);
		free(values);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
	}
}

TEST(maxima_keep_nan)
{
	struct ttnn_shape shape = TT_SHAPE(40, 100);

	bk_state = 33;
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t dims = 1 + i % 3;
		struct ttnn_shape out = reduced(&shape, dims);
		struct ttnn_tensor_spec from = bk_spec(&shape, TTNN_BFLOAT16);
		struct ttnn_tensor_spec to = bk_spec(&out, TTNN_FLOAT32);
		struct tt_reduce_job job = {.dims = dims, .scale = 1};
		double *values = bk_new(4000);

		job.kind = i % 2 ? TT_REDUCE_MAX : TT_REDUCE_MIN;
		for (int k = 0; k < 4000; k++)
			values[k] = bk_chance(100) ? NAN : bk_value(TTNN_FLOAT32);
		job.in = bk_tensor(&from, values);
		job.out = bk_blank(&to);
		check_reduce(&job, 0);
		free(values);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
	}
}

/* The output may drop dimensions: only the order of its elements counts. */
TEST(dimensions_can_be_dropped)
{
	struct ttnn_shape shape = TT_SHAPE(4, 33, 50), out = TT_SHAPE(4, 50);
	struct ttnn_tensor_spec from = bk_spec(&shape, TTNN_FLOAT32),
				to = bk_spec(&out, TTNN_FLOAT32);
	struct tt_reduce_job job = {.kind = TT_REDUCE_SUM, .dims = 2, .scale = 1};

	job.in = bk_random(&from);
	job.out = bk_blank(&to);
	check_reduce(&job, 2e-7);
	job.dims = 1;
	CHECK_FAILS(tt_backend_cpu.reduce(&job), TTNN_INTERNAL, "1650 elements, not 200");
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
}

TEST(integers_wrap)
{
	struct ttnn_shape shape = TT_SHAPE(3, 2), one = TT_SHAPE(1, 1);
	struct ttnn_tensor_spec from = bk_spec(&shape, TTNN_UINT32),
				to = bk_spec(&one, TTNN_UINT32);
	const double values[] = {4294967295.0, 2, 3, 1e9, 7, 11};
	struct tt_reduce_job job = {.kind = TT_REDUCE_PROD, .dims = 3, .scale = 1};
	double *got;

	job.in = bk_tensor(&from, values);
	job.out = bk_blank(&to);
	CHECK_OK(tt_backend_cpu.reduce(&job));
	got = bk_read(job.out);
	CHECK(got[0] == (double)(uint32_t)(4294967295u * 2u * 3u * 1000000000u * 7u * 11u));
	free(got);
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
}

static tt_status run_reduce(void *context)
{
	return tt_backend_cpu.reduce(context);
}

TEST(threads_do_not_change_reductions)
{
	struct ttnn_shape shape = TT_SHAPE(5, 300, 700);

	bk_state = 34;
	for (uint32_t dims = 0; dims < 8; dims++) {
		struct ttnn_shape out = reduced(&shape, dims);
		struct ttnn_tensor_spec from = bk_spec(&shape, TTNN_BFLOAT16);
		struct ttnn_tensor_spec to = bk_spec(&out, TTNN_FLOAT32);
		struct tt_reduce_job job = {
			.kind = dims % 2 ? TT_REDUCE_SUM : TT_REDUCE_VAR, .dims = dims, .scale = 1};

		job.in = bk_random(&from);
		job.out = bk_blank(&to);
		bk_same_bits("reduce", run_reduce, &job, job.out);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
	}
}

/* ---- running sums -------------------------------------------------------------------------------- */

/* The number of element `along` of the line through n along dim. */
static uint64_t on_line(const struct ttnn_shape *shape, uint64_t n, uint32_t dim, uint64_t along)
{
	uint64_t index[TTNN_MAX_RANK];

	bk_unravel(index, shape, n);
	index[dim] = along;
	return bk_ravel(shape, index);
}

static uint64_t index_of(const struct ttnn_shape *shape, uint64_t n, uint32_t dim)
{
	uint64_t index[TTNN_MAX_RANK];

	bk_unravel(index, shape, n);
	return index[dim];
}

static double scan_ref(const struct tt_scan_job *job, const double *in, uint64_t n)
{
	const struct ttnn_shape *shape = &job->in->spec.shape;
	uint64_t here = index_of(shape, n, job->dim), extent = shape->dim[job->dim];
	uint64_t from = job->reverse ? here : 0, to = job->reverse ? extent : here + 1;
	long double sum = job->product;

	for (uint64_t k = from; k < to; k++) {
		double x = in[on_line(shape, n, job->dim, k)];

		sum = job->product ? sum * x : sum + x;
	}
	return (double)sum;
}

TEST(random_running_sums_equal_the_reference)
{
	bk_state = 35;
	for (int i = 0; i < 300 && !test_failures; i++) {
		bool whole = bk_chance(3);
		struct ttnn_shape shape = bk_shape(1 + (uint32_t)bk_below(4));
		struct ttnn_tensor_spec from =
			bk_spec(&shape, whole ? TTNN_INT8 : bk_float_dtype());
		struct ttnn_tensor_spec to = bk_spec(&shape, whole ? TTNN_INT32 : bk_float_dtype());
		struct tt_scan_job job = {.dim = (uint32_t)bk_below(shape.rank),
					  .product = !whole && bk_chance(3),
					  .reverse = bk_chance(2)};
		double *values, *want = bk_new(bk_volume(&shape));

		job.in = bk_random(&from);
		job.out = bk_blank(&to);
		values = bk_read(job.in);
		for (uint64_t n = 0; n < bk_volume(&shape); n++)
			want[n] = scan_ref(&job, values, n);
		CHECK_OK(tt_backend_cpu.scan(&job));
		bk_check("scan", job.out, want, whole ? 0 : 2e-7 + bk_slack(to.dtype) / 64);
		free(values);
		free(want);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
	}
}

TEST(integer_products_wrap)
{
	struct ttnn_shape shape = TT_SHAPE(5);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_INT32);
	const double values[] = {100000, 100000, -3, 7, 11};
	uint32_t product = 1;
	double want[5];
	struct tt_scan_job job = {.product = true};

	for (int i = 0; i < 5; i++) {
		product *= (uint32_t)(int32_t)values[i];
		want[i] = (int32_t)product;
	}
	job.in = bk_tensor(&spec, values);
	job.out = bk_blank(&spec);
	CHECK_OK(tt_backend_cpu.scan(&job));
	bk_check("products", job.out, want, 0);
	job.dim = 1;
	CHECK_FAILS(tt_backend_cpu.scan(&job), TTNN_INTERNAL, "dimension 1 of 1");
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
}

/* ---- softmax --------------------------------------------------------------------------------------- */

static double masked(const struct tt_softmax_job *job, const double *in, const double *mask,
		     uint64_t n)
{
	const struct ttnn_shape *shape = &job->in->spec.shape;
	double x = in[n] * job->scale;

	if (mask)
		x += mask[bk_broadcast(&job->mask->spec.shape, shape, n)];
	if (job->causal) {
		int64_t height = shape->rank > 1 ? shape->dim[shape->rank - 2] : 1;
		int64_t i = shape->rank > 1 ? (int64_t)index_of(shape, n, shape->rank - 2) : 0;
		int64_t j = (int64_t)index_of(shape, n, shape->rank - 1);

		if (j > i + (int64_t)shape->dim[shape->rank - 1] - height)
			return -INFINITY;
	}
	return x;
}

static double softmax_ref(const struct tt_softmax_job *job, const double *in, const double *mask,
			  uint64_t n)
{
	const struct ttnn_shape *shape = &job->in->spec.shape;
	double most = -INFINITY, sum = 0, x = masked(job, in, mask, n);

	for (uint64_t k = 0; k < shape->dim[job->dim]; k++)
		most = fmax(most, masked(job, in, mask, on_line(shape, n, job->dim, k)));
	for (uint64_t k = 0; k < shape->dim[job->dim]; k++)
		sum += exp(masked(job, in, mask, on_line(shape, n, job->dim, k)) - most);
	return job->log ? x - most - log(sum) : exp(x - most) / sum;
}

/* A mask that can be broadcast to the shape: zeros, and numbers that take elements away. */
static struct tt_tensor *random_mask(const struct ttnn_shape *shape)
{
	struct ttnn_shape own = *shape;
	struct ttnn_tensor_spec spec;
	struct tt_tensor *mask;
	double *values;

	for (uint32_t d = 0; d < own.rank; d++)
		if (bk_chance(3))
			own.dim[d] = 1;
	if (own.rank > 1 && bk_chance(3))
		memmove(own.dim, own.dim + 1, --own.rank * sizeof(own.dim[0]));
	spec = bk_spec(&own, bk_chance(2) ? TTNN_BFLOAT16 : TTNN_FLOAT32);
	values = bk_new(bk_volume(&own));
	for (uint64_t i = 0; i < bk_volume(&own); i++)
		values[i] = bk_chance(3) ? -50 : 0;
	mask = bk_tensor(&spec, values);
	free(values);
	return mask;
}

TEST(random_softmaxes_equal_the_reference)
{
	bk_state = 36;
	for (int i = 0; i < 300 && !test_failures; i++) {
		struct ttnn_shape shape = bk_shape(1 + (uint32_t)bk_below(4));
		struct ttnn_tensor_spec from = bk_spec(&shape, bk_float_dtype());
		struct ttnn_tensor_spec to = bk_spec(&shape, bk_float_dtype());
		struct tt_softmax_job job = {.dim = bk_chance(2) ? shape.rank - 1
								 : (uint32_t)bk_below(shape.rank),
					     .scale = bk_chance(2) ? 1 : 0.25,
					     .stable = bk_chance(2),
					     .log = bk_chance(3)};
		double *values, *mask = NULL, *want = bk_new(bk_volume(&shape));

		/* Rows of a causal one have to keep something. */
		job.causal =
			job.dim + 1 == shape.rank && bk_chance(3) &&
			(shape.rank < 2 || shape.dim[shape.rank - 2] <= shape.dim[shape.rank - 1]);
		job.in = bk_random(&from);
		job.out = bk_chance(4) ? ttnn_tensor_ref(job.in) : bk_blank(&to);
		values = bk_read(job.in);
		if (bk_chance(2)) {
			job.mask = random_mask(&shape);
			mask = bk_read(job.mask);
		}
		for (uint64_t n = 0; n < bk_volume(&shape); n++)
			want[n] = softmax_ref(&job, values, mask, n);
		CHECK_OK(tt_backend_cpu.softmax(&job));
		if (!bk_check("softmax", job.out, want, 2e-6 + bk_slack(job.out->spec.dtype) / 2))
			fprintf(stderr, "in case %d: dim %u of %u, log %d, causal %d, mask %d\n", i,
				job.dim, shape.rank, job.log, job.causal, mask != NULL);
		free(values);
		free(mask);
		free(want);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
		ttnn_tensor_unref(job.mask);
	}
}

/* What overflows without the maximum taken away does not with it. */
TEST(stable_softmax_does_not_overflow)
{
	struct ttnn_shape shape = TT_SHAPE(1, 3);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_FLOAT32);
	const double values[] = {1000, 1000, -1000}, want[] = {0.5, 0.5, 0};
	struct tt_softmax_job job = {.dim = 1, .scale = 1, .stable = true};
	double *got;

	job.in = bk_tensor(&spec, values);
	job.out = bk_blank(&spec);
	CHECK_OK(tt_backend_cpu.softmax(&job));
	bk_check("stable", job.out, want, 0);
	job.stable = false;
	CHECK_OK(tt_backend_cpu.softmax(&job));
	got = bk_read(job.out);
	CHECK(isnan(got[0]));
	free(got);
	job.dim = 2;
	CHECK_FAILS(tt_backend_cpu.softmax(&job), TTNN_INTERNAL, "dimension 2 of 2");
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
}

static tt_status run_softmax(void *context)
{
	return tt_backend_cpu.softmax(context);
}

static tt_status run_scan(void *context)
{
	return tt_backend_cpu.scan(context);
}

TEST(threads_change_neither_softmax_nor_scan)
{
	struct ttnn_shape shape = TT_SHAPE(3, 200, 300);

	bk_state = 37;
	for (uint32_t i = 0; i < 6; i++) {
		struct ttnn_tensor_spec from = bk_spec(&shape, TTNN_BFLOAT16);
		struct ttnn_tensor_spec to = bk_spec(&shape, TTNN_FLOAT32);
		struct tt_tensor *in = bk_random(&from), *out = bk_blank(&to);
		struct tt_softmax_job softmax = {
			.out = out, .in = in, .dim = i % 3, .scale = 1, .stable = true};
		struct tt_scan_job scan = {.out = out, .in = in, .dim = i % 3};

		bk_same_bits("softmax", run_softmax, &softmax, out);
		bk_same_bits("scan", run_scan, &scan, out);
		ttnn_tensor_unref(in);
		ttnn_tensor_unref(out);
	}
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static tt_status all_jobs(struct tt_tensor *in, struct tt_tensor *out, struct tt_tensor *mask)
{
	struct tt_reduce_job reduce = {.out = mask, .in = in, .kind = TT_REDUCE_VAR, .scale = 1};

	for (uint32_t dim = 0; dim < 2; dim++) {
		TT_TRY(tt_backend_cpu.softmax(&(struct tt_softmax_job){
			.out = out, .in = in, .mask = mask, .dim = dim, .scale = 1}));
		TT_TRY(tt_backend_cpu.scan(
			&(struct tt_scan_job){.out = out, .in = in, .dim = dim}));
	}
	reduce.dims = 2;
	TT_TRY(tt_backend_cpu.reduce(&reduce));
	reduce.out = out;
	reduce.dims = 0;
	return tt_backend_cpu.reduce(&reduce);
}

SCENARIO(running_out_of_memory)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(100, 50), .layout = TTNN_TILE, .dtype = TTNN_BFLOAT8_B};
	struct tt_tensor *in = NULL, *out = NULL, *mask = NULL;
	struct ttnn_tensor_spec spec, small;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	args.shape = TT_SHAPE(100, 1);
	TT_TRY(ttnn_tensor_spec_make(&small, &args));
	status = ttnn_tensor_new(&in, &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&out, &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&mask, &small);
	if (status == TTNN_OK)
		status = all_jobs(in, out, mask);
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(mask);
	return status;
}
