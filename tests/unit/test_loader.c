#include <ttnn_configs.h>

#include "test.h"

#include "base/file.h"
#include "event/value.h"

#define MASTER "tests/data/master/master_2025-11.json.gz"

/* A column of a suite by its name; NULL when it has none. */
static const struct ttnn_suite_column *column(const ttnn_suite *suite, const char *name)
{
	const struct ttnn_suite_info *info = ttnn_suite_get(suite);

	for (size_t i = 0; i < info->column_count; i++)
		if (strcmp(info->columns[i].name, name) == 0)
			return &info->columns[i];
	return NULL;
}

TEST(the_real_file)
{
	const struct ttnn_memory_config *memory;
	const struct ttnn_suite_column *shapes, *memories;
	ttnn_configs *configs;
	ttnn_suite *suite;

	if (ttnn_configs_open(&configs, MASTER) != TTNN_OK) {
		TEST_FAIL("%s", ttnn_error());
		return;
	}
	CHECK(ttnn_configs_count(configs) == 35);
	CHECK(strcmp(ttnn_configs_name(configs, 0), "ttnn::pad") == 0);
	CHECK(!ttnn_configs_name(configs, 35));
	CHECK(ttnn_configs_of(configs, "nlp_concat_heads") == 15);
	CHECK(ttnn_configs_of(configs, "nothing") == 0);

	CHECK(ttnn_configs_suite(&suite, configs, "sigmoid_accurate", false) == TTNN_OK);
	CHECK(ttnn_suite_get(suite)->row_count == 30 && ttnn_suite_get(suite)->numbers[29] == 29);
	shapes = column(suite, "input_shape");
	memories = column(suite, "input_a_memory_config");
	CHECK(shapes && shapes->values[0].count == 4 &&
	      shapes->values[0].items[2].integer == 12544);
	memory = memories ? memories->values[0].memory : NULL;
	CHECK(memory && memory->has_shard && memory->shard.height == 224 &&
	      memory->shard.width == 32 && ttnn_core_set_cores(memory->shard.grid) == 56);
	ttnn_suite_free(suite);

	CHECK(ttnn_configs_suite(&suite, configs, "ttnn.add", true) == TTNN_OK);
	CHECK(ttnn_suite_get(suite)->product && ttnn_suite_get(suite)->column_count == 7);
	ttnn_suite_free(suite);
	CHECK(ttnn_configs_suite(&suite, configs, "nothing", false) == TTNN_OK);
	CHECK(ttnn_suite_get(suite)->column_count == 0);
	ttnn_suite_free(suite);
	ttnn_configs_free(configs);
}

/* What the guide prints: bare names, arguments alone, no layout. */
static const char seed[] =
	"{\"operations\": {\"sigmoid_accurate\": {\"configurations\": [[{\"arg0\": {\"Tensor\": {"
	"\"tensor_spec\": {\"logical_shape\": [1, 1, 12544, 32], \"tensor_layout\": {\"dtype\": "
	"\"DataType::BFLOAT8_B\", \"memory_config\": {\"buffer_type\": \"BufferType::L1\", "
	"\"memory_layout\": \"TensorMemoryLayout::HEIGHT_SHARDED\", \"shard_spec\": {\"grid\": "
	"[{\"x\":0,\"y\":0}, {\"x\":7,\"y\":6}], \"shape\": [224, 32], \"orientation\": "
	"\"ShardOrientation::ROW_MAJOR\"}}}}}}}]]}}, \"metadata\": {}}";

