/*
 * Timelines as files of Tracy 0.11 and 0.10 (docs/formats/tracy.md). The file has its strings and locations before
 * the zones that use them, so zones, messages and plots are put aside as they come, as the bytes they will be, and
 * the file is written at the end.
 *
 * Threads are Tracy's threads, chips its GPU contexts with a lane for programs (and one for each core), counters of
 * bytes its plots. Gaps are seen between programs and not written.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "profile/tracy_file.h"

#define LOCATIONS_MOST 32767  /* that the file can have */
#define STRINGS_MOST 16777213 /* likewise: numbers have 24 bits */
#define TEXTS_MOST 262144     /* texts that are looked up: later ones are written each time */
#define LANE_TID UINT64_C(0x700000000)

static void put_aside(struct tt_aside *aside, const struct tt_tracy_bytes *bytes)
{
	tt_aside_add(aside, bytes->data, bytes->length);
}

/* ---- strings and locations ----------------------------------------------------------------------------- */

static uint32_t new_string(struct tt_timeline_writer *w, const char *text)
{
	struct tt_tracy_bytes head = {.length = 0};
	size_t length = strlen(text);

	if (w->string_count >= STRINGS_MOST)
		return TT_TRACY_NO_STRING;
	tt_tracy_put(&head, w->string_count + 1, 8);
	tt_tracy_put(&head, length, 8);
	put_aside(&w->strings, &head);
	tt_aside_add(&w->strings, text, length);
	return w->string_count++;
}

/* The string of a text; TT_TRACY_NO_STRING when there are too many, or it is NULL. */
static uint32_t string_of(struct tt_timeline_writer *w, const char *text)
{
	struct tt_map_entry *entry;
	bool added = false;

	if (!text)
		return TT_TRACY_NO_STRING;
	if (w->texts.count >= TEXTS_MOST) {
		entry = tt_map_finds(&w->texts, text);
		return entry ? (uint32_t)entry->number : new_string(w, text);
	}
	entry = tt_map_add(&w->texts, text, strlen(text), &added);
	if (!entry) {
		w->failed = true;
		return TT_TRACY_NO_STRING;
	}
	if (added)
		entry->number = new_string(w, text);
	return (uint32_t)entry->number;
}

static uint32_t add_location(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct tt_tracy_location *location = TT_VEC_PUSH(&w->locations);

	if (!location) {
		w->failed = true;
		return 0;
	}
	*location = (struct tt_tracy_location){
		.name = string_of(w, zone->name),
		.function = string_of(w, zone->function ? zone->function : zone->name),
		.file = string_of(w, zone->file ? zone->file : ""),
		.line = zone->line,
		.color = zone->color};
	return (uint32_t)w->locations.count - 1;
}

static uint32_t find_location(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct tt_zone plain = {.name = zone->name};
	struct tt_map_entry *entry;
	bool added;

	tt_str_clear(&w->text);
	tt_str_addf(&w->text, "%s\n%s\n%u %x", zone->name, zone->file ? zone->file : "", zone->line,
		    zone->color);
	if (w->locations.count >= LOCATIONS_MOST - 1) {
		entry = tt_map_finds(&w->places, tt_str_text(&w->text));
		return entry ? (uint32_t)entry->number : LOCATIONS_MOST - 1;
	}
	entry = tt_map_add(&w->places, tt_str_text(&w->text), w->text.length, &added);
	if (!entry) {
		w->failed = true;
		return 0;
	}
	if (added) {
		entry->number = add_location(w, zone);
		if (w->locations.count == LOCATIONS_MOST - 1) { /* the last is for all others */
			plain.name = "(more locations than a file can have)";
			add_location(w, &plain);
		}
	}
	return (uint32_t)entry->number;
}

static uint32_t location_of(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct tt_tracy_by_address *place =
		&w->addresses[((uintptr_t)zone->name >> 3) % TT_TRACY_ADDRESSES];

	if (zone->file || zone->color)
		return find_location(w, zone);
	if (place->name != zone->name) {
		place->location = find_location(w, zone);
		place->name = zone->name;
	}
	return place->location;
}

