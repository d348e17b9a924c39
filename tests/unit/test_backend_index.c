/*
 * test_backend_index.c: sorting, indexing and random numbers: against slow ways to do the same, and
 * against what the numbers have to look like.
 */
#include "test.h"

#include "backend.h"

/* ---- sorting ------------------------------------------------------------------------------------- */

static uint64_t on_line(const struct ttnn_shape *shape, uint64_t n, uint32_t dim, uint64_t along)
{
	uint64_t index[TTNN_MAX_RANK];

	bk_unravel(index, shape, n);
	index[dim] = along;
	return bk_ravel(shape, index);
}

/* Whether a comes before b in order; NaN is the largest. */
static bool before(double a, double b, bool descending)
{
	if (isnan(a) || isnan(b))
		return descending ? isnan(a) && !isnan(b) : isnan(b) && !isnan(a);
	return descending ? a > b : a < b;
}

/* How many elements of its line come before element n, or are equal and stand before it. */
static uint64_t rank_of(const struct tt_sort_job *job, const double *in, uint64_t n)
{
	const struct ttnn_shape *shape = &job->in->spec.shape;
	uint64_t index[TTNN_MAX_RANK], rank = 0, step, first;

	bk_unravel(index, shape, n);
	first = on_line(shape, n, job->dim, 0);
	step = shape->dim[job->dim] > 1 ? on_line(shape, n, job->dim, 1) - first : 0;
	for (uint64_t m = 0; m < shape->dim[job->dim]; m++) {
		double other = in[first + m * step];

		rank += before(other, in[n], job->descending) ||
			(m < index[job->dim] && !before(in[n], other, job->descending));
	}
	return rank;
}

/* Few different values, so that many are equal. */
static struct tt_tensor *repetitive(const struct ttnn_tensor_spec *spec)
{
	double *values = bk_new(bk_volume(&spec->shape));
	bool whole = tt_dtype_is_integer(spec->dtype), fine = bk_chance(2);
	bool is_signed = tt_dtype_find(spec->dtype)->kind == TT_DTYPE_SIGNED;
	struct tt_tensor *tensor;

	for (uint64_t i = 0; i < bk_volume(&spec->shape); i++) {
		values[i] = fine ? bk_value(spec->dtype) : (double)bk_below(5);
		if (!fine && (is_signed || !whole))
			values[i] -= 2;
		if (!whole && !fine && bk_chance(10) && spec->dtype == TTNN_FLOAT32)
			values[i] = bk_chance(2) ? NAN : -0.0;
	}
	tensor = bk_tensor(spec, values);
	free(values);
	return tensor;
}

static void check_sort(struct tt_sort_job *job)
{
	struct ttnn_shape out = job->in->spec.shape;
	double *in = bk_read(job->in), *values, *indices;
	uint64_t count;

	out.dim[job->dim] = (uint32_t)job->count;
	count = bk_volume(&out);
	values = bk_new(count);
	indices = bk_new(count);
	for (uint64_t n = 0; count && n < bk_volume(&job->in->spec.shape); n++) {
		uint64_t index[TTNN_MAX_RANK], rank = rank_of(job, in, n), along, to;

		if (rank >= job->count)
			continue;
		bk_unravel(index, &job->in->spec.shape, n);
		along = index[job->dim];
		index[job->dim] = rank;
		to = bk_ravel(&out, index);
		indices[to] = (double)along;
		values[to] = in[n];
	}
	CHECK_OK(tt_backend_cpu.sort(job));
	if (job->values)
		bk_check("values", job->values, values, 0);
	if (job->indices)
		bk_check("indices", job->indices, indices, 0);
	free(in);
	free(values);
	free(indices);
}

