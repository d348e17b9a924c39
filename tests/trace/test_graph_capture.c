/* Captures from C: the documented sample, nesting, failures, threads, reports. @threads */
#include <pthread.h>

#include <ttnn_frontend.h>

#include "test.h"

#include "base/file.h"
#include "base/json.h"

#define SAMPLE "tests/data/graph/sample"

static ttnn_tensor *empty(ttnn_device *device, const struct ttnn_shape *shape)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	const struct ttnn_arg args[] = {{NULL, ttnn_v_shape(shape)},
					{"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
					{"layout", ttnn_v_layout(TTNN_TILE)},
					{"device", ttnn_v_device(device)},
					{"memory_config", ttnn_v_memory(&l1)}};
	ttnn_tensor *tensor = NULL;

	CHECK_INT(ttnn_call_one(&tensor, "ttnn.empty", args, 5, TTNN_FRONTEND_C), TTNN_OK);
	return tensor;
}

static ttnn_tensor *add(ttnn_tensor *a, ttnn_tensor *b)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(b)}};
	ttnn_tensor *out = NULL;

	ttnn_call_one(&out, "ttnn.add", args, 2, TTNN_FRONTEND_C);
	return out;
}

static size_t count_type(const ttnn_graph *graph, const char *type)
{
	struct ttnn_graph_node node;
	size_t count = 0;

	for (size_t i = 0; ttnn_graph_get(&node, graph, i); i++)
		count += strcmp(node.type, type) == 0;
	return count;
}

/* ---- the sample ------------------------------------------------------------------------------------------ */

/* What is written in the sample must be there; what the memory map decides may differ. */
static void check_params(const ttnn_graph *graph, size_t index, const struct tt_json *wanted)
{
	struct tt_json_iter it = tt_json_iter(wanted);

	while (tt_json_next(&it)) {
		const char *got = ttnn_graph_text(graph, index, it.key);

		if (strcmp(it.key, "address") == 0 || strcmp(it.key, "size") == 0)
			CHECK(got != NULL);
		else
			CHECK_STR(got ? got : "nothing", tt_json_string(it.value, NULL));
	}
}

TEST(the_documented_sample)
{
	const struct ttnn_shape large = {4, {4, 3, 32, 32}}, small = {4, {1, 3, 32, 32}};
	struct ttnn_device_options old = {.profile = "n150", .generation = TTNN_GENERATION_CLASSIC};
	ttnn_device *device = NULL;
	struct tt_json_doc *doc = NULL;
	ttnn_graph *graph = NULL;
	ttnn_tensor *a, *b;
	char *want = NULL, *got = NULL;
	size_t size;

	CHECK_INT(ttnn_device_open(&device, 0, &old), TTNN_OK);
	a = empty(device, &large);
	b = empty(device, &small);
	CHECK_INT(ttnn_graph_begin_as(TTNN_RUN_NO_DISPATCH, TTNN_DIALECT_SEED), TTNN_OK);
	ttnn_tensor_unref(add(a, b));
	CHECK_INT(ttnn_graph_end(&graph), TTNN_OK);
	CHECK_INT(tt_json_load(&doc, SAMPLE ".json"), TTNN_OK);
	CHECK_INT(ttnn_graph_count(graph), 34);
	CHECK_INT(tt_json_count(tt_json_root(doc)), 34);
	for (size_t i = 0; i < 34; i++) {
		const struct tt_json *node = tt_json_at(tt_json_root(doc), i);
		const struct tt_json *connections = tt_json_get(node, "connections");
		struct ttnn_graph_node found;

		CHECK(ttnn_graph_get(&found, graph, i));
		CHECK_STR(found.type, tt_json_string(tt_json_get(node, "node_type"), NULL));
		CHECK_INT(found.connection_count, tt_json_count(connections));
		for (size_t k = 0; k < found.connection_count; k++) {
			uint64_t number = 0;

			CHECK(tt_json_uint(&number, tt_json_at(connections, k)));
			CHECK_INT(found.connections[k], number);
		}
		check_params(graph, i, tt_json_get(node, "params"));
	}
	CHECK_INT(tt_file_read(&want, &size, SAMPLE ".txt"), TTNN_OK);
	CHECK_INT(ttnn_graph_query(&got, graph, "pretty", 0), TTNN_OK);
	tt_json_free(doc);
	CHECK_INT(tt_json_parse(&doc, got, strlen(got), "text"), TTNN_OK);
	CHECK_STR(tt_json_string(tt_json_root(doc), NULL), want);
	ttnn_free(got);
	tt_free(want);
	tt_json_free(doc);
	ttnn_graph_free(graph);
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
	ttnn_device_unref(device);
}

