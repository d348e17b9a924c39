/*
 * test_backend_map.c: element-wise jobs over random shapes, types, layouts and tiles, against a loop
 * over the elements in float64.
 */
#include "test.h"

#include "backend.h"

/* ---- the reference ----------------------------------------------------------------------------- */

/* In float32, as the contract says: so results must be equal to the last bit. */
static double binary_ref(uint32_t op, double a, double b, bool whole)
{
	float x = (float)a, y = (float)b;

	switch (op) {
	case TT_BINARY_ADD:
		return whole ? a + b : (double)(x + y);
	case TT_BINARY_SUB:
		return whole ? a - b : (double)(x - y);
	case TT_BINARY_MUL:
		return whole ? (double)(uint32_t)((uint64_t)(int64_t)a * (uint64_t)(int64_t)b)
			     : (double)(x * y);
	case TT_BINARY_GT:
		return a > b;
	case TT_BINARY_MAXIMUM:
		return a > b ? a : b;
	default:
		return a == b;
	}
}

static double unary_ref(const struct tt_unary_step *step, double x, bool whole)
{
	switch (step->fn) {
	case TT_UNARY_RELU:
		return x > 0 ? x : 0;
	case TT_UNARY_NEG:
		return -x;
	case TT_UNARY_MUL_UNARY_SFPU:
		return whole ? x * step->params[0] : (double)((float)x * (float)step->params[0]);
	default:
		return fabs(x);
	}
}

static const uint32_t binaries[] = {TT_BINARY_ADD, TT_BINARY_SUB,     TT_BINARY_MUL,
				    TT_BINARY_GT,  TT_BINARY_MAXIMUM, TT_BINARY_EQ};
static const enum tt_unary_fn unaries[] = {TT_UNARY_RELU, TT_UNARY_NEG, TT_UNARY_ABS,
					   TT_UNARY_MUL_UNARY_SFPU};

struct operands {
	struct tt_map_job job;
	struct tt_unary_step steps[4][2];
	bool whole;
};

/* Makes some dimensions 1 and drops some leading ones. */
static struct ttnn_shape shrink(const struct ttnn_shape *from)
{
	struct ttnn_shape shape = *from;
	uint32_t drop = bk_chance(3) ? (uint32_t)bk_below(from->rank + 1) : 0;

	shape.rank -= drop;
	memmove(shape.dim, shape.dim + drop, shape.rank * sizeof(shape.dim[0]));
	for (uint32_t d = 0; d < shape.rank; d++)
		if (bk_chance(3))
			shape.dim[d] = 1;
	return shape;
}

static struct tt_unary_step random_step(void)
{
	return (struct tt_unary_step){unaries[bk_below(4)], 1, {3, 0, 0}};
}

static double evaluate(const struct operands *o, const double *const values[3], uint64_t n)
{
	const struct tt_map_job *job = &o->job;
	const struct ttnn_shape *shape = &job->out->spec.shape;
	double v[3] = {0};

	for (uint32_t k = 0; k < job->arity; k++) {
		v[k] = job->in[k] ? values[k][bk_broadcast(&job->in[k]->spec.shape, shape, n)]
				  : job->scalar[k];
		for (uint32_t s = 0; s < job->pre_count[k]; s++)
			v[k] = unary_ref(&job->pre[k][s], v[k], o->whole);
	}
	if (job->arity == 2)
		v[0] = binary_ref(job->op, v[0], v[1], o->whole);
	if (job->arity == 3)
		v[0] = v[0] != 0 ? v[1] : v[2];
	for (uint32_t s = 0; s < job->post_count; s++)
		v[0] = unary_ref(&job->post[s], v[0], o->whole);
	return v[0];
}

static void check_values(const struct operands *o, const double *const values[3])
{
	uint64_t count = bk_volume(&o->job.out->spec.shape);
	double *want = bk_new(count);

	for (uint64_t n = 0; n < count; n++)
		want[n] = evaluate(o, values, n);
	bk_check("map", o->job.out, want, 0);
	free(want);
}

/* ---- random jobs -------------------------------------------------------------------------------- */

