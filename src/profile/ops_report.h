/*
 * ops_report.h: the performance report of a run: the recordings of its processes as one CSV of operations, and
 * the files that tools expect beside it (docs/formats/perf_csv.md). `ttnn profile` and `ttnn export csv` call it.
 *
 * Recordings are read as streams and merged by time: memory does not grow with their length. A damaged or
 * unfinished recording is read as far as it goes. All files are written aside and renamed when complete.
 */
#ifndef TT_PROFILE_OPS_REPORT_H
#define TT_PROFILE_OPS_REPORT_H

#include "trace/exporter.h"
#include "trace/source.h"

/* One process of the run. */
struct tt_ops_input {
	const char *path; /* its .ttrace */
};

struct tt_ops_widths;

struct tt_ops_options {
	enum ttnn_dialect
		dialect; /* the layout: SEED has 77 columns for two inputs and an output, TT_METAL main's */
	const struct tt_source_window *window; /* (optional) of every recording */
	const char *label;                     /* (optional) a progress bar of that name */
	bool calls; /* of tt_ops_csv_to(): a column CALL, the outermost call as windows count them */
	/*
	 * (optional) Of one recording: its beginning alone is looked through before it is read. TTNN_STATE when a row has
	 * more tensors than that: then the struct says how many, and all is to be done again.
	 */
	struct tt_ops_widths *widths;
};

/* Tensors of the operation that has the most. */
struct tt_ops_widths {
	uint32_t inputs, outputs;
};

/* What was written; filled in also after a failure, as far as it came. */
struct tt_ops_totals {
	uint64_t rows;       /* lines of the CSV without its header */
	uint64_t operations; /* of those: operations on a device or on the host */
	uint64_t signposts;
	uint64_t replayed;                    /* operations of captured traces that ran again */
	uint64_t lost;                        /* records that the recordings miss */
	uint64_t damaged;                     /* recordings that are not whole */
	uint32_t processes, threads, devices; /* that operations are of */
};

/* Writes the CSV alone; `path` NULL is standard output. */
tt_status tt_ops_csv(struct tt_ops_totals *totals, const struct tt_ops_input *inputs, size_t count,
		     const struct tt_ops_options *options, const char *path);

/* The same to whoever takes the bytes. */
struct tt_ops_output {
	void (*write)(void *context, const void *data, size_t size);
	void *context;
};
tt_status tt_ops_csv_to(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			size_t count, const struct tt_ops_options *options,
			const struct tt_ops_output *output);

/*
 * Writes what ttnn-visualizer takes as a performance report into a folder, which is made if need be:
 * ops_perf_results.csv, profile_log_device.csv, and what they are derived from: tracy_ops_times.csv and
 * tracy_ops_data.csv. The layouts of all follow the dialect.
 */
tt_status tt_ops_folder(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
			size_t count, const struct tt_ops_options *options, const char *folder);

/* csv, performance, and the timelines of timeline.h, for `ttnn export`. */
extern const struct tt_exporters tt_profile_exporters;

#endif
