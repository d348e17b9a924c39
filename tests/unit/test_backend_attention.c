/*
 * test_backend_attention.c: attention against whole rows of scores in float64, and caches of keys
 * against single elements.
 */
#include "test.h"

#include "backend.h"

/* ---- the reference ------------------------------------------------------------------------------ */

/* Element [a, b, c, d] of four dimensions; an extent of 1 is broadcast. */
static double at(const double *values, const struct ttnn_shape *shape, const uint64_t index[4])
{
	uint64_t own[4];

	for (int d = 0; d < 4; d++)
		own[d] = shape->dim[d] == 1 ? 0 : index[d];
	return values[bk_ravel(shape, own)];
}

struct values {
	double *q, *k, *v, *mask, *pages, *segments, *sink, *positions;
};

static double *read_if(const struct tt_tensor *tensor)
{
	return tensor ? bk_read(tensor) : NULL;
}

static void free_values(struct values *values)
{
	free(values->q);
	free(values->k);
	free(values->v);
	free(values->mask);
	free(values->pages);
	free(values->segments);
	free(values->sink);
	free(values->positions);
}

/* Row j of the keys or values of a batch, whichever page it is on. */
static double key_at(const struct tt_attention_job *job, const struct values *values,
		     const double *from, const struct ttnn_shape *shape, const uint64_t index[4])
{
	uint64_t block = shape->dim[2], own[4] = {index[0], index[1], index[2], index[3]};

	if (job->pages) {
		uint64_t blocks = job->pages->spec.shape.dim[1];

		own[0] = (uint64_t)values->pages[index[0] * blocks + index[2] / block];
		own[2] = index[2] % block;
	} else if (shape->dim[0] == 1) {
		own[0] = 0;
	}
	return from[bk_ravel(shape, own)];
}

static bool sees(const struct tt_attention_job *job, const struct values *values, int64_t position,
		 int64_t j)
{
	int64_t window = job->window;

	if (job->causal && j > position)
		return false;
	if (window && job->causal && j <= position - window)
		return false;
	if (window && !job->causal && llabs(j - position) > window / 2)
		return false;
	if (job->segments) {
		uint64_t count = bk_volume(&job->segments->spec.shape);
		bool same = false;

		for (uint64_t i = 0; i + 1 < count; i++)
			same |= values->segments[i] <= (double)position &&
				values->segments[i] <= (double)j &&
				values->segments[i + 1] > (double)position &&
				values->segments[i + 1] > (double)j;
		return same;
	}
	return true;
}

/* One row of results. */
static void row_ref(double *out, const struct tt_attention_job *job, const struct values *values,
		    const uint64_t index[3], uint64_t columns)
{
	const struct ttnn_shape *q = &job->q->spec.shape, *k = &job->k->spec.shape;
	const struct ttnn_shape *v = job->v ? &job->v->spec.shape : k;
	uint64_t width = q->dim[3], out_width = job->out->spec.shape.dim[3];
	uint64_t heads = job->decode ? q->dim[2] : q->dim[1],
		 key_head = index[1] * k->dim[1] / heads;
	uint64_t q_row = job->decode ? index[0] * heads + index[1]
				     : (index[0] * heads + index[1]) * q->dim[2] + index[2];
	int64_t start = job->positions       ? (int64_t)values->positions[index[0]]
			: job->position_list ? job->position_list[index[0]]
					     : job->start;
	double *scores = bk_new(columns), most = -INFINITY, sum = 0;

	memset(out, 0, out_width * sizeof(double));
	for (uint64_t j = 0; j < columns; j++) {
		uint64_t mask[4] = {index[0], index[1], index[2], j};

		scores[j] = -INFINITY;
		if (start < 0 || !sees(job, values, start + (int64_t)index[2], (int64_t)j))
			continue;
		scores[j] = 0;
		for (uint64_t c = 0; c < width; c++)
			scores[j] += values->q[q_row * width + c] *
				     key_at(job, values, values->k, k,
					    (const uint64_t[]){index[0], key_head, j, c});
		scores[j] *= job->scale;
		if (job->mask && job->decode)
			scores[j] += at(values->mask, &job->mask->spec.shape,
					(const uint64_t[]){index[0], 0, index[1], j});
		else if (job->mask)
			scores[j] += at(values->mask, &job->mask->spec.shape, mask);
		most = fmax(most, scores[j]);
	}
	if (job->sink) {
		most = fmax(most, values->sink[index[1]] * job->scale);
		sum = exp(values->sink[index[1]] * job->scale - most);
	}
	for (uint64_t j = 0; j < columns; j++) {
		double weight = scores[j] == -INFINITY ? 0 : exp(scores[j] - most);

		sum += weight;
		for (uint64_t c = 0; weight > 0 && c < out_width; c++)
			out[c] += weight * key_at(job, values, job->v ? values->v : values->k, v,
						  (const uint64_t[]){index[0], key_head, j, c});
	}
	for (uint64_t c = 0; sum > 0 && c < out_width; c++)
		out[c] /= sum;
	free(scores);
}

