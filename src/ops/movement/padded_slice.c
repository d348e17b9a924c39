/*
 * padded_slice.c: a part of images as rows in shards, with zeros behind channels that do not fill theirs. Models
 * PaddedSliceDeviceOperation of ttnn 0.81 with both factories: specs, refusals, memory. Not modelled: that a part that
 * ends before the last channel is followed by more of the row instead of zeros, where a shard has room.
 */
#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(START, "padded_slice_start")                                                             \
	X(END, "padded_slice_end")                                                                 \
	X(STEP, "step")                                                                            \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "PaddedSliceParams", ATTRS);
enum { ROWS, TILES, FACTORIES = TT_PADDED_SLICE_FACTORIES };
#define RANK 4u
#define IN_FLIGHT 2u /* unaligned rows that are read at once */
#define TILE_ROWS 4u /* rows of tiles that a buffer holds */

/* All rows of the part, one below the other; as wide as shards are where those hold whole rows. */
static struct ttnn_shape rows_shape(const struct ttnn_shape *start, const struct ttnn_shape *end,
				    const struct ttnn_memory_config *memory)
{
	uint32_t rows = 1;
	struct ttnn_shape shape;

	for (uint32_t d = 0; d + 1 < RANK; d++)
		rows *= end->dim[d] - start->dim[d];
	shape = TT_SHAPE(1, 1, rows, end->dim[RANK - 1] - start->dim[RANK - 1]);
	if (memory->layout == TTNN_HEIGHT_SHARDED)
		shape.dim[3] = memory->shard.width;
	if (memory->layout == TTNN_WIDTH_SHARDED)
		shape.dim[2] = memory->shard.height;
	return shape;
}

static tt_status padded_slice_infer(struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;
	struct ttnn_shape shape =
		rows_shape(launch->attrs[START].shape, launch->attrs[END].shape, memory);

	if (!tt_infer_given(launch, 0))
		return tt_spec_simple(&launch->specs[0], &shape,
				      dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16 : dtype,
				      TTNN_ROW_MAJOR, memory);
	if (!ttnn_shape_equal(&launch->specs[0].padded, &shape))
		return tt_fail_shapes(TTNN_INVALID,
				      "out_tensor.padded_shape() == output_shape_required",
				      "The input tensors need a shape of %s, however the output "
				      "tensor is only %s",
				      &shape, &launch->specs[0].padded);
	return TTNN_OK;
}

static tt_status padded_slice_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *padded = &launch->inputs[0]->spec.padded;

	for (uint32_t d = 0; d < RANK; d++) {
		uint32_t start = launch->attrs[START].shape->dim[d];
		uint32_t end = launch->attrs[END].shape->dim[d];

		TT_REQUIRE(start < padded->dim[d],
			   "args.padded_slice_start[i] < input_tensor_a.padded_shape()[i]",
			   "Starts %u must be less than the shape of the tensor %u at index %u",
			   start, padded->dim[d], d);
		TT_REQUIRE(end <= padded->dim[d],
			   "args.padded_slice_end[i] <= input_tensor_a.padded_shape()[i]",
			   "Ends %u must be less than or equal to the shape of the tensor %u", end,
			   padded->dim[d]);
	}
	return TTNN_OK;
}

/* ---- the program -------------------------------------------------------------------------------------------- */

static tt_status check_output(uint64_t row, const struct tt_tensor *out)
{
	uint64_t aligned = tt_memory_alignment(tt_tensor_device(out), out->spec.memory.buffer);

	TT_REQUIRE(out->spec.memory.buffer == TTNN_L1,
		   "dst_buffer->buffer_type() == tt::tt_metal::BufferType::L1",
		   "Output buffer should be L1 for padded_slice operation with tiled inputs");
	TT_REQUIRE(row % aligned == 0, "output_row_size_bytes % dst_buffer_alignment == 0",
		   "Output row size %llu must be aligned to the destination buffer BufferType::L1 "
		   "alignment %llu",
		   (unsigned long long)row, (unsigned long long)aligned);
	return TTNN_OK;
}

