/*
 * source.h: reading events back, from a .ttrace file (docs/formats/ttrace.md) or from a capture in
 * memory: the one reader of all projections.
 *
 *	struct tt_source *source;
 *	const struct tt_seen *seen;
 *
 *	TT_TRY(tt_source_open(&source, path));
 *	while ((status = tt_source_next(&seen, source)) == TTNN_OK && seen)
 *		... seen->event ...
 *	tt_source_close(source);
 *
 * Events come in program order within a thread; across threads by time, then by number of the thread.
 * They are the structs that live listeners get. Tensors and devices in arguments are described, not
 * live: read them with tt_value_seen_tensor() and tt_value_seen_device().
 *
 * Names (of scopes, factories, modules, symbols), schemas, enumerations and core sets live as long as the
 * source and are equal when their pointers are: two scopes of one name have one pointer. Everything else, also
 * specs, is valid until the next call.
 *
 * Memory does not grow with the length of a trace: what lives as long as the source is what a program's code
 * names, and a trace that names more than 32 MB is read up to there; of each chunk there are 100 bytes; and one
 * chunk of each thread is unpacked.
 *
 * A damaged or unfinished file is read as far as it goes: whole chunks alone are used, the rest is
 * counted and described in the info. Nothing in a file can make the reader crash or allocate more than
 * a few times the size of the largest chunk. One thread at a time per source.
 */
#ifndef TT_TRACE_SOURCE_H
#define TT_TRACE_SOURCE_H

#include "base/arena.h"
#include "event/capture.h"
#include "event/event.h"

/*
 * What arguments of a SCOPE_BEGIN have in common with those of others: all from number `from` on are what `values` stands
 * for, among events of the same chunk. So are tensors with the same spec, by its address.
 */
struct tt_args_same {
	uint64_t chunk; /* 0: nothing is known */
	const struct ttnn_value *values;
	size_t from;
};

struct tt_seen {
	struct tt_event event;
	uint64_t time_ns; /* since the capture began */
	uint64_t op;      /* the outermost call it belongs to, counted from 1; 0: outside of any */
	uint32_t thread;  /* from 0, in the order of first words */
	uint32_t depth;   /* scopes around it on its thread; the same for a begin and its end */
	struct tt_args_same same; /* of a SCOPE_BEGIN whose values are wanted */
};

/* How often scopes of a name were begun. */
struct tt_trace_name {
	const char *name;
	enum tt_scope_kind kind;
	uint64_t count;
};

/* What a trace is, without reading its events. */
struct tt_trace_info {
	uint32_t version;
	const char *program;   /* the command's name */
	const char *arguments; /* its command line */
	const char *library;   /* version of the library that wrote it */
	uint64_t pid;
	int64_t began_ns;     /* since 1970 */
	uint64_t duration_ns; /* to the last record */
	bool complete;        /* ended properly: with its index */
	uint64_t events, operations, lost;
	uint64_t counts[TT_EVENT_KINDS];
	uint32_t threads;
	uint64_t chunks, file_bytes, raw_bytes;
	uint64_t bad_chunks;               /* left out: damaged */
	uint64_t bad_offset;               /* where the first damage is */
	const char *damage;                /* what it is, or NULL */
	const struct tt_trace_name *names; /* by count, the most first; none if !complete */
	size_t name_count;
};

struct tt_source;

/*
 * Opens a file, with what its process left beside it if that did not end it. TTNN_FORMAT, with the offset, when it is none of ours or from a later version.
 */
tt_status tt_source_open(struct tt_source **out, const char *path);

/* The same for the bytes of such a file, which stay the caller's and must outlive the source. */
tt_status tt_source_open_bytes(struct tt_source **out, const void *data, size_t size,
			       const char *name);

/* The same with the bytes of the file beside it (event/live.h), which may be NULL. */
struct tt_trace_bytes {
	const unsigned char *data;
	size_t size;
	const char *name; /* for messages */
};
tt_status tt_source_open_parts(struct tt_source **out, const struct tt_trace_bytes *trace,
			       const struct tt_trace_bytes *beside);

