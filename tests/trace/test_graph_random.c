/*
 * 2,000 random programs of operations under graph capture, nested captures and failures among them: the
 * nodes, their order, levels and edges are those of the model in graph_model.h.
 */
#include "test.h"

#include "trace/graph_model.h"

#define PROGRAMS 2000
#define TENSORS 8
#define CAPTURES 3

static uint64_t state = 8;
static ttnn_device *device;
static ttnn_tensor *tensors[TENSORS];
static size_t calls, failures;

static bool metal; /* the dialect of this program */
static enum ttnn_run_mode mode;

static uint64_t draw(uint64_t below)
{
	return test_random(&state) % below;
}

/* ---- captures -------------------------------------------------------------------------------------------- */

static struct model *models[CAPTURES];
static int captures;

static void begin_capture(void)
{
	struct model *model = model_new(metal, mode == TTNN_RUN_NO_DISPATCH);

	CHECK_OK(ttnn_graph_begin_as(mode, metal ? TTNN_DIALECT_TT_METAL : TTNN_DIALECT_SEED));
	CHECK_OK(tt_event_attach(&model->listener));
	models[captures++] = model;
}

static bool same(const struct model_list *want, const uint32_t *got, size_t count)
{
	return want->count == count &&
	       (!count || memcmp(want->items, got, count * sizeof(*got)) == 0);
}

static const char *list_text(char *out, size_t room, const uint32_t *items, size_t count)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < count && at + 12 < room; i++)
		at += (size_t)snprintf(out + at, room - at, " %u", items[i]);
	return out;
}

static bool agrees(const struct model_node *want, const struct ttnn_graph_node *got, size_t index,
		   int program)
{
	char first[512], second[512];

	if (strcmp(want->type, got->type) == 0 && strcmp(want->name, got->name) == 0 &&
	    want->level == got->level &&
	    same(&want->connections, got->connections, got->connection_count) &&
	    same(&want->inputs, got->inputs, got->input_count))
		return true;
	TEST_FAIL("program %d, node %zu: %s %s level %d:%s, not %s %s level %d:%s", program, index,
		  got->type, got->name, got->level,
		  list_text(first, sizeof(first), got->connections, got->connection_count),
		  want->type, want->name, want->level,
		  list_text(second, sizeof(second), want->connections.items,
			    want->connections.count));
	return false;
}

static void end_capture(int program)
{
	struct model *model = models[--captures];
	ttnn_graph *graph = NULL;
	struct ttnn_graph_node node;

	tt_event_detach(&model->listener);
	model_finish(model);
	CHECK_OK(ttnn_graph_end(&graph));
	CHECK(!model->overflow);
	if (ttnn_graph_count(graph) != model->count)
		TEST_FAIL("program %d: %zu nodes, not %u", program, ttnn_graph_count(graph),
			  model->count);
	for (size_t i = 0; i < model->count && ttnn_graph_get(&node, graph, i); i++)
		if (!agrees(&model->nodes[i], &node, i, program))
			break;
	ttnn_graph_free(graph);
	model_free(model);
}

/* ---- steps ----------------------------------------------------------------------------------------------- */

static void put(ttnn_tensor *tensor)
{
	size_t slot = draw(TENSORS);

	ttnn_tensor_unref(tensors[slot]);
	tensors[slot] = tensor;
}

static ttnn_tensor *any(void)
{
	return tensors[draw(TENSORS)];
}

static void call(const char *name, const struct ttnn_arg *args, size_t count)
{
	struct ttnn_results results = {.count = 0};

	calls++;
	if (ttnn_call(&results, name, args, count,
		      draw(2) ? TTNN_FRONTEND_PYTHON : TTNN_FRONTEND_C) != TTNN_OK) {
		failures++;
		return;
	}
	for (size_t i = 0; i < results.count; i++)
		if (results.tensors[i])
			put(results.tensors[i]);
}

