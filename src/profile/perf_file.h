/*
 * perf_file.h: performance reports to look at: CSV of any layout, of ours or from a card, plain or packed, or a trace,
 * which is turned into such a report on the way. Read as streams: twice, since shares need the whole.
 */
#ifndef TT_PROFILE_PERF_FILE_H
#define TT_PROFILE_PERF_FILE_H

#include "profile/ops_report.h"
#include "profile/perf_op.h"

/* A report, and what is known after the first reading. Owned by one thread at a time. */
struct tt_perf_file {
	const char *path;                      /* borrowed */
	const struct tt_source_window *window; /* (optional) of a trace */
	const char *label;                     /* (optional) a progress bar for a trace */
	bool trace;
	struct tt_perf_header header;
	const struct tt_perf_chip *chip;
	uint32_t cores; /* of the chip */
	uint64_t lines; /* without the header */
	uint64_t operations, signposts, invalid;
	double total_us; /* on the device, and the gaps between */
	double device_us, gap_us;
	bool on_card;    /* a processor of a card's cores says how long it took */
	uint64_t ragged; /* lines with more or fewer cells than the header */
};

/* Reads it for the first time; path, window and label are set. */
tt_status tt_perf_file_open(struct tt_perf_file *file);

/* Tells of each line, in the order of the file. */
typedef tt_status tt_perf_op_fn(void *context, const struct tt_perf_op *op);
tt_status tt_perf_file_each(struct tt_perf_file *file, tt_perf_op_fn *emit, void *context);

/* The same for the bytes of a CSV, for tests; `tell` may be NULL. */
tt_status tt_perf_bytes_each(struct tt_perf_file *file, const void *data, size_t size,
			     tt_perf_op_fn *emit, void *context);

/* Whether times on the device are those of the processor that computed in the place of a card. */
bool tt_perf_stands_in(const struct tt_perf_file *file);

/* The share of a line in the whole, in percent; false when it has none. */
bool tt_perf_share(double *out, const struct tt_perf_file *file, const struct tt_perf_op *op);

#endif
