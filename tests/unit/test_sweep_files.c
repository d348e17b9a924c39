/* vector files and results: hashes, suites that stay, records, rows that are unique, runs that are gone on with */
#include "test.h"

#include <glob.h>

#include "base/file.h"
#include "base/json.h"
#include "db_ask.h"
#include "sweep/results.h"
#include "sweep/vectors.h"

#define MEMORY                                                                                     \
	"{\"type\": \"ttnn._ttnn.tensor.MemoryConfig\", \"data\": {\"buffer_type\": \"DRAM\", "    \
	"\"created_with_nd_shard_spec\": false, \"memory_layout\": \"INTERLEAVED\"}}"
#define PARAMS(shape, dtype, kind)                                                                 \
	"{\"input_shape\": \"" shape "\", \"input_a_dtype\": \"DataType." dtype                    \
	"\", \"kind\": \"" kind "\", \"input_a_memory_config\": " MEMORY "}"

static struct tt_vector vector(const char *params)
{
	return (struct tt_vector){.params = params, .length = strlen(params)};
}

static struct tt_vector_suite suite_of(const char *name, const struct tt_vector *vectors,
				       size_t count)
{
	return (struct tt_vector_suite){.module = "model_traced.zz_demo",
					.name = name,
					.tag = "research",
					.timestamp = "2026-11-15_02-32-24",
					.vectors = vectors,
					.count = count};
}

/* All files are in one directory, which the harness empties. */
static const char *directory(void)
{
	test_path(".");
	return test_directory;
}

static const char *database(void)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/u.sqlite", directory());
	return path;
}

/* As upstream's generator gave them. */
TEST(hashes)
{
	struct tt_vector good = vector(PARAMS("[1, 1, 32, 32]", "BFLOAT16", "ok"));
	struct tt_vector bad = vector(PARAMS("[1, 1, 32, 64]", "BFLOAT8_B", "bad"));
	struct tt_vector_suite suite = suite_of("model_traced", NULL, 0);
	char hash[TT_VECTOR_HASH];

	CHECK_OK(tt_vector_hash(hash, &suite, &good));
	CHECK_STR(hash, "bbbcfc8bbb10ff6488f591c5540ac433c8cbb5582f4ffdcc5d3ba966");
	CHECK_OK(tt_vector_hash(hash, &suite, &bad));
	CHECK_STR(hash, "a4ab21ef9159931ed8ad7837899c70a4c64705a6a02b053276d74020");
	bad = vector("[1]");
	CHECK_FAILS(tt_vector_hash(hash, &suite, &bad), TTNN_FORMAT, "no object");
	bad = vector("{\"tag\": 1}");
	CHECK_FAILS(tt_vector_hash(hash, &suite, &bad), TTNN_FORMAT, "every vector has");
}

TEST(files_keep_other_suites)
{
	const struct tt_vector vectors[] = {vector(PARAMS("[1, 1, 32, 32]", "BFLOAT16", "ok")),
					    vector("{\"x\": \"1\"}"),
					    vector(PARAMS("[1, 1, 32, 32]", "BFLOAT16", "ok"))};
	struct tt_vector_suite one = suite_of("model_traced", vectors, 3),
			       two = suite_of("other", vectors + 1, 1),
			       none = suite_of("none", vectors, 0);
	char path[512];
	struct tt_vectors_saved saved;
	struct tt_vector_file file;

	snprintf(path, sizeof(path), "%s/model_traced.zz_demo.json", directory());
	CHECK_OK(tt_vectors_save(&saved, path, &one));
	CHECK(saved.count == 2 && saved.written);
	CHECK_OK(tt_vectors_save(&saved, path, &one));
	CHECK(saved.count == 2 && !saved.written);
	CHECK_OK(tt_vectors_save(&saved, path, &none));
	CHECK(!saved.written);
	CHECK_OK(tt_vectors_save(&saved, path, &two));
	CHECK(saved.written);
	CHECK_OK(tt_vector_file_open(&file, path));
	CHECK(file.count == 3);
	CHECK_STR(file.entries[0].hash, "bbbcfc8bbb10ff6488f591c5540ac433c8cbb5582f4ffdcc5d3ba966");
	CHECK_STR(file.entries[0].module, "model_traced.zz_demo");
	CHECK_STR(file.entries[2].suite, "other");
	tt_vector_file_close(&file);
	CHECK_OK(tt_file_save(path, "{\"half", 6));
	CHECK_FAILS(tt_vector_file_open(&file, path), TTNN_FORMAT, "zz_demo.json:1");
	CHECK_OK(tt_vectors_save(&saved, path, &two));
	CHECK(saved.written && strstr(saved.moved, ".corrupted."));
	CHECK(access(saved.moved, F_OK) == 0);
	CHECK_OK(tt_file_save(path, "{\"a\": {\"b\": 1}}", 15));
	CHECK_FAILS(tt_vector_file_open(&file, path), TTNN_FORMAT, "is no object");
}

/* ---- results ------------------------------------------------------------------------------------------ */