/* The text of a zone, which is what its call was given: its place among the extras; 0: none. */
static uint32_t extra_of(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct tt_tracy_remembered *known = &w->known[zone->args_number % TT_TRACY_REMEMBERED];
	struct tt_tracy_bytes extra = {.length = 0};
	uint32_t text;

	if (!zone->arg_count)
		return 0;
	if (zone->args_number && known->number == zone->args_number)
		return known->extra;
	tt_str_clear(&w->text);
	for (size_t i = 0; i < zone->arg_count; i++) {
		tt_str_addf(&w->text, "%s%s: ", i ? "\n" : "", zone->args[i].name);
		if (zone->args[i].text)
			tt_str_adds(&w->text, zone->args[i].text);
		else
			tt_str_addu(&w->text, zone->args[i].number);
	}
	text = string_of(w, tt_str_text(&w->text));
	if (text == TT_TRACY_NO_STRING)
		return 0;
	tt_tracy_put(&extra, 0, 3);
	tt_tracy_put(&extra, text + 1, 3);
	tt_tracy_put(&extra, 0, 6);
	put_aside(&w->extras, &extra);
	w->extra_count++;
	if (zone->args_number)
		*known = (struct tt_tracy_remembered){zone->args_number, w->extra_count};
	return w->extra_count;
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

static struct tt_tracy_lane *lane_of(const struct tt_timeline_writer *w, uint32_t track)
{
	return track && track <= w->lanes.count ? w->lanes.data[track - 1] : NULL;
}

/* A number that no other thread of the file has. */
static void add_thread(struct tt_timeline_writer *w, struct tt_tracy_lane *lane, uint64_t tid,
		       uint32_t track)
{
	uint64_t *place;

	for (size_t i = 0; i < w->threads.count; i++)
		if (w->threads.data[i] == tid)
			tid = LANE_TID + track;
	lane->tid = tid;
	lane->index = (uint16_t)w->threads.count;
	place = TT_VEC_PUSH(&w->threads);
	if (place)
		*place = tid;
	else
		w->failed = true;
}

static void emit_track(struct tt_timeline_writer *w, const struct tt_track *track)
{
	struct tt_tracy_lane *lane = tt_calloc(1, sizeof(*lane)), **place = TT_VEC_PUSH(&w->lanes);
	const struct tt_tracy_lane *parent;

	if (!lane || !place || w->failed) { /* lanes are found by the numbers of tracks */
		w->lanes.count -= place != NULL;
		tt_free(lane);
		w->failed = true;
		return;
	}
	*place = lane;
	lane->kind = track->kind;
	lane->parent = track->parent;
	parent = lane_of(w, track->parent);
	tt_str_clear(&w->text);
	if (track->kind == TT_TRACK_PROCESS && !w->program[0]) {
		snprintf(w->program, sizeof(w->program), "%s", track->name);
		w->pid = track->number;
		w->began_ns = track->began_ns;
	}
	if (track->kind == TT_TRACK_BYTES && parent)
		tt_str_addf(&w->text, "Device %u: ", (unsigned)parent->tid);
	tt_str_adds(&w->text, track->name);
	if (track->kind == TT_TRACK_DEVICE)
		lane->tid = track->number;
	lane->name = string_of(w, tt_str_text(&w->text));
	if (track->kind == TT_TRACK_THREAD)
		add_thread(w, lane, track->tid, track->id);
	else if (track->kind == TT_TRACK_OPS || track->kind == TT_TRACK_CORE)
		add_thread(w, lane, LANE_TID + track->id, track->id);
}

/* ---- what happens -------------------------------------------------------------------------------------- */

static uint64_t step(uint64_t *last, uint64_t time_ns)
{
	uint64_t by = time_ns - *last;

	*last = time_ns;
	return by;
}

static void begin_on_chip(struct tt_timeline_writer *w, struct tt_tracy_lane *lane,
			  const struct tt_zone *zone)
{
	uint64_t by = step(&lane->last_ns, zone->time_ns);
	struct tt_tracy_lane *device = lane_of(w, lane->parent);
	struct tt_tracy_bytes bytes = {.length = 0};

	lane->location = location_of(w, zone);
	if (w->failed)
		return;
	w->locations.data[lane->location].gpu_zones++;
	tt_tracy_put(&bytes, by, 8);
	tt_tracy_put(&bytes, by, 8);
	tt_tracy_put(&bytes, (uint64_t)(-(int64_t)lane->location - 1), 2);
	tt_tracy_put(&bytes, 0, 3);
	tt_tracy_put(&bytes, lane->index, 2);
	tt_tracy_put(&bytes, 0, 8);
	put_aside(&lane->zones, &bytes);
	lane->top++;
	if (device)
		device->count++;
	w->gpu_zones++;
}

static void begin_on_thread(struct tt_timeline_writer *w, struct tt_tracy_lane *lane,
			    const struct tt_zone *zone)
{
	uint64_t by = step(&lane->last_ns, zone->time_ns);
	uint32_t location = location_of(w, zone), extra = extra_of(w, zone);
	struct tt_tracy_bytes bytes = {.length = 0};
	struct tt_tracy_open_zone *open;

	if (w->failed)
		return;
	w->locations.data[location].zones++;
	if (!lane->open.count)
		lane->top++;
	else if (lane->open.data[lane->open.count - 1].children++ == 0)
		w->children++;
	open = TT_VEC_PUSH(&lane->open);
	if (!open) {
		w->failed = true;
		return;
	}
	*open = (struct tt_tracy_open_zone){.at = tt_aside_size(&lane->zones) + 14};
	tt_tracy_put(&bytes, (uint64_t)(-(int64_t)location - 1), 2);
	tt_tracy_put(&bytes, by, 8);
	tt_tracy_put(&bytes, extra, 4);
	tt_tracy_put(&bytes, 0, 4); /* children: set when the zone ends */
	put_aside(&lane->zones, &bytes);
	lane->count++;
}

static void begin_zone(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct tt_tracy_lane *lane = lane_of(w, zone->track);

	if (w->failed || !lane)
		return;
	if (lane->kind == TT_TRACK_OPS || lane->kind == TT_TRACK_CORE)
		begin_on_chip(w, lane, zone);
	else if (lane->kind == TT_TRACK_THREAD)
		begin_on_thread(w, lane, zone);
}

/* The name of a zone that is known at its end; its place among the extras. */
static uint32_t name_extra(struct tt_timeline_writer *w, const char *name)
{
	uint32_t string = string_of(w, name);
	struct tt_tracy_bytes extra = {.length = 0};

	if (string == TT_TRACY_NO_STRING)
		return 0;
	tt_tracy_put(&extra, 0, 6);
	tt_tracy_put(&extra, string + 1, 3);
	tt_tracy_put(&extra, 0, 3);
	put_aside(&w->extras, &extra);
	return ++w->extra_count;
}

static void end_zone(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
		     const char *name)
{
	struct tt_tracy_lane *lane = lane_of(w, track);
	struct tt_tracy_bytes bytes = {.length = 0};
	uint64_t by;

	if (w->failed || !lane || lane->kind == TT_TRACK_GAPS)
		return;
	if (w->last_ns < time_ns)
		w->last_ns = time_ns;
	by = step(&lane->last_ns, time_ns);
	tt_tracy_put(&bytes, by, 8);
	if (lane->kind == TT_TRACK_THREAD) {
		const struct tt_tracy_open_zone *open = &lane->open.data[--lane->open.count];

		if (open->children)
			tt_aside_set(&lane->zones, open->at, open->children);
		if (name)
			tt_aside_set(&lane->zones, open->at - 4, name_extra(w, name));
	} else {
		tt_tracy_put(&bytes, by, 8);
	}
	put_aside(&lane->zones, &bytes);
}

static void emit_frame(struct tt_timeline_writer *w, uint64_t time_ns)
{
	struct tt_tracy_bytes bytes = {.length = 0};

	tt_tracy_put(&bytes, step(&w->frame_ns, time_ns), 8);
	tt_tracy_put(&bytes, UINT32_MAX, 4);
	put_aside(&w->frames, &bytes);
	w->frame_count++;
}

/* The text of a message as upstream's tools know it. */
static const char *message_text(struct tt_timeline_writer *w, const struct tt_message *message)
{
	tt_str_clear(&w->text);
	if (message->kind != TT_MESSAGE_SIGNPOST)
		tt_str_adds(&w->text, message->text);
	else if (strncmp(message->text, "MLIR_", 5) == 0)
		tt_str_addf(&w->text, "%s;%s", message->text,
			    message->detail ? message->detail : "");
	else
		tt_str_addf(&w->text, "`TT_SIGNPOST: %s%s%s`", message->text,
			    message->detail ? "\n" : "", message->detail ? message->detail : "");
	return tt_str_text(&w->text);
}

static void emit_message(struct tt_timeline_writer *w, const struct tt_message *message)
{
	struct tt_tracy_lane *lane = lane_of(w, message->track);
	struct tt_tracy_bytes bytes = {.length = 0}, mine = {.length = 0};
	uint32_t text, color = message->color;

	if (w->failed || !lane)
		return;
	if (w->last_ns < message->time_ns)
		w->last_ns = message->time_ns;
	if (message->kind == TT_MESSAGE_FRAME) {
		emit_frame(w, message->time_ns);
		return;
	}
	if (!color)
		color = message->kind == TT_MESSAGE_ERROR || message->kind == TT_MESSAGE_LOSS
				? 0xff4040
				: 0xffffff;
	text = string_of(w, message_text(w, message));
	if (text == TT_TRACY_NO_STRING)
		return;
	tt_tracy_put(&bytes, ++w->message_count, 8);
	tt_tracy_put(&bytes,
		     step(&w->message_ns,
			  message->time_ns > w->message_ns ? message->time_ns : w->message_ns),
		     8);
	tt_tracy_put(&bytes, text, 8);
	tt_tracy_put(&bytes, 3, 1);
	tt_tracy_put(&bytes, color | 0xff000000, 4);
	tt_tracy_put(&bytes, 0, 3);
	put_aside(&w->messages, &bytes);
	tt_tracy_put(&mine, w->message_count, 8);
	put_aside(&lane->messages, &mine);
	lane->message_count++;
}

static void emit_counter(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
			 uint64_t value)
{
	struct tt_tracy_lane *lane = lane_of(w, track);
	struct tt_tracy_bytes bytes = {.length = 0};
	double number = (double)value;

	if (w->failed || !lane)
		return;
	if (time_ns < lane->last_ns)
		time_ns = lane->last_ns;
	tt_tracy_put(&bytes, step(&lane->last_ns, time_ns), 8);
	tt_tracy_put_double(&bytes, number);
	put_aside(&lane->zones, &bytes);
	if (!lane->count || number < lane->least)
		lane->least = number;
	if (!lane->count || number > lane->most)
		lane->most = number;
	lane->sum += number;
	lane->count++;
	if (w->last_ns < time_ns)
		w->last_ns = time_ns;
}

/* ---- the writer ---------------------------------------------------------------------------------------- */

static void free_writer(struct tt_timeline_writer *w)
{
	struct tt_aside *asides[] = {&w->strings, &w->messages, &w->extras, &w->frames};

	for (size_t i = 0; i < TT_COUNT(asides); i++)
		tt_aside_deinit(asides[i]);
	for (size_t i = 0; i < w->lanes.count; i++) {
		tt_aside_deinit(&w->lanes.data[i]->zones);
		tt_aside_deinit(&w->lanes.data[i]->messages);
		TT_VEC_DEINIT(&w->lanes.data[i]->open);
		tt_free(w->lanes.data[i]);
	}
	TT_VEC_DEINIT(&w->lanes);
	TT_VEC_DEINIT(&w->locations);
	TT_VEC_DEINIT(&w->threads);
	tt_map_deinit(&w->texts);
	tt_map_deinit(&w->places);
	tt_str_deinit(&w->text);
	tt_packer_free(w->packer);
	tt_free(w->block);
	tt_free(w->packed);
	tt_free(w);
}

static tt_status open_writer(struct tt_timeline_writer **out, const struct tt_timeline_out *to,
			     const struct tt_timeline_options *options)
{
	struct tt_timeline_writer *w = tt_calloc(1, sizeof(*w));
	uint64_t *nobody;

	if (!w)
		return tt_fail_nomem();
	w->out = *to;
	w->old = options->old;
	w->block = tt_alloc(TT_TRACY_BLOCK);
	w->packed = tt_alloc(tt_pack_part_bound(TT_TRACY_BLOCK));
	nobody = TT_VEC_PUSH(&w->threads);
	if (!w->block || !w->packed || !nobody || tt_packer_new(&w->packer) != TTNN_OK) {
		free_writer(w);
		return tt_fail_nomem();
	}
	*nobody = 0;
	emit_frame(w, 0);
	*out = w;
	return TTNN_OK;
}

static tt_status close_writer(struct tt_timeline_writer *w, bool whole)
{
	tt_status status = w->failed ? tt_fail_nomem() : TTNN_OK;

	if (status == TTNN_OK && whole) {
		tt_tracy_write(w);
		status = w->status;
	}
	free_writer(w);
	return status;
}

const struct tt_timeline_format tt_timeline_tracy = {
	.name = "tracy",
	.open = open_writer,
	.track = emit_track,
	.begin = begin_zone,
	.end = end_zone,
	.message = emit_message,
	.counter = emit_counter,
	.close = close_writer,
};
