/*
 * test_hostile_caches.c: what is kept from call to call, far beyond what is kept at most, alone and
 * with @threads: plans of products, packed weights, programs.
 */
#include <pthread.h>

#include "test.h"

#include "backend.h"
#include "backend/cpu/dnnl.h"
#include "backend/cpu/weights.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/progcache.h"
#include "hostile.h"

#define THREADS 4
#define SIZES 200  /* of products; 64 plans are kept */
#define WEIGHTS 60 /* of which few fit below */
#define PROGRAMS 3000
#define ROOM ((size_t)1 << 20) /* for packed weights */

static ttnn_device *device;

static struct ttnn_tensor_spec spec_of(uint32_t rows, uint32_t cols)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(rows, cols), .dtype = TTNN_FLOAT32, .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	return spec;
}

static struct tt_tensor *filled(uint32_t rows, uint32_t cols, double value)
{
	struct ttnn_tensor_spec spec = spec_of(rows, cols);
	struct tt_tensor *tensor = NULL;

	CHECK_OK(tt_device_tensor_new(&tensor, device, &spec));
	CHECK_OK(tt_backend_cpu.fill(tensor, value, TT_FILL_ALL));
	return tensor;
}

/* Whether all of a product of filled matrices is `want`. */
static bool product_is(struct tt_tensor *a, struct tt_tensor *b, double want)
{
	struct ttnn_tensor_spec spec = spec_of(a->spec.shape.dim[0], b->spec.shape.dim[1]);
	struct tt_matmul_job job = {.alpha = 1, .beta = 1, .a = a, .b = b, .out = bk_blank(&spec)};
	double *values;
	bool good = true;

	CHECK_OK(tt_backend_cpu.matmul(&job));
	values = bk_read(job.out);
	for (uint64_t i = 0; i < bk_volume(&spec.shape); i++)
		good = good && values[i] == want;
	free(values);
	ttnn_tensor_unref(job.out);
	return good;
}

/* ---- plans --------------------------------------------------------------------------------------- */

static void *many_sizes(void *seed)
{
	uint64_t state = (uint64_t)(uintptr_t)seed;
	uintptr_t wrong = 0;

	for (int n = hostile_rounds(SIZES); n > 0; n--) {
		uint32_t rows = 64 + (uint32_t)(test_random(&state) % 64);
		uint32_t depth = 64 + (uint32_t)(test_random(&state) % 8);
		struct tt_tensor *a = filled(rows, depth, 0.5), *b = filled(depth, 96, 2);

		wrong += !product_is(a, b, depth);
		ttnn_tensor_unref(a);
		ttnn_tensor_unref(b);
	}
	return (void *)wrong;
}

/* ---- weights ------------------------------------------------------------------------------------- */

static struct tt_tensor *shared[WEIGHTS];

/* Each is asked for several times, so it is kept; and all together are too many. */
static void *many_weights(void *seed)
{
	uint64_t state = (uint64_t)(uintptr_t)seed;
	struct tt_tensor *a = filled(40, 256, 0.5);
	uintptr_t wrong = 0;

	for (int n = hostile_rounds(6 * WEIGHTS); n > 0; n--) {
		uint64_t at = test_random(&state) % WEIGHTS;

		wrong += !product_is(a, shared[at], 128 * (double)(at + 1));
		wrong += !product_is(a, shared[at], 128 * (double)(at + 1));
	}
	ttnn_tensor_unref(a);
	return (void *)wrong;
}

/* ---- programs ------------------------------------------------------------------------------------ */

static struct tt_progcache programs;

static void *many_programs(void *seed)
{
	uint64_t state = (uint64_t)(uintptr_t)seed;
	uintptr_t wrong = 0;

	for (int n = hostile_rounds(4 * PROGRAMS); n > 0; n--) {
		uint64_t number = test_random(&state) % PROGRAMS;
		struct tt_progcache_key key = {&number, sizeof(number)};
		struct tt_progcache_entry *entry = NULL;

		CHECK_OK(tt_progcache_find(&entry, &programs, &key, "TestOperation"));
		if (!entry) {
			uint64_t *data = tt_alloc(sizeof(*data));

			*data = number;
			CHECK_OK(tt_progcache_add(&entry, &programs, &key,
						  &(struct tt_progcache_payload){data, tt_free}));
		}
		wrong += *(uint64_t *)entry->payload.data != number;
		tt_progcache_unref(entry);
		if (n % 5000 == 0)
			tt_progcache_clear(&programs);
	}
	return (void *)wrong;
}

/* ---- all ----------------------------------------------------------------------------------------- */

static void in_threads(void *(*work)(void *seed))
{
	pthread_t threads[THREADS];
	void *wrong;

	CHECK(work((void *)(uintptr_t)1) == NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, work, (void *)(i + 2)), 0);
	for (int i = 0; i < THREADS; i++) {
		CHECK_INT(pthread_join(threads[i], &wrong), 0);
		CHECK(wrong == NULL);
	}
}

TEST(past_all_limits)
{
	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	in_threads(many_sizes);
	tt_weights_set_limit(ROOM);
	for (uint32_t i = 0; i < WEIGHTS; i++)
		shared[i] = filled(256, 256, i + 1);
	in_threads(many_weights);
	CHECK(tt_weights_bytes() > 0);
	CHECK(tt_weights_bytes() <= ROOM);
	tt_weights_set_limit(0);
	for (int i = 0; i < WEIGHTS; i++)
		ttnn_tensor_unref(shared[i]);
	tt_weights_drop();
	CHECK_INT(tt_weights_bytes(), 0);
	ttnn_device_unref(device);
	tt_progcache_init(&programs);
	in_threads(many_programs);
	tt_progcache_deinit(&programs);
}

TEST(in_every_way)
{
	hostile_every_way("past_all_limits");
}
