/* the thread pool: @threads */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <ttnn_frontend.h>

#include "base/clock.h"
#include "base/pool.h"

struct loop {
	size_t count, grain;
	unsigned char *seen; /* one per index, written without a lock: each must be touched once */
	atomic_size_t pieces;
	atomic_bool too_large;
};

static void mark(void *context, size_t begin, size_t end)
{
	struct loop *loop = context;

	if (begin >= end || end > loop->count || end - begin > loop->grain)
		atomic_store(&loop->too_large, true);
	for (size_t i = begin; i < end; i++)
		loop->seen[i]++;
	atomic_fetch_add(&loop->pieces, 1);
}

static bool covers_all(size_t count, size_t grain)
{
	struct loop loop = {.count = count, .grain = grain, .seen = calloc(count + 1, 1)};
	bool good;

	tt_pool_for(count, grain, mark, &loop);
	good = !atomic_load(&loop.too_large) &&
	       atomic_load(&loop.pieces) == (count + grain - 1) / grain;
	for (size_t i = 0; i < count; i++)
		good = good && loop.seen[i] == 1;
	free(loop.seen);
	return good;
}

TEST(every_index_once)
{
	static const size_t counts[] = {0, 1, 2, 7, 64, 1000, 4097}, grains[] = {1, 3, 64, 5000};

	for (unsigned threads = 1; threads <= 5; threads++) {
		tt_pool_set_threads(threads);
		CHECK_INT(tt_pool_threads(), threads);
		for (size_t i = 0; i < 7 * 4; i++)
			if (!covers_all(counts[i / 4], grains[i % 4]))
				TEST_FAIL("%u threads, %zu by %zu", threads, counts[i / 4],
					  grains[i % 4]);
	}
	tt_pool_set_threads(0);
}

TEST(many_small_loops)
{
	tt_pool_set_threads(3);
	for (int i = 0; i < 3000; i++)
		if (!covers_all(5, 1))
			TEST_FAIL("loop %d", i);
	tt_pool_set_threads(0);
}

static void body_with_a_loop(void *context, size_t begin, size_t end)
{
	atomic_size_t *good = context;

	for (size_t i = begin; i < end; i++)
		atomic_fetch_add(good, covers_all(50, 7));
}

TEST(loops_inside_of_loops)
{
	atomic_size_t good = 0;

	tt_pool_set_threads(4);
	tt_pool_for(20, 1, body_with_a_loop, &good);
	CHECK_INT(good, 20);
	tt_pool_set_threads(0);
}

static void *loops(void *context)
{
	atomic_size_t *good = context;

	for (int i = 0; i < 200; i++)
		atomic_fetch_add(good, covers_all(100, 9));
	return NULL;
}

TEST(several_callers_at_once)
{
	pthread_t threads[4];
	atomic_size_t good = 0;

	tt_pool_set_threads(3);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, loops, &good), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(good, 800);
	tt_pool_set_threads(0);
}

static void wait_for_another(void *context, size_t begin, size_t end)
{
	atomic_size_t *arrived = context;

	(void)end;
	(void)begin;
	atomic_fetch_add(arrived, 1);
	/* Ends only if two are in their bodies at once. */
	while (atomic_load(arrived) < 2)
		usleep(10);
}

TEST(bodies_run_at_the_same_time)
{
	atomic_size_t arrived = 0;

	tt_pool_set_threads(2);
	tt_pool_for(2, 1, wait_for_another, &arrived);
	CHECK_INT(arrived, 2);
	tt_pool_set_threads(0);
}

static void spin(void *context, size_t begin, size_t end)
{
	uint64_t until = tt_clock_ticks() + *(uint64_t *)context;

	(void)begin;
	(void)end;
	while (tt_clock_ticks() < until)
		;
}

/* Of loops between the two calls alone, and of threads that took part alone. */
TEST(threads_that_are_measured)
{
	struct tt_pool_meter meter = {0};
	uint64_t piece = (uint64_t)(tt_clock_rate() / 1e4), begin = tt_clock_ticks(), all;
	atomic_size_t arrived = 0;

	tt_pool_set_threads(3);
	tt_pool_measure(&meter);
	tt_pool_for(8, 1, spin, &piece);
	tt_pool_for(3, 1, wait_for_another, &arrived); /* somebody helps in any case */
	tt_pool_for(1, 1, spin, &piece);
	tt_pool_measure(NULL);
	all = tt_clock_ticks() - begin;
	tt_pool_for(8, 1, spin, &piece);
	CHECK(meter.helped && meter.helped < 4 && meter.first && meter.last > meter.first);
	for (size_t i = 0; i < 2; i++)
		if (meter.helped >> i & 1)
			CHECK(meter.busy[i] > 0 && meter.busy[i] <= all);
	CHECK(meter.waited <= all);
	tt_pool_set_threads(0);
}

static void ask_for_two(void *context, size_t begin, size_t end)
{
	(void)context;
	(void)begin;
	(void)end;
	tt_pool_set_threads(2);
}

static bool ask_for_one(void)
{
	tt_pool_set_threads(1);
	return true;
}

static void nap(void *context, size_t begin, size_t end)
{
	(void)context;
	(void)begin;
	(void)end;
	usleep(1000);
}

/* A loop does not wait for itself: the next one has so many. */
TEST(a_number_that_is_set_inside_of_a_loop)
{
	tt_pool_set_threads(4);
	tt_pool_for(100, 1, ask_for_two, NULL);
	CHECK_INT(tt_pool_threads(), 2);
	CHECK(covers_all(1000, 3));
	ttnn_set_poll(ask_for_one);
	for (int i = 0; i < 1000 && tt_pool_threads() != 1; i++)
		tt_pool_for(50, 1, nap, NULL);
	ttnn_set_poll(NULL);
	CHECK_INT(tt_pool_threads(), 1);
	CHECK(covers_all(1000, 3));
	tt_pool_set_threads(0);
}

/* Runs in a child: exit code 0 if the loop there needed and got a second thread. */
static int in_child(const char *threads)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		atomic_size_t arrived = 0;

		if (threads) {
			setenv("TTNN_NUM_THREADS", threads, 1);
			tt_pool_set_threads(0);
			_exit((int)tt_pool_threads());
		}
		alarm(20);
		tt_pool_for(2, 1, wait_for_another, &arrived);
		_exit(covers_all(1000, 3) ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The thread sanitizer cannot follow threads of a forked child. */
#if defined(__SANITIZE_THREAD__)
#define CAN_FORK false
#elif defined(__has_feature)
#define CAN_FORK (!__has_feature(thread_sanitizer))
#else
#define CAN_FORK true
#endif

TEST(a_child_has_its_own_pool)
{
	if (!CAN_FORK)
		return;
	tt_pool_set_threads(3);
	CHECK(covers_all(100, 1));
	CHECK_INT(in_child(NULL), 0);
	CHECK(covers_all(100, 1));
	tt_pool_set_threads(0);
}

TEST(the_environment_says_how_many)
{
	int all = in_child("");

	CHECK_INT(in_child("7"), 7);
	CHECK_INT(in_child("1"), 1);
	CHECK(all >= 1);
	CHECK_INT(in_child("0"), all);
	CHECK_INT(in_child("-3"), all);
	CHECK_INT(in_child("4x"), all);
}
