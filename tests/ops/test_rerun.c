/* traces as cards have them: captured operations, run again on other contents; @threads */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "event/event.h"
#include "ops/op.h"

static ttnn_device *open_device(void)
{
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	return device;
}

/* A host tensor of 2 × 3 tiles, all of one number. */
static tt_status filled(ttnn_tensor **out, float number)
{
	struct ttnn_spec_args args = {
		.shape = {2, {33, 70}}, .dtype = TTNN_FLOAT32, .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;
	float numbers[33 * 70];

	for (size_t i = 0; i < 33 * 70; i++)
		numbers[i] = number;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return ttnn_tensor_from_data(out, numbers, TTNN_FLOAT32, &spec, 0);
}

static tt_status on_device(ttnn_tensor **out, ttnn_device *device, float number)
{
	ttnn_tensor *host;
	tt_status status;

	TT_TRY(filled(&host, number));
	status = ttnn_call_one(
		out, "ttnn.to_device",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)}, {NULL, ttnn_v_device(device)}}, 2,
		TTNN_FRONTEND_C);
	ttnn_tensor_unref(host);
	return status;
}

static tt_status rewrite(ttnn_tensor *tensor, float number)
{
	struct ttnn_results results = {.count = 0};
	ttnn_tensor *host;
	tt_status status;

	TT_TRY(filled(&host, number));
	status = ttnn_call(
		&results, "ttnn.copy_host_to_device_tensor",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)}, {NULL, ttnn_v_tensor(tensor)}}, 2,
		TTNN_FRONTEND_C);
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
	ttnn_tensor_unref(host);
	return status;
}

/* The number that fills a device tensor. */
static tt_status number_of(float *out, ttnn_tensor *tensor)
{
	float numbers[33 * 70];
	ttnn_tensor *host;
	tt_status status;

	TT_TRY(ttnn_call_one(&host, "ttnn.from_device",
			     (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tensor)}}, 1,
			     TTNN_FRONTEND_C));
	status = ttnn_tensor_to_data(numbers, sizeof(numbers), TTNN_FLOAT32, host);
	ttnn_tensor_unref(host);
	for (size_t i = 1; status == TTNN_OK && i < 33 * 70; i++)
		CHECK(numbers[i] == numbers[0]);
	*out = numbers[0];
	return status;
}

static tt_status op(ttnn_tensor **out, const char *name, ttnn_tensor *a, struct ttnn_value b)
{
	return ttnn_call_one(out, name, (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)}, {NULL, b}}, 2,
			     TTNN_FRONTEND_C);
}

static void check_number(ttnn_tensor *tensor, float want)
{
	float got = 0;

	CHECK_OK(number_of(&got, tensor));
	if (got != want)
		TEST_FAIL("the tensor holds %g, not %g", (double)got, (double)want);
}

/* (a + 1) × a: the sum is given up on the way. */
static tt_status forward(ttnn_tensor **out, ttnn_tensor *a)
{
	ttnn_tensor *sum;
	tt_status status;

	TT_TRY(op(&sum, "ttnn.add", a, ttnn_v_real(1)));
	status = op(out, "ttnn.multiply", sum, ttnn_v_tensor(a));
	ttnn_tensor_unref(sum);
	return status;
}

static uint64_t address_of(ttnn_tensor *tensor)
{
	struct ttnn_buffer_info info = {0};

	CHECK(ttnn_tensor_get_buffer(&info, tensor));
	return info.address;
}

