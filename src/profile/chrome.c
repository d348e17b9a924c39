/*
 * Timelines as Chrome's trace events (docs/formats/chrome.md): one JSON object a line, written as they come. Zones
 * are pairs of B and E: in a file they nest in the order they are written in, also where times are equal.
 */
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "profile/timeline.h"

#define REMEMBERED 512 /* arguments as JSON */

/* A track as events name it: ,"pid":1,"tid":2 */
struct row {
	char ids[56];
	char *name; /* of a counter, as JSON; else NULL */
};

struct remembered {
	uint64_t number; /* of struct tt_zone */
	struct tt_str json;
};

struct tt_timeline_writer {
	struct tt_outbuf out;
	TT_VEC(struct row) rows; /* by number of track - 1 */
	struct remembered known[REMEMBERED];
	struct tt_str text;
	bool any, failed;
};

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void add_escaped(struct tt_str *out, const char *text, size_t length)
{
	uint32_t code;
	char utf8[4];

	for (size_t at = 0; at < length;) {
		size_t size = tt_utf8_get(&code, text + at, length - at);

		at += size;
		if (code == '"' || code == '\\')
			tt_str_addf(out, "\\%c", (char)code);
		else if (code < 0x20)
			tt_str_addf(out, "\\u%04x", (unsigned)code);
		else
			tt_str_add(out, utf8, tt_utf8_put(utf8, code));
	}
}

/* A text with its quotes; most have nothing to escape. */
static void add_text(struct tt_str *out, const char *text)
{
	size_t length = strlen(text);
	bool plain = true;

	for (size_t i = 0; plain && i < length; i++)
		plain = (unsigned char)text[i] >= 0x20 && (unsigned char)text[i] < 0x7f &&
			text[i] != '"' && text[i] != '\\';
	tt_str_addc(out, '"');
	if (plain)
		tt_str_add(out, text, length);
	else
		add_escaped(out, text, length);
	tt_str_addc(out, '"');
}

static void add_key(struct tt_str *out, const char *name)
{
	if (out->length && out->data[out->length - 1] != '{')
		tt_str_addc(out, ',');
	add_text(out, name);
	tt_str_addc(out, ':');
}

