/* traces as cards have them: captured operations, run again on other contents */
#include "test.h"

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

struct ear {
	struct tt_event_listener listener;
	int heard;
};

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	(void)event;
	((struct ear *)self)->heard++;
}

TEST(runs_are_not_told)
{
	ttnn_device *device = open_device();
	struct ear ear = {.listener = {hear}};
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
