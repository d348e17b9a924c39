#include "tensor/core.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

/* Far beyond any chip; keeps the search for overlapping ranges short. */
#define RANGES_MAX 16384

struct tt_core_set {
	size_t count; /* of ranges */
	size_t cores;
	uint64_t hash;
	struct ttnn_core_range ranges[];
};

struct range_vec {
	struct ttnn_core_range *data;
	size_t count, room;
};

/* Every set there is, by the bytes of its ranges. An entry without a set is one that ran out of
 * memory half-way. */
TT_LOCK_STATIC(lock, TT_RANK_CORES, NULL);
static struct tt_map sets;

/* ---- making sets --------------------------------------------------------------------------- */

static const ttnn_core_set *find(const struct ttnn_core_range *ranges, size_t count)
{
	const struct tt_map_entry *entry;
	const ttnn_core_set *set;

	tt_lock_take(&lock);
	entry = tt_map_find(&sets, ranges, count * sizeof(*ranges));
	set = entry ? entry->pointer : NULL;
	tt_lock_give(&lock);
	return set;
}

static tt_status intern(const ttnn_core_set **out, const struct ttnn_core_range *ranges,
			size_t count, uint64_t cores)
{
	size_t bytes = count * sizeof(*ranges);
	struct tt_core_set *set = NULL;
	struct tt_map_entry *entry;

	tt_lock_take(&lock);
	entry = tt_map_add(&sets, ranges, bytes, NULL);
	if (entry)
		set = entry->pointer;
	if (entry && !set) {
		set = tt_alloc(sizeof(*set) + bytes);
		entry->pointer = set;
		if (set) {
			set->count = count;
			set->cores = (size_t)cores;
			set->hash = tt_hash(0, ranges, bytes);
			if (bytes)
				memcpy(set->ranges, ranges, bytes);
		}
	}
	tt_lock_give(&lock);
	if (!set)
		return tt_fail_nomem();
	*out = set;
	return TTNN_OK;
}

bool tt_core_range_intersect(struct ttnn_core_range *out, const struct ttnn_core_range *a,
			     const struct ttnn_core_range *b)
{
	struct ttnn_core_range both = {
		{a->start.x > b->start.x ? a->start.x : b->start.x,
		 a->start.y > b->start.y ? a->start.y : b->start.y},
		{a->end.x < b->end.x ? a->end.x : b->end.x,
		 a->end.y < b->end.y ? a->end.y : b->end.y},
	};

	if (both.start.x > both.end.x || both.start.y > both.end.y)
		return false;
	*out = both;
	return true;
}

static tt_status check_order(const struct ttnn_core_range *r)
{
	if (r->end.x >= r->start.x && r->end.y >= r->start.y)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID,
			    "end_coord.x >= start_coord.x and end_coord.y >= start_coord.y",
			    "Invalid core range for start_coord: %u-%u, end_coord: %u-%u",
			    r->start.x, r->start.y, r->end.x, r->end.y);
}

/* Adds the cores of a range to a sum; chips have hundreds, so 32 bits must do. */
static tt_status add_cores(uint64_t *sum, const struct ttnn_core_range *r)
{
	uint64_t width = (uint64_t)r->end.x - r->start.x + 1;
	uint64_t height = (uint64_t)r->end.y - r->start.y + 1;

	if (width > UINT32_MAX || height > UINT32_MAX || width * height > UINT32_MAX - *sum)
		return tt_fail(TTNN_INVALID, "A set of more than 2^32 cores is absurd");
	*sum += width * height;
	return TTNN_OK;
}

static tt_status check_overlap(const struct ttnn_core_range *a, const struct ttnn_core_range *b)
{
	struct ttnn_core_range both;

	if (!tt_core_range_intersect(&both, a, b))
		return TTNN_OK;
	return tt_fail_cond(
		TTNN_INVALID, "tt::exception",
		"Cannot create CoreRangeSet with specified core ranges because core ranges "
		"[%u-%u - %u-%u] and [%u-%u - %u-%u] overlap!",
		a->start.x, a->start.y, a->end.x, a->end.y, b->start.x, b->start.y, b->end.x,
		b->end.y);
}

