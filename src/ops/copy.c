/* copy.c: copies of tensors: copy, assign, clone, move and reallocate. */
#include <inttypes.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "ops/copy.h"
#include "ops/cost.h"
#include "ops/golden_movement.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "tensor/dtype.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

static const char *dtype_text(enum ttnn_dtype dtype)
{
	return ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL);
}

/* ---- copy: refusals -------------------------------------------------------------------------------- */

enum { COPY_MEMORY, COPY_DTYPE, COPY_BACKWARDS, COPY_ATTRS };

static const struct tt_field copy_fields[COPY_ATTRS] = {
	[COPY_MEMORY] = {.name = "output_mem_config"},
	[COPY_DTYPE] = {.name = "output_dtype"},
	[COPY_BACKWARDS] = {.name = "backwards"},
};
static const struct tt_schema copy_schema = {"CopyParams", copy_fields, COPY_ATTRS, false};

#define DTYPES(x)                                                                                  \
	x " == DataType::BFLOAT16 or " x " == DataType::BFLOAT8_B or " x                           \
	  " == DataType::FLOAT32 or " x " == DataType::BFLOAT4_B or " x                            \
	  " == DataType::UINT32 or " x " == DataType::INT32 or " x " == DataType::UINT16 or " x    \
	  " == DataType::UINT8 or " x " == DataType::FP8_E4M3"

static tt_status check_dtypes(const struct tt_shard_want *want)
{
	if (want->in->spec.dtype == TTNN_INT8)
		return tt_fail_cond(TTNN_INVALID, DTYPES("input_tensor_a.dtype()"),
				    "ttnn.copy only supports float, bfloat, fp8_e4m3, int32, "
				    "uint32, uint16 and uint8 inputs but got DataType::%s",
				    dtype_text(want->in->spec.dtype));
	if (want->dtype == TTNN_INT8)
		return tt_fail_cond(TTNN_INVALID, DTYPES("operation_attributes.output_dtype"),
				    "ttnn.copy only supports float, bfloat, fp8_e4m3, int32, "
				    "uint32, uint16 and uint8 output tensors but got DataType::%s",
				    dtype_text(want->dtype));
	if (!tt_tensor_buffer(want->in))
		return tt_fail_cond(TTNN_INVALID, "input_tensor_a.buffer() != nullptr",
				    "Operands to copy need to be allocated in buffers on device!");
	return TTNN_OK;
}

static tt_status check_given(const struct tt_shard_want *want)
{
	const struct ttnn_tensor_spec *in = &want->in->spec, *out = &want->out->spec;

	if (!ttnn_shape_equal(&out->shape, &in->shape))
		return tt_fail_shapes(
			TTNN_INVALID,
			"out_tensor.logical_shape() == input_tensor_a.logical_shape()",
			"Input tensor shape %s does not match output tensor shape %s", &in->shape,
			&out->shape);
	if (in->layout != out->layout)
		return tt_fail_cond(TTNN_INVALID, "input_tensor_a.layout() == out_tensor.layout()",
				    "Input tensor layout (Layout::%s) must equal output tensor "
				    "layout (Layout::%s)",
				    tt_enum_name(&tt_enum_layout, (int64_t)in->layout),
				    tt_enum_name(&tt_enum_layout, (int64_t)out->layout));
	if (!ttnn_memory_config_equal(&out->memory, want->memory))
		return tt_fail_cond(
			TTNN_INVALID,
			"out_tensor.memory_config() == operation_attributes.output_mem_config",
			"Mismatched output memory config. Check to see if the preallocated output "
			"tensor has a different shard spec than the one specified in the passed-in "
			"memory config.");
	if (out->dtype != want->dtype)
		return tt_fail_cond(TTNN_INVALID,
				    "out_tensor.dtype() == operation_attributes.output_dtype",
				    "Mismatched output dtype");
	if (!tt_tensor_buffer(want->out))
		return tt_fail_cond(TTNN_INVALID, "out_tensor.buffer() != nullptr",
				    "Output tensor needs to be allocated in buffers on device!");
	if (tt_tensor_device(want->out) != tt_tensor_device(want->in))
		return tt_fail_cond(
			TTNN_INVALID, "out_tensor.device() == input_tensor_a.device()",
			"Output tensor needs to be on the same device as the input tensor!");
	return TTNN_OK;
}