TEST(random_sorts_equal_the_reference)
{
	bk_state = 41;
	for (int i = 0; i < 250 && !test_failures; i++) {
		struct ttnn_shape shape = bk_shape(1 + (uint32_t)bk_below(3)), out = shape;
		enum ttnn_dtype dtype = bk_chance(3) ? bk_int_dtype() : bk_float_dtype();
		struct ttnn_tensor_spec from = bk_spec(&shape, dtype), to, at;
		struct tt_sort_job job = {.dim = (uint32_t)bk_below(shape.rank),
					  .descending = bk_chance(2)};

		job.count = bk_below(out.dim[job.dim] + 1ull);
		if (bk_chance(3))
			job.count = out.dim[job.dim];
		out.dim[job.dim] = (uint32_t)job.count;
		to = bk_spec(&out, dtype);
		at = bk_spec(&out, bk_chance(2) ? TTNN_UINT16 : TTNN_UINT32);
		job.in = repetitive(&from);
		job.values = bk_chance(4) ? NULL : bk_blank(&to);
		job.indices = bk_chance(4) ? NULL : bk_blank(&at);
		check_sort(&job);
		if (test_failures)
			fprintf(stderr, "in case %d: %u of %u, count %llu\n", i, job.dim,
				shape.rank, (unsigned long long)job.count);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.values);
		ttnn_tensor_unref(job.indices);
	}
}

/* Rows long enough for every way to sort. */
TEST(long_rows_are_sorted)
{
	static const uint64_t counts[] = {1, 3, 30, 700};
	struct ttnn_shape shape = TT_SHAPE(2, 700);

	bk_state = 42;
	for (int i = 0; i < 16; i++) {
		enum ttnn_dtype dtype = i < 8 ? TTNN_FLOAT32 : TTNN_INT32;
		struct ttnn_shape out = TT_SHAPE(2, (uint32_t)counts[i % 4]);
		struct ttnn_tensor_spec from = bk_spec(&shape, dtype), to = bk_spec(&out, dtype);
		struct ttnn_tensor_spec at = bk_spec(&out, TTNN_UINT32);
		struct tt_sort_job job = {
			.dim = 1, .count = counts[i % 4], .descending = i % 8 < 4};

		job.in = repetitive(&from);
		job.values = bk_blank(&to);
		job.indices = bk_blank(&at);
		check_sort(&job);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.values);
		ttnn_tensor_unref(job.indices);
	}
}

TEST(sorts_that_do_not_fit_are_refused)
{
	struct ttnn_shape shape = TT_SHAPE(3, 4);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_FLOAT32);
	struct tt_tensor *in = bk_random(&spec), *out = bk_blank(&spec);
	struct tt_sort_job job = {.in = in, .values = out, .dim = 1, .count = 5};

	CHECK_FAILS(tt_backend_cpu.sort(&job), TTNN_INTERNAL, "no 5 elements");
	job.count = 3;
	CHECK_FAILS(tt_backend_cpu.sort(&job), TTNN_INTERNAL, "another shape");
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
}

/* ---- indexing ------------------------------------------------------------------------------------- */

/* Indices below `limit`, as a tensor of this shape. */
static struct tt_tensor *random_indices(const struct ttnn_shape *shape, uint32_t limit)
{
	struct ttnn_tensor_spec spec = bk_spec(shape, bk_chance(2) ? TTNN_UINT32 : TTNN_UINT16);
	double *values = bk_new(bk_volume(shape));
	struct tt_tensor *tensor;

	for (uint64_t i = 0; i < bk_volume(shape); i++)
		values[i] = (double)bk_below(limit);
	tensor = bk_tensor(&spec, values);
	free(values);
	return tensor;
}

/* A shape without zeros, and another that is smaller, but along dim of any size. */
static void two_shapes(struct ttnn_shape *shape, struct ttnn_shape *other, uint32_t *dim)
{
	do
		*shape = bk_shape(1 + (uint32_t)bk_below(3));
	while (bk_volume(shape) == 0);
	*other = *shape;
	*dim = (uint32_t)bk_below(shape->rank);
	for (uint32_t d = 0; d < shape->rank; d++)
		if (d == *dim || bk_chance(3))
			other->dim[d] = 1 + (uint32_t)bk_below(shape->dim[d]);
}

