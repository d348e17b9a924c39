/*
 * backend.c: jobs of the CPU backend on 64 MB, in ratio to memcpy of as many bytes in the same run
 * (1.0 would be a job as fast as a copy), with one thread and with all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/backend.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define BYTES ((size_t)64 << 20)
#define ROUNDS 5

struct data {
	struct tt_tensor *out, *a, *b, *row, *col, *one;
};

/* Processor time with one thread: other work on the machine matters less. */
static clockid_t clock_in_use = CLOCK_MONOTONIC;

static double now(void)
{
	struct timespec ts;

	clock_gettime(clock_in_use, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void must(tt_status status)
{
	if (status == TTNN_OK)
		return;
	fprintf(stderr, "%s\n", ttnn_error());
	exit(1);
}

static struct tt_tensor *make(const struct ttnn_shape *shape, enum ttnn_dtype dtype,
			      enum ttnn_layout layout)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype, .layout = layout};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *tensor;

	must(ttnn_tensor_spec_make(&spec, &args));
	must(ttnn_tensor_new(&tensor, &spec));
	must(tt_backend_cpu.random(
		&(struct tt_random_job){.out = tensor, .seed = 1, .low = -3, .high = 3}));
	return tensor;
}

/* ---- jobs --------------------------------------------------------------------------------------- */

static void unary(const struct data *data, enum tt_unary_fn fn)
{
	struct tt_unary_step step = {.fn = fn};

	must(tt_backend_cpu.map(&(struct tt_map_job){
		.out = data->out, .arity = 1, .in = {data->a}, .post = &step, .post_count = 1}));
}

static void binary(const struct data *data, struct tt_tensor *other)
{
	must(tt_backend_cpu.map(&(struct tt_map_job){
		.out = data->out, .arity = 2, .in = {data->a, other}, .op = TT_BINARY_ADD}));
}

static void run_add(const struct data *data)
{
	binary(data, data->b);
}

static void run_add_row(const struct data *data)
{
	binary(data, data->row);
}

static void run_add_col(const struct data *data)
{
	binary(data, data->col);
}

static void run_add_in_place(const struct data *data)
{
	must(tt_backend_cpu.map(&(struct tt_map_job){
		.out = data->out, .arity = 2, .in = {data->out, data->b}, .op = TT_BINARY_ADD}));
}

static void run_relu(const struct data *data)
{
	unary(data, TT_UNARY_RELU);
}

static void run_exp(const struct data *data)
{
	unary(data, TT_UNARY_EXP);
}

static void run_gelu(const struct data *data)
{
	unary(data, TT_UNARY_GELU);
}

static void run_fill(const struct data *data)
{
	must(tt_backend_cpu.fill(data->out, 1.5, TT_FILL_ALL));
}

/* [4, 32, H, 64] and the output's order of dimensions. */
static void permute(const struct data *data, const int32_t order[4])
{
	const struct ttnn_shape *shape = &data->a->spec.shape;
	struct ttnn_shape four = {4, {4, 32, shape->dim[0] * shape->dim[1] / 8192, 64}},
			  other = four;
	struct tt_tensor *in, *out;
	struct tt_move_loop loops[4];
	struct ttnn_spec_args args = {
		.shape = four, .dtype = data->a->spec.dtype, .layout = data->a->spec.layout};
	struct ttnn_tensor_spec spec;

	must(ttnn_tensor_spec_make(&spec, &args));
	must(tt_tensor_wrap(&in, &spec, tt_storage_ref(data->a->storage), NULL));
	for (int32_t d = 0; d < 4; d++) {
		other.dim[d] = four.dim[order[d]];
		loops[d] = (struct tt_move_loop){other.dim[d], order[d], d, 1, 1};
	}
	args.shape = other;
	must(ttnn_tensor_spec_make(&spec, &args));
	must(tt_tensor_wrap(&out, &spec, tt_storage_ref(data->out->storage), NULL));
	must(tt_backend_cpu.move(
		&(struct tt_move_job){.out = out, .in = in, .loops = loops, .loop_count = 4}));
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
}

static void run_permute_0213(const struct data *data)
{
	permute(data, (const int32_t[]){0, 2, 1, 3});
}

static void run_permute_1023(const struct data *data)
{
	permute(data, (const int32_t[]){1, 0, 2, 3});
}

static void run_transpose(const struct data *data)
{
	permute(data, (const int32_t[]){0, 1, 3, 2});
}

