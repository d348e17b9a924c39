/* test_master.c: master files: reading, repairing, writing. */
#include "store/master.h"

#include "base/file.h"
#include "base/vec.h"
#include "store/repair.h"
#include "store/sorted.h"
#include "test.h"

static const char real_file[] = "tests/data/master/master_2025-11.json.gz";

static struct tt_master *open_real(void)
{
	struct tt_master *master = NULL;

	CHECK_OK(tt_master_open(&master, real_file));
	return master;
}

/* Writes a text as a file and opens that. */
static tt_status open_text(struct tt_master **out, const char *text)
{
	const char *path = test_path("master.json");
	FILE *file = fopen(path, "w");

	*out = NULL;
	if (!file)
		return TTNN_IO;
	fputs(text, file);
	fclose(file);
	return tt_master_open(out, path);
}

TEST(the_real_file_is_read)
{
	struct tt_master *master = open_real();
	size_t total = 0;

	CHECK(tt_master_layout(master) == TT_MASTER_V1);
	CHECK(tt_master_op_count(master) == 35);
	for (size_t i = 0; i < tt_master_op_count(master); i++)
		total += tt_master_config_count(master, i);
	CHECK(total == 1079);
	tt_master_free(master);
}

TEST(names_are_found_in_any_spelling)
{
	static const struct {
		const char *name, *found;
	} cases[] = {
		{"add", "ttnn::add"},
		{"ttnn.add", "ttnn::add"},
		{"ttnn::add", "ttnn::add"},
		{"topk", "ttnn::topk"},
		{"nlp_concat_heads", "ttnn::experimental::nlp_concat_heads"},
		{"experimental.nlp_concat_heads", "ttnn::experimental::nlp_concat_heads"},
		{"experimental::nlp_concat_heads", "ttnn::experimental::nlp_concat_heads"},
		{"ttnn.experimental.nlp_concat_heads", "ttnn::experimental::nlp_concat_heads"},
		{"transformer::scaled_dot_product_attention",
		 "ttnn::transformer::scaled_dot_product_attention"},
		{"scaled_dot_product_attention", "ttnn::transformer::scaled_dot_product_attention"},
	};
	struct tt_master *master = open_real();
	size_t found[4];

	for (size_t i = 0; i < TT_COUNT(cases); i++) {
		CHECK_INT(tt_master_find(found, 4, master, cases[i].name), 1);
		CHECK_STR(tt_master_op_name(master, found[0]), cases[i].found);
	}
	CHECK_INT(tt_master_find(found, 4, master, "experimental.add"), 0);
	CHECK_INT(tt_master_find(found, 4, master, "concat_heads"), 0);
	CHECK_INT(tt_master_find(found, 4, master, ""), 0);
	tt_master_free(master);
}

/* Elements of the real file that could not be parsed, and those that cannot be recovered. */
TEST(elements_are_recovered)
{
	struct tt_master *master = open_real();
	struct tt_json_parser parser = {0};
	size_t before = 0, after = 0, semaphores = 0;

	for (size_t op = 0; op < tt_master_op_count(master); op++)
		for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
			const struct tt_json *args = NULL;
			struct tt_json_iter it;

			CHECK_OK(tt_master_args(&args, master, &parser, op, i));
			for (it = tt_json_iter(args); tt_json_next(&it);)
				before += tt_repair_unparsed(it.value, NULL) != NULL;
			CHECK_OK(tt_master_repaired(&args, master, &parser, op, i));
			for (it = tt_json_iter(args); tt_json_next(&it);) {
				const char *left = tt_repair_unparsed(it.value, NULL);

				after += left != NULL;
				semaphores += left && (strstr(left, "Topology") ||
						       strstr(left, "GlobalSemaphore"));
			}
		}
	CHECK_INT(before, 627);
	CHECK_INT(after, 54);
	CHECK_INT(semaphores, 54);
	tt_json_parser_deinit(&parser);
	tt_master_free(master);
}

/* The text of an element, and what it is read as; NULL: it stays. */
static const struct {
	const char *text, *element;
} elements[] = {
	{"{\"arg0\": {\"grid\":[{\"x\":0,\"y\":0} - {\"x\":7,\"y\":6}]}}",
	 "{\"arg0\": {\"grid\":[{\"x\":0,\"y\":0}, {\"x\":7,\"y\":6}]}}"},
	{"{\"arg0\": {\"grid\":{[{\"x\":0,\"y\":0} - {\"x\":7,\"y\":2}], [{\"x\":0,\"y\":3} - {\"x\":0,\"y\":3}]}}}",
	 "{\"arg0\": {\"grid\":[[{\"x\":0,\"y\":0}, {\"x\":7,\"y\":2}], [{\"x\":0,\"y\":3}, {\"x\":0,\"y\":3}]]}}"},
	{"{\"arg8\": {\"SDPAProgramConfig\":{\"compute_grid\":8,8, \"q_chunk_size\":64}}}",
	 "{\"arg8\": {\"SDPAProgramConfig\":{\"compute_grid\":[8,8], \"q_chunk_size\":64}}}"},
	{"{\"arg8\": {\"SDPAProgramConfig\":{\"compute_grid\":8,8}}}",
	 "{\"arg8\": {\"SDPAProgramConfig\":{\"compute_grid\":[8,8]}}}"},
	{"{\"arg0\": \"[{\"storage\":{}}, {\"storage\":{}}]\"}",
	 "{\"arg0\": [{\"storage\":{}}, {\"storage\":{}}]}"},
	{"{\"arg6\": {\"Topology\":{...}}}", NULL},
	{"{\"arg6\": ", NULL},
	{"{}", NULL},
	{"", NULL},
};

