/*
 * slice_write.c: a tensor written into a slice of another one.
 *
 * Models SliceWriteDeviceOperation of ttnn 0.81 (experimental/slice_write/device) with its
 * factories: refusals, memory, cores. An input in shards may be the rows of the slice, one below
 * the other. Convolutions write their shards with programs of their own (conv_parts.c).
 */

#include "backend/backend.h"
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/slice.h"
#include "tensor/text.h"

#define ATTRS(X)                                                                                   \
	X(START, "slice_start")                                                                    \
	X(END, "slice_end")                                                                        \
	X(STEP, "step")
TT_ATTRS(schema, "SliceWriteParams", ATTRS);
enum { INPUT, OUTPUT, INPUTS };
enum { ROWS_IN_SHARDS, TILES_IN_SHARDS, ROWS, FACTORIES };

static tt_status slice_write_infer(struct tt_launch *launch)
{
	launch->specs[0] = launch->inputs[OUTPUT]->spec;
	return TTNN_OK;
}

/* The part lies within the padded output. */
static tt_status slice_write_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[INPUT]->spec;
	const struct ttnn_tensor_spec *out = &launch->inputs[OUTPUT]->spec;
	const struct ttnn_shape *start = launch->attrs[START].shape;
	const struct ttnn_shape *end = launch->attrs[END].shape;

	TT_REQUIRE(in->shape.rank == start->rank && out->shape.rank == start->rank &&
			   start->rank == end->rank,
		   "input_tensor.padded_shape().rank() == args.slice_start.rank()",
		   "Ranks of input tensor, output_tensor, slice start and slice end should be "
		   "equal. Got %u %u %u %u",
		   in->shape.rank, out->shape.rank, start->rank, end->rank);
	TT_NEED(start->rank, "slice_write: a scalar has no part to write to");
	for (uint32_t d = 0; d < start->rank; d++) {
		TT_REQUIRE(start->dim[d] < out->padded.dim[d],
			   "args.slice_start[i] < output_padded_shape[i]",
			   "Start is outside the bounds of the output tensor for index %u. Got %u. "
			   "Size %u",
			   d, start->dim[d], out->padded.dim[d]);
		TT_REQUIRE(end->dim[d] <= out->padded.dim[d],
			   "args.slice_end[i] <= output_padded_shape[i]",
			   "Ends %u must be less than or equal to the shape of the tensor %u",
			   end->dim[d], out->padded.dim[d]);
	}
	for (uint32_t d = 0; d < start->rank && tt_memory_config_is_sharded(&in->memory); d++)
		TT_REQUIRE(launch->attrs[STEP].shape->dim[d] == 1, "!has_step",
			   "Step is not supported for sharded slice_write operation");
	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory) || in->shape.rank == 4,
		   "!input_tensor.is_sharded() || input_tensor.padded_shape().rank() == 4",
		   "Sharded input tensor should be of rank 4. Got %u", in->shape.rank);
	return TTNN_OK;
}

static tt_status slice_write_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[INPUT];

	*out = ROWS;
	if (tt_tensor_is_sharded(in))
		*out = in->spec.layout == TTNN_TILE ? TILES_IN_SHARDS : ROWS_IN_SHARDS;
	return TTNN_OK;
}

/* Rows that begin at unaligned places need more room; strides need a second buffer. */
static tt_status slice_write_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[INPUT], *out = launch->inputs[OUTPUT];
	uint64_t row = tt_shape_last(&in->spec.padded, 1) * tt_element_bytes(in), together;
	uint64_t from = tt_memory_alignment(launch->device, in->spec.memory.buffer);
	uint64_t to = tt_memory_alignment(launch->device, out->spec.memory.buffer);
	const struct ttnn_shape *step = launch->attrs[STEP].shape;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), in->spec.pages,
			     TTNN_ORIENT_ROW_MAJOR));
	row = tt_align_to(row, from > to ? from : to);
	if (tt_shape_last(launch->attrs[START].shape, 1) * tt_element_bytes(in) % from)
		row += from > to ? from : to;
	together = tt_align_to(split.units[0], 32) / tt_slice_reads(split.units[0], row);
	return TT_PLAN(plan, launch->grid, TT_CB_ROW(0, "src0", .pages = 2 * together, .page = row),
		       TT_CB_ROW(1, "dst0", .pages = tt_shape_last(step, 1) != 1 ? 2 * together : 0,
				 .page = row));
}

/* Shards are read where they lie. */
static tt_status row_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[INPUT];
	const struct ttnn_memory_config *memory = &in->spec.memory;

	TT_REQUIRE(memory->layout == TTNN_HEIGHT_SHARDED || memory->layout == TTNN_BLOCK_SHARDED,
		   "input.memory_config().memory_layout() == TensorMemoryLayout::HEIGHT_SHARDED || "
		   "input.memory_config().memory_layout() == TensorMemoryLayout::BLOCK_SHARDED",
		   "Input tensor should be height or block sharded");
	return TT_PLAN(
		plan, memory->shard.grid,
		TT_CB_ROW(0, "src0", .pages = memory->shard.height,
			  .page = tt_align_to(memory->shard.width * tt_element_bytes(in),
					      tt_memory_alignment(launch->device, memory->buffer)),
			  .backing = in));
}

