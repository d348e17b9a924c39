/*
 * shard_partial.c: a slice of the rows of a tensor cut into shards, and shards written back into their slice. Models
 * InterleavedToShardedPartialDeviceOperation and ShardedToInterleavedPartialDeviceOperation of ttnn 0.81: refusals,
 * memory, cores. Refused here and taken there, where a chip would mix rows up: tensors of other than four dimensions,
 * slices that are no whole tiles, and a target of another width.
 */
#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_ops.h"
#include "ops/objects.h"

static tt_status check_index(uint32_t index, uint32_t slices, const char *condition)
{
	TT_REQUIRE(index < slices, condition,
		   "Slice index and num_slices don't match! Index = %u num_slices = %u", index,
		   slices);
	return TTNN_OK;
}

static tt_status check_slices(const struct ttnn_tensor_spec *whole, uint32_t slices,
			      const char *condition)
{
	TT_REQUIRE(whole->rows % slices == 0, condition,
		   "Total height of a tensor must be divisible by num_slices!");
	return TTNN_OK;
}

static tt_status need_tiles(const struct ttnn_tensor_spec *whole, uint32_t slices)
{
	uint64_t rows = whole->rows / slices;

	TT_NEED(tt_tile_equal(&whole->tile, &TT_TILE_DEFAULT),
		"slices of sharded tensors take tiles of 32x32");
	TT_NEED(rows % whole->tile.height == 0,
		"%u slices of %u rows are not made of whole tiles of %u rows", slices,
		(uint32_t)whole->rows, whole->tile.height);
	return TTNN_OK;
}

/* Rows of two tensors, counted over all dimensions but the last and with those of padding. */
struct run {
	struct tt_tensor *out, *in;
	uint64_t out_first, in_first, rows;
};

/* Where a row lies, and how many more of its batch have values from there; `wide` is how many it has with padding. */
static uint64_t find_row(int64_t *at, uint64_t *wide, const struct ttnn_tensor_spec *spec,
			 uint64_t row)
{
	uint32_t rank = spec->shape.rank, height = spec->shape.dim[rank - 2];
	uint64_t padded = spec->padded.dim[rank - 2], batch = row / padded, place = row % padded;

	*wide = padded - place;
	at[rank - 2] = (int64_t)place;
	for (uint32_t d = rank - 2; d-- > 0; batch /= spec->shape.dim[d])
		at[d] = (int64_t)(batch % spec->shape.dim[d]);
	return place < height ? height - place : 0;
}

/* As far as neither batch ends: what lies in padding has no value and is left out. */
static tt_status move_rows(const struct run *run)
{
	const struct ttnn_tensor_spec *in = &run->in->spec, *out = &run->out->spec;
	uint32_t from = in->shape.rank, to = out->shape.rank, rows, columns;
	uint64_t step;

	columns = tt_shape_last(&in->shape, 1);
	if (columns > tt_shape_last(&out->shape, 1))
		columns = tt_shape_last(&out->shape, 1);
	for (uint64_t row = 0; row < run->rows; row += step) {
		struct tt_move_loop loops[2];
		struct tt_move_job job = {
			.out = run->out, .in = run->in, .loops = loops, .loop_count = 2};
		uint64_t here, there, wide_here, wide_there;

		here = find_row(job.in_start, &wide_here, in, run->in_first + row);
		there = find_row(job.out_start, &wide_there, out, run->out_first + row);
		step = wide_here < wide_there ? wide_here : wide_there;
		step = step < run->rows - row ? step : run->rows - row;
		here = here < there ? here : there;
		rows = (uint32_t)(here < step ? here : step);
		loops[0] = (struct tt_move_loop){rows, (int32_t)from - 2, (int32_t)to - 2, 1, 1};
		loops[1] = (struct tt_move_loop){columns, (int32_t)from - 1, (int32_t)to - 1, 1, 1};
		if (rows)
			TT_TRY(tt_backend_get()->move(&job));
	}
	return TTNN_OK;
}

/* ---- interleaved to sharded -------------------------------------------------------------------------------- */

#define I2S_ATTRS(X)                                                                               \
	X(I2S_GRID, "grid_size")                                                                   \
	X(I2S_SHARD, "shard_spec")                                                                 \
	X(I2S_SLICES, "num_slices")                                                                \
	X(I2S_INDEX, "slice_index", .unkeyed = true)                                               \
	X(I2S_MEMORY, "output_mem_config")                                                         \
	X(I2S_DTYPE, "output_dtype")
