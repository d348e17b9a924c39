/*
 * test_hostile_product_forks.c: products before and after fork(), beside threads of others, and what
 * they leave of OpenMP, which oneDNN is made with: no threads, and the program's own setting. @threads
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "test.h"

#include "backend.h"
#include "hostile.h"

#define CHILD_SECONDS 60
#define SIDE 160

/* Asked by the thread sanitizer: children may start threads. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

static struct tt_tensor *matrix(uint32_t rows, uint32_t cols, enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(rows, cols), .dtype = dtype};
	uint64_t count = (uint64_t)rows * cols;
	struct ttnn_tensor_spec spec;
	struct tt_tensor *tensor;
	double *values = bk_new(count);

	for (uint64_t i = 0; i < count; i++)
		values[i] = (double)(i * 7919 % 257) / 64 - 2;
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	tensor = bk_tensor(&spec, values);
	free(values);
	return tensor;
}

/* Sizes that were never used have to be prepared by oneDNN. */
static bool multiplies(uint32_t rows)
{
	static const enum ttnn_dtype types[] = {TTNN_FLOAT32, TTNN_BFLOAT16};
	bool good = true;

	for (int n = 0; n < 2; n++) {
		struct tt_matmul_job job = {.alpha = 1, .beta = 1};
		double *a, *b, *c;

		job.a = matrix(rows, SIDE, types[n]);
		job.b = matrix(SIDE, SIDE, types[n]);
		job.out = matrix(rows, SIDE, TTNN_FLOAT32);
		good = good && tt_backend_cpu.matmul(&job) == TTNN_OK;
		a = bk_read(job.a);
		b = bk_read(job.b);
		c = bk_read(job.out);
		for (uint64_t i = 0; i < rows; i += 7) {
			double want = 0;

			for (uint64_t k = 0; k < SIDE; k++)
				want += a[i * SIDE + k] * b[k * SIDE + i % SIDE];
			good = good && fabs(c[i * SIDE + i % SIDE] - want) < 1e-3;
		}
		free(a);
		free(b);
		free(c);
		ttnn_tensor_unref(job.a);
		ttnn_tensor_unref(job.b);
		ttnn_tensor_unref(job.out);
	}
	return good;
}

/* A child that multiplies; true when it did so in time. */
static bool child_multiplies(uint32_t rows)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(CHILD_SECONDS);
		_exit(multiplies(rows) && multiplies(rows + 1) ? 0 : 1);
	}
	return hostile_wait(child);
}

static void a_child_multiplies(void)
{
	CHECK(multiplies(300));
	for (int round = hostile_rounds(3); round > 0; round--)
		CHECK(child_multiplies(300));
	CHECK(multiplies(301));
}

static void only_our_own_threads(void)
{
	for (uint32_t rows = 64; rows < 1200; rows += 190)
		CHECK(multiplies(rows));
	CHECK(hostile_threads() <= (int)tt_pool_threads());
}

/* The program may use OpenMP itself. */
static void openmp_is_left_as_it_was(void)
{
	void *library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
	void (*set)(int);
	int (*get)(void);

	if (!library)
		return;
	*(void **)&set = dlsym(library, "omp_set_num_threads");
	*(void **)&get = dlsym(library, "omp_get_max_threads");
	set(3);
	CHECK(multiplies(77));
	CHECK_INT(get(), 3);
	CHECK(hostile_threads() <= (int)tt_pool_threads());
}

static atomic_bool stop;

static void *multiply_on(void *rows)
{
	uint32_t n = 0;

	while (!atomic_load(&stop))
		if (!multiplies((uint32_t)(uintptr_t)rows + n++ % 100))
			return rows;
	return NULL;
}

/* Whoever forks does not know what other threads are doing. */
static void forks_beside_products(void)
{
	pthread_t threads[2];
	void *wrong;

	CHECK_INT(pthread_create(&threads[0], NULL, multiply_on, (void *)(uintptr_t)200), 0);
	CHECK_INT(pthread_create(&threads[1], NULL, multiply_on, (void *)(uintptr_t)300), 0);
	for (int round = hostile_rounds(10); round > 0; round--)
		CHECK(child_multiplies(400));
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(pthread_join(threads[i], &wrong), 0);
		CHECK(wrong == NULL);
	}
	atomic_store(&stop, false);
}

TEST(products_and_forks)
{
	/* The thread sanitizer has a thread of its own besides. */
	if (!TEST_FOLLOWS_FORKS)
		return;
	a_child_multiplies();
	only_our_own_threads();
	openmp_is_left_as_it_was();
	if (!HOSTILE_ASAN)
		forks_beside_products();
}

TEST(in_every_way)
{
	hostile_every_way("products_and_forks");
}
