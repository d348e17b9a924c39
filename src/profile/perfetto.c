/*
 * Timelines as Perfetto's protobuf (docs/formats/perfetto.md): a packet for each begin, end, message and number, of
 * one sequence, written as they come. Names and texts are interned: told once, then called by number.
 */
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/timeline.h"

#define POINTERS 1024    /* names that are found by their address */
#define REMEMBERED 512   /* arguments as bytes */
#define TEXTS_MOST 65536 /* texts of arguments that have numbers; others are written out */
#define PACKETS_GLOBAL (UINT64_C(1) << 40) /* uuids of tracks that are not the walker's */

/* Fields of Perfetto's messages. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60
};
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_ORDERING = 11,
	TRACK_RANK = 12
};
enum {
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	UNIT = 3
};
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_FLOW = 47,
	EVENT_LAST_FLOW = 48
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_TEXT = 6,
	ANNOTATION_TEXT_IID = 17
};
enum { INTERNED_NAMES = 2, INTERNED_ANNOTATIONS = 3, INTERNED_TEXTS = 29 };
enum { ENTRY_IID = 1, ENTRY_TEXT = 2 };
enum { UNIT_BYTES = 3, ORDER_EXPLICIT = 3, FLAG_CLEARED = 1, SEQUENCE = 1 };

/* Tracks across all processes. */
enum { TRACK_SIGNPOSTS, TRACK_FRAMES, TRACKS_GLOBAL };

struct by_address {
	const char *name;
	uint64_t iid;
};

struct remembered {
	uint64_t number; /* of struct tt_zone */
	struct tt_str bytes;
};

struct tt_timeline_writer {
	struct tt_outbuf out;
	struct tt_str packet, event, part, interned;
	struct tt_map names, keys, texts; /* → iid */
	struct by_address addresses[POINTERS];
	struct remembered known[REMEMBERED];
	bool globals[TRACKS_GLOBAL]; /* those that were told */
	bool begun, failed;
};

/* ---- protobuf ------------------------------------------------------------------------------------------ */

static void add_varint(struct tt_str *out, uint64_t number)
{
	char *at = tt_str_room(out, 10);

	if (!at)
		return;
	while (number >= 0x80) {
		*at++ = (char)(number | 0x80);
		number >>= 7;
	}
	*at++ = (char)number;
	tt_str_end(out, at);
}

static void add_number(struct tt_str *out, unsigned field, uint64_t number)
{
	add_varint(out, (uint64_t)field << 3);
	add_varint(out, number);
}

static void add_fixed(struct tt_str *out, unsigned field, uint64_t number)
{
	char bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (char)(number >> 8 * i);
	add_varint(out, (uint64_t)field << 3 | 1);
	tt_str_add(out, bytes, 8);
}

static void add_bytes(struct tt_str *out, unsigned field, const char *bytes, size_t length)
{
	add_varint(out, (uint64_t)field << 3 | 2);
	add_varint(out, length);
	tt_str_add(out, bytes, length);
}

static void add_str(struct tt_str *out, unsigned field, const struct tt_str *bytes)
{
	add_bytes(out, field, tt_str_text(bytes), bytes->length);
}

static void add_text(struct tt_str *out, unsigned field, const char *text)
{
	add_bytes(out, field, text, strlen(text));
}

/* ---- interning ----------------------------------------------------------------------------------------- */

/* The number of a text, which goes with the next packet if it is new; 0: there is none. */
static uint64_t intern(struct tt_timeline_writer *w, struct tt_map *map, unsigned field,
		       const char *text)
{
	struct tt_str entry = {0};
	struct tt_map_entry *found;
	bool added;

	if (map->count >= TEXTS_MOST && map == &w->texts) {
		found = tt_map_finds(map, text);
		return found ? found->number : 0;
	}
	found = tt_map_add(map, text, strlen(text), &added);
	if (!found) {
		w->failed = true;
		return 0;
	}
	if (!added)
		return found->number;
	found->number = map->count;
	add_number(&entry, ENTRY_IID, found->number);
	add_text(&entry, ENTRY_TEXT, text);
	add_str(&w->interned, field, &entry);
	w->failed |= tt_str_status(&entry) != TTNN_OK;
	tt_str_deinit(&entry);
	return map->count;
}

static uint64_t name_of(struct tt_timeline_writer *w, const char *name)
{
	struct by_address *place = &w->addresses[((uintptr_t)name >> 3) % POINTERS];

	if (place->name != name) {
		place->iid = intern(w, &w->names, INTERNED_NAMES, name);
		place->name = name;
	}
	return place->iid;
}