static tt_status copy_validate(struct tt_launch *launch)
{
	struct tt_shard_want want =
		tt_shard_wanted(launch, &launch->attrs[COPY_MEMORY], &launch->attrs[COPY_DTYPE]);
	const struct ttnn_tensor_spec *in = &want.in->spec;
	const struct ttnn_tile *tile = want.out ? &want.out->spec.tile : &TT_TILE_DEFAULT;

	TT_TRY(check_dtypes(&want));
	if (want.out)
		TT_TRY(check_given(&want));
	if (want.dtype != in->dtype && in->layout != TTNN_TILE)
		return tt_fail_cond(TTNN_INVALID, "input_tensor_a.layout() == Layout::TILE",
				    "Only tile layout supports dtype conversion");
	if (in->layout == TTNN_TILE &&
	    (in->tile.height != tile->height || in->tile.width != tile->width))
		return tt_fail_cond(TTNN_INVALID,
				    "input_tensor_a.tensor_spec().tile().get_tile_shape() == "
				    "output_tile.get_tile_shape()",
				    "Input and output tensors must have the same tile shape when "
				    "layout is TILE");
	return TTNN_OK;
}

static tt_status copy_infer(struct tt_launch *launch)
{
	struct tt_shard_want want =
		tt_shard_wanted(launch, &launch->attrs[COPY_MEMORY], &launch->attrs[COPY_DTYPE]);
	const struct ttnn_tensor_spec *in = &want.in->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = want.dtype,
				      .layout = in->layout,
				      .memory = *want.memory};

	launch->output_count = 1;
	TT_TRY(tt_shard_spec(&launch->specs[0], &want));
	if (want.out)
		return TTNN_OK;
	/* The padded shape is the new layout's; only the alignment is written differently. */
	return tt_tensor_spec_padded(&launch->specs[0], &args, &launch->specs[0].padded);
}

/* ---- copy: factories -------------------------------------------------------------------------------- */

enum { SAME_MEMORY, ROWS, TILES };

/* Bytes of the unit that is copied at a time: a tile, or a row, or a row of a shard. */
static uint64_t unit_of(const struct ttnn_tensor_spec *spec, enum ttnn_dtype dtype)
{
	if (spec->layout == TTNN_TILE)
		return tt_tile_bytes_of(dtype);
	if (tt_memory_config_is_sharded(&spec->memory))
		return (uint64_t)tt_shard_width(&spec->memory) * tt_dtype_bytes(dtype);
	return (uint64_t)tt_shape_last(&spec->padded, 1) * tt_dtype_bytes(dtype);
}

static uint64_t same_page_in(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];

	return tt_align_to(unit_of(&in->spec, in->spec.dtype), tt_page_alignment(in));
}

static uint64_t same_page_out(const struct tt_launch *launch)
{
	const struct tt_tensor *out = launch->outputs[0];

	return tt_align_to(unit_of(&out->spec, out->spec.dtype), tt_page_alignment(out));
}

static bool fits_same(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *to = launch->attrs[COPY_MEMORY].memory;
	enum ttnn_dtype dtype = (enum ttnn_dtype)launch->attrs[COPY_DTYPE].integer;
	uint64_t total = 2 * same_page_in(launch);

	if (in->memory.layout == TTNN_ND_SHARDED || to->layout == TTNN_ND_SHARDED ||
	    !ttnn_memory_config_equal(&in->memory, to))
		return false;
	if (dtype != in->dtype)
		total += 2 * tt_align_to(unit_of(in, dtype), tt_page_alignment(launch->inputs[0]));
	return total < tt_l1_room(launch->device);
}

/* More than this is copied in pieces. */
#define PIECE_MAX (4 * 65536)