/* Over how many cores the channels of a row go. */
static uint32_t cores_across(const struct ttnn_memory_config *memory)
{
	struct ttnn_core_range box;

	if (memory->layout == TTNN_WIDTH_SHARDED)
		return (uint32_t)ttnn_core_set_cores(memory->shard.grid);
	if (memory->layout != TTNN_BLOCK_SHARDED ||
	    tt_core_set_box(&box, memory->shard.grid) != TTNN_OK)
		return 1;
	return memory->shard.orientation == TTNN_ORIENT_ROW_MAJOR ? box.end.x - box.start.x + 1
								  : box.end.y - box.start.y + 1;
}

static tt_status padded_slice_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	struct tt_tensor *out = launch->outputs[0];
	const struct ttnn_memory_config *memory = &out->spec.memory;
	uint64_t whole = in->spec.shape.dim[3] * tt_element_bytes(in);
	uint64_t row = memory->shard.width * tt_element_bytes(out);
	uint64_t aligned = tt_memory_alignment(launch->device, in->spec.memory.buffer);
	uint64_t more = tt_memory_alignment(launch->device, memory->buffer);
	bool pads = row > whole / cores_across(memory);
	bool unaligned = row % (aligned > more ? aligned : more);

	TT_TRY(check_output(row, out));
	return TT_PLAN(plan, memory->shard.grid,
		       TT_CB_ROW(0, "output", .pages = memory->shard.height,
				 .page = unaligned ? tt_align_to(row, more) : row, .backing = out),
		       TT_CB_ROW(1, "temp_pad", .pages = pads, .page = row),
		       TT_CB_ROW(pads ? 2 : 1, "non_aligned_temp",
				 .pages = unaligned ? IN_FLIGHT : 0,
				 .page = tt_align_to(whole + aligned, aligned)));
}

/* The tiles that the channels of a core touch; shards need not begin with one. */
static uint64_t tiles_across(const struct ttnn_memory_config *memory)
{
	uint64_t most = 0, width = memory->shard.width;

	for (uint64_t i = 0; i < cores_across(memory); i++) {
		uint64_t tiles = tt_div_up((i + 1) * width, TT_TILE) - i * width / TT_TILE;

		most = tiles > most ? tiles : most;
	}
	return most;
}

static tt_status tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0];
	const struct ttnn_memory_config *memory = &out->spec.memory;
	uint64_t row = memory->shard.width * tt_element_bytes(out);
	uint64_t tiles = TILE_ROWS * tiles_across(memory);

	TT_TRY(check_output(row, out));
	return TT_PLAN(
		plan, memory->shard.grid,
		TT_CB_ROW(0, "input", .pages = tiles, .page = tt_page_in0(launch)),
		TT_CB_ROW(1, "untilized", .pages = tiles,
			  .page = tt_tile_bytes_of(out->spec.dtype)),
		TT_CB_ROW(2, "output", .pages = memory->shard.height, .page = row, .backing = out),
		TT_CB_ROW(3, "padding", .pages = 1, .page = row));
}

const struct tt_factory tt_padded_slice_factories[FACTORIES] = {
	[ROWS] = TT_FACTORY_ROW("ttnn::experimental::prim::PaddedSliceRMProgramFactory",
				padded_slice_rows_memory),
	[TILES] = TT_FACTORY_ROW("ttnn::experimental::prim::PaddedSliceTileProgramFactory",
				 tiles_memory),
};

static tt_status padded_slice_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->inputs[0]->spec.layout == TTNN_TILE ? TILES : ROWS;
	return TTNN_OK;
}

/* Zeros, and image by image the rows of the part. */
static tt_status padded_slice_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0];
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;
	uint32_t extent[RANK], below = 1, width = out->spec.shape.dim[3];
	struct tt_move_loop loops[RANK];
	struct tt_move_job job = {
		.out = out, .in = launch->inputs[0], .loops = loops, .loop_count = RANK};

	for (uint32_t d = 0; d < RANK; d++) {
		uint32_t start = launch->attrs[START].shape->dim[d];
		uint32_t end = launch->attrs[END].shape->dim[d];

		end = end < in->dim[d] ? end : in->dim[d];
		extent[d] = end > start ? end - start : 0;
		job.in_start[d] = start;
	}
	extent[3] = extent[3] < width ? extent[3] : width;
	for (uint32_t d = RANK; d-- > 0;) {
		bool row = d + 1 < RANK;

		loops[d] = (struct tt_move_loop){extent[d], (int32_t)d, row ? 2 : 3, 1,
						 row ? below : 1};
		below *= row ? extent[d] : 1;
	}
	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return below && extent[3] ? tt_backend_get()->move(&job) : TTNN_OK;
}

