/*
 * recording events and reading them back: what listeners heard is what a trace says
 * @threads
 */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "event_stage.h"

/* ---- one thread ---------------------------------------------------------------------------------------- */

static void record_and_compare(const char *path, int count,
			       void (*tell_them)(struct stage *stage, int count))
{
	struct tt_capture_options options = {.path = path};
	struct ear ear = {.listener.emit = hear};
	struct tt_capture_summary summary;
	struct tt_capture *capture;
	struct tt_source *source;
	struct tt_str read = {0}, again = {0};
	struct stage stage;

	set_stage(&stage, 7);
	CHECK_OK(tt_capture_begin(&capture, &options));
	CHECK_OK(tt_event_attach(&ear.listener));
	tell_them(&stage, count);
	tt_event_detach(&ear.listener);
	CHECK_OK(tt_capture_stop(&summary, capture));
	CHECK_INT(summary.lost, 0);
	CHECK_OK(path ? tt_source_open(&source, path) : tt_source_open_capture(&source, capture));
	CHECK_OK(read_lines(&read, source));
	check_same(tt_str_text(&read), tt_str_text(&ear.lines));
	tt_source_rewind(source);
	CHECK_OK(read_lines(&again, source));
	check_same(tt_str_text(&again), tt_str_text(&ear.lines));
	CHECK_INT(tt_source_info(source)->events, summary.events);
	CHECK(tt_source_info(source)->complete && !tt_source_info(source)->damage);
	tt_source_close(source);
	tt_capture_free(capture);
	tt_str_deinit(&read);
	tt_str_deinit(&again);
	tt_str_deinit(&ear.lines);
}

TEST(memory_says_what_was_heard)
{
	record_and_compare(NULL, 3000, tell_many);
}

TEST(a_file_says_what_was_heard)
{
	record_and_compare(test_path("all.ttrace"), 3000, tell_many);
}

TEST(many_chunks_say_what_was_heard)
{
	record_and_compare(test_path("many.ttrace"), 20000, tell_many);
	record_and_compare(NULL, 60000, tell_many); /* goes to a temporary file on the way */
}

/* ---- the same again and again -------------------------------------------------------------------------- */

/* Arguments of few kinds, in the same places in memory: what they point at is another thing now and then. */
static size_t draw_repeating(struct stage *stage, struct ttnn_shape *shape, size_t tensors)
{
	struct ttnn_value *v = stage->values;
	size_t count = 0;

	for (size_t i = 0; i < tensors; i++)
		v[count++] = (struct ttnn_value){.kind = TTNN_VALUE_SEEN_TENSOR,
						 .seen = &stage->tensors[i]};
	if (draw(stage, 8) == 0)
		shape->dim[0] = 32 * (1 + (uint32_t)draw(stage, 3));
	if (draw(stage, 8) == 0)
		stage->memory.shard.height = 32 * (1 + (uint32_t)draw(stage, 2));
	if (draw(stage, 8) == 0)
		stage->items[0][1] = ttnn_v_int((int64_t)draw(stage, 3));
	stage->items[0][0] = ttnn_v_bool(true);
	stage->items[1][0] = tt_value_enum(&tt_enum_math_fidelity, 4);
	stage->items[1][1] = ttnn_v_list(stage->items[0], 2);
	stage->items[1][2] = ttnn_v_list(NULL, 0);
	v[count++] = ttnn_v_dtype(draw(stage, 4) ? TTNN_BFLOAT16 : TTNN_FLOAT32);
	v[count++] = ttnn_v_real(draw(stage, 4) ? 1.0 : -0.0);
	v[count++] = ttnn_v_shape(shape);
	v[count++] = ttnn_v_memory(&stage->memory);
	v[count++] = tt_value_object(&config_schema, stage->items[1]);
	v[count++] = draw(stage, 2) ? ttnn_v_none() : ttnn_v_int(-1);
	if (draw(stage, 10) == 0)
		v[count++] = ttnn_v_string(draw(stage, 2) ? "a" : "b");
	if (draw(stage, 10) == 0) /* tensors where most have none */
		v[count++] = (struct ttnn_value){.kind = TTNN_VALUE_SEEN_TENSOR,
						 .seen = &stage->tensors[4]};
	for (size_t absent = draw(stage, 3); absent > 0; absent--)
		v[count++] = (struct ttnn_value){0};
	return count;
}