static const struct tt_sweep_metric e2e = {"e2e_perf_ms", 1.234567};

static struct tt_sweep_result result(const char *name, enum tt_sweep_status status,
				     const char *message, const char *exception)
{
	static const char params[] =
		"{\"shape\": [1, 1], \"m\": {\"type\": \"T\", \"data\": {\"b\": false, \"n\": null}}}";

	return (struct tt_sweep_result){.module = "model_traced.zz_demo",
					.suite = "model_traced",
					.vector = name,
					.status = status,
					.message = message,
					.exception = exception,
					.begin_ns = 1794709876149128000,
					.end_ns = 1794709876161498000,
					.metrics = &e2e,
					.metric_count = message != NULL,
					.params = params,
					.params_length = strlen(params),
					.pcc = NAN,
					.bound = NAN,
					.error = NAN};
}

static char *only_file(const char *pattern)
{
	glob_t found;
	char *path = NULL;

	if (glob(test_path(pattern), 0, NULL, &found) == 0 && found.gl_pathc == 1)
		path = tt_strdup(found.gl_pathv[0]);
	globfree(&found);
	return path;
}

/* The record as upstream's runner wrote it. */
static const char record[] =
	"[\n  {\n    \"github_job_id\": null,\n    \"full_test_name\": \"model_traced.zz_demo\",\n"
	"    \"test_start_ts\": \"2026-11-15T02:31:16.149128Z\",\n"
	"    \"test_end_ts\": \"2026-11-15T02:31:16.161498Z\",\n"
	"    \"test_case_name\": \"model_traced\",\n    \"filepath\": \"model_traced.zz_demo\",\n"
	"    \"success\": true,\n    \"skipped\": false,\n    \"error_message\": \"None\",\n"
	"    \"error_hash\": \"dc937b59892604f5a86ac96936cd7ff09e25f18ae6b758e8014a24c7fa039e91\",\n"
	"    \"config\": null,\n    \"frontend\": \"ttnn.op\",\n    \"model_name\": \"n/a\",\n"
	"    \"op_kind\": \"model_traced\",\n    \"op_name\": \"zz_demo\",\n"
	"    \"framework_op_name\": \"sweep\",\n    \"inputs\": null,\n    \"outputs\": null,\n"
	"    \"op_params\": null,\n    \"git_sha\": \"Couldn't get git hash!\",\n"
	"    \"status\": \"pass\",\n    \"card_type\": \"n/a\",\n    \"backend\": \"n/a\",\n"
	"    \"data_source\": \"ttnn op test\",\n    \"input_hash\": \"a\",\n"
	"    \"message\": \"0.9999875\",\n    \"exception\": null,\n    \"metrics\": [\n      {\n"
	"        \"metric_name\": \"e2e_perf_ms\",\n        \"metric_value\": 1.234567\n      }\n"
	"    ],\n    \"op_params_set\": [\n      {\n        \"param_name\": \"shape\",\n"
	"        \"param_value_numeric\": null,\n        \"param_value_text\": null,\n"
	"        \"param_value_json\": [\n          1,\n          1\n        ]\n      },\n      {\n"
	"        \"param_name\": \"m.type\",\n        \"param_value_numeric\": null,\n"
	"        \"param_value_text\": \"T\",\n        \"param_value_json\": null\n      },\n      {\n"
	"        \"param_name\": \"m.data.b\",\n        \"param_value_numeric\": 0.0,\n"
	"        \"param_value_text\": null,\n        \"param_value_json\": null\n      },\n      {\n"
	"        \"param_name\": \"m.data.n\",\n        \"param_value_numeric\": null,\n"
	"        \"param_value_text\": \"None\",\n        \"param_value_json\": null\n      }\n    ]\n"
	"  },\n";

TEST(records)
{
	struct tt_results_options options = {.directory = directory(),
					     .host = "host",
					     .contents = "model_traced.zz_demo, model_traced"};
	struct tt_sweep_result good = result("a", TT_SWEEP_PASS, "0.9999875", NULL),
			       hung = result("b", TT_SWEEP_FAIL_CRASH_HANG, NULL,
					     TT_SWEEP_TIMED_OUT);
	struct tt_results_files files;
	struct tt_results *results;
	struct tt_json_doc *doc;
	char *path, *text;
	size_t size;

	hung.position = 1;
	CHECK_OK(tt_results_open(&results, &options));
	CHECK_OK(tt_results_add(results, &hung));
	CHECK_OK(tt_results_add(results, &good));
	CHECK_OK(tt_results_finish(&files, results, TT_SWEEP_RUN_PASSED));
	CHECK(files.suites == 1);
	path = only_file("model_traced_458e9ba9b74c_20261115_023116.json");
	CHECK(path);
	CHECK_OK(tt_file_read(&text, &size, path));
	CHECK(strncmp(text, record, strlen(record)) == 0);
	CHECK(strstr(text, "7d13335719501604f3ff2d224063c88a76e7317deb8be7add84eff6f4bab1d15"));
	tt_free(text);
	tt_free(path);
	CHECK(strstr(files.oprun, "/oprun_host_06c2846f1d0e_"));
	CHECK_OK(tt_json_load(&doc, files.oprun));
	CHECK_STR(tt_json_string(tt_json_get(tt_json_root(doc), "run_type"), NULL), "sweeps");
	CHECK(tt_json_count(tt_json_get(tt_json_root(doc), "tests")) == 2);
	tt_json_free(doc);
}

