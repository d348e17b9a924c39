/*
 * slice_program.c: the program that takes a part of a tensor.
 *
 * Models SliceDeviceOperation of ttnn 0.81 (data_movement/slice/device): refusals, memory,
 * cores, and the choice of a factory (factory_of()):
 *
 *	Tile, TileTensorArgs  tiles; the second reads where to begin from tensors
 *	RmSharded             height shards to height shards, from an aligned place on
 *	RmStride              rows with a step
 *	Rm                    other rows
 *
 * Not modelled: how a row that begins unaligned is shifted.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_derive.h"
#include "ops/movement/slice.h"

#define ATTRS(X)                                                                                   \
	X(START, "slice_start")                                                                    \
	X(END, "slice_end")                                                                        \
	X(STEP, "step")                                                                            \
	X(MEMORY, "output_mem_config")                                                             \
	X(TENSORS, "use_tensor_args")                                                              \
	X(DIM, "slice_dim")                                                                        \
	X(PARTS, "num_devices")                                                                    \
	X(CORES, "sub_core_grids")                                                                 \
	X(INHERITS, "output_mem_config_inherited")
TT_ATTRS(schema, "SliceParams", ATTRS);

enum { ROWS, SHARDS, STEPS, TILES, TILES_BY_TENSOR };
enum { IN, STARTS, ENDS, GIVEN, INPUTS };

static bool has_step(const struct tt_launch *launch)
{
	const struct ttnn_shape *step = launch->attrs[STEP].shape;

	for (uint32_t d = 0; d < step->rank; d++)
		if (step->dim[d] != 1)
			return true;
	return false;
}

/* ---- the output ------------------------------------------------------------------------------------------- */

/* With starts in a tensor the shape cannot depend on them: it is one of so many equal parts. */
static tt_status part_of_dim(struct ttnn_shape *shape, const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.shape;
	uint64_t dim = (uint64_t)launch->attrs[DIM].integer;
	uint32_t parts = (uint32_t)launch->attrs[PARTS].integer;

	TT_REQUIRE(dim < in->rank, "slice_dimension < out_shape.size()",
		   "slice_dim (%" PRIu64 ") must be less than tensor rank (%u)", dim, in->rank);
	*shape = *in;
	TT_REQUIRE(parts && in->dim[dim] % parts == 0, "original_size % num_parts == 0",
		   "Input dimension %" PRIu64
		   " (size=%u) must be evenly divisible by num_devices (%u)",
		   dim, in->dim[dim], parts);
	shape->dim[dim] /= parts;
	return TTNN_OK;
}

/* Steps round up. */
static tt_status output_shape(struct ttnn_shape *shape, const struct tt_launch *launch)
{
	const struct ttnn_shape *start = launch->attrs[START].shape,
				*end = launch->attrs[END].shape;
	const struct ttnn_shape *step = launch->attrs[STEP].shape;

	if (launch->attrs[TENSORS].boolean)
		return part_of_dim(shape, launch);
	shape->rank = start->rank;
	for (uint32_t d = 0; d < shape->rank; d++)
		shape->dim[d] = (end->dim[d] - start->dim[d] + step->dim[d] - 1) / step->dim[d];
	return TTNN_OK;
}

/* Shards follow the part where the caller left them open. */
static tt_status slice_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;
	struct ttnn_nd_shard_spec nd;
	struct ttnn_shape shape;

	TT_TRY(output_shape(&shape, launch));
	if (launch->attrs[INHERITS].boolean && memory.layout == TTNN_ND_SHARDED &&
	    !memory.has_shard && memory.has_nd_shard && memory.nd_shard.shape.rank <= shape.rank) {
		nd = tt_nd_shard_fit(&memory.nd_shard, &in->padded, &shape,
				     in->layout == TTNN_TILE ? &in->tile : NULL);
		TT_TRY(ttnn_memory_config_nd(&memory, memory.buffer, &nd));
	}
	if (tt_memory_config_is_sharded(&memory) && !memory.has_shard && !memory.has_nd_shard)
		TT_TRY(tt_shards_derive(&memory, launch, &in->shape, &shape));
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout, &memory);
}

