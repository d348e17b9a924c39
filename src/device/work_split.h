/*
 * work_split.h: how operations spread work over cores. The same questions come back in every program:
 * which cores, how much for each, who gets the rest. Upstream's answers decide the core ranges that
 * traces show, so the cut of the sets matters as much as their cores.
 *
 * Lines are filled one after the other: rows in TTNN_ORIENT_ROW_MAJOR, columns in
 * TTNN_ORIENT_COL_MAJOR, which is the usual one. Work is spread over a grid of cores from (0, 0), or
 * inside a set of cores (an operation's sub_core_grids): there range after range, in their order.
 *
 * All functions may be called from any thread. Sets are interned and borrowed for ever.
 */
#ifndef TT_DEVICE_WORK_SPLIT_H
#define TT_DEVICE_WORK_SPLIT_H

#include "base/status.h"

/*
 * `count` cores of a grid (columns, rows) from `start` on, as up to three ranges: the rest of the
 * first line, full lines, the begin of the last one. 0 cores are the empty set.
 */
tt_status tt_split_cores(const ttnn_core_set **out, struct ttnn_core grid, struct ttnn_core start,
			 uint64_t count, enum ttnn_orientation order);

/* The same inside a set; `start` is one of its cores and count is at least 1. */
tt_status tt_split_cores_in(const ttnn_core_set **out, const ttnn_core_set *set,
			    struct ttnn_core start, uint64_t count, enum ttnn_orientation order);

/*
 * The first `count` cores of a set as a range each, sorted by x, then y: how programs that pick their
 * cores one by one show them. Refuses more cores than there are.
 */
tt_status tt_split_singles(const ttnn_core_set **out, const ttnn_core_set *set, uint64_t count,
			   enum ttnn_orientation order);

/* Units of work in two groups: the first one's cores have one unit more. */
struct tt_work_split {
	uint64_t cores; /* with work */
	const ttnn_core_set *all;
	const ttnn_core_set *group[2]; /* the second is empty when all have the same */
	uint64_t units[2];             /* for each core of a group */
};

/* Spreads units over a grid; no units, no cores. */
tt_status tt_split_work(struct tt_work_split *out, struct ttnn_core grid, uint64_t units,
			enum ttnn_orientation order);

/* The same inside a set. */
tt_status tt_split_work_in(struct tt_work_split *out, const ttnn_core_set *set, uint64_t units,
			   enum ttnn_orientation order);

/* Blocks in equal shares; the last core may get less. */
struct tt_block_split {
	uint64_t cores;
	const ttnn_core_set *all;
	const ttnn_core_set *full;  /* with `share` blocks each */
	const ttnn_core_set *cliff; /* with `rest` blocks: one core, or none */
	uint64_t share, rest;
};

/*
 * Spreads blocks over a set, in the normal cut (tensor/core.h). Tilize and its relatives fill
 * columns, untilize rows.
 */
tt_status tt_split_blocks(struct tt_block_split *out, const ttnn_core_set *set, uint64_t blocks,
			  enum ttnn_orientation order);

/* A core can hold any number of tiles. */
#define TT_SPLIT_NO_LIMIT UINT64_MAX

/* What tt_split_blocks_2d() starts from, counted in tiles. */
struct tt_block_area {
	uint64_t width, height; /* of one matrix */
	uint64_t tiles;         /* of all */
	uint64_t limit;         /* tiles that a core can hold beside each other */
};

/* Square blocks of tiles; the last of a row and of a column may be smaller. */
struct tt_block_split_2d {
	uint64_t cores;
	const ttnn_core_set *all;
	const ttnn_core_set *full, *cliff_row, *cliff_col, *cliff_both;
	uint64_t block;                    /* tiles along an edge */
	uint64_t sub_block;                /* divides it: what a core works on at a time */
	uint64_t row_rest, col_rest;       /* edge of the smaller blocks; 0: there are none */
	uint64_t full_in_row, full_in_col; /* blocks of full size */
	uint64_t per_core;                 /* tiles, as upstream reckons them */
};

/* Spreads a matrix too wide for one core per row; a block for each core, row after row of blocks. */
tt_status tt_split_blocks_2d(struct tt_block_split_2d *out, const ttnn_core_set *set,
			     const struct tt_block_area *area, enum ttnn_orientation order);

/* The largest divisor of value that is not above max; 1 when max is 0. value is not 0. */
uint64_t tt_split_divisor(uint64_t value, uint64_t max);

/* The same, but never 5 or 7: some kernels have no block of that size. */
uint64_t tt_split_divisor_no57(uint64_t value, uint64_t max);

#endif
