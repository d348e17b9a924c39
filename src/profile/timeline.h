/*
 * timeline.h: recordings as what viewers of time show: tracks with zones, messages, counters, and arrows from the
 * call on the host to the program on a chip. One walker over the events, and a table of functions for each format:
 * chrome.c, perfetto.c, tracy.c.
 *
 *	status = tt_timeline_write(&totals, &paths, &tt_timeline_chrome, &options);
 *
 * What always holds for a format's functions:
 * - A track is told before anything on it, those it belongs to before it.
 * - The zones of a track nest, and their times never go back: a zone that would is cut. What goes on at the end is
 *   ended there. Different tracks are told in the order in which events came, which is nearly that of times.
 * - Times are nanoseconds since the first process of the run began. Several processes are merged by time.
 * - Memory does not grow with the length of the recordings.
 */
#ifndef TT_PROFILE_TIMELINE_H
#define TT_PROFILE_TIMELINE_H

#include "profile/outbuf.h"
#include "trace/source.h"

enum tt_track_kind {
	TT_TRACK_PROCESS,
	TT_TRACK_THREAD, /* of a process */
	TT_TRACK_DEVICE, /* a chip, which stands beside the processes */
	TT_TRACK_OPS,    /* of a chip: its programs */
	TT_TRACK_GAPS,   /* of a chip: where it had nothing to do between two programs */
	TT_TRACK_CORE,   /* of a chip: programs that used this core */
	TT_TRACK_BYTES,  /* of a chip: a counter of bytes */
};

struct tt_track {
	uint32_t id; /* from 1, in the order they are told */
	enum tt_track_kind kind;
	uint32_t parent; /* the process or device it belongs to; 0: none */
	uint32_t order;  /* among those of its parent, or of all processes and devices */
	uint64_t pid;    /* no other process or device has it */
	uint64_t tid;    /* no other track of its parent has it */
	uint64_t
		number; /* of a device: the chip's; of a thread: the kernel's; of a core: x << 16 | y */
	const char *name;
	int64_t began_ns; /* of a process: since 1970; 0: not known */
};

/* One fact about a zone. */
struct tt_zone_arg {
	const char *name;
	const char *text; /* NULL: it is a number */
	uint64_t number;
};

/* Texts live until the call returns but for `name`, `function` and `file`: equal pointers are equal texts. */
struct tt_zone {
	uint32_t track;
	uint64_t time_ns;
	const char *name;
	const char *function, *file; /* (optional) of the line it was called from */
	uint32_t line, color;        /* 0xRRGGBB; 0: none */
	uint64_t call;               /* of an outermost call: its number; else 0 */
	const struct tt_zone_arg *args;
	size_t arg_count;
	uint64_t args_number; /* equal numbers, equal args; 0: nobody knows */
	uint64_t flow;        /* the arrow that ends here; 0: none */
};

enum tt_message_kind {
	TT_MESSAGE_SIGNPOST,
	TT_MESSAGE_TEXT,
	TT_MESSAGE_FRAME, /* a round of the program is over */
	TT_MESSAGE_ERROR,
	TT_MESSAGE_LOSS,
};

struct tt_message {
	enum tt_message_kind kind;
	uint32_t track; /* the thread */
	uint64_t time_ns;
	const char *text;   /* never NULL */
	const char *detail; /* or NULL */
	uint32_t color;
};

struct tt_timeline_writer; /* a format's own */

struct tt_timeline_options {
	const struct tt_source_window *window; /* (optional) of every recording */
	const char *label;                     /* (optional) a progress bar of that name */
	uint32_t levels;                       /* zones on threads down to this level; 0: all */
	bool cores;                            /* tracks of cores */
	bool old;                              /* .tracy: of version 0.10, not 0.11 */
};

/* What a format does with it. All but open and close may be NULL: it does not show that. */
struct tt_timeline_format {
	const char *name;
	tt_status (*open)(struct tt_timeline_writer **w, const struct tt_timeline_out *out,
			  const struct tt_timeline_options *options);
	void (*track)(struct tt_timeline_writer *w, const struct tt_track *track);
	void (*begin)(struct tt_timeline_writer *w, const struct tt_zone *zone);
	/* `name` is one that is known at the end alone, or NULL. */
	void (*end)(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
		    const char *name);
	void (*message)(struct tt_timeline_writer *w, const struct tt_message *message);
	void (*counter)(struct tt_timeline_writer *w, uint32_t track, uint64_t time_ns,
			uint64_t value);
	/* An arrow begins in the zone that is open on this track. */
	void (*flow)(struct tt_timeline_writer *w, uint64_t flow, uint32_t track, uint64_t time_ns);
	/* The rest goes out; frees the writer, also after a failure. `whole` false: it need not be written. */
	tt_status (*close)(struct tt_timeline_writer *w, bool whole);
};

extern const struct tt_timeline_format tt_timeline_chrome, tt_timeline_perfetto, tt_timeline_tracy;

/* What was told; filled in also after a failure, as far as it came. */
struct tt_timeline_totals {
	uint64_t zones, device_zones, gaps, messages, counters, flows;
	uint64_t lost;    /* records that the recordings miss */
	uint64_t damaged; /* recordings that are not whole */
	uint32_t processes, threads, devices;
};

/* From where to where. */
struct tt_timeline_paths {
	const char *const *inputs; /* .ttrace files */
	size_t count;
	const char *output; /* NULL: standard output */
};

/* Writes recordings as one timeline: aside, renamed when it is complete. */
tt_status tt_timeline_write(struct tt_timeline_totals *totals,
			    const struct tt_timeline_paths *paths,
			    const struct tt_timeline_format *format,
			    const struct tt_timeline_options *options);

/* ---- event by event ------------------------------------------------------------------------------------ */

struct tt_walk;

struct tt_walk_process {
	const char *program;
	uint64_t pid;
	int64_t began_ns; /* since 1970 */
	bool several;     /* there are others: tracks say whose they are */
	bool runs;        /* PROGRAM_RUN is told: else a program goes on until its scope ends */
	bool live; /* pointers of events are not equal when their texts are: no arguments are told */
};

/* A walk over events, into an open writer. */
tt_status tt_walk_new(struct tt_walk **out, const struct tt_timeline_format *format,
		      struct tt_timeline_writer *writer, const struct tt_timeline_options *options);

/* A process that events are of from now on; they are numbered from 0. */
void tt_walk_process(struct tt_walk *walk, const struct tt_walk_process *what);

/* One event of a process. */
void tt_walk_event(struct tt_walk *walk, uint32_t which, const struct tt_seen *seen,
		   uint64_t time_ns);

/* Whether all went well so far: memory sufficed. */
tt_status tt_walk_status(const struct tt_walk *walk);

/* Ends what goes on, and tells what there was. */
void tt_walk_end(struct tt_walk *walk, struct tt_timeline_totals *totals);

/* NULL is fine. */
void tt_walk_free(struct tt_walk *walk);

#endif