TEST(a_trace_runs_on_new_contents)
{
	ttnn_device *device = open_device();
	ttnn_tensor *a = NULL, *warm = NULL, *out = NULL;
	struct ttnn_memory_view before, after;
	uint32_t id = 99;
	uint64_t address;

	CHECK_OK(on_device(&a, device, 3));
	CHECK_OK(forward(&warm, a));
	check_number(warm, 12);
	ttnn_tensor_unref(warm);

	CHECK(!ttnn_device_trace_active(device));
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK(ttnn_device_trace_active(device));
	CHECK_OK(forward(&out, a));
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	CHECK(!ttnn_device_trace_active(device));
	address = address_of(out);

	CHECK_OK(ttnn_device_trace_run(device, id));
	check_number(out, 12);
	CHECK_OK(ttnn_device_memory(&before, device, TTNN_DRAM));
	for (int i = 0; i < 5; i++) {
		CHECK_OK(rewrite(a, (float)i));
		CHECK_OK(ttnn_device_trace_run(device, id));
		check_number(out, (float)(i * (i + 1)));
	}
	CHECK_OK(ttnn_device_memory(&after, device, TTNN_DRAM));
	CHECK_INT(after.allocated, before.allocated);
	CHECK_INT(address_of(out), address);

	ttnn_device_trace_release(device, id);
	CHECK_FAILS(ttnn_device_trace_run(device, id), TTNN_STATE, "must exist on Mesh device");
	ttnn_device_trace_release(device, id);
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

TEST(nothing_is_computed_while_it_is_captured)
{
	ttnn_device *device = open_device();
	ttnn_tensor *a = NULL, *same = NULL;
	uint32_t id = 0;

	/* In place: each run counts on. */
	CHECK_OK(on_device(&a, device, 5));
	CHECK_OK(op(&same, "ttnn.add_", a, ttnn_v_real(1)));
	ttnn_tensor_unref(same);
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK_OK(op(&same, "ttnn.add_", a, ttnn_v_real(1)));
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	ttnn_tensor_unref(same);
	check_number(a, 6);
	CHECK_OK(ttnn_device_trace_run(device, id));
	CHECK_OK(ttnn_device_trace_run(device, id));
	check_number(a, 8);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

TEST(inputs_are_found_by_their_address)
{
	ttnn_device *device = open_device();
	ttnn_tensor *a = NULL, *out = NULL, *other = NULL;
	uint32_t id = 0;
	uint64_t address;

	CHECK_OK(on_device(&a, device, 2));
	CHECK_OK(forward(&out, a));
	ttnn_tensor_unref(out);
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK_OK(forward(&out, a));
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	address = address_of(a);
	ttnn_tensor_unref(a);
	CHECK_FAILS(ttnn_device_trace_run(device, id), TTNN_STATE, "no such tensor lies any more");
	CHECK_OK(on_device(&other, device, 4));
	CHECK_INT(address_of(other), address);
	CHECK_OK(ttnn_device_trace_run(device, id));
	check_number(out, 20);
	check_number(other, 4);

	/* A result that was given up is nobody's. */
	ttnn_tensor_unref(out);
	CHECK_OK(ttnn_device_trace_run(device, id));
	ttnn_tensor_unref(other);
	ttnn_device_close(device);
	CHECK_FAILS(ttnn_device_trace_run(device, id), TTNN_STATE, "closed");
	ttnn_device_unref(device);
}

TEST(captures_refuse_what_cards_refuse)
{
	ttnn_device *device = open_device();
	ttnn_tensor *a = NULL, *out = NULL, *never = NULL;
	uint32_t id = 0, second = 77;

	CHECK_OK(on_device(&a, device, 2));
	CHECK_FAILS(ttnn_device_trace_begin(&id, device, 1), TTNN_INVALID, "out of range");
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK_FAILS(ttnn_device_trace_begin(&second, device, 0), TTNN_STATE,
		    "CQ 0 is already being used for tracing tid");
	CHECK_INT(second, 77);
	CHECK_FAILS(forward(&never, a), TTNN_STATE, "Cannot load new binaries");
	CHECK_FAILS(on_device(&never, device, 1), TTNN_STATE,
		    "Writes are not supported during trace capture. trace id: ");
	CHECK_FAILS(rewrite(a, 1), TTNN_STATE, "Writes are not supported");
	CHECK_FAILS(ttnn_call_one(&never, "ttnn.from_device",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)}}, 1,
				  TTNN_FRONTEND_C),
		    TTNN_STATE, "Reads are not supported during trace capture.");
	CHECK_FAILS(ttnn_device_trace_run(device, id), TTNN_STATE, "still being captured");
	CHECK_FAILS(ttnn_device_trace_end(device, id + 1, 0), TTNN_STATE,
		    "CQ 0 is not being used for tracing tid");
	ttnn_device_trace_release(device, id);
	CHECK(!ttnn_device_trace_active(device));
	CHECK_FAILS(ttnn_device_trace_end(device, id, 0), TTNN_STATE, "not being used");
	CHECK_OK(forward(&out, a));
	check_number(out, 6);
	ttnn_tensor_unref(out);

	/* A dry run asks nobody for data, and leaves nothing in the trace. */
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	ttnn_set_run_mode(TTNN_RUN_NO_DISPATCH);
	CHECK_OK(forward(&out, a));
	ttnn_set_run_mode(TTNN_RUN_NORMAL);
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	CHECK_OK(ttnn_device_trace_run(device, id));
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(a);
	/* With a capture open. */
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	ttnn_device_unref(device);
}

