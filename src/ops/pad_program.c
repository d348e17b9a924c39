/* pad_program.c: the program that puts a tensor into a larger one; six ways to do it. */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/cost.h"
#include "ops/movement.h"
#include "ops/pad.h"
#include "ops/rows.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

enum { SHAPE, PADDED, START, VALUE, MEMORY, MULTICORE, CORES, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[SHAPE] = {.name = "output_logical_shape"}, [PADDED] = {.name = "output_padded_shape"},
	[START] = {.name = "input_tensor_start"},   [VALUE] = {.name = "pad_value"},
	[MEMORY] = {.name = "output_mem_config"},   [MULTICORE] = {.name = "use_multicore"},
	[CORES] = {.name = "sub_core_grids"},
};
static const struct tt_schema schema = {"PadParams", fields, ATTRS, false};

/* The first is never chosen; it keeps the place that it has upstream. */
enum { ROWS_OLD, ROWS, ROWS_ON_ONE, SHARDS_DOWN, SHARDS_WIDER, TILES, TILES_ON_ONE };

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = *launch->attrs[SHAPE].shape,
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .memory = *launch->attrs[MEMORY].memory};

	launch->output_count = 1;
	return tt_tensor_spec_padded(&launch->specs[0], &args, launch->attrs[PADDED].shape);
}