/* ---- refusals ------------------------------------------------------------------------------------------------ */

/* Against the padded shape: a part may reach into padding. */
static tt_status check_range(const struct tt_launch *launch, uint32_t d)
{
	uint32_t extent = launch->inputs[IN]->spec.padded.dim[d];
	uint32_t start = launch->attrs[START].shape->dim[d], end = launch->attrs[END].shape->dim[d];

	TT_REQUIRE(start < extent, "args.slice_start[i] < tensor_args.input.padded_shape()[i]",
		   "Slice start[%u] (%u) must be less than input tensor shape[%u] (%u)", d, start,
		   d, extent);
	TT_REQUIRE(end <= extent, "args.slice_end[i] <= tensor_args.input.padded_shape()[i]",
		   "Ends %u must be less than or equal to the shape of the tensor %u", end, extent);
	TT_REQUIRE(start <= end, "args.slice_start[i] <= args.slice_end[i]",
		   "Slice start[%u] (%u) must be <= slice end[%u] (%u)", d, start, d, end);
	return TTNN_OK;
}

/* A given output is exactly what would be made. */
static tt_status check_given(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *given, *want = &launch->specs[0];

	if (!launch->inputs[GIVEN])
		return TTNN_OK;
	given = &launch->inputs[GIVEN]->spec;
	if (!ttnn_shape_equal(&given->padded, &want->padded))
		return tt_fail_shapes(TTNN_INVALID,
				      "out_tensor.padded_shape() == spec_required.padded_shape()",
				      "The preallocated output tensor needs a padded shape of %s, "
				      "however it is %s",
				      &want->padded, &given->padded);
	if (want->layout == TTNN_ROW_MAJOR && !ttnn_shape_equal(&given->shape, &want->shape))
		return tt_fail_shapes(TTNN_INVALID,
				      "out_tensor.logical_shape() == spec_required.logical_shape()",
				      "The preallocated output tensor needs a logical shape of %s, "
				      "however it is %s",
				      &want->shape, &given->shape);
	TT_REQUIRE(
		given->dtype == want->dtype && given->layout == want->layout &&
			ttnn_memory_config_equal(&given->memory, &want->memory),
		"out_tensor.tensor_spec().tensor_layout() == spec_required.tensor_layout()",
		"The preallocated output tensor needs the dtype, layout and memory config of the "
		"result");
	return TTNN_OK;
}

/* Whole tiles, 32 × 32. */
static tt_status check_tiles(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_shape *start = launch->attrs[START].shape, *out = &launch->specs[0].shape;

	TT_REQUIRE(in->tile.height == 32 && in->tile.width == 32,
		   "tile.get_height() == TILE_HEIGHT && tile.get_width() == TILE_WIDTH",
		   "slice does not currently support tiles other than 32x32, got %ux%u",
		   (unsigned)in->tile.height, (unsigned)in->tile.width);
	TT_REQUIRE(tt_shape_last(out, 2) % TT_TILE == 0 && tt_shape_last(start, 2) % TT_TILE == 0,
		   "(output_tensor_shape[-2] % TILE_HEIGHT == 0) && (args.slice_start[-2] % "
		   "TILE_HEIGHT == 0)",
		   "Can only slice tilized tensor with height begin index aligned to tiles");
	TT_REQUIRE(tt_shape_last(out, 1) % TT_TILE == 0 && tt_shape_last(start, 1) % TT_TILE == 0,
		   "(output_tensor_shape[-1] % TILE_WIDTH == 0) && (args.slice_start[-1] % "
		   "TILE_WIDTH == 0)",
		   "Can only slice tilized tensor with width begin index aligned to tiles");
	return TTNN_OK;
}

