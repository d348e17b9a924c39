/*
 * csv_parse.h: CSV of any length, as it comes: bytes are pushed in, and each line that is complete is told. Quotes as
 * Python's csv reads them; line ends CRLF, LF or CR; a byte order mark at the start is passed over. Blank lines are
 * none.
 */
#ifndef TT_PROFILE_CSV_PARSE_H
#define TT_PROFILE_CSV_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"

/* What one line may have: more is no report. */
#define TT_CSV_CELLS 16384
#define TT_CSV_BYTES ((size_t)16 << 20)

/* Told of a line: its cells, zero-terminated, valid during the call. What it returns ends the reading if not OK. */
typedef tt_status tt_csv_line_fn(void *context, const char *const *cells, size_t count,
				 uint64_t line);

/* All zero but for the first two is a valid start. */
struct tt_csv {
	tt_csv_line_fn *emit;
	void *context;
	struct tt_str text;    /* of the cells so far, each with a zero byte behind */
	TT_VEC(size_t) starts; /* where they are in it */
	TT_VEC(const char *) cells;
	uint64_t line; /* lines so far, from 1; the header is one */
	int mark;      /* bytes of a byte order mark so far; 3 when it is past, or there is none */
	int state;
};

/* More bytes. TTNN_FORMAT, with the line, when a line is too long. */
tt_status tt_csv_feed(struct tt_csv *csv, const void *data, size_t size);

/* No more come: the last line may have no end. */
tt_status tt_csv_finish(struct tt_csv *csv);

void tt_csv_deinit(struct tt_csv *csv);

#endif