/* ---- refusals -------------------------------------------------------------------------------------------- */

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
	TT_REQUIRE(padded->dim[2] % 32 == 0,
		   "(operation_attributes.output_padded_shape[2] % TILE_HEIGHT == 0)",
		   "Can only pad tilized tensor with full tiles");
	TT_REQUIRE(padded->dim[3] % 32 == 0,
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

static tt_status check_pages(const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	uint64_t alignment = tt_memory_alignment(launch->device, TTNN_L1);
	uint64_t page = tt_shard_width(memory) * tt_element_bytes(in);

	TT_REQUIRE(!tt_tensor_is_sharded(in) || in->spec.page_bytes == tt_aligned_page(in),
		   "page_size_bytes == input_tensor.buffer()->aligned_page_size()",
		   "Input row-major shard width %" PRIu32 " gives page size %" PRIu64
		   " bytes, which must be aligned to %" PRIu64 " bytes",
		   tt_shard_width(&in->spec.memory), (uint64_t)in->spec.page_bytes, alignment);
	TT_REQUIRE(!tt_memory_config_is_sharded(memory) || page % alignment == 0,
		   "output_page_size_bytes == tt::align(output_page_size_bytes, "
		   "alignment_requirement)",
		   "Output row-major shard width %" PRIu32 " gives page size %" PRIu64
		   " bytes, which must be aligned to %" PRIu64 " bytes",
		   tt_shard_width(memory), page, alignment);
	return TTNN_OK;
}

static tt_status validate(struct tt_launch *launch)
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

static tt_status split(const ttnn_core_set **out, const struct tt_launch *launch, uint64_t units)
{
	struct tt_work_split work;

	if (tt_value_given(&launch->attrs[CORES]))
		TT_TRY(tt_split_work_in(&work, launch->attrs[CORES].core_set, units,
					TTNN_ORIENT_COL_MAJOR));
	else
		TT_TRY(tt_split_work(&work, tt_grid_size(launch->grid), units,
				     TTNN_ORIENT_COL_MAJOR));
	*out = work.all;
	return TTNN_OK;
}

/* What of L1 these programs allow themselves. */
static uint64_t budget(const struct tt_launch *launch)
{
	return launch->device->limits.l1_size / 2 - launch->device->limits.l1_base;
}

static tt_status check_budget(uint64_t need, uint64_t row, uint64_t room, const char *condition)
{
	TT_REQUIRE(need <= room, condition,
		   "ttnn.pad: padded row of %" PRIu64
		   " B does not fit in the per-core L1 budget (%" PRIu64 " B)",
		   row, room);
	return TTNN_OK;
}

static uint64_t most16(uint64_t count)
{
	return count > 16 ? 16 : count;
}

/* Numbers: 0 bytes of a row and 1 how many, 2 and 3 bytes of scratch. */
static tt_status plan_rows(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_shape *padded = launch->attrs[PADDED].shape;
	uint64_t dram = tt_memory_alignment(launch->device, TTNN_DRAM), room = budget(launch);
	uint64_t bytes = padded->dim[3] * tt_element_bytes(launch->inputs[0]), together;
	uint64_t row = tt_align_to(bytes, tt_memory_alignment(launch->device, TTNN_L1));

	together = row < 2048 ? tt_div_up(2048, row) : 1;
	TT_TRY(split(&work->cores[0], launch,
		     (uint64_t)padded->dim[0] * padded->dim[1] * padded->dim[2]));
	TT_TRY(check_budget(together * row, row, room, "barrier_bytes <= l1_budget"));
	work->number[0] = row;
	work->number[1] = together * most16(room / (together * row));
	work->number[2] = tt_align_to(bytes, dram);
	if (launch->attrs[START].shape->dim[3] || row % dram)
		work->number[3] = work->number[2];
	return TTNN_OK;
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

static tt_status on_first(struct tt_move_work *work)
{
	struct ttnn_core first = {0, 0};

	return tt_cores_set(&work->cores[0], &first, 1);
}

static tt_status plan_rows_on_one(struct tt_launch *launch, struct tt_move_work *work)
{
	struct tt_tensor *in = launch->inputs[0];
	uint64_t room = budget(launch), alignment = tt_page_alignment(in);
	uint64_t row = tt_align_to(launch->attrs[PADDED].shape->dim[3] * tt_element_bytes(in),
				   alignment > 32 ? alignment : 32);

	TT_TRY(keep_line(launch));
	TT_TRY(check_budget(row, row, room, "dfb_pagesize <= l1_budget"));
	work->number[0] = row;
	work->number[1] = most16(room / row);
	return on_first(work);
}

/* Numbers: 0 and 2 bytes of a row in and out, 1 and 3 how many. */
static tt_status plan_shards(struct tt_launch *launch, struct tt_move_work *work)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint64_t rows;

	TT_TRY(tt_shape_rows(&rows, &in->spec.shape));
	work->number[0] = in->spec.shape.dim[3] * tt_element_bytes(in);
	work->number[1] = in->spec.memory.shard.height < rows ? in->spec.memory.shard.height : rows;
	work->number[2] = launch->attrs[PADDED].shape->dim[3] * tt_element_bytes(in);
	work->number[3] = out->spec.memory.shard.height;
	work->cores[0] = out->spec.memory.shard.grid;
	return TTNN_OK;
}

static tt_status plan_shards_wider(struct tt_launch *launch, struct tt_move_work *work)
{
	TT_TRY(plan_shards(launch, work));
	return tt_cores_near(&work->cores[0], launch->outputs[0]);
}

static tt_status plan_tiles(struct tt_launch *launch, struct tt_move_work *work)
{
	uint64_t volume;

	TT_TRY(ttnn_shape_volume(&volume, &launch->outputs[0]->spec.padded));
	work->number[0] = launch->outputs[0]->spec.page_bytes;
	work->number[1] = 2;
	work->number[2] = work->number[0];
	return split(&work->cores[0], launch, volume / 1024);
}

static tt_status plan_tiles_on_one(struct tt_launch *launch, struct tt_move_work *work)
{
	work->number[0] = tt_tile_bytes_of(launch->inputs[0]->spec.dtype);
	work->number[1] = 2;
	work->number[2] = work->number[0];
	return on_first(work);
}

static bool shards_serve(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	return in->has_shard && in->buffer != TTNN_DRAM && in->layout == TTNN_HEIGHT_SHARDED &&
	       out->layout == TTNN_HEIGHT_SHARDED && !tt_value_given(&launch->attrs[CORES]) &&
	       out->has_shard && launch->attrs[PADDED].shape->dim[3] == out->shard.width &&
	       out->shard.height >= in->shard.height;
}

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

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	static tt_status (*const plans[])(struct tt_launch *, struct tt_move_work *) = {
		[ROWS] = plan_rows,          [ROWS_ON_ONE] = plan_rows_on_one,
		[SHARDS_DOWN] = plan_shards, [SHARDS_WIDER] = plan_shards_wider,
		[TILES] = plan_tiles,        [TILES_ON_ONE] = plan_tiles_on_one,
	};
	struct tt_move_work *work = tt_move_work_new(launch);

	if (!work)
		return TTNN_NOMEM;
	TT_TRY(factory_of(out, launch));
	return plans[*out](launch, work);
}