static tt_status tile_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[INPUT];
	const struct ttnn_memory_config *memory = &in->spec.memory;

	TT_REQUIRE(launch->inputs[OUTPUT]->spec.layout == TTNN_TILE,
		   "output.layout() == Layout::TILE",
		   "Slice write expects output tensor to be in TILE layout, got Layout::ROW_MAJOR");
	return TT_PLAN(plan, memory->shard.grid,
		       TT_CB_ROW(0, "input", .pages = tt_shard_tiles(&in->spec),
				 .page = tt_page_in0(launch), .backing = in));
}

static const struct tt_factory factories[FACTORIES] = {
	[ROWS_IN_SHARDS] = {.name = "ttnn::experimental::prim::"
				    "SliceWriteRMShardedInputProgramFactory",
			    .memory = row_shards_memory},
	[TILES_IN_SHARDS] = {.name = "ttnn::experimental::prim::"
				     "SliceWriteTiledShardedInputProgramFactory",
			     .memory = tile_shards_memory},
	[ROWS] = {.name = "ttnn::experimental::prim::SliceWriteRMInterleavedProgramFactory",
		  .memory = slice_write_rows_memory},
};

/* Whether the input is the rows of the slice, one below the other. */
static bool is_flat(const struct tt_tensor *in)
{
	return tt_tensor_is_sharded(in) && in->spec.shape.rank == 4 && in->spec.shape.dim[0] == 1 &&
	       in->spec.shape.dim[1] == 1;
}

/* Line by line of the slice's images, as far as there are rows and there is room; lines in tiles are whole ones. */
static tt_status write_flat(struct tt_launch *launch)
{
	const struct ttnn_shape *start = launch->attrs[START].shape,
				*end = launch->attrs[END].shape;
	const struct ttnn_shape *in = &launch->inputs[INPUT]->spec.shape;
	const struct ttnn_shape *out = &launch->outputs[0]->spec.shape;
	uint32_t width = end->dim[2] - start->dim[2], lines = end->dim[1] - start->dim[1];
	uint64_t below = launch->inputs[INPUT]->spec.layout == TTNN_TILE
				 ? tt_align_to(width, TT_TILE)
				 : width;
	uint32_t room = out->dim[2] > start->dim[2] ? out->dim[2] - start->dim[2] : 0;
	uint32_t channels = out->dim[3] > start->dim[3] ? out->dim[3] - start->dim[3] : 0;

	channels = channels < in->dim[3] ? channels : in->dim[3];
	room = room < width ? room : width;
	for (uint64_t i = 0; i < (uint64_t)(end->dim[0] - start->dim[0]) * lines; i++) {
		uint64_t first = i * below, left = in->dim[2] > first ? in->dim[2] - first : 0;
		const uint32_t extent[] = {1, 1, (uint32_t)(left < room ? left : room), channels};
		const int64_t from[] = {0, 0, (int64_t)first, 0};
		const int64_t to[] = {(int64_t)(start->dim[0] + i / lines),
				      (int64_t)(start->dim[1] + i % lines), start->dim[2],
				      start->dim[3]};

		if (!extent[2] || !channels || to[0] >= out->dim[0] || to[1] >= out->dim[1])
			continue;
		TT_TRY(tt_move_part(launch->outputs[0], launch->inputs[INPUT],
				    &(struct tt_move_block){
					    .extent = extent, .in_start = from, .out_start = to}));
	}
	return TTNN_OK;
}

/* In place: the rest of the output stays. */
static tt_status slice_write_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[INPUT];
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_move_job job = {.out = launch->outputs[0],
				  .in = in,
				  .loops = loops,
				  .loop_count = in->spec.shape.rank};

	if (is_flat(in))
		return write_flat(launch);
	for (uint32_t d = 0; d < job.loop_count; d++) {
		uint32_t start = launch->attrs[START].shape->dim[d];
		uint32_t extent = in->spec.shape.dim[d];
		uint32_t step = launch->attrs[STEP].shape->dim[d];
		uint32_t room = launch->outputs[0]->spec.shape.dim[d];

		/* What would lie in the padding of the output is left out. */
		room = room > start ? (uint32_t)tt_div_up(room - start, step ? step : 1) : 0;
		loops[d] = (struct tt_move_loop){extent < room ? extent : room, (int32_t)d,
						 (int32_t)d, 1, step};
		job.out_start[d] = start;
	}
	return tt_backend_get()->move(&job);
}

static const struct tt_prog prog = {
	.device_op = "SliceWriteDeviceOperation",
	.prim = "ttnn::prim::slice_write",
	.attrs = &schema,
	.infer = slice_write_infer,
	.validate = slice_write_validate,
	TT_FACTORIES(factories),
	.choose = slice_write_choose,
	TT_KERNEL(slice_write_kernel),
	.cost = tt_cost_move,
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

/* Where the slice lies. */
struct slice {
	struct ttnn_shape start, end, step;
};

/* As it was given; validation comes later. */
static tt_status read_shape(struct ttnn_shape *out, const struct tt_call *call, const char *name)
{
	int64_t dims[TTNN_MAX_RANK];
	size_t count;

	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, call, name));
	out->rank = (uint32_t)count;
	for (size_t d = 0; d < count; d++)
		out->dim[d] = (uint32_t)dims[d];
	return TTNN_OK;
}