static double *attention_ref(const struct tt_attention_job *job)
{
	const struct ttnn_shape *out = &job->out->spec.shape;
	struct values values = {
		read_if(job->q),    read_if(job->k),         read_if(job->v),
		read_if(job->mask), read_if(job->pages),     read_if(job->segments),
		read_if(job->sink), read_if(job->positions),
	};
	double *want = bk_new(bk_volume(out));
	uint64_t columns = job->k->spec.shape.dim[2], rows = bk_volume(out) / out->dim[3];

	if (job->pages)
		columns *= job->pages->spec.shape.dim[1];
	if (job->mask && job->mask->spec.shape.dim[3] < columns)
		columns = job->mask->spec.shape.dim[3];
	for (uint64_t n = 0; n < rows; n++) {
		uint64_t index[3] = {n / out->dim[2] / out->dim[1], n / out->dim[2] % out->dim[1],
				     n % out->dim[2]};

		if (job->decode) {
			index[0] = n / out->dim[2];
			index[1] = n % out->dim[2];
			index[2] = 0;
		}
		row_ref(want + n * out->dim[3], job, &values, index, columns);
	}
	free_values(&values);
	return want;
}

/* ---- random attentions ---------------------------------------------------------------------------- */

static struct tt_tensor *some(struct ttnn_shape shape)
{
	struct ttnn_tensor_spec spec = bk_spec(&shape, bk_chance(4)   ? TTNN_BFLOAT8_B
						       : bk_chance(2) ? TTNN_BFLOAT16
								      : TTNN_FLOAT32);

	return bk_random(&spec);
}

static struct tt_tensor *whole_numbers(struct ttnn_shape shape, const double *values)
{
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_INT32);

	return bk_tensor(&spec, values);
}

/* Pages in random order; some blocks belong to nobody. */
static struct tt_tensor *page_table(uint32_t batches, uint32_t blocks, uint32_t total)
{
	double *order = bk_new(total);
	struct tt_tensor *tensor;

	for (uint32_t i = 0; i < total; i++)
		order[i] = i;
	for (uint32_t i = total; i-- > 1;) {
		uint64_t other = bk_below(i + 1);
		double keep = order[i];

		order[i] = order[other];
		order[other] = keep;
	}
	tensor = whole_numbers(TT_SHAPE(batches, blocks), order);
	free(order);
	return tensor;
}

struct sizes {
	uint32_t batches, heads, key_heads, rows, columns, width, out_width;
};

static struct sizes random_sizes(bool decode)
{
	static const uint32_t widths[] = {32, 64, 40}, rows[] = {1, 3, 17, 32, 100, 130};
	static const uint32_t columns[] = {1, 31, 64, 300, 520, 600};
	struct sizes sizes = {
		.batches = 1 + (uint32_t)bk_below(3),
		.key_heads = 1 + (uint32_t)bk_below(3),
		.rows = decode ? 1 : rows[bk_below(6)],
		.columns = columns[bk_below(6)],
		.width = widths[bk_below(3)],
	};

	sizes.heads = sizes.key_heads * (bk_chance(4) ? 20 : 1 + (uint32_t)bk_below(3));
	sizes.out_width = bk_chance(3) ? 24 : sizes.width;
	return sizes;
}

