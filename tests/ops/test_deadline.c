/* Operations that take too long: they end, are told of, and the next ones work. @threads */
#include <stdatomic.h>
#include <time.h>

#include "test.h"

#include <ttnn_frontend.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/pool.h"
#include "golden/golden.h"

#define SECOND 1000000000u

static void nap(void *context, size_t begin, size_t end)
{
	atomic_size_t *done = context;
	struct timespec time = {.tv_nsec = 1000000};

	nanosleep(&time, NULL);
	atomic_fetch_add(done, end - begin);
}

TEST(loops_give_up)
{
	atomic_size_t done = 0;
	uint64_t begin = tt_clock_ns();

	tt_deadline_set_limit(20000000);
	tt_deadline_begin();
	tt_deadline_watch(true);
	tt_pool_for(60000, 1, nap, &done);
	CHECK(atomic_load(&done) < 60000);
	CHECK(tt_clock_ns() - begin < 25 * (uint64_t)SECOND); /* of a minute or so */
	CHECK_FAILS(tt_deadline_check(), TTNN_TIMEOUT, "TIMEOUT: the operation took longer");
	/* Short loops, too. */
	atomic_store(&done, 0);
	tt_pool_for(1, 1, nap, &done);
	CHECK_INT(atomic_load(&done), 0);
	/* Nobody watches: nothing is left out. */
	tt_deadline_watch(false);
	CHECK_OK(tt_deadline_check());
	CHECK(tt_deadline_passed());
	tt_pool_for(10, 1, nap, &done);
	CHECK_INT(atomic_load(&done), 10);
	/* The next call has its own time. */
	tt_deadline_set_limit(0);
	tt_deadline_begin();
	CHECK(!tt_deadline_passed());
}

static atomic_int questions;

static bool go_on_twice(void)
{
	return atomic_fetch_add(&questions, 1) < 2;
}

static void nested_naps(void *context, size_t begin, size_t end)
{
	tt_pool_for(10, 1, nap, context);
	(void)begin;
	(void)end;
}

/* Whom this thread asks is asked now and then, by loops with and without helpers. */
TEST(loops_ask)
{
	uint64_t begin = tt_clock_ns();
	atomic_size_t done = 0;

	for (unsigned threads = 1; threads <= 3; threads++) {
		tt_pool_set_threads(threads);
		atomic_store(&questions, 0);
		CHECK(ttnn_set_poll(go_on_twice) == NULL);
		tt_pool_for(60000, threads == 3 ? 20 : 1, threads == 2 ? nap : nested_naps, &done);
		CHECK(atomic_load(&done) < 600000);
		CHECK_INT(atomic_load(&questions), 3);
		CHECK(tt_deadline_passed());
		CHECK_FAILS(tt_deadline_check(), TTNN_CANCELLED,
			    "CANCELLED: the operation was interrupted");
		/* What comes behind gives up as well, without another question... */
		atomic_store(&done, 0);
		tt_pool_for(1, 1, nap, &done);
		tt_pool_for(100, 1, nap, &done);
		CHECK_INT(atomic_load(&done), 0);
		CHECK_INT(atomic_load(&questions), 3);
		/* ...until the next setting. */
		CHECK(ttnn_set_poll(NULL) == go_on_twice);
		CHECK_OK(tt_deadline_check());
		tt_pool_for(100, 1, nap, &done);
		CHECK_INT(atomic_load(&done), 100);
	}
	tt_pool_set_threads(0);
	CHECK(tt_clock_ns() - begin < 60 * (uint64_t)SECOND);
}

/* A call that was given up stays so when one within it has ended. */
TEST(calls_within_calls)
{
	ttnn_poll *before;

	atomic_store(&questions, 2);
	ttnn_set_poll(go_on_twice);
	while (!tt_deadline_stop())
		usleep(1000);
	before = ttnn_set_poll(go_on_twice);
	CHECK_OK(tt_deadline_check());
	ttnn_set_poll(before);
	ttnn_cancel();
	CHECK_FAILS(tt_deadline_check(), TTNN_CANCELLED, "was interrupted");
	ttnn_set_poll(NULL);
	CHECK_OK(tt_deadline_check());
}

/* ---- operations ------------------------------------------------------------------------------------------ */

static ttnn_device *device;

static ttnn_tensor *filled(uint32_t rows, uint32_t cols, double value)
{
	struct ttnn_shape shape = {2, {rows, cols}};
	const struct ttnn_arg args[] = {{NULL, ttnn_v_shape(&shape)},
					{NULL, ttnn_v_real(value)},
					{"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
					{"layout", ttnn_v_layout(TTNN_TILE)},
					{"device", ttnn_v_device(device)}};
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_call_one(&tensor, "ttnn.full", args, 5, TTNN_FRONTEND_C));
	return tensor;
}

static tt_status call(ttnn_tensor **out, const char *name, ttnn_tensor *a, ttnn_tensor *b)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(b)}};

	*out = NULL;
	return ttnn_call_one(out, name, args, b ? 2 : 1, TTNN_FRONTEND_C);
}

