/*
 * processes that end without a word: every record that was told before is in the trace
 * @threads
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ttnn.h>

#include "base/clock.h"
#include "base/file.h"
#include "event/capture.h"
#include "event/live.h"
#include "trace/left.h"
#include "trace/source.h"

/* TTNN_TEST_LONG=N: N times as much of everything. */
static int times(int count)
{
	const char *text = getenv("TTNN_TEST_LONG");
	int factor = text ? (int)strtol(text, NULL, 10) : 1;

	return count * (factor > 0 ? factor : 1);
}

/* ---- telling and reading ------------------------------------------------------------------------------------ */

#define THREADS 3

/* Counts that outlive a child. */
static atomic_uint *counts;

static void make_counts(void)
{
	if (!counts)
		counts =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(counts, 0, 4096);
}

/* "t2 17" */
static void tell_mark(int thread, unsigned number)
{
	char text[64];

	snprintf(text, sizeof(text), "t%d %u", thread, number);
	ttnn_mark(text, NULL);
}

/* An operation and a mark with its number; then it counts. */
static void tell_one(int thread)
{
	unsigned number = atomic_load(&counts[thread]);

	ttnn_function_begin("a function");
	tell_mark(thread, number);
	ttnn_function_end();
	atomic_store(&counts[thread], number + 1);
}

struct found {
	unsigned marks[THREADS + 1]; /* of each: so many from 0 on, none missing */
	uint64_t operations, bad;
	bool complete, damaged;
};

/* Reads all marks: those of a thread come in their order, without a gap. */
static bool read_trace(struct found *out, const char *path)
{
	struct tt_source *source;
	const struct tt_seen *seen;
	const struct tt_trace_info *info;
	bool good = true;

	memset(out, 0, sizeof(*out));
	if (tt_source_open(&source, path) != TTNN_OK)
		return false;
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		char *end;
		long thread;

		if (seen->event.kind != TT_EVENT_MARK)
			continue;
		thread = strtol(seen->event.mark.text + 1, &end, 10);
		if (thread < 0 || thread > THREADS ||
		    strtoul(end, NULL, 10) != out->marks[thread]++)
			good = false;
	}
	info = tt_source_info(source);
	out->operations = info->operations;
	out->complete = info->complete;
	out->damaged = info->damage;
	out->bad = info->bad_chunks;
	tt_source_close(source);
	return good;
}

/* In a child: begins a recording there, and tells so many marks. */
static ttnn_trace *record(const char *path, unsigned marks)
{
	struct ttnn_trace_options options = {.path = path};
	ttnn_trace *trace;

	if (ttnn_trace_begin(&trace, &options) != TTNN_OK)
		_exit(1);
	for (unsigned i = 0; i < marks; i++)
		tell_one(0);
	return trace;
}

/* One mark may have been told that was not counted any more. */
static void check_all_there(const char *path, int threads)
{
	struct found found;

	CHECK(read_trace(&found, path));
	CHECK(!found.damaged);
	CHECK_INT(found.bad, 0);
	for (int i = 0; i < threads; i++) {
		unsigned told = atomic_load(&counts[i]);

		if (found.marks[i] != told && found.marks[i] != told + 1)
			TEST_FAIL("thread %d told %u, and %u are there", i, told, found.marks[i]);
	}
}

static bool has_beside(const char *path)
{
	char name[1100];

	snprintf(name, sizeof(name), "%s" TT_LIVE_SUFFIX, path);
	return access(name, F_OK) == 0;
}

static int wait_for(pid_t child)
{
	int state = -1;

	while (waitpid(child, &state, 0) < 0)
		continue;
	return state;
}

static void complete(const char *path, enum tt_completion want)
{
	enum tt_completion got = TT_COMPLETE_RUNNING;

	CHECK_OK(tt_trace_complete(&got, path));
	CHECK_INT(got, want);
}

/* What was left is the same before and after it is put into the trace, which is whole then. */
static void check_completed(const char *path, int threads)
{
	struct found before, after;

	CHECK(read_trace(&before, path));
	complete(path, TT_COMPLETE_NOW);
	CHECK(!has_beside(path));
	CHECK(read_trace(&after, path));
	CHECK(after.complete && !after.damaged);
	CHECK_INT(after.operations, before.operations);
	for (int i = 0; i < threads; i++)
		CHECK_INT(after.marks[i], before.marks[i]);
	complete(path, TT_COMPLETE_ALREADY);
}

/* ---- ends --------------------------------------------------------------------------------------------------- */