TEST(random_gathers_equal_the_reference)
{
	bk_state = 43;
	for (int i = 0; i < 250 && !test_failures; i++) {
		struct tt_index_job job = {.kind = TT_INDEX_GATHER};
		enum ttnn_dtype dtype = bk_chance(3) ? bk_int_dtype() : bk_float_dtype();
		struct ttnn_shape shape, chosen;
		struct ttnn_tensor_spec from, to;
		double *in, *index, *want;

		two_shapes(&shape, &chosen, &job.dim);
		from = bk_spec(&shape, dtype);
		to = bk_spec(&chosen, dtype);
		job.in = bk_random(&from);
		job.out = bk_blank(&to);
		job.index = random_indices(&chosen, shape.dim[job.dim]);
		in = bk_read(job.in);
		index = bk_read(job.index);
		want = bk_new(bk_volume(&chosen));
		for (uint64_t n = 0; n < bk_volume(&chosen); n++) {
			uint64_t at[TTNN_MAX_RANK];

			bk_unravel(at, &chosen, n);
			at[job.dim] = (uint64_t)index[n];
			want[n] = in[bk_ravel(&shape, at)];
		}
		CHECK_OK(tt_backend_cpu.index(&job));
		bk_check("gather", job.out, want, 0);
		free(in);
		free(index);
		free(want);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
		ttnn_tensor_unref(job.index);
	}
}

static double take(enum tt_scatter_mode mode, double old, double new)
{
	switch (mode) {
	case TT_SCATTER_SET:
		return new;
	case TT_SCATTER_ADD:
		return old + new;
	case TT_SCATTER_MUL:
		return old * new;
	case TT_SCATTER_MIN:
		return fmin(old, new);
	default:
		return fmax(old, new);
	}
}

TEST(random_scatters_equal_the_reference)
{
	bk_state = 44;
	for (int i = 0; i < 300 && !test_failures; i++) {
		struct tt_index_job job = {.kind = TT_INDEX_SCATTER,
					   .mode = (enum tt_scatter_mode)(i % 5)};
		enum ttnn_dtype dtype = bk_chance(3) ? TTNN_INT32 : bk_float_dtype();
		struct ttnn_shape shape, chosen, larger;
		struct ttnn_tensor_spec from, source, to;
		double *want, *index, *values;
		bool in_place = bk_chance(4);

		two_shapes(&shape, &chosen, &job.dim);
		from = bk_spec(&shape, dtype);
		to = bk_spec(&shape, dtype);
		larger = chosen; /* more of it than the index takes */
		if (bk_chance(2))
			larger.dim[bk_below(larger.rank)] += 3;
		source = bk_spec(&larger, dtype);
		job.in = bk_random(&from);
		job.out = in_place ? ttnn_tensor_ref(job.in) : bk_blank(&to);
		job.source = bk_random(&source);
		job.index = random_indices(&chosen, shape.dim[job.dim]);
		want = bk_read(job.in);
		index = bk_read(job.index);
		values = bk_read(job.source);
		for (uint64_t n = 0; n < bk_volume(&chosen); n++) {
			uint64_t at[TTNN_MAX_RANK], to_n;

			bk_unravel(at, &chosen, n);
			at[job.dim] = (uint64_t)index[n];
			to_n = bk_ravel(&shape, at);
			bk_unravel(at, &chosen, n);
			want[to_n] = take(job.mode, want[to_n], values[bk_ravel(&larger, at)]);
			if (dtype == TTNN_INT32)
				want[to_n] = (int32_t)(uint32_t)(int64_t)fmod(want[to_n], 0x1p53);
			else
				want[to_n] = (float)want[to_n];
		}
		if (dtype == TTNN_INT32 && job.mode == TT_SCATTER_MUL)
			goto next; /* products leave float64 */
		CHECK_OK(tt_backend_cpu.index(&job));
		bk_check("scatter", job.out, want, 0);
	next:
		free(want);
		free(index);
		free(values);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
		ttnn_tensor_unref(job.index);
		ttnn_tensor_unref(job.source);
	}
}