/* Steps are for rows. */
static tt_status slice_validate(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN];

	TT_REQUIRE(tt_tensor_buffer(in), "tensor_args.input.buffer() != nullptr",
		   "Operands to unpad need to be allocated in buffers on device!");
	for (uint32_t d = 0; d < in->spec.padded.rank; d++)
		TT_TRY(check_range(launch, d));
	TT_TRY(check_given(launch));
	TT_REQUIRE(!has_step(launch) || in->spec.layout == TTNN_ROW_MAJOR,
		   "tensor_args.input.layout() == Layout::ROW_MAJOR",
		   "Strided slice is only supported for row major layout");
	return in->spec.layout == TTNN_TILE ? check_tiles(launch) : TTNN_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

uint64_t tt_slice_reads(uint64_t rows, uint64_t row_bytes)
{
	uint64_t all = tt_align_to(rows, 32), reads = all;

	for (uint64_t together = 1; together * row_bytes <= 4096 && row_bytes; together++)
		if (all % together == 0)
			reads = all / together;
	return reads;
}

/* A row too wide to be held twice comes in pieces of up to 8 KiB, an even number if possible. */
static uint64_t piece(uint64_t *rest, uint64_t row, uint64_t alignment, uint64_t room)
{
	uint64_t size = (room / 8 < 8192 ? room / 8 : 8192) / alignment * alignment;
	uint64_t count = size ? tt_div_up(row, size) : 0, other;

	if (count % 2) {
		other = row / (count + 1) / alignment * alignment;
		if (other && tt_div_up(row, other) % 2 == 0) {
			size = other;
			count = tt_div_up(row, other);
		}
	}
	*rest = count % 2;
	return size;
}

static uint64_t row_alignment(const struct tt_launch *launch)
{
	uint64_t in = tt_memory_alignment(launch->device, launch->inputs[IN]->spec.memory.buffer);
	uint64_t out = tt_memory_alignment(launch->device, launch->outputs[0]->spec.memory.buffer);

	return in > out ? in : out;
}

/* Rows whole, as many at once as evens out; or, where two do not fit, in pieces. */
static tt_status slice_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	uint64_t element = tt_element_bytes(in), rows = 0, odd, page, pages;
	uint64_t alignment = row_alignment(launch), room = tt_l1_free(launch->device);
	uint64_t row = tt_shape_last(&out->spec.padded, 1) * element;
	uint64_t off = tt_shape_last(launch->attrs[START].shape, 1) * element %
		       tt_memory_alignment(launch->device, in->spec.memory.buffer);
	struct tt_work_split work;

	TT_TRY(tt_shape_rows(&rows, &out->spec.padded));
	TT_TRY(tt_split_among(&work, launch, &launch->attrs[CORES], rows));
	page = tt_align_to(row, off ? 2 * alignment : alignment);
	if (!off && 2 * page > room && page > alignment) {
		page = piece(&odd, row, alignment, room);
		TT_REQUIRE(page, "max_chunk >= alignment",
			   "ttnn::slice: L1 budget %" PRIu64
			   " B too small for sub-row chunking (alignment %" PRIu64 " B)",
			   room, alignment);
		pages = odd ? 2 : 4;
	} else {
		uint64_t most = work.units[0] > work.units[1] ? work.units[0] : work.units[1];

		most = tt_align_to(most, 32);
		pages = 2 * most / tt_slice_reads(most, tt_align_to(row, alignment));
	}
	TT_REQUIRE(2 * page <= room, "static_cast<uint64_t>(2u) * s.dfb_entry_size <= l1_budget",
		   "ttnn::slice: required DFB size %" PRIu64
		   " B exceeds per-core L1 budget %" PRIu64 " B (row_bytes=%" PRIu64
		   ", misalignment=%" PRIu64 "); consider slicing along a non-width dim",
		   2 * page, room, row, off);
	return TT_PLAN(plan, work.all, TT_DFB_ROW(0, "in0", .pages = pages, .page = page),
		       TT_SCRATCH_ROW(0, "index", .pages = 1,
				      .page = in->spec.padded.rank * sizeof(uint32_t)));
}