enum ttnn_status ttnn_core_set_make(const ttnn_core_set **out, const struct ttnn_core_range *ranges,
				    size_t count)
{
	const ttnn_core_set *known;
	uint64_t cores = 0;

	if (count > RANGES_MAX)
		return tt_fail(TTNN_INVALID, "A set of %zu core ranges: at most %d are possible",
			       count, RANGES_MAX);
	known = find(ranges, count);
	if (known) {
		*out = known;
		return TTNN_OK;
	}
	for (size_t i = 0; i < count; i++)
		TT_TRY(check_order(&ranges[i]));
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++)
			TT_TRY(check_overlap(&ranges[i], &ranges[k]));
	for (size_t i = 0; i < count; i++)
		TT_TRY(add_cores(&cores, &ranges[i]));
	return intern(out, ranges, count, cores);
}

tt_status tt_core_set_grid(const ttnn_core_set **out, uint32_t width, uint32_t height)
{
	struct ttnn_core_range range = {{0, 0}, {width - 1, height - 1}};

	if (!width || !height)
		return tt_fail(TTNN_INVALID, "A core grid of %u x %u cores is empty", width,
			       height);
	return ttnn_core_set_make(out, &range, 1);
}

/* ---- reading sets -------------------------------------------------------------------------- */

const struct ttnn_core_range *ttnn_core_set_ranges(const ttnn_core_set *set, size_t *count)
{
	if (count)
		*count = set->count;
	return set->ranges;
}

size_t ttnn_core_set_cores(const ttnn_core_set *set)
{
	return set->cores;
}

uint64_t tt_core_set_hash(const ttnn_core_set *set)
{
	return set->hash;
}

size_t tt_core_set_count(void)
{
	size_t count;

	tt_lock_take(&lock);
	count = sets.count;
	tt_lock_give(&lock);
	return count;
}

tt_status tt_core_set_box(struct ttnn_core_range *out, const ttnn_core_set *set)
{
	struct ttnn_core_range box;

	if (!set->count)
		return tt_fail_cond(TTNN_INVALID, "!this->ranges().empty()",
				    "Cannot get bounding_box of an empty CoreRangeSet!");
	box = set->ranges[0];
	for (size_t i = 1; i < set->count; i++) {
		const struct ttnn_core_range *r = &set->ranges[i];

		box.start.x = r->start.x < box.start.x ? r->start.x : box.start.x;
		box.start.y = r->start.y < box.start.y ? r->start.y : box.start.y;
		box.end.x = r->end.x > box.end.x ? r->end.x : box.end.x;
		box.end.y = r->end.y > box.end.y ? r->end.y : box.end.y;
	}
	*out = box;
	return TTNN_OK;
}

bool tt_core_set_contains(const ttnn_core_set *set, struct ttnn_core core)
{
	for (size_t i = 0; i < set->count; i++)
		if (tt_core_range_contains(&set->ranges[i], core))
			return true;
	return false;
}

bool tt_core_set_includes(const ttnn_core_set *set, const ttnn_core_set *inner)
{
	struct ttnn_core_range both;
	uint64_t left = inner->cores;

	/* ranges of one set are disjoint, so no core is counted twice */
	for (size_t i = 0; i < set->count; i++)
		for (size_t k = 0; k < inner->count; k++)
			if (tt_core_range_intersect(&both, &set->ranges[i], &inner->ranges[k]))
				left -= tt_core_range_cores(&both);
	return left == 0;
}

/* Core number `index` of one range. */
static struct ttnn_core core_of_range(const struct ttnn_core_range *range, uint64_t index,
				      enum ttnn_orientation orientation)
{
	uint64_t width = (uint64_t)range->end.x - range->start.x + 1;
	uint64_t height = (uint64_t)range->end.y - range->start.y + 1;
	bool rows = orientation == TTNN_ORIENT_ROW_MAJOR;
	uint64_t x = rows ? index % width : index / height;
	uint64_t y = rows ? index / width : index % height;

