/*
 * tracy_wire.h: what a Tracy client says to a viewer, as bytes (docs/formats/tracy.md). One table has the numbers of
 * all versions that are spoken: the viewer says which it is, and has to be answered in that.
 *
 * Events are appended to a frame; frames go as LZ4 blocks, of literals alone. Times are nanoseconds of tt_clock_ns().
 */
#ifndef TT_EVENT_TRACY_WIRE_H
#define TT_EVENT_TRACY_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define TT_WIRE_HELLO "TracyPrf"
#define TT_WIRE_HELLO_SIZE 12 /* with the version behind it */
#define TT_WIRE_QUERY_SIZE 13
#define TT_WIRE_FRAME_MOST                                                                         \
	(160 * 1024) /* bytes of a frame, with room to the 256 KiB that viewers take */

enum tt_wire_status { TT_WIRE_WELCOME = 1, TT_WIRE_MISMATCH = 2, TT_WIRE_BUSY = 3 };

/* What viewers ask; the rest is answered with "nothing". */
enum tt_wire_query {
	TT_WIRE_TERMINATE,
	TT_WIRE_STRING,
	TT_WIRE_THREAD,
	TT_WIRE_LOCATION,
	TT_WIRE_PLOT,
	TT_WIRE_FRAME,
	TT_WIRE_OTHER
};

struct tt_wire_version;

/* How a version has it; NULL: it is not spoken. */
const struct tt_wire_version *tt_wire_find(uint32_t protocol);

/* The version that is announced to viewers: the newest. */
#define TT_WIRE_PROTOCOL 82

/* A conversation. All zero but `version` is one to begin with. */
struct tt_wire {
	const struct tt_wire_version *version;
	struct tt_str frame; /* events so far */
	bool in_thread;
	uint32_t thread; /* that events are of */
	uint64_t thread_ns, serial_ns, gpu_ns;
	uint16_t queries; /* numbers of GPU times */
};

/* Who we are. */
struct tt_wire_self {
	uint64_t began_ns, now_ns, epoch, pid;
	bool late; /* only what comes from now on is told */
	const char *program;
};
void tt_wire_welcome(struct tt_str *out, const struct tt_wire *wire,
		     const struct tt_wire_self *self);

/* The begin of a zone, or its end. */
struct tt_wire_zone {
	uint32_t thread;
	uint64_t ns, location; /* location: of a begin */
	const char *text;      /* (optional) what a viewer shows with it; of an end: its name */
};
void tt_wire_begin(struct tt_wire *wire, const struct tt_wire_zone *zone);
void tt_wire_end(struct tt_wire *wire, const struct tt_wire_zone *zone);

struct tt_wire_message {
	uint32_t thread, color; /* color: 0xRRGGBB, 0: none */
	uint64_t ns;
	const char *text;
	bool error;
};
void tt_wire_message(struct tt_wire *wire, const struct tt_wire_message *message);
void tt_wire_round(struct tt_wire *wire, uint64_t ns);
void tt_wire_plot(struct tt_wire *wire, uint32_t thread, uint64_t ns, uint64_t name, double value);
void tt_wire_plot_of_bytes(struct tt_wire *wire, uint64_t name);

/* A chip, and a program that ran on it. */
void tt_wire_context(struct tt_wire *wire, uint8_t context, uint64_t ns, const char *name);
struct tt_wire_program {
	uint8_t context;
	uint64_t begin_ns, end_ns, location;
};
void tt_wire_program(struct tt_wire *wire, const struct tt_wire_program *program);

void tt_wire_keep_alive(struct tt_wire *wire);
void tt_wire_terminate(struct tt_wire *wire);

/* Answers. Locations have numbers of strings. */
enum tt_wire_query tt_wire_read_query(uint64_t *what,
				      const unsigned char query[TT_WIRE_QUERY_SIZE]);
void tt_wire_answer(struct tt_wire *wire, enum tt_wire_query query, uint64_t what,
		    const char *text);
struct tt_wire_location {
	uint64_t name, function, file;
	uint32_t line, color;
};
void tt_wire_answer_location(struct tt_wire *wire, const struct tt_wire_location *location);
void tt_wire_answer_nothing(struct tt_wire *wire);

/* Appends the frame as it goes over the wire, if there is anything in it, and begins another. */
void tt_wire_pack(struct tt_str *out, struct tt_wire *wire);

/* What is said to everybody now and then, so that viewers find the program. */
#define TT_WIRE_BROADCAST_SIZE 84
void tt_wire_broadcast(unsigned char out[TT_WIRE_BROADCAST_SIZE], uint16_t port, uint64_t pid,
		       const char *program);

#endif
