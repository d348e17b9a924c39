/*
 * Children of a process whose other threads are in the middle of anything: operations, allocations,
 * devices, captures, traces, parameter files, messages. None hangs, and all of it works there. @threads
 * TTNN_TEST_LONG=N makes N times as many of them.
 */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <ttnn_frontend.h>
#include <ttnn_ops.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"

#define LOADS 8
/*
 * The address sanitizer's own memory has locks, which it looks after at forks only since gcc 14 and clang
 * 17: some children hang in it. Fewer are made, and those are not held against the library.
 */
#if defined(__SANITIZE_ADDRESS__)
#define OWN_HANGS 1
#elif defined(__has_feature)
#define OWN_HANGS __has_feature(address_sanitizer)
#else
#define OWN_HANGS 0
#endif
#define PATIENCE (OWN_HANGS ? 5 : 20) /* seconds for a child */
#define SIDE 64

static ttnn_device *device;          /* everyone's */
static ttnn_tensor *shared, *weight; /* on it: ones */
static ttnn_trace *trace;            /* of the process; NULL: none */
static const char *folder;           /* for files */
static atomic_bool stopping;

/* ---- what is done, in the threads and in the children ----------------------------------------------- */

static bool make(ttnn_tensor **out, ttnn_device *on, float value, uint32_t rows)
{
	struct ttnn_shape shape = {2, {rows, SIDE}};
	struct ttnn_full_options options = {.dtype = ttnn_v_dtype(TTNN_FLOAT32),
					    .layout = ttnn_v_layout(TTNN_TILE),
					    .device = ttnn_v_device(on)};

	return ttnn_full(out, &shape, value, &options) == TTNN_OK;
}

/* Whether all values are that; gives the tensor back. */
static bool holds(ttnn_tensor *tensor, float value)
{
	static _Thread_local float data[SIDE * SIDE];
	ttnn_tensor *host = NULL;
	bool good = ttnn_to_torch(&host, tensor, NULL) == TTNN_OK &&
		    ttnn_tensor_to_data(data, sizeof(data), TTNN_FLOAT32, host) == TTNN_OK;

	for (size_t i = 0; good && i < SIDE * SIDE; i++)
		good = data[i] == value;
	ttnn_tensor_unref(host);
	ttnn_tensor_unref(tensor);
	return good;
}

static bool adds(void)
{
	ttnn_tensor *sum = NULL;

	return ttnn_add(&sum, shared, ttnn_v_tensor(shared), NULL) == TTNN_OK && holds(sum, 2);
}

/* The right side is one that was used before: what was packed of it is kept. */
static bool multiplies(void)
{
	ttnn_tensor *product = NULL;

	return ttnn_matmul(&product, shared, weight, NULL) == TTNN_OK && holds(product, SIDE);
}

/* Large enough for the pool of threads and for blocks that are kept. */
static bool allocates(void)
{
	ttnn_tensor *large = NULL, *more = NULL;
	bool good = make(&large, device, 3, 64 * SIDE) && ttnn_relu(&more, large, NULL) == TTNN_OK;

	ttnn_tensor_unref(large);
	ttnn_tensor_unref(more);
	return good;
}

static bool opens(void)
{
	ttnn_device *own = NULL;
	ttnn_tensor *tensor = NULL;
	bool good = ttnn_device_open(&own, 0, &(struct ttnn_device_options){.profile = "n150"}) ==
		    TTNN_OK;

	good = good && make(&tensor, own, 4, SIDE) && holds(tensor, 4);
	ttnn_device_unref(own);
	return good;
}

static bool captures(void)
{
	ttnn_graph *graph = NULL;
	bool good = ttnn_graph_begin(TTNN_RUN_NORMAL) == TTNN_OK && adds();

	good = ttnn_graph_end(&graph) == TTNN_OK && good && ttnn_graph_count(graph) > 3;
	ttnn_graph_free(graph);
	return good;
}

static bool records(void)
{
	static atomic_uint last;
	struct ttnn_trace_summary summary = {0};
	ttnn_trace *own;
	char path[4096];
	bool good;

	snprintf(path, sizeof(path), "%s/%ld-%u.ttrace", folder, (long)getpid(),
		 atomic_fetch_add(&last, 1));
	good = ttnn_trace_begin(&own, &(struct ttnn_trace_options){.path = path,
								   .this_thread = true,
								   .flush_ms = 1}) == TTNN_OK;
	if (!good)
		return false;
	good = adds() && ttnn_trace_flush(own) == TTNN_OK && adds();
	good = ttnn_trace_end(&summary, own) == TTNN_OK && good && summary.operations >= 2 &&
	       !summary.lost;
	unlink(path);
	return good;
}

static bool flushes(void)
{
	ttnn_params_flush();
	return adds() && (!trace || ttnn_trace_flush(trace) == TTNN_OK);
}

static bool says(void)
{
	tt_log(TT_LOG_WARN, "this goes nowhere");
	return true;
}