/* A scope, or two at once of which the second has some of the first one's arguments; and their ends. */
static void tell_repeating(struct stage *stage, int count)
{
	static const char *const names[] = {"ttnn::add", "ttnn::prim::binary", "BinaryOperation"};
	struct ttnn_shape shape = {.rank = 2, .dim = {32, 32}};
	struct ttnn_tensor_spec specs[300]; /* more than one chunk has room for */

	for (uint32_t i = 0; i < 300; i++)
		CHECK_OK(ttnn_tensor_spec_make(
			&specs[i], &(struct ttnn_spec_args){.shape = {2, {32, 32 + 32 * i}},
							    .layout = TTNN_TILE}));
	stage->items[0][1] = ttnn_v_none();
	for (int i = 0; i < count; i++) {
		size_t tensors = draw(stage, 3), given, both = 1 + draw(stage, 2);
		struct tt_event events[2] = {{.kind = TT_EVENT_SCOPE_BEGIN}};

		for (int k = 0; k < 5; k++)
			stage->tensors[k] = (struct tt_event_tensor){
				.id = draw(stage, 40) + (k == 4 ? (uint64_t)i : 0),
				.spec = &specs[draw(stage, 4) ? draw(stage, 3) : draw(stage, 300)],
				.on_device = true,
				.owns = true,
				.buffer_id = 7,
				.spread = TT_SPREAD_LINE};
		given = draw_repeating(stage, &shape, tensors);
		events[0].begin = (struct tt_event_scope_begin){.kind = TT_SCOPE_PRIM,
								.name = names[draw(stage, 3)],
								.args = stage->values,
								.arg_count = given,
								.inputs = stage->tensors,
								.input_count = tensors};
		events[1] = events[0];
		events[1].begin.name = names[2];
		events[1].begin.args += tensors;
		events[1].begin.arg_count -= tensors + draw(stage, 2);
		tt_event_emit_all(events, both);
		events[0] = events[1] = (struct tt_event){
			.kind = TT_EVENT_SCOPE_END, .end = {.outputs = &stage->tensors[3], 1}};
		tt_event_emit_all(events, both);
	}
}

/* More values than a block may have. */
static void tell_long(struct stage *stage, int count)
{
	struct tt_event begin = {.kind = TT_EVENT_SCOPE_BEGIN}, end = {.kind = TT_EVENT_SCOPE_END};
	struct ttnn_value values[1500];

	for (size_t i = 0; i < 1500; i++)
		values[i] = ttnn_v_int((int64_t)draw(stage, 3));
	begin.begin = (struct tt_event_scope_begin){
		.kind = TT_SCOPE_OPERATION, .name = "ttnn::long", .args = values};
	for (int i = 0; i < count; i++) {
		begin.begin.arg_count = 1000 + draw(stage, 500);
		tt_event_emit(&begin);
		tt_event_emit(&end);
	}
}

TEST(what_repeats_is_told_as_it_was)
{
	record_and_compare(NULL, 300, tell_long);
	record_and_compare(NULL, 2000, tell_repeating);
	record_and_compare(test_path("repeats.ttrace"), 20000, tell_repeating);
}

/* ---- windows -------------------------------------------------------------------------------------------- */

static void tell_scope(const char *name)
{
	struct tt_event begin = {.kind = TT_EVENT_SCOPE_BEGIN,
				 .begin = {.kind = TT_SCOPE_OPERATION, .name = name}};
	struct tt_event inner = {.kind = TT_EVENT_SCOPE_BEGIN,
				 .begin = {.kind = TT_SCOPE_PRIM, .name = "inner"}};
	struct tt_event end = {.kind = TT_EVENT_SCOPE_END};

	tt_event_emit(&begin);
	tt_event_emit(&inner);
	tt_event_emit(&end);
	tt_event_emit(&end);
}

