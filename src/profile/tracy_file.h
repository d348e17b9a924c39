/*
 * tracy_file.h: a file of Tracy on its way: what tracy.c gathers while a recording is walked, and tracy_file.c writes
 * at the end.
 */
#ifndef TT_PROFILE_TRACY_FILE_H
#define TT_PROFILE_TRACY_FILE_H

#include <string.h>

#include "base/map.h"
#include "base/pack.h"
#include "base/vec.h"
#include "profile/aside.h"
#include "profile/timeline.h"

#define TT_TRACY_BLOCK 65536 /* bytes of the file that are packed together */
#define TT_TRACY_NO_STRING UINT32_MAX
#define TT_TRACY_ADDRESSES 1024
#define TT_TRACY_REMEMBERED 4096

/* A place in the program that zones name. */
struct tt_tracy_location {
	uint32_t name, function, file; /* strings; TT_TRACY_NO_STRING: none */
	uint32_t line, color;
	uint64_t zones, gpu_zones;
};

/* A zone that is open: where the number of its children is, and how many there are. */
struct tt_tracy_open_zone {
	uint64_t at;
	uint32_t children;
};

/* Any track of ours; what belongs to its kind is used. */
struct tt_tracy_lane {
	enum tt_track_kind kind;
	uint32_t parent, name; /* name: a string */
	uint64_t tid;
	uint16_t index; /* in the table of threads */
	uint64_t count, top;
	uint64_t last_ns, message_count;
	double least, most, sum; /* of a plot */
	uint32_t location;       /* of the zone that is open on a chip */
	struct tt_aside zones, messages;
	TT_VEC(struct tt_tracy_open_zone) open;
};

struct tt_tracy_by_address {
	const char *name;
	uint32_t location;
};

struct tt_tracy_remembered {
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
	TT_VEC(struct tt_tracy_location) locations;
	TT_VEC(struct tt_tracy_lane *) lanes; /* by number of track - 1 */
	TT_VEC(uint64_t) threads;             /* the table */
	struct tt_tracy_by_address addresses[TT_TRACY_ADDRESSES];
	struct tt_tracy_remembered known[TT_TRACY_REMEMBERED];
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

/* Numbers, little-endian. */
struct tt_tracy_bytes {
	unsigned char data[64];
	size_t length;
};

static inline void tt_tracy_put(struct tt_tracy_bytes *out, uint64_t number, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		out->data[out->length++] = (unsigned char)(number >> 8 * i);
}

static inline void tt_tracy_put_double(struct tt_tracy_bytes *out, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	tt_tracy_put(out, bits, 8);
}

/* Writes the file of what was gathered; w->status says how that went. */
void tt_tracy_write(struct tt_timeline_writer *w);

#endif
