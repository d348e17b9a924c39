/*
 * test.h: the whole test harness. Include it in one .c file per test program.
 *
 *	TEST(name) { CHECK(...); ... }                      runs once
 *	SCENARIO(name) { TT_TRY(...); ... return TTNN_OK; } runs once, then again and again with the
 *		n-th allocation failing (the first 200, then 200 drawn at random): each run must
 *		return TTNN_OK or TTNN_NOMEM and give back every block it took. So a scenario frees
 *		what it made on every path, and covers the module's calls that allocate.
 *
 * A failed CHECK is printed and counted; the test goes on. The program ends with the line
 * "N passed, N failed" (tests, not checks) and exits 1 if any failed. Arguments: names to run.
 */
#ifndef TT_TEST_H
#define TT_TEST_H

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/status.h"

/* The thread sanitizer does not follow children of a process with threads: such tests ask, and do nothing. */
#if defined(__SANITIZE_THREAD__)
#define TEST_FOLLOWS_FORKS 0
#elif defined(__has_feature)
#define TEST_FOLLOWS_FORKS !__has_feature(thread_sanitizer)
#else
#define TEST_FOLLOWS_FORKS 1
#endif

struct test_case {
	const char *name;
	void (*run)(void);
	tt_status (*scenario)(void);
};

static struct test_case test_cases[256];
static size_t test_count;
static int test_failures; /* of the running test */

static inline void test_add(const char *name, void (*run)(void), tt_status (*scenario)(void))
{
	if (test_count == sizeof(test_cases) / sizeof(test_cases[0]))
		abort();
	test_cases[test_count++] = (struct test_case){name, run, scenario};
}

#define TEST(name)                                                                                 \
	static void name(void);                                                                    \
	__attribute__((constructor)) static void test_add_##name(void)                             \
	{                                                                                          \
		test_add(#name, name, NULL);                                                       \
	}                                                                                          \
	static void name(void)

#define SCENARIO(name)                                                                             \
	static tt_status name(void);                                                               \
	__attribute__((constructor)) static void test_add_##name(void)                             \
	{                                                                                          \
		test_add(#name, NULL, name);                                                       \
	}                                                                                          \
	static tt_status name(void)

#define TEST_FAIL(...)                                                                             \
	do {                                                                                       \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                    \
		fprintf(stderr, __VA_ARGS__);                                                      \
		fputc('\n', stderr);                                                               \
		test_failures++;                                                                   \
	} while (0)

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			TEST_FAIL("not true: %s", #condition);                                     \
	} while (0)

#define CHECK_INT(got, want)                                                                       \
	do {                                                                                       \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
		if (got_ != want_)                                                                 \
			TEST_FAIL("%s is %lld, not %lld", #got, got_, want_);                      \
	} while (0)

#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (!got_ || strcmp(got_, want_) != 0)                                             \
			TEST_FAIL("%s is\n  \"%s\", not\n  \"%s\"", #got, got_ ? got_ : "NULL",    \
				  want_);                                                          \
	} while (0)

/* The call succeeds. */
#define CHECK_OK(call)                                                                             \
	do {                                                                                       \
		tt_status status_ = (call);                                                        \
		if (status_ != TTNN_OK)                                                            \
			TEST_FAIL("%s: %s: %s", #call, ttnn_status_name(status_), ttnn_error());   \
	} while (0)

/* The call fails with this status, and its message holds this text. */
#define CHECK_FAILS(call, status, text)                                                            \
	do {                                                                                       \
		tt_status status_ = (call);                                                        \
		if (status_ != (status))                                                           \
			TEST_FAIL("%s gives %s, not %s", #call, ttnn_status_name(status_),         \
				  ttnn_status_name(status));                                       \
		else if (!strstr(ttnn_error(), (text)))                                            \
			TEST_FAIL("%s says\n  \"%s\", without\n  \"%s\"", #call, ttnn_error(),     \
				  (text));                                                         \
	} while (0)

/* A small generator for tests: the same numbers in every run. */
static inline uint64_t test_random(uint64_t *state)
{
	uint64_t x = (*state += 0x9e3779b97f4a7c15u);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static char test_directory[256];

/*
 * A path in a directory of this run alone, which is removed with its files at the end. The last
 * eight results stay valid.
 */
static inline const char *test_path(const char *name)
{
	static char paths[8][512];
	static unsigned turn;

	if (!test_directory[0]) {
		snprintf(test_directory, sizeof(test_directory), "%s/ttnn_test.XXXXXX",
			 tt_fd_temp_directory());
		if (!mkdtemp(test_directory))
			abort();
	}
	snprintf(paths[turn % 8], sizeof(paths[0]), "%s/%s", test_directory, name);
	return paths[turn++ % 8];
}

static inline void test_remove_directory(void)
{
	DIR *dir = test_directory[0] ? opendir(test_directory) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlink(test_path(entry->d_name));
	if (dir)
		closedir(dir);
	if (dir)
		rmdir(test_directory);
}

static inline bool test_scenario_fails_well(const struct test_case *test, uint64_t n)
{
	tt_status status;
	bool struck;
	int64_t live;

	tt_mem_watch(true);
	tt_mem_fail_at(n);
	status = test->scenario();
	struck = tt_mem_failed();
	tt_mem_fail_at(0);
	live = tt_mem_live();
	tt_mem_watch(false);
	if (status != TTNN_OK && !(struck && status == TTNN_NOMEM))
		TEST_FAIL("%s with allocation %" PRIu64 " failing: %s: %s", test->name, n,
			  ttnn_status_name(status), ttnn_error());
	if (live != 0)
		TEST_FAIL("%s with allocation %" PRIu64 " failing: %" PRId64 " blocks not freed",
			  test->name, n, live);
	return struck;
}

static inline void test_scenario(const struct test_case *test)
{
	uint64_t state = 1, total;

	CHECK_OK(test->scenario()); /* first without watching: one-time tables are built */
	test_scenario_fails_well(test, 0);
	total = tt_mem_attempts();
	for (uint64_t n = 1; n <= 200; n++)
		if (!test_scenario_fails_well(test, n))
			return;
	for (int i = 0; i < 200 && total > 200; i++)
		test_scenario_fails_well(test, 201 + test_random(&state) % (total - 200));
}

static inline bool test_wanted(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	int passed = 0, failed = 0;

	for (size_t i = 0; i < test_count; i++) {
		if (!test_wanted(argc, argv, test_cases[i].name))
			continue;
		test_failures = 0;
		if (test_cases[i].run)
			test_cases[i].run();
		else
			test_scenario(&test_cases[i]);
		if (test_failures)
			printf("FAILED %s\n", test_cases[i].name);
		*(test_failures ? &failed : &passed) += 1;
	}
	test_remove_directory();
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}

#endif
