/* trace.c: the public calls for recordings in files. */
#include <stdio.h>
#include <ttnn.h>

#include "base/mem.h"
#include "event/call.h"
#include "event/capture.h"

struct tt_trace {
	struct tt_capture *capture;
	bool stacks, calls;
};

enum ttnn_status ttnn_trace_begin(ttnn_trace **out, const struct ttnn_trace_options *options)
{
	struct tt_capture_options asked = {
		.path = options->path,
		.directory = options->directory,
		.this_thread = options->this_thread,
		.first_op = options->first_op,
		.op_count = options->op_count,
		.begin_mark = options->begin_mark,
		.end_mark = options->end_mark,
		.last_ops = options->last_ops,
		.flush_ns = (uint64_t)options->flush_ms * 1000000,
	};
	struct tt_trace *trace;
	tt_status status;

	if (!options->path == !options->directory)
		return tt_fail(TTNN_INVALID, "a trace wants a path or a directory, and not both");
	if (!*(options->path ? options->path : options->directory))
		return tt_fail(TTNN_INVALID, "the path of a trace is empty");
	trace = tt_calloc(1, sizeof(*trace));
	if (!trace)
		return tt_fail_nomem();
	status = tt_capture_begin(&trace->capture, &asked);
	if (status != TTNN_OK) {
		tt_free(trace);
		return status;
	}
	trace->stacks = options->stacks;
	trace->calls = options->calls;
	atomic_fetch_add(&tt_event_stacks.c, trace->stacks);
	atomic_fetch_add(&tt_event_stacks.python, trace->stacks);
	if (trace->calls)
		tt_event_want_calls(true);
	*out = trace;
	return TTNN_OK;
}

enum ttnn_status ttnn_trace_flush(ttnn_trace *trace)
{
	return tt_capture_flush(trace->capture);
}

enum ttnn_status ttnn_trace_end(struct ttnn_trace_summary *out, ttnn_trace *trace)
{
	struct tt_capture_summary summary;
	tt_status status = tt_capture_stop(&summary, trace->capture);

	atomic_fetch_sub(&tt_event_stacks.c, trace->stacks);
	atomic_fetch_sub(&tt_event_stacks.python, trace->stacks);
	if (trace->calls)
		tt_event_want_calls(false);
	if (out) {
		*out = (struct ttnn_trace_summary){summary.events, summary.operations, summary.lost,
						   summary.bytes, ""};
		if (summary.reason)
			snprintf(out->reason, sizeof(out->reason), "%s", summary.reason);
	}
	tt_capture_free(trace->capture);
	tt_free(trace);
	return status;
}

/* A function that a user tells of: open ones of this thread. */
static _Thread_local uint32_t open_functions;

enum ttnn_status ttnn_function_begin(const char *name)
{
	struct tt_event event = {.kind = TT_EVENT_SCOPE_BEGIN};
	const char *kept;

	if (!name)
		return tt_fail(TTNN_INVALID, "a function wants a name");
	kept = tt_event_intern(name);
	if (!kept)
		return tt_fail_nomem();
	open_functions++;
	event.begin = (struct tt_event_scope_begin){.kind = TT_SCOPE_HOST, .name = kept};
	if (tt_event_on())
		tt_event_emit(&event);
	return TTNN_OK;
}

enum ttnn_status ttnn_function_end(void)
{
	struct tt_event event = {.kind = TT_EVENT_SCOPE_END};

	if (!open_functions)
		return tt_fail(TTNN_STATE, "no function was begun on this thread that could end");
	open_functions--;
	if (tt_event_on())
		tt_event_emit(&event);
	return TTNN_OK;
}

void ttnn_mark(const char *text, const char *detail)
{
	struct tt_event event = {.kind = TT_EVENT_MARK, .mark = {text, detail}};

	if (tt_event_on())
		tt_event_emit(&event);
}
