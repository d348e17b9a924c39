/*
 * hostile.h: for tests of what a program around the library may do to it: signals, forks, threads,
 * limits. Include it after test.h. TTNN_TEST_LONG=N makes such tests N times as long.
 */
#ifndef TT_TESTS_HOSTILE_H
#define TT_TESTS_HOSTILE_H

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "base/cpu.h"

extern char **environ;

/*
 * A child of a process with other threads may find the address sanitizer's own locks taken: there
 * such forks are left out.
 */
#if defined(__SANITIZE_ADDRESS__)
#define HOSTILE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOSTILE_ASAN 1
#endif
#endif
#ifndef HOSTILE_ASAN
#define HOSTILE_ASAN 0
#endif

/* So many rounds, or N times as many. */
static inline int hostile_rounds(int rounds)
{
	const char *text = getenv("TTNN_TEST_LONG");
	long times = text ? strtol(text, NULL, 10) : 1;

	return rounds * (int)(times < 1 ? 1 : times > 100000 ? 100000 : times);
}

/* How many threads this process has. */
static inline int hostile_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

/*
 * What the library asks the environment for only once is tested in processes of their own. A row is
 * a way to make products.
 */
static const struct {
	const char *dnnl, *isa;
	enum tt_isa needs;
} hostile_ways[] = {
	{"0", "plain", TT_ISA_PLAIN},     {"0", "avx2", TT_ISA_AVX2},
	{"0", "avx512", TT_ISA_AVX512},   {"all", "avx2", TT_ISA_AVX2},
	{"all", "avx512", TT_ISA_AVX512},
};

/* Waits for a child, which ends itself in time; true when it ended well. */
static inline bool hostile_wait(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs one test of this program again, once for each way this machine has. */
static inline void hostile_every_way(const char *test)
{
	char *args[] = {"test", (char *)test, NULL};
	int best = tt_cpu_isa();

	for (size_t i = 0; i < sizeof(hostile_ways) / sizeof(hostile_ways[0]); i++) {
		pid_t child;

		if (!tt_cpu_force_isa(hostile_ways[i].needs))
			continue;
		CHECK_INT(setenv("TTNN_DNNL", hostile_ways[i].dnnl, 1), 0);
		CHECK_INT(setenv("TTNN_ISA", hostile_ways[i].isa, 1), 0);
		fflush(NULL);
		if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, args, environ) != 0)
			TEST_FAIL("the test cannot be started again");
		else if (!hostile_wait(child))
			TEST_FAIL("%s fails with TTNN_DNNL=%s TTNN_ISA=%s", test,
				  hostile_ways[i].dnnl, hostile_ways[i].isa);
	}
	tt_cpu_force_isa((enum tt_isa)best);
}

#endif
