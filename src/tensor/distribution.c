#include "tensor/distribution.h"

#include <inttypes.h>

#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/shape.h"

/* ---- making -------------------------------------------------------------------------------------- */

static tt_status check(const struct ttnn_shape *tensor, const struct ttnn_nd_shard_spec *shard)
{
	uint64_t volume;
	size_t ranges;

	if (!tensor->rank)
		return tt_fail_cond(TTNN_INVALID, "tensor_shape_in_pages.rank() >= 1",
				    "Tensor rank must be at least 1!");
	if (!shard->shape.rank)
		return tt_fail_cond(TTNN_INVALID, "shard_shape_in_pages.rank() >= 1",
				    "Shard rank must be at least 1!");
	TT_TRY(ttnn_shape_volume(&volume, &shard->shape));
	if (!volume)
		return tt_fail_cond(TTNN_INVALID, "shard_shape_in_pages.volume() != 0",
				    "Shard shape must have non zero volume!");
	if (shard->strategy != TTNN_GRID_2D)
		return TTNN_OK;
	if (shard->shape.rank > 2)
		return tt_fail_cond(TTNN_INVALID, "shard_shape_in_pages.rank() <= 2",
				    "2D grid distribution is only supported for 2D sharding!");
	ttnn_core_set_ranges(shard->grid, &ranges);
	if (ranges != 1)
		return tt_fail_cond(
			TTNN_INVALID, "core_range_set.ranges().size() == 1",
			"2D grid distribution is only supported for one contiguous core "
			"grid!");
	return TTNN_OK;
}

/* Gives the tensor the rank of the shard: what lies further out is folded into the first. */
static tt_status fold(struct tt_distribution *d, const struct ttnn_shape *tensor,
		      const struct ttnn_shape *shard)
{
	uint32_t outer = tensor->rank - shard->rank;
	uint64_t first = 1;

	if (tensor->rank < shard->rank)
		return tt_fail_cond(TTNN_INVALID, "tensor_shape.rank() >= shard_shape.rank()",
				    "Tensor shape rank (%" PRIu32
				    ") can't be less than shard shape rank (%" PRIu32 ")!",
				    tensor->rank, shard->rank);
	for (uint32_t i = 0; i <= outer; i++)
		if (__builtin_mul_overflow(first, tensor->dim[i], &first) || first > UINT32_MAX)
			return tt_fail(TTNN_INVALID,
				       "A tensor with more than 2^32 pages in one direction "
				       "cannot be sharded");
	d->tensor.rank = d->shard.rank = d->grid.rank = shard->rank;
	d->tensor.dim[0] = (uint32_t)first;
	for (uint32_t i = 1; i < shard->rank; i++)
		d->tensor.dim[i] = tensor->dim[outer + i];
	for (uint32_t i = 0; i < shard->rank; i++) {
		d->shard.dim[i] = shard->dim[i];
		d->grid.dim[i] = (uint32_t)tt_div_up(d->tensor.dim[i], shard->dim[i]);
	}
	return TTNN_OK;
}

/* A two-dimensional distribution uses the corner of the grid that its shards fill. */
static tt_status trim_grid(struct tt_distribution *d, const struct ttnn_nd_shard_spec *shard)
{
	bool by_row = shard->orientation == TTNN_ORIENT_ROW_MAJOR;
	uint32_t across = tt_shape_last(&d->grid, by_row ? 1 : 2);
	uint32_t down = tt_shape_last(&d->grid, by_row ? 2 : 1);
	struct ttnn_core_range range = *ttnn_core_set_ranges(shard->grid, NULL);

	across = across ? across : 1; /* an empty tensor still names one core */
	down = down ? down : 1;
	if (across - 1 > range.end.x - range.start.x)
		return tt_fail_cond(
			TTNN_INVALID, "num_shards_along_width <= core_grid.grid_size().x",
			"Number of shards along width must not exceed core grid width!");
	if (down - 1 > range.end.y - range.start.y)
		return tt_fail_cond(
			TTNN_INVALID, "num_shards_along_height <= core_grid.grid_size().y",
			"Number of shards along height must not exceed core grid height!");
	range.end = (struct ttnn_core){range.start.x + across - 1, range.start.y + down - 1};
	return ttnn_core_set_make(&d->cores, &range, 1);
}

tt_status tt_distribution_of(struct tt_distribution *out, const struct ttnn_shape *tensor,
			     const struct ttnn_nd_shard_spec *shard)
{
	struct tt_distribution d = {
		.cores = shard->grid,
		.orientation = shard->orientation,
		.contiguous = shard->strategy == TTNN_CONTIGUOUS_1D,
	};

	TT_TRY(check(tensor, shard));
	TT_TRY(fold(&d, tensor, &shard->shape));
	if (shard->strategy == TTNN_GRID_2D)
		TT_TRY(trim_grid(&d, shard));
	d.core_count = ttnn_core_set_cores(d.cores);
	TT_TRY(ttnn_shape_volume(&d.pages, &d.tensor));
	TT_TRY(ttnn_shape_volume(&d.shards, &d.grid));
	TT_TRY(ttnn_shape_volume(&d.shard_pages, &d.shard));
	if (d.pages && !d.core_count)
		return tt_fail_cond(TTNN_INVALID, "!cores_.empty()",
				    "Can't distribute non zero volume tensor over an empty set of "
				    "cores");
	*out = d;
	return TTNN_OK;
}