/* Whole rows are read, and only some elements of them written. */
static tt_status slice_steps_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	uint64_t row = tt_shape_last(&in->spec.padded, 1) * tt_element_bytes(in), rows;
	struct tt_work_split work;

	TT_TRY(tt_shape_rows(&rows, &out->spec.padded));
	TT_TRY(tt_split_among(&work, launch, &launch->attrs[CORES], rows));
	return TT_PLAN(
		plan, work.all,
		TT_DFB_ROW(0, "in0", .pages = 2, .page = tt_align_to(row, row_alignment(launch))));
}

/* Where tensors say what is taken, they are read first. */
static tt_status slice_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint64_t tile = tt_tile_bytes_of(in->dtype), volume;
	struct tt_work_split work;

	TT_TRY(ttnn_shape_volume(&volume, &launch->outputs[0]->spec.padded));
	TT_TRY(tt_split_among(&work, launch, &launch->attrs[CORES], volume / 1024));
	return TT_PLAN(
		plan, work.all, TT_DFB_ROW(0, "src0", .pages = 2, .page = tile),
		TT_DFB_ROW(1, "tensor_args", .pages = tt_factory_index(launch) == TILES_BY_TENSOR,
			   .page = tile),
		TT_SCRATCH_ROW(0, "index", .pages = 1, .page = in->padded.rank * sizeof(uint32_t)));
}

/* Both shards are the buffers. */
static tt_status slice_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];

	return TT_PLAN(plan, out->spec.memory.shard.grid,
		       TT_DFB_ROW(0, "src0", .pages = tt_shard_height(&in->spec.memory),
				  .page = tt_aligned_page(in), .backing = in),
		       TT_DFB_ROW(1, "out", .pages = tt_shard_height(&out->spec.memory),
				  .page = tt_aligned_page(out), .backing = out));
}

/* Height shards that begin at aligned places are cut where they lie. */
static uint32_t factory_of(const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN];
	uint64_t begin = tt_shape_last(launch->attrs[START].shape, 1) * tt_element_bytes(in);

	if (launch->attrs[TENSORS].boolean)
		return TILES_BY_TENSOR;
	if (in->spec.layout == TTNN_TILE)
		return TILES;
	if (in->spec.memory.layout == TTNN_HEIGHT_SHARDED &&
	    launch->attrs[MEMORY].memory->layout == TTNN_HEIGHT_SHARDED && !has_step(launch) &&
	    begin % tt_memory_alignment(launch->device, TTNN_L1) == 0)
		return SHARDS;
	return has_step(launch) ? STEPS : ROWS;
}

static tt_status slice_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = factory_of(launch);
	return TTNN_OK;
}

#define FACTORY(name_, memory_) TT_FACTORY_ROW("ttnn::prim::Slice" name_ "ProgramFactory", memory_)

static const struct tt_factory factories[] = {
	[ROWS] = FACTORY("Rm", slice_rows_memory),
	[SHARDS] = FACTORY("RmSharded", slice_shards_memory),
	[STEPS] = FACTORY("RmStride", slice_steps_memory),
	[TILES] = FACTORY("Tile", slice_tiles_memory),
	[TILES_BY_TENSOR] = FACTORY("TileTensorArgs", slice_tiles_memory),
};

/* ---- running ------------------------------------------------------------------------------------------------------- */

