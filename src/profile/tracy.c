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

#include "base/map.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/vec.h"
#include "profile/aside.h"
#include "profile/timeline.h"

#define BLOCK 65536           /* bytes of the file that are packed together */
#define LOCATIONS_MOST 32767  /* that the file can have */
#define STRINGS_MOST 16777213 /* likewise: numbers have 24 bits */
#define TEXTS_MOST 262144     /* texts that are looked up: later ones are written each time */
#define ADDRESSES 1024
#define REMEMBERED 4096
#define GPU_CUSTOM 7
#define LANE_TID UINT64_C(0x700000000)
#define NO_STRING UINT32_MAX

/* A place in the program that zones name. */
struct location {
	uint32_t name, function, file; /* strings; NO_STRING: none */
	uint32_t line, color;
	uint64_t zones, gpu_zones;
};

/* A zone that is open: where the number of its children is, and how many there are. */
struct open_zone {
	uint64_t at;
	uint32_t children;
};

/* Any track of ours; what belongs to its kind is used. */
struct lane {
	enum tt_track_kind kind;
	uint32_t parent, name; /* name: a string */
	uint64_t tid;
	uint16_t index; /* in the table of threads */
	uint64_t count, top;
	uint64_t last_ns, message_count;
	double least, most, sum; /* of a plot */
	uint32_t location;       /* of the zone that is open on a chip */
	struct tt_aside zones, messages;
	TT_VEC(struct open_zone) open;
};

struct by_address {
	const char *name;
	uint32_t location;
};

struct remembered {
	uint64_t number; /* of struct tt_zone */
	uint32_t extra;
};

struct tt_timeline_writer {
	struct tt_timeline_out out;
	bool old, failed;
	struct tt_aside strings, messages, extras, frames;
	uint32_t string_count, extra_count;
	uint64_t message_count, message_ns, frame_count, frame_ns, last_ns, children, gpu_zones;
	struct tt_map texts, places; /* → string, location */
	TT_VEC(struct location) locations;
	TT_VEC(struct lane *) lanes; /* by number of track - 1 */
	TT_VEC(uint64_t) threads;    /* the table */
	struct by_address addresses[ADDRESSES];
	struct remembered known[REMEMBERED];
	char program[256];
	uint64_t pid;
	int64_t began_ns;
	struct tt_str text;
	/* The file. */
	struct tt_packer *packer;
	char *block, *packed;
	size_t filled;
	tt_status status;
};

/* ---- numbers ------------------------------------------------------------------------------------------- */

struct bytes {
	unsigned char data[64];
	size_t length;
};

static void put(struct bytes *out, uint64_t number, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		out->data[out->length++] = (unsigned char)(number >> 8 * i);
}

static void put_double(struct bytes *out, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	put(out, bits, 8);
}

static void put_aside(struct tt_aside *aside, const struct bytes *bytes)
{
	tt_aside_add(aside, bytes->data, bytes->length);
}

/* ---- strings and locations ----------------------------------------------------------------------------- */

static uint32_t new_string(struct tt_timeline_writer *w, const char *text)
{
	struct bytes head = {.length = 0};
	size_t length = strlen(text);

	if (w->string_count >= STRINGS_MOST)
		return NO_STRING;
	put(&head, w->string_count + 1, 8);
	put(&head, length, 8);
	put_aside(&w->strings, &head);
	tt_aside_add(&w->strings, text, length);
	return w->string_count++;
}

/* The string of a text; NO_STRING when there are too many, or it is NULL. */
static uint32_t string_of(struct tt_timeline_writer *w, const char *text)
{
	struct tt_map_entry *entry;
	bool added = false;

	if (!text)
		return NO_STRING;
	if (w->texts.count >= TEXTS_MOST) {
		entry = tt_map_finds(&w->texts, text);
		return entry ? (uint32_t)entry->number : new_string(w, text);
	}
	entry = tt_map_add(&w->texts, text, strlen(text), &added);
	if (!entry) {
		w->failed = true;
		return NO_STRING;
	}
	if (added)
		entry->number = new_string(w, text);
	return (uint32_t)entry->number;
}

