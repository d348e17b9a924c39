/*
 * perf_op.h: what can be said of one line of a performance report: how long, how well, what limits it, what may help.
 * The figures are those of tt-perf-report 1.4, so that its table and ours agree on the same file; `limit` is ours.
 */
#ifndef TT_PROFILE_PERF_OP_H
#define TT_PROFILE_PERF_OP_H

#include "base/status.h"
#include "base/str.h"

/* The columns that are read; one that a file lacks is blank in every line. */
enum tt_perf_column {
	TT_PERF_OP_CODE,
	TT_PERF_OP_TYPE,
	TT_PERF_CALL,
	TT_PERF_OUTER, /* of traces only: tt_ops_options.calls */
	TT_PERF_DEVICE,
	TT_PERF_ARCH,
	TT_PERF_ATTRIBUTES,
	TT_PERF_FIDELITY,
	TT_PERF_CORES,
	TT_PERF_AVAILABLE,
	TT_PERF_HOST_START,
	TT_PERF_HOST_DURATION,
	TT_PERF_LATENCY,
	TT_PERF_DURATION,
	TT_PERF_BRISC, /* cards have it, this library leaves it blank */
	TT_PERF_COMPUTE,
	TT_PERF_BANDWIDTH,
	TT_PERF_IN0_W, /* the extents of a tensor follow each other, then type and memory */
	TT_PERF_IN0_TYPE = TT_PERF_IN0_W + 4,
	TT_PERF_IN0_MEMORY,
	TT_PERF_IN1_W,
	TT_PERF_IN1_TYPE = TT_PERF_IN1_W + 4,
	TT_PERF_IN1_MEMORY,
	TT_PERF_OUT_W,
	TT_PERF_OUT_TYPE = TT_PERF_OUT_W + 4,
	TT_PERF_OUT_MEMORY,
	TT_PERF_COLUMNS
};

/* Where a file has them. */
struct tt_perf_header {
	size_t at[TT_PERF_COLUMNS]; /* SIZE_MAX: it has not */
	bool late;                  /* the later layout: it says what chip and how many cores */
};

/* Reads the first line. TTNN_FORMAT when it is none of a performance report. */
tt_status tt_perf_header_read(struct tt_perf_header *out, const char *const *cells, size_t count);

/* What is known of chips: peaks. */
struct tt_perf_chip {
	const char *name;
	uint32_t cores, dram_sharded_cores;
	double dram_gb_s;
	double tflops[4]; /* of a core: LoFi, HiFi2, HiFi3, HiFi4 */
};

/* By its name in reports, in any case; NULL when it is not known. "" is wormhole, as where reports do not say. */
const struct tt_perf_chip *tt_perf_chip_find(const char *name);

enum tt_perf_category {
	TT_PERF_OF_COMPUTE,
	TT_PERF_OF_CCL,
	TT_PERF_OF_TM,
	TT_PERF_OF_DM,
	TT_PERF_OF_HOST,
	TT_PERF_OF_OTHER,
	TT_PERF_CATEGORIES
};
const char *tt_perf_category_name(enum tt_perf_category category);

/* What keeps an operation from being over sooner. */
enum tt_perf_limit {
	TT_PERF_UNKNOWN,
	TT_PERF_COMPUTE_LIMIT,
	TT_PERF_DRAM_LIMIT,
	TT_PERF_DISPATCH_LIMIT,
	TT_PERF_HOST_LIMIT
};
const char *tt_perf_limit_name(enum tt_perf_limit limit);

/* A number that may be missing. */
struct tt_perf_number {
	bool known;
	double value;
};

/* One line. Texts are borrowed from it. */
struct tt_perf_op {
	uint64_t line;       /* of the file; the header is 1 */
	const char *op_code; /* as in the file */
	const char *size;    /* "256 x 512 x 1024" of a product, "" of others */
	const char *call;
	uint64_t
		outer; /* the call of the program that it is of, as parts of a trace count them; 0: not known */
	bool signpost;
	int64_t device;                /* -1: none */
	struct tt_perf_number us, gap; /* on the device; since the one before */
	bool invalid;                  /* its duration makes no sense */
	struct tt_perf_number host_us;
	uint32_t cores, available; /* 0: not known */
	struct tt_perf_number gb_s, dram_percent, tflops, flops_percent;
	const char *bound; /* "DRAM", "FLOP", "BOTH", "SLOW", "HOST" or "" */
	enum tt_perf_category category;
	enum tt_perf_limit limit;
	const char *fidelity, *in0_type, *in1_type, *out_type, *in0_memory;
	bool dram_sharded;
	int64_t block_w, subblock_h, subblock_w; /* of its program; -1: not said */
	uint64_t config;                         /* the same for lines with the same tensors */
	char size_text[80];
};

/* What one line needs of those before it, and of the whole file. */
struct tt_perf_state {
	const struct tt_perf_chip *chip;
	uint32_t cores; /* of the chip, where a line does not say */
	bool any;       /* there was an operation before */
	bool invalid;   /* that made no sense */
};

/* Reads a line; missing cells are blank. */
void tt_perf_op_read(struct tt_perf_op *op, struct tt_perf_state *state,
		     const struct tt_perf_header *header, const char *const *cells, size_t count);

/* What may help, each sentence with `between` before it but the first; nothing when there is nothing to say. */
void tt_perf_advice(struct tt_str *out, const struct tt_perf_op *op, const char *between);

/* The cell of a column, or "". */
const char *tt_perf_cell(const struct tt_perf_header *header, enum tt_perf_column column,
			 const char *const *cells, size_t count);

/* A cell as a finite number. */
struct tt_perf_number tt_perf_number_of(const char *cell);

#endif
