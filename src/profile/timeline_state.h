/*
 * timeline_state.h: a walk over events (timeline.h) as its two parts know it: timeline_walk.c has processes, threads
 * and messages, timeline_chips.c programs and memory.
 */
#ifndef TT_PROFILE_TIMELINE_STATE_H
#define TT_PROFILE_TIMELINE_STATE_H

#include "base/vec.h"
#include "profile/timeline.h"
#include "profile/zoneargs.h"

#define TT_WALK_BANK_KINDS 5 /* of enum ttnn_buffer_type */

/* A zone that is open on a thread. */
struct tt_walk_zone {
	const char *name, *function, *file;
	uint32_t line, color;
	bool user;   /* of the user's own: it need not nest with calls */
	bool device; /* a device operation: programs that were launched in it end with it */
	bool told;
};

/* What is known of a program before it runs. */
struct tt_walk_known {
	const ttnn_core_set *cores;
	const char *fidelity;
	uint64_t ideal_ns, hash;
	bool cache_hit;
};

/* A program that was launched, and has not ended. */
struct tt_walk_launch {
	uint64_t number, time_ns, flow;
	uint32_t device_id, chip_id, thread;
	const char *name; /* of the device operation; known when it ends */
	struct tt_walk_known known;
};

/* A core of a chip. */
struct tt_walk_core {
	uint32_t core; /* x << 16 | y */
	uint32_t track;
	uint64_t last_ns;
};

/* A chip that a process works with. */
struct tt_walk_chip {
	uint32_t device_id, chip_id;
	uint32_t track, ops, gaps;
	uint64_t pid;
	uint64_t last_ns; /* the end of its last program */
	bool worked;
	TT_VEC(struct tt_walk_core) cores;
};

/* The memory of a mesh: the same on each of its chips. */
struct tt_walk_memory {
	uint32_t device_id;
	uint32_t chip; /* the first; its place */
	bool mesh;     /* it has several */
	uint32_t tracks[TT_WALK_BANK_KINDS];
	uint64_t bytes[TT_WALK_BANK_KINDS];
};

/* A thread of a process. */
struct tt_walk_thread {
	uint32_t track;
	uint64_t last_ns;
	TT_VEC(struct tt_walk_zone) open;
	uint32_t depth_lost; /* zones that are open above DEEP */
	struct tt_event_place place;
	bool placed;
	struct tt_walk_known known; /* of the program that is launched next */
};

/* A process. */
struct tt_walk_state {
	struct tt_walk_process what;
	uint32_t track;
	uint64_t pid;
	uint64_t last_ns;
	TT_VEC(struct tt_walk_thread) threads; /* by number */
	TT_VEC(uint64_t) tids;
	TT_VEC(struct tt_walk_chip) chips;
	TT_VEC(struct tt_walk_memory) memories;
	TT_VEC(struct tt_walk_launch) launches;
	struct tt_zoneargs args;
};

struct tt_walk {
	const struct tt_timeline_format *format;
	struct tt_timeline_writer *writer;
	struct tt_timeline_options options;
	struct tt_timeline_totals totals;
	TT_VEC(struct tt_walk_state *) processes;
	TT_VEC(uint64_t) pids;
	uint32_t tracks, order;
	uint64_t flows;
	bool failed;
};

/* ---- of timeline_walk.c --------------------------------------------------------------------------------- */

/* Tells of a track, gives it the next number, and returns that. */
uint32_t tt_walk_emit_track(struct tt_walk *walk, struct tt_track *track);

/* A number that no other process or device has: this one, if it is free. */
uint64_t tt_walk_free_pid(struct tt_walk *walk, uint64_t pid);

/* Times of a track never go back. */
static inline uint64_t tt_walk_forward(uint64_t *last, uint64_t time_ns)
{
	if (*last < time_ns)
		*last = time_ns;
	return *last;
}

/* ---- of timeline_chips.c --------------------------------------------------------------------------------- */

/* What is told of a program, for the one that the thread launches next. */
void tt_walk_know_program(struct tt_walk_thread *thread, const struct tt_event_program *program);

/* A program is launched from this thread. */
void tt_walk_launch_program(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number,
			    const struct tt_event_program_launch *told);

/* A program has ended. */
void tt_walk_run_program(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number,
			 const struct tt_event_program_run *run, uint64_t time_ns);

/* A device operation ends: so do its programs, where nobody tells when they really did. */
void tt_walk_end_programs(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number,
			  const char *name);

/* The chips of a device, and its memory. */
void tt_walk_open_device(struct tt_walk *walk, struct tt_walk_state *process,
			 const struct tt_event_device *device);

/* A buffer comes or goes. */
void tt_walk_count_bytes(struct tt_walk *walk, struct tt_walk_state *process,
			 const struct tt_event_buffer *buffer, bool comes, uint64_t time_ns);

#endif
