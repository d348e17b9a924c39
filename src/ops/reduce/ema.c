/*
 * ema.c: the exponential moving average along the last dimension.
 *
 * Models EmaDeviceOperation of ttnn 0.81 (reduction/accumulation/ema/device) with its one
 * factory: refusals, memory, cores. Not modelled: rounding on the way.
 */
#include <inttypes.h>
#include <math.h>

#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce_program.h"

#define ATTRS(X)                                                                                   \
	X(ALPHA, "alpha")                                                                          \
	X(GRID, "grid_size", .text = TT_TEXT_ALWAYS, .fixed = "<xy_pair>")                         \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "EmaParams", ATTRS);

/* A given output has the same padded volume, whatever its shape. */
static tt_status check_given(const struct tt_launch *launch, const struct ttnn_tensor_spec *given)
{
	const struct ttnn_shape *in = &launch->inputs[0]->spec.padded;
	uint64_t volumes[2];

	TT_REQUIRE(given->dtype == TTNN_BFLOAT16, "output_tensor.dtype() == DataType::BFLOAT16",
		   "Output tensor must be BFLOAT16, got: DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)given->dtype));
	TT_REQUIRE(given->layout == TTNN_TILE, "output_tensor.layout() == Layout::TILE",
		   "Output tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, (int64_t)given->layout));
	TT_TRY(ttnn_shape_volume(&volumes[0], in));
	TT_TRY(ttnn_shape_volume(&volumes[1], &given->padded));
	TT_REQUIRE(volumes[0] == volumes[1],
		   "input_tensor.padded_shape().volume() == output_tensor.padded_shape().volume()",
		   "Input and output must have the same volume, input: %" PRIu64
		   ", output: %" PRIu64,
		   volumes[0], volumes[1]);
	return TTNN_OK;
}

/* [1, B, C, T]: the average runs along T. */
static tt_status ema_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "input_tensor.dtype() == DataType::BFLOAT16",
		   "Input tensor must be BFLOAT16, got: DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype));
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Input tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, (int64_t)in->layout));
	TT_REQUIRE(in->shape.rank == 4, "input_shape.rank() == 4",
		   "EMA input must be 4D [1, B, C, T], got rank %u", in->shape.rank);
	TT_REQUIRE(in->shape.dim[0] == 1, "input_shape[0] == 1",
		   "EMA expects leading dimension to be 1, got %u", in->shape.dim[0]);
	if (launch->outputs[0])
		TT_TRY(check_given(launch, &launch->outputs[0]->spec));
	TT_REQUIRE(!isnan(launch->attrs[ALPHA].real), "!std::isnan(operation_attributes.alpha)",
		   "EMA alpha must be a valid number, got NaN");
	return TTNN_OK;
}

/* Rows of tiles are cut into equal parts: as many as there are cores for at most. */
static tt_status ema_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(&launch->inputs[0]->spec);
	uint64_t rows = tiles.matrices * tiles.height, count = rows;
	const struct ttnn_value *request = &launch->attrs[GRID];
	struct ttnn_core grid = launch->device->limits.grid;
	struct tt_work_split split;

	if (request->kind == TTNN_VALUE_CORE && request->core.x && request->core.y)
		grid = request->core;
	if (count > (uint64_t)grid.x * grid.y)
		count = (uint64_t)grid.x * grid.y;
	while (count > 1 && rows % count)
		count--;
	TT_TRY(tt_split_work(&split, grid, count, TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "src", .pages = 2, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "dst", .pages = 2, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(2, "prev", .pages = 1, .page = tt_page_in0(launch)));
}

/* y[t] = alpha × y[t - 1] + (1 - alpha) × x[t], with `keep` as alpha. */
static tt_status ema_kernel(struct tt_launch *launch)
{
	struct tt_scan_job job = {.out = launch->outputs[0],
				  .in = launch->inputs[0],
				  .dim = 3,
				  .average = true,
				  .keep = launch->attrs[ALPHA].real};

	return tt_backend_get()->scan(&job);
}

static const struct tt_prog prog = {
	.device_op = "EmaDeviceOperation",
	.prim = "ttnn::prim::ema_device",
	.attrs = &schema,
	.validate = ema_validate,
	TT_FACTORY("ttnn::prim::EmaDeviceOperation::EmaProgramFactory", ema_memory),
	TT_KERNEL(ema_kernel),
};

/* The memory of a given output counts before that of the input. */
static tt_status ema_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *out = tt_call_tensor(call, "out");
	struct ttnn_value memory = tt_value_memory_or_like(call, in);
	struct ttnn_value compute =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);

	if (out && !tt_call_given(call, "memory_config"))
		memory = ttnn_v_memory(&out->spec.memory);
	return TT_LAUNCH_RETURN(
		call, &prog, TT_INPUTS(in), TT_OUTPUTS(out),
		TT_BIND(call, schema, [ALPHA] = ttnn_v_real(tt_call_real(call, "alpha", 0)),
			[GRID] = *tt_call_arg(call, "core_grid"), [MEMORY] = memory,
			[COMPUTE] = compute));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.ema",
	 .doc = "The exponential moving average along the last dimension.",
	 .sigs = {"input_tensor: Tensor, alpha: float, *, out: Tensor? = None, "
		  "core_grid: CoreGrid? = None, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = ema_expand,
	 .golden = tt_golden_ema},
};

const struct tt_op_family tt_family_ema = {"scan", ops, TT_COUNT(ops)};
