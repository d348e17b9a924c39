/*
 * test_hostile_cut.c: a product that has no time left ends soon, also when all of it is one block of
 * huge depth. In processor time, so that others on the machine do not matter. @slow
 */
#include <time.h>

#include "test.h"

#include "backend.h"
#include "base/deadline.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "hostile.h"

#define ROWS 64
#define DEPTH 131072
#define COLS 512
#define LIMIT_NS 2000000

static double processor_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static struct tt_tensor *filled(ttnn_device *device, uint32_t rows, uint32_t cols, double value)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(rows, cols), .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *tensor = NULL;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	if (device)
		CHECK_OK(tt_device_tensor_new(&tensor, device, &spec));
	else
		CHECK_OK(tt_tensor_alloc(&tensor, &spec));
	CHECK_OK(tt_backend_cpu.fill(tensor, value, TT_FILL_ALL));
	return tensor;
}

/* Seconds of all threads for the product; it has as much time, or 0: all it wants. */
static double multiply(const struct tt_matmul_job *job, uint64_t limit_ns)
{
	double begin;

	tt_deadline_set_limit(limit_ns);
	tt_deadline_begin();
	tt_deadline_watch(true);
	begin = processor_seconds();
	CHECK_OK(tt_backend_cpu.matmul(job));
	begin = processor_seconds() - begin;
	tt_deadline_watch(false);
	tt_deadline_set_limit(0);
	tt_deadline_begin();
	return begin;
}

TEST(a_deep_product_ends)
{
	struct tt_matmul_job job = {.alpha = 1, .beta = 1};
	double whole = 0, cut;
	ttnn_device *device;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	job.a = filled(NULL, ROWS, DEPTH, 0.5);
	job.b = filled(device, DEPTH, COLS, 2);
	job.out = filled(NULL, ROWS, COLS, 0);
	for (int i = 0; i < 3; i++) /* weights are kept from the second time on */
		whole = multiply(&job, 0);
	for (int i = 0; i < ROWS * COLS; i++)
		if (((const float *)tt_tensor_data(job.out))[i] != DEPTH)
			TEST_FAIL("element %d of the product is wrong", i);
	for (int round = hostile_rounds(2); round > 0; round--) {
		cut = multiply(&job, LIMIT_NS);
		if (cut > whole / 5)
			TEST_FAIL("%.3f s of %.3f s, when %.3f s were allowed", cut, whole,
				  1e-9 * LIMIT_NS);
	}
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.out);
	ttnn_device_unref(device);
}

TEST(in_every_way)
{
	hostile_every_way("a_deep_product_ends");
}
