/*
 * parallel_config.h: how windows over images are spread over cores: which cores, in which kind of shards,
 * in which order. Pools and convolutions shard their input and output by it.
 */
#ifndef TT_OPS_CONV_PARALLEL_CONFIG_H
#define TT_OPS_CONV_PARALLEL_CONFIG_H

#include "event/value.h"

struct tt_device;

struct tt_parallel {
	const ttnn_core_set *grid;
	enum ttnn_memory_layout scheme; /* HEIGHT_, BLOCK_ or WIDTH_SHARDED */
	enum ttnn_orientation orientation;
};

/* What the choice of cores depends on. */
struct tt_parallel_request {
	enum ttnn_memory_layout scheme;
	uint32_t batch, out[2]; /* images of the result, down and across */
	uint32_t in_channels, out_channels;
	uint32_t alignment; /* of input channels */
	struct ttnn_core grid;
	enum ttnn_orientation orientation; /* of blocks */
	bool pad_channels;                 /* they need not divide evenly */
	bool tile_height, tile_width;      /* shards are whole tiles */
	uint32_t block_height;             /* rows that stay together; 0: any number */
};
tt_status tt_parallel_choose(struct tt_parallel *out, const struct tt_parallel_request *request);

/* Where the result goes: the cores of the input, or more or fewer for its channels. */
tt_status tt_parallel_output(struct tt_parallel *out, const struct tt_parallel *in,
			     struct ttnn_core grid, uint32_t channels);

/* The spread of a sharded tensor. */
struct tt_parallel tt_parallel_of(const struct ttnn_memory_config *memory);

/* Cores along the images, and along the channels. */
uint32_t tt_parallel_rows(const struct tt_parallel *parallel);
uint32_t tt_parallel_channels(const struct tt_parallel *parallel);

/* A matrix of rows × channels in L1, with shards of multiples of `unit` rows. */
tt_status tt_parallel_memory(struct ttnn_memory_config *out, const struct tt_parallel *parallel,
			     uint64_t rows, uint64_t channels, uint32_t unit);

/* As an attribute, in three values of the caller's. */
#define TT_PARALLEL_FIELDS 3
struct ttnn_value tt_parallel_value(struct ttnn_value v[TT_PARALLEL_FIELDS],
				    const struct tt_parallel *p);

/* The largest number not above `from` that divides num, and that divides both. */
uint32_t tt_divisor_below(uint32_t num, uint32_t from);
uint32_t tt_divisor_below_both(uint32_t a, uint32_t b, uint32_t from);

#endif