static void random_tensors(struct tt_attention_job *job, const struct sizes *sizes)
{
	uint32_t keys = bk_chance(4) ? 1 : sizes->batches, outer = keys, rows = sizes->columns;
	struct ttnn_shape out;

	if (bk_chance(3)) {
		uint32_t blocks = (sizes->columns + 31) / 32;

		outer = sizes->batches * blocks + 2;
		rows = 32;
		job->pages = page_table(sizes->batches, blocks, outer);
	}
	if (job->decode) {
		job->q = some(TT_SHAPE(1, sizes->batches, sizes->heads, sizes->width));
		out = TT_SHAPE(1, sizes->batches, sizes->heads, sizes->out_width);
	} else {
		job->q = some(TT_SHAPE(sizes->batches, sizes->heads, sizes->rows, sizes->width));
		out = TT_SHAPE(sizes->batches, sizes->heads, sizes->rows, sizes->out_width);
	}
	job->k = some(TT_SHAPE(outer, sizes->key_heads, rows, sizes->width));
	if (!bk_chance(4))
		job->v = some(TT_SHAPE(outer, sizes->key_heads, rows, sizes->out_width));
	job->out = some(out);
}

static void random_options(struct tt_attention_job *job, const struct sizes *sizes)
{
	uint32_t batches = bk_chance(2) ? 1 : sizes->batches,
		 heads = bk_chance(2) ? 1 : sizes->heads;
	double numbers[8];

	job->causal = bk_chance(2);
	job->window = bk_chance(3) ? 1 + (uint32_t)bk_below(100) : 0;
	job->start = bk_chance(2) ? 0 : (int64_t)bk_below(sizes->columns);
	for (uint32_t b = 0; b < 8; b++)
		numbers[b] = bk_chance(8) ? -1 : (double)bk_below(sizes->columns);
	if (bk_chance(2))
		job->positions = whole_numbers(TT_SHAPE(sizes->batches), numbers);
	if (!job->causal && bk_chance(2))
		job->mask = job->decode
				    ? some(TT_SHAPE(batches, 1, heads, sizes->columns))
				    : some(TT_SHAPE(batches, heads, bk_chance(3) ? 1 : sizes->rows,
						    sizes->columns));
	if (bk_chance(4))
		job->sink = some(TT_SHAPE(1, sizes->heads, 1, 1));
	if (bk_chance(6)) {
		double bounds[4] = {0, (double)(sizes->columns / 3), (double)(sizes->columns / 2),
				    (double)sizes->columns};

		job->segments = whole_numbers(TT_SHAPE(4), bounds);
	}
}

static void release(struct tt_attention_job *job)
{
	ttnn_tensor_unref(job->out);
	ttnn_tensor_unref(job->q);
	ttnn_tensor_unref(job->k);
	ttnn_tensor_unref(job->v);
	ttnn_tensor_unref(job->mask);
	ttnn_tensor_unref(job->pages);
	ttnn_tensor_unref(job->segments);
	ttnn_tensor_unref(job->sink);
	ttnn_tensor_unref(job->positions);
}

static void one_attention(bool decode)
{
	struct sizes sizes = random_sizes(decode);
	struct tt_attention_job job = {.decode = decode, .scale = bk_chance(2) ? 0.2 : 0.05};
	double *want, slack;

	random_tensors(&job, &sizes);
	random_options(&job, &sizes);
	want = attention_ref(&job);
	CHECK_OK(tt_backend_cpu.attention(&job));
	slack = job.out->spec.dtype == TTNN_BFLOAT8_B ? 0.1 : bk_slack(job.out->spec.dtype);
	bk_check(decode ? "decode" : "attention", job.out, want, 4 * slack);
	free(want);
	release(&job);
}

TEST(random_attentions_equal_whole_scores)
{
	enum tt_isa best = tt_cpu_isa();

	bk_state = 11;
	for (int round = 0; round < 150; round++) {
		if (!tt_cpu_force_isa((enum tt_isa)(round % TT_ISA_COUNT)))
			continue;
		one_attention(round % 3 == 0);
	}
	CHECK(tt_cpu_force_isa(best));
}