TEST(texts_are_repaired_by_rules)
{
	struct tt_repair repair = {0};

	for (size_t i = 0; i < TT_COUNT(elements); i++) {
		const struct tt_json *element;

		CHECK_OK(tt_repair_text(&element, &repair, elements[i].text,
					strlen(elements[i].text)));
		CHECK((element != NULL) == (elements[i].element != NULL));
		if (element)
			CHECK_STR(tt_str_text(&repair.text), elements[i].element);
	}
	tt_repair_deinit(&repair);
}

TEST(all_layouts_are_told_apart)
{
	static const struct {
		const char *text;
		enum tt_master_layout layout;
		const char *source;
	} cases[] = {
		{"{\"operations\": {\"ttnn::relu\": {\"configurations\": [{\"arguments\": [{\"arg0\": \"1\"}], "
		 "\"source\": \"a.py\"}]}}}",
		 TT_MASTER_V1, "a.py"},
		{"{\"operations\": {\"ttnn::relu\": {\"configurations\": [{\"arguments\": [{\"arg0\": \"1\"}], "
		 "\"source\": [\"a.py\", \"b.py\"]}]}}}",
		 TT_MASTER_V1, "a.py"},
		{"{\"operations\": {\"ttnn::relu\": {\"configurations\": [[{\"arg0\": \"1\"}]]}}}",
		 TT_MASTER_V1, ""},
		{"{\"content\": [{\"operation\": \"ttnn::relu\", \"arguments\": [{\"arg0\": \"1\"}]}]}",
		 TT_MASTER_V1, "unknown"},
		{"{\"operations\": {\"relu\": {\"configurations\": [[{\"arg0\": \"1\"}]]}}}",
		 TT_MASTER_SEED, ""},
		{"{\"operations\": {\"ttnn.relu\": {\"configurations\": [{\"arguments\": {\"arg0\": 1}, "
		 "\"executions\": [{\"count\": 3, \"source\": \"a.py\"}, {\"count\": 2}]}]}}}",
		 TT_MASTER_V2, "a.py"},
	};

	for (size_t i = 0; i < TT_COUNT(cases); i++) {
		struct tt_master *master;
		struct tt_master_config config;

		CHECK_OK(open_text(&master, cases[i].text));
		CHECK(tt_master_layout(master) == cases[i].layout);
		CHECK_INT(tt_master_op_count(master), 1);
		CHECK_INT(tt_master_config_count(master, 0), 1);
		tt_master_config(&config, master, 0, 0);
		CHECK_STR(config.source, cases[i].source);
		CHECK_INT(config.count, cases[i].layout == TT_MASTER_V2 ? 5 : 1);
		tt_master_free(master);
	}
}

TEST(wrong_files_are_told_with_their_place)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "master.json:1:1: "},
		{"[]", "master.json:1:1: a master file is an object"},
		{"{}", "no \"operations\""},
		{"{\"operations\": [\n]}", "master.json:1:16: \"operations\" is no object"},
		{"{\"operations\": {\n \"ttnn::add\": 5}}",
		 "master.json:2:15: an operation is no object"},
		{"{\"operations\": {\"ttnn::add\": {\"configurations\": {}}}}",
		 "\"configurations\" is no list"},
		{"{\"operations\": {\"ttnn::add\": {\"configurations\": [\n 7]}}}",
		 "master.json:2:2: "},
		{"{\"operations\": {}", "master.json:1:"},
		{"{\"operations\": {}} x", "master.json:1:"},
		{"{\"content\": [{\"operation\": 1}]}", "master.json:1:14: "},
	};
	struct tt_master *master;

	for (size_t i = 0; i < TT_COUNT(cases); i++)
		CHECK_FAILS(open_text(&master, cases[i].text), TTNN_FORMAT, cases[i].message);
	CHECK_FAILS(tt_master_open(&master, test_path("none.json")), TTNN_NOTFOUND, "none.json");
}

