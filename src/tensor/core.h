/*
 * core.h: cores, rectangles of cores, and sets of rectangles.
 *
 * A core set is the list of ranges it was made from, in that order: the order decides which core
 * gets which shard, and how the set prints. Sets are interned: making the same list twice gives the
 * same object, from any thread, and objects are never freed. So sets are compared by pointer, kept
 * without ownership, and cost one lookup to make.
 *
 * The same cores can be cut into ranges in many ways. Circular buffers show the cut they were given;
 * dataflow buffers, and every set made by tt_core_set_merge(), show the normal one: rows first, equal
 * rows above each other joined, ranges sorted by their first core, x before y.
 */
#ifndef TT_TENSOR_CORE_H
#define TT_TENSOR_CORE_H

#include "base/status.h"

/* How many cores a range holds. */
static inline uint64_t tt_core_range_cores(const struct ttnn_core_range *range)
{
	return ((uint64_t)range->end.x - range->start.x + 1) *
	       ((uint64_t)range->end.y - range->start.y + 1);
}

static inline bool tt_core_range_contains(const struct ttnn_core_range *range,
					  struct ttnn_core core)
{
	return core.x >= range->start.x && core.x <= range->end.x && core.y >= range->start.y &&
	       core.y <= range->end.y;
}

/* The common part of two ranges; false when there is none. */
bool tt_core_range_intersect(struct ttnn_core_range *out, const struct ttnn_core_range *a,
			     const struct ttnn_core_range *b);

/* The rectangle (0, 0) .. (width - 1, height - 1); refuses an empty one. */
tt_status tt_core_set_grid(const ttnn_core_set **out, uint32_t width, uint32_t height);

/* The smallest range around all cores; refuses the empty set. */
tt_status tt_core_set_box(struct ttnn_core_range *out, const ttnn_core_set *set);

bool tt_core_set_contains(const ttnn_core_set *set, struct ttnn_core core);

/* Whether every core of `inner` is in `set`. */
bool tt_core_set_includes(const ttnn_core_set *set, const ttnn_core_set *inner);

/* The cores of both sets in the normal cut. `b` may be NULL: the normal cut of `a`. */
tt_status tt_core_set_merge(const ttnn_core_set **out, const ttnn_core_set *a,
			    const ttnn_core_set *b);

/* The cores of `a` that are not in `b`; ranges in upstream's order. */
tt_status tt_core_set_subtract(const ttnn_core_set **out, const ttnn_core_set *a,
			       const ttnn_core_set *b);

/* The cores that are in both, range by range. */
tt_status tt_core_set_intersect(const ttnn_core_set **out, const ttnn_core_set *a,
				const ttnn_core_set *b);

/* Core number `index`, range after range, inside a range row by row or column by column. */
struct ttnn_core tt_core_set_at(const ttnn_core_set *set, uint64_t index,
				enum ttnn_orientation orientation);

/* Writes the first `room` cores in that order; returns how many were written. */
size_t tt_core_set_list(struct ttnn_core *out, size_t room, const ttnn_core_set *set,
			enum ttnn_orientation orientation);

/* A number that is the same for equal sets in every process. */
uint64_t tt_core_set_hash(const ttnn_core_set *set);

/* For tests: how many different sets exist. */
size_t tt_core_set_count(void);

#endif