TEST(decoding_at_listed_positions)
{
	static const int32_t list[] = {5, -1, 299};
	struct sizes sizes = {3, 8, 2, 1, 300, 64, 64};
	struct tt_attention_job job = {
		.decode = true, .scale = 0.125, .causal = true, .position_list = list};
	double *want;

	bk_state = 12;
	random_tensors(&job, &sizes);
	want = attention_ref(&job);
	CHECK_OK(tt_backend_cpu.attention(&job));
	bk_check("list", job.out, want, 0.05);
	free(want);
	release(&job);
}

TEST(threads_do_not_change_attention)
{
	bk_state = 13;
	for (int decode = 0; decode < 2; decode++) {
		struct sizes sizes = {2, 8, 2, decode ? 1 : 250, 1300, 64, 64};
		struct tt_attention_job job = {.decode = decode, .scale = 0.125, .start = 1200};
		double *first = NULL;

		random_tensors(&job, &sizes);
		for (unsigned threads = 1; threads <= 5; threads += 2) {
			double *again;

			tt_pool_set_threads(threads);
			CHECK_OK(tt_backend_cpu.attention(&job));
			again = bk_read(job.out);
			for (uint64_t i = 0; first && i < bk_volume(&job.out->spec.shape); i++)
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
		release(&job);
	}
	tt_pool_set_threads(0);
}

TEST(the_output_may_be_the_values)
{
	for (uint32_t rows = 8; rows <= 64; rows *= 8) {
		struct ttnn_shape shape = TT_SHAPE(1, 2, rows, 32);
		struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_FLOAT32);
		struct tt_attention_job job = {.scale = 0.2};
		double *want;

		job.q = bk_random(&spec);
		job.k = ttnn_tensor_ref(job.q);
		job.v = ttnn_tensor_ref(job.q);
		job.out = ttnn_tensor_ref(job.q);
		want = attention_ref(&job);
		CHECK_OK(tt_backend_cpu.attention(&job));
		bk_check("in place", job.out, want, 1e-5);
		free(want);
		release(&job);
	}
}

TEST(bad_pages_and_shapes_are_refused)
{
	double numbers[2] = {0, 9};
	struct tt_attention_job job = {.scale = 1};

	job.q = some(TT_SHAPE(1, 2, 40, 32));
	job.out = some(TT_SHAPE(1, 2, 40, 32));
	job.k = some(TT_SHAPE(4, 2, 32, 32));
	job.v = some(TT_SHAPE(4, 2, 32, 32));
	job.slot = 4;
	CHECK_FAILS(tt_backend_cpu.attention(&job), TTNN_INTERNAL, "do not go together");
	job.slot = 0;
	job.pages = whole_numbers(TT_SHAPE(1, 2), numbers);
	CHECK_FAILS(tt_backend_cpu.attention(&job), TTNN_INVALID, "outside of the cache");
	ttnn_tensor_unref(job.pages);
	numbers[1] = -1;
	job.pages = whole_numbers(TT_SHAPE(1, 2), numbers);
	CHECK_FAILS(tt_backend_cpu.attention(&job), TTNN_INVALID, "no block for row 32");
	release(&job);
}

/* ---- caches ----------------------------------------------------------------------------------------- */