TEST(closing_ends_what_is_captured)
{
	ttnn_device *device = open_device();
	uint32_t id = 0, second = 77;

	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	ttnn_device_close(device);
	CHECK(!ttnn_device_trace_active(device));
	CHECK_FAILS(ttnn_device_trace_end(device, id, 0), TTNN_STATE, "closed");
	CHECK_FAILS(ttnn_device_trace_begin(&second, device, 0), TTNN_STATE, "closed");
	CHECK_INT(second, 77);
	ttnn_device_trace_release(device, id);
	ttnn_device_unref(device);
}

/* A buffer that no program made, and that is gone when the capture ends. */
static tt_status through_scratch(ttnn_tensor **out, ttnn_tensor *a)
{
	ttnn_tensor *scratch, *sum = NULL;
	tt_status status;

	TT_TRY(ttnn_call_one(&scratch, "ttnn.empty_like",
			     (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)}}, 1, TTNN_FRONTEND_C));
	status = ttnn_call_one(&sum, "ttnn.add",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)},
						   {NULL, ttnn_v_real(1)},
						   {"output_tensor", ttnn_v_tensor(scratch)}},
			       3, TTNN_FRONTEND_C);
	ttnn_tensor_unref(sum);
	if (status == TTNN_OK)
		status = op(out, "ttnn.multiply", scratch, ttnn_v_tensor(a));
	ttnn_tensor_unref(scratch);
	return status;
}

TEST(scratch_is_made_again)
{
	ttnn_device *device = open_device();
	ttnn_tensor *a = NULL, *out = NULL, *other = NULL;
	uint32_t id = 0;

	CHECK_OK(on_device(&a, device, 3));
	CHECK_OK(through_scratch(&out, a));
	ttnn_tensor_unref(out);
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK_OK(through_scratch(&out, a));
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	CHECK_OK(ttnn_device_trace_run(device, id));
	check_number(out, 12);
	/* What lies there now has nothing to do with it. */
	CHECK_OK(on_device(&other, device, 50));
	CHECK_OK(rewrite(a, 4));
	CHECK_OK(ttnn_device_trace_run(device, id));
	check_number(out, 20);
	check_number(other, 50);
	ttnn_tensor_unref(other);
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

TEST(empty_tensors_have_no_place)
{
	struct ttnn_spec_args args = {
		.shape = {2, {0, 32}}, .dtype = TTNN_FLOAT32, .layout = TTNN_TILE};
	ttnn_device *device = open_device();
	ttnn_tensor *host = NULL, *none = NULL, *out = NULL;
	struct ttnn_tensor_spec spec;
	uint32_t id = 0;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&host, NULL, TTNN_FLOAT32, &spec, 0));
	CHECK_OK(ttnn_call_one(
		&none, "ttnn.to_device",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)}, {NULL, ttnn_v_device(device)}}, 2,
		TTNN_FRONTEND_C));
	CHECK_OK(op(&out, "ttnn.add", none, ttnn_v_real(1)));
	ttnn_tensor_unref(out);
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK_OK(op(&out, "ttnn.add", none, ttnn_v_real(1)));
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	ttnn_tensor_unref(out);
	CHECK_OK(ttnn_device_trace_run(device, id));
	ttnn_tensor_unref(none);
	CHECK_OK(ttnn_device_trace_run(device, id));
	ttnn_tensor_unref(host);
	ttnn_device_unref(device);
}

struct ear {
	struct tt_event_listener listener;
	int heard;
};

/* Ends a capture after a program was recorded, before its call is. */
struct ender {
	struct tt_event_listener listener;
	ttnn_device *device;
	uint32_t id;
	bool recorded, ended;
};