	return (struct ttnn_core){range->start.x + (uint32_t)x, range->start.y + (uint32_t)y};
}

struct ttnn_core tt_core_set_at(const ttnn_core_set *set, uint64_t index,
				enum ttnn_orientation orientation)
{
	size_t i = 0;

	for (; i + 1 < set->count && index >= tt_core_range_cores(&set->ranges[i]); i++)
		index -= tt_core_range_cores(&set->ranges[i]);
	return core_of_range(&set->ranges[i], index, orientation);
}

size_t tt_core_set_list(struct ttnn_core *out, size_t room, const ttnn_core_set *set,
			enum ttnn_orientation orientation)
{
	size_t written = 0;

	for (size_t i = 0; i < set->count; i++) {
		uint64_t cores = tt_core_range_cores(&set->ranges[i]);

		for (uint64_t k = 0; k < cores && written < room; k++)
			out[written++] = core_of_range(&set->ranges[i], k, orientation);
	}
	return written;
}

/* ---- new sets from old ---------------------------------------------------------------------- */

static bool push(struct range_vec *vec, const struct ttnn_core_range *range)
{
	struct ttnn_core_range *slot = TT_VEC_PUSH(vec);

	if (slot)
		*slot = *range;
	return slot != NULL;
}

static bool push_all(struct range_vec *vec, const ttnn_core_set *set)
{
	bool ok = true;

	for (size_t i = 0; i < set->count && ok; i++)
		ok = push(vec, &set->ranges[i]);
	return ok;
}