/* ---- nesting, failures ------------------------------------------------------------------------------------ */

TEST(captures_nest)
{
	const struct ttnn_shape dims = {2, {32, 64}};
	ttnn_device *device = NULL;
	ttnn_graph *outer = NULL, *inner = NULL;
	ttnn_tensor *a;

	CHECK_INT(ttnn_device_open(&device, 0, NULL), TTNN_OK);
	a = empty(device, &dims);
	CHECK_INT(ttnn_graph_end(NULL), TTNN_STATE);
	CHECK_INT(ttnn_graph_begin(TTNN_RUN_NORMAL), TTNN_OK);
	ttnn_tensor_unref(add(a, a));
	CHECK_INT(ttnn_graph_begin(TTNN_RUN_NORMAL), TTNN_OK);
	CHECK_INT(ttnn_graph_depth(), 2);
	ttnn_tensor_unref(add(a, a));
	CHECK_INT(ttnn_graph_end(&inner), TTNN_OK);
	ttnn_tensor_unref(add(a, a));
	CHECK_INT(ttnn_graph_end(&outer), TTNN_OK);
	CHECK_INT(ttnn_graph_depth(), 0);
	CHECK_INT(count_type(inner, "buffer_allocate"), 1);
	CHECK_INT(count_type(outer, "buffer_allocate"), 3);
	ttnn_graph_free(inner);
	ttnn_graph_free(outer);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

TEST(a_failure_is_a_node_and_the_graph_is_whole)
{
	const struct ttnn_shape dims = {4, {1, 1, 64, 64}}, other = {4, {1, 1, 96, 64}};
	ttnn_device *device = NULL;
	ttnn_graph *graph = NULL;
	ttnn_tensor *a, *b, *failed;

	CHECK_INT(ttnn_device_open(&device, 0, NULL), TTNN_OK);
	a = empty(device, &dims);
	b = empty(device, &other);
	CHECK_INT(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED), TTNN_OK);
	failed = add(a, b);
	CHECK(!failed);
	ttnn_tensor_unref(add(a, a));
	CHECK_INT(ttnn_graph_end(&graph), TTNN_OK);
	CHECK_INT(count_type(graph, "error"), 1);
	CHECK_INT(count_type(graph, "function_start"), count_type(graph, "function_end"));
	for (size_t i = 0; i < ttnn_graph_count(graph); i++) {
		struct ttnn_graph_node node;

		ttnn_graph_get(&node, graph, i);
		if (strcmp(node.type, "error") != 0)
			continue;
		CHECK_STR(ttnn_graph_text(graph, i, "error_operation"), "ttnn::add");
		CHECK(strlen(ttnn_graph_text(graph, i, "error_message")) > 10);
	}
	ttnn_graph_free(graph);
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
	ttnn_device_unref(device);
}

/* ---- threads ------------------------------------------------------------------------------------------------ */

static void *add_often(void *context)
{
	ttnn_device *device = context;
	const struct ttnn_shape dims = {2, {32, 32}};
	ttnn_tensor *a = empty(device, &dims);

	for (int i = 0; i < 20; i++)
		ttnn_tensor_unref(add(a, a));
	ttnn_tensor_unref(a);
	return NULL;
}

TEST(every_thread_is_heard)
{
	ttnn_device *device = NULL;
	ttnn_graph *all = NULL, *mine = NULL;
	pthread_t threads[4];

	CHECK_INT(ttnn_device_open(&device, 0, NULL), TTNN_OK);
	CHECK_INT(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED), TTNN_OK);
	CHECK_INT(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_TT_METAL), TTNN_OK);
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, add_often, device), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(ttnn_graph_end(&mine), TTNN_OK);
	CHECK_INT(ttnn_graph_end(&all), TTNN_OK);
	/* An add, its prim, the device operation, the new tensor; empty and its new tensor. */
	CHECK_INT(count_type(all, "function_start"), 4 * (20 * 4 + 2));
	CHECK_INT(count_type(all, "function_end"), 4 * (20 * 4 + 2));
	CHECK_INT(ttnn_graph_count(mine), 2);
	ttnn_graph_free(mine);
	ttnn_graph_free(all);
	ttnn_device_unref(device);
}

static void *end_refused(void *who)
{
	ttnn_graph *graph = NULL;

	CHECK_INT(ttnn_graph_end(&graph), TTNN_STATE);
	CHECK(strstr(ttnn_error(), who) != NULL);
	CHECK(!graph);
	return NULL;
}

