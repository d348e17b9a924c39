/*
 * Parts of traces (tt_source_window) and of events (tt_source_want): what is read of a part is what a pass over all
 * tells of it
 * @threads
 */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/vec.h"
#include "event_stage.h"
#include "trace/relay.h"

#define THREADS 3
#define ROUNDS 40

/* ---- a trace ---------------------------------------------------------------------------------------------- */

static struct tt_capture *capture;
static pthread_barrier_t barrier;

/* Calls of some levels with all kinds of events, many chunks, and a device that is opened on the way. */
static void tell_rounds(size_t number)
{
	ttnn_device *device = NULL;
	struct stage stage;

	set_stage(&stage, 7 + number);
	for (int round = 0; round < ROUNDS; round++) {
		/* A call that goes on over the end of a chunk. */
		if (round % 3)
			tell(&stage, TT_EVENT_SCOPE_BEGIN);
		for (int i = 0; i < 4; i++)
			tell_many(&stage, (int)draw(&stage, 16));
		if (number == 1 && round == ROUNDS / 2)
			CHECK_OK(ttnn_device_open(
				&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
		pthread_barrier_wait(&barrier);
		if (!number)
			CHECK_OK(tt_capture_flush(capture));
		pthread_barrier_wait(&barrier);
		if (round % 3)
			tell(&stage, TT_EVENT_SCOPE_END);
	}
	ttnn_device_unref(device);
}

static void *run_thread(void *number)
{
	tell_rounds((size_t)(uintptr_t)number);
	return NULL;
}

/* A file's bytes; the caller's to free. */
struct bytes {
	unsigned char *data;
	size_t size;
};

static struct bytes slurp(const char *path)
{
	struct bytes bytes = {0};
	char *data = NULL;

	CHECK_OK(tt_file_read(&data, &bytes.size, path));
	bytes.data = (unsigned char *)data;
	return bytes;
}

/* Records; also what was in the files before the end. */
static void record(const char *path, struct bytes *unfinished, struct bytes *beside)
{
	pthread_t threads[THREADS];
	char live[256];

	snprintf(live, sizeof(live), "%s.live", path);
	pthread_barrier_init(&barrier, NULL, THREADS);
	CHECK_OK(tt_capture_begin(&capture, &(struct tt_capture_options){.path = path}));
	for (size_t i = 1; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)i) == 0);
	tell_rounds(0);
	for (size_t i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	*beside = slurp(live);
	*unfinished = slurp(path);
	CHECK_OK(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
}

/* ---- a pass over all --------------------------------------------------------------------------------------- */

struct row {
	uint64_t time_ns, op, last_op, duration_ns, hash;
	uint64_t from_ns, to_ns; /* of its call, or of itself */
	uint32_t thread, depth;
	enum tt_event_kind kind;
	bool before; /* a call: it comes before that */
};

/* What rows one behind another have in common: which windows none of them is in. */
#define PART 1024
struct part {
	uint64_t least_op, most_op, from_ns, to_ns;
	bool told_anyway; /* of threads or devices */
};

struct rows {
	struct row *data;
	size_t count, room;
	uint64_t last_op;
	struct part *parts;
};

/* With all that the event says as a hash, or without: that takes its time. */
static struct row row_of(const struct tt_seen *seen, bool text_too)
{
	struct row row = {.time_ns = seen->time_ns,
			  .op = seen->op,
			  .thread = seen->thread,
			  .depth = seen->depth,
			  .kind = seen->event.kind};
	struct tt_str text = {0};

	if (text_too)
		text_event(&text, &seen->event);
	row.hash = tt_hash(0, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	if (row.kind == TT_EVENT_SCOPE_END)
		row.duration_ns = seen->event.end.duration_ns;
	row.before = row.kind == TT_EVENT_STACK || row.kind == TT_EVENT_PLACE ||
		     (row.kind == TT_EVENT_PYTHON_IO && !seen->event.python_io.returned);
	return row;
}

static void divide(struct rows *rows)
{
	rows->parts = tt_calloc(rows->count / PART + 1, sizeof(*rows->parts));
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->data[i];
		struct part *part = &rows->parts[i / PART];
		uint64_t op = row->op ? row->op : row->last_op, after = op + row->before;

		after = after ? after : 1;
		if (i % PART == 0)
			*part = (struct part){op, after, row->from_ns, row->to_ns, false};
		part->least_op = op < part->least_op ? op : part->least_op;
		part->most_op = after > part->most_op ? after : part->most_op;
		part->from_ns = row->from_ns < part->from_ns ? row->from_ns : part->from_ns;
		part->to_ns = row->to_ns > part->to_ns ? row->to_ns : part->to_ns;
		part->told_anyway |=
			row->kind == TT_EVENT_DEVICE_OPEN || row->kind == TT_EVENT_THREAD;
	}
}

static struct rows read_all(struct tt_source *source)
{
	struct rows rows = {0};
	const struct tt_seen *seen;
	uint64_t last[16] = {0}, end[16], next[16];

	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		struct row *row = TT_VEC_PUSH(&rows);

		*row = row_of(seen, true);
		row->from_ns = row->to_ns = row->time_ns;
		if (row->op)
			last[row->thread % 16] = row->op;
		row->last_op = last[row->thread % 16];
		rows.last_op = row->op > rows.last_op ? row->op : rows.last_op;
	}
	/* When calls ended, from behind: one without an end goes on up to the next event of its thread. */
	memset(last, 0, sizeof(last));
	memset(next, 0xff, sizeof(next));
	for (size_t i = rows.count; i-- > 0;) {
		struct row *row = &rows.data[i];
		size_t t = row->thread % 16;

		if (row->op && row->op != last[t])
			end[t] = row->kind == TT_EVENT_SCOPE_END && !row->depth ? row->time_ns
										: next[t];
		if (row->op)
			row->to_ns = end[t];
		last[t] = row->op;
		next[t] = row->time_ns;
	}
	memset(last, 0, sizeof(last));
	for (size_t i = 0; i < rows.count; i++) {
		struct row *row = &rows.data[i];
		size_t t = row->thread % 16;

		if (row->op && row->op != last[t])
			end[t] = row->time_ns;
		if (row->op) {
			row->from_ns = end[t];
			last[t] = row->op;
		}
	}
	divide(&rows);
	return rows;
}

static void forget_all(struct rows *rows)
{
	tt_free(rows->parts);
	TT_VEC_DEINIT(rows);
}

/* What the contract of tt_source_window() says of an event. */
static bool is_within(const struct row *row, const struct tt_source_window *w, uint64_t highest)
{
	uint64_t first = w->first_op ? w->first_op : 1, op = row->op ? row->op : row->last_op;
	uint64_t last = w->op_count ? first + w->op_count - 1 : UINT64_MAX;
	uint64_t end = w->end_ns ? w->end_ns : UINT64_MAX;
	bool in_time = row->from_ns < end && row->to_ns >= w->begin_ns;

	if (w->last_ops && highest > w->last_ops && highest - w->last_ops + 1 > first)
		first = highest - w->last_ops + 1;
	if (op > last)
		return false;
	if (row->kind == TT_EVENT_DEVICE_OPEN ||
	    (row->kind == TT_EVENT_THREAD && (!w->one_thread || w->thread == row->thread)))
		return row->time_ns < end || (row->op && in_time);
	if (w->one_thread && w->thread != row->thread)
		return false;
	if (!row->op)
		op += row->before;
	op = op ? op : 1;
	return op >= first && op <= last && in_time;
}

/* The first row from `at` on that may be in a window: parts that have none are passed over. */
static size_t pass(const struct rows *rows, const struct tt_source_window *w, size_t at)
{
	uint64_t first = w->first_op ? w->first_op : 1, highest = rows->last_op;
	uint64_t last = w->op_count ? first + w->op_count - 1 : UINT64_MAX;
	uint64_t end = w->end_ns ? w->end_ns : UINT64_MAX;

	if (w->last_ops && highest > w->last_ops && highest - w->last_ops + 1 > first)
		first = highest - w->last_ops + 1;
	for (; at < rows->count && at % PART == 0; at += PART) {
		const struct part *part = &rows->parts[at / PART];

		if (part->told_anyway || (part->most_op >= first && part->least_op <= last &&
					  part->from_ns < end && part->to_ns >= w->begin_ns))
			break;
	}
	return at < rows->count ? at : rows->count;
}

static bool is_same(const struct row *a, const struct row *b)
{
	return a->time_ns == b->time_ns && a->op == b->op && a->duration_ns == b->duration_ns &&
	       a->hash == b->hash && a->thread == b->thread && a->depth == b->depth &&
	       a->kind == b->kind;
}

static uint64_t seed = 99;

static uint64_t any(uint64_t below)
{
	return below ? test_random(&seed) % below : 0;
}

static struct tt_source_window any_window(const struct rows *rows, uint32_t threads)
{
	struct tt_source_window window = {0};
	uint64_t what = any(8), end = rows->count ? rows->data[rows->count - 1].time_ns + 2 : 2;

	if (what & 1) {
		window.first_op = any(rows->last_op + 3);
		window.op_count = any(3) ? any(rows->last_op / 4 + 1) : 0;
	}
	if (what & 2) {
		window.begin_ns = any(end);
		window.end_ns = any(2) ? window.begin_ns + any(end / 8) : 0;
		/* The time of an event itself is where mistakes are. */
		if (rows->count && any(2))
			window.begin_ns = rows->data[any(rows->count)].time_ns;
		if (rows->count && any(2))
			window.end_ns = rows->data[any(rows->count)].time_ns;
	}
	if (!any(5))
		window.last_ops = any(rows->last_op + 2);
	if (what & 4 && threads) {
		window.one_thread = true;
		window.thread = (uint32_t)any(threads);
	}
	return window;
}

/* With gaps: what is outside of calls goes with calls that cannot be read, so that only the others are looked at. */
static bool gaps;

static void check_window(struct tt_source *source, const struct rows *rows,
			 const struct tt_source_window *window)
{
	const struct tt_seen *seen;
	bool text_too = !any(8);
	size_t at = 0;

	CHECK_OK(tt_source_window(source, window));
	for (;;) {
		struct row row;

		do
			CHECK_OK(tt_source_next(&seen, source));
		while (gaps && seen && !seen->op);
		while ((at = pass(rows, window, at)) < rows->count &&
		       (!is_within(&rows->data[at], window, rows->last_op) ||
			(gaps && !rows->data[at].op)))
			at++;
		if (!seen || at == rows->count)
			break;
		row = row_of(seen, text_too);
		if (!text_too)
			row.hash = rows->data[at].hash;
		if (!is_same(&row, &rows->data[at++])) {
			at = rows->count - (at < rows->count);
			break;
		}
	}
	if (!seen && at == rows->count)
		return;
	TEST_FAIL("calls %" PRIu64 " + %" PRIu64 ", last %" PRIu64 ", %" PRIu64 " to %" PRIu64
		  " ns, thread %d: event %zu of %zu is %s",
		  window->first_op, window->op_count, window->last_ops, window->begin_ns,
		  window->end_ns, window->one_thread ? (int)window->thread : -1, at, rows->count,
		  seen ? "another" : "missing");
}

/* What a thread has read ahead is what is read. Who stops early leaves the source to others. */
static void check_relay(struct tt_source *source, const struct rows *rows, size_t most)
{
	const struct tt_seen *seen = NULL;
	struct tt_relay *relay;
	size_t at = 0;

	tt_source_rewind(source);
	CHECK_OK(tt_relay_new(&relay, source, true));
	while (at < most && tt_relay_next(&seen, relay) == TTNN_OK && seen) {
		struct row row = row_of(seen, true);

		if (at == rows->count || !is_same(&row, &rows->data[at]))
			TEST_FAIL("event %zu of %zu is another", at, rows->count);
		at++;
	}
	CHECK(at == most || at == rows->count);
	tt_relay_free(relay);
	tt_source_rewind(source);
}

static void check_windows(struct tt_source *source, int count)
{
	struct rows rows = read_all(source);

	check_relay(source, &rows, SIZE_MAX);
	check_relay(source, &rows, any(rows.count + 1));

	for (int i = 0; i < count; i++) {
		struct tt_source_window window = any_window(&rows, tt_source_info(source)->threads);

		if (gaps)
			window.last_ops = 0;
		check_window(source, &rows, &window);
	}
	check_window(source, &rows, &(struct tt_source_window){0});
	CHECK_OK(tt_source_window(source, NULL));
	forget_all(&rows);
}

static void check_bytes(const struct bytes *trace, size_t size, const struct bytes *beside,
			int count)
{
	struct tt_trace_bytes parts[] = {{trace->data, size, "trace"}, {NULL, 0, "beside"}};
	struct tt_source *source;

	if (beside)
		parts[1] = (struct tt_trace_bytes){beside->data, beside->size, "beside"};
	CHECK_OK(tt_source_open_parts(&source, &parts[0], beside ? &parts[1] : NULL));
	check_windows(source, count);
	tt_source_close(source);
}

TEST(a_part_is_what_the_whole_tells_of_it)
{
	const char *path = test_path("window.ttrace");
	struct bytes unfinished, beside, whole;
	struct tt_source *source;

	record(path, &unfinished, &beside);
	CHECK_OK(tt_source_open(&source, path));
	CHECK(tt_source_info(source)->chunks > 100);
	CHECK(tt_source_info(source)->threads == THREADS);
	CHECK(tt_source_info(source)->counts[TT_EVENT_DEVICE_OPEN] > 0);
	check_windows(source, 1000);
	CHECK_FAILS(tt_source_window(source, &(struct tt_source_window){.one_thread = true,
									.thread = THREADS}),
		    TTNN_INVALID, "no thread 3");
	tt_source_close(source);
	/* Without an index; with what lies beside; cut anywhere. */
	check_bytes(&unfinished, unfinished.size, NULL, 200);
	check_bytes(&unfinished, unfinished.size, &beside, 200);
	gaps = true;
	for (int i = 0; i < 10; i++)
		check_bytes(&unfinished, unfinished.size - any(unfinished.size / 2), &beside, 20);
	/* A damaged byte costs a chunk. */
	whole = slurp(path);
	for (int i = 0; i < 10; i++) {
		whole.data[whole.size / 8 + any(whole.size / 2)] ^= 0x55;
		check_bytes(&whole, whole.size, NULL, 20);
	}
	gaps = false;
	tt_free(whole.data);
	tt_free(unfinished.data);
	tt_free(beside.data);
}

/* A short window somewhere: some calls by their numbers, or what was under way in a moment. */
static struct tt_source_window short_window(const struct rows *rows)
{
	struct tt_source_window window = {0};

	if (any(2)) {
		window.first_op = 1 + any(rows->last_op);
		window.op_count = 1 + any(200);
	} else {
		window.begin_ns = rows->data[any(rows->count)].time_ns;
		window.end_ns = window.begin_ns + 1 + any(1000000);
	}
	if (!any(8))
		window = (struct tt_source_window){.last_ops = 1 + any(300)};
	return window;
}

/* TTNN_TEST_WINDOWS=FILE: windows of a trace of any length, one that bench/length.py recorded say. */
TEST(windows_of_a_given_file)
{
	const char *path = getenv("TTNN_TEST_WINDOWS");
	struct tt_source *source;
	struct rows rows;

	if (!path)
		return;
	CHECK_OK(tt_source_open(&source, path));
	rows = read_all(source);
	printf("%zu events, %" PRIu64 " calls\n", rows.count, rows.last_op);
	for (int i = 0; rows.count && i < 1000; i++) {
		struct tt_source_window window = short_window(&rows);

		check_window(source, &rows, &window);
	}
	forget_all(&rows);
	tt_source_close(source);
}

/* ---- wants -------------------------------------------------------------------------------------------------- */

/* What is left of an event of a kind that is wanted. */
static void strip(struct tt_event *event, const struct tt_source_wants *wants)
{
	struct tt_event_scope_begin *begin = &event->begin;

	if (event->kind == TT_EVENT_SCOPE_BEGIN && !wants->values) {
		begin->schema = NULL;
		begin->arg_count = 0;
	}
	if (event->kind == TT_EVENT_SCOPE_BEGIN && !wants->tensors)
		begin->input_count = 0;
	if (event->kind == TT_EVENT_SCOPE_END && !wants->tensors)
		event->end.output_count = 0;
	if (event->kind == TT_EVENT_TENSOR && !wants->tensors)
		event->mention.count = 0;
	if (event->kind == TT_EVENT_STACK && !wants->frames)
		event->stack.count = 0;
	if (event->kind == TT_EVENT_CALL && !wants->values)
		event->call.value_count = 0;
}

static void check_wants(struct tt_source *all, struct tt_source *some,
			const struct tt_source_wants *wants)
{
	const struct tt_seen *seen, *less;

	tt_source_rewind(all);
	tt_source_want(some, wants);
	do {
		struct tt_seen left;
		struct row want, got;

		CHECK_OK(tt_source_next(&less, some));
		do
			CHECK_OK(tt_source_next(&seen, all));
		while (seen && !(wants->kinds >> seen->event.kind & 1));
		if (!seen || !less)
			break;
		left = *seen;
		strip(&left.event, wants);
		want = row_of(&left, true);
		got = row_of(less, true);
		if (!is_same(&want, &got)) {
			TEST_FAIL("kinds 0x%x, %d %d %d: event of kind %d differs", wants->kinds,
				  wants->values, wants->tensors, wants->frames, want.kind);
			break;
		}
	} while (seen && less);
	CHECK(!seen == !less);
}

TEST(what_is_wanted_is_what_there_is)
{
	const char *path = test_path("wants.ttrace");
	struct tt_source *all, *some;
	struct bytes unfinished, beside;

	record(path, &unfinished, &beside);
	tt_free(unfinished.data);
	tt_free(beside.data);
	CHECK_OK(tt_source_open(&all, path));
	CHECK_OK(tt_source_open(&some, path));
	for (int i = 0; i < 60; i++) {
		struct tt_source_wants wants = {.kinds = (uint32_t)any(UINT64_C(1) << 32),
						.values = any(2),
						.tensors = any(2),
						.frames = any(2)};

		if (i % 3 == 0)
			wants.kinds = TT_WANT_ALL;
		if (i % 3 == 1) /* what a view of memory wants */
			wants.kinds &= TT_WANT(PROGRAM) | TT_WANT(SCOPE_END);
		check_wants(all, some, &wants);
	}
	tt_source_want(some, NULL);
	check_wants(all, some, &(struct tt_source_wants){TT_WANT_ALL, true, true, true});
	tt_source_close(all);
	tt_source_close(some);
}

/* ---- a thread beside ------------------------------------------------------------------------------------------ */

static int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = -2; /* without . and .. */

	while (tasks && readdir(tasks))
		count++;
	if (tasks)
		closedir(tasks);
	return count;
}