TEST(exit_right_after_an_operation)
{
	static const unsigned numbers[] = {0, 1, 2, 3, 10, 100, 1000, 5000, 20000};
	const char *path = test_path("exit.ttrace");

	make_counts();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		pid_t child;

		atomic_store(&counts[0], 0);
		child = fork();
		if (child == 0) {
			record(path, numbers[i]);
			_exit(0);
		}
		CHECK_INT(wait_for(child), 0);
		CHECK_INT(atomic_load(&counts[0]), numbers[i]);
		check_all_there(path, 1);
		check_completed(path, 1);
	}
}

static void *tell_on(void *number)
{
	for (;;)
		tell_one((int)(intptr_t)number);
	return NULL;
}

static void tell_until_killed(const char *path, uint32_t flush_ms)
{
	struct ttnn_trace_options options = {.path = path, .flush_ms = flush_ms};
	ttnn_trace *trace;
	pthread_t thread;

	if (ttnn_trace_begin(&trace, &options) != TTNN_OK)
		_exit(1);
	for (intptr_t i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, tell_on, (void *)i) != 0)
			_exit(1);
	tell_on((void *)0);
}

TEST(killed_at_any_moment)
{
	const char *path = test_path("killed.ttrace");
	uint64_t random = 11, until = tt_clock_ns() + 1000000000ull * (uint64_t)times(6);

	make_counts();
	for (int i = 0; i < times(60) && tt_clock_ns() < until && !test_failures; i++) {
		pid_t child;

		for (int k = 0; k < THREADS; k++)
			atomic_store(&counts[k], 0);
		child = fork();
		if (child == 0)
			tell_until_killed(path, i % 2 ? 1 : 0);
		while (!atomic_load(&counts[0]))
			usleep(100);
		usleep((useconds_t)(test_random(&random) % 30000));
		kill(child, SIGKILL);
		wait_for(child);
		check_all_there(path, THREADS);
		check_completed(path, THREADS);
	}
}

/* The trace of a process that runs is never touched, also when its parent looks. */
TEST(a_running_process_keeps_its_trace)
{
	const char *path = test_path("running.ttrace");
	struct ttnn_trace_options options = {.path = path, .flush_ms = 1};
	ttnn_trace *trace;
	pid_t child;

	make_counts();
	child = fork();
	if (child == 0) {
		if (ttnn_trace_begin(&trace, &options) != TTNN_OK)
			_exit(1);
		for (;; usleep(1000))
			for (int i = 0; i < 20; i++)
				tell_one(0);
	}
	while (atomic_load(&counts[0]) < 1000)
		usleep(100);
	for (int i = 0; i < 20; i++) {
		struct found found;

		complete(path, TT_COMPLETE_RUNNING);
		CHECK(read_trace(&found, path));
		CHECK(found.marks[0] >= 1000 && !found.complete);
		usleep(1000);
	}
	kill(child, SIGKILL);
	wait_for(child);
	check_all_there(path, 1);
	check_completed(path, 1);
}

/* The child of a fork has a trace of its own; the parent's goes on, and ends with the parent. */
TEST(a_child_does_not_hold_its_parents_trace)
{
	const char *folder = test_path("held");
	struct ttnn_trace_options options = {.directory = folder};
	char path[1024];
	pid_t parent, child = 0;
	ttnn_trace *trace;
	int ends[2];

	make_counts();
	CHECK_INT(mkdir(folder, 0777), 0);
	CHECK_INT(pipe(ends), 0);
	parent = fork();
	if (parent == 0) {
		if (ttnn_trace_begin(&trace, &options) != TTNN_OK)
			_exit(1);
		for (int i = 0; i < 500; i++)
			tell_one(0);
		child = fork();
		if (child == 0) {
			tell_one(1);
			child = getpid();
			(void)!write(ends[1], &child, sizeof(child));
			for (;;)
				pause();
		}
		_exit(0);
	}
	CHECK_INT(read(ends[0], &child, sizeof(child)), sizeof(child));
	wait_for(parent);
	snprintf(path, sizeof(path), "%s/%s-%ld.ttrace", folder, program_invocation_short_name,
		 (long)parent);
	check_all_there(path, 1);
	check_completed(path, 1);
	CHECK_INT(tt_traces_complete(folder, INT64_MAX), 1);
	kill(child, SIGKILL);
	for (int i = 0; i < 500 && tt_traces_complete(folder, INT64_MAX); i++)
		usleep(10000);
	snprintf(path, sizeof(path), "%s/%s-%ld.ttrace", folder, program_invocation_short_name,
		 (long)child);
	CHECK(!has_beside(path));
	complete(path, TT_COMPLETE_ALREADY);
	remove(path);
	snprintf(path, sizeof(path), "%s/%s-%ld.ttrace", folder, program_invocation_short_name,
		 (long)parent);
	remove(path);
	CHECK_INT(rmdir(folder), 0);
	close(ends[0]);
	close(ends[1]);
}