static const char *const ten[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

/* The names of outermost scopes that a capture with these options keeps of ten, with their numbers; and marks. */
static void check_kept(const struct tt_capture_options *options, const char *want)
{
	struct tt_capture *capture;
	struct tt_source *source;
	const struct tt_seen *seen;
	struct tt_str kept = {0};
	int open = 0;

	CHECK_OK(tt_capture_begin(&capture, options));
	for (int i = 0; i < 10; i++) {
		if (i == 4 || i == 8)
			ttnn_mark("go", NULL);
		if (i == 6)
			ttnn_mark("stop", NULL);
		tell_scope(ten[i]);
	}
	CHECK_OK(tt_capture_stop(NULL, capture));
	CHECK_OK(tt_source_open_capture(&source, capture));
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		open += seen->event.kind == TT_EVENT_SCOPE_BEGIN;
		open -= seen->event.kind == TT_EVENT_SCOPE_END;
		if (seen->event.kind == TT_EVENT_MARK)
			tt_str_addf(&kept, "%s ", seen->event.mark.text);
		if (seen->event.kind != TT_EVENT_SCOPE_BEGIN || seen->depth)
			continue;
		tt_str_addf(&kept, "%s=%d ", seen->event.begin.name, (int)seen->op);
	}
	CHECK_INT(open, 0);
	CHECK_STR(tt_str_text(&kept), want);
	tt_str_deinit(&kept);
	tt_source_close(source);
	tt_capture_free(capture);
}

TEST(windows_keep_what_they_say)
{
	check_kept(&(struct tt_capture_options){.first_op = 3, .op_count = 2}, "2=3 3=4 go ");
	check_kept(&(struct tt_capture_options){.op_count = 2}, "0=1 1=2 ");
	check_kept(&(struct tt_capture_options){.first_op = 9}, "8=9 9=10 ");
	check_kept(&(struct tt_capture_options){.begin_mark = "go", .end_mark = "stop"},
		   "go 4=5 5=6 go 8=9 9=10 ");
	check_kept(&(struct tt_capture_options){.begin_mark = "go", .first_op = 9}, "8=9 9=10 ");
	check_kept(&(struct tt_capture_options){.last_ops = 3}, "7=8 go 8=9 9=10 ");
}

