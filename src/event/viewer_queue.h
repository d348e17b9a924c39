/*
 * viewer_queue.h: what happens in the process, on its way to the viewer that is attached (viewer.h): a queue of fixed
 * length, and the names that it needs. Events come from any thread, and never wait; one thread takes them out.
 */
#ifndef TT_EVENT_VIEWER_QUEUE_H
#define TT_EVENT_VIEWER_QUEUE_H

#include "event/event.h"
#include "event/tracy_wire.h"

enum tt_viewer_kind {
	TT_VIEWER_BEGIN,
	TT_VIEWER_END,
	TT_VIEWER_MESSAGE,
	TT_VIEWER_ROUND,
	TT_VIEWER_PLOT,
	TT_VIEWER_PROGRAM
};

struct tt_viewer_record {
	uint64_t ns;
	uint64_t what; /* a location, plot or colour; of a program when it began */
	union {
		char *text; /* of a message: owned */
		uint64_t
			said; /* of a zone, in the queue: the number of its text or name; 0: none */
		const char *name; /* the same, when it was taken; or NULL */
		double value;
		uint64_t program; /* location << 8 | chip */
	};
	uint32_t thread;
	uint8_t kind;
	bool error; /* of a message; its colour is in `what` */
};

/* Begins to hear events. False: memory is exhausted, or too many listen. */
bool tt_viewer_hear(void);

/* `again` begins anew in the child of a fork, when all locks are given back. */
void tt_viewer_on_fork(void (*again)(void));

/* Whether events are heard from now on; all that was heard and not taken is forgotten. */
void tt_viewer_reset(bool on);

/* A viewer is here; returns whether it comes too late for what happened so far. */
bool tt_viewer_attach(void);

/* Which chips and plots the viewer knows. */
struct tt_viewer_known {
	size_t chips, plots;
};

/* Takes the next records, at most so many; what they name and the viewer does not know goes into the frame. */
size_t tt_viewer_take(struct tt_viewer_record *out, size_t most, struct tt_wire *wire,
		      struct tt_viewer_known *known);
bool tt_viewer_is_empty(void);

/* What the viewer asks. */
void tt_viewer_answer(struct tt_wire *wire, enum tt_wire_query query, uint64_t what);

/* Zones, numbers and messages that were left out. */
uint64_t tt_viewer_lost(void);

#endif