/* One that has ended may be seen for a moment. */
static void check_threads(int count)
{
	for (int i = 0; i < 1000 && count_threads() != count; i++)
		usleep(1000);
	CHECK(count_threads() == count);
}

static uint64_t read_hash(struct tt_source *source)
{
	const struct tt_seen *seen;
	uint64_t hash = 0;

	while (tt_source_next(&seen, source) == TTNN_OK && seen)
		hash = tt_hash_u64(hash, row_of(seen, true).hash + seen->time_ns);
	return hash;
}

TEST(chunks_are_read_ahead)
{
	const char *path = test_path("ahead.ttrace");
	struct bytes unfinished, beside;
	const struct tt_seen *seen;
	struct tt_source *source;
	int before, state = 1;
	uint64_t alone;

	record(path, &unfinished, &beside);
	tt_free(unfinished.data);
	tt_free(beside.data);
	before = count_threads();
	tt_pool_set_threads(1);
	CHECK_OK(tt_source_open(&source, path));
	CHECK_OK(tt_source_next(&seen, source));
	check_threads(before);
	alone = read_hash(source);
	tt_source_close(source);
	tt_pool_set_threads(2);
	CHECK_OK(tt_source_open(&source, path));
	CHECK_OK(tt_source_next(&seen, source));
	check_threads(before + 1);
	/* A child has no such thread, and reads on. */
	if (TEST_FOLLOWS_FORKS) {
		pid_t child = fork();

		if (child == 0) {
			bool same = read_hash(source) == alone;

			tt_source_rewind(source);
			same = same && tt_source_next(&seen, source) == TTNN_OK &&
			       read_hash(source) == alone;
			tt_source_close(source);
			_exit(same ? 0 : 1);
		}
		CHECK(waitpid(child, &state, 0) == child);
		CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
	}
	CHECK(read_hash(source) == alone);
	/* Closed in the middle, too. */
	tt_source_rewind(source);
	CHECK_OK(tt_source_next(&seen, source));
	tt_source_close(source);
	check_threads(before);
	tt_pool_set_threads(0);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* Ever new names do not become ever more memory: a trace is read up to 32 MB of them. */
TEST(names_are_bounded)
{
	const char *path = test_path("names.ttrace");
	const size_t length = 200000, count = 200;
	char *names = tt_calloc(count, length);
	struct tt_event event = {.kind = TT_EVENT_SCOPE_BEGIN};
	const struct tt_seen *seen;
	struct tt_source *source;
	uint64_t read = 0;

	CHECK(names);
	CHECK_OK(tt_capture_begin(&capture, &(struct tt_capture_options){.path = path}));
	for (size_t i = 0; names && i < count; i++) {
		char *name = names + i * length;

		memset(name, 'a' + (int)(i % 26), length - 1);
		memcpy(name, &(uint16_t){(uint16_t)(0x4141 + i)}, 2);
		event.begin = (struct tt_event_scope_begin){.name = name};
		tt_event_emit(&event);
		tt_event_emit(&(struct tt_event){.kind = TT_EVENT_SCOPE_END});
	}
	CHECK_OK(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
	CHECK_OK(tt_source_open(&source, path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen)
		read += seen->event.kind == TT_EVENT_SCOPE_BEGIN;
	CHECK(read > 100);
	CHECK(read <= ((uint64_t)32 << 20) / length + 1);
	CHECK(tt_source_info(source)->bad_chunks > 0);
	tt_source_close(source);
	tt_free(names);
}

/* A short trace of several chunks. */
static struct bytes make_small(const char *path)
{
	struct bytes made, copy;
	struct stage stage;

	set_stage(&stage, 3);
	CHECK_OK(tt_capture_begin(&capture, &(struct tt_capture_options){.path = path}));
	for (int i = 0; i < 5; i++) {
		tell_many(&stage, 20);
		CHECK_OK(tt_capture_flush(capture));
	}
	CHECK_OK(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
	made = slurp(path);
	copy = (struct bytes){malloc(made.size), made.size};
	memcpy(copy.data, made.data, made.size);
	tt_free(made.data);
	return copy;
}

SCENARIO(windows_without_memory)
{
	static struct bytes small;
	struct tt_source *source;
	const struct tt_seen *seen;
	tt_status status;

	if (!small.data)
		small = make_small(test_path("small.ttrace"));
	TT_TRY(tt_source_open_bytes(&source, small.data, small.size, "small"));
	tt_source_want(source, &(struct tt_source_wants){.kinds = TT_WANT(SCOPE_BEGIN)});
	status = tt_source_window(source,
				  &(struct tt_source_window){.last_ops = 3, .begin_ns = 1000});
	do
		status = status == TTNN_OK ? tt_source_next(&seen, source) : status;
	while (status == TTNN_OK && seen);
	tt_source_close(source);
	return status;
}