static uint64_t page_width(const struct ttnn_tensor_spec *spec)
{
	if (!tt_memory_config_is_sharded(&spec->memory) ||
	    spec->memory.layout == TTNN_HEIGHT_SHARDED)
		return tt_shape_last(&spec->shape, 1);
	return tt_shard_width(&spec->memory);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Rows: one by one, or, when there are fewer rows than cores, in pieces that divide the pages of
 * both sides. Numbers: 0 the piece, 1 the page read, 2 the page written.
 */
static tt_status plan_rows(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t width = tt_shape_last(&in->shape, 1), rows, alignment, common;
	struct tt_move_work *work = tt_move_work_new(launch);

	if (!work)
		return TTNN_NOMEM;
	TT_TRY(tt_shape_rows(&rows, &in->shape));
	alignment = tt_page_alignment(launch->inputs[0]);
	if (alignment < tt_page_alignment(launch->outputs[0]))
		alignment = tt_page_alignment(launch->outputs[0]);
	common = common_divisor(page_width(in), page_width(out));
	work->number[0] = common * tt_dtype_bytes(in->dtype);
	if (rows < ttnn_core_set_cores(launch->grid) && common < width &&
	    work->number[0] <= PIECE_MAX && work->number[0] % alignment == 0)
		return tt_cores_for(&work->cores[0], launch,
				    rows * tt_div_up(width, common ? common : 1));
	work->number[0] = 0;
	work->number[1] = in->page_bytes < PIECE_MAX ? in->page_bytes : PIECE_MAX;
	work->number[2] = tt_aligned_page(launch->outputs[0]);
	if (work->number[2] > PIECE_MAX)
		work->number[2] = PIECE_MAX;
	return tt_cores_for(&work->cores[0], launch, rows);
}

static tt_status copy_choose(uint32_t *out, struct tt_launch *launch)
{
	if (fits_same(launch)) {
		*out = SAME_MEMORY;
		return TTNN_OK;
	}
	if (launch->inputs[0]->spec.layout == TTNN_TILE) {
		*out = TILES;
		return TTNN_OK;
	}
	*out = ROWS;
	return plan_rows(launch);
}

/* Tiles or rows of the output; shards are cut into rows of a shard, but counted as whole rows. */
static tt_status same_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *spec = &launch->outputs[0]->spec;
	uint64_t units = spec->rows;

	if (spec->layout == TTNN_TILE)
		units = spec->rows * spec->cols /
			((uint64_t)TT_TILE_DEFAULT.height * TT_TILE_DEFAULT.width);
	return tt_cores_for(out, launch, units);
}

/* The tiles that the shape needs, without those of further padding. */
static tt_status tile_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t tiles = 1;

	for (uint32_t back = 1; back <= in->shape.rank; back++)
		tiles *= tt_div_up(tt_shape_last(&in->shape, back), back == 1   ? in->tile.width
								    : back == 2 ? in->tile.height
										: 1);
	return tt_cores_for(out, launch, tiles);
}

static const struct tt_mem_row same_rows[] = {
	{TT_CB, 0, .page_count = 2, .page = same_page_in, .cores = same_cores},
	{TT_CB, 16, .when = tt_converts, .page_count = 2, .page = same_page_out,
	 .cores = same_cores},
};
static const struct tt_mem_row row_rows[] = {
	{TT_DFB, 0, .when = tt_has0, .page_count = 2, .page = tt_number0, .cores = tt_work_cores0},
	{TT_DFB, 1, .when = tt_has2, .page_count = 2, .page = tt_number2, .cores = tt_work_cores0},
	{TT_SCRATCH, 0, .when = tt_has1, .page_count = 1, .page = tt_number1,
	 .cores = tt_work_cores0},
};
static const struct tt_mem_row tile_rows[] = {
	{TT_DFB, 0, .page_count = 2, .page = tt_page_in0_aligned, .cores = tile_cores},
	{TT_DFB, 1, .when = tt_converts, .page_count = 2, .page = tt_page_out0_aligned,
	 .cores = tile_cores},
};
static const struct tt_factory copy_factories[] = {
	[SAME_MEMORY] = {"ttnn::prim::CopyDeviceOperation::SameMemoryConfig", same_rows,
			 TT_COUNT(same_rows), NULL},
	[ROWS] = {"ttnn::prim::CopyDeviceOperation::DefaultRowMajor", row_rows, TT_COUNT(row_rows),
		  NULL},
	[TILES] = {"ttnn::prim::CopyDeviceOperation::DefaultTilized", tile_rows,
		   TT_COUNT(tile_rows), NULL},
};
static const struct tt_prog prog_copy = {
	.device_op = "CopyDeviceOperation",
	.prim = "ttnn::prim::copy",
	.attrs = &copy_schema,
	.infer = copy_infer,
	.validate = copy_validate,
	.factories = copy_factories,
	.factory_count = TT_COUNT(copy_factories),
	.choose = copy_choose,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_convert,
};

