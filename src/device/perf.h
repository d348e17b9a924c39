/*
 * perf.h: what an operation would take on a perfect chip: the "PM" columns of profiles. Computed
 * from shapes alone, as upstream does it, in single precision where upstream is.
 *
 * Operations say how many cycles their arithmetic takes (products, pooling) or their transfers over
 * the NoC (data movement); the rest is the time DRAM needs for the largest tensor. Operations without
 * a model have 1, 1, 1: struct tt_perf of TT_PERF_NONE.
 */
#ifndef TT_DEVICE_PERF_H
#define TT_DEVICE_PERF_H

#include "device/arch.h"

struct tt_perf {
	uint64_t compute_ns, bandwidth_ns, ideal_ns;
};

#define TT_PERF_NONE ((struct tt_perf){1, 1, 1})

/* The tensors of an operation, and the cycles its arithmetic or transfers take. */
struct tt_perf_work {
	uint64_t cycles;
	const struct ttnn_tensor_spec *const *inputs, *const *outputs;
	size_t input_count, output_count;
};

struct tt_perf tt_perf_ideal(const struct tt_arch *arch, const struct tt_perf_work *work);

/* Bytes per nanosecond that a tensor needs to be there in ideal_ns: PM REQ I BW and O BW. */
float tt_perf_request(const struct tt_perf *perf, const struct ttnn_tensor_spec *spec);

/* What a fidelity costs: passes of the multiplier; `code` as in traces (LoFi 0, HiFi4 4, ...). */
uint32_t tt_perf_passes(uint32_t code);

/* A matrix product m × k by k × n; a convolution is one with k = channels × window. */
struct tt_perf_product {
	uint64_t m, k, n, batch;
	uint32_t passes;
};

uint64_t tt_perf_product_cycles(const struct tt_perf_product *product, uint32_t cores);

/* Pooling: `values` are read in all, window × outputs. */
uint64_t tt_perf_pool_cycles(uint64_t values, uint32_t cores);

/* A tensor that is read, moved and written. */
struct tt_perf_move {
	const struct ttnn_tensor_spec *input, *output;
	uint64_t compute_cycles; /* of the arithmetic on the way, all cores together */
	bool output_only;        /* reading is free */
	bool per_face_row;       /* tiles are written by rows of faces where rows stay whole */
	bool splits;             /* as much is written as is read */
	bool joins;              /* as much is read as is written */
	bool local;              /* nothing leaves its core */
};

uint64_t tt_perf_move_cycles(const struct tt_arch *arch, struct tt_grid grid,
			     const struct tt_perf_move *move);

#endif
