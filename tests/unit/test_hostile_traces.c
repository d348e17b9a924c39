/*
 * traces where programs are rude: names that are taken, closed descriptors, limits on files, threads that
 * leave captures behind
 * @threads
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ttnn.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"
#include "event/capture.h"
#include "trace/source.h"

/* TTNN_TEST_LONG=N: N times as much of everything. */
static int times(int count)
{
	const char *text = getenv("TTNN_TEST_LONG");
	int factor = text ? (int)strtol(text, NULL, 10) : 1;

	return count * (factor > 0 ? factor : 1);
}

static void tell(const char *name)
{
	if (ttnn_function_begin(name) != TTNN_OK || ttnn_function_end() != TTNN_OK)
		_exit(99);
}

/* The operations of a whole trace; -1 when it is not whole. */
static long operations(const char *path)
{
	struct tt_source *source;
	const struct tt_trace_info *info;
	long count;

	if (tt_source_open(&source, path) != TTNN_OK)
		return -1;
	info = tt_source_info(source);
	count = info->complete && !info->damage ? (long)info->operations : -1;
	tt_source_close(source);
	return count;
}

static void make_folder(const char *folder)
{
	CHECK_INT(mkdir(folder, 0777), 0);
}

/* The files of a folder, which is removed with them. */
static int empty_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[1024];
	int count = 0;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			unlink(path);
			count++;
		}
	if (dir)
		closedir(dir);
	CHECK_INT(rmdir(folder), 0);
	return count;
}

/* ---- names ------------------------------------------------------------------------------------------------ */

static char *numbered(char *out, size_t room, const char *folder, int number)
{
	char middle[16] = "";

	if (number > 1)
		snprintf(middle, sizeof(middle), ".%d", number);
	snprintf(out, room, "%s/%s-%ld%s.ttrace", folder, program_invocation_short_name,
		 (long)getpid(), middle);
	return out;
}

/* One process after another with the same number: what exec() does, and containers. */
TEST(no_trace_takes_the_place_of_another)
{
	const char *folder = test_path("same");
	struct ttnn_trace_options options = {.directory = folder};
	char path[1024];
	ttnn_trace *trace;

	make_folder(folder);
	for (int i = 1; i <= 4; i++) {
		options.last_ops = i == 3 ? 100 : 0; /* a ring is written by another way */
		CHECK_OK(ttnn_trace_begin(&trace, &options));
		for (int k = 0; k < i; k++)
			tell("a");
		if (i == 3)
			CHECK_OK(ttnn_trace_flush(trace));
		CHECK_OK(ttnn_trace_end(NULL, trace));
	}
	for (int i = 1; i <= 4; i++)
		CHECK_INT(operations(numbered(path, sizeof(path), folder, i)), i);
	CHECK_INT(empty_folder(folder), 4);
}

/* A name that is there when a child needs it is left alone, whatever it is. */
TEST(a_child_takes_no_name_that_is_there)
{
	const char *folder = test_path("child");
	struct ttnn_trace_options options = {.directory = folder};
	char path[1024], taken[1024];
	ttnn_trace *trace;
	int state;
	pid_t child;

	make_folder(folder);
	CHECK_OK(ttnn_trace_begin(&trace, &options));
	tell("parent");
	child = fork();
	if (child == 0) {
		numbered(taken, sizeof(taken), folder, 1);
		if (tt_file_save(taken, "mine", 4) != TTNN_OK)
			_exit(1);
		tell("child");
		if (ttnn_trace_end(NULL, trace) != TTNN_OK)
			_exit(2);
		_exit(operations(numbered(path, sizeof(path), folder, 2)) == 1 ? 0 : 3);
	}
	waitpid(child, &state, 0);
	CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
	CHECK_OK(ttnn_trace_end(NULL, trace));
	CHECK_INT(operations(numbered(path, sizeof(path), folder, 1)), 1);
	CHECK_INT(empty_folder(folder), 3);
}

/* ---- descriptors ------------------------------------------------------------------------------------------ */

/* What a program prints where it has closed its output lands nowhere. */
static int print_into_nothing(const char *path)
{
	struct ttnn_trace_options options = {.path = path};
	ttnn_trace *trace;
	int ends[2];

	for (int i = 0; i < 3; i++)
		close(i);
	if (ttnn_trace_begin(&trace, &options) != TTNN_OK)
		return 1;
	for (int i = 0; i < 100; i++) {
		tell("a");
		for (int fd = 0; fd < 3; fd++)
			if (write(fd, "printed\n", 8) >= 0 || errno != EBADF)
				return 2;
	}
	if (tt_fd_pipe(ends) != 0 || ends[0] < 3 || ends[1] < 3)
		return 3;
	return ttnn_trace_end(NULL, trace) == TTNN_OK && operations(path) == 100 ? 0 : 4;
}