/* One that becomes another program. */
TEST(exec_leaves_all_that_was_told)
{
	const char *path = test_path("exec.ttrace");
	pid_t child;

	make_counts();
	child = fork();
	if (child == 0) {
		record(path, 300);
		execlp("true", "true", NULL);
		_exit(2);
	}
	CHECK_INT(wait_for(child), 0);
	check_all_there(path, 1);
	check_completed(path, 1);
}

/* ---- what lies beside ------------------------------------------------------------------------------------------ */

/* A trace that ends as it should is alone, and no larger than before. */
TEST(nothing_stays_beside_a_whole_trace)
{
	const char *path = test_path("whole.ttrace");
	struct ttnn_trace_options options = {.path = path};
	struct found found;
	ttnn_trace *trace;

	make_counts();
	CHECK_OK(ttnn_trace_begin(&trace, &options));
	tell_one(0);
	CHECK(has_beside(path));
	CHECK_OK(ttnn_trace_end(NULL, trace));
	CHECK(!has_beside(path));
	CHECK(read_trace(&found, path) && found.complete && found.marks[0] == 1);
}

/* Where no file can be made beside, or its room is not sure, records are in memory alone. */
TEST(without_room_beside_a_trace_is_written_as_ever)
{
	const char *path = test_path("small.ttrace");
	struct rlimit limit = {100000, RLIM_INFINITY};
	struct found found;
	pid_t child;

	make_counts();
	child = fork();
	if (child == 0) {
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(ttnn_trace_end(NULL, record(path, 500)) == TTNN_OK ? 0 : 2);
	}
	CHECK_INT(wait_for(child), 0);
	CHECK(read_trace(&found, path) && found.complete && found.marks[0] == 500);
	CHECK(!has_beside(path));
}

/* A record that needs a chunk of its own. */
TEST(a_large_record_outlives_its_process_too)
{
	const char *path = test_path("large.ttrace");
	struct ttnn_trace_options options = {.path = path};
	struct tt_source *source;
	const struct tt_seen *seen;
	size_t length = 0;
	ttnn_trace *trace;
	pid_t child = fork();

	if (child == 0) {
		char *text = malloc(700000);

		memset(text, 'x', 699999);
		text[699999] = 0;
		if (ttnn_trace_begin(&trace, &options) != TTNN_OK)
			_exit(1);
		ttnn_mark(text, NULL);
		_exit(0);
	}
	CHECK_INT(wait_for(child), 0);
	CHECK_OK(tt_source_open(&source, path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen)
		if (seen->event.kind == TT_EVENT_MARK)
			length = strlen(seen->event.mark.text);
	CHECK_INT(length, 699999);
	tt_source_close(source);
}

/* The file beside cut at any place, and with any byte changed: what is read is a part of what was told. */
TEST(a_damaged_file_beside_does_no_harm)
{
	const char *path = test_path("cut.ttrace");
	char *trace_bytes, *beside, *copy, name[1024];
	size_t trace_size, size;
	pid_t child;

	make_counts();
	child = fork();
	if (child == 0) {
		record(path, 50);
		_exit(0);
	}
	CHECK_INT(wait_for(child), 0);
	snprintf(name, sizeof(name), "%s" TT_LIVE_SUFFIX, path);
	CHECK_OK(tt_file_read(&trace_bytes, &trace_size, path));
	CHECK_OK(tt_file_read(&beside, &size, name));
	copy = malloc(size);
	for (size_t at = 0; at < 6000; at++)
		for (int cut = 0; cut < 2; cut++) {
			struct tt_trace_bytes parts[2] = {
				{(unsigned char *)trace_bytes, trace_size, "trace"},
				{(unsigned char *)copy, cut ? at : size, "beside"}};
			const struct tt_seen *seen;
			struct tt_source *source;
			unsigned marks = 0;

			if (at == 24) /* the rest of the head of the file is nothing */
				at = TT_LIVE_UNIT;
			memcpy(copy, beside, size < 8192 ? size : 8192);
			if (!cut)
				copy[at] ^= (char)(1 + at % 255);
			CHECK_OK(tt_source_open_parts(&source, &parts[0], &parts[1]));
			while (tt_source_next(&seen, source) == TTNN_OK && seen)
				marks += seen->event.kind == TT_EVENT_MARK;
			CHECK(marks <= 200); /* a byte may make a mark of something else */
			tt_source_close(source);
		}
	free(copy);
	tt_free(beside);
	tt_free(trace_bytes);
}