static float first(ttnn_tensor *tensor)
{
	struct ttnn_results host;
	const struct ttnn_arg arg = {NULL, ttnn_v_tensor(tensor)};
	float *numbers = NULL, number = NAN;
	size_t bytes;

	CHECK_OK(ttnn_call(&host, "ttnn.from_device", &arg, 1, TTNN_FRONTEND_C));
	bytes = ttnn_tensor_get_spec(host.tensors[0])->shape.dim[0] *
		(size_t)ttnn_tensor_get_spec(host.tensors[0])->shape.dim[1] * sizeof(float);
	numbers = malloc(bytes);
	CHECK_OK(ttnn_tensor_to_data(numbers, bytes, TTNN_FLOAT32, host.tensors[0]));
	number = numbers[0];
	free(numbers);
	ttnn_tensor_unref(host.tensors[0]);
	return number;
}

static uint64_t allocated(void)
{
	struct ttnn_memory_view view;

	CHECK_OK(ttnn_device_memory(&view, device, TTNN_DRAM));
	return view.allocated;
}

/* The error node, and that every function has ended. */
static void check_graph(const ttnn_graph *graph, const char *operation)
{
	struct ttnn_graph_node node;
	int open = 0, errors = 0, ended = 0;

	for (size_t i = 0; ttnn_graph_get(&node, graph, i); i++) {
		open += strcmp(node.type, "function_start") == 0;
		open -= strcmp(node.type, "function_end") == 0;
		ended += strcmp(node.type, "capture_end") == 0;
		if (strcmp(node.type, "error") != 0)
			continue;
		errors++;
		CHECK_STR(ttnn_graph_text(graph, i, "error_operation"), operation);
		CHECK(strstr(ttnn_graph_text(graph, i, "error_message"), "TIMEOUT") != NULL);
	}
	CHECK_INT(open, 0);
	CHECK_INT(errors, 1);
	CHECK_INT(ended, 1);
}

TEST(an_operation_that_hangs)
{
	ttnn_graph *graph = NULL;
	ttnn_tensor *a, *out;
	uint64_t before;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	a = filled(64, 64, -2);
	before = allocated();
	CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
	tt_deadline_set_limit(1);
	CHECK_FAILS(call(&out, "ttnn.abs", a, NULL), TTNN_TIMEOUT, "TIMEOUT: UnaryDeviceOperation");
	CHECK(!out);
	tt_deadline_set_limit(0);
	CHECK_OK(call(&out, "ttnn.abs", a, NULL));
	CHECK_OK(ttnn_graph_end(&graph));
	check_graph(graph, "ttnn::abs");
	CHECK(first(out) == 2);
	ttnn_tensor_unref(out);
	CHECK_INT(allocated(), before);
	ttnn_graph_free(graph);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

/* Packed weights are kept from call to call: those of a call that gave up must not be. */
TEST(what_is_kept_is_whole)
{
	ttnn_tensor *a, *b, *out;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	a = filled(64, 1024, 1);
	b = filled(1024, 2048, 0.5);
	for (int i = 0; i < 4; i++) {
		tt_deadline_set_limit(1);
		CHECK_FAILS(call(&out, "ttnn.matmul", a, b), TTNN_TIMEOUT, "TIMEOUT: Matmul");
		tt_deadline_set_limit(0);
	}
	for (int i = 0; i < 4; i++) {
		CHECK_OK(call(&out, "ttnn.matmul", a, b));
		CHECK(first(out) == 512);
		ttnn_tensor_unref(out);
	}
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
	ttnn_device_unref(device);
}

/* A limit that is kept changes nothing. */
TEST(time_enough)
{
	ttnn_tensor *a, *out;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	tt_deadline_set_limit(3600 * (uint64_t)SECOND);
	a = filled(64, 64, -2);
	CHECK_OK(call(&out, "ttnn.abs", a, NULL));
	CHECK(first(out) == 2);
	ttnn_tensor_unref(out);
	/* The clock plus this one is no time at all. */
	tt_deadline_set_limit(UINT64_MAX - 1);
	CHECK_OK(call(&out, "ttnn.abs", a, NULL));
	tt_deadline_set_limit(0);
	CHECK(first(out) == 2);
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

static tt_status product(ttnn_tensor *a)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(a)}};
	struct tt_arena arena = {0};
	struct tt_golden *golden = tt_arena_calloc(&arena, 1, sizeof(*golden));
	tt_status status = tt_golden_run(golden, &arena, "ttnn.matmul", args, 2);

	tt_arena_deinit(&arena);
	return status;
}

/* Goldens look at the clock, and ask whom this thread asks; a minute's work ends soon. */
TEST(a_golden_that_takes_long)
{
	ttnn_tensor *large, *small;
	uint64_t begin;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	large = filled(2048, 2048, 1);
	small = filled(32, 32, 1);
	begin = tt_clock_ns();
	tt_deadline_set_limit(200000000);
	CHECK_FAILS(product(large), TTNN_TIMEOUT, "TIMEOUT: ");
	tt_deadline_set_limit(0);
	CHECK_OK(product(small));
	atomic_store(&questions, 0);
	ttnn_set_poll(go_on_twice);
	CHECK_FAILS(product(large), TTNN_CANCELLED, "was interrupted");
	CHECK_INT(atomic_load(&questions), 3);
	ttnn_set_poll(NULL);
	CHECK_OK(product(small));
	CHECK(tt_clock_ns() - begin < 15 * (uint64_t)SECOND);
	ttnn_tensor_unref(large);
	ttnn_tensor_unref(small);
	ttnn_device_unref(device);
}
