/*
 * One small operation through the whole door: nanoseconds per call, the best turn, beside an empty
 * function call and a malloc/free pair in the same run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ttnn_ops.h>

static ttnn_device *device;
static ttnn_tensor *a, *b, *big;
static int failures;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void expect(enum ttnn_status status)
{
	if (status != TTNN_OK && !failures++)
		fprintf(stderr, "%s\n", ttnn_error());
}

/* ---- what is measured ---------------------------------------------------------------------------- */

__attribute__((noinline)) static void nothing(void)
{
	__asm__ volatile("");
}

static void run_empty(void)
{
	nothing();
}

static void run_malloc(void)
{
	void *volatile block = malloc(256);

	free(block);
}

static void run_add(void)
{
	ttnn_tensor *sum = NULL;

	expect(ttnn_add(&sum, a, ttnn_v_tensor(b), NULL));
	ttnn_tensor_unref(sum);
}

static void run_relu(void)
{
	ttnn_tensor *out = NULL;

	expect(ttnn_relu(&out, a, NULL));
	ttnn_tensor_unref(out);
}

static void run_dry_big(void)
{
	ttnn_tensor *sum = NULL;

	expect(ttnn_add(&sum, big, ttnn_v_tensor(big), NULL));
	ttnn_tensor_unref(sum);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool dry;
} rows[] = {
	{"empty function call", run_empty, false},
	{"malloc and free of 256 bytes", run_malloc, false},
	{"add of 32x32, end to end", run_add, false},
	{"relu of 32x32, end to end", run_relu, false},
	{"add of 32x32, dry run", run_add, true},
	{"add of 8192x8192, dry run", run_dry_big, true},
};

/* ---- running ----------------------------------------------------------------------------------------- */

/* Short turns, so that some of them run undisturbed on a busy machine. */
static double best(void (*run)(void))
{
	double least = 1e30, end = now() + 5e8;
	int calls = 50;

	for (int turn = 0; now() < end; turn++) {
		double begin = now(), each;

		for (int i = 0; i < calls; i++)
			run();
		each = (now() - begin) / calls;
		least = each < least ? each : least;
		if (turn == 0 && each < 100)
			calls = 5000;
	}
	return least;
}

static void make(ttnn_tensor **out, uint32_t side)
{
	struct ttnn_shape shape = {.rank = 2, .dim = {side, side}};

	expect(ttnn_zeros(out, &shape,
			  &(struct ttnn_zeros_options){.dtype = ttnn_v_dtype(TTNN_BFLOAT16),
						       .layout = ttnn_v_layout(TTNN_TILE),
						       .device = ttnn_v_device(device)}));
}

int main(void)
{
	double call = 0, pair = 0;

	expect(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	make(&a, 32);
	make(&b, 32);
	ttnn_set_run_mode(TTNN_RUN_NO_DISPATCH);
	make(&big, 8192);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !failures; i++) {
		double each;

		ttnn_set_run_mode(rows[i].dry ? TTNN_RUN_NO_DISPATCH : TTNN_RUN_NORMAL);
		each = best(rows[i].run);
		call = i == 0 ? each : call;
		pair = i == 1 ? each : pair;
		printf("%-32s %9.1f ns  %8.1f calls  %7.1f malloc/free\n", rows[i].name, each,
		       each / call, pair > 0 ? each / pair : 0);
	}
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
	ttnn_tensor_unref(big);
	ttnn_device_unref(device);
	return failures != 0;
}