/* Interns what was collected (`ok`: without running out of memory) and frees the collection. */
static tt_status finish(const ttnn_core_set **out, struct range_vec *vec, bool ok)
{
	tt_status status = ok ? ttnn_core_set_make(out, vec->data, vec->count) : tt_fail_nomem();

	TT_VEC_DEINIT(vec);
	return status;
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* The normal order: by first core, x before y. */
static int compare_ranges(const void *left, const void *right)
{
	const struct ttnn_core_range *a = left, *b = right;
	int order = compare_u32(a->start.x, b->start.x);

	return order ? order : compare_u32(a->start.y, b->start.y);
}

static int compare_u64(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Grows the finished range that this row segment continues downwards, or starts a new one. */
static bool add_segment(struct range_vec *done, const struct ttnn_core_range *segment)
{
	for (size_t i = 0; i < done->count; i++) {
		struct ttnn_core_range *above = &done->data[i];

		if (above->start.x == segment->start.x && above->end.x == segment->end.x &&
		    (uint64_t)above->end.y + 1 == segment->start.y) {
			above->end.y = segment->end.y;
			return true;
		}
	}
	return push(done, segment);
}

/*
 * Rows first..last all look alike: between them no range starts or ends. Joins what touches in x
 * and adds the segments. `all` is sorted by x.
 */
static bool add_band(struct range_vec *done, const struct range_vec *all, uint64_t first,
		     uint64_t last)
{
	struct ttnn_core_range segment = {0};
	bool open = false, ok = true;

	for (size_t i = 0; i < all->count && ok; i++) {
		const struct ttnn_core_range *r = &all->data[i];

		if (r->start.y > first || r->end.y < last)
			continue;
		if (open && r->start.x <= (uint64_t)segment.end.x + 1) {
			if (r->end.x > segment.end.x)
				segment.end.x = r->end.x;
			continue;
		}
		if (open)
			ok = add_segment(done, &segment);
		segment = (struct ttnn_core_range){{r->start.x, (uint32_t)first},
						   {r->end.x, (uint32_t)last}};
		open = true;
	}
	return ok && (!open || add_segment(done, &segment));
}

static bool merge_ranges(struct range_vec *done, struct range_vec *all)
{
	uint64_t *edges = tt_alloc(2 * all->count * sizeof(*edges));
	bool ok = edges != NULL;

	if (!ok)
		return false;
	qsort(all->data, all->count, sizeof(*all->data), compare_ranges);
	for (size_t i = 0; i < all->count; i++) {
		edges[2 * i] = all->data[i].start.y;
		edges[2 * i + 1] = (uint64_t)all->data[i].end.y + 1;
	}
	qsort(edges, 2 * all->count, sizeof(*edges), compare_u64);
	for (size_t i = 0; i + 1 < 2 * all->count && ok; i++)
		if (edges[i] != edges[i + 1])
			ok = add_band(done, all, edges[i], edges[i + 1] - 1);
	tt_free(edges);
	if (ok)
		qsort(done->data, done->count, sizeof(*done->data), compare_ranges);
	return ok;
}

tt_status tt_core_set_merge(const ttnn_core_set **out, const ttnn_core_set *a,
			    const ttnn_core_set *b)
{
	struct range_vec all = {0}, done = {0};
	bool ok;

	if (!b && a->count <= 1) {
		*out = a;
		return TTNN_OK;
	}
	ok = push_all(&all, a) && (!b || push_all(&all, b));
	if (ok && all.count)
		ok = merge_ranges(&done, &all);
	TT_VEC_DEINIT(&all);
	return finish(out, &done, ok);
}

/* Appends what is left of a range when `hole`, which lies inside it, is taken out. */
static bool push_around(struct range_vec *vec, const struct ttnn_core_range *r,
			const struct ttnn_core_range *hole)
{
	struct ttnn_core_range left = {r->start, {hole->start.x - 1, r->end.y}};
	struct ttnn_core_range right = {{hole->end.x + 1, r->start.y}, r->end};
	struct ttnn_core_range above = {{hole->start.x, r->start.y},
					{hole->end.x, hole->start.y - 1}};
	struct ttnn_core_range below = {{hole->start.x, hole->end.y + 1}, {hole->end.x, r->end.y}};

	return (r->start.x == hole->start.x || push(vec, &left)) &&
	       (r->end.x == hole->end.x || push(vec, &right)) &&
	       (r->start.y == hole->start.y || push(vec, &above)) &&
	       (r->end.y == hole->end.y || push(vec, &below));
}

/* Replaces the ranges from `from` on by what is left of them without `hole`. */
static bool cut(struct range_vec *vec, size_t from, const struct ttnn_core_range *hole)
{
	struct range_vec rest = {0};
	struct ttnn_core_range both;
	bool ok = true;

	for (size_t i = from; i < vec->count && ok; i++)
		ok = tt_core_range_intersect(&both, &vec->data[i], hole)
			     ? push_around(&rest, &vec->data[i], &both)
			     : push(&rest, &vec->data[i]);
	vec->count = from;
	for (size_t i = 0; i < rest.count && ok; i++)
		ok = push(vec, &rest.data[i]);
	TT_VEC_DEINIT(&rest);
	return ok;
}

tt_status tt_core_set_subtract(const ttnn_core_set **out, const ttnn_core_set *a,
			       const ttnn_core_set *b)
{
	struct range_vec left = {0};
	bool ok = true;

	TT_TRY(tt_core_set_merge(&a, a, NULL));
	TT_TRY(tt_core_set_merge(&b, b, NULL));
	for (size_t i = 0; i < a->count && ok; i++) {
		size_t from = left.count;

		ok = push(&left, &a->ranges[i]);
		for (size_t k = 0; k < b->count && ok; k++)
			ok = cut(&left, from, &b->ranges[k]);
	}
	return finish(out, &left, ok);
}

tt_status tt_core_set_intersect(const ttnn_core_set **out, const ttnn_core_set *a,
				const ttnn_core_set *b)
{
	struct range_vec common = {0};
	struct ttnn_core_range both;
	bool ok = true;

	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < b->count && ok; k++)
			if (tt_core_range_intersect(&both, &a->ranges[i], &b->ranges[k]))
				ok = push(&common, &both);
	return finish(out, &common, ok);
}
