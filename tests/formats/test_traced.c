/* test_traced.c: configurations of master files of every layout as calls with typed arguments. */
#include "sweep/traced.h"

#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "store/master.h"
#include "tensor/tensor.h"
#include "test.h"

static ttnn_device *device;

static tt_status make_tensor(ttnn_tensor **out, void *context,
			     const struct tt_traced_tensor *wanted)
{
	struct tt_tensor *tensor = tt_arena_calloc(context, 1, sizeof(*tensor));

	if (!tensor)
		return tt_fail_nomem();
	tensor->spec = wanted->spec;
	*out = tensor;
	return TTNN_OK;
}

/* Whether a configuration becomes a call that fits a signature; why not is told by ttnn_error(). */
static bool binds(struct tt_arena *arena, const struct tt_traced_config *config)
{
	struct tt_traced_maker maker = {.tensor = make_tensor, .context = arena, .device = device};
	const struct tt_op_entry *entry = tt_op_find(config->op);
	struct tt_traced_call call;
	struct tt_args args;

	return tt_traced_bind(&call, arena, config, &maker) == TTNN_OK &&
	       tt_sig_resolve(&args, &entry->overloads, call.args, call.count) == TTNN_OK;
}

static size_t count_bound(const char *path, size_t all)
{
	struct tt_traced traced;
	size_t bound = 0;

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	CHECK_OK(tt_traced_load(&traced, path));
	CHECK_INT(traced.count, all);
	for (size_t i = 0; i < traced.count; i++) {
		struct tt_arena arena = {0};

		bound += binds(&arena, &traced.configs[i]);
		tt_arena_deinit(&arena);
	}
	tt_traced_free(&traced);
	ttnn_device_unref(device);
	return bound;
}

TEST(all_of_november_2025_become_calls)
{
	CHECK_INT(count_bound("tests/data/master/master_2025-11.json.gz", 1079), 1079);
}

/* Traces of the released ttnn. */
TEST(configurations_of_2026_become_calls)
{
	CHECK_INT(count_bound("tests/data/master/models_merged.json.gz", 575), 575);
}

/* The same calls, whichever layout they were brought to and back from. */
TEST(all_become_calls_from_the_seeds_block)
{
	const char *path = test_path("seed.json");
	struct tt_master *master;

	CHECK_OK(tt_master_open(&master, "tests/data/master/master_2025-11.json.gz"));
	CHECK_OK(tt_master_save(master, path, TT_MASTER_SEED));
	tt_master_free(master);
	CHECK_INT(count_bound(path, 1079), 1079);
}

/* The block that the guide prints: without a layout it is TILE. */
TEST(a_tensor_without_a_layout_is_tiles)
{
	static const char block[] =
		"{\"operations\": {\"sigmoid_accurate\": {\"configurations\": [[{\"arg0\": {\"Tensor\": {"
		"\"tensor_spec\": {\"logical_shape\": [1, 1, 12544, 32], \"tensor_layout\": {\"dtype\": "
		"\"DataType::BFLOAT8_B\", \"memory_config\": {\"buffer_type\": \"BufferType::L1\", "
		"\"memory_layout\": \"TensorMemoryLayout::HEIGHT_SHARDED\", \"shard_spec\": {\"grid\": "
		"[{\"x\":0,\"y\":0}, {\"x\":7,\"y\":6}], \"shape\": [224, 32], \"orientation\": "
		"\"ShardOrientation::ROW_MAJOR\"}}}}}}}, {\"arg1\": \"1\"}, {\"arg2\": \"nullopt\"}, "
		"{\"arg3\": \"nullopt\"}]]}}}";
	struct tt_arena arena = {0};
	struct tt_traced_maker maker = {.tensor = make_tensor, .context = &arena};
	const char *path = test_path("block.json");
	struct tt_traced_call call;
	struct tt_traced traced;
	FILE *file = fopen(path, "w");

	fputs(block, file);
	fclose(file);
	CHECK_OK(tt_traced_load(&traced, path));
	CHECK_INT(traced.count, 1);
	CHECK_STR(traced.configs[0].op, "ttnn.sigmoid_accurate");
	CHECK_OK(tt_traced_bind(&call, &arena, &traced.configs[0], &maker));
	CHECK(call.count > 0 && call.args[0].value.kind == TTNN_VALUE_TENSOR);
	CHECK(call.args[0].value.tensor->spec.layout == TTNN_TILE);
	CHECK(call.args[0].value.tensor->spec.memory.shard.height == 224);
	tt_arena_deinit(&arena);
	tt_traced_free(&traced);
}