static void *end_now(void *context)
{
	struct ender *ender = context;

	CHECK_OK(ttnn_device_trace_end(ender->device, ender->id, 0));
	return NULL;
}

/* On a thread of its own: who hears an event takes no locks of those that come before it. */
static void end_early(struct tt_event_listener *self, const struct tt_event *event)
{
	struct ender *ender = (struct ender *)self;
	pthread_t thread;

	ender->recorded |= event->kind == TT_EVENT_PROGRAM_LAUNCH;
	if (!ender->recorded || ender->ended || event->kind != TT_EVENT_SCOPE_END)
		return;
	ender->ended = true;
	CHECK_INT(pthread_create(&thread, NULL, end_now, ender), 0);
	pthread_join(thread, NULL);
}

TEST(a_call_outlives_its_capture)
{
	struct ender ender = {.listener = {.emit = end_early}, .device = open_device()};
	ttnn_tensor *a = NULL, *out = NULL;

	CHECK_OK(on_device(&a, ender.device, 3));
	CHECK_OK(op(&out, "ttnn.add", a, ttnn_v_real(1)));
	ttnn_tensor_unref(out);
	CHECK_OK(ttnn_device_trace_begin(&ender.id, ender.device, 0));
	tt_event_listen(&ender.listener);
	CHECK_FAILS(op(&out, "ttnn.add", a, ttnn_v_real(1)), TTNN_STATE,
		    "ended while ttnn.add was recorded");
	tt_event_listen(NULL);
	CHECK(ender.ended);
	/* Nothing of it is left. */
	CHECK_OK(op(&out, "ttnn.add", a, ttnn_v_real(1)));
	check_number(out, 4);
	CHECK_OK(ttnn_device_trace_run(ender.device, ender.id));
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(a);
	ttnn_device_unref(ender.device);
}

/* Captures and runs until the device is closed. */
struct user {
	ttnn_device *device;
	ttnn_tensor *a;
	atomic_int runs;
	tt_status status;
};

static tt_status use_once(struct user *user)
{
	ttnn_tensor *out = NULL;
	tt_status status;
	uint32_t id;

	TT_TRY(ttnn_device_trace_begin(&id, user->device, 0));
	status = op(&out, "ttnn.add", user->a, ttnn_v_real(1));
	if (status == TTNN_OK)
		status = ttnn_device_trace_end(user->device, id, 0);
	for (int i = 0; i < 5 && status == TTNN_OK; i++)
		status = ttnn_device_trace_run(user->device, id);
	ttnn_device_trace_release(user->device, id);
	ttnn_tensor_unref(out);
	return status;
}

static void *use(void *data)
{
	struct user *user = data;

	while ((user->status = use_once(user)) == TTNN_OK)
		atomic_fetch_add(&user->runs, 1);
	tt_call_forget_thread();
	return NULL;
}

TEST(a_device_is_closed_while_traces_run)
{
	for (int i = 0; i < 10; i++) {
		struct user user = {.device = open_device()};
		ttnn_tensor *out = NULL;
		pthread_t thread;

		CHECK_OK(on_device(&user.a, user.device, 3));
		CHECK_OK(op(&out, "ttnn.add", user.a, ttnn_v_real(1)));
		ttnn_tensor_unref(out);
		CHECK_INT(pthread_create(&thread, NULL, use, &user), 0);
		while (atomic_load(&user.runs) < i)
			sched_yield();
		ttnn_device_close(user.device);
		pthread_join(thread, NULL);
		CHECK(user.status != TTNN_OK);
		CHECK(!ttnn_device_trace_active(user.device));
		ttnn_tensor_unref(user.a);
		ttnn_device_unref(user.device);
	}
}

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	(void)event;
	((struct ear *)self)->heard++;
}

