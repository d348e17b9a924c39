/* The bytes of a file of Tracy, in their order (docs/formats/tracy.md). */
#include "profile/tracy_file.h"

#define GPU_CUSTOM 7

/* ---- packed blocks ------------------------------------------------------------------------------------- */

static void write_block(struct tt_timeline_writer *w)
{
	struct tt_tracy_bytes size = {.length = 0};
	size_t packed;

	if (!w->filled || w->status != TTNN_OK)
		return;
	w->status = tt_pack_part(w->packed, &packed, w->packer, w->block, w->filled);
	if (w->status != TTNN_OK)
		return;
	tt_tracy_put(&size, packed, 4);
	w->out.write(w->out.context, size.data, size.length);
	w->out.write(w->out.context, w->packed, packed);
	w->filled = 0;
}

static void write_raw(void *context, const void *data, size_t size)
{
	struct tt_timeline_writer *w = context;
	const char *from = data;

	while (size) {
		size_t piece =
			TT_TRACY_BLOCK - w->filled < size ? TT_TRACY_BLOCK - w->filled : size;

		memcpy(w->block + w->filled, from, piece);
		w->filled += piece;
		from += piece;
		size -= piece;
		if (w->filled == TT_TRACY_BLOCK)
			write_block(w);
		if (w->status != TTNN_OK)
			return;
	}
}

static void write_number(struct tt_timeline_writer *w, uint64_t number, unsigned size)
{
	struct tt_tracy_bytes bytes = {.length = 0};

	tt_tracy_put(&bytes, number, size);
	write_raw(w, bytes.data, bytes.length);
}

static void write_double(struct tt_timeline_writer *w, double number)
{
	struct tt_tracy_bytes bytes = {.length = 0};

	tt_tracy_put_double(&bytes, number);
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
	write_number(w, string == TT_TRACY_NO_STRING ? 0 : string, 8);
	write_number(w, string == TT_TRACY_NO_STRING ? 0 : 3, 1);
}

/* ---- the parts ---------------------------------------------------------------------------------------- */

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

static bool is_plot(const struct tt_tracy_lane *lane)
{
	return lane->kind == TT_TRACK_BYTES && lane->count;
}

static bool has_tid(const struct tt_tracy_lane *lane)
{
	return lane->kind == TT_TRACK_THREAD || lane->kind == TT_TRACK_OPS ||
	       lane->kind == TT_TRACK_CORE;
}

static uint64_t count_lanes(const struct tt_timeline_writer *w,
			    bool (*of)(const struct tt_tracy_lane *lane))
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
		const struct tt_tracy_location *location = &w->locations.data[i];

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
		struct tt_tracy_lane *lane = w->lanes.data[i];

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

static bool is_lane_of(const struct tt_tracy_lane *lane, size_t device)
{
	return lane->parent == device + 1 &&
	       (lane->kind == TT_TRACK_OPS || lane->kind == TT_TRACK_CORE);
}

static void write_device(struct tt_timeline_writer *w, size_t device)
{
	const struct tt_tracy_lane *context = w->lanes.data[device];
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
		struct tt_tracy_lane *lane = w->lanes.data[i];

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
		struct tt_tracy_lane *lane = w->lanes.data[i];

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

void tt_tracy_write(struct tt_timeline_writer *w)
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