static void make(void)
{
	/* The release leaves functions open when an operation fails: there, shapes always fit. */
	static const struct ttnn_shape shapes[] = {
		{2, {64, 64}}, {4, {1, 1, 64, 64}}, {2, {32, 64}}, {4, {2, 1, 32, 64}}};
	static const struct ttnn_memory_config places[] = {{.buffer = TTNN_DRAM},
							   {.buffer = TTNN_L1}};
	const struct ttnn_arg args[] = {{NULL, ttnn_v_shape(&shapes[metal ? 0 : draw(4)])},
					{"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
					{"layout", ttnn_v_layout(TTNN_TILE)},
					{"device", ttnn_v_device(device)},
					{"memory_config", ttnn_v_memory(&places[draw(2)])}};

	call(draw(2) ? "ttnn.zeros" : "ttnn.empty", args, 5);
}

static void run_unary(void)
{
	static const char *const names[] = {"ttnn.relu", "ttnn.exp",     "ttnn.gelu",
					    "ttnn.neg",  "ttnn.softmax", "ttnn.clone"};
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(any())},
					{"memory_config", ttnn_v_memory(&l1)}};

	call(names[draw(6)], args, 1 + draw(2));
}

static void run_binary(void)
{
	static const char *const names[] = {"ttnn.add",    "ttnn.multiply", "ttnn.subtract",
					    "ttnn.matmul", "ttnn.maximum",  "ttnn.linear"};
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(any())}, {NULL, ttnn_v_tensor(any())}};

	call(names[draw(6)], args, 2);
}

static void run_scalar(void)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(any())}, {NULL, ttnn_v_real(1.5)}};

	call(draw(2) ? "ttnn.add" : "ttnn.multiply", args, 2);
}

static void run_ternary(void)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(any())},
					{NULL, ttnn_v_tensor(any())},
					{NULL, ttnn_v_tensor(any())}};

	call(draw(2) ? "ttnn.where" : "ttnn.addcmul", args, 3);
}

static void run_concat(void)
{
	const struct ttnn_value items[] = {ttnn_v_tensor(any()), ttnn_v_tensor(any()),
					   ttnn_v_tensor(any())};
	const struct ttnn_arg args[] = {{NULL, ttnn_v_list(items, 1 + draw(3))},
					{"dim", ttnn_v_int(-1)}};

	call("ttnn.concat", args, 2);
}

static void run_split(void)
{
	const struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(any())}, {NULL, ttnn_v_int(32)}, {"dim", ttnn_v_int(-1)}};

	call("ttnn.split", args, 3);
}

static void run_transpose(void)
{
	const struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(any())}, {NULL, ttnn_v_int(-2)}, {NULL, ttnn_v_int(-1)}};

	call("ttnn.transpose", args, 3);
}

/* Over the host and back, or freed where others may still hold it. */
static void run_host(void)
{
	ttnn_tensor *tensor = any();
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(tensor)},
					{NULL, ttnn_v_device(device)}};

	if (draw(3) == 0)
		call("ttnn.deallocate", args, 1);
	else if (draw(2))
		call("ttnn.from_device", args, 1);
	else
		call("ttnn.to_device", args, 2);
}

static void drop(void)
{
	size_t slot = draw(TENSORS);

	ttnn_tensor_unref(tensors[slot]);
	tensors[slot] = NULL;
}

static bool is_full(void)
{
	for (size_t i = 0; i < TENSORS; i++)
		if (!tensors[i])
			return false;
	return true;
}

static void step(int program)
{
	static void (*const all[])(void) = {run_unary,  run_binary, run_scalar,    run_ternary,
					    run_concat, run_split,  run_transpose, run_host,
					    make,       drop};
	/* Of those that never fail. */
	static void (*const safe[])(void) = {run_unary, run_scalar, make};
	size_t choice = draw(40);

	if (choice == 0 && captures < CAPTURES)
		begin_capture();
	else if (choice == 1 && captures > 1)
		end_capture(program);
	else if (metal)
		safe[draw(3)]();
	else
		all[draw(10)]();
}

/* On a device of its own: what a dry run frees of real memory is not free again. */
static void set_up(void)
{
	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	while (!is_full())
		make();
}

static void clear(void)
{
	for (size_t i = 0; i < TENSORS; i++) {
		ttnn_tensor_unref(tensors[i]);
		tensors[i] = NULL;
	}
	ttnn_device_unref(device);
}

static void run_program(int program)
{
	metal = draw(4) == 0;
	mode = draw(3) == 0 ? TTNN_RUN_NO_DISPATCH : TTNN_RUN_NORMAL;
	set_up();
	begin_capture();
	for (size_t left = 3 + draw(25); left > 0; left--)
		step(program);
	while (captures)
		end_capture(program);
	clear();
}

TEST(graphs_are_those_of_the_model)
{
	for (int i = 0; i < PROGRAMS && test_failures < 5; i++)
		run_program(i);
	/* Most calls do something, and some fail: else this proves little. */
	CHECK(failures > 100 && failures < calls / 4);
}
