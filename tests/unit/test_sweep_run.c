/* sweeps: what goes wrong in a vector, in the runner, with the database; identity, mutations, cache, parts, lists */
#include "test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/file.h"
#include "db_ask.h"
#include "sweep/children.h"
#include "sweep/identity.h"
#include "sweep/inputs.h"
#include "sweep/runner.h"
#include "sweep/summary.h"
#include "sweep/verdict.h"

#define SECOND UINT64_C(1000000000)
#define MASTER "tests/data/master/master_2025-11.json.gz"

static const char *const small_ops[] = {"pad", "ttnn::plus_one"};
enum { VECTORS = 49, CRASH = 7, HANG = 11, GREEDY = 13, LEAVE = 17 };

static const char *in_directory(const char *name)
{
	static char paths[8][512];
	static unsigned turn;
	char *path = paths[turn++ % 8];

	test_path(".");
	snprintf(path, sizeof(paths[0]), "%s/%s", test_directory, name);
	return path;
}

/* How many elements the first argument of a vector has. */
static uint64_t volume(const struct tt_plan *plan, const struct tt_plan_vector *vector)
{
	const struct tt_json *first = tt_json_at(plan->configs.data[vector->config].traced.args, 0);
	struct ttnn_tensor_spec spec;
	uint64_t volume = 0;
	bool on_host;

	CHECK_OK(
		tt_traced_spec(&spec, &on_host, tt_json_get(tt_json_get(first, "arg0"), "Tensor")));
	CHECK_OK(ttnn_shape_volume(&volume, &spec.shape));
	return volume;
}

/* Large ones take their time, and show nothing more. */
static void keep_small(struct tt_plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->vectors.count; i++)
		if (volume(plan, &plan->vectors.data[i]) <= 20000)
			plan->vectors.data[kept++] = plan->vectors.data[i];
	plan->vectors.count = kept;
	for (size_t i = 0; i < kept; i++)
		plan->vectors.data[i].position = i;
}

static struct tt_plan small_plan(const struct tt_plan_options *more)
{
	struct tt_plan_options options = more ? *more : (struct tt_plan_options){0};
	struct tt_plan plan = {0};

	options.ops = options.op_count ? options.ops : small_ops;
	options.op_count = options.op_count ? options.op_count : 2;
	CHECK_OK(tt_plan_add_master(&plan, MASTER, &options));
	keep_small(&plan);
	return plan;
}

static struct tt_results *begin(const char *database, const char *run)
{
	struct tt_results *results = NULL;

	CHECK_OK(tt_results_open(
		&results,
		&(struct tt_results_options){.database = database, .run = run, .no_files = true}));
	return results;
}

static int64_t count_rows(const char *database, const char *where)
{
	char sql[300];
	struct tt_db *db;
	int64_t count;

	CHECK_OK(tt_db_open(&db, database));
	snprintf(sql, sizeof(sql), "select count(*) from results where %s", where);
	count = ask(db, sql);
	tt_db_discard(db);
	return count;
}

/* ---- vectors that do wrong ---------------------------------------------------------------------------- */

static void do_wrong(void *context, const struct tt_plan_vector *vector)
{
	(void)context;
	if (vector->position == CRASH)
		raise(SIGABRT);
	if (vector->position == LEAVE)
		_exit(3);
	while (vector->position == HANG)
		pause();
	/* All of it, to the last kilobyte. */
	for (size_t size = 1 << 20; TT_WORKERS_LIMITED && vector->position == GREEDY && size >= 64;
	     size >>= 4)
		while (tt_alloc(size))
			;
}

