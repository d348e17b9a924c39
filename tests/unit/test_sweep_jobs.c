/* runs on clusters: scripts and manifests, rows of jobs, how far they are, cancelling, views, bundles */
#include "test.h"

#include "base/file.h"
#include "base/zip.h"
#include "db/db.h"
#include "sweep/bundle.h"
#include "sweep/jobs.h"
#include "sweep/submit.h"

#define MASTER "{\"operations\": {}, \"metadata\": {\"it's\": \"\\u00fc\"}}\n"
#define ADDRESS "postgresql://me@host/sweeps"

static struct tt_submit a_submit(void)
{
	return (struct tt_submit){.run = "0123456789ab",
				  .db = ADDRESS,
				  .program = "/opt/it's/ttnn",
				  .shards = 7,
				  .retries = 2,
				  .image = "registry/ttnn:1"};
}

static bool has(const struct tt_str *text, const char *part)
{
	return strstr(tt_str_text(text), part) != NULL;
}

/* ---- what schedulers are told -------------------------------------------------------------------------------------- */

TEST(slurm_script)
{
	struct tt_submit submit = a_submit();
	struct tt_str text = {0};

	submit.partition = "long";
	submit.account = "us";
	submit.time = "1-12";
	submit.cpus = 4;
	submit.memory = 3 << 20;
	submit.logs = "/shared/logs";
	submit.extra = (const char *const[]){"--constraint=fast"};
	submit.extra_count = 1;
	submit.arguments = (const char *const[]){"--timeout", "9"};
	submit.argument_count = 2;
	CHECK_OK(tt_submit_slurm(&text, &submit));
	CHECK(strncmp(tt_str_text(&text), "#!/bin/sh\n#SBATCH ", 18) == 0);
	CHECK(has(&text, "#SBATCH --array=1-7\n"));
	CHECK(has(&text, "#SBATCH --requeue\n"));
	CHECK(has(&text, "#SBATCH --partition=long\n#SBATCH --account=us\n#SBATCH --time=1-12\n"));
	CHECK(has(&text,
		  "#SBATCH --cpus-per-task=4\n#SBATCH --mem=3072K\n#SBATCH --constraint=fast\n"));
	CHECK(has(&text, "#SBATCH --output=/shared/logs/ttnn-sweep-0123456789ab-%a.log\n"));
	CHECK(has(&text, "'/opt/it'\\''s/ttnn' sweep run --resume '0123456789ab' --shard "
			 "\"$SLURM_ARRAY_TASK_ID/7\" --db '" ADDRESS "' '--timeout' '9' -q"));
	CHECK(has(&text, "-lt 2 ]"));
	tt_str_deinit(&text);
}

TEST(k8s_manifest)
{
	struct tt_submit submit = a_submit();
	struct tt_str text = {0};

	submit.secret = "db";
	submit.time = "30";
	CHECK_OK(tt_submit_k8s(&text, &submit));
	CHECK(has(
		&text,
		"completionMode: Indexed\n  completions: 7\n  parallelism: 7\n  backoffLimit: 14\n"));
	CHECK(has(&text, "activeDeadlineSeconds: 1800\n"));
	CHECK(has(&text,
		  "secretKeyRef:\n                  name: db\n                  key: password\n"));
	CHECK(has(&text, "--shard \\\"$((JOB_COMPLETION_INDEX + 1))/7\\\""));
	CHECK(!has(&text, "namespace") && !has(&text, "resources") && !has(&text, "nodeSelector"));
	tt_str_deinit(&text);
}