/* A semaphore is an object with fields; a quotient by a number is another signature, of which the file has all arguments. */
TEST(semaphores_and_numbers_become_arguments)
{
#define TENSOR                                                                                                \
	"{\"Tensor\": {\"tensor_spec\": {\"logical_shape\": [1, 1, 32, 256], \"tensor_layout\": {\"dtype\": " \
	"\"DataType::BFLOAT16\", \"memory_config\": {\"buffer_type\": \"BufferType::DRAM\", "                 \
	"\"memory_layout\": \"TensorMemoryLayout::INTERLEAVED\"}}}}}"
#define SEMAPHORE                                                                                        \
	"{\"GlobalSemaphore\": {\"cores\": [{\"x\": 0, \"y\": 0}, {\"x\": 7, \"y\": 7}], \"value\": 0, " \
	"\"buffer_type\": \"BufferType::L1\"}}"
	static const char text[] =
		"{\"operations\": {\"ttnn::div\": {\"configurations\": [{\"arguments\": [{\"arg0\": " TENSOR
		"}, {\"arg1\": \"8\"}, {\"arg2\": \"0\"}, {\"arg3\": \"nullopt\"}]}]}, "
		"\"ttnn::experimental::reduce_scatter_minimal_async\": {\"configurations\": "
		"[{\"arguments\": [{\"arg0\": " TENSOR
		"}, {\"arg1\": \"nullopt\"}, {\"arg2\": \"3\"}, {\"arg3\": [" SEMAPHORE
		", " SEMAPHORE "]}, {\"arg4\": " SEMAPHORE "}]}]}}}";
	struct tt_arena arena = {0};
	struct tt_traced_maker maker = {.tensor = make_tensor, .context = &arena};
	const char *path = test_path("semaphores.json");
	const struct ttnn_value *given;
	struct tt_traced_call call;
	struct tt_traced traced;
	size_t cores;

	CHECK_OK(tt_file_save(path, text, strlen(text)));
	CHECK_INT(count_bound(path, 2), 2);
	CHECK_OK(tt_traced_load(&traced, path));
	CHECK_OK(tt_traced_bind(&call, &arena, &traced.configs[1], &maker));
	CHECK_STR(call.args[call.count - 1].name, "barrier_semaphore");
	given = &call.args[call.count - 1].value;
	CHECK_INT(given->kind, TTNN_VALUE_OBJECT);
	CHECK_STR(given->schema->name, "GlobalSemaphore");
	CHECK_INT(ttnn_core_set_ranges(given->items[0].core_set, &cores)[0].end.x, 7);
	CHECK_INT(given->items[1].integer, 0);
	tt_arena_deinit(&arena);
	tt_traced_free(&traced);
}

/* Files may hold anything: it is told, not followed. */
TEST(arguments_that_are_none_are_told)
{
	static const char *const texts[] = {
		"{\"operations\": {\"ttnn::add\": {\"configurations\": [{\"arguments\": [[[\"1\"]], {\"arg1\": \"2\"}]}]}}}",
		("{\"operations\": {\"ttnn::conv2d\": {\"configurations\": [{\"arguments\": [{\"groups\": \"5\"}, "
		 "{\"conv_config\": \"[{...}]\"}]}]}}}"),
		"{\"operations\": {\"ttnn::add\": {\"configurations\": [{\"arguments\": [7, null, \"x\", {}]}]}}}",
	};
	const char *path = test_path("odd.json");

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK_OK(tt_file_save(path, texts[i], strlen(texts[i])));
		CHECK_INT(count_bound(path, 1), 0);
	}
}