TEST(no_file_of_ours_is_standard_output)
{
	const char *path = test_path("closed.ttrace");
	pid_t child = fork();
	int state;

	if (child == 0)
		_exit(print_into_nothing(path));
	waitpid(child, &state, 0);
	CHECK(WIFEXITED(state));
	CHECK_INT(WEXITSTATUS(state), 0);
}

/* ---- limits ------------------------------------------------------------------------------------------------ */

static int write_beyond_the_limit(const char *path)
{
	struct rlimit limit = {1000, RLIM_INFINITY};
	static char data[200000];
	sigset_t set;

	setrlimit(RLIMIT_FSIZE, &limit);
	if (tt_file_save(path, data, 900) != TTNN_OK)
		return 1;
	if (tt_file_save(path, data, sizeof(data)) == TTNN_OK || !strstr(ttnn_error(), "large"))
		return 2;
	if (tt_file_save_new(path, data, sizeof(data)) == TTNN_OK)
		return 3;
	sigpending(&set);
	return sigismember(&set, SIGXFSZ) ? 4 : 0;
}

TEST(a_limit_on_files_is_an_error_and_no_end)
{
	const char *path = test_path("limit");
	pid_t child = fork();
	struct stat facts;
	int state;

	if (child == 0) {
		signal(SIGXFSZ, SIG_DFL);
		_exit(write_beyond_the_limit(path));
	}
	waitpid(child, &state, 0);
	CHECK(WIFEXITED(state));
	CHECK_INT(WEXITSTATUS(state), 0);
	CHECK(stat(path, &facts) == 0 && facts.st_size == 900);
}

/* That a trace cannot be written is no failure of the call that it would tell of. */
TEST(a_trace_that_cannot_be_written_keeps_quiet)
{
	struct ttnn_trace_options options = {.directory = "/nowhere/at/all"};
	struct ttnn_trace_summary summary;
	ttnn_trace *trace;

	CHECK_OK(ttnn_trace_begin(&trace, &options));
	tt_fail(TTNN_INVALID, "what the user did");
	tell("a");
	CHECK_STR(ttnn_error(), "what the user did");
	CHECK_OK(ttnn_trace_end(&summary, trace));
	CHECK(summary.lost > 0 && strstr(summary.reason, "/nowhere/at/all"));
}

/* ---- threads ------------------------------------------------------------------------------------------------ */

static void *leave_captures(void *unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++) {
		CHECK_OK(ttnn_graph_begin(TTNN_RUN_NORMAL));
		for (int k = 0; k < 20; k++)
			tell("left");
	}
	return NULL;
}

/* Sanitizers keep what is freed for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLAIN_MEMORY false
#elif defined(__has_feature)
#define PLAIN_MEMORY (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define PLAIN_MEMORY true
#endif

static long resident(void)
{
	char *text = NULL, *end;
	size_t size;
	long pages = 0;

	CHECK_OK(tt_file_read(&text, &size, "/proc/self/statm"));
	if (text) {
		strtol(text, &end, 10);
		pages = strtol(end, NULL, 10);
	}
	tt_free(text);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST(a_thread_takes_its_captures_with_it)
{
	long before = 0;
	pthread_t thread;
	ttnn_graph *graph;

	tt_log_set_level(TT_LOG_ERROR);
	for (int i = 0; i < times(1000); i++) {
		if (i == 100)
			before = resident();
		CHECK_INT(pthread_create(&thread, NULL, leave_captures, NULL), 0);
		pthread_join(thread, NULL);
		if (test_failures)
			break;
	}
	CHECK(!PLAIN_MEMORY || resident() - before < 16 << 10);
	CHECK_OK(ttnn_graph_begin(TTNN_RUN_NORMAL));
	tell("mine");
	CHECK_OK(ttnn_graph_end(&graph));
	ttnn_graph_free(graph);
}

static void *begin_alone(void *out)
{
	struct tt_capture_options options = {.this_thread = true};

	CHECK_OK(tt_capture_begin(out, &options));
	tell("first");
	return NULL;
}

static void *tell_more(void *unused)
{
	(void)unused;
	tell("second");
	return NULL;
}

/* A thread that comes to lie where an ended one did is another. */
TEST(a_capture_of_a_thread_hears_no_other)
{
	struct tt_capture_summary summary;
	struct tt_capture *capture;
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, begin_alone, &capture), 0);
	pthread_join(thread, NULL);
	CHECK_INT(pthread_create(&thread, NULL, tell_more, NULL), 0);
	pthread_join(thread, NULL);
	CHECK_OK(tt_capture_stop(&summary, capture));
	CHECK_INT(summary.operations, 1);
	tt_capture_free(capture);
}
