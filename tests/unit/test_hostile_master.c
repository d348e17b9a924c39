/* several writers of one master, writers that are killed, small disks: the file is the old one or the new one. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "store/master.h"
#include "test.h"

#define WRITERS 3
#define ROUNDS 12
#define KILLS 60

static const char real_file[] = "tests/data/master/master_2025-11.json.gz";

/* Adds one configuration to a file, as another process would. */
static tt_status add_one(const char *path, int who, int round)
{
	struct tt_master_call call = {.op = "ttnn.add", .source = "models/x.py"};
	struct tt_master *master;
	char args[64];
	tt_status status;
	bool added;

	snprintf(args, sizeof(args), "[{\"arg0\": \"%d\"}, {\"arg1\": \"%d\"}]", who, round);
	call.args = args;
	call.length = strlen(args);
	TT_TRY(tt_master_edit(&master, path, TT_MASTER_V1));
	status = tt_master_add(&added, master, &call);
	if (status == TTNN_OK)
		status = tt_master_save(master, path, TT_MASTER_V1);
	tt_master_free(master);
	return status;
}

/* How many configurations a file has, each of which is read; -1 when it is no master. */
static int count_all(const char *path)
{
	struct tt_json_parser parser = {0};
	const struct tt_json *args;
	struct tt_master *master;
	int count = 0;

	if (tt_master_open(&master, path) != TTNN_OK)
		return -1;
	for (size_t op = 0; op < tt_master_op_count(master); op++)
		for (size_t i = 0; i < tt_master_config_count(master, op); i++, count++)
			if (tt_master_args(&args, master, &parser, op, i) != TTNN_OK) {
				tt_json_parser_deinit(&parser);
				tt_master_free(master);
				return -1;
			}
	tt_json_parser_deinit(&parser);
	tt_master_free(master);
	return count;
}

static void write_together(const char *path, int rounds)
{
	pid_t children[WRITERS];

	for (int who = 0; who < WRITERS; who++) {
		children[who] = fork();
		if (children[who] == 0) {
			for (int round = 0; round < rounds; round++)
				if (add_one(path, who, round) != TTNN_OK)
					_exit(1);
			_exit(0);
		}
	}
	for (int who = 0; who < WRITERS; who++) {
		int status = -1;

		CHECK(waitpid(children[who], &status, 0) == children[who]);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	CHECK_INT(count_all(path), WRITERS * rounds);
}

TEST(writers_of_one_file_wait_for_each_other)
{
	const char *path = test_path("together.json");

	if (!TEST_FOLLOWS_FORKS)
		return;
	write_together(path, ROUNDS);
	/* Nothing stays beside it. */
	CHECK(access(test_path("together.json.lock"), F_OK) != 0);
}

TEST(writers_of_one_store_wait_for_each_other)
{
	if (TEST_FOLLOWS_FORKS)
		write_together(test_path("together.sqlite"), ROUNDS);
}

/* Adds to a file again and again, until it is killed. */
static void write_on(const char *path, int who)
{
	for (int round = 0;; round++)
		if (add_one(path, who, round) != TTNN_OK)
			_exit(1);
}

static void kill_writers(const char *path)
{
	uint64_t seed = 7;
	int before = count_all(path);

	CHECK(before > 0);
	for (int i = 0; i < KILLS; i++) {
		struct timespec pause = {0, (long)(test_random(&seed) % 15000000)};
		pid_t child = fork();
		int status, after;

		if (child == 0)
			write_on(path, i + 1);
		nanosleep(&pause, NULL);
		kill(child, SIGKILL);
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFSIGNALED(status));
		after = count_all(path);
		CHECK(after >= before);
		before = after;
	}
	/* Its lock died with it. */
	CHECK_OK(add_one(path, 0, 12345));
	CHECK_INT(count_all(path), before + 1);
}

TEST(a_writer_that_is_killed_leaves_a_whole_file)
{
	const char *path = test_path("killed.json");
	struct tt_master *master;

	if (!TEST_FOLLOWS_FORKS)
		return;
	/* Large enough to be killed in the middle of. */
	CHECK_OK(tt_master_open(&master, real_file));
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(master);
	kill_writers(path);
}

TEST(a_writer_that_is_killed_leaves_a_whole_store)
{
	const char *path = test_path("killed.sqlite");

	if (!TEST_FOLLOWS_FORKS)
		return;
	CHECK_OK(add_one(path, 0, 0));
	kill_writers(path);
}

/* Saves the real master over a small file, with no room for it: what is told, and whether the old one is there. */
static void fill_disk(const char *path)
{
	struct tt_master *master;
	pid_t child;
	int status = -1;

	CHECK_OK(add_one(path, 1, 1));
	child = fork();
	if (child == 0) {
		struct rlimit limit = {100000, 100000};

		if (tt_master_open(&master, real_file) != TTNN_OK)
			_exit(1);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(tt_master_save(master, path, TT_MASTER_V1) == TTNN_OK ? 2 : 0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_INT(count_all(path), 1);
}

TEST(a_full_disk_leaves_the_old_file)
{
	if (TEST_FOLLOWS_FORKS)
		fill_disk(test_path("full.json"));
}

TEST(a_full_disk_leaves_the_old_store)
{
	if (TEST_FOLLOWS_FORKS)
		fill_disk(test_path("full.sqlite"));
}

/* Gzip by its content: to unpack it takes a place that may be missing, which is no missing master. */
TEST(a_packed_file_is_not_taken_for_a_new_one)
{
	const char *path = test_path("packed.json"), *before = getenv("TMPDIR");
	struct tt_file_map packed;
	char *kept = before ? strdup(before) : NULL;

	CHECK_OK(tt_file_map(&packed, real_file));
	CHECK_OK(tt_file_save(path, packed.data, packed.size));
	tt_file_unmap(&packed);
	setenv("TMPDIR", test_path("none/there"), 1);
	CHECK_OK(add_one(path, 1, 1));
	CHECK_INT(count_all(path), 1080);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}
