/*
 * jsonslice.h: walks JSON files larger than memory, value by value.
 *
 * A cursor moves over the values of one container at a time. Each may be entered (the cursor then
 * walks what is in it), read as an ordinary tt_json value, or passed over:
 *
 *	while (tt_jsonslice_next(slices))                     the one value of the file: an object
 *		for (tt_jsonslice_enter(slices); tt_jsonslice_next(slices);)       its members
 *			if (tt_jsonslice_is(slices, "graph"))
 *				for (tt_jsonslice_enter(slices); tt_jsonslice_next(slices);)
 *					use(tt_jsonslice_read(slices));
 *	status = tt_jsonslice_status(slices);
 *
 * A file is read through windows of 256 KB: memory is that of the largest value read.
 * What is passed over is checked for its brackets and strings only. The first error ends all loops;
 * its message has the line and column in the whole file. One thread at a time.
 */
#ifndef TT_BASE_JSONSLICE_H
#define TT_BASE_JSONSLICE_H

#include "base/json.h"

struct tt_jsonslice;

/* Opens a file; gzip is unpacked into a temporary file first. Free with tt_jsonslice_free(). */
tt_status tt_jsonslice_open(struct tt_jsonslice **out, const char *path);

/* The same for a text in memory, which is borrowed, as is the name for messages. */
tt_status tt_jsonslice_text(struct tt_jsonslice **out, const char *text, size_t length,
			    const char *name);

/* The same for an open file of that size; takes the descriptor, whatever comes of it. Copies the name. */
tt_status tt_jsonslice_fd(struct tt_jsonslice **out, int fd, size_t size, const char *name);

/* For tests: reads a file through windows of so many bytes, at least 256. Before the first move. */
void tt_jsonslice_set_window(struct tt_jsonslice *slices, size_t bytes);

/* NULL is fine. */
void tt_jsonslice_free(struct tt_jsonslice *slices);

/*
 * Moves to the next value of the container the cursor is in. False at its end, and the cursor is
 * then behind it in the container around; false also after an error.
 */
bool tt_jsonslice_next(struct tt_jsonslice *slices);

/* The key of the present member, NULL in arrays; length may be NULL. Lives until the next move. */
const char *tt_jsonslice_key(const struct tt_jsonslice *slices, size_t *length);

/* Whether that is its key: one with a NUL in it is no other. */
bool tt_jsonslice_is(const struct tt_jsonslice *slices, const char *key);

/* TT_JSON_ARRAY or TT_JSON_OBJECT; TT_JSON_ABSENT for anything else, which has to be read. */
enum tt_json_kind tt_jsonslice_kind(struct tt_jsonslice *slices);

/* Goes into the present array or object. An error if it is neither. */
void tt_jsonslice_enter(struct tt_jsonslice *slices);

/* Passes over the rest of the container the cursor is in. */
void tt_jsonslice_leave(struct tt_jsonslice *slices);

/* Reads the present value. NULL on errors. Lives until the next move or read. */
const struct tt_json *tt_jsonslice_read(struct tt_jsonslice *slices);

/*
 * Where a value lies, to come back to it: fetch it with a parser of one's own (it then lives until
 * the next use of that parser), as often as wanted and while the cursor is elsewhere ...
 */
struct tt_jsonslice_place {
	size_t start, length;
	size_t depth; /* containers around it */
};

/* Of the present value. Its length is 0 after an error. */
struct tt_jsonslice_place tt_jsonslice_place(struct tt_jsonslice *slices);

tt_status tt_jsonslice_fetch(const struct tt_json **out, struct tt_jsonslice *slices,
			     struct tt_json_parser *parser, const struct tt_jsonslice_place *place);

/* Copies so many bytes that the text has. Unlike all else here, any thread may call it at any time. */
tt_status tt_jsonslice_copy(char *out, const struct tt_jsonslice *slices, size_t start,
			    size_t length);

/*
 * ... or move the cursor there, at the value. Since its place was asked for, the cursor must not
 * have entered other containers in place of those around it. Its key is not known then.
 */
void tt_jsonslice_seek(struct tt_jsonslice *slices, const struct tt_jsonslice_place *place);

/* Makes an error of the cursor for the byte at `offset` of the file; TTNN_FORMAT. */
tt_status tt_jsonslice_fail(struct tt_jsonslice *slices, size_t offset, const char *what);

/* TTNN_OK, or the first error of this cursor; its message is this thread's unless another came. */
tt_status tt_jsonslice_status(const struct tt_jsonslice *slices);

/* Bytes passed so far, of how many: for a progress bar. total may be NULL. */
size_t tt_jsonslice_tell(const struct tt_jsonslice *slices, size_t *total);

#endif