TT_ATTRS(i2s_schema, "InterleavedToShardedPartialParams", I2S_ATTRS);

static tt_status partial_i2s_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *place = launch->attrs[I2S_MEMORY].memory;
	struct ttnn_shape shape = in->padded;
	struct ttnn_memory_config memory;

	TT_TRY(tt_need_dim(&shape, 2));
	shape.dim[0] = 1;
	shape.dim[1] = 1;
	shape.dim[2] = (uint32_t)(in->rows / (uint64_t)launch->attrs[I2S_SLICES].integer);
	TT_TRY(ttnn_memory_config_sharded(&memory, place->layout, place->buffer,
					  launch->attrs[I2S_SHARD].shard));
	return tt_spec_simple(&launch->specs[0], &shape,
			      (enum ttnn_dtype)launch->attrs[I2S_DTYPE].integer, in->layout,
			      &memory);
}

static tt_status partial_i2s_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t slices = (uint32_t)launch->attrs[I2S_SLICES].integer;
	struct ttnn_core grid = launch->attrs[I2S_GRID].core;
	struct ttnn_core device = tt_grid_size(launch->grid);

	TT_TRY(check_index((uint32_t)launch->attrs[I2S_INDEX].integer, slices,
			   "slice_index >= 0 && slice_index < num_slices"));
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Currently, only tile layout is supported for partial I->S");
	TT_TRY(check_slices(in, slices,
			    "(input_tensor.physical_volume() / input_tensor.padded_shape()[-1]) % "
			    "num_slices == 0"));
	TT_REQUIRE(
		in->memory.layout == TTNN_INTERLEAVED,
		"input_tensor.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		"Input tensor must be Interleaved");
	TT_REQUIRE(grid.x <= device.x && grid.y <= device.y,
		   "grid_size.x <= device_grid.x && grid_size.y <= device_grid.y",
		   "Grid size for sharding must be less than or equal to total grid available");
	TT_NEED(in->shape.rank == 4, "slices of %u dimensions cannot be cut into shards, only of 4",
		in->shape.rank);
	return need_tiles(in, slices);
}

/* Blackhole has a scratchpad beside, of so many slots. */
#define SCRATCH_SLOTS 4

static tt_status partial_i2s_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint64_t dram = tt_memory_alignment(launch->device, TTNN_DRAM);
	uint64_t tile = tt_tile_bytes_of(in->spec.dtype), tiles = tt_shard_tiles(&out->spec);
	bool scratch = tt_is_blackhole(launch->device) ||
		       (in->spec.memory.buffer == TTNN_DRAM && tile % dram);

	return TT_PLAN(plan, out->spec.memory.shard.grid,
		       TT_CB_ROW(0, "in", .pages = tt_converts(launch) ? tiles : 0,
				 .page = tt_align_to(tile, tt_page_alignment(in))),
		       TT_CB_ROW(tt_converts(launch) ? 16 : 0, "out", .pages = tiles,
				 .page = tt_align_to(tt_tile_bytes_of(out->spec.dtype),
						     tt_page_alignment(out)),
				 .backing = out),
		       TT_CB_ROW(1, "scratch", .pages = scratch ? SCRATCH_SLOTS : 0,
				 .page = tt_align_to(tile + dram, dram)));
}

static tt_status i2s_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0];
	struct run run = {.out = out, .in = launch->inputs[0], .rows = out->spec.rows};

	run.in_first = run.rows * (uint64_t)launch->attrs[I2S_INDEX].integer;
	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return move_rows(&run);
}

static const struct tt_prog prog_i2s = {
	.device_op = "InterleavedToShardedPartialDeviceOperation",
	.prim = "ttnn::prim::interleaved_to_sharded_partial",
	.attrs = &i2s_schema,
	.infer = partial_i2s_infer,
	.validate = partial_i2s_validate,
	TT_FACTORY("ttnn::prim::InterleavedToShardedPartialProgramFactory", partial_i2s_memory),
	TT_KERNEL(i2s_kernel),
	.cost = tt_cost_convert,
};

