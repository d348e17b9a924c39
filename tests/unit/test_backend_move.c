/*
 * test_backend_move.c: jobs that put elements elsewhere, and those that make them out of nothing,
 * against loops over single elements. @slow
 */
#include "test.h"

#include "backend.h"

/* ---- moves -------------------------------------------------------------------------------------- */

struct move {
	struct tt_move_job job;
	struct tt_move_loop loops[12];
};

/* Runs all loops on plain arrays. */
static void move_ref(double *out, const double *in, const struct tt_move_job *job, uint32_t level,
		     uint64_t *index)
{
	const struct ttnn_shape *shapes[] = {&job->out->spec.shape, &job->in->spec.shape};
	uint64_t at[2][TTNN_MAX_RANK];

	if (level < job->loop_count) {
		for (index[level] = 0; index[level] < job->loops[level].extent; index[level]++)
			move_ref(out, in, job, level + 1, index);
		return;
	}
	for (uint32_t d = 0; d < shapes[0]->rank; d++)
		at[0][d] = (uint64_t)job->out_start[d];
	for (uint32_t d = 0; d < shapes[1]->rank; d++)
		at[1][d] = (uint64_t)job->in_start[d];
	for (uint32_t i = 0; i < job->loop_count; i++) {
		const struct tt_move_loop *loop = &job->loops[i];

		if (loop->out_dim >= 0)
			at[0][loop->out_dim] += index[i] * (uint64_t)loop->out_step;
		if (loop->in_dim >= 0)
			at[1][loop->in_dim] += index[i] * (uint64_t)loop->in_step;
	}
	out[bk_ravel(shapes[0], at[0])] = in[bk_ravel(shapes[1], at[1])];
}

static void shuffle(uint32_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = (uint32_t)bk_below(i), other = order[j];

		order[j] = order[i - 1];
		order[i - 1] = other;
	}
}

/* A multiple of 32 half of the time, so that whole tiles are moved too. */
static uint32_t offset(void)
{
	return bk_chance(2) ? 32 * (uint32_t)bk_below(2) : (uint32_t)bk_below(4);
}

/*
 * A slice of the input, with steps and backwards, to any place of an output whose dimensions are in
 * any order; some dimensions repeated, some new ones broadcast.
 */
static void make_move(struct move *m, enum ttnn_dtype in_dtype, enum ttnn_dtype out_dtype)
{
	struct ttnn_shape in = bk_shape((uint32_t)bk_below(5)), out = {.rank = in.rank};
	uint32_t order[8], count = 0;
	bool keep = bk_chance(2); /* the order of dimensions */
	struct ttnn_tensor_spec spec;

	memset(m, 0, sizeof(*m));
	shuffle(order, in.rank);
	for (uint32_t d = 0; d < in.rank; d++) {
		uint32_t to = keep ? d : order[d], step = bk_chance(4) ? 2 : 1, extent = in.dim[d];
		struct tt_move_loop *loop = &m->loops[count++];

		if (extent > 3 && bk_chance(3)) {
			m->job.in_start[d] = offset() % (extent - 1);
			extent = 1 + (uint32_t)bk_below(extent - (uint32_t)m->job.in_start[d]);
		}
		extent = (extent + step - 1) / step;
		*loop = (struct tt_move_loop){extent, (int32_t)d, (int32_t)to, step, 1};
		if (extent && bk_chance(8)) { /* backwards */
			m->job.in_start[d] += (int64_t)(extent - 1) * step;
			loop->in_step = -(int64_t)step;
		}
		out.dim[to] = extent;
		if (bk_chance(6) && extent) { /* repeated */
			m->loops[count++] =
				(struct tt_move_loop){3, -1, (int32_t)to, 0, (int64_t)extent};
			out.dim[to] *= 3;
		}
		if (bk_chance(3)) {
			m->job.out_start[to] = offset();
			out.dim[to] += (uint32_t)m->job.out_start[to] + offset();
		}
	}
	if (bk_chance(4)) { /* a new dimension */
		m->loops[count++] = (struct tt_move_loop){2, -1, (int32_t)out.rank, 0, 1};
		out.dim[out.rank++] = 2 + offset();
	}
	m->job.loops = m->loops;
	m->job.loop_count = count;
	spec = bk_spec(&in, in_dtype);
	m->job.in = bk_random(&spec);
	if (bk_chance(2) && (spec.layout == TTNN_ROW_MAJOR || in_dtype == out_dtype)) {
		struct ttnn_spec_args args = {
			.shape = out, .dtype = out_dtype, .layout = spec.layout, .tile = spec.tile};

		if (tt_dtype_is_block(out_dtype))
			args.layout = TTNN_TILE;
		CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	} else {
		spec = bk_spec(&out, out_dtype);
	}
	m->job.out = bk_random(&spec);
}