tt_status tt_copy_launch(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_shard_want *want)
{
	struct ttnn_value attrs[COPY_ATTRS] = {ttnn_v_memory(want->memory),
					       ttnn_v_dtype(want->dtype), ttnn_v_bool(false)};

	return tt_shard_launch(out, call, &prog_copy, want, attrs);
}

static tt_status expand_copy(struct tt_call *call)
{
	struct tt_shard_want want = {.in = tt_call_tensor(call, "input_a"),
				     .out = tt_call_tensor(call, "input_b")};
	struct tt_tensor *out;

	want.memory = &want.out->spec.memory;
	want.dtype = want.out->spec.dtype;
	TT_TRY(tt_copy_launch(&out, call, &want));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status expand_assign(struct tt_call *call)
{
	struct tt_shard_want want = {.in = tt_call_tensor(call, "input_tensor"),
				     .out = tt_call_tensor(call, "output_tensor"),
				     .memory = tt_call_memory(call, "memory_config")};
	struct tt_tensor *out;

	if (!want.in)
		return expand_copy(call);
	want.dtype = tt_call_dtype(call, "dtype", want.in->spec.dtype);
	TT_TRY(tt_copy_launch(&out, call, &want));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* ---- clone ---------------------------------------------------------------------------------------------- */

enum { CLONE_DTYPE, CLONE_MEMORY, CLONE_COMPUTE, CLONE_ATTRS };

static const struct tt_field clone_fields[CLONE_ATTRS] = {
	[CLONE_DTYPE] = {.name = "dtype"},
	[CLONE_MEMORY] = {.name = "memory_config"},
	[CLONE_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema clone_schema = {"operation_attributes_t", clone_fields, CLONE_ATTRS,
					      false};

static tt_status clone_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = (enum ttnn_dtype)launch->attrs[CLONE_DTYPE].integer,
				      .layout = in->layout,
				      .memory = *launch->attrs[CLONE_MEMORY].memory};

	launch->output_count = 1;
	return tt_tensor_spec_padded(&launch->specs[0], &args, &in->padded);
}

static tt_status clone_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *to = launch->attrs[CLONE_MEMORY].memory;
	bool from_shards = tt_memory_config_is_sharded(&in->memory);
	bool to_shards = tt_memory_config_is_sharded(to);

	if ((enum ttnn_dtype)launch->attrs[CLONE_DTYPE].integer != in->dtype &&
	    in->layout != TTNN_TILE)
		return tt_fail_cond(
			TTNN_INVALID, "input.layout() == Layout::TILE",
			"Clone: data type conversion is only supported with tile layout");
	if (!tt_tensor_buffer(launch->inputs[0]))
		return tt_fail_cond(TTNN_INVALID, "input.buffer() != nullptr",
				    "Clone: input must be allocated in buffer on device");
	if (from_shards != to_shards)
		return tt_fail_cond(TTNN_INVALID, "false",
				    "Clone: mixed sharded/interleaved layout not currently "
				    "supported. Both input and output must have the same layout.");
	if (!from_shards)
		return TTNN_OK;
	if (in->memory.layout != to->layout)
		return tt_fail_cond(TTNN_INVALID, "input_memory_layout == output_memory_layout",
				    "Clone: input and output must have the same memory layout when "
				    "both are sharded");
	if (!to->has_shard)
		return tt_fail_cond(TTNN_INVALID, "output_shard_spec.has_value()",
				    "Clone: output memory config must have shard spec when "
				    "sharded");
	if (!tt_shard_spec_equal(&in->memory.shard, &to->shard))
		return tt_fail_cond(
			TTNN_INVALID,
			"input_shard_spec.tensor_shard_spec == output_shard_spec.value()",
			"Clone: input and output shard specs must be identical (same grid, shape, "
			"and orientation)");
	return TTNN_OK;
}

static uint64_t clone_unit(const struct tt_launch *launch, const struct tt_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	uint64_t unit = tt_shape_last(&spec->shape, 1) * tt_element_bytes(tensor);

	if (spec->layout == TTNN_TILE)
		unit = tt_tile_bytes_of(spec->dtype);
	else if (tt_tensor_is_sharded(launch->outputs[0]))
		unit = tt_shard_width(&launch->outputs[0]->spec.memory) * tt_element_bytes(tensor);
	return tt_align_to(unit, tt_page_alignment(launch->inputs[0]));
}

static uint64_t clone_page_in(const struct tt_launch *launch)
{
	return clone_unit(launch, launch->inputs[0]);
}

static uint64_t clone_page_out(const struct tt_launch *launch)
{
	return clone_unit(launch, launch->outputs[0]);
}

static tt_status clone_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *spec = &launch->outputs[0]->spec;

	if (tt_memory_config_is_sharded(&spec->memory)) {
		*out = spec->memory.shard.grid;
		return TTNN_OK;
	}
	if (spec->layout == TTNN_TILE || !tt_shape_last(&spec->shape, 1))
		return same_cores(out, launch);
	return tt_cores_for(out, launch, spec->rows * spec->cols / tt_shape_last(&spec->shape, 1));
}