static tt_status expand_i2s(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	struct ttnn_memory_config memory = {
		.layout = (enum ttnn_memory_layout)tt_call_int(call, "shard_scheme", 0),
		.buffer = TTNN_L1};
	struct ttnn_shard_spec shard = {
		.orientation = (enum ttnn_orientation)tt_call_int(call, "shard_orientation", 0)};
	uint32_t slices = (uint32_t)tt_call_int(call, "num_slices", 0);
	uint32_t index = (uint32_t)tt_call_int(call, "slice_index", 0);
	const struct ttnn_value *grid = tt_call_arg(call, "grid");
	struct ttnn_core size;
	int64_t shape[2];
	size_t count;

	TT_NEED(tt_object_core(&size, grid),
		"Unsupported type for grid. CoreRangeSet not supported. Switch to a different "
		"type.");
	TT_NEED(slices, "interleaved_to_sharded_partial cannot take 0 slices");
	TT_TRY(tt_call_ints(shape, &count, 2, call, "shard_shape"));
	TT_NEED(count == 2, "shard_shape has %zu entries, not two", count);
	shard.height = (uint32_t)shape[0];
	shard.width = (uint32_t)shape[1];
	TT_TRY(tt_shard_grid(&shard.grid, call, &shard, memory.layout, slices));
	return tt_call_give(
		call,
		TT_LAUNCH(
			&out, call, &prog_i2s, TT_INPUTS(in),
			TT_BIND(call,
				i2s_schema, [I2S_GRID] = {.kind = TTNN_VALUE_CORE, .core = size},
				[I2S_SHARD] = {.kind = TTNN_VALUE_SHARD, .shard = &shard},
				[I2S_SLICES] = ttnn_v_int(slices), [I2S_INDEX] = ttnn_v_int(index),
				[I2S_MEMORY] = ttnn_v_memory(&memory),
				[I2S_DTYPE] = ttnn_v_dtype(
					tt_call_dtype(call, "output_dtype", in->spec.dtype)))),
		&out);
}

/* ---- sharded to interleaved -------------------------------------------------------------------------------- */

#define S2I_ATTRS(X)                                                                               \
	X(S2I_SLICES, "num_slices")                                                                \
	X(S2I_INDEX, "slice_index")                                                                \
	X(S2I_MEMORY, "output_mem_config")                                                         \
	X(S2I_DTYPE, "output_dtype")
TT_ATTRS(s2i_schema, "ShardedToInterleavedPartialParams", S2I_ATTRS);
enum { INPUT, CACHE };

static tt_status partial_s2i_infer(struct tt_launch *launch)
{
	launch->specs[0] = launch->inputs[CACHE]->spec;
	return TTNN_OK;
}

static tt_status partial_s2i_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[INPUT]->spec;
	const struct ttnn_tensor_spec *cache = &launch->inputs[CACHE]->spec;
	uint32_t slices = (uint32_t)launch->attrs[S2I_SLICES].integer;
	uint32_t index = (uint32_t)launch->attrs[S2I_INDEX].integer;
	size_t ranges;

	TT_TRY(check_index(index, slices,
			   "args.slice_index >= 0 && args.slice_index < args.num_slices"));
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Currently, only tile layout is supported for partial S->I");
	TT_TRY(check_slices(cache, slices,
			    "(cache_tensor.physical_volume() / cache_tensor.padded_shape()[-1]) % "
			    "args.num_slices == 0"));
	(void)ttnn_core_set_ranges(in->memory.shard.grid, &ranges);
	TT_REQUIRE(ranges == 1 || in->memory.layout == TTNN_HEIGHT_SHARDED || tt_shards_even(in),
		   "input_tensor.shard_spec().value().grid.ranges().size() == 1",
		   "Input tensor shard spec must have exactly 1 grid range but got %zu", ranges);
	TT_TRY(need_tiles(cache, slices));
	TT_NEED(cache->layout == TTNN_TILE && cache->shape.rank >= 2 && in->shape.rank >= 2,
		"the tensor that shards are written into is made of rows and columns of tiles");
	TT_NEED(cache->cols == in->cols, "shards of %u columns do not fit into slices of %u",
		(uint32_t)in->cols, (uint32_t)cache->cols);
	TT_NEED(cache->rows / slices * index + in->rows <= cache->rows,
		"shards of %u rows do not fit behind row %u of %u", (uint32_t)in->rows,
		(uint32_t)(cache->rows / slices * index), (uint32_t)cache->rows);
	return TTNN_OK;
}

/* The cores that hold more than padding; of blocks all. */
static tt_status partial_s2i_cores(const ttnn_core_set **out, const struct ttnn_tensor_spec *in)
{
	const struct ttnn_shard_spec *shard = &in->memory.shard;
	uint64_t count = in->memory.layout == TTNN_HEIGHT_SHARDED
				 ? tt_div_up(in->rows, shard->height)
				 : tt_div_up(in->cols, shard->width);

	*out = shard->grid;
	if (in->memory.layout == TTNN_BLOCK_SHARDED || count >= ttnn_core_set_cores(shard->grid))
		return TTNN_OK;
	return tt_cores_first(out, shard->grid, count, shard->orientation);
}