TEST(faults_are_results)
{
	const char *database = in_directory("faults.sqlite");
	struct tt_plan plan = small_plan(NULL);
	struct tt_runner runner = {.plan = &plan,
				   .results = begin(database, NULL),
				   .jobs = 2,
				   .timeout_ns = 4 * SECOND,
				   .memory = TT_WORKERS_LIMITED ? UINT64_C(3) << 30 : 0,
				   .quiet = true,
				   .before = do_wrong};
	struct tt_summary summary;
	struct tt_str text = {0};

	CHECK_INT(plan.vectors.count, VECTORS);
	CHECK_OK(tt_runner_run(&runner));
	CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	CHECK_INT(runner.counts.done, VECTORS);
	CHECK_INT(runner.counts.crashed, 2);
	CHECK_INT(runner.counts.hung, 1);
	CHECK_INT(runner.counts.statuses[TT_SWEEP_FAIL_CRASH_HANG], 3);
	CHECK_INT(runner.counts.statuses[TT_SWEEP_FAIL_ASSERT_EXCEPTION], TT_WORKERS_LIMITED);
	CHECK_INT(runner.counts.hows[TT_SWEEP_PLAIN], VECTORS - 3 - TT_WORKERS_LIMITED);
	CHECK_INT(count_rows(database, "exception = 'TEST TIMED OUT (CRASH / HANG)'"), 1);
	CHECK_INT(count_rows(database, "exception like 'its process died: Abort%(signal 6)'"), 1);
	CHECK_INT(count_rows(database, "exception like '%exit code 3'"), 1);
	CHECK_INT(count_rows(database, "exception like 'out of memory: it took the 3072 MB%'"),
		  TT_WORKERS_LIMITED);
	/* The operation that failed is named first. */
	CHECK_OK(tt_summary_read(&summary, database, NULL));
	CHECK_STR(summary.operations.data[0].name, "ttnn.pad");
	CHECK_INT(summary.all.failed, 3 + TT_WORKERS_LIMITED);
	tt_summary_text(&text, &summary);
	CHECK(strncmp(tt_str_text(&text), "ttnn.pad: ", 10) == 0);
	tt_str_deinit(&text);
	tt_summary_page(&text, &summary);
	CHECK(strstr(tt_str_text(&text), "signal #") && strstr(tt_str_text(&text), "</html>"));
	tt_str_deinit(&text);
	tt_summary_free(&summary);
	tt_plan_deinit(&plan);
}

TEST(a_suite_is_left_after_a_hang)
{
	const char *database = in_directory("left.sqlite");
	struct tt_plan plan = small_plan(NULL);
	struct tt_runner runner = {.plan = &plan,
				   .results = begin(database, NULL),
				   .jobs = 1,
				   .timeout_ns = 3 * SECOND,
				   .quiet = true,
				   .skip_on_timeout = true,
				   .before = do_wrong};

	CHECK_OK(tt_runner_run(&runner));
	CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	CHECK(runner.counts.statuses[TT_SWEEP_NOT_RUN] > 30);
	CHECK(count_rows(database, "exception = 'SKIPPED DUE TO PREVIOUS TIMEOUT'") > 30);
	tt_plan_deinit(&plan);
}

TEST(no_vectors_are_a_failure)
{
	const char *const none[] = {"no_such_operation"};
	struct tt_plan plan = small_plan(&(struct tt_plan_options){.ops = none, .op_count = 1});
	struct tt_runner runner = {.plan = &plan, .quiet = true};

	CHECK_FAILS(tt_runner_run(&runner), TTNN_INVALID, "nothing was tested");
	tt_plan_deinit(&plan);
}

/* ---- runners that die, or share --------------------------------------------------------------------- */

static void die_in_the_middle(void *context, const struct tt_sweep_result *result)
{
	struct tt_runner *runner = context;

	(void)result;
	if (runner->counts.done == 30)
		tt_results_tick(runner->results, true);
	if (runner->counts.done == 35) /* the last five wait in memory */
		raise(SIGKILL);
}

static int run_in_a_process(struct tt_runner *runner, const char *database, const char *run)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		runner->results = begin(database, run);
		if (tt_runner_run(runner) != TTNN_OK)
			_exit(1);
		_exit(tt_results_leave(runner->results) == TTNN_OK ? 0 : 1);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(a_killed_runner_is_taken_up)
{
	const char *database = in_directory("killed.sqlite");
	struct tt_plan plan = small_plan(NULL);
	struct tt_runner runner = {.plan = &plan, .jobs = 2, .quiet = true};
	int64_t rows;

	runner.ended = die_in_the_middle;
	runner.context = &runner;
	CHECK_INT(run_in_a_process(&runner, database, NULL), 128 + SIGKILL);
	rows = count_rows(database, "1");
	CHECK(rows >= 30 && rows <= 35);
	runner.ended = NULL;
	runner.results = begin(database, "last");
	CHECK_OK(tt_runner_run(&runner));
	CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	CHECK_INT(runner.counts.before, rows);
	CHECK_INT(runner.counts.done, VECTORS - rows);
	CHECK_INT(count_rows(database, "status = 'pass'"), VECTORS);
	tt_plan_deinit(&plan);
}