static void one_cache(void)
{
	bool decode = bk_chance(2), paged = bk_chance(2);
	uint32_t batches = 1 + (uint32_t)bk_below(3), heads = 1 + (uint32_t)bk_below(3);
	uint32_t rows = decode ? 1 : 1 + (uint32_t)bk_below(80), blocks = 5;
	enum ttnn_dtype dtype = bk_chance(2) ? TTNN_BFLOAT16 : TTNN_BFLOAT8_B;
	struct ttnn_shape in =
		decode ? TT_SHAPE(1, batches, heads, 64) : TT_SHAPE(batches, heads, rows, 64);
	struct ttnn_shape shape =
		paged ? TT_SHAPE(4 * blocks, heads, 32, 64) : TT_SHAPE(4, heads, 160, 64);
	struct ttnn_tensor_spec spec = bk_spec(&shape, dtype), from = bk_spec(&in, TTNN_FLOAT32);
	struct tt_cache_job job = {.decode = decode,
				   .batch_start = (uint32_t)bk_below(5 - batches)};
	double starts[4], targets[3], *want, *x, *pages = NULL;

	for (int b = 0; b < 4; b++)
		starts[b] = bk_chance(6) ? -1 : (double)bk_below(160 - rows + 1);
	job.cache = bk_random(&spec);
	job.in = bk_random(&from);
	job.positions = whole_numbers(TT_SHAPE(batches), starts);
	for (uint32_t b = 0; b < batches; b++)
		targets[b] = job.batch_start + b;
	if (bk_chance(3)) {
		for (uint32_t b = 0; b < batches; b++) /* another order */
			targets[b] = (job.batch_start + 3 * b) % 4;
		job.batch_index = whole_numbers(TT_SHAPE(batches), targets);
		job.batch_start = 77;
	}
	if (paged) {
		job.pages = page_table(4, blocks, 4 * blocks);
		pages = bk_read(job.pages);
	}
	want = bk_read(job.cache);
	x = bk_read(job.in);
	for (uint64_t n = 0; n < bk_volume(&in); n++) {
		uint64_t at_in[4], to[4];

		bk_unravel(at_in, &in, n);
		to[0] = decode ? at_in[1] : at_in[0];
		to[1] = decode ? at_in[2] : at_in[1];
		to[2] = decode ? 0 : at_in[2];
		to[3] = at_in[3];
		if (starts[to[0]] < 0)
			continue;
		to[2] += (uint64_t)starts[to[0]];
		to[0] = (uint64_t)targets[to[0]];
		if (paged) {
			to[0] = (uint64_t)pages[to[0] * blocks + to[2] / 32];
			to[2] %= 32;
		}
		want[bk_ravel(&shape, to)] = x[n];
	}
	CHECK_OK(tt_backend_cpu.cache(&job));
	bk_check("cache", job.cache, want, dtype == TTNN_BFLOAT16 ? 0 : 0.1);
	free(want);
	free(x);
	free(pages);
	ttnn_tensor_unref(job.cache);
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.positions);
	ttnn_tensor_unref(job.batch_index);
	ttnn_tensor_unref(job.pages);
}

TEST(random_rows_go_to_their_places_in_a_cache)
{
	bk_state = 14;
	for (int round = 0; round < 150; round++)
		one_cache();
}

TEST(rows_beyond_a_cache_are_refused)
{
	struct tt_cache_job job = {.start = 60};

	job.cache = some(TT_SHAPE(1, 1, 64, 32));
	job.in = some(TT_SHAPE(1, 1, 8, 32));
	CHECK_FAILS(tt_backend_cpu.cache(&job), TTNN_INVALID, "row 64 of batch 0");
	ttnn_tensor_unref(job.cache);
	ttnn_tensor_unref(job.in);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static tt_status all_jobs(struct tt_tensor *q, struct tt_tensor *k, struct tt_tensor *out)
{
	struct tt_attention_job job = {.out = out, .q = q, .k = k, .v = k, .scale = 1};

	TT_TRY(tt_backend_cpu.attention(&job));
	job.decode = true;
	job.sink = k;
	TT_TRY(tt_backend_cpu.attention(&job));
	return tt_backend_cpu.cache(&(struct tt_cache_job){.cache = k, .in = q, .positions = NULL});
}

SCENARIO(running_out_of_memory)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(1, 1, 40, 32), .layout = TTNN_TILE, .dtype = TTNN_BFLOAT8_B};
	struct tt_tensor *tensor[3] = {0};
	struct ttnn_tensor_spec spec;
	tt_status status = TTNN_OK;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	for (int i = 0; i < 3 && status == TTNN_OK; i++)
		status = ttnn_tensor_new(&tensor[i], &spec);
	if (status == TTNN_OK)
		status = all_jobs(tensor[0], tensor[1], tensor[2]);
	for (int i = 0; i < 3; i++)
		ttnn_tensor_unref(tensor[i]);
	return status;
}