TEST(the_last_operations_of_many)
{
	struct tt_capture_options options = {.path = test_path("ring.ttrace"), .last_ops = 10};
	struct tt_capture *capture;
	struct tt_source *source;
	const struct tt_seen *seen;
	struct stage stage;
	uint64_t ops = 0, last = 0;

	set_stage(&stage, 11);
	CHECK_OK(tt_capture_begin(&capture, &options));
	for (int i = 0; i < 400; i++)
		tell_many(&stage, 50); /* some chunks: the first are given up */
	CHECK(access(options.path, F_OK) != 0);
	CHECK_OK(tt_capture_flush(capture));
	CHECK_OK(tt_source_open(&source, options.path));
	CHECK_INT(tt_source_info(source)->operations, 10);
	tt_source_close(source);
	CHECK_OK(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
	CHECK_OK(tt_source_open(&source, options.path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen)
		if (seen->event.kind == TT_EVENT_SCOPE_BEGIN && !seen->depth) {
			CHECK(!last || seen->op == last + 1);
			last = seen->op;
			ops++;
		}
	CHECK_INT(ops, 10);
	CHECK(tt_source_info(source)->chunks < 5);
	tt_source_close(source);
}

/* ---- captures in each other ------------------------------------------------------------------------------- */

static uint64_t count_events(struct tt_capture *capture)
{
	const struct tt_seen *seen;
	struct tt_source *source;
	uint64_t count = 0;

	CHECK_OK(tt_source_open_capture(&source, capture));
	while (tt_source_next(&seen, source) == TTNN_OK && seen)
		count += seen->event.kind != TT_EVENT_THREAD;
	tt_source_close(source);
	return count;
}

TEST(captures_nest_and_can_be_read_while_they_run)
{
	struct tt_capture *outer, *inner;
	struct tt_event end = {.kind = TT_EVENT_SCOPE_END};
	struct tt_event begin = {.kind = TT_EVENT_SCOPE_BEGIN,
				 .begin = {.kind = TT_SCOPE_OPERATION, .name = "outer"}};

	CHECK_OK(tt_capture_begin(&outer, &(struct tt_capture_options){0}));
	tt_event_emit(&begin);
	CHECK_OK(tt_capture_begin(&inner, &(struct tt_capture_options){0}));
	tell_scope("inside");
	CHECK_INT(count_events(outer), 5);
	CHECK_INT(count_events(inner), 4);
	tt_event_emit(&end); /* the inner one has not heard of its begin */
	tell_scope("behind");
	CHECK_OK(tt_capture_stop(NULL, inner));
	tell_scope("outside");
	CHECK_INT(count_events(inner), 8);
	CHECK_INT(count_events(outer), 14);
	tt_capture_free(outer);
	tt_capture_free(inner);
	CHECK(!tt_event_on());
}

TEST(durations_depths_and_numbers)
{
	struct tt_capture *capture;
	struct tt_source *source;
	const struct tt_seen *seen;
	uint64_t began[8] = {0};

	CHECK_OK(tt_capture_begin(&capture, &(struct tt_capture_options){0}));
	tell_scope("a");
	ttnn_mark("between", NULL);
	tell_scope("b");
	CHECK_OK(tt_source_open_capture(&source, capture));
	for (uint64_t last = 0; tt_source_next(&seen, source) == TTNN_OK && seen;) {
		CHECK(seen->time_ns >= last);
		last = seen->time_ns;
		if (seen->event.kind == TT_EVENT_SCOPE_BEGIN) {
			CHECK_INT(seen->depth, strcmp(seen->event.begin.name, "inner") == 0);
			began[seen->depth] = seen->time_ns;
		} else if (seen->event.kind == TT_EVENT_SCOPE_END) {
			CHECK_INT(seen->event.end.duration_ns, last - began[seen->depth]);
		} else if (seen->event.kind == TT_EVENT_MARK) {
			CHECK(seen->op == 0 && seen->depth == 0);
		}
	}
	tt_source_close(source);
	tt_capture_free(capture);
}

/* ---- threads ---------------------------------------------------------------------------------------------- */

#define THREADS 8

/* What each thread heard itself say. */
static struct tt_str heard[THREADS];
static _Thread_local struct tt_str *mine;

static void hear_own(struct tt_event_listener *self, const struct tt_event *event)
{
	(void)self;
	text_event(mine, event);
	tt_str_addc(mine, '\n');
}

static void *tell_thread(void *number)
{
	struct stage stage;

	mine = number;
	ttnn_mark("thread", ten[mine - heard]);
	set_stage(&stage, 100 + (uint64_t)(mine - heard));
	tell_many(&stage, 4000);
	return NULL;
}

static void check_threads(struct tt_source *source)
{
	struct tt_str read[THREADS] = {0};
	int who[THREADS];
	const struct tt_seen *seen;
	uint64_t last = 0;

	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		CHECK(seen->time_ns >= last && seen->thread < THREADS);
		last = seen->time_ns;
		if (seen->event.kind == TT_EVENT_THREAD || seen->thread >= THREADS)
			continue;
		if (!read[seen->thread].length)
			who[seen->thread] = seen->event.mark.detail[0] - '0';
		text_event(&read[seen->thread], &seen->event);
		tt_str_addc(&read[seen->thread], '\n');
	}
	for (int i = 0; i < THREADS; i++) {
		if (read[i].length)
			check_same(tt_str_text(&read[i]), tt_str_text(&heard[who[i]]));
		else
			TEST_FAIL("nothing of thread %d", i);
		tt_str_deinit(&read[i]);
	}
}

static void record_threads(const char *path)
{
	struct tt_capture_options options = {.path = path, .flush_ns = 1000000};
	struct tt_event_listener ear = {.emit = hear_own};
	struct tt_capture *capture;
	struct tt_source *source;
	pthread_t threads[THREADS];

	CHECK_OK(tt_capture_begin(&capture, &options));
	CHECK_OK(tt_event_attach(&ear));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, tell_thread, &heard[i]);
	for (int i = 0; i < 20; i++)
		CHECK_OK(tt_capture_flush(capture));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	tt_event_detach(&ear);
	CHECK_OK(tt_capture_stop(NULL, capture));
	CHECK_OK(path ? tt_source_open(&source, path) : tt_source_open_capture(&source, capture));
	CHECK_INT(tt_source_info(source)->threads, THREADS);
	CHECK_INT(tt_source_info(source)->lost, 0);
	check_threads(source);
	tt_source_close(source);
	tt_capture_free(capture);
	for (int i = 0; i < THREADS; i++)
		tt_str_deinit(&heard[i]);
}

