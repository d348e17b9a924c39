/* results that wait in a file for their database, and runs that are copied */
#include "test.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "db_ask.h"
#include "sweep/results_copy.h"
#include "sweep/results_spool.h"

static const char *in_directory(const char *name)
{
	static char paths[4][512];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	test_path(".");
	snprintf(path, sizeof(paths[0]), "%s/%s", test_directory, name);
	return path;
}

static struct tt_results_row row(const char *vector)
{
	return (struct tt_results_row){.result = {.module = "m",
						  .suite = "s",
						  .vector = vector,
						  .message = "a \"text\"\nof two lines",
						  .status = TT_SWEEP_PASS,
						  .pcc = 0.5,
						  .bound = NAN,
						  .error = INFINITY,
						  .params = "{}",
						  .params_length = 2},
				       .e2e_ms = NAN};
}

static struct tt_results *begin(const char *database)
{
	struct tt_results *results = NULL;

	CHECK_OK(tt_results_open(&results,
				 &(struct tt_results_options){.directory = in_directory("r"),
							      .database = in_directory(database),
							      .no_files = true}));
	return results;
}

static long long size_of(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? (long long)info.st_size : -1;
}

/* Files may not become longer than this. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

TEST(a_disk_that_is_full_spoils_no_line)
{
	struct tt_results_row rows[] = {row("a"), row("b"), row("c")};
	struct tt_spool spool = {.fd = -1};
	struct tt_results *results = begin("full.sqlite");
	long long before;
	uint64_t count;

	CHECK_OK(tt_spool_add(&spool, results, rows, 2));
	before = size_of(spool.path);
	CHECK(before > 0);
	limit_files((rlim_t)before + 20);
	CHECK(tt_spool_add(&spool, results, rows + 2, 1) == TTNN_IO);
	limit_files(RLIM_INFINITY);
	CHECK_INT(size_of(spool.path), before);
	CHECK_INT(spool.rows, 2);
	CHECK_OK(tt_spool_add(&spool, results, rows + 2, 1));
	CHECK_OK(tt_spool_deliver(&count, &spool, results));
	CHECK_INT(count, 3);
	CHECK_INT(size_of(spool.path), -1);
	CHECK_INT(ask(results->db, "select count(*) from results where pcc = 0.5"), 3);
	/* Once more: they count once. */
	CHECK_OK(tt_spool_add(&spool, results, rows, 3));
	CHECK_OK(tt_spool_deliver(&count, &spool, results));
	CHECK_INT(ask(results->db, "select count(*) from results"), 3);
	CHECK_OK(tt_results_leave(results));
}

TEST(who_still_writes_a_file_delivers_it)
{
	struct tt_results_row rows[] = {row("a"), row("b")};
	struct tt_spool spool = {.fd = -1};
	struct tt_results *results = begin("old.sqlite");
	FILE *file;

	CHECK_OK(tt_spool_add(&spool, results, rows, 2));
	CHECK_OK(tt_spool_deliver_old(results));
	CHECK_INT(ask(results->db, "select count(*) from results"), 0);
	tt_spool_close(&spool);
	/* As if it had been killed while it wrote. */
	file = fopen(spool.path, "a");
	CHECK(file);
	fprintf(file, "{\"database\": \"");
	fclose(file);
	CHECK_OK(tt_spool_deliver_old(results));
	CHECK_INT(ask(results->db, "select count(*) from results"), 2);
	CHECK_INT(size_of(spool.path), -1);
	CHECK_OK(tt_results_leave(results));
}

TEST(a_copy_of_a_run_gets_its_end)
{
	struct tt_sweep_result one = row("a").result, two = row("b").result;
	const char *from = in_directory("copy.sqlite"), *to = in_directory("b.sqlite");
	struct tt_results *results = begin("copy.sqlite");
	struct tt_results_copied copied;
	struct tt_db *db;

	CHECK_OK(tt_results_add(results, &one));
	CHECK_OK(tt_results_tick(results, true));
	CHECK_OK(tt_results_copy(&copied, to, from, NULL));
	CHECK_INT(copied.rows, 1);
	CHECK_OK(tt_results_add(results, &two));
	CHECK_OK(tt_results_finish(NULL, results, TT_SWEEP_RUN_PASSED));
	CHECK_OK(tt_results_copy(&copied, to, from, NULL));
	CHECK_INT(copied.rows, 1);
	CHECK_OK(tt_db_open(&db, to));
	CHECK_INT(ask(db, "select count(*) from results"), 2);
	CHECK_INT(
		ask(db,
		    "select count(*) from runs where status = 'passed' and run_end_ts is not null"),
		1);
	CHECK_OK(tt_db_close(db));
}
