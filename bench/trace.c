/*
 * Recording: what it costs when it is off and on, what a call takes in a file, what ten million events
 * take in memory, and how fast they are read back. Nanoseconds are those of the best turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <ttnn_ops.h>
#include <unistd.h>

#include "event/capture.h"
#include "tensor/core.h"
#include "trace/source.h"

/* Sites that ask whether anyone listens in one call of add. */
#define SITES 14

static ttnn_device *device;
static ttnn_tensor *a, *b;
static int failures;
static char path[] = "/tmp/ttnn_bench_trace.XXXXXX";

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void expect(enum ttnn_status status)
{
	if (status != TTNN_OK && !failures++)
		fprintf(stderr, "%s\n", ttnn_error());
}

/* ---- what is measured ------------------------------------------------------------------------------------- */

static volatile int sink;

static void run_no_sites(void)
{
	for (int i = 0; i < SITES; i++)
		sink = i;
}

static void run_sites(void)
{
	for (int i = 0; i < SITES; i++) {
		sink = i;
		if (tt_event_on())
			ttnn_mark("", NULL);
	}
}

static void run_add(void)
{
	ttnn_tensor *sum = NULL;

	expect(ttnn_add(&sum, a, ttnn_v_tensor(b), NULL));
	ttnn_tensor_unref(sum);
}

static struct tt_event_tensor tensors[2];
static struct ttnn_value args[9];
static struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
static const ttnn_core_set *grid;

/* A scope with typed arguments and the end of it. */
static void run_scope(void)
{
	struct tt_event event = {.kind = TT_EVENT_SCOPE_BEGIN};

	event.begin = (struct tt_event_scope_begin){
		.kind = TT_SCOPE_OPERATION, .name = "ttnn::add", .args = args, .arg_count = 9};
	tt_event_emit(&event);
	event.kind = TT_EVENT_SCOPE_END;
	event.end = (struct tt_event_scope_end){.outputs = tensors, .output_count = 1};
	tt_event_emit(&event);
}

static void run_memory(void)
{
	struct tt_event event = {.kind = TT_EVENT_PROGRAM_MEMORY};

	event.memory = (struct tt_event_program_memory){
		.index = 2, .size = 4096, .address = 105824, .cores = grid, .device_id = 1};
	tt_event_emit(&event);
}

static void run_buffer(void)
{
	static uint64_t id;
	struct tt_event event;

	/* As the library tells of it: what is not of its kind is left as it is. */
	event.kind = TT_EVENT_BUFFER_ALLOC;
	event.ticks = 0;
	id++;
	event.buffer = (struct tt_event_buffer){.buffer_id = id,
						.device_id = 1,
						.type = TTNN_L1,
						.size = 2048,
						.page_size = 2048,
						.bank_size = 2048,
						.address = 1499136 - 2048 * (id % 100),
						.real = true};
	tt_event_emit(&event);
}

/* Short turns, so that some of them run undisturbed on a busy machine. */
static double best(void (*run)(void))
{
	double least = 1e30, end = now() + 3e8;

	while (now() < end) {
		double begin = now(), each;

		for (int i = 0; i < 200; i++)
			run();
		each = (now() - begin) / 200;
		least = each < least ? each : least;
	}
	return least;
}