static tt_status fail_size(const struct ttnn_shape *size, const struct ttnn_shape *in, uint32_t d)
{
	struct tt_str slice = {0}, input = {0};
	tt_status status;

	tt_text_shape(&slice, size, TTNN_DIALECT_TT_METAL);
	tt_text_shape(&input, in, TTNN_DIALECT_TT_METAL);
	status = tt_fail_cond(TTNN_INVALID, "actual_shape[i] == input.logical_shape()[i]",
			      "Size of the slice being written %u should match the size of the "
			      "input tensor %u at dim %u. Got %s, expected %s , %s",
			      size->dim[d], in->dim[d], d, tt_str_text(&slice), tt_str_text(&input),
			      tt_str_text(&slice));
	tt_str_deinit(&slice);
	tt_str_deinit(&input);
	return status;
}

/* The slice, and whether there is nothing in it; it has to be as large as the input. */
static tt_status read_slice(struct slice *out, bool *empty, struct tt_call *call,
			    const struct tt_tensor *tensor)
{
	const struct ttnn_shape *in = &tensor->spec.shape;
	struct ttnn_shape size = {.rank = in->rank};

	*empty = false;
	TT_TRY(read_shape(&out->start, call, "start"));
	TT_TRY(read_shape(&out->end, call, "end"));
	TT_TRY(read_shape(&out->step, call, "step"));
	TT_NEED(out->start.rank == out->end.rank && out->step.rank == out->end.rank &&
			in->rank == out->end.rank,
		"slice_write takes a start, an end and a step for each of the %u dimensions of "
		"its input",
		in->rank);
	for (uint32_t d = 0; d < in->rank; d++) {
		TT_REQUIRE(out->end.dim[d] >= out->start.dim[d], "ends[i] >= begins[i]",
			   "End %u must be greater than or equal to start %u", out->end.dim[d],
			   out->start.dim[d]);
		TT_NEED(out->step.dim[d], "steps of slice_write must not be 0");
		size.dim[d] =
			(uint32_t)tt_div_up(out->end.dim[d] - out->start.dim[d], out->step.dim[d]);
		*empty |= size.dim[d] == 0;
	}
	for (uint32_t d = 0; d < in->rank && !*empty && !is_flat(tensor); d++)
		if (size.dim[d] != in->dim[d])
			return fail_size(&size, in, d);
	return TTNN_OK;
}

static tt_status to_rows(struct tt_tensor **tensor, struct tt_call *call)
{
	if ((*tensor)->spec.layout == TTNN_ROW_MAJOR)
		return TTNN_OK;
	return tt_call_owned(call,
			     TT_CALL(tensor, call, "ttnn.to_layout",
				     {"tensor", ttnn_v_tensor(*tensor)},
				     {"layout", ttnn_v_layout(TTNN_ROW_MAJOR)}),
			     tensor);
}

/* Tiles become rows on both sides, and the result is copied back into the given tensor. */
static tt_status slice_write_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *written, *tiles;
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor"), *out = given;
	struct slice slice;
	bool empty;

	TT_TRY(read_slice(&slice, &empty, call, in));
	TT_TRY(tt_need_device(in));
	TT_TRY(tt_need_device(given));
	TT_REQUIRE(!tt_tensor_is_sharded(given), "!output_tensor.is_sharded()",
		   "Slice Write currently doesn't support sharded output tensors.");
	if (empty) {
		tt_call_return(call, ttnn_tensor_ref(given));
		return TTNN_OK;
	}
	if (!tt_tensor_is_sharded(in)) {
		TT_TRY(to_rows(&in, call));
		TT_TRY(to_rows(&out, call));
	}
	TT_TRY(TT_LAUNCH(
		&written, call, &prog, TT_INPUTS(in, out), TT_OUTPUTS(out), .in_place = true,
		TT_BIND(call, schema, [START] = ttnn_v_shape(&slice.start),
			[END] = ttnn_v_shape(&slice.end), [STEP] = ttnn_v_shape(&slice.step))));
	if (out != given) {
		tt_call_own(call, written);
		TT_TRY(TT_CALL(&tiles, call, "ttnn.to_layout", {"tensor", ttnn_v_tensor(written)},
			       {"layout", ttnn_v_layout(TTNN_TILE)}));
		TT_TRY(tt_call_into(&written, call, given, tiles));
	}
	tt_call_return(call, written);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("experimental.slice_write", slice_write_expand, tt_golden_slice_write,
		     "A tensor written into a slice of another one.",
		     "input_tensor: Tensor, output_tensor: Tensor, start: sizes, end: sizes, step: "
		     "sizes")},
};

const struct tt_op_family tt_family_slice_write = {"movement", ops, TT_COUNT(ops)};
