/* sweeps for frontends: suites in JSON, children that crash and hang, results and their analysis, traced calls */
#include "test.h"

#include <signal.h>
#include <ttnn_sweep.h>

#include "base/file.h"
#include "base/json.h"
#include "sweep/analysis.h"

#define SUITE(vectors)                                                                             \
	"{\"module\": \"model_traced.zz_demo\", \"suite\": \"model_traced\", \"tag\": \"t\", "     \
	"\"vectors\": [" vectors "]}"
#define OK                                                                                         \
	"{\"params\": {\"input_shape\": \"[1, 1, 32, 32]\", \"input_a_dtype\": "                   \
	"\"DataType.BFLOAT16\", \"kind\": \"ok\", \"input_a_memory_config\": {\"type\": "          \
	"\"ttnn._ttnn.tensor.MemoryConfig\", \"data\": {\"buffer_type\": \"DRAM\", "               \
	"\"created_with_nd_shard_spec\": false, \"memory_layout\": \"INTERLEAVED\"}}}, "           \
	"\"reason\": null}"
#define INVALID "{\"params\": {\"kind\": \"inv\"}, \"reason\": \"kind inv is invalid\"}"

static const char *in_directory(const char *name)
{
	static char path[512];

	test_path(".");
	snprintf(path, sizeof(path), "%s/%s", test_directory, name);
	return path;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

TEST(suites)
{
	const char *text = SUITE(OK ", " INVALID ", " OK), *path = in_directory("a.json");
	struct tt_json_doc *doc;
	char *out = NULL;

	CHECK_OK(ttnn_sweep_vectors(&out, text, strlen(text)));
	CHECK(out && strstr(out, "bbbcfc8bbb10ff6488f591c5540ac433c8cbb5582f4ffdcc5d3ba966"));
	ttnn_free(out);
	CHECK_OK(ttnn_sweep_save(&out, path, text, strlen(text)));
	CHECK_STR(out, "{\"count\": 2, \"written\": true, \"moved\": \"\"}");
	ttnn_free(out);
	CHECK_OK(ttnn_sweep_load(&out, path));
	CHECK_OK(tt_json_parse(&doc, out, strlen(out), "vectors"));
	CHECK_INT(tt_json_count(tt_json_root(doc)), 2);
	CHECK(strstr(
		out,
		"\"invalid\": true, \"reason\": \"kind inv is invalid\", \"params\": {\"kind\": \"inv\"}"));
	tt_json_free(doc);
	ttnn_free(out);
}

TEST(wrong_suites)
{
	static const struct {
		const char *text, *why;
		tt_status status;
	} wrong[] = {
		{"{", "the suite:1", TTNN_FORMAT},
		{"[]", "a module and a name", TTNN_INVALID},
		{"{\"module\": \"a\"}", "a module and a name", TTNN_INVALID},
		{SUITE("{\"params\": 1}"), "no object", TTNN_FORMAT},
		{SUITE("1"), "no object", TTNN_FORMAT},
		{SUITE("{\"params\": {\"tag\": 1}}"), "every vector has", TTNN_FORMAT},
	};
	char *out = NULL;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_FAILS(ttnn_sweep_vectors(&out, wrong[i].text, strlen(wrong[i].text)),
			    wrong[i].status, wrong[i].why);
	CHECK_FAILS(ttnn_sweep_load(&out, in_directory("nothing.json")), TTNN_NOTFOUND, "nothing");
}

SCENARIO(a_suite)
{
	const char *text = SUITE(OK ", " INVALID);
	char *out = NULL;
	tt_status status = ttnn_sweep_vectors(&out, text, strlen(text));

	ttnn_free(out);
	return status;
}

/* ---- children ------------------------------------------------------------------------------------------------------ */

struct seen {
	enum ttnn_sweep_end ends[4];
	int signals[4];
	char answers[4][8];
	size_t count;
	bool stop;
};

static size_t act(void *context, uint64_t task, char answer[TTNN_SWEEP_ANSWER])
{
	(void)context;
	if (task == 1)
		raise(SIGKILL);
	while (task == 2)
		pause();
	snprintf(answer, TTNN_SWEEP_ANSWER, "did %d", (int)task);
	return strlen(answer);
}

static enum ttnn_status note(void *context, const struct ttnn_sweep_done *done)
{
	struct seen *seen = context;

	seen->ends[done->task] = done->end;
	seen->signals[done->task] = done->signal;
	snprintf(seen->answers[done->task], 8, "%.*s", (int)done->size,
		 done->answer ? done->answer : "");
	seen->count++;
	return TTNN_OK;
}

static bool stops(void *context)
{
	return ((struct seen *)context)->stop;
}

TEST(children)
{
	struct seen seen = {0};
	struct ttnn_sweep_work work = {.count = 4,
				       .timeout_ns = 300000000,
				       .context = &seen,
				       .work = act,
				       .done = note,
				       .stop = stops};

	if (!TEST_FOLLOWS_FORKS)
		return;
	CHECK_OK(ttnn_sweep_work(&work));
	CHECK_INT(seen.count, 4);
	CHECK(seen.ends[0] == TTNN_SWEEP_ANSWERED && seen.ends[3] == TTNN_SWEEP_ANSWERED);
	CHECK(seen.ends[1] == TTNN_SWEEP_CRASHED && seen.signals[1] == SIGKILL);
	CHECK(seen.ends[2] == TTNN_SWEEP_HUNG);
	CHECK_STR(seen.answers[3], "did 3");
	seen = (struct seen){.stop = true};
	CHECK_INT(ttnn_sweep_work(&work), TTNN_CANCELLED);
}

/* ---- results --------------------------------------------------------------------------------------------------------- */

TEST(statuses)
{
	CHECK_STR(ttnn_sweep_status(NULL, false, "a"), "pass");
	CHECK_STR(ttnn_sweep_status("0.5", false, "a"), "fail_assert_exception");
	CHECK_STR(ttnn_sweep_status("Out of Memory: Not enough space to allocate 1 B", false, "a"),
		  "fail_l1_out_of_mem");
	CHECK_STR(ttnn_sweep_status(NULL, true, "xfail_a"), "fail_crash_hang");
	CHECK_STR(ttnn_sweep_status("0.5", false, "XFail_a"), "xfail");
	CHECK_STR(ttnn_sweep_status(NULL, false, "xfail_a"), "xpass");
}

#define RESULT(vector, status, more)                                                               \
	"{\"module\": \"a.b\", \"suite\": \"s\", \"vector\": \"" vector                            \
	"\", \"status\": \"" status                                                                \
	"\", \"begin_ns\": 1794710000000000000, \"end_ns\": 1794710000500000000" more "}"

static void add(ttnn_sweep *run, const char *text)
{
	CHECK_OK(ttnn_sweep_add(run, text, strlen(text)));
}

TEST(results_and_their_analysis)
{
	char options[600], *path = NULL, *text = NULL;
	ttnn_sweep *run;
	bool has = false;

	snprintf(options, sizeof(options), "{\"directory\": \"%s\", \"contents\": \"a.b, s\"}",
		 in_directory(""));
	CHECK_OK(ttnn_sweep_open(&run, options, strlen(options)));
	CHECK_INT(strlen(ttnn_sweep_name(run)), 12);
	add(run,
	    RESULT("v1", "pass", ", \"message\": \"0.999\", \"metrics\": {\"e2e_perf_ms\": 1.5}"));
	add(run,
	    RESULT("v2", "pass", ", \"message\": \"1.0\", \"how\": \"moved\", \"position\": 1"));
	add(run,
	    RESULT("v3", "fail_assert_exception",
		   ", \"message\": \"0.5\", \"exception\": \"0.5\", \"position\": 2, \"params\": "
		   "{\"input_shape\": [1, 32], \"k\": 5}"));
	add(run, RESULT("v4", "skipped", ", \"exception\": \"x\", \"position\": 3"));
	add(run, RESULT("v1", "fail_crash_hang", "")); /* counts once */
	CHECK_OK(ttnn_sweep_has(&has, run, "v4"));
	CHECK(has);
	CHECK_FAILS(ttnn_sweep_add(run, "{}", 2), TTNN_INVALID, "a module, a suite, a vector");
	CHECK_FAILS(ttnn_sweep_add(run, "[", 1), TTNN_FORMAT, "the result:1");
	CHECK_OK(ttnn_sweep_finish(&path, run, "passed"));
	CHECK_OK(ttnn_sweep_analysis(&text, in_directory(""), NULL, NULL));
	CHECK_STR(text, "🔍 SWEEP TEST RESULTS ANALYSIS\n"
			"============================================================\n"
			"📊 Overall Test Statistics:\n"
			"   • Total Tests: 4\n"
			"   • ✅ Passed: 2 (50.0%)\n"
			"   • ❌ Failed: 1\n"
			"   • ⏭️  Not run: 1\n"
			"   • ⏱️  Avg Duration: 0.50s per test\n\n"
			"🚀 Performance Metrics:\n"
			"   • Min PCC: 0.500000\n"
			"   • Max PCC: 1.000000\n"
			"   • Avg PCC: 0.833000\n\n"
			"❌ Failures:\n"
			"   • a.b, s: fail_assert_exception\n"
			"      0.5\n"
			"      input_shape: [1, 32]\n");
	ttnn_free(text);
	CHECK_OK(ttnn_sweep_analysis(&text, "", path, path));
	CHECK(text && strstr(text, "   • Run: a.b, s\n"));
	ttnn_free(text);
	ttnn_free(path);
}

TEST(wrong_files)
{
	char *text;

	CHECK_FAILS(ttnn_sweep_analysis(&text, in_directory("none"), NULL, NULL), TTNN_NOTFOUND,
		    "there are no results");
	CHECK_OK(tt_file_save(in_directory("other.json"), "{\"tests\": 3}", 12));
	CHECK_FAILS(ttnn_sweep_analysis(&text, "", in_directory("other.json"), NULL), TTNN_FORMAT,
		    "no results of sweeps");
}

SCENARIO(an_analysis)
{
	const char *text =
		"[{\"success\": true, \"message\": \"0.5\"}, {\"success\": false, "
		"\"op_params_set\": [{\"param_name\": \"shape\", \"param_value_json\": [1]}]}]";
	struct tt_json_doc *doc;
	struct tt_str out = {0};
	tt_status status;

	TT_TRY(tt_json_parse(&doc, text, strlen(text), "records"));
	status = tt_analysis_write(&out, tt_json_root(doc), NULL);
	tt_str_deinit(&out);
	tt_json_free(doc);
	return status;
}

/* ---- traced calls ------------------------------------------------------------------------------------------------------ */

/* Each chip keeps a part of the sum: the golden tells that of the first. */
TEST(a_call_that_gives_each_chip_its_own)
{
	struct ttnn_replay_result result = {0};
	ttnn_replayer *replayer;

	CHECK_OK(ttnn_replayer_open(&replayer, "data/workspace/ttnn_operations_master.json.gz"));
	CHECK_OK(ttnn_replayer_run(&result, replayer, "reduce_scatter_minimal_async", 8, NULL));
	CHECK(result.passed);
	CHECK(result.pcc >= 0.999);
	ttnn_replayer_free(replayer);
}

TEST(traced_calls)
{
	struct ttnn_replay_result result = {0};
	ttnn_replayer *replayer;
	ttnn_device *device;

	CHECK_OK(ttnn_replayer_open(&replayer, "tests/data/master/master_2025-11.json.gz"));
	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	CHECK_OK(ttnn_replayer_run(&result, replayer, "sigmoid_accurate", 1, device));
	CHECK(result.passed && result.judged && result.pcc >= result.bound && !result.moved);
	CHECK_STR(result.operation, "ttnn.sigmoid_accurate");
	CHECK(strstr(result.source, "efficientnetb0"));
	/* Any spelling; between chips it needs two, which it has itself. */
	CHECK_OK(ttnn_replayer_run(&result, replayer, "ttnn::plus_one", 0, device));
	CHECK_OK(ttnn_replayer_run(&result, replayer, "all_gather_async", 2, device));
	CHECK(result.passed);
	CHECK_FAILS(ttnn_replayer_run(&result, replayer, "sigmoid_accurate", 30, device),
		    TTNN_NOTFOUND, "no configuration 30");
	CHECK_FAILS(ttnn_replayer_run(&result, replayer, "accurate", 0, NULL), TTNN_NOTFOUND,
		    "of accurate");
	ttnn_device_unref(device);
	ttnn_replayer_free(replayer);
	CHECK_FAILS(ttnn_replayer_open(&replayer, "/nonexistent"), TTNN_NOTFOUND, "nonexistent");
}