static tt_status partial_s2i_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[INPUT], *out = launch->outputs[0];
	uint64_t tiles = tt_shard_tiles(&in->spec);
	const ttnn_core_set *cores;

	TT_TRY(partial_s2i_cores(&cores, &in->spec));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "src0", .pages = tiles,
				 .page = tt_align_to(tt_tile_bytes_of(in->spec.dtype),
						     tt_page_alignment(in)),
				 .backing = in),
		       TT_CB_ROW(16, "out", .pages = tt_converts(launch) ? tiles : 0,
				 .page = tt_align_to(tt_tile_bytes_of(out->spec.dtype),
						     tt_page_alignment(out))));
}

/* In place: the other slices stay. */
static tt_status s2i_kernel(struct tt_launch *launch)
{
	struct tt_tensor *cache = launch->outputs[0], *in = launch->inputs[INPUT];
	struct run run = {.out = cache, .in = in, .rows = in->spec.rows};

	run.out_first = cache->spec.rows / (uint64_t)launch->attrs[S2I_SLICES].integer *
			(uint64_t)launch->attrs[S2I_INDEX].integer;
	return move_rows(&run);
}

static const struct tt_prog prog_s2i = {
	.device_op = "ShardedToInterleavedPartialDeviceOperation",
	.prim = "ttnn::prim::sharded_to_interleaved_partial",
	.attrs = &s2i_schema,
	.infer = partial_s2i_infer,
	.validate = partial_s2i_validate,
	TT_FACTORY("ttnn::prim::ShardedToInterleavedPartialProgramFactory", partial_s2i_memory),
	TT_KERNEL(s2i_kernel),
	.cost = tt_cost_convert,
};

static tt_status expand_s2i(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	struct tt_tensor *cache = tt_call_tensor(call, "cache_tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	int64_t slices = tt_call_int(call, "num_slices", 0);
	int64_t index = tt_call_int(call, "slice_index", 0);

	TT_REQUIRE(in->spec.memory.has_shard, "input_tensor.shard_spec().has_value()",
		   "Input tensor must have a shard spec");
	TT_REQUIRE(slices >= 0 && slices <= UINT32_MAX,
		   "num_slices >= 0 && num_slices <= UINT32_MAX",
		   "num_slices must be in range [0, UINT32_MAX]");
	TT_REQUIRE(index >= 0 && index <= UINT32_MAX,
		   "slice_index >= 0 && slice_index <= UINT32_MAX",
		   "slice_index must be in range [0, UINT32_MAX]");
	return tt_call_give(
		call,
		TT_LAUNCH(&out, call, &prog_s2i, TT_INPUTS(in, cache), TT_OUTPUTS(cache),
			  .in_place = true,
			  TT_BIND(call, s2i_schema, [S2I_SLICES] = ttnn_v_int(slices),
				  [S2I_INDEX] = ttnn_v_int(index),
				  [S2I_MEMORY] = ttnn_v_memory(memory ? memory : &in->spec.memory),
				  [S2I_DTYPE] = ttnn_v_dtype(
					  tt_call_dtype(call, "output_dtype", in->spec.dtype)))),
		&out);
}

/* ---- the rows --------------------------------------------------------------------------------------------- */

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"interleaved_to_sharded_partial", expand_i2s, tt_golden_shard_slice,
		"Cuts one of several slices of a tensor's rows into shards.",
		"input_tensor: Tensor, grid: CoreCoord | CoreRangeSet, shard_shape: ints, num_slices: "
		"int, slice_index: int, shard_scheme: MemoryLayout, shard_orientation: Orientation, *, "
		"output_dtype: DataType? = None")},
	{TT_MOVE_ROW(
		"sharded_to_interleaved_partial", expand_s2i, tt_golden_unshard_slice,
		"Writes shards into one of several slices of a tensor's rows.",
		"input_tensor: Tensor, cache_tensor: Tensor, num_slices: int, slice_index: int, *, "
		"memory_config: MemoryConfig? = None, output_dtype: DataType? = None")},
};

const struct tt_op_family tt_family_shard_partial = {"movement", ops, TT_COUNT(ops)};