static void add_args(struct tt_str *out, const struct tt_zone_arg *args, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		add_key(out, args[i].name);
		if (args[i].text)
			add_text(out, args[i].text);
		else
			tt_str_addu(out, args[i].number);
	}
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* Begins an event: its kind and track. */
static void open_event(struct tt_timeline_writer *w, const char *kind, uint32_t track)
{
	tt_outbuf_adds(&w->out, w->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	tt_outbuf_adds(&w->out, kind);
	tt_outbuf_add(&w->out, "\"", 1);
	tt_outbuf_adds(&w->out, w->rows.data[track - 1].ids);
	w->any = true;
}

/* Microseconds, to the nanosecond. */
static void add_time(struct tt_timeline_writer *w, uint64_t time_ns)
{
	char *at = tt_outbuf_room(&w->out, 2 * TT_FMT_MAX);
	unsigned rest = (unsigned)(time_ns % 1000);

	memcpy(at, ",\"ts\":", 6);
	at += 6;
	at += tt_fmt_u64(at, time_ns / 1000);
	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	*at++ = (char)('0' + rest / 10 % 10);
	*at++ = (char)('0' + rest % 10);
	tt_outbuf_end(&w->out, at);
}

static void add_member(struct tt_timeline_writer *w, const char *key, const char *text)
{
	tt_str_clear(&w->text);
	add_text(&w->text, text);
	tt_outbuf_adds(&w->out, key);
	tt_outbuf_add(&w->out, tt_str_text(&w->text), w->text.length);
}

static bool knows(const struct tt_timeline_writer *w, uint32_t track)
{
	return track && track <= w->rows.count && !w->failed;
}

/* Processes and threads are said by events of their own. */
static void say(struct tt_timeline_writer *w, uint32_t track, const char *what, const char *text)
{
	open_event(w, "M", track);
	add_member(w, ",\"name\":", what);
	add_member(w, ",\"args\":{\"name\":", text);
	tt_outbuf_adds(&w->out, "}}");
}

static void say_order(struct tt_timeline_writer *w, uint32_t track, const char *what,
		      uint32_t order)
{
	open_event(w, "M", track);
	add_member(w, ",\"name\":", what);
	tt_outbuf_adds(&w->out, ",\"args\":{\"sort_index\":");
	tt_outbuf_addu(&w->out, order);
	tt_outbuf_adds(&w->out, "}}");
}

static void emit_track(struct tt_timeline_writer *w, const struct tt_track *track)
{
	bool process = track->kind == TT_TRACK_PROCESS || track->kind == TT_TRACK_DEVICE;
	struct row *row = w->failed ? NULL : TT_VEC_PUSH(&w->rows);

	if (!row) {
		w->failed = true;
		return;
	}
	snprintf(row->ids, sizeof(row->ids), ",\"pid\":%llu,\"tid\":%llu",
		 (unsigned long long)track->pid, (unsigned long long)track->tid);
	row->name = NULL;
	if (track->kind == TT_TRACK_BYTES) {
		row->name = tt_strdup(track->name);
		w->failed |= !row->name;
		return;
	}
	say(w, track->id, process ? "process_name" : "thread_name", track->name);
	say_order(w, track->id, process ? "process_sort_index" : "thread_sort_index", track->order);
}

/* What is known of a zone as the members of an object; they are remembered where zones have the same. */
static const struct tt_str *args_of(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct remembered *known = &w->known[zone->args_number % REMEMBERED];

	if (!zone->args_number)
		known = &w->known[0];
	if (!zone->args_number || known->number != zone->args_number) {
		tt_str_clear(&known->json);
		add_args(&known->json, zone->args, zone->arg_count);
		known->number = zone->args_number;
		w->failed |= tt_str_status(&known->json) != TTNN_OK;
	}
	return &known->json;
}

static void add_zone_args(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	const struct tt_str *args = args_of(w, zone);
	const char *comma = "";

	if (!args->length && !zone->call && !zone->file)
		return;
	tt_outbuf_adds(&w->out, ",\"args\":{");
	if (zone->call) {
		tt_outbuf_adds(&w->out, "\"call\":");
		tt_outbuf_addu(&w->out, zone->call);
		comma = ",";
	}
	if (zone->file) {
		tt_str_clear(&w->text);
		tt_str_addf(&w->text, "%s\"source\":\"", comma);
		add_escaped(&w->text, zone->file, strlen(zone->file));
		tt_str_addf(&w->text, ":%u\"", zone->line);
		tt_outbuf_add(&w->out, tt_str_text(&w->text), w->text.length);
		comma = ",";
	}
	if (args->length)
		tt_outbuf_adds(&w->out, comma);
	tt_outbuf_add(&w->out, tt_str_text(args), args->length);
	tt_outbuf_add(&w->out, "}", 1);
}

static void emit_flow(struct tt_timeline_writer *w, uint64_t flow, uint32_t track, uint64_t time_ns)
{
	if (!knows(w, track))
		return;
	open_event(w, "s", track);
	add_time(w, time_ns);
	tt_outbuf_adds(&w->out, ",\"name\":\"launch\",\"cat\":\"launch\",\"id\":");
	tt_outbuf_addu(&w->out, flow);
	tt_outbuf_add(&w->out, "}", 1);
}

static void begin_zone(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	if (!knows(w, zone->track))
		return;
	open_event(w, "B", zone->track);
	add_time(w, zone->time_ns);
	add_member(w, ",\"name\":", zone->name);
	add_zone_args(w, zone);
	tt_outbuf_add(&w->out, "}", 1);
	if (!zone->flow)
		return;
	open_event(w, "f", zone->track);
	add_time(w, zone->time_ns);
	tt_outbuf_adds(&w->out, ",\"bp\":\"e\",\"name\":\"launch\",\"cat\":\"launch\",\"id\":");
	tt_outbuf_addu(&w->out, zone->flow);
	tt_outbuf_add(&w->out, "}", 1);
}

static void end_zone(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
		     const char *name)
{
	if (!knows(w, track))
		return;
	open_event(w, "E", track);
	add_time(w, time_ns);
	if (name) {
		add_member(w, ",\"args\":{\"name\":", name);
		tt_outbuf_add(&w->out, "}", 1);
	}
	tt_outbuf_add(&w->out, "}", 1);
}

static void emit_message(struct tt_timeline_writer *w, const struct tt_message *message)
{
	/* Signposts and rounds go across all tracks. */
	static const struct {
		const char *scope, *category;
	} kinds[] = {
		{"g", "signpost"}, {"t", "message"}, {"g", "frame"}, {"t", "error"}, {"p", "loss"}};

	if (!knows(w, message->track))
		return;
	open_event(w, "i", message->track);
	add_time(w, message->time_ns);
	add_member(w, ",\"s\":", kinds[message->kind].scope);
	add_member(w, ",\"cat\":", kinds[message->kind].category);
	add_member(w, ",\"name\":",
		   message->kind == TT_MESSAGE_FRAME && !*message->text ? "frame" : message->text);
	if (message->detail) {
		add_member(w, ",\"args\":{\"detail\":", message->detail);
		tt_outbuf_add(&w->out, "}", 1);
	}
	tt_outbuf_add(&w->out, "}", 1);
}

static void emit_counter(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
			 uint64_t value)
{
	if (!knows(w, track) || !w->rows.data[track - 1].name)
		return;
	open_event(w, "C", track);
	add_time(w, time_ns);
	add_member(w, ",\"name\":", w->rows.data[track - 1].name);
	tt_outbuf_adds(&w->out, ",\"args\":{\"bytes\":");
	tt_outbuf_addu(&w->out, value);
	tt_outbuf_adds(&w->out, "}}");
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static tt_status open_writer(struct tt_timeline_writer **w, const struct tt_timeline_out *out,
			     const struct tt_timeline_options *options)
{
	(void)options;
	*w = tt_calloc(1, sizeof(**w));
	if (!*w)
		return tt_fail_nomem();
	(*w)->out.out = *out;
	tt_outbuf_adds(&(*w)->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return TTNN_OK;
}

static tt_status close_writer(struct tt_timeline_writer *w, bool whole)
{
	bool failed = w->failed || tt_str_status(&w->text) != TTNN_OK;

	if (whole) {
		tt_outbuf_adds(&w->out, "\n]}\n");
		tt_outbuf_flush(&w->out);
	}
	for (size_t i = 0; i < w->rows.count; i++)
		tt_free(w->rows.data[i].name);
	for (size_t i = 0; i < REMEMBERED; i++)
		tt_str_deinit(&w->known[i].json);
	TT_VEC_DEINIT(&w->rows);
	tt_str_deinit(&w->text);
	tt_free(w);
	return failed ? tt_fail_nomem() : TTNN_OK;
}

const struct tt_timeline_format tt_timeline_chrome = {
	.name = "chrome",
	.open = open_writer,
	.track = emit_track,
	.begin = begin_zone,
	.end = end_zone,
	.message = emit_message,
	.counter = emit_counter,
	.flow = emit_flow,
	.close = close_writer,
};
