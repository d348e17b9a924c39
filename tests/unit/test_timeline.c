/* Timelines: what the walker promises to formats, and the bytes of small ones. */
#include "profile/timeline.h"

#include "base/str.h"
#include "event/event.h"
#include "test.h"

/* ---- a program ----------------------------------------------------------------------------------------- */

#define EVENT(what, ...)                                                                           \
	(struct tt_event)                                                                          \
	{                                                                                          \
		.kind = TT_EVENT_##what, __VA_ARGS__                                               \
	}

/* Zones that cross calls, ends too many, a launch without an end, a device that nobody told of. */
static void feed(struct tt_walk *walk, uint32_t process)
{
	const struct tt_event_zone zone = {.name = "zone", .file = "f.c", .line = 3};
	const struct tt_event_buffer buffer = {.type = TTNN_L1, .size = 64, .real = true};
	const struct tt_event events[] = {
		EVENT(THREAD, .thread = {17, "main"}),
		EVENT(SCOPE_END, .end = {0}),
		EVENT(ZONE_END, .zone = {0}),
		EVENT(SCOPE_BEGIN, .begin = {.kind = TT_SCOPE_OPERATION, .name = "outer"}),
		EVENT(ZONE_BEGIN, .zone = zone),
		EVENT(SCOPE_BEGIN, .begin = {.kind = TT_SCOPE_DEVICE_OP, .name = "Device"}),
		EVENT(BUFFER_ALLOC, .buffer = buffer),
		EVENT(PROGRAM_LAUNCH, .launch = {.launch = 1}),
		EVENT(SCOPE_END, .end = {0}),
		EVENT(SCOPE_END, .end = {0}), /* the zone goes on */
		EVENT(PROGRAM_RUN, .run = {.launch = 2, .name = "Run", .whole = 5, .kernel = 4}),
		EVENT(ZONE_END, .zone = {.name = "late"}),
		EVENT(BUFFER_FREE, .buffer = buffer),
		EVENT(MARK, .mark = {.text = "post", .detail = "more"}),
		EVENT(MARK, .mark = {.text = "", .kind = TT_MARK_FRAME}),
		EVENT(ERROR, .error = {.message = "no \"way\"\n"}),
		EVENT(LOSS, .loss = {3, "full"}),
		EVENT(METAL_TRACE, .metal_trace = {.step = TT_METAL_TRACE_REPLAY, .session = 1}),
		EVENT(SCOPE_BEGIN, .begin = {.name = "never ends"}),
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		tt_walk_event(walk, process, &(struct tt_seen){.event = events[i], .op = 1},
			      1000 * (i + 1));
}

static void collect(void *context, const void *data, size_t size)
{
	tt_str_add(context, data, size);
}

static tt_status write_one(struct tt_str *text, const struct tt_timeline_format *format,
			   const struct tt_timeline_options *options, uint32_t processes)
{
	struct tt_timeline_out out = {collect, text};
	struct tt_timeline_totals totals;
	struct tt_timeline_writer *writer;
	struct tt_walk *walk;
	tt_status status, closed;

	TT_TRY(format->open(&writer, &out, options));
	status = tt_walk_new(&walk, format, writer, options);
	if (status == TTNN_OK) {
		for (uint32_t i = 0; i < processes; i++)
			tt_walk_process(walk, &(struct tt_walk_process){.program = "p",
									.pid = 5,
									.several = processes > 1});
		for (uint32_t i = 0; i < processes; i++)
			feed(walk, i);
		status = tt_walk_status(walk);
		tt_walk_end(walk, &totals);
		tt_walk_free(walk);
	}
	closed = format->close(writer, status == TTNN_OK);
	TT_TRY(status);
	TT_TRY(closed);
	return tt_str_status(text);
}

/* ---- a format that judges ------------------------------------------------------------------------------ */

static struct {
	uint32_t tracks, begins, ends, messages, counters, flows, arrows;
	uint32_t depth[64];
	uint64_t last[64];
	enum tt_track_kind kinds[64];
	uint64_t pids[64];
} judged;

static tt_status judge_open(struct tt_timeline_writer **w, const struct tt_timeline_out *out,
			    const struct tt_timeline_options *options)
{
	(void)out;
	(void)options;
	memset(&judged, 0, sizeof(judged));
	*w = NULL;
	return TTNN_OK;
}

static void judge_track(struct tt_timeline_writer *w, const struct tt_track *track)
{
	(void)w;
	CHECK_INT(track->id, ++judged.tracks);
	CHECK(track->id < 64 && track->parent < track->id && track->name);
	judged.kinds[track->id] = track->kind;
	judged.pids[track->id] = track->pid;
	if (track->kind == TT_TRACK_PROCESS || track->kind == TT_TRACK_DEVICE)
		for (uint32_t i = 1; i < track->id; i++)
			CHECK((judged.kinds[i] != TT_TRACK_PROCESS &&
			       judged.kinds[i] != TT_TRACK_DEVICE) ||
			      judged.pids[i] != track->pid);
	else
		CHECK(judged.pids[track->parent] == track->pid);
}

static void judge_time(uint32_t track, uint64_t time_ns)
{
	CHECK(track && track <= judged.tracks && judged.last[track] <= time_ns);
	judged.last[track] = time_ns;
}

static void judge_begin(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	(void)w;
	judge_time(zone->track, zone->time_ns);
	CHECK(zone->name != NULL);
	judged.depth[zone->track]++;
	judged.begins++;
	judged.arrows += zone->flow != 0;
}

static void judge_end(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
		      const char *name)
{
	(void)w;
	(void)name;
	judge_time(track, time_ns);
	CHECK(judged.depth[track]-- > 0);
	judged.ends++;
}

static void judge_message(struct tt_timeline_writer *w, const struct tt_message *message)
{
	(void)w;
	CHECK(judged.kinds[message->track] == TT_TRACK_THREAD && message->text);
	judged.messages++;
}

static void judge_counter(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
			  uint64_t value)
{
	(void)w;
	(void)time_ns;
	CHECK(judged.kinds[track] == TT_TRACK_BYTES);
	CHECK_INT(value, judged.counters++ % 2 ? 0 : 64);
}

static void judge_flow(struct tt_timeline_writer *w, uint64_t flow, uint32_t track,
		       uint64_t time_ns)
{
	(void)w;
	(void)time_ns;
	CHECK(flow && judged.depth[track]);
	judged.flows++;
}

static tt_status judge_close(struct tt_timeline_writer *w, bool whole)
{
	(void)w;
	(void)whole;
	return TTNN_OK;
}

static const struct tt_timeline_format judge = {"judge",       judge_open, judge_track,
						judge_begin,   judge_end,  judge_message,
						judge_counter, judge_flow, judge_close};

TEST(zones_nest_and_times_ascend)
{
	struct tt_timeline_options options = {0};
	struct tt_str text = {0};

	CHECK_OK(write_one(&text, &judge, &options, 2));
	CHECK_INT(judged.begins, judged.ends);
	for (uint32_t i = 1; i <= judged.tracks; i++)
		CHECK_INT(judged.depth[i], 0);
	/* outer, zone, Device, zone again, replay, never ends; two programs and the gap between them */
	CHECK_INT(judged.begins, 2 * (6 + 2 + 1));
	CHECK_INT(judged.messages, 2 * 4);
	CHECK_INT(judged.counters, 2 * 2);
	CHECK(judged.flows == 2 && judged.arrows == 2);
	options.levels = 1;
	CHECK_OK(write_one(&text, &judge, &options, 1));
	CHECK_INT(judged.begins, 3 + 2 + 1); /* the zone is inside of outer first */
	tt_str_deinit(&text);
}

TEST(chrome_is_written_so)
{
	struct tt_timeline_options options = {.levels = 1};
	struct tt_str text = {0};

	CHECK_OK(write_one(&text, &tt_timeline_chrome, &options, 1));
	CHECK(strstr(tt_str_text(&text),
		     "{\"ph\":\"B\",\"pid\":5,\"tid\":17,\"ts\":4.000,\"name\":\"outer\","
		     "\"args\":{\"call\":1}},\n"));
	CHECK(strstr(tt_str_text(&text), "\"name\":\"no \\\"way\\\"\\u000a\"}"));
	CHECK(strstr(tt_str_text(&text),
		     "{\"ph\":\"C\",\"pid\":900000,\"tid\":5,\"ts\":7.000,\"name\":\"L1 in use\","
		     "\"args\":{\"bytes\":64}}"));
	CHECK(strncmp(tt_str_text(&text), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", 40) ==
	      0);
	CHECK(tt_ends_with(tt_str_text(&text), "\n]}\n"));
	tt_str_deinit(&text);
}

TEST(perfetto_is_written_so)
{
	/* A packet: flags, the sequence, and the track of the process. */
	static const char first[] =
		"\x0a\x14\xe2\x03\x0d\x08\x01\x1a\x05\x08\x05\x32\x01p\x58\x03\x60";
	struct tt_timeline_options options = {0};
	struct tt_str text = {0};

	CHECK_OK(write_one(&text, &tt_timeline_perfetto, &options, 1));
	CHECK(text.length > 400 && memcmp(text.data, first, sizeof(first) - 1) == 0);
	tt_str_deinit(&text);
}

TEST(tracy_is_written_so)
{
	struct tt_timeline_options options = {0};
	struct tt_str text = {0};

	CHECK_OK(write_one(&text, &tt_timeline_tracy, &options, 1));
	CHECK(text.length > 200 && memcmp(text.data, "tZst", 4) == 0);
	CHECK(memcmp(text.data + 8, "\x28\xb5\x2f\xfd", 4) == 0);
	tt_str_deinit(&text);
}

static tt_status all_formats(uint32_t processes)
{
	static const struct tt_timeline_format *const formats[] = {
		&tt_timeline_chrome, &tt_timeline_perfetto, &tt_timeline_tracy};
	struct tt_timeline_options options = {.cores = true};
	tt_status status = TTNN_OK;

	for (size_t i = 0; status == TTNN_OK && i < 3; i++) {
		struct tt_str text = {0};

		status = write_one(&text, formats[i], &options, processes);
		tt_str_deinit(&text);
	}
	return status;
}

SCENARIO(formats_without_memory)
{
	return all_formats(2);
}