/* Starts from a tensor are read now: they are no part of the program. */
static tt_status slice_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	const struct ttnn_shape *start = launch->attrs[START].shape;
	const struct ttnn_shape *step = launch->attrs[STEP].shape;
	uint32_t rank = in->spec.shape.rank, extent[TTNN_MAX_RANK];
	int64_t from[TTNN_MAX_RANK], steps[TTNN_MAX_RANK];
	double starts[TTNN_MAX_RANK] = {0};
	bool whole = true;

	if (launch->inputs[STARTS])
		TT_TRY(tt_tensor_numbers(starts, rank, launch->inputs[STARTS]));
	for (uint32_t d = 0; d < rank; d++) {
		int64_t last = in->spec.shape.dim[d];

		steps[d] = step->dim[d];
		from[d] = launch->inputs[STARTS] ? (int64_t)starts[d] : start->dim[d];
		/* What a tile has beyond the tensor is not copied. */
		extent[d] = from[d] < 0 || from[d] >= last
				    ? 0
				    : (uint32_t)((last - from[d] + steps[d] - 1) / steps[d]);
		if (extent[d] > out->spec.shape.dim[d])
			extent[d] = out->spec.shape.dim[d];
		whole = whole && extent[d] == out->spec.shape.dim[d];
	}
	/* Block floats share an exponent with what is left as it was. */
	if (!whole && tt_dtype_is_block(out->spec.dtype))
		TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_move_part(
		out, in,
		&(struct tt_move_block){.extent = extent, .in_start = from, .in_step = steps});
}

/* What is left out is not read. */
static void slice_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	cost->moves = true;
	cost->inputs = 1;
	tt_cost_set_move(cost, launch, (struct tt_perf_move){.output_only = true});
}

static const struct tt_prog prog = {
	.device_op = "SliceDeviceOperation",
	.prim = "ttnn::prim::slice",
	.attrs = &schema,
	.infer = slice_infer,
	.validate = slice_validate,
	TT_FACTORIES(factories),
	.choose = slice_choose,
	TT_KERNEL(slice_kernel),
	.cost = slice_cost,
};

/* A given output is an input too. */
tt_status tt_slice_launch(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_slice_args *args)
{
	struct tt_tensor *inputs[INPUTS] = {
		[IN] = args->in, [STARTS] = args->starts, [ENDS] = args->ends, [GIVEN] = args->out};
	struct ttnn_value attrs[schema_count] = {
		[START] = ttnn_v_shape(args->start),
		[END] = ttnn_v_shape(args->end),
		[STEP] = ttnn_v_shape(args->step),
		[MEMORY] = ttnn_v_memory(args->memory),
		[TENSORS] = ttnn_v_bool(args->starts != NULL),
		[DIM] = args->starts ? ttnn_v_int(args->dim) : ttnn_v_none(),
		[PARTS] = args->starts ? ttnn_v_int(args->parts) : ttnn_v_none(),
		[CORES] = ttnn_v_core_set(args->cores),
		[INHERITS] = ttnn_v_bool(args->inherits),
	};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, .inputs = inputs, .input_count = INPUTS,
			 .outputs = &args->out, .output_count = args->out ? 1 : 0,
			 .in_place = args->out != NULL);
}

tt_status tt_slice_plan(struct tt_plan *plan, const struct tt_launch *launch,
			const struct tt_part *part)
{
	struct ttnn_shape step = {.rank = part->begin->rank};
	struct tt_tensor *inputs[INPUTS] = {[IN] = part->in};
	const struct ttnn_value attrs[schema_count] = {
		[START] = ttnn_v_shape(part->begin),
		[END] = ttnn_v_shape(part->end),
		[STEP] = ttnn_v_shape(&step),
		[MEMORY] = ttnn_v_memory(part->memory),
		[TENSORS] = ttnn_v_bool(false),
		[DIM] = ttnn_v_none(),
		[PARTS] = ttnn_v_none(),
		[CORES] = ttnn_v_none(),
		[INHERITS] = ttnn_v_bool(false),
	};
	struct tt_launch slice = *launch;
	struct ttnn_tensor_spec spec;

	for (uint32_t d = 0; d < step.rank; d++)
		step.dim[d] = 1;
	slice.prog = &prog;
	slice.attrs = attrs;
	slice.inputs = inputs;
	slice.input_count = INPUTS;
	slice.specs = &spec;
	memset(slice.outputs, 0, sizeof(slice.outputs));
	TT_TRY(slice_infer(&slice));
	slice.outputs[0] = launch->outputs[0];
	TT_TRY(slice_validate(&slice));
	slice.factory = &factories[factory_of(&slice)];
	return plan ? slice.factory->memory(plan, &slice) : TTNN_OK;
}