TEST(random_embeddings_equal_the_reference)
{
	bk_state = 45;
	for (int i = 0; i < 150 && !test_failures; i++) {
		struct tt_index_job job = {.kind = TT_INDEX_EMBEDDING};
		enum ttnn_dtype dtype = bk_float_dtype();
		struct ttnn_shape table =
			TT_SHAPE(1 + (uint32_t)bk_below(90), 1 + (uint32_t)bk_below(70));
		struct ttnn_shape words = bk_shape((uint32_t)bk_below(3)), out = words;
		struct ttnn_tensor_spec from, to;
		double *in, *index, *want;

		out.dim[out.rank++] = table.dim[1];
		from = bk_spec(&table, dtype);
		to = bk_spec(&out, dtype);
		job.in = bk_random(&from);
		job.out = bk_blank(&to);
		job.index = random_indices(&words, table.dim[0]);
		in = bk_read(job.in);
		index = bk_read(job.index);
		want = bk_new(bk_volume(&out));
		for (uint64_t n = 0; n < bk_volume(&out); n++)
			want[n] = in[(uint64_t)index[n / table.dim[1]] * table.dim[1] +
				     n % table.dim[1]];
		CHECK_OK(tt_backend_cpu.index(&job));
		bk_check("embedding", job.out, want, 0);
		free(in);
		free(index);
		free(want);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
		ttnn_tensor_unref(job.index);
	}
}

TEST(indices_beyond_the_end_are_refused)
{
	struct ttnn_shape table = TT_SHAPE(5, 4), words = TT_SHAPE(2), out = TT_SHAPE(2, 4);
	struct ttnn_tensor_spec from = bk_spec(&table, TTNN_BFLOAT16),
				to = bk_spec(&out, TTNN_BFLOAT16);
	struct ttnn_tensor_spec at = bk_spec(&words, TTNN_INT32);
	const double beyond[] = {1, 5}, negative[] = {-1, 0};
	struct tt_index_job job = {.kind = TT_INDEX_EMBEDDING};

	job.in = bk_random(&from);
	job.out = bk_blank(&to);
	job.index = bk_tensor(&at, beyond);
	CHECK_FAILS(tt_backend_cpu.index(&job), TTNN_INVALID, "index 5 is beyond a dimension of 5");
	ttnn_tensor_unref(job.index);
	job.index = bk_tensor(&at, negative);
	CHECK_FAILS(tt_backend_cpu.index(&job), TTNN_INVALID, "is beyond a dimension of 5");
	job.kind = TT_INDEX_GATHER;
	CHECK_FAILS(tt_backend_cpu.index(&job), TTNN_INTERNAL, "do not go together");
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(job.index);
}

/* ---- random numbers --------------------------------------------------------------------------------- */

struct moments {
	double mean, variance, low, high;
};

static struct moments moments_of(const struct tt_tensor *tensor)
{
	uint64_t count = bk_volume(&tensor->spec.shape);
	double *values = bk_read(tensor);
	struct moments m = {.low = INFINITY, .high = -INFINITY};

	for (uint64_t i = 0; i < count; i++) {
		m.mean += values[i] / (double)count;
		m.low = fmin(m.low, values[i]);
		m.high = fmax(m.high, values[i]);
	}
	for (uint64_t i = 0; i < count; i++)
		m.variance += (values[i] - m.mean) * (values[i] - m.mean) / (double)count;
	free(values);
	return m;
}

static struct tt_tensor *random_of(enum ttnn_dtype dtype, struct tt_random_job job)
{
	struct ttnn_shape shape = TT_SHAPE(300, 333);
	struct ttnn_tensor_spec spec = bk_spec(&shape, dtype);

	job.out = bk_blank(&spec);
	CHECK_OK(tt_backend_cpu.random(&job));
	return job.out;
}

#define NEAR(got, want, slack) CHECK(fabs((got) - (want)) <= (slack))