/* The last two extents of a shape, counted in pages. */
static void count_pages(struct ttnn_shape *shape, const struct ttnn_tensor_spec *spec)
{
	uint32_t *dim = shape->dim + shape->rank;

	if (shape->rank >= 1)
		dim[-1] = (uint32_t)tt_div_up(dim[-1], spec->page_cols);
	if (shape->rank >= 2)
		dim[-2] = (uint32_t)tt_div_up(dim[-2], spec->page_rows);
}

tt_status tt_distribution_make(struct tt_distribution *out, const struct ttnn_tensor_spec *spec)
{
	struct ttnn_nd_shard_spec shard = spec->memory.nd_shard;
	struct ttnn_shape tensor = spec->padded;

	if (!tt_memory_config_is_sharded(&spec->memory))
		return tt_fail(TTNN_INVALID, "An interleaved tensor has no shards to distribute");
	if (!spec->memory.has_nd_shard)
		return tt_fail_cond(
			TTNN_INVALID,
			"memory_config_.shard_spec().has_value() || "
			"memory_config_.nd_shard_spec().has_value()",
			"MemoryConfig must have Shard Spec specified for sharded memory "
			"layout");
	count_pages(&tensor, spec);
	count_pages(&shard.shape, spec);
	return tt_distribution_of(out, &tensor, &shard);
}

/* ---- asking -------------------------------------------------------------------------------------- */

static uint64_t shards_per_core(const struct tt_distribution *d)
{
	return d->core_count ? tt_div_up(d->shards, d->core_count) : 0;
}

uint64_t tt_distribution_cores(const struct tt_distribution *d)
{
	return d->shards < d->core_count ? d->shards : d->core_count;
}

uint64_t tt_distribution_core_pages(const struct tt_distribution *d)
{
	return shards_per_core(d) * d->shard_pages;
}

struct ttnn_core tt_distribution_core(const struct tt_distribution *d, uint64_t index)
{
	return tt_core_set_at(d->cores, index, d->orientation);
}

tt_status tt_distribution_check(const struct tt_distribution *d)
{
	if (d->contiguous && d->core_count && d->shards % d->core_count)
		return tt_fail_cond(
			TTNN_INVALID,
			"!shard_contiguous_placement || num_shards % cores.size() == 0",
			"CONTIGUOUS_1D distribution requires a uniform shards-per-core: "
			"num_shards (%" PRIu64 ") must be divisible by num_cores (%" PRIu64 ").",
			d->shards, d->core_count);
	return TTNN_OK;
}

struct tt_page_place tt_distribution_find(const struct tt_distribution *d, uint64_t host)
{
	uint64_t shard = 0, inside = 0, per = shards_per_core(d), rest = host;
	uint64_t shard_step = 1, page_step = 1, slot;
	struct tt_page_place place = {.host = host};

	if (!per) /* no shards, no pages */
		return place;
	for (uint32_t i = d->tensor.rank; i-- > 0;) {
		uint64_t at = rest % d->tensor.dim[i];

		rest /= d->tensor.dim[i];
		shard += at / d->shard.dim[i] * shard_step;
		inside += at % d->shard.dim[i] * page_step;
		shard_step *= d->grid.dim[i];
		page_step *= d->shard.dim[i];
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there is a page, so there is a core */
	place.core = d->contiguous ? shard / per : shard % d->core_count;
	slot = d->contiguous ? shard % per : shard / d->core_count;
	place.page = slot * d->shard_pages + inside;
	return place;
}

bool tt_distribution_host(uint64_t *host, const struct tt_distribution *d, uint64_t core,
			  uint64_t page)
{
	uint64_t per = shards_per_core(d);
	uint64_t slot = page / d->shard_pages, inside = page % d->shard_pages;
	uint64_t shard = d->contiguous ? core * per + slot : slot * d->core_count + core;
	uint64_t index = 0, step = 1;

	if (core >= d->core_count || slot >= per || shard >= d->shards)
		return false;
	for (uint32_t i = d->tensor.rank; i-- > 0;) {
		uint64_t at = shard % d->grid.dim[i] * d->shard.dim[i] + inside % d->shard.dim[i];

		if (at >= d->tensor.dim[i])
			return false;
		shard /= d->grid.dim[i];
		inside /= d->shard.dim[i];
		index += at * step;
		step *= d->tensor.dim[i];
	}
	*host = index;
	return true;
}