static const struct tt_mem_row clone_rows[] = {
	{TT_DFB, 0, .page_count = 2, .page = clone_page_in, .cores = clone_cores},
	{TT_DFB, 1, .when = tt_converts, .page_count = 2, .page = clone_page_out,
	 .cores = clone_cores},
};
static const struct tt_factory clone_factories[] = {
	{"ttnn::operations::data_movement::clone::CloneProgramFactory", clone_rows,
	 TT_COUNT(clone_rows), NULL},
};
static const struct tt_prog prog_clone = {
	.device_op = "CloneOperation",
	.prim = "ttnn::prim::clone",
	.attrs = &clone_schema,
	.infer = clone_infer,
	.validate = clone_validate,
	.factories = clone_factories,
	.factory_count = TT_COUNT(clone_factories),
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_convert,
};

/* Which fields a compute config has, and what this operation takes when none is given. */
static const struct tt_field compute_fields[] = {
	{.name = "math_fidelity", .text = TT_TEXT_MEMBER},
	{.name = "math_approx_mode"},
	{.name = "fp32_dest_acc_en"},
	{.name = "packer_l1_acc"},
	{.name = "dst_full_sync_en"},
	{.name = "throttle_level", .text = TT_TEXT_FIXED, .fixed = "ThrottleLevel::NO_THROTTLE"},
};
static const struct tt_schema compute_schema = {"ComputeKernelConfig", compute_fields,
						TT_COUNT(compute_fields), true};
#define HIFI4 4

