/*
 * pad_program.c: the program that puts a tensor into a larger one.
 *
 * Models PadDeviceOperation of ttnn 0.81 (data_movement/pad/device): refusals, memory, cores,
 * and the choice of a factory (factory_of()):
 *
 *	TileMulticore, TileCore            tiles, on all cores or one
 *	RmReaderWriterMultiCoreDefault     rows, on all cores
 *	RmReaderWriter                     rows, on one core, which keeps a line of padding in DRAM
 *	RmShardedHeightOnly                shards that get more rows
 *	RmShardedWidthOnly                 shards whose rows get longer
 *	RmReaderWriterMultiCore            never chosen
 *
 * Not modelled: which core writes which line of padding.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "ops/movement/movement.h"
#include "ops/movement/pad.h"

#define ATTRS(X)                                                                                   \
	X(SHAPE, "output_logical_shape")                                                           \
	X(PADDED, "output_padded_shape")                                                           \
	X(START, "input_tensor_start")                                                             \
	X(VALUE, "pad_value")                                                                      \
	X(MEMORY, "output_mem_config")                                                             \
	X(MULTICORE, "use_multicore")                                                              \
	X(CORES, "sub_core_grids")
TT_ATTRS(schema, "PadParams", ATTRS);

/* The first is never chosen; it keeps the place that it has upstream. */
enum { ROWS_OLD, ROWS, ROWS_ON_ONE, SHARDS_DOWN, SHARDS_WIDER, TILES, TILES_ON_ONE };

static tt_status pad_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_infer_padded(launch, launch->attrs[SHAPE].shape, launch->attrs[PADDED].shape,
			       in->dtype, in->layout);
}

/* ---- refusals -------------------------------------------------------------------------------------------- */

/* The input with its offset lies within the output. */
static tt_status check_fit(const struct tt_launch *launch)
{
	static const char *const conditions[] = {
		"input_tensor.logical_shape()[0] + operation_attributes.input_tensor_start[0] <= "
		"operation_attributes.output_padded_shape[0]",
		"input_tensor.logical_shape()[1] + operation_attributes.input_tensor_start[1] <= "
		"operation_attributes.output_padded_shape[1]",
		"input_tensor.logical_shape()[2] + operation_attributes.input_tensor_start[2] <= "
		"operation_attributes.output_padded_shape[2]",
		"input_tensor.logical_shape()[3] + operation_attributes.input_tensor_start[3] <= "
		"operation_attributes.output_padded_shape[3]",
	};

	for (uint32_t d = 0; d < TT_COUNT(conditions); d++)
		TT_REQUIRE((uint64_t)launch->inputs[0]->spec.shape.dim[d] +
					   launch->attrs[START].shape->dim[d] <=
				   launch->attrs[PADDED].shape->dim[d],
			   conditions[d], "Output size cannot fit input with offset");
	return TTNN_OK;
}

static bool is_wide(enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT16 || dtype == TTNN_INT32 ||
	       dtype == TTNN_UINT32 || dtype == TTNN_UINT16;
}

/* Rows: no bytes and no block floats. Tiles: whole ones. */
static tt_status check_dtype(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shape *padded = launch->attrs[PADDED].shape;

	if (in->layout == TTNN_ROW_MAJOR) {
		TT_REQUIRE(is_wide(in->dtype),
			   "input_tensor.dtype() == DataType::FLOAT32 || input_tensor.dtype() == "
			   "DataType::BFLOAT16 || input_tensor.dtype() == DataType::INT32 || "
			   "input_tensor.dtype() == DataType::UINT32 || input_tensor.dtype() == "
			   "DataType::UINT16",
			   "Cannot pad RM tensor with specified format");
		return TTNN_OK;
	}
	TT_REQUIRE(padded->dim[2] % TT_TILE == 0,
		   "(operation_attributes.output_padded_shape[2] % TILE_HEIGHT == 0)",
		   "Can only pad tilized tensor with full tiles");
	TT_REQUIRE(padded->dim[3] % TT_TILE == 0,
		   "(operation_attributes.output_padded_shape[3] % TILE_WIDTH == 0)",
		   "Can only pad tilized tensor with full tiles");
	TT_REQUIRE(is_wide(in->dtype) || in->dtype == TTNN_BFLOAT8_B,
		   "input_tensor.dtype() == DataType::FLOAT32 || input_tensor.dtype() == "
		   "DataType::BFLOAT16 || input_tensor.dtype() == DataType::INT32 || "
		   "input_tensor.dtype() == DataType::UINT32 || input_tensor.dtype() == "
		   "DataType::UINT16 || input_tensor.dtype() == DataType::BFLOAT8_B",
		   "Cannot pad tilized tensor with specified format");
	return TTNN_OK;
}