/* The same while a capture in memory runs; a new one now and then, so that nothing has to be moved. */
static double best_recorded(void (*run)(void))
{
	double least = 1e30;

	for (int turn = 0; turn < 30; turn++) {
		struct tt_capture *capture;

		expect(tt_capture_begin(&capture, &(struct tt_capture_options){0}));
		run();
		for (int i = 0; i < 40; i++) {
			double begin = now(), each;

			for (int k = 0; k < 50; k++)
				run();
			each = (now() - begin) / 50;
			least = each < least ? each : least;
		}
		tt_capture_free(capture);
	}
	return least;
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static void make(ttnn_tensor **out)
{
	struct ttnn_shape shape = {.rank = 2, .dim = {32, 32}};

	expect(ttnn_zeros(out, &shape,
			  &(struct ttnn_zeros_options){.dtype = ttnn_v_dtype(TTNN_BFLOAT16),
						       .layout = ttnn_v_layout(TTNN_TILE),
						       .device = ttnn_v_device(device)}));
}

static void set_up(void)
{
	int fd = mkstemp(path);

	if (fd >= 0)
		close(fd);
	expect(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	make(&a);
	make(&b);
	expect(tt_core_set_grid(&grid, 8, 8));
	tt_event_describe(&tensors[0], a);
	args[0] = ttnn_v_tensor(a);
	args[1] = ttnn_v_tensor(b);
	args[2] = ttnn_v_dtype(TTNN_BFLOAT16);
	args[3] = ttnn_v_memory(&l1);
	args[4] = ttnn_v_none();
	args[5] = ttnn_v_list(NULL, 0);
	args[7] = ttnn_v_bool(true);
	args[8] = ttnn_v_int(7);
}

static void show_costs(void)
{
	double none = best(run_no_sites), sites = best(run_sites);
	double add = best(run_add), recorded = best_recorded(run_add);

	printf("off: %d sites of a call                %8.1f ns a call\n", SITES, sites - none);
	printf("add of 32x32, off                      %8.1f ns\n", add);
	printf("add of 32x32, recorded                 %8.1f ns, %.1f more\n", recorded,
	       recorded - add);
	printf("scope with 9 typed arguments, and end  %8.1f ns\n", best_recorded(run_scope));
	printf("program memory                         %8.1f ns\n", best_recorded(run_memory));
	printf("buffer allocation                      %8.1f ns\n", best_recorded(run_buffer));
}

/* Reads the file over and over: nanoseconds for each of its events, whether they are wanted or not. */
static void show_reading(const char *what, const struct tt_source_wants *wants)
{
	double least = 1e30;

	for (int turn = 0; turn < 10; turn++) {
		struct tt_source *source;
		const struct tt_seen *seen;
		double begin = now(), each;

		expect(tt_source_open(&source, path));
		tt_source_want(source, wants);
		while (tt_source_next(&seen, source) == TTNN_OK && seen)
			sink = (int)seen->depth;
		each = (now() - begin) / (double)tt_source_info(source)->events;
		least = each < least ? each : least;
		tt_source_close(source);
	}
	printf("%-38s %8.1f ns an event, %.1f million a second\n", what, least, 1e3 / least);
}

/* Opens it at a few calls. */
static void show_window(const char *what, const struct tt_source_window *window)
{
	double least = 1e30;

	for (int turn = 0; turn < 10; turn++) {
		struct tt_source *source;
		const struct tt_seen *seen;
		double begin = now(), each;

		expect(tt_source_open(&source, path));
		expect(tt_source_window(source, window));
		while (tt_source_next(&seen, source) == TTNN_OK && seen)
			sink = (int)seen->depth;
		each = (now() - begin) / 1e3;
		least = each < least ? each : least;
		tt_source_close(source);
	}
	printf("%-38s %8.1f us\n", what, least);
}

static void show_bytes(void)
{
	const int calls = 10000;
	const uint32_t scopes = TT_WANT(SCOPE_BEGIN) | TT_WANT(SCOPE_END);
	struct tt_capture_summary summary;
	struct tt_capture *capture;
	struct stat facts = {0};

	expect(tt_capture_begin(&capture, &(struct tt_capture_options){.path = path}));
	for (int i = 0; i < calls; i++)
		run_add();
	expect(tt_capture_stop(&summary, capture));
	tt_capture_free(capture);
	stat(path, &facts);
	printf("%d adds: %.1f events a call, %.1f bytes a call in the file\n", calls,
	       (double)summary.events / calls, (double)facts.st_size / calls);
	show_reading("reading all of it", NULL);
	show_reading("reading scopes alone", &(struct tt_source_wants){.kinds = scopes});
	show_reading("reading it without arguments",
		     &(struct tt_source_wants){.kinds = TT_WANT_ALL, .tensors = true});
	show_window("ten calls in the middle",
		    &(struct tt_source_window){.first_op = 5000, .op_count = 10});
	show_window("the last ten calls", &(struct tt_source_window){.last_ops = 10});
}

/* The same calls as a graph: what ending the capture takes, and how much larger its JSON is. */
static void show_graph(const char *what, enum ttnn_dialect dialect)
{
	const int calls = 10000;
	ttnn_graph *graph = NULL;
	struct stat facts = {0};
	double begin, end;
	char *json = NULL;

	expect(ttnn_graph_begin_as(TTNN_RUN_NORMAL, dialect));
	for (int i = 0; i < calls; i++)
		run_add();
	begin = now();
	expect(ttnn_graph_end(&graph));
	end = now();
	if (!graph)
		return;
	expect(ttnn_graph_json(&json, graph, 0));
	stat(path, &facts);
	printf("%-10s %zu nodes, %.2f us a node at the end, JSON %.2f us a node more\n", what,
	       ttnn_graph_count(graph), (end - begin) / 1e3 / (double)ttnn_graph_count(graph),
	       (now() - end) / 1e3 / (double)ttnn_graph_count(graph));
	printf("%-10s %.1f MB of JSON, %.0f times the trace of %.2f MB\n", what,
	       json ? (double)strlen(json) / 1e6 : 0,
	       json ? (double)strlen(json) / (double)facts.st_size : 0,
	       (double)facts.st_size / 1e6);
	ttnn_free(json);
	ttnn_graph_free(graph);
}

static long peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

/* Ten million events, to a file and in memory. */
static void show_memory(const char *what, const char *file)
{
	const int turns = 2000000; /* of five events */
	struct tt_capture_summary summary;
	struct tt_capture *capture;
	long before = peak_mb();
	double begin = now();

	expect(tt_capture_begin(&capture, &(struct tt_capture_options){.path = file}));
	for (int i = 0; i < turns; i++) {
		run_scope();
		run_memory();
		run_memory();
		run_buffer();
	}
	expect(tt_capture_stop(&summary, capture));
	printf("%s: %.1f million events, %llu lost, %.0f MB, %.0f ns an event, peak %ld MB more\n",
	       what, (double)summary.events / 1e6, (unsigned long long)summary.lost,
	       (double)summary.bytes / 1e6, (now() - begin) / (double)summary.events,
	       peak_mb() - before);
	tt_capture_free(capture);
}

int main(void)
{
	set_up();
	show_costs();
	show_bytes();
	show_graph("seed:", TTNN_DIALECT_SEED);
	show_graph("tt-metal:", TTNN_DIALECT_TT_METAL);
	show_memory("to a file", path);
	show_memory("in memory", NULL);
	unlink(path);
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
	ttnn_device_unref(device);
	return failures != 0;
}
