/*
 * perf_sum.h: the operations of a performance report by name: how many, how long, how far apart from each other. Tables
 * and comparisons are made of it.
 */
#ifndef TT_PROFILE_PERF_SUM_H
#define TT_PROFILE_PERF_SUM_H

#include "base/map.h"
#include "profile/perf_file.h"

/* All operations of a name. */
struct tt_perf_group {
	const char *op_code;
	enum tt_perf_category category;
	uint64_t count, timed; /* with a time on the device */
	double us, longest_us, gap_us;
	double mean;
	double variance; /* of the sum of the times: noise, as operations with the same tensors tell it */
	uint64_t limits[TT_PERF_HOST_LIMIT + 1];
	double flops_us; /* times × percent of the peak */
	double dram_us;
	uint32_t cores; /* the most */
};

/* Times of operations with the same tensors, as Welford sums them: squares of the distances from the mean. */
struct tt_perf_config {
	struct tt_perf_group *group;
	uint64_t count;
	double mean, squares;
};

/* A time that was measured once: its noise is taken to be this share, as three standard errors. */
#define TT_PERF_SINGLE_NOISE 0.25

/* What one line needs to be told of later. */
struct tt_perf_slow {
	uint64_t line, outer; /* as tt_perf_op has them */
	char *op_code, *size, *advice;
	const char *bound;
	struct tt_perf_number us, gap, dram_percent, flops_percent;
	uint32_t cores;
	enum tt_perf_limit limit;
};

/* The lines that took longest are kept. */
#define TT_PERF_SLOWEST 10

/* All zero is an empty one. */
struct tt_perf_sum {
	struct tt_map names;           /* → struct tt_perf_group */
	struct tt_map configs;         /* name and tensors → struct tt_perf_config */
	struct tt_perf_group **groups; /* by time, the longest first; after tt_perf_sum_file() */
	size_t count;
	double category_us[TT_PERF_CATEGORIES];
	uint64_t category_ops[TT_PERF_CATEGORIES];
	struct tt_perf_slow slow[TT_PERF_SLOWEST]; /* the slowest first */
	size_t slow_count;
	uint64_t long_gaps; /* that a captured trace could spare */
	double long_gap_us;
	double host_us;
};

/* Reads a file that was opened. Free the sum also after a failure. */
tt_status tt_perf_sum_file(struct tt_perf_sum *out, struct tt_perf_file *file);

void tt_perf_sum_deinit(struct tt_perf_sum *sum);

/* The group of a name, or NULL. */
const struct tt_perf_group *tt_perf_sum_find(const struct tt_perf_sum *sum, const char *op_code);

/* The standard error of a group's mean. */
double tt_perf_group_error(const struct tt_perf_group *group);

#endif