TEST(uniform_numbers)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_FLOAT32, TTNN_BFLOAT16, TTNN_BFLOAT8_B,
						 TTNN_FP8_E4M3};

	for (int i = 0; i < 12; i++) {
		struct tt_tensor *out = random_of(
			dtypes[i % 4], (struct tt_random_job){.seed = 7, .low = -2, .high = 2});
		struct moments m = moments_of(out);

		NEAR(m.mean, 0, 0.02);
		NEAR(m.variance, 16.0 / 12, 0.03);
		CHECK(m.low >= -2 && m.low < -1.8 && m.high < 2 && m.high > 1.8);
		ttnn_tensor_unref(out);
	}
	/* An end that is no power of two, and one below zero. */
	for (int i = 0; i < 8; i++) {
		struct tt_tensor *out = random_of(
			dtypes[i % 4 == 2 ? 0 : i % 4],
			(struct tt_random_job){
				.seed = 3, .low = i < 4 ? 1 : -1.25, .high = i < 4 ? 1.25 : -1});
		struct moments m = moments_of(out);

		CHECK(i < 4 ? m.high < 1.25 && m.low >= 1 : m.high < -1 && m.low >= -1.25);
		ttnn_tensor_unref(out);
	}
}

TEST(whole_uniform_numbers)
{
	struct tt_tensor *out =
		random_of(TTNN_INT32, (struct tt_random_job){.seed = 9, .low = -3, .high = 4});
	double *values = bk_read(out);
	uint64_t found[7] = {0};

	for (uint64_t i = 0; i < 99900; i++) {
		CHECK(values[i] >= -3 && values[i] < 4);
		found[(int)values[i] + 3]++;
	}
	for (int i = 0; i < 7; i++)
		NEAR((double)found[i], 99900.0 / 7, 500);
	free(values);
	ttnn_tensor_unref(out);
}

TEST(normal_numbers)
{
	struct tt_tensor *out = random_of(
		TTNN_FLOAT32,
		(struct tt_random_job){.kind = TT_RANDOM_NORMAL, .seed = 11, .low = 5, .high = 2});
	struct moments m = moments_of(out);
	double *values = bk_read(out);
	uint64_t inside = 0;

	NEAR(m.mean, 5, 0.03);
	NEAR(m.variance, 4, 0.06);
	for (uint64_t i = 0; i < 99900; i++)
		inside += fabs(values[i] - 5) < 2;
	NEAR((double)inside / 99900, 0.682689, 0.006);
	free(values);
	ttnn_tensor_unref(out);
}

TEST(bernoulli_numbers)
{
	struct ttnn_shape shape = TT_SHAPE(300, 333);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_FLOAT32);
	double *chances = bk_new(99900), *values, ones[2] = {0, 0};
	struct tt_tensor *out = random_of(
		TTNN_BFLOAT16,
		(struct tt_random_job){.kind = TT_RANDOM_BERNOULLI, .seed = 2, .low = 0.25});

	NEAR(moments_of(out).mean, 0.25, 0.006);
	ttnn_tensor_unref(out);
	for (int i = 0; i < 99900; i++)
		chances[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 0.5;
	{
		struct tt_tensor *each = bk_tensor(&spec, chances);

		out = random_of(TTNN_FLOAT32, (struct tt_random_job){.kind = TT_RANDOM_BERNOULLI,
								     .seed = 4,
								     .probability = each});
		values = bk_read(out);
		for (int i = 0; i < 99900; i++) {
			if (i % 3 < 2)
				CHECK(values[i] == i % 3);
			else
				ones[(int)values[i]]++;
		}
		NEAR(ones[1] / 33300, 0.5, 0.01);
		ttnn_tensor_unref(each);
	}
	free(chances);
	free(values);
	ttnn_tensor_unref(out);
}