static const char own[] =
	"{\"operations\": {\"ttnn::scale\": {\"configurations\": ["
	"{\"arguments\": [{\"arg0\": {\"Tensor\": {\"tensor_spec\": {\"logical_shape\": [2], "
	"\"tensor_layout\": {\"dtype\": \"DataType::FLOAT32\"}}}}}, {\"arg1\": \"0.5\"}], "
	"\"source\": \"a\"},"
	"{\"arguments\": [{\"arg0\": \"1\"}, {\"arg1\": \"2\"}], \"source\": \"a\"},"
	"{\"arguments\": [{\"arg0\": {\"Tensor\": {\"tensor_spec\": {\"logical_shape\": [2], "
	"\"tensor_layout\": {\"dtype\": \"DataType::FLOAT32\"}}}}}, {\"arg1\": \"inf\"}], "
	"\"source\": \"a\"}]}}}";

static tt_status with_file(const char *text, tt_status (*use)(ttnn_configs *))
{
	const char *path = test_path("loader.json");
	ttnn_configs *configs = NULL;
	tt_status status;

	status = tt_file_save(path, text, strlen(text));
	if (status == TTNN_OK)
		status = ttnn_configs_open(&configs, path);
	if (status == TTNN_OK)
		status = use(configs);
	ttnn_configs_free(configs);
	unlink(path);
	return status;
}

static tt_status ask_seed(ttnn_configs *configs)
{
	ttnn_suite *suite;

	TT_TRY(ttnn_configs_suite(&suite, configs, "ttnn::sigmoid_accurate", false));
	CHECK(ttnn_suite_get(suite)->row_count == 1);
	CHECK(column(suite, "input_a_layout")->values[0].integer == TTNN_TILE);
	CHECK(column(suite, "input_a_memory_config")->values[0].memory->shard.height == 224);
	ttnn_suite_free(suite);
	return TTNN_OK;
}

static tt_status ask_own(ttnn_configs *configs)
{
	const struct ttnn_suite_info *info;
	ttnn_loaded *loaded;
	ttnn_suite *suite;

	TT_TRY(ttnn_configs_rule(configs, "ttnn.scale", "factor=real@1 storage_type=false"));
	TT_TRY(ttnn_configs_suite(&suite, configs, "scale", false));
	info = ttnn_suite_get(suite);
	CHECK(info->row_count == 2 && info->left_out == 1 && info->numbers[1] == 2);
	CHECK(column(suite, "factor")->values[0].real == 0.5);
	CHECK(isinf(column(suite, "factor")->values[1].real));
	CHECK(column(suite, "storage_type")->values[0].kind == TTNN_VALUE_BOOL);
	CHECK(strstr(info->text, "2 configurations, 1 with distinct inputs"));
	ttnn_suite_free(suite);
	TT_TRY(ttnn_configs_tensors(&loaded, configs, "scale"));
	CHECK(ttnn_loaded_value(loaded)->count == 3);
	ttnn_loaded_free(loaded);
	TT_TRY(ttnn_configs_arguments(&loaded, configs, "scale"));
	CHECK(ttnn_loaded_value(loaded)->items[0].items[1].kind == TTNN_VALUE_DICT);
	ttnn_loaded_free(loaded);
	return TTNN_OK;
}

TEST(what_the_guide_prints)
{
	CHECK(with_file(seed, ask_seed) == TTNN_OK);
}