static tt_status expand_clone(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input"), *out;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *given = tt_call_arg(call, "compute_kernel_config");
	struct ttnn_value usual[] = {tt_value_enum(&tt_enum_math_fidelity, HIFI4),
				     ttnn_v_bool(true),
				     ttnn_v_bool(false),
				     ttnn_v_bool(false),
				     ttnn_v_bool(false),
				     ttnn_v_int(0)};
	bool has_config = given->kind == TTNN_VALUE_OBJECT && given->count == TT_COUNT(usual);
	struct ttnn_value attrs[CLONE_ATTRS];
	struct tt_program_args args = {
		.prog = &prog_clone, .attrs = attrs, .inputs = &in, .input_count = 1};

	attrs[CLONE_DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", in->spec.dtype));
	attrs[CLONE_MEMORY] = ttnn_v_memory(memory ? memory : &in->spec.memory);
	attrs[CLONE_COMPUTE] = tt_value_object(&compute_schema, has_config ? given->items : usual);
	TT_TRY(tt_call_program(&out, call, &args));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* ---- move ------------------------------------------------------------------------------------------------ */

enum { MOVE_MEMORY, MOVE_STRATEGY, MOVE_BACKWARDS, MOVE_ATTRS };

static const struct tt_field move_fields[MOVE_ATTRS] = {
	[MOVE_MEMORY] = {.name = "output_mem_config"},
	[MOVE_STRATEGY] = {.name = "move_op_parallelization_strategy"},
	[MOVE_BACKWARDS] = {.name = "backwards"},
};
static const struct tt_schema move_schema = {"MoveOperationAttributes", move_fields, MOVE_ATTRS,
					     false};

/* Also the indices of the factories. */
enum strategy { MULTI_CORE, MULTI_CORE_OVERLAP, MULTI_CORE_SHARDED };
static const struct tt_enum_row strategy_rows[] = {
	{MULTI_CORE, "MULTI_CORE"},
	{MULTI_CORE_OVERLAP, "MULTI_CORE_OVERLAP"},
	{MULTI_CORE_SHARDED, "MULTI_CORE_SHARDED"},
};
static const struct tt_enum strategies = {"MoveOpParallelizationStrategy", strategy_rows,
					  TT_COUNT(strategy_rows)};

static tt_status move_infer(struct tt_launch *launch)
{
	launch->output_count = 1;
	launch->specs[0] = launch->inputs[1]->spec;
	return TTNN_OK;
}

static tt_status move_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = (uint32_t)launch->attrs[MOVE_STRATEGY].integer;
	return TTNN_OK;
}

/* Bytes of a bank when the pages of a tensor are spread over `banks` of them. */
static uint64_t bank_bytes(const struct ttnn_tensor_spec *spec, uint64_t banks, uint64_t alignment)
{
	return tt_div_up(spec->pages, banks) * tt_align_to(spec->page_bytes, alignment);
}

static uint64_t l1_bank_bytes(const struct tt_device *device, const struct ttnn_tensor_spec *spec)
{
	return bank_bytes(spec, ttnn_core_set_cores(device->grid),
			  tt_devmem_alignment(device->memory, TTNN_L1));
}

static uint64_t overlap_bytes(const struct tt_launch *launch)
{
	return l1_bank_bytes(launch->device, &launch->outputs[0]->spec);
}

static uint64_t shard_pages(const struct tt_launch *launch)
{
	return tt_tensor_buffer(launch->inputs[0])->layout.bank_pages;
}

static tt_status shard_grid(const ttnn_core_set **out, const struct tt_launch *launch)
{
	*out = launch->inputs[0]->spec.memory.shard.grid;
	return TTNN_OK;
}

static const struct tt_mem_row overlap_rows[] = {
	{TT_CB, 0, .page_count = 1, .page = overlap_bytes, .cores = same_cores},
};
static const struct tt_mem_row shard_rows[] = {
	{TT_CB, 0, .pages = shard_pages, .page = tt_page_in0_aligned, .cores = shard_grid,
	 .backing = tt_back_in0},
	{TT_CB, 1, .pages = shard_pages, .page = tt_page_in0_aligned, .cores = shard_grid,
	 .backing = tt_back_out0},
};
static const struct tt_factory move_factories[] = {
	[MULTI_CORE] = {"ttnn::prim::MoveProgramFactory", same_rows, TT_COUNT(same_rows), NULL},
	[MULTI_CORE_OVERLAP] = {"ttnn::prim::MoveOverlapProgramFactory", overlap_rows,
				TT_COUNT(overlap_rows), NULL},
	[MULTI_CORE_SHARDED] = {"ttnn::prim::MoveShardedProgramFactory", shard_rows,
				TT_COUNT(shard_rows), NULL},
};
static const struct tt_prog prog_move = {
	.device_op = "MoveDeviceOperation",
	.prim = "ttnn::prim::move",
	.attrs = &move_schema,
	.infer = move_infer,
	.factories = move_factories,
	.factory_count = TT_COUNT(move_factories),
	.choose = move_choose,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_move,
};

/*
 * Within one memory the new place lies above the old one in L1 and below it in DRAM; where both
 * overlap, what is moved goes through the L1 of all cores, if it fits there.
 */
static enum strategy strategy_of(struct tt_tensor *ghost, struct tt_tensor *out)
{
	struct tt_device *device = tt_tensor_device(out);
	const struct tt_buffer *from = tt_tensor_buffer(ghost), *to = tt_tensor_buffer(out);
	struct ttnn_core grid = tt_grid_size(device->grid);
	bool into_l1 = to->layout.type == TTNN_L1, apart = from->layout.type != to->layout.type;
	uint64_t banks = tt_devmem_banks(device->memory, to->layout.type)->count;
	uint64_t size = bank_bytes(&out->spec, banks, tt_page_alignment(out));
	uint64_t end = device->limits.l1_base + l1_bank_bytes(device, &out->spec);

	if (!apart && into_l1)
		apart = from->address + size <= to->address;
	else if (!apart && to->layout.type == TTNN_DRAM)
		apart = to->address + size <= from->address;
	if (!apart && end <= (into_l1 ? to->address : device->limits.l1_size) && grid.x > 1 &&
	    grid.y > 1)
		return MULTI_CORE_OVERLAP;
	return MULTI_CORE;
}

static bool moves_backwards(const struct tt_tensor *ghost, const struct tt_tensor *out)
{
	const struct tt_buffer *from = tt_tensor_buffer(ghost), *to = tt_tensor_buffer(out);

	return from->layout.type == TTNN_L1 && to->layout.type == TTNN_L1 &&
	       from->address < to->address + to->layout.size &&
	       to->address < from->address + to->layout.size && to->address > from->address;
}

static tt_status launch_move(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *ghost,
			     struct tt_tensor *to)
{
	bool sharded = tt_tensor_is_sharded(ghost);
	enum strategy strategy = sharded ? MULTI_CORE_SHARDED : strategy_of(ghost, to);
	bool backwards = strategy == MULTI_CORE && moves_backwards(ghost, to);
	struct ttnn_value attrs[MOVE_ATTRS] = {ttnn_v_memory(&to->spec.memory),
					       tt_value_enum(&strategies, (int64_t)strategy),
					       ttnn_v_bool(backwards)};
	struct tt_tensor *inputs[] = {ghost, to};
	struct tt_program_args args = {.prog = &prog_move,
				       .attrs = attrs,
				       .inputs = inputs,
				       .input_count = 2,
				       .outputs = &to,
				       .output_count = 1,
				       .in_place = true};

	return tt_call_program(out, call, &args);
}

static tt_status move_spec(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *in,
			   const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(in);

	if (memory && tt_memory_config_is_sharded(&in->memory)) {
		if (!tt_memory_config_is_sharded(memory))
			return tt_fail_cond(TTNN_INVALID, "mem_config->is_sharded()",
					    "Expected output tensor memory config to be sharded");
		TT_TRY(ttnn_memory_config_sharded(&args.memory, memory->layout, memory->buffer,
						  &in->memory.shard));
	} else if (memory) {
		args.memory = *memory;
	}
	return ttnn_tensor_spec_make(out, &args);
}

/* Moves what lies at the ghost's place, which is free again. */
static tt_status move_ghost(struct tt_call *call, struct tt_tensor *ghost)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_tensor_spec spec;
	struct tt_tensor *to, *out;

	TT_TRY(move_spec(&spec, &ghost->spec, memory));
	TT_TRY(tt_call_create(&to, call, tt_tensor_device(ghost), &spec));
	if (spec.memory.buffer == ghost->spec.memory.buffer &&
	    tt_tensor_buffer(to)->address == tt_tensor_buffer(ghost)->address) {
		tt_call_return(call, to); /* it lies where it lay */
		return tt_device_tensor_adopt(to, ghost);
	}
	tt_call_own(call, to);
	TT_TRY(launch_move(&out, call, ghost, to));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status expand_move(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *ghost;
	tt_status status;

	in = in ? in : tt_call_tensor(call, "tensor");
	TT_TRY(tt_need_device(in));
	if (!tt_tensor_is_sole(in)) {
		if (tt_tensor_is_sharded(in))
			return tt_fail_cond(TTNN_INVALID, "false",
					    "Expect input tensor to be deallocated after move op. "
					    "Cannot deallocate before there is probably another "
					    "consumer.");
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	TT_TRY(tt_device_tensor_ghost(&ghost, in));
	tt_call_deallocate(call, in);
	status = move_ghost(call, ghost);
	tt_call_own(call, ghost);
	return status;
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"assign", expand_assign, tt_golden_same,
		"Copies a tensor into another, or into a new one.",
		"input_tensor: Tensor, *, memory_config: MemoryConfig, dtype: DataType? = None, "
		"output_tensor: Tensor? = None",
		"input_a: Tensor, input_b: Tensor")},
	{TT_MOVE_ROW(
		"clone", expand_clone, tt_golden_same, "A copy of a tensor.",
		"input: Tensor, *, dtype: DataType? = None, memory_config: MemoryConfig? = None, "
		"compute_kernel_config: ComputeConfig? = None")},
	{TT_MOVE_ROW("copy", expand_copy, tt_golden_same,
		     "Copies a tensor into another one of the same shape.",
		     "input_a: Tensor, input_b: Tensor")},
	{TT_MOVE_ROW("move", expand_move, tt_golden_same,
		     "Moves a tensor to where memory is free, against fragmentation.",
		     "input_tensor: Tensor, *, memory_config: MemoryConfig? = None")},
	{TT_MOVE_ROW("reallocate", expand_move, tt_golden_same,
		     "Deallocates a tensor and allocates it anew, with the same values.",
		     "tensor: Tensor, memory_config: MemoryConfig? = None")},
};

const struct tt_op_family tt_family_copy = {"copy", ops, TT_COUNT(ops)};