TEST(runs_are_not_told)
{
	ttnn_device *device = open_device();
	struct ear ear = {.listener = {.emit = hear}};
	ttnn_tensor *a = NULL, *out = NULL;
	uint32_t id = 0;

	CHECK_OK(on_device(&a, device, 2));
	CHECK_OK(forward(&out, a));
	ttnn_tensor_unref(out);
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	tt_event_listen(&ear.listener);
	CHECK_OK(forward(&out, a));
	CHECK(ear.heard > 10);
	ear.heard = 0;
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	CHECK_OK(ttnn_device_trace_run(device, id));
	CHECK_INT(ear.heard, 0);
	tt_event_listen(NULL);
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

/* Tensors of a mesh, one of whose parts is taken out. */
TEST(traces_of_meshes)
{
	struct ttnn_device_options options = {.profile = "t3k"};
	struct ttnn_mesh_options mesh = {.rows = 1, .cols = 4};
	ttnn_device *device = NULL;
	ttnn_tensor *a = NULL, *out = NULL, *part = NULL, *last = NULL;
	uint32_t id = 0;

	CHECK_OK(ttnn_mesh_open(&device, &mesh, &options));
	CHECK_OK(on_device(&a, device, 2));
	CHECK_OK(forward(&out, a));
	CHECK_OK(ttnn_tensor_shard(&part, out, 3));
	CHECK_OK(op(&last, "ttnn.add", part, ttnn_v_real(0.5)));
	ttnn_tensor_unref(last);
	ttnn_tensor_unref(part);
	ttnn_tensor_unref(out);
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK_OK(forward(&out, a));
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	CHECK_OK(rewrite(a, 7));
	CHECK_OK(ttnn_device_trace_run(device, id));
	for (size_t i = 0; i < 4; i++) {
		CHECK_OK(ttnn_tensor_shard(&part, out, i));
		check_number(part, 56);
		ttnn_tensor_unref(part);
	}
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

/* Into its own argument, which is given twice. */
static tt_status add_into(ttnn_tensor *a)
{
	ttnn_tensor *same;

	TT_TRY(ttnn_call_one(&same, "ttnn.add",
			     (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)},
						 {NULL, ttnn_v_real(1)},
						 {"output_tensor", ttnn_v_tensor(a)}},
			     3, TTNN_FRONTEND_C));
	ttnn_tensor_unref(same);
	return TTNN_OK;
}

/* What is both read and written, on every chip. */
TEST(traces_of_meshes_work_in_place)
{
	struct ttnn_device_options options = {.profile = "t3k"};
	struct ttnn_mesh_options mesh = {.rows = 1, .cols = 4};
	ttnn_device *device = NULL;
	ttnn_tensor *a = NULL, *part = NULL;
	uint32_t id = 0;

	CHECK_OK(ttnn_mesh_open(&device, &mesh, &options));
	CHECK_OK(on_device(&a, device, 2));
	CHECK_OK(add_into(a));
	CHECK_OK(ttnn_device_trace_begin(&id, device, 0));
	CHECK_OK(add_into(a));
	CHECK_OK(ttnn_device_trace_end(device, id, 0));
	/* Bytes that all chips share until one writes. */
	CHECK_OK(rewrite(a, 10));
	CHECK_OK(ttnn_device_trace_run(device, id));
	CHECK_OK(ttnn_device_trace_run(device, id));
	for (size_t i = 0; i < 4; i++) {
		CHECK_OK(ttnn_tensor_shard(&part, a, i));
		check_number(part, 12);
		ttnn_tensor_unref(part);
	}
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

static tt_status capture_and_run(ttnn_device *device, ttnn_tensor *a)
{
	ttnn_tensor *out = NULL;
	tt_status status, ended;
	uint32_t id;

	TT_TRY(ttnn_device_trace_begin(&id, device, 0));
	status = forward(&out, a);
	ended = ttnn_device_trace_end(device, id, 0);
	if (status == TTNN_OK)
		status = ended;
	if (status == TTNN_OK)
		status = ttnn_device_trace_run(device, id);
	ttnn_tensor_unref(out);
	ttnn_device_trace_release(device, id);
	return status;
}

SCENARIO(traces)
{
	ttnn_tensor *a = NULL, *out = NULL;
	ttnn_device *device;
	tt_status status;

	TT_TRY(ttnn_device_open(&device, 0, NULL));
	status = on_device(&a, device, 3);
	if (status == TTNN_OK)
		status = forward(&out, a);
	ttnn_tensor_unref(out);
	if (status == TTNN_OK)
		status = capture_and_run(device, a);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	tt_call_forget_thread();
	return status;
}