static bool (*const deeds[])(void) = {adds,     multiplies, allocates, opens,
				      captures, records,    flushes,   says};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

/* ---- the threads ------------------------------------------------------------------------------------- */

struct load {
	pthread_t thread;
	size_t number;
	unsigned done, failed;
};

/* Half of the threads do one thing all the time, the others each in turn. */
static void *work(void *context)
{
	struct load *load = context;

	for (size_t i = load->number; !atomic_load(&stopping); i++) {
		bool (*deed)(void) = deeds[(load->number % 2 ? load->number / 2 : i) % DEEDS];

		load->failed += !deed();
		load->done++;
	}
	return NULL;
}

/* ---- the children ------------------------------------------------------------------------------------ */

/* The exit code: 0, or 1 + the number of what went wrong. */
static int live(void)
{
	alarm(PATIENCE);
	for (size_t i = 0; i < DEEDS; i++)
		if (!deeds[i]())
			return (int)i + 1;
	/* Closing waits for operations on the device: those of the other threads are not here. */
	ttnn_tensor_unref(shared);
	ttnn_tensor_unref(weight);
	ttnn_device_close(device);
	ttnn_device_unref(device);
	return 0;
}

struct tally {
	unsigned well, wrong, hung, crashed;
	int what; /* the last exit code that was not 0 */
};

static void count(struct tally *tally, int status)
{
	if (WIFSIGNALED(status)) {
		*(WTERMSIG(status) == SIGALRM ? &tally->hung : &tally->crashed) += 1;
		tally->what = WTERMSIG(status);
	} else if (WEXITSTATUS(status)) {
		tally->wrong++;
		tally->what = WEXITSTATUS(status);
	} else {
		tally->well++;
	}
}

static void fork_often(struct tally *tally, unsigned forks)
{
	for (unsigned i = 0; i < forks; i++) {
		pid_t child = fork();
		int status = 0;

		if (child == 0)
			_exit(live());
		if (child > 0 && waitpid(child, &status, 0) == child)
			count(tally, status);
		usleep(1000); /* not always in step with what the threads do */
	}
}

/* ---- both -------------------------------------------------------------------------------------------- */

/* What is said goes nowhere meanwhile; returns the place of before. */
static int hush(void)
{
	int before = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);

	dup2(nowhere, STDERR_FILENO);
	close(nowhere);
	return before;
}

static unsigned times(unsigned forks)
{
	const char *text = getenv("TTNN_TEST_LONG");
	long factor = text ? strtol(text, NULL, 10) : 1;

	return (OWN_HANGS ? forks / 5 : forks) * (unsigned)(factor > 0 ? factor : 1);
}

static void fork_under_load(unsigned forks)
{
	struct load loads[LOADS] = {0};
	struct tally tally = {0};
	uint64_t began = tt_clock_ns(), ended;
	int said;

	if (!TEST_FOLLOWS_FORKS)
		return;
	folder = test_path("");
	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	CHECK(make(&shared, device, 1, SIDE) && make(&weight, device, 1, SIDE));
	tt_pool_set_threads(2);
	atomic_store(&stopping, false);
	said = hush();
	for (size_t i = 0; i < LOADS; i++) {
		loads[i].number = i;
		CHECK_INT(pthread_create(&loads[i].thread, NULL, work, &loads[i]), 0);
	}
	fork_often(&tally, times(forks));
	ended = tt_clock_ns();
	atomic_store(&stopping, true);
	for (size_t i = 0; i < LOADS; i++)
		pthread_join(loads[i].thread, NULL);
	dup2(said, STDERR_FILENO);
	close(said);
	printf("%u children in %.1f s: %u well, %u hung, %u crashed, %u wrong (%d)\n", times(forks),
	       (double)(ended - began) / 1e9, tally.well, tally.hung, tally.crashed, tally.wrong,
	       tally.what);
	CHECK_INT(tally.well + (OWN_HANGS ? tally.hung : 0), times(forks));
	for (size_t i = 0; i < LOADS; i++) {
		CHECK(loads[i].done > 0);
		CHECK_INT(loads[i].failed, 0);
	}
	tt_pool_set_threads(0);
	ttnn_tensor_unref(shared);
	ttnn_tensor_unref(weight);
	ttnn_device_unref(device);
}

TEST(children_of_busy_threads)
{
	fork_under_load(50);
}

TEST(children_of_busy_threads_that_are_traced)
{
	struct ttnn_trace_options options = {
		.directory = test_path(""), .flush_ms = 1, .calls = true};

	CHECK_OK(ttnn_trace_begin(&trace, &options));
	fork_under_load(30);
	CHECK_OK(ttnn_trace_end(NULL, trace));
	trace = NULL;
}

TEST(children_of_busy_threads_whose_parameters_are_written)
{
	ttnn_params_async(true);
	CHECK_OK(ttnn_params_trace(true, false, test_path("")));
	fork_under_load(20);
	CHECK_OK(ttnn_params_trace(false, false, NULL));
	ttnn_params_async(false);
}