TEST(eight_threads_tell_at_once)
{
	record_threads(test_path("threads.ttrace"));
	record_threads(NULL);
}

static void *tell_only(void *name)
{
	tell_scope(name);
	return NULL;
}

TEST(one_thread_alone_if_it_is_wanted)
{
	struct tt_capture_options options = {.this_thread = true};
	static char name[] = "elsewhere";
	struct tt_capture *capture;
	pthread_t thread;

	CHECK_OK(tt_capture_begin(&capture, &options));
	pthread_create(&thread, NULL, tell_only, name);
	pthread_join(thread, NULL);
	tell_scope("here");
	CHECK_INT(count_events(capture), 4);
	tt_capture_free(capture);
}

/* ---- processes -------------------------------------------------------------------------------------------- */

TEST(a_child_process_has_its_own_file)
{
	const char *directory = test_path("");
	struct tt_capture_options options = {.directory = directory};
	struct tt_capture *capture, *memory;
	char path[512];
	pid_t child;
	int state = 0;

	CHECK_OK(tt_capture_begin(&capture, &options));
	CHECK_OK(tt_capture_begin(&memory, &(struct tt_capture_options){0}));
	tell_scope("parent");
	child = fork();
	if (child == 0) {
		tell_scope("child");
		tell_scope("child");
		_exit(tt_capture_stop(NULL, capture) == TTNN_OK &&
				      tt_capture_stop(NULL, memory) == TTNN_STATE
			      ? 0
			      : 1);
	}
	waitpid(child, &state, 0);
	CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
	tell_scope("parent");
	CHECK_OK(tt_capture_stop(NULL, capture));
	CHECK_INT(count_events(memory), 8);
	tt_capture_free(capture);
	tt_capture_free(memory);
	for (int i = 0; i < 2; i++) {
		struct tt_source *source;

		snprintf(path, sizeof(path), "%s/%s-%ld.ttrace", directory,
			 program_invocation_short_name, (long)(i ? child : getpid()));
		CHECK_OK(tt_source_open(&source, path));
		CHECK_INT(tt_source_info(source)->pid, i ? child : getpid());
		CHECK_INT(tt_source_info(source)->operations, 2);
		CHECK_STR(tt_source_info(source)->names[i ? 0 : 1].name, i ? "child" : "parent");
		tt_source_close(source);
	}
}

/* ---- without memory --------------------------------------------------------------------------------------- */

static struct stage scenario_stage;

SCENARIO(recording_and_reading_while_memory_runs_out)
{
	struct tt_capture *capture;
	struct tt_source *source = NULL;
	struct tt_str lines = {0};
	tt_status status;

	if (!scenario_stage.random)
		set_stage(&scenario_stage, 3);
	TT_TRY(tt_capture_begin(&capture, &(struct tt_capture_options){0}));
	tell_many(&scenario_stage, 100);
	status = tt_capture_stop(NULL, capture);
	if (status == TTNN_OK)
		status = tt_source_open_capture(&source, capture);
	if (status == TTNN_OK) {
		status = read_lines(&lines, source);
		tt_source_close(source);
	}
	tt_str_deinit(&lines);
	tt_capture_free(capture);
	return status;
}
