/* clocks and ticks */
#include "test.h"

#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

static void nap(long ns)
{
	nanosleep(&(struct timespec){0, ns}, NULL);
}

TEST(time_passes)
{
	uint64_t start = tt_clock_ns(), took;
	int64_t wall = tt_clock_wall_ns();

	nap(20000000);
	took = tt_clock_ns() - start;
	CHECK(took >= 20000000 && took < 20000000000);
	CHECK(tt_clock_wall_ns() - wall >= 19000000);
	CHECK(llabs(tt_clock_wall_ns() / 1000000000 - (int64_t)time(NULL)) <= 1);
}

static bool ticks_follow_the_clock(void)
{
	bool good = tt_clock_rate() > 1e6;

	for (int i = 0; i < 50; i++) {
		uint64_t before = tt_clock_ns(), ticks = tt_clock_ticks(), after = tt_clock_ns();
		uint64_t ns = tt_clock_ticks_to_ns(ticks);

		/* Within 20 µs, and one part in 10,000 of the time since the start. */
		good = good && ns + 20000 + i * 100 > before && ns < after + 20000 + i * 100;
		good = good && tt_clock_ticks() >= ticks;
		nap(1000000);
	}
	return good;
}

TEST(ticks_become_nanoseconds)
{
	CHECK(ticks_follow_the_clock());
}

TEST(ticks_without_a_counter)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		/* A program of its own: the choice is made once. */
		setenv("TTNN_CLOCK", "os", 1);
		execl("/proc/self/exe", "test_clock", "child_without_a_counter", NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(child_without_a_counter)
{
	const char *choice = getenv("TTNN_CLOCK");

	if (!choice || strcmp(choice, "os") != 0)
		return;
	freopen("/dev/null", "w", stdout);
	CHECK(!tt_clock_has_tsc());
	CHECK_INT(tt_clock_rate(), 1000000000);
	CHECK_INT(tt_clock_ticks_to_ns(12345), 12345);
	CHECK(ticks_follow_the_clock());
}