TEST(two_runners_share_a_database_and_a_run)
{
	const char *database = in_directory("shared.sqlite");
	struct tt_plan plan = small_plan(NULL), parts[2];
	struct tt_results *results = begin(database, NULL);
	pid_t children[3];
	char name[32];

	snprintf(name, sizeof(name), "%s", tt_results_run(results));
	CHECK_OK(tt_results_leave(results));
	for (int i = 0; i < 3; i++) {
		/* Two run all of it at the same time, the third one of its own. */
		children[i] = fork();
		if (children[i] == 0) {
			struct tt_runner runner = {.plan = &plan, .jobs = 1, .quiet = true};

			_exit(run_in_a_process(&runner, database, i < 2 ? name : NULL));
		}
	}
	for (int i = 0; i < 3; i++) {
		int status = 1;

		waitpid(children[i], &status, 0);
		CHECK_INT(status, 0);
	}
	CHECK_INT(count_rows(database, "status = 'pass'"), 2 * VECTORS);
	CHECK_INT(count_rows(database, "run_id = 1"), VECTORS);
	/* Parts are all of it, once. */
	for (unsigned i = 0; i < 2; i++) {
		parts[i] = small_plan(NULL);
		tt_plan_shard(&parts[i], i, 2);
	}
	CHECK_INT(parts[0].vectors.count + parts[1].vectors.count, VECTORS);
	CHECK(strcmp(parts[0].vectors.data[0].hash, plan.vectors.data[0].hash) == 0);
	CHECK(strcmp(parts[1].vectors.data[0].hash, plan.vectors.data[1].hash) == 0);
	tt_plan_deinit(&parts[0]);
	tt_plan_deinit(&parts[1]);
	tt_plan_deinit(&plan);
}

/* A disk that is full: files may not grow any more. */
TEST(a_full_disk_loses_nothing)
{
	const char *database = in_directory("disk.sqlite");
	struct tt_plan plan = small_plan(NULL);
	struct tt_runner runner = {.plan = &plan, .jobs = 1, .quiet = true};
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		struct rlimit limit = {48 << 10, 48 << 10};

		signal(SIGXFSZ, SIG_IGN);
		runner.results = begin(database, NULL);
		setrlimit(RLIMIT_FSIZE, &limit);
		status = tt_runner_run(&runner) == TTNN_OK ? 1 : 0;
		_exit(status || !*ttnn_error());
	}
	waitpid(child, &status, 0);
	CHECK_INT(status, 0);
	runner.results = begin(database, "last");
	CHECK_OK(tt_runner_run(&runner));
	CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	CHECK_INT(count_rows(database, "status = 'pass'"), VECTORS);
	tt_plan_deinit(&plan);
}

TEST(what_this_build_passed_is_not_run_again)
{
	const char *database = in_directory("cache.sqlite");
	struct tt_plan plan = small_plan(NULL);
	struct tt_runner runner = {.plan = &plan, .jobs = 1, .quiet = true, .build = "one"};

	for (int i = 0; i < 3; i++) {
		runner.build = i < 2 ? "one" : "another";
		runner.results = begin(database, NULL);
		CHECK_OK(tt_runner_run(&runner));
		CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
		CHECK_INT(runner.counts.cached, i == 1 ? VECTORS : 0);
		CHECK_INT(runner.counts.hows[TT_SWEEP_PLAIN], VECTORS);
	}
	CHECK_INT(count_rows(database, "cached"), VECTORS);
	CHECK_INT(count_rows(database, "pcc < 0.99"), 0);
	tt_plan_deinit(&plan);
}

/* ---- the same call -------------------------------------------------------------------------------------- */