/* Each would break the script, the manifest, or tell a secret. */
TEST(what_cannot_be_written)
{
	static const char *const addresses[] = {"postgresql://me:secret@host/db",
						"postgres://:x@h/d", "postgresql://h/d?password=x",
						"postgresql://h/d?user=me&password=x",
						"postgresql://me:sec?ret@h/d"};
	struct tt_submit submit;
	struct tt_str text = {0};
	uint64_t seconds;

	for (size_t i = 0; i < TT_COUNT(addresses); i++) {
		submit = a_submit();
		submit.db = addresses[i];
		CHECK_INT(tt_submit_slurm(&text, &submit), TTNN_INVALID);
		CHECK_INT(tt_submit_k8s(&text, &submit), TTNN_INVALID);
		CHECK_INT(tt_bundle_write(test_path("no.zip"), addresses[i]), TTNN_INVALID);
		CHECK(!strstr(ttnn_error(), "secret"));
	}
	CHECK_OK(tt_db_check_url("postgresql://me@h:5432/d?sslmode=require"));
	CHECK_OK(tt_db_check_url("/shared/a:b@c.sqlite"));
	submit = a_submit();
	submit.partition = "a b";
	CHECK_INT(tt_submit_slurm(&text, &submit), TTNN_INVALID);
	submit = a_submit();
	submit.account = "x\n#SBATCH --uid=0";
	CHECK_INT(tt_submit_slurm(&text, &submit), TTNN_INVALID);
	submit = a_submit();
	submit.program = "a\nb";
	CHECK_INT(tt_submit_slurm(&text, &submit), TTNN_INVALID);
	submit = a_submit();
	submit.name_space = "No_Name";
	CHECK_INT(tt_submit_k8s(&text, &submit), TTNN_INVALID);
	submit = a_submit();
	submit.image = NULL;
	CHECK_INT(tt_submit_k8s(&text, &submit), TTNN_INVALID);
	submit = a_submit();
	submit.db = "/shared/results.sqlite";
	CHECK_INT(tt_submit_k8s(&text, &submit), TTNN_INVALID);
	CHECK(tt_submit_seconds(&seconds, "1-2:03:04") == TTNN_OK && seconds == 93784);
	CHECK(tt_submit_seconds(&seconds, "2:30") == TTNN_OK && seconds == 150);
	CHECK_INT(tt_submit_seconds(&seconds, "0"), TTNN_INVALID);
	CHECK_INT(tt_submit_seconds(&seconds, "1:2:3:4"), TTNN_INVALID);
	CHECK_INT(tt_submit_seconds(&seconds, "soon"), TTNN_INVALID);
	CHECK_INT(tt_submit_seconds(&seconds, "1-"), TTNN_INVALID);
	tt_str_deinit(&text);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

static tt_status add(struct tt_results *results, unsigned number, enum tt_sweep_status status)
{
	char hash[32];

	snprintf(hash, sizeof(hash), "vector%u", number);
	return tt_results_add(results,
			      &(struct tt_sweep_result){.module = "ttnn.add",
							.suite = "model_traced",
							.vector = hash,
							.position = number,
							.status = status,
							.exception = status ? "It\nbroke." : NULL,
							.operation = "ttnn.add",
							.pcc = status ? NAN : 0.99995,
							.bound = NAN,
							.error = NAN});
}

static tt_status begin(struct tt_results **results, const char *database)
{
	const char *const ops[] = {"add"};
	struct tt_job job = {.engine = "slurm", .shards = 2, .vectors = 5};
	struct tt_job_request request = {.ops = ops, .op_count = 1, .seed = 1, .every = 10};

	TT_TRY(tt_file_save(test_path("master.json"), MASTER, strlen(MASTER)));
	TT_TRY(tt_results_open(
		results, &(struct tt_results_options){.database = database, .no_files = true}));
	snprintf(job.run, sizeof(job.run), "%s", tt_results_run(*results));
	return tt_job_save(*results, &job, &request, test_path("master.json"));
}

TEST(jobs_are_rows)
{
	const char *database = test_path("jobs.sqlite");
	struct tt_results *results = NULL;
	struct tt_job_progress progress;
	struct tt_job job;
	struct tt_str text = {0};
	char run[32], *master;
	size_t size;

	remove(database);
	CHECK_OK(begin(&results, database));
	snprintf(run, sizeof(run), "%s", tt_results_run(results));
	CHECK_OK(tt_job_started(database, run, "4711"));
	CHECK_OK(tt_job_find(&job, database, run));
	CHECK_STR(job.status, "running");
	CHECK(strcmp(job.engine, "slurm") == 0 && strcmp(job.job, "4711") == 0 && job.shards == 2);
	CHECK(strcmp(job.request,
		     "{\"op\": [\"add\"], \"suite\": null, \"vector\": null, \"mutate\": null, "
		     "\"seed\": 1, \"every\": 10, \"all_cases\": false}") == 0);
	/* The master file comes back to the byte, from a database alone. */
	CHECK_OK(tt_job_master(&job, database, test_path("back.json")));
	CHECK_OK(tt_file_read(&master, &size, test_path("back.json")));
	CHECK(size == strlen(MASTER) && memcmp(master, MASTER, size) == 0);
	tt_free(master);
	tt_job_deinit(&job);
	CHECK_INT(tt_job_find(&job, database, "nobody"), TTNN_NOTFOUND);

	for (unsigned i = 0; i < 3; i++)
		CHECK_OK(add(results, i, i == 1 ? TT_SWEEP_FAIL_ASSERT_EXCEPTION : TT_SWEEP_PASS));
	CHECK_OK(tt_results_tick(results, true));
	CHECK_OK(tt_job_progress_read(&progress, database, NULL));
	CHECK(progress.vectors == 5 && progress.rows == 3 && progress.passed == 2 &&
	      progress.failed == 1);
	CHECK(progress.shards.data[0].vectors == 3 && progress.shards.data[0].rows == 2);
	CHECK(progress.shards.data[1].vectors == 2 && progress.shards.data[1].failed == 1);
	CHECK(!tt_job_progress_ended(&progress));
	tt_job_progress_text(&text, &progress);
	CHECK(has(&text, "3 of 5 vectors: 2 passed, 1 failed, 0 not run"));
	CHECK(has(&text, "ttnn.add fail_assert_exception: It\n"));
	tt_job_progress_deinit(&progress);

	/* Who is at work is told when it next writes rows, which are kept. */
	CHECK_OK(tt_job_cancel(database, run));
	CHECK_OK(tt_job_find(&job, database, run));
	CHECK_STR(job.status, "cancelled");
	tt_job_deinit(&job);
	CHECK_OK(add(results, 3, TT_SWEEP_PASS));
	CHECK_INT(tt_results_tick(results, true), TTNN_INVALID);
	CHECK(tt_results_cancelled(results));
	CHECK_OK(tt_results_leave(results));
	CHECK_INT(tt_job_cancel(database, run), TTNN_INVALID);
	CHECK_OK(tt_job_progress_read(&progress, database, run));
	CHECK(progress.rows == 4 && tt_job_progress_ended(&progress));
	tt_job_progress_deinit(&progress);
	tt_str_deinit(&text);
}

/* The rows of a query, '|' between columns. */
static void test_ask(const char *path, const char *sql, int columns, const char *want)
{
	struct tt_str got = {0};
	struct tt_db_stmt *select;
	struct tt_db *db;
	bool row = true;

	CHECK_OK(tt_db_open(&db, path));
	CHECK_OK(tt_db_prepare(&select, db, sql));
	while (tt_db_next(&row, select) == TTNN_OK && row)
		for (int i = 0; i < columns; i++)
			tt_str_addf(&got, "%s%c", tt_db_text(select, i),
				    i + 1 < columns ? '|' : '\n');
	tt_db_stmt_free(select);
	tt_db_discard(db);
	CHECK_STR(tt_str_text(&got), want);
	tt_str_deinit(&got);
}

TEST(views)
{
	const char *database = test_path("views.sqlite");
	struct tt_results *results = NULL;

	remove(database);
	CHECK_OK(begin(&results, database));
	for (unsigned i = 0; i < 4; i++)
		CHECK_OK(add(results, i, i ? TT_SWEEP_PASS : TT_SWEEP_FAIL_CRASH_HANG));
	CHECK_OK(tt_results_leave(results));
	test_ask(database, "select vectors, passed, failed, pass_rate from sweep_runs", 4,
		 "4|3|1|75.0\n");
	test_ask(database, "select operation, vector from sweep_failures", 2, "ttnn.add|vector0\n");
	test_ask(database, "select pcc_range, count(*) from sweep_vectors group by 1", 2,
		 "0.9999 to 1|3\nnot compared|1\n");
	test_ask(database, "select operation, vectors, failed from sweep_operations", 3,
		 "ttnn.add|4|1\n");
	/* Opened again, they are as they were. */
	CHECK_OK(tt_results_open(
		&results, &(struct tt_results_options){.database = database, .no_files = true}));
	CHECK_OK(tt_results_leave(results));
	test_ask(database, "select count(*) from views_version", 1, "1\n");
}

/* ---- archives ---------------------------------------------------------------------------------------------------------- */

static uint32_t number(const char *at, int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | (unsigned char)at[bytes];
	return value;
}

/* The directory leads to each member, and both say the same of it. */
TEST(bundle)
{
	char *data, *again;
	size_t size, size_again, at, members;

	CHECK_OK(tt_bundle_write(test_path("a.zip"), ADDRESS));
	CHECK_OK(tt_bundle_write(test_path("b.zip"), ADDRESS));
	CHECK_OK(tt_file_read(&data, &size, test_path("a.zip")));
	CHECK_OK(tt_file_read(&again, &size_again, test_path("b.zip")));
	CHECK(size == size_again && memcmp(data, again, size) == 0);
	CHECK(memcmp(data + size - 22, "PK\5\6", 4) == 0);
	members = number(data + size - 12, 2);
	at = number(data + size - 6, 4);
	CHECK(members == 13 && at + number(data + size - 10, 4) == size - 22);
	for (size_t i = 0; i < members && at + 46 < size; i++) {
		const char *entry = data + at, *member = data + number(entry + 42, 4);

		CHECK(memcmp(entry, "PK\1\2", 4) == 0 && memcmp(member, "PK\3\4", 4) == 0);
		CHECK(memcmp(entry + 6, member + 4, 24) == 0);
		CHECK(strncmp(entry + 46, "ttnn_sweeps/", 12) == 0);
		CHECK(memcmp(entry + 46, member + 30, number(entry + 28, 2)) == 0);
		at += 46 + number(entry + 28, 2);
	}
	CHECK(at == size - 22);
	tt_free(data);
	tt_free(again);
}

SCENARIO(no_memory)
{
	struct tt_submit submit = a_submit();
	struct tt_results *results = NULL;
	struct tt_job_progress progress;
	struct tt_job job = {0};
	struct tt_str text = {0};
	tt_status status = tt_submit_slurm(&text, &submit);

	if (status == TTNN_OK)
		status = tt_submit_k8s(&text, &submit);
	tt_str_deinit(&text);
	TT_TRY(status);
	TT_TRY(tt_bundle_write(test_path("c.zip"), ADDRESS));
	status = begin(&results, test_path("memory.sqlite"));
	if (status == TTNN_OK)
		status = tt_job_find(&job, test_path("memory.sqlite"), tt_results_run(results));
	tt_job_deinit(&job);
	if (status == TTNN_OK)
		status = tt_results_leave(results);
	else
		tt_results_leave(results);
	TT_TRY(status);
	TT_TRY(tt_job_progress_read(&progress, test_path("memory.sqlite"), NULL));
	tt_job_progress_deinit(&progress);
	return TTNN_OK;
}