/* What has no place in a loop keeps its value; neighbours in block floats may share a new exponent. */
static void check_move(const struct move *m)
{
	double *want = bk_read(m->job.out), *in = bk_read(m->job.in);
	uint64_t index[12];

	move_ref(want, in, &m->job, 0, index);
	CHECK_OK(tt_backend_cpu.move(&m->job));
	bk_check("move", m->job.out, want, 0);
	free(want);
	free(in);
}

TEST(random_moves_equal_the_reference)
{
	bk_state = 21;
	for (int i = 0; i < 2000 && !test_failures; i++) {
		bool whole = bk_chance(3), same = !bk_chance(4);
		enum ttnn_dtype from = whole ? bk_int_dtype() : bk_float_dtype(), to = from;
		struct move m;

		if (!same)
			to = whole ? bk_int_dtype() : bk_float_dtype();
		make_move(&m, from, to);
		check_move(&m);
		if (test_failures)
			fprintf(stderr, "in case %d\n", i);
		ttnn_tensor_unref(m.job.in);
		ttnn_tensor_unref(m.job.out);
	}
}

TEST(moves_out_of_bounds_are_refused)
{
	struct ttnn_shape shape = TT_SHAPE(4, 4);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_BFLOAT16);
	struct tt_tensor *a = bk_random(&spec), *b = bk_random(&spec);
	struct tt_move_loop loop = {5, 0, 1, 1, 1};
	struct tt_move_job job = {.out = a, .in = b, .loops = &loop, .loop_count = 1};

	CHECK_FAILS(tt_backend_cpu.move(&job), TTNN_INTERNAL, "index 4 of a dimension of 4");
	loop.extent = 4;
	job.in_start[0] = -1;
	CHECK_FAILS(tt_backend_cpu.move(&job), TTNN_INTERNAL, "index -1");
	loop.in_dim = 2;
	job.in_start[0] = 0;
	CHECK_FAILS(tt_backend_cpu.move(&job), TTNN_INTERNAL, "dimension 2 of 2");
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
}

TEST(a_tensor_can_be_moved_onto_itself)
{
	struct ttnn_shape shape = TT_SHAPE(40, 40);
	struct tt_move_loop loops[] = {{40, 0, 1, 1, 1}, {40, 1, 0, 1, 1}};

	bk_state = 22;
	for (int i = 0; i < 20; i++) {
		struct ttnn_tensor_spec spec = bk_spec(&shape, bk_float_dtype());
		struct move m = {.job = {.in = bk_random(&spec)}};

		m.job.out = m.job.in;
		m.job.loops = loops;
		m.job.loop_count = 2;
		check_move(&m);
		ttnn_tensor_unref(m.job.in);
	}
}

/* ---- reshape and bitcast --------------------------------------------------------------------------- */

/* The same number of elements in another shape. */
static struct ttnn_shape other_shape(const struct ttnn_shape *shape)
{
	uint64_t left = bk_volume(shape);
	struct ttnn_shape other = {0};

	if (bk_chance(3) && shape->rank > 1) { /* the last dimensions stay */
		other = *shape;
		other.dim[0] *= other.dim[1];
		other.dim[1] = 1;
		return other;
	}
	for (uint32_t f = 2; f < 40 && other.rank < 3; f++)
		if (left % f == 0 && left && bk_chance(2)) {
			other.dim[other.rank++] = f;
			left /= f;
		}
	other.dim[other.rank++] = (uint32_t)left;
	return other;
}

TEST(reshapes_keep_the_order)
{
	bk_state = 23;
	for (int i = 0; i < 800 && !test_failures; i++) {
		struct ttnn_shape shape = bk_shape((uint32_t)bk_below(6));
		struct ttnn_shape other = other_shape(&shape);
		enum ttnn_dtype dtype = bk_chance(3) ? bk_int_dtype() : bk_float_dtype();
		struct ttnn_tensor_spec from = bk_spec(&shape, dtype), to = bk_spec(&other, dtype);
		struct tt_tensor *in = bk_random(&from), *out = bk_blank(&to);
		double *values = bk_read(in);

		CHECK_OK(tt_backend_cpu.reshape(out, in));
		bk_check("reshape", out, values, 0);
		free(values);
		ttnn_tensor_unref(in);
		ttnn_tensor_unref(out);
	}
}