TEST(an_argument_that_is_wrong_is_told_when_it_is_asked_for)
{
	struct tt_json_parser parser = {0};
	const struct tt_json *args;
	struct tt_master *master;

	CHECK_OK(open_text(&master, "{\"operations\": {\"ttnn::add\": {\"configurations\": [\n"
				    "[{\"arg0\": 1}],\n [{\"arg0\" 1}], {\"source\": \"x\"}]}}}"));
	CHECK_OK(tt_master_args(&args, master, &parser, 0, 0));
	CHECK_FAILS(tt_master_args(&args, master, &parser, 0, 1), TTNN_FORMAT,
		    "master.json:3:11: ");
	CHECK_FAILS(tt_master_args(&args, master, &parser, 0, 2), TTNN_FORMAT,
		    "ttnn::add, configuration 2: it has no arguments");
	tt_json_parser_deinit(&parser);
	tt_master_free(master);
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

/* Whether two files hold the same bytes, unpacked. */
static bool same_files(const char *a, const char *b)
{
	size_t left_size = 0, right_size = 0;
	char *left = NULL, *right = NULL;
	bool same;

	CHECK_OK(tt_file_read(&left, &left_size, a));
	CHECK_OK(tt_file_read(&right, &right_size, b));
	same = left && right && left_size == right_size && memcmp(left, right, left_size) == 0;
	tt_free(left);
	tt_free(right);
	return same;
}

TEST(the_real_file_comes_back_to_the_byte)
{
	const char *path = test_path("round.json"), *shorter = test_path("shorter.json");
	struct tt_master *master = open_real();
	size_t size;
	char *text;

	CHECK_OK(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(master);
	CHECK(same_files(path, real_file));
	/* As the tracer writes it: without a newline at the end. */
	CHECK_OK(tt_file_read(&text, &size, real_file));
	CHECK(text[size - 1] == '\n');
	CHECK_OK(tt_file_save(shorter, text, size - 1));
	tt_free(text);
	CHECK_OK(tt_master_open(&master, shorter));
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(master);
	CHECK(same_files(path, shorter));
}

TEST(gzip_is_not_written)
{
	struct tt_master *master;

	CHECK_OK(tt_master_new(&master, TT_MASTER_V1));
	CHECK_FAILS(tt_master_save(master, test_path("x.json.gz"), TT_MASTER_V1), TTNN_UNSUPPORTED,
		    "give a name without .gz");
	tt_master_free(master);
}

TEST(the_layout_of_2026_comes_back_to_the_byte)
{
	const char *path = test_path("round.json");
	struct tt_master *master;

	CHECK_OK(tt_master_open(&master, "tests/data/master/master_v2.json.gz"));
	CHECK(tt_master_layout(master) == TT_MASTER_V2);
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
	tt_master_free(master);
	CHECK(same_files(path, "tests/data/master/master_v2.json.gz"));
}

/* What this file does not know is passed on, also when something is added. */
TEST(unknown_members_are_kept)
{
	static const char text[] =
		"{\"operations\": {\"ttnn::relu\": {\"note\": 1, \"configurations\": "
		"[{\"arguments\": [{\"arg0\": \"1\"}], \"source\": \"a\", "
		"\"more\": [2]}]}}, \"metadata\": {\"models\": [\"a\"], \"who\": 3}, "
		"\"tail\": null}";
	struct tt_master_call call = {
		.op = "ttnn.relu", .args = "[{\"arg0\": \"2\"}]", .source = "b"};
	const char *path = test_path("kept.json");
	struct tt_master *master;
	size_t size;
	char *got;
	bool added;

	call.length = strlen(call.args);
	CHECK_OK(open_text(&master, text));
	CHECK_OK(tt_master_add(&added, master, &call));
	CHECK(added);
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(master);
	CHECK_OK(tt_file_read(&got, &size, path));
	CHECK(strstr(got, "\"note\": 1"));
	CHECK(strstr(got, "\"more\": [\n"));
	CHECK(strstr(got, "\"who\": 3"));
	CHECK(strstr(got, "\"tail\": null"));
	tt_free(got);
}

/* ---- adding -------------------------------------------------------------------------------------------------- */

static bool add(struct tt_master *master, const char *op, enum tt_master_layout layout,
		const char *args, const char *source)
{
	struct tt_master_call call = {
		.op = op, .layout = layout, .args = args, .length = strlen(args), .source = source};
	bool added = false;

	CHECK_OK(tt_master_add(&added, master, &call));
	return added;
}

TEST(a_configuration_is_added_once)
{
	struct tt_master *master;
	struct tt_master_config config;

	CHECK_OK(tt_master_new(&master, TT_MASTER_V1));
	CHECK(add(master, "ttnn.add", TT_MASTER_V1, "[{\"arg0\": \"1\"}]", "a.py"));
	CHECK(!add(master, "ttnn::add", TT_MASTER_V1, "[{\"arg0\": \"1\"}]", "b.py"));
	CHECK(!add(master, "add", TT_MASTER_V1, "[ {\"arg0\":\"1\"} ]", "b.py"));
	CHECK(!add(master, "add", TT_MASTER_V2, "{\"arg0\": 1}", "c.py"));
	/* Types count, and so does the order. */
	CHECK(add(master, "add", TT_MASTER_V1, "[{\"arg0\": 1}]", "a.py"));
	CHECK(add(master, "add", TT_MASTER_V1, "[{\"arg0\": 1.0}]", "a.py"));
	CHECK(add(master, "multiply", TT_MASTER_V1, "[{\"arg0\": \"1\"}]", "a.py"));
	CHECK_INT(tt_master_op_count(master), 2);
	CHECK_STR(tt_master_op_name(master, 0), "ttnn::add");
	CHECK_INT(tt_master_config_count(master, 0), 3);
	tt_master_config(&config, master, 0, 0);
	CHECK_STR(config.source, "a.py");
	tt_master_free(master);
}

/* What the tracer could not parse equals the object that it was. */
TEST(an_unparsed_element_is_the_object)
{
	static const char unparsed[] =
		"[{\"UnparsedElement\": {\"error\": \"x\", \"element_info\": \"{\\\"arg0\\\": "
		"{\\\"MemoryConfig\\\":{\\\"shard_spec\\\":{\\\"grid\\\":[{\\\"x\\\":0,\\\"y\\\":0} - "
		"{\\\"x\\\":7,\\\"y\\\":6}],\\\"shape\\\":\\\"{224, 32}\\\"}}}}\"}}]";
	static const char *const same[] = {
		"[{\"arg0\": {\"MemoryConfig\": {\"shard_spec\": {\"grid\": [{\"x\": 0, \"y\": 0}, "
		"{\"x\": 7, \"y\": 6}], \"shape\": \"{224, 32}\"}}}}]",
		"[{\"arg0\": {\"MemoryConfig\": {\"shard_spec\": {\"grid\": [{\"x\": 0, \"y\": 0}, "
		"{\"x\": 7, \"y\": 6}], \"shape\": \"[224, 32]\"}}}}]",
		"[{\"arg0\": {\"MemoryConfig\": {\"shard_spec\": {\"grid\": [{\"x\": 0, \"y\": 0}, "
		"{\"x\": 7, \"y\": 6}], \"shape\": [224, 32]}}}}]",
	};
	struct tt_master *master;

	CHECK_OK(tt_master_new(&master, TT_MASTER_V1));
	CHECK(add(master, "to_memory_config", TT_MASTER_V1, unparsed, "a"));
	for (size_t i = 0; i < TT_COUNT(same); i++)
		CHECK(!add(master, "to_memory_config", TT_MASTER_V1, same[i], "a"));
	tt_master_free(master);
}

TEST(all_of_the_real_file_is_known_already)
{
	struct tt_master *master = open_real(), *again = open_real();
	const char *path = test_path("merged.json");
	size_t added;
	char *text;
	size_t size;

	CHECK_OK(tt_master_merge(&added, master, again));
	CHECK_INT(added, 0);
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(again);
	tt_master_free(master);
	CHECK_OK(tt_file_read(&text, &size, path));
	CHECK(strstr(text, "\"total_operations\": 1455698,")); /* calls are counted */
	CHECK(strstr(text, "\"total_configurations\": 1079,"));
	CHECK(!strstr(text, "2025-11-20 08:39:15"));
	tt_free(text);
}

TEST(executions_are_merged)
{
	struct tt_master_call call = {.op = "ttnn.relu",
				      .layout = TT_MASTER_V2,
				      .args = "{\"arg0\": 1}",
				      .source = "a.py",
				      .trace_uid = "u1",
				      .machine = {"Wormhole", "n300", 1, 2, {1, 2}}};
	struct tt_json_parser parser = {0};
	const char *path = test_path("executions.json");
	struct tt_master *master, *other;
	struct tt_master_config config;
	char *text;
	size_t size, count;
	bool added;

	call.length = strlen(call.args);
	CHECK_OK(tt_master_new(&master, TT_MASTER_V2));
	CHECK_OK(tt_master_add(&added, master, &call));
	CHECK_OK(tt_master_add(&added, master, &call));
	tt_master_config(&config, master, 0, 0);
	CHECK_INT(config.count, 2);
	CHECK_OK(tt_master_add(&added, master, &call)); /* the run goes on after a look */
	call.trace_uid = "u2";
	CHECK_OK(tt_master_add(&added, master, &call));
	CHECK(!added);
	call.machine.device_series = "n150"; /* another machine is another configuration */
	CHECK_OK(tt_master_add(&added, master, &call));
	CHECK(added);
	tt_master_config(&config, master, 0, 0);
	CHECK_INT(config.count, 4);
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
	/* The same runs again: the larger count of each stays. */
	CHECK_OK(tt_master_open(&other, path));
	CHECK_OK(tt_master_merge(&count, master, other));
	CHECK_INT(count, 0);
	tt_master_config(&config, master, 0, 0);
	CHECK_INT(config.count, 4);
	CHECK_OK(tt_file_read(&text, &size, path));
	CHECK(strstr(text, "\"mesh_device_shape\": [\n"));
	CHECK(strstr(text, "\"config_id\": 2,"));
	tt_free(text);
	tt_master_free(other);
	tt_master_free(master);
	tt_json_parser_deinit(&parser);
}

/* ---- other layouts ----------------------------------------------------------------------------------------- */

/* Where the recorded conversion to the layout of 2026 is another, and why. */
static const struct {
	const char *op, *arg;
} differing[] = {
	/* It has the texts of enumerations other than DataType as they were. */
	{"ttnn.embedding", "arg3"},
	/* What cannot be recovered: ours keeps the parser's error with it. */
	{"ttnn.experimental.all_gather_async", "arg6"},
	{"ttnn.experimental.all_gather_async", "arg10"},
	/* What ours recovers: there it is the first 80 characters of a text. */
	{"ttnn.transformer.scaled_dot_product_attention", "arg8"},
	{"ttnn.transformer.paged_scaled_dot_product_attention_decode", "arg11"},
	{"ttnn.concat", "arg0"},
};

static bool is_differing(const char *op, const char *arg)
{
	for (size_t i = 0; i < TT_COUNT(differing); i++)
		if (strcmp(differing[i].op, op) == 0 && strcmp(differing[i].arg, arg) == 0)
			return true;
	return false;
}

/* Arguments as a text to compare: without what is known to differ. */
static char *comparable(const char *op, const struct tt_json *args)
{
	struct tt_json_iter it = tt_json_iter(args), field;
	struct tt_str text = {0};
	char *out = NULL;

	while (tt_json_next(&it)) {
		tt_str_addf(&text, "%s=", it.key);
		if (is_differing(op, it.key)) {
			tt_str_adds(&text, "?");
		} else if (tt_json_get(it.value, "is_sharded")) {
			/* There a sharded memory configuration that is an argument has lost its shard. */
			for (field = tt_json_iter(it.value); tt_json_next(&field);)
				if (strcmp(field.key, "shard_spec") != 0)
					tt_sorted_dump_lasting(&text, strcmp(field.key, "hash")
									      ? field.value
									      : NULL);
		} else {
			tt_sorted_dump_lasting(&text, it.value);
		}
		tt_str_addc(&text, ' ');
	}
	CHECK_OK(tt_str_take(&out, &text));
	return out;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All configurations of an operation as sorted texts. */
static size_t texts_of(char *out[300], struct tt_master *master, const char *name)
{
	struct tt_json_parser parser = {0};
	size_t op, count;

	CHECK_INT(tt_master_find(&op, 1, master, name), 1);
	count = tt_master_config_count(master, op);
	for (size_t i = 0; i < count; i++) {
		const struct tt_json *args = NULL;

		CHECK_OK(tt_master_args(&args, master, &parser, op, i));
		out[i] = comparable(name, args);
	}
	qsort(out, count, sizeof(out[0]), by_text);
	tt_json_parser_deinit(&parser);
	return count;
}

TEST(the_real_file_in_the_layout_of_2026)
{
	const char *path = test_path("v2.json");
	struct tt_master *master = open_real(), *ours, *golden;
	size_t compared = 0;

	CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
	tt_master_free(master);
	CHECK_OK(tt_master_open(&ours, path));
	CHECK_OK(tt_master_open(&golden, "tests/data/master/master_v2.json.gz"));
	CHECK_INT(tt_master_op_count(ours), 35);
	for (size_t op = 0; op < tt_master_op_count(golden); op++) {
		const char *name = tt_master_op_name(golden, op);
		char *left[300], *right[300];
		size_t count = texts_of(left, ours, name), there = texts_of(right, golden, name);

		CHECK_STR(tt_master_op_name(ours, op), name);
		/* Of the three concats two are the same there, in their first 80 characters. */
		CHECK_INT(count, there + (strcmp(name, "ttnn.concat") == 0));
		for (size_t i = 0; i < there; i++)
			CHECK_STR(left[i], right[i]);
		for (size_t i = 0; i < count; i++)
			tt_free(left[i]);
		for (size_t i = 0; i < there; i++)
			tt_free(right[i]);
		compared += count;
	}
	CHECK_INT(compared, 1079);
	tt_master_free(ours);
	tt_master_free(golden);
}

/* The hashes of the layout of 2026, as upstream computed them. */
TEST(config_hashes_are_upstreams)
{
	struct tt_master *golden, *copy;
	struct tt_json_parser parser = {0};
	const char *path = test_path("copy.json");
	struct tt_json_doc *before, *after;
	size_t added, found = 0;

	CHECK_OK(tt_master_open(&golden, "tests/data/master/master_v2.json.gz"));
	CHECK_OK(tt_master_new(&copy, TT_MASTER_V2));
	CHECK_OK(tt_master_merge(&added, copy, golden));
	CHECK_INT(added, 1073); /* five more differ in the number of a memory configuration alone */
	CHECK_OK(tt_master_save(copy, path, TT_MASTER_V2));
	tt_master_free(copy);
	tt_master_free(golden);
	CHECK_OK(tt_json_load(&before, "tests/data/master/master_v2.json.gz"));
	CHECK_OK(tt_json_load(&after, path));
	for (struct tt_json_iter it = tt_json_iter(tt_json_get(tt_json_root(after), "operations"));
	     tt_json_next(&it);) {
		const struct tt_json *there =
			tt_json_get(tt_json_get(tt_json_root(before), "operations"), it.key);
		struct tt_json_iter config = tt_json_iter(tt_json_get(it.value, "configurations"));

		while (tt_json_next(&config)) {
			struct tt_json_iter other =
				tt_json_iter(tt_json_get(there, "configurations"));
			const char *hash =
				tt_json_string(tt_json_get(config.value, "config_hash"), NULL);
			bool same = false;

			while (!same && tt_json_next(&other))
				same = strcmp(tt_json_string(
						      tt_json_get(other.value, "config_hash"),
						      NULL),
					      hash) == 0;
			found += same;
		}
	}
	CHECK_INT(found, 1073);
	tt_json_free(before);
	tt_json_free(after);
	tt_json_parser_deinit(&parser);
}

/* Where two texts part. */
static void tell_difference(const char *op, size_t number, const struct tt_str *a,
			    const struct tt_str *b)
{
	const char *left = tt_str_text(a), *right = tt_str_text(b);
	size_t at = 0;

	while (left[at] && left[at] == right[at])
		at++;
	at = at < 30 ? 0 : at - 30;
	TEST_FAIL("%s %zu:\n%.90s\n%.90s", op, number, left + at, right + at);
}

/* Recorded models, in the order in which upstream's own code merged them. */
static const char *const models[] = {
	"attention_block",     "efficientnet_b0",    "llama_tiny",
	"mbconv_block",        "minilm_l6",          "mlp",
	"resnet50_refused",    "resnet_bottleneck",  "up_efficientnetb0",
	"up_llama_1b_2layers", "up_llama_1b_decode", "up_mnist",
	"up_mobilenetv2",      "up_openpdn_mnist",   "up_sentence_bert",
	"up_whisper",
};

/* A text without the line that tells the time. */
static void drop_time(char *text)
{
	char *line = strstr(text, "\"last_updated\""), *end = line ? strchr(line, '\n') : NULL;

	if (end)
		memmove(line, end, strlen(end) + 1);
}

TEST(models_are_merged_as_upstream_merges_them)
{
	const char *path = test_path("models.json");
	struct tt_master *master, *from;
	char *ours, *theirs, name[128];
	size_t added, size;

	CHECK_OK(tt_master_new(&master, TT_MASTER_V2));
	for (size_t i = 0; i < TT_COUNT(models); i++) {
		snprintf(name, sizeof(name), "tests/data/master/models/%s.json.gz", models[i]);
		CHECK_OK(tt_master_open(&from, name));
		CHECK_OK(tt_master_merge(&added, master, from));
		tt_master_free(from);
	}
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
	tt_master_free(master);
	CHECK_OK(tt_file_read(&ours, &size, path));
	CHECK_OK(tt_file_read(&theirs, &size, "tests/data/master/models_merged.json.gz"));
	drop_time(ours);
	drop_time(theirs);
	while (size && theirs[strlen(theirs) - 1] == '\n')
		theirs[strlen(theirs) - 1] = '\0';
	CHECK(strcmp(ours, theirs) == 0);
	tt_free(ours);
	tt_free(theirs);
}

/* There and back: all that a layout has words for. */
static void go_round(enum tt_master_layout over, size_t most)
{
	const char *there = test_path("there.json"), *back = test_path("back.json");
	struct tt_master *master = open_real(), *again;
	struct tt_json_parser left = {0}, right = {0};
	size_t differ = 0;

	CHECK_OK(tt_master_save(master, there, over));
	CHECK_OK(tt_master_open(&again, there));
	CHECK(tt_master_layout(again) == over);
	CHECK_OK(tt_master_save(again, back, TT_MASTER_V1));
	tt_master_free(again);
	CHECK_OK(tt_master_open(&again, back));
	for (size_t op = 0; op < tt_master_op_count(master); op++) {
		size_t other;

		CHECK_INT(tt_master_find(&other, 1, again, tt_master_op_name(master, op)), 1);
		CHECK_INT(tt_master_config_count(again, other), tt_master_config_count(master, op));
		for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
			const struct tt_json *a = NULL, *b = NULL;
			struct tt_str one = {0}, two = {0};

			CHECK_OK(tt_master_repaired(&a, master, &left, op, i));
			CHECK_OK(tt_master_repaired(&b, again, &right, other, i));
			tt_repair_canonical(&one, a);
			tt_repair_canonical(&two, b);
			if (strcmp(tt_str_text(&one), tt_str_text(&two)) != 0) {
				differ++;
				if (differ > most)
					tell_difference(tt_master_op_name(master, op), i, &one,
							&two);
			}
			tt_str_deinit(&one);
			tt_str_deinit(&two);
		}
	}
	CHECK_INT(differ, most);
	tt_json_parser_deinit(&left);
	tt_json_parser_deinit(&right);
	tt_master_free(master);
	tt_master_free(again);
}

TEST(the_real_file_over_the_seeds_block)
{
	go_round(TT_MASTER_SEED, 0);
}

TEST(the_real_file_over_the_layout_of_2026)
{
	/* Without words there: other alignments than the usual, both shard specs of an argument, which came first. */
	go_round(TT_MASTER_V2, 87);
}

/* ---- stores -------------------------------------------------------------------------------------------------- */

TEST(a_store_does_what_a_file_does)
{
	const char *path = test_path("store.sqlite"), *back = test_path("back.json");
	struct tt_master *master = open_real();
	struct tt_master_config config;
	size_t op;

	CHECK_OK(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(master);
	CHECK_OK(tt_master_open(&master, path));
	CHECK_INT(tt_master_op_count(master), 35);
	CHECK_OK(tt_master_save(master, back, TT_MASTER_V1));
	CHECK(same_files(back, real_file));
	CHECK_INT(tt_master_find(&op, 1, master, "matmul"), 1);
	CHECK_INT(tt_master_config_count(master, op), 3);
	tt_master_config(&config, master, op, 2);
	CHECK(strstr(config.source, "models/tt_transformers/demo") == config.source);
	tt_master_free(master);
	/* What is added is found again, and only that is new. */
	CHECK_OK(tt_master_edit(&master, path, TT_MASTER_V1));
	CHECK(add(master, "ttnn.relu", TT_MASTER_V1, "[{\"arg0\": \"1\"}]", "a.py"));
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V1));
	CHECK(!add(master, "ttnn.relu", TT_MASTER_V1, "[{\"arg0\": \"1\"}]", "a.py"));
	CHECK(add(master, "ttnn.relu", TT_MASTER_V1, "[{\"arg0\": \"2\"}]", "a.py"));
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(master);
	CHECK_OK(tt_master_open(&master, path));
	CHECK_INT(tt_master_find(&op, 1, master, "relu"), 1);
	CHECK_INT(tt_master_config_count(master, op), 2);
	CHECK(!add(master, "relu", TT_MASTER_V1, "[{\"arg0\": \"2\"}]", "b.py"));
	tt_master_free(master);
}

TEST(a_store_of_the_layout_of_2026_keeps_executions)
{
	struct tt_master_call call = {.op = "ttnn.relu",
				      .layout = TT_MASTER_V2,
				      .args = "{\"arg0\": 1}",
				      .length = 11,
				      .source = "a.py"};
	const char *path = test_path("executions.sqlite");
	struct tt_master_config config;
	struct tt_master *master;
	bool added;

	for (int i = 0; i < 3; i++) {
		char uid[16];

		snprintf(uid, sizeof(uid), "u%d", i);
		call.trace_uid = uid;
		CHECK_OK(tt_master_edit(&master, path, TT_MASTER_V2));
		CHECK_OK(tt_master_add(&added, master, &call));
		CHECK(added == (i == 0));
		CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
		tt_master_free(master);
	}
	CHECK_OK(tt_master_open(&master, path));
	CHECK_INT(tt_master_config_count(master, 0), 1);
	tt_master_config(&config, master, 0, 0);
	CHECK_INT(config.count, 3);
	tt_master_free(master);
}

TEST(wrong_stores_are_told)
{
	const char *path = test_path("wrong.sqlite");
	struct tt_master *master;

	CHECK_OK(tt_file_save(path, "{}", 2));
	CHECK_FAILS(tt_master_open(&master, path), TTNN_FORMAT, "no store of configurations");
	CHECK_FAILS(tt_master_open(&master, test_path("none.sqlite")), TTNN_NOTFOUND,
		    "none.sqlite");
}

TEST(names_that_become_one_are_one_operation_of_a_store)
{
	static const char text[] =
		"{\"operations\": {\"ttnn::add\": {\"configurations\": [{\"arguments\": [{\"arg0\": \"1\"}]}]},"
		"\"ttnn.add\": {\"configurations\": [{\"arguments\": [{\"arg0\": \"2\"}]}]},"
		"\"mul\": {\"configurations\": [{\"arguments\": [{\"arg0\": \"3\"}]}]}}}";
	const char *path = test_path("spellings.sqlite");
	struct tt_master *master = NULL;

	CHECK_OK(open_text(&master, text));
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
	tt_master_free(master);
	CHECK_OK(tt_master_open(&master, path));
	CHECK_INT(tt_master_op_count(master), 2);
	CHECK_INT(tt_master_config_count(master, 0), 2);
	CHECK_STR(tt_master_op_name(master, 1), "ttnn.mul");
	tt_master_free(master);
}

TEST(all_machines_and_sources_go_to_the_layout_of_2026)
{
	static const char text[] =
		"{\"operations\": {\"ttnn::add\": {\"configurations\": [{\"arguments\": [{\"arg0\": \"1\"}],"
		"\"source\": [\"a\", null, \"b\"], \"machine_info\": [{\"board_type\": \"Wormhole\"},"
		"{\"board_type\": \"Blackhole\"}]}]}}}";
	const char *path = test_path("machines.json");
	struct tt_master_config config;
	struct tt_master *master = NULL;
	char *written;
	size_t size;

	CHECK_OK(open_text(&master, text));
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
	tt_master_free(master);
	CHECK_OK(tt_file_read(&written, &size, path));
	CHECK(strstr(written, "Wormhole") && strstr(written, "Blackhole"));
	CHECK(strstr(written, "\"source\": \"a\"") && strstr(written, "\"source\": \"b\""));
	CHECK(!strstr(written, "\"source\": null"));
	tt_free(written);
	CHECK_OK(tt_master_open(&master, path));
	tt_master_config(&config, master, 0, 0);
	CHECK_INT(config.count, 3);
	tt_master_free(master);
}

TEST(thousands_of_executions_are_merged_at_once)
{
	enum { RUNS = 3000 };
	const char *path = test_path("many.json");
	struct tt_str text = {0};
	struct tt_master_config config;
	struct tt_master *master, *from = NULL;
	size_t added;

	tt_str_adds(
		&text,
		"{\"operations\": {\"ttnn.add\": {\"configurations\": [{\"arguments\": {\"arg0\": 1},"
		"\"executions\": [{\"count\": 0, \"source\": \"never\"}");
	for (int i = 0; i < RUNS; i++)
		tt_str_addf(&text, ", {\"count\": 2, \"source\": \"a\", \"trace_uid\": \"%d\"}", i);
	tt_str_adds(&text, "]}]}}}");
	CHECK_OK(open_text(&from, tt_str_text(&text)));
	CHECK_OK(tt_master_new(&master, TT_MASTER_V2));
	for (int i = 0; i < 2; i++) {
		CHECK_OK(tt_master_merge(&added, master, from));
		CHECK_INT(added, !i);
		tt_master_config(&config, master, 0, 0);
		CHECK_INT(config.count, 2 * RUNS);
	}
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
	tt_master_free(from);
	tt_master_free(master);
	tt_str_clear(&text);
	CHECK_OK(tt_master_open(&master, path));
	tt_master_config(&config, master, 0, 0);
	CHECK_STR(config.source, "never");
	tt_master_free(master);
	tt_str_deinit(&text);
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static tt_status use_master(struct tt_master *master, const char *path,
			    enum tt_master_layout layout)
{
	static const struct tt_master_call calls[] = {
		{.op = "add",
		 .args = "[{\"arg0\": \"1\"}]",
		 .source = "a",
		 .machine = {"Wormhole", "n300", 1, 2, {1, 2}}},
		{.op = "ttnn.add",
		 .layout = TT_MASTER_V2,
		 .args = "{\"arg0\": 2, \"x\": [1]}",
		 .source = "b",
		 .trace_uid = "u"},
		{.op = "add",
		 .args = "[{\"UnparsedElement\": {\"element_info\": \"{...}\"}}]",
		 .source = "c"},
	};
	struct tt_json_parser parser = {0};
	struct tt_master_config config;
	const struct tt_json *args;
	tt_status status = TTNN_OK;
	bool added;

	for (size_t i = 0; status == TTNN_OK && i < TT_COUNT(calls); i++) {
		struct tt_master_call call = calls[i];

		call.length = strlen(call.args);
		status = tt_master_add(&added, master, &call);
	}
	if (status == TTNN_OK)
		status = tt_master_repaired(&args, master, &parser, 0, 0);
	tt_json_parser_deinit(&parser);
	TT_TRY(status);
	tt_master_config(&config, master, 0, 0);
	return tt_master_save(master, path, layout);
}

SCENARIO(masters_give_back_their_memory)
{
	const char *path = test_path("scenario.json"), *second = test_path("second.json");
	struct tt_master *master = NULL, *from = NULL;
	size_t added;
	tt_status status;

	unlink(path);
	status = tt_master_edit(&master, path, TT_MASTER_V1);
	if (status == TTNN_OK)
		status = use_master(master, path, TT_MASTER_V2);
	tt_master_free(master);
	master = NULL;
	if (status == TTNN_OK)
		status = tt_master_open(&master, path);
	if (status == TTNN_OK)
		status = use_master(master, second, TT_MASTER_SEED);
	if (status == TTNN_OK)
		status = tt_master_open(&from, second);
	if (status == TTNN_OK)
		status = tt_master_merge(&added, master, from);
	if (status == TTNN_OK)
		status = tt_master_save(master, second, TT_MASTER_V1);
	tt_master_free(master);
	tt_master_free(from);
	return status;
}
