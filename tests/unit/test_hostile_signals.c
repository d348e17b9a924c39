/*
 * test_hostile_signals.c: products and convolutions while signals come: handlers run on the stack of
 * whoever multiplies, and the numbers stay the same. @slow
 */
#include <sys/time.h>

#include "test.h"

#include "backend.h"
#include "hostile.h"

#define STACK_BYTES 32768 /* that a handler writes */
#define ROUNDS 4

static volatile sig_atomic_t signals_seen;

static void use_stack(int signal)
{
	volatile char room[STACK_BYTES];

	(void)signal;
	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = (char)0xa5;
	signals_seen++;
}

static void set_timer(long microseconds)
{
	struct itimerval timer = {{0, microseconds}, {0, microseconds}};

	CHECK_INT(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* Rows, depth, columns; which sides are turned. */
static const struct {
	const char *name;
	uint32_t size[3];
	bool transposed[2];
} shapes[] = {
	{"small", {64, 64, 64}, {false, false}},
	{"tails", {301, 517, 203}, {false, false}},
	{"one row", {1, 4096, 1024}, {false, false}},
	{"shallow", {512, 96, 512}, {false, false}},
	{"wide", {32, 256, 8192}, {false, false}},
	{"more columns than a block", {300, 700, 1100}, {false, false}},
	{"tall", {2048, 300, 64}, {false, false}},
	{"deep", {40, 20000, 40}, {false, false}},
	{"left turned", {260, 700, 600}, {true, false}},
	{"right turned", {260, 700, 600}, {false, true}},
	{"both turned", {300, 517, 1100}, {true, true}},
};

static struct tt_tensor *matrix(uint32_t rows, uint32_t cols, bool transposed,
				enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = {
		.shape = transposed ? TT_SHAPE(cols, rows) : TT_SHAPE(rows, cols), .dtype = dtype};
	struct ttnn_tensor_spec spec;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	return bk_random(&spec);
}

/* A few elements, added up in float64. */
static void check_some(const struct tt_matmul_job *job, const uint32_t size[3], const char *name)
{
	double *a = bk_read(job->a), *b = bk_read(job->b), *got = bk_read(job->out);

	for (int sample = 0; sample < 50; sample++) {
		uint64_t i = bk_below(size[0]), j = bk_below(size[2]);
		double want = 0, large = 0;

		for (uint64_t k = 0; k < size[1]; k++) {
			double x = a[job->transpose_a ? k * size[0] + i : i * size[1] + k];
			double y = b[job->transpose_b ? j * size[1] + k : k * size[2] + j];

			want += x * y;
			large += fabs(x * y);
		}
		if (fabs(got[i * size[2] + j] - want) > 2e-6 * (1 + large))
			TEST_FAIL("%s: %.9g, not %.9g", name, got[i * size[2] + j], want);
	}
	free(a);
	free(b);
	free(got);
}

static void check_shape(size_t n, enum ttnn_dtype dtype)
{
	const uint32_t *size = shapes[n].size;
	struct tt_matmul_job job = {.alpha = 1,
				    .beta = 1,
				    .transpose_a = shapes[n].transposed[0],
				    .transpose_b = shapes[n].transposed[1]};
	struct tt_tensor *calm = matrix(size[0], size[2], false, TTNN_FLOAT32);

	job.a = matrix(size[0], size[1], shapes[n].transposed[0], dtype);
	job.b = matrix(size[1], size[2], shapes[n].transposed[1], dtype);
	job.out = calm;
	CHECK_OK(tt_backend_cpu.matmul(&job));
	check_some(&job, size, shapes[n].name);
	job.out = matrix(size[0], size[2], false, TTNN_FLOAT32);
	set_timer(500);
	for (int round = hostile_rounds(ROUNDS); round > 0; round--) {
		memset(tt_tensor_data(job.out), 0xff, (size_t)job.out->spec.bytes);
		CHECK_OK(tt_backend_cpu.matmul(&job));
		if (memcmp(tt_tensor_data(job.out), tt_tensor_data(calm),
			   (size_t)calm->spec.bytes) != 0)
			TEST_FAIL("%s: a signal changed the product", shapes[n].name);
	}
	set_timer(0);
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(calm);
}

TEST(products_under_signals)
{
	struct sigaction action = {.sa_handler = use_stack, .sa_flags = SA_RESTART};

	CHECK_INT(sigaction(SIGALRM, &action, NULL), 0);
	bk_state = 33;
	for (size_t n = 0; n < sizeof(shapes) / sizeof(shapes[0]); n++) {
		check_shape(n, TTNN_FLOAT32);
		check_shape(n, TTNN_BFLOAT16);
	}
	CHECK(signals_seen > 0);
}

TEST(in_every_way)
{
	hostile_every_way("products_under_signals");
}