static const struct tt_prog prog = {
	.device_op = "PaddedSliceDeviceOperation",
	.prim = "ttnn::prim::padded_slice",
	.attrs = &schema,
	.infer = padded_slice_infer,
	.validate = padded_slice_validate,
	TT_FACTORIES(tt_padded_slice_factories),
	.choose = padded_slice_choose,
	TT_KERNEL(padded_slice_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

struct part {
	struct ttnn_shape start, end, step;
	bool whole, empty;
};

static tt_status check_counts(const size_t count[3], uint32_t rank)
{
	TT_REQUIRE(rank == RANK, "input_rank == 4",
		   "Only 4D tensors are supported for padded_slice");
	TT_REQUIRE(rank == count[0], "input_rank == begins.size()",
		   "Input rank %u and begins %zu must have the same size", rank, count[0]);
	TT_REQUIRE(count[0] == count[1], "begins.size() == ends.size()",
		   "Start %zu and end %zu must have the same size", count[0], count[1]);
	TT_REQUIRE(count[2] == count[0], "step.size() == begins.size()",
		   "Step %zu must have the same size as start %zu and end", count[2], count[0]);
	return TTNN_OK;
}

/* Places from the end count backwards. */
static uint32_t wrapped(int64_t place, uint32_t extent)
{
	return (uint32_t)(place < 0 ? place + extent : place);
}

static tt_status check_memory(const struct tt_call *call, const struct tt_tensor *in)
{
	TT_REQUIRE(tt_memory_config_is_sharded(tt_call_memory(call, "memory_config")),
		   "memory_config.is_sharded()",
		   "Output Memory Config must be sharded. Use slice for non-sharded outputs.");
	TT_REQUIRE(!tt_tensor_is_sharded(in), "!input_tensor.memory_config().is_sharded()",
		   " padded_slice does not support sharded inputs.");
	TT_NEED(tt_call_memory(call, "memory_config")->has_shard,
		"padded_slice: the memory config of the output has no shard spec");
	return TTNN_OK;
}

static tt_status read_part(struct part *out, const struct tt_call *call, const struct tt_tensor *in)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	int64_t start[TTNN_MAX_RANK], end[TTNN_MAX_RANK], step[TTNN_MAX_RANK] = {1, 1, 1, 1};
	size_t count[3];

	TT_TRY(tt_call_ints(start, &count[0], TTNN_MAX_RANK, call, "padded_slice_start"));
	TT_TRY(tt_call_ints(end, &count[1], TTNN_MAX_RANK, call, "padded_slice_end"));
	TT_TRY(tt_call_ints(step, &count[2], TTNN_MAX_RANK, call, "padded_slice_step"));
	if (!count[2])
		count[2] = count[1];
	TT_TRY(check_counts(count, shape->rank));
	out->start = out->end = out->step = (struct ttnn_shape){.rank = RANK};
	out->whole = true;
	for (uint32_t d = 0; d < RANK; d++) {
		TT_REQUIRE(step[d] == 1, "no_step",
			   "Steps != 1 are not supported for padded_slice.");
		out->whole &= start[d] == 0 && end[d] == shape->dim[d];
		out->start.dim[d] = wrapped(start[d], shape->dim[d]);
		out->end.dim[d] = wrapped(end[d], shape->dim[d]);
		out->step.dim[d] = 1;
	}
	return check_memory(call, in);
}

static tt_status check_order(struct part *part)
{
	part->empty = false;
	for (uint32_t d = 0; d < RANK; d++) {
		TT_REQUIRE(part->end.dim[d] >= part->start.dim[d],
			   "modified_ends[i] >= modified_begins[i]",
			   "End %u must be greater than or equal to start %u", part->end.dim[d],
			   part->start.dim[d]);
		part->empty |= part->end.dim[d] == part->start.dim[d];
	}
	return TTNN_OK;
}

/* All of an image whose channels fill the shards is only moved. */
static tt_status move_whole(struct tt_call *call, struct tt_tensor *in,
			    const struct ttnn_memory_config *memory)
{
	struct tt_tensor *out;

	if (!tt_tensor_device(in)) {
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	return tt_call_give(call,
			    TT_CALL(&out, call, "ttnn.to_memory_config",
				    {"tensor", ttnn_v_tensor(in)},
				    {"memory_config", ttnn_v_memory(memory)}),
			    &out);
}

static tt_status make_empty(struct tt_call *call, const struct tt_tensor *in,
			    const struct part *part)
{
	struct ttnn_shape shape = part->end;
	struct ttnn_tensor_spec spec;
	struct tt_tensor *out;

	TT_REQUIRE(tt_tensor_device(in), "input_tensor.storage_type() == StorageType::DEVICE",
		   "Host tensor slice cannot return a scalar or empty tensor");
	for (uint32_t d = 0; d < RANK; d++)
		shape.dim[d] -= part->start.dim[d];
	TT_TRY(tt_spec_simple(&spec, &shape, in->spec.dtype, in->spec.layout,
			      tt_call_memory(call, "memory_config")));
	return tt_call_give(call, tt_call_create(&out, call, tt_tensor_device(in), &spec), &out);
}

static tt_status padded_slice_expand(struct tt_call *call)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct part part;

	TT_TRY(read_part(&part, call, in));
	if (part.whole && memory->shard.width == in->spec.padded.dim[RANK - 1] &&
	    in->spec.layout == TTNN_ROW_MAJOR)
		return move_whole(call, in, memory);
	TT_TRY(check_order(&part));
	if (part.empty)
		return make_empty(call, in, &part);
	return TT_LAUNCH_RETURN(
		call, &prog, TT_INPUTS(in), TT_OUTPUTS(tt_call_tensor(call, "output_tensor")),
		TT_BIND(call, schema, [START] = ttnn_v_shape(&part.start),
			[END] = ttnn_v_shape(&part.end), [STEP] = ttnn_v_shape(&part.step),
			[MEMORY] = ttnn_v_memory(memory)));
}

/* ---- golden --------------------------------------------------------------------------------------------------- */

/* The image keeps its shape where it is only moved. */
static tt_status padded_slice_golden(struct tt_golden *golden)
{
	const struct ttnn_memory_config *memory = tt_call_memory(&golden->call, "memory_config");
	struct tt_tensor *tensor = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	struct part part;
	struct tt_array *out;
	struct ttnn_shape shape;
	uint64_t size[RANK];

	TT_GOLDEN_NEED(in);
	TT_TRY(read_part(&part, &golden->call, tensor));
	TT_TRY(check_order(&part));
	shape = rows_shape(&part.start, &part.end, memory);
	if (part.whole && memory->shard.width == shape.dim[3] &&
	    tensor->spec.layout == TTNN_ROW_MAJOR && shape.dim[3] == in->shape.dim[3])
		shape = in->shape;
	out = tt_golden_out(golden, &shape,
			    in->dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16 : in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint32_t d = 0; d < RANK; d++)
		size[d] = part.end.dim[d] - part.start.dim[d];
	TT_NEED(!out->count || (size[1] && size[2]), "golden: a slice of nothing");
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t column = i % shape.dim[3], row = i / shape.dim[3];
		uint64_t image = row / (size[1] * size[2]), rest = row % (size[1] * size[2]);
		const uint64_t at[RANK] = {
			part.start.dim[0] + image, part.start.dim[1] + rest / size[2],
			part.start.dim[2] + rest % size[2], part.start.dim[3] + column};

		if (column < size[3] && image < size[0])
			*tt_at(out, i) = *tt_at(in, tt_array_index(in, at));
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.padded_slice",
	 .doc = "A part of images as rows in shards, with zeros behind the channels.",
	 .sigs = {"input_tensor: Tensor, padded_slice_start: ints, padded_slice_end: ints, "
		  "padded_slice_step: ints? = None, *, memory_config: MemoryConfig, "
		  "output_tensor: Tensor? = None, pad_value: float? = None"},
	 .expand = padded_slice_expand,
	 .golden = padded_slice_golden,
	 TT_PROGRAMS(&prog)},
};

const struct tt_op_family tt_family_padded_slice = {"padded_slice", ops, TT_COUNT(ops)};
