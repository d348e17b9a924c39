/* trace.c: the public calls for recordings in files. */
#include <stdio.h>
#include <string.h>
#include <ttnn.h>
#include <ttnn_frontend.h>
#include <ttnn_zones.h>

#include "base/mem.h"
#include "event/call.h"
#include "event/capture.h"

struct tt_trace {
	struct tt_capture *capture;
	bool stacks, calls, profile;
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
	trace->profile = options->profile;
	atomic_fetch_add(&tt_event_profiles, trace->profile);
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
	atomic_fetch_sub(&tt_event_profiles, trace->profile);
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

/* Tells one event; what is not of its kind is left as it is: clearing it all takes longer than the rest. */
#define EMIT(kind_, member, ...)                                                                   \
	do {                                                                                       \
		struct tt_event event;                                                             \
		event.kind = kind_;                                                                \
		event.ticks = 0;                                                                   \
		event.member = __VA_ARGS__;                                                        \
		tt_event_emit(&event);                                                             \
	} while (0)

void ttnn_mark(const char *text, const char *detail)
{
	if (tt_event_on())
		EMIT(TT_EVENT_MARK, mark, (struct tt_event_mark){.text = text, .detail = detail});
}

/* ---- what profilers are told ----------------------------------------------------------------------- */

/* Headers that messages of the compiler's runtime begin with, each before a ';'. */
static const char *const headers[] = {"MLIR_OP_LOCATION", "MLIR_CONST_EVAL_OP",
				      "MLIR_PROGRAM_METADATA"};

/* "`TT_SIGNPOST: header[\nmessage]`" */
static bool cut_signpost(char *text, struct tt_event_mark *mark)
{
	static const char begin[] = "`TT_SIGNPOST: ";
	size_t length = strlen(text);
	char *detail;

	if (length < sizeof(begin) || strncmp(text, begin, sizeof(begin) - 1) != 0 ||
	    text[length - 1] != '`')
		return false;
	text[length - 1] = '\0';
	mark->text = text + sizeof(begin) - 1;
	detail = strchr(mark->text, '\n');
	if (detail)
		*detail++ = '\0';
	mark->detail = detail;
	mark->kind = TT_MARK_SIGNPOST;
	return true;
}

static bool cut_header(char *text, struct tt_event_mark *mark)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		size_t length = strlen(headers[i]);

		if (strncmp(text, headers[i], length) != 0 || text[length] != ';')
			continue;
		text[length] = '\0';
		mark->text = text;
		mark->detail = text + length + 1;
		mark->kind = TT_MARK_SIGNPOST;
		return true;
	}
	return false;
}

void ttnn_message(const char *text, uint32_t color)
{
	struct tt_event event = {.kind = TT_EVENT_MARK};
	char *copy;

	if (!tt_event_on() || !text)
		return;
	copy = tt_strdup(text);
	event.mark = (struct tt_event_mark){.text = text, .kind = TT_MARK_MESSAGE, .color = color};
	if (copy && !cut_signpost(copy, &event.mark))
		cut_header(copy, &event.mark);
	tt_event_emit(&event);
	tt_free(copy);
}

void ttnn_frame(void)
{
	if (tt_event_on())
		EMIT(TT_EVENT_MARK, mark,
		     (struct tt_event_mark){.text = "", .kind = TT_MARK_FRAME});
}

void ttnn_zone_begin(const struct ttnn_zone *zone)
{
	if (tt_event_on())
		EMIT(TT_EVENT_ZONE_BEGIN, zone,
		     (struct tt_event_zone){zone->name, zone->function, zone->file, zone->line,
					    zone->color});
}

void ttnn_zone_end_as(const char *name, uint32_t color)
{
	if (tt_event_on())
		EMIT(TT_EVENT_ZONE_END, zone, (struct tt_event_zone){.name = name, .color = color});
}

void ttnn_zone_end(void)
{
	ttnn_zone_end_as(NULL, 0);
}

bool ttnn_places_heard(void)
{
	return tt_event_profile_on() && tt_event_on();
}

void ttnn_emit_place(const char *file, const char *function, uint32_t line)
{
	if (tt_event_on())
		EMIT(TT_EVENT_PLACE, place, (struct tt_event_place){file, function, line});
}

const char *ttnn_intern(const char *text)
{
	return tt_event_intern(text);
}