/* As many bytes, and as many rows, but at other places. */
TEST(reshapes_see_the_alignment)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(64, 20), .layout = TTNN_TILE};
	struct ttnn_tensor_spec wide, high;
	struct tt_tensor *in, *out;
	double *values;

	args.alignment = TT_SHAPE(64, 64);
	CHECK_OK(ttnn_tensor_spec_make(&wide, &args));
	args.shape = TT_SHAPE(1, 64, 20);
	args.alignment = TT_SHAPE(128, 32);
	CHECK_OK(ttnn_tensor_spec_make(&high, &args));
	in = bk_random(&wide);
	out = bk_blank(&high);
	values = bk_read(in);
	CHECK_INT(wide.bytes, high.bytes);
	CHECK_OK(tt_backend_cpu.reshape(out, in));
	bk_check("alignment", out, values, 0);
	free(values);
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
}

TEST(reshapes_of_other_sizes_are_refused)
{
	struct ttnn_shape shape = TT_SHAPE(4, 4), other = TT_SHAPE(17);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_BFLOAT16);
	struct ttnn_tensor_spec wrong = bk_spec(&other, TTNN_BFLOAT16);
	struct tt_tensor *a = bk_random(&spec), *b = bk_random(&wrong);

	CHECK_FAILS(tt_backend_cpu.reshape(b, a), TTNN_INTERNAL, "number of elements");
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
}

TEST(bitcasts_keep_the_bits)
{
	struct ttnn_shape shape = TT_SHAPE(2, 33, 5);

	bk_state = 24;
	for (int i = 0; i < 40; i++) {
		struct ttnn_tensor_spec from = bk_spec(&shape, TTNN_FLOAT32);
		struct ttnn_tensor_spec to = bk_spec(&shape, TTNN_UINT32);
		struct tt_tensor *in = bk_random(&from), *out = bk_blank(&to);
		double *values = bk_read(in);

		for (uint64_t k = 0; k < bk_volume(&shape); k++) {
			float value = (float)values[k];
			uint32_t bits;

			memcpy(&bits, &value, sizeof(bits));
			values[k] = bits;
		}
		CHECK_OK(tt_backend_cpu.bitcast(out, in));
		bk_check("bitcast", out, values, 0);
		free(values);
		ttnn_tensor_unref(in);
		ttnn_tensor_unref(out);
	}
}

TEST(bitcasts_between_sizes_are_refused)
{
	struct ttnn_shape shape = TT_SHAPE(4, 4);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_BFLOAT16);
	struct ttnn_tensor_spec wrong = bk_spec(&shape, TTNN_UINT32);
	struct tt_tensor *a = bk_random(&spec), *b = bk_random(&wrong);

	CHECK_FAILS(tt_backend_cpu.bitcast(b, a), TTNN_INTERNAL,
		    "bfloat16 cannot be read as uint32");
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
}

/* ---- fill and range -------------------------------------------------------------------------------- */

/* All that is stored, padding too, by making the padded shape the logical one. */
static struct tt_tensor *with_padding(struct tt_tensor *tensor)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE((uint32_t)tensor->spec.rows, (uint32_t)tensor->spec.cols),
		.dtype = tensor->spec.dtype,
		.layout = tensor->spec.layout,
		.tile = tensor->spec.tile};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *whole = NULL;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_INT(spec.bytes, tensor->spec.bytes);
	CHECK_OK(tt_tensor_wrap(&whole, &spec, tt_storage_ref(tensor->storage), NULL));
	return whole;
}

TEST(fills_reach_everything)
{
	bk_state = 25;
	for (int i = 0; i < 300 && !test_failures; i++) {
		struct ttnn_shape shape = bk_shape((uint32_t)bk_below(5));
		enum ttnn_dtype dtype = bk_chance(3) ? bk_int_dtype() : bk_float_dtype();
		struct ttnn_tensor_spec spec = bk_spec(&shape, dtype);
		struct tt_tensor *out = bk_blank(&spec), *whole;
		double *want;

		if (spec.rows == 0 || spec.cols == 0) {
			CHECK_OK(tt_backend_cpu.fill(out, 1, TT_FILL_ALL));
			ttnn_tensor_unref(out);
			continue;
		}
		whole = with_padding(out);
		want = bk_new(spec.rows * spec.cols);
		for (uint64_t k = 0; k < spec.rows * spec.cols; k++)
			want[k] = 5;
		CHECK_OK(tt_backend_cpu.fill(out, 5, TT_FILL_ALL));
		bk_check("fill", whole, want, 0);
		free(want);
		ttnn_tensor_unref(whole);
		ttnn_tensor_unref(out);
	}
}