TEST(another_call_is_not_the_recorded_one)
{
	ttnn_device *device;
	struct tt_inputs inputs = {0};
	struct tt_traced_call call, other;
	struct tt_identity identity = {0};
	struct tt_identity_found found;
	struct ttnn_results results = {0};
	struct tt_arena arena = {0};
	struct tt_plan plan = small_plan(NULL);
	struct tt_call_source source = tt_call_of_config(&plan.configs.data[20].traced),
			      wrong = tt_call_of_config(&plan.configs.data[30].traced);

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	inputs.device = device;
	CHECK_OK(tt_inputs_bind(&other, &inputs, &arena, &wrong));
	tt_inputs_drop(&inputs);
	CHECK_OK(tt_inputs_bind(&call, &inputs, &arena, &source));
	for (int i = 0; i < 2; i++) {
		CHECK_OK(tt_identity_begin(&identity));
		CHECK_OK(ttnn_call(&results, source.op, call.args, call.count, TTNN_FRONTEND_C));
		ttnn_tensor_unref(results.tensors[0]);
		CHECK_OK(tt_identity_end(&found, &identity, source.op, i ? &other : &call));
		CHECK(found.same == !i);
		CHECK(i ? strstr(found.why, "not the recorded call: ") != NULL : found.texts >= 3);
	}
	tt_inputs_drop(&inputs);
	ttnn_device_unref(device);
	tt_arena_deinit(&arena);
	tt_plan_deinit(&plan);
}

/* One NaN among many numbers is seen, which the correlation alone would not show. */
TEST(a_nan_is_strange)
{
	struct ttnn_shape shape = {.rank = 1, .dim = {64}};
	struct tt_verdict verdict = {.pcc = 1};
	struct ttnn_tensor_spec spec;
	double want[64];
	float got[64];
	struct tt_array golden = {.shape = shape, .dtype = TTNN_FLOAT32, .count = 64, .data = want};
	ttnn_tensor *tensor = NULL;

	for (int i = 0; i < 64; i++)
		want[i] = got[i] = (float)i;
	CHECK_OK(ttnn_tensor_spec_make(
		&spec, &(struct ttnn_spec_args){.shape = shape, .dtype = TTNN_FLOAT32}));
	for (int turn = 0; turn < 2; turn++) {
		got[0] = turn ? NAN : 0;
		CHECK_OK(ttnn_tensor_from_data(&tensor, got, TTNN_FLOAT32, &spec, 0));
		CHECK_OK(tt_verdict_add(&verdict, tensor, &golden));
		CHECK(verdict.strange == turn);
		ttnn_tensor_unref(tensor);
	}
}

TEST(each_digit_of_an_integer_counts)
{
	ttnn_device *device;
	struct tt_identity identity = {0};
	struct tt_identity_found found;
	struct ttnn_results results = {0};
	struct tt_json_doc *doc;
	struct tt_traced_call call = {.count = 3};

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	CHECK_OK(tt_json_parse(&doc, "[\"128255.0\", \"128257\"]", 22, "texts"));
	call.args[0] = (struct ttnn_arg){.name = "start", .value = ttnn_v_int(128256 - 32)};
	call.args[1] = (struct ttnn_arg){.name = "end", .value = ttnn_v_int(128256)};
	call.args[2] = (struct ttnn_arg){.name = "device", .value = ttnn_v_device(device)};
	for (int i = 0; i < 2; i++) {
		call.recorded[1] = tt_json_at(tt_json_root(doc), (size_t)i);
		CHECK_OK(tt_identity_begin(&identity));
		CHECK_OK(ttnn_call(&results, "ttnn.arange", call.args, 3, TTNN_FRONTEND_C));
		ttnn_tensor_unref(results.tensors[0]);
		CHECK_OK(tt_identity_end(&found, &identity, "ttnn.arange", &call));
		CHECK(!found.same);
		CHECK(strstr(found.why, "end was"));
	}
	tt_json_free(doc);
	ttnn_device_unref(device);
}

