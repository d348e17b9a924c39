/* traces of real operations: what listeners heard, twice the same, refusals and stacks */
#include "test.h"

#include <sys/wait.h>
#include <ttnn_ops.h>

#include "event_stage.h"

/* A small program: three operations, one of which is refused, on a device of its own. */
static void run_program(void)
{
	struct ttnn_shape shape = {2, {64, 96}}, wrong = {2, {64, 33}};
	struct ttnn_zeros_options options = {.dtype = ttnn_v_dtype(TTNN_BFLOAT16),
					     .layout = ttnn_v_layout(TTNN_TILE)};
	ttnn_tensor *a = NULL, *b = NULL, *sum = NULL, *none = NULL;
	ttnn_device *device;

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	options.device = ttnn_v_device(device);
	CHECK_OK(ttnn_zeros(&a, &shape, &options));
	CHECK_OK(ttnn_zeros(&b, &wrong, &options));
	ttnn_mark("sum", NULL);
	CHECK_OK(ttnn_add(&sum, a, ttnn_v_tensor(a), NULL));
	CHECK(ttnn_add(&none, a, ttnn_v_tensor(b), NULL) != TTNN_OK);
	ttnn_tensor_unref(sum);
	CHECK_OK(ttnn_relu(&sum, a, NULL));
	ttnn_tensor_unref(sum);
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
	ttnn_device_unref(device);
}

TEST(operations_are_recorded_as_they_were_told)
{
	struct ear ear = {.listener.emit = hear};
	struct tt_str read = {0};
	struct tt_capture *capture;
	struct tt_source *source;

	CHECK_OK(tt_capture_begin(&capture, &(struct tt_capture_options){0}));
	CHECK_OK(tt_event_attach(&ear.listener));
	run_program();
	tt_event_detach(&ear.listener);
	CHECK_OK(tt_source_open_capture(&source, capture));
	CHECK_OK(read_lines(&read, source));
	check_same(tt_str_text(&read), tt_str_text(&ear.lines));
	CHECK(tt_source_info(source)->counts[TT_EVENT_ERROR] == 1);
	CHECK(tt_source_info(source)->counts[TT_EVENT_PROGRAM_MEMORY] > 3);
	CHECK_INT(tt_source_info(source)->counts[TT_EVENT_SCOPE_BEGIN],
		  tt_source_info(source)->counts[TT_EVENT_SCOPE_END]);
	tt_source_close(source);
	tt_capture_free(capture);
	tt_str_deinit(&read);
	tt_str_deinit(&ear.lines);
}

/* In a process of its own, so that all numbers start anew. */
static void trace_in_child(const char *path)
{
	pid_t child = fork();
	int state = 0;

	if (child == 0) {
		ttnn_trace *trace;

		CHECK_OK(ttnn_trace_begin(&trace, &(struct ttnn_trace_options){.path = path}));
		run_program();
		CHECK_OK(ttnn_trace_end(NULL, trace));
		_exit(test_failures != 0);
	}
	waitpid(child, &state, 0);
	CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
}

TEST(two_runs_tell_the_same)
{
	const char *paths[] = {test_path("one.ttrace"), test_path("two.ttrace")};
	struct tt_str lines[2] = {0};

	for (int i = 0; i < 2; i++) {
		struct tt_source *source;

		trace_in_child(paths[i]);
		CHECK_OK(tt_source_open(&source, paths[i]));
		CHECK_OK(read_lines(&lines[i], source));
		CHECK(tt_source_info(source)->complete);
		tt_source_close(source);
	}
	check_same(tt_str_text(&lines[0]), tt_str_text(&lines[1]));
	CHECK(lines[0].length > 1000);
	for (int i = 0; i < 2; i++)
		tt_str_deinit(&lines[i]);
}