static void make_job(struct operands *o)
{
	struct ttnn_shape shape = bk_shape((uint32_t)bk_below(6));
	struct tt_map_job *job = &o->job;
	struct ttnn_tensor_spec spec;
	bool floats;

	memset(o, 0, sizeof(*o));
	o->whole = bk_chance(3);
	job->arity = 1 + (uint32_t)bk_below(3);
	job->op = job->arity == 2 ? binaries[bk_below(6)] : 0;
	for (uint32_t k = 0; k < job->arity; k++) {
		struct ttnn_shape own = job->arity == 1 || bk_chance(2) ? shape : shrink(&shape);

		job->scalar[k] = o->whole ? 5 : 0.75;
		if (job->arity > 1 && bk_chance(8))
			continue;
		spec = bk_spec(&own, o->whole ? bk_int_dtype() : bk_float_dtype());
		job->in[k] = bk_random(&spec);
	}
	if (!job->in[0] && !job->in[1] && !job->in[2]) {
		spec = bk_spec(&shape, o->whole ? TTNN_INT32 : TTNN_BFLOAT16);
		job->in[0] = bk_random(&spec);
	}
	for (uint32_t k = 0; k < 4; k++)
		for (int s = 0; s < 2; s++)
			o->steps[k][s] = random_step();
	for (uint32_t k = 0; k < 3; k++) {
		job->pre[k] = o->steps[k];
		/* Products of three and more wrap where float64 does not. */
		job->pre_count[k] = o->whole || bk_chance(2) ? 0 : (uint32_t)bk_below(3);
	}
	job->post = o->steps[3];
	job->post_count = o->whole || bk_chance(2) ? 0 : (uint32_t)bk_below(3);
	/* Products of whole numbers are wrapped by the reference, which floats are not. */
	floats = !o->whole || (job->op != TT_BINARY_MUL && bk_chance(4));
	spec = bk_spec(&shape, floats ? bk_float_dtype() : bk_int_dtype());
	job->out = bk_blank(&spec);
	/* In place, where the type can hold the operand's values. */
	if (bk_chance(4) && job->in[0] && ttnn_shape_equal(&job->in[0]->spec.shape, &shape)) {
		ttnn_tensor_unref(job->out);
		job->out = ttnn_tensor_ref(job->in[0]);
	}
}

static void free_job(struct operands *o)
{
	for (uint32_t k = 0; k < 3; k++)
		ttnn_tensor_unref(o->job.in[k]);
	ttnn_tensor_unref(o->job.out);
}

TEST(random_jobs_equal_the_reference)
{
	bk_state = 11;
	for (int i = 0; i < 1500 && !test_failures; i++) {
		double *values[3] = {NULL};
		struct operands o;

		make_job(&o);
		for (uint32_t k = 0; k < 3; k++)
			if (o.job.in[k])
				values[k] = bk_read(o.job.in[k]);
		CHECK_OK(tt_backend_cpu.map(&o.job));
		check_values(&o, (const double *const *)values);
		if (test_failures)
			fprintf(stderr, "in case %d: arity %u op %u whole %d\n", i, o.job.arity,
				o.job.op, o.whole);
		for (uint32_t k = 0; k < 3; k++)
			free(values[k]);
		free_job(&o);
	}
}

/* ---- types and layouts ---------------------------------------------------------------------------- */

TEST(copies_convert_between_all_types_and_layouts)
{
	bk_state = 12;
	for (int i = 0; i < 800 && !test_failures; i++) {
		struct ttnn_shape shape = bk_shape((uint32_t)bk_below(6));
		bool in_whole = bk_chance(2), out_whole = in_whole && bk_chance(2);
		struct ttnn_tensor_spec from =
			bk_spec(&shape, in_whole ? bk_int_dtype() : bk_float_dtype());
		struct ttnn_tensor_spec to =
			bk_spec(&shape, out_whole ? bk_int_dtype() : bk_float_dtype());
		struct tt_tensor *in = bk_random(&from), *out = bk_blank(&to);
		double *values = bk_read(in);

		CHECK_OK(tt_backend_cpu.map(
			&(struct tt_map_job){.out = out, .arity = 1, .in = {in}}));
		bk_check("copy", out, values, 0);
		free(values);
		ttnn_tensor_unref(in);
		ttnn_tensor_unref(out);
	}
}

/* Integers as floats: a half is not cut off. */
TEST(integers_can_be_computed_as_floats)
{
	struct ttnn_shape shape = TT_SHAPE(3, 5);
	struct ttnn_spec_args args = {.shape = shape, .dtype = TTNN_INT32};
	struct ttnn_tensor_spec spec, result;
	struct tt_tensor *in, *out;
	double *values;
	struct tt_map_job job = {
		.arity = 2, .op = TT_BINARY_DIV, .scalar = {0, 2}, .as_float = true};

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	args.dtype = TTNN_FLOAT32;
	CHECK_OK(ttnn_tensor_spec_make(&result, &args));
	job.in[0] = in = bk_random(&spec);
	job.out = out = bk_blank(&result);
	values = bk_read(in);
	for (int i = 0; i < 15; i++)
		values[i] /= 2;
	CHECK_OK(tt_backend_cpu.map(&job));
	bk_check("division", out, values, 1e-7);
	free(values);
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
}