/* sub_core_grids is for interleaved tensors. */
static tt_status check_cores(const struct tt_launch *launch)
{
	if (!tt_value_given(&launch->attrs[CORES]))
		return TTNN_OK;
	TT_REQUIRE(
		launch->inputs[0]->spec.memory.layout == TTNN_INTERLEAVED,
		"input_tensor.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		"ttnn.pad: Input memory layout must be interleaved when sub_core_grids argument "
		"is provided");
	TT_REQUIRE(
		launch->attrs[MEMORY].memory->layout == TTNN_INTERLEAVED,
		"operation_attributes.output_mem_config.memory_layout() == "
		"TensorMemoryLayout::INTERLEAVED",
		"ttnn.pad: Output memory layout must be interleaved when sub_core_grids argument "
		"is provided");
	TT_REQUIRE(launch->attrs[MULTICORE].boolean, "operation_attributes.use_multicore",
		   "ttnn.pad: sub_core_grids is only supported when use_multicore is true");
	return TTNN_OK;
}

/* Rows of shards must be aligned: the program copies pages. */
static tt_status check_pages(const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	uint64_t alignment = tt_memory_alignment(launch->device, TTNN_L1);
	uint64_t page = tt_shard_width(memory) * tt_element_bytes(in);

	TT_REQUIRE(!tt_tensor_is_sharded(in) || in->spec.page_bytes == tt_aligned_page(in),
		   "page_size_bytes == input_tensor.buffer()->aligned_page_size()",
		   "Input row-major shard width %u gives page size %" PRIu64
		   " bytes, which must be aligned to %" PRIu64 " bytes",
		   tt_shard_width(&in->spec.memory), (uint64_t)in->spec.page_bytes, alignment);
	TT_REQUIRE(!tt_memory_config_is_sharded(memory) || page % alignment == 0,
		   "output_page_size_bytes == tt::align(output_page_size_bytes, "
		   "alignment_requirement)",
		   "Output row-major shard width %u gives page size %" PRIu64
		   " bytes, which must be aligned to %" PRIu64 " bytes",
		   tt_shard_width(memory), page, alignment);
	return TTNN_OK;
}

/* Tiles can only grow at their end. */
static tt_status pad_validate(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_shape *start = launch->attrs[START].shape;

	TT_REQUIRE(tt_tensor_buffer(in), "input_tensor.buffer() != nullptr",
		   "Operand to pad needs to be allocated in a buffer on device!");
	TT_REQUIRE(in->spec.layout != TTNN_TILE ||
			   !(start->dim[0] | start->dim[1] | start->dim[2] | start->dim[3]),
		   "(operation_attributes.input_tensor_start[0] == 0 && "
		   "operation_attributes.input_tensor_start[1] == 0 && "
		   "operation_attributes.input_tensor_start[2] == 0 && "
		   "operation_attributes.input_tensor_start[3] == 0)",
		   "On device padding only supports padding at end of dims");
	TT_TRY(check_fit(launch));
	TT_TRY(check_dtype(launch));
	TT_TRY(check_cores(launch));
	return check_pages(launch);
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

/* What of L1 these programs allow themselves. */
static uint64_t budget(const struct tt_launch *launch)
{
	return tt_l1_half(launch->device);
}

static tt_status check_budget(uint64_t need, uint64_t row, uint64_t room, const char *condition)
{
	TT_REQUIRE(need <= room, condition,
		   "ttnn.pad: padded row of %" PRIu64
		   " B does not fit in the per-core L1 budget (%" PRIu64 " B)",
		   row, room);
	return TTNN_OK;
}

/* Rows that are held at most; and bytes of which transfers are awaited together. */
#define MOST_ROWS 16
#define BARRIER_BYTES 2048

static uint64_t rows_held(uint64_t fit)
{
	return fit > MOST_ROWS ? MOST_ROWS : fit;
}

/*
 * Rows are gathered until a barrier pays (BARRIER_BYTES), as many groups as L1 holds. A shifted or
 * unaligned row needs a second row of padding.
 */
static tt_status pad_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shape *padded = launch->attrs[PADDED].shape;
	uint64_t dram = tt_memory_alignment(launch->device, TTNN_DRAM), room = budget(launch);
	uint64_t bytes = padded->dim[3] * tt_element_bytes(launch->inputs[0]);
	uint64_t row = tt_align_to(bytes, tt_memory_alignment(launch->device, TTNN_L1));
	uint64_t together = row && row < BARRIER_BYTES ? tt_div_up(BARRIER_BYTES, row) : 1;
	bool shifted = launch->attrs[START].shape->dim[3] || row % dram;
	struct tt_work_split work;

	TT_NEED(row, "ttnn.pad: rows without elements cannot be padded");
	TT_TRY(tt_split_among(&work, launch, &launch->attrs[CORES],
			      (uint64_t)padded->dim[0] * padded->dim[1] * padded->dim[2]));
	TT_TRY(check_budget(together * row, row, room, "barrier_bytes <= l1_budget"));
	return TT_PLAN(
		plan, work.all,
		TT_DFB_ROW(0, "in0", .pages = together * rows_held(room / (together * row)),
			   .page = row),
		TT_SCRATCH_ROW(0, "pad", .pages = 1, .page = tt_align_to(bytes, dram)),
		TT_SCRATCH_ROW(0, "pad_align", .pages = shifted, .page = tt_align_to(bytes, dram)));
}