/* What was not compared has no correlation; and one of many that is none is told. */
TEST(only_what_was_compared_is_judged)
{
	struct ttnn_shape shape = {.rank = 1, .dim = {4}};
	struct tt_verdict verdict = {.pcc = NAN, .compared = 1};
	double want[4] = {1, 2, 3, 4};
	float got[4] = {1, 2, 3, 4};
	struct tt_array golden = {.shape = shape, .dtype = TTNN_FLOAT32, .count = 4, .data = want};
	struct tt_plan plan = small_plan(NULL);
	const char *database = in_directory("unable.sqlite");
	struct tt_runner runner = {.plan = &plan, .jobs = 1, .quiet = true};
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_tensor_spec_make(
		&spec, &(struct ttnn_spec_args){.shape = shape, .dtype = TTNN_FLOAT32}));
	CHECK_OK(ttnn_tensor_from_data(&tensor, got, TTNN_FLOAT32, &spec, 0));
	CHECK_OK(tt_verdict_add(&verdict, tensor, &golden));
	CHECK(isnan(verdict.pcc) && verdict.compared == 2);
	ttnn_tensor_unref(tensor);
	plan.vectors.count = 1;
	plan.configs.data[plan.vectors.data[0].config].traced.op = "ttnn.no_such";
	runner.results = begin(database, NULL);
	CHECK_OK(tt_runner_run(&runner));
	CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	CHECK_INT(count_rows(database, "status like 'fail%' and pcc is null"), 1);
	tt_plan_deinit(&plan);
}

TEST(a_line_of_others)
{
	struct tt_str text = {0};
	char many[2000];

	tt_summary_line(&text, "\n\nwhy\x1b[31m\tnot\nmore");
	CHECK_STR(tt_str_text(&text), "why [31m not");
	tt_str_clear(&text);
	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = "\xc3\xa4"[(i + 1) % 2];
	many[0] = 'a';
	many[sizeof(many) - 1] = '\0';
	tt_summary_line(&text, many);
	CHECK(text.length == 602 && memcmp(text.data + 599, "…", 3) == 0);
	tt_str_deinit(&text);
}

/* ---- mutations and files ---------------------------------------------------------------------------------- */

TEST(mutations_are_vectors_of_their_own)
{
	const char *database = in_directory("mutations.sqlite");
	static const char *const ops[] = {"sigmoid_accurate"};
	struct tt_plan_options options = {.ops = ops, .op_count = 1, .every = 2};
	struct tt_mutation mutation;
	struct tt_plan plan, all;
	struct tt_runner runner = {.plan = &plan, .jobs = 1, .quiet = true};
	char name[TT_MUTATION_NAME];

	CHECK(tt_mutation_parse(&mutation, "rows-32,dtype=float32,place=l1"));
	tt_mutation_name(name, mutation);
	CHECK_STR(name, "rows-32,dtype=float32,place=l1");
	CHECK(!tt_mutation_parse(&mutation, "rows-31"));
	memset(options.kinds, 1, sizeof(options.kinds));
	plan = small_plan(&options);
	options.all_cases = true;
	all = small_plan(&options);
	CHECK(plan.vectors.count > 40 && all.vectors.count > 3 * plan.vectors.count);
	runner.results = begin(database, NULL);
	CHECK_OK(tt_runner_run(&runner));
	CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	CHECK_INT(runner.counts.statuses[TT_SWEEP_FAIL_CRASH_HANG], 0);
	CHECK_INT(runner.counts.statuses[TT_SWEEP_FAIL_ASSERT_EXCEPTION], 0);
	CHECK(runner.counts.statuses[TT_SWEEP_PASS] > 30);
	CHECK_INT(runner.counts.statuses[TT_SWEEP_NOT_RUN], runner.counts.refused);
	tt_plan_deinit(&plan);
	tt_plan_deinit(&all);
}