/* The same seed gives the same numbers in every layout; another seed gives others. */
TEST(seeds_decide)
{
	static const double known[] = {4244063, 14700706, 9988281, 8131490};
	struct tt_random_job job = {.seed = 123, .high = 1};
	struct tt_tensor *first = random_of(TTNN_FLOAT32, job);
	double *values = bk_read(first);
	uint64_t same = 0;

	for (int i = 0; i < 10; i++) {
		struct tt_tensor *again = random_of(TTNN_FLOAT32, job);

		bk_check("again", again, values, 0);
		ttnn_tensor_unref(again);
	}
	job.seed = 124;
	{
		struct tt_tensor *other = random_of(TTNN_FLOAT32, job);
		double *others = bk_read(other);

		for (int i = 0; i < 99900; i++)
			same += others[i] == values[i];
		CHECK(same < 10);
		free(others);
		ttnn_tensor_unref(other);
	}
	/* As on every machine: computed by another program. */
	for (int i = 0; i < 4; i++)
		CHECK(values[i] == known[i] * 0x1p-24);
	free(values);
	ttnn_tensor_unref(first);
}

/* ---- the same bits, memory --------------------------------------------------------------------------- */

static tt_status run_sort(void *context)
{
	return tt_backend_cpu.sort(context);
}

static tt_status run_random(void *context)
{
	return tt_backend_cpu.random(context);
}

static tt_status run_index(void *context)
{
	return tt_backend_cpu.index(context);
}

TEST(threads_do_not_matter)
{
	struct ttnn_shape shape = TT_SHAPE(3, 130, 400);

	bk_state = 46;
	for (uint32_t i = 0; i < 6; i++) {
		struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_FLOAT32);
		struct tt_tensor *in = bk_random(&spec), *out = bk_blank(&spec);
		struct tt_sort_job sort = {.in = in, .values = out, .dim = i % 3};
		struct tt_random_job random = {
			.out = out, .kind = (enum tt_random_kind)(i % 3), .low = 0.5, .high = 3};
		struct tt_index_job index = {.out = out, .in = in, .dim = i % 3};

		sort.count = shape.dim[i % 3];
		bk_same_bits("sort", run_sort, &sort, out);
		bk_same_bits("random", run_random, &random, out);
		index.index = random_indices(&shape, shape.dim[i % 3]);
		bk_same_bits("gather", run_index, &index, out);
		ttnn_tensor_unref(index.index);
		ttnn_tensor_unref(in);
		ttnn_tensor_unref(out);
	}
}

static tt_status all_jobs(struct tt_tensor *in, struct tt_tensor *index, struct tt_tensor *out)
{
	TT_TRY(tt_backend_cpu.random(&(struct tt_random_job){.out = in, .high = 1}));
	TT_TRY(tt_backend_cpu.random(&(struct tt_random_job){
		.out = out, .kind = TT_RANDOM_BERNOULLI, .probability = in}));
	for (uint32_t dim = 0; dim < 2; dim++) {
		TT_TRY(tt_backend_cpu.sort(&(struct tt_sort_job){
			.in = in, .values = out, .indices = index, .dim = dim, .count = 40}));
		TT_TRY(tt_backend_cpu.index(
			&(struct tt_index_job){.out = out, .in = in, .index = index, .dim = dim}));
	}
	return tt_backend_cpu.index(&(struct tt_index_job){.out = out,
							   .in = in,
							   .index = index,
							   .source = in,
							   .kind = TT_INDEX_SCATTER,
							   .mode = TT_SCATTER_ADD});
}

SCENARIO(running_out_of_memory)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(40, 40), .layout = TTNN_TILE, .dtype = TTNN_BFLOAT8_B};
	struct tt_tensor *tensors[3] = {NULL};
	struct ttnn_tensor_spec spec;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	status = ttnn_tensor_new(&tensors[0], &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&tensors[2], &spec);
	args.dtype = TTNN_UINT32;
	if (status == TTNN_OK)
		status = ttnn_tensor_spec_make(&spec, &args);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&tensors[1], &spec);
	if (status == TTNN_OK)
		status = all_jobs(tensors[0], tensors[1], tensors[2]);
	for (int i = 0; i < 3; i++)
		ttnn_tensor_unref(tensors[i]);
	return status;
}