static tt_status ask_badly(ttnn_configs *configs)
{
	static const char *const bad[] = {"factor=real",    "factor=reel@1",  "factor@1",
					  "=real@1",        "factor=real@1x", "factor=real@",
					  "factor=real@1.x"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(ttnn_configs_rule(configs, "scale", bad[i]), TTNN_INVALID);
	return TTNN_OK;
}

TEST(bad_columns)
{
	CHECK(with_file(own, ask_badly) == TTNN_OK);
}

TEST(own_columns)
{
	CHECK(with_file(own, ask_own) == TTNN_OK);
}

static const char two[] =
	"{\"metadata\": {}, \"operations\": {\"ttnn.add\": {\"configurations\": [{\"arguments\": "
	"{\"arg0\": {\"layout\": \"Layout.TILE\", \"memory_config\": {\"buffer_type\": "
	"\"BufferType.L1\", \"memory_layout\": \"TensorMemoryLayout.WIDTH_SHARDED\", \"shard_spec\": "
	"{\"grid\": [{\"end\": {\"x\": 1, \"y\": 0}, \"start\": {\"x\": 0, \"y\": 0}}], "
	"\"orientation\": \"ROW_MAJOR\", \"shape\": [32, 32]}}, \"original_dtype\": "
	"\"DataType.BFLOAT4_B\", \"original_shape\": [1, 64], \"storage_type\": "
	"\"StorageType.DEVICE\", \"type\": \"ttnn.Tensor\"}, \"arg1\": \"inf\", \"dtype\": {\"type\": "
	"\"DataType\", \"repr\": \"DataType.UINT8\"}}, \"config_hash\": \"h\", \"config_id\": 1, "
	"\"executions\": [{\"count\": 1, \"machine_info\": {\"card_count\": 2}, \"source\": \"a.py\"}, "
	"{\"count\": 3, \"machine_info\": null, \"source\": \"b.py\"}]}, {\"arguments\": {\"arg0\": 3}, "
	"\"config_hash\": \"g\"}]}}}";

static tt_status ask_two(ttnn_configs *configs)
{
	const struct ttnn_suite_info *info;
	ttnn_suite *suite;

	TT_TRY(ttnn_configs_suite(&suite, configs, "add", false));
	info = ttnn_suite_get(suite);
	CHECK(info->row_count == 3 && info->numbers[1] == 0 && info->numbers[2] == 1);
	CHECK(column(suite, "input_a_dtype")->values[0].integer == TTNN_BFLOAT4_B);
	CHECK(column(suite, "input_a_memory_config")->values[1].memory->shard.width == 32);
	CHECK(column(suite, "output_memory_config")->values[0].memory->layout ==
	      TTNN_WIDTH_SHARDED);
	CHECK(isinf(column(suite, "arg1")->values[0].real));
	CHECK(column(suite, "dtype")->values[0].integer == TTNN_UINT8);
	CHECK(strcmp(column(suite, "traced_source")->values[1].text, "b.py") == 0);
	CHECK(strcmp(column(suite, "input_a_shape")->values[2].text, "__ABSENT__") == 0);
	ttnn_suite_free(suite);
	return TTNN_OK;
}

TEST(files_of_2026)
{
	CHECK(with_file(two, ask_two) == TTNN_OK);
}

TEST(single_arguments)
{
	static const char memory[] =
		"{\"memory_layout\":\"TensorMemoryLayout::BLOCK_SHARDED\",\"buffer_type\":"
		"\"BufferType::L1\",\"shard_spec\":{\"grid\":[[{\"x\":0,\"y\":0},{\"x\":6,\"y\":6}]],"
		"\"shape\":\"{32, 96}\",\"orientation\":\"ShardOrientation::ROW_MAJOR\"}}";
	static const char unparsed[] =
		"{\"UnparsedElement\": {\"error\": \"e\", \"element_info\": \"{\\\"arg0\\\": "
		"{\\\"Tensor\\\":{\\\"tensor_spec\\\":{\\\"logical_shape\\\":[7],"
		"\\\"tensor_layout\\\":{\\\"dtype\\\":\\\"DataType::INT32\\\"}}}}}\"}}";
	struct ttnn_memory_config config;
	ttnn_loaded *loaded;

	CHECK(ttnn_configs_memory(&config, memory, strlen(memory)) == TTNN_OK);
	CHECK(config.shard.width == 96 && ttnn_core_set_cores(config.shard.grid) == 49);
	CHECK(ttnn_configs_memory(&config, "3", 1) == TTNN_FORMAT);
	CHECK(ttnn_configs_tensor(&loaded, unparsed, strlen(unparsed)) == TTNN_OK);
	CHECK(ttnn_loaded_value(loaded)->kind == TTNN_VALUE_DICT);
	ttnn_loaded_free(loaded);
	CHECK(ttnn_configs_tensor(&loaded, "{\"arg0\": 1}", 11) == TTNN_OK);
	CHECK(ttnn_loaded_value(loaded)->kind == TTNN_VALUE_NONE);
	ttnn_loaded_free(loaded);
	CHECK(ttnn_configs_tensor(&loaded, "{", 1) == TTNN_FORMAT);
}

/* Operations with lists among their arguments. */
static const char lists[] =
	"{\"operations\": {\"ttnn::permute\": {\"configurations\": [[{\"arg0\": {\"Tensor\": "
	"{\"tensor_spec\": {\"logical_shape\": [2, 3], \"tensor_layout\": {}}}}}, {\"arg1\": "
	"\"[1, 0]\"}]]}, \"ttnn::pad\": {\"configurations\": [[{\"arg0\": {\"Tensor\": "
	"{\"tensor_spec\": {\"logical_shape\": [2, 3], \"tensor_layout\": {}}}}}, {\"arg1\": "
	"\"[[0, 0], [1, 2]]\"}, {\"arg2\": \"0.5\"}]]}, \"ttnn::reshape\": {\"configurations\": "
	"[[{\"arg0\": {\"Tensor\": {\"tensor_spec\": {\"logical_shape\": [2, 3], "
	"\"tensor_layout\": {}}}}}, {\"arg1\": {\"Shape\": [6]}}], [{\"arg0\": {\"Tensor\": "
	"{\"tensor_spec\": {\"logical_shape\": [2, 3], \"tensor_layout\": {}}}}}, {\"arg1\": "
	"\"[-1, 2]\"}], [{\"arg0\": {\"Tensor\": {\"tensor_spec\": {\"logical_shape\": [2, 3], "
	"\"tensor_layout\": {}}}}}, {\"arg1\": \"[4]\"}]]}}}";

static tt_status ask_lists(ttnn_configs *configs)
{
	const struct ttnn_value *value;
	ttnn_suite *suite;

	TT_TRY(ttnn_configs_suite(&suite, configs, "permute", false));
	value = column(suite, "dims")->values;
	CHECK(value->count == 2 && value->items[0].integer == 1 && value->items[1].integer == 0);
	ttnn_suite_free(suite);
	TT_TRY(ttnn_configs_suite(&suite, configs, "pad", false));
	value = column(suite, "padding")->values;
	CHECK(value->count == 2 && value->items[1].items[1].integer == 2);
	CHECK(column(suite, "value")->values->real == 0.5);
	ttnn_suite_free(suite);
	TT_TRY(ttnn_configs_suite(&suite, configs, "reshape", false));
	CHECK(ttnn_suite_get(suite)->row_count == 2 && ttnn_suite_get(suite)->left_out == 1);
	value = column(suite, "target_shape")->values;
	CHECK(value[0].items[0].integer == 6 && value[1].items[0].integer == 3);
	ttnn_suite_free(suite);
	return TTNN_OK;
}

/* A configuration that makes no sense among others. */
static const char broken[] =
	"{\"operations\": {\"ttnn::relu\": {\"configurations\": [[{\"arg0\": {\"Tensor\": "
	"{\"tensor_spec\": {\"logical_shape\": [-2], \"tensor_layout\": {}}}}}], [{\"arg0\": "
	"{\"Tensor\": {\"tensor_spec\": {\"logical_shape\": [2], \"tensor_layout\": {}}}}}]]}}}";

static tt_status ask_broken(ttnn_configs *configs)
{
	ttnn_loaded *loaded;
	ttnn_suite *suite;

	TT_TRY(ttnn_configs_suite(&suite, configs, "relu", false));
	CHECK(ttnn_suite_get(suite)->row_count == 1 && ttnn_suite_get(suite)->left_out == 1);
	ttnn_suite_free(suite);
	TT_TRY(ttnn_configs_tensors(&loaded, configs, "relu"));
	CHECK(ttnn_loaded_value(loaded)->items[0].count == 0);
	CHECK(ttnn_loaded_value(loaded)->items[1].count > 0);
	ttnn_loaded_free(loaded);
	return TTNN_OK;
}

TEST(one_that_makes_no_sense)
{
	CHECK(with_file(broken, ask_broken) == TTNN_OK);
}

/* Arguments of 2026 that are a list; cores that overlap. */
static const char broken_2026[] =
	"{\"operations\": {\"ttnn.relu\": {\"configurations\": [{\"arguments\": {\"arg0\": 1}}, "
	"{\"arguments\": [[]]}, {\"arguments\": {\"arg0\": {\"type\": \"ttnn.Tensor\", "
	"\"original_shape\": [32, 32], \"original_dtype\": \"DataType.BFLOAT16\", "
	"\"memory_config\": {\"buffer_type\": \"BufferType.L1\", \"memory_layout\": "
	"\"TensorMemoryLayout.HEIGHT_SHARDED\", \"shard_spec\": {\"grid\": [{\"start\": {\"x\": 5, "
	"\"y\": 0}, \"end\": {\"x\": 0, \"y\": 0}}], \"shape\": [32, 32], \"orientation\": "
	"\"ShardOrientation.ROW_MAJOR\"}}}}}]}}}";

static tt_status ask_broken_2026(ttnn_configs *configs)
{
	ttnn_loaded *loaded;
	ttnn_suite *suite;

	TT_TRY(ttnn_configs_suite(&suite, configs, "relu", false));
	CHECK(ttnn_suite_get(suite)->row_count == 1 && ttnn_suite_get(suite)->left_out == 2);
	ttnn_suite_free(suite);
	TT_TRY(ttnn_configs_tensors(&loaded, configs, "relu"));
	ttnn_loaded_free(loaded);
	return TTNN_OK;
}

TEST(some_of_2026_that_make_no_sense)
{
	CHECK_OK(with_file(broken_2026, ask_broken_2026));
}

TEST(lists_among_arguments)
{
	CHECK(with_file(lists, ask_lists) == TTNN_OK);
}

/* The way that the guides' plugin takes. */
static tt_status add_operations(void)
{
	static const char operations[] =
		"[{\"operation\": \"ttnn::relu\", \"arguments\": [{\"UnparsedElement\": {\"error\": \"e\", "
		"\"element_info\": \"{\\\"arg0\\\": {\\\"MemoryConfig\\\":{\\\"shard_spec\\\":{\\\"grid\\\":"
		"[{\\\"x\\\":0,\\\"y\\\":0} - {\\\"x\\\":1,\\\"y\\\":0}]}}}}\"}}]}]";
	const char *path = test_path("operations.json");
	char *text = NULL;
	tt_status status;
	size_t added = 0;

	unlink(path);
	status = ttnn_configs_update(&added, path, operations, strlen(operations), "a.py");
	CHECK(status != TTNN_OK || added == 1);
	if (status == TTNN_OK)
		status = ttnn_configs_update(&added, path, operations, strlen(operations), "b.py");
	CHECK(status != TTNN_OK || added == 0);
	if (status == TTNN_OK)
		status = ttnn_configs_clean(&text, operations + 1, strlen(operations) - 2);
	CHECK(status != TTNN_OK || (strstr(text, "\"grid\"") && !strstr(text, "Unparsed")));
	ttnn_free(text);
	unlink(path);
	return status;
}

TEST(operations_are_added_once)
{
	size_t added;
	char *text;

	CHECK(add_operations() == TTNN_OK);
	CHECK(ttnn_configs_update(&added, "/dev/null/x", "{}", 2, "") != TTNN_OK);
	CHECK(ttnn_configs_clean(&text, "[]", 2) == TTNN_INVALID);
}

SCENARIO(memory_runs_out)
{
	TT_TRY(with_file(lists, ask_lists));
	TT_TRY(add_operations());
	TT_TRY(with_file(own, ask_own));
	TT_TRY(with_file(two, ask_two));
	return with_file(seed, ask_seed);
}
