#include "tensor/sharding.h"

#include <inttypes.h>

#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

#define RECOMMENDED_BYTES 64 /* the largest alignment of any device memory */

/* ---- create_sharded_memory_config ------------------------------------------------------------ */

/* How many shards lie side by side and above each other on the grid. */
static void count_shards(uint64_t *down, uint64_t *across, const struct tt_sharded_args *args)
{
	bool rows = args->orientation == TTNN_ORIENT_ROW_MAJOR;
	uint64_t cores = (uint64_t)args->grid_width * args->grid_height;

	*down = args->layout == TTNN_WIDTH_SHARDED ? 1 : cores;
	*across = args->layout == TTNN_WIDTH_SHARDED ? cores : 1;
	if (args->layout == TTNN_BLOCK_SHARDED) {
		*down = rows ? args->grid_height : args->grid_width;
		*across = rows ? args->grid_width : args->grid_height;
	}
}

static tt_status cut_evenly(struct ttnn_shard_spec *out, const struct tt_sharded_args *args)
{
	uint64_t rows, down, across, height, width = tt_shape_last(&args->shape, 1);

	if (args->cores)
		return tt_fail(TTNN_INVALID,
			       "height and width must be shard shape with CoreRangeSet");
	TT_TRY(tt_shape_rows(&rows, &args->shape));
	count_shards(&down, &across, args);
	if (rows % down || width % across)
		return tt_fail(TTNN_INVALID, "Invalid sharding core_grid");
	height = rows / down;
	if (height > UINT32_MAX)
		return tt_fail(TTNN_INVALID, "A shard of more than 2^32 rows is absurd");
	out->height = (uint32_t)height;
	out->width = (uint32_t)(width / across);
	return TTNN_OK;
}

tt_status tt_memory_config_create_sharded(struct ttnn_memory_config *out,
					  const struct tt_sharded_args *args)
{
	struct ttnn_shard_spec spec = {.grid = args->cores, .orientation = args->orientation};
	bool transposed = args->orientation == TTNN_ORIENT_COL_MAJOR;

	if (args->layout != TTNN_HEIGHT_SHARDED && args->layout != TTNN_WIDTH_SHARDED &&
	    args->layout != TTNN_BLOCK_SHARDED)
		return tt_fail(TTNN_INVALID, "Invalid sharding strategy");
	if (args->shape.rank < 2)
		return tt_fail(TTNN_INVALID, "Invalid input shape");
	if (!args->cores)
		TT_TRY(tt_core_set_grid(&spec.grid, args->grid_width, args->grid_height));
	if (args->shard_is_shape) {
		spec.height = tt_shape_last(&args->shape, transposed ? 1 : 2);
		spec.width = tt_shape_last(&args->shape, transposed ? 2 : 1);
	} else {
		TT_TRY(cut_evenly(&spec, args));
	}
	return ttnn_memory_config_sharded(out, args->layout, TTNN_L1, &spec);
}

/* ---- the builder methods of TensorSpec ------------------------------------------------------ */

static struct ttnn_shape shard_alignment(const struct ttnn_tensor_spec *spec,
					 enum tt_shard_alignment alignment)
{
	uint32_t bytes = tt_dtype_bytes(spec->dtype);

	if (alignment == TT_SHARD_ALIGN_NONE)
		return (struct ttnn_shape){0};
	if (spec->layout == TTNN_TILE)
		return TT_SHAPE(spec->tile.height, spec->tile.width);
	return TT_SHAPE(alignment == TT_SHARD_ALIGN_REQUIRED ? 1 : RECOMMENDED_BYTES / bytes);
}

tt_status tt_spec_shard(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *spec,
			const struct ttnn_nd_shard_spec *shard, enum tt_shard_alignment alignment)
{
	struct ttnn_shape unit = shard_alignment(spec, alignment);
	struct ttnn_spec_args args = tt_tensor_spec_args(spec);
	struct ttnn_nd_shard_spec rounded = *shard;

	for (uint32_t back = 1; back <= unit.rank && back <= shard->shape.rank; back++) {
		uint32_t *dim = &rounded.shape.dim[shard->shape.rank - back];
		uint64_t extent = *dim;

		if (!tt_round_up(&extent, extent, tt_shape_last(&unit, back)) ||
		    extent > UINT32_MAX)
			return tt_fail(TTNN_INVALID, "A shard of %" PRIu32 " cannot be rounded up",
				       *dim);
		*dim = (uint32_t)extent;
	}
	args.alignment.rank = 0;
	TT_TRY(ttnn_memory_config_nd(&args.memory, spec->memory.buffer, &rounded));
	return ttnn_tensor_spec_make(out, &args);
}

tt_status tt_spec_shard_2d(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *spec,
			   enum ttnn_memory_layout layout, const struct tt_shard_target *target)
{
	bool by_row = target->orientation == TTNN_ORIENT_ROW_MAJOR;
	bool block = layout == TTNN_BLOCK_SHARDED;
	struct ttnn_nd_shard_spec shard = {
		.grid = target->grid,
		.orientation = target->orientation,
		.strategy = block ? TTNN_GRID_2D : TTNN_ROUND_ROBIN_1D,
	};
	size_t cores = ttnn_core_set_cores(target->grid), count;
	const struct ttnn_core_range *range = ttnn_core_set_ranges(target->grid, &count);
	uint64_t down = layout == TTNN_HEIGHT_SHARDED ? cores : 1;
	uint64_t across = layout == TTNN_WIDTH_SHARDED ? cores : 1;
	uint64_t height, width;

	if (block && count != 1)
		return tt_fail_cond(TTNN_INVALID, "grid.ranges().size() == 1",
				    "Block sharding requires a single CoreRange");
	if (!cores)
		return tt_fail(TTNN_INVALID, "A tensor cannot be sharded over no cores");
	if (block) {
		uint64_t cols = (uint64_t)range->end.x - range->start.x + 1;

		down = by_row ? cores / cols : cols;
		across = by_row ? cols : cores / cols;
	}
	height = tt_div_up(spec->rows, down);
	width = tt_div_up(spec->cols, across);
	if (height > UINT32_MAX)
		return tt_fail(TTNN_INVALID, "A shard of more than 2^32 rows is absurd");
	shard.shape = TT_SHAPE((uint32_t)height, (uint32_t)width);
	return tt_spec_shard(out, spec, &shard,
			     block ? TT_SHARD_ALIGN_RECOMMENDED : TT_SHARD_ALIGN_REQUIRED);
}

tt_status tt_spec_shard_dims(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *spec,
			     const struct tt_shard_dims *dims, const struct tt_shard_target *target)
{
	const struct ttnn_shape *padded = &spec->padded;
	struct ttnn_nd_shard_spec shard = {.grid = target->grid,
					   .orientation = target->orientation};
	int64_t rank = padded->rank;

	shard.shape.rank = padded->rank;
	for (uint32_t i = 0; i < padded->rank; i++)
		shard.shape.dim[i] = dims->except ? 1 : padded->dim[i];
	for (size_t i = 0; i < dims->count; i++) {
		int64_t dim = dims->dims[i];

		if (dim < -rank || dim >= rank)
			return tt_fail_cond(TTNN_INVALID, "tt::exception",
					    "ShapeBase[] index out of range. %" PRId64
					    " not in [-%" PRId64 ", %" PRId64 ")",
					    dim, rank > 4 ? rank : 4, rank);
		dim += dim < 0 ? rank : 0;
		shard.shape.dim[dim] = dims->except ? padded->dim[dim] : 1;
	}
	return tt_spec_shard(out, spec, &shard, TT_SHARD_ALIGN_RECOMMENDED);
}