/* A line of the value goes to the device while the program is built, and stays with it. */
static tt_status keep_line(struct tt_launch *launch)
{
	struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct ttnn_spec_args args = {.shape = {4, {1, 1, 1, 32}}, .dtype = TTNN_BFLOAT16};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *host, *line;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_host_hollow(&host, &spec));
	status = tt_host_to_device(&line, launch->call, host, launch->device, &l1);
	ttnn_tensor_unref(host);
	TT_TRY(status);
	return tt_launch_keep(launch, line);
}

static tt_status first_core(const ttnn_core_set **out)
{
	return tt_core_set_grid(out, 1, 1);
}

/* The same on one core, without groups. */
static tt_status pad_rows_on_one_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	uint64_t room = budget(launch), alignment = tt_page_alignment(in);
	uint64_t row = tt_align_to(launch->attrs[PADDED].shape->dim[3] * tt_element_bytes(in),
				   alignment > 32 ? alignment : 32);
	const ttnn_core_set *one;

	TT_TRY(check_budget(row, row, room, "dfb_pagesize <= l1_budget"));
	TT_TRY(first_core(&one));
	return TT_PLAN(plan, one,
		       TT_DFB_ROW(0, "in0", .pages = rows_held(room / row), .page = row));
}

/* Rows go from shard to shard; one row of padding is held besides. */
static tt_status pad_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint64_t row = launch->attrs[PADDED].shape->dim[3] * tt_element_bytes(in), rows;
	bool wider = tt_factory_index(launch) == SHARDS_WIDER;
	const ttnn_core_set *cores = out->spec.memory.shard.grid;

	TT_TRY(tt_shape_rows(&rows, &in->spec.shape));
	if (in->spec.memory.shard.height < rows)
		rows = in->spec.memory.shard.height;
	if (wider)
		TT_TRY(tt_cores_near(&cores, out));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "input_shard", .pages = rows,
				  .page = in->spec.shape.dim[3] * tt_element_bytes(in),
				  .backing = in),
		       TT_DFB_ROW(1, "output_shard", .pages = out->spec.memory.shard.height,
				  .page = row, .backing = out),
		       TT_DFB_ROW(2, "pad_val", .pages = !wider, .page = row),
		       TT_SCRATCH_ROW(0, "pad_val", .pages = wider, .page = row));
}

/* Two tiles, and one of the value. */
static tt_status pad_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tile = launch->outputs[0]->spec.page_bytes, volume;
	struct tt_work_split work;

	if (tt_factory_index(launch) == TILES_ON_ONE) {
		tile = tt_tile_bytes_of(launch->inputs[0]->spec.dtype);
		TT_TRY(first_core(&work.all));
	} else {
		TT_TRY(ttnn_shape_volume(&volume, &launch->outputs[0]->spec.padded));
		TT_TRY(tt_split_among(&work, launch, &launch->attrs[CORES], volume / 1024));
	}
	return TT_PLAN(plan, work.all, TT_DFB_ROW(0, "src0", .pages = 2, .page = tile),
		       TT_SCRATCH_ROW(0, "src1", .pages = 1, .page = tile));
}