TEST(a_device_that_was_open_is_in_the_trace)
{
	struct tt_capture *capture;
	struct tt_source *source;
	const struct tt_seen *seen;
	ttnn_device *device;
	int opened = 0;

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n300"}));
	CHECK_OK(tt_capture_begin(&capture, &(struct tt_capture_options){0}));
	CHECK_OK(tt_source_open_capture(&source, capture));
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		if (seen->event.kind != TT_EVENT_DEVICE_OPEN)
			continue;
		opened++;
		CHECK_STR(seen->event.device.info->profile, "n300");
		CHECK(seen->event.device.row->l1_num_banks > 0);
	}
	CHECK_INT(opened, 2); /* the device and the mesh that it is a part of */
	tt_source_close(source);
	tt_capture_free(capture);
	ttnn_device_unref(device);
}

TEST(stacks_name_who_called)
{
	const char *path = test_path("stacks.ttrace");
	struct tt_source *source;
	const struct tt_seen *seen;
	struct tt_str text = {0};
	ttnn_trace *trace;
	size_t deepest = 0, stacks = 0, scopes = 0;

	CHECK_OK(ttnn_trace_begin(&trace,
				  &(struct ttnn_trace_options){.path = path, .stacks = true}));
	run_program();
	CHECK_OK(ttnn_trace_end(NULL, trace));
	CHECK_OK(tt_source_open(&source, path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		scopes += seen->event.kind == TT_EVENT_SCOPE_BEGIN;
		if (seen->event.kind != TT_EVENT_STACK)
			continue;
		stacks++;
		if (seen->event.stack.count > deepest)
			deepest = seen->event.stack.count;
		for (size_t i = 0; i < seen->event.stack.count; i++)
			tt_frame_text(&text, &seen->event.stack.frames[i]);
		/* The function that the user called, then the user's own. */
		if (!seen->event.stack.count)
			continue;
		CHECK(strncmp(seen->event.stack.frames[0].symbol, "ttnn_", 5) == 0);
		for (size_t i = 1; i < seen->event.stack.count; i++)
			CHECK(!seen->event.stack.frames[i].symbol ||
			      strncmp(seen->event.stack.frames[i].symbol, "tt", 2) != 0);
	}
	CHECK(deepest >= 3);
	CHECK_INT(stacks, scopes);
	CHECK(strstr(tt_str_text(&text), "test_trace") != NULL);
	tt_str_deinit(&text);
	tt_source_close(source);
}

/* A trace alone says which argument is which, also those that nobody gave. */
TEST(operations_tell_names_and_all_values)
{
	const char *path = test_path("named.ttrace");
	const struct tt_seen *seen;
	struct tt_source *source;
	ttnn_trace *trace;
	size_t adds = 0;

	CHECK_OK(ttnn_trace_begin(&trace, &(struct ttnn_trace_options){.path = path}));
	run_program();
	CHECK_OK(ttnn_trace_end(NULL, trace));
	CHECK_OK(tt_source_open(&source, path));
	while (tt_source_next(&seen, source) == TTNN_OK && seen) {
		const struct tt_event_scope_begin *begin = &seen->event.begin;

		if (seen->event.kind != TT_EVENT_SCOPE_BEGIN || begin->kind != TT_SCOPE_OPERATION)
			continue;
		CHECK(begin->schema && begin->schema->count == begin->arg_count);
		if (strcmp(begin->name, "ttnn::add") != 0)
			continue;
		adds++;
		CHECK(begin->arg_count > 6);
		CHECK_INT(begin->left_out, begin->arg_count - 2);
		CHECK_STR(begin->schema->fields[0].name, "input_tensor_a");
		CHECK(!begin->schema->fields[1].defaulted && begin->schema->fields[2].defaulted);
		CHECK_STR(begin->schema->fields[3].name, "dtype");
		CHECK_INT(begin->args[3].kind, TTNN_VALUE_NONE);
	}
	CHECK_INT(adds, 2);
	tt_source_close(source);
}

TEST(wrong_options_are_told)
{
	struct ttnn_trace_options both = {.path = "a", .directory = "b"};
	ttnn_trace *trace;

	CHECK_FAILS(ttnn_trace_begin(&trace, &both), TTNN_INVALID, "not both");
	CHECK_FAILS(ttnn_trace_begin(&trace, &(struct ttnn_trace_options){0}), TTNN_INVALID,
		    "a path or a directory");
}