/* The values stay, and whatever else is stored becomes the number. */
TEST(fills_of_padding_leave_the_values)
{
	bk_state = 26;
	for (int i = 0; i < 400 && !test_failures; i++) {
		struct ttnn_shape shape = bk_shape((uint32_t)bk_below(5));
		enum ttnn_dtype dtype = bk_chance(3) ? bk_int_dtype() : bk_float_dtype();
		struct ttnn_tensor_spec spec = bk_spec(&shape, dtype);
		uint64_t count = bk_volume(&shape), others = 0, total = spec.rows * spec.cols;
		struct tt_tensor *out = bk_random(&spec), *whole;
		double *values = bk_read(out), *all;

		CHECK_OK(tt_backend_cpu.fill(out, 2, TT_FILL_PADDING));
		bk_check("values", out, values, 0);
		if (total) {
			whole = with_padding(out);
			all = bk_read(whole);
			for (uint64_t k = 0; k < total; k++)
				others += all[k] == 2;
			for (uint64_t k = 0; k < count; k++)
				others -= values[k] == 2;
			CHECK_INT(others, total - count);
			free(all);
			ttnn_tensor_unref(whole);
		}
		free(values);
		ttnn_tensor_unref(out);
	}
}

TEST(ranges_count)
{
	bk_state = 27;
	for (int i = 0; i < 200 && !test_failures; i++) {
		struct ttnn_shape shape = bk_shape((uint32_t)bk_below(5));
		enum ttnn_dtype dtype = bk_chance(2) ? bk_int_dtype() : bk_float_dtype();
		struct ttnn_tensor_spec spec = bk_spec(&shape, dtype);
		double step = tt_dtype_is_integer(dtype) ? 3 : 0.25;
		struct tt_tensor *out = bk_blank(&spec);
		double *want = bk_new(bk_volume(&shape));

		for (uint64_t k = 0; k < bk_volume(&shape); k++)
			want[k] = -7 + (double)k * step;
		CHECK_OK(tt_backend_cpu.range(out, -7, step));
		bk_check("range", out, want, 0);
		free(want);
		ttnn_tensor_unref(out);
	}
}

/* ---- the same bits, memory --------------------------------------------------------------------------- */

static tt_status run_move(void *context)
{
	return tt_backend_cpu.move(context);
}

TEST(threads_do_not_matter)
{
	struct ttnn_shape in = TT_SHAPE(5, 70, 3, 200), out = TT_SHAPE(5, 3, 200, 70);
	struct tt_move_loop loops[] = {
		{5, 0, 0, 1, 1}, {70, 1, 3, 1, 1}, {3, 2, 1, 1, 1}, {200, 3, 2, 1, 1}};

	bk_state = 28;
	for (int i = 0; i < 6; i++) {
		struct ttnn_tensor_spec from = bk_spec(&in, TTNN_BFLOAT16);
		struct ttnn_tensor_spec to = bk_spec(&out, TTNN_BFLOAT16);
		struct tt_move_job job = {.out = bk_blank(&to),
					  .in = bk_random(&from),
					  .loops = loops,
					  .loop_count = 4};

		bk_same_bits("move", run_move, &job, job.out);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
	}
}

static tt_status make_pair(struct tt_tensor *pair[2])
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(33, 50), .layout = TTNN_TILE, .dtype = TTNN_BFLOAT8_B};
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&pair[0], &spec));
	args.shape = TT_SHAPE(50, 33);
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return ttnn_tensor_new(&pair[1], &spec);
}

SCENARIO(running_out_of_memory)
{
	struct tt_move_loop loops[] = {{33, 0, 1, 1, 1}, {49, 1, 0, 1, 1}};
	struct tt_tensor *pair[2] = {NULL, NULL};
	tt_status status = make_pair(pair);

	if (status == TTNN_OK)
		status = tt_backend_cpu.move(&(struct tt_move_job){
			.out = pair[1], .in = pair[0], .loops = loops, .loop_count = 2});
	if (status == TTNN_OK)
		status = tt_backend_cpu.reshape(pair[1], pair[0]);
	if (status == TTNN_OK)
		status = tt_backend_cpu.range(pair[1], 0, 1);
	ttnn_tensor_unref(pair[0]);
	ttnn_tensor_unref(pair[1]);
	return status;
}