/* What a capture recorded so far; it may go on meanwhile but must not be freed. */
tt_status tt_source_open_capture(struct tt_source **out, struct tt_capture *capture);

/* The next event; *out is NULL behind the last. Fails when memory is exhausted. */
tt_status tt_source_next(const struct tt_seen **out, struct tt_source *source);

/*
 * What a reader wants. What it does not is passed over, which takes a fraction of the time, and is not looked at
 * for mistakes. Events of other kinds are left out; the numbers of calls, times and depths of the rest stay as
 * they are.
 */
struct tt_source_wants {
	uint32_t kinds; /* of events: TT_WANT(SCOPE_BEGIN) | TT_WANT(SCOPE_END) | ... */
	bool values; /* arguments with their schema, and the values of calls: else there are none */
	bool tensors; /* inputs, outputs and mentions: else there are none */
	bool frames;  /* of stacks: else there are none */
};

#define TT_WANT(kind) (UINT32_C(1) << TT_EVENT_##kind)
#define TT_WANT_ALL UINT32_MAX

/* Starts again with the first event, and tells what is wanted alone. NULL is everything, as at the beginning. */
void tt_source_want(struct tt_source *source, const struct tt_source_wants *wants);

/*
 * A part of a trace; all zero is the whole. What is named must all be true of an event:
 *
 * - Calls first_op to first_op + op_count - 1, by their numbers (tt_seen.op), and of those the ones whose number is
 *   among the last_ops highest of the trace. All events of a call are in the part or none. An event outside of any
 *   call goes with the call before it on its thread, or with call 1 if there was none; where a call comes from
 *   (STACK, PLACE, and PYTHON_IO that has not returned) is told before it and goes with the next number.
 * - Calls that were under way at some moment from begin_ns on and before end_ns, whole: also what came before or
 *   after. A call whose end is missing is under way up to the next event of its thread, or for ever. Events outside
 *   of any call by their own time.
 * - One thread.
 *
 * So that devices are known, DEVICE_OPEN (of all threads) and THREAD are told from before the part too; nothing is
 * told from behind it. Events are what they are in the whole trace: numbers, times, depths, durations.
 *
 * Only chunks that may hold something of the part are read: it opens at once in a file of any length.
 */
struct tt_source_window {
	uint64_t first_op, op_count; /* first_op 0: from the first; op_count 0: to the last */
	uint64_t last_ops;           /* 0: any */
	uint64_t begin_ns, end_ns;   /* end_ns 0: no end */
	bool one_thread;
	uint32_t thread; /* tt_seen.thread */
};

/* Starts again with the first event of a part; NULL is the whole. TTNN_INVALID: there is no such thread. */
tt_status tt_source_window(struct tt_source *source, const struct tt_source_window *window);

/*
 * For who keeps events that are not out any more (trace/relay.h): what they point at stays, until before() was called, which is
 * told that some of it goes. What is in the arena goes with that. NULL: events live until the next one is out, as at the beginning.
 */
struct tt_source_hold {
	void (*before)(void *context);
	void *context;
};
void tt_source_hold(struct tt_source *source, const struct tt_source_hold *hold);

/* Exchanges the memory of the events so far for another, which is empty. */
void tt_source_swap(struct tt_source *source, struct tt_arena *arena);

/* Starts again with the first event; wants and window stay. */
void tt_source_rewind(struct tt_source *source);

/* Borrowed from the source. With a damaged file it is complete once all was read. */
const struct tt_trace_info *tt_source_info(const struct tt_source *source);

/* NULL is fine. */
void tt_source_close(struct tt_source *source);

/* The text of a stack frame as backtrace_symbols() words it, or Python's own. */
void tt_frame_text(struct tt_str *out, const struct tt_event_frame *frame);

#endif
