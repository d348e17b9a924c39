/*
 * capture.h: recording the event stream. Graph capture, TTNN_TRACE and ttnn_trace_begin() all start a
 * capture; what it recorded is read through trace/source.h, from memory or from the file.
 *
 * Every thread writes into chunks of its own, without locks: names, specs, schemas and core sets are
 * interned per chunk, nothing is formatted. Full chunks go to a background writer which packs them into
 * the file. A capture in memory keeps its first chunks as they are and moves the later ones to a
 * temporary file without a name, so no capture takes more than 64 MB. Captures run side by side and
 * nest; none knows of the others.
 *
 * Recording never fails into the workload: what cannot be kept is counted, told by a LOSS record and
 * by tt_capture_stop().
 */
#ifndef TT_EVENT_CAPTURE_H
#define TT_EVENT_CAPTURE_H

#include "base/status.h"
#include "event/event.h"

/* All zero: everything, in memory. */
struct tt_capture_options {
	const char *path; /* the .ttrace file */
	/*
	 * Instead of a path: a file in this directory named after program and process, made when there
	 * is something to write. A child process after fork() goes on in a file of its own.
	 */
	const char *directory;
	bool this_thread;  /* hears the calling thread alone */
	uint64_t first_op; /* leaves out what comes before outermost call number so and so... */
	uint64_t op_count; /* ...and all behind so many; 0: no end */
	const char *begin_mark; /* begins with a mark of this text... */
	const char *end_mark;   /* ...and ends before this one; may begin again */
	uint64_t last_ops;      /* keeps the last so many outermost calls alone; 0: all */
	uint64_t flush_ns;      /* writes what lies in buffers so often; 0: when they are full */
};

struct tt_capture;

/* What a capture came to. */
struct tt_capture_summary {
	uint64_t events, operations; /* operations: outermost calls */
	uint64_t lost;               /* records that are missing */
	uint64_t bytes;              /* of the file or in memory */
	const char *reason;          /* why records are missing, or NULL; the capture's */
};

/* Begins to record; everything that is told after the return is in it. The caller owns *out. */
tt_status tt_capture_begin(struct tt_capture **out, const struct tt_capture_options *options);

/*
 * Writes all that was recorded so far, so that a reader of the file finds it. Any thread may call it
 * while the capture runs. With last_ops this writes the file as it would be at the end.
 */
tt_status tt_capture_flush(struct tt_capture *capture);

/*
 * Ends the recording and completes the file; *out may be NULL. Missing records are no failure, a file
 * that could not be written is. What lies in memory can be read until tt_capture_free(). Nothing
 * happens the second time but that *out is filled.
 */
tt_status tt_capture_stop(struct tt_capture_summary *out, struct tt_capture *capture);

/* Stops it if it still runs, and forgets it. NULL is fine. Sources that read it must be closed. */
void tt_capture_free(struct tt_capture *capture);

/* When it began, in nanoseconds since 1970. */
int64_t tt_capture_began(const struct tt_capture *capture);

/* Flushes all captures when the process gets this signal; 0: no more. For files; soon, not at once. */
tt_status tt_capture_flush_on(int number);

/* Where its chunks are: for trace/source.c. Flushes first. */
struct tt_store;
tt_status tt_capture_store(struct tt_store **out, struct tt_capture *capture);

#endif