/* A typecast in the middle of a chain cuts the values. */
TEST(chains_cast_in_between)
{
	struct ttnn_shape shape = TT_SHAPE(4);
	struct ttnn_spec_args args = {.shape = shape, .dtype = TTNN_FLOAT32};
	const struct tt_unary_step steps[] = {{TT_UNARY_TYPECAST, 2, {TTNN_FLOAT32, TTNN_INT32, 0}},
					      {TT_UNARY_MUL_UNARY_SFPU, 1, {0.5, 0, 0}}};
	const double values[] = {1.75, -2.5, 3, 100.25}, want[] = {0.5, -1, 1.5, 50};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *in, *out;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	in = bk_tensor(&spec, values);
	out = bk_blank(&spec);
	CHECK_OK(tt_backend_cpu.map(&(struct tt_map_job){
		.out = out, .arity = 1, .in = {in}, .post = steps, .post_count = 2}));
	bk_check("cast", out, want, 0);
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
}

TEST(what_is_no_function_is_refused)
{
	struct ttnn_shape shape = TT_SHAPE(4);
	struct ttnn_tensor_spec spec = bk_spec(&shape, TTNN_INT32);
	struct tt_tensor *a = bk_random(&spec), *b = bk_blank(&spec);
	struct tt_unary_step sine = {TT_UNARY_SIN, 0, {0, 0, 0}};
	struct ttnn_shape other = TT_SHAPE(3);
	struct ttnn_tensor_spec small = bk_spec(&other, TTNN_INT32);
	struct tt_tensor *c = bk_random(&small);

	CHECK_FAILS(tt_backend_cpu.map(&(struct tt_map_job){
			    .out = b, .arity = 1, .in = {a}, .post = &sine, .post_count = 1}),
		    TTNN_UNSUPPORTED, "single integer elements");
	CHECK_FAILS(tt_backend_cpu.map(&(struct tt_map_job){
			    .out = b, .arity = 2, .in = {a, a}, .op = TT_BINARY_SITU_GLU}),
		    TTNN_UNSUPPORTED, "2 operands");
	CHECK_FAILS(tt_backend_cpu.map(&(struct tt_map_job){
			    .out = b, .arity = 2, .in = {a, c}, .op = TT_BINARY_ADD}),
		    TTNN_INTERNAL, "broadcast");
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
	ttnn_tensor_unref(c);
}

/* ---- the same bits ---------------------------------------------------------------------------------- */

static tt_status run_map(void *context)
{
	return tt_backend_cpu.map(context);
}

TEST(instruction_sets_and_threads_do_not_matter)
{
	static const enum tt_unary_fn fns[] = {TT_UNARY_EXP, TT_UNARY_GELU, TT_UNARY_TANH,
					       TT_UNARY_LOG1P};

	bk_state = 13;
	for (int i = 0; i < 12; i++) {
		struct ttnn_shape shape = TT_SHAPE(3, 130, 400), row = TT_SHAPE(130, 1);
		struct ttnn_tensor_spec spec = bk_spec(&shape, bk_float_dtype());
		struct ttnn_tensor_spec other = bk_spec(&row, bk_float_dtype());
		struct ttnn_tensor_spec result = bk_spec(&shape, bk_float_dtype());
		struct tt_unary_step step = {fns[i % 4], 0, {0, 0, 0}};
		struct tt_map_job job = {.out = bk_blank(&result),
					 .arity = 2,
					 .in = {bk_random(&spec), bk_random(&other)},
					 .op = TT_BINARY_ADD,
					 .post = &step,
					 .post_count = 1};

		bk_same_bits("map", run_map, &job, job.out);
		ttnn_tensor_unref(job.out);
		ttnn_tensor_unref(job.in[0]);
		ttnn_tensor_unref(job.in[1]);
	}
}

/* ---- memory ----------------------------------------------------------------------------------------- */

SCENARIO(running_out_of_memory)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(2, 33, 50), .layout = TTNN_TILE};
	struct tt_tensor *in = NULL, *out = NULL, *rows = NULL;
	struct ttnn_tensor_spec spec;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	status = ttnn_tensor_new(&in, &spec);
	if (status == TTNN_OK) {
		args.tile = (struct ttnn_tile){32, 32, true};
		status = ttnn_tensor_spec_make(&spec, &args);
	}
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&out, &spec);
	args.layout = TTNN_ROW_MAJOR;
	args.tile.transpose = false;
	if (status == TTNN_OK)
		status = ttnn_tensor_spec_make(&spec, &args);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&rows, &spec);
	if (status == TTNN_OK)
		status = tt_backend_cpu.map(&(struct tt_map_job){
			.out = out, .arity = 2, .in = {in, rows}, .op = TT_BINARY_ADD});
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(rows);
	return status;
}