/* Over the dimensions in `dims` (bits); results go to the column, the row or one element. */
static void sum(const struct data *data, uint32_t dims)
{
	struct tt_reduce_job job = {.in = data->a, .scale = 1, .dims = dims};

	job.out = dims == 2 ? data->col : dims == 1 ? data->row : data->one;
	must(tt_backend_cpu.reduce(&job));
}

static void run_sum_last(const struct data *data)
{
	sum(data, 2);
}

static void run_sum_first(const struct data *data)
{
	sum(data, 1);
}

static void run_sum_all(const struct data *data)
{
	sum(data, 3);
}

static void run_softmax(const struct data *data)
{
	must(tt_backend_cpu.softmax(&(struct tt_softmax_job){
		.out = data->out, .in = data->a, .dim = 1, .scale = 1, .stable = true}));
}

static void run_scan(const struct data *data)
{
	must(tt_backend_cpu.scan(&(struct tt_scan_job){.out = data->out, .in = data->a, .dim = 1}));
}

static void run_top(const struct data *data)
{
	must(tt_backend_cpu.sort(&(struct tt_sort_job){
		.in = data->a, .values = data->col, .dim = 1, .count = 1, .descending = true}));
}

static void run_random(const struct data *data)
{
	must(tt_backend_cpu.random(&(struct tt_random_job){.out = data->out, .high = 1}));
}

static const struct {
	const char *name;
	void (*run)(const struct data *data);
} jobs[] = {
	{"add", run_add},
	{"add in place", run_add_in_place},
	{"add a row", run_add_row},
	{"add a column", run_add_col},
	{"relu", run_relu},
	{"exp", run_exp},
	{"gelu", run_gelu},
	{"fill", run_fill},
	{"permute 1023", run_permute_1023},
	{"permute 0213", run_permute_0213},
	{"transpose", run_transpose},
	{"sum, last", run_sum_last},
	{"sum, first", run_sum_first},
	{"sum, all", run_sum_all},
	{"softmax", run_softmax},
	{"running sum", run_scan},
	{"largest", run_top},
	{"random", run_random},
};

/* ---- measuring ---------------------------------------------------------------------------------- */

static double measure(void (*run)(const struct data *), const struct data *data)
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now(), seconds;

		run(data);
		seconds = now() - start;
		best = seconds < best ? seconds : best;
	}
	return best;
}

static void run_memcpy(const struct data *data)
{
	memcpy(data->out->storage->data, data->a->storage->data, BYTES);
}

static void bench(enum ttnn_dtype dtype, enum ttnn_layout layout)
{
	uint32_t side = dtype == TTNN_FLOAT32 ? 4096 : 8192;
	struct ttnn_shape shape = TT_SHAPE((uint32_t)(BYTES / tt_dtype_bytes(dtype)) / side, side);
	struct ttnn_shape row = TT_SHAPE(1, side), col = TT_SHAPE(shape.dim[0], 1),
			  one = TT_SHAPE(1, 1);
	struct data data = {make(&shape, dtype, layout), make(&shape, dtype, layout),
			    make(&shape, dtype, layout), make(&row, dtype, layout),
			    make(&col, dtype, layout),   make(&one, dtype, layout)};
	double copy = measure(run_memcpy, &data);

	printf("%s %s, memcpy %.1f ms\n", ttnn_dtype_name(dtype, TTNN_DIALECT_SEED),
	       layout == TTNN_TILE ? "tiles" : "rows", 1e3 * copy);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		double single, all;

		tt_pool_set_threads(1);
		clock_in_use = CLOCK_PROCESS_CPUTIME_ID;
		single = measure(jobs[i].run, &data);
		tt_pool_set_threads(0);
		clock_in_use = CLOCK_MONOTONIC;
		all = measure(jobs[i].run, &data);
		printf("  %-14s %6.2f x memcpy, %u threads %6.2f\n", jobs[i].name, single / copy,
		       tt_pool_threads(), all / copy);
		copy = measure(run_memcpy, &data);
	}
	ttnn_tensor_unref(data.out);
	ttnn_tensor_unref(data.a);
	ttnn_tensor_unref(data.b);
	ttnn_tensor_unref(data.row);
	ttnn_tensor_unref(data.col);
	ttnn_tensor_unref(data.one);
}

int main(void)
{
	bench(TTNN_BFLOAT16, TTNN_TILE);
	bench(TTNN_BFLOAT16, TTNN_ROW_MAJOR);
	bench(TTNN_FLOAT32, TTNN_TILE);
	bench(TTNN_FLOAT32, TTNN_ROW_MAJOR);
	bench(TTNN_BFLOAT8_B, TTNN_TILE);
	return 0;
}
