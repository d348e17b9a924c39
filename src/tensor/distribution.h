/*
 * distribution.h: which core holds which page of a sharded tensor, and where.
 *
 * The tensor, counted in pages, is cut into shards of equal size (those at the edges are padded).
 * Shards are numbered row-major over the grid of shards and dealt out to the cores; a core keeps its
 * shards one after the other, each row-major inside. A page thus has a host index (its place in the
 * tensor), a core, and a device index (its place on that core).
 *
 * Dimensions of the tensor beyond those of the shard fold into the outermost dimension that is cut.
 * A distribution is a plain value: nothing to free, shared freely.
 */
#ifndef TT_TENSOR_DISTRIBUTION_H
#define TT_TENSOR_DISTRIBUTION_H

#include "base/status.h"

struct tt_distribution {
	struct ttnn_shape tensor, shard, grid; /* in pages, in pages, in shards; same rank */
	const ttnn_core_set *cores;            /* the cores that take part */
	enum ttnn_orientation orientation;     /* the order they are counted in */
	bool contiguous;                       /* neighbouring shards stay on one core */
	uint64_t core_count;
	uint64_t shards, shard_pages;
	uint64_t pages; /* of the tensor */
};

/* One page and its place. */
struct tt_page_place {
	uint64_t host; /* page of the tensor */
	uint64_t core; /* number of the core: tt_distribution_core() */
	uint64_t page; /* page on that core */
};

/* How the pages of a sharded spec lie. Refuses what upstream refuses at allocation. */
tt_status tt_distribution_make(struct tt_distribution *out, const struct ttnn_tensor_spec *spec);

/* The same from a shape and an ND shard spec of which both are counted in pages. */
tt_status tt_distribution_of(struct tt_distribution *out, const struct ttnn_shape *tensor,
			     const struct ttnn_nd_shard_spec *shard);

/* How many cores hold data. */
uint64_t tt_distribution_cores(const struct tt_distribution *d);

/* Pages set aside on the fullest core, padding included. */
uint64_t tt_distribution_core_pages(const struct tt_distribution *d);

/* Core number `index`. */
struct ttnn_core tt_distribution_core(const struct tt_distribution *d, uint64_t index);

/*
 * Refuses distributions that pages cannot be looked up in: for who is about to call the two below.
 * Upstream allocates such buffers all the same, so making a buffer does not check this.
 */
tt_status tt_distribution_check(const struct tt_distribution *d);

/* The place of a page of the tensor; `host` is below d->pages. */
struct tt_page_place tt_distribution_find(const struct tt_distribution *d, uint64_t host);

/* The page of the tensor at a place of a core; false for padding. */
bool tt_distribution_host(uint64_t *host, const struct tt_distribution *d, uint64_t core,
			  uint64_t page);

#endif