static uint32_t add_location(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct location *location = TT_VEC_PUSH(&w->locations);

	if (!location) {
		w->failed = true;
		return 0;
	}
	*location = (struct location){
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
	struct by_address *place = &w->addresses[((uintptr_t)zone->name >> 3) % ADDRESSES];

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
	struct remembered *known = &w->known[zone->args_number % REMEMBERED];
	struct bytes extra = {.length = 0};
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
	if (text == NO_STRING)
		return 0;
	put(&extra, 0, 3);
	put(&extra, text + 1, 3);
	put(&extra, 0, 6);
	put_aside(&w->extras, &extra);
	w->extra_count++;
	if (zone->args_number)
		*known = (struct remembered){zone->args_number, w->extra_count};
	return w->extra_count;
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

static struct lane *lane_of(const struct tt_timeline_writer *w, uint32_t track)
{
	return track && track <= w->lanes.count ? w->lanes.data[track - 1] : NULL;
}

/* A number that no other thread of the file has. */
static void add_thread(struct tt_timeline_writer *w, struct lane *lane, uint64_t tid,
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

static void tell_track(struct tt_timeline_writer *w, const struct tt_track *track)
{
	struct lane *lane = tt_calloc(1, sizeof(*lane)), **place = TT_VEC_PUSH(&w->lanes);
	const struct lane *parent;

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

static void begin_on_chip(struct tt_timeline_writer *w, struct lane *lane,
			  const struct tt_zone *zone)
{
	uint64_t by = step(&lane->last_ns, zone->time_ns);
	struct lane *device = lane_of(w, lane->parent);
	struct bytes bytes = {.length = 0};

	lane->location = location_of(w, zone);
	if (w->failed)
		return;
	w->locations.data[lane->location].gpu_zones++;
	put(&bytes, by, 8);
	put(&bytes, by, 8);
	put(&bytes, (uint64_t)(-(int64_t)lane->location - 1), 2);
	put(&bytes, 0, 3);
	put(&bytes, lane->index, 2);
	put(&bytes, 0, 8);
	put_aside(&lane->zones, &bytes);
	lane->top++;
	if (device)
		device->count++;
	w->gpu_zones++;
}

static void begin_on_thread(struct tt_timeline_writer *w, struct lane *lane,
			    const struct tt_zone *zone)
{
	uint64_t by = step(&lane->last_ns, zone->time_ns);
	uint32_t location = location_of(w, zone), extra = extra_of(w, zone);
	struct bytes bytes = {.length = 0};
	struct open_zone *open;

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
	*open = (struct open_zone){.at = tt_aside_size(&lane->zones) + 14};
	put(&bytes, (uint64_t)(-(int64_t)location - 1), 2);
	put(&bytes, by, 8);
	put(&bytes, extra, 4);
	put(&bytes, 0, 4); /* children: set when the zone ends */
	put_aside(&lane->zones, &bytes);
	lane->count++;
}

static void begin_zone(struct tt_timeline_writer *w, const struct tt_zone *zone)
{
	struct lane *lane = lane_of(w, zone->track);

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
	struct bytes extra = {.length = 0};

	if (string == NO_STRING)
		return 0;
	put(&extra, 0, 6);
	put(&extra, string + 1, 3);
	put(&extra, 0, 3);
	put_aside(&w->extras, &extra);
	return ++w->extra_count;
}

static void end_zone(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
		     const char *name)
{
	struct lane *lane = lane_of(w, track);
	struct bytes bytes = {.length = 0};
	uint64_t by;

	if (w->failed || !lane || lane->kind == TT_TRACK_GAPS)
		return;
	if (w->last_ns < time_ns)
		w->last_ns = time_ns;
	by = step(&lane->last_ns, time_ns);
	put(&bytes, by, 8);
	if (lane->kind == TT_TRACK_THREAD) {
		const struct open_zone *open = &lane->open.data[--lane->open.count];

		if (open->children)
			tt_aside_set(&lane->zones, open->at, open->children);
		if (name)
			tt_aside_set(&lane->zones, open->at - 4, name_extra(w, name));
	} else {
		put(&bytes, by, 8);
	}
	put_aside(&lane->zones, &bytes);
}

static void tell_frame(struct tt_timeline_writer *w, uint64_t time_ns)
{
	struct bytes bytes = {.length = 0};

	put(&bytes, step(&w->frame_ns, time_ns), 8);
	put(&bytes, UINT32_MAX, 4);
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

static void tell_message(struct tt_timeline_writer *w, const struct tt_message *message)
{
	struct lane *lane = lane_of(w, message->track);
	struct bytes bytes = {.length = 0}, mine = {.length = 0};
	uint32_t text, color = message->color;

	if (w->failed || !lane)
		return;
	if (w->last_ns < message->time_ns)
		w->last_ns = message->time_ns;
	if (message->kind == TT_MESSAGE_FRAME) {
		tell_frame(w, message->time_ns);
		return;
	}
	if (!color)
		color = message->kind == TT_MESSAGE_ERROR || message->kind == TT_MESSAGE_LOSS
				? 0xff4040
				: 0xffffff;
	text = string_of(w, message_text(w, message));
	if (text == NO_STRING)
		return;
	put(&bytes, ++w->message_count, 8);
	put(&bytes,
	    step(&w->message_ns,
		 message->time_ns > w->message_ns ? message->time_ns : w->message_ns),
	    8);
	put(&bytes, text, 8);
	put(&bytes, 3, 1);
	put(&bytes, color | 0xff000000, 4);
	put(&bytes, 0, 3);
	put_aside(&w->messages, &bytes);
	put(&mine, w->message_count, 8);
	put_aside(&lane->messages, &mine);
	lane->message_count++;
}

static void tell_counter(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
			 uint64_t value)
{
	struct lane *lane = lane_of(w, track);
	struct bytes bytes = {.length = 0};
	double number = (double)value;

	if (w->failed || !lane)
		return;
	if (time_ns < lane->last_ns)
		time_ns = lane->last_ns;
	put(&bytes, step(&lane->last_ns, time_ns), 8);
	put_double(&bytes, number);
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

/* ---- the file ------------------------------------------------------------------------------------------ */

static void write_block(struct tt_timeline_writer *w)
{
	struct bytes size = {.length = 0};
	size_t packed;

	if (!w->filled || w->status != TTNN_OK)
		return;
	w->status = tt_pack_part(w->packed, &packed, w->packer, w->block, w->filled);
	if (w->status != TTNN_OK)
		return;
	put(&size, packed, 4);
	w->out.write(w->out.context, size.data, size.length);
	w->out.write(w->out.context, w->packed, packed);
	w->filled = 0;
}

static void write_raw(void *context, const void *data, size_t size)
{
	struct tt_timeline_writer *w = context;
	const char *from = data;

	while (size) {
		size_t piece = BLOCK - w->filled < size ? BLOCK - w->filled : size;

		memcpy(w->block + w->filled, from, piece);
		w->filled += piece;
		from += piece;
		size -= piece;
		if (w->filled == BLOCK)
			write_block(w);
		if (w->status != TTNN_OK)
			return;
	}
}

static void write_number(struct tt_timeline_writer *w, uint64_t number, unsigned size)
{
	struct bytes bytes = {.length = 0};

	put(&bytes, number, size);
	write_raw(w, bytes.data, bytes.length);
}

static void write_double(struct tt_timeline_writer *w, double number)
{
	struct bytes bytes = {.length = 0};

	put_double(&bytes, number);
	write_raw(w, bytes.data, bytes.length);
}

static void write_zeros(struct tt_timeline_writer *w, size_t count)
{
	while (count--)
		write_number(w, 0, 8);
}

static void write_text(struct tt_timeline_writer *w, const char *text)
{
	write_number(w, strlen(text), 8);
	write_raw(w, text, strlen(text));
}

static void write_aside(struct tt_timeline_writer *w, struct tt_aside *aside)
{
	if (w->status == TTNN_OK) {
		tt_status status = tt_aside_read(aside, write_raw, w);

		if (w->status == TTNN_OK)
			w->status = status;
	}
}

/* A reference to a string. */
static void write_string(struct tt_timeline_writer *w, uint32_t string)
{
	write_number(w, string == NO_STRING ? 0 : string, 8);
	write_number(w, string == NO_STRING ? 0 : 3, 1);
}

static void write_head(struct tt_timeline_writer *w)
{
	uint64_t began = (uint64_t)(w->began_ns / 1000000000);

	write_raw(w, "tracy", 5);
	write_number(w, 0, 1);
	write_number(w, w->old ? 10 : 11, 1);
	write_number(w, 0, 1);
	write_number(w, 0, 8); /* what a zone costs */
	write_number(w, 1, 8); /* resolution of the clock, ns */
	write_double(w, 1);    /* ns of a tick */
	write_number(w, w->last_ns, 8);
	write_number(w, 0, 8); /* frames before */
	write_number(w, w->pid, 8);
	write_number(w, 0, 8); /* samples */
	write_number(w, 0, 1); /* architecture: not known */
	write_number(w, 0, 4); /* processor */
	write_raw(w, "\0\0\0\0\0\0\0\0\0\0\0", 12);
	write_number(w, 0, 1); /* not on demand */
	write_text(w, w->program);
	write_text(w, w->program);
	write_number(w, began, 8);
	write_number(w, 0, 8); /* when the program was made */
	write_text(w, "recorded by ttnn.c " TTNN_VERSION);
	write_number(w, 0, 8); /* topology */
	write_zeros(w, 3);     /* no crash */
	write_number(w, 0, 4);
	write_number(w, 1, 8); /* one set of frames, without a name, back to back */
	write_number(w, 0, 8);
	write_number(w, 1, 1);
	write_number(w, w->frame_count, 8);
	write_aside(w, &w->frames);
}

static bool is_plot(const struct lane *lane)
{
	return lane->kind == TT_TRACK_BYTES && lane->count;
}

static bool has_tid(const struct lane *lane)
{
	return lane->kind == TT_TRACK_THREAD || lane->kind == TT_TRACK_OPS ||
	       lane->kind == TT_TRACK_CORE;
}

static uint64_t count_lanes(const struct tt_timeline_writer *w, bool (*of)(const struct lane *lane))
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->lanes.count; i++)
		count += of(w->lanes.data[i]);
	return count;
}

/* Strings, and who is called by them. */
static void write_names(struct tt_timeline_writer *w)
{
	write_number(w, w->string_count, 8);
	write_aside(w, &w->strings);
	write_number(w, count_lanes(w, is_plot), 8);
	for (size_t i = 0; i < w->lanes.count; i++)
		if (is_plot(w->lanes.data[i])) {
			write_number(w, w->lanes.data[i]->name + 1, 8);
			write_number(w, w->lanes.data[i]->name + 1, 8);
		}
	write_number(w, count_lanes(w, has_tid), 8);
	for (size_t i = 0; i < w->lanes.count; i++)
		if (has_tid(w->lanes.data[i])) {
			write_number(w, w->lanes.data[i]->tid, 8);
			write_number(w, w->lanes.data[i]->name + 1, 8);
		}
	write_number(w, 0, 8); /* of other processes */
	write_number(w, w->threads.count, 8);
	for (size_t i = 0; i < w->threads.count; i++)
		write_number(w, w->threads.data[i], 8);
	write_number(w, 1, 8);
	write_number(w, 0, 8);
}

static void write_counts(struct tt_timeline_writer *w, bool gpu)
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->locations.count; i++)
		count += (gpu ? w->locations.data[i].gpu_zones : w->locations.data[i].zones) != 0;
	write_number(w, count, 8);
	for (size_t i = 0; i < w->locations.count; i++) {
		uint64_t zones = gpu ? w->locations.data[i].gpu_zones : w->locations.data[i].zones;

		if (!zones)
			continue;
		write_number(w, (uint64_t)(-(int64_t)i - 1), 2);
		write_number(w, zones, 8);
	}
}

static void write_locations(struct tt_timeline_writer *w)
{
	write_number(w, 0, 8); /* constant ones */
	write_number(w, 1, 8);
	write_number(w, 0, 8);
	write_number(w, w->locations.count, 8);
	for (size_t i = 0; i < w->locations.count; i++) {
		const struct location *location = &w->locations.data[i];

		write_string(w, location->name);
		write_string(w, location->function);
		write_string(w, location->file);
		write_number(w, location->line, 4);
		write_number(w, location->color, 4);
	}
	write_counts(w, false);
	write_counts(w, true);
}

static void write_threads(struct tt_timeline_writer *w)
{
	uint64_t zones = 0, threads = 0;

	for (size_t i = 0; i < w->lanes.count; i++)
		if (w->lanes.data[i]->kind == TT_TRACK_THREAD) {
			zones += w->lanes.data[i]->count;
			threads++;
		}
	write_number(w, zones, 8);
	write_number(w, w->children, 8);
	write_number(w, threads, 8);
	for (size_t i = 0; i < w->lanes.count; i++) {
		struct lane *lane = w->lanes.data[i];

		if (lane->kind != TT_TRACK_THREAD)
			continue;
		write_number(w, lane->tid, 8);
		write_number(w, lane->count, 8);
		write_number(w, 0, 8); /* samples of the kernel */
		write_number(w, 0, 1); /* no fiber */
		write_number(w, lane->top, 4);
		write_aside(w, &lane->zones);
		write_number(w, lane->message_count, 8);
		write_aside(w, &lane->messages);
		write_zeros(w, 2); /* samples */
	}
}

static bool is_lane_of(const struct lane *lane, size_t device)
{
	return lane->parent == device + 1 &&
	       (lane->kind == TT_TRACK_OPS || lane->kind == TT_TRACK_CORE);
}

static void write_device(struct tt_timeline_writer *w, size_t device)
{
	const struct lane *context = w->lanes.data[device];
	uint64_t lanes = 0;

	for (size_t i = 0; i < w->lanes.count; i++)
		lanes += is_lane_of(w->lanes.data[i], device);
	write_number(w, 0, 8); /* the thread: any */
	write_number(w, 0, 1); /* not calibrated */
	write_number(w, context->count, 8);
	write_number(w, 0x3f800000, 4); /* a tick is 1.0 ns */
	write_number(w, GPU_CUSTOM, 1);
	write_number(w, context->name + 1, 3);
	write_number(w, 0, 8);
	write_number(w, lanes, 8);
	for (size_t i = 0; i < w->lanes.count; i++) {
		struct lane *lane = w->lanes.data[i];

		if (!is_lane_of(lane, device))
			continue;
		write_number(w, lane->tid, 8);
		write_number(w, lane->top, 8);
		write_aside(w, &lane->zones);
	}
}

static void write_devices(struct tt_timeline_writer *w)
{
	uint64_t devices = 0;

	for (size_t i = 0; i < w->lanes.count; i++)
		devices += w->lanes.data[i]->kind == TT_TRACK_DEVICE;
	write_number(w, w->gpu_zones, 8);
	write_number(w, 0, 8); /* nothing nests */
	write_number(w, devices, 8);
	for (size_t i = 0; i < w->lanes.count; i++)
		if (w->lanes.data[i]->kind == TT_TRACK_DEVICE)
			write_device(w, i);
}

static void write_plots(struct tt_timeline_writer *w)
{
	write_number(w, count_lanes(w, is_plot), 8);
	for (size_t i = 0; i < w->lanes.count; i++) {
		struct lane *lane = w->lanes.data[i];

		if (!is_plot(lane))
			continue;
		write_number(w, 0, 1); /* the user's */
		write_number(w, 1, 1); /* of memory */
		write_number(w, 1, 1); /* in steps */
		write_number(w, 1, 1); /* filled */
		write_number(w, 0, 4);
		write_number(w, lane->name + 1, 8);
		write_double(w, lane->least);
		write_double(w, lane->most);
		write_double(w, lane->sum);
		write_number(w, lane->count, 8);
		write_aside(w, &lane->zones);
	}
}

/* What the file has room for and recordings do not tell. */
static void write_rest(struct tt_timeline_writer *w)
{
	write_number(w, 1, 8); /* one pool of memory, empty */
	write_number(w, 0, 8);
	write_zeros(w, 4);
	write_number(w, 0, 8); /* its highest, lowest, use and name */
	write_zeros(w, 3);
	write_zeros(w, 2); /* stacks */
	write_zeros(w, 1); /* words about the program */
	write_number(w, 0, 4);
	write_zeros(w, 1); /* images */
	write_zeros(w, 1); /* switches of threads */
	write_zeros(w, 1 + 256);
	write_zeros(w, 9);
}

static void write_file(struct tt_timeline_writer *w)
{
	static const unsigned char magic[4] = {'t', 'Z', 's', 't'};

	w->out.write(w->out.context, magic, sizeof(magic));
	write_head(w);
	write_names(w);
	write_locations(w);
	write_number(w, 0, 8); /* locks */
	write_number(w, w->message_count, 8);
	write_aside(w, &w->messages);
	write_number(w, (uint64_t)w->extra_count + 1, 8);
	write_raw(w, "\0\0\0\0\0\0\0\0\0\0\0", 12);
	write_aside(w, &w->extras);
	write_threads(w);
	write_devices(w);
	write_plots(w);
	write_rest(w);
	write_block(w);
}

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
	w->block = tt_alloc(BLOCK);
	w->packed = tt_alloc(tt_pack_part_bound(BLOCK));
	nobody = TT_VEC_PUSH(&w->threads);
	if (!w->block || !w->packed || !nobody || tt_packer_new(&w->packer) != TTNN_OK) {
		free_writer(w);
		return tt_fail_nomem();
	}
	*nobody = 0;
	tell_frame(w, 0);
	*out = w;
	return TTNN_OK;
}

static tt_status close_writer(struct tt_timeline_writer *w, bool whole)
{
	tt_status status = w->failed ? tt_fail_nomem() : TTNN_OK;

	if (status == TTNN_OK && whole) {
		write_file(w);
		status = w->status;
	}
	free_writer(w);
	return status;
}

const struct tt_timeline_format tt_timeline_tracy = {
	.name = "tracy",
	.open = open_writer,
	.track = tell_track,
	.begin = begin_zone,
	.end = end_zone,
	.message = tell_message,
	.counter = tell_counter,
	.close = close_writer,
};