#define BUFFER(index_, pages_, page_, backing_)                                                    \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .pages = pages_, .page = page_,                   \
		.cores = tt_work_cores0, .backing = backing_                                       \
	}
#define SCRATCH(page_, when_)                                                                      \
	{                                                                                          \
		.kind = TT_SCRATCH, .when = when_, .page_count = 1, .page = page_,                 \
		.cores = tt_work_cores0                                                            \
	}

static const struct tt_mem_row row_rows[] = {
	BUFFER(0, tt_number1, tt_number0, NULL),
	SCRATCH(tt_number2, NULL),
	SCRATCH(tt_number3, tt_has3),
};
static const struct tt_mem_row one_rows[] = {BUFFER(0, tt_number1, tt_number0, NULL)};
static const struct tt_mem_row down_rows[] = {
	BUFFER(0, tt_number1, tt_number0, tt_back_in0),
	BUFFER(1, tt_number3, tt_number2, tt_back_out0),
	{.kind = TT_DFB, .index = 2, .page_count = 1, .page = tt_number2, .cores = tt_work_cores0},
};
static const struct tt_mem_row wider_rows[] = {
	BUFFER(0, tt_number1, tt_number0, tt_back_in0),
	BUFFER(1, tt_number3, tt_number2, tt_back_out0),
	SCRATCH(tt_number2, NULL),
};
static const struct tt_mem_row tile_rows[] = {
	BUFFER(0, tt_number1, tt_number0, NULL),
	SCRATCH(tt_number2, NULL),
};

#define FACTORY(name_, rows_)                                                                      \
	{                                                                                          \
		"ttnn::prim::Pad" name_ "ProgramFactory", rows_, TT_COUNT(rows_), NULL             \
	}

static const struct tt_factory factories[] = {
	[ROWS_OLD] = FACTORY("RmReaderWriterMultiCore", row_rows),
	[ROWS] = FACTORY("RmReaderWriterMultiCoreDefault", row_rows),
	[ROWS_ON_ONE] = FACTORY("RmReaderWriter", one_rows),
	[SHARDS_DOWN] = FACTORY("RmShardedHeightOnly", down_rows),
	[SHARDS_WIDER] = FACTORY("RmShardedWidthOnly", wider_rows),
	[TILES] = FACTORY("TileMulticore", tile_rows),
	[TILES_ON_ONE] = FACTORY("TileCore", tile_rows),
};

/* ---- running ------------------------------------------------------------------------------------------------- */

static tt_status kernel(struct tt_launch *launch)
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
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = tt_cost_move,
};

tt_status tt_pad_launch(struct tt_tensor **out, struct tt_call *call,
			const struct tt_pad_args *args)
{
	struct tt_tensor *inputs[] = {args->in, NULL};
	struct ttnn_value attrs[ATTRS] = {
		[SHAPE] = ttnn_v_shape(args->shape),    [PADDED] = ttnn_v_shape(args->shape),
		[START] = ttnn_v_shape(args->start),    [VALUE] = ttnn_v_real(args->value),
		[MEMORY] = ttnn_v_memory(args->memory), [MULTICORE] = ttnn_v_bool(args->multicore),
		[CORES] = ttnn_v_core_set(args->cores),
	};
	struct tt_program_args program = {
		.prog = &prog, .attrs = attrs, .inputs = inputs, .input_count = TT_COUNT(inputs)};

	return tt_call_program(out, call, &program);
}