TEST(a_capture_ends_on_its_thread)
{
	struct ttnn_graph_options options = {.mode = TTNN_RUN_NO_DISPATCH, .where = "here"};
	char *text = NULL;
	pthread_t thread;

	end_refused((void *)(uintptr_t) "nor on another");
	CHECK_OK(ttnn_graph_begin_with(&options));
	CHECK_INT(pthread_create(&thread, NULL, end_refused,
				 (void *)(uintptr_t) "a NO_DISPATCH capture is open since"),
		  0);
	pthread_join(thread, NULL);
	/* What a nested begin would say, once. */
	CHECK_OK(ttnn_graph_open(&text));
	CHECK(strstr(text, ", begun in here: nothing is computed until") != NULL);
	ttnn_free(text);
	CHECK_OK(ttnn_graph_open(&text));
	CHECK(!text);
	CHECK_OK(ttnn_graph_end(NULL));
}

TEST(threads_of_nodes)
{
	struct ttnn_graph_options alone = {.this_thread = true};
	ttnn_graph *all = NULL, *mine = NULL;
	struct ttnn_graph_node node;
	ttnn_device *device = NULL;
	uint32_t starts[2] = {0};
	pthread_t thread;

	CHECK_INT(ttnn_device_open(&device, 0, NULL), TTNN_OK);
	CHECK_OK(ttnn_graph_begin_as(TTNN_RUN_NORMAL, TTNN_DIALECT_SEED));
	CHECK_OK(ttnn_graph_begin_with(&alone));
	add_often(device);
	CHECK_INT(pthread_create(&thread, NULL, add_often, device), 0);
	pthread_join(thread, NULL);
	CHECK_OK(ttnn_graph_end(&mine));
	CHECK_OK(ttnn_graph_end(&all));
	for (size_t i = 0; ttnn_graph_get(&node, all, i); i++) {
		CHECK_INT(node.thread >= 0, i && i + 1 < ttnn_graph_count(all));
		if (strcmp(node.type, "function_start") == 0)
			starts[node.thread & 1]++;
	}
	CHECK(strstr(ttnn_graph_text(all, 0, "threads"), "\"thread\":1}]") != NULL);
	CHECK_INT(starts[0], 20 * 4 + 2);
	CHECK_INT(starts[1], 20 * 4 + 2);
	CHECK_INT(count_type(mine, "function_start"), 20 * 4 + 2);
	for (size_t i = 0; ttnn_graph_get(&node, mine, i); i++)
		CHECK_INT(node.thread, -1);
	CHECK(!ttnn_graph_text(mine, 0, "threads"));
	ttnn_graph_free(mine);
	ttnn_graph_free(all);
	ttnn_device_unref(device);
}

/* ---- reports -------------------------------------------------------------------------------------------------- */

TEST(reports_are_written_and_read)
{
	const struct ttnn_shape dims = {2, {32, 64}};
	char path[] = "/tmp/ttnn_graph_XXXXXX", file[64], *text = NULL;
	ttnn_graph *graph = NULL, *again = NULL;
	ttnn_device *device = NULL;
	ttnn_tensor *a;

	CHECK(mkdtemp(path) != NULL);
	snprintf(file, sizeof(file), "%s/a/b/report.json", path);
	CHECK_INT(ttnn_device_open(&device, 0, NULL), TTNN_OK);
	a = empty(device, &dims);
	CHECK_INT(ttnn_graph_begin(TTNN_RUN_NORMAL), TTNN_OK);
	ttnn_tensor_unref(add(a, a));
	CHECK_INT(ttnn_graph_report(&text), TTNN_OK);
	CHECK(strstr(text, "\"capture_timestamp_ns\"") && strstr(text, "\"WORMHOLE_B0\""));
	CHECK(!strstr(text, "total_duration_ns"));
	CHECK_INT(ttnn_graph_end_to_file(&graph, file), TTNN_OK);
	CHECK_INT(ttnn_graph_load(&again, file), TTNN_OK);
	CHECK_INT(ttnn_graph_count(again), ttnn_graph_count(graph));
	CHECK_INT(ttnn_graph_begin(TTNN_RUN_NORMAL), TTNN_OK);
	CHECK_INT(ttnn_graph_end_to_file(NULL, "/proc/none/report.json"), TTNN_IO);
	CHECK_INT(ttnn_graph_depth(), 0);
	ttnn_free(text);
	ttnn_graph_free(graph);
	ttnn_graph_free(again);
	unlink(file);
	snprintf(file, sizeof(file), "%s/a/b", path);
	rmdir(file);
	snprintf(file, sizeof(file), "%s/a", path);
	rmdir(file);
	rmdir(path);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}