TEST(rows_are_unique_and_runs_go_on)
{
	struct tt_results_options options = {.database = database(), .plan = "p", .no_files = true};
	struct tt_sweep_result a = result("a", TT_SWEEP_PASS, "1.0", NULL),
			       b = result("b", TT_SWEEP_PASS, "1.0", NULL);
	struct tt_results *results, *other;
	struct tt_sweep_passed passed;
	struct tt_db *db;
	bool there = false;
	char name[32];

	a.key = "0123";
	b.key = "89ab";
	b.how = TT_SWEEP_UNJUDGED;
	a.how = TT_SWEEP_STAND_IN;
	a.notes = "activation: none";
	a.pcc = 0.5;
	CHECK_OK(tt_results_open(&results, &options));
	snprintf(name, sizeof(name), "%s", tt_results_run(results));
	CHECK_OK(tt_results_add(results, &a));
	CHECK_OK(tt_results_leave(results));
	options.run = name;
	CHECK_OK(tt_results_open(&results, &options));
	CHECK_OK(tt_results_open(&other, &options));
	CHECK_OK(tt_results_has(&there, results, "a"));
	CHECK(there);
	CHECK_OK(tt_results_has(&there, results, "b"));
	CHECK(!there);
	CHECK_OK(tt_results_add(results, &a));
	CHECK_OK(tt_results_add(results, &b));
	CHECK_OK(tt_results_add(other, &b));
	CHECK_OK(tt_results_passed(&there, &passed, results, "0123"));
	CHECK(there && passed.how == TT_SWEEP_STAND_IN && passed.pcc == 0.5);
	CHECK_STR(passed.notes, "activation: none");
	CHECK_OK(tt_results_passed(&there, &passed, results, "4567"));
	CHECK(!there);
	CHECK_OK(tt_results_leave(results));
	CHECK_OK(tt_results_tick(other, true));
	CHECK_OK(tt_results_passed(&there, &passed, other, "89ab"));
	CHECK(there && isnan(passed.pcc) && isnan(passed.bound) && isnan(passed.error));
	CHECK_OK(tt_results_finish(NULL, other, TT_SWEEP_RUN_PASSED));
	CHECK_OK(tt_db_open(&db, database()));
	CHECK(ask(db, "select count(*) from results") == 2);
	CHECK(ask(db, "select count(*) from runs") == 1);
	CHECK(ask(db, "select version from schema_version") == 1);
	CHECK_OK(tt_db_close(db));
	options.plan = "q";
	CHECK_FAILS(tt_results_open(&results, &options), TTNN_INVALID, "other vectors");
	options.run = "last";
	CHECK_FAILS(tt_results_open(&results, &options), TTNN_NOTFOUND, "no run is unfinished");
	/* One that does not say what it runs is not gone on with by who does. */
	CHECK_OK(tt_results_open(&results, &(struct tt_results_options){.database = database()}));
	CHECK_OK(tt_results_leave(results));
	CHECK_FAILS(tt_results_open(&results, &options), TTNN_INVALID, "other vectors");
	CHECK_OK(tt_db_share(&db, database(), 1000));
	CHECK_OK(tt_db_exec(db, "update schema_version set version = 7"));
	CHECK_OK(tt_db_close(db));
	options.run = NULL;
	CHECK_FAILS(tt_results_open(&results, &options), TTNN_FORMAT, "schema_version 7");
}

TEST(statuses)
{
	enum tt_sweep_status status;

	CHECK(tt_sweep_status_of("x Out of Memory: Not enough space to allocate 3 B") ==
	      TT_SWEEP_FAIL_L1_OUT_OF_MEM);
	CHECK(tt_sweep_status_of("Watcher saw it") == TT_SWEEP_FAIL_WATCHER);
	CHECK(tt_sweep_status_of("0.5") == TT_SWEEP_FAIL_ASSERT_EXCEPTION);
	CHECK(tt_sweep_status_in(TT_SWEEP_PASS, "XFail_x") == TT_SWEEP_XPASS);
	CHECK(tt_sweep_status_in(TT_SWEEP_FAIL_WATCHER, "xfail") == TT_SWEEP_XFAIL);
	CHECK(tt_sweep_status_in(TT_SWEEP_FAIL_CRASH_HANG, "xfail") == TT_SWEEP_FAIL_CRASH_HANG);
	CHECK(tt_sweep_status_in(TT_SWEEP_PASS, "nightly") == TT_SWEEP_PASS);
	CHECK(tt_sweep_status_find(&status, "skipped") && status == TT_SWEEP_NOT_RUN);
	CHECK(!tt_sweep_status_find(&status, "SKIPPED"));
}