static void annotate(struct tt_timeline_writer *w, struct tt_str *out,
		     const struct tt_zone_arg *arg)
{
	uint64_t name = intern(w, &w->keys, INTERNED_ANNOTATIONS, arg->name), text = 0;

	if (arg->text)
		text = intern(w, &w->texts, INTERNED_TEXTS, arg->text);
	tt_str_clear(&w->part);
	add_number(&w->part, ANNOTATION_NAME_IID, name);
	if (text)
		add_number(&w->part, ANNOTATION_TEXT_IID, text);
	else if (arg->text)
		add_text(&w->part, ANNOTATION_TEXT, arg->text);
	else
		add_number(&w->part, ANNOTATION_UINT, arg->number);
	add_str(out, EVENT_ANNOTATION, &w->part);
}

static void annotate_all(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct remembered *known = &w->known[zone->args_number % REMEMBERED];

	if (!zone->args_number) {
		for (size_t i = 0; i < zone->arg_count; i++)
			annotate(w, &w->event, &zone->args[i]);
		return;
	}
	if (known->number != zone->args_number) {
		tt_str_clear(&known->bytes);
		for (size_t i = 0; i < zone->arg_count; i++)
			annotate(w, &known->bytes, &zone->args[i]);
		known->number = zone->args_number;
		w->failed |= tt_str_status(&known->bytes) != TTNN_OK;
	}
	tt_str_add(&w->event, tt_str_text(&known->bytes), known->bytes.length);
}

/* ---- packets ------------------------------------------------------------------------------------------- */