/* A plan as vector files, as a list, and read again. */
TEST(plans_are_files)
{
	struct tt_plan_options options = {.kinds = {[TT_MUTATE_DTYPE] = true}, .seed = 3};
	struct tt_plan plan = small_plan(&options), read = {0}, listed = {0};
	struct tt_plan_written written;
	size_t others = 0;
	char *text;
	size_t size;

	CHECK_OK(tt_plan_write(&written, &plan, in_directory("."), "tag"));
	CHECK(written.files == 2 && written.vectors == plan.vectors.count);
	CHECK_OK(tt_plan_add_vectors(&read, &others, in_directory("ttnn.pad.json"),
				     &(struct tt_plan_options){0}));
	CHECK_OK(tt_plan_add_vectors(&read, &others, in_directory("ttnn.plus_one.json"),
				     &(struct tt_plan_options){0}));
	CHECK(read.vectors.count == plan.vectors.count && !others);
	CHECK_OK(tt_plan_write_list(&plan, in_directory("list"), MASTER));
	CHECK(tt_plan_is_list(in_directory("list")));
	CHECK(!tt_plan_is_list(in_directory("ttnn.pad.json")));
	CHECK_OK(tt_plan_add_list(&listed, in_directory("list"), &(struct tt_plan_options){0}));
	CHECK_INT(listed.vectors.count, plan.vectors.count);
	for (size_t i = 0; i < plan.vectors.count && i < listed.vectors.count; i++) {
		struct tt_str a = {0}, b = {0};

		CHECK_STR(listed.vectors.data[i].hash, plan.vectors.data[i].hash);
		CHECK(tt_map_finds(&read.hashes, plan.vectors.data[i].hash));
		CHECK_OK(tt_plan_params(&a, &plan, &plan.vectors.data[i]));
		CHECK_OK(tt_plan_params(&b, &read, &read.vectors.data[i]));
		CHECK_STR(tt_str_text(&a), tt_str_text(&b));
		tt_str_deinit(&a);
		tt_str_deinit(&b);
	}
	/* A vector that somebody changed is another one, whatever its file calls it. */
	CHECK_OK(tt_file_read(&text, &size, in_directory("ttnn.pad.json")));
	CHECK(strstr(text, "\"seed\": 3"));
	strstr(text, "\"seed\": 3")[8] = '4';
	CHECK_OK(tt_file_save(in_directory("changed.json"), text, size));
	tt_free(text);
	tt_plan_deinit(&read);
	CHECK_OK(tt_plan_add_vectors(&read, &others, in_directory("changed.json"),
				     &(struct tt_plan_options){0}));
	CHECK(!tt_map_finds(&plan.hashes, read.vectors.data[0].hash));
	CHECK(tt_map_finds(&plan.hashes, read.vectors.data[1].hash));
	/* Another master than the list was made of. */
	CHECK_OK(tt_file_read(&text, &size, in_directory("list")));
	text[30] = text[30] == '0' ? '1' : '0';
	CHECK_OK(tt_file_save(in_directory("list"), text, size));
	CHECK_FAILS(tt_plan_add_list(&listed, in_directory("list"), &(struct tt_plan_options){0}),
		    TTNN_INVALID, "not what the list");
	tt_free(text);
	tt_plan_deinit(&plan);
	tt_plan_deinit(&read);
	tt_plan_deinit(&listed);
}

static void crash(void *context, const struct tt_plan_vector *vector)
{
	(void)context;
	if (vector->position >= CRASH && vector->position < CRASH + 3)
		_exit(3);
}

TEST(runs_are_compared)
{
	const char *database = in_directory("compared.sqlite");
	struct tt_plan plan = small_plan(NULL);
	struct tt_runner runner = {
		.plan = &plan, .jobs = 1, .quiet = true, .timeout_ns = SECOND / 2};
	struct tt_summary before, after;
	struct tt_summary_change change;
	struct tt_str text = {0};
	char name[32];

	runner.results = begin(database, NULL);
	snprintf(name, sizeof(name), "%s", tt_results_run(runner.results));
	CHECK_OK(tt_runner_run(&runner));
	CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	runner.before = crash;
	plan.vectors.count--;
	runner.results = begin(database, NULL);
	CHECK_OK(tt_runner_run(&runner));
	CHECK_OK(tt_results_finish(NULL, runner.results, TT_SWEEP_RUN_PASSED));
	CHECK_OK(tt_summary_read(&before, database, name));
	CHECK_OK(tt_summary_read(&after, database, NULL));
	tt_summary_compare(&change, &text, &before, &after);
	CHECK_INT(change.worse, 3);
	CHECK_INT(change.gone, 1);
	CHECK_INT(change.better, 0);
	CHECK(strstr(tt_str_text(&text), "worse   ttnn.pad/"));
	tt_str_deinit(&text);
	tt_summary_compare(&change, &text, &after, &before);
	CHECK_INT(change.better, 3);
	tt_str_deinit(&text);
	tt_summary_free(&before);
	tt_summary_free(&after);
	tt_plan_deinit(&plan);
}