/* Height shards on both sides, rows whole, none growing smaller. */
static bool shards_serve(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	return in->has_shard && in->buffer != TTNN_DRAM && in->layout == TTNN_HEIGHT_SHARDED &&
	       out->layout == TTNN_HEIGHT_SHARDED && !tt_value_given(&launch->attrs[CORES]) &&
	       out->has_shard && launch->attrs[PADDED].shape->dim[3] == out->shard.width &&
	       out->shard.height >= in->shard.height;
}

/* Shards that only get more rows, or only wider, have a factory each; others go as rows. */
static tt_status factory_of(uint32_t *out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shape *shape = launch->attrs[SHAPE].shape;
	bool multicore = launch->attrs[MULTICORE].boolean;
	uint64_t before, after;

	TT_TRY(tt_shape_rows(&before, &in->shape));
	TT_TRY(tt_shape_rows(&after, shape));
	if (in->layout == TTNN_TILE) {
		*out = multicore ? TILES : TILES_ON_ONE;
	} else if (!tt_memory_config_is_sharded(&in->memory)) {
		*out = multicore ? ROWS : ROWS_ON_ONE;
	} else {
		*out = ROWS;
		if (shards_serve(launch) && in->shape.dim[3] == shape->dim[3])
			*out = SHARDS_DOWN;
		else if (shards_serve(launch) && before == after)
			*out = SHARDS_WIDER;
	}
	return TTNN_OK;
}

static tt_status pad_choose(uint32_t *out, struct tt_launch *launch)
{
	TT_TRY(factory_of(out, launch));
	return *out == ROWS_ON_ONE ? keep_line(launch) : TTNN_OK;
}

#define FACTORY(name_, memory_) TT_FACTORY_ROW("ttnn::prim::Pad" name_ "ProgramFactory", memory_)

static const struct tt_factory factories[] = {
	[ROWS_OLD] = FACTORY("RmReaderWriterMultiCore", pad_rows_memory),
	[ROWS] = FACTORY("RmReaderWriterMultiCoreDefault", pad_rows_memory),
	[ROWS_ON_ONE] = FACTORY("RmReaderWriter", pad_rows_on_one_memory),
	[SHARDS_DOWN] = FACTORY("RmShardedHeightOnly", pad_shards_memory),
	[SHARDS_WIDER] = FACTORY("RmShardedWidthOnly", pad_shards_memory),
	[TILES] = FACTORY("TileMulticore", pad_tiles_memory),
	[TILES_ON_ONE] = FACTORY("TileCore", pad_tiles_memory),
};

/* ---- running ------------------------------------------------------------------------------------------------- */

/* All of the value first, then the input over it. */
static tt_status pad_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	int64_t start[TTNN_MAX_RANK];

	for (uint32_t d = 0; d < in->spec.shape.rank; d++)
		start[d] = launch->attrs[START].shape->dim[d];
	TT_TRY(tt_backend_get()->fill(out, launch->attrs[VALUE].real, TT_FILL_ALL));
	return tt_move_part(
		out, in, &(struct tt_move_block){.extent = in->spec.shape.dim, .out_start = start});
}

static const struct tt_prog prog = {
	.device_op = "PadDeviceOperation",
	.prim = "ttnn::prim::pad",
	.attrs = &schema,
	.infer = pad_infer,
	.validate = pad_validate,
	TT_FACTORIES(factories),
	.choose = pad_choose,
	TT_KERNEL(pad_kernel),
	.cost = tt_cost_move,
};

/* The logical shape is the padded one. */
tt_status tt_pad_launch(struct tt_tensor **out, struct tt_call *call,
			const struct tt_pad_args *args)
{
	struct tt_tensor *inputs[] = {args->in, NULL};
	struct ttnn_value attrs[schema_count] = {
		[SHAPE] = ttnn_v_shape(args->shape),    [PADDED] = ttnn_v_shape(args->shape),
		[START] = ttnn_v_shape(args->start),    [VALUE] = ttnn_v_real(args->value),
		[MEMORY] = ttnn_v_memory(args->memory), [MULTICORE] = ttnn_v_bool(args->multicore),
		[CORES] = ttnn_v_core_set(args->cores),
	};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, .inputs = inputs,
			 .input_count = TT_COUNT(inputs));
}