/* Writes the packet that was made. */
static void write_packet(struct tt_timeline_writer *w)
{
	struct tt_str *head = &w->part;

	if (!w->begun)
		add_number(&w->packet, PACKET_FLAGS, FLAG_CLEARED);
	w->begun = true;
	add_number(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	tt_str_clear(head);
	add_varint(head, TRACE_PACKET << 3 | 2);
	add_varint(head, w->packet.length);
	tt_outbuf_add(&w->out, tt_str_text(head), head->length);
	tt_outbuf_add(&w->out, tt_str_text(&w->packet), w->packet.length);
}

static void open_event(struct tt_timeline_writer *w, unsigned type, uint64_t track)
{
	tt_str_clear(&w->event);
	add_number(&w->event, EVENT_TYPE, type);
	add_number(&w->event, EVENT_TRACK, track);
}

static void close_event(struct tt_timeline_writer *w, uint64_t time_ns)
{
	tt_str_clear(&w->packet);
	add_number(&w->packet, PACKET_TIMESTAMP, time_ns);
	if (w->interned.length) {
		add_str(&w->packet, PACKET_INTERNED, &w->interned);
		tt_str_clear(&w->interned);
	}
	add_str(&w->packet, PACKET_EVENT, &w->event);
	write_packet(w);
}

static void write_track(struct tt_timeline_writer *w, const struct tt_str *track)
{
	tt_str_clear(&w->packet);
	add_str(&w->packet, PACKET_TRACK, track);
	write_packet(w);
}

static void emit_track(struct tt_timeline_writer *w, const struct tt_track *track)
{
	struct tt_str *out = &w->event;

	tt_str_clear(out);
	tt_str_clear(&w->part);
	add_number(out, TRACK_UUID, track->id);
	switch (track->kind) {
	case TT_TRACK_PROCESS:
	case TT_TRACK_DEVICE:
		add_number(&w->part, PROCESS_PID, track->pid);
		add_text(&w->part, PROCESS_NAME, track->name);
		add_str(out, TRACK_PROCESS, &w->part);
		add_number(out, TRACK_ORDERING, ORDER_EXPLICIT);
		break;
	case TT_TRACK_THREAD:
		add_number(&w->part, THREAD_PID, track->pid);
		add_number(&w->part, THREAD_TID, track->tid);
		add_text(&w->part, THREAD_NAME, track->name);
		add_str(out, TRACK_THREAD, &w->part);
		break;
	case TT_TRACK_BYTES:
		add_number(&w->part, UNIT, UNIT_BYTES);
		add_str(out, TRACK_COUNTER, &w->part);
		add_text(out, TRACK_NAME, track->name);
		break;
	default:
		add_text(out, TRACK_NAME, track->name);
		break;
	}
	if (track->parent)
		add_number(out, TRACK_PARENT, track->parent);
	add_number(out, TRACK_RANK, track->order);
	write_track(w, out);
}

static void begin_zone(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	uint64_t name = name_of(w, zone->name);
	char source[512];

	open_event(w, TYPE_BEGIN, zone->track);
	add_number(&w->event, EVENT_NAME_IID, name);
	if (zone->call)
		annotate(w, &w->event, &(struct tt_zone_arg){"call", NULL, zone->call});
	if (zone->file) {
		snprintf(source, sizeof(source), "%s:%u", zone->file, zone->line);
		annotate(w, &w->event, &(struct tt_zone_arg){"source", source, 0});
	}
	annotate_all(w, zone);
	if (zone->flow)
		add_fixed(&w->event, EVENT_LAST_FLOW, zone->flow);
	close_event(w, zone->time_ns);
}

static void end_zone(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
		     const char *name)
{
	open_event(w, TYPE_END, track);
	if (name)
		annotate(w, &w->event, &(struct tt_zone_arg){"name", name, 0});
	close_event(w, time_ns);
}

/* Only what is an event itself can have an arrow: so the launch is one. */
static void emit_flow(struct tt_timeline_writer *w, uint64_t flow, uint32_t track, uint64_t time_ns)
{
	uint64_t name = intern(w, &w->names, INTERNED_NAMES, "launch");

	open_event(w, TYPE_INSTANT, track);
	add_number(&w->event, EVENT_NAME_IID, name);
	add_fixed(&w->event, EVENT_FLOW, flow);
	close_event(w, time_ns);
}

/* A track that stands above all processes. */
static uint64_t global_track(struct tt_timeline_writer *w, unsigned which)
{
	static const char *const names[] = {"signposts", "frames"};
	uint64_t uuid = PACKETS_GLOBAL + which;

	if (w->globals[which])
		return uuid;
	w->globals[which] = true;
	tt_str_clear(&w->event);
	add_number(&w->event, TRACK_UUID, uuid);
	add_text(&w->event, TRACK_NAME, names[which]);
	write_track(w, &w->event);
	return uuid;
}

static void emit_message(struct tt_timeline_writer *w, const struct tt_message *message)
{
	static const char *const kinds[] = {"signpost", "message", "frame", "error", "loss"};
	uint64_t track = message->track;

	if (message->kind == TT_MESSAGE_SIGNPOST)
		track = global_track(w, TRACK_SIGNPOSTS);
	else if (message->kind == TT_MESSAGE_FRAME)
		track = global_track(w, TRACK_FRAMES);
	open_event(w, TYPE_INSTANT, track);
	add_text(&w->event, EVENT_NAME,
		 message->kind == TT_MESSAGE_FRAME && !*message->text ? "frame" : message->text);
	annotate(w, &w->event, &(struct tt_zone_arg){"kind", kinds[message->kind], 0});
	if (message->detail)
		annotate(w, &w->event, &(struct tt_zone_arg){"detail", message->detail, 0});
	close_event(w, message->time_ns);
}

static void emit_counter(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
			 uint64_t value)
{
	open_event(w, TYPE_COUNTER, track);
	add_number(&w->event, EVENT_COUNTER, value);
	close_event(w, time_ns);
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
	return TTNN_OK;
}

static tt_status close_writer(struct tt_timeline_writer *w, bool whole)
{
	struct tt_str *strings[] = {&w->packet, &w->event, &w->part, &w->interned};
	bool failed = w->failed;

	if (whole)
		tt_outbuf_flush(&w->out);
	for (size_t i = 0; i < TT_COUNT(strings); i++) {
		failed |= tt_str_status(strings[i]) != TTNN_OK;
		tt_str_deinit(strings[i]);
	}
	for (size_t i = 0; i < REMEMBERED; i++)
		tt_str_deinit(&w->known[i].bytes);
	tt_map_deinit(&w->names);
	tt_map_deinit(&w->keys);
	tt_map_deinit(&w->texts);
	tt_free(w);
	return failed ? tt_fail_nomem() : TTNN_OK;
}

const struct tt_timeline_format tt_timeline_perfetto = {
	.name = "perfetto",
	.open = open_writer,
	.track = emit_track,
	.begin = begin_zone,
	.end = end_zone,
	.message = emit_message,
	.counter = emit_counter,
	.flow = emit_flow,
	.close = close_writer,
};
